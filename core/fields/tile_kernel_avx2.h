// core/fields/tile_kernel_avx2.h: the tile kernel for processors with AVX2. tile_kernel.h tells
// what a kernel does.

#pragma once

#include "core/fields/tile_kernel.h"

#ifdef __x86_64__
extern const fm_tile_kernel fm_tile_kernel_avx2;
#endif
