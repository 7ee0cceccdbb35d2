// server/base/tick_log.c: see tick_log.h.

#include "server/base/tick_log.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 256u

void fm_tick_log_init(fm_tick_log *log, size_t entry_size, uint32_t count_max)
{
    FM_ASSERT(count_max >= CAPACITY_FIRST && (count_max & (count_max - 1)) == 0);
    *log = (fm_tick_log){.entry_size = entry_size, .count_max = count_max};
}

void fm_tick_log_fini(fm_tick_log *log)
{
    free(log->entries);
    free(log->ticks);
}

void fm_tick_log_clear(fm_tick_log *log, uint64_t tick)
{
    log->first = log->end = 0;
    log->floor_tick = tick;
    log->lost_tick = 0;
}

void fm_tick_log_lose(fm_tick_log *log, uint64_t tick)
{
    fm_tick_log_clear(log, tick);
    log->lost_tick = tick;
}

static bool grow(fm_tick_log *log)
{
    uint32_t capacity = log->capacity == 0 ? CAPACITY_FIRST : log->capacity * 2;
    if (capacity > log->count_max) {
        return false;
    }
    char *entries = malloc(capacity * log->entry_size);
    uint64_t *ticks = malloc(capacity * sizeof *ticks);
    if (entries == NULL || ticks == NULL) {
        free(entries);
        free(ticks);
        return false;
    }
    for (uint64_t i = log->first; i < log->end; i++) {
        memcpy(entries + (i & (capacity - 1)) * log->entry_size, fm_tick_log_at(log, i),
               log->entry_size);
        ticks[i & (capacity - 1)] = log->ticks[i & (log->capacity - 1)];
    }
    fm_tick_log_fini(log);
    log->entries = entries;
    log->ticks = ticks;
    log->capacity = capacity;
    return true;
}

static void forget_oldest(fm_tick_log *log)
{
    log->floor_tick = log->lost_tick = log->ticks[log->first & (log->capacity - 1)];
    log->first++;
}

bool fm_tick_log_add(fm_tick_log *log, uint64_t tick, const void *entry)
{
    bool grows_no_more = log->capacity == log->count_max;
    bool has_room = true;
    if (log->end - log->first == log->capacity && !grow(log)) {
        if (log->capacity == 0) {
            log->floor_tick = tick;
            return false;
        }
        forget_oldest(log);
        has_room = grows_no_more;
    }
    uint64_t place = log->end & (log->capacity - 1);
    FM_ASSERT(log->end == log->first || log->ticks[(log->end - 1) & (log->capacity - 1)] <= tick);
    memcpy(log->entries + place * log->entry_size, entry, log->entry_size);
    log->ticks[place] = tick;
    log->end++;
    return has_room;
}

uint64_t fm_tick_log_find(const fm_tick_log *log, uint64_t after_tick)
{
    uint64_t low = log->first, high = log->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (log->ticks[middle & (log->capacity - 1)] > after_tick) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}
