// core/orders/retreat.h: where a unit goes that wants to be farther from dangers.
//
// The unit believes that whatever it keeps away from comes after it, step for step. Two waves run
// side by side on what its team knows, one from the dangers and one from the unit. The unit's wave
// goes on only over cells that it reaches before any danger does: its cover.
//
//     danger's wave       the unit's: 0 = where it stands
//        3 2 2 2 2        . . . . .
//        3 2 1 1 1        . . . 2 3      It goes to
//        3 2 1 D 1        . . . . 3        - a cover cell at the end of the search's reach, from
//        3 2 1 1 1        1 1 2 3 .          which it can go on; else (all ways end before that)
//        3 2 2 2 2        0 1 2 3 .        - the cover cell that dangers come to last.
//
// The second is TrailMax (Moldenhauer and Sturtevant, "Optimal Solutions for Moving Target Search"
// and "Evaluating Strategies for Running from the Cops", 2009): of all paths the one on which it
// is caught last. The cover is that of Isaza, Lu, Bulitko and Greiner, "A Cover-Based Approach to
// Multi-Agent Moving Target Pursuit" (2008). So a unit does not go into a dead end while a way
// leads past it, as it would on a map of distances alone (the "flee maps" of roguelikes).
//
// Where its cover is closed and no cell of it is far enough, the unit believes that dangers stay
// where they are, and looks for the nearest cell that is far enough on a way that comes no nearer
// than half of what it is now, and two cells.
//
// It is given the first straight part of the way to that cell, and asks again at its end: on a way
// of its own it might leave its cover.
//
// Of equally good cells that counts which lies most directly away, then the one that the wave came
// to first. Only the view, the cells and the bound decide.
//
// Threads: the thread that works for the unit's team.

#pragma once

#include "core/search/wave.h"

#define FM_RETREAT_CELLS     512u // of each of the three waves at most: 10 cells around in the open
#define FM_RETREAT_CELLS_MAX (3 * FM_RETREAT_CELLS) // that one search examines

typedef struct fm_retreat {
    const fm_view *view; // of the unit's class
    const fm_cell *dangers;
    uint32_t danger_count; // at least 1
    uint32_t enough;       // distance from all of them that it wants, in costs of steps
    uint32_t cells_max;    // of each wave, at most FM_RETREAT_CELLS
    fm_wave *own, *threat; // memory, kept from one search to the next
} fm_retreat;

/// Distance to the nearest danger without obstacles, in costs of steps.
uint32_t fm_retreat_distance(const fm_retreat *retreat, fm_cell cell);

/// Searches from where a unit stands.
///
/// @param cells_used  grows by the cells examined, at most three times cells_max
/// @param found       receives where to go, the end of the first straight part of the way, or
///                    FM_CELL_NONE: nowhere is better than here
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_retreat_search(const fm_retreat *retreat, fm_cell from,
                                       uint32_t *cells_used, fm_cell *found,
                                       const fm_memory *memory);
