// core/search/heuristic_survey.h: the tables that heuristics read, for one view: when they are
// measured, when they are out of date, and when they are renewed.
//
// A survey is begun when the first planner on the view wants tables, and lives as long as the view.
// Tables stay admissible while steps only become costlier, and exploring does nothing else under
// the free-space assumption. But they become weak; so once the team knows half as many more costly
// cells, they are measured again. When a step becomes cheaper they are stale at once, unfinished
// ones are dropped, and a new set is begun after a while without cheaper steps.
//
//   changes ──> follow ──> tables stale? ──> begin ──> advance, in many ticks ──> publish
//
// Each search of the tick reads the tables as they were when its search stage began.
//
// Threads: fm_heuristic_survey_advance() on one worker; the rest in serial stages.

#pragma once

#include "core/search/clusters.h"
#include "core/search/landmarks.h"

#define FM_SURVEY_EXPANSIONS_MAX 16384u // of one survey in one tick

typedef struct fm_heuristic_survey {
    fm_heuristic_tables tables; // what hangs on the view
    fm_landmarks landmarks;
    fm_clusters clusters;
    bool wants_landmarks, wants_clusters; // some planner does
    uint32_t quiet_ticks;                 // since a step became cheaper
    uint64_t costlier_count;              // changes ever
    uint64_t landmarks_at, clusters_at;   // costlier_count when they were begun
    bool landmarks_begun, clusters_begun; // for the map as it is, costlier steps left out
    uint64_t expansions;                  // done ever
    uint32_t tick_expansions;             // in this tick
} fm_heuristic_survey;

/// Makes a survey of a view; nothing is measured before a planner wants it.
/// @param seed  of random placements
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_heuristic_survey_create(const fm_view *view, fm_landmark_rules rules,
                                                uint64_t seed, const fm_memory *memory,
                                                fm_heuristic_survey **out);

/// NULL is allowed.
void fm_heuristic_survey_destroy(fm_heuristic_survey *survey);

/// A planner uses a heuristic on the view, from start to goal.
void fm_heuristic_survey_want(fm_heuristic_survey *survey, fm_heuristic_kind kind, fm_cell start,
                              fm_cell goal);

/// Once a tick, before any search: takes in the changes of the view, publishes tables that are
/// ready, decides what to measure next.
///
/// @param complete  false: the changes are not all there
void fm_heuristic_survey_follow(fm_heuristic_survey *survey, const fm_change *changes,
                                uint32_t count, bool complete);

/// The costs on the view are of another scale: all that was measured is void.
void fm_heuristic_survey_forget(fm_heuristic_survey *survey);

/// Whether there is something to measure in this tick.
bool fm_heuristic_survey_is_busy(const fm_heuristic_survey *survey);

/// Measures on within the grant, and within FM_SURVEY_EXPANSIONS_MAX for the tick.
void fm_heuristic_survey_advance(fm_heuristic_survey *survey, fm_work *work);

/// A number that stands for its state, for digests.
uint64_t fm_heuristic_survey_digest(const fm_heuristic_survey *survey);

/// Bytes held.
size_t fm_heuristic_survey_bytes(const fm_heuristic_survey *survey);
