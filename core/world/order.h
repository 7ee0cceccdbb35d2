// core/world/order.h: what an agent has to do, as the tick keeps it. core/orders/orders.h has the
// functions.
//
// An order leads its agent over legs. A leg is one cell to go to, `goal`, and is all that planners
// are given. A move has one leg, a patrol one after the other; a follow moves the goal of its
// leg. core/orders/order_kinds.c decides by kind what comes after a leg.

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
    uint64_t id; // 0: none
    // What choose and move read of an agent under way comes first: one line of cache.
    fm_cell goal;       // of the leg under way; FM_CELL_NONE: it leads nowhere, the agent stays
    fm_cell substitute; // reachable cell it goes to instead, FM_CELL_NONE
    fm_order_kind kind;
    uint8_t on_unreachable; // fm_on_unreachable
    uint8_t radius;         // cells, as the kind of order means it
    uint8_t alert;          // cells within which it stops for enemies; 0: never
    bool resting;           // the agent stays although there is a goal
    bool has_moved;         // it has made a move under the order
    bool is_alerted;        // it has stopped, and continues on FM_COMMAND_RESUME
    bool marches;           // moves: `goal` is the group's meeting cell, see group.h
    bool is_too_long;       // moves: the path is, as of the last choose stage
    bool loop;              // patrol: from the last waypoint to the first
    bool is_named;          // by the command that is being done
    uint32_t speed;         // moves: cells in 1000 s, of the group's slowest; 0: the agent's own
    uint32_t max_detour;    // moves: per cent of the first path known; 0: any. See detour.h
    fm_retry retry;         // of asking whether the goal can be reached

    uint64_t given_tick;    // ticks completed when its turn came
    uint32_t deadline;      // ticks after that in which it ends; 0: none
    fm_cell home;           // where the agent stood when the order's turn came
    uint64_t alert_from;    // not before so many ticks are completed
    uint64_t number;        // among the team's own, from 1
    struct fm_route *route; // patrol, flee; NULL without
    uint64_t leg_moves;     // the agent's moves when the leg began
    uint64_t pause_end;     // stays where it is until so many ticks are completed

    // By kind. Code that does not know the kind uses the functions below. The largest comes
    // first: `{0}` makes all of it zero.
    union {
        struct {
            struct {                      // follow, guard, keep_distance
                fm_agent_id target;       // all zero: none, or lost from sight
                fm_cell post;             // where the target was seen last; the cell that is
                                          // guarded; keep_distance without a target: where the
                                          // nearest enemy was seen last, or FM_CELL_NONE
                fm_cell settled_cell;     // with `settled`
                uint64_t settled_version; // the same: version of the knowledge
                uint64_t rest_begin;      // tick in which `resting` began
                bool once;                // ends when it is near; keep_distance: far enough
                bool settled;             // stands on the reachable cell nearest to `post`
                bool has_target;          // keep_distance: one was named
            } follow;
            struct {           // explore, flee, keep_distance
                uint64_t tick; // tick of the last search for a goal
                fm_goal_search_state state;
                fm_cell found; // with FM_GOAL_SEARCH_FOUND
            } search;
        };
        struct {
            fm_cell own_goal;     // its final goal
            uint32_t first_steps; // of the first path known; 0: none is known yet
        } move;
        struct {
            uint32_t waypoint; // where the leg leads, see patrol.c
            bool backwards;    // on the way back
        } patrol;
    };
};

_Static_assert(FM_ORDER_RADIUS_MAX <= UINT8_MAX, "radius and alert hold it");
_Static_assert(offsetof(struct fm_order, given_tick) == 64, "what a walk reads is a line");

/// Whether the order has to be checked in every tick, whatever its agent does (FM_MARK_WATCH).
static inline bool fm_order_is_watched(const struct fm_order *order)
{
    return order->id != 0 && (order->deadline != 0 || (order->alert != 0 && !order->is_alerted));
}

/// Whether its deadline has come, `tick` ticks completed. It is under way.
static inline bool fm_order_is_over(const struct fm_order *order, uint64_t tick)
{
    return order->deadline != 0 && tick >= order->given_tick + order->deadline;
}

/// Ticks that it has left, with this one; 0 where it has no deadline. It is under way.
static inline uint32_t fm_order_ticks_left(const struct fm_order *order, uint64_t tick)
{
    bool has_none = order->deadline == 0 || fm_order_is_over(order, tick);
    return has_none ? 0 : (uint32_t)(order->given_tick + order->deadline - tick);
}

/// Where its agent goes: the substitute if there is one. FM_CELL_NONE: nowhere.
static inline fm_cell fm_order_aim(const struct fm_order *order)
{
    return order->substitute != FM_CELL_NONE ? order->substitute : order->goal;
}

static inline bool fm_order_marches(const struct fm_order *order)
{
    return order->kind == FM_ORDER_MOVE && order->marches;
}

static inline uint32_t fm_order_speed(const struct fm_order *order)
{
    return order->kind == FM_ORDER_MOVE ? order->speed : 0;
}

static inline uint32_t fm_order_max_detour(const struct fm_order *order)
{
    return order->kind == FM_ORDER_MOVE ? order->max_detour : 0;
}

static inline bool fm_order_is_too_long(const struct fm_order *order)
{
    return order->kind == FM_ORDER_MOVE && order->is_too_long;
}

/// Whether the order's goal is searched for: explore, flee and keep_distance.
static inline bool fm_order_searches(const struct fm_order *order)
{
    return order->kind == FM_ORDER_EXPLORE || order->kind == FM_ORDER_FLEE ||
           order->kind == FM_ORDER_KEEP_DISTANCE;
}

/// Whether its agent waits for its turn to search for a goal in this tick.
static inline bool fm_order_is_listed(const struct fm_order *order)
{
    return fm_order_searches(order) && order->search.state == FM_GOAL_SEARCH_LISTED;
}

/// Whether the order has a target or a post: follow, guard and keep_distance.
static inline bool fm_order_follows(const struct fm_order *order)
{
    return order->kind == FM_ORDER_FOLLOW || order->kind == FM_ORDER_GUARD ||
           order->kind == FM_ORDER_KEEP_DISTANCE;
}
