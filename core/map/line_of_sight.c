// core/map/line_of_sight.c: which cells an agent sees around it.
//
// Plain sight is a shape: for each row, how far it reaches to either side, so that a whole row is
// looked at with one mask per 64 cells. With line of sight every cell of the shape has a parent,
// the cell before it on the straight line from the agent; it is seen when the parent is seen and
// does not block. Parents come first in the list, so one pass decides all; for units side by side,
// the same pass decides for 64 of them. For one unit whole sides of a ring are decided at once.

#include "core/map/line_of_sight.h"

#define RING_RAYS_MAX (8u * FM_SENSE_RADIUS_MAX)

static uint32_t half_width_of(fm_sense_rules rules, uint32_t dy)
{
    uint32_t radius = rules.radius;
    switch (rules.shape) {
    case FM_SENSE_SQUARE:
        return radius;
    case FM_SENSE_DIAMOND:
        return radius - dy;
    case FM_SENSE_DISC: {
        uint32_t width = radius;
        while (width * width + dy * dy > radius * (radius + 1)) {
            width -= 1;
        }
        return width;
    }
    }
    FM_UNREACHABLE();
}

// The bits up to `reach` places from the middle.
static uint64_t middle_bits(uint32_t centre, uint32_t reach)
{
    return (UINT64_MAX >> (63 - 2 * reach)) << (centre - reach);
}

// Rounds a / b to the nearest, halves away from zero; b > 0.
static int32_t divide_rounded(int32_t a, int32_t b)
{
    return a >= 0 ? (2 * a + b) / (2 * b) : -((-2 * a + b) / (2 * b));
}

// Lists the cells of the shape ring by ring, each with its parent's place in the list.
static void list_rays(fm_line_of_sight *sight)
{
    int32_t radius = (int32_t)sight->rules.radius;
    uint32_t side = 2 * sight->rules.radius + 1;
    uint32_t count = 0;
    for (int32_t ring = 0; ring <= radius; ring++) {
        for (int32_t dy = -ring; dy <= ring; dy++) {
            int32_t reach = (int32_t)sight->half_width[dy < 0 ? -dy : dy];
            for (int32_t dx = -ring; dx <= ring; dx++) {
                bool on_ring = dx == ring || dx == -ring || dy == ring || dy == -ring;
                if (!on_ring || dx > reach || -dx > reach) {
                    continue;
                }
                int32_t px = ring == 0 ? 0 : divide_rounded(dx * (ring - 1), ring);
                int32_t py = ring == 0 ? 0 : divide_rounded(dy * (ring - 1), ring);
                uint32_t parent_place = (uint32_t)(py + radius) * side + (uint32_t)(px + radius);
                uint32_t place = (uint32_t)(dy + radius) * side + (uint32_t)(dx + radius);
                sight->rays[count] = (struct fm_ray){
                    .dx = (int8_t)dx, .dy = (int8_t)dy, .parent = sight->ray_of[parent_place]};
                sight->ray_of[place] = (uint16_t)count;
                count += 1;
            }
        }
    }
    sight->ray_count = count;
}

static size_t rays_max(fm_sense_rules rules)
{
    size_t side = 2 * (size_t)rules.radius + 1;
    return side * side;
}

static size_t size_of(fm_sense_rules rules)
{
    return sizeof(fm_line_of_sight) + rays_max(rules) * (sizeof(struct fm_ray) + sizeof(uint16_t));
}

fm_status fm_line_of_sight_create(fm_sense_rules rules, const fm_memory *memory,
                                  fm_line_of_sight **out)
{
    FM_ASSERT(rules.radius >= 1 && rules.radius <= FM_SENSE_RADIUS_MAX);
    fm_line_of_sight *sight = fm_memory_allocate_zeroed(memory, 1, size_of(rules));
    if (sight == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    sight->rules = rules;
    sight->memory = memory;
    sight->ray_of = (uint16_t *)(void *)(sight->rays + rays_max(rules));
    for (uint32_t dy = 0; dy <= rules.radius; dy++) {
        sight->half_width[dy] = half_width_of(rules, dy);
        sight->shape[dy] = rules.radius <= FM_SIGHT_WINDOW_RADIUS_MAX
                               ? middle_bits(FM_SIGHT_CENTRE, sight->half_width[dy])
                               : 0;
    }
    list_rays(sight);
    *out = sight;
    return FM_OK;
}

void fm_line_of_sight_destroy(fm_line_of_sight *sight)
{
    if (sight != NULL) {
        fm_memory_release(sight->memory, sight, size_of(sight->rules));
    }
}

uint32_t fm_line_of_sight_visible(const fm_line_of_sight *sight, const fm_bitmap *blocked,
                                  fm_cell from, fm_cell *cells)
{
    bool passes[FM_SIGHT_RAYS_MAX]; // seen, and does not block sight
    int32_t x = (int32_t)fm_cell_x(from), y = (int32_t)fm_cell_y(from);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sight->ray_count; i++) {
        const struct fm_ray *ray = &sight->rays[i];
        int32_t cx = x + ray->dx, cy = y + ray->dy;
        bool inside =
            cx >= 0 && cy >= 0 && cx < (int32_t)blocked->width && cy < (int32_t)blocked->height;
        bool seen = inside && (i == 0 || passes[ray->parent]);
        passes[i] = false;
        if (seen) {
            fm_cell cell = fm_cell_at((uint32_t)cx, (uint32_t)cy);
            passes[i] = i == 0 || !fm_bitmap_get(blocked, cell);
            cells[count++] = cell;
        }
    }
    return count;
}

// All of them are on the map.
static void add_bits(uint64_t *row, int32_t x, uint64_t bits)
{
    int32_t word = x >> 6, shift = x & 63;
    uint64_t low = bits << shift, high = shift == 0 ? 0 : bits >> (64 - shift);
    if (low != 0) {
        row[word] |= low;
    }
    if (high != 0) {
        row[word + 1] |= high;
    }
}

// ---- one cell, bit by bit -----------------------------------------------------------------------

// A ring has four sides, and the cells of each hang on those of the same side of the ring before:
// the inner half on the cell straight behind it, the outer ones on the cell one place further in.
// So a side is a word: bit `centre + d` is the cell d places from the middle, and three shifts give
// the next side. The rows of the map say which cells of the sides in the north and south go on, its
// columns, which are rows of the transposed bitmap, those in the west and east.
struct side {
    const fm_bitmap *blocked; // rows parallel to the side
    uint64_t inside;          // bits of cells on the map
    int32_t begin;            // of the bits, in a row
    int32_t at, step;         // row of the agent, and towards the side
    uint64_t passes;          // of the ring before
};

static struct side side_of(const fm_bitmap *blocked, int32_t along, int32_t across, int32_t step,
                           uint32_t centre)
{
    int32_t begin = along - (int32_t)centre;
    return (struct side){.blocked = blocked,
                         .inside = fm_bitmap_inside(blocked, begin),
                         .begin = begin,
                         .at = across,
                         .step = step,
                         .passes = UINT64_C(1) << centre};
}

// Which cells of a side hang on the cell straight behind them, on that to the left and to the
// right, and which lie in the shape; the same for all sides of a ring.
struct ring {
    uint32_t number;
    uint64_t inner, left, right, shape;
};

static struct ring ring_of(const fm_line_of_sight *sight, uint32_t number, uint32_t centre)
{
    uint64_t inner = middle_bits(centre, number / 2), left = (inner & -inner) - 1;
    return (struct ring){
        .number = number,
        .inner = inner,
        .left = left,
        .right = ~(left | inner),
        .shape = middle_bits(centre, fm_min(number, sight->half_width[number])),
    };
}

// What is seen of a side of the next ring.
FM_INLINE uint64_t next_ring(struct side *side, const struct ring *ring)
{
    int32_t row = side->at + side->step * (int32_t)ring->number;
    uint64_t passes = side->passes;
    uint64_t lines =
        (passes & ring->inner) | (passes >> 1 & ring->left) | (passes << 1 & ring->right);
    uint64_t seen = lines & ring->shape & side->inside;
    if (seen == 0 || row < 0 || row >= (int32_t)side->blocked->height) {
        side->passes = 0;
        return 0;
    }
    side->passes = seen & ~fm_bitmap_bits(fm_bitmap_row(side->blocked, row), side->begin);
    return seen;
}

// Exchanges rows and columns of a square of `side` bits, 32 or 64, which must lie in the low bits.
static void transpose(uint64_t *square, uint32_t side)
{
    uint64_t mask = side == 64 ? UINT32_MAX : UINT16_MAX;
    for (uint32_t width = side / 2; width != 0; width /= 2, mask ^= mask << width) {
        for (uint32_t i = 0; i < side; i = (i + width + 1) & ~width) {
            uint64_t exchanged = (square[i] >> width ^ square[i + width]) & mask;
            square[i] ^= exchanged << width;
            square[i + width] ^= exchanged;
        }
    }
}

// Transposed, the columns are rows too.
static void add_columns(fm_sight_window *window, uint64_t *columns)
{
    transpose(columns, window->side);
    for (uint32_t i = 0; i < window->side; i++) {
        window->rows[i] |= columns[i];
    }
}

void fm_line_of_sight_window(const fm_line_of_sight *sight, const fm_grid *grid, fm_cell from,
                             fm_sight_window *window)
{
    uint32_t radius = sight->rules.radius, centre = radius < 16 ? 15 : FM_SIGHT_CENTRE;
    FM_ASSERT(radius <= FM_SIGHT_WINDOW_RADIUS_MAX);
    int32_t x = (int32_t)fm_cell_x(from), y = (int32_t)fm_cell_y(from);
    struct side north = side_of(&grid->blocked, x, y, -1, centre), south = north;
    struct side west = side_of(&grid->blocked_transposed, y, x, -1, centre), east = west;
    south.step = east.step = 1;
    window->left = x - (int32_t)centre;
    window->top = y - (int32_t)centre;
    window->side = 2 * centre + 2;
    uint64_t columns[64], *rows = window->rows, any_column = 0;
    memset(rows, 0, window->side * sizeof *rows);
    memset(columns, 0, window->side * sizeof *columns);
    rows[centre] = UINT64_C(1) << centre;
    for (uint32_t number = 1; number <= radius; number++) {
        struct ring ring = ring_of(sight, number, centre);
        rows[centre - number] = next_ring(&north, &ring);
        rows[centre + number] = next_ring(&south, &ring);
        columns[centre - number] = next_ring(&west, &ring);
        columns[centre + number] = next_ring(&east, &ring);
        any_column |= columns[centre - number] | columns[centre + number];
        if ((north.passes | south.passes | west.passes | east.passes) == 0) {
            break;
        }
    }
    if (any_column != 0) {
        add_columns(window, columns);
    }
}

void fm_sight_window_mark(const fm_sight_window *window, fm_bitmap *visible)
{
    for (uint32_t i = 0; i < window->side; i++) {
        if (window->rows[i] != 0) {
            add_bits(fm_bitmap_row(visible, window->top + (int32_t)i), window->left,
                     window->rows[i]);
        }
    }
}

// ---- many cells of a row ------------------------------------------------------------------------

static void look_from_word(const fm_line_of_sight *sight, const fm_bitmap *blocked, uint32_t word,
                           uint32_t y, uint64_t eyes, fm_bitmap *visible)
{
    uint64_t passes[2][RING_RAYS_MAX]; // of the ring before and of this one: whose line goes on
    uint32_t begins[2] = {0, 0};       // of both rings, in the list
    int32_t ring = 0, left = (int32_t)word * 64;
    uint64_t any = eyes;
    passes[0][0] = eyes;
    add_bits(fm_bitmap_row(visible, (int32_t)y), left, eyes);
    for (uint32_t i = 1; i < sight->ray_count; i++) {
        const struct fm_ray *ray = &sight->rays[i];
        if (ray->dx > ring || -ray->dx > ring || ray->dy > ring || -ray->dy > ring) {
            if (any == 0) {
                return;
            }
            ring++;
            begins[0] = begins[1];
            begins[1] = i;
            any = 0;
        }
        uint64_t seen = passes[(ring - 1) & 1][ray->parent - begins[0]];
        int32_t x = left + ray->dx, row = (int32_t)y + ray->dy;
        if (seen != 0) {
            bool inside = row >= 0 && row < (int32_t)blocked->height;
            seen &= inside ? fm_bitmap_inside(blocked, x) : 0;
        }
        if (seen != 0) {
            add_bits(fm_bitmap_row(visible, row), x, seen);
            seen &= ~fm_bitmap_bits(fm_bitmap_row(blocked, row), x);
        }
        passes[ring & 1][i - begins[1]] = seen;
        any |= seen;
    }
}

// Few cells of a word are looked from one by one: with radius 8 four of them take 17,000
// instructions, the whole word 24,000; with 16 eight take 71,000 and 90,000. One takes 4,500 and
// 18,900.
void fm_line_of_sight_look_from_word(const fm_line_of_sight *sight, const fm_grid *grid,
                                     uint32_t word, uint32_t y, uint64_t eyes, fm_bitmap *visible)
{
    if (sight->rules.radius > FM_SIGHT_WINDOW_RADIUS_MAX ||
        (uint32_t)__builtin_popcountll(eyes) > sight->rules.radius / 2) {
        look_from_word(sight, &grid->blocked, word, y, eyes, visible);
        return;
    }
    for (; eyes != 0; eyes &= eyes - 1) {
        fm_sight_window window;
        uint32_t x = word * 64 + (uint32_t)__builtin_ctzll(eyes);
        fm_line_of_sight_window(sight, grid, fm_cell_at(x, y), &window);
        fm_sight_window_mark(&window, visible);
    }
}

bool fm_line_of_sight_sees(const fm_line_of_sight *sight, const fm_bitmap *blocked, fm_cell from,
                           fm_cell cell)
{
    uint32_t radius = sight->rules.radius;
    uint32_t dx = fm_cell_dx(from, cell), dy = fm_cell_dy(from, cell);
    if (dy > radius || dx > sight->half_width[dy]) {
        return false;
    }
    if (!sight->rules.line_of_sight) {
        return true;
    }
    uint32_t place = (fm_cell_y(cell) + radius - fm_cell_y(from)) * (2 * radius + 1) +
                     (fm_cell_x(cell) + radius - fm_cell_x(from));
    for (uint32_t i = sight->ray_of[place]; i != 0; i = sight->rays[i].parent) {
        const struct fm_ray *ray = &sight->rays[sight->rays[i].parent];
        fm_cell before =
            fm_cell_at(fm_cell_x(from) + (uint32_t)ray->dx, fm_cell_y(from) + (uint32_t)ray->dy);
        if (sight->rays[i].parent != 0 && fm_bitmap_get(blocked, before)) {
            return false;
        }
    }
    return true;
}
