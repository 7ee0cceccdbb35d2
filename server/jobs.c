// server/jobs.c: see jobs.h.

#include "server/jobs.h"

#include "server/clock.h"
#include "server/publish.h"

#include <stdlib.h>

#define PATH_CELLS_MAX     4096u  // of debug.inspect
#define SEARCH_CELLS_MAX   16384u // likewise
#define QUERIES_PER_WORKER 2u     // that search at the same time

// ---- path queries ------------------------------------------------------------------------------

static fm_status query_begin(fm_host *host, fm_job *job)
{
    if (host->query_count == FM_HOST_QUERIES_MAX) {
        return FM_ERR_BUSY;
    }
    fm_job_query *query = &job->query;
    const fm_view *view = fm_world_view(host->world, query->team);
    if (view == NULL) {
        return FM_ERR_NO_TEAM;
    }
    fm_status status = fm_query_create(view, query->from, query->to, query->expansions_max,
                                       &fm_memory_libc, &query->query);
    if (status == FM_OK) {
        host->queries[host->query_count++] = job;
    }
    return status;
}

void fm_jobs_detach_queries(fm_host *host)
{
    for (uint32_t i = 0; i < host->query_count; i++) {
        fm_job_query *query = &host->queries[i]->query;
        if (!query->detached) {
            // Without memory for a copy the query ends as exhausted, which is its answer.
            fm_status status = fm_query_detach(query->query);
            query->detached = status == FM_OK || status == FM_ERR_NO_MEMORY;
        }
    }
}

struct search {
    fm_host *host;
    fm_scratch *scratches; // by worker
    uint64_t deadline_ns;
};

static bool search_deadline_passed(void *context)
{
    const struct search *search = context;
    return fm_clock_now_ns() >= search->deadline_ns;
}

static void search_range(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    struct search *search = context;
    for (uint32_t i = begin; i < end; i++) {
        fm_work work = {
            .expansions_max = UINT32_MAX,
            .scratch = &search->scratches[worker],
            .deadline = {.passed = search_deadline_passed, .context = search},
        };
        fm_job_query *query = &search->host->queries[i]->query;
        query->answer.state = fm_query_advance(query->query, &work);
    }
}

// Gives back the queries that are done and keeps the others in their order.
static void finish_queries(fm_conductor *conductor, fm_host *host, uint32_t searched_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < host->query_count; i++) {
        fm_job *job = host->queries[i];
        if (i >= searched_count || job->query.answer.state == FM_QUERY_RUNNING) {
            host->queries[kept++] = job;
        } else {
            job->query.answer = fm_query_result(job->query.query);
            fm_conductor_finish(conductor, job, FM_OK);
        }
    }
    host->query_count = kept;
}

// The oldest few search at a time, so that only these hold search memory.
bool fm_jobs_search(fm_conductor *conductor, fm_host *host, fm_workers *workers,
                    fm_scratch *scratches, uint64_t deadline_ns)
{
    struct search search = {.host = host, .scratches = scratches, .deadline_ns = deadline_ns};
    uint32_t at_once = QUERIES_PER_WORKER * fm_workers_count(workers);
    while (host->query_count > 0 && !search_deadline_passed(&search)) {
        uint32_t count = host->query_count < at_once ? host->query_count : at_once;
        fm_workers_run(workers, count, 1, search_range, &search);
        finish_queries(conductor, host, count);
    }
    return host->query_count > 0;
}

// ---- debug.inspect -----------------------------------------------------------------------------

static bool rect_contains(const fm_rect *rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect->x < rect->width && fm_cell_y(cell) - rect->y < rect->height;
}

static void list_search_cell(const fm_inspection *cell, void *context)
{
    fm_job_inspect *inspect = context;
    if (inspect->search_count < SEARCH_CELLS_MAX && rect_contains(&inspect->rect, cell->cell)) {
        inspect->search[inspect->search_count++] = *cell;
    }
}

static fm_status inspect_search(fm_host *host, fm_job_inspect *inspect)
{
    inspect->search = malloc(SEARCH_CELLS_MAX * sizeof *inspect->search);
    if (inspect->search == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status =
        fm_world_inspect_search(host->world, inspect->agent, list_search_cell, inspect);
    return status == FM_ERR_NOT_READY ? FM_OK : status; // no planner: an empty list
}

static fm_status inspect_agent(fm_host *host, fm_job_inspect *inspect)
{
    fm_status status = fm_world_inspect(host->world, inspect->agent, &inspect->report);
    if (status != FM_OK) {
        return status;
    }
    inspect->path = malloc(PATH_CELLS_MAX * sizeof *inspect->path);
    if (inspect->path == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    uint32_t count =
        fm_world_agent_path(host->world, inspect->agent, inspect->path, PATH_CELLS_MAX);
    inspect->path_count = count < PATH_CELLS_MAX ? count : PATH_CELLS_MAX;
    return inspect->has_rect ? inspect_search(host, inspect) : FM_OK;
}

// ---- stats -------------------------------------------------------------------------------------

static fm_quantiles quantiles_ms(const fm_histogram *microseconds)
{
    return (fm_quantiles){
        .count = microseconds->count,
        .p50 = (double)fm_histogram_quantile(microseconds, 0.5) / 1e3,
        .p99 = (double)fm_histogram_quantile(microseconds, 0.99) / 1e3,
        .p999 = (double)fm_histogram_quantile(microseconds, 0.999) / 1e3,
        .max = (double)microseconds->max / 1e3,
    };
}

// What core/ has counted since the histograms began anew.
static fm_quantiles first_move_quantiles(const fm_host *host, const fm_world_counts *counts)
{
    fm_histogram *histogram = calloc(1, sizeof *histogram);
    if (histogram == NULL) {
        return (fm_quantiles){0};
    }
    for (uint32_t ticks = 0; ticks < FM_COUNT_OF(counts->first_move_histogram); ticks++) {
        uint32_t count = counts->first_move_histogram[ticks] - host->first_moves_before[ticks];
        histogram->buckets[ticks] = count; // these values have a bucket each, but for the last
        histogram->count += count;
        histogram->max = count > 0 ? ticks : histogram->max;
    }
    fm_quantiles quantiles = {
        .count = histogram->count,
        .p50 = (double)fm_histogram_quantile(histogram, 0.5),
        .p99 = (double)fm_histogram_quantile(histogram, 0.99),
        .p999 = (double)fm_histogram_quantile(histogram, 0.999),
        .max = (double)histogram->max,
    };
    free(histogram);
    return quantiles;
}

static fm_status make_stats(const fm_host *host, fm_job *job)
{
    fm_world_stats *stats = calloc(1, sizeof *stats);
    if (stats == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_world_counts_get(host->world, &stats->counts);
    stats->tick_ms = quantiles_ms(&host->tick_histogram);
    stats->overrun_ms = quantiles_ms(&host->overrun_histogram);
    stats->order_to_first_move_ticks = first_move_quantiles(host, &stats->counts);
    for (uint32_t stage = 0; stage < FM_STAGE_COUNT && host->tick_histogram.count > 0; stage++) {
        stats->stages_ms[stage] =
            (double)host->stage_ns[stage] / 1e6 / (double)host->tick_histogram.count;
    }
    stats->late_ticks = host->pacer.late_ticks;
    stats->skipped_ticks = host->pacer.skipped_ticks;
    stats->degraded_ticks = host->pacer.degraded_ticks;
    stats->ns_per_expansion = host->pacer.ns_per_expansion;
    job->stats.world = stats;
    return FM_OK;
}

static void begin_stats_anew(fm_host *host, const fm_world_counts *counts)
{
    host->tick_histogram = (fm_histogram){0};
    host->overrun_histogram = (fm_histogram){0};
    memset(host->stage_ns, 0, sizeof host->stage_ns);
    memcpy(host->first_moves_before, counts->first_move_histogram, sizeof host->first_moves_before);
}

// ---- the rest ----------------------------------------------------------------------------------

static void resume(fm_host *host, const fm_job *job, uint64_t now_ns)
{
    if (job->pace.tick_hz > 0) {
        host->tick_hz = job->pace.tick_hz;
    }
    if (job->pace.budget_ms > 0) {
        host->budget_ms = job->pace.budget_ms;
    }
    bool faster = job->pace.tick_hz > 0 || job->pace.budget_ms > 0;
    if (host->paused || faster) {
        fm_pacer_change(&host->pacer, host->tick_hz, host->budget_ms, now_ns);
    }
    host->paused = false;
}

static void keep_count(fm_host *host, const fm_job_command *command)
{
    switch (command->command.kind) {
    case FM_COMMAND_TEAM:
        host->teams++;
        break;
    case FM_COMMAND_SPAWN:
        host->agents += command->result.changed_count;
        break;
    case FM_COMMAND_REMOVE:
        host->agents -= command->result.changed_count;
        break;
    case FM_COMMAND_ORDER:
    case FM_COMMAND_TERRAIN:
        break;
    }
}

static fm_status apply(fm_host *host, fm_job_command *command)
{
    fm_jobs_detach_queries(host);
    command->result.spawned = command->spawned;
    fm_world_apply(host->world, &command->command, &command->result);
    if (command->result.status == FM_OK) {
        keep_count(host, command);
    }
    return command->result.status;
}

void fm_jobs_run(fm_conductor *conductor, fm_host *host, fm_job *job, uint64_t now_ns)
{
    fm_status status = FM_OK;
    switch (job->kind) {
    case FM_JOB_COMMAND:
        status = apply(host, &job->command);
        break;
    case FM_JOB_PAUSE:
        host->paused = true;
        break;
    case FM_JOB_RESUME:
        resume(host, job, now_ns);
        break;
    case FM_JOB_STEP:
        if (host->paused) {
            host->step = job;
            return; // finished by its last tick
        }
        status = FM_ERR_NOT_READY;
        break;
    case FM_JOB_QUERY:
        status = query_begin(host, job);
        if (status == FM_OK) {
            return; // finished by fm_jobs_search()
        }
        break;
    case FM_JOB_STATS:
        status = make_stats(host, job);
        if (status == FM_OK && job->stats.reset) {
            begin_stats_anew(host, &job->stats.world->counts);
        }
        break;
    case FM_JOB_INSPECT:
        status = inspect_agent(host, &job->inspect);
        break;
    case FM_JOB_WATCH:
        status = fm_publish_watch(conductor, host, job->watch.team, job->watch.serial);
        break;
    case FM_JOB_UNWATCH:
        fm_publish_unwatch(host, job->watch.team, job->watch.serial);
        break;
    case FM_JOB_ADD:
    case FM_JOB_REMOVE:
        FM_UNREACHABLE(); // the conductor's own
    }
    fm_conductor_finish(conductor, job, status);
}

// The end of the world is always the last job; once it is given back the host may be gone.
void fm_jobs_abandon(fm_conductor *conductor, fm_host *host, fm_status status)
{
    fm_event *backlog = host->backlog_first;
    host->backlog_first = NULL;
    uint32_t query_count = host->query_count;
    host->query_count = 0;
    for (uint32_t i = 0; i < query_count; i++) {
        fm_conductor_finish(conductor, host->queries[i], status);
    }
    if (host->step != NULL) {
        fm_conductor_finish(conductor, host->step, status);
        host->step = NULL;
    }
    while (backlog != NULL) {
        fm_job *job = (fm_job *)backlog;
        backlog = job->event.next;
        fm_conductor_finish(conductor, job, status);
    }
}
