// server/streams/view_shift.h: the rectangles before and after a delta.

#pragma once

#include "server/streams/body_packer.h"

#include <string.h>

// What a reader shows and what it is to show: two rectangles when its view has moved.
typedef struct fm_view_shift {
    const fm_rect *from, *to;
} fm_view_shift;

static inline bool fm_view_shift_moves(const fm_view_shift *shift)
{
    return memcmp(shift->from, shift->to, sizeof *shift->from) != 0;
}
