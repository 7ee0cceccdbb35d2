// core/fields/tile_kernel_sse2.c: the tile kernel for every x86-64: a row is four registers. See
// tile_kernel.h.

#include "core/fields/tile_kernel_sse2.h"

#ifdef __x86_64__

#include <emmintrin.h>

#define PARTS 4u

typedef struct row {
    __m128i parts[PARTS]; // 8 lanes each
} row;

FM_INLINE row row_load(const uint16_t *lanes)
{
    row a;
    for (uint32_t i = 0; i < PARTS; i++) {
        a.parts[i] = _mm_loadu_si128((const __m128i *)lanes + i);
    }
    return a;
}

FM_INLINE void row_store(uint16_t *lanes, row a)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        _mm_storeu_si128((__m128i *)lanes + i, a.parts[i]);
    }
}

// b where a bit is set: ones in the lanes whose bit is not.
FM_INLINE __m128i closed(uint32_t bits, uint32_t part)
{
    const __m128i bit = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
    __m128i set = _mm_and_si128(_mm_set1_epi16((short)(bits >> part * 8)), bit);
    return _mm_cmpeq_epi16(set, _mm_setzero_si128());
}

// SSE2 has no unsigned minimum of 16 bits: a - (a - b where that is above zero).
FM_INLINE row row_lower(row a, row b, uint32_t bits)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        __m128i other = _mm_or_si128(b.parts[i], closed(bits, i));
        a.parts[i] = _mm_sub_epi16(a.parts[i], _mm_subs_epu16(a.parts[i], other));
    }
    return a;
}

FM_INLINE row row_add(row a, uint32_t cost)
{
    const __m128i costs = _mm_set1_epi16((short)cost);
    for (uint32_t i = 0; i < PARTS; i++) {
        a.parts[i] = _mm_adds_epu16(a.parts[i], costs);
    }
    return a;
}

// k is a constant everywhere below, so one case is compiled.
FM_INLINE __m128i lanes_from_left(__m128i before, __m128i own, uint32_t k)
{
    switch (k) {
    case 1:
        return _mm_or_si128(_mm_slli_si128(own, 2), _mm_srli_si128(before, 14));
    case 2:
        return _mm_or_si128(_mm_slli_si128(own, 4), _mm_srli_si128(before, 12));
    default:
        return _mm_or_si128(_mm_slli_si128(own, 8), _mm_srli_si128(before, 8));
    }
}

FM_INLINE __m128i lanes_from_right(__m128i own, __m128i behind, uint32_t k)
{
    switch (k) {
    case 1:
        return _mm_or_si128(_mm_srli_si128(own, 2), _mm_slli_si128(behind, 14));
    case 2:
        return _mm_or_si128(_mm_srli_si128(own, 4), _mm_slli_si128(behind, 12));
    default:
        return _mm_or_si128(_mm_srli_si128(own, 8), _mm_slli_si128(behind, 8));
    }
}

FM_INLINE row row_from_left(row a, uint32_t k)
{
    row b = a;
    for (uint32_t i = PARTS; i-- > 0;) {
        if (k >= 8) {
            b.parts[i] = a.parts[i >= k / 8 ? i - k / 8 : i];
        } else {
            b.parts[i] = lanes_from_left(a.parts[i > 0 ? i - 1 : 0], a.parts[i], k);
        }
    }
    return b;
}

FM_INLINE row row_from_right(row a, uint32_t k)
{
    row b = a;
    for (uint32_t i = 0; i < PARTS; i++) {
        if (k >= 8) {
            b.parts[i] = a.parts[i + k / 8 < PARTS ? i + k / 8 : i];
        } else {
            b.parts[i] = lanes_from_right(a.parts[i], a.parts[i + 1 < PARTS ? i + 1 : i], k);
        }
    }
    return b;
}

FM_INLINE bool row_differs(row a, row b)
{
    __m128i equal = _mm_cmpeq_epi16(a.parts[0], b.parts[0]);
    for (uint32_t i = 1; i < PARTS; i++) {
        equal = _mm_and_si128(equal, _mm_cmpeq_epi16(a.parts[i], b.parts[i]));
    }
    return _mm_movemask_epi8(equal) != 0xffff;
}

static bool kernel_is_supported(void)
{
    return true;
}

#include "core/fields/tile_sweep.h"

const fm_tile_kernel fm_tile_kernel_sse2 = KERNEL("sse2");

#endif
