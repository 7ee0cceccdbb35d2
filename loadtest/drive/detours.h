// loadtest/drive/detours.h: how long the paths are that agents take, over the shortest possible.
//
// Follows some of the agents in the view of everything and adds up what their steps cost from one
// end of an order to the next, or to where the run ends, and compares that with a shortest path
// between the same two cells on the true map.
// Under fog no agent can always take that path: the ratio at a generous budget is the price of the
// fog, and what a tighter budget adds to it is the price of the budget.
//
// Walls that go up during the run are not taken into account, nor are movement classes: a scenario
// with either has no ratio.
//
// Threads: one at a time.

#pragma once

#include <fogmarch/mirror.h>

#include "loadtest/drive/ground.h"

#define FM_DETOURS_AGENTS 1021u // followed at most; a prime, so that ids spread
#define FM_DETOURS_TRIPS  512u  // kept at most

typedef struct fm_detours {
    fm_mirror mirror;
    struct {
        uint64_t agent;   // 0: nobody yet
        fm_cell from, at; // where the last order ended; where it is
        uint64_t cost;    // of its steps in between
    } followed[FM_DETOURS_AGENTS];
    struct {
        fm_cell from, to;
        uint64_t cost;
    } trips[FM_DETOURS_TRIPS];
    uint32_t trip_count;
    fm_step_costs steps;
    bool failed; // a message did not fit, or memory ran out
} fm_detours;

/// NULL when out of memory.
fm_detours *fm_detours_create(const fm_scenario *scenario);

/// NULL is allowed.
void fm_detours_destroy(fm_detours *detours);

/// A keyframe or delta of the view of everything.
void fm_detours_take(fm_detours *detours, fm_notification notification,
                     const msgpack_object *params);

/// What all trips cost, over what shortest paths would have. Once, at the end.
///
/// @param trips  receives how many trips that is
/// @return 0 when it cannot be said
double fm_detours_ratio(fm_detours *detours, const fm_ground *ground, const fm_scenario *scenario,
                        uint32_t *trips);
