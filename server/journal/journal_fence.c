// server/journal/journal_fence.c: the journals' writer at the shared log. Each world has an append
// of its own, on a lane: one that takes long, as those with a keyframe do, delays no other. See
// fm_journal_fence in journal.h.

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/journal/journal_state.h"

#include <string.h>

// ---- loss --------------------------------------------------------------------------------------

// Its batches are released like all: the last one may be among them.
static void lose(fm_journal *journal)
{
    static fm_log_site site;
    atomic_store(&journal->is_lost, true);
    fm_log_limited(&site, FM_LOG_WARNING, "world is no longer this node's",
                   fm_log_uint("world", journal->number));
}

void fm_journal_fence_look(fm_journal *journal)
{
    const fm_journal_fence *fence = journal->journals->options.fence;
    if (fence != NULL && !atomic_load(&journal->is_lost) &&
        fence->check(fence->context, journal->number) == FM_FENCE_LOST) {
        lose(journal);
    }
}

static void note_error(const char *error)
{
    static fm_log_site site;
    if (error[0] != '\0') {
        fm_log_limited(&site, FM_LOG_WARNING, "the shared log cannot be written",
                       fm_log_text("reason", error));
    }
}

// ---- appends -----------------------------------------------------------------------------------

fm_journal_batch *fm_journal_fence_first(const fm_journal *journal)
{
    fm_journal_batch *batch =
        journal->journals->options.fence == NULL ? NULL : journal->taken_first;
    while (batch != NULL && (batch->is_committed || !fm_journal_batch_has_rows(batch))) {
        batch = batch->next;
    }
    return batch;
}

static bool wants_append(const fm_journal *journal, uint64_t now_ns)
{
    return !journal->is_appending && !atomic_load(&journal->is_lost) &&
           journal->append_ns <= now_ns && fm_journal_fence_first(journal) != NULL;
}

// The one that has waited longest. NULL: none wants to append
static fm_journal *next_journal(const fm_journals *journals, uint64_t now_ns)
{
    fm_journal *found = NULL;
    for (fm_journal *journal = journals->active; journal != NULL; journal = journal->next_active) {
        if (wants_append(journal, now_ns) &&
            (found == NULL || journal->append_count < found->append_count)) {
            found = journal;
        }
    }
    return found;
}

static void begin_appends(fm_journals *journals, uint64_t now_ns)
{
    const fm_journal_fence *fence = journals->options.fence;
    for (uint32_t lane = 0; lane < FM_FENCE_LANES; lane++) {
        fm_journal *journal = journals->lanes[lane] == NULL ? next_journal(journals, now_ns) : NULL;
        if (journal != NULL) {
            journals->lanes[lane] = journal;
            journal->is_appending = true;
            journal->append_count = ++journals->append_count;
            fence->begin(fence->context, lane, journal->number, fm_journal_fence_first(journal));
        }
    }
}

static void finish_append(fm_journals *journals, uint32_t lane)
{
    const fm_journal_fence *fence = journals->options.fence;
    fm_journal *journal = journals->lanes[lane];
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_fence_verdict verdict = fence->finish(fence->context, lane, error);
    note_error(error);
    if (verdict == FM_FENCE_GOING_ON) {
        return;
    }
    journals->lanes[lane] = NULL;
    journal->is_appending = false;
    if (verdict == FM_FENCE_LOST) {
        lose(journal);
    } else if (verdict == FM_FENCE_WAITING) {
        journal->append_ns = fm_clock_now_ns() + FM_FENCE_RETRY_MS * FM_NS_PER_MS;
    }
}

static uint32_t find_lanes(const fm_journals *journals, bool under_way[FM_FENCE_LANES])
{
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < FM_FENCE_LANES; lane++) {
        under_way[lane] = journals->lanes[lane] != NULL;
        count += under_way[lane];
    }
    return count;
}

void fm_journal_fence_append(fm_journals *journals, bool hurry)
{
    const fm_journal_fence *fence = journals->options.fence;
    bool lanes[FM_FENCE_LANES];
    if (fence == NULL) {
        return;
    }
    uint64_t begun_ns = fm_clock_now_ns();
    // Of a driven writer the driver says when to try again.
    begin_appends(journals, journals->options.driven ? UINT64_MAX : begun_ns);
    while (find_lanes(journals, lanes) > 0) {
        if (fence->wait != NULL) {
            fence->wait(fence->context, lanes,
                        hurry ? UINT64_MAX : begun_ns + FM_FENCE_LOOK_MS * FM_NS_PER_MS);
        }
        bool any = false;
        for (uint32_t lane = 0; lane < FM_FENCE_LANES; lane++) {
            if (lanes[lane]) {
                finish_append(journals, lane);
                any = true;
            }
        }
        if (hurry) { // what was taken meanwhile; not those that have just failed
            begin_appends(journals, begun_ns);
        } else if (!any || fence->wait != NULL) {
            return;
        }
    }
}

uint64_t fm_journal_fence_due(const fm_journals *journals)
{
    bool lanes[FM_FENCE_LANES];
    // A batch may have been taken while its world's append before it was under way.
    bool may_begin = !journals->options.driven && next_journal(journals, fm_clock_now_ns()) != NULL;
    return find_lanes(journals, lanes) > 0 || may_begin ? 0 : UINT64_MAX;
}

// ---- the end -----------------------------------------------------------------------------------

bool fm_journal_fence_end(fm_journal *journal, bool *is_silent)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    const fm_journal_fence *fence = journal->journals->options.fence;
    if (fence == NULL || atomic_load(&journal->is_lost) || journal->taken_last->is_left) {
        return true;
    }
    if (*is_silent) {
        return false;
    }
    fm_fence_verdict verdict = fence->end(fence->context, journal->number, false, error);
    note_error(error);
    if (verdict == FM_FENCE_LOST) {
        lose(journal);
    }
    *is_silent = verdict == FM_FENCE_WAITING;
    return !*is_silent;
}

void fm_journal_keep_owner(const fm_journal *journal)
{
    const fm_journal_fence *fence = journal->journals->options.fence;
    if (fence != NULL && fence->keep != NULL) {
        fence->keep(fence->context, journal->number);
    }
}
