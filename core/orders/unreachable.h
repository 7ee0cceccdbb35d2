// core/orders/unreachable.h: whether an order's goal can be reached, asked before any search, and
// what happens when it cannot.
//
// The labels of what the team knows (team_labels.h) answer in constant time. No planner ever works
// towards a goal that is known to lie in another component: twenty units sent into an enclosed cell
// cost one look for the cell nearest to it, which the team's labels remember.
//
//             ask ── connected ─────────────────────> WALK: a planner leads to the goal
//              ^ │                                     │ not found yet, or proven unreachable:
//              │ └── not connected                     │ ask
//              │       │    ^                          │
//              │       │    └──────────────────────────┘
//              │       ├── on_unreachable = fail ────> the order ends, unreachable
//              │       ├── wait ────> BLOCKED: no planner
//              │       └── nearest ─> DETOUR: a planner leads to the reachable cell nearest to the
//              │                       goal; standing on it with none nearer, the order ends,
//              └── retry ──────────────nearest_reached
//
// Retries (retry.h) rest for 1, 2, 4 ... 32 ticks. A BLOCKED or DETOUR order is woken when the
// components may have changed; on a detour also when the substitute is reached, or no longer can
// be. A WALK that has its path is not checked at all.
//
// Labels may be missing: out of memory, or the team has done FM_TEAM_LABELS_UNITS_MAX units of work
// on them in this tick. Then the planner searches meanwhile, and the order asks again later.
//
// Threads: serial stages, but for fm_unreachable_walk_on().

#pragma once

#include "core/world/agent.h"

/// Decides where an agent with an order, not on its goal, should go: order.substitute, or the goal
/// while that is FM_CELL_NONE. Releases its planner when that has changed. May end the order.
///
/// @return whether the agent needs a planner
bool fm_unreachable_attend(fm_world *world, struct fm_agent *agent);

/// The same for an agent that walks to its goal with a planner and has a step to go on, if only
/// itself and up-to-date labels are needed. If these are missing they are wanted
/// (fm_team_labels_want()). Any worker.
///
/// @return false when fm_unreachable_attend() has to look; then nothing is changed
bool fm_unreachable_walk_on(fm_world *world, struct fm_agent *agent);

/// Whether fm_unreachable_attend() would change anything in a tick, of an agent that walks to its
/// goal with a planner. With a step to go on, though not all of its path, the order asks again only
/// when its retry is due.
static inline bool fm_unreachable_wants_attention(const struct fm_agent *agent, uint64_t tick)
{
    const fm_retry *retry = &agent->order.retry;
    switch ((fm_plan_state)agent->plan_state) {
    case FM_PLAN_FOUND:
        return retry->wait != 0 || retry->due_tick != 0;
    case FM_PLAN_PARTIAL:
        return fm_retry_is_due(retry, tick);
    case FM_PLAN_RUNNING:
    case FM_PLAN_UNREACHABLE:
    case FM_PLAN_EXHAUSTED:
        return true;
    }
    FM_UNREACHABLE();
}
