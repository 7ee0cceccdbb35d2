// core/fields/tile_field.c: see tile_field.h.

#include "core/fields/tile_field.h"

#include "core/fields/tile_offers.h"
#include "core/fields/tile_rim.h"
#include "core/fields/tile_records.h"

#define KM_MAX ((uint32_t)1 << 28) // beyond it keys would outgrow 32 bits

// ---- records ------------------------------------------------------------------------------------

static size_t body_size(bool is_wide)
{
    return offsetof(fm_tile_body, narrow) +
           FM_TILE_CELLS * (is_wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

void fm_tile_drop_body(fm_tile_field *field, fm_tile *tile, fm_slab *slab)
{
    if (tile->body != NULL) {
        field->wide_count -= tile->body->is_wide;
        field->narrow_count -= !tile->body->is_wide;
        fm_slab_give(slab, tile->body, body_size(tile->body->is_wide));
        tile->body = NULL;
    }
}

static void keep_body(fm_tile_field *field, fm_tile *tile, const fm_tile_body *body, fm_slab *slab)
{
    size_t size = body_size(body->is_wide);
    if (tile->body != NULL && tile->body->is_wide != body->is_wide) {
        fm_tile_drop_body(field, tile, slab);
    }
    if (tile->body == NULL) {
        tile->body = fm_slab_take(slab, size);
        if (tile->body == NULL) {
            field->is_exhausted = true;
            return;
        }
        field->wide_count += body->is_wide;
        field->narrow_count += !body->is_wide;
    }
    memcpy(tile->body, body, size);
}

// Resets the tile as if it had never been computed.
static void forget(fm_tile_field *field, fm_tile *tile, fm_slab *slab)
{
    fm_tile_drop_body(field, tile, slab);
    fm_tile_rim_drop(field, tile, slab);
    tile->is_computed = tile->is_cut = tile->is_used = tile->is_seat = false;
    tile->low = FM_COST_INFINITE;
    tile->high = 0;
}

// ---- the queue ----------------------------------------------------------------------------------

static uint32_t *heap_place(const void *context, uint32_t ref)
{
    const fm_tile_field *field = context;
    return &field->tiles[ref]->place;
}

// Ties are broken by number.
static uint64_t heap_key(const fm_tile *tile, uint32_t key)
{
    return (uint64_t)key << 16 | tile->number;
}

static void set_key(fm_tile_field *field, fm_tile *tile, uint32_t key, uint32_t key_km)
{
    tile->key_km = key_km;
    field->is_exhausted |=
        !fm_heap_set(&field->queue, heap_key(tile, key), tile->index, heap_place, field);
}

static void dequeue(fm_tile_field *field, fm_tile *tile)
{
    fm_heap_remove(&field->queue, tile->index, heap_place, field);
}

// Queues a tile, or lowers its key.
static void queue(fm_tile_field *field, fm_tile *tile, uint32_t least, uint32_t key_km)
{
    uint32_t key = least + field->km;
    if (tile->place == 0 || heap_key(tile, key) < field->queue.entries[tile->place - 1].key) {
        set_key(field, tile, key, key_km);
    }
}

uint32_t fm_tile_field_least(const fm_tile_field *field)
{
    if (field->queue.count == 0) {
        return FM_COST_INFINITE;
    }
    uint32_t key = (uint32_t)(field->queue.entries[0].key >> 16);
    return key > field->km ? key - field->km : 0;
}

// ---- offers -------------------------------------------------------------------------------------

// Queues the neighbours to which a tile offers something better than they have.
static void offer(fm_tile_field *field, const fm_tile *from, fm_slab *slab)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += fm_tile_direction_stride(field)) {
        uint32_t number = fm_tile_beside(field->map, from->number, d);
        if (number == FM_TILE_NONE) {
            continue;
        }
        fm_tile *into = fm_tile_find(field, number);
        uint32_t key = fm_tile_key_from(field, from, number, into, d ^ 4);
        if (key < FM_COST_INFINITE &&
            (into != NULL || (into = fm_tile_get(field, number, slab)) != NULL)) {
            queue(field, into, key, field->km);
        }
    }
}

// What the neighbours offer is not what it was.
static void doubt_around(fm_tile_field *field, const fm_tile *tile)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += fm_tile_direction_stride(field)) {
        fm_tile *other = fm_tile_neighbour(field, tile->number, d);
        if (other != NULL) {
            other->key_km = FM_TILE_INEXACT;
        }
    }
}

// ---- one tile -----------------------------------------------------------------------------------

static void lower_border(fm_tile_border *border, const fm_tile_border *other)
{
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            (*border)[side][i] = fm_min((*border)[side][i], (*other)[side][i]);
        }
    }
}

// The range of the finite costs; low is FM_COST_INFINITE when there are none.
static void find_range(const fm_tile_border *border, uint32_t *low, uint32_t *high)
{
    uint32_t least = FM_COST_INFINITE, most = 0;
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            uint32_t cost = (*border)[side][i];
            least = fm_min(least, cost);
            most = cost < FM_COST_INFINITE && cost > most ? cost : most;
        }
    }
    *low = least;
    *high = most;
}

static void read_weights(const fm_tile_field *field, uint32_t number,
                         uint8_t weights[FM_TILE_SIDE][FM_TILE_SIDE])
{
    const fm_view *view = field->view;
    fm_cell corner = fm_tile_corner(field->map, number);
    uint32_t x = fm_cell_x(corner), y = fm_cell_y(corner);
    uint32_t width = fm_min(FM_TILE_SIDE, view->width - x);
    uint32_t height = fm_min(FM_TILE_SIDE, view->height - y);
    memset(weights, 1, FM_TILE_CELLS);
    for (uint32_t i = 0; i < height; i++) {
        memcpy(weights[i], view->weights + (size_t)(y + i) * view->width + x, width);
    }
}

static void put_narrow(fm_tile_body *body, const fm_tile_border *seeds)
{
    memset(body->narrow, 0xff, sizeof body->narrow);
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        bool is_vertical = side % 2 == 1;
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            uint32_t last = FM_TILE_SIDE - 1, cost = (*seeds)[side][i];
            uint16_t value =
                (uint16_t)(cost < FM_COST_INFINITE ? cost - body->base : FM_TILE_NOWHERE);
            uint16_t *place = is_vertical ? &body->narrow[i][side == FM_SIDE_EAST ? last : 0]
                                          : &body->narrow[side == FM_SIDE_SOUTH ? last : 0][i];
            *place = value < *place ? value : *place;
        }
    }
}

static void put_wide(fm_tile_body *body, const fm_tile_border *seeds)
{
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        memcpy(body->wide[y], fm_tile_no_costs, sizeof fm_tile_no_costs);
    }
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        bool is_vertical = side % 2 == 1;
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            uint32_t last = FM_TILE_SIDE - 1;
            uint32_t *place = is_vertical ? &body->wide[i][side == FM_SIDE_EAST ? last : 0]
                                          : &body->wide[side == FM_SIDE_SOUTH ? last : 0][i];
            *place = fm_min(*place, (*seeds)[side][i]);
        }
    }
}

// All distances of a tile from those of border cells, and from the goal if it lies there. False
// when there are none.
static bool solve(const fm_tile_field *field, uint32_t number, const fm_tile_border *seeds,
                  fm_tile_body *body)
{
    uint32_t low, high, free[FM_TILE_SIDE];
    uint32_t goal_x = fm_cell_x(field->goal) % FM_TILE_SIDE;
    uint32_t goal_y = fm_cell_y(field->goal) % FM_TILE_SIDE;
    bool is_goal = fm_tile_has_goal(field, number);
    const fm_tile_steps *steps = &field->estimate.steps;
    find_range(seeds, &low, &high);
    low = is_goal ? 0 : low;
    if (low >= FM_COST_INFINITE) {
        return false;
    }
    fm_tile_map_read(field->map, field->view, number, free);
    body->base = low;
    body->is_wide =
        field->view->weights != NULL || high - low + fm_tile_way_max(steps) >= FM_TILE_NOWHERE;
    memset(body->walked, 0, sizeof body->walked);
    if (!body->is_wide) {
        put_narrow(body, seeds);
        if (is_goal) {
            body->narrow[goal_y][goal_x] = 0;
        }
        field->kernel->sweep(free, steps, body->narrow);
        return true;
    }
    uint8_t weights[FM_TILE_SIDE][FM_TILE_SIDE];
    bool is_weighted = field->view->weights != NULL;
    if (is_weighted) {
        read_weights(field, number, weights);
    }
    put_wide(body, seeds);
    if (is_goal) {
        body->wide[goal_y][goal_x] = 0;
    }
    fm_tile_sweep_wide(free, is_weighted ? (const uint8_t(*)[FM_TILE_SIDE])weights : NULL, steps,
                       body->wide);
    return true;
}

static uint32_t highest(const fm_tile_body *body)
{
    uint32_t most = 0;
    if (!body->is_wide) {
        // One more than each value, nowhere as 0, in an order that every vector unit can compare.
        int16_t top = INT16_MIN;
        const uint16_t *values = body->narrow[0];
        for (uint32_t i = 0; i < FM_TILE_CELLS; i++) {
            int16_t value = (int16_t)(values[i] + 0x8001);
            top = value > top ? value : top;
        }
        return body->base + (uint32_t)(top - INT16_MIN - 1);
    }
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        for (uint32_t x = 0; x < FM_TILE_SIDE; x++) {
            uint32_t cost = body->wide[y][x];
            most = cost < FM_COST_INFINITE && cost > most ? cost : most;
        }
    }
    return most;
}

// The tile gets the distances that follow from the seeds; without any it is no longer computed.
static void settle(fm_tile_field *field, fm_tile *tile, const fm_tile_border *seeds, bool with_body,
                   fm_slab *slab)
{
    fm_tile_body body;
    bool any = solve(field, tile->number, seeds, &body);
    bool is_kept = any && fm_tile_rim_keep(field, tile, &body, slab);
    field->is_exhausted |= any && !is_kept;
    if (!is_kept) {
        forget(field, tile, slab);
        return;
    }
    tile->high = highest(&body);
    tile->version = field->map->tiles[tile->number].version;
    tile->is_computed = true;
    tile->is_cut = false;
    if (with_body || tile->body != NULL) {
        keep_body(field, tile, &body, slab);
    }
}

void fm_tile_compute(fm_tile_field *field, fm_tile *tile, bool with_body, fm_slab *slab)
{
    fm_tile_border seeds;
    FM_ASSERT(!tile->is_computed || !fm_tile_is_stale(field, tile));
    fm_tile_gather(field, tile->number, &seeds);
    if (tile->is_computed) {
        fm_tile_border own;
        fm_tile_rim_read(tile, &own);
        lower_border(&seeds, &own);
    }
    settle(field, tile, &seeds, with_body, slab);
    if (tile->is_computed) {
        offer(field, tile, slab);
    }
}

// A cell next to the tile may have its distance by a diagonal step past a border cell that is
// blocked now. What that cell had is less, and has been raised; but not where it had been dropped.
// Returns the smallest distance that such a step may have led to.
static uint32_t raised_past_dropped(const fm_tile_field *field, uint32_t number,
                                    const fm_tile_border *before)
{
    uint32_t raised = FM_COST_INFINITE;
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        const uint32_t *costs = (*before)[side];
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            fm_cell cell = fm_tile_side_cell(field, number, side, i);
            if (costs[i] < FM_COST_INFINITE || fm_cell_x(cell) >= field->view->width ||
                fm_cell_y(cell) >= field->view->height || !fm_view_is_blocked(field->view, cell)) {
                continue;
            }
            raised = fm_min(raised, i > 0 ? costs[i - 1] : FM_COST_INFINITE);
            raised = fm_min(raised, i + 1 < FM_TILE_SIDE ? costs[i + 1] : FM_COST_INFINITE);
        }
    }
    return raised;
}

uint32_t fm_tile_refresh(fm_tile_field *field, fm_tile *tile, bool with_body, fm_slab *slab)
{
    fm_tile_border seeds, before, after;
    bool was_cut = tile->is_cut;
    fm_tile_rim_read(tile, &before);
    fm_tile_gather(field, tile->number, &seeds);
    settle(field, tile, &seeds, with_body, slab);
    dequeue(field, tile);
    uint32_t raised =
        was_cut ? raised_past_dropped(field, tile->number, &before) : FM_COST_INFINITE;
    fm_tile_border_clear(&after);
    if (tile->is_computed) {
        fm_tile_rim_read(tile, &after);
        offer(field, tile, slab);
    }
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            uint32_t cost = before[side][i];
            raised = fm_min(raised, after[side][i] > cost ? cost : FM_COST_INFINITE);
        }
    }
    if (raised < FM_COST_INFINITE) {
        doubt_around(field, tile);
    }
    return raised;
}

// From what is kept of a computed tile. False: nothing is.
static bool make_body(const fm_tile_field *field, const fm_tile *tile, fm_tile_body *body)
{
    fm_tile_border seeds;
    fm_tile_rim_read(tile, &seeds);
    return solve(field, tile->number, &seeds, body);
}

void fm_tile_make_body(fm_tile_field *field, fm_tile *tile, fm_slab *slab)
{
    fm_tile_body body;
    if (tile->body == NULL && make_body(field, tile, &body)) {
        keep_body(field, tile, &body, slab);
    }
}

void fm_tile_read(const fm_tile_field *field, const fm_tile *tile,
                  uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE])
{
    fm_tile_body made;
    const fm_tile_body *body = tile->body;
    if (body == NULL) {
        body = make_body(field, tile, &made) ? &made : NULL;
    }
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        for (uint32_t x = 0; x < FM_TILE_SIDE; x++) {
            distances[y][x] = body == NULL ? FM_COST_INFINITE : fm_tile_body_cost(body, x, y);
        }
    }
}

// ---- all tiles ----------------------------------------------------------------------------------

static void cut(fm_tile *tile, uint32_t limit)
{
    fm_tile_rim_cut(tile, limit);
    tile->high = limit;
    tile->is_cut = true;
    tile->is_used = tile->is_seat = false;
}

static bool has_computed_neighbour(const fm_tile_field *field, const fm_tile *tile)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += fm_tile_direction_stride(field)) {
        const fm_tile *other = fm_tile_neighbour(field, tile->number, d);
        if (other != NULL && other->is_computed) {
            return true;
        }
    }
    return false;
}

// All that is dropped, or found instead, is above the limit.
static void queue_above(fm_tile_field *field, fm_tile *tile, uint32_t limit)
{
    queue(field, tile, limit + fm_tile_estimate_of(field, tile->number), FM_TILE_INEXACT);
}

void fm_tile_reset(fm_tile_field *field, uint32_t limit, fm_slab *slab)
{
    for (uint32_t i = 0; i < field->count; i++) {
        fm_tile *tile = field->tiles[i];
        if (!tile->is_computed || tile->high <= limit) {
            continue;
        }
        doubt_around(field, tile);
        fm_tile_drop_body(field, tile, slab);
        if (tile->low > limit) {
            forget(field, tile, slab);
        } else {
            cut(tile, limit);
            queue_above(field, tile, limit);
        }
    }
    for (uint32_t i = 0; i < field->count; i++) {
        fm_tile *tile = field->tiles[i];
        if (!tile->is_computed && tile->place == 0 && has_computed_neighbour(field, tile)) {
            queue_above(field, tile, limit);
        }
    }
}

fm_tile *fm_tile_field_take(fm_tile_field *field)
{
    fm_tile *tile = field->tiles[field->queue.entries[0].ref];
    if (!tile->is_cut && tile->key_km != field->km) {
        uint32_t key = fm_tile_offered_key(field, tile);
        if (key < FM_COST_INFINITE) {
            set_key(field, tile, key + field->km, field->km);
        } else {
            dequeue(field, tile);
        }
        return NULL;
    }
    dequeue(field, tile);
    return tile;
}

// Keys must not outgrow their bits: shifts all so that the smallest starts at 0 again.
static void restart_keys(fm_tile_field *field)
{
    field->km = 0;
    for (uint32_t i = 0; i < field->count; i++) {
        if (field->tiles[i]->place != 0) {
            set_key(field, field->tiles[i], 0, FM_TILE_INEXACT);
        }
    }
}

void fm_tile_field_aim(fm_tile_field *field, fm_box box, fm_slab *slab)
{
    if (field->queue.count == 0) {
        field->km = 0;
    } else if (!fm_box_equals(&field->estimate.box, &box)) {
        uint32_t shift = fm_box_shift(field->view, &field->estimate.box, &box);
        field->km += (uint32_t)(((uint64_t)shift * field->estimate.weight_1024 + 1023) >> 10);
        if (field->km > KM_MAX) {
            restart_keys(field);
        }
    }
    field->estimate.box = box;
    uint32_t number = fm_tile_of(field->map, field->goal);
    fm_tile *tile = fm_tile_has_goal(field, number) ? fm_tile_get(field, number, slab) : NULL;
    if (tile != NULL && !tile->is_computed) {
        queue(field, tile, fm_tile_offered_key(field, tile), field->km);
    }
}

// ---- answers ------------------------------------------------------------------------------------

uint32_t fm_tile_field_cost(const fm_tile_field *field, fm_cell cell)
{
    const fm_tile *tile = fm_tile_at(field, cell);
    uint32_t x = fm_cell_x(cell) % FM_TILE_SIDE, y = fm_cell_y(cell) % FM_TILE_SIDE;
    if (tile == NULL || !tile->is_computed) {
        return FM_COST_INFINITE;
    }
    if (tile->body != NULL) {
        return fm_tile_body_cost(tile->body, x, y);
    }
    if (y == 0 || y == FM_TILE_SIDE - 1) {
        return fm_tile_rim_cost(tile, y == 0 ? FM_SIDE_NORTH : FM_SIDE_SOUTH, x);
    }
    if (x == 0 || x == FM_TILE_SIDE - 1) {
        return fm_tile_rim_cost(tile, x == 0 ? FM_SIDE_WEST : FM_SIDE_EAST, y);
    }
    return FM_COST_INFINITE;
}

// The cost of a neighbour of a cell whose tile has this body.
static uint32_t cost_beside(const fm_tile_field *field, const fm_tile_body *body, fm_cell cell,
                            fm_cell next)
{
    uint32_t x = fm_cell_x(next), y = fm_cell_y(next);
    bool same = x / FM_TILE_SIDE == fm_cell_x(cell) / FM_TILE_SIDE &&
                y / FM_TILE_SIDE == fm_cell_y(cell) / FM_TILE_SIDE;
    return same ? fm_tile_body_cost(body, x % FM_TILE_SIDE, y % FM_TILE_SIDE)
                : fm_tile_field_cost(field, next);
}

// From a cell to its neighbours, row by row, where all lie in one tile.
static const int32_t offsets[FM_DIRECTION_COUNT] = {-32, -31, 1, 33, 32, 31, -1, -33};
_Static_assert(FM_TILE_SIDE == 32, "offsets");

static bool is_inside(fm_cell cell)
{
    return (fm_cell_x(cell) + 1) % FM_TILE_SIDE > 1 && (fm_cell_y(cell) + 1) % FM_TILE_SIDE > 1;
}

void fm_tile_field_costs(const fm_tile_field *field, fm_cell cell, uint32_t moves,
                         uint32_t costs[FM_DIRECTION_COUNT + 1])
{
    const fm_tile *tile = fm_tile_at(field, cell);
    const fm_tile_body *body = tile != NULL && tile->is_computed ? tile->body : NULL;
    if (body != NULL && !body->is_wide && is_inside(cell)) {
        const uint16_t *own =
            &body->narrow[fm_cell_y(cell) % FM_TILE_SIDE][fm_cell_x(cell) % FM_TILE_SIDE];
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            uint32_t value = own[offsets[d]];
            costs[d] = value == FM_TILE_NOWHERE ? FM_COST_INFINITE : body->base + value;
        }
        costs[FM_DIRECTION_COUNT] = *own == FM_TILE_NOWHERE ? FM_COST_INFINITE : body->base + *own;
        return;
    }
    costs[FM_DIRECTION_COUNT] = fm_tile_field_cost(field, cell);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(cell, d);
        costs[d] =
            body != NULL ? cost_beside(field, body, cell, next) : fm_tile_field_cost(field, next);
    }
}

static uint32_t square_to_goal(const fm_tile_field *field, fm_cell cell)
{
    uint32_t dx = fm_cell_dx(cell, field->goal), dy = fm_cell_dy(cell, field->goal);
    return dx * dx + dy * dy;
}

// For cells with all neighbours in their own tile, without weights, as most are. Which neighbours
// are legal and nearer can hardly be predicted, so there is no branch: a step is one number, its
// cost, then the square of its distance to the goal less that of the cell, then its direction.
static fm_cell step_inside(const fm_tile_field *field, const fm_tile_body *body, fm_cell cell)
{
    const uint16_t *own =
        &body->narrow[fm_cell_y(cell) % FM_TILE_SIDE][fm_cell_x(cell) % FM_TILE_SIDE];
    int32_t x = (int32_t)fm_cell_x(field->goal) - (int32_t)fm_cell_x(cell);
    int32_t y = (int32_t)fm_cell_y(field->goal) - (int32_t)fm_cell_y(cell);
    uint32_t moves = fm_view_moves(field->view, cell), limit = *own;
    uint64_t best = UINT64_MAX;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        int32_t dx = fm_direction_dx[d], dy = fm_direction_dy[d];
        int32_t nearer = 2 * (dx * x + dy * y) - dx * dx - dy * dy; // within +-4 * FM_SIDE_MAX
        uint32_t value = own[offsets[d]], cost = value + field->view->step[d & 1];
        uint64_t step = (uint64_t)cost << 19 |
                        (uint64_t)(uint32_t)((int32_t)(4 * FM_SIDE_MAX) - nearer) << 3 | d;
        uint64_t is_worse = (uint64_t)(value >= limit) | (~moves >> d & 1);
        step |= 0 - is_worse;
        best = step < best ? step : best;
    }
    return best == UINT64_MAX ? FM_CELL_NONE : fm_cell_step(cell, best & 7);
}

// Of equally good steps the one to the cell nearest to the goal as the crow flies.
static fm_cell step_by(const fm_tile_field *field, const fm_tile_body *body, fm_cell cell)
{
    if (is_inside(cell) && !body->is_wide) {
        return step_inside(field, body, cell);
    }
    uint32_t own =
        fm_tile_body_cost(body, fm_cell_x(cell) % FM_TILE_SIDE, fm_cell_y(cell) % FM_TILE_SIDE);
    fm_cell best = FM_CELL_NONE;
    uint32_t best_cost = UINT32_MAX, best_square = 0;
    for (uint32_t moves = fm_view_moves(field->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(cell, d);
        uint32_t cost = cost_beside(field, body, cell, next);
        if (cost >= own) {
            continue;
        }
        cost += fm_view_cost(field->view, cell, d, next);
        uint32_t square = square_to_goal(field, next);
        if (cost < best_cost || (cost == best_cost && square < best_square)) {
            best = next;
            best_cost = cost;
            best_square = square;
        }
    }
    return best;
}

fm_cell fm_tile_step(const fm_tile_field *field, const fm_tile *tile, fm_cell cell)
{
    return tile == NULL || tile->body == NULL ? FM_CELL_NONE : step_by(field, tile->body, cell);
}

fm_cell fm_tile_field_step(const fm_tile_field *field, fm_cell cell)
{
    return fm_tile_step(field, fm_tile_at(field, cell), cell);
}

// Distances fall along the path, so it has an end.
uint32_t fm_tile_field_path(const fm_tile_field *field, fm_cell start, fm_cell *cells,
                            uint32_t capacity)
{
    fm_tile_body made;
    const fm_tile_body *body = NULL;
    uint32_t number = FM_TILE_NONE, length = 0;
    for (fm_cell cell = start; cell != FM_CELL_NONE; cell = step_by(field, body, cell)) {
        if (length < capacity) {
            cells[length] = cell;
        }
        length += 1;
        if (cell == field->goal) {
            return length;
        }
        const fm_tile *tile = fm_tile_at(field, cell);
        if (tile == NULL || !tile->is_computed) {
            return 0;
        }
        if (tile->number != number) {
            number = tile->number;
            bool is_made = tile->body == NULL && make_body(field, tile, &made);
            body = is_made ? &made : tile->body;
        }
        if (body == NULL) {
            return 0;
        }
    }
    return 0;
}

// ---- what must hold -----------------------------------------------------------------------------

static bool has_stale_neighbour(const fm_tile_field *field, const fm_tile *tile)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        const fm_tile *other = fm_tile_neighbour(field, tile->number, d);
        if (other != NULL && other->is_computed && fm_tile_is_stale(field, other)) {
            return true;
        }
    }
    return false;
}

// Whether a cell's distance comes from a smaller one.
static bool is_supported(const fm_tile_field *field, fm_cell cell,
                         uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE])
{
    uint32_t own = distances[fm_cell_y(cell) % FM_TILE_SIDE][fm_cell_x(cell) % FM_TILE_SIDE];
    uint32_t number = fm_tile_of(field->map, cell);
    if (own >= FM_COST_INFINITE || (own == 0 && cell == field->goal)) {
        return true;
    }
    for (uint32_t moves = fm_view_moves(field->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(cell, d);
        uint32_t x = fm_cell_x(next) % FM_TILE_SIDE, y = fm_cell_y(next) % FM_TILE_SIDE;
        uint32_t cost = fm_tile_of(field->map, next) == number ? distances[y][x]
                                                               : fm_tile_field_cost(field, next);
        if (cost + fm_view_cost(field->view, cell, d, next) <= own) {
            return true;
        }
    }
    return false;
}

static bool is_tile_sound(const fm_tile_field *field, const fm_tile *tile)
{
    uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE];
    if (has_stale_neighbour(field, tile)) {
        return true;
    }
    if (tile->place == 0 && fm_tile_offered_key(field, tile) < FM_COST_INFINITE) {
        return false; // a neighbour offers something better, and the tile is not queued
    }
    if (!tile->is_computed) {
        return true;
    }
    if (fm_tile_is_stale(field, tile)) {
        return true;
    }
    fm_tile_read(field, tile, distances);
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            fm_cell cell = fm_tile_side_cell(field, tile->number, side, i);
            if (fm_cell_x(cell) < field->view->width && fm_cell_y(cell) < field->view->height &&
                !is_supported(field, cell, distances)) {
                return false;
            }
        }
    }
    return true;
}

bool fm_tile_field_is_sound(const fm_tile_field *field)
{
    for (uint32_t i = 0; i < field->count; i++) {
        if (!is_tile_sound(field, field->tiles[i])) {
            return false;
        }
    }
    return true;
}

// ---- life ---------------------------------------------------------------------------------------

static void read_rules(fm_tile_field *field)
{
    const fm_view *view = field->view;
    field->estimate.steps = (fm_tile_steps){view->step[0], view->step[1], view->connectivity};
}

void fm_tile_field_init(fm_tile_field *field, const fm_view *view, const fm_tile_map *map,
                        const fm_memory *memory, fm_cell goal, uint32_t weight_1024)
{
    *field = (fm_tile_field){.view = view,
                             .map = map,
                             .memory = memory,
                             .kernel = fm_tile_kernel_best(),
                             .goal = goal,
                             .estimate.weight_1024 = weight_1024};
    fm_heap_init(&field->queue, memory);
    read_rules(field);
}

void fm_tile_field_clear(fm_tile_field *field, fm_slab *slab)
{
    for (uint32_t i = 0; i < field->count; i++) {
        forget(field, field->tiles[i], slab);
        fm_slab_give(slab, field->tiles[i], sizeof **field->tiles);
    }
    if (field->table != NULL) {
        memset(field->table, 0, 2 * (size_t)field->capacity * sizeof *field->table);
    }
    field->count = 0;
    field->queue.count = 0;
    field->km = 0;
    field->is_exhausted = false;
    read_rules(field);
}

void fm_tile_field_fini(fm_tile_field *field, fm_slab *slab)
{
    fm_tile_field_clear(field, slab);
    fm_memory_release(field->memory, field->tiles, field->capacity * sizeof *field->tiles);
    fm_memory_release(field->memory, field->table,
                      2 * (size_t)field->capacity * sizeof *field->table);
    fm_heap_fini(&field->queue);
    field->tiles = NULL;
    field->table = NULL;
    field->capacity = 0;
}

size_t fm_tile_field_bytes(const fm_tile_field *field)
{
    return field->capacity * (sizeof *field->tiles + 2 * sizeof *field->table) +
           field->count * sizeof **field->tiles + fm_tile_rim_bytes(field) +
           field->narrow_count * body_size(false) + field->wide_count * body_size(true) +
           fm_heap_bytes(&field->queue);
}
