// server/journal/journal_apply.c: see journal_apply.h.

#include "server/journal/journal_apply.h"

#include "core/commands/apply.h"
#include "core/saves/command_file.h"
#include "core/saves/settle.h"
#include "core/views/inspect.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static fm_status refuse(char *error, fm_status status,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, FM_JOURNAL_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return status;
}

static fm_status apply_command(fm_world *world, const fm_journal_row *row,
                               fm_journal_applied *applied, char *error)
{
    fm_command_copy *copy;
    fm_bytes_error wrong;
    fm_status status = fm_command_unpack(row->bytes, row->size, &fm_memory_libc, &copy, &wrong);
    if (status != FM_OK) {
        return refuse(error, status, "a command: %s",
                      status == FM_ERR_BAD_FORMAT ? wrong.message : fm_status_text(status));
    }
    applied->command = copy->command.kind;
    applied->result = (fm_command_result){0};
    fm_world_apply(world, &copy->command, &applied->result);
    fm_command_copy_destroy(copy, &fm_memory_libc);
    status = applied->result.status;
    if (status != FM_OK && !fm_world_is_starved(world)) {
        return refuse(error, FM_ERR_BAD_FORMAT, "a command is refused now: %s",
                      fm_status_text(status));
    }
    return FM_OK;
}

static fm_status apply_tick(fm_world *world, uint64_t tick, fm_workers *workers,
                            const fm_journal_row *row, fm_journal_applied *applied, char *error)
{
    fm_record_copy *copy;
    fm_bytes_error wrong;
    fm_status status = fm_record_unpack(row->bytes, row->size, &fm_memory_libc, &copy, &wrong);
    if (status != FM_OK) {
        return refuse(error, status, "its record: %s",
                      status == FM_ERR_BAD_FORMAT ? wrong.message : fm_status_text(status));
    }
    if (copy->record.tick != tick + 1 || copy->record.tick != row->tick) {
        fm_record_copy_destroy(copy, &fm_memory_libc);
        return refuse(error, FM_ERR_BAD_FORMAT, "comes after tick %llu", (unsigned long long)tick);
    }
    fm_tick_replay(world, workers, &copy->record, &applied->report);
    applied->digest = copy->record.digest;
    fm_record_copy_destroy(copy, &fm_memory_libc);
    applied->differs = applied->report.record.digest != applied->digest;
    if (applied->differs && !fm_world_is_starved(world)) {
        return refuse(error, FM_ERR_BAD_FORMAT, "the digest is %016llx, but %016llx was recorded",
                      (unsigned long long)applied->report.record.digest,
                      (unsigned long long)applied->digest);
    }
    return FM_OK;
}

fm_status fm_journal_apply(fm_world *world, uint64_t tick, fm_workers *workers,
                           const fm_journal_row *row, fm_journal_applied *applied, char *error)
{
    applied->differs = false;
    switch (row->kind) {
    case FM_JOURNAL_COMMAND:
        return apply_command(world, row, applied, error);
    case FM_JOURNAL_TICK:
        return apply_tick(world, tick, workers, row, applied, error);
    case FM_JOURNAL_KEYFRAME:
        fm_world_settle(world);
        return FM_OK;
    case FM_JOURNAL_PACE: // the owner's
        return FM_OK;
    case FM_JOURNAL_GAP:
        return refuse(error, FM_ERR_BAD_FORMAT, "%s, and the keyframe behind %s is damaged",
                      row->size > 0 ? "memory ran out in it" : "ticks before it were not written",
                      row->size > 0 ? "it" : "them");
    }
    FM_UNREACHABLE();
}
