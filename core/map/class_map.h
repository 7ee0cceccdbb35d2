// core/map/class_map.h: the map as one movement class sees it, kept up to date cell by cell.
//
// Whatever the size of the class, a search looks up one bit per cell: the bit says that the unit's
// square does not fit with its north-west corner there. One cell that becomes blocked blocks up to
// size x size such corners, and those are what planners are notified of. The work for a changed
// cell depends on the size of the class alone, never on the map.
//
// There is one over the true map, and one over what a team knows for each class that the team uses.
// In a world, classes that move like "ground" need none: the true map and the team's knowledge are
// theirs.
//
// Threads: one writer, while nobody reads. A team's maps are written with its knowledge.

#pragma once

#include "core/map/change_log.h"
#include "core/map/movement.h"
#include "core/map/tile_map.h"
#include "core/map/view.h"

typedef struct fm_class_map {
    const fm_movement_class *movement;
    const fm_memory *memory;
    fm_bitmap blocked;            // the square does not fit with its corner here; margin 1
    fm_bitmap blocked_transposed; // the same with x and y exchanged; empty unless FM_CONNECT_8
    uint8_t *weights;      // of corners: the costliest cell of the square; NULL when all are 1
    fm_bitmap solid;       // size > 1: cells that cannot be entered; margin 1
    uint8_t *cell_weights; // size > 1: of single cells; NULL like weights
    fm_step_costs steps;
    uint32_t filled;   // rows that the owner has filled in so far
    bool log_wanted;   // planners work on it; set by the owner once the map is filled
    fm_change_log log; // of corners
    fm_view view;      // of `blocked` and `weights`: what planners get
    fm_tile_map tiles; // of `view`; empty until something needs it
} fm_class_map;

/// Makes a map on which everything is free and weighs 1.
///
/// @param movement    valid; outlives the map, like memory
/// @param weighted    whether the true map is; a class with costs of its own is weighted anyway
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_class_map_create(const fm_movement_class *movement, uint32_t width,
                                         uint32_t height, bool weighted,
                                         fm_connectivity connectivity, fm_step_costs steps,
                                         const fm_memory *memory, fm_class_map **out);

/// Makes the map of a class that knows the whole true map, as it is now; fm_class_map_set() has to
/// notify it of edits. @return as above
FM_CHECKED fm_status fm_class_map_of_grid(const fm_movement_class *movement, const fm_grid *grid,
                                          fm_connectivity connectivity, fm_step_costs steps,
                                          const fm_memory *memory, fm_class_map **out);

/// NULL is allowed.
void fm_class_map_destroy(fm_class_map *map);

/// The weight of a cell has become known or has changed; 0: it cannot be entered
/// (fm_movement_weight()). Logs the corners for which that makes a difference.
void fm_class_map_set(fm_class_map *map, fm_cell cell, uint32_t weight);

/// Before the true map becomes weighted. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_class_map_prepare_for_weights(fm_class_map *map);

/// The true map has become weighted: costs change scale, and all planners must start over.
void fm_class_map_use_weights(fm_class_map *map);

/// Attaches the tiles that fields of distances share to the view, unless it has them.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_class_map_prepare_tiles(fm_class_map *map);

/// Bytes held.
size_t fm_class_map_bytes(const fm_class_map *map);
