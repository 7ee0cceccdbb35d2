// core/world/order.h: what an agent has been told to do, as the tick keeps it. Part of
// world_state.h; orders.h has the functions.
//
// An order leads its agent over legs. A leg is one cell to go to, `goal`, and is all that planners
// ever hear of. A move has one leg, a patrol one after the other; a follow moves the goal of its
// leg. What comes after a leg is decided in legs.c, by kind.

#pragma once

#include "core/world/retry.h"
#include "core/world/seekers.h"
#include "core/world/world.h"

// Cells that a command names, shared by all of its orders: a patrol's waypoints, what to flee from.
struct fm_route {
    uint32_t users; // orders
    uint32_t count;
    fm_cell cells[];
};

struct fm_order {
    uint64_t id;     // 0: none
    uint64_t number; // among the team's own, from 1
    fm_order_kind kind;
    fm_on_unreachable on_unreachable;
    uint64_t given_tick; // ticks completed when its turn came
    bool has_moved;      // the agent has made a move under it
    uint32_t radius;     // cells, as the kind of order means it

    // ---- the leg under way
    fm_cell goal;       // where it leads; FM_CELL_NONE: nowhere, the agent stays
    bool resting;       // the agent stays although there is a goal
    fm_cell substitute; // reachable cell it goes to instead, FM_CELL_NONE
    fm_retry retry;     // of asking whether the goal can be reached
    uint64_t leg_moves; // the agent's moves when the leg began
    uint64_t pause_end; // stays where it is until so many ticks are completed

    // ---- move
    bool marches;         // `goal` is the group's meeting cell, see group.h
    fm_cell own_goal;     // where it leads in the end
    uint32_t max_detour;  // per cent of the first way known; 0: any. See detour.h
    uint32_t first_steps; // of that way; 0: none is known yet
    bool is_too_long;     // the way is, as of the last choose stage
    uint32_t speed;       // cells in 1000 s, that of the group's slowest; 0: the agent's own

    // ---- patrol, flee
    struct fm_route *route; // NULL without
    uint32_t waypoint;      // patrol: where the leg leads, see legs.c
    bool loop;              // patrol: from the last waypoint to the first
    bool backwards;         // patrol: on the way back
    fm_cell home;           // where the agent stood when the order's turn came

    // ---- explore, flee
    fm_goal_search_state seek_state;
    fm_cell found;        // with FM_GOAL_SEARCH_FOUND
    uint64_t sought_tick; // tick in which it was looked for last

    // ---- follow, guard
    fm_agent_id target;       // all zero: none, or lost from sight
    fm_cell post;             // where the target was seen last; the cell that is guarded
    uint64_t rest_begin;      // tick in which `resting` began
    bool settled;             // stands on the reachable cell nearest to `post`,
    fm_cell settled_cell;     // which is this one,
    uint64_t settled_version; // as of this version of the knowledge
};
