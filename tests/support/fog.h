// fog.h: a made-up world as a planner sees it: a map of blocked cells, weights, a
// list of changes, memory that counts and can run out, and one planner on top of it all.
//
// There is no team and no sensing: a test changes the map as it likes, and the planner is notified
// as the tick would do it. Changes may be sent twice or merged, and cells may have toggled twice in
// between.

#pragma once

#include "core/base/random.h"
#include "core/planners/catalogue.h"

#define FOG_CHANGES_MAX 256u
#define FOG_STARTS_MAX  6u

typedef struct fog_memory {
    fm_memory memory;
    size_t held;   // bytes allocated now
    uint64_t left; // allocations until memory runs out
} fog_memory;

typedef struct fog {
    fm_random random;
    uint32_t width, height;
    fm_bitmap blocked;
    fm_bitmap blocked_transposed;
    uint8_t *weights;   // NULL when all are 1
    uint32_t costliest; // weight of a cell
    fm_view view;
    fm_change changes[FOG_CHANGES_MAX]; // the planner was not notified yet
    uint32_t change_count;
    fog_memory memory;
} fog;

// A planner with what it needs, for one agent or group of agents.
typedef struct fog_planner {
    fog *world;
    const fm_planner_ops *ops;
    void *self;
    fm_slab slab;
    fm_work work;
    fm_cell goal;
    fm_cell starts[FOG_STARTS_MAX];
    uint32_t start_count;
} fog_planner;

/// Memory that counts what is allocated and checks the sizes at release.
void fog_memory_init(fog_memory *memory);

/// A random world with sides in side_min..side_max. Uniform: all weights 1, 8 neighbours.
void fog_init(fog *world, uint64_t seed, uint32_t side_min, uint32_t side_max, bool uniform);
void fog_fini(fog *world);

/// A random cell, free if there is a free one.
fm_cell fog_free_cell(fog *world);

/// Blocks, frees or reweighs a cell and notes the change.
void fog_toggle(fog *world, fm_cell cell);
void fog_weigh(fog *world, fm_cell cell, uint8_t weight);

/// 1 to 4 random changes, now and then a whole block of cells. Spares `spared` most of the time.
void fog_edit(fog *world, fm_cell spared);

/// Brings the noted changes into the form in which a planner may get them: they say what is blocked
/// now, and some are merged.
void fog_settle_changes(fog *world);

// What heuristic tables point to.
typedef struct fog_tables {
    uint32_t *landmarks[FM_LANDMARKS_MAX];
    uint32_t *clusters;
} fog_tables;

/// Computes the tables that a heuristic reads by a plain search: landmarks in random free cells, or
/// the least costs between tiles. For small worlds.
void fog_tables_make(fog_tables *made, fog *world, fm_heuristic_kind kind,
                     fm_heuristic_tables *tables);

/// Computes the costs between tiles whose sides and columns the table gives.
void fog_tables_measure_clusters(fog_tables *made, fog *world, fm_cluster_table *table);
void fog_tables_fini(fog_tables *made);

/// Marks the tables as stale if some noted change made a step cheaper.
void fog_tables_follow(const fog *world, fm_heuristic_tables *tables);

/// Whether a planner promises that FM_PLAN_FOUND means a cheapest path on this view, as its tables
/// are now.
bool fog_promises_cheapest(const fm_planner_spec *spec, const fm_view *view);

/// A planner with its goal, standing on random free cells.
void fog_planner_init(fog_planner *planner, fog *world, const fm_planner_ops *ops,
                      const fm_planner_options *options);

/// Ends a planner and checks that it released all its memory.
void fog_planner_fini(fog_planner *planner);

/// Notifies the planner of the noted changes (the caller empties the list), then of the starts.
void fog_planner_tell(fog_planner *planner);

/// advance() with a grant. At each look at it the deadline has passed with a chance of `strikes` in
/// 256.
fm_plan_state fog_planner_advance(fog_planner *planner, uint32_t expansions_max, uint32_t strikes);

/// advance() as in a replay: it stops where `recorded` was cut, if it was.
fm_plan_state fog_planner_repeat(fog_planner *planner, const fm_work *recorded);
