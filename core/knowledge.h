// core/knowledge.h: what one team knows of the map.
//
// Two bitmaps say it all for planning: `known` (this cell has been seen) and `blocked` (seen, and
// cannot be entered). Unknown cells count as free (the free-space assumption), so `blocked` alone
// is the map that planners search. What a team saw stays as it was seen: an edit out of sight
// changes nothing here until somebody looks again.
//
// Every change that matters to a planner is appended to a log; each planner reads on from its own
// cursor. The log keeps the last FM_KNOWLEDGE_LOG_MAX changes; a planner that fell behind starts
// over.
//
// Threads: sensing writes, one worker per knowledge; everything else reads.

#pragma once

#include "core/planner.h"

#define FM_KNOWLEDGE_LOG_MAX (1u << 20) // changes kept for planners that are behind
#define FM_SENSE_RADIUS_MAX  64u        // cells

typedef enum fm_sense_shape {
    FM_SENSE_SQUARE,  // max(dx, dy) <= radius
    FM_SENSE_DIAMOND, // dx + dy <= radius; 4-neighbour worlds only, it hides the corners
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
typedef struct fm_sight fm_sight;

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_sight_create(fm_sense_rules rules, const fm_memory *memory, fm_sight **out);

/// NULL is allowed.
void fm_sight_destroy(fm_sight *sight);

typedef struct fm_knowledge {
    const fm_grid *truth;
    const fm_sight *sight;
    const fm_memory *memory;
    bool omniscient;   // knows everything always
    bool keep_learned; // somebody wants `learned`

    fm_bitmap known;
    fm_bitmap blocked;
    fm_bitmap blocked_transposed; // x and y exchanged; empty unless the rules are FM_CONNECT_8
    uint8_t *weights;             // as seen, 1 where unknown; NULL while the grid is unweighted
    fm_bitmap stale;              // known, but edited since; empty until the map is first edited
    uint8_t *seen;                // terrain as last seen, of stale cells; NULL likewise
    fm_view view;                 // of `blocked` and `weights`: what planners get

    uint64_t version;   // changes ever logged
    uint64_t log_begin; // version of the oldest change still in the log
    fm_change *log;     // change v at v - log_begin
    uint32_t log_capacity;
    fm_learned *learned; // since fm_knowledge_forget_learned(), in order of learning
    uint32_t learned_count;
    uint32_t learned_capacity;
    uint64_t known_count; // cells
    uint64_t digest;      // of all that was ever learned, in order
} fm_knowledge;

/// Makes an empty knowledge (nothing seen) or, with `omniscient`, one that has seen all and sees
/// every edit at once.
///
/// @param truth, sight, memory  outlive it
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_create(const fm_grid *truth, const fm_sight *sight,
                                         fm_connectivity connectivity, fm_step_costs steps,
                                         bool omniscient, const fm_memory *memory,
                                         fm_knowledge **out);

/// Releases it. NULL is allowed.
void fm_knowledge_destroy(fm_knowledge *knowledge);

/// Someone of the team stands on `cell` and looks around. When a list cannot grow for want of
/// memory, what was seen is known all the same, and planners of the team start over.
void fm_knowledge_sense(fm_knowledge *knowledge, fm_cell cell);

/// Before the true map is edited for the first time, and when it becomes weighted: makes room to
/// remember how cells looked. Serial stages only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_for_edits(fm_knowledge *knowledge);
FM_CHECKED fm_status fm_knowledge_prepare_for_weights(fm_knowledge *knowledge);

/// The true map has turned weighted: planners' costs change scale. All planners must start over.
void fm_knowledge_use_weights(fm_knowledge *knowledge, fm_connectivity connectivity,
                              fm_step_costs steps);

/// A cell of the true map has just been edited; `terrain_before` is what it was. Serial stages
/// only, after fm_knowledge_prepare_for_edits().
void fm_knowledge_note_edit(fm_knowledge *knowledge, fm_cell cell, fm_terrain terrain_before);

/// Drops the list of what was learned, once it has been streamed.
void fm_knowledge_forget_learned(fm_knowledge *knowledge);

/// Drops the log, once every planner has read it to the end.
void fm_knowledge_trim_log(fm_knowledge *knowledge);

/// Adds 1 bits to `visible` for every cell that someone on `cell` sees now.
void fm_knowledge_look(const fm_knowledge *knowledge, fm_cell cell, fm_bitmap *visible);

/// The changes logged since version `since`, oldest first.
///
/// @param count  receives how many there are
/// @param complete  receives false when the log no longer reaches back that far: start over
/// @return them, good until the next sense or edit
const fm_change *fm_knowledge_changes(const fm_knowledge *knowledge, uint64_t since,
                                      uint32_t *count, bool *complete);

/// How a cell looks to the team: FM_TERRAIN_UNKNOWN, or terrain and cost as last seen.
fm_learned fm_knowledge_look_up(const fm_knowledge *knowledge, fm_cell cell);

/// Bytes held.
size_t fm_knowledge_bytes(const fm_knowledge *knowledge);
