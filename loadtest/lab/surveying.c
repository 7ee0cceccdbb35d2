// loadtest/lab/surveying.c: see surveying.h.

#include "loadtest/lab/surveying.h"

#include "loadtest/lab/stopwatch.h"

#define QUIET_TICKS 16u // after which a survey begins nothing more by itself

fm_lab_survey fm_lab_survey_begin(const fm_lab *lab, fm_view *view, fm_landmark_rules rules,
                                  fm_lab_worker *worker)
{
    fm_lab_survey made = {.view = view, .worker = worker};
    fm_lab_check(
        lab, fm_heuristic_survey_create(view, rules, lab->seed + 1, &fm_memory_libc, &made.survey),
        "survey");
    view->tables = &made.survey->tables;
    return made;
}

void fm_lab_survey_end(fm_lab_survey *survey)
{
    survey->view->tables = NULL;
    fm_heuristic_survey_destroy(survey->survey);
}

// As many ticks as it takes, each with all that a tick allows.
static void come_to_rest(fm_lab_survey *survey)
{
    uint32_t idle_ticks = 0;
    while (idle_ticks < QUIET_TICKS) {
        fm_heuristic_survey_follow(survey->survey, NULL, 0, true);
        idle_ticks = fm_heuristic_survey_is_busy(survey->survey) ? 0 : idle_ticks + 1;
        fm_work work = {.slab = &survey->worker->slab, .expansions_max = UINT32_MAX};
        fm_heuristic_survey_advance(survey->survey, &work);
    }
}

void fm_lab_survey_make(fm_lab_survey *survey, fm_heuristic_kind kind, const fm_lab_errand *errands,
                        uint32_t errand_count)
{
    uint64_t begun = fm_lab_ticks();
    bool adaptive = survey->survey->landmarks.rules.adaptive;
    for (uint32_t i = 0; i < errand_count; i++) {
        fm_heuristic_survey_want(survey->survey, kind, errands[i].start, errands[i].goal);
        if (adaptive && i % 4 == 0) {
            come_to_rest(survey);
        }
    }
    come_to_rest(survey);
    survey->expansions = survey->survey->expansions;
    survey->ms += fm_lab_ns(fm_lab_ticks() - begun) / 1e6;
}
