// core/map/free_places.c: see free_places.h.

#include "core/map/free_places.h"

#include <string.h>

#define SIDE_BITS  3u // of a word's square, 8 x 8
#define SIDE       (1u << SIDE_BITS)
#define LEVELS_MAX 5u // 8^5 cells to a side

#define SLOPES   8u
#define SUM_NONE (INT32_MAX / 2) // of no cell

// The octile distance from one cell to another is the greatest of eight differences, one for each
// slope: 10 x + 4 y of the one less that of the other, 4 x + 10 y, and both with either sign of x
// and y. So the least of each sum among many cells, found once, says how near the nearest of them
// may be to any cell whatever: exactly, where one slope holds for all of them.
typedef int32_t lanes __attribute__((vector_size(4 * SLOPES), aligned(4))); // of GCC and Clang

struct sums {
    lanes of;
};

// The words of one level. A word of level 0 has a bit for each cell of a tile; one of level n has a
// bit for each word of level n - 1 under it.
struct level {
    uint32_t columns, rows; // words
    uint64_t *words;
    struct sums *least; // of the cells under each word whose bits are 1: see least_under()
};

struct fm_free_places {
    uint32_t width, height; // cells
    uint32_t level_count;   // 2 at least; the last is one word
    struct level levels[LEVELS_MAX];
    uint64_t *read; // as level 1: the tiles whose words have been read from the map
    size_t bytes;
    const fm_memory *memory;
    const fm_occupancy *occupancy;
    const fm_bitmap *blocked;
    uint32_t size;
    fm_cell last;     // that was found; FM_CELL_NONE: none
    uint64_t words[]; // and behind them the sums of the levels
};

// ---- sums ---------------------------------------------------------------------------------------

// The least of each among the cells of a rectangle.
static struct sums sums_of_rectangle(uint32_t first_x, uint32_t first_y, uint32_t last_x,
                                     uint32_t last_y)
{
    int32_t west = (int32_t)first_x, east = (int32_t)last_x;
    int32_t north = (int32_t)first_y, south = (int32_t)last_y;
    return (struct sums){{10 * west + 4 * north, 10 * west - 4 * south, -10 * east + 4 * north,
                          -10 * east - 4 * south, 4 * west + 10 * north, 4 * west - 10 * south,
                          -4 * east + 10 * north, -4 * east - 10 * south}};
}

static struct sums sums_of(fm_cell cell)
{
    return sums_of_rectangle(fm_cell_x(cell), fm_cell_y(cell), fm_cell_x(cell), fm_cell_y(cell));
}

static void keep_least(struct sums *least, const struct sums *other)
{
    lanes is_less = other->of < least->of;
    least->of = (other->of & is_less) | (least->of & ~is_less);
}

static int32_t greatest(const lanes *of)
{
    lanes halves = __builtin_shufflevector(*of, *of, 4, 5, 6, 7, 4, 5, 6, 7);
    lanes all = *of > halves;
    halves = (*of & all) | (halves & ~all);
    lanes pairs = __builtin_shufflevector(halves, halves, 2, 3, 2, 3, 2, 3, 2, 3);
    all = halves > pairs;
    pairs = (halves & all) | (pairs & ~all);
    return pairs[0] > pairs[1] ? pairs[0] : pairs[1];
}

// How near the nearest of many cells may be by octile distance.
static uint32_t octile_least(const struct sums *from, const struct sums *least)
{
    lanes sums = least->of - from->of;
    int32_t most = greatest(&sums);
    return most > 0 ? (uint32_t)most : 0;
}

static struct sums sums_of_nobody(void)
{
    return (struct sums){
        {SUM_NONE, SUM_NONE, SUM_NONE, SUM_NONE, SUM_NONE, SUM_NONE, SUM_NONE, SUM_NONE}};
}

// ---- a map of which nothing is known ------------------------------------------------------------

static uint32_t words_along(uint32_t cells, uint32_t level)
{
    uint32_t side = 1u << (SIDE_BITS * (level + 1));
    return (cells + side - 1) / side;
}

fm_status fm_free_places_create(uint32_t width, uint32_t height, const fm_memory *memory,
                                fm_free_places **out)
{
    struct level levels[LEVELS_MAX] = {{0}};
    uint32_t level_count = 0;
    size_t word_count = 0, square_count = 0;
    do {
        FM_ASSERT(level_count < LEVELS_MAX);
        struct level *level = &levels[level_count];
        level->columns = words_along(width, level_count);
        level->rows = words_along(height, level_count);
        square_count += (size_t)level->columns * level->rows;
        level_count++;
    } while (level_count < 2 || levels[level_count - 1].columns * levels[level_count - 1].rows > 1);
    word_count = square_count + (size_t)levels[1].columns * levels[1].rows; // with `read`
    size_t size =
        sizeof(fm_free_places) + word_count * sizeof(uint64_t) + square_count * sizeof(struct sums);
    fm_free_places *places = fm_memory_allocate(memory, size);
    if (places == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *places = (fm_free_places){.width = width,
                               .height = height,
                               .level_count = level_count,
                               .bytes = size,
                               .memory = memory};
    uint64_t *next = places->words;
    struct sums *next_sums = (struct sums *)(next + word_count);
    for (uint32_t i = 0; i < level_count; i++) {
        places->levels[i] = levels[i];
        places->levels[i].words = next;
        places->levels[i].least = next_sums;
        next += (size_t)levels[i].columns * levels[i].rows;
        next_sums += (size_t)levels[i].columns * levels[i].rows;
    }
    places->read = next;
    *out = places;
    return FM_OK;
}

void fm_free_places_destroy(fm_free_places *places)
{
    if (places != NULL) {
        fm_memory_release(places->memory, places, places->bytes);
    }
}

// The word's bits that stand for something: those of a word on the rim of the map may lie outside.
static uint64_t bits_inside(uint32_t columns, uint32_t rows, uint32_t word_x, uint32_t word_y)
{
    uint32_t wide = fm_min(columns - (word_x << SIDE_BITS), SIDE);
    uint32_t high = fm_min(rows - (word_y << SIDE_BITS), SIDE);
    uint64_t row = (UINT64_C(1) << wide) - 1, bits = 0;
    for (uint32_t y = 0; y < high; y++) {
        bits |= row << (y << SIDE_BITS);
    }
    return bits;
}

// What the sums may be at least of what lies in the square of a word.
static struct sums sums_of_square(const fm_free_places *places, uint32_t level, uint32_t x,
                                  uint32_t y)
{
    uint32_t shift = SIDE_BITS * (level + 1);
    return sums_of_rectangle(x << shift, y << shift, fm_min((x + 1) << shift, places->width) - 1,
                             fm_min((y + 1) << shift, places->height) - 1);
}

void fm_free_places_begin(fm_free_places *places, const fm_occupancy *occupancy,
                          const fm_bitmap *blocked, uint32_t size)
{
    FM_ASSERT(blocked->width == places->width && blocked->height == places->height);
    places->occupancy = occupancy;
    places->blocked = blocked;
    places->size = size;
    places->last = FM_CELL_NONE;
    for (uint32_t i = 1; i < places->level_count; i++) {
        const struct level *level = &places->levels[i], *below = level - 1;
        for (uint32_t y = 0; y < level->rows; y++) {
            for (uint32_t x = 0; x < level->columns; x++) {
                level->words[y * level->columns + x] =
                    bits_inside(below->columns, below->rows, x, y);
                level->least[y * level->columns + x] = sums_of_square(places, i, x, y);
            }
        }
    }
    memset(places->read, 0,
           (size_t)places->levels[1].columns * places->levels[1].rows * sizeof *places->read);
}

// ---- what the map says --------------------------------------------------------------------------

static bool can_stand(const fm_free_places *places, fm_cell cell)
{
    return !fm_bitmap_get(places->blocked, cell) &&
           (places->occupancy == NULL ||
            fm_occupancy_is_free(places->occupancy, cell, places->size, 0));
}

// The word at (x, y) of a level, what the sums of its cells are at least, and its place in the
// level above.
struct spot {
    uint64_t *word;
    struct sums *least;
    uint64_t bit; // in the word above
};

static struct spot spot_of(const fm_free_places *places, uint32_t level, uint32_t x, uint32_t y)
{
    const struct level *in = &places->levels[level];
    return (struct spot){
        .word = &in->words[y * in->columns + x],
        .least = &in->least[y * in->columns + x],
        .bit = UINT64_C(1) << ((y % SIDE) << SIDE_BITS | (x % SIDE)),
    };
}

static uint64_t *read_word(const fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    return &places->read[(tile_y >> SIDE_BITS) * places->levels[1].columns + (tile_x >> SIDE_BITS)];
}

static bool was_read(const fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    return (*read_word(places, tile_x, tile_y) & spot_of(places, 0, tile_x, tile_y).bit) != 0;
}

static struct sums least_under(const fm_free_places *places, uint32_t level, uint32_t x, uint32_t y)
{
    return level == 0 && !was_read(places, x, y) ? sums_of_square(places, 0, x, y)
                                                 : *spot_of(places, level, x, y).least;
}

// Of a tile's cells: in each row, those furthest west and east have the least sums.
static struct sums least_of_tile(uint64_t bits, uint32_t tile_x, uint32_t tile_y)
{
    struct sums least = sums_of_nobody();
    for (uint32_t row = 0; row < SIDE; row++) {
        uint32_t cells = (uint32_t)(bits >> (row << SIDE_BITS)) & 0xff;
        if (cells != 0) {
            uint32_t x = tile_x << SIDE_BITS, y = (tile_y << SIDE_BITS) + row;
            struct sums of_row = sums_of_rectangle(x + (uint32_t)__builtin_ctz(cells), y,
                                                   x + 31 - (uint32_t)__builtin_clz(cells), y);
            keep_least(&least, &of_row);
        }
    }
    return least;
}

static struct sums least_of_word(const fm_free_places *places, uint32_t level, uint32_t x,
                                 uint32_t y)
{
    struct sums least = sums_of_nobody();
    for (uint64_t left = *spot_of(places, level, x, y).word; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        struct sums below = least_under(places, level - 1, (x << SIDE_BITS) + i % SIDE,
                                        (y << SIDE_BITS) + i / SIDE);
        keep_least(&least, &below);
    }
    return least;
}

// Whether a word's sums are what they were although those of one below it went from `before` to
// `after`; they follow where those became less.
static bool still_least(struct sums *least, const struct sums *before, const struct sums *after)
{
    lanes was_least = (after->of > before->of) & (before->of == least->of) & 1;
    keep_least(least, after);
    return greatest(&was_least) == 0;
}

// A tile's cells have changed: the levels above follow it.
static void write_tile(fm_free_places *places, uint32_t tile_x, uint32_t tile_y, uint64_t bits)
{
    struct sums before = least_under(places, 0, tile_x, tile_y);
    struct spot spot = spot_of(places, 0, tile_x, tile_y);
    *spot.word = bits;
    *spot.least = least_of_tile(bits, tile_x, tile_y);
    *read_word(places, tile_x, tile_y) |= spot.bit;
    for (uint32_t level = 1; level < places->level_count; level++) {
        tile_x >>= SIDE_BITS;
        tile_y >>= SIDE_BITS;
        struct spot above = spot_of(places, level, tile_x, tile_y);
        struct sums least = *above.least;
        *above.word = *spot.word != 0 ? *above.word | spot.bit : *above.word & ~spot.bit;
        if (!still_least(above.least, &before, spot.least)) {
            *above.least = least_of_word(places, level, tile_x, tile_y);
        }
        before = least;
        spot = above;
    }
}

static void read_tile(fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    uint64_t bits = bits_inside(places->width, places->height, tile_x, tile_y);
    for (uint64_t left = bits; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        fm_cell cell =
            fm_cell_at((tile_x << SIDE_BITS) + i % SIDE, (tile_y << SIDE_BITS) + i / SIDE);
        if (!can_stand(places, cell)) {
            bits &= ~(UINT64_C(1) << i);
        }
    }
    write_tile(places, tile_x, tile_y, bits);
}

static void note_cell(fm_free_places *places, uint32_t x, uint32_t y)
{
    uint32_t tile_x = x >> SIDE_BITS, tile_y = y >> SIDE_BITS;
    if (!was_read(places, tile_x, tile_y)) {
        return; // it will be read as it is then
    }
    uint64_t before = *spot_of(places, 0, tile_x, tile_y).word;
    uint64_t bit = UINT64_C(1) << ((y % SIDE) << SIDE_BITS | (x % SIDE));
    uint64_t bits = can_stand(places, fm_cell_at(x, y)) ? before | bit : before & ~bit;
    if (bits != before) {
        write_tile(places, tile_x, tile_y, bits);
    }
}

void fm_free_places_note(fm_free_places *places, fm_cell cell, uint32_t size)
{
    // A unit that covers one of these cells has its own up to size - 1 to the north-west.
    uint32_t reach = places->size - 1;
    uint32_t left = fm_cell_x(cell) - fm_min(reach, fm_cell_x(cell));
    uint32_t top = fm_cell_y(cell) - fm_min(reach, fm_cell_y(cell));
    for (uint32_t y = top; y < fm_cell_y(cell) + size; y++) {
        for (uint32_t x = left; x < fm_cell_x(cell) + size; x++) {
            note_cell(places, x, y);
        }
    }
}

// ---- searches -----------------------------------------------------------------------------------

struct nearest {
    fm_cell from;
    struct sums sums; // of `from`
    fm_cell cell;     // FM_CELL_NONE: none yet
    uint64_t rank;
};

static void consider(struct nearest *best, fm_cell cell)
{
    uint64_t rank = fm_occupancy_rank(best->from, cell);
    if (rank < best->rank || (rank == best->rank && cell < best->cell)) {
        best->rank = rank;
        best->cell = cell;
    }
}

// Of the eight columns (or rows) that begin at `begin`, each of `width` cells, those that have a
// cell within `reach` of `at`: a bit for each.
static uint64_t within(uint32_t begin, uint32_t width_bits, uint32_t at, uint32_t reach)
{
    uint32_t first = at > reach + begin ? (at - reach - begin) >> width_bits : 0;
    uint32_t last = at + reach < begin ? 0 : ((at + reach - begin) >> width_bits) + 1;
    if (first >= SIDE || last == 0) {
        return 0;
    }
    return ((UINT64_C(1) << fm_min(last, SIDE)) - 1) >> first << first;
}

#define OCTILE_MOST (14u * FM_SIDE_MAX)

// How far a cell may lie to the west or east that is so far to the north or south, and no further
// than `octile` by octile distance.
static uint32_t reach_along(uint32_t octile, uint32_t dy)
{
    return 14 * dy <= octile ? (octile - 4 * dy) / 10 : (octile - 10 * dy) / 4;
}

// Which of a word's bits stand for squares that have a cell that may be nearer than the best.
static uint64_t within_reach(uint64_t word, uint32_t level, uint32_t x, uint32_t y,
                             const struct nearest *best)
{
    uint64_t most = best->rank >> 26; // none found yet: much more than a map is wide
    uint32_t octile = most < OCTILE_MOST ? (uint32_t)most : OCTILE_MOST;
    uint32_t width_bits = SIDE_BITS * level, at = fm_cell_y(best->from);
    uint32_t left = x << (width_bits + SIDE_BITS), top = y << (width_bits + SIDE_BITS);
    uint64_t bits = 0, rest = word;
    while (rest != 0) {
        uint32_t row = (uint32_t)__builtin_ctzll(rest) >> SIDE_BITS;
        uint64_t of_row = rest & UINT64_C(0xff) << (SIDE * row);
        uint32_t first = top + (row << width_bits), last = first + (1u << width_bits) - 1;
        uint32_t dy = at < first ? first - at : at > last ? at - last : 0;
        rest ^= of_row;
        if (10 * dy <= octile) {
            uint64_t columns =
                within(left, width_bits, fm_cell_x(best->from), reach_along(octile, dy));
            bits |= of_row & columns << (SIDE * row);
        }
    }
    return bits;
}

// Of one row of a tile, only the cells next to `from` to its west and to its east can be nearest.
static void look_into_row(uint32_t bits, uint32_t left, uint32_t y, struct nearest *best)
{
    uint32_t x = fm_cell_x(best->from);
    uint32_t east_of = x < left ? 0 : fm_min(x - left, SIDE); // bits from here on lie east of it
    uint32_t west = bits & ((1u << east_of) - 1), east = bits >> east_of << east_of;
    if (west != 0) {
        consider(best, fm_cell_at(left + 31 - (uint32_t)__builtin_clz(west), y));
    }
    if (east != 0) {
        consider(best, fm_cell_at(left + (uint32_t)__builtin_ctz(east), y));
    }
}

static void look_into_tile(fm_free_places *places, uint32_t x, uint32_t y, struct nearest *best)
{
    if (!was_read(places, x, y)) {
        read_tile(places, x, y);
    }
    uint64_t left = *spot_of(places, 0, x, y).word;
    while (left != 0) {
        uint32_t shift = (uint32_t)__builtin_ctzll(left) & ~(SIDE - 1); // the first row with a 1
        uint64_t row = left & UINT64_C(0xff) << shift;
        look_into_row((uint32_t)(row >> shift), x << SIDE_BITS, (y << SIDE_BITS) + shift / SIDE,
                      best);
        left ^= row;
    }
}

// How far the columns (or rows) of a square lie from that of a cell.
struct span {
    uint32_t least, most;
};

static struct span span_of(uint32_t at, uint32_t first, uint32_t last)
{
    uint32_t to_first = at < first ? first - at : at - first;
    uint32_t to_last = at < last ? last - at : at - last;
    bool is_between = first <= at && at <= last;
    return (struct span){.least = is_between ? 0 : fm_min(to_first, to_last),
                         .most = to_first > to_last ? to_first : to_last};
}

// The least square of the straight-line distance of a cell whose octile distance is 10 times its
// distance along one axis and 4 times that along the other, which is not more. UINT32_MAX: there is
// no such cell. With v along the other it is a hundredth of (octile - 4 v)^2 + 100 v^2, which is
// least where v is a 29th of the octile distance, and grows to both sides. Many tiles along a rim
// are equally near by octile distance, and this says which of them need a look.
static uint32_t straight_least(uint32_t octile, struct span along, struct span across)
{
    uint32_t first = across.least;
    if (10 * along.most + 4 * first < octile) {
        first = (octile - 10 * along.most + 3) / 4;
    }
    if (10 * along.least + 4 * first > octile) {
        return UINT32_MAX;
    }
    uint32_t last = fm_min(across.most, (octile - 10 * along.least) / 4);
    last = fm_min(last, octile / 14);
    if (first > last) {
        return UINT32_MAX;
    }
    uint32_t middle = octile / 29, v = middle < first ? first : fm_min(middle, last);
    uint64_t rest = octile - 4 * v;
    uint32_t square = (uint32_t)((rest * rest + 100 * (uint64_t)v * v) / 100);
    // Beside a middle that was rounded down it is less, by 116 hundredths at most.
    return v == middle && square > 1 ? square - 2 : square;
}

// No cell under a word has a smaller rank. UINT64_MAX: all are further than the best.
static uint64_t least_rank(const fm_free_places *places, const struct nearest *best, uint32_t level,
                           uint32_t x, uint32_t y)
{
    bool is_known = level > 0 || was_read(places, x, y);
    uint32_t octile = is_known ? octile_least(&best->sums, spot_of(places, level, x, y).least) : 0;
    if (octile > best->rank >> 26) {
        return UINT64_MAX;
    }
    uint32_t shift = SIDE_BITS * (level + 1);
    struct span dx = span_of(fm_cell_x(best->from), x << shift, ((x + 1) << shift) - 1);
    struct span dy = span_of(fm_cell_y(best->from), y << shift, ((y + 1) << shift) - 1);
    if (is_known) {
        uint32_t straight = fm_min(straight_least(octile, dx, dy), straight_least(octile, dy, dx));
        return (uint64_t)octile << 26 | (straight == UINT32_MAX ? 0 : straight);
    }
    uint32_t low = fm_min(dx.least, dy.least), high = dx.least + dy.least - low;
    return (uint64_t)(10 * high + 4 * low) << 26 | (low * low + high * high);
}

// Looks into the words under one as long as a cell there may be nearer than the best: first into
// the nearest, which rules out most others. It calls itself: once per level, four times on the
// largest map.
static void look_into(fm_free_places *places, uint32_t level, uint32_t x, uint32_t y,
                      struct nearest *best)
{
    if (level == 0) {
        look_into_tile(places, x, y, best);
        return;
    }
    uint64_t ranks[SIDE * SIDE], left = 0;
    uint64_t bits = within_reach(*spot_of(places, level, x, y).word, level, x, y, best);
    uint32_t first = SIDE * SIDE;
    for (; bits != 0; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        ranks[i] = least_rank(places, best, level - 1, (x << SIDE_BITS) + i % SIDE,
                              (y << SIDE_BITS) + i / SIDE);
        if (ranks[i] <= best->rank) {
            left |= UINT64_C(1) << i;
            first = first == SIDE * SIDE || ranks[i] < ranks[first] ? i : first;
        }
    }
    while (left != 0) {
        look_into(places, level - 1, (x << SIDE_BITS) + first % SIDE,
                  (y << SIDE_BITS) + first / SIDE, best);
        left &= ~(UINT64_C(1) << first);
        uint64_t others = left;
        for (first = SIDE * SIDE; others != 0; others &= others - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(others);
            if (ranks[i] > best->rank) {
                left &= ~(UINT64_C(1) << i);
            } else if (first == SIDE * SIDE || ranks[i] < ranks[first]) {
                first = i;
            }
        }
    }
}

// Units come in the order in which they stood side by side, more or less: what lies around the last
// answer is a good first guess, and the better it is, the less has to be looked at.
static void guess(const fm_free_places *places, struct nearest *best)
{
    if (places->last == FM_CELL_NONE) {
        return;
    }
    uint32_t x = fm_cell_x(places->last), y = fm_cell_y(places->last);
    for (uint32_t row = y - (y > 0); row <= y + 1 && row < places->height; row++) {
        for (uint32_t column = x - (x > 0); column <= x + 1 && column < places->width; column++) {
            if (can_stand(places, fm_cell_at(column, row))) {
                consider(best, fm_cell_at(column, row));
            }
        }
    }
}

fm_cell fm_free_places_nearest(fm_free_places *places, fm_cell from)
{
    struct nearest best = {
        .from = from,
        .sums = sums_of(from),
        .cell = FM_CELL_NONE,
        .rank = UINT64_MAX,
    };
    guess(places, &best);
    look_into(places, places->level_count - 1, 0, 0, &best);
    places->last = best.cell;
    return best.cell;
}
