// server/worlds/recording.c: see recording.h.

#include "server/worlds/recording.h"

#include "core/saves/command_file.h"
#include "core/saves/settle.h"
#include "core/saves/world_save.h"
#include "server/base/clock.h"
#include "server/base/log.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_SIZE 200u // of a journal's error, in a text of FM_ERROR_TEXT_SIZE

#define SEGMENTS       4u  // share of a file's largest size between two keyframes
#define KEYFRAME_SHARE 4u  // of a keyframe's size that the ticks between two take at least
#define CATCH_UP_REST  10u // the next try waits so many times as long as the last try took

// ---- batches -----------------------------------------------------------------------------------

static fm_journal_batch *batch_of(fm_host *host)
{
    if (host->recording.batch == NULL) {
        host->recording.batch = fm_journal_batch_create();
    }
    return host->recording.batch;
}

static fm_journal_pace pace_of(const fm_host *host)
{
    return (fm_journal_pace){
        .paused = host->paused, .tick_hz = host->tick_hz, .budget_ms = host->budget_ms};
}

static bool is_recorded(const fm_host *host)
{
    return host->recording.journal != NULL && !host->recording.unrecorded;
}

// From here on the journal has lost track of the world, until a keyframe is made.
static void lose_track(fm_host *host)
{
    if (host->recording.batch != NULL) {
        host->recording.batch->rows.failed = false;
    }
    host->recording.unrecorded = true;
}

// Drops a row that was not written whole.
static fm_status end_row(fm_host *host, size_t begin)
{
    fm_journal_batch *batch = host->recording.batch;
    if (batch->rows.failed) {
        batch->rows.failed = false;
        batch->rows.size = begin;
        return FM_ERR_NO_MEMORY;
    }
    fm_journal_batch_end_row(batch, begin);
    host->recording.row_begin = begin;
    host->recording.unkept_size += batch->rows.size - begin;
    return FM_OK;
}

// ---- rows --------------------------------------------------------------------------------------

fm_status fm_recording_add_command(fm_host *host, const fm_command *command)
{
    if (!is_recorded(host)) {
        return FM_OK;
    }
    if (batch_of(host) == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    size_t begin =
        fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_COMMAND, host->tick + 1);
    fm_status ignored = fm_command_pack(command, &host->recording.batch->rows);
    (void)ignored; // the writer has failed then, too
    return end_row(host, begin);
}

void fm_recording_take_back(fm_host *host)
{
    if (is_recorded(host)) {
        host->recording.unkept_size -= host->recording.batch->rows.size - host->recording.row_begin;
        host->recording.batch->rows.size = host->recording.row_begin;
    }
}

fm_status fm_recording_reserve(fm_host *host)
{
    if (!is_recorded(host)) {
        return FM_OK;
    }
    if (batch_of(host) == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    size_t begin = fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_PACE, host->tick);
    (void)fm_writer_extend(&host->recording.batch->rows, FM_JOURNAL_PACE_SIZE);
    fm_status status = host->recording.batch->rows.failed ? FM_ERR_NO_MEMORY : FM_OK;
    host->recording.batch->rows.failed = false;
    host->recording.batch->rows.size = begin;
    return status;
}

static void put_real(fm_writer *writer, double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    fm_writer_put_u64(writer, bits);
}

void fm_recording_add_pace(fm_host *host)
{
    if (!is_recorded(host)) {
        return;
    }
    fm_writer *rows = &host->recording.batch->rows;
    size_t begin = fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_PACE, host->tick);
    fm_writer_put_u8(rows, host->paused);
    put_real(rows, host->tick_hz);
    put_real(rows, host->budget_ms);
    fm_status status = end_row(host, begin);
    FM_ASSERT(status == FM_OK); // fm_recording_reserve() has made room
}

// ---- keyframes ---------------------------------------------------------------------------------

// Notes what a replay cannot reproduce: ticks that were not written, or out of memory.
//
// @param record  of the tick that has just ended in that case; NULL: another time
static fm_status add_gap(fm_host *host, const fm_tick_record *record)
{
    const fm_tick_record between = {.tick = host->tick, .digest = host->digest};
    size_t begin = fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_GAP, host->tick);
    if (!host->recording.unrecorded) {
        fm_status ignored =
            fm_record_pack(record == NULL ? &between : record, &host->recording.batch->rows);
        (void)ignored; // the writer has failed then, too
    }
    return end_row(host, begin);
}

// Puts a keyframe of the world, which is settled, behind the rows so far. False when out of memory.
static bool put_keyframe(fm_host *host, const fm_tick_record *record)
{
    bool bridges = host->recording.unrecorded || fm_world_is_starved(host->world);
    if (bridges && add_gap(host, record) != FM_OK) {
        return false;
    }
    size_t begin =
        fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_KEYFRAME, host->tick);
    return fm_world_save(host->world, &host->recording.batch->world) == FM_OK &&
           end_row(host, begin) == FM_OK;
}

// Settles the world and makes a keyframe of it. On failure the world is settled but the journal
// does not say so: it has lost track.
//
// @param record  of the tick that has just ended, if that cannot be replayed; else NULL
static bool add_keyframe(fm_host *host, const fm_tick_record *record)
{
    fm_journal_batch *batch = batch_of(host);
    if (batch == NULL || batch->has_keyframe) {
        return false;
    }
    size_t begin = batch->rows.size;
    uint64_t unkept_size = host->recording.unkept_size;
    fm_world_settle(host->world);
    if (!put_keyframe(host, record)) {
        batch->rows.size = begin;
        host->recording.unkept_size = unkept_size;
        fm_writer_fini(&batch->world);
        batch->world = fm_writer_init(&fm_memory_libc);
        lose_track(host);
        return false;
    }
    fm_world_note_saved(host->world);
    batch->has_keyframe = true;
    batch->keyframe_tick = host->tick;
    batch->keyframe_digest = host->digest;
    batch->keyframe_pace = pace_of(host);
    host->recording.keyframe_tick = host->tick;
    host->recording.unkept_size = 0;
    host->recording.keyframe_size = batch->world.size;
    return true;
}

// A batch has room for one keyframe. If none can be made the world is settled anyway, and the
// journal has lost track.
void fm_recording_settle(fm_mailbox *mailbox, fm_host *host)
{
    if (fm_world_is_settled(host->world) && !fm_world_is_starved(host->world)) {
        return;
    }
    if (host->recording.batch != NULL && host->recording.batch->has_keyframe) {
        fm_recording_flush(mailbox, host);
    }
    bool goes_on = mailbox->config->journal_on_error == FM_JOURNAL_READ_ONLY;
    if (is_recorded(host) && ((goes_on && fm_journal_has_failed(host->recording.journal)) ||
                              !add_keyframe(host, NULL))) {
        lose_track(host);
    }
    fm_world_settle(host->world);
}

// Another node that takes the world over replays what is behind the keyframe. While the log is slow
// keyframes would make it slower, for all worlds: on a machine that is too busy ticks take longer,
// so more of them would be due.
static bool takeover_would_be_slow(const fm_host *host, const fm_config *config)
{
    const fm_host_recording *recording = &host->recording;
    uint64_t replay_ns =
        (uint64_t)((double)(host->tick - recording->keyframe_tick) * host->tick_ns);
    return config->cluster_name[0] != '\0' && !fm_journal_is_slow(recording->journal) &&
           replay_ns > (uint64_t)(config->cluster_replay_s * (double)FM_NS_PER_S) &&
           recording->unkept_size > recording->keyframe_size / KEYFRAME_SHARE;
}

static bool keyframe_is_due(const fm_host *host, const fm_config *config)
{
    return takeover_would_be_slow(host, config) ||
           host->tick - host->recording.keyframe_tick >= config->keyframe_ticks ||
           host->recording.unkept_size > config->journal_size_max / SEGMENTS;
}

static bool make_keyframe(fm_host *host, const fm_tick_record *record)
{
    uint64_t begun_ns = fm_clock_now_ns();
    bool made = add_keyframe(host, record);
    fm_distribution_add(&host->recording.keyframe_times, (fm_clock_now_ns() - begun_ns) / 1000);
    return made;
}

// Out of memory, so this tick cannot be replayed: a keyframe replaces it.
static void bridge_tick(fm_host *host, const fm_tick_record *record)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "memory ran out in a tick, a keyframe is made of it",
                   fm_log_uint("world", host->number), fm_log_uint("tick", record->tick));
    if (!make_keyframe(host, record)) {
        lose_track(host);
        return;
    }
    host->recording.batch->tick_count++;
}

void fm_recording_add_tick(fm_host *host, const fm_config *config, const fm_tick_record *record)
{
    if (host->recording.journal == NULL) {
        return;
    }
    // A world that stands still from here on can be written later.
    bool goes_on = config->journal_on_error == FM_JOURNAL_READ_ONLY;
    if (host->recording.unrecorded || (goes_on && fm_journal_has_failed(host->recording.journal)) ||
        batch_of(host) == NULL) {
        lose_track(host);
        return;
    }
    if (fm_world_is_starved(host->world)) {
        bridge_tick(host, record);
        return;
    }
    size_t begin = fm_journal_batch_begin_row(host->recording.batch, FM_JOURNAL_TICK, record->tick);
    fm_status ignored = fm_record_pack(record, &host->recording.batch->rows);
    (void)ignored; // the writer has failed then, too
    if (end_row(host, begin) != FM_OK) {
        lose_track(host);
        return;
    }
    host->recording.batch->tick_count++;
}

bool fm_recording_keep(fm_host *host, const fm_config *config)
{
    return is_recorded(host) && keyframe_is_due(host, config) && make_keyframe(host, NULL);
}

// Call when the journal has lost track of the world.
static void find_track(fm_host *host)
{
    if (!make_keyframe(host, NULL)) {
        return; // again a little later
    }
    host->recording.unrecorded = false;
    host->timeline++;
    fm_log(FM_LOG_INFO, "journal continues with a keyframe", fm_log_uint("world", host->number),
           fm_log_uint("tick", host->tick));
}

bool fm_recording_add_last_keyframe(fm_host *host, bool is_left)
{
    if (host->recording.journal == NULL ||
        (fm_journal_has_failed(host->recording.journal) && !is_left)) {
        return false;
    }
    if (host->recording.unrecorded) {
        find_track(host);
        return !host->recording.unrecorded;
    }
    bool has_one = host->tick == host->recording.keyframe_tick && host->recording.unkept_size == 0;
    return has_one || add_keyframe(host, NULL);
}

void fm_recording_keep_owner(const fm_host *host)
{
    fm_log(FM_LOG_WARNING, "world does not go to another node: no memory for its keyframe",
           fm_log_uint("world", host->number), fm_log_uint("tick", host->tick));
    if (host->recording.journal != NULL) {
        fm_journal_keep_owner(host->recording.journal);
    }
}

bool fm_recording_may_catch_up(const fm_host *host)
{
    return host->recording.journal != NULL && host->recording.unrecorded &&
           !fm_journal_has_failed(host->recording.journal) &&
           !fm_journal_is_waiting(host->recording.journal) &&
           fm_clock_now_ns() >= host->recording.catch_up_ns;
}

// A try takes as long as a keyframe; failing tries must not take the other worlds' time.
void fm_recording_catch_up(fm_host *host)
{
    uint64_t begun_ns = fm_clock_now_ns();
    find_track(host);
    uint64_t end_ns = fm_clock_now_ns();
    host->recording.catch_up_ns = end_ns + CATCH_UP_REST * (end_ns - begun_ns);
}

// ---- events ------------------------------------------------------------------------------------

static size_t size_of(const fm_event *event)
{
    return event->kind == FM_EVENT_JOB ? fm_job_size((const fm_job *)event)
                                       : ((const fm_publication *)event)->size;
}

bool fm_recording_hold(fm_host *host, fm_event *event)
{
    if (host->recording.journal == NULL || !host->holds_back) {
        return false;
    }
    host->recording.held_size += size_of(event);
    fm_events_append(&host->recording.held, event);
    return true;
}

static fm_events take_held(fm_host *host)
{
    fm_events held = host->recording.held;
    host->recording.held = (fm_events){0};
    host->recording.held_size = 0;
    return held;
}

static bool has_rows(const fm_host *host)
{
    return host->recording.batch != NULL && host->recording.batch->rows.size > 0;
}

// What is not in the journal must not be shown, unless the world continues without the journal.
static bool is_kept_secret(const fm_mailbox *mailbox, const fm_host *host)
{
    return host->recording.unrecorded && host->holds_back &&
           mailbox->config->journal_on_error == FM_JOURNAL_PAUSE;
}

// Makes room in a batch for the next keyframe.
static void hand_over_keyframe(fm_host *host)
{
    fm_journal_batch *batch = host->recording.batch;
    if (batch != NULL && batch->has_keyframe) {
        host->recording.batch = NULL;
        batch->tick = batch->keyframe_tick;
        batch->digest = batch->keyframe_digest;
        fm_journal_submit(host->recording.journal, batch);
    }
}

void fm_recording_flush(fm_mailbox *mailbox, fm_host *host)
{
    if (host->recording.journal == NULL) {
        return;
    }
    if (is_kept_secret(mailbox, host)) {
        hand_over_keyframe(host);
        return;
    }
    if (host->recording.held.first == NULL && !has_rows(host)) {
        return;
    }
    bool must_wait = has_rows(host) || fm_journal_is_waiting(host->recording.journal) ||
                     fm_journal_is_in_doubt(host->recording.journal);
    if (!must_wait) {
        fm_mailbox_note_known(mailbox, host, host->tick, host->digest);
        fm_events held = take_held(host);
        fm_mailbox_emit(mailbox, held.first, held.last);
        return;
    }
    if (batch_of(host) == NULL) {
        return; // out of memory: they wait for the next round
    }
    fm_journal_batch *batch = host->recording.batch;
    batch->held_size = host->recording.held_size;
    fm_events held = take_held(host);
    batch->held_first = held.first;
    batch->held_last = held.last;
    host->recording.batch = NULL;
    batch->tick = host->tick;
    batch->digest = host->digest;
    fm_journal_submit(host->recording.journal, batch);
}

static bool is_answer(const fm_event *event)
{
    return event->kind == FM_EVENT_JOB;
}

// Whether a part of what was asked for may be in rows that were written before, and it is not known
// again when it is sent again.
static bool has_parts(const fm_job *job)
{
    return (job->kind == FM_JOB_STEP && job->step.done > 0) ||
           (job->kind == FM_JOB_COMMAND && job->command.command.agents_a_tick > 0 &&
            job->command.command.id == NULL);
}

// What was done but not written by the end has not happened: requests fail, and watchers do not see
// it.
static void give_up(fm_mailbox *mailbox, fm_event *event, fm_status status)
{
    while (event != NULL) {
        fm_event *next = event->next;
        if (is_answer(event)) {
            fm_job *job = (fm_job *)event;
            bool is_void = job->status == FM_OK || job->status == FM_ERR_NO_WORLD; // it did not end
            job->is_in_doubt = is_void && status == FM_ERR_MOVED && has_parts(job);
            job->status = job->is_in_doubt ? FM_ERR_IO : is_void ? status : job->status;
            fm_mailbox_emit(mailbox, event, event);
        } else {
            fm_publication_destroy((fm_publication *)event);
        }
        event = next;
    }
}

void fm_recording_give_up(fm_mailbox *mailbox, fm_host *host)
{
    give_up(mailbox, take_held(host).first, FM_ERR_IO);
}

void fm_recording_released(void *context, void *owner, fm_journal_batch *batch, bool written)
{
    fm_mailbox *mailbox = context;
    fm_host *host = owner;
    if (written) {
        fm_mailbox_note_known(mailbox, host, batch->tick, batch->digest);
        fm_mailbox_emit(mailbox, batch->held_first, batch->held_last);
    } else {
        give_up(mailbox, batch->held_first, batch->is_lost ? FM_ERR_MOVED : FM_ERR_IO);
    }
    batch->held_first = batch->held_last = NULL;
}

static bool is_acknowledgement(const fm_event *event)
{
    const fm_job *job = (const fm_job *)event;
    return is_answer(event) && job->status == FM_OK && fm_job_kinds[job->kind].changes_world;
}

// With read_only the world is still shown; but requests are answered only once they are written.
void fm_recording_failed(void *context, void *owner, fm_journal_batch *batch)
{
    fm_mailbox *mailbox = context;
    fm_host *host = owner;
    fm_events released = {0}, kept = {0};
    fm_event *next;
    if (mailbox->config->journal_on_error != FM_JOURNAL_READ_ONLY) {
        return;
    }
    for (fm_event *event = batch->held_first; event != NULL; event = next) {
        next = event->next;
        if (is_acknowledgement(event)) {
            fm_events_append(&kept, event);
        } else {
            fm_events_append(&released, event);
        }
    }
    fm_mailbox_note_known(mailbox, host, batch->tick, batch->digest);
    batch->held_first = kept.first;
    batch->held_last = kept.last;
    fm_mailbox_emit(mailbox, released.first, released.last);
}

void fm_recording_committed(void *context, void *owner, uint64_t position, uint64_t tick,
                            uint64_t size)
{
    fm_mailbox *mailbox = context;
    fm_host *host = owner;
    atomic_store(&host->copies.position, position);
    atomic_store(&host->copies.tick, tick);
    atomic_fetch_add(&host->copies.size, size);
    if (atomic_load(&mailbox->has_standby)) {
        mailbox->on_event(mailbox->context);
    }
}

uint64_t fm_recording_copied(void *context, void *owner)
{
    const fm_mailbox *mailbox = context;
    const fm_host *host = owner;
    return atomic_load(&mailbox->waits_for_copies) ? atomic_load(&host->copies.copied) : UINT64_MAX;
}

// ---- what a world may do -----------------------------------------------------------------------

bool fm_recording_is_behind(const fm_host *host)
{
    return host->recording.journal != NULL && !fm_journal_has_failed(host->recording.journal) &&
           fm_journal_is_behind(host->recording.journal);
}

static bool has_failed(const fm_host *host)
{
    return host->recording.journal != NULL &&
           (host->recording.unrecorded || fm_journal_has_failed(host->recording.journal));
}

bool fm_recording_stands_still(const fm_config *config, const fm_host *host)
{
    return fm_recording_is_behind(host) ||
           (host->recording.journal != NULL && fm_journal_is_lost(host->recording.journal)) ||
           (has_failed(host) && config->journal_on_error == FM_JOURNAL_PAUSE);
}

bool fm_recording_is_watched(const fm_host *host)
{
    return has_failed(host) || fm_recording_is_behind(host);
}

// What the journal does not have it can neither fail to write nor be behind with.
bool fm_recording_is_at_rest(const fm_config *config, const fm_host *host)
{
    const fm_host_recording *recording = &host->recording;
    return recording->journal == NULL ||
           (recording->held.first == NULL && !has_rows(host) &&
            !fm_journal_is_waiting(recording->journal) && !fm_recording_is_watched(host) &&
            fm_recording_state(config, host) == recording->journal_shown);
}

bool fm_recording_refuses(const fm_config *config, const fm_host *host, fm_job_kind kind)
{
    if (!has_failed(host)) {
        return false;
    }
    if (fm_job_kinds[kind].changes_world) {
        return true;
    }
    return config->journal_on_error == FM_JOURNAL_PAUSE && !fm_job_kinds[kind].is_harmless;
}

fm_host_journal fm_recording_state(const fm_config *config, const fm_host *host)
{
    if (host->recording.journal == NULL) {
        return FM_HOST_JOURNAL_NONE;
    }
    if (has_failed(host)) {
        return config->journal_on_error == FM_JOURNAL_PAUSE ? FM_HOST_JOURNAL_PAUSED
                                                            : FM_HOST_JOURNAL_READ_ONLY;
    }
    return fm_journal_is_behind(host->recording.journal) ? FM_HOST_JOURNAL_BEHIND
                                                         : FM_HOST_JOURNAL_GOOD;
}

void fm_recording_describe_halt(const fm_config *config, const fm_host *host, char *text)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    text[0] = '\0';
    switch (fm_recording_state(config, host)) {
    case FM_HOST_JOURNAL_PAUSED:
        fm_journal_error(host->recording.journal, error);
        size_t size = strlen(error); // it begins with a path and ends with the reason
        const char *reason = size > REASON_SIZE ? error + size - REASON_SIZE : error;
        while ((*reason & 0xc0) == 0x80) { // the middle of a character
            reason++;
        }
        snprintf(text, FM_ERROR_TEXT_SIZE, "its journal cannot be written%s%.200s",
                 size == 0 ? "" : ": ", reason);
        break;
    case FM_HOST_JOURNAL_BEHIND:
        snprintf(text, FM_ERROR_TEXT_SIZE, "it waits until its journal is written");
        break;
    case FM_HOST_JOURNAL_NONE:
    case FM_HOST_JOURNAL_GOOD:
    case FM_HOST_JOURNAL_READ_ONLY: // it goes on
        break;
    }
}

void fm_recording_stats(const fm_config *config, const fm_host *host, fm_world_stats *stats)
{
    stats->journal = fm_host_journal_name(fm_recording_state(config, host));
    stats->keyframe_times = host->recording.keyframe_times;
    if (host->recording.journal != NULL) {
        fm_journal_error(host->recording.journal, stats->journal_error);
        fm_journal_numbers_get(host->recording.journal, &stats->journal_numbers);
    }
}

// ---- beginning and end -------------------------------------------------------------------------

// The last batch must not fail when out of memory.
static fm_status prepare(fm_journals *journals, fm_host *host, char *error)
{
    host->recording.last_batch = fm_journal_batch_create();
    if (host->recording.last_batch == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    host->recording.last_batch->is_last = true;
    if (host->following.followed == NULL) { // else the loop has its world and events already
        host->holds_back = fm_journals_hold_back(journals);
        host->shared.tick_known = host->tick;
        host->shared.digest_known = host->digest;
    }
    return FM_OK;
}

static fm_status create_journal(fm_journals *journals, fm_host *host, const fm_writer *bytes,
                                char *error)
{
    const fm_journal_head head = {
        .name = host->name,
        .number = host->number,
        .overload = host->overload,
        .timeline = host->timeline,
        .bases = host->bases,
        .base_count = host->base_count,
    };
    const fm_journal_world world = {
        .tick = host->tick,
        .digest = host->digest,
        .pace = pace_of(host),
        .bytes = bytes->data,
        .size = bytes->size,
    };
    return fm_journal_create(journals, &head, &world, host, &host->recording.journal, error);
}

fm_status fm_recording_begin(fm_journals *journals, fm_host *host, char *error)
{
    if (journals == NULL) {
        return FM_OK;
    }
    fm_status status = prepare(journals, host, error);
    if (status != FM_OK) {
        return status;
    }
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_world_settle(host->world);
    status = fm_world_save(host->world, &bytes);
    if (status == FM_OK) {
        status = create_journal(journals, host, &bytes, error);
    } else {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "saving the world: %s", fm_status_text(status));
    }
    fm_writer_fini(&bytes);
    host->recording.keyframe_tick = host->tick;
    return status;
}

// A disk that was full at the start is tried again as long as something waits to be written.
static void add_something(fm_host *host)
{
    if (fm_journal_has_failed(host->recording.journal)) {
        if (fm_recording_reserve(host) == FM_OK) {
            fm_recording_add_pace(host);
        } else {
            lose_track(host);
        }
    }
}

fm_status fm_recording_go_on(fm_journals *journals, fm_host *host, const char *path,
                             const fm_journal_tail *tail, char *error)
{
    fm_status status = prepare(journals, host, error);
    if (status == FM_OK) {
        status = fm_journal_open(journals, path, tail, host, &host->recording.journal, error);
    }
    if (status == FM_OK) {
        add_something(host);
    }
    return status;
}

bool fm_recording_has_lost_track(const fm_host *host)
{
    return host->recording.unrecorded;
}

void fm_recording_end(fm_host *host, fm_event *event, bool is_left)
{
    fm_journal *journal = host->recording.journal;
    fm_journal_batch *before = host->recording.batch, *batch = host->recording.last_batch;
    fm_events_append(&host->recording.held, event);
    batch->tick = host->tick;
    batch->digest = host->digest;
    batch->is_left = is_left;
    fm_events held = take_held(host);
    batch->held_first = held.first;
    batch->held_last = held.last;
    host->recording.journal = NULL;
    host->recording.batch = host->recording.last_batch = NULL;
    if (before != NULL) {
        fm_journal_submit(journal, before);
    }
    fm_journal_submit(journal, batch);
}

void fm_recording_discard(fm_host *host)
{
    if (host->recording.journal != NULL) {
        fm_journal_discard(host->recording.journal);
        host->recording.journal = NULL;
    }
}
