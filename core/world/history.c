// core/world/history.c: see history.h.

#include "core/world/history.h"

#include <string.h>

#define CAPACITY_FIRST 256u

// Doubles a ring that is full and not at its largest. What is in it starts at 0 then: a ring grows
// before it ever wraps.
static bool grow(fm_history *history, const fm_memory *memory)
{
    uint32_t capacity = history->capacity == 0 ? CAPACITY_FIRST : history->capacity * 2;
    fm_history_entry *entries = fm_memory_allocate(memory, capacity * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    if (history->count > 0) {
        memcpy(entries, history->entries, history->count * sizeof *entries);
    }
    fm_memory_release(memory, history->entries, history->capacity * sizeof *entries);
    history->entries = entries;
    history->capacity = capacity;
    return true;
}

void fm_history_add(fm_history *history, const fm_memory *memory, const fm_history_entry *entry)
{
    bool full = history->count == history->capacity;
    if (full && history->capacity < FM_HISTORY_MAX && !grow(history, memory)) {
        return;
    }
    history->entries[history->count++ % history->capacity] = *entry;
}

fm_history_entry *fm_history_at(const fm_history *history, uint64_t age)
{
    uint64_t kept = history->count < history->capacity ? history->count : history->capacity;
    return age >= kept ? NULL : &history->entries[(history->count - 1 - age) % history->capacity];
}

void fm_history_destroy(fm_history *history, const fm_memory *memory)
{
    fm_memory_release(memory, history->entries, history->capacity * sizeof *history->entries);
    *history = (fm_history){0};
}
