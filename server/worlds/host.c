// server/worlds/host.c: see host.h.

#include "server/worlds/host.h"

#include "core/commands/create.h"
#include "core/map/map_file.h"
#include "core/saves/world_load.h"
#include "core/views/inspect.h"
#include "server/base/clock.h"
#include "server/worlds/save_file.h"

#include <sodium.h>
#include <stdlib.h>

const char *fm_host_journal_name(fm_host_journal journal)
{
    static const char *const names[] = {
#define X(enumerator, name) [enumerator] = name,
        FM_HOST_JOURNAL_LIST(X)
#undef X
    };
    return names[journal];
}

static fm_status make_grid(const fm_host_options *options, fm_host *host, fm_grid **grid,
                           char *error)
{
    const fm_memory *memory = fm_memory_arena_memory(host->arena);
    if (options->map == NULL) {
        fm_status status =
            fm_generate(&options->generate, memory, grid, host->bases, error, FM_ERROR_TEXT_SIZE);
        if (status == FM_OK && options->generate.generator == FM_GENERATOR_SKIRMISH) {
            host->base_count = options->generate.players;
        }
        return status;
    }
    fm_text_error text_error = {0};
    fm_status status = fm_map_read(options->map, options->map_size, memory, grid, &text_error);
    if (status != FM_OK && text_error.line > 0) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "map:%u:%u: %s", text_error.line, text_error.column,
                 text_error.message);
    }
    return status;
}

static fm_status make_world(const fm_host_options *options, fm_host *host, char *error)
{
    fm_grid *grid = NULL;
    fm_status status = make_grid(options, host, &grid, error);
    if (status != FM_OK) {
        return status;
    }
    host->width = grid->width;
    host->height = grid->height;
    // A grid that no world took over is freed with the arena.
    status =
        fm_world_create(&options->rules, grid, fm_memory_arena_memory(host->arena), &host->world);
    if (status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the rules contradict each other or the map");
    }
    return status;
}

// Name and pace were taken from the file before, or the request overrides them.
static fm_status load_save(const fm_host_options *options, fm_host *host, char *error)
{
    fm_save_head head;
    fm_bytes_error wrong = {0};
    size_t begin = 0;
    fm_status status = fm_save_read(options->map, options->map_size, &head, &begin, &wrong);
    if (status == FM_OK) {
        status = fm_world_load(options->map + begin, options->map_size - begin,
                               fm_memory_arena_memory(host->arena), &host->world, &wrong);
        wrong.offset += begin;
    }
    if (status == FM_ERR_BAD_FORMAT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "saved world: byte %zu: %s", wrong.offset,
                 wrong.message);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_world_counts counts;
    fm_world_counts_get(host->world, &counts);
    memcpy(host->times.first_moves_before, counts.first_move_histogram,
           sizeof host->times.first_moves_before);
    memcpy(host->bases, head.bases, sizeof host->bases);
    host->base_count = head.base_count;
    host->tick = counts.tick;
    host->digest = head.digest;
    host->agents = counts.agents;
    host->teams = counts.teams;
    host->width = fm_world_grid(host->world)->width;
    host->height = fm_world_grid(host->world)->height;
    return FM_OK;
}

fm_status fm_host_create(const fm_host_options *options, fm_host **out, char *error)
{
    error[0] = '\0';
    fm_host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = fm_memory_arena_create(options->memory_max, &host->arena);
    if (status == FM_OK) {
        status =
            options->is_save ? load_save(options, host, error) : make_world(options, host, error);
    }
    if (status != FM_OK) {
        fm_host_destroy(host);
        return status;
    }
    memcpy(host->name, options->name, sizeof host->name);
    host->rules = *fm_world_rules_get(host->world);
    host->overload = options->overload;
    host->tick_hz = options->tick_hz;
    host->budget_ms = options->budget_ms;
    host->paused = options->paused;
    host->timeline = 1 + randombytes_random();
    host->shared.summary = (fm_host_summary){
        .timeline = host->timeline,
        .tick = host->tick,
        .digest = host->digest,
        .agents = host->agents,
        .teams = host->teams,
        .paused = options->paused,
        .tick_hz = options->tick_hz,
        .budget_ms = options->budget_ms,
    };
    *out = host;
    return FM_OK;
}

static void take_info(fm_host *host, const fm_journal_info *info)
{
    snprintf(host->name, sizeof host->name, "%s", info->name);
    host->number = info->number;
    host->overload = (fm_overload)info->overload;
    host->timeline = info->timeline + !info->was_synced;
    memcpy(host->bases, info->bases, sizeof host->bases);
    host->base_count = info->base_count;
    host->tick_hz = info->pace.tick_hz;
    host->budget_ms = info->pace.budget_ms;
    host->paused = info->pace.paused;
    host->shared.summary = (fm_host_summary){
        .paused = host->paused,
        .tick_hz = host->tick_hz,
        .budget_ms = host->budget_ms,
        .timeline = host->timeline,
    };
}

static fm_status load_world(const fm_host_restoration *restoration, fm_host *host,
                            fm_bytes_error *error)
{
    const fm_memory *memory = fm_memory_arena_memory(host->arena);
    fm_status status =
        fm_world_load(restoration->bytes, restoration->size, memory, &host->world, error);
    if (status == FM_OK) {
        const fm_grid *grid = fm_world_grid(host->world);
        fm_world_counts counts;
        fm_world_counts_get(host->world, &counts);
        host->tick = counts.tick;
        host->width = grid->width;
        host->height = grid->height;
        host->rules = *fm_world_rules_get(host->world);
    }
    return status;
}

fm_status fm_host_restore(const fm_host_restoration *restoration, fm_host **out,
                          fm_bytes_error *error)
{
    fm_host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    take_info(host, restoration->info);
    fm_status status = fm_memory_arena_create(restoration->memory_max, &host->arena);
    if (status == FM_OK) {
        status = load_world(restoration, host, error);
    }
    if (status != FM_OK) {
        fm_host_destroy(host);
        return status;
    }
    *out = host;
    return FM_OK;
}

static void take_replay(fm_host *host)
{
    fm_replay *replay = host->playback.replay;
    host->world = fm_replay_world(replay);
    const fm_grid *grid = fm_world_grid(host->world);
    host->width = grid->width;
    host->height = grid->height;
    host->rules = *fm_world_rules_get(host->world);
    host->tick = fm_replay_position(replay);
    host->playback.worlds_begun = fm_replay_worlds_begun(replay);
    host->overload = FM_OVERLOAD_SLIP; // a tick from long ago is not due
    host->paused = true;
}

fm_status fm_host_open_replay(const char *path, size_t memory_max, fm_host **out, char *error)
{
    fm_host *host = calloc(1, sizeof *host);
    if (host == NULL || fm_memory_arena_create(memory_max, &host->arena) != FM_OK) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        free(host);
        return FM_ERR_NO_MEMORY;
    }
    fm_playback *playback = &host->playback;
    const fm_memory *memory = fm_memory_arena_memory(host->arena);
    fm_status status = fm_replay_open(path, memory, &playback->replay, error);
    if (status == FM_OK) {
        const fm_journal_info *info = fm_replay_info(playback->replay);
        take_info(host, info);
        status = fm_replay_seek(playback->replay, info->first_tick, NULL, NULL, NULL, error);
    }
    if (status != FM_OK) {
        fm_host_destroy(host);
        return status;
    }
    fm_replay_rest(playback->replay);
    take_replay(host);
    *out = host;
    return FM_OK;
}

// The world is freed with its memory.
static void close_replay(fm_replay *replay)
{
    if (replay != NULL) {
        (void)fm_replay_take_world(replay);
        fm_replay_close(replay);
    }
}

void fm_host_destroy(fm_host *host)
{
    if (host == NULL) {
        return;
    }
    close_replay(host->playback.replay);
    fm_journal_reader_close(host->following.reader);
    fm_journal_destroy(host->recording.journal);
    fm_journal_batch_destroy(host->recording.batch);
    fm_journal_batch_destroy(host->recording.last_batch);
    fm_memory_arena_destroy(host->arena);
    for (uint32_t i = 0; i < host->watches.count; i++) {
        free(host->watches.items[i].unsent);
        free(host->watches.items[i].unsent_alerts);
    }
    free(host->watches.items);
    free(host);
}
