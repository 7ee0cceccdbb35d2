// core/commands/edits.h: edits of the true map, and who is notified of them.
//
// A team that does not see the cell keeps believing what it saw. Only the true map and what follows
// from it change at once; a team learns when one of its units sees the cell again.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_TERRAIN, whole or not at all.
void fm_edits_command(fm_world *world, const fm_command *command, fm_command_result *result);

/// Makes room for everything that edits of so many cells will note, in the world and in every team.
///
/// @param becomes_weighted  one of them gives the map its first cost other than 1
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_edits_reserve(fm_world *world, uint64_t cell_count, bool becomes_weighted);

/// Teams that have seen their first cell with another cost than the floor's use costs from now on;
/// edge costs change scale, so their searches start over. Serial stages only.
void fm_world_use_seen_weights(fm_world *world);

/// Changes one cell, after fm_edits_reserve(). @return true when anything changed
bool fm_edits_set_cell(fm_world *world, fm_cell cell, fm_terrain terrain, uint8_t cost);
