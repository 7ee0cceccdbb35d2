// core/fields/tile_field.h: the distances to one goal, in tiles of 32 x 32 cells.
//
// A tile that was computed keeps the distances of its border cells; all others follow from these
// and the goal by one sweep (tile_kernel.h). For tiles where agents walk they are kept too, in a
// body, which may be dropped and rebuilt at any time.
//
// Tiles are computed in the order of A*, from the goal's tile towards a box around the agents that
// go there. A tile to which a neighbour offers something better than it has is queued under a lower
// bound of offer + weight * estimate + km, where km grows when the box moves, as in D* Lite. No
// notification of changes is needed: a computed tile whose version is not the map's is stale.
//
// What must hold of the distances kept:
//
//   1  a finite one in a tile that is not stale comes from a smaller one that is kept, by a legal
//      step, unless a stale tile lies beside;
//   2  one is dropped or raised only together with everything larger that may depend on it;
//   3  a computed tile to which a neighbour offers less than it has is queued; so is a tile that is
//      not computed and is offered anything.
//
// fm_tile_refresh() computes a stale tile from its neighbours alone and returns from which distance
// on something has become larger; fm_tile_reset() then drops what lies above, in all tiles.
// Any other order would let distances support each other in a circle.
//
// Threads: one worker at a time.

#pragma once

#include "core/base/heap.h"
#include "core/base/slab.h"
#include "core/fields/tile_kernel.h"
#include "core/fields/tile_records.h"

// All distances of a tile. Blocked cells, and those without a path, have none.
typedef struct fm_tile_body {
    uint32_t base; // of 16-bit values
    bool is_wide;
    uint32_t walked[FM_TILE_SIDE]; // bits of cells: a path that was checked leads over them
    union {
        uint16_t narrow[FM_TILE_SIDE][FM_TILE_SIDE]; // above `base`; FM_TILE_NOWHERE: none
        uint32_t wide[FM_TILE_SIDE][FM_TILE_SIDE];   // FM_COST_INFINITE: none
    };
} fm_tile_body;

typedef uint32_t fm_tile_border[FM_SIDE_COUNT][FM_TILE_SIDE]; // FM_COST_INFINITE: none

// The same as a tile keeps it: with 16 bits above the tile's least distance, where that is enough.
typedef union fm_tile_rim {
    uint16_t narrow[FM_SIDE_COUNT][FM_TILE_SIDE]; // FM_TILE_NOWHERE: none
    uint32_t wide[FM_SIDE_COUNT][FM_TILE_SIDE];   // FM_COST_INFINITE: none
} fm_tile_rim;

// What is known of a tile that was computed, or is queued.
typedef struct fm_tile {
    uint32_t number;  // row * columns + column
    uint32_t index;   // of this record
    uint32_t version; // of the map that it was computed with
    uint32_t low;     // its finite distances lie in low..high
    uint32_t high;
    uint32_t key_km;  // km when its key was exact; FM_TILE_INEXACT: it is a lower bound
    uint32_t place;   // in the queue, + 1; 0: it is not
    bool is_computed; // has a rim
    bool is_rim_wide;
    bool is_cut;        // part of its border was dropped: compute it whatever is offered
    bool is_used;       // a path that was checked leads through it
    bool is_seat;       // an agent stood in it when paths were checked
    fm_tile_rim *rim;   // the part of it that is needed; see tile_rim.h
    fm_tile_body *body; // NULL: not kept
} fm_tile;

#define FM_TILE_INEXACT UINT32_MAX

typedef struct fm_tile_field {
    const fm_view *view;
    const fm_tile_map *map;
    const fm_memory *memory;
    const fm_tile_kernel *kernel;
    fm_cell goal;
    fm_tile **tiles; // in the order in which they were met; owned
    uint32_t count, capacity;
    uint32_t *table; // by hash of a tile's number: number << 16 | index + 1; 0 is empty; owned
    uint32_t table_mask;
    fm_heap queue; // indices of tiles
    fm_tile_estimate estimate;
    uint32_t km;
    bool is_exhausted; // memory ran out
    // Blocks held.
    uint32_t rim_count, wide_rim_count; // narrow ones and wide ones
    uint32_t narrow_count, wide_count;  // bodies
} fm_tile_field;

/// Sets up a field without any distance. Takes no memory yet.
///
/// @param map          of the view; outlives the field, like view and memory
/// @param weight_1024  of the estimate: 1024..2048. 1024: distances are exact where it matters
void fm_tile_field_init(fm_tile_field *field, const fm_view *view, const fm_tile_map *map,
                        const fm_memory *memory, fm_cell goal, uint32_t weight_1024);

/// Forgets all distances, gives their memory to `slab`, and reads the view's rules again.
void fm_tile_field_clear(fm_tile_field *field, fm_slab *slab);

/// fm_tile_field_clear(), and gives back the rest.
void fm_tile_field_fini(fm_tile_field *field, fm_slab *slab);

/// The agents that go to the goal are in this box now. Queues the goal's tile, if need be.
void fm_tile_field_aim(fm_tile_field *field, fm_box box, fm_slab *slab);

/// The record of the tile that holds a cell, or NULL.
static inline fm_tile *fm_tile_at(const fm_tile_field *field, fm_cell cell)
{
    return fm_tile_find(field, fm_tile_of(field->map, cell));
}

/// Whether a computed tile has changed since.
static inline bool fm_tile_is_stale(const fm_tile_field *field, const fm_tile *tile)
{
    return tile->version != field->map->tiles[tile->number].version;
}

/// The smallest sum of distance and weighted estimate that any cell can still get; FM_COST_INFINITE
/// when nothing is queued.
uint32_t fm_tile_field_least(const fm_tile_field *field);

/// Takes the tile at the head of the queue, to be computed or, if stale, refreshed. NULL when only
/// its key was renewed, or it needs nothing. Call only while something is queued.
fm_tile *fm_tile_field_take(fm_tile_field *field);

/// Computes a tile from its neighbours and its own border, and queues the neighbours that gain by
/// it. No distance rises.
///
/// @param keep_body  false: the body is made when it is needed
void fm_tile_compute(fm_tile_field *field, fm_tile *tile, bool keep_body, fm_slab *slab);

/// Computes a computed tile from its neighbours alone.
///
/// @return the smallest distance on its border that has become larger, for fm_tile_reset();
///         FM_COST_INFINITE: none has
uint32_t fm_tile_refresh(fm_tile_field *field, fm_tile *tile, bool keep_body, fm_slab *slab);

/// Drops all distances above `limit`, and queues what may get others.
void fm_tile_reset(fm_tile_field *field, uint32_t limit, fm_slab *slab);

/// Makes the body of a computed tile, if it has none.
void fm_tile_make_body(fm_tile_field *field, fm_tile *tile, fm_slab *slab);

/// Gives the body back, if there is one.
void fm_tile_drop_body(fm_tile_field *field, fm_tile *tile, fm_slab *slab);

/// The distance of a cell: of any cell of a tile with a body, of border cells in other tiles;
/// FM_COST_INFINITE when it is not kept.
uint32_t fm_tile_field_cost(const fm_tile_field *field, fm_cell cell);

/// The same for the neighbours of a cell, and last for itself. Neighbours that are not in `moves`
/// receive anything.
///
/// @param moves  bit d for direction d; none of these leads off the map
void fm_tile_field_costs(const fm_tile_field *field, fm_cell cell, uint32_t moves,
                         uint32_t costs[FM_DIRECTION_COUNT + 1]);

/// The neighbour to step to: the best one that is nearer to the goal and legal on the view as it
/// is. FM_CELL_NONE: there is none. The cell's tile has a body, or there is none.
fm_cell fm_tile_field_step(const fm_tile_field *field, fm_cell cell);

/// The same, for a caller that has the cell's tile (or NULL) already.
fm_cell fm_tile_step(const fm_tile_field *field, const fm_tile *tile, fm_cell cell);

/// Copies the path that these steps lead from a cell to the goal, both included, through tiles with
/// a body or without. Returns its length in cells, which may exceed capacity; 0 when it breaks off.
uint32_t fm_tile_field_path(const fm_tile_field *field, fm_cell start, fm_cell *cells,
                            uint32_t capacity);

/// All distances of a computed tile, by its border, whether it has a body or not.
void fm_tile_read(const fm_tile_field *field, const fm_tile *tile,
                  uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE]);

/// Whether what must hold of the distances does, for debug builds and tests.
bool fm_tile_field_is_sound(const fm_tile_field *field);

/// Bytes held, the fm_tile_field itself left out.
size_t fm_tile_field_bytes(const fm_tile_field *field);

static inline uint32_t fm_tile_body_cost(const fm_tile_body *body, uint32_t x, uint32_t y)
{
    if (body->is_wide) {
        return body->wide[y][x];
    }
    uint32_t value = body->narrow[y][x];
    return value == FM_TILE_NOWHERE ? FM_COST_INFINITE : body->base + value;
}

/// The distance of a border cell of a computed tile.
static inline uint32_t fm_tile_rim_cost(const fm_tile *tile, uint32_t side, uint32_t i)
{
    if (tile->is_rim_wide) {
        return tile->rim->wide[side][i];
    }
    uint32_t value = tile->rim->narrow[side][i];
    return value == FM_TILE_NOWHERE ? FM_COST_INFINITE : tile->low + value;
}
