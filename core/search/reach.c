// core/search/reach.c: see reach.h.

#include "core/search/reach.h"

// First x' >= x whose bit is `value`, ending at the margin behind the row. `row` is a row of a
// blocked bitmap, so a search for 1 always ends.
static uint32_t next_with(const uint64_t *row, uint32_t x, bool value, uint32_t x_end)
{
    uint64_t flip = value ? 0 : UINT64_MAX;
    uint32_t word = x >> 6;
    uint64_t bits = (row[word] ^ flip) >> (x & 63) << (x & 63);
    while (bits == 0) {
        word += 1;
        if (word * 64 >= x_end) {
            return x_end;
        }
        bits = row[word] ^ flip;
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return found < x_end ? found : x_end;
}

// First cell of the free run that holds the free cell x.
static uint32_t run_start(const uint64_t *row, uint32_t x)
{
    int32_t word = (int32_t)(x >> 6);
    uint64_t bits = row[word] << (63 - (x & 63)) >> (63 - (x & 63));
    while (bits == 0 && word > 0) {
        word -= 1;
        bits = row[word];
    }
    return bits == 0 ? 0 : (uint32_t)word * 64 + 64 - (uint32_t)__builtin_clzll(bits);
}

static bool push(fm_reach *reach, uint32_t y, uint32_t x_first, uint32_t x_last)
{
    if (!FM_RESERVE_FROM(reach->memory, reach->stack, reach->stack_capacity,
                         reach->stack_count + 1)) {
        return false;
    }
    reach->stack[reach->stack_count++] =
        (fm_reach_run){.y = (uint16_t)y, .x_first = (uint16_t)x_first, .x_last = (uint16_t)x_last};
    return true;
}

fm_status fm_reach_init(fm_reach *reach, const fm_view *view, fm_cell from, const fm_memory *memory)
{
    fm_reach fresh = {.view = view, .memory = memory};
    if (fm_bitmap_init(&fresh.reached, view->width, view->height, true, memory) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    if (!push(&fresh, fm_cell_y(from), fm_cell_x(from), fm_cell_x(from))) {
        fm_bitmap_fini(&fresh.reached, memory);
        return FM_ERR_NO_MEMORY;
    }
    *reach = fresh;
    return FM_OK;
}

void fm_reach_fini(fm_reach *reach)
{
    if (reach->memory != NULL) {
        fm_bitmap_fini(&reach->reached, reach->memory);
        fm_memory_release(reach->memory, reach->stack,
                          reach->stack_capacity * sizeof *reach->stack);
    }
    *reach = (fm_reach){0};
}

static void mark(fm_bitmap *bitmap, uint32_t y, uint32_t x_first, uint32_t x_last)
{
    uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
    for (uint32_t word = x_first >> 6; word <= x_last >> 6; word++) {
        uint64_t mask = UINT64_MAX;
        mask = word == x_first >> 6 ? mask << (x_first & 63) : mask;
        mask = word == x_last >> 6 ? mask & UINT64_MAX >> (63 - (x_last & 63)) : mask;
        row[word] |= mask;
    }
}

// Takes every free run that begins, ends or lies under the popped range and was not reached yet.
static void flood_range(fm_reach *reach, fm_reach_run range)
{
    const uint64_t *blocked = fm_bitmap_row(reach->view->blocked, range.y);
    uint32_t width = reach->view->width;
    for (uint32_t x = range.x_first; x <= range.x_last;) {
        x = next_with(blocked, x, false, (uint32_t)range.x_last + 1);
        if (x > range.x_last) {
            return;
        }
        uint32_t end = next_with(blocked, x, true, width);
        if (!fm_bitmap_get(&reach->reached, fm_cell_at(x, range.y))) {
            uint32_t first = run_start(blocked, x);
            mark(&reach->reached, range.y, first, end - 1);
            bool pushed = true;
            if (range.y > 0) {
                pushed = push(reach, range.y - 1u, first, end - 1);
            }
            if (range.y + 1u < reach->view->height) {
                pushed = push(reach, range.y + 1u, first, end - 1) && pushed;
            }
            reach->exhausted |= !pushed;
        }
        x = end + 1;
    }
}

bool fm_reach_advance(fm_reach *reach, fm_work *work)
{
    uint32_t expansions_at_start = work->expansions;
    while (reach->stack_count > 0 && !reach->exhausted) {
        if (fm_work_must_stop(work, expansions_at_start)) {
            return false;
        }
        flood_range(reach, reach->stack[--reach->stack_count]);
        work->expansions += 1;
        work->secondary += 1;
    }
    reach->done = true;
    return true;
}

size_t fm_reach_bytes(const fm_reach *reach)
{
    return reach->reached.size + reach->stack_capacity * sizeof *reach->stack;
}
