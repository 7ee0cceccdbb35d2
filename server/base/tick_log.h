// server/base/tick_log.h: the newest entries of a kind, each with the tick it belongs to.
//
// A ring that grows up to a bound and then drops its oldest entries. It can tell whether all
// entries after a tick are still there.
//
// Threads: the event loop.

#pragma once

#include "core/base/base.h"

typedef struct fm_tick_log {
    size_t entry_size;
    uint32_t count_max;
    uint32_t capacity;
    uint64_t first, end; // entries first..end-1 are kept, entry i at i % capacity
    uint64_t floor_tick; // entries of later ticks are all there
    uint64_t lost_tick;  // of the newest entry that was dropped since the log was cleared; 0: none
    char *entries;       // owned
    uint64_t *ticks;     // owned; never falling
} fm_tick_log;

/// @param count_max  a power of two; entries kept at most
void fm_tick_log_init(fm_tick_log *log, size_t entry_size, uint32_t count_max);
void fm_tick_log_fini(fm_tick_log *log);

/// Drops all entries; from now on it has all those of ticks after `tick`.
void fm_tick_log_clear(fm_tick_log *log, uint64_t tick);

/// Drops all entries, as if they and others up to `tick` had been too many.
void fm_tick_log_lose(fm_tick_log *log, uint64_t tick);

/// Appends an entry (copied). When it cannot grow, drops the oldest entries instead.
///
/// @param tick  not before the last one's (asserted)
/// @return false when out of memory: this entry or another was dropped early
bool fm_tick_log_add(fm_tick_log *log, uint64_t tick, const void *entry);

/// Position of the first entry after a tick; continue from there to log->end.
uint64_t fm_tick_log_find(const fm_tick_log *log, uint64_t after_tick);

static inline const void *fm_tick_log_at(const fm_tick_log *log, uint64_t position)
{
    return log->entries + (position & (log->capacity - 1)) * log->entry_size;
}

/// Whether all entries after a tick are still there.
static inline bool fm_tick_log_reaches(const fm_tick_log *log, uint64_t after_tick)
{
    return after_tick >= log->floor_tick;
}

/// Whether an entry after a tick was dropped, and not by clearing the log.
static inline bool fm_tick_log_has_lost(const fm_tick_log *log, uint64_t after_tick)
{
    return log->lost_tick > after_tick;
}
