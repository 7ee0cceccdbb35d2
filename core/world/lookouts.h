// core/world/lookouts.h: from where the teams' agents look, by tile of the unit index and team, so
// that what a team sees is found without going through the agents of others, nor through those
// that look from the same cell.
//
// A large unit looks from its eyes (fm_agent_eyes()), as in the team's view.
//
// Threads: made on the tick thread; readers may share it, one for each team.

#pragma once

#include "core/map/bitmap.h"
#include "core/world/world.h"

struct fm_agent;

// From where some agents of a team look, alike.
typedef struct fm_lookout {
    fm_cell eye;
    uint32_t team;
    uint32_t sight; // as in struct fm_agent
} fm_lookout;

// What a team sees, cell by cell, made when many cells have been asked for.
typedef struct fm_lookouts_sight {
    fm_bitmap seen;
    uint64_t gathering, cells_edited; // of the world when it was made
    uint64_t examined, wanted;        // lookouts for answers so far; how many until it is made
} fm_lookouts_sight;

typedef struct fm_lookouts {
    fm_lookout *list;   // by tile, team and sight; each once
    fm_lookout *sorted; // room while they are sorted
    uint32_t count, capacity, sorted_capacity;
    uint32_t *first; // of each tile in `list`, and behind the last one
    uint32_t tile_count;
    uint32_t *begins; // room: by team
    uint32_t begin_capacity;
    uint64_t gathering;        // of the unit index that they belong to
    fm_lookouts_sight *sights; // by team
    uint32_t sight_capacity;
} fm_lookouts;

/// Lists them, at most once for each gathering of the unit index, which must be up to date. Empty
/// when out of memory.
void fm_lookouts_refresh(fm_world *world);

void fm_lookouts_fini(fm_lookouts *lookouts, const fm_memory *memory);

/// Whether some agent of the team sees a cell now. One thread at a time may ask for a team.
bool fm_lookouts_see(const fm_world *world, uint32_t team, fm_cell cell);

/// Whether some agent of the team sees some cell that the agent covers, as in the team's view.
bool fm_lookouts_see_agent(const fm_world *world, uint32_t team, const struct fm_agent *agent);
