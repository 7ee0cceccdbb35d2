// server/worlds/publish.h: copies what a tick changed in watched views into blocks for the event
// loop.
//
// Threads: one of the conductor's per world.

#pragma once

#include "server/worlds/mailbox.h"

#define FM_PUBLISHED_UNREAD_MAX (64u << 20) // bytes of one world's publications
#define FM_COURSES_MAX          1024u       // of a view, in a tick

/// After a tick: a publication for each watched view.
void fm_publish_tick(fm_mailbox *mailbox, fm_host *host, const fm_load *load);

/// After a replay went to another tick: a publication of the whole of each watched view. After a
/// failure all are published again, even those that were.
///
/// @return FM_OK, FM_ERR_BUSY (the loop has not taken in what was published) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_publish_cut(fm_mailbox *mailbox, fm_host *host);

/// Starts watching a view and publishes a snapshot of it. For a view that is already watched under
/// that serial, adds visible cells, now and in each tick.
///
/// @param sight   report visible cells too
/// @param motion  report the courses of the view's own agents too, from the next tick on
/// @return FM_OK, FM_ERR_NO_TEAM, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_publish_watch(fm_mailbox *mailbox, fm_host *host, uint32_t team,
                                      uint64_t serial, bool sight, bool motion);

/// Stops watching it, if the serial is the one that began it.
void fm_publish_unwatch(fm_host *host, uint32_t team, uint64_t serial);
