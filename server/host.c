// server/host.c: see host.h.

#include "server/host.h"

#include "core/map_file.h"
#include "server/clock.h"

#include <stdlib.h>

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
    // A grid that no world took over goes with the arena.
    status =
        fm_world_create(&options->rules, grid, fm_memory_arena_memory(host->arena), &host->world);
    if (status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the rules contradict each other or the map");
    }
    return status;
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
        status = make_world(options, host, error);
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
    host->summary = (fm_host_summary){
        .paused = options->paused,
        .tick_hz = options->tick_hz,
        .budget_ms = options->budget_ms,
    };
    *out = host;
    return FM_OK;
}

void fm_host_destroy(fm_host *host)
{
    if (host == NULL) {
        return;
    }
    fm_memory_arena_destroy(host->arena);
    free(host->watches);
    free(host);
}
