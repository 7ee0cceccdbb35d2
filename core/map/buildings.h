// core/map/buildings.h: rectangles that block, with an owner, and what a team has seen of them.
//
// A building's cells have the terrain FM_TERRAIN_BUILDING, which no movement class enters; what was
// there before comes back when the building goes. So knowledge, searches and views need no special
// case: a team sees the cells like any others, and keeps believing in a building until it sees
// one of its cells without it. Only the owner knows at once.
//
// A team also keeps a list of the buildings that it has seen, each with an alias that counts what
// this team has seen and nothing else (core/world/names.h says why). A building is one thing, like
// a unit of several cells: a team that sees one of its cells knows owner and rectangle at once. It
// learns the other cells as it sees them, and searches by the cells.
//
// Threads: fm_buildings is written between ticks; a team's fm_buildings_seen like its knowledge.

#pragma once

#include "core/map/grid.h"
#include "core/map/rect.h"

#define FM_BUILDINGS_MAX      16384u // at the same time in one world
#define FM_BUILDING_CELLS_MAX 4096u  // of one building

typedef struct fm_building {
    uint32_t id;   // from 1, in the order of placing; never given out again
    uint32_t team; // owner; 0: nobody's
    fm_rect rect;
    uint8_t *under; // owned; fm_terrain of its cells before, row by row
} fm_building;

// All that stand on the true map.
typedef struct fm_buildings {
    const fm_memory *memory;
    uint32_t width, height; // of the map
    fm_building *list;      // by id
    uint32_t count, capacity;
    uint32_t placed; // ever
    uint32_t *at;    // id by cell, row-major, 0 for none; NULL until the first is placed
} fm_buildings;

// A building as a view shows it.
typedef struct fm_building_look {
    uint32_t id;
    uint32_t name; // alias: counts those that the view has shown
    uint32_t team;
    fm_rect rect;
} fm_building_look;

typedef struct fm_buildings_seen {
    fm_building_look *list; // by id
    uint32_t count, capacity;
    uint32_t named;    // ever
    bool changed;      // changed since somebody set this to false
    bool overlaps;     // some of them may: one was built where another was believed to stand
    fm_bitmap covered; // cells in the rectangle of one of them; empty: none yet, or out of memory
    fm_bitmap shared;  // cells in those of several; empty: no overlaps yet, or out of memory
} fm_buildings_seen;

/// Sets up an empty list for a map of that size. Takes no memory yet.
void fm_buildings_init(fm_buildings *buildings, uint32_t width, uint32_t height,
                       const fm_memory *memory);
void fm_buildings_fini(fm_buildings *buildings);

/// Makes room for one more.
/// @return FM_OK, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_buildings_reserve(fm_buildings *buildings);

/// Adds a building whose cells hold none, after fm_buildings_reserve(). Takes over `under`, from
/// the buildings' memory: rect.width * rect.height bytes. @return it, good until the next change
const fm_building *fm_buildings_add(fm_buildings *buildings, uint32_t team, fm_rect rect,
                                    uint8_t *under);

/// Takes a building out that is there (asserted). `under` is the caller's now.
fm_building fm_buildings_take(fm_buildings *buildings, uint32_t id);

/// @return NULL when there is none of that id; good until the next change
const fm_building *fm_buildings_find(const fm_buildings *buildings, uint32_t id);

/// Id of the building on a cell of the map, 0 for none.
static inline uint32_t fm_buildings_at(const fm_buildings *buildings, fm_cell cell)
{
    return buildings->at == NULL
               ? 0
               : buildings->at[(size_t)fm_cell_y(cell) * buildings->width + fm_cell_x(cell)];
}

/// Whether the team may have to be notified of a cell that it sees: a building stands there, or
/// belongs there as far as it knows.
static inline bool fm_buildings_seen_concerns(const fm_buildings_seen *seen,
                                              const fm_buildings *buildings, fm_cell cell)
{
    if (fm_buildings_at(buildings, cell) != 0) {
        return true;
    }
    return seen->count > 0 && (seen->covered.words == NULL || fm_bitmap_get(&seen->covered, cell));
}

/// The team sees a cell as it is now: the building there joins the list, and others to which the
/// cell belonged leave it. When out of memory the list misses the building; the cells show it all
/// the same.
void fm_buildings_seen_note(fm_buildings_seen *seen, const fm_buildings *buildings, fm_cell cell);

/// After the list was filled from a saved world.
void fm_buildings_seen_index(fm_buildings_seen *seen, const fm_buildings *buildings);

/// Bytes held.
static inline size_t fm_buildings_seen_bytes(const fm_buildings_seen *seen)
{
    return seen->capacity * sizeof *seen->list + seen->covered.size + seen->shared.size;
}

void fm_buildings_seen_fini(fm_buildings_seen *seen, const fm_memory *memory);
