// core/map/knowledge.h: what one team knows of the map.
//
// Two bitmaps say it all for planning: `known` (this cell has been seen) and `blocked` (seen, and
// cannot be entered). Unknown cells count as free (the free-space assumption), so `blocked` alone
// is the map that planners search. What a team saw stays as it was seen: an edit out of sight
// changes nothing here until a unit sees the cell again.
//
// Every change that matters to a planner is appended to a log (change_log.h); each planner reads on
// from its own cursor.
//
// What the team knows is one map, whatever moves on it. Classes that do not move like "ground" have
// a view of it each (class_map.h), with a log of its own, from the moment the first unit of the
// class, or a query, needs it.
//
// Threads: sensing writes, one worker per knowledge; everything else reads.

#pragma once

#include "core/map/buildings.h"
#include "core/map/class_map.h"
#include "core/map/cost_layer.h"
#include "core/map/stale.h"

#define FM_SENSE_RADIUS_MAX 64u // cells

typedef enum fm_sense_shape {
    FM_SENSE_SQUARE,  // max(dx, dy) <= radius
    FM_SENSE_DIAMOND, // dx + dy <= radius; 4-neighbour worlds only, it leaves out the corners
    FM_SENSE_DISC,    // dx^2 + dy^2 <= radius * (radius + 1)
} fm_sense_shape;

// How agents see; rules of the world.
typedef struct fm_sense_rules {
    uint32_t radius; // cells, 1..FM_SENSE_RADIUS_MAX
    fm_sense_shape shape;
    bool line_of_sight; // blocked cells hide what lies behind them
} fm_sense_rules;

// A cell whose look has changed for the team: newly seen, or seen again and different.
typedef struct fm_learned {
    fm_cell cell;
    uint8_t terrain; // fm_terrain
    uint8_t cost;
} fm_learned;

// What an agent sees from where it stands, as offsets; the same for every knowledge of a world.
typedef struct fm_line_of_sight fm_line_of_sight;

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_line_of_sight_create(fm_sense_rules rules, const fm_memory *memory,
                                             fm_line_of_sight **out);

/// NULL is allowed.
void fm_line_of_sight_destroy(fm_line_of_sight *sight);

// Members read in every tick come first: there may be thousands of these structs.
typedef struct fm_knowledge {
    const fm_grid *truth;
    const fm_line_of_sight *sight;
    bool omniscient;        // knows everything always
    bool keep_learned;      // somebody reads `learned`
    bool wants_weights;     // has seen a cell of another cost than the floor; see use_weights
    bool has_class_maps;    // one of `classes` is not NULL
    uint32_t classes_ready; // bit per class: fm_knowledge_view() has it
    fm_change_log log;      // of `view`
    uint64_t digest;        // of all that was ever learned, in order
    uint64_t known_count;   // cells

    fm_bitmap known;
    fm_bitmap blocked;
    fm_bitmap blocked_transposed; // x and y exchanged; empty unless the rules are FM_CONNECT_8
    uint8_t *weights;             // as seen, 1 where unknown; NULL while the grid is unweighted
    fm_stale stale;               // known, but edited since
    fm_bitmap sensed_from;        // cells from which nothing is left to learn; empty until kept
    fm_cost_layer layer;          // what the game adds for the team; empty until it does
    fm_view view;                 // of `blocked`, and the weights of the layer or `weights`: what
                                  // planners get
    fm_tile_map tiles;            // of `view`; empty until something needs it
    const fm_memory *memory;
    fm_step_costs steps;

    const fm_buildings *buildings; // of the world; NULL: none are ever placed
    fm_buildings_seen buildings_seen;

    fm_class_map *classes[FM_CLASSES_MAX]; // NULL: not in use, or the same as `view`; of those
                                           // that are not ready, a part

    fm_learned *learned; // since fm_knowledge_forget_learned(), in order of learning
    uint32_t learned_count;
    uint32_t learned_capacity;
    bool learned_lost; // out of memory: some are missing
} fm_knowledge;

/// Makes an empty knowledge (nothing seen) or, with `omniscient`, one that has seen all and sees
/// every edit at once.
///
/// @param truth, sight, memory  outlive it
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_create(const fm_grid *truth, const fm_line_of_sight *sight,
                                         fm_connectivity connectivity, fm_step_costs steps,
                                         bool omniscient, const fm_memory *memory,
                                         fm_knowledge **out);

/// Releases it. NULL is allowed.
void fm_knowledge_destroy(fm_knowledge *knowledge);

/// Whether fm_knowledge_sense() may learn something there: some cell within reach is unknown or was
/// edited since it was seen. May be true when nothing would be learned, never the other way round.
/// Several threads may ask at once.
///
/// @param sight  how this unit sees; NULL: by the world's rules. The same below
bool fm_knowledge_has_news(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                           fm_cell cell);

/// Begins to note from which cells there is nothing left to learn by the world's sight. The two
/// functions around this one then read one bit for most units, which walk where others have walked.
/// Only for teams with many units: it takes a bit for each cell. Without memory nothing happens.
/// Serial stages only.
void fm_knowledge_keep_sensed_from(fm_knowledge *knowledge);

/// A unit of the team stands on `cell` and looks around. When a list cannot grow, what was seen is
/// known all the same, and the team's planners start over.
void fm_knowledge_sense(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell);

/// Prefetches the rows that fm_knowledge_sense() will read for `cell`. Changes nothing.
void fm_knowledge_fetch(const fm_knowledge *knowledge, fm_cell cell);

/// Before cells of the true map are edited: makes room to remember how those looked that the team
/// knows. Of `words`, only places and masks matter. Serial stages only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_for_edits(fm_knowledge *knowledge,
                                                    const fm_edited_word *words, uint32_t count);

/// Before the true map becomes weighted: makes room to remember what cells cost. Serial stages
/// only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_for_weights(fm_knowledge *knowledge);

/// The team has seen its first cell of another cost (wants_weights): its planners' costs change
/// scale, and all of them must start over. Serial stages only.
void fm_knowledge_use_weights(fm_knowledge *knowledge);

/// Before something is added to the team's costs for the first time: makes room for it. Serial
/// stages and commands only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_layer(fm_knowledge *knowledge);

/// The team reckons with its layer from now on, if it does not yet; after
/// fm_knowledge_prepare_layer(). Serial stages and commands only.
///
/// @return whether that has changed the scale of costs, so that all of its planners must start over
bool fm_knowledge_use_layer(fm_knowledge *knowledge);

/// What is added to the cost of a cell from now on, seen or not; after fm_knowledge_use_layer().
///
/// @param added  0..FM_ADDED_COST_MAX (asserted)
/// @return whether it was something else before
bool fm_knowledge_add_cost(fm_knowledge *knowledge, fm_cell cell, uint32_t added);

/// Cells of the true map have just been edited, and the team is not omniscient (asserted). A word
/// without a cell that the team knows costs next to nothing. Serial stages only, after
/// fm_knowledge_prepare_for_edits().
void fm_knowledge_note_edits(fm_knowledge *knowledge, const fm_edited_word *words, uint32_t count);

/// A cell of the true map has just been edited, and the team is omniscient (asserted): it sees that
/// at once. Serial stages only.
void fm_knowledge_see_edit(fm_knowledge *knowledge, fm_cell cell);

/// Makes the team keep a list of the buildings that it sees. Call right after creation.
void fm_knowledge_use_buildings(fm_knowledge *knowledge, const fm_buildings *buildings);

/// For loading a saved world: cells of a word of a row, which the team does not know yet, looked as
/// they do now when they were seen. Logs nothing.
void fm_knowledge_recall_word(fm_knowledge *knowledge, uint32_t y, uint32_t word, uint64_t cells);

/// The same for a cell that has been edited since, so that `look` need not be what it is.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_recall_stale(fm_knowledge *knowledge, fm_learned look);

/// The team learns what a cell looks like now, seen or not. Serial stages and commands only.
void fm_knowledge_learn(fm_knowledge *knowledge, fm_cell cell);

/// Drops the list of what was learned, once it has been streamed.
void fm_knowledge_forget_learned(fm_knowledge *knowledge);

/// Makes the view of a movement class, if there is none yet, or a part of it: the work is that of
/// looking at each cell. Serial stages only.
///
/// @param class_index  below FM_CLASSES_MAX (asserted)
/// @param movement     what that class is, always the same; outlives the knowledge
/// @param rows_max     rows of the map to look at now, those behind the last call's; UINT32_MAX:
///                     all that are left. There is no view before the last one
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_class(fm_knowledge *knowledge, uint32_t class_index,
                                                const fm_movement_class *movement,
                                                uint32_t rows_max);

/// Attaches the tiles that fields of distances share to fm_knowledge_view(), which is not NULL
/// (asserted), unless it has them. Serial stages only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_tiles(fm_knowledge *knowledge, uint32_t class_index);

/// The team's map as planners of a class see it; NULL before fm_knowledge_prepare_class().
const fm_view *fm_knowledge_view(const fm_knowledge *knowledge, uint32_t class_index);

/// Attaches tables to fm_knowledge_view(), which is not NULL (asserted). They outlive the
/// knowledge.
void fm_knowledge_hang_tables(fm_knowledge *knowledge, uint32_t class_index,
                              const struct fm_heuristic_tables *tables);

/// What has changed on fm_knowledge_view(), which is not NULL (asserted).
const fm_change_log *fm_knowledge_log(const fm_knowledge *knowledge, uint32_t class_index);

/// Ends the tick for the logs of all classes; see change_log.h.
void fm_knowledge_trim_logs(fm_knowledge *knowledge);

/// For saved worlds: all who read the logs have read them; see change_log.h.
void fm_knowledge_settle_logs(fm_knowledge *knowledge);

/// Notes in the logs of all classes which tiles have changed in this tick.
///
/// @return whether some step may have become cheaper
bool fm_knowledge_stamp_logs(fm_knowledge *knowledge);

/// Sets the bit in `visible` for every cell that a unit on `cell` sees now.
void fm_knowledge_look(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                       fm_bitmap *visible);

/// How a cell looks to the team: FM_TERRAIN_UNKNOWN, or terrain and cost as last seen.
fm_learned fm_knowledge_look_up(const fm_knowledge *knowledge, fm_cell cell);

/// Bytes held.
size_t fm_knowledge_bytes(const fm_knowledge *knowledge);
