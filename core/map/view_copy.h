// core/map/view_copy.h: a copy of a view at one moment, while the original keeps changing.
//
// Threads: readers may share it.

#pragma once

#include "core/map/view.h"

typedef struct fm_view_copy {
    fm_view view; // of the copies below
    const fm_memory *memory;
    fm_bitmap blocked, blocked_transposed;
    uint8_t *weights;
} fm_view_copy;

/// @param memory  outlives the copy
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_view_copy_create(const fm_view *view, const fm_memory *memory,
                                         fm_view_copy **out);

/// NULL is allowed.
void fm_view_copy_destroy(fm_view_copy *copy);
