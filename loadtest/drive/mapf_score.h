// loadtest/drive/mapf_score.h: the measures of the literature for a multi-agent path finding run.
//
// The cost of a unit is the tick of its last arrival at its goal, the one after which it stays
// there until the end. A unit that is pushed off has not arrived yet. The makespan is the largest
// cost, the sum of costs that of all. A unit that is off its goal at the end is stuck, and costs
// all ticks of the run, as in the published code of PIBT.
//
// Source: R. Stern et al., "Multi-Agent Pathfinding: Definitions, Variants, and Benchmarks", SoCS
// 2019.

#pragma once

#include "core/base/base.h"

typedef struct fm_mapf_score {
    uint32_t on_goal_at_end;
    uint32_t stuck; // the others
    uint32_t makespan;
    uint64_t sum_of_costs;
} fm_mapf_score;

#define FM_MAPF_OFF_GOAL UINT32_MAX // of an arrival: the unit is not on its goal

/// Notes where a unit is after a tick.
/// @param arrival  of the unit: the tick of its last arrival, or FM_MAPF_OFF_GOAL
static inline void fm_mapf_note(uint32_t *arrival, bool is_on_goal, uint32_t tick)
{
    if (!is_on_goal) {
        *arrival = FM_MAPF_OFF_GOAL;
    } else if (*arrival == FM_MAPF_OFF_GOAL) {
        *arrival = tick;
    }
}

/// The score of a run of `ticks` ticks.
/// @param arrivals  of all units, as fm_mapf_note() has left them
fm_mapf_score fm_mapf_score_of(const uint32_t *arrivals, uint32_t count, uint32_t ticks);
