// tests/fuzz/fuzz_map.c: any bytes as a .map file: refused with a line and a sentence, or a grid
// that is the same when it is written and read again.

#include "tests/fuzz/fuzz.h"

#include "core/map/map_file.h"

#include <stdlib.h>
#include <string.h>

static void check_again(const fm_grid *grid)
{
    size_t size = fm_map_written_size(grid);
    char *text = malloc(size);
    FM_ASSERT(text != NULL);
    fm_map_write(grid, text);
    fm_grid *again;
    fm_text_error error;
    FM_ASSERT(fm_map_read(text, size, &fm_memory_libc, &again, &error) == FM_OK);
    FM_ASSERT(again->width == grid->width && again->height == grid->height);
    FM_ASSERT(memcmp(again->terrain, grid->terrain, (size_t)grid->width * grid->height) == 0);
    FM_ASSERT(memcmp(again->cost, grid->cost, (size_t)grid->width * grid->height) == 0);
    FM_ASSERT(again->free_count == grid->free_count);
    fm_grid_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_grid *grid = NULL;
    fm_text_error error = {0};
    fm_status status = fm_map_read((const char *)bytes, size, &fm_memory_libc, &grid, &error);
    if (status != FM_OK) {
        FM_ASSERT(grid == NULL);
        FM_ASSERT(error.line > 0 && error.message[0] != '\0');
        return 0;
    }
    FM_ASSERT((size_t)grid->width * grid->height <= size); // every cell has a letter
    check_again(grid);
    fm_grid_destroy(grid);
    return 0;
}
