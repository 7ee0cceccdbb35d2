// core/base/name_hint.h: the known name that a mistyped one was most likely to be.
//
//   fm_name_hint hint;
//   fm_name_hint_begin(&hint, name);
//   for (...) {
//       fm_name_hint_offer(&hint, known[i]);
//   }
//   printf("there is no planner '%s'%s\n", name, fm_name_hint_text(&hint));
//
// Threads: any.

#pragma once

#include "core/base/edit_distance.h"

struct option;

typedef struct fm_name_hint {
    char given[FM_EDIT_DISTANCE_MAX + 1]; // with '-' for '_'; empty: longer than that
    char name[FM_EDIT_DISTANCE_MAX + 1];  // the most alike so far, as it was offered
    uint32_t distance;                    // to it, in edits; UINT32_MAX: nothing was offered
    char text[FM_EDIT_DISTANCE_MAX + 16];
} fm_name_hint;

/// Begins with a name that somebody gave. To take '-' for '_' is no mistake here.
void fm_name_hint_begin(fm_name_hint *hint, const char *given);

/// Offers a name that exists. Of equally alike ones the first stays.
void fm_name_hint_offer(fm_name_hint *hint, const char *known);

/// Begins with an argument such as --conect=HOST, and offers all options of getopt_long(), with
/// their dashes.
///
/// @param longs  up to one without a name
void fm_name_hint_of_option(fm_name_hint *hint, const char *argument, const struct option *longs);

/// The best name. NULL: it is more than two edits away, or more than half of the given name's
/// bytes. Lives as long as `hint`.
const char *fm_name_hint_best(const fm_name_hint *hint);

/// What to append to an error: "; perhaps NAME", or "" where there is no best name. Lives as long
/// as `hint`.
const char *fm_name_hint_text(fm_name_hint *hint);
