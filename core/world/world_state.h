// core/world/world_state.h: the inside of fm_world, for the rooms of core/ from here up. Nobody
// else includes it: world.h is what there is to know.

#pragma once

#include "core/map/occupancy.h"
#include "core/map/line_of_sight.h"
#include "core/search/reach.h"
#include "core/search/scratch.h"
#include "core/search/heuristic_survey.h"
#include "core/world/agent_marks.h"
#include "core/world/history.h"
#include "core/world/names.h"
#include "core/world/order.h"
#include "core/world/receipts.h"
#include "core/world/team_labels.h"
#include "core/world/tick_record.h"
#include "core/world/unit_index.h"
#include "core/world/world.h"

#include <stdatomic.h>

#define FM_SLOT_NONE UINT32_MAX

// What every tick looks at comes first, the order next: two lines of cache for a walk. What stages
// have to visit is marked in agent_marks.h.
struct fm_agent {
    fm_cell cell;
    fm_cell next;     // chosen for this tick; FM_CELL_NONE: stay
    uint32_t planner; // slot, for the order's goal or substitute
    uint32_t team;
    uint32_t generation;
    uint32_t member; // index in its team's list of slots
    bool alive;
    bool is_ready;       // has credit for a step in this tick
    uint8_t state;       // fm_agent_state
    uint8_t plan_state;  // fm_plan_state of `planner` for its cell, as of the choose stage
    uint8_t class_index; // movement class, in the rules
    uint8_t heading;     // direction of its last move, FM_DIRECTION_COUNT before the first
    bool must_sense;     // in settled worlds: FM_MARK_LOOK, as saved
    bool frozen;         // does not move, by FM_COMMAND_SET
    // How fast it goes; see step.h.
    uint32_t speed; // cells in 1000 s of game time; 0: a cell a tick
    int32_t credit; // towards its next step; a straight one takes rules.tick_millihertz
    uint64_t moves;
    uint64_t stepped_tick;            // ticks completed with its last step, or pushed
    uint32_t mate_before, mate_after; // slots of agents with the same planner; FM_SLOT_NONE: none
    struct fm_order order;
    fm_planner_spec spec;
    struct fm_order *queue; // orders whose turn comes later, first to last; owned
    uint32_t queue_count, queue_capacity;
    uint32_t queue_wanted; // during a command: orders that it appends, or how often it is named
    uint64_t born;         // agents of the world spawned before it

    // Among others, where a cell holds one unit; see crowd.h.
    bool settled;           // stands where its last order ended, or was pushed from there
    uint16_t stalled_ticks; // since somebody who cannot be pushed stands on its goal
    fm_cell settled_aim;    // where its last order led
    fm_cell home;           // where it goes back to, see homecoming.h; FM_CELL_NONE: is there
    fm_cell anchor;         // where it was when jams were looked for last; FM_CELL_NONE
    uint64_t pushed_tick;   // ticks completed when it was pushed from there last
    uint64_t asking_since;  // tick from which its priority grows; 0: it wants nothing
    uint32_t nearest;       // that its leg has brought it, see patience.h; 0: not known yet
    uint16_t hindered;      // ticks since then in which others kept it from its way
};

struct fm_planner {
    bool in_use;
    bool wants_search; // RUNNING after the last look
    uint8_t turns;     // that it has had in this tick
    bool cut;          // stopped by the deadline in this round
    bool skipped;      // the deadline had passed before its turn
    bool disturbed;    // had an answer, and what is known changed: the next expansion is a replan
    bool has_answered; // has it ever
    bool edited;       // `disturbed` by an edit, among others
    uint8_t state;     // fm_plan_state
    uint8_t cause;     // fm_replan, of the last of `replans`
    uint8_t kind;      // index of its type in the catalogue
    void *self;
    fm_planner_spec spec;
    uint32_t team;
    uint8_t class_index; // movement class of its agents
    fm_cell goal;
    uint32_t users;       // agents
    uint32_t first_agent; // slot of the one that came last; the others by `mate_after`
    uint64_t cursor;      // version of the knowledge it has read up to
    uint64_t asked_tick;  // since when its agents want an answer that they do not have
    uint64_t expansions;
    uint64_t serial;                   // among all planners there ever were
    uint64_t recent;                   // expansions per tick x 256, smoothed, as of recent_tick
    uint64_t recent_tick;              // see fm_planner_recent()
    uint64_t noted_expansions;         // as of the last tick's end
    uint64_t noted_replans;            // the same
    uint32_t change_count;             // cells in the last changes that it was notified of
    fm_cell change_cell;               // the first of them
    uint64_t replans;                  // times that changes of knowledge made it search again
    uint32_t grant;                    // of the current round; 0: it is not its turn
    uint32_t round_expansions;         // done in the current round
    uint32_t cut_at;                   // see fm_cut.expansions
    uint32_t next;                     // planner with the same hash and another key, or free slot
    uint32_t mate_before, mate_after;  // slots in the ring of those with its key
    uint32_t first_start, start_count; // its part of fm_world.lists.starts
    uint64_t hash;                     // what the digest counts of it, as of the last one
};

// What every tick looks at comes first, here and in the structs within: with thousands of teams
// each line of cache counts.
struct fm_team {
    fm_knowledge *knowledge;
    struct fm_view_delta *delta;           // NULL unless watched
    uint32_t first_sensing, sensing_count; // its part of fm_world.lists.sensing
    fm_account account;
    fm_seekers seekers;
    fm_team_labels labels;
    fm_planner_spec spec;
    uint32_t *members; // slots that are or were its agents', see names.h
    uint32_t member_count, member_capacity;
    uint32_t agent_free; // head of the list of its free slots through `planner`, FM_SLOT_NONE
    uint64_t orders_given;
    struct fm_jam *jam; // that is worked on, see core/crowd/jam.h; NULL: none
};

// The survey of one view (core/world/view_surveys.c).
struct fm_world_survey {
    fm_heuristic_survey *survey;
    uint32_t team;
    uint32_t class_index; // the first of those that share the view
    uint64_t cursor;      // version of the view that it has read up to
    uint32_t round_expansions;
    bool cut;
};

// What a view was shown, and what changed in it.
struct fm_view_delta {
    fm_bitmap visible; // cells seen now; empty for FM_ALL_TEAMS
    uint64_t *shown;   // bit per agent slot: in view as of the last tick
    uint64_t *own;     // the same: of the team's agents, living or not
    uint32_t shown_words, own_words;
    uint32_t own_count; // members of the team that are in `own`
    uint8_t *near;      // by tile, see presence.h; NULL: it looks everywhere
    uint32_t near_capacity;
    uint32_t removed_before; // of the world's list of removed agents: went before the watch began
    bool incomplete;         // there was no memory to compare the last tick with
    bool ended_lost;         // nor for the orders that ended in it
    fm_sightings sightings;  // of agents of others that are in view
    uint32_t *fresh;         // slots that came into view in this tick
    uint32_t fresh_capacity;
    fm_agent_look *entered, *changed;
    fm_agent_left *left;
    fm_learned *cells;
    fm_order_ended *ended;
    uint32_t entered_count, changed_count, left_count, cell_count, ended_count;
    uint32_t entered_capacity, changed_capacity, left_capacity, cell_capacity, ended_capacity;
};

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

// The agents. Whose: core/commands/spawning.c and core/saves, which fill and free slots;
// agent_marks.c has the marks, core/tick/digest.c the hashes.
struct fm_world_agents {
    struct fm_agent *slots;
    uint32_t slot_count, capacity;
    uint32_t count; // alive
    uint64_t born;
    struct fm_agent_marks *marks; // by slot / 64
    uint32_t mark_capacity;
    uint32_t hash_capacity;
    struct fm_agent_hash *hashes; // by slot
    uint64_t hash_sum;            // of `whole`
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

// The teams; team t is at t - 1. Whose: core/commands/teams.c and core/saves. Of a team its jam is
// core/crowd's, its delta core/views', its account the search stage's.
struct fm_world_teams {
    struct fm_team *list;
    uint32_t count, capacity;
};

// The surveys, in the order in which they were begun. Whose: view_surveys.c; the search stage
// counts what each has done.
struct fm_world_surveys {
    struct fm_world_survey *list;
    uint32_t count, capacity;
    uint32_t *running; // indices of those that work in this tick
    uint32_t running_count, running_capacity;
};

// The planners. Whose: planner_table.c; the bits are those of due.c, grants and rounds those of the
// search stage, hashes those of core/tick/digest.c.
struct fm_world_planners {
    struct fm_planner *slots;
    uint32_t slot_count, capacity;
    uint32_t free; // head of the list of free slots
    uint32_t count;
    uint32_t field_count; // of these, goal fields
    uint64_t made;
    uint64_t hash_sum;    // of fm_planner.hash
    uint32_t search_cost; // what a search took of late, in 1/16 expansions; 0: not known yet
    uint32_t *table;      // slot + 1 by hash; chains through fm_planner.next
    uint32_t table_mask;

    // Bits per planner slot; see due.h.
    uint64_t *due;     // the next search stage turns to it
    uint64_t *walking; // its agent follows a path, and is on its own
    uint64_t *eager;   // the others: it must be notified of every step of its agents
    uint32_t due_capacity, walking_capacity, eager_capacity;
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
    uint32_t jam_count; // teams with a jam that is worked on
    uint64_t *turns;    // twice as many: see crowd.c
    uint32_t mover_capacity, frame_capacity, turn_capacity;
    fm_cell *placed; // of the agents that a command spawns
    uint32_t placed_capacity;
};

// Lists of one tick, which rebuilds them. Whose: core/tick, and due.c, which lists what is due.
struct fm_tick_lists {
    uint32_t *notified;  // planner slots: all that the search stage has turned to
    fm_cell *starts;     // of these
    uint32_t *aged;      // those that are due, by age
    uint32_t *searching; // those of them that want to search
    uint32_t *sensing;   // agent slots, by team
    uint32_t notified_capacity, aged_capacity, starts_capacity, searching_capacity,
        sensing_capacity;
    uint32_t notified_count;
    bool teams_in_turns; // an equal share would not do for a search: teams get theirs in turns
    uint32_t searching_count;
    uint32_t *by_team; // planner slots, then two numbers for each team
    uint32_t by_team_capacity;
    fm_cut *cuts;
    uint32_t cut_count, cut_capacity;
};

// What happened since the last tick was streamed. Whose: fm_world_begin_interval() resets it;
// commands and orders note what happens, core/views reads it.
struct fm_world_interval {
    bool streamed;          // the lists below have been published; the next change begins new ones
    fm_agent_left *removed; // with reason; by order of removal
    uint32_t removed_count, removed_capacity;
    fm_order_ended *ended;
    uint32_t ended_count, ended_capacity;
    fm_cell *edited;
    uint32_t edited_count, edited_capacity;
    bool map_edited; // some cell changed since the last sense stage
    struct fm_view_delta *delta_all;
};

// Which teams are in which part of the map. Whose: core/views/presence.c.
typedef struct fm_presence {
    uint64_t *teams; // by tile; NULL: nobody wants to know
    uint32_t columns, rows;
} fm_presence;

// Memory that was refused. Whose: world_state.c, whose fm_world.memory counts on behalf of
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
    fm_presence presence;

    bool settled; // loading this world's file would give this very state; see world_file.h

    // Whose: tick.c; what changes a world between ticks sets the first to 0.
    uint32_t still_ticks;    // in a row in which nothing happened
    uint64_t agents_visited; // by stages, each counted, in this tick

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

/// The living agent behind an id, or NULL.
struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id);

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

/// Forgets what changed in views in the last tick, before anything new is noted.
void fm_world_begin_interval(fm_world *world);

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

/// Makes room for so many slots, and what goes with them. False when out of memory.
FM_CHECKED bool fm_agents_reserve(fm_world *world, uint32_t slots);

/// Releases that. The world's agents hold nothing any more.
void fm_agents_fini(fm_world *world);

/// Marks all that live.
void fm_agents_mark_all(fm_world *world, fm_agent_mark mark);

/// An agent is in its slot now: everybody looks at it in the next tick.
void fm_agent_be_born(fm_world *world, const struct fm_agent *agent);

/// It is not there any more, for stages and for the digest.
void fm_agent_be_gone(fm_world *world, const struct fm_agent *agent);

void fm_agent_set_state(fm_world *world, struct fm_agent *agent, fm_agent_state state);
