// tests/fuzz/map_files.c: see map_files.h.

#include "tests/fuzz/map_files.h"

#include "clients/maps/maps.h"
#include "core/map/map_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN        "\n%%%%\n"
#define GRID_BYTES_MAX ((size_t)8 << 20) // larger maps are refused: they take time and show nothing

struct beside {
    const char *bytes; // NULL: there is no file
    size_t size;
};

static bool exists(void *context, const char *name)
{
    FM_ASSERT(name[0] != '\0');
    return ((const struct beside *)context)->bytes != NULL;
}

static fm_status read_file(void *context, const char *name, char **bytes, size_t *size, char *why)
{
    const struct beside *beside = context;
    (void)name;
    if (beside->bytes == NULL) {
        snprintf(why, FM_MAP_PLACE_SIZE, "there is none");
        return FM_ERR_IO;
    }
    *bytes = malloc(beside->size + 1);
    FM_ASSERT(*bytes != NULL);
    memcpy(*bytes, beside->bytes, beside->size);
    *size = beside->size;
    return FM_OK;
}

static size_t held;

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (held + size > GRID_BYTES_MAX) {
        return NULL;
    }
    held += size;
    return malloc(size);
}

static void release(void *context, void *block, size_t size)
{
    (void)context;
    held -= size;
    free(block);
}

static const fm_memory memory = {allocate, release, NULL};

static void check_again(const fm_grid *grid)
{
    size_t size = fm_map_written_size(grid), cell_count = (size_t)grid->width * grid->height;
    char *text = malloc(size);
    FM_ASSERT(text != NULL);
    fm_map_write(grid, text);
    fm_grid *again;
    FM_ASSERT(fm_map_read(text, size, &fm_memory_libc, &again, NULL) == FM_OK);
    FM_ASSERT(again->width == grid->width && again->height == grid->height);
    FM_ASSERT(memcmp(again->terrain, grid->terrain, cell_count) == 0);
    FM_ASSERT(memcmp(again->cost, grid->cost, cell_count) == 0);
    fm_grid_destroy(again);
    free(text);
}

void fm_fuzz_map_file(const char *name, const uint8_t *bytes, size_t size)
{
    char fault[FM_MAP_FAULT_SIZE] = "";
    struct beside beside = {NULL, 0};
    const fm_map_files files = {exists, read_file, &beside};
    fm_map_input input = {name, (const char *)bytes, size, &files, &memory, fault};
    size_t between = strlen(BETWEEN);
    for (size_t i = size; i-- > between && beside.bytes == NULL;) {
        if (memcmp(bytes + i - between + 1, BETWEEN, between) == 0) {
            beside = (struct beside){(const char *)bytes + i + 1, size - i - 1};
            input.size = i - between + 1;
        }
    }
    fm_grid *grid = NULL;
    fm_status status = fm_map_load_bytes(&input, NULL, &grid);
    FM_ASSERT((status == FM_OK) == (grid != NULL));
    FM_ASSERT((status == FM_OK) == (fault[0] == '\0'));
    if (grid != NULL) {
        FM_ASSERT(grid->width <= FM_SIDE_MAX && grid->height <= FM_SIDE_MAX);
        check_again(grid);
        fm_grid_destroy(grid);
    }
    FM_ASSERT(held == 0);
}
