// core/world/planner_fetch.h: asks the caches for what planners of many agents will read.
//
// From an agent to its answer leads a chain of pointers: its planner, the planner's state, what the
// state points to, and what that does. Each link is prefetched some agents ahead, so that the cache
// misses of several agents overlap.
//
// Threads: any.

#pragma once

#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"

#define FM_FETCH_STRIDE 3u // agents between a link and the next one

/// Prefetches the links of agents that stand behind place `i` of a list of slots. Call it for each
/// place in turn, before that agent's planner is asked.
static inline void fm_planners_fetch_ahead(const struct fm_world_agents *all_agents,
                                           const struct fm_world_planners *all_planners,
                                           const uint32_t *slots, uint32_t i, uint32_t count)
{
    const struct fm_agent *agents = all_agents->slots;
    const struct fm_planner *planners = all_planners->slots;
    if (i + 5 * FM_FETCH_STRIDE < count) {
        __builtin_prefetch(&agents[slots[i + 5 * FM_FETCH_STRIDE]]);
        __builtin_prefetch(&agents[slots[i + 5 * FM_FETCH_STRIDE]].order);
    }
    uint32_t at = i + 4 * FM_FETCH_STRIDE;
    if (at < count && agents[slots[at]].planner != FM_SLOT_NONE) {
        __builtin_prefetch(&planners[agents[slots[at]].planner]);
        __builtin_prefetch((const char *)&planners[agents[slots[at]].planner] + 64);
    }
    at = i + 3 * FM_FETCH_STRIDE;
    if (at < count && agents[slots[at]].planner != FM_SLOT_NONE) {
        const char *self = planners[agents[slots[at]].planner].self;
        __builtin_prefetch(self);
        __builtin_prefetch(self + 64);
    }
    for (uint32_t depth = 0; depth < 2; depth++) {
        at = i + (2 - depth) * FM_FETCH_STRIDE;
        if (at < count && agents[slots[at]].planner != FM_SLOT_NONE) {
            const struct fm_planner *planner = &planners[agents[slots[at]].planner];
            if (planner->spec.ops->fetch != NULL) {
                planner->spec.ops->fetch(planner->self, depth);
            }
        }
    }
}
