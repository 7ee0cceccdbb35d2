// core/fields/field_starts.h: where the agents stand for whom a field is computed, and how far its
// search has to get for them.
//
// A search asks both for each tile that it computes, so neither may cost a look at all agents: a
// bit for each tile of the box around them says whether one stands there, and the largest distance
// is known until the tile is computed that it depends on. While somebody has no distance, that is
// the tile of the first such start; then that of the farthest one. Other tiles cannot make it
// larger, because computing lowers distances (fm_tile_compute()).
// With a look at all starts for each tile the first tick of 65,536 agents, scattered over
// 4096 x 4096 cells, took 1,252 ms in place of 344, that of 4,096 agents 303 in place of 142, and
// that of 256 agents 110 in place of 105 (one worker, busy machine).
//
// Threads: like the field.

#pragma once

#include "core/fields/tile_field.h"

typedef struct fm_field_starts {
    fm_cell *cells; // owned
    uint32_t count, capacity;
    fm_box box;      // around them, if there are any
    uint64_t *seats; // bit per tile that the box touches, by row, then column; owned
    uint32_t seat_words;
    uint32_t column, row, columns, rows; // these tiles, from the first one on
    uint32_t waiting;                    // those before it had a distance when last asked
    uint32_t farthest;                   // if it is known
    uint32_t decisive;                   // the tile that it depends on; FM_TILE_NONE
    bool is_farthest_known;
} fm_field_starts;

/// Takes over other starts. False when out of memory: those before are kept.
FM_CHECKED bool fm_field_starts_set(fm_field_starts *starts, const fm_cell *cells, uint32_t count,
                                    const fm_memory *memory);

/// A zeroed fm_field_starts is allowed.
void fm_field_starts_fini(fm_field_starts *starts, const fm_memory *memory);

/// Bytes held, the fm_field_starts itself left out.
size_t fm_field_starts_bytes(const fm_field_starts *starts);

/// Whether a start lies in a tile.
bool fm_field_starts_are_in(const fm_field_starts *starts, const fm_tile_map *map, uint32_t tile);

/// Distances may have risen, or the view is another: nothing is known of them.
void fm_field_starts_doubt(fm_field_starts *starts);

/// A tile is computed: distances in it may fall.
void fm_field_starts_note(fm_field_starts *starts, uint32_t tile);

/// The largest distance of any start that has a path, as far as can be told from its cell and the
/// goal's; FM_COST_INFINITE while one has none.
uint32_t fm_field_starts_farthest(fm_field_starts *starts, const fm_tile_field *field);

/// How far a start is; FM_COST_INFINITE: not known.
uint32_t fm_field_start_cost(const fm_tile_field *field, fm_cell start);

/// No path from a cell that cannot be left, nor to one that cannot be entered.
bool fm_field_start_is_hopeless(const fm_tile_field *field, fm_cell start);
