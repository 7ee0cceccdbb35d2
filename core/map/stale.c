// core/map/stale.c: see stale.h.

#include "core/map/stale.h"

#include <string.h>

static size_t table_size(const fm_stale *stale)
{
    return stale->pages == NULL ? 0 : (size_t)stale->columns * stale->rows * sizeof(*stale->pages);
}

void fm_stale_fini(fm_stale *stale, const fm_memory *memory)
{
    for (uint32_t i = 0; stale->pages != NULL && i < stale->columns * stale->rows; i++) {
        fm_memory_release(memory, stale->pages[i], sizeof *stale->pages[i]);
    }
    fm_memory_release(memory, stale->pages, table_size(stale));
    *stale = (fm_stale){0};
}

static bool reserve_table(fm_stale *stale, uint32_t width, uint32_t height, const fm_memory *memory)
{
    if (stale->pages != NULL) {
        return true;
    }
    uint32_t columns = (width + FM_STALE_SIDE - 1) / FM_STALE_SIDE;
    uint32_t rows = (height + FM_STALE_SIDE - 1) / FM_STALE_SIDE;
    fm_stale_page **pages =
        fm_memory_allocate_zeroed(memory, (size_t)columns * rows, sizeof *pages);
    if (pages == NULL) {
        return false;
    }
    *stale = (fm_stale){.pages = pages, .columns = columns, .rows = rows};
    return true;
}

fm_status fm_stale_reserve(fm_stale *stale, uint32_t width, uint32_t height, uint32_t y,
                           uint32_t word, const fm_memory *memory)
{
    if (!reserve_table(stale, width, height, memory)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_stale_page **page = &stale->pages[y / FM_STALE_SIDE * stale->columns + word];
    if (*page != NULL) {
        return FM_OK;
    }
    *page = fm_memory_allocate(memory, sizeof **page);
    if (*page == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    (*page)->count = 0;
    memset((*page)->cells, 0, sizeof(*page)->cells);
    stale->page_count += 1;
    return FM_OK;
}

uint8_t fm_stale_terrain(const fm_stale *stale, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) % FM_STALE_SIDE, y = fm_cell_y(cell);
    const fm_stale_page *page = fm_stale_page_of(stale, y, fm_cell_x(cell) / FM_STALE_SIDE);
    FM_ASSERT(page != NULL && (page->cells[y % FM_STALE_SIDE] >> x & 1) != 0);
    return page->terrain[y % FM_STALE_SIDE][x];
}

void fm_stale_note(fm_stale *stale, const fm_edited_word *edited, uint64_t known)
{
    fm_stale_page *page = fm_stale_page_of(stale, edited->y, edited->word);
    FM_ASSERT(page != NULL);
    uint32_t y = edited->y % FM_STALE_SIDE;
    uint64_t fresh = known & ~page->cells[y];
    page->cells[y] |= fresh;
    page->count += (uint32_t)__builtin_popcountll(fresh);
    for (; fresh != 0; fresh &= fresh - 1) {
        uint32_t x = (uint32_t)__builtin_ctzll(fresh);
        page->terrain[y][x] = edited->terrain_before[x];
    }
}

void fm_stale_forget(fm_stale *stale, uint32_t y, uint32_t word, uint64_t mask,
                     const fm_memory *memory)
{
    fm_stale_page *page = fm_stale_page_of(stale, y, word);
    if (page == NULL) {
        return;
    }
    uint64_t *cells = &page->cells[y % FM_STALE_SIDE];
    page->count -= (uint32_t)__builtin_popcountll(*cells & mask);
    *cells &= ~mask;
    if (page->count == 0) {
        stale->pages[y / FM_STALE_SIDE * stale->columns + word] = NULL;
        stale->page_count -= 1;
        fm_memory_release(memory, page, sizeof *page);
    }
}

uint64_t fm_stale_count(const fm_stale *stale)
{
    uint64_t count = 0;
    for (uint32_t i = 0; stale->page_count > 0 && i < stale->columns * stale->rows; i++) {
        count += stale->pages[i] == NULL ? 0 : stale->pages[i]->count;
    }
    return count;
}

size_t fm_stale_bytes(const fm_stale *stale)
{
    return table_size(stale) + stale->page_count * sizeof(fm_stale_page);
}
