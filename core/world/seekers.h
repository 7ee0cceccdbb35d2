// core/world/seekers.h: what a team keeps for its agents whose next leg has to be looked for, who
// explore or flee. core/orders/seek.h looks.

#pragma once

#include "core/search/frontier.h"
#include "core/world/unit_index.h"

typedef enum fm_seek_state {
    FM_SEEK_IDLE,
    FM_SEEK_LISTED,    // waits for its turn in this tick
    FM_SEEK_FOUND,     // `found` is the next leg's goal
    FM_SEEK_SAFE,      // flee: there is no danger
    FM_SEEK_NOWHERE,   // explore: no frontier can be reached; flee: nowhere is better than here
    FM_SEEK_EXHAUSTED, // memory ran out
    FM_SEEK_NOT_YET,   // its turn did not come, or its search is not over
} fm_seek_state;

// Of one team. Zeroed: empty.
typedef struct fm_seekers {
    uint32_t cells_max, cells_used; // in this tick
    uint32_t *slots;                // of the agents that look for a leg in this tick
    uint32_t count, capacity;
    fm_frontier frontier;
    fm_wave nearby; // around one who flees
    fm_enemies enemies;
} fm_seekers;

/// Releases what they hold. Zeroed ones are allowed.
void fm_seekers_fini(fm_seekers *seekers, const fm_memory *memory);
