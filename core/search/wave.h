// core/search/wave.h: a breadth-first wave over a view: the cells around a cell, by number of
// steps.
//
// For searches around a cell on what is known of the map: the nearest frontier, places to flee to,
// cells for a group. A wave can be suspended and continued at any cell. Restarting takes as long as
// the last wave did: only the cells in its queue are unmarked.
//
// Threads: one at a time.

#pragma once

#include "core/map/view.h"

// Zeroed, it is an empty wave; memory is taken by the first begin.
typedef struct fm_wave {
    const fm_view *view;
    fm_bitmap reached; // every cell of the queue
    fm_cell *queue;    // owned; by number of steps
    uint32_t capacity;
    uint32_t head, tail; // queue[head..tail - 1] have not been taken
    uint32_t ring_end;   // queue[..ring_end - 1] are at most `depth` steps away
    uint32_t depth;      // steps from the beginning to the cell taken last
    bool exhausted;      // memory ran out; cells are missing
} fm_wave;

/// Begins at a cell inside the map. `view` stays as it is, or cells are judged as they are when
/// their turn comes.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_wave_begin(fm_wave *wave, const fm_view *view, fm_cell from,
                                   const fm_memory *memory);

/// Adds another cell inside the map to begin at, before any cell is taken. Running out of memory is
/// noted in `exhausted`.
void fm_wave_begin_also(fm_wave *wave, fm_cell from, const fm_memory *memory);

/// A zeroed fm_wave is allowed.
void fm_wave_fini(fm_wave *wave, const fm_memory *memory);

/// The next cell, FM_CELL_NONE when there is none.
fm_cell fm_wave_take(fm_wave *wave);

/// Lets the wave continue from the cell taken last to its neighbours.
void fm_wave_spread(fm_wave *wave, fm_cell cell, const fm_memory *memory);
