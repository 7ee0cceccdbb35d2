// core/search/pages.c: see pages.h.

#include "core/search/pages.h"

#include <string.h>

// clang-format off
// For each position, row by row, and each direction clockwise from north: which of the pages
// around holds the neighbour (8: this one), and where.
const fm_page_step fm_page_steps[FM_PAGE_CELLS][FM_DIRECTION_COUNT] = {
    {{0, 56}, {0, 57}, {8, 1}, {8, 9}, {8, 8}, {6, 15}, {6, 7}, {7, 63}},
    {{0, 57}, {0, 58}, {8, 2}, {8, 10}, {8, 9}, {8, 8}, {8, 0}, {0, 56}},
    {{0, 58}, {0, 59}, {8, 3}, {8, 11}, {8, 10}, {8, 9}, {8, 1}, {0, 57}},
    {{0, 59}, {0, 60}, {8, 4}, {8, 12}, {8, 11}, {8, 10}, {8, 2}, {0, 58}},
    {{0, 60}, {0, 61}, {8, 5}, {8, 13}, {8, 12}, {8, 11}, {8, 3}, {0, 59}},
    {{0, 61}, {0, 62}, {8, 6}, {8, 14}, {8, 13}, {8, 12}, {8, 4}, {0, 60}},
    {{0, 62}, {0, 63}, {8, 7}, {8, 15}, {8, 14}, {8, 13}, {8, 5}, {0, 61}},
    {{0, 63}, {1, 56}, {2, 0}, {2, 8}, {8, 15}, {8, 14}, {8, 6}, {0, 62}},
    {{8, 0}, {8, 1}, {8, 9}, {8, 17}, {8, 16}, {6, 23}, {6, 15}, {6, 7}},
    {{8, 1}, {8, 2}, {8, 10}, {8, 18}, {8, 17}, {8, 16}, {8, 8}, {8, 0}},
    {{8, 2}, {8, 3}, {8, 11}, {8, 19}, {8, 18}, {8, 17}, {8, 9}, {8, 1}},
    {{8, 3}, {8, 4}, {8, 12}, {8, 20}, {8, 19}, {8, 18}, {8, 10}, {8, 2}},
    {{8, 4}, {8, 5}, {8, 13}, {8, 21}, {8, 20}, {8, 19}, {8, 11}, {8, 3}},
    {{8, 5}, {8, 6}, {8, 14}, {8, 22}, {8, 21}, {8, 20}, {8, 12}, {8, 4}},
    {{8, 6}, {8, 7}, {8, 15}, {8, 23}, {8, 22}, {8, 21}, {8, 13}, {8, 5}},
    {{8, 7}, {2, 0}, {2, 8}, {2, 16}, {8, 23}, {8, 22}, {8, 14}, {8, 6}},
    {{8, 8}, {8, 9}, {8, 17}, {8, 25}, {8, 24}, {6, 31}, {6, 23}, {6, 15}},
    {{8, 9}, {8, 10}, {8, 18}, {8, 26}, {8, 25}, {8, 24}, {8, 16}, {8, 8}},
    {{8, 10}, {8, 11}, {8, 19}, {8, 27}, {8, 26}, {8, 25}, {8, 17}, {8, 9}},
    {{8, 11}, {8, 12}, {8, 20}, {8, 28}, {8, 27}, {8, 26}, {8, 18}, {8, 10}},
    {{8, 12}, {8, 13}, {8, 21}, {8, 29}, {8, 28}, {8, 27}, {8, 19}, {8, 11}},
    {{8, 13}, {8, 14}, {8, 22}, {8, 30}, {8, 29}, {8, 28}, {8, 20}, {8, 12}},
    {{8, 14}, {8, 15}, {8, 23}, {8, 31}, {8, 30}, {8, 29}, {8, 21}, {8, 13}},
    {{8, 15}, {2, 8}, {2, 16}, {2, 24}, {8, 31}, {8, 30}, {8, 22}, {8, 14}},
    {{8, 16}, {8, 17}, {8, 25}, {8, 33}, {8, 32}, {6, 39}, {6, 31}, {6, 23}},
    {{8, 17}, {8, 18}, {8, 26}, {8, 34}, {8, 33}, {8, 32}, {8, 24}, {8, 16}},
    {{8, 18}, {8, 19}, {8, 27}, {8, 35}, {8, 34}, {8, 33}, {8, 25}, {8, 17}},
    {{8, 19}, {8, 20}, {8, 28}, {8, 36}, {8, 35}, {8, 34}, {8, 26}, {8, 18}},
    {{8, 20}, {8, 21}, {8, 29}, {8, 37}, {8, 36}, {8, 35}, {8, 27}, {8, 19}},
    {{8, 21}, {8, 22}, {8, 30}, {8, 38}, {8, 37}, {8, 36}, {8, 28}, {8, 20}},
    {{8, 22}, {8, 23}, {8, 31}, {8, 39}, {8, 38}, {8, 37}, {8, 29}, {8, 21}},
    {{8, 23}, {2, 16}, {2, 24}, {2, 32}, {8, 39}, {8, 38}, {8, 30}, {8, 22}},
    {{8, 24}, {8, 25}, {8, 33}, {8, 41}, {8, 40}, {6, 47}, {6, 39}, {6, 31}},
    {{8, 25}, {8, 26}, {8, 34}, {8, 42}, {8, 41}, {8, 40}, {8, 32}, {8, 24}},
    {{8, 26}, {8, 27}, {8, 35}, {8, 43}, {8, 42}, {8, 41}, {8, 33}, {8, 25}},
    {{8, 27}, {8, 28}, {8, 36}, {8, 44}, {8, 43}, {8, 42}, {8, 34}, {8, 26}},
    {{8, 28}, {8, 29}, {8, 37}, {8, 45}, {8, 44}, {8, 43}, {8, 35}, {8, 27}},
    {{8, 29}, {8, 30}, {8, 38}, {8, 46}, {8, 45}, {8, 44}, {8, 36}, {8, 28}},
    {{8, 30}, {8, 31}, {8, 39}, {8, 47}, {8, 46}, {8, 45}, {8, 37}, {8, 29}},
    {{8, 31}, {2, 24}, {2, 32}, {2, 40}, {8, 47}, {8, 46}, {8, 38}, {8, 30}},
    {{8, 32}, {8, 33}, {8, 41}, {8, 49}, {8, 48}, {6, 55}, {6, 47}, {6, 39}},
    {{8, 33}, {8, 34}, {8, 42}, {8, 50}, {8, 49}, {8, 48}, {8, 40}, {8, 32}},
    {{8, 34}, {8, 35}, {8, 43}, {8, 51}, {8, 50}, {8, 49}, {8, 41}, {8, 33}},
    {{8, 35}, {8, 36}, {8, 44}, {8, 52}, {8, 51}, {8, 50}, {8, 42}, {8, 34}},
    {{8, 36}, {8, 37}, {8, 45}, {8, 53}, {8, 52}, {8, 51}, {8, 43}, {8, 35}},
    {{8, 37}, {8, 38}, {8, 46}, {8, 54}, {8, 53}, {8, 52}, {8, 44}, {8, 36}},
    {{8, 38}, {8, 39}, {8, 47}, {8, 55}, {8, 54}, {8, 53}, {8, 45}, {8, 37}},
    {{8, 39}, {2, 32}, {2, 40}, {2, 48}, {8, 55}, {8, 54}, {8, 46}, {8, 38}},
    {{8, 40}, {8, 41}, {8, 49}, {8, 57}, {8, 56}, {6, 63}, {6, 55}, {6, 47}},
    {{8, 41}, {8, 42}, {8, 50}, {8, 58}, {8, 57}, {8, 56}, {8, 48}, {8, 40}},
    {{8, 42}, {8, 43}, {8, 51}, {8, 59}, {8, 58}, {8, 57}, {8, 49}, {8, 41}},
    {{8, 43}, {8, 44}, {8, 52}, {8, 60}, {8, 59}, {8, 58}, {8, 50}, {8, 42}},
    {{8, 44}, {8, 45}, {8, 53}, {8, 61}, {8, 60}, {8, 59}, {8, 51}, {8, 43}},
    {{8, 45}, {8, 46}, {8, 54}, {8, 62}, {8, 61}, {8, 60}, {8, 52}, {8, 44}},
    {{8, 46}, {8, 47}, {8, 55}, {8, 63}, {8, 62}, {8, 61}, {8, 53}, {8, 45}},
    {{8, 47}, {2, 40}, {2, 48}, {2, 56}, {8, 63}, {8, 62}, {8, 54}, {8, 46}},
    {{8, 48}, {8, 49}, {8, 57}, {4, 1}, {4, 0}, {5, 7}, {6, 63}, {6, 55}},
    {{8, 49}, {8, 50}, {8, 58}, {4, 2}, {4, 1}, {4, 0}, {8, 56}, {8, 48}},
    {{8, 50}, {8, 51}, {8, 59}, {4, 3}, {4, 2}, {4, 1}, {8, 57}, {8, 49}},
    {{8, 51}, {8, 52}, {8, 60}, {4, 4}, {4, 3}, {4, 2}, {8, 58}, {8, 50}},
    {{8, 52}, {8, 53}, {8, 61}, {4, 5}, {4, 4}, {4, 3}, {8, 59}, {8, 51}},
    {{8, 53}, {8, 54}, {8, 62}, {4, 6}, {4, 5}, {4, 4}, {8, 60}, {8, 52}},
    {{8, 54}, {8, 55}, {8, 63}, {4, 7}, {4, 6}, {4, 5}, {8, 61}, {8, 53}},
    {{8, 55}, {2, 48}, {2, 56}, {3, 0}, {4, 7}, {4, 6}, {8, 62}, {8, 54}},
};
// clang-format on

static void empty_box(fm_pages *pages)
{
    pages->left = pages->top = FM_SIDE_MAX;
    pages->right = pages->bottom = -(int32_t)FM_SIDE_MAX;
}

static void widen_box(fm_pages *pages, fm_cell corner)
{
    int32_t x = (int32_t)fm_cell_x(corner), y = (int32_t)fm_cell_y(corner);
    int32_t end_x = x + (int32_t)FM_PAGE_SIDE - 1, end_y = y + (int32_t)FM_PAGE_SIDE - 1;
    pages->left = x < pages->left ? x : pages->left;
    pages->top = y < pages->top ? y : pages->top;
    pages->right = end_x > pages->right ? end_x : pages->right;
    pages->bottom = end_y > pages->bottom ? end_y : pages->bottom;
}

void fm_pages_init(fm_pages *pages, const void *blank, uint32_t node_size, const fm_memory *memory)
{
    uint32_t page_size = (uint32_t)sizeof(fm_page) + FM_PAGE_CELLS * node_size;
    FM_ASSERT(page_size <= FM_SLAB_BLOCK_MAX);
    *pages = (fm_pages){
        .memory = memory, .blank = blank, .node_size = node_size, .page_size = page_size};
    empty_box(pages);
}

void fm_pages_clear(fm_pages *pages, fm_slab *slab)
{
    for (uint32_t i = 0; i < pages->page_count; i++) {
        fm_slab_give(slab, pages->by_slot[i], pages->page_size);
    }
    fm_slab_give(slab, pages->nowhere, pages->page_size);
    pages->nowhere = NULL;
    pages->page_count = 0;
    empty_box(pages);
    if (pages->table != NULL) {
        memset(pages->table, 0, ((size_t)pages->table_mask + 1) * sizeof *pages->table);
    }
}

void fm_pages_fini(fm_pages *pages, fm_slab *slab)
{
    fm_pages_clear(pages, slab);
    fm_memory_release(pages->memory, pages->by_slot, pages->capacity * sizeof *pages->by_slot);
    fm_memory_release(pages->memory, pages->table,
                      ((size_t)pages->table_mask + 1) * sizeof *pages->table);
    pages->by_slot = NULL;
    pages->table = NULL;
    pages->capacity = 0;
    pages->table_mask = 0;
}

// The place in the table where the page with this corner is, or should be.
static uint32_t place_of(const fm_pages *pages, fm_cell corner)
{
    // Fibonacci hashing: corners differ in few bits, the product's upper ones in many.
    uint32_t place = (uint32_t)(corner * 0x9e3779b97f4a7c15u >> 40) & pages->table_mask;
    while (pages->table[place].entry != 0 && pages->table[place].corner != corner) {
        place = (place + 1) & pages->table_mask;
    }
    return place;
}

fm_page *fm_pages_find(const fm_pages *pages, fm_cell cell)
{
    if (pages->table == NULL) {
        return NULL;
    }
    uint32_t entry = pages->table[place_of(pages, fm_page_corner(cell))].entry;
    return entry == 0 ? NULL : pages->by_slot[entry - 1];
}

// Makes room for one more page; the table stays at most a quarter full: a search that
// collides costs a branch guessed wrong.
static bool make_room(fm_pages *pages)
{
    if (pages->page_count < pages->capacity) {
        return true;
    }
    uint32_t capacity = pages->capacity == 0 ? 8 : pages->capacity * 2;
    fm_page_place *table =
        fm_memory_allocate_zeroed(pages->memory, (size_t)capacity * 4, sizeof *table);
    if (table == NULL) {
        return false;
    }
    fm_page **by_slot = fm_memory_resize(pages->memory, pages->by_slot, pages->capacity, capacity,
                                         sizeof(fm_page *));
    if (by_slot == NULL) {
        fm_memory_release(pages->memory, table, (size_t)capacity * 4 * sizeof *table);
        return false;
    }
    fm_memory_release(pages->memory, pages->table,
                      ((size_t)pages->table_mask + 1) * sizeof *pages->table);
    pages->by_slot = by_slot;
    pages->capacity = capacity;
    pages->table = table;
    pages->table_mask = capacity * 4 - 1;
    for (uint32_t i = 0; i < pages->page_count; i++) {
        fm_cell corner = by_slot[i]->corner;
        table[place_of(pages, corner)] = (fm_page_place){.corner = corner, .entry = i + 1};
    }
    return true;
}

static bool take_nowhere(fm_pages *pages, fm_slab *slab)
{
    fm_page *page = fm_slab_take(slab, pages->page_size);
    if (page == NULL) {
        return false;
    }
    *page = (fm_page){.slot = UINT32_MAX, .corner = FM_CELL_NONE};
    // Doubling copies: six calls for 64 nodes instead of 64 small ones.
    size_t total = (size_t)FM_PAGE_CELLS * pages->node_size;
    memcpy(page->nodes, pages->blank, pages->node_size);
    for (size_t filled = pages->node_size; filled < total; filled *= 2) {
        memcpy(page->nodes + filled, page->nodes, filled);
    }
    pages->nowhere = page;
    return true;
}

// Links both ways with every page around that exists, so that a missing link means a missing page
// and the hash table need not be asked.
static void link_to_neighbours(const fm_pages *pages, fm_page *page)
{
    int32_t x = (int32_t)fm_cell_x(page->corner), y = (int32_t)fm_cell_y(page->corner);
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i++) {
        int32_t other_x = x + fm_direction_dx[i] * (int32_t)FM_PAGE_SIDE;
        int32_t other_y = y + fm_direction_dy[i] * (int32_t)FM_PAGE_SIDE;
        if (other_x < 0 || other_y < 0 || other_x >= (int32_t)FM_SIDE_MAX ||
            other_y >= (int32_t)FM_SIDE_MAX) {
            continue;
        }
        fm_page *other = fm_pages_find(pages, fm_cell_at((uint32_t)other_x, (uint32_t)other_y));
        if (other != NULL) {
            page->near[i] = other;
            other->near[i ^ 4] = page;
        }
    }
}

fm_page *fm_pages_get(fm_pages *pages, fm_cell cell, fm_slab *slab)
{
    fm_page *page = fm_pages_find(pages, cell);
    if (page != NULL) {
        return page;
    }
    if (!make_room(pages) || (pages->nowhere == NULL && !take_nowhere(pages, slab))) {
        return NULL;
    }
    page = fm_slab_take(slab, pages->page_size);
    if (page == NULL) {
        return NULL;
    }
    fm_cell corner = fm_page_corner(cell);
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i++) {
        page->near[i] = pages->nowhere;
    }
    page->near[FM_PAGE_SELF] = page;
    page->slot = pages->page_count;
    page->corner = corner;
    memcpy(page->nodes, pages->nowhere->nodes, (size_t)FM_PAGE_CELLS * pages->node_size);
    pages->table[place_of(pages, corner)] =
        (fm_page_place){.corner = corner, .entry = page->slot + 1};
    pages->by_slot[pages->page_count++] = page;
    widen_box(pages, corner);
    link_to_neighbours(pages, page);
    return page;
}

fm_page *fm_pages_get_near(fm_pages *pages, fm_page *page, uint32_t near, fm_slab *slab)
{
    if (page->near[near] != pages->nowhere) {
        return page->near[near];
    }
    uint32_t offset =
        (uint32_t)(fm_direction_dy[near] * 4096 + fm_direction_dx[near]) * FM_PAGE_SIDE;
    return fm_pages_get(pages, page->corner + offset, slab);
}

size_t fm_pages_bytes(const fm_pages *pages)
{
    size_t table_size =
        pages->table == NULL ? 0 : ((size_t)pages->table_mask + 1) * sizeof *pages->table;
    size_t page_count = pages->page_count + (pages->nowhere != NULL);
    return page_count * pages->page_size + pages->capacity * sizeof *pages->by_slot + table_size;
}
