// core/base/edit_distance.h: how alike two names are, to suggest the right one for a mistyped one.
//
// Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals (1966).
//
// Threads: any.

#pragma once

#include <stdint.h>

#define FM_EDIT_DISTANCE_MAX 64u // bytes of a name; longer ones are unlike everything

/// How many bytes have to be inserted, deleted or replaced to turn one name into the other.
/// UINT32_MAX when one of them has more than FM_EDIT_DISTANCE_MAX bytes.
uint32_t fm_edit_distance(const char *one, const char *other);

// The known name that is most like a given one.
typedef struct fm_nearest {
    char given[FM_EDIT_DISTANCE_MAX + 1]; // with '-' for '_'; empty: longer than that
    char name[FM_EDIT_DISTANCE_MAX + 1];  // the most alike so far, as it was offered
    uint32_t distance;                    // to it; UINT32_MAX: nothing was offered
    char hint[FM_EDIT_DISTANCE_MAX + 16];
} fm_nearest;

/// Begins with a name that somebody gave. To take '-' for '_' is no mistake here.
void fm_nearest_init(fm_nearest *nearest, const char *given);

/// Offers a name that exists. Of equally alike ones the first stays.
void fm_nearest_offer(fm_nearest *nearest, const char *known);

/// What to append to an error: "; perhaps NAME" when the best name is at most two edits away, and
/// no more than half of the given name's bytes. Otherwise "". Lives as long as `nearest`.
const char *fm_nearest_hint(fm_nearest *nearest);
