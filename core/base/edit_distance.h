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
