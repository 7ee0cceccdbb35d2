// core/crowd/jam_state.h: a jam, as the files that work on it see it: jam.c searches for a plan,
// jam_steps.c follows it. No other file includes it; jam.h is the interface.
//
// Threads: the tick thread; while a search runs, the worker that runs it has the jam's knot.

#pragma once

#include "core/crowd/knot.h"
#include "core/crowd/pibt.h"
#include "core/world/agent.h"
#include "core/world/world.h"

#define FM_JAM_PLACES      2048u // of the table of cells, a power of two
#define FM_JAM_ANCHORS_MAX (FM_KNOT_KINDS_MAX * FM_KNOT_CELLS_MAX)
#define FM_JAM_UNDER_MAX   (FM_KNOT_SIZE_MAX * FM_KNOT_SIZE_MAX)

_Static_assert(FM_KNOT_KINDS_MAX >= FM_CLASSES_MAX && FM_KNOT_SIZE_MAX >= FM_CLASS_SIZE_MAX,
               "all classes may meet in a jam");

// Where a unit of a kind can stand.
struct fm_jam_anchor {
    fm_cell cell;
    uint32_t kind;
};

struct fm_jam {
    struct fm_jam *next; // of the team
    uint32_t team;
    bool is_found;    // there is a plan, and it is followed
    bool is_put_off;  // an attempt has failed; the next one waits for the team's turn
    fm_knot *knot;    // NULL while put off
    uint32_t attempt; // index in attempts
    uint32_t step;    // of the plan
    uint32_t delay;   // ticks that another unit has been in the way
    uint32_t cell_count, unit_count, kind_count, anchor_count;
    uint32_t cells_max;
    fm_cell cells[FM_KNOT_CELLS_MAX];
    uint16_t table[FM_JAM_PLACES];       // index + 1 by hash of the cell
    uint16_t holders[FM_KNOT_CELLS_MAX]; // while a plan is followed: unit + 1
    uint8_t classes[FM_KNOT_KINDS_MAX];  // of kinds
    fm_knot_kind kinds[FM_KNOT_KINDS_MAX];
    fm_knot_cell beside[FM_KNOT_CELLS_MAX];
    fm_knot_cell steps[FM_KNOT_KINDS_MAX][FM_KNOT_CELLS_MAX];
    bool reached[FM_KNOT_KINDS_MAX][FM_KNOT_CELLS_MAX];
    struct fm_jam_anchor anchors[FM_JAM_ANCHORS_MAX]; // reached ones
    fm_knot_unit units[FM_KNOT_UNITS_MAX];
    fm_agent_id agents[FM_KNOT_UNITS_MAX];
    fm_cell aims[FM_KNOT_UNITS_MAX]; // goal of each unit when the work began
};

static inline uint16_t *fm_jam_place(struct fm_jam *jam, fm_cell cell)
{
    uint32_t place = (cell * 2654435761u) >> 21;
    while (jam->table[place] != 0 && jam->cells[jam->table[place] - 1] != cell) {
        place = (place + 1) % FM_JAM_PLACES;
    }
    return &jam->table[place];
}

static inline uint16_t fm_jam_index(struct fm_jam *jam, fm_cell cell)
{
    uint16_t entry = *fm_jam_place(jam, cell);
    return entry == 0 ? FM_KNOT_NONE : (uint16_t)(entry - 1);
}

// The cell number i under a unit.
static inline fm_cell fm_jam_part(fm_cell cell, uint32_t size, uint32_t i)
{
    return cell + fm_cell_at(i % size, i / size);
}

// Where a unit wants to be; its own cell, if it has no goal.
static inline fm_cell fm_jam_aim_of(const struct fm_agent *agent)
{
    if (agent->order.id == 0) {
        return agent->home == FM_CELL_NONE ? agent->cell : agent->home;
    }
    fm_cell aim = fm_order_aim(&agent->order);
    return aim == FM_CELL_NONE ? agent->cell : aim;
}

// The jam's unit number i, which lives.
fm_mover *fm_jam_mover(fm_world *world, const struct fm_jam *jam, uint32_t i);

/// Whether everybody is where the plan says, wants what it wanted, and may still be moved: who
/// holds its ground by now, or is frozen, may not.
bool fm_jam_is_valid(fm_world *world, const struct fm_jam *jam);

/// All its units stay where they are in this tick.
void fm_jam_hold(fm_world *world, const struct fm_jam *jam);

/// Makes the next step of a plan that was found, or waits while somebody is in the way. Returns
/// whether the plan goes on.
bool fm_jam_follow(fm_world *world, struct fm_jam *jam);
