// server/streams/sight_bits.c: see sight_bits.h.

#include "server/streams/sight_bits.h"

#include "proto/dense.h"

#include <stdlib.h>
#include <string.h>

static size_t word_count(size_t cells)
{
    return (cells + 63) / 64;
}

// One extra word, so that every bit may be read with the 63 after it.
static bool make_bits(size_t count, uint32_t width, fm_sight_bits *bits)
{
    uint64_t *words = calloc(word_count(count) + 1, sizeof *words);
    if (words == NULL) {
        return false;
    }
    *bits = (fm_sight_bits){.words = words, .count = count, .width = width};
    return true;
}

void fm_sight_bits_fini(fm_sight_bits *bits)
{
    free(bits->words);
    *bits = (fm_sight_bits){0};
}

static uint64_t low_bits(uint32_t count)
{
    return count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

static void append(uint64_t *to, size_t at, uint64_t cells)
{
    to[at / 64] |= cells << at % 64;
    if (at % 64 != 0) {
        to[at / 64 + 1] |= cells >> (64 - at % 64);
    }
}

// The 64 cells of a row from x on; beyond its last word there is nothing.
static uint64_t read_row(const uint64_t *row, uint32_t pitch, uint32_t x)
{
    uint64_t low = row[x / 64] >> x % 64;
    bool more = x % 64 != 0 && x / 64 + 1 < pitch;
    return more ? low | row[x / 64 + 1] << (64 - x % 64) : low;
}

bool fm_sight_bits_cut(const uint64_t *rows, uint32_t map_width, const fm_rect *rect,
                       fm_sight_bits *bits)
{
    uint32_t pitch = (map_width + 63) / 64;
    if (!make_bits((size_t)rect->width * rect->height, rect->width, bits)) {
        return false;
    }
    for (uint32_t y = 0; y < rect->height; y++) {
        const uint64_t *row = rows + (size_t)(rect->y + y) * pitch;
        for (uint32_t x = 0; x < rect->width; x += 64) {
            uint32_t count = rect->width - x < 64 ? rect->width - x : 64;
            uint64_t cells = read_row(row, pitch, rect->x + x) & low_bits(count);
            append(bits->words, (size_t)y * rect->width + x, cells);
        }
    }
    return true;
}

// The first cell from `at` on that has a value; `count` when there is none.
static size_t find(const fm_sight_bits *bits, bool value, size_t at)
{
    while (at < bits->count) {
        uint64_t word = bits->words[at / 64];
        word = (value ? word : ~word) & UINT64_MAX << at % 64;
        if (word != 0) {
            at = at / 64 * 64 + (size_t)__builtin_ctzll(word);
            return at < bits->count ? at : bits->count;
        }
        at = (at / 64 + 1) * 64;
    }
    return bits->count;
}

size_t fm_sight_bits_run(const fm_sight_bits *bits, bool value, size_t *begin)
{
    *begin = find(bits, value, *begin);
    return find(bits, !value, *begin) - *begin;
}

void fm_sight_bits_and(fm_sight_bits *to, const fm_sight_bits *mask, bool value)
{
    for (size_t i = 0; i < word_count(to->count); i++) {
        to->words[i] &= value ? mask->words[i] : ~mask->words[i];
    }
}

// Which cells differ from the one above them.
static bool compare_rows(const fm_sight_bits *bits, fm_sight_bits *edges)
{
    if (!make_bits(bits->count, bits->width, edges)) {
        return false;
    }
    size_t words = word_count(bits->count), shift = bits->width / 64;
    uint32_t rest = bits->width % 64;
    memcpy(edges->words, bits->words, words * sizeof *edges->words);
    for (size_t i = 0; i + shift < words; i++) {
        edges->words[i + shift] ^= bits->words[i] << rest;
        if (rest != 0 && i + shift + 1 < words) {
            edges->words[i + shift + 1] ^= bits->words[i] >> (64 - rest);
        }
    }
    if (bits->count % 64 != 0) {
        edges->words[words - 1] &= low_bits(bits->count % 64);
    }
    return true;
}

size_t fm_sight_bits_pack(const fm_sight_bits *bits, uint8_t kind, uint8_t **bytes)
{
    fm_sight_bits edges;
    if (!compare_rows(bits, &edges)) {
        return 0;
    }
    fm_dense_span span = {0}, before = {0};
    size_t count = 0, begin = 0, length;
    while ((length = fm_sight_bits_run(&edges, true, &begin)) > 0) {
        begin += length;
        count++;
    }
    uint8_t *made = malloc(1 + count * FM_DENSE_SPAN_SIZE_MAX), *at = made;
    if (made != NULL) {
        *at++ = kind;
        for (begin = 0; (length = fm_sight_bits_run(&edges, true, &begin)) > 0; begin += length) {
            span = (fm_dense_span){.begin = begin, .count = length};
            at = fm_dense_put_span(at, &span, &before);
            before = span;
        }
    }
    fm_sight_bits_fini(&edges);
    *bytes = made;
    return (size_t)(at - made);
}
