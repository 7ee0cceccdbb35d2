// clients/cli/base/report.h: results as readable lines.

#pragma once

#include <fogmarch/object.h>

/// One line per entry: name, value. Maps inside are printed with "outer.inner" names, lists of
/// numbers on one line.
///
/// @param prefix  in front of every name
void fm_report_map(const char *prefix, const msgpack_object *map);

/// The same, without the entries that are 0, empty, or a distribution of nothing.
void fm_report_counters(const char *prefix, const msgpack_object *map);

/// A planner: "astar", or with the one that it chose, "auto (goal-field)".
///
/// @param runs  name of the one that searches now; "": none
void fm_report_planner(const char *planner, const char *runs, char *text, size_t size);

/// That of an answer to debug.inspect.
void fm_report_inspected_planner(const msgpack_object *result, char *text, size_t size);

// How many texts of fm_report_grouped() and fm_report_size() are good at a time; those of one line
// must fit.
#define FM_REPORT_TEXTS 16u

/// A number with groups of three digits, such as 1,234,567. Static storage, FM_REPORT_TEXTS at a
/// time.
const char *fm_report_grouped(uint64_t number);

// A word of the protocol and what it means to people.
typedef struct fm_report_meaning {
    const char *word, *text;
} fm_report_meaning;

/// The text of a word; "" for one that is not in the list. `count` words.
const char *fm_report_meaning_of(const fm_report_meaning *known, size_t count, const char *word);

/// A size such as 12.3 MiB. Static storage, FM_REPORT_TEXTS at a time.
const char *fm_report_size(uint64_t bytes);
