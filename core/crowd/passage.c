// core/crowd/passage.c: see passage.h.

#include "core/crowd/passage.h"

#define FIELDS         4u // two directions, for those who are in a closing lane or not
#define SHORT_LENGTH   2u
#define SHORT_WALL_MIN 4 // cells
#define SIDE_MAX       (FM_PASSAGE_LENGTH_MAX + 2 * FM_PASSAGE_REACH)
#define CELLS_MAX      (SIDE_MAX * (FM_PASSAGE_WIDTH_MAX + 2 * FM_PASSAGE_REACH))

static const uint32_t straight = 1u << FM_NORTH | 1u << FM_EAST | 1u << FM_SOUTH | 1u << FM_WEST;

static bool is_free(const fm_view *view, uint32_t x, uint32_t y)
{
    return x < view->width && y < view->height && !fm_view_is_blocked(view, fm_cell_at(x, y));
}

// Place (along, across) of a passage, which may be outside the map.
static bool is_free_at(const fm_view *view, const fm_passage *p, int32_t along, int32_t across)
{
    int32_t dx = p->is_vertical ? across : along, dy = p->is_vertical ? along : across;
    return is_free(view, fm_cell_x(p->origin) + (uint32_t)dx, fm_cell_y(p->origin) + (uint32_t)dy);
}

static bool are_lanes_free(const fm_view *view, const fm_passage *p, int32_t along)
{
    for (uint32_t i = 0; i < p->width; i++) {
        if (!is_free_at(view, p, along, (int32_t)i)) {
            return false;
        }
    }
    return true;
}

static bool is_between_walls(const fm_view *view, const fm_passage *p, int32_t along)
{
    return !is_free_at(view, p, along, -1) && !is_free_at(view, p, along, (int32_t)p->width) &&
           are_lanes_free(view, p, along);
}

static fm_rect box_of(const fm_view *view, const fm_passage *p)
{
    uint32_t x = fm_cell_x(p->origin), y = fm_cell_y(p->origin), reach = FM_PASSAGE_REACH;
    uint32_t x_end = x + (p->is_vertical ? p->width : p->length) + reach;
    uint32_t y_end = y + (p->is_vertical ? p->length : p->width) + reach;
    fm_rect box = {.x = x < reach ? 0 : x - reach, .y = y < reach ? 0 : y - reach};
    box.width = (x_end < view->width ? x_end : view->width) - box.x;
    box.height = (y_end < view->height ? y_end : view->height) - box.y;
    return box;
}

// Whether a short passage leads through a wall, not between single obstacles.
static bool is_gate(const fm_view *view, const fm_passage *p, int32_t along)
{
    for (int32_t i = 0; i < SHORT_WALL_MIN; i++) {
        if (is_free_at(view, p, along, -1 - i) ||
            is_free_at(view, p, along, (int32_t)p->width + i)) {
            return false;
        }
    }
    return true;
}

bool fm_passage_find(const fm_view *view, fm_cell cell, fm_passage *out)
{
    uint32_t walls = straight & ~fm_view_moves(view, cell);
    if (walls == 0 || (walls & (walls - 1)) != 0) {
        return false;
    }
    uint32_t wall = (uint32_t)__builtin_ctz(walls);
    bool is_vertical = wall == FM_EAST || wall == FM_WEST;
    fm_passage p = {.origin = cell, .width = 1, .is_vertical = is_vertical};
    int32_t away = wall == FM_NORTH || wall == FM_WEST ? 1 : -1;
    while (p.width <= FM_PASSAGE_WIDTH_MAX && is_free_at(view, &p, 0, away * (int32_t)p.width)) {
        p.width += 1;
    }
    if (p.width < 2 || p.width > FM_PASSAGE_WIDTH_MAX) {
        return false;
    }
    p.origin = away > 0 ? cell : fm_passage_cell(&p, 0, 1 - (int32_t)p.width);
    int32_t begin = 0, end = 1;
    while (end - begin <= (int32_t)FM_PASSAGE_LENGTH_MAX && is_between_walls(view, &p, begin - 1)) {
        begin -= 1;
    }
    while (end - begin <= (int32_t)FM_PASSAGE_LENGTH_MAX && is_between_walls(view, &p, end)) {
        end += 1;
    }
    p.length = (uint32_t)(end - begin);
    if (p.length > FM_PASSAGE_LENGTH_MAX || !are_lanes_free(view, &p, begin - 1) ||
        !are_lanes_free(view, &p, end) || (p.length <= SHORT_LENGTH && !is_gate(view, &p, begin))) {
        return false;
    }
    p.origin = fm_passage_cell(&p, begin, 0);
    p.box = box_of(view, &p);
    *out = p;
    return true;
}

size_t fm_passage_bytes(const fm_passage *passage)
{
    return FIELDS * passage->box.width * passage->box.height * sizeof *passage->distances;
}

// ---- lanes --------------------------------------------------------------------------------------

// Lane i from a direction's right-hand side.
static uint32_t lane_from_right(const fm_passage *p, uint32_t direction, uint32_t i)
{
    return (direction == 0) != p->is_vertical ? p->width - 1 - i : i;
}

static void give(fm_passage *p, uint32_t lane, uint32_t direction)
{
    uint32_t others = p->owners & ~(1u << lane);
    p->owners = others | direction << lane;
}

void fm_passage_halve(fm_passage *passage)
{
    uint32_t cells = passage->width + passage->gap, gap = passage->gap;
    passage->closing = passage->shut = 0;
    for (uint32_t i = 0; i < passage->width; i++) {
        uint32_t lane = lane_from_right(passage, 0, i);
        bool is_right = i + gap < (cells + 1) / 2, is_left = i >= (cells + 1) / 2;
        give(passage, lane, is_left);
        passage->shut |= (uint32_t)(!is_right && !is_left) << lane;
    }
}

void fm_passage_divide(fm_passage *passage, uint32_t most)
{
    fm_passage_halve(passage);
    for (uint32_t i = 0; passage->width % 2 != 0 && i < passage->width; i++) {
        give(passage, i, i == passage->width / 2 ? 1 - most : most);
    }
}

void fm_passage_close_for(fm_passage *passage, uint32_t direction)
{
    uint32_t lanes = fm_passage_lanes(passage, direction, true), i = 0;
    while (lanes >> lane_from_right(passage, direction, i) & 1) {
        i += 1;
    }
    passage->closing = 1u << lane_from_right(passage, direction, i);
}

void fm_passage_hand_over(fm_passage *passage)
{
    passage->owners ^= passage->closing;
    passage->closing = 0;
}

// ---- distances ----------------------------------------------------------------------------------

// Cells of the box whose distance has changed, and whose neighbours have not been told yet.
struct wave {
    const fm_passage *p;
    const fm_view *view;
    uint16_t *distances;
    uint32_t direction, lanes; // that one may use
    uint32_t begin, count;
    uint16_t queue[CELLS_MAX]; // a ring
    bool is_queued[CELLS_MAX];
};

// What entering a cell costs beyond the step.
static uint32_t toll(const struct wave *wave, fm_cell cell)
{
    int32_t across = fm_passage_across(wave->p, cell);
    uint32_t way_out = wave->p->teams_meet ? FM_PASSAGE_REACH : FM_PASSAGE_WAY_OUT;
    bool is_wrong = fm_passage_has_lane(wave->p, across) && !(wave->lanes >> across & 1) &&
                    fm_passage_before(wave->p, cell) <= way_out;
    return is_wrong ? FM_PASSAGE_WRONG : 0;
}

static uint32_t index_of(const fm_passage *p, fm_cell cell)
{
    return (fm_cell_y(cell) - p->box.y) * p->box.width + fm_cell_x(cell) - p->box.x;
}

static void lower(struct wave *wave, fm_cell cell, uint32_t distance)
{
    uint32_t i = index_of(wave->p, cell);
    if (distance >= wave->distances[i]) {
        return;
    }
    wave->distances[i] = (uint16_t)distance;
    if (!wave->is_queued[i]) {
        wave->is_queued[i] = true;
        wave->queue[(wave->begin + wave->count++) % CELLS_MAX] = (uint16_t)i;
    }
}

// The cells behind the far end, or where there is a wall the last ones before it.
static void begin_wave(struct wave *wave)
{
    const fm_passage *p = wave->p;
    int32_t last = wave->direction == 0 ? (int32_t)p->length : -1;
    int32_t behind = wave->direction == 0 ? last + 1 : last - 1;
    for (int32_t across = 0; across < (int32_t)p->width; across++) {
        if (wave->lanes >> across & 1) {
            bool is_open = is_free_at(wave->view, p, behind, across);
            lower(wave, fm_passage_cell(p, is_open ? behind : last, across), 0);
        }
    }
}

static void spread(struct wave *wave)
{
    const fm_passage *p = wave->p;
    while (wave->count > 0) {
        uint32_t i = wave->queue[wave->begin];
        wave->begin = (wave->begin + 1) % CELLS_MAX;
        wave->count -= 1;
        wave->is_queued[i] = false;
        fm_cell cell = fm_cell_at(p->box.x + i % p->box.width, p->box.y + i / p->box.width);
        uint32_t left = wave->distances[i] + toll(wave, cell);
        for (uint32_t moves = fm_view_moves(wave->view, cell); moves != 0; moves &= moves - 1) {
            uint32_t d = (uint32_t)__builtin_ctz(moves);
            fm_cell from = fm_cell_step(cell, d);
            if (fm_rect_contains(&p->box, from)) {
                lower(wave, from, left + ((d & 1) != 0 ? 14 : 10));
            }
        }
    }
}

// Whether the ground before the end where a direction comes out is free, as far as units that go
// round need it.
static bool is_wide(const fm_passage *p, const fm_view *view, uint32_t direction)
{
    int32_t reach = FM_PASSAGE_WAY_IN, beside = FM_PASSAGE_BESIDE;
    for (int32_t i = 0; i <= reach; i++) {
        for (int32_t across = -beside; across < (int32_t)p->width + beside; across++) {
            int32_t along = direction == 0 ? (int32_t)p->length + i : -1 - i;
            if (!is_free_at(view, p, along, across)) {
                return false;
            }
        }
    }
    return true;
}

void fm_passage_measure(fm_passage *passage, const fm_view *view)
{
    uint32_t cells = passage->box.width * passage->box.height;
    for (uint32_t field = 0; field < FIELDS; field++) {
        bool leaves = field % 2 != 0;
        if (leaves && passage->closing == 0) {
            continue;
        }
        struct wave wave = {.p = passage, .view = view, .direction = field / 2};
        wave.lanes = fm_passage_lanes(passage, wave.direction, leaves);
        wave.distances = passage->distances + (size_t)field * cells;
        for (uint32_t i = 0; i < cells; i++) {
            wave.distances[i] = FM_PASSAGE_FAR;
        }
        begin_wave(&wave);
        spread(&wave);
    }
    for (uint32_t direction = 0; direction < 2; direction++) {
        passage->is_wide[direction] = is_wide(passage, view, direction);
    }
}

// ---- going round --------------------------------------------------------------------------------

// The direction that comes out where a cell is.
static uint32_t comes_out(const fm_passage *p, fm_cell cell)
{
    return fm_passage_along(p, cell) < 0;
}

static bool is_lane_in(const fm_passage *p, uint32_t out, int32_t across)
{
    return fm_passage_has_lane(p, across) && fm_passage_lanes(p, 1 - out, true) >> across & 1;
}

fm_cell fm_passage_way_round(const fm_passage *passage, fm_cell cell, fm_cell goal)
{
    uint32_t before = fm_passage_before(passage, cell), out = comes_out(passage, cell);
    int32_t across = fm_passage_across(passage, cell), beside = FM_PASSAGE_BESIDE;
    bool is_near = before > 0 && before <= FM_PASSAGE_WAY_IN && across >= -beside &&
                   across < (int32_t)passage->width + beside;
    if (!is_near || !passage->is_wide[out] || is_lane_in(passage, out, across)) {
        return FM_CELL_NONE;
    }
    int32_t goal_across = fm_passage_across(passage, goal), reach = FM_PASSAGE_WAY_IN;
    int32_t behind = out == 0 ? (int32_t)passage->length + reach : -1 - reach;
    int32_t step = goal_across > across ? 1 : -1, lane = across;
    for (uint32_t i = 0; i < passage->width + FM_PASSAGE_BESIDE && lane != goal_across;
         i++, lane += step) {
        if (is_lane_in(passage, out, lane)) {
            return fm_passage_cell(passage, behind, lane);
        }
    }
    return FM_CELL_NONE;
}

bool fm_passage_is_way_in(const fm_passage *passage, fm_cell cell)
{
    uint32_t before = fm_passage_before(passage, cell), out = comes_out(passage, cell);
    int32_t across = fm_passage_across(passage, cell);
    return before == 0 ? fm_passage_contains(passage, cell)
                       : before <= FM_PASSAGE_WAY_IN && is_lane_in(passage, out, across);
}
