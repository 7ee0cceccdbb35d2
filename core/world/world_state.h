// core/world/world_state.h: the inside of fm_world: its parts, each of which somebody owns.
//
// For sources of core/ that read or change these parts, from this room up. Headers, and who only
// hands a world on, need no more than world.h; who looks at one agent, agent.h; at a planner,
// planner_table.h.

#pragma once

#include "core/map/line_of_sight.h"
#include "core/map/occupancy.h"
#include "core/search/scratch.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/history.h"
#include "core/world/interval.h"
#include "core/world/planner_table.h"
#include "core/world/presence_bits.h"
#include "core/world/receipts.h"
#include "core/world/team.h"
#include "core/world/tick_lists.h"
#include "core/world/unit_index.h"
#include "core/world/view_surveys.h"
#include "core/world/world.h"

#include <stdatomic.h>

// The true map. Whose: core/commands and core/saves, which build, edit and load it between ticks,
// and world_classes.c; stages read it.
struct fm_world_map {
    fm_grid *grid;
    fm_line_of_sight *sight;
    fm_view truth; // of the whole map
    fm_buildings buildings;
    fm_buildings_seen buildings_shown;         // to the view of everything
    fm_class_map *class_truth[FM_CLASSES_MAX]; // by class; NULL: it sees `truth`
    fm_labels *labels[FM_LABELED_MAPS];        // for queries; NULL: not asked for yet
};

// What orders share. Whose: core/orders, core/commands/order_command.c, which counts those that it
// gives, and core/saves; unit_index.c gathers the index.
struct fm_world_orders {
    uint64_t given;
    uint64_t live;              // given and not ended, queued ones too
    struct fm_order_rest *rest; // of an order that continues over ticks (orders.c); or NULL
    bool seeks;                 // somebody explores or flees in this tick
    fm_unit_index unit_index;   // who stands where, for follow and flee
    uint64_t unit_index_tick;   // assign stage that it was gathered in, counted from 1
};

// What each worker has for searches. Whose: the search stage, and planner_table.c, which hands the
// pages of ended planners back.
struct fm_world_workers {
    fm_slab slabs[FM_WORKERS_MAX];
    fm_scratch scratches[FM_WORKERS_MAX];
    uint32_t count;     // workers ever seen
    uint32_t next_slab; // where the next ended planner's pages go
};

// With FM_OCCUPANCY_EXCLUSIVE: who stands where, and room for the move stage to decide who goes
// where. There is room for all agents. Whose: core/crowd.
struct fm_world_crowd {
    fm_occupancy *occupancy; // NULL: any number of units in a cell
    struct fm_mover *movers; // by agent slot
    struct fm_pibt_frame *frames;
    uint32_t jams_left; // of all teams: those worked on, and units that wait for help
    uint64_t *turns;    // twice as many: see crowd.c
    uint32_t mover_capacity, frame_capacity, turn_capacity;
    fm_cell *placed; // of the agents that a command spawns
    uint32_t placed_capacity;
};

// Memory that was refused. Whose: core/commands/create.c, whose fm_world.memory counts on behalf of
// `source`; `starved` is set by who begins a tick, a command or settling.
struct fm_world_allocations {
    fm_memory source;
    atomic_uint refusals; // allocations that failed, ever
    bool starved;         // see fm_world_is_starved()
};

struct fm_world {
    fm_world_rules rules;
    fm_memory memory;
    struct fm_world_map map;
    uint64_t tick; // ticks completed

    struct fm_world_agents agents;
    struct fm_world_orders orders;
    struct fm_world_teams teams;
    struct fm_world_surveys surveys;
    struct fm_world_planners planners;
    struct fm_world_workers workers;
    struct fm_world_crowd crowd;
    struct fm_tick_lists lists;
    struct fm_world_interval interval;
    fm_presence presence; // whose: core/views/presence.c

    bool settled; // loading this world's file would give this very state; see world_file.h

    // Whose: tick.c; what changes a world between ticks sets the first to 0.
    uint32_t still_ticks;    // in a row in which nothing happened
    uint64_t agents_visited; // by stages, each counted, in this tick

    // Work on labels of all teams together. Whose: tick.c and team_labels.c.
    uint64_t label_units; // done in this tick
    uint64_t
        label_units_max; // after which orders wait for the next tick; 0, between ticks: no bound

    struct fm_world_allocations allocations;

    fm_history history;
    fm_receipts receipts;
    uint64_t digest; // of all events that are not visible in the state
    fm_world_counts counts;
};

// Makes room for `wanted` elements in a growing array; true on success.
#define FM_RESERVE(world, array, capacity, wanted)                                                 \
    FM_RESERVE_FROM(&(world)->memory, array, capacity, wanted)

/// Allocations that failed so far.
static inline uint32_t fm_world_refusals(const fm_world *world)
{
    return atomic_load_explicit(&world->allocations.refusals, memory_order_relaxed);
}

static inline fm_agent_id fm_agent_id_of(const fm_world *world, const struct fm_agent *agent)
{
    return (fm_agent_id){.index1 = (uint32_t)(agent - world->agents.slots) + 1,
                         .generation = agent->generation};
}

static inline struct fm_team *fm_team_of(const fm_world *world, uint32_t team)
{
    return &world->teams.list[team - 1];
}

/// The true map as a class sees it.
static inline const fm_view *fm_world_truth(const fm_world *world, uint32_t class_index)
{
    const fm_class_map *map = world->map.class_truth[class_index];
    return map == NULL ? &world->map.truth : &map->view;
}

static inline bool fm_world_contains(const fm_world *world, fm_cell cell)
{
    return fm_grid_contains(world->map.grid, fm_cell_x(cell), fm_cell_y(cell));
}

static inline uint32_t fm_mark_words_for(uint32_t slots)
{
    return slots / 64 + (slots % 64 != 0);
}

static inline uint32_t fm_mark_words(const fm_world *world)
{
    return fm_mark_words_for(world->agents.slot_count);
}

static inline void fm_agent_mark_set(fm_world *world, const struct fm_agent *agent,
                                     fm_agent_mark mark)
{
    uint32_t slot = (uint32_t)(agent - world->agents.slots);
    world->agents.marks[slot / 64].of[mark] |= (uint64_t)1 << slot % 64;
}

static inline void fm_agent_mark_clear(fm_world *world, const struct fm_agent *agent,
                                       fm_agent_mark mark)
{
    uint32_t slot = (uint32_t)(agent - world->agents.slots);
    world->agents.marks[slot / 64].of[mark] &= ~((uint64_t)1 << slot % 64);
}

static inline bool fm_agent_is_marked(const fm_world *world, uint32_t slot, fm_agent_mark mark)
{
    return world->agents.marks[slot / 64].of[mark] >> slot % 64 & 1;
}

/// Counts agents that a stage looks at. From any worker.
static inline void fm_agents_note_visits(fm_world *world, uint64_t count)
{
    __atomic_fetch_add(&world->agents_visited, count, __ATOMIC_RELAXED);
}

/// Asks the memory for what a walk needs of an agent, ahead of its turn.
static inline void fm_agent_fetch(const fm_world *world, uint32_t slot)
{
    __builtin_prefetch(&world->agents.slots[slot]);
    __builtin_prefetch(&world->agents.slots[slot].order);
}
