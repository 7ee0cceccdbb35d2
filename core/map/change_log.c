// core/map/change_log.c: see change_log.h.

#include "core/map/change_log.h"

void fm_change_log_fini(fm_change_log *log, const fm_memory *memory)
{
    fm_memory_release(memory, log->changes, log->capacity * sizeof *log->changes);
    *log = (fm_change_log){0};
}

static bool grow(fm_change_log *log, const fm_memory *memory)
{
    uint32_t capacity = log->capacity == 0 ? 16 : log->capacity * 2;
    if (capacity > FM_CHANGE_LOG_MAX) {
        return false;
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
    uint64_t length = log->version - log->begin;
    log->version += 1;
    if (length == log->capacity && !grow(log, memory)) {
        log->begin = log->version;
        return;
    }
    log->changes[length] = change;
}

void fm_change_log_trim(fm_change_log *log)
{
    log->begin = log->version;
}

const fm_change *fm_change_log_since(const fm_change_log *log, uint64_t since, uint32_t *count,
                                     bool *complete)
{
    *complete = since >= log->begin;
    *count = *complete ? (uint32_t)(log->version - since) : 0;
    return *count == 0 ? NULL : log->changes + (since - log->begin);
}

size_t fm_change_log_bytes(const fm_change_log *log)
{
    return log->capacity * sizeof *log->changes;
}
