// core/world/enemies.h: the enemies that a team sees, and which of them are near a cell.

#pragma once

#include "core/world/unit_index.h"
#include "core/world/world.h"

// The cells where a team sees agents of other teams, each once, by tile. Begins zeroed.
typedef struct fm_enemies {
    fm_cell *cells;
    uint32_t count, capacity;
    uint64_t tick; // when they were gathered, plus 1
} fm_enemies;

/// Gathers what a team sees, once in a tick at most, however many of its agents ask. The thread
/// that works for the team. The unit index and the lookouts must be up to date.
///
/// @return FM_OK or FM_ERR_NO_MEMORY, then nothing is seen, and the next call tries again
FM_CHECKED fm_status fm_enemies_refresh(const fm_world *world, uint32_t team, fm_enemies *enemies);

void fm_enemies_fini(fm_enemies *enemies, const fm_memory *memory);

/// Those within `radius` cells (as the crow flies) of a cell, nearest first; of equally near ones
/// those that come first in the list. Looks only into tiles that may hold one nearer than those
/// found.
///
/// @param capacity  at least 1
/// @return how many, at most `capacity`
uint32_t fm_enemies_near(const fm_world *world, const fm_enemies *enemies, fm_cell cell,
                         uint32_t radius, fm_cell *cells, uint32_t capacity);
