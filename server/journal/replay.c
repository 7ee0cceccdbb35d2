// server/journal/replay.c: see replay.h.

#include "server/journal/replay.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/views/inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN 300 // bytes of a file's name in an error

struct fm_replay {
    char *path;
    const fm_memory *memory;
    fm_journal_reader *reader;
    fm_world *world; // NULL: none
    uint64_t worlds_begun;
    uint32_t width, height, class_count; // of all worlds; 0: none has begun yet
    uint64_t position;                   // of the last row that was done
    uint64_t tick;                       // completed
    uint64_t digest;                     // recorded at its end; 0: not known
    bool is_as_sought;                   // the world is in the state that a seek to `tick` gives
    bool in_gap;                         // the next row comes after ticks that were not written
    fm_journal_pace pace;
    fm_command_copy *command; // of the last step
    fm_record_copy *record;   // the same
    fm_tick_report report;
    fm_agent_id *spawned; // ids of the agents of the last command that spawned some
    uint32_t spawned_capacity;
    fm_replay_verdict verdict;
};

__attribute__((format(printf, 4, 5))) static fm_status
complain(const fm_replay *replay, char *error, fm_status status, const char *format, ...)
{
    int size = snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.*s: ", PATH_SHOWN, replay->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + size, FM_JOURNAL_ERROR_SIZE - (size_t)size, format, arguments);
    va_end(arguments);
    return status;
}

// ---- opening and closing -----------------------------------------------------------------------

fm_status fm_replay_open(const char *path, const fm_memory *memory, fm_replay **out, char *error)
{
    fm_replay *replay = calloc(1, sizeof *replay);
    char *copy = strdup(path);
    if (replay == NULL || copy == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.*s: out of memory", PATH_SHOWN, path);
        free(replay);
        free(copy);
        return FM_ERR_NO_MEMORY;
    }
    replay->path = copy;
    replay->memory = memory;
    fm_status status = fm_journal_reader_open(path, &replay->reader, error);
    if (status != FM_OK) {
        fm_replay_close(replay);
        return status;
    }
    *out = replay;
    return FM_OK;
}

static void release_step(fm_replay *replay)
{
    fm_command_copy_destroy(replay->command, replay->memory);
    fm_record_copy_destroy(replay->record, replay->memory);
    replay->command = NULL;
    replay->record = NULL;
}

static void end_world(fm_replay *replay)
{
    release_step(replay);
    fm_world_destroy(replay->world);
    replay->world = NULL;
    replay->tick = 0;
}

void fm_replay_close(fm_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    end_world(replay);
    fm_journal_reader_close(replay->reader);
    free(replay->spawned);
    free(replay->path);
    free(replay);
}

const fm_journal_info *fm_replay_info(const fm_replay *replay)
{
    return fm_journal_reader_info(replay->reader);
}

fm_journal_reader *fm_replay_reader(fm_replay *replay)
{
    return replay->reader;
}

fm_world *fm_replay_world(fm_replay *replay)
{
    return replay->world;
}

fm_world *fm_replay_take_world(fm_replay *replay)
{
    fm_world *world = replay->world;
    replay->world = NULL;
    end_world(replay);
    return world;
}

fm_journal_pace fm_replay_pace(const fm_replay *replay)
{
    return replay->pace;
}

fm_replay_verdict fm_replay_verdict_get(const fm_replay *replay)
{
    return replay->verdict;
}

uint64_t fm_replay_digest(const fm_replay *replay)
{
    return replay->digest;
}

uint64_t fm_replay_position(const fm_replay *replay)
{
    return replay->tick;
}

uint64_t fm_replay_worlds_begun(const fm_replay *replay)
{
    return replay->worlds_begun;
}

void fm_replay_rest(fm_replay *replay)
{
    fm_journal_reader_rest(replay->reader);
}

// ---- keyframes ---------------------------------------------------------------------------------

// Where a replay to a tick begins: the newest keyframe before it, else the one at it.
static const fm_journal_keyframe *keyframe_for(const fm_replay *replay, uint64_t tick)
{
    const fm_journal_keyframe *before =
        tick == 0 ? NULL : fm_journal_reader_keyframe_before(replay->reader, tick - 1);
    return before != NULL ? before : fm_journal_reader_keyframe_before(replay->reader, tick);
}

// The file may mix the journals of two worlds.
static fm_status check_kind(fm_replay *replay, const fm_journal_keyframe *keyframe, char *error)
{
    const fm_grid *grid = fm_world_grid(replay->world);
    uint32_t class_count = fm_world_rules_get(replay->world)->class_count;
    if (replay->worlds_begun++ == 0) {
        replay->width = grid->width;
        replay->height = grid->height;
        replay->class_count = class_count;
    }
    fm_world_counts counts;
    fm_world_counts_get(replay->world, &counts);
    if (grid->width != replay->width || grid->height != replay->height ||
        class_count != replay->class_count || counts.tick != keyframe->tick) {
        end_world(replay);
        return complain(replay, error, FM_ERR_BAD_FORMAT,
                        "keyframe of tick %llu: this is another world than before",
                        (unsigned long long)keyframe->tick);
    }
    return FM_OK;
}

static fm_status load_world(fm_replay *replay, const fm_journal_keyframe *keyframe,
                            const uint8_t *bytes, size_t size, char *error)
{
    fm_bytes_error wrong = {.offset = 0};
    fm_status status = fm_world_load(bytes, size, replay->memory, &replay->world, &wrong);
    if (status == FM_ERR_BAD_FORMAT) {
        return complain(replay, error, status, "keyframe of tick %llu, byte %zu of the world: %s",
                        (unsigned long long)keyframe->tick, wrong.offset, wrong.message);
    }
    if (status != FM_OK) {
        return complain(replay, error, status, "keyframe of tick %llu: %s",
                        (unsigned long long)keyframe->tick, fm_status_text(status));
    }
    replay->position = keyframe->position;
    replay->tick = keyframe->tick;
    replay->digest = 0;
    replay->in_gap = false;
    replay->is_as_sought = keyframe_for(replay, keyframe->tick)->position == keyframe->position;
    replay->pace = keyframe->pace;
    return check_kind(replay, keyframe, error);
}

fm_status fm_replay_begin(fm_replay *replay, const fm_journal_keyframe *keyframe, char *error)
{
    uint8_t *bytes;
    size_t size;
    fm_status status = fm_journal_reader_load(replay->reader, keyframe, &bytes, &size, error);
    if (status != FM_OK) {
        return status;
    }
    end_world(replay);
    status = load_world(replay, keyframe, bytes, size, error);
    free(bytes);
    return status == FM_OK ? fm_journal_reader_seek(replay->reader, keyframe->position, error)
                           : status;
}

// The keyframe that ends a gap; NULL when the journal ends with it.
static const fm_journal_keyframe *keyframe_after(const fm_replay *replay, uint64_t position)
{
    uint32_t count;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(replay->reader, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (keyframes[i].position > position) {
            return &keyframes[i];
        }
    }
    return NULL;
}

// ---- one row -----------------------------------------------------------------------------------

static fm_status complain_row(const fm_replay *replay, const fm_journal_row *row, char *error,
                              fm_status status, const fm_bytes_error *wrong)
{
    return complain(replay, error, status, "%s at position %llu (tick %llu), byte %zu: %s",
                    fm_journal_kind_name(row->kind), (unsigned long long)row->position,
                    (unsigned long long)row->tick, wrong->offset,
                    status == FM_ERR_BAD_FORMAT ? wrong->message : fm_status_text(status));
}

static fm_status apply_command(fm_replay *replay, fm_replay_step *step, char *error)
{
    fm_bytes_error wrong = {.offset = 0};
    fm_status status = fm_command_unpack(step->row.bytes, step->row.size, replay->memory,
                                         &replay->command, &wrong);
    if (status != FM_OK) {
        return complain_row(replay, &step->row, error, status, &wrong);
    }
    step->command = &replay->command->command;
    uint32_t count = step->command->cell_count;
    if (step->command->kind == FM_COMMAND_SPAWN &&
        !FM_RESERVE_FROM(&fm_memory_libc, replay->spawned, replay->spawned_capacity, count)) {
        return complain_row(replay, &step->row, error, FM_ERR_NO_MEMORY, &wrong);
    }
    step->result.spawned = replay->spawned;
    fm_world_apply(replay->world, step->command, &step->result);
    replay->verdict.refused += step->result.status != FM_OK;
    return FM_OK;
}

static fm_status replay_tick(fm_replay *replay, fm_workers *workers, fm_replay_step *step,
                             char *error)
{
    fm_bytes_error wrong = {.offset = 0};
    fm_status status =
        fm_record_unpack(step->row.bytes, step->row.size, replay->memory, &replay->record, &wrong);
    if (status != FM_OK) {
        return complain_row(replay, &step->row, error, status, &wrong);
    }
    const fm_tick_record *record = &replay->record->record;
    if (record->tick != replay->tick + 1) {
        return complain(replay, error, FM_ERR_BAD_FORMAT,
                        "position %llu: tick %llu follows tick %llu",
                        (unsigned long long)step->row.position, (unsigned long long)record->tick,
                        (unsigned long long)replay->tick);
    }
    fm_tick_replay(replay->world, workers, record, &replay->report);
    replay->tick = record->tick;
    replay->digest = record->digest;
    step->report = &replay->report;
    step->recorded_digest = record->digest;
    fm_replay_verdict *verdict = &replay->verdict;
    verdict->ticks++;
    if (replay->report.record.digest != record->digest) {
        verdict->first_difference =
            verdict->differences++ == 0 ? record->tick : verdict->first_difference;
    }
    return FM_OK;
}

// The world of the keyframe that ends a gap, if there is one yet.
static fm_status leave_gap(fm_replay *replay, bool *more, char *error)
{
    const fm_journal_keyframe *keyframe = keyframe_after(replay, replay->position);
    *more = keyframe != NULL;
    fm_status status = keyframe == NULL ? FM_OK : fm_replay_begin(replay, keyframe, error);
    replay->is_as_sought = *more; // nothing else leads to this tick
    return status;
}

// A gap that holds a record: the keyframe right behind it is the world after that tick.
static fm_status cross_bridge(fm_replay *replay, fm_replay_step *step, char *error)
{
    fm_bytes_error wrong = {.offset = 0};
    fm_record_copy *copy;
    fm_status status =
        fm_record_unpack(step->row.bytes, step->row.size, replay->memory, &copy, &wrong);
    if (status != FM_OK) {
        return complain_row(replay, &step->row, error, status, &wrong);
    }
    step->bridged = copy->record;
    step->bridged.cuts = NULL;
    step->bridged.cut_count = 0;
    fm_record_copy_destroy(copy, replay->memory);
    uint64_t before = replay->tick, tick = step->bridged.tick;
    const fm_journal_keyframe *keyframe = keyframe_after(replay, replay->position);
    if (keyframe == NULL || keyframe->tick != tick || keyframe->digest != step->bridged.digest ||
        tick < before || tick > before + 1) {
        return complain(replay, error, FM_ERR_BAD_FORMAT,
                        "position %llu: memory ran out in tick %llu, and no keyframe of it follows"
                        " tick %llu",
                        (unsigned long long)step->row.position, (unsigned long long)tick,
                        (unsigned long long)before);
    }
    status = fm_replay_begin(replay, keyframe, error);
    replay->digest = step->bridged.digest;
    replay->is_as_sought = true; // nothing else leads to this tick
    replay->verdict.bridged += tick > before;
    return status;
}

static fm_status do_row(fm_replay *replay, fm_workers *workers, fm_replay_step *step, bool *more,
                        char *error)
{
    switch (step->row.kind) {
    case FM_JOURNAL_COMMAND:
        return apply_command(replay, step, error);
    case FM_JOURNAL_TICK:
        return replay_tick(replay, workers, step, error);
    case FM_JOURNAL_PACE:
        replay->pace = step->row.pace;
        return FM_OK;
    case FM_JOURNAL_KEYFRAME:
        fm_world_settle(replay->world);
        return FM_OK;
    case FM_JOURNAL_GAP:
        if (step->row.size > 0) {
            return cross_bridge(replay, step, error);
        }
        replay->in_gap = true;
        return leave_gap(replay, more, error);
    }
    return FM_OK; // the reader knows no other kinds
}

fm_status fm_replay_step_next(fm_replay *replay, fm_workers *workers, fm_replay_step *step,
                              bool *more, char *error)
{
    FM_ASSERT(replay->world != NULL);
    release_step(replay);
    *step = (fm_replay_step){.row.kind = FM_JOURNAL_GAP};
    if (replay->in_gap) {
        return leave_gap(replay, more, error);
    }
    fm_status status = fm_journal_reader_next(replay->reader, &step->row, more, error);
    if (status != FM_OK || !*more) {
        return status;
    }
    replay->position = step->row.position;
    replay->is_as_sought = step->row.kind == FM_JOURNAL_TICK;
    status = do_row(replay, workers, step, more, error);
    if (status == FM_OK && fm_world_is_starved(replay->world)) {
        return complain(replay, error, FM_ERR_NO_MEMORY, "memory ran out behind tick %llu",
                        (unsigned long long)replay->tick);
    }
    return status;
}

fm_status fm_replay_tick(fm_replay *replay, fm_workers *workers, fm_replay_step *step, bool *more,
                         char *error)
{
    fm_status status;
    do {
        status = fm_replay_step_next(replay, workers, step, more, error);
    } while (status == FM_OK && *more && step->row.kind != FM_JOURNAL_TICK &&
             step->bridged.tick == 0);
    return status;
}

// ---- seeking -----------------------------------------------------------------------------------

static fm_status complain_range(const fm_replay *replay, uint64_t tick, uint64_t last, char *error)
{
    return complain(
        replay, error, FM_ERR_BAD_VALUE,
        "tick %llu is not in this journal, which holds %llu to %llu", (unsigned long long)tick,
        (unsigned long long)fm_replay_info(replay)->first_tick, (unsigned long long)last);
}

// Replays up to a tick that is not in the past.
static fm_status go_on(fm_replay *replay, uint64_t tick, fm_workers *workers,
                       fm_replay_progress_fn *progress, void *context, char *error)
{
    fm_replay_step step = {.row.kind = FM_JOURNAL_TICK};
    while (replay->tick < tick) {
        uint64_t before = replay->tick;
        bool more;
        if (step.row.kind == FM_JOURNAL_TICK && progress != NULL && !progress(context, before)) {
            return complain(replay, error, FM_ERR_BUSY, "given up at tick %llu",
                            (unsigned long long)before);
        }
        fm_status status = fm_replay_step_next(replay, workers, &step, &more, error);
        if (status != FM_OK) {
            return status;
        }
        if (!more) {
            return complain_range(replay, tick, before, error);
        }
        if (replay->tick > tick) { // after a gap
            return complain(replay, error, FM_ERR_BAD_VALUE, "ticks %llu to %llu were not written",
                            (unsigned long long)before + 1, (unsigned long long)replay->tick - 1);
        }
    }
    return FM_OK;
}

fm_status fm_replay_seek(fm_replay *replay, uint64_t tick, fm_workers *workers,
                         fm_replay_progress_fn *progress, void *context, char *error)
{
    const fm_journal_keyframe *keyframe = keyframe_for(replay, tick);
    if (keyframe == NULL || tick > fm_replay_info(replay)->last_tick) {
        return complain_range(replay, tick, fm_replay_info(replay)->last_tick, error);
    }
    // From here, unless that is too late or a keyframe is nearer.
    bool from_here = replay->world != NULL && replay->tick >= keyframe->tick &&
                     (replay->tick < tick || (replay->tick == tick && replay->is_as_sought));
    if (!from_here) {
        fm_status status = fm_replay_begin(replay, keyframe, error);
        if (status != FM_OK) {
            return status;
        }
    }
    return go_on(replay, tick, workers, progress, context, error);
}

fm_status fm_replay_refresh(fm_replay *replay, char *error)
{
    fm_journal_reader *reader;
    fm_status status = fm_journal_reader_open(replay->path, &reader, error);
    if (status == FM_OK) {
        status = fm_journal_reader_seek(reader, replay->position, error);
        fm_journal_reader_close(status == FM_OK ? replay->reader : reader);
        replay->reader = status == FM_OK ? reader : replay->reader;
    }
    return status;
}
