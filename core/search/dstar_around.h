// core/search/dstar_around.h: which of the cells around one D* Lite has to look at.
//
// An expansion compares the rhs of all neighbours with the path through the cell. They are read
// before it is decided which comparison is needed, and the outcome is a bit for each direction, so
// that no branch depends on what nobody can predict. Whether a step is legal is not asked. All
// weights are equal.
//
// `four` is a constant wherever these are called from a loop.

#pragma once

#include "core/search/dstar_open.h"

// By direction; with 4 neighbours the even ones only.
typedef struct fm_dstar_around {
    uint32_t rhs[FM_DIRECTION_COUNT];
} fm_dstar_around;

/// How far the directions that are looked at lie apart.
FM_INLINE uint32_t fm_dstar_stride(bool four)
{
    return four ? 2 : 1;
}

/// What the cells around one hold; a blank node's where no page was taken.
FM_INLINE fm_dstar_around fm_dstar_around_of(const fm_page *page, uint32_t position, bool four)
{
    fm_dstar_around around;
    FM_UNROLL
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i += fm_dstar_stride(four)) {
        fm_page_step step = fm_page_steps[position][i];
        around.rhs[i] = fm_dstar_node_at(page->near[step.page], step.position)->rhs;
    }
    return around;
}

/// For each direction a bit: whether the neighbour's rhs is what the path through the cell costs,
/// or with `more`, more than that. Bits are shifted in from below, which takes few instructions.
///
/// @param g      of the cell
/// @param steps  costs of a straight and a diagonal step
/// @param more   a constant
FM_INLINE uint32_t fm_dstar_compare(const fm_dstar_around *around, bool four, uint32_t g,
                                    const uint32_t steps[2], bool more)
{
    uint32_t bits = 0;
    FM_UNROLL
    for (uint32_t n = FM_DIRECTION_COUNT; n > 0; n -= fm_dstar_stride(four)) {
        uint32_t i = n - fm_dstar_stride(four);
        uint32_t cost = g + steps[four ? 0 : i & 1];
        bool bit = more ? cost < around->rhs[i] : around->rhs[i] == cost;
        bits = (bits << fm_dstar_stride(four)) + bit;
    }
    return bits;
}

/// The neighbours whose rhs the path through the cell gives.
FM_INLINE uint32_t fm_dstar_reached(const fm_dstar_around *around, bool four, uint32_t g,
                                    const uint32_t steps[2])
{
    return fm_dstar_compare(around, four, g, steps, false);
}

/// Those whose rhs it makes smaller.
FM_INLINE uint32_t fm_dstar_improved(const fm_dstar_around *around, bool four, uint32_t g,
                                     const uint32_t steps[2])
{
    return fm_dstar_compare(around, four, g, steps, true);
}
