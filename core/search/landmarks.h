// core/search/landmarks.h: chooses landmarks for the differential heuristic and measures the map
// from them, in the background: a bounded piece at a time, for as many ticks as it takes.
//
// Where landmarks stand decides what they are good for. A landmark estimates best those paths that
// lead straight towards it or away from it.
//
//   random         anywhere in the largest connected part of the map
//   farthest       each as far as can be from those before (Goldberg and Harrelson 2005)
//   avoid          where the ones before say least: at the end of the branch of a tree of cheapest
//                  paths over which their estimates add up to the largest error, no landmark being
//                  in it (Goldberg and Werneck 2005)
//   past-the-goal  behind the goal of a recent order, as seen from its start: the farthest cell
//                  whose cheapest path leads through that goal
//
//   IDLE ── begin ──> ROOT ──> PLACING ──> MEASURING ──> MERGING ──> next landmark ──> READY
//    ^                                                                                   │
//    └───────────────────────────────── publish ─────────────────────────────────────────┘
//
// A new set is measured beside the one in use and replaces it as a whole, between two ticks. With
// the adaptive rule a single landmark moves now and then: the least useful one goes to the goal of
// a recent order.
//
// Threads: advance() on one worker; the rest in serial stages.

#pragma once

#include "core/base/random.h"
#include "core/search/distance_field.h"

#define FM_LANDMARK_ERRANDS_MAX 16u        // recent orders remembered
#define FM_LANDMARK_VALUES_MAX  (1u << 26) // landmarks times cells; more get fewer landmarks

// X(enumerator, name on the wire)
#define FM_PLACEMENT_LIST(X)                                                                       \
    X(FM_PLACE_FARTHEST, "farthest")                                                               \
    X(FM_PLACE_RANDOM, "random")                                                                   \
    X(FM_PLACE_AVOID, "avoid")                                                                     \
    X(FM_PLACE_PAST_THE_GOAL, "past-the-goal")

typedef enum fm_placement {
#define X(enumerator, name) enumerator,
    FM_PLACEMENT_LIST(X)
#undef X
} fm_placement;

// How a world's landmarks are chosen; rules of the world.
typedef struct fm_landmark_rules {
    uint32_t count; // 0..FM_LANDMARKS_MAX; 0: planners that want landmarks go by distance
    fm_placement placement;
    bool adaptive;    // move the least used one to a recent goal now and then
    bool allow_stale; // keep using tables that some cheaper step has made too high
} fm_landmark_rules;

typedef enum fm_landmarks_phase {
    FM_LANDMARKS_IDLE,
    FM_LANDMARKS_ROOT,      // measuring from some cell, to choose by
    FM_LANDMARKS_PLACING,   // walking over that
    FM_LANDMARKS_MEASURING, // from the cell that was chosen
    FM_LANDMARKS_MERGING,   // taking it into account for the next
    FM_LANDMARKS_READY,     // to be published
} fm_landmarks_phase;

typedef struct fm_landmark {
    fm_cell cell;
    uint32_t *costs; // owned
    uint32_t used;   // recent orders for which it gave the best estimate
} fm_landmark;

typedef struct fm_errand {
    fm_cell start, goal;
} fm_errand;

typedef struct fm_landmarks {
    const fm_view *view;
    const fm_memory *memory;
    fm_landmark_rules rules;
    fm_random random;
    fm_landmarks_phase phase;
    fm_landmark live[FM_LANDMARKS_MAX], next[FM_LANDMARKS_MAX];
    uint32_t live_count, next_count;
    uint32_t wanted; // landmarks of the set being made
    uint32_t moving; // the live landmark to be replaced by the only one being made, or wanted
    fm_distance_field field;
    fm_cell chosen;    // where the next one is to stand
    fm_cell root;      // where `field` began, while choosing
    bool rooted;       // the connected part of the map is chosen
    uint32_t tries;    // roots tried
    fm_cell best_root; // of them, the one that reaches the most cells
    uint32_t best_settled_count;
    uint64_t *marks; // by cell, what the placement works out
    uint32_t cursor; // of a walk over field.order
    uint32_t pass;   // number of the walk
    fm_errand errands[FM_LANDMARK_ERRANDS_MAX];
    uint32_t errand_count, errands_since_move;
} fm_landmarks;

/// Sets up landmarks that hold no memory yet. View and memory outlive them.
void fm_landmarks_init(fm_landmarks *landmarks, const fm_view *view, fm_landmark_rules rules,
                       uint64_t seed, const fm_memory *memory);

void fm_landmarks_fini(fm_landmarks *landmarks);

/// Starts a new set and drops any unfinished one.
void fm_landmarks_begin(fm_landmarks *landmarks);

/// Drops the unfinished set. The set in use stays.
void fm_landmarks_abandon(fm_landmarks *landmarks);

/// Notes an order from `start` to `goal`, for placement and the adaptive rule.
void fm_landmarks_note_errand(fm_landmarks *landmarks, fm_cell start, fm_cell goal);

/// With the adaptive rule: starts moving a landmark if one is due.
void fm_landmarks_adapt(fm_landmarks *landmarks);

/// Continues. When out of memory, drops the unfinished set.
void fm_landmarks_advance(fm_landmarks *landmarks, fm_work *work, uint32_t expansions_at_start);

/// Whether advance() has anything to do.
static inline bool fm_landmarks_are_busy(const fm_landmarks *landmarks)
{
    return landmarks->phase != FM_LANDMARKS_IDLE && landmarks->phase != FM_LANDMARKS_READY;
}

/// Replaces the set in use, and the table, if a new set is ready.
void fm_landmarks_publish(fm_landmarks *landmarks, fm_landmark_table *table);

/// Bytes held, the struct itself left out.
size_t fm_landmarks_bytes(const fm_landmarks *landmarks);

const char *fm_placement_name(fm_placement placement);

/// False when there is no such placement.
bool fm_placement_by_name(const char *name, fm_placement *placement);
