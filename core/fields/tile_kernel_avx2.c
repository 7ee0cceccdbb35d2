// core/fields/tile_kernel_avx2.c: the tile kernel for AVX2: a row is two registers. Compiled with
// -mavx2, so nothing here may run before kernel_is_supported() has said yes. See tile_kernel.h.

#include "core/fields/tile_kernel_avx2.h"

#ifdef __x86_64__

#include <immintrin.h>

typedef struct row {
    __m256i low, high; // 16 lanes each
} row;

FM_INLINE row row_load(const uint16_t *lanes)
{
    return (row){_mm256_loadu_si256((const __m256i *)lanes),
                 _mm256_loadu_si256((const __m256i *)lanes + 1)};
}

FM_INLINE void row_store(uint16_t *lanes, row a)
{
    _mm256_storeu_si256((__m256i *)lanes, a.low);
    _mm256_storeu_si256((__m256i *)lanes + 1, a.high);
}

// Ones in the lanes whose bit is not set.
FM_INLINE __m256i closed(uint32_t bits)
{
    const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                          8192, 16384, (short)32768);
    __m256i set = _mm256_and_si256(_mm256_set1_epi16((short)bits), bit);
    return _mm256_cmpeq_epi16(set, _mm256_setzero_si256());
}

FM_INLINE row row_lower(row a, row b, uint32_t bits)
{
    if (__builtin_constant_p(bits) && bits == UINT32_MAX) {
        return (row){_mm256_min_epu16(a.low, b.low), _mm256_min_epu16(a.high, b.high)};
    }
    __m256i low = _mm256_or_si256(b.low, closed(bits));
    __m256i high = _mm256_or_si256(b.high, closed(bits >> 16));
    return (row){_mm256_min_epu16(a.low, low), _mm256_min_epu16(a.high, high)};
}

FM_INLINE row row_add(row a, uint32_t cost)
{
    const __m256i costs = _mm256_set1_epi16((short)cost);
    return (row){_mm256_adds_epu16(a.low, costs), _mm256_adds_epu16(a.high, costs)};
}

// AVX2 shifts within 128-bit halves only, so each shift also gets the lanes before, or behind, its
// own. k is a constant in tile_sweep.h, so one case is compiled.
FM_INLINE __m256i lanes_from_left(__m256i before, __m256i own, uint32_t k)
{
    switch (k) {
    case 1:
        return _mm256_alignr_epi8(own, before, 14);
    case 2:
        return _mm256_alignr_epi8(own, before, 12);
    case 4:
        return _mm256_alignr_epi8(own, before, 8);
    default:
        return before;
    }
}

FM_INLINE __m256i lanes_from_right(__m256i own, __m256i behind, uint32_t k)
{
    switch (k) {
    case 1:
        return _mm256_alignr_epi8(behind, own, 2);
    case 2:
        return _mm256_alignr_epi8(behind, own, 4);
    case 4:
        return _mm256_alignr_epi8(behind, own, 8);
    default:
        return behind;
    }
}

FM_INLINE row row_from_left(row a, uint32_t k)
{
    if (k == 16) {
        return (row){a.low, a.low};
    }
    __m256i before_low = _mm256_permute2x128_si256(a.low, a.low, 0x08);
    __m256i before_high = _mm256_permute2x128_si256(a.low, a.high, 0x21);
    return (row){lanes_from_left(before_low, a.low, k), lanes_from_left(before_high, a.high, k)};
}

FM_INLINE row row_from_right(row a, uint32_t k)
{
    if (k == 16) {
        return (row){a.high, a.high};
    }
    __m256i behind_low = _mm256_permute2x128_si256(a.low, a.high, 0x21);
    __m256i behind_high = _mm256_permute2x128_si256(a.high, a.high, 0x81);
    return (row){lanes_from_right(a.low, behind_low, k), lanes_from_right(a.high, behind_high, k)};
}

FM_INLINE bool row_differs(row a, row b)
{
    __m256i equal =
        _mm256_and_si256(_mm256_cmpeq_epi16(a.low, b.low), _mm256_cmpeq_epi16(a.high, b.high));
    return _mm256_movemask_epi8(equal) != -1;
}

static bool kernel_is_supported(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

#include "core/fields/tile_sweep.h"

const fm_tile_kernel fm_tile_kernel_avx2 = KERNEL("avx2");

#endif
