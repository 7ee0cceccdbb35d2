// server/worlds/following.c: see following.h.

#include "server/worlds/following.h"

#include "core/saves/settle.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/journal/journal_apply.h"
#include "server/journal/journal_file.h"
#include "server/worlds/inspection.h"
#include "server/worlds/outbox.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"

#include <string.h>

#define SLICE_NS (20 * FM_NS_PER_MS) // time for one turn, at least a row
#define RETRY_NS (1 * FM_NS_PER_S)
#define TRIES    10u // of one world, after which a promotion no longer waits for it

static void show(fm_mailbox *mailbox, fm_host *host)
{
    fm_outbox_show(mailbox, host, NULL);
}

static void be_stuck(fm_mailbox *mailbox, fm_host *host, const char *error)
{
    fm_log(FM_LOG_WARNING, "world cannot follow", fm_log_uint("world", host->number),
           fm_log_uint("tick", host->tick), fm_log_text("reason", error));
    host->following.is_stuck = true;
    atomic_store(&host->following.followed->is_stuck, true);
    mailbox->on_event(mailbox->context);
}

// ---- rows --------------------------------------------------------------------------------------

static void keep_count(fm_host *host, const fm_journal_applied *applied)
{
    if (applied->command == FM_COMMAND_TEAM) {
        host->teams++;
    } else if (applied->command == FM_COMMAND_SPAWN) {
        host->agents += applied->result.changed_count;
    } else if (applied->command == FM_COMMAND_REMOVE) {
        host->agents -= applied->result.changed_count;
    }
}

static void show_tick(fm_mailbox *mailbox, fm_host *host, const fm_journal_applied *applied,
                      uint64_t begun_ns)
{
    uint64_t tick_ns = fm_clock_now_ns() - begun_ns;
    host->tick = applied->report.record.tick;
    host->digest = applied->digest;
    host->tick_ns += 0.2 * ((double)tick_ns - host->tick_ns);
    fm_mailbox_note_known(mailbox, host, host->tick, host->digest);
    show(mailbox, host);
    const fm_load load = {
        .tick_us = tick_ns / 1000,
        .expansions = applied->report.expansions,
        .moved = applied->report.moved_count,
        .agents = host->agents,
    };
    fm_publish_tick(mailbox, host, &load);
    fm_trace_all(mailbox, host);
}

static void take_pace(fm_host *host, const fm_journal_pace *pace)
{
    host->paused = pace->paused;
    host->tick_hz = pace->tick_hz;
    host->budget_ms = pace->budget_ms;
}

static fm_status do_row(fm_mailbox *mailbox, fm_host *host, fm_workers *workers,
                        const fm_journal_row *row, char *error)
{
    fm_journal_applied applied;
    uint64_t begun_ns = fm_clock_now_ns();
    fm_status status = fm_journal_apply(host->world, host->tick, workers, row, &applied, error);
    if (status == FM_OK && fm_world_is_starved(host->world)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "memory ran out in doing what the other server did");
        status = FM_ERR_NO_MEMORY;
    }
    if (status != FM_OK) {
        return status;
    }
    if (row->kind == FM_JOURNAL_TICK) {
        show_tick(mailbox, host, &applied, begun_ns);
    } else if (row->kind == FM_JOURNAL_COMMAND) {
        keep_count(host, &applied);
    } else if (row->kind == FM_JOURNAL_KEYFRAME) {
        host->recording.keyframe_tick = row->tick;
    } else if (row->kind == FM_JOURNAL_PACE) {
        take_pace(host, &row->pace);
    }
    atomic_store(&host->following.followed->done, row->position);
    return FM_OK;
}

// @param more  receives whether there may be more rows
static fm_status do_rows(fm_mailbox *mailbox, fm_host *host, fm_workers *workers, bool *more,
                         char *error)
{
    uint64_t end_ns = fm_clock_now_ns() + SLICE_NS;
    fm_status status = FM_OK;
    fm_queries_detach(host);
    do {
        fm_journal_row row;
        status = fm_journal_reader_next(host->following.reader, &row, more, error);
        if (status == FM_OK && *more) {
            status = do_row(mailbox, host, workers, &row, error);
        }
    } while (status == FM_OK && *more && fm_clock_now_ns() < end_ns);
    fm_journal_reader_rest(host->following.reader);
    show(mailbox, host);
    return status;
}

// ---- going on ----------------------------------------------------------------------------------

// All rows are done: from the next turn on it is a living world.
static void go_on(fm_mailbox *mailbox, fm_host *host)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_followed *followed = host->following.followed;
    fm_journal_tail tail = fm_journal_reader_tail(host->following.reader);
    tail.has_mark = true; // the writer of the copy has made one
    tail.was_synced = !atomic_load(&followed->may_lack);
    fm_status status = fm_recording_go_on(followed->journals, host, followed->path, &tail, error);
    if (status != FM_OK) {
        static fm_log_site site;
        fm_log_limited(&site, FM_LOG_ERROR, "world cannot go on here",
                       fm_log_uint("world", host->number), fm_log_text("reason", error));
        fm_journal_batch_destroy(host->recording.last_batch);
        host->recording.last_batch = NULL;
        host->following.retry_ns = fm_clock_now_ns() + RETRY_NS;
        if (++host->following.tries == TRIES) {
            atomic_store(&followed->is_late, true);
            mailbox->on_event(mailbox->context);
        }
        return;
    }
    host->timeline += !tail.was_synced;
    fm_pacer_init(&host->pacer, host->tick_hz, host->budget_ms, host->overload, fm_clock_now_ns());
    fm_memory_arena_limit(host->arena, mailbox->config->world_memory_max);
    atomic_store(&followed->lives, true);
    fm_following_end(host);
    show(mailbox, host);
    mailbox->on_event(mailbox->context);
}

// ---- for the conductor -------------------------------------------------------------------------

static uint64_t due_ns(const fm_config *config, const fm_host *host)
{
    (void)config;
    const fm_followed *followed = host->following.followed;
    if (host->following.is_stuck) {
        return UINT64_MAX;
    }
    bool has_news = atomic_load(&followed->position) > atomic_load(&followed->done);
    return has_news || atomic_load(&followed->go_on) ? host->following.retry_ns : UINT64_MAX;
}

static void turn(fm_mailbox *mailbox, fm_host *host, fm_workers *workers)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    bool more = false;
    bool goes_on = atomic_load(&host->following.followed->go_on); // before the last rows are read
    fm_status status = do_rows(mailbox, host, workers, &more, error);
    if (status != FM_OK) {
        be_stuck(mailbox, host, error);
    } else if (goes_on && !more) {
        go_on(mailbox, host);
    }
}

static void prepare(fm_mailbox *mailbox, fm_host *host)
{
    (void)mailbox;
    (void)host;
}

static bool holds_up_jobs(const fm_config *config, const fm_host *host)
{
    (void)config;
    (void)host;
    return false;
}

static bool refuses(const fm_config *config, const fm_host *host, fm_job_kind kind)
{
    (void)config;
    (void)host;
    return fm_job_kinds[kind].changes_world;
}

void fm_following_begin(fm_host *host, fm_followed *followed, fm_journal_reader *reader)
{
    fm_journal_reader_rest(reader);
    host->following = (fm_following){.followed = followed, .reader = reader};
    host->holds_back = fm_journals_hold_back(followed->journals);
    host->shared.tick_known = host->tick;
    host->shared.digest_known = host->digest;
    fm_memory_arena_limit(host->arena, SIZE_MAX); // it was bounded on the other server
}

void fm_following_end(fm_host *host)
{
    fm_followed *followed = host->following.followed;
    if (followed != NULL) {
        fm_journal_reader_close(host->following.reader);
        host->following = (fm_following){.followed = NULL};
        atomic_store(&followed->is_over, true); // from here on `host` may be freed
    }
}

void fm_following_discard(fm_host *host)
{
    fm_followed *followed = host->following.followed;
    if (followed == NULL || !atomic_load(&followed->go_on)) {
        fm_following_end(host);
        return;
    }
    char path[FM_FOLLOWED_PATH_SIZE]; // behind the end it may be gone
    memcpy(path, followed->path, sizeof path);
    fm_following_end(host);
    if (!fm_journal_file_set_aside(path, "ended")) {
        fm_log(FM_LOG_ERROR, "journal not removed", fm_log_text("file", path));
    }
}

const fm_host_kind fm_following_kind = {
    .show = show,
    .due_ns = due_ns,
    .turn = turn,
    .prepare = prepare,
    .holds_up_jobs = holds_up_jobs,
    .refuses = refuses,
};
