// core/world/team_labels.h: the labels (labels.h) of what each team knows, one for each map that
// its movement classes see.
//
// They are made when first asked for. From then on the cells that change are marked as the change
// logs grow, and are examined at the next query: a team without queries pays for marks only.
//
// There are two sets. The simulation's is brought up to date at the same points of every run, and
// its work is charged to the tick. Queries have their own, so that what players ask, and when,
// leaves no trace in the simulation. The true map has labels for queries only.
//
// Threads: serial stages, but for fm_team_labels_follow(), which is for the team's worker, and
// where a function says otherwise.

#pragma once

#include "core/map/labels.h"
#include "core/map/movement.h"

struct fm_team;
typedef struct fm_world fm_world;

#define FM_LABELED_MAPS (1 + FM_CLASSES_MAX) // of classes without one of their own; a class's own

// Units of work on labels that a team may do in one tick, updates and searches for the nearest cell
// together. Orders beyond it wait for the next tick; one that has just been given searches
// meanwhile. All teams together may do as many units as the tick has expansions, or this many if it
// has fewer: where 10,000 teams are given their first orders at once, most search without asking. A
// quarter of these is kept for eight teams, others in each tick.
#define FM_TEAM_LABELS_UNITS_MAX 16384u

typedef struct fm_followed_labels {
    fm_labels *labels; // NULL: not asked for yet
    uint64_t cursor;   // version of the change log up to which cells are marked
} fm_followed_labels;

typedef struct fm_map_labels {
    fm_followed_labels orders, queries;
} fm_map_labels;

typedef struct fm_team_labels {
    uint64_t units;  // done in this tick for orders
    uint32_t in_use; // bit per map: has labels, of either set
    uint32_t wanted; // bit per class: see fm_team_labels_want()
    fm_map_labels maps[FM_LABELED_MAPS];
} fm_team_labels;

/// Marks what the team has learned since the last call. Once in each tick at least, before the
/// change logs are trimmed.
void fm_team_labels_follow(struct fm_team *team);

/// The simulation's labels of a team's map as a class sees it, up to date.
///
/// @return NULL while that takes more work than the team, or all teams, have left in this tick, or
/// out
///         of memory
fm_labels *fm_team_labels_for_orders(fm_world *world, uint32_t team, uint32_t class_index);

/// The same where they are up to date already, else NULL. Any worker.
const fm_labels *fm_team_labels_known(const struct fm_team *team, uint32_t class_index);

/// Notes that orders of a class have a question. Any worker, while nobody else uses the labels.
void fm_team_labels_want(fm_world *world, uint32_t team, uint32_t class_index);

/// Brings the labels up to date that are wanted, as far as fm_team_labels_for_orders() does.
///
/// @return whether any were wanted
bool fm_team_labels_serve(fm_world *world);

/// Of the cells of a component the one nearest to a goal, by labels that the call above has just
/// given; see fm_labels_nearest().
///
/// @return FM_CELL_NONE when the team has no units left in this tick
fm_cell fm_team_labels_nearest(fm_world *world, uint32_t team, fm_labels *labels, fm_cell goal,
                               uint32_t label);

/// The labels that queries use, of a team's map or (FM_ALL_TEAMS) the true one, as a class sees
/// it; the class must be ready (fm_knowledge_prepare_class()). They may not be up to date: the
/// caller sees to that with fm_labels_update(), at its own expense.
///
/// @return NULL when out of memory
fm_labels *fm_team_labels_for_queries(fm_world *world, uint32_t team, uint32_t class_index);

/// A cell of the true map was edited.
void fm_team_labels_note_edit(fm_world *world, fm_cell cell);

/// Between ticks, for saved worlds: brings the simulation's labels up to date and forgets what
/// depends on when they were asked. Those for which there is no memory end.
void fm_team_labels_settle(struct fm_team *team);

/// Makes the simulation's labels of one of FM_LABELED_MAPS, up to date as after
/// fm_team_labels_settle(). Its map is there (asserted).
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_team_labels_begin(fm_world *world, struct fm_team *team, uint32_t map);

/// Which of FM_LABELED_MAPS belongs to the map that a class of the team sees.
uint32_t fm_team_labels_map(const struct fm_team *team, uint32_t class_index);

/// Releases a team's labels. A zeroed fm_team_labels is allowed.
void fm_team_labels_fini(fm_team_labels *labels);

/// Bytes held.
size_t fm_team_labels_bytes(const fm_team_labels *labels);
