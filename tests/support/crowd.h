// crowd.h: a world where a cell holds one unit, and checks after every tick: no two units share a
// cell, exchanged places or crossed.

#pragma once

#include "core/tick/tick.h"
#include "tests/support/support.h"

#define CROWD_UNITS_MAX 4096u

typedef struct crowd {
    fm_world *world;
    const fm_grid *grid;
    fm_agent_id units[CROWD_UNITS_MAX];
    uint32_t unit_count;
    fm_agent_look looks[CROWD_UNITS_MAX]; // after the last tick
    uint32_t look_count;
    uint32_t *holders;               // by cell: slot + 1
    uint32_t *cells;                 // by slot: cell after the last tick, FM_CELL_NONE: not there
    uint32_t sizes[CROWD_UNITS_MAX]; // by slot, of all units so far
    uint32_t ended[FM_END_COUNT];
    uint32_t ended_count;
    uint32_t collisions, swaps, crossings; // seen
    uint64_t moves;
} crowd;

/// Rules for a world without fog where a cell holds one unit.
fm_world_rules crowd_rules(void);

/// The same, with a movement class for each size: class n - 1 is for units of n x n cells.
fm_world_rules crowd_rules_of_sizes(void);

/// A world from rows of letters as in a .map file. `height` rows of equal length.
void crowd_init_rows(crowd *c, const fm_world_rules *rules, const char *const *rows,
                     uint32_t height);

/// A world on a grid, which it takes over.
void crowd_init(crowd *c, const fm_world_rules *rules, fm_grid *grid);
void crowd_fini(crowd *c);

uint32_t crowd_team(crowd *c);

/// Spawns units; notes them in `units`. Returns the index of the first.
uint32_t crowd_spawn(crowd *c, fm_command command);
uint32_t crowd_spawn_at(crowd *c, uint32_t team, fm_cell cell);

/// Spawns a unit of a size, in a world with crowd_rules_of_sizes() or for one cell, and orders it
/// to another place. If it cannot be reached the order ends at the nearest one.
void crowd_spawn_to(crowd *c, uint32_t team, uint32_t size, uint32_t x, uint32_t y, uint32_t to_x,
                    uint32_t to_y);

/// Orders unit `index` to a cell.
void crowd_order(crowd *c, uint32_t index, fm_cell goal, fm_on_unreachable on_unreachable);

/// Sets the terrain of a cell.
void crowd_set_terrain(crowd *c, fm_cell cell, fm_terrain terrain);

/// Runs a tick and checks it.
void crowd_tick(crowd *c, fm_workers *workers);

/// Runs ticks until `wanted` orders have ended, at most ticks_max. Returns how many it took.
uint32_t crowd_run(crowd *c, uint32_t wanted, uint32_t ticks_max);

/// Where unit `index` stands.
fm_cell crowd_cell(const crowd *c, uint32_t index);

/// The world, which is settled, as it comes back from a file. The caller destroys it.
fm_world *crowd_copy(const crowd *c);

/// Runs a tick of the world and of a copy, and checks that both decide alike.
void crowd_tick_both(crowd *c, fm_world *copy);

/// Plays a scene until `wanted` orders have ended, ticks_max ticks at most, with 1, 2, 3 and 8
/// workers, and checks that they decide alike in each tick. `begin` sets up the crowd. Returns how
/// many orders have ended as arrived.
uint32_t crowd_play_on_workers(crowd *c, void (*begin)(void), uint32_t wanted, uint32_t ticks_max);
