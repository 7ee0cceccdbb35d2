// core/world/enemies.c: see enemies.h.

#include "core/world/enemies.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/lookouts.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define FEW 32u // enemies that are gone through sooner than the tiles around are

static bool add_enemy(fm_enemies *enemies, const fm_memory *memory, fm_cell cell)
{
    if (!fm_reserve(memory, (void **)&enemies->cells, &enemies->capacity, enemies->count + 1,
                    sizeof *enemies->cells)) {
        return false;
    }
    enemies->cells[enemies->count++] = cell;
    return true;
}

static bool gather_tile(const fm_world *world, uint32_t tile, uint32_t team, fm_enemies *enemies)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    const struct fm_agent *agents = fm_world_agents(world)->slots;
    fm_tile_marks examined[FM_CLASS_SIZE_MAX] = {{{0}}}; // by size: what it covers is seen alike
    fm_tile_marks added = {{0}};
    for (uint32_t i = unit_index->first[tile]; i < unit_index->first[tile + 1]; i++) {
        const struct fm_agent *agent = &agents[unit_index->slots[i]];
        uint32_t size = fm_world_class_size(world, agent->class_index);
        if (agent->team != team && !fm_tile_marks_add(&examined[size - 1], agent->cell) &&
            fm_lookouts_see_agent(world, team, agent) && !fm_tile_marks_add(&added, agent->cell) &&
            !add_enemy(enemies, fm_world_memory(world), agent->cell)) {
            return false;
        }
    }
    return true;
}

fm_status fm_enemies_refresh(const fm_world *world, uint32_t team, fm_enemies *enemies)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    if (enemies->tick == fm_world_tick(world) + 1) {
        return FM_OK;
    }
    enemies->count = 0;
    for (uint32_t tile = 0;
         unit_index->slots != NULL && tile < unit_index->columns * unit_index->rows; tile++) {
        if (!gather_tile(world, tile, team, enemies)) {
            enemies->count = 0;
            return FM_ERR_NO_MEMORY;
        }
    }
    enemies->tick = fm_world_tick(world) + 1;
    return FM_OK;
}

void fm_enemies_fini(fm_enemies *enemies, const fm_memory *memory)
{
    fm_memory_release(memory, enemies->cells, enemies->capacity * sizeof *enemies->cells);
    *enemies = (fm_enemies){0};
}

// The nearest so far.
struct near {
    const fm_unit_index *unit_index;
    const fm_view *view;
    fm_cell center;
    fm_cell *cells;
    uint32_t count, capacity;
};

// Whether `a` comes before `b`: by distance, then as in the list, which is by tile.
static bool comes_before(const struct near *near, fm_cell a, fm_cell b)
{
    uint32_t to_a = fm_view_distance(near->view, a, near->center);
    uint32_t to_b = fm_view_distance(near->view, b, near->center);
    return to_a < to_b || (to_a == to_b && fm_unit_index_tile_of(near->unit_index, a) <
                                               fm_unit_index_tile_of(near->unit_index, b));
}

// Inserts a cell into those found so far; the farthest one is dropped.
static void insert(struct near *near, fm_cell cell)
{
    uint32_t place = near->count;
    while (place > 0 && comes_before(near, cell, near->cells[place - 1])) {
        place -= 1;
    }
    if (place == near->capacity) {
        return;
    }
    near->count += near->count < near->capacity;
    for (uint32_t i = near->count - 1; i > place; i--) {
        near->cells[i] = near->cells[i - 1];
    }
    near->cells[place] = cell;
}

// How far away a cell may be that still counts.
static uint32_t reach_of(const struct near *near, uint32_t radius)
{
    return near->count < near->capacity
               ? radius * near->view->step[0]
               : fm_view_distance(near->view, near->cells[near->count - 1], near->center);
}

// Where the first of them in this tile or a later one stands.
static uint32_t enemy_from(const fm_unit_index *unit_index, const fm_enemies *enemies,
                           uint32_t tile)
{
    uint32_t low = 0, high = enemies->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fm_unit_index_tile_of(unit_index, enemies->cells[middle]) < tile) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert_near(struct near *near, fm_cell cell, uint32_t radius)
{
    if (fm_view_distance(near->view, cell, near->center) <= radius * near->view->step[0]) {
        insert(near, cell);
    }
}

static void insert_tile(struct near *near, const fm_enemies *enemies, uint32_t tile,
                        uint32_t radius)
{
    for (uint32_t i = enemy_from(near->unit_index, enemies, tile);
         i < enemies->count && fm_unit_index_tile_of(near->unit_index, enemies->cells[i]) == tile;
         i++) {
        insert_near(near, enemies->cells[i], radius);
    }
}

uint32_t fm_enemies_near(const fm_world *world, const fm_enemies *enemies, fm_cell cell,
                         uint32_t radius, fm_cell *cells, uint32_t capacity)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    struct near near = {.unit_index = unit_index,
                        .view = &fm_world_map(world)->truth,
                        .center = cell,
                        .cells = cells,
                        .capacity = capacity};
    if (enemies->count <= FEW) {
        for (uint32_t i = 0; i < enemies->count; i++) {
            insert_near(&near, enemies->cells[i], radius);
        }
        return near.count;
    }
    fm_tile_walk walk = fm_tile_walk_begin(unit_index, near.view, cell, radius);
    uint32_t tile;
    while (fm_tile_walk_next(&walk, reach_of(&near, radius), &tile)) {
        if (unit_index->first[tile] != unit_index->first[tile + 1]) {
            insert_tile(&near, enemies, tile, radius);
        }
    }
    return near.count;
}
