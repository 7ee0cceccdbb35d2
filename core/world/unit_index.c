// core/world/unit_index.c: see unit_index.h.

#include "core/world/unit_index.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

static bool reserve(fm_world *world)
{
    fm_unit_index *unit_index = &fm_world_edit_orders(world)->unit_index;
    if (unit_index->first == NULL) {
        const fm_grid *grid = fm_world_grid(world);
        unit_index->columns = ((grid->width - 1) >> FM_UNIT_INDEX_TILE_SHIFT) + 1;
        unit_index->rows = ((grid->height - 1) >> FM_UNIT_INDEX_TILE_SHIFT) + 1;
        unit_index->first = fm_memory_allocate_zeroed(
            fm_world_memory(world), (size_t)unit_index->columns * unit_index->rows + 1,
            sizeof *unit_index->first);
    }
    if (unit_index->first != NULL && unit_index->teams == NULL) {
        unit_index->teams = fm_memory_allocate_zeroed(
            fm_world_memory(world), (size_t)unit_index->columns * unit_index->rows,
            sizeof *unit_index->teams);
    }
    return unit_index->first != NULL && unit_index->teams != NULL &&
           FM_RESERVE(world, unit_index->slots, unit_index->slot_capacity,
                      fm_world_agents(world)->slot_count);
}

static fm_status gather(fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    fm_unit_index *unit_index = &fm_world_edit_orders(world)->unit_index;
    unit_index->gatherings += 1;
    if (!reserve(world)) {
        if (unit_index->first != NULL) {
            memset(unit_index->first, 0,
                   ((size_t)unit_index->columns * unit_index->rows + 1) *
                       sizeof *unit_index->first);
        }
        return FM_ERR_NO_MEMORY;
    }
    // Counting sort: first[tile] counts, then is where the next tile begins, then where this does.
    uint32_t tile_count = unit_index->columns * unit_index->rows;
    memset(unit_index->first, 0, ((size_t)tile_count + 1) * sizeof *unit_index->first);
    memset(unit_index->teams, 0, (size_t)tile_count * sizeof *unit_index->teams);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        if (agent->alive) {
            uint32_t tile = fm_unit_index_tile_of(unit_index, agent->cell);
            unit_index->first[tile] += 1;
            unit_index->teams[tile] |= (uint64_t)1 << agent->team % 64;
        }
    }
    uint32_t sum = 0;
    for (uint32_t tile = 0; tile <= tile_count; tile++) {
        sum += unit_index->first[tile];
        unit_index->first[tile] = sum;
    }
    for (uint32_t slot = agents->slot_count; slot-- > 0;) {
        if (agents->slots[slot].alive) {
            unit_index->slots[--unit_index->first[fm_unit_index_tile_of(
                unit_index, agents->slots[slot].cell)]] = slot;
        }
    }
    return FM_OK;
}

void fm_unit_index_refresh(fm_world *world)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    if (orders->unit_index_tick != fm_world_tick(world) + 1) {
        orders->unit_index_tick = fm_world_tick(world) + 1;
        if (gather(world) != FM_OK) {
            return; // no enemy is seen in this tick
        }
    }
}

void fm_unit_index_forget(fm_world *world)
{
    fm_world_edit_orders(world)->unit_index_tick = 0;
}

void fm_unit_index_fini(fm_unit_index *unit_index, const fm_memory *memory)
{
    size_t tile_count = (size_t)unit_index->columns * unit_index->rows;
    fm_memory_release(memory, unit_index->first, (tile_count + 1) * sizeof *unit_index->first);
    fm_memory_release(memory, unit_index->teams, tile_count * sizeof *unit_index->teams);
    fm_memory_release(memory, unit_index->slots,
                      unit_index->slot_capacity * sizeof *unit_index->slots);
    *unit_index = (fm_unit_index){0};
}

fm_unit_tiles fm_unit_index_tiles_around(const fm_unit_index *unit_index, fm_cell cell,
                                         uint32_t radius)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    fm_unit_tiles tiles = {
        .x_first = (x < radius ? 0 : x - radius) >> FM_UNIT_INDEX_TILE_SHIFT,
        .x_last = (x + radius) >> FM_UNIT_INDEX_TILE_SHIFT,
        .y_first = (y < radius ? 0 : y - radius) >> FM_UNIT_INDEX_TILE_SHIFT,
        .y_last = (y + radius) >> FM_UNIT_INDEX_TILE_SHIFT,
    };
    tiles.x_last = tiles.x_last < unit_index->columns ? tiles.x_last : unit_index->columns - 1;
    tiles.y_last = tiles.y_last < unit_index->rows ? tiles.y_last : unit_index->rows - 1;
    return tiles;
}

// Cells of one tile, so that a cell shared by many agents is examined once.
struct tile_marks {
    uint64_t bits[4];
};

_Static_assert(FM_UNIT_INDEX_TILE_SHIFT <= 4, "a tile has a bit for each cell");

// Returns whether the cell was marked before.
static bool mark(struct tile_marks *marks, fm_cell cell)
{
    uint32_t place = fm_unit_index_place_of(cell);
    uint64_t bit = (uint64_t)1 << place % 64, before = marks->bits[place / 64];
    marks->bits[place / 64] |= bit;
    return (before & bit) != 0;
}

static bool tile_sees(const fm_world *world, uint32_t tile, uint32_t team, fm_cell cell)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    const struct fm_agent *agents = fm_world_agents(world)->slots;
    const struct fm_world_map *map = fm_world_map(world);
    struct tile_marks marks = {{0}};
    for (uint32_t i = unit_index->first[tile]; i < unit_index->first[tile + 1]; i++) {
        const struct fm_agent *agent = &agents[unit_index->slots[i]];
        // Agents that see by the rules are alike; others may see farther from the same cell.
        if (agent->team == team && (agent->sight != 0 || !mark(&marks, agent->cell)) &&
            fm_line_of_sight_sees(fm_agent_sight(world, agent), &map->grid->blocked, agent->cell,
                                  cell)) {
            return true;
        }
    }
    return false;
}

bool fm_unit_index_sees(const fm_world *world, uint32_t team, fm_cell cell)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    if (unit_index->slots == NULL) {
        return false;
    }
    fm_unit_tiles tiles =
        fm_unit_index_tiles_around(unit_index, cell, fm_world_map(world)->sight_reach);
    for (uint32_t y = tiles.y_first; y <= tiles.y_last; y++) {
        for (uint32_t x = tiles.x_first; x <= tiles.x_last; x++) {
            if (tile_sees(world, y * unit_index->columns + x, team, cell)) {
                return true;
            }
        }
    }
    return false;
}

// ---- enemies ----------------------------------------------------------------------------------

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
    struct tile_marks marks = {{0}};
    for (uint32_t i = unit_index->first[tile]; i < unit_index->first[tile + 1]; i++) {
        const struct fm_agent *agent = &agents[unit_index->slots[i]];
        if (agent->team != team && !mark(&marks, agent->cell) &&
            fm_unit_index_sees(world, team, agent->cell) &&
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

// Inserts a cell into those found so far; the farthest one is dropped.
static uint32_t insert(fm_cell *cells, uint32_t count, uint32_t capacity, fm_cell cell,
                       const fm_view *view, fm_cell center)
{
    uint32_t distance = fm_view_distance(view, cell, center);
    uint32_t place = count;
    while (place > 0 && fm_view_distance(view, cells[place - 1], center) > distance) {
        place -= 1;
    }
    if (place == capacity) {
        return count;
    }
    count = count < capacity ? count + 1 : count;
    for (uint32_t i = count - 1; i > place; i--) {
        cells[i] = cells[i - 1];
    }
    cells[place] = cell;
    return count;
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

uint32_t fm_enemies_near(const fm_world *world, const fm_enemies *enemies, fm_cell cell,
                         uint32_t radius, fm_cell *cells, uint32_t capacity)
{
    const fm_unit_index *unit_index = &fm_world_orders(world)->unit_index;
    const fm_view *view = &fm_world_map(world)->truth;
    uint32_t count = 0;
    if (enemies->count == 0) {
        return 0;
    }
    fm_unit_tiles tiles = fm_unit_index_tiles_around(unit_index, cell, radius);
    for (uint32_t y = tiles.y_first; y <= tiles.y_last; y++) {
        uint32_t row = y * unit_index->columns;
        uint32_t end = enemy_from(unit_index, enemies, row + tiles.x_last + 1);
        for (uint32_t i = enemy_from(unit_index, enemies, row + tiles.x_first); i < end; i++) {
            fm_cell seen = enemies->cells[i];
            if (fm_view_distance(view, seen, cell) <= radius * view->step[0]) {
                count = insert(cells, count, capacity, seen, view, cell);
            }
        }
    }
    return count;
}
