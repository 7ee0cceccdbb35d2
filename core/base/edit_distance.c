// core/base/edit_distance.c: see edit_distance.h.

#include "core/base/edit_distance.h"

#include "core/base/base.h"

#include <string.h>

// Row `i` of the table is the distance from the first i bytes of `one` to each beginning of
// `other`; a row needs only the one before it.
uint32_t fm_edit_distance(const char *one, const char *other)
{
    size_t one_size = strlen(one), other_size = strlen(other);
    uint32_t row[FM_EDIT_DISTANCE_MAX + 1];
    if (one_size > FM_EDIT_DISTANCE_MAX || other_size > FM_EDIT_DISTANCE_MAX) {
        return UINT32_MAX;
    }
    for (uint32_t k = 0; k <= other_size; k++) {
        row[k] = k;
    }
    for (uint32_t i = 1; i <= one_size; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= other_size; k++) {
            uint32_t replaced = diagonal + (one[i - 1] != other[k - 1]);
            diagonal = row[k];
            row[k] = fm_min(replaced, fm_min(row[k], row[k - 1]) + 1);
        }
    }
    return row[other_size];
}
