// core/fields/tile_kernel_sse2.h: the tile kernel for every x86-64. tile_kernel.h says what a
// kernel does.

#pragma once

#include "core/fields/tile_kernel.h"

#ifdef __x86_64__
extern const fm_tile_kernel fm_tile_kernel_sse2;
#endif
