// core/commands/edits.h: edits of the true map, and who is notified of them.
//
// A team that does not see the cell keeps believing what it saw. Only the true map and what follows
// from it change at once; a team learns when one of its units sees the cell again.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/map/knowledge.h"
#include "core/world/world.h"

/// Does FM_COMMAND_TERRAIN, whole or not at all.
void fm_edits_command(fm_world *world, const fm_command *command, fm_command_result *result);

// Cells that are about to be edited, inside the map; one may be there twice.
typedef struct fm_edit_area {
    const fm_cell *cells;
    uint32_t cell_count;
    const fm_rect *rects;
    uint32_t rect_count;
    const fm_command *terrain_command; // what is done to them; NULL: each becomes another
} fm_edit_area;

/// Makes room for everything that edits of these cells will note, in the world and in every team.
///
/// @param becomes_weighted  one of them gives the map its first cost other than 1
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_edits_reserve(fm_world *world, const fm_edit_area *area,
                                      bool becomes_weighted);

/// Teams that have seen their first cell with another cost than the floor's use costs from now on;
/// edge costs change scale, so their searches start over. Serial stages only.
void fm_world_use_seen_weights(fm_world *world);

#define FM_EDITS_WORDS_MAX 256u

// Edits that not all teams have been told of. Each team is told of many at once: with thousands of
// teams, going through all of them for each cell misses the cache each time.
typedef struct fm_edits {
    fm_world *world;
    bool is_plan;   // nothing is edited yet: teams make room
    bool failed;    // which one could not
    uint32_t count; // words
    fm_edited_word words[FM_EDITS_WORDS_MAX];
} fm_edits;

/// After fm_edits_reserve(). fm_edits_end() must follow, before anybody learns or sees a cell.
void fm_edits_begin(fm_edits *edits, fm_world *world);

/// Changes one cell. @return true when anything changed
bool fm_edits_set_cell(fm_edits *edits, fm_cell cell, fm_terrain terrain, uint8_t cost);

/// Tells the teams of the edits that they do not know of yet.
void fm_edits_end(fm_edits *edits);
