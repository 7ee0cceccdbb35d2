// core/crowd/pibt.h: where each unit moves when a cell holds at most one: one step of priority
// inheritance with backtracking.
//
// Every unit has a list of cells that it would like to stand in next, best first. Units are asked
// in the order of their priorities. One takes the first cell of its list that it can have. If a
// unit stands there that has not been asked yet, it is asked at once, with the priority of the unit
// that pushes it, and has to find another place; if it cannot, the pusher tries the next cell of
// its list. A unit of another team is pushed only if it concedes. Else, if it is under way, it
// decides at once as in its own turn, and then the one that wants its place knows whether it
// leaves.
//
//   UNDECIDED ── asked ──> TRYING ── everybody in the way has found a place ──> DECIDED
//     ^ │  ^                 │                                                     ^
//     │ │  └─ somebody stays ┘       list at its end, or stays by choice ──────────┘
//     └─┘ list at its end, pushed by or through a large unit: may be asked again
//
// What holds when it is over:
//   - no cell is in the footprint of two units;
//   - no two units have exchanged places, and no two have crossed on the diagonals of one square of
//     2 x 2 cells. Going round in a circle of three and more is allowed, and so is following into a
//     cell that is left in the same tick, and passing between two units diagonally;
//   - no unit entered a cell under a unit of another team that stayed, nor under one that may not
//     be pushed. A unit under way is pushed by units of its team, or of any if it concedes, that
//     are bold or at least as large, a standing one by units of its team of any size; a unit that
//     only goes back home pushes none;
//   - a cell under a unit larger than one cell is entered only after that unit has decided.
//
// Of units of one cell each, the one asked first gets the first cell of its list, or the next one
// that can be cleared; on ground where every two neighbours lie on a common circle that is always
// the first (Okumura et al., 2019 and 2022, theorem 1). As priorities grow while a unit has not
// arrived, each gets there.
//
// Cost: each unit is decided once. It tries at most 9 cells when it is asked, and is asked once
// where all are of one cell, up to three times beside larger ones. The recursion has a stack of its
// own, which holds a unit at most once.
//
// A large unit takes several steps to get out of the way, and so do others out of a large one's:
// a unit that cannot free the cells at once moves sideways, and the pusher takes them when they are
// free.
//
// Source: K. Okumura, M. Machida, X. Defago, Y. Tamura, "Priority Inheritance with Backtracking for
// Iterative Multi-agent Path Finding", IJCAI 2019 and Artificial Intelligence 310, 2022. Sizes,
// teams, diagonals and how idle units step aside are this file's own.
//
// Threads: workers, as each function says.

#pragma once

#include "core/map/occupancy.h"

#define FM_PREFERENCE_STAY  ((uint64_t)FM_DIRECTION_COUNT)
#define FM_PREFERENCE_NONE  ((uint64_t)15)
#define FM_PREFERENCES_NONE UINT64_MAX // an empty list

#define FM_MOVER_AGE_MAX   0x7fffu
#define FM_MOVER_AGE_EXACT 14u // bits
#define FM_MOVER_AGE_BITS  9u  // below the highest one, that count from there on

typedef enum fm_mover_progress {
    FM_MOVER_UNDECIDED,
    FM_MOVER_TRYING,
    FM_MOVER_DECIDED,
} fm_mover_progress;

// A unit as the conflict resolution sees it; by agent slot.
typedef struct fm_mover {
    uint64_t preferences; // directions or FM_PREFERENCE_STAY, best in the lowest 4 bits; ends by
                          // FM_PREFERENCE_NONE
    fm_cell cell;         // where it stands
    fm_cell next;         // where it will; before that, where it tries to go
    uint32_t distance;    // of a unit under way: from `cell` to its goal, by its search
    fm_cell aim;          // where its order leads; of a settled unit, where its last one led
    uint32_t team;        // 0: there is no unit in this slot
    uint8_t size;         // cells, 1..FM_CLASS_SIZE_MAX
    uint8_t progress;     // fm_mover_progress
    uint8_t moves;        // legal steps, bit d for direction d
    bool aside : 1;       // is not under way: when pushed, it steps out of the pusher's way
    bool parked : 1;      // has no order, and was not pushed from where it wants to be
    bool returns : 1;     // has no order, and goes back there
    bool gentle : 1;      // pushes nobody
    bool bold : 1;        // pushes larger units that are under way
    bool narrow : 1;      // few steps lead on from the first cell of its list
    bool settled : 1; // stands where its last order ended: those with the same aim do not push it
    bool pushable : 1;
    bool yields : 1;   // is under way, but makes way for others in this tick
    bool alert : 1;    // looks who stands in its way, see passing.h
    bool concedes : 1; // is under way, and lets units of other teams push it as friends do
    bool planned : 1;  // follows a plan of core/crowd/jam.h
    bool escorted : 1; // has an escort, or stands for one, see escort.h
    bool strays : 1;   // the first cell of its list is not that of its planner's next step
    bool to_right : 1; // its list is that of a unit that passes on the right, see passing.h
    bool shut : 1;     // has no way to its goal at present, see around.h
    uint8_t refusals;  // times that it was pushed in vain; no bits of a byte that others read
    uint8_t lane;      // that it passes, see lanes.h; 0: none
    uint8_t passing;   // ticks for which it keeps to the right, see passing.h
    uint8_t passes_on; // the same, in the next tick; not read by others
    uint8_t around;    // number of the way that it follows, see around.h; 0: none
    uint16_t age;      // how long it has been under way, see fm_mover_age(); 0: idle
} fm_mover;

/// Ticks as an age: 0..FM_MOVER_AGE_MAX, and more ticks never give less. Below 2^14 it is their
/// number. From there on ticks that differ by less than one part in 512 may be equally old, and
/// those beyond 2^46 are.
static inline uint16_t fm_mover_age(uint64_t ticks)
{
    if (ticks >> FM_MOVER_AGE_EXACT == 0) {
        return (uint16_t)ticks;
    }
    uint32_t bits = 63u - (uint32_t)__builtin_clzll(ticks); // below the highest one
    uint64_t part = (ticks >> (bits - FM_MOVER_AGE_BITS)) & ((1u << FM_MOVER_AGE_BITS) - 1);
    uint64_t age = (1u << FM_MOVER_AGE_EXACT) +
                   ((uint64_t)(bits - FM_MOVER_AGE_EXACT) << FM_MOVER_AGE_BITS) + part;
    return (uint16_t)(age < FM_MOVER_AGE_MAX ? age : FM_MOVER_AGE_MAX);
}

typedef struct fm_pibt_frame {
    uint64_t preferences; // not tried yet
    uint32_t slot;
    uint32_t partner;  // slot + 1 of a unit that it pulls after it, see swap.h; 0: none
    uint8_t direction; // that it tries
    bool pushed;       // was pushed: looks for a place on behalf of the unit below it
    bool slides;       // has found none, and at least leaves it less in the way
    bool waits;        // until the unit above it, of another team, has decided
    uint8_t tries;     // of its list
} fm_pibt_frame;

// What the resolution asks about terrain and searches: of units of one cell, `moves` of all.
typedef struct fm_pibt_ground {
    void *context;

    // The steps of a unit from a cell, bit d for direction d, as far as its team knows the terrain.
    uint32_t (*moves)(void *context, uint32_t slot, fm_cell cell);

    // Which of the steps `moves` would bring a unit nearer to its goal that stood in the cell. 0
    // where that is not known.
    uint32_t (*ahead)(void *context, uint32_t slot, fm_cell cell, uint32_t moves);

    // A list for a unit that has to back out: the farthest cell from its goal first, equals in any
    // order.
    uint64_t (*retreat)(void *context, uint32_t slot);
} fm_pibt_ground;

/// Claims the cells of those of some slots that are DECIDED beforehand. To be done for all slots
/// before the resolution; any parts of them on several workers at once.
void fm_pibt_claim_decided(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                           uint32_t slot_end);

/// Decides for all of `turns`, and all that they push. Turns of different islands (islands.h) on
/// several workers at once, each with a stack. Movers that none of these reaches stay
/// UNDECIDED and where they are. Movers that are DECIDED beforehand keep to it.
///
/// @param movers  by agent slot; those that are DECIDED beforehand and have another `next` than
///                `cell` get there: it was checked
/// @param turns   slots of the units that want to move, the highest priority first
/// @param stack   room for as many frames as there are units
/// @return how many tries were given up because two units would have exchanged places or crossed
uint64_t fm_pibt_resolve(const fm_pibt_ground *ground, fm_occupancy *occupancy, fm_mover *movers,
                         const uint32_t *turns, uint32_t turn_count, fm_pibt_frame *stack);

/// Whether a step of a unit would cross that of one that has decided, or is about to go; see
/// crossing.h. False for straight steps and larger units.
bool fm_pibt_crosses(const fm_occupancy *occupancy, const fm_mover *movers, const fm_mover *mover,
                     uint32_t d);

/// After the resolution: takes those of some slots that step off their cells. Any parts of all
/// slots on several workers at once.
void fm_pibt_leave(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                   uint32_t slot_end);

/// After that, for all slots: puts those of some slots where they have decided to be, and withdraws
/// their claims. The same.
void fm_pibt_enter(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                   uint32_t slot_end);
