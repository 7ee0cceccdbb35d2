// core/fields/tile_kernel_avx512.c: the tile kernel for AVX-512BW: a row is one register, and the
// bits of the free cells are used as masks directly. Compiled with -mavx512bw, so nothing here may
// run before kernel_is_supported() has said yes. See tile_kernel.h.

#include "core/fields/tile_kernel_avx512.h"

#ifdef __x86_64__

#include <immintrin.h>

typedef __m512i row;

FM_INLINE row row_load(const uint16_t *lanes)
{
    return _mm512_loadu_si512(lanes);
}

FM_INLINE void row_store(uint16_t *lanes, row a)
{
    _mm512_storeu_si512(lanes, a);
}

FM_INLINE row row_lower(row a, row b, uint32_t bits)
{
    return _mm512_mask_min_epu16(a, bits, a, b);
}

FM_INLINE row row_add(row a, uint32_t cost)
{
    return _mm512_adds_epu16(a, _mm512_set1_epi16((short)cost));
}

static const uint16_t lane_numbers[FM_TILE_SIDE] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// The index of a lane counts modulo 32.
FM_INLINE row row_from_left(row a, uint32_t k)
{
    const __m512i numbers = _mm512_loadu_si512(lane_numbers);
    return _mm512_permutexvar_epi16(_mm512_sub_epi16(numbers, _mm512_set1_epi16((short)k)), a);
}

FM_INLINE row row_from_right(row a, uint32_t k)
{
    const __m512i numbers = _mm512_loadu_si512(lane_numbers);
    return _mm512_permutexvar_epi16(_mm512_add_epi16(numbers, _mm512_set1_epi16((short)k)), a);
}

FM_INLINE bool row_differs(row a, row b)
{
    return _mm512_cmpneq_epu16_mask(a, b) != 0;
}

static bool kernel_is_supported(void)
{
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}

#include "core/fields/tile_sweep.h"

const fm_tile_kernel fm_tile_kernel_avx512 = KERNEL("avx512");

#endif
