// core/world/seekers.h: what a team keeps for its agents whose next leg has to be searched for:
// those that explore, flee or keep their distance. core/orders/goal_search.h searches.

#pragma once

#include "core/search/frontier.h"
#include "core/world/enemies.h"

typedef enum fm_goal_search_state {
    FM_GOAL_SEARCH_IDLE,
    FM_GOAL_SEARCH_LISTED,  // waits for its turn in this tick
    FM_GOAL_SEARCH_FOUND,   // `found` is the next leg's goal
    FM_GOAL_SEARCH_SAFE,    // flee: there is no danger
    FM_GOAL_SEARCH_NOWHERE, // explore: no frontier can be reached; flee, keep_distance: nowhere is
                            // better than here
    FM_GOAL_SEARCH_EXHAUSTED, // out of memory
    FM_GOAL_SEARCH_NOT_YET,   // its turn did not come, or its search is not over
} fm_goal_search_state;

// Of one team. Zeroed: empty.
typedef struct fm_seekers {
    uint32_t cells_max, cells_used; // in this tick
    uint32_t *slots;                // of the agents that search for a leg in this tick
    uint32_t count, capacity;
    fm_frontier frontier;
    fm_wave nearby; // around a fleeing agent
    fm_wave threat; // around what it keeps its distance from
    fm_enemies enemies;
} fm_seekers;

/// Releases what they hold. Zeroed ones are allowed.
void fm_seekers_fini(fm_seekers *seekers, const fm_memory *memory);
