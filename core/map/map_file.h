// core/map/map_file.h: reads and writes the MovingAI .map format, from and to memory.
//
//     type octile
//     height H
//     width W
//     map
//     H rows of W letters
//     costs                  these lines only where some cost is not 1
//     H rows of costs
//
// Letters read: . G ground, @ out of bounds, O wall, T trees, S swamp, W water. `type tile` and
// `type weighted` are read as well. A row of costs gives those of its cells from left to right, as
// numbers in 1..FM_COST_MAX between blanks, or as runs: 12x4 is twelve cells that cost 4. Readers
// that do not know of costs stop before them, so the file is a map for them too.
//
// Lines may end in LF or CRLF, the last one in neither; only blank lines may follow the last row.
// Written: fm_terrain_letter(), runs and LF; a building is written as a wall.
// Source: N. Sturtevant, "Benchmarks for Grid-Based Pathfinding", IEEE TCIAIG 2012; the costs are
// our own.

#pragma once

#include "core/map/grid.h"

// Longer texts are refused unread. The largest map needs 17 MB, with costs 84 MB.
#define FM_TEXT_SIZE_MAX ((size_t)256 << 20)

// Where a text stopped following its format.
typedef struct fm_text_error {
    uint32_t line;     // from 1; 0 when the error is not in the text (memory)
    uint32_t column;   // from 1, in bytes
    char message[160]; // a sentence that names what was wrong, NUL-terminated
} fm_text_error;

/// Reads a map. The whole text is checked before anything is allocated, so a short text that
/// promises a large map costs nothing.
///
/// @param text, size  the file's bytes; need not end in NUL
/// @param out         receives the grid; left alone on failure
/// @param error       receives what was wrong and where; may be NULL
/// @return FM_OK, FM_ERR_BAD_FORMAT, FM_ERR_BAD_SIZE, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_map_read(const char *text, size_t size, const fm_memory *memory,
                                 fm_grid **out, fm_text_error *error);

// What each byte of a row means.
typedef struct fm_map_letters {
    uint8_t terrain[256]; // fm_terrain; FM_TERRAIN_UNKNOWN: no row may hold this byte
    uint8_t cost[256];    // 1..FM_COST_MAX where there is a terrain
} fm_map_letters;

// Those of the format.
extern const fm_map_letters fm_map_letters_default;

/// fm_map_read() for a map with letters of its own. Parameters and statuses as there.
FM_CHECKED fm_status fm_map_read_letters(const char *text, size_t size,
                                         const fm_map_letters *letters, const fm_memory *memory,
                                         fm_grid **out, fm_text_error *error);

/// Bytes that fm_map_write() needs.
size_t fm_map_written_size(const fm_grid *grid);

/// Writes a map. `text` has room for fm_map_written_size() bytes; no NUL is added.
void fm_map_write(const fm_grid *grid, char *text);

// One line of a .scen file.
typedef struct fm_problem {
    uint32_t bucket;
    uint32_t map_width, map_height; // as the file claims
    fm_cell start, goal;            // inside a map of that size
    double optimal_length;
    double
        length_unit; // of the last decimal that the file gives, 0.01 in 5.24; 0 in a whole number
} fm_problem;

/// Reads a problem file ("version 1", then one tab- or space-separated line per problem: bucket,
/// map, map width, map height, start x, start y, goal x, goal y, optimal length). Blank lines are
/// skipped. The map's name holds no blanks and is not kept.
///
/// @param problems  receives an array from `memory`, to be released with its size of
///                  *count * sizeof(fm_problem); NULL when there are none
/// @param count     receives their number
/// @param error     receives what was wrong and where; may be NULL
/// @return FM_OK, FM_ERR_BAD_FORMAT, FM_ERR_LIMIT or FM_ERR_NO_MEMORY; on failure neither
///         problems nor count is touched
FM_CHECKED fm_status fm_scen_read(const char *text, size_t size, const fm_memory *memory,
                                  fm_problem **problems, uint32_t *count, fm_text_error *error);
