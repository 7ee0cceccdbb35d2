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

#define FM_KNOWLEDGE_LOG_MAX 65536u // changes kept for planners that are behind
#define FM_SENSE_RADIUS_MAX  64u    // cells

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

typedef struct fm_knowledge {
    const fm_grid *truth;
    const fm_memory *memory;
    fm_sense_rules sense;
    uint32_t half_width[FM_SENSE_RADIUS_MAX + 1]; // of the shape, by |dy|

    fm_bitmap known;
    fm_bitmap blocked;
    fm_bitmap blocked_transposed; // x and y exchanged; empty unless the rules are FM_CONNECT_8
    uint8_t *weights;             // as seen, 1 where unknown; NULL while the grid is unweighted
    uint8_t *seen;                // terrain as last seen; NULL until the map is first edited
    fm_view view;                 // of `blocked` and `weights`: what planners get

    uint64_t version; // changes ever logged
    fm_change *log;   // ring of the newest, entry v at v % capacity
    uint32_t log_capacity;
    fm_learned *learned; // since fm_knowledge_forget_learned(), in order of learning
    uint32_t learned_count;
    uint32_t learned_capacity;
    uint64_t known_count; // cells
    uint64_t digest;      // of all that was ever learned, in order
} fm_knowledge;

/// Makes an empty knowledge (nothing seen) or, with `omniscient`, one that has seen all.
///
/// @param truth, memory  outlive it
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_create(const fm_grid *truth, fm_sense_rules sense,
                                         fm_connectivity connectivity, fm_step_costs steps,
                                         bool omniscient, const fm_memory *memory,
                                         fm_knowledge **out);

/// Releases it. NULL is allowed.
void fm_knowledge_destroy(fm_knowledge *knowledge);

/// Someone of the team stands on `cell` and looks around.
///
/// @return FM_OK, or FM_ERR_NO_MEMORY when the lists could not grow (what was seen is then known
///         all the same; planners of the team are told to start over)
FM_CHECKED fm_status fm_knowledge_sense(fm_knowledge *knowledge, fm_cell cell);

/// Before the true map is edited for the first time, and when it becomes weighted: makes room to
/// remember how cells looked. Serial stages only.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knowledge_prepare_for_edits(fm_knowledge *knowledge, bool weighted);

/// Drops the list of what was learned, once it has been streamed.
void fm_knowledge_forget_learned(fm_knowledge *knowledge);

/// Adds 1 bits to `visible` for every cell that someone on `cell` sees now.
void fm_knowledge_look(const fm_knowledge *knowledge, fm_cell cell, fm_bitmap *visible);

/// The changes logged since version `since`.
///
/// @param changes  receives up to `capacity` of them, oldest first
/// @return how many there are (may exceed capacity: ask again from since + capacity), or
///         UINT32_MAX when the log no longer reaches back that far
uint32_t fm_knowledge_changes(const fm_knowledge *knowledge, uint64_t since, fm_change *changes,
                              uint32_t capacity);

/// How a cell looks to the team: FM_TERRAIN_UNKNOWN, or terrain and cost as last seen.
fm_learned fm_knowledge_look_up(const fm_knowledge *knowledge, fm_cell cell);

/// Bytes held.
size_t fm_knowledge_bytes(const fm_knowledge *knowledge);
