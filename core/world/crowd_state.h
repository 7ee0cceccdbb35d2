// core/world/crowd_state.h: who stands where, in worlds where a cell holds one unit.

#pragma once

#include "core/map/occupancy.h"
#include "core/world/world.h"

struct fm_mover;
struct fm_around;
struct fm_pibt_frame;
struct fm_free_places;
struct fm_islands;
struct fm_press;
struct fm_turns_part;

// Whose turn it is to look for ways round a press, see core/crowd/bypass.h.
struct fm_bypass_turns {
    uint32_t next; // number of the team that had the last turn; 0: none
    uint32_t due;  // turns
    uint64_t owed; // expansions that looks took and no tick has paid yet
};

// With FM_OCCUPANCY_EXCLUSIVE: who stands where, and room for the move stage to decide who goes
// where. There is room for all agents. Whose: core/crowd; core/commands places units.
struct fm_world_crowd {
    fm_occupancy *occupancy; // NULL: any number of units in a cell
    struct fm_mover *movers; // by agent slot
    struct fm_pibt_frame *frames;
    uint32_t jams_left;  // of all teams: those worked on, and units that wait for help
    uint32_t lane_count; // of all teams, see core/crowd/lanes.h
    uint64_t *busy;      // bit t - 1: team t has work here, see core/crowd/busy.h
    uint32_t busy_capacity;
    uint32_t jam_team; // index of the team that is asked first in the next tick
    uint64_t jam_debt; // work that was done beyond what a tick allowed
    uint64_t *turns;   // twice as many: see turns.c
    struct fm_islands *islands;
    struct fm_press *press; // of bypass.c; NULL before it is needed
    struct fm_bypass_turns bypass;
    struct fm_around *around; // of around.c; NULL before it is needed
    struct fm_turns_part *turn_parts;
    uint32_t undivided_ticks; // turns are not divided for so long; only time depends on it
    uint32_t *passed_teams;   // by fm_crowd_turn(), see passing.c
    uint32_t passed_capacity;
    uint8_t *ways; // by fm_crowd_turn(), see flow.h
    uint32_t way_capacity;
    uint32_t mover_capacity, frame_capacity, turn_capacity, turn_part_capacity;
    fm_cell *placed; // of the agents that a command spawns, moves or changes
    uint32_t placed_capacity;
    struct fm_free_places *free_places; // of fm_placing_push_out(); NULL before the first edit
};

// Where something of an agent is kept that in the next tick others still read as it was in this
// one: two by slot, by turns.
static inline size_t fm_crowd_turn(uint32_t slot, uint64_t tick)
{
    return 2 * (size_t)slot + (tick & 1);
}

struct fm_world_crowd *fm_world_edit_crowd(fm_world *world);

/// NULL: a cell holds any number of units.
fm_occupancy *fm_world_occupancy(const fm_world *world);
