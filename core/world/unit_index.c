// core/world/unit_index.c: see unit_index.h.

#include "core/world/unit_index.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

#define FEW 32u // enemies that are gone through sooner than the tiles around are

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

fm_tile_walk fm_tile_walk_begin(const fm_unit_index *unit_index, const fm_view *view, fm_cell cell,
                                uint32_t radius)
{
    return (fm_tile_walk){.view = view,
                          .from = cell,
                          .tiles = fm_unit_index_tiles_around(unit_index, cell, radius),
                          .columns = unit_index->columns,
                          .x = -1,
                          .is_ring_near = true};
}

// Goes to the next tile of the ring, or to the first one of the next ring.
static void step(fm_tile_walk *walk)
{
    bool is_edge_row = walk->y == -walk->ring || walk->y == walk->ring;
    walk->x += is_edge_row || walk->ring == 0 ? 1 : 2 * walk->ring;
    if (walk->x > walk->ring) {
        walk->x = -walk->ring;
        walk->y += 1;
    }
}

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

// How far away the nearest cell of a tile is.
static uint32_t distance_to_tile(const fm_tile_walk *walk, uint32_t x, uint32_t y)
{
    uint32_t last = (1u << FM_UNIT_INDEX_TILE_SHIFT) - 1;
    uint32_t west = x << FM_UNIT_INDEX_TILE_SHIFT, north = y << FM_UNIT_INDEX_TILE_SHIFT;
    fm_cell nearest = fm_cell_at(clamp(fm_cell_x(walk->from), west, west + last),
                                 clamp(fm_cell_y(walk->from), north, north + last));
    return fm_view_distance(walk->view, nearest, walk->from);
}

// Where no tile of a ring is near enough, none of the next one is.
bool fm_tile_walk_next(fm_tile_walk *walk, uint32_t distance, uint32_t *tile)
{
    const fm_unit_tiles *tiles = &walk->tiles;
    int64_t center_x = fm_cell_x(walk->from) >> FM_UNIT_INDEX_TILE_SHIFT;
    int64_t center_y = fm_cell_y(walk->from) >> FM_UNIT_INDEX_TILE_SHIFT;
    for (;;) {
        step(walk);
        if (walk->y > walk->ring) {
            if (!walk->is_ring_near) {
                return false;
            }
            walk->is_ring_near = false;
            walk->ring += 1;
            walk->x = walk->y = -walk->ring;
        }
        int64_t x = center_x + walk->x, y = center_y + walk->y;
        if (x >= tiles->x_first && x <= tiles->x_last && y >= tiles->y_first &&
            y <= tiles->y_last && distance_to_tile(walk, (uint32_t)x, (uint32_t)y) <= distance) {
            walk->is_ring_near = true;
            *tile = (uint32_t)y * walk->columns + (uint32_t)x;
            return true;
        }
    }
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
