// core/fields/tile_offers.c: see tile_offers.h.

#include "core/fields/tile_offers.h"

#include "core/fields/tile_rim.h"

const uint32_t fm_tile_no_costs[FM_TILE_SIDE] = {
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE, FM_COST_INFINITE,
    FM_COST_INFINITE, FM_COST_INFINITE};

void fm_tile_border_clear(fm_tile_border *border)
{
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        memcpy((*border)[side], fm_tile_no_costs, sizeof fm_tile_no_costs);
    }
}

static fm_cell corner_cell(const fm_tile_field *field, uint32_t number, uint32_t direction)
{
    uint32_t last = FM_TILE_SIDE - 1;
    return fm_tile_corner(field->map, number) +
           fm_cell_at(fm_direction_dx[direction] > 0 ? last : 0,
                      fm_direction_dy[direction] > 0 ? last : 0);
}

// The place of a corner in a border.
static uint32_t *corner_of(fm_tile_border *border, uint32_t direction)
{
    uint32_t side = fm_direction_dy[direction] > 0 ? FM_SIDE_SOUTH : FM_SIDE_NORTH;
    return &(*border)[side][fm_direction_dx[direction] > 0 ? FM_TILE_SIDE - 1 : 0];
}

// Its cost in a computed tile.
static uint32_t corner_cost(const fm_tile *tile, uint32_t direction)
{
    uint32_t side = fm_direction_dy[direction] > 0 ? FM_SIDE_SOUTH : FM_SIDE_NORTH;
    return fm_tile_rim_cost(tile, side, fm_direction_dx[direction] > 0 ? FM_TILE_SIDE - 1 : 0);
}

fm_cell fm_tile_side_cell(const fm_tile_field *field, uint32_t number, uint32_t side, uint32_t i)
{
    uint32_t last = FM_TILE_SIDE - 1;
    bool is_vertical = side % 2 == 1;
    uint32_t x = is_vertical ? (side == FM_SIDE_EAST ? last : 0) : i;
    uint32_t y = is_vertical ? i : (side == FM_SIDE_SOUTH ? last : 0);
    return fm_tile_corner(field->map, number) + fm_cell_at(x, y);
}

// cross() for weights, cell by cell.
static void cross_weighted(const fm_tile_field *field, const uint32_t *from, uint32_t number,
                           uint32_t side, uint32_t offers[FM_TILE_SIDE])
{
    const fm_view *view = field->view;
    const uint32_t free = field->map->tiles[number].sides[side];
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        offers[i] = FM_COST_INFINITE;
        if ((free >> i & 1) == 0) {
            continue;
        }
        fm_cell cell = fm_tile_side_cell(field, number, side, i);
        uint32_t moves = fm_view_moves(view, cell);
        for (int32_t turn = -1; turn <= 1; turn++) {
            uint32_t d = (2 * side + (uint32_t)turn) % FM_DIRECTION_COUNT;
            int32_t along = side % 2 == 1 ? fm_direction_dy[d] : fm_direction_dx[d];
            uint32_t j = i + (uint32_t)along;
            if ((moves >> d & 1) != 0 && j < FM_TILE_SIDE) {
                uint32_t cost = from[j] + fm_view_cost(view, cell, d, fm_cell_step(cell, d));
                offers[i] = fm_min(offers[i], cost);
            }
        }
    }
}

// What a computed tile offers to the one beside it; `side` is that one's.
static void cross(const fm_tile_field *field, const fm_tile *from, uint32_t number, uint32_t side,
                  uint32_t offers[FM_TILE_SIDE])
{
    uint32_t out = side ^ 2, costs[FM_TILE_SIDE];
    fm_tile_rim_read_side(from, out, costs);
    if (field->view->weights != NULL) {
        cross_weighted(field, costs, number, side, offers);
        return;
    }
    fm_tile_passage passage =
        fm_tile_passage_between(field->map->tiles[from->number].sides[out],
                                field->map->tiles[number].sides[side], field->view->connectivity);
    field->kernel->cross(costs, &passage, &field->estimate.steps, offers);
}

// What a computed tile offers past its corner; `direction` is where it lies, from the other one.
static uint32_t cross_corner(const fm_tile_field *field, const fm_tile *from, uint32_t number,
                             uint32_t direction)
{
    uint32_t cost = corner_cost(from, direction ^ 4);
    fm_cell cell = corner_cell(field, number, direction);
    if (cost >= FM_COST_INFINITE || (fm_view_moves(field->view, cell) >> direction & 1) == 0) {
        return FM_COST_INFINITE;
    }
    return cost + fm_view_cost(field->view, cell, direction, fm_cell_step(cell, direction));
}

static uint32_t estimate_of(const fm_tile_field *field, int32_t left, int32_t top, int32_t right,
                            int32_t bottom)
{
    const fm_box *box = &field->estimate.box;
    // The distance of a cell to a box that is enlarged by the size of the rectangle.
    fm_box larger = {box->left - (right - left), box->top - (bottom - top), box->right,
                     box->bottom};
    int32_t dx = fm_box_larger(0, fm_box_larger(larger.left - left, left - larger.right));
    int32_t dy = fm_box_larger(0, fm_box_larger(larger.top - top, top - larger.bottom));
    const fm_tile_steps *steps = &field->estimate.steps;
    int32_t low = dx < dy ? dx : dy, high = dx < dy ? dy : dx;
    uint32_t h = steps->connectivity == FM_CONNECT_4
                     ? steps->straight * (uint32_t)(dx + dy)
                     : steps->straight * (uint32_t)(high - low) + steps->diagonal * (uint32_t)low;
    return (uint32_t)((uint64_t)h * field->estimate.weight_1024 >> 10);
}

static uint32_t estimate_of_cell(const fm_tile_field *field, fm_cell cell)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    return estimate_of(field, x, y, x, y);
}

uint32_t fm_tile_estimate_of(const fm_tile_field *field, uint32_t number)
{
    fm_cell corner = fm_tile_corner(field->map, number);
    int32_t x = (int32_t)fm_cell_x(corner), y = (int32_t)fm_cell_y(corner);
    int32_t last = (int32_t)FM_TILE_SIDE - 1;
    return estimate_of(field, x, y, x + last, y + last);
}

// The least key by what a neighbour offers to a side.
static uint32_t side_key(const fm_tile_field *field, const fm_tile *from, uint32_t number,
                         const fm_tile *into, uint32_t side)
{
    uint32_t offers[FM_TILE_SIDE];
    cross(field, from, number, side, offers);
    fm_cell first = fm_tile_side_cell(field, number, side, 0);
    fm_tile_row row = {(int32_t)fm_cell_x(first), (int32_t)fm_cell_y(first), side % 2 == 1};
    uint32_t known[FM_TILE_SIDE];
    bool is_known = into != NULL && into->is_computed;
    if (is_known) {
        fm_tile_rim_read_side(into, side, known);
    }
    return field->kernel->least_key(offers, is_known ? known : fm_tile_no_costs, &row,
                                    &field->estimate);
}

// The same to a corner.
static uint32_t corner_key(const fm_tile_field *field, const fm_tile *from, uint32_t number,
                           const fm_tile *into, uint32_t direction)
{
    uint32_t offer = cross_corner(field, from, number, direction);
    uint32_t known =
        into != NULL && into->is_computed ? corner_cost(into, direction) : FM_COST_INFINITE;
    fm_cell cell = corner_cell(field, number, direction);
    return offer < known ? offer + estimate_of_cell(field, cell) : FM_COST_INFINITE;
}

uint32_t fm_tile_key_from(const fm_tile_field *field, const fm_tile *from, uint32_t number,
                          const fm_tile *into, uint32_t direction)
{
    return direction % 2 == 0 ? side_key(field, from, number, into, direction / 2)
                              : corner_key(field, from, number, into, direction);
}

bool fm_tile_has_goal(const fm_tile_field *field, uint32_t number)
{
    return number == fm_tile_of(field->map, field->goal) &&
           !fm_view_is_blocked(field->view, field->goal);
}

fm_tile *fm_tile_neighbour(const fm_tile_field *field, uint32_t number, uint32_t direction)
{
    return fm_tile_find(field, fm_tile_beside(field->map, number, direction));
}

uint32_t fm_tile_direction_stride(const fm_tile_field *field)
{
    return field->view->connectivity == FM_CONNECT_4 ? 2 : 1;
}

uint32_t fm_tile_offered_key(const fm_tile_field *field, const fm_tile *tile)
{
    if (!tile->is_computed && fm_tile_has_goal(field, tile->number)) {
        return estimate_of_cell(field, field->goal);
    }
    uint32_t key = FM_COST_INFINITE;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += fm_tile_direction_stride(field)) {
        const fm_tile *from = fm_tile_neighbour(field, tile->number, d);
        if (from != NULL && from->is_computed) {
            key = fm_min(key, fm_tile_key_from(field, from, tile->number, tile, d));
        }
    }
    return key;
}

// What the neighbours offer to a tile.
void fm_tile_gather(const fm_tile_field *field, uint32_t number, fm_tile_border *seeds)
{
    fm_tile_border_clear(seeds);
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
        const fm_tile *from = fm_tile_neighbour(field, number, d);
        if (from != NULL && from->is_computed) {
            cross(field, from, number, d / 2, (*seeds)[d / 2]);
        }
    }
    for (uint32_t d = 1; d < FM_DIRECTION_COUNT && fm_tile_direction_stride(field) == 1; d += 2) {
        const fm_tile *from = fm_tile_neighbour(field, number, d);
        if (from != NULL && from->is_computed) {
            uint32_t *corner = corner_of(seeds, d);
            *corner = fm_min(*corner, cross_corner(field, from, number, d));
        }
    }
}
