// core/map/cost_layer.h: what a game adds to the cost of cells for one team, so that its paths keep
// away from them where there is another way: the reach of a tower, a road that is for others.
//
// A layer lies over what the team has seen. A cell weighs what it would without it plus what is
// added, at most FM_COST_MAX; nothing is ever blocked by it. Cells that nobody has seen yet can
// have something added as well.
//
// Threads: one writer, while nobody reads.

#pragma once

#include "core/base/memory.h"
#include "core/map/grid.h"

#define FM_ADDED_COST_MAX (FM_COST_MAX - FM_COST_FLOOR)

// All zero: there is none.
typedef struct fm_cost_layer {
    uint8_t *added;    // by cell, row-major, 0..FM_ADDED_COST_MAX; NULL: there is no layer
    uint8_t *weights;  // what cells weigh with it
    size_t cell_count; // of the map
} fm_cost_layer;

/// Makes a layer that adds nothing.
///
/// @param seen  what cells weigh without it; NULL: all FM_COST_FLOOR
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_cost_layer_init(fm_cost_layer *layer, const uint8_t *seen,
                                        size_t cell_count, const fm_memory *memory);

/// All zero is allowed, and what it leaves.
void fm_cost_layer_fini(fm_cost_layer *layer, const fm_memory *memory);

/// After `added` was filled from a saved world: what all cells weigh.
void fm_cost_layer_sum(fm_cost_layer *layer, const uint8_t *seen);

/// Bytes held.
static inline size_t fm_cost_layer_bytes(const fm_cost_layer *layer)
{
    return layer->added == NULL ? 0 : 2 * layer->cell_count;
}

/// What a cell that weighs so much weighs with the layer. 0, which is "cannot be entered", stays 0.
static inline uint32_t fm_cost_layer_weigh(const fm_cost_layer *layer, size_t i, uint32_t weight)
{
    if (layer->added == NULL || weight == 0) {
        return weight;
    }
    uint32_t sum = weight + layer->added[i];
    return sum < FM_COST_MAX ? sum : FM_COST_MAX;
}
