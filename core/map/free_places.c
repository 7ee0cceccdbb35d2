// core/map/free_places.c: see free_places.h.

#include "core/map/free_places.h"

#include <string.h>

#define SIDE_BITS  3u // of a word's square, 8 x 8
#define SIDE       (1u << SIDE_BITS)
#define LEVELS_MAX 5u // 8^5 cells to a side

// The words of one level. A word of level 0 has a bit for each cell of a tile; one of level n has a
// bit for each word of level n - 1 under it.
struct level {
    uint32_t columns, rows; // words
    uint64_t *words;
};

struct fm_free_places {
    uint32_t width, height; // cells
    uint32_t level_count;   // 2 at least; the last is one word
    struct level levels[LEVELS_MAX];
    uint64_t *read; // as level 1: the tiles whose words have been read from the map
    size_t word_count;
    const fm_memory *memory;
    const fm_occupancy *occupancy;
    const fm_bitmap *blocked;
    uint32_t size;
    fm_cell last; // that was found; FM_CELL_NONE: none
    uint64_t words[];
};

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
    size_t word_count = 0;
    do {
        FM_ASSERT(level_count < LEVELS_MAX);
        struct level *level = &levels[level_count];
        level->columns = words_along(width, level_count);
        level->rows = words_along(height, level_count);
        word_count += (size_t)level->columns * level->rows;
        level_count++;
    } while (level_count < 2 || levels[level_count - 1].columns * levels[level_count - 1].rows > 1);
    word_count += (size_t)levels[1].columns * levels[1].rows; // `read`
    fm_free_places *places =
        fm_memory_allocate(memory, sizeof *places + word_count * sizeof *places->words);
    if (places == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *places = (fm_free_places){.width = width,
                               .height = height,
                               .level_count = level_count,
                               .word_count = word_count,
                               .memory = memory};
    uint64_t *next = places->words;
    for (uint32_t i = 0; i < level_count; i++) {
        places->levels[i] = levels[i];
        places->levels[i].words = next;
        next += (size_t)levels[i].columns * levels[i].rows;
    }
    places->read = next;
    *out = places;
    return FM_OK;
}

void fm_free_places_destroy(fm_free_places *places)
{
    if (places != NULL) {
        fm_memory_release(places->memory, places,
                          sizeof *places + places->word_count * sizeof *places->words);
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

// The word at (x, y) of a level, and its place in the level above.
struct spot {
    uint64_t *word;
    uint64_t bit; // in the word above
};

static struct spot spot_of(const fm_free_places *places, uint32_t level, uint32_t x, uint32_t y)
{
    return (struct spot){
        .word = &places->levels[level].words[y * places->levels[level].columns + x],
        .bit = UINT64_C(1) << ((y % SIDE) << SIDE_BITS | (x % SIDE)),
    };
}

static uint64_t *read_word(const fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    return &places->read[(tile_y >> SIDE_BITS) * places->levels[1].columns + (tile_x >> SIDE_BITS)];
}

static void read_tile(fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    struct spot spot = spot_of(places, 0, tile_x, tile_y);
    uint64_t *read = read_word(places, tile_x, tile_y);
    if ((*read & spot.bit) != 0) {
        return;
    }
    *read |= spot.bit;
    uint64_t bits = bits_inside(places->width, places->height, tile_x, tile_y);
    for (uint64_t left = bits; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        fm_cell cell =
            fm_cell_at((tile_x << SIDE_BITS) + i % SIDE, (tile_y << SIDE_BITS) + i / SIDE);
        if (!can_stand(places, cell)) {
            bits &= ~(UINT64_C(1) << i);
        }
    }
    *spot.word = bits;
}

// A tile that has been read has another word: the levels above follow it.
static void tell_above(fm_free_places *places, uint32_t tile_x, uint32_t tile_y)
{
    for (uint32_t level = 0; level + 1 < places->level_count; level++) {
        struct spot spot = spot_of(places, level, tile_x, tile_y);
        tile_x >>= SIDE_BITS;
        tile_y >>= SIDE_BITS;
        uint64_t *above = spot_of(places, level + 1, tile_x, tile_y).word;
        *above = *spot.word != 0 ? *above | spot.bit : *above & ~spot.bit;
    }
}

static void note_cell(fm_free_places *places, uint32_t x, uint32_t y)
{
    uint32_t tile_x = x >> SIDE_BITS, tile_y = y >> SIDE_BITS;
    struct spot spot = spot_of(places, 0, tile_x, tile_y);
    if ((*read_word(places, tile_x, tile_y) & spot.bit) == 0) {
        return; // it will be read as it is then
    }
    uint64_t bit = UINT64_C(1) << ((y % SIDE) << SIDE_BITS | (x % SIDE));
    *spot.word = can_stand(places, fm_cell_at(x, y)) ? *spot.word | bit : *spot.word & ~bit;
    tell_above(places, tile_x, tile_y);
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
    fm_cell cell; // FM_CELL_NONE: none yet
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

// The bits of a word whose squares have a cell that may be nearer than the best: a step of x or y
// costs 10 at least.
static uint64_t within_reach(uint32_t level, uint32_t x, uint32_t y, const struct nearest *best)
{
    uint64_t steps = (best->rank >> 26) / 10;
    uint32_t reach = steps < FM_SIDE_MAX ? (uint32_t)steps : FM_SIDE_MAX;
    uint32_t width_bits = SIDE_BITS * level;
    uint64_t columns =
        within(x << (width_bits + SIDE_BITS), width_bits, fm_cell_x(best->from), reach);
    uint64_t rows = within(y << (width_bits + SIDE_BITS), width_bits, fm_cell_y(best->from), reach);
    uint64_t bits = 0;
    for (uint64_t left = rows; left != 0; left &= left - 1) {
        bits |= columns << (SIDE * (uint32_t)__builtin_ctzll(left));
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
    read_tile(places, x, y);
    uint64_t left = *spot_of(places, 0, x, y).word & within_reach(0, x, y, best);
    while (left != 0) {
        uint32_t shift = (uint32_t)__builtin_ctzll(left) & ~(SIDE - 1); // the first row with a 1
        uint64_t row = left & UINT64_C(0xff) << shift;
        look_into_row((uint32_t)(row >> shift), x << SIDE_BITS, (y << SIDE_BITS) + shift / SIDE,
                      best);
        left ^= row;
    }
}

// The rank of the nearest cell under a word: no cell there has a smaller one.
static uint64_t least_rank(fm_cell from, uint32_t level, uint32_t x, uint32_t y)
{
    uint32_t shift = SIDE_BITS * (level + 1);
    uint32_t left = x << shift, right = ((x + 1) << shift) - 1;
    uint32_t top = y << shift, bottom = ((y + 1) << shift) - 1;
    uint32_t nearest_x = fm_cell_x(from) < left ? left : fm_min(right, fm_cell_x(from));
    uint32_t nearest_y = fm_cell_y(from) < top ? top : fm_min(bottom, fm_cell_y(from));
    return fm_occupancy_rank(from, fm_cell_at(nearest_x, nearest_y));
}

static void look_into(fm_free_places *places, uint32_t level, uint32_t x, uint32_t y,
                      struct nearest *best);

static void look_into_bit(fm_free_places *places, uint32_t level, uint32_t x, uint32_t y,
                          uint32_t i, struct nearest *best)
{
    uint32_t below_x = (x << SIDE_BITS) + i % SIDE, below_y = (y << SIDE_BITS) + i / SIDE;
    look_into(places, level - 1, below_x, below_y, best);
    if (*spot_of(places, level - 1, below_x, below_y).word == 0) {
        *spot_of(places, level, x, y).word &= ~(UINT64_C(1) << i);
    }
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
    uint64_t bits = *spot_of(places, level, x, y).word & within_reach(level, x, y, best);
    uint32_t first = SIDE * SIDE;
    for (; bits != 0; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        ranks[i] = least_rank(best->from, level - 1, (x << SIDE_BITS) + i % SIDE,
                              (y << SIDE_BITS) + i / SIDE);
        if (ranks[i] <= best->rank) {
            left |= UINT64_C(1) << i;
            first = first == SIDE * SIDE || ranks[i] < ranks[first] ? i : first;
        }
    }
    if (left != 0) {
        look_into_bit(places, level, x, y, first, best);
        left &= ~(UINT64_C(1) << first);
    }
    for (; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        if (ranks[i] <= best->rank) {
            look_into_bit(places, level, x, y, i, best);
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
    struct nearest best = {.from = from, .cell = FM_CELL_NONE, .rank = UINT64_MAX};
    guess(places, &best);
    look_into(places, places->level_count - 1, 0, 0, &best);
    places->last = best.cell;
    return best.cell;
}
