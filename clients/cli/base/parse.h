// clients/cli/base/parse.h: parses numbers, cells, rectangles and lists of ids from the command
// line.

#pragma once

#include "core/world/world.h"

/// A whole number in decimal, at most `maximum`.
bool fm_parse_uint(const char *text, uint64_t maximum, uint64_t *number);

bool fm_parse_real(const char *text, double *real);

/// "X,Y"
bool fm_parse_cell(const char *text, fm_cell *cell);

/// "X,Y" or "X,Y/X,Y/...", at most `count_max` cells. @return how many, 0 when it is not that
uint32_t fm_parse_cells(const char *text, fm_cell *cells, uint32_t count_max);

/// "X,Y,WIDTH,HEIGHT"
bool fm_parse_rect(const char *text, fm_rect *rect);

// A growing list of ids, to be released with free(list.ids).
typedef struct fm_id_list {
    uint64_t *ids;
    uint32_t count;
    uint32_t capacity;
} fm_id_list;

/// @return false when out of memory or there would be more than FM_AGENTS_MAX
bool fm_id_list_add(fm_id_list *list, uint64_t id);

/// Appends what "1-20,33,40-41" names. @return false when it is not such a list, or is too long
bool fm_parse_ids(const char *text, fm_id_list *list);

/// Leaves each id once, where it stood first. @return false when out of memory
bool fm_id_list_drop_doubles(fm_id_list *list);
