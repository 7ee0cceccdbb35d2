// server/worlds/jobs.c: see jobs.h.

#include "server/worlds/jobs.h"

#include "core/commands/apply.h"
#include "core/commands/backlog.h"
#include "core/commands/order_command.h"
#include "core/commands/permit.h"
#include "core/world/names.h"
#include "server/base/clock.h"
#include "server/worlds/inspection.h"
#include "server/worlds/outbox.h"
#include "server/worlds/playback.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"
#include "server/worlds/save_file.h"
#include "server/worlds/world_stats.h"

#include <stdlib.h>

// ---- pace --------------------------------------------------------------------------------------

static fm_status pause(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    (void)job;
    fm_status status = fm_recording_reserve(host);
    if (status == FM_OK && !host->paused) {
        host->paused = true;
        fm_recording_add_pace(host);
    }
    return status;
}

static fm_status resume(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
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
        fm_pacer_change(&host->pacer, host->tick_hz, host->budget_ms, fm_clock_now_ns());
        host->paused = false;
        fm_recording_add_pace(host);
    }
    return FM_OK;
}

// One at a time: what comes behind it waits.
static void begin_step(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    FM_ASSERT(host->step == NULL);
    if (host->paused) {
        host->step = job; // finished by its last tick
    } else {
        fm_outbox_finish(mailbox, job, FM_ERR_NOT_READY);
    }
}

// ---- commands ----------------------------------------------------------------------------------

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
    case FM_COMMAND_SET:
    case FM_COMMAND_PLACE:
    case FM_COMMAND_CANCEL:
    case FM_COMMAND_RESUME:
    case FM_COMMAND_COST:
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        break;
    }
}

// The agent behind a player's alias. An unknown alias becomes an id that cannot exist, and is
// refused like any dead agent.
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
    for (uint32_t i = 0; i < command->command.order_count; i++) {
        command->orders[i] =
            fm_world_order_numbered(host->world, command->agents[i], command->orders[i]);
    }
    if (command->command.kind == FM_COMMAND_ORDER && command->command.target.index1 != 0) {
        command->command.target = agent_named(host, team, command->command.target);
    }
    return FM_OK;
}

// Checks what a player may only do in sight of its team, or only once.
static fm_status check_permit(const fm_host *host, fm_job_command *command)
{
    const fm_command *wanted = &command->command;
    switch (wanted->kind) {
    case FM_COMMAND_BUILD:
        return fm_permit_build(host->world, wanted->team, wanted->rects);
    case FM_COMMAND_DEMOLISH:
        return fm_permit_demolish(host->world, wanted->team, wanted->building,
                                  &command->command.building);
    case FM_COMMAND_ORDER:
        return fm_permit_order(host->world, wanted, &command->result.failed_index);
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_REMOVE:
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_PLANNER:
    case FM_COMMAND_SET:
    case FM_COMMAND_PLACE:
    case FM_COMMAND_CANCEL:
    case FM_COMMAND_RESUME:
    case FM_COMMAND_COST:
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        return FM_OK;
    }
    FM_UNREACHABLE();
}

// A paused world has no ticks over which to spread an order, and none that it could delay.
static void spread_order(const fm_config *config, const fm_host *host, fm_command *command)
{
    if (command->kind == FM_COMMAND_ORDER) {
        bool is_long = !host->paused && command->agent_count > config->order_agents_per_tick;
        command->agents_a_tick = is_long ? (uint32_t)config->order_agents_per_tick : 0;
    }
}

// A repeated command gets its first answer.
static fm_status answer_again(fm_job_command *command, const fm_receipt *receipt)
{
    uint32_t agent_count =
        command->command.kind == FM_COMMAND_SPAWN ? command->command.cell_count : 0;
    if (receipt->kind != command->command.kind || receipt->request != command->id.request ||
        receipt->agent_count != agent_count) {
        command->id_is_taken = true;
        return FM_ERR_EXISTS;
    }
    command->result = (fm_command_result){
        .first_order = receipt->first_order,
        .first_number = receipt->first_number,
        .changed_count = receipt->changed_count,
        .team = receipt->made,
        .building = command->by_name ? receipt->made_name : receipt->made,
        .spawned = command->spawned,
    };
    for (uint32_t i = 0; i < agent_count; i++) {
        fm_agent_id id = receipt->agents[i].id;
        command->spawned[i] = id;
        command->names[i] =
            (fm_agent_id){.index1 = receipt->agents[i].name_index1, .generation = id.generation};
    }
    return FM_OK;
}

static fm_status apply(const fm_config *config, fm_host *host, fm_job *job)
{
    fm_job_command *command = &job->command;
    const fm_receipt *receipt =
        command->command.id == NULL
            ? NULL
            : fm_world_receipt(host->world, command->id.seat, command->id.id);
    if (receipt != NULL) {
        return answer_again(command, receipt);
    }
    spread_order(config, host, &command->command);
    fm_status status = command->by_name ? resolve_names(host, command) : FM_OK;
    if (status == FM_OK && command->by_name) {
        status = check_permit(host, command);
    }
    if (status != FM_OK) {
        return status;
    }
    if (!fm_backlog_admits(host->world, &command->command)) {
        command->waits_for_tick = true;
        return FM_ERR_LIMIT;
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

static void begin_command(fm_mailbox *mailbox, fm_host *host, const fm_host_kind *kind, fm_job *job)
{
    bool was_busy = host->order != NULL; // in a lost world, where nothing waits for an order
    fm_status status = apply(mailbox->config, host, job);
    if (status == FM_OK && !was_busy && fm_world_left_to_do(host->world) > 0) {
        host->order = job; // finished by the tick that reaches its last agent
    } else {
        kind->show(mailbox, host);
        fm_outbox_finish(mailbox, job, status);
    }
}

void fm_jobs_finish_order(fm_mailbox *mailbox, fm_host *host)
{
    fm_job *order = host->order;
    if (order != NULL && fm_world_left_to_do(host->world) == 0) {
        host->order = NULL;
        fm_outbox_finish(mailbox, order, FM_OK);
    }
}

void fm_jobs_finish_step(fm_mailbox *mailbox, fm_host *host)
{
    fm_job *step = host->step;
    host->step = NULL;
    step->step.digest = host->digest;
    fm_outbox_finish(mailbox, step, FM_OK);
}

static fm_status save(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    fm_queries_detach(host);
    fm_recording_settle(mailbox, host);
    fm_jobs_finish_order(mailbox, host); // in a lost world it may be done now
    job->save.digest = host->digest;
    job->save.file = fm_writer_init(&fm_memory_libc);
    return fm_save_write(host, &job->save.file);
}

static fm_status make_stats(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    fm_status status = fm_stats_make(mailbox->config, host, job);
    if (status == FM_OK && job->stats.reset) {
        fm_stats_reset(host, &job->stats.world->counts);
    }
    return status;
}

static fm_status inspect(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_inspection_make(host, &job->inspect);
}

static fm_status end_trace(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_trace_end(host, job->session, job->inspect.trace);
}

static fm_status explain(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_inspection_explain(host, job);
}

static fm_status report_units(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_inspection_report_units(host, job);
}

static fm_status list_top(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_inspection_list_top(host, job);
}

static fm_status list_jams(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    return fm_inspection_list_jams(host, job);
}

static fm_status watch(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    return fm_publish_watch(mailbox, host, job->watch.team, job->watch.serial, job->watch.sight,
                            job->watch.motion);
}

static fm_status unwatch(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    (void)mailbox;
    fm_publish_unwatch(host, job->watch.team, job->watch.serial);
    return FM_OK;
}

// Answered by fm_queries_search().
static void begin_query(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    fm_status status = fm_queries_take(host, job);
    if (status != FM_OK) {
        fm_outbox_finish(mailbox, job, status);
    }
}

// ---- the table ---------------------------------------------------------------------------------

// What a kind of job does: one of the two.
static const struct {
    /// Does the job; then it is given back.
    fm_status (*run)(fm_mailbox *mailbox, fm_host *host, fm_job *job);
    /// Takes the job over, and gives it back now or later.
    void (*begin)(fm_mailbox *mailbox, fm_host *host, fm_job *job);
} jobs[FM_JOB_KIND_COUNT] = {
    // FM_JOB_ADD and FM_JOB_REMOVE are the conductor's own, FM_JOB_COMMAND has begin_command().
    [FM_JOB_PAUSE] = {.run = pause},         [FM_JOB_RESUME] = {.run = resume},
    [FM_JOB_STEP] = {.begin = begin_step},   [FM_JOB_SEEK] = {.begin = fm_playback_seek},
    [FM_JOB_QUERY] = {.begin = begin_query}, [FM_JOB_STATS] = {.run = make_stats},
    [FM_JOB_INSPECT] = {.run = inspect},     [FM_JOB_TRACE] = {.run = fm_trace_begin},
    [FM_JOB_UNTRACE] = {.run = end_trace},   [FM_JOB_EXPLAIN] = {.run = explain},
    [FM_JOB_TOP] = {.run = list_top},        [FM_JOB_JAMS] = {.run = list_jams},
    [FM_JOB_UNITS] = {.run = report_units},  [FM_JOB_WATCH] = {.run = watch},
    [FM_JOB_UNWATCH] = {.run = unwatch},     [FM_JOB_SAVE] = {.run = save},
};

void fm_jobs_run(fm_mailbox *mailbox, fm_host *host, const fm_host_kind *kind, fm_job *job)
{
    if (job->kind == FM_JOB_COMMAND) {
        begin_command(mailbox, host, kind, job);
    } else if (jobs[job->kind].begin != NULL) {
        jobs[job->kind].begin(mailbox, host, job);
    } else {
        fm_status status = jobs[job->kind].run(mailbox, host, job);
        if (fm_job_kinds[job->kind].changes_world) {
            kind->show(mailbox, host);
        }
        fm_outbox_finish(mailbox, job, status);
    }
}

// The end of the world is always the last job; once it is given back the host may be gone.
void fm_jobs_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status)
{
    fm_events backlog = host->backlog;
    host->backlog = (fm_events){0};
    memset(host->shares.last, 0, sizeof host->shares.last); // they are in it
    fm_queries_abandon(mailbox, host, status);
    fm_playback_abandon(mailbox, host, status);
    fm_trace_abandon(host);
    bool continues = status == FM_ERR_MOVED;
    if (host->step != NULL && host->step->step.done > 0 && continues) {
        fm_jobs_finish_step(mailbox, host);
    } else if (host->step != NULL) {
        fm_outbox_finish(mailbox, host->step, status);
        host->step = NULL;
    }
    if (host->order != NULL) { // its next owner carries it on
        fm_outbox_finish(mailbox, host->order, continues ? FM_OK : status);
        host->order = NULL;
    }
    while (backlog.first != NULL) {
        fm_outbox_finish(mailbox, (fm_job *)fm_events_pop(&backlog), status);
    }
}
