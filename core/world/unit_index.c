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
