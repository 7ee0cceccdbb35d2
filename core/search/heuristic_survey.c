// core/search/heuristic_survey.c: see heuristic_survey.h.

#include "core/search/heuristic_survey.h"

#define QUIET_TICKS_MIN    8u   // ticks without a cheaper step before tables are renewed
#define COSTLIER_COUNT_MIN 256u // costlier changes that make renewing worth while

fm_status fm_heuristic_survey_create(const fm_view *view, fm_landmark_rules rules, uint64_t seed,
                                     const fm_memory *memory, fm_heuristic_survey **out)
{
    fm_heuristic_survey *survey = fm_memory_allocate_zeroed(memory, 1, sizeof *survey);
    if (survey == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_landmarks_init(&survey->landmarks, view, rules, seed, memory);
    fm_clusters_init(&survey->clusters, view, memory);
    survey->tables.allow_stale = rules.allow_stale;
    survey->quiet_ticks = QUIET_TICKS_MIN;
    *out = survey;
    return FM_OK;
}

void fm_heuristic_survey_destroy(fm_heuristic_survey *survey)
{
    if (survey != NULL) {
        const fm_memory *memory = survey->landmarks.memory;
        fm_landmarks_fini(&survey->landmarks);
        fm_clusters_fini(&survey->clusters);
        fm_memory_release(memory, survey, sizeof *survey);
    }
}

void fm_heuristic_survey_want(fm_heuristic_survey *survey, fm_heuristic_kind kind, fm_cell start,
                              fm_cell goal)
{
    survey->wants_landmarks = survey->wants_landmarks || kind == FM_HEURISTIC_LANDMARKS;
    survey->wants_clusters = survey->wants_clusters || kind == FM_HEURISTIC_CLUSTER;
    if (kind == FM_HEURISTIC_LANDMARKS) {
        fm_landmarks_note_errand(&survey->landmarks, start, goal);
    }
}

// ---- changes ------------------------------------------------------------------------------------

// Searches that began before must notice that the tables have changed.
static void grow_stale(fm_heuristic_survey *survey)
{
    fm_heuristic_tables *tables = &survey->tables;
    fm_landmarks_abandon(&survey->landmarks);
    fm_clusters_abandon(&survey->clusters);
    survey->landmarks_begun = survey->clusters_begun = false;
    survey->quiet_ticks = 0;
    if (tables->landmarks.count > 0) {
        tables->landmarks.stale = true;
        tables->landmarks.generation += 1;
    }
    if (tables->clusters.costs != NULL) {
        tables->clusters.stale = true;
        tables->clusters.generation += 1;
    }
}

// Whether a table has become weak that was begun when `begun_at` changes had made steps costlier.
static bool is_weak(const fm_heuristic_survey *survey, uint64_t begun_at)
{
    return survey->costlier_count - begun_at >= COSTLIER_COUNT_MIN + begun_at / 2;
}

static void begin_what_is_due(fm_heuristic_survey *survey)
{
    bool quiet = survey->quiet_ticks >= QUIET_TICKS_MIN;
    bool idle = !fm_landmarks_are_busy(&survey->landmarks) && !survey->clusters.busy;
    if (!quiet || !idle) {
        return;
    }
    if (survey->wants_landmarks &&
        (!survey->landmarks_begun || is_weak(survey, survey->landmarks_at))) {
        survey->landmarks_begun = true;
        survey->landmarks_at = survey->costlier_count;
        fm_landmarks_begin(&survey->landmarks);
    } else if (survey->wants_clusters &&
               (!survey->clusters_begun || is_weak(survey, survey->clusters_at))) {
        survey->clusters_begun = true;
        survey->clusters_at = survey->costlier_count;
        fm_clusters_begin(&survey->clusters);
    } else if (!survey->tables.landmarks.stale && survey->tables.landmarks.count > 0) {
        fm_landmarks_adapt(&survey->landmarks);
    }
}

void fm_heuristic_survey_follow(fm_heuristic_survey *survey, const fm_change *changes,
                                uint32_t count, bool complete)
{
    bool cheaper = !complete;
    for (uint32_t i = 0; i < count; i++) {
        cheaper = cheaper || changes[i].cheaper;
        survey->costlier_count += changes[i].costlier;
    }
    survey->tick_expansions = 0;
    if (cheaper) {
        grow_stale(survey);
        return;
    }
    survey->quiet_ticks += survey->quiet_ticks < QUIET_TICKS_MIN;
    fm_landmarks_publish(&survey->landmarks, &survey->tables.landmarks);
    fm_clusters_publish(&survey->clusters, &survey->tables.clusters);
    begin_what_is_due(survey);
}

void fm_heuristic_survey_forget(fm_heuristic_survey *survey)
{
    grow_stale(survey);
    survey->tables.landmarks.count = 0;
    survey->tables.clusters.costs = NULL;
}

// ---- measuring ----------------------------------------------------------------------------------

bool fm_heuristic_survey_is_busy(const fm_heuristic_survey *survey)
{
    return survey->tick_expansions < FM_SURVEY_EXPANSIONS_MAX &&
           (fm_landmarks_are_busy(&survey->landmarks) || survey->clusters.busy);
}

void fm_heuristic_survey_advance(fm_heuristic_survey *survey, fm_work *work)
{
    uint32_t expansions_at_start = work->expansions, granted = work->expansions_max;
    uint32_t left = FM_SURVEY_EXPANSIONS_MAX - survey->tick_expansions;
    work->expansions_max = granted < left ? granted : left;
    if (fm_landmarks_are_busy(&survey->landmarks)) {
        fm_landmarks_advance(&survey->landmarks, work, expansions_at_start);
    } else {
        fm_clusters_advance(&survey->clusters, work, expansions_at_start);
    }
    work->expansions_max = granted;
    survey->tick_expansions += work->expansions - expansions_at_start;
    survey->expansions += work->expansions - expansions_at_start;
}

uint64_t fm_heuristic_survey_digest(const fm_heuristic_survey *survey)
{
    const fm_heuristic_tables *tables = &survey->tables;
    uint64_t digest = fm_mix64(survey->expansions ^ (uint64_t)tables->landmarks.generation << 32);
    digest = fm_mix64(digest ^ tables->clusters.generation);
    for (uint32_t i = 0; i < survey->landmarks.live_count; i++) {
        digest = fm_mix64(digest ^ ((uint64_t)survey->landmarks.live[i].cell << 32 |
                                    survey->landmarks.live[i].used));
    }
    return digest;
}

size_t fm_heuristic_survey_bytes(const fm_heuristic_survey *survey)
{
    return sizeof *survey + fm_landmarks_bytes(&survey->landmarks) +
           fm_clusters_bytes(&survey->clusters);
}
