// core/fields/tile_kernel_avx512.h: the tile kernel for processors with AVX-512BW. tile_kernel.h
// says what a kernel does.

#pragma once

#include "core/fields/tile_kernel.h"

#ifdef __x86_64__
extern const fm_tile_kernel fm_tile_kernel_avx512;
#endif
