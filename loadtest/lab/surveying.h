// loadtest/lab/surveying.h: the tables that heuristics read (core/search/heuristic_survey.h),
// completed before an experiment continues; a server makes them in the background over many ticks.

#pragma once

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/mission.h"

#include "core/search/heuristic_survey.h"

// A survey and what it took to make.
typedef struct fm_lab_survey {
    fm_heuristic_survey *survey;
    fm_view *view;
    fm_lab_worker *worker;
    uint64_t expansions;
    double ms;
} fm_lab_survey;

/// Begins a survey and attaches its tables to the view. Ends the process when out of memory.
fm_lab_survey fm_lab_survey_begin(const fm_lab *lab, fm_view *view, fm_landmark_rules rules,
                                  fm_lab_worker *worker);

/// Takes the tables off the view and releases them.
void fm_lab_survey_end(fm_lab_survey *survey);

/// Makes a heuristic's tables from recent errands, which are noted one after the other; the
/// adaptive rule runs in between. errand_count at least 1.
void fm_lab_survey_make(fm_lab_survey *survey, fm_heuristic_kind kind, const fm_lab_errand *errands,
                        uint32_t errand_count);
