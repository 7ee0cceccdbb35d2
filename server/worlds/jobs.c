// server/worlds/jobs.c: see jobs.h.

#include "server/worlds/jobs.h"

#include "core/world/permit.h"
#include "server/base/clock.h"
#include "server/worlds/playback.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"
#include "server/worlds/save_file.h"

#include <stdlib.h>

#define PATH_CELLS_MAX   4096u  // of debug.inspect
#define SEARCH_CELLS_MAX 16384u // likewise

// ---- debug.inspect -----------------------------------------------------------------------------

static bool rect_contains(const fm_rect *rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect->x < rect->width && fm_cell_y(cell) - rect->y < rect->height;
}

struct listing {
    fm_job_inspect *inspect;
    const fm_view *view;
    fm_cell goal; // of estimates that may have been raised; FM_CELL_NONE: they lead elsewhere
};

static uint32_t raised(const struct listing *listing, const fm_inspection *cell)
{
    if (listing->goal == FM_CELL_NONE || cell->h >= FM_COST_INFINITE) {
        return 0;
    }
    uint32_t distance = fm_view_distance(listing->view, cell->cell, listing->goal);
    return cell->h > distance ? cell->h - distance : 0;
}

static void list_search_cell(const fm_inspection *cell, void *context)
{
    struct listing *listing = context;
    fm_job_inspect *inspect = listing->inspect;
    if (inspect->search_count < SEARCH_CELLS_MAX && rect_contains(&inspect->rect, cell->cell)) {
        inspect->search[inspect->search_count++] =
            (fm_search_cell){.seen = *cell, .raised = raised(listing, cell)};
    }
}

// Searches that begin at the goal estimate the way to the agents.
static bool searches_from_goal(const char *planner)
{
    fm_planner_spec spec;
    return fm_planner_spec_parse(planner, &spec, NULL, 0) != FM_OK || spec.ops->shared ||
           spec.ops == &fm_repeated_backward_astar;
}

static fm_status inspect_search(fm_host *host, fm_job_inspect *inspect)
{
    inspect->search = malloc(SEARCH_CELLS_MAX * sizeof *inspect->search);
    if (inspect->search == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    const fm_agent_report *report = &inspect->report;
    fm_cell goal = report->goal_substitute != FM_CELL_NONE ? report->goal_substitute : report->goal;
    struct listing listing = {
        .inspect = inspect,
        .view = fm_world_class_view(host->world, report->team, report->class_index),
        .goal = searches_from_goal(report->planner) ? FM_CELL_NONE : goal,
    };
    fm_status status =
        fm_world_inspect_search(host->world, inspect->agent, list_search_cell, &listing);
    return status == FM_ERR_NOT_READY ? FM_OK : status; // no planner: an empty list
}

static fm_status inspect_agent(fm_host *host, fm_job_inspect *inspect)
{
    fm_status status = fm_world_inspect(host->world, inspect->agent, &inspect->report);
    if (status != FM_OK) {
        return status;
    }
    inspect->ns_per_expansion = host->pacer.ns_per_expansion;
    if (inspect->channels & FM_CHANNEL_PATH) {
        inspect->path = malloc(PATH_CELLS_MAX * sizeof *inspect->path);
        if (inspect->path == NULL) {
            return FM_ERR_NO_MEMORY;
        }
        inspect->path_count =
            fm_world_agent_path(host->world, inspect->agent, inspect->path, PATH_CELLS_MAX);
    }
    bool lists = inspect->has_rect && inspect->channels & (FM_CHANNEL_SEARCH | FM_CHANNEL_DETAILS);
    return lists ? inspect_search(host, inspect) : FM_OK;
}

static fm_status explain_agent(fm_host *host, fm_job *job)
{
    job->explain.explanation = malloc(sizeof *job->explain.explanation);
    return job->explain.explanation == NULL
               ? FM_ERR_NO_MEMORY
               : fm_world_explain(host->world, job->explain.agent, job->explain.explanation);
}

static fm_status list_top(fm_host *host, fm_job *job)
{
    job->top.rows = calloc(job->top.capacity, sizeof *job->top.rows);
    if (job->top.rows == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->top.count = fm_world_top(host->world, job->top.top, job->top.rows, job->top.capacity);
    return FM_OK;
}

// ---- traces ------------------------------------------------------------------------------------

// Inspects for a trace and gives the result to the loop, unless that is behind. @return false when
// the agent is gone
static bool trace(fm_conductor *conductor, fm_host *host, const fm_job *order)
{
    if (atomic_load(&host->traces_unread) >= FM_HOST_TRACES_MAX) {
        return true;
    }
    fm_job *job = fm_job_create(FM_JOB_INSPECT, host);
    if (job == NULL) {
        return true; // the next tick may have memory again
    }
    job->session = order->session;
    job->inspect = order->inspect;
    job->status = inspect_agent(host, &job->inspect);
    job->tick = host->tick;
    bool alive = job->status != FM_ERR_NO_AGENT;
    if (!alive && fm_playback_is(host)) { // it may come back, or have been there
        fm_job_destroy(job);
        return true;
    }
    atomic_fetch_add(&host->traces_unread, 1);
    fm_conductor_emit(conductor, host, &job->event); // was never in the inbox
    return alive;
}

static void drop_trace(fm_host *host, uint32_t i)
{
    fm_job_destroy(host->traces[i]);
    host->traces[i] = host->traces[--host->trace_count];
}

static fm_status begin_trace(fm_conductor *conductor, fm_host *host, const fm_job *job)
{
    fm_agent_report report;
    fm_status status = fm_world_inspect(host->world, job->inspect.agent, &report);
    if (status != FM_OK) {
        return status;
    }
    fm_job *kept =
        host->trace_count < FM_HOST_TRACES_MAX ? fm_job_create(FM_JOB_TRACE, host) : NULL;
    if (kept == NULL) {
        return host->trace_count < FM_HOST_TRACES_MAX ? FM_ERR_NO_MEMORY : FM_ERR_LIMIT;
    }
    kept->session = job->session;
    kept->inspect = job->inspect;
    host->traces[host->trace_count++] = kept;
    trace(conductor, host, kept);
    return FM_OK;
}

static fm_status end_trace(fm_host *host, uint64_t session, uint64_t number)
{
    for (uint32_t i = 0; i < host->trace_count; i++) {
        if (host->traces[i]->session == session && host->traces[i]->inspect.trace == number) {
            drop_trace(host, i);
            return FM_OK;
        }
    }
    return FM_ERR_BAD_VALUE;
}

void fm_jobs_trace(fm_conductor *conductor, fm_host *host)
{
    for (uint32_t i = 0; i < host->trace_count;) {
        if (trace(conductor, host, host->traces[i])) {
            i++;
        } else {
            drop_trace(host, i);
        }
    }
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

static fm_status list_teams(const fm_host *host, fm_world_stats *stats)
{
    uint32_t count = fm_world_team_counts(host->world, NULL, 0);
    count = count < FM_STATS_TEAMS_MAX ? count : FM_STATS_TEAMS_MAX;
    stats->teams = calloc(count + 1, sizeof *stats->teams);
    if (stats->teams == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_world_team_counts(host->world, stats->teams, count);
    stats->team_count = count;
    return FM_OK;
}

static fm_status make_stats(const fm_config *config, const fm_host *host, fm_job *job)
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
    if (host->tick_histogram.count > 0) {
        stats->commands_ms = (double)host->commands_ns / 1e6 / (double)host->tick_histogram.count;
    }
    stats->tick_times = host->tick_times;
    stats->overrun_times = host->overrun_times;
    stats->commands_times = host->commands_times;
    memcpy(stats->stage_times, host->stage_times, sizeof stats->stage_times);
    stats->late_ticks = host->pacer.late_ticks;
    stats->skipped_ticks = host->pacer.skipped_ticks;
    stats->degraded_ticks = host->pacer.degraded_ticks;
    stats->ns_per_expansion = host->pacer.ns_per_expansion;
    fm_recording_stats(config, host, stats);
    job->stats.world = stats;
    return job->stats.teams ? list_teams(host, stats) : FM_OK;
}

static void begin_stats_anew(fm_host *host, const fm_world_counts *counts)
{
    host->tick_histogram = (fm_histogram){0};
    host->overrun_histogram = (fm_histogram){0};
    memset(host->stage_ns, 0, sizeof host->stage_ns);
    host->commands_ns = 0;
    memcpy(host->first_moves_before, counts->first_move_histogram, sizeof host->first_moves_before);
}

// ---- the rest ----------------------------------------------------------------------------------

static fm_status pause(fm_host *host)
{
    fm_status status = fm_recording_reserve(host);
    if (status == FM_OK && !host->paused) {
        host->paused = true;
        fm_recording_add_pace(host);
    }
    return status;
}

static fm_status resume(fm_host *host, const fm_job *job, uint64_t now_ns)
{
    fm_status status = fm_recording_reserve(host);
    if (status != FM_OK) {
        return status;
    }
    if (job->pace.tick_hz > 0) {
        host->tick_hz = job->pace.tick_hz;
    }
    if (job->pace.budget_ms > 0) {
        host->budget_ms = job->pace.budget_ms;
    }
    bool faster = job->pace.tick_hz > 0 || job->pace.budget_ms > 0;
    if (host->paused || faster) {
        fm_pacer_change(&host->pacer, host->tick_hz, host->budget_ms, now_ns);
        host->paused = false;
        fm_recording_add_pace(host);
    }
    return FM_OK;
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
    case FM_COMMAND_BUILD:
    case FM_COMMAND_DEMOLISH:
    case FM_COMMAND_PLANNER:
        break;
    }
}

// The agent that a player means. What it cannot name becomes an agent that cannot exist, so that it
// is refused like one that does not.
static fm_agent_id agent_named(const fm_host *host, uint32_t team, fm_agent_id name)
{
    fm_agent_id id = fm_world_agent_named(host->world, team, name);
    return id.index1 == 0 ? (fm_agent_id){.index1 = UINT32_MAX} : id;
}

static fm_status resolve_names(const fm_host *host, fm_job_command *command)
{
    uint32_t team = command->command.team;
    if (!fm_world_has_team(host->world, team)) {
        return FM_ERR_NO_TEAM;
    }
    for (uint32_t i = 0; i < command->command.agent_count; i++) {
        command->agents[i] = agent_named(host, team, command->agents[i]);
    }
    if (command->command.target.index1 != 0) {
        command->command.target = agent_named(host, team, command->command.target);
    }
    return FM_OK;
}

// What a player may only do where its team sees it.
static fm_status check_permit(const fm_host *host, fm_job_command *command)
{
    const fm_command *wanted = &command->command;
    switch (wanted->kind) {
    case FM_COMMAND_BUILD:
        return fm_permit_build(host->world, wanted->team, wanted->rects);
    case FM_COMMAND_DEMOLISH:
        return fm_permit_demolish(host->world, wanted->team, wanted->building,
                                  &command->command.building);
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_REMOVE:
    case FM_COMMAND_ORDER:
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_PLANNER:
        return FM_OK;
    }
    FM_UNREACHABLE();
}

static fm_status apply(fm_host *host, fm_job_command *command)
{
    fm_status status = command->by_name ? resolve_names(host, command) : FM_OK;
    if (status == FM_OK && command->by_name) {
        status = check_permit(host, command);
    }
    if (status != FM_OK) {
        return status;
    }
    status = fm_recording_add_command(host, &command->command);
    if (status != FM_OK) {
        return status;
    }
    fm_queries_detach(host);
    command->result.spawned = command->spawned;
    fm_world_apply(host->world, &command->command, &command->result);
    if (command->result.status == FM_OK) {
        keep_count(host, command);
    } else {
        fm_recording_take_back(host);
    }
    if (command->by_name && command->result.building != 0) {
        command->result.building =
            fm_permit_name(host->world, command->command.team, command->result.building);
    }
    for (uint32_t i = 0; command->names != NULL && i < command->result.changed_count; i++) {
        command->names[i] = fm_world_own_name(host->world, command->spawned[i]);
    }
    return command->result.status;
}

static fm_status save(fm_conductor *conductor, fm_host *host, fm_job *job)
{
    fm_queries_detach(host);
    fm_recording_settle(conductor, host);
    job->save.digest = host->digest;
    job->save.file = fm_writer_init(&fm_memory_libc);
    return fm_save_write(host, &job->save.file);
}

void fm_jobs_run(fm_conductor *conductor, fm_host *host, fm_job *job, uint64_t now_ns)
{
    fm_status status = FM_OK;
    switch (job->kind) {
    case FM_JOB_COMMAND:
        status = apply(host, &job->command);
        break;
    case FM_JOB_PAUSE:
        status = pause(host);
        break;
    case FM_JOB_RESUME:
        status = resume(host, job, now_ns);
        break;
    case FM_JOB_STEP:
        if (host->step != NULL) {
            status = FM_ERR_NO_WORLD; // the world's end waits behind this job and for no step
            break;
        }
        if (host->paused) {
            host->step = job;
            return; // finished by its last tick
        }
        status = FM_ERR_NOT_READY;
        break;
    case FM_JOB_SEEK:
        fm_playback_seek(conductor, host, job);
        return; // finished once it is there
    case FM_JOB_QUERY:
        status = fm_queries_take(host, job);
        if (status == FM_OK) {
            return; // finished by fm_queries_search()
        }
        break;
    case FM_JOB_STATS:
        status = make_stats(fm_conductor_config(conductor), host, job);
        if (status == FM_OK && job->stats.reset) {
            begin_stats_anew(host, &job->stats.world->counts);
        }
        break;
    case FM_JOB_INSPECT:
        status = inspect_agent(host, &job->inspect);
        break;
    case FM_JOB_TRACE:
        status = begin_trace(conductor, host, job);
        break;
    case FM_JOB_UNTRACE:
        status = end_trace(host, job->session, job->inspect.trace);
        break;
    case FM_JOB_EXPLAIN:
        status = explain_agent(host, job);
        break;
    case FM_JOB_TOP:
        status = list_top(host, job);
        break;
    case FM_JOB_WATCH:
        status = fm_publish_watch(conductor, host, job->watch.team, job->watch.serial);
        break;
    case FM_JOB_UNWATCH:
        fm_publish_unwatch(host, job->watch.team, job->watch.serial);
        break;
    case FM_JOB_SAVE:
        status = save(conductor, host, job);
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
    fm_queries_abandon(conductor, host, status);
    fm_playback_abandon(conductor, host, status);
    while (host->trace_count > 0) {
        drop_trace(host, 0);
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
