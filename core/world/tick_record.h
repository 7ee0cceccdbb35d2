// core/world/tick_record.h: what a tick depends on besides the world and the commands before it.

#pragma once

#include "core/base/base.h"

#define FM_SEARCH_ROUNDS_MAX 32u

// A planner that the deadline stopped before its grant was used up.
typedef struct fm_cut {
    uint32_t planner; // slot; FM_CUT_SURVEY + number for a survey (core/search/heuristic_survey.h)
    uint32_t round;   // 0..FM_SEARCH_ROUNDS_MAX - 1
    uint32_t expansions; // its fm_work.expansions at that moment; 0: its turn never came
} fm_cut;

#define FM_CUT_SURVEY 0xc0000000u

// All that a tick depends on besides the world and the commands before it. The journal stores
// exactly this.
typedef struct fm_tick_record {
    uint64_t tick;              // number of the tick, from 1
    uint64_t expansions_budget; // shared by all planners
    uint32_t rounds;            // rounds that were begun
    const fm_cut *cuts;         // by round, then by planner slot
    uint32_t cut_count;
    uint64_t digest; // of the world after the tick
} fm_tick_record;
