// core/world_state.h: the inside of fm_world, for the files that make up its tick. Nobody else
// includes it: world.h is what there is to know.
//
//   world.c     making and ending worlds, commands
//   assign.c    which planner serves which agent; what follows from an unreachable goal
//   tick.c      the row of stages
//   watch.c     what views are told
//   inspect.c   what people who debug are told

#pragma once

#include "core/reach.h"
#include "core/scratch.h"
#include "core/sight.h"
#include "core/tick.h"

#define FM_SLOT_NONE UINT32_MAX

struct fm_order {
    uint64_t id; // 0: none
    fm_cell goal;
    fm_on_unreachable on_unreachable;
    uint64_t given_tick;         // ticks completed when it was given
    bool has_moved;              // the agent has made a move under it
    fm_cell substitute;          // reachable cell it goes to instead, FM_CELL_NONE
    uint64_t substitute_version; // of the knowledge when that was chosen
    uint64_t substitute_tick;    // tick in which it was chosen
};

struct fm_agent {
    uint32_t generation;
    bool alive;
    bool must_sense;      // stands somewhere new, or the map around was edited
    bool changed;         // moved or changed state since the last tick's end
    bool wants_reach;     // its goal is proven unreachable and it needs to know what is not
    uint8_t state;        // fm_agent_state
    uint8_t plan_state;   // fm_plan_state of `planner` for its cell, as of the choose stage
    uint8_t detour_state; // likewise of `detour`
    uint32_t team;
    fm_cell cell;
    fm_cell next;     // chosen for this tick; FM_CELL_NONE: stay
    uint32_t planner; // slot, for the order's goal
    uint32_t detour;  // slot, for the substitute
    fm_planner_spec spec;
    struct fm_order order;
    uint64_t moves;
    uint64_t replans;
};

struct fm_planner {
    bool in_use;
    bool wants_search; // RUNNING after the last look
    bool cut;          // stopped by the deadline in this round
    bool skipped;      // the deadline had passed before its turn
    uint8_t state;     // fm_plan_state
    void *self;
    fm_planner_spec spec;
    uint32_t team;
    fm_cell goal;
    uint32_t users;  // agents
    uint64_t cursor; // version of the knowledge it has read up to
    uint64_t expansions;
    uint64_t replans;                  // times that changes of knowledge made it search again
    uint32_t round_expansions;         // done in the current round
    uint32_t cut_at;                   // see fm_cut.expansions
    uint32_t next;                     // planner with the same hash, or free slot
    uint32_t first_start, start_count; // its part of fm_world.starts
};

struct fm_team {
    fm_knowledge *knowledge;
    fm_planner_spec spec;
    fm_reach *reach;     // flood in progress or last made; NULL
    uint64_t reach_tick; // tick in which it was begun
    uint32_t reach_round_expansions;
    bool reach_cut;
    uint32_t first_sensing, sensing_count; // its part of fm_world.sensing
    struct fm_watch *watch;                // NULL unless watched
};

// What a view was shown, and what it is to be told.
struct fm_watch {
    fm_bitmap visible; // cells seen now; empty for FM_ALL_TEAMS
    uint64_t *shown;   // bit per agent slot: in view as of the last tick
    uint32_t shown_words;
    fm_agent_look *entered, *changed;
    fm_agent_left *left;
    fm_learned *cells;
    fm_order_ended *ended;
    uint32_t entered_count, changed_count, left_count, cell_count, ended_count;
    uint32_t entered_capacity, changed_capacity, left_capacity, cell_capacity, ended_capacity;
};

struct fm_world {
    fm_world_rules rules;
    fm_memory memory;
    fm_grid *grid;
    fm_sight *sight;
    fm_view truth; // of the whole true map
    uint64_t tick; // ticks completed

    struct fm_agent *agents; // slots
    uint32_t agent_slots, agent_capacity;
    uint32_t agent_free;  // head of the list of free slots through `planner`, FM_SLOT_NONE
    uint32_t agent_count; // alive
    uint64_t orders_given;

    struct fm_team *teams; // team t at t - 1
    uint32_t team_count, team_capacity;

    struct fm_planner *planners; // slots
    uint32_t planner_slots, planner_capacity;
    uint32_t planner_free;
    uint32_t planner_count;
    uint32_t *planner_table; // slot + 1 by hash; chains through fm_planner.next
    uint32_t planner_table_mask;

    fm_slab slabs[FM_WORKERS_MAX];
    fm_scratch scratches[FM_WORKERS_MAX];
    uint32_t slab_count; // workers ever seen
    uint32_t next_slab;  // where the next ended planner's pages go

    // Lists of one tick, rebuilt by it.
    fm_cell *starts;     // of all planners
    uint32_t *searching; // planner slots
    uint32_t *sensing;   // agent slots, by team
    uint32_t *scratch_slots;
    uint32_t starts_capacity, searching_capacity, sensing_capacity, scratch_capacity;
    uint32_t searching_count;
    uint32_t *flooding; // teams
    uint32_t flooding_count, flooding_capacity;
    fm_cut *cuts;
    uint32_t cut_count, cut_capacity;

    // What happened since the last tick was streamed.
    bool streamed;          // the lists below have been told; the next change begins new ones
    fm_agent_left *removed; // with reason; by order of removal
    uint32_t removed_count, removed_capacity;
    fm_order_ended *ended;
    uint32_t ended_count, ended_capacity;
    fm_cell *edited;
    uint32_t edited_count, edited_capacity;
    bool map_edited; // some cell changed since the last sense stage
    struct fm_watch *watch_all;

    uint64_t digest; // of all events that are not visible in the state
    fm_world_counts counts;
};

// Makes room for `wanted` elements in a growing array; true on success.
#define FM_RESERVE(world, array, capacity, wanted)                                                 \
    fm_reserve(&(world)->memory, (void **)&(array), &(capacity), (wanted), sizeof *(array))
bool fm_reserve(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                size_t size);

/// The living agent behind an id, or NULL.
struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id);

static inline fm_agent_id fm_agent_id_of(const fm_world *world, const struct fm_agent *agent)
{
    return (fm_agent_id){.index1 = (uint32_t)(agent - world->agents) + 1,
                         .generation = agent->generation};
}

static inline struct fm_team *fm_team_of(const fm_world *world, uint32_t team)
{
    return &world->teams[team - 1];
}

/// Forgets what the last tick's views were told, before anything new is noted.
void fm_world_begin_interval(fm_world *world);

/// Ends an agent's order for `reason` and lets its planners go. Nothing happens without an order.
void fm_agent_end_order(fm_world *world, struct fm_agent *agent, fm_order_end reason);

void fm_agent_set_state(struct fm_agent *agent, fm_agent_state state);

// ---- assign.c ----

/// Lets an agent's planners go; those without users end.
void fm_agent_release_planners(fm_world *world, struct fm_agent *agent);

/// The assign stage.
void fm_stage_assign(fm_world *world);

/// Ends every planner's search without ending the planner.
void fm_planners_forget(fm_world *world);

void fm_planner_end(fm_world *world, uint32_t slot);

// ---- watch.c ----

/// The observe stage, for one view.
void fm_watch_observe(const fm_world *world, uint32_t team, struct fm_watch *watch);
void fm_watch_destroy(fm_world *world, struct fm_watch *watch);
