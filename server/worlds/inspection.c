// server/worlds/inspection.c: see inspection.h.

#include "server/worlds/inspection.h"

#include "core/map/rect.h"
#include "core/views/inspect.h"
#include "core/world/names.h"
#include "core/world/world_classes.h"
#include "server/worlds/outbox.h"

#include <stdlib.h>

#define PATH_CELLS_MAX   4096u  // of debug.inspect
#define SEARCH_CELLS_MAX 16384u // the same

// ---- debug.inspect -----------------------------------------------------------------------------

struct listing {
    fm_job_inspect *inspect;
    const fm_view *view;
    fm_cell goal; // target of learned estimates; FM_CELL_NONE: estimates lead elsewhere
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
    if (inspect->search_count < SEARCH_CELLS_MAX && fm_rect_contains(&inspect->rect, cell->cell)) {
        inspect->search[inspect->search_count++] =
            (fm_search_cell){.seen = *cell, .raised = raised(listing, cell)};
    }
}

// Searches that begin at the goal estimate the path to the agents.
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

fm_status fm_inspection_make(fm_host *host, fm_job_inspect *inspect)
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

fm_status fm_inspection_explain(fm_host *host, fm_job *job)
{
    job->explain.explanation = malloc(sizeof *job->explain.explanation);
    if (job->explain.explanation == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->explain.has_lanes = fm_world_lanes_of(host->world, job->explain.agent, &job->explain.lanes,
                                               &job->explain.heading);
    job->explain.meeting = fm_world_meeting_of(host->world, job->explain.agent);
    return fm_world_explain(host->world, job->explain.agent, job->explain.explanation);
}

fm_status fm_inspection_report_units(fm_host *host, fm_job *job)
{
    uint32_t team = job->units.team, wanted = job->units.count, room = job->units.cells_max;
    uint32_t stride = room + FM_UNIT_CELLS_MORE;
    job->units.count = 0;
    if (job->units.by_name && !fm_world_has_team(host->world, team)) {
        return FM_ERR_NO_TEAM;
    }
    job->units.reports = calloc(wanted, sizeof *job->units.reports);
    job->units.cells = malloc((size_t)wanted * stride * sizeof *job->units.cells);
    if (job->units.reports == NULL || job->units.cells == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        fm_agent_id id = job->units.agents[i];
        id = job->units.by_name ? fm_world_agent_named(host->world, team, id) : id;
        fm_unit_report *report = &job->units.reports[job->units.count];
        fm_cell *cells = &job->units.cells[(size_t)job->units.count * stride];
        if (fm_world_report_unit(host->world, id, report, cells, stride) == FM_OK &&
            (!job->units.by_name || report->team == team)) {
            report->path_count = fm_min(report->path_count, room);
            job->units.count += 1;
        }
    }
    return FM_OK;
}

fm_status fm_inspection_list_top(fm_host *host, fm_job *job)
{
    job->top.rows = calloc(job->top.capacity, sizeof *job->top.rows);
    if (job->top.rows == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->top.count = fm_world_top(host->world, job->top.top, job->top.rows, job->top.capacity);
    return FM_OK;
}

fm_status fm_inspection_list_jams(fm_host *host, fm_job *job)
{
    job->jams.found = malloc(sizeof *job->jams.found);
    job->jams.lanes = malloc(FM_LANED_MAX * sizeof *job->jams.lanes);
    job->jams.meetings = malloc(sizeof *job->jams.meetings);
    if (job->jams.found == NULL || job->jams.lanes == NULL || job->jams.meetings == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_world_list_jams(host->world, job->jams.found);
    job->jams.lane_count = fm_world_list_lanes(host->world, job->jams.lanes);
    fm_world_list_meetings(host->world, job->jams.meetings);
    return FM_OK;
}

// ---- traces ------------------------------------------------------------------------------------

// Inspects for a trace and posts the result to the loop, unless that is behind. @return false when
// the agent is gone, or carried
static bool trace(fm_mailbox *mailbox, fm_host *host, const fm_job *order)
{
    if (atomic_load(&host->traces_unread) >= FM_HOST_TRACES_MAX) {
        return true;
    }
    fm_job *job = fm_job_create(FM_JOB_INSPECT, host);
    if (job == NULL) {
        return true; // out of memory now, perhaps not in the next tick
    }
    job->session = order->session;
    job->inspect = order->inspect;
    job->status = fm_inspection_make(host, &job->inspect);
    job->tick = host->tick;
    bool alive = job->status != FM_ERR_NO_AGENT && job->status != FM_ERR_CARRIED;
    if (!alive && fm_host_is_replay(host)) { // in a replay it may come back
        fm_job_destroy(job);
        return true;
    }
    atomic_fetch_add(&host->traces_unread, 1);
    fm_outbox_emit(mailbox, host, &job->event); // was never in the inbox
    return alive;
}

static void drop_trace(fm_host *host, uint32_t i)
{
    fm_job_destroy(host->traces.jobs[i]);
    host->traces.jobs[i] = host->traces.jobs[--host->traces.count];
}

fm_status fm_trace_begin(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    fm_agent_report report;
    fm_status status = fm_world_inspect(host->world, job->inspect.agent, &report);
    if (status != FM_OK) {
        return status;
    }
    fm_job *kept =
        host->traces.count < FM_HOST_TRACES_MAX ? fm_job_create(FM_JOB_TRACE, host) : NULL;
    if (kept == NULL) {
        return host->traces.count < FM_HOST_TRACES_MAX ? FM_ERR_NO_MEMORY : FM_ERR_LIMIT;
    }
    kept->session = job->session;
    kept->inspect = job->inspect;
    host->traces.jobs[host->traces.count++] = kept;
    trace(mailbox, host, kept);
    return FM_OK;
}

fm_status fm_trace_end(fm_host *host, uint64_t session, uint64_t number)
{
    for (uint32_t i = 0; i < host->traces.count; i++) {
        if (host->traces.jobs[i]->session == session &&
            host->traces.jobs[i]->inspect.trace == number) {
            drop_trace(host, i);
            return FM_OK;
        }
    }
    return FM_ERR_BAD_VALUE;
}

void fm_trace_all(fm_mailbox *mailbox, fm_host *host)
{
    for (uint32_t i = 0; i < host->traces.count;) {
        if (trace(mailbox, host, host->traces.jobs[i])) {
            i++;
        } else {
            drop_trace(host, i);
        }
    }
}

void fm_trace_abandon(fm_host *host)
{
    while (host->traces.count > 0) {
        drop_trace(host, 0);
    }
}
