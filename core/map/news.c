// core/map/news.c: whether a unit that looks around may learn something; see knowledge.h.
//
// Nearly every unit that moves asks this in every tick, and nearly all walk where their team has
// been. So a row of the shape is a few operations on words, and where a team has many units, it
// notes for each cell that nothing is left to learn there.

#include "core/map/news.h"

// ---- cells from which nothing is left to learn --------------------------------------------------

void fm_knowledge_keep_sensed_from(fm_knowledge *knowledge)
{
    if (knowledge->sensed_from.words == NULL && !knowledge->omniscient) {
        (void)!fm_bitmap_init(&knowledge->sensed_from, knowledge->truth->width,
                              knowledge->truth->height, false, knowledge->memory);
    }
}

// Only what units see by the world's rules is noted.
static bool is_noted(const fm_knowledge *knowledge, const fm_line_of_sight *sight)
{
    return knowledge->sensed_from.words != NULL && sight == knowledge->sight;
}

// Other threads may set bits of the same word.
void fm_news_note_sensed(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    if (is_noted(knowledge, sight)) {
        uint64_t *row = fm_bitmap_row(&knowledge->sensed_from, (int32_t)fm_cell_y(cell));
        __atomic_fetch_or(&row[fm_cell_x(cell) >> 6], (uint64_t)1 << (fm_cell_x(cell) & 63),
                          __ATOMIC_RELAXED);
    }
}

static bool was_sensed_from(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                            fm_cell cell)
{
    if (!is_noted(knowledge, sight)) {
        return false;
    }
    const uint64_t *row = fm_bitmap_row(&knowledge->sensed_from, (int32_t)fm_cell_y(cell));
    uint64_t word = __atomic_load_n(&row[fm_cell_x(cell) >> 6], __ATOMIC_RELAXED);
    return word >> (fm_cell_x(cell) & 63) & 1;
}

static void forget_around(fm_knowledge *knowledge, uint32_t y, uint32_t x_first, uint32_t x_last)
{
    uint32_t radius = knowledge->sight->rules.radius;
    fm_rect rect = {.x = x_first - fm_min(x_first, radius), .y = y - fm_min(y, radius)};
    rect.width = fm_min(x_last + radius, knowledge->truth->width - 1) - rect.x + 1;
    rect.height = fm_min(y + radius, knowledge->truth->height - 1) - rect.y + 1;
    fm_bitmap_fill(&knowledge->sensed_from, rect, false);
}

// Run by run of the word.
void fm_news_expect(fm_knowledge *knowledge, const fm_edited_word *edited)
{
    uint64_t left = knowledge->sensed_from.words == NULL ? 0 : edited->mask;
    while (left != 0) {
        uint32_t first = (uint32_t)__builtin_ctzll(left);
        uint64_t zeros = ~(left >> first);
        uint32_t count = zeros == 0 ? 64 : (uint32_t)__builtin_ctzll(zeros);
        uint32_t last = first + count - 1;
        forget_around(knowledge, edited->y, edited->word * 64 + first, edited->word * 64 + last);
        left &= ~(UINT64_MAX >> (63 - last));
    }
}

// ---- news ---------------------------------------------------------------------------------------

// The shape's row is a word, and so are as many cells of the map's row.
static bool has_unknown_in_window(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                                  fm_cell cell)
{
    const fm_bitmap *known = &knowledge->known;
    uint32_t y = fm_cell_y(cell), radius = sight->rules.radius;
    uint32_t first = y - fm_min(y, radius), last = fm_min(y + radius, known->height - 1);
    int32_t begin = (int32_t)fm_cell_x(cell) - (int32_t)FM_SIGHT_CENTRE;
    uint64_t inside = fm_bitmap_inside(known, begin);
    const uint64_t *row = fm_bitmap_row(known, (int32_t)first);
    for (uint32_t i = first; i <= last; i++, row += known->pitch) {
        uint64_t shape = sight->shape[i < y ? y - i : i - y];
        if ((~fm_bitmap_bits(row, begin) & shape & inside) != 0) {
            return true;
        }
    }
    return false;
}

static bool has_unknown_in_span(const fm_knowledge *knowledge, const struct fm_sight_span *span)
{
    const uint64_t *known = fm_bitmap_row(&knowledge->known, (int32_t)span->y);
    uint64_t unknown = 0;
    for (uint32_t word = span->x_first >> 6; word <= span->x_last >> 6; word++) {
        unknown |= ~known[word] & fm_bitmap_span(word, span->x_first, span->x_last);
    }
    return unknown != 0;
}

static bool has_stale_in_span(const fm_knowledge *knowledge, const struct fm_sight_span *span)
{
    uint64_t stale = 0;
    for (uint32_t word = span->x_first >> 6; word <= span->x_last >> 6; word++) {
        stale |= fm_stale_word(&knowledge->stale, span->y, word) &
                 fm_bitmap_span(word, span->x_first, span->x_last);
    }
    return stale != 0;
}

typedef bool span_fn(const fm_knowledge *knowledge, const struct fm_sight_span *span);

static bool has_in_shape(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                         span_fn *has)
{
    int32_t radius = (int32_t)sight->rules.radius;
    for (int32_t dy = -radius; dy <= radius; dy++) {
        struct fm_sight_span span;
        if (fm_sight_span_of(sight, knowledge->truth, cell, dy, &span) && has(knowledge, &span)) {
            return true;
        }
    }
    return false;
}

// Whether some stale cell may be in reach: few pages are there at all.
static bool is_stale_around(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                            fm_cell cell)
{
    if (knowledge->stale.page_count == 0) {
        return false;
    }
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell), radius = sight->rules.radius;
    uint32_t right = fm_min(x + radius, knowledge->truth->width - 1) / FM_STALE_SIDE;
    uint32_t bottom = fm_min(y + radius, knowledge->truth->height - 1) / FM_STALE_SIDE;
    for (uint32_t row = (y - fm_min(y, radius)) / FM_STALE_SIDE; row <= bottom; row++) {
        for (uint32_t word = (x - fm_min(x, radius)) / FM_STALE_SIDE; word <= right; word++) {
            if (fm_stale_page_of(&knowledge->stale, row * FM_STALE_SIDE, word) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool has_news(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    bool has_unknown = sight->rules.radius <= FM_SIGHT_WINDOW_RADIUS_MAX
                           ? has_unknown_in_window(knowledge, sight, cell)
                           : has_in_shape(knowledge, sight, cell, has_unknown_in_span);
    return has_unknown || (is_stale_around(knowledge, sight, cell) &&
                           has_in_shape(knowledge, sight, cell, has_stale_in_span));
}

bool fm_knowledge_has_news(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                           fm_cell cell)
{
    sight = sight == NULL ? knowledge->sight : sight;
    if (knowledge->omniscient || was_sensed_from(knowledge, sight, cell)) {
        return false;
    }
    if (has_news(knowledge, sight, cell)) {
        return true;
    }
    fm_news_note_sensed(knowledge, sight, cell);
    return false;
}

void fm_knowledge_fetch(const fm_knowledge *knowledge, fm_cell cell)
{
    const fm_line_of_sight *sight = knowledge->sight;
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell), radius = sight->rules.radius;
    uint32_t first = y - fm_min(y, radius), last = fm_min(y + radius, knowledge->truth->height - 1);
    const uint64_t *known = fm_bitmap_row(&knowledge->known, (int32_t)first);
    const uint64_t *blocked = fm_bitmap_row(&knowledge->blocked, (int32_t)first);
    for (uint32_t i = first; i <= last; i++) {
        uint32_t reach = sight->half_width[i < y ? y - i : i - y];
        uint32_t word = (x - fm_min(x, reach)) >> 6;
        __builtin_prefetch(&known[word], 1);
        __builtin_prefetch(&blocked[word]);
        known += knowledge->known.pitch;
        blocked += knowledge->blocked.pitch;
    }
}
