// core/map/change_log.c: see change_log.h.

#include "core/map/change_log.h"

#include <string.h>

void fm_change_log_fini(fm_change_log *log, const fm_memory *memory)
{
    fm_memory_release(memory, log->changes, log->capacity * sizeof *log->changes);
    *log = (fm_change_log){0};
}

static void drop_until(fm_change_log *log, uint64_t begin)
{
    memmove(log->changes, log->changes + (begin - log->begin),
            (log->version - begin) * sizeof *log->changes);
    log->begin = begin;
}

static bool grow(fm_change_log *log, const fm_memory *memory)
{
    uint32_t capacity = log->capacity == 0 ? 16 : log->capacity * 2;
    if (capacity > FM_CHANGE_LOG_MAX) {
        drop_until(log, log->version - FM_CHANGES_READ_MAX);
        return true;
    }
    fm_change *changes =
        fm_memory_resize(memory, log->changes, log->capacity, capacity, sizeof *changes);
    if (changes == NULL) {
        return false;
    }
    log->changes = changes;
    log->capacity = capacity;
    return true;
}

void fm_change_log_add(fm_change_log *log, fm_change change, const fm_memory *memory)
{
    bool has_room = log->version - log->begin < log->capacity || grow(log, memory);
    if (has_room) {
        log->changes[log->version - log->begin] = change;
    }
    log->version += 1;
    log->begin = has_room ? log->begin : log->version;
    log->cheaper = change.cheaper ? log->version : log->cheaper;
}

static void end_tick(fm_change_log *log)
{
    log->trimmed = log->version;
    if (log->is_fresh) {
        memset(log->fresh, 0, sizeof log->fresh);
        log->is_fresh = false;
    }
}

void fm_change_log_trim(fm_change_log *log)
{
    uint64_t begin = log->marks[log->next_mark];
    log->marks[log->next_mark] = log->version;
    log->next_mark = (log->next_mark + 1) % FM_LOG_TICKS;
    end_tick(log);
    // Moves what is kept only when that is no more than what is dropped.
    if (begin > log->begin && log->version - begin <= begin - log->begin) {
        drop_until(log, begin);
    }
}

void fm_change_log_settle(fm_change_log *log)
{
    end_tick(log);
    log->begin = log->version;
    for (uint32_t i = 0; i < FM_LOG_TICKS; i++) {
        log->marks[i] = log->version;
    }
}

void fm_change_log_stamp(fm_change_log *log)
{
    if (log->version == log->trimmed) {
        return;
    }
    log->is_fresh = true;
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_change_log_since(log, log->trimmed, &count, &complete);
    if (!complete) {
        memset(log->fresh, 0xff, sizeof log->fresh);
    }
    const uint32_t mask = FM_FRESH_SIDE - 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = fm_cell_x(changes[i].cell), y = fm_cell_y(changes[i].cell);
        log->fresh[y / FM_FRESH_SIDE & mask] |= (uint32_t)1 << (x / FM_FRESH_SIDE & mask);
    }
}

const fm_change *fm_change_log_since(const fm_change_log *log, uint64_t since, uint32_t *count,
                                     bool *complete)
{
    *complete = fm_change_log_reaches(log, since);
    *count = *complete ? (uint32_t)(log->version - since) : 0;
    return *count == 0 ? NULL : log->changes + (since - log->begin);
}

size_t fm_change_log_bytes(const fm_change_log *log)
{
    return log->capacity * sizeof *log->changes;
}
