// server/worlds/job.c: see job.h.

#include "server/worlds/job.h"

#include <stdlib.h>

// ---- what the kinds own ------------------------------------------------------------------------

static void command_fini(fm_job *job)
{
    free(job->command.agents);
    free(job->command.cells);
    free(job->command.orders);
    free(job->command.rects);
    free(job->command.spawned);
    free(job->command.names);
}

static void query_fini(fm_job *job)
{
    fm_job_query *query = &job->query;
    for (uint32_t i = 0; query->items != NULL && i < query->item_count; i++) {
        fm_query_destroy(query->items[i].query);
    }
    free(query->items);
    free(query->cells);
    fm_asker_release(query->asker);
}

static size_t query_size(const fm_job *job)
{
    const fm_job_query *query = &job->query;
    size_t size = query->cell_count * sizeof *query->cells;
    for (uint32_t i = 0; query->items != NULL && i < query->item_count; i++) {
        const fm_query_answer *answer = &query->items[i].answer;
        size += sizeof query->items[i] + answer->cell_count * sizeof *answer->cells +
                answer->search_count * sizeof *answer->search;
    }
    size_t field_count = (size_t)query->rect.width * query->rect.height;
    return query->kind == FM_ASK_FIELD ? size + field_count * sizeof(uint32_t) : size;
}

static void stats_fini(fm_job *job)
{
    if (job->stats.world != NULL) {
        free(job->stats.world->teams);
    }
    free(job->stats.world);
}

static size_t stats_size(const fm_job *job)
{
    const fm_world_stats *stats = job->stats.world;
    return stats == NULL ? 0 : sizeof *stats + stats->team_count * sizeof *stats->teams;
}

static void inspect_fini(fm_job *job)
{
    free(job->inspect.path);
    free(job->inspect.search);
}

static size_t inspect_size(const fm_job *job)
{
    return job->inspect.path_count * sizeof *job->inspect.path +
           job->inspect.search_count * sizeof *job->inspect.search;
}

static void explain_fini(fm_job *job)
{
    free(job->explain.explanation);
}

static size_t explain_size(const fm_job *job)
{
    return sizeof *job->explain.explanation;
}

static void top_fini(fm_job *job)
{
    free(job->top.rows);
}

static size_t top_size(const fm_job *job)
{
    return job->top.capacity * sizeof *job->top.rows;
}

static void jams_fini(fm_job *job)
{
    free(job->jams.found);
    free(job->jams.lanes);
    free(job->jams.meetings);
}

static size_t jams_size(const fm_job *job)
{
    return sizeof *job->jams.found + FM_LANED_MAX * sizeof *job->jams.lanes +
           sizeof *job->jams.meetings;
}

static void units_fini(fm_job *job)
{
    free(job->units.agents);
    free(job->units.reports);
    free(job->units.cells);
}

static size_t units_size(const fm_job *job)
{
    size_t cells_each = job->units.cells_max + FM_UNIT_CELLS_MORE;
    return job->units.count * (sizeof *job->units.agents + sizeof *job->units.reports +
                               cells_each * sizeof *job->units.cells);
}

static void save_fini(fm_job *job)
{
    free(job->save.file.data);
}

static size_t save_size(const fm_job *job)
{
    return job->save.file.size;
}

const fm_job_traits fm_job_kinds[FM_JOB_KIND_COUNT] = {
    [FM_JOB_ADD] = {.always_fits = true},
    [FM_JOB_REMOVE] = {.always_fits = true},
    [FM_JOB_COMMAND] = {.changes_world = true, .fini = command_fini},
    [FM_JOB_PAUSE] = {.changes_world = true, .needs_no_world = true},
    [FM_JOB_RESUME] = {.changes_world = true},
    [FM_JOB_STEP] = {.changes_world = true},
    [FM_JOB_SEEK] = {.needs_no_world = true},
    [FM_JOB_QUERY] = {.fini = query_fini, .size = query_size},
    [FM_JOB_STATS] = {.is_harmless = true, .fini = stats_fini, .size = stats_size},
    [FM_JOB_INSPECT] = {.fini = inspect_fini, .size = inspect_size},
    [FM_JOB_TRACE] = {.fini = NULL},
    [FM_JOB_UNTRACE] = {.is_harmless = true, .needs_no_world = true},
    [FM_JOB_EXPLAIN] = {.fini = explain_fini, .size = explain_size},
    [FM_JOB_TOP] = {.fini = top_fini, .size = top_size},
    [FM_JOB_JAMS] = {.fini = jams_fini, .size = jams_size},
    [FM_JOB_UNITS] = {.fini = units_fini, .size = units_size},
    [FM_JOB_WATCH] = {.always_fits = false}, // but more of them than of others
    [FM_JOB_UNWATCH] = {.always_fits = true, .is_harmless = true, .needs_no_world = true},
    [FM_JOB_SAVE] = {.fini = save_fini, .size = save_size},
};

fm_asker *fm_asker_create(uint64_t holder)
{
    fm_asker *asker = calloc(1, sizeof *asker);
    if (asker != NULL) {
        asker->holder = holder;
        atomic_init(&asker->users, 1);
    }
    return asker;
}

void fm_asker_release(fm_asker *asker)
{
    if (asker != NULL && atomic_fetch_sub(&asker->users, 1) == 1) {
        free(asker);
    }
}

fm_job *fm_job_create(fm_job_kind kind, fm_host *host)
{
    fm_job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        job->event.kind = FM_EVENT_JOB;
        job->kind = kind;
        job->host = host;
    }
    return job;
}

// What a command owns is in its row, too, and counted there.
size_t fm_job_size(const fm_job *job)
{
    const fm_job_traits *traits = &fm_job_kinds[job->kind];
    return sizeof *job + (traits->size == NULL ? 0 : traits->size(job));
}

void fm_job_destroy(fm_job *job)
{
    if (job != NULL && fm_job_kinds[job->kind].fini != NULL) {
        fm_job_kinds[job->kind].fini(job);
    }
    free(job);
}
