// core/map/look_all.c: see look_all.h.
//
// Plain sight is a shape, so all eyes of a row are handled together: their bits are smeared as far
// as the shape reaches to either side, by doubling shifts, and the result is added to each row that
// the shape reaches up and down. A crowd of units costs no more than one unit. With line of sight
// the occupied cells of a word are handled together.

#include "core/map/look_all.h"

#include "core/map/line_of_sight.h"

#define WORDS_MAX (FM_SIDE_MAX / 64 + 4) // of a row, with room for what is smeared beyond it

// A part of a row: what words[0] holds begins with cell 64 * first.
struct strip {
    uint64_t words[WORDS_MAX];
    uint32_t first, count;
};

// Adds each bit to the one `shift` places higher, 1..63.
static void smear_by(struct strip *strip, uint32_t shift)
{
    for (uint32_t i = strip->count - 1; i > 0; i--) {
        strip->words[i] |= strip->words[i] << shift | strip->words[i - 1] >> (64 - shift);
    }
    strip->words[0] |= strip->words[0] << shift;
}

static void shift_down(struct strip *strip, uint32_t shift)
{
    for (uint32_t i = 0; i < strip->count; i++) {
        uint64_t next = i + 1 < strip->count ? strip->words[i + 1] : 0;
        strip->words[i] = strip->words[i] >> shift | next << (64 - shift);
    }
}

// The words of a row from one before its first eye to three behind its last: a shape reaches 64
// cells to either side, and is smeared to one side first.
static bool cut_strip(const fm_bitmap *eyes, uint32_t y, struct strip *strip)
{
    const uint64_t *row = fm_bitmap_row(eyes, (int32_t)y);
    uint32_t words = (eyes->width + 63) / 64, first = 0, last = words;
    while (first < words && row[first] == 0) {
        first++;
    }
    if (first == words) {
        return false;
    }
    while (row[last - 1] == 0) {
        last--;
    }
    strip->first = first == 0 ? 0 : first - 1;
    strip->count = last - strip->first + 3;
    memset(strip->words, 0, strip->count * sizeof *strip->words);
    memcpy(strip->words + (first - strip->first), row + first, (last - first) * sizeof *row);
    return true;
}

// Smears each bit `reach` places to either side.
static void smear(struct strip *strip, uint32_t reach)
{
    for (uint32_t covered = 1; covered < 2 * reach + 1;) {
        uint32_t left = 2 * reach + 1 - covered;
        uint32_t shift = covered < left ? covered : left;
        shift = shift < 63 ? shift : 63;
        smear_by(strip, shift);
        covered += shift;
    }
    for (uint32_t left = reach; left > 0;) {
        uint32_t shift = left < 63 ? left : 63;
        shift_down(strip, shift);
        left -= shift;
    }
}

// The margin of a bitmap keeps its value: bits beyond the row's end are left out.
static void mark(const struct strip *strip, fm_bitmap *visible, int32_t y)
{
    if (y < 0 || y >= (int32_t)visible->height) {
        return;
    }
    uint64_t *row = fm_bitmap_row(visible, y);
    uint32_t words = (visible->width + 63) / 64;
    for (uint32_t i = 0; i < strip->count && strip->first + i < words; i++) {
        bool is_last = strip->first + i + 1 == words && visible->width % 64 != 0;
        uint64_t inside = is_last ? ((uint64_t)1 << visible->width % 64) - 1 : UINT64_MAX;
        row[strip->first + i] |= strip->words[i] & inside;
    }
}

static void look_from_row(const fm_line_of_sight *sight, const fm_bitmap *eyes, uint32_t y,
                          fm_bitmap *visible)
{
    struct strip strip, smeared;
    if (!cut_strip(eyes, y, &strip)) {
        return;
    }
    uint32_t reach = UINT32_MAX;
    for (uint32_t dy = 0; dy <= sight->rules.radius; dy++) {
        if (sight->half_width[dy] != reach) {
            reach = sight->half_width[dy];
            smeared.first = strip.first;
            smeared.count = strip.count;
            memcpy(smeared.words, strip.words, strip.count * sizeof *strip.words);
            smear(&smeared, reach);
        }
        mark(&smeared, visible, (int32_t)y - (int32_t)dy);
        mark(&smeared, visible, (int32_t)(y + dy));
    }
}

static void look_along_lines(const fm_knowledge *knowledge, const fm_bitmap *eyes, uint32_t y,
                             fm_bitmap *visible)
{
    const uint64_t *row = fm_bitmap_row(eyes, (int32_t)y);
    for (uint32_t word = 0; word < (eyes->width + 63) / 64; word++) {
        if (row[word] != 0) {
            fm_line_of_sight_look_from_word(knowledge->sight, knowledge->truth, word, y, row[word],
                                            visible);
        }
    }
}

void fm_look_all(const fm_knowledge *knowledge, const fm_bitmap *eyes, fm_bitmap *visible)
{
    for (uint32_t y = 0; y < eyes->height; y++) {
        if (knowledge->sight->rules.line_of_sight) {
            look_along_lines(knowledge, eyes, y, visible);
        } else {
            look_from_row(knowledge->sight, eyes, y, visible);
        }
    }
}
