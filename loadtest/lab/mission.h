// loadtest/lab/mission.h: one agent that walks from a start to a goal through ground that its team
// does not know, and the cost of that.
//
// The loop is a team of one with nothing around it: look, notify the planner of what is new, let it
// search, step. It follows the game time model of the literature: time is a row of equal
// intervals, in each the agent may search for a given number of expansions (or ticks of the
// stopwatch) and then makes one move or passes. With no limit every interval is one move.
//
// Expansions are cells whose neighbours were looked at, over- and underconsistent ones alike,
// summed over all searches of the mission. Other work that a planner is charged for (keys renewed,
// estimates repaired) is counted apart, as secondary.
//
// Planning and sensing are timed separately, by the interval: the stopwatch is read between them.
// Time that the system gave to others is subtracted from both in proportion, over the whole
// mission, so that a busy machine affects the sums little; a single interval (the longest) may
// still be affected.
//
// Threads: one.

#pragma once

#include "core/base/slab.h"
#include "core/generate/generate.h"
#include "core/map/knowledge.h"
#include "core/planners/catalogue.h"
#include "core/search/scratch.h"

// A worker's search memory, kept from mission to mission as in the server.
typedef struct fm_lab_worker {
    fm_slab slab;
    fm_scratch scratch;
} fm_lab_worker;

void fm_lab_worker_init(fm_lab_worker *worker);
void fm_lab_worker_fini(fm_lab_worker *worker);

// The ground and the rules of a mission.
typedef struct fm_lab_ground {
    const fm_grid *truth;
    const fm_line_of_sight *sight;
    fm_connectivity connectivity;
    fm_step_costs steps;
    const fm_bitmap *remembered;  // cells known from the start; NULL: none
    uint32_t interval_expansions; // in each interval; 0: as many as it takes
    uint64_t interval_ticks;      // of the stopwatch, in each interval; 0: as many as it takes
    uint64_t intervals_max;       // then the mission is given up; 0: never
} fm_lab_ground;

typedef enum fm_lab_outcome {
    FM_LAB_ARRIVED,
    FM_LAB_UNREACHABLE,
    FM_LAB_EXHAUSTED, // out of memory
    FM_LAB_GIVEN_UP,  // intervals_max
} fm_lab_outcome;

typedef struct fm_lab_mission {
    fm_lab_outcome outcome;
    uint64_t intervals;
    uint64_t moves;
    uint64_t cost; // of the moves, as the truth has it
    uint64_t expansions;
    uint64_t secondary;
    uint64_t replans;                // intervals in which the planner had to search
    uint64_t planning_ticks;         // the planner's making and unmaking included
    uint64_t sensing_ticks;          // looking around
    uint64_t interval_longest_ticks; // planning, in the interval where it took longest
    size_t bytes_max;                // memory of the planner at its largest
    fm_cell last;                    // where the agent stood at the end
} fm_lab_mission;

/// Plays a mission.
///
/// @param start, goal  free cells of the truth
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_lab_mission_play(const fm_lab_ground *ground, const fm_planner_spec *spec,
                                         fm_cell start, fm_cell goal, fm_lab_worker *worker,
                                         fm_lab_mission *mission);

/// Plays a mission `repeats` times and keeps the fastest. All else is the same each time.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_lab_mission_measure(const fm_lab_ground *ground,
                                            const fm_planner_spec *spec, fm_cell start,
                                            fm_cell goal, uint32_t repeats, fm_lab_worker *worker,
                                            fm_lab_mission *mission);

/// Whether a planner works by these rules at all.
static inline bool fm_lab_planner_fits(const fm_lab_ground *ground, const fm_planner_ops *ops)
{
    return !ops->uniform_only || (ground->connectivity == FM_CONNECT_8 && !ground->truth->weighted);
}

/// Cost of a shortest path by one who knows the whole map; FM_COST_INFINITE when there is none.
/// FM_COST_INFINITE also when memory runs out.
uint32_t fm_lab_optimal_cost(const fm_lab_ground *ground, fm_cell start, fm_cell goal,
                             fm_lab_worker *worker);

/// The same, of the largest component.
fm_cell *fm_lab_largest_component(const fm_grid *grid, uint32_t *count);
