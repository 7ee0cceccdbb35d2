// core/world/world_state.h: the inside of fm_world: its parts, each with its owner.
//
// For the sources that tests/check_includes lists: those that make, save or load a world as a
// whole, and those that run for every agent or planner in every tick. All others include the
// headers of the parts that they use; world_parts.h says how they reach them.

#pragma once

#include "core/search/scratch.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/due.h"
#include "core/world/given_orders.h"
#include "core/world/interval.h"
#include "core/world/planner_table.h"
#include "core/world/presence_bits.h"
#include "core/world/receipts.h"
#include "core/world/team.h"
#include "core/world/tick_lists.h"
#include "core/world/true_map.h"
#include "core/world/view_surveys.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#include <stdatomic.h>

// What each worker has for searches. Whose: the search stage, and planner_table.c, which hands the
// pages of ended planners back.
struct fm_world_workers {
    fm_slab slabs[FM_WORKERS_MAX];
    fm_scratch scratches[FM_WORKERS_MAX];
    uint32_t count;     // workers ever seen; the slabs and scratches of others are all zero
    uint32_t next_slab; // where the next ended planner's pages go
};

// Failed allocations. Whose: core/commands/create.c, whose fm_world.memory counts on behalf of
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
    uint32_t still_ticks;    // ticks in a row in which nothing happened
    uint64_t agents_visited; // by stages, each counted, in this tick

    struct fm_world_allocations allocations;

    fm_history history;
    fm_receipts receipts;
    uint64_t digest; // of all events that are not visible in the state
    fm_world_counts counts;
};

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

/// Counts agents that a stage visits. From any worker.
static inline void fm_agents_note_visits(fm_world *world, uint64_t count)
{
    __atomic_fetch_add(&world->agents_visited, count, __ATOMIC_RELAXED);
}

/// Prefetches what a walk needs of an agent.
static inline void fm_agent_fetch(const fm_world *world, uint32_t slot)
{
    __builtin_prefetch(&world->agents.slots[slot]);
    __builtin_prefetch(&world->agents.slots[slot].order);
}

// ---- what the headers of the parts declare ------------------------------------------------------

// Sources that do not include this header call these; world.c, which defines the macro as nothing,
// has them. In those that do include it they are inline, and no code is made for them. (Plain C
// `inline` would not do: it wants the word in the declarations, too, and then a body in every
// source.)
#ifndef FM_WORLD_INLINE
#define FM_WORLD_INLINE extern inline __attribute__((gnu_inline))
#endif

FM_WORLD_INLINE uint64_t fm_world_tick(const fm_world *world)
{
    return world->tick;
}

FM_WORLD_INLINE const fm_world_rules *fm_world_rules_get(const fm_world *world)
{
    return &world->rules;
}

FM_WORLD_INLINE const fm_grid *fm_world_grid(const fm_world *world)
{
    return world->map.grid;
}

FM_WORLD_INLINE const fm_memory *fm_world_memory(const fm_world *world)
{
    return &world->memory;
}

FM_WORLD_INLINE uint32_t fm_world_refusals(const fm_world *world)
{
    return atomic_load_explicit(&world->allocations.refusals, memory_order_relaxed);
}

FM_WORLD_INLINE void fm_world_note_refusals(fm_world *world, uint32_t before)
{
    world->allocations.starved |= fm_world_refusals(world) != before;
}

FM_WORLD_INLINE void fm_world_disturb(fm_world *world)
{
    world->settled = false;
    world->still_ticks = 0;
}

FM_WORLD_INLINE fm_world_rules *fm_world_edit_rules(fm_world *world)
{
    return &world->rules;
}

FM_WORLD_INLINE const fm_history *fm_world_history(const fm_world *world)
{
    return &world->history;
}

FM_WORLD_INLINE void fm_world_note(fm_world *world, const fm_history_entry *entry)
{
    fm_history_add(&world->history, &world->memory, entry);
}

FM_WORLD_INLINE const fm_world_counts *fm_world_counted(const fm_world *world)
{
    return &world->counts;
}

FM_WORLD_INLINE fm_world_counts *fm_world_edit_counts(fm_world *world)
{
    return &world->counts;
}

// agent.h, agent_marks.h

FM_WORLD_INLINE const struct fm_world_agents *fm_world_agents(const fm_world *world)
{
    return &world->agents;
}

FM_WORLD_INLINE struct fm_world_agents *fm_world_edit_agents(fm_world *world)
{
    return &world->agents;
}

// As fm_mark_words_for(), which is static, and so nothing that a function like this one may call.
FM_WORLD_INLINE uint32_t fm_mark_words(const fm_world *world)
{
    return world->agents.slot_count / 64 + (world->agents.slot_count % 64 != 0);
}

FM_WORLD_INLINE struct fm_agent *fm_agent_at(const fm_world *world, uint32_t slot)
{
    return &world->agents.slots[slot];
}

FM_WORLD_INLINE fm_agent_id fm_agent_id_of(const fm_world *world, const struct fm_agent *agent)
{
    return (fm_agent_id){.index1 = (uint32_t)(agent - world->agents.slots) + 1,
                         .generation = agent->generation};
}

FM_WORLD_INLINE void fm_agent_mark_set(fm_world *world, const struct fm_agent *agent,
                                       fm_agent_mark mark)
{
    uint32_t slot = (uint32_t)(agent - world->agents.slots);
    world->agents.marks[slot / 64].of[mark] |= (uint64_t)1 << slot % 64;
}

FM_WORLD_INLINE struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id)
{
    if (id.index1 == 0 || id.index1 > world->agents.slot_count) {
        return NULL;
    }
    struct fm_agent *agent = &world->agents.slots[id.index1 - 1];
    return agent->alive && agent->generation == id.generation ? agent : NULL;
}

FM_WORLD_INLINE void fm_agent_set_state(fm_world *world, struct fm_agent *agent,
                                        fm_agent_state state)
{
    if (agent->state != state) {
        agent->state = (uint8_t)state;
        fm_agent_mark_set(world, agent, FM_MARK_STATE);
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
        fm_agent_mark_set(world, agent,
                          state == FM_AGENT_MOVING ? FM_MARK_UNDER_WAY : FM_MARK_ATTEND);
    }
}

// team.h

FM_WORLD_INLINE struct fm_team *fm_team_of(const fm_world *world, uint32_t team)
{
    return &world->teams.list[team - 1];
}

FM_WORLD_INLINE struct fm_agent *fm_team_member(const fm_world *world, uint32_t team, uint32_t i)
{
    uint32_t slot = fm_team_of(world, team)->members[i];
    struct fm_agent *agent = &world->agents.slots[slot];
    return agent->alive && agent->team == team && agent->member == i ? agent : NULL;
}

FM_WORLD_INLINE const struct fm_world_teams *fm_world_teams(const fm_world *world)
{
    return &world->teams;
}

FM_WORLD_INLINE struct fm_world_teams *fm_world_edit_teams(fm_world *world)
{
    return &world->teams;
}

FM_WORLD_INLINE uint32_t fm_world_team_count(const fm_world *world)
{
    return world->teams.count;
}

// planner_table.h, due.h, view_surveys.h

FM_WORLD_INLINE const struct fm_world_planners *fm_world_planners(const fm_world *world)
{
    return &world->planners;
}

FM_WORLD_INLINE void fm_planner_wake(fm_world *world, uint32_t slot)
{
    __atomic_fetch_or(&world->planners.due[slot / 64], (uint64_t)1 << slot % 64, __ATOMIC_RELAXED);
}

FM_WORLD_INLINE bool fm_planner_walks(const fm_world *world, uint32_t slot)
{
    return world->planners.walking[slot / 64] >> slot % 64 & 1;
}

FM_WORLD_INLINE const struct fm_world_surveys *fm_world_surveys(const fm_world *world)
{
    return &world->surveys;
}

FM_WORLD_INLINE struct fm_world_surveys *fm_world_edit_surveys(fm_world *world)
{
    return &world->surveys;
}

// true_map.h, world_classes.h

FM_WORLD_INLINE const struct fm_world_map *fm_world_map(const fm_world *world)
{
    return &world->map;
}

FM_WORLD_INLINE struct fm_world_map *fm_world_edit_map(fm_world *world)
{
    return &world->map;
}

FM_WORLD_INLINE const fm_line_of_sight *fm_agent_sight(const fm_world *world,
                                                       const struct fm_agent *agent)
{
    return agent->sight == 0 ? world->map.sight : world->map.other_sights[agent->sight];
}

FM_WORLD_INLINE uint32_t fm_world_class_size(const fm_world *world, uint32_t class_index)
{
    return world->rules.classes[class_index].size;
}

FM_WORLD_INLINE const fm_view *fm_world_truth(const fm_world *world, uint32_t class_index)
{
    const fm_class_map *map = world->map.class_truth[class_index];
    return map == NULL ? &world->map.truth : &map->view;
}

// given_orders.h, crowd_state.h, interval.h, presence_bits.h, receipts.h

FM_WORLD_INLINE const struct fm_world_orders *fm_world_orders(const fm_world *world)
{
    return &world->orders;
}

FM_WORLD_INLINE struct fm_world_orders *fm_world_edit_orders(fm_world *world)
{
    return &world->orders;
}

FM_WORLD_INLINE struct fm_world_crowd *fm_world_edit_crowd(fm_world *world)
{
    return &world->crowd;
}

FM_WORLD_INLINE fm_occupancy *fm_world_occupancy(const fm_world *world)
{
    return world->crowd.occupancy;
}

FM_WORLD_INLINE const struct fm_world_interval *fm_world_interval(const fm_world *world)
{
    return &world->interval;
}

FM_WORLD_INLINE struct fm_world_interval *fm_world_edit_interval(fm_world *world)
{
    return &world->interval;
}

FM_WORLD_INLINE const fm_presence *fm_world_presence(const fm_world *world)
{
    return &world->presence;
}

FM_WORLD_INLINE fm_presence *fm_world_edit_presence(fm_world *world)
{
    return &world->presence;
}

FM_WORLD_INLINE const fm_receipts *fm_world_receipts(const fm_world *world)
{
    return &world->receipts;
}

FM_WORLD_INLINE fm_receipts *fm_world_edit_receipts(fm_world *world)
{
    return &world->receipts;
}
