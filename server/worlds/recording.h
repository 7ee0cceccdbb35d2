// server/worlds/recording.h: what the conductor does for the journal of a world: writes down what
// happens, and holds back what clients may not see before that is on the disk.
//
//   commands, ticks ──> batch ──┐
//   answers, deltas ──> held ───┴── flush, after each round ──> server/journal/journal.h ──> outbox
//
// With durability tick every event of the world waits for all rows that were written before it;
// with the others none does.
//
//   RECORDED ── the journal fails ──> FAILING ── written again ──> RECORDED
//
//   FAILING, journal_on_error: pause The world stands still and events stay held; requests are
//     refused, except stats.
//   FAILING, journal_on_error: read_only
//     The world continues and is shown, but changes are refused; later a keyframe bridges the ticks
//     that were not written.
//
// Threads: the conductor's, one per world; functions that the journal's writer calls say so.

#pragma once

#include "server/journal/journal.h"
#include "server/worlds/mailbox.h"

#define FM_HELD_UP_NS 10000000u // how often a blocked world is checked

/// Makes the journal of a world before it is added. Slow: on the thread pool. Does nothing for a
/// host without journal_dir.
///
/// @param error  receives on failure a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return as fm_journal_create()
FM_CHECKED fm_status fm_recording_begin(fm_journals *journals, fm_host *host, char *error);

/// Continues the journal from which the world was restored. The same holds.
/// @return as fm_journal_open()
FM_CHECKED fm_status fm_recording_go_on(fm_journals *journals, fm_host *host, const char *path,
                                        const fm_journal_tail *tail, char *error);

/// Releases the journal of a world that could not begin, and removes its file.
void fm_recording_discard(fm_host *host);

/// Ends the journal of a world that ends. What is held, and `event` at last, is released once the
/// file is gone.
///
/// @param is_left  it continues elsewhere: the file stays, and the event comes once the new owner
///                 is entered
void fm_recording_end(fm_host *host, fm_event *event, bool is_left);

/// Whether the journal has lost track, so that a world that continues elsewhere needs a keyframe.
bool fm_recording_has_lost_track(const fm_host *host);

/// The writer has stopped: gives the answers that it did not take, as failed.
void fm_recording_give_up(fm_mailbox *mailbox, fm_host *host);

/// Writes down a command that is about to be applied. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_recording_add_command(fm_host *host, const fm_command *command);

/// Takes it back: the command was refused.
void fm_recording_take_back(fm_host *host);

/// Makes sure that the next fm_recording_add_pace() works. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_recording_reserve(fm_host *host);

/// Writes down the world's pace, which has just changed.
void fm_recording_add_pace(fm_host *host);

/// Writes down a tick.
void fm_recording_add_tick(fm_host *host, const fm_config *config, const fm_tick_record *record);

/// Between two ticks, once the last one is on its way to the disk: makes a keyframe if one is due,
/// which is slow. @return whether one was made, to be flushed
bool fm_recording_keep(fm_host *host, const fm_config *config);

/// Makes a keyframe if anything has happened since the last: the server goes down. The next start,
/// perhaps of a newer program, then has nothing to replay.
///
/// @param is_left  another node gets the world: it reads the shared log, whatever the disk does
/// @return whether the journal ends with a keyframe now
bool fm_recording_add_last_keyframe(fm_host *host, bool is_left);

/// No keyframe could be made for the next owner, which needs one: the world continues on this node,
/// once it is taken from its log.
void fm_recording_keep_owner(const fm_host *host);

/// Settles the world, which is about to be saved for a client, and makes a keyframe of it: a replay
/// has to settle there as well. Does nothing when the world is settled.
void fm_recording_settle(fm_mailbox *mailbox, fm_host *host);

/// Holds an event back. @return false: it may be sent at once
bool fm_recording_hold(fm_host *host, fm_event *event);

/// Hands over rows and held events. Events that need not wait go into the outbox.
void fm_recording_flush(fm_mailbox *mailbox, fm_host *host);

/// Whether the world may neither tick nor do jobs: the journal is too far behind.
bool fm_recording_is_behind(const fm_host *host);

/// Whether it must not tick.
bool fm_recording_stands_still(const fm_config *config, const fm_host *host);

/// Whether it must be checked again soon, although nothing happens.
bool fm_recording_is_watched(const fm_host *host);

/// Whether nothing of the world waits for the journal, whose state is shown: then only a tick or a
/// job changes anything. Not in a cluster, where another node may take the world.
bool fm_recording_is_at_rest(const fm_config *config, const fm_host *host);

/// Whether a kind of job is refused now.
bool fm_recording_refuses(const fm_config *config, const fm_host *host, fm_job_kind kind);

/// Whether the journal has lost track of the world, and can be written again.
bool fm_recording_may_catch_up(const fm_host *host);

/// Then: bridges the ticks that were not written by a keyframe, which settles the world. Queries
/// must not be reading it (fm_queries_detach()).
void fm_recording_catch_up(fm_host *host);

fm_host_journal fm_recording_state(const fm_config *config, const fm_host *host);

/// Says why a world stands still for its journal; an empty text when it does not.
///
/// @param text  room for FM_ERROR_TEXT_SIZE
void fm_recording_describe_halt(const fm_config *config, const fm_host *host, char *text);

/// Fills in what `stats` says of the journal.
void fm_recording_stats(const fm_config *config, const fm_host *host, fm_world_stats *stats);

// ---- for the journal's writer, on its thread ---------------------------------------------------

void fm_recording_released(void *mailbox, void *host, fm_journal_batch *batch, bool written);
void fm_recording_failed(void *mailbox, void *host, fm_journal_batch *batch);
void fm_recording_committed(void *mailbox, void *host, uint64_t position, uint64_t tick,
                            uint64_t size);

/// Any thread.
uint64_t fm_recording_copied(void *mailbox, void *host);
