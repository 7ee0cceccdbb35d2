// server/journal/journal.c: see journal.h. The writer: queues, when to commit, what to do when that
// fails.

#include "server/journal/journal.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/journal/journal_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define PATH_SIZE    4096u
#define COPY_STOP_MS 2000u // time that the end waits for the copy of what was committed

// ---- batches -----------------------------------------------------------------------------------

static size_t batch_size(const fm_journal_batch *batch)
{
    return sizeof *batch + batch->rows.size + batch->world.size + batch->held_size;
}

// ---- submitting --------------------------------------------------------------------------------

void fm_journal_submit(fm_journal *journal, fm_journal_batch *batch)
{
    fm_journals *journals = journal->journals;
    batch->next = NULL;
    atomic_fetch_add(&journal->waiting_size, batch_size(batch));
    atomic_fetch_add(&journal->waiting_ticks, batch->tick_count);
    atomic_fetch_add(&journal->waiting_batches, 1);
    uv_mutex_lock(&journals->lock);
    if (journal->first == NULL) {
        journal->first = batch;
    } else {
        journal->last->next = batch;
    }
    journal->last = batch;
    if (!journal->is_queued) {
        journal->is_queued = true;
        journal->next_queued = journals->queued;
        journals->queued = journal;
    }
    uv_cond_signal(&journals->submitted);
    uv_mutex_unlock(&journals->lock);
}

bool fm_journal_is_waiting(const fm_journal *journal)
{
    return atomic_load(&journal->waiting_batches) > 0;
}

bool fm_journal_is_behind(const fm_journal *journal)
{
    return atomic_load(&journal->waiting_size) > FM_JOURNAL_WAITING_MAX ||
           atomic_load(&journal->waiting_ticks) > FM_JOURNAL_TICKS_WAITING_MAX;
}

bool fm_journal_is_slow(const fm_journal *journal)
{
    return atomic_load(&journal->waiting_ticks) > FM_JOURNAL_TICKS_SLOW;
}

bool fm_journal_is_lost(const fm_journal *journal)
{
    return atomic_load(&journal->is_lost);
}

static bool is_copied(const fm_journal *journal, uint64_t position)
{
    const fm_journal_options *options = &journal->journals->options;
    return options->copied == NULL || options->copied(options->context, journal->owner) >= position;
}

bool fm_journal_is_in_doubt(const fm_journal *journal)
{
    const fm_journal_fence *fence = journal->journals->options.fence;
    bool may_be_lost =
        fence != NULL && (fm_journal_is_lost(journal) ||
                          fence->check(fence->context, journal->number) != FM_FENCE_COMMITTED);
    return may_be_lost || !is_copied(journal, atomic_load(&journal->position));
}

bool fm_journal_has_failed(const fm_journal *journal)
{
    return atomic_load(&journal->has_failed);
}

void fm_journal_error(const fm_journal *journal, char *error)
{
    uv_mutex_lock(&journal->journals->lock);
    memcpy(error, journal->error, sizeof journal->error);
    uv_mutex_unlock(&journal->journals->lock);
}

void fm_journal_numbers_get(const fm_journal *journal, fm_journal_numbers *numbers)
{
    uv_mutex_lock(&journal->journals->lock);
    *numbers = journal->numbers;
    uv_mutex_unlock(&journal->journals->lock);
    numbers->waiting_size = atomic_load(&journal->waiting_size);
    numbers->waiting_ticks = atomic_load(&journal->waiting_ticks);
}

// ---- taking over -------------------------------------------------------------------------------

static void append_taken(fm_journal *journal, fm_journal_batch *first, fm_journal_batch *last)
{
    if (journal->taken_first == NULL) {
        journal->taken_first = first;
    } else {
        journal->taken_last->next = first;
    }
    journal->taken_last = last;
}

// The lock is held.
static void take_queued(fm_journals *journals)
{
    while (journals->queued != NULL) {
        fm_journal *journal = journals->queued;
        journals->queued = journal->next_queued;
        journal->is_queued = false;
        append_taken(journal, journal->first, journal->last);
        journal->first = journal->last = NULL;
        journal->append_ns = 0;
        if (!journal->is_active) {
            journal->is_active = true;
            journal->next_active = journals->active;
            journals->active = journal;
        }
    }
}

// ---- writing -----------------------------------------------------------------------------------

static fm_status add_world(fm_journal *journal, const fm_journal_batch *batch, char *error)
{
    const fm_journal_world world = {
        .tick = batch->keyframe_tick,
        .digest = batch->keyframe_digest,
        .pace = batch->keyframe_pace,
        .bytes = batch->world.data,
        .size = batch->world.size,
    };
    return fm_journal_file_add_keyframe(journal->file, &world, error);
}

// A gap in the log means that ticks were shown that are not in it, unless it holds the last one's
// record.
static fm_status add_row(fm_journal *journal, const fm_journal_batch *batch,
                         const fm_journal_row *row, char *error)
{
    if (row->kind == FM_JOURNAL_KEYFRAME) {
        return add_world(journal, batch, error);
    }
    fm_status status =
        fm_journal_file_add(journal->file, row->kind, row->tick, row->bytes, row->size, error);
    if (status == FM_OK && row->kind == FM_JOURNAL_GAP && row->size == 0) {
        status = fm_journal_file_next_timeline(journal->file, error);
    }
    return status;
}

static fm_status add_batch(fm_journal *journal, const fm_journal_batch *batch, char *error)
{
    fm_reader rows = fm_reader_init(batch->rows.data, batch->rows.size, NULL);
    fm_journal_row row;
    fm_status status = FM_OK;
    while (status == FM_OK && fm_journal_rows_take(&rows, &row)) {
        status = add_row(journal, batch, &row, error);
    }
    return status;
}

static fm_status write_batches(fm_journal *journal, char *error)
{
    fm_status status = fm_journal_file_begin(journal->file, error);
    for (const fm_journal_batch *batch = journal->taken_first; batch != NULL && status == FM_OK;
         batch = batch->next) {
        status = add_batch(journal, batch, error);
    }
    return status == FM_OK ? fm_journal_file_commit(journal->file, error) : status;
}

// Counted as gone only now: when nothing waits, all was released.
static void release_batch(fm_journal *journal, fm_journal_batch *batch, bool written)
{
    const fm_journal_options *options = &journal->journals->options;
    size_t size = batch_size(batch);
    uint32_t tick_count = batch->tick_count;
    batch->is_lost = fm_journal_is_lost(journal);
    options->released(options->context, journal->owner, batch, written);
    fm_journal_batch_destroy(batch);
    atomic_fetch_sub(&journal->waiting_size, size);
    atomic_fetch_sub(&journal->waiting_ticks, tick_count);
    atomic_fetch_sub(&journal->waiting_batches, 1);
}

static void release_batches(fm_journal *journal, bool written)
{
    fm_journal_batch *batch = journal->taken_first;
    journal->taken_first = journal->taken_last = NULL;
    while (batch != NULL) {
        fm_journal_batch *next = batch->next;
        release_batch(journal, batch, written);
        batch = next;
    }
}

// ---- the copy on another server ----------------------------------------------------------------

// @param all  whether or not they were copied
static void release_copied(fm_journal *journal, bool all, bool written)
{
    while (journal->copied_first != NULL &&
           (all || is_copied(journal, journal->copied_first->position))) {
        fm_journal_batch *batch = journal->copied_first;
        journal->copied_first = batch->next;
        release_batch(journal, batch, written);
    }
}

// What was committed goes behind what waits for its copy, and is released with it.
static void release_once_copied(fm_journal *journal)
{
    uint64_t position = atomic_load(&journal->position);
    for (fm_journal_batch *batch = journal->taken_first; batch != NULL; batch = batch->next) {
        batch->position = position;
    }
    if (journal->copied_first == NULL) {
        journal->copied_first = journal->taken_first;
    } else if (journal->taken_first != NULL) {
        journal->copied_last->next = journal->taken_first;
    }
    journal->copied_last = journal->taken_last != NULL ? journal->taken_last : journal->copied_last;
    journal->taken_first = journal->taken_last = NULL;
    release_copied(journal, false, true);
}

static void note_position(fm_journal *journal, uint64_t size)
{
    const fm_journal_options *options = &journal->journals->options;
    fm_journal_mark end = fm_journal_file_end_mark(journal->file);
    atomic_store(&journal->position, end.position);
    if (options->committed != NULL) {
        options->committed(options->context, journal->owner, end.position, end.tick, size);
    }
}

// ---- failures ----------------------------------------------------------------------------------

static void note_failure(fm_journal *journal, const char *error)
{
    uv_mutex_lock(&journal->journals->lock);
    bool is_news = strcmp(journal->error, error) != 0;
    memcpy(journal->error, error, sizeof journal->error);
    journal->numbers.errors++;
    uv_mutex_unlock(&journal->journals->lock);
    if (is_news) {
        fm_log(FM_LOG_ERROR, "journal cannot be written", fm_log_text("reason", error));
    }
}

// Batches that came while nothing could be written have no rows; once their events are released
// nothing is left to keep.
static bool is_empty(const fm_journal_batch *batch)
{
    return batch->failed && !fm_journal_batch_has_rows(batch) && batch->held_first == NULL &&
           !batch->is_last;
}

static void tell_failed(fm_journal *journal)
{
    const fm_journal_options *options = &journal->journals->options;
    fm_journal_batch **link = &journal->taken_first, *last = NULL;
    while (*link != NULL) {
        fm_journal_batch *batch = *link;
        if (!batch->failed) {
            batch->failed = true;
            options->failed(options->context, journal->owner, batch);
        }
        if (is_empty(batch)) {
            *link = batch->next;
            release_batch(journal, batch, true);
        } else {
            last = batch;
            link = &batch->next;
        }
    }
    journal->taken_last = last;
}

static void fail(fm_journal *journal, const char *error)
{
    fm_journal_file_give_up(journal->file);
    note_failure(journal, error);
    atomic_store(&journal->has_failed, true);
    journal->due_ns = fm_clock_now_ns() + journal->journals->options.retry_ms * FM_NS_PER_MS;
}

static void note_success(fm_journal *journal, uint64_t begun_ns, uint32_t keyframe_count)
{
    fm_journal_added added = fm_journal_file_added(journal->file);
    uv_mutex_lock(&journal->journals->lock);
    bool is_news = journal->error[0] != '\0';
    journal->error[0] = '\0';
    journal->numbers.commits++;
    journal->numbers.rows += added.rows;
    journal->numbers.bytes += added.bytes;
    journal->numbers.keyframes += keyframe_count;
    fm_distribution_add(&journal->numbers.commit_times, (fm_clock_now_ns() - begun_ns) / 1000);
    uv_mutex_unlock(&journal->journals->lock);
    atomic_store(&journal->has_failed, false);
    note_position(journal, added.bytes);
    if (is_news) {
        fm_log(FM_LOG_INFO, "journal is written again",
               fm_log_text("file", fm_journal_file_path(journal->file)));
    }
}

// ---- a turn ------------------------------------------------------------------------------------

// Batches without rows wait behind those with rows only to keep the order of events.
static bool have_rows(const fm_journal *journal)
{
    for (const fm_journal_batch *batch = journal->taken_first; batch != NULL; batch = batch->next) {
        if (fm_journal_batch_has_rows(batch)) {
            return true;
        }
    }
    return false;
}

static void shorten(fm_journal *journal)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    if (fm_journal_file_shorten(journal->file, journal->journals->options.size_max, error) !=
        FM_OK) {
        fm_log(FM_LOG_WARNING, "journal not shortened", fm_log_text("reason", error));
    }
}

static void commit(fm_journal *journal)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    uint64_t begun_ns = fm_clock_now_ns();
    if (have_rows(journal)) {
        if (write_batches(journal, error) != FM_OK) {
            fail(journal, error);
            return;
        }
        uint32_t keyframe_count = 0;
        for (const fm_journal_batch *batch = journal->taken_first; batch != NULL;
             batch = batch->next) {
            keyframe_count += batch->has_keyframe;
        }
        note_success(journal, begun_ns, keyframe_count);
        release_once_copied(journal);
        if (keyframe_count > 0) {
            shorten(journal);
        }
    } else {
        release_once_copied(journal);
    }
    journal->due_ns = fm_clock_now_ns() + journal->journals->options.interval_ms * FM_NS_PER_MS;
}

// The journal is freed before its batches, because the callback of the last one may release the
// owner.
static void release_last(fm_journal *journal, bool written)
{
    const fm_journal_options *options = &journal->journals->options;
    release_copied(journal, true, written);
    fm_journal_batch *batch = journal->taken_first;
    bool is_lost = fm_journal_is_lost(journal);
    void *owner = journal->owner;
    free(journal);
    while (batch != NULL) {
        fm_journal_batch *next = batch->next;
        batch->is_lost = is_lost;
        options->released(options->context, owner, batch, written);
        fm_journal_batch_destroy(batch);
        batch = next;
    }
}

// The world has ended: its last rows matter only where the file is kept. Of a lost world nothing is
// reported, not even its end.
static void end(fm_journal *journal)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_journal_options *options = &journal->journals->options;
    bool is_lost = fm_journal_is_lost(journal);
    bool is_left = is_lost || journal->taken_last->is_left;
    if (options->fence != NULL && is_left) { // at once: the next owner waits, not for this disk
        (void)options->fence->end(options->fence->context, journal->number, true, error);
    }
    if ((options->keep || is_left) && !is_lost && have_rows(journal) &&
        write_batches(journal, error) != FM_OK) {
        note_failure(journal, error);
        fm_journal_file_give_up(journal->file);
    }
    if (fm_journal_file_end(journal->file, options->keep || is_left, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "journal not removed", fm_log_text("reason", error));
    }
    if (is_left && !options->keep) { // else a node that worlds come to and leave fills its disk
        fm_journal_file_trim_aside(options->folder, FM_JOURNAL_ASIDE_MAX,
                                   fm_clock_unix_s() - FM_JOURNAL_ASIDE_S);
    }
    release_last(journal, !is_lost);
}

// The writer stops before it is known whether the world's log is gone, or whether its last rows are
// in it.
static void give_up_end(fm_journal *journal)
{
    fm_journal_file_close(journal->file);
    release_last(journal, false);
}

static bool is_idle(const fm_journal *journal)
{
    return journal->taken_first == NULL && journal->copied_first == NULL;
}

static bool has_ended(const fm_journal *journal)
{
    return journal->taken_last->is_last;
}

// Not one that continues elsewhere: then its last rows do not matter.
static bool ends_for_good(const fm_journal *journal)
{
    return journal->taken_last->is_last && !journal->taken_last->is_left;
}

// New batches are due at once with durability tick, else an interval after the last commit; failed
// ones are due at the next try, whatever comes in.
static bool is_urgent(const fm_journal *journal, bool hurry)
{
    bool failed = atomic_load(&journal->has_failed);
    bool at_once = fm_journals_hold_back(journal->journals);
    return has_ended(journal) || (!failed && (hurry || at_once));
}

// ---- what is due -------------------------------------------------------------------------------

// Batches that the shared log does not have yet are put aside, with those behind them.
static fm_journal_batch *put_aside(fm_journal *journal, fm_journal_batch **last)
{
    fm_journal_batch *first = fm_journal_fence_first(journal), *before = NULL;
    if (first == NULL) {
        return NULL;
    }
    *last = journal->taken_last;
    if (first == journal->taken_first) {
        journal->taken_first = NULL;
    } else {
        for (before = journal->taken_first; before->next != first; before = before->next) {
        }
        before->next = NULL;
    }
    journal->taken_last = before;
    return first;
}

// Whether the shared log allows anything at all to be sent of a world.
static bool is_held(const fm_journal *journal)
{
    const fm_journal_fence *fence = journal->journals->options.fence;
    return fence != NULL && fence->check(fence->context, journal->number) != FM_FENCE_COMMITTED;
}

typedef enum result {
    STAYS, // it is looked at again
    IDLE,
    ENDS,
} result;

static result retry(uint64_t *next_ns)
{
    uint64_t again_ns = fm_clock_now_ns() + FM_FENCE_RETRY_MS * FM_NS_PER_MS;
    *next_ns = again_ns < *next_ns ? again_ns : *next_ns;
    return STAYS;
}

// What is in the shared log goes to the disk, though later batches may be on their way there.
static result write_committed(fm_journal *journal, bool hurry, uint64_t *next_ns)
{
    fm_journal_batch *last = NULL, *first = put_aside(journal, &last);
    if (journal->taken_first != NULL &&
        (is_urgent(journal, hurry) || journal->due_ns <= fm_clock_now_ns())) {
        commit(journal);
    }
    if (atomic_load(&journal->has_failed)) {
        tell_failed(journal); // those that came since
    }
    if (journal->taken_first != NULL) {
        *next_ns = journal->due_ns < *next_ns ? journal->due_ns : *next_ns;
    }
    if (first != NULL) {
        append_taken(journal, first, last);
        (void)retry(next_ns);
    }
    return is_idle(journal) ? IDLE : STAYS;
}

// @param next_ns  when the next turn is due, which may become earlier
static result write_one(fm_journal *journal, bool hurry, bool *is_silent, uint64_t *next_ns)
{
    fm_journal_fence_look(journal);
    release_copied(journal, false, true);
    bool is_lost = fm_journal_is_lost(journal);
    bool is_end = journal->taken_first != NULL && has_ended(journal);
    if (journal->is_appending && (is_lost || is_end)) {
        return STAYS; // its batches are in use
    }
    if (is_lost && !is_end) {
        release_batches(journal, false);
    }
    if (is_idle(journal)) {
        return IDLE;
    }
    bool waits = !is_lost && !(is_end && ends_for_good(journal)) &&
                 (is_held(journal) || (is_end && fm_journal_fence_first(journal) != NULL));
    if (waits) {
        return retry(next_ns);
    }
    if (is_end) {
        return fm_journal_fence_end(journal, is_silent) ? ENDS : retry(next_ns);
    }
    return write_committed(journal, hurry, next_ns); // only copies: fm_journals_look_again()
}

// Writes what is due. Returns when the next is due; UINT64_MAX: when something is submitted.
static uint64_t write_due(fm_journals *journals, bool hurry)
{
    bool is_silent = false;
    fm_journal_fence_append(journals, hurry);
    uint64_t next_ns = fm_journal_fence_due(journals);
    fm_journal **link = &journals->active;
    while (*link != NULL) {
        fm_journal *journal = *link;
        result found = write_one(journal, hurry, &is_silent, &next_ns);
        if (found == STAYS) {
            link = &journal->next_active;
            continue;
        }
        *link = journal->next_active; // its owner may release it once its batches are
        journal->is_active = false;
        if (found == ENDS) {
            end(journal);
        }
    }
    return next_ns;
}

uint64_t fm_journals_turn(fm_journals *journals)
{
    uv_mutex_lock(&journals->lock);
    take_queued(journals);
    journals->look_again = false;
    uint64_t wanted = journals->flush_wanted;
    bool hurry = wanted != journals->flush_done || journals->stop;
    uv_mutex_unlock(&journals->lock);
    uint64_t next_ns = write_due(journals, hurry);
    uv_mutex_lock(&journals->lock);
    journals->flush_done = wanted;
    uv_cond_broadcast(&journals->flushed);
    uv_mutex_unlock(&journals->lock);
    return next_ns;
}

// ---- the thread --------------------------------------------------------------------------------

// The lock is held.
static void wait_for_work(fm_journals *journals, uint64_t until_ns)
{
    while (journals->queued == NULL && !journals->stop && !journals->look_again &&
           journals->flush_wanted == journals->flush_done) {
        uint64_t now_ns = fm_clock_now_ns();
        if (until_ns <= now_ns) {
            return;
        }
        if (until_ns == UINT64_MAX) {
            uv_cond_wait(&journals->submitted, &journals->lock);
        } else {
            (void)uv_cond_timedwait(&journals->submitted, &journals->lock, until_ns - now_ns);
        }
    }
}

static bool waits_for_copies(const fm_journals *journals)
{
    for (const fm_journal *journal = journals->active; journal != NULL;
         journal = journal->next_active) {
        if (journal->copied_first != NULL) {
            return true;
        }
    }
    return false;
}

// The last requests can still be answered if the standby has them soon.
static void wait_for_copies(fm_journals *journals)
{
    uint64_t until_ns = fm_clock_now_ns() + COPY_STOP_MS * FM_NS_PER_MS;
    (void)fm_journals_turn(journals);
    while (waits_for_copies(journals) && fm_clock_now_ns() < until_ns) {
        uv_mutex_lock(&journals->lock);
        if (!journals->look_again) {
            (void)uv_cond_timedwait(&journals->submitted, &journals->lock, 50 * FM_NS_PER_MS);
        }
        uv_mutex_unlock(&journals->lock);
        (void)fm_journals_turn(journals);
    }
}

static void write_journals(void *context)
{
    fm_journals *journals = context;
    bool stop = false;
    pthread_setname_np(pthread_self(), "journals"); // for top(1) and gdb
    while (!stop) {
        uint64_t until_ns = fm_journals_turn(journals);
        uv_mutex_lock(&journals->lock);
        wait_for_work(journals, until_ns);
        stop = journals->stop;
        uv_mutex_unlock(&journals->lock);
    }
    wait_for_copies(journals);
}

void fm_journals_look_again(fm_journals *journals)
{
    uv_mutex_lock(&journals->lock);
    journals->look_again = true;
    uv_cond_signal(&journals->submitted);
    uv_mutex_unlock(&journals->lock);
}

void fm_journals_flush(fm_journals *journals)
{
    uv_mutex_lock(&journals->lock);
    uint64_t wanted = ++journals->flush_wanted;
    uv_cond_signal(&journals->submitted);
    if (journals->options.driven) {
        uv_mutex_unlock(&journals->lock);
        (void)fm_journals_turn(journals);
        return;
    }
    while (journals->flush_done < wanted) {
        uv_cond_wait(&journals->flushed, &journals->lock);
    }
    uv_mutex_unlock(&journals->lock);
}

// ---- beginning and end -------------------------------------------------------------------------

fm_status fm_journals_create(const fm_journal_options *options, fm_journals **out)
{
    fm_journals *journals = calloc(1, sizeof *journals);
    if (journals == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    journals->options = *options;
    if (uv_mutex_init(&journals->lock) < 0) {
        goto fail_lock;
    }
    if (uv_cond_init(&journals->submitted) < 0) {
        goto fail_submitted;
    }
    if (uv_cond_init(&journals->flushed) < 0) {
        goto fail_flushed;
    }
    if (!options->driven && uv_thread_create(&journals->thread, write_journals, journals) < 0) {
        goto fail_thread;
    }
    *out = journals;
    return FM_OK;
fail_thread:
    uv_cond_destroy(&journals->flushed);
fail_flushed:
    uv_cond_destroy(&journals->submitted);
fail_submitted:
    uv_mutex_destroy(&journals->lock);
fail_lock:
    free(journals);
    return FM_ERR_NO_MEMORY;
}

void fm_journals_stop(fm_journals *journals)
{
    if (journals->stopped) {
        return;
    }
    journals->stopped = true;
    uv_mutex_lock(&journals->lock);
    journals->stop = true;
    uv_cond_signal(&journals->submitted);
    uv_mutex_unlock(&journals->lock);
    if (!journals->options.driven) {
        uv_thread_join(&journals->thread);
    }
    (void)fm_journals_turn(journals);
    while (journals->active != NULL) {
        fm_journal *journal = journals->active;
        journals->active = journal->next_active;
        journal->is_active = false;
        if (journal->taken_last != NULL && has_ended(journal)) {
            give_up_end(journal);
        } else {
            release_copied(journal, true, false);
            release_batches(journal, false);
        }
    }
}

void fm_journals_destroy(fm_journals *journals)
{
    if (journals == NULL) {
        return;
    }
    fm_journals_stop(journals);
    uv_cond_destroy(&journals->flushed);
    uv_cond_destroy(&journals->submitted);
    uv_mutex_destroy(&journals->lock);
    free(journals);
}

bool fm_journals_hold_back(const fm_journals *journals)
{
    return journals->options.durability == FM_DURABILITY_TICK || journals->options.fence != NULL;
}

bool fm_journals_path(const fm_journals *journals, uint64_t number, const char *name, char *path,
                      size_t size)
{
    int written = snprintf(path, size, "%s/%llu-%s" FM_JOURNAL_SUFFIX, journals->options.folder,
                           (unsigned long long)number, name);
    return written > 0 && (size_t)written < size;
}

// ---- the journal of one world ------------------------------------------------------------------

static fm_journal *journal_init(fm_journals *journals, void *owner)
{
    fm_journal *journal = calloc(1, sizeof *journal);
    if (journal != NULL) {
        journal->journals = journals;
        journal->owner = owner;
    }
    return journal;
}

fm_status fm_journal_create(fm_journals *journals, const fm_journal_head *head,
                            const fm_journal_world *world, void *owner, fm_journal **out,
                            char *error)
{
    char path[PATH_SIZE];
    fm_journal *journal = journal_init(journals, owner);
    if (journal == NULL || !fm_journals_path(journals, head->number, head->name, path, PATH_SIZE)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: %s", journals->options.folder,
                 journal == NULL ? "out of memory" : "the name is too long");
        free(journal);
        return journal == NULL ? FM_ERR_NO_MEMORY : FM_ERR_IO;
    }
    journal->number = head->number;
    fm_status status = fm_journal_file_create(path, head, world, journals->options.durability,
                                              &journal->file, error);
    if (status != FM_OK) {
        free(journal);
        return status;
    }
    const fm_journal_fence *fence = journals->options.fence;
    if (fence != NULL) {
        status = fence->create(fence->context, head, world, error);
    }
    if (status != FM_OK) {
        fm_journal_discard(journal);
        return status;
    }
    note_position(journal, 0);
    *out = journal;
    return FM_OK;
}

fm_status fm_journal_open(fm_journals *journals, const char *path, const fm_journal_tail *tail,
                          void *owner, fm_journal **out, char *error)
{
    fm_journal *journal = journal_init(journals, owner);
    if (journal == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: out of memory", path);
        return FM_ERR_NO_MEMORY;
    }
    fm_status status =
        fm_journal_file_open(path, journals->options.durability, tail, &journal->file, error);
    if (status != FM_OK) {
        free(journal);
        return status;
    }
    const char *name = strrchr(path, '/');
    journal->number = strtoull(name == NULL ? path : name + 1, NULL, 10);
    if (!fm_journal_file_is_open(journal->file)) {
        fail(journal, error);
    }
    note_position(journal, 0);
    *out = journal;
    return FM_OK;
}

void fm_journal_destroy(fm_journal *journal)
{
    if (journal != NULL) {
        fm_journal_file_close(journal->file);
        free(journal);
    }
}

void fm_journal_discard(fm_journal *journal)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_journal_fence *fence = journal->journals->options.fence;
    if (fence != NULL) {
        (void)fence->end(fence->context, journal->number, false, error);
        (void)fence->end(fence->context, journal->number, true, error); // it is forgotten anyway
    }
    if (fm_journal_file_end(journal->file, false, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "journal not removed", fm_log_text("reason", error));
    }
    free(journal);
}
