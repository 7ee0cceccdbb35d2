// core/fields/tile_kernel_plain.h: the tile kernel in plain C, for every processor. tile_kernel.h
// says what a kernel does.

#pragma once

#include "core/fields/tile_kernel.h"

extern const fm_tile_kernel fm_tile_kernel_plain;
