// core/orders/scatter.c: see scatter.h.

#include "core/orders/scatter.h"

#include "core/orders/deal.h"
#include "core/orders/group.h"
#include "core/search/wave.h"
#include "core/world/agent.h"
#include "core/world/world_parts.h"

#include <string.h>

#define CELLS_EACH 9u // for a unit, when the command has no radius

// One command being worked on.
struct scatter {
    const fm_world *world;
    fm_group_ground ground;
    fm_cell middle;
    int64_t dx, dy; // from where the units stand to there; not both 0
    uint32_t count; // units
    uint32_t radius;
    uint32_t side; // cells of the square around the middle: 2 * radius + 1
    fm_wave wave;
    fm_cell *cells; // those within the radius, by steps
    uint32_t cell_count;
    uint8_t *near; // by cell of the square: it is too near to a place
};

// ---- the middle ---------------------------------------------------------------------------------

static void find_middle(fm_world *world, const fm_command *command, struct scatter *scatter)
{
    int64_t x = 0, y = 0, count = scatter->count;
    for (uint32_t i = 0; i < scatter->count; i++) {
        fm_cell cell = fm_world_find(world, command->agents[i])->cell;
        x += fm_cell_x(cell);
        y += fm_cell_y(cell);
    }
    bool is_named = command->cell_count == 1;
    fm_cell named =
        is_named ? command->cells[0] : fm_cell_at((uint32_t)(x / count), (uint32_t)(y / count));
    scatter->middle = named;
    if (!is_named || command->on_unreachable == FM_UNREACHABLE_NEAREST) {
        scatter->middle = fm_group_reachable(world, &scatter->ground, named);
    }
    if (!is_named && fm_view_is_blocked(scatter->ground.view, scatter->middle)) {
        scatter->middle = scatter->ground.from;
    }
    scatter->dx = (fm_cell_x(scatter->middle) * count - x) / count;
    scatter->dy = (fm_cell_y(scatter->middle) * count - y) / count;
    if (scatter->dx == 0 && scatter->dy == 0) {
        scatter->dy = -1;
    }
}

// By default each unit has CELLS_EACH cells; a circle has about three times the radius' square.
static uint32_t radius_of(const struct scatter *scatter, uint32_t wanted)
{
    uint64_t size = scatter->ground.spacing;
    int64_t radius = fm_square_root((int64_t)(CELLS_EACH * size * size * scatter->count / 3)) + 1;
    return wanted != 0 ? wanted : fm_min((uint32_t)radius, FM_ORDER_RADIUS_MAX);
}

// ---- cells --------------------------------------------------------------------------------------

static fm_status begin_wave(struct scatter *scatter)
{
    return fm_wave_begin(&scatter->wave, scatter->ground.view, scatter->middle,
                         fm_world_memory(scatter->world));
}

static bool is_free(const struct scatter *scatter, fm_cell cell)
{
    return !fm_view_is_blocked(scatter->ground.view, cell);
}

static fm_status find_cells(struct scatter *scatter)
{
    const fm_view *view = scatter->ground.view;
    fm_status status = begin_wave(scatter);
    while (status == FM_OK) {
        fm_cell cell = fm_wave_take(&scatter->wave);
        if (cell == FM_CELL_NONE) {
            return scatter->wave.exhausted ? FM_ERR_NO_MEMORY : FM_OK;
        }
        if (is_free(scatter, cell) &&
            fm_view_distance(view, scatter->middle, cell) <= scatter->radius * view->step[0]) {
            scatter->cells[scatter->cell_count++] = cell;
            fm_wave_spread(&scatter->wave, cell, fm_world_memory(scatter->world));
        }
    }
    return status;
}

// ---- places -------------------------------------------------------------------------------------

// A cell's place in the square around the middle.
static uint8_t *near_at(const struct scatter *scatter, int64_t x, int64_t y)
{
    int64_t column = x - fm_cell_x(scatter->middle) + scatter->radius;
    int64_t row = y - fm_cell_y(scatter->middle) + scatter->radius;
    bool inside = column >= 0 && row >= 0 && column < scatter->side && row < scatter->side;
    return inside ? &scatter->near[row * scatter->side + column] : NULL;
}

// Marks the cells that are too near to a place: by distance, and by the units' size.
static void mark_near(struct scatter *scatter, fm_cell cell, uint32_t square)
{
    int64_t size = scatter->ground.spacing, reach = fm_square_root(square);
    reach = reach < size - 1 ? size - 1 : reach;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        for (int64_t dx = -reach; dx <= reach; dx++) {
            bool overlaps = dx > -size && dx < size && dy > -size && dy < size;
            uint8_t *near = near_at(scatter, fm_cell_x(cell) + dx, fm_cell_y(cell) + dy);
            if (near != NULL && (overlaps || dx * dx + dy * dy < square)) {
                *near = 1;
            }
        }
    }
}

// Places whose distances have at least this square. They come first in `cells` of the scatter in
// the order in which they were found if `keep`.
static uint32_t pack(struct scatter *scatter, uint32_t square, bool keep)
{
    uint32_t count = 0;
    memset(scatter->near, 0, (size_t)scatter->side * scatter->side);
    for (uint32_t i = 0; i < scatter->cell_count && (keep || count < scatter->count); i++) {
        fm_cell cell = scatter->cells[i];
        if (*near_at(scatter, fm_cell_x(cell), fm_cell_y(cell)) == 0) {
            mark_near(scatter, cell, square);
            if (keep) {
                scatter->cells[count] = cell;
            }
            count += 1;
        }
    }
    return count;
}

// The largest square of a distance that gives each unit a place; 0: not even the smallest does.
static uint32_t find_distance(struct scatter *scatter)
{
    uint32_t low = 0, high = 4 * scatter->radius * scatter->radius + 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (pack(scatter, middle, false) >= scatter->count) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// There are more units than places within the radius: the cells nearest to the middle, as far as
// that goes.
static fm_status place_densely(struct scatter *scatter, fm_cell *goals)
{
    const fm_memory *memory = fm_world_memory(scatter->world);
    const fm_grid *grid = fm_world_grid(scatter->world);
    int64_t reach = scatter->ground.spacing - 1;
    fm_bitmap taken;
    fm_status status = fm_bitmap_init(&taken, grid->width, grid->height, true, memory);
    if (status != FM_OK) {
        return status;
    }
    status = begin_wave(scatter);
    uint32_t count = 0;
    while (status == FM_OK && count < scatter->count) {
        fm_cell cell = fm_wave_take(&scatter->wave);
        if (cell == FM_CELL_NONE) {
            break;
        }
        fm_wave_spread(&scatter->wave, cell, memory);
        if (!is_free(scatter, cell) || fm_bitmap_get(&taken, cell)) {
            continue;
        }
        goals[count++] = cell;
        for (int64_t y = fm_cell_y(cell) - reach; y <= fm_cell_y(cell) + reach; y++) {
            for (int64_t x = fm_cell_x(cell) - reach; x <= fm_cell_x(cell) + reach; x++) {
                if (fm_grid_contains(grid, x, y)) {
                    fm_bitmap_set(&taken, fm_cell_at((uint32_t)x, (uint32_t)y));
                }
            }
        }
    }
    while (count < scatter->count) {
        goals[count++] = scatter->middle;
    }
    fm_bitmap_fini(&taken, memory);
    return status == FM_OK && scatter->wave.exhausted ? FM_ERR_NO_MEMORY : status;
}

// Of more places than units every so many-th counts, so that all rings have their share.
static fm_status place(struct scatter *scatter, fm_cell *goals)
{
    fm_status status = find_cells(scatter);
    uint32_t square = status == FM_OK ? find_distance(scatter) : 0;
    if (status != FM_OK || square == 0) {
        return status == FM_OK ? place_densely(scatter, goals) : status;
    }
    uint64_t found = pack(scatter, square, true);
    for (uint32_t i = 0; i < scatter->count; i++) {
        goals[i] = scatter->cells[i * found / scatter->count];
    }
    return FM_OK;
}

// ---- the command --------------------------------------------------------------------------------

fm_status fm_scatter_place(fm_world *world, const fm_command *command, fm_cell *goals,
                           uint32_t *failed_index)
{
    struct scatter scatter = {.world = world, .count = command->agent_count};
    fm_status status = fm_group_survey(world, command, &scatter.ground, failed_index);
    if (status != FM_OK) {
        return status;
    }
    const fm_memory *memory = fm_world_memory(world);
    find_middle(world, command, &scatter);
    scatter.radius = radius_of(&scatter, command->radius);
    scatter.side = 2 * scatter.radius + 1;
    size_t square = (size_t)scatter.side * scatter.side;
    scatter.cells = fm_memory_allocate(memory, square * sizeof *scatter.cells);
    scatter.near = fm_memory_allocate(memory, square);
    status =
        scatter.cells == NULL || scatter.near == NULL ? FM_ERR_NO_MEMORY : place(&scatter, goals);
    if (status == FM_OK) {
        status = fm_deal_goals(world, command, scatter.dx, scatter.dy, goals);
    }
    fm_wave_fini(&scatter.wave, memory);
    fm_memory_release(memory, scatter.cells, square * sizeof *scatter.cells);
    fm_memory_release(memory, scatter.near, square);
    return status;
}
