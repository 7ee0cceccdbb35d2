// core/map/cost_layer.c: see cost_layer.h. It keeps the sums beside what was added, so that a
// search reads one byte a cell, as it does without a layer.

#include "core/map/cost_layer.h"

#include <string.h>

fm_status fm_cost_layer_init(fm_cost_layer *layer, const uint8_t *seen, size_t cell_count,
                             const fm_memory *memory)
{
    uint8_t *added = fm_memory_allocate_zeroed(memory, cell_count, 1);
    uint8_t *weights = fm_memory_allocate(memory, cell_count);
    if (added == NULL || weights == NULL) {
        fm_memory_release(memory, added, cell_count);
        fm_memory_release(memory, weights, cell_count);
        return FM_ERR_NO_MEMORY;
    }
    if (seen != NULL) {
        memcpy(weights, seen, cell_count);
    } else {
        memset(weights, FM_COST_FLOOR, cell_count);
    }
    *layer = (fm_cost_layer){.added = added, .weights = weights, .cell_count = cell_count};
    return FM_OK;
}

void fm_cost_layer_sum(fm_cost_layer *layer, const uint8_t *seen)
{
    for (size_t i = 0; i < layer->cell_count; i++) {
        layer->weights[i] =
            (uint8_t)fm_cost_layer_weigh(layer, i, seen == NULL ? FM_COST_FLOOR : seen[i]);
    }
}

void fm_cost_layer_fini(fm_cost_layer *layer, const fm_memory *memory)
{
    fm_memory_release(memory, layer->added, layer->cell_count);
    fm_memory_release(memory, layer->weights, layer->cell_count);
    *layer = (fm_cost_layer){0};
}
