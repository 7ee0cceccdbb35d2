// core/crowd/crossing.h: no two units cross on the diagonals of one square of 2 x 2 cells (pibt.h).
//
//   a .    a goes to the south-east: nobody may go from b to the north-east, or come the other
//   b .    way there.
//
// Larger units cannot cross: what one leaves free at its corners is wider apart than a step. So
// only units of one cell are asked about, and only they ask.
//
// Threads: any.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether a unit of one cell stands in `from` and is about to go to `to`; cells as the caller
/// numbers them.
typedef bool fm_goes(const void *context, uint32_t from, uint32_t to);

/// Whether another unit goes over the square of a diagonal step as well.
///
/// @param left, right  the square's other two cells
static inline bool fm_is_crossed(fm_goes *goes, const void *context, uint32_t left, uint32_t right)
{
    return goes(context, left, right) || goes(context, right, left);
}
