// core/crowd/press.c: see press.h.

#include "core/crowd/press.h"

#include "core/base/heap.h"
#include "core/map/occupancy.h"
#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

#include <string.h>

#define BLOCK     8u   // cells from side to side
#define DENSE     16u  // units in a block
#define REST_FREE 3u   // mean ticks within four cells of who is free to go
#define REST_MAX  100u // that count of one unit
#define REST_HELD 8u   // of a unit that is not; where few are there is no press
#define TOLL_REST 8u   // for each tick of the mean; twice what the mean says: rows move unevenly
#define TOLL_MIN  10u
#define TOLL_MAX  400u
#define SLACK     200u // how much farther than `from` distances are known
#define NO_STEP   UINT8_MAX

// Of a block.
struct block {
    uint32_t rest;  // ticks, summed over its units
    uint16_t count; // units under way
    uint16_t toll;
};

// Distances to the end over a window.
struct field {
    uint32_t distances[FM_PRESS_CELLS];
    uint8_t steps[FM_PRESS_CELLS]; // direction towards the end
};

struct fm_press {
    struct block *blocks;
    uint32_t *used; // blocks that are not all zeros: where units of the last team were under way
    uint32_t columns, rows, used_count;
    uint32_t work; // cells, see fm_press_take_work()
    uint32_t x, y; // of the window's north-west corner, FM_PRESS_REACH more: may be off the map
    fm_cell from;
    struct field tolled, free;
    bool has_free; // `free` was found for these
    fm_heap heap;  // cells of the window by distance, then number; has room for all
    uint32_t places[FM_PRESS_CELLS]; // of the heap
};

fm_press *fm_press_create(const fm_memory *memory, uint32_t width, uint32_t height)
{
    fm_press *press = fm_memory_allocate_zeroed(memory, 1, sizeof *press);
    if (press == NULL) {
        return NULL;
    }
    press->columns = (width + BLOCK - 1) / BLOCK;
    press->rows = (height + BLOCK - 1) / BLOCK;
    size_t count = (size_t)press->columns * press->rows;
    press->blocks = fm_memory_allocate_zeroed(memory, count, sizeof *press->blocks);
    press->used = fm_memory_allocate_zeroed(memory, count, sizeof *press->used);
    fm_heap_init(&press->heap, memory);
    if (press->blocks == NULL || press->used == NULL ||
        !FM_RESERVE_FROM(memory, press->heap.entries, press->heap.capacity, FM_PRESS_CELLS)) {
        fm_press_destroy(press, memory);
        return NULL;
    }
    return press;
}

void fm_press_destroy(fm_press *press, const fm_memory *memory)
{
    if (press != NULL) {
        size_t count = (size_t)press->columns * press->rows;
        fm_heap_fini(&press->heap);
        fm_memory_release(memory, press->blocks,
                          press->blocks == NULL ? 0 : count * sizeof *press->blocks);
        fm_memory_release(memory, press->used,
                          press->used == NULL ? 0 : count * sizeof *press->used);
        fm_memory_release(memory, press, sizeof *press);
    }
}

// ---- tolls --------------------------------------------------------------------------------------

static struct block *block_of(const fm_press *press, fm_cell cell)
{
    return &press->blocks[fm_cell_y(cell) / BLOCK * press->columns + fm_cell_x(cell) / BLOCK];
}

// By the mean of the block and those around it.
static uint32_t toll_of(const fm_press *press, uint32_t column, uint32_t row)
{
    uint32_t rest = 0, count = 0;
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t x = column + i % 3 - 1, y = row + i / 3 - 1; // beyond an edge it is too large
        if (x < press->columns && y < press->rows) {
            const struct block *block = &press->blocks[y * press->columns + x];
            rest += block->rest;
            count += block->count;
        }
    }
    uint32_t toll = rest * TOLL_REST / count, free = REST_FREE * TOLL_REST;
    return toll < free + TOLL_MIN ? 0 : fm_min(toll - free, TOLL_MAX);
}

static uint32_t count_held(const fm_world *world, uint32_t team)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fm_team_of(world, team)->member_count; i++) {
        const struct fm_agent *agent = fm_team_member(world, team, i);
        count += agent != NULL && agent->order.id != 0 && agent->rest_ticks >= REST_HELD;
    }
    return count;
}

uint32_t fm_press_sample(fm_press *press, const fm_world *world, uint32_t team)
{
    if (count_held(world, team) < FM_PRESSED_LEAST) {
        return 0;
    }
    for (uint32_t i = 0; i < press->used_count; i++) {
        press->blocks[press->used[i]] = (struct block){0};
    }
    press->used_count = 0;
    for (uint32_t i = 0; i < fm_team_of(world, team)->member_count; i++) {
        const struct fm_agent *agent = fm_team_member(world, team, i);
        if (agent != NULL && agent->order.id != 0) {
            struct block *block = block_of(press, agent->cell);
            if (block->count == 0) {
                press->used[press->used_count++] = (uint32_t)(block - press->blocks);
            }
            block->rest += fm_min(agent->rest_ticks, REST_MAX);
            block->count += 1;
        }
    }
    uint32_t pressed = 0;
    for (uint32_t i = 0; i < press->used_count; i++) {
        uint32_t number = press->used[i];
        struct block *block = &press->blocks[number];
        if (block->count >= DENSE) {
            block->toll =
                (uint16_t)toll_of(press, number % press->columns, number / press->columns);
            pressed += block->toll > 0 ? block->count : 0;
        }
    }
    return pressed;
}

uint32_t fm_press_toll(const fm_press *press, fm_cell cell)
{
    return block_of(press, cell)->toll;
}

// ---- distances ----------------------------------------------------------------------------------

static uint32_t index_of(const fm_press *press, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) + FM_PRESS_REACH - press->x;
    uint32_t y = fm_cell_y(cell) + FM_PRESS_REACH - press->y;
    return x < FM_PRESS_SIDE && y < FM_PRESS_SIDE ? y * FM_PRESS_SIDE + x : FM_PRESS_CELLS;
}

static fm_cell cell_of(const fm_press *press, uint32_t i)
{
    return fm_cell_at(press->x + i % FM_PRESS_SIDE - FM_PRESS_REACH,
                      press->y + i / FM_PRESS_SIDE - FM_PRESS_REACH);
}

static uint32_t *place_of(const void *context, uint32_t i)
{
    fm_press *press = (fm_press *)(uintptr_t)context;
    return &press->places[i];
}

// Queues a cell, or moves it up.
static void raise(fm_press *press, const struct field *field, uint32_t i)
{
    uint64_t key = (uint64_t)field->distances[i] << 32 | i;
    bool has_room = fm_heap_set(&press->heap, key, i, place_of, press);
    FM_ASSERT(has_room);
}

static uint32_t take(fm_press *press)
{
    uint32_t top = press->heap.entries[0].ref;
    fm_heap_remove(&press->heap, top, place_of, press);
    return top;
}

// Tells the neighbours of a cell.
static void spread(fm_press *press, struct field *field, const fm_view *view, uint32_t i,
                   uint32_t toll)
{
    fm_cell cell = cell_of(press, i);
    for (uint32_t moves = fm_view_moves(view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        uint32_t j = index_of(press, fm_cell_step(cell, d));
        uint32_t distance = field->distances[i] + toll + view->step[d & 1];
        if (j < FM_PRESS_CELLS && distance < field->distances[j]) {
            field->distances[j] = distance;
            field->steps[j] = (uint8_t)(d ^ 4u);
            raise(press, field, j);
        }
    }
}

static void search(fm_press *press, struct field *field, const fm_view *view, fm_cell end,
                   fm_cell from)
{
    uint32_t bound = UINT32_MAX, begin = index_of(press, end), last = index_of(press, from);
    memset(field->distances, 0xff, sizeof field->distances);
    memset(press->places, 0, sizeof press->places);
    press->heap.count = 0;
    field->distances[begin] = 0;
    field->steps[begin] = NO_STEP;
    raise(press, field, begin);
    while (press->heap.count > 0) {
        uint32_t i = take(press);
        if (field->distances[i] > bound) {
            break;
        }
        press->work += 1;
        bound = i == last ? field->distances[i] + SLACK : bound;
        bool pays = field == &press->tolled && i != begin;
        spread(press, field, view, i, pays ? fm_press_toll(press, cell_of(press, i)) : 0);
    }
}

void fm_press_measure(fm_press *press, const fm_view *view, fm_cell end, fm_cell from)
{
    press->x = fm_cell_x(end);
    press->y = fm_cell_y(end);
    press->from = from;
    press->has_free = false;
    search(press, &press->tolled, view, end, from);
}

uint32_t fm_press_take_work(fm_press *press)
{
    uint32_t work = press->work;
    press->work = 0;
    return work;
}

uint32_t fm_press_distance(const fm_press *press, fm_cell cell)
{
    uint32_t i = index_of(press, cell);
    return i < FM_PRESS_CELLS ? press->tolled.distances[i] : FM_PRESS_FAR;
}

uint32_t fm_press_way(fm_press *press, const fm_view *view, fm_cell from, fm_cell *cells,
                      uint32_t capacity)
{
    if (fm_press_distance(press, from) == FM_PRESS_FAR) {
        return 0;
    }
    if (!press->has_free) { // most looks find nobody who needs it
        search(press, &press->free, view, fm_cell_at(press->x, press->y), press->from);
        press->has_free = true;
    }
    fm_cell cell = from;
    for (uint32_t count = 1; count <= capacity; count++) {
        uint32_t i = index_of(press, cell);
        cells[count - 1] = cell;
        if (press->tolled.distances[i] == press->free.distances[i]) {
            return count;
        }
        cell = fm_cell_step(cell, press->tolled.steps[i]);
    }
    return 0;
}
