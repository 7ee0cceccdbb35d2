// core/world/watched_view.h: a watched view: what it was shown, and what the last tick changed in
// it. core/views/view_delta.c fills it; names.c looks up what it shows.

#pragma once

#include "core/map/bitmap.h"
#include "core/world/names.h"
#include "core/world/world.h"

// The cells reported as visible, and the last changes. Whose: core/views/sight.c.
struct fm_sight {
    fm_bitmap told; // empty for FM_ALL_TEAMS, and unless wanted
    fm_sight_flip *flips;
    uint32_t count, capacity;
};

// An agent of the view's team, in the list of its tile.
struct fm_looker {
    uint32_t tile;       // 1 + the tile that it stood in after the last tick; 0: in no list
    uint32_t next, prev; // members; UINT32_MAX: none
    bool is_in;          // what it sees is in `visible`
};

struct fm_looked_tile {
    uint32_t first; // member; UINT32_MAX: none
    uint8_t state;  // bits of looked.c
};

// Whose sight is in a view's `visible`. Whose: core/views/looked.c.
struct fm_looked {
    fm_bitmap eyes;            // cells from where agents look together; empty until they do
    bool together;             // they do in this tick
    struct fm_looker *lookers; // by member of the team
    struct fm_looked_tile *tiles;
    uint32_t capacity, tile_capacity;
    uint32_t sights_set; // of the team, as of the last tick
    bool is_kept;        // all this is as of the last tick
};

struct fm_view_delta {
    fm_bitmap visible; // cells seen now; empty for FM_ALL_TEAMS
    uint64_t *shown;   // bit per agent slot: in view as of the last tick
    uint64_t *own;     // the same: of the team's agents, living or not
    uint32_t shown_words, own_words;
    uint32_t own_count; // members of the team that are in `own`
    uint32_t exchanges; // of the team, when `own` was gathered
    uint8_t *near;      // by tile, see presence.h; NULL: it looks everywhere
    uint32_t near_capacity;
    uint32_t removed_before; // of the world's list of removed agents: went before the watch began
    bool incomplete;         // out of memory: the last tick could not be compared
    fm_sightings sightings;  // of agents of others that are in view
    struct fm_sight sight;
    struct fm_looked looked;
    bool is_visible_new; // `visible` may differ from what it was after the last tick
    bool sees_other;     // the same, of cells where agents of others may be
    uint32_t *fresh;     // slots that came into view in this tick
    uint32_t fresh_capacity;
    fm_agent_look *entered, *changed;
    fm_agent_left *left;
    fm_learned *cells;
    const fm_order_ended *ended; // a part of the interval's
    fm_alert *alerts;
    uint32_t entered_count, changed_count, left_count, cell_count, ended_count, alert_count;
    uint32_t entered_capacity, changed_capacity, left_capacity, cell_capacity, alert_capacity;
};
