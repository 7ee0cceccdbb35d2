// loadtest/series/bracket.h: chooses the next number of agents to try, in the search for the
// largest that is carried.
//
// The search keeps the largest number that was carried and the smallest that was not, each with its
// load: p99 of the tick time over the budget. Tick time grows about as the agents do, so the next
// number is where a straight line through both meets the budget. A bracket that is open on one side
// is extended by the load of the other. A number that failed for another reason than time (searches
// that wait, say) has a load below 1: then the middle is tried.

#pragma once

#include "core/base/base.h"

#define FM_BRACKET_MIN 16u
#define FM_BRACKET_MAX 262144u // of the key agents.count

typedef struct fm_bracket {
    uint32_t begin;                 // the first to try
    uint32_t carried;               // 0: none yet
    uint32_t over;                  // 0: none yet
    double load_carried, load_over; // p99 of the tick over the budget
} fm_bracket;

/// The next number of agents to try, in FM_BRACKET_MIN..FM_BRACKET_MAX; 0 when the two ends are
/// within 5 % of each other, or the limits are reached.
uint32_t fm_bracket_next(const fm_bracket *bracket);

/// Enters the result of a number.
void fm_bracket_note(fm_bracket *bracket, uint32_t agents, double load, bool carried);
