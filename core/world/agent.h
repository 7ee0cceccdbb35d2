// core/world/agent.h: one agent, as the tick keeps it. Which of them a stage visits is marked in
// agent_marks.h.
//
// Owner: the world. Pointers to an agent are good until the stage or command ends; for longer, keep
// ids.

#pragma once

#include "core/world/order.h"
#include "core/world/world.h"

#define FM_SLOT_NONE UINT32_MAX // in place of a slot: none

// What every stage reads comes first, then what a walk reads of the order: a line of cache each.
// The size is a multiple of a line, and large arrays begin at one.
struct fm_agent {
    fm_cell cell;
    fm_cell next;     // chosen for this tick; FM_CELL_NONE: stay
    uint32_t planner; // slot, for the order's goal or substitute
    uint32_t team;
    uint32_t generation;
    uint32_t name_generation; // generation of its alias, see names.h: the agent's own, unless it
                              // has changed teams
    uint32_t member;          // index in its team's list of slots
    bool alive;               // and in the world: not carried
    bool is_ready;            // has credit for a step in this tick
    uint8_t state;            // fm_agent_state
    uint8_t plan_state;       // fm_plan_state of `planner` for its cell, as of the choose stage
    uint8_t class_index;      // movement class, in the rules
    uint8_t heading;          // direction of its last move, FM_DIRECTION_COUNT before the first
    uint8_t sight;            // cells; 0: as the rules say. See fm_agent_sight()
    bool frozen;              // does not move, by FM_COMMAND_SET
    uint8_t tag_size;         // bytes; 0 without a tag
    bool tag_shown;           // to other teams
    bool must_sense;          // in settled worlds: FM_MARK_LOOK, as saved
    bool settled;             // stands where its last order ended, or was pushed from there
    // How fast it goes; see step.h.
    uint32_t speed;        // cells in 1000 s of game time; 0: a cell a tick
    int32_t credit;        // towards its next step; a straight one takes rules.tick_millihertz
    uint64_t stepped_tick; // ticks completed with its last step, or pushed
    uint64_t moves;

    struct fm_order order;
    fm_planner_spec spec;
    struct fm_order *queue; // orders whose turn comes later, first to last; owned
    uint32_t queue_count, queue_capacity;
    uint32_t queue_wanted; // during a command: orders that it appends, or how often it is named
    uint64_t born;         // agents of the world spawned before it
    struct fm_tag *tag;    // NULL until it is given one; owned

    // Who carries whom, see core/commands/boarding.h: index1 of agents, 0: none.
    uint32_t carrier;        // then `alive` is false
    uint32_t passengers;     // the first one; the others follow by `next_passenger`
    uint32_t next_passenger; // of the same carrier
    uint32_t passenger_count;

    // Among others, where a cell holds one unit; see crowd.h.
    fm_cell settled_aim;    // where its last order led
    fm_cell home;           // where it goes back to, see homecoming.h; FM_CELL_NONE: is there
    fm_cell anchor;         // where it was at the last search for jams; FM_CELL_NONE
    uint32_t nearest;       // that its leg has brought it, see patience.h; 0: not known yet
    uint64_t pushed_tick;   // ticks completed when it was pushed from there last
    uint64_t asking_since;  // tick from which its priority grows; 0: it does not want to move
    uint16_t stalled_ticks; // for which units that do not let it through have stood on its goal, or
                            // on all its way on; see crowd.c
    uint16_t hindered;      // ticks since its leg brought it nearest in which others blocked it
    bool jammed;            // was stuck at the last search for jams
    bool stuck;             // the same, and has not been helped since
    uint8_t help;           // fm_agent_help
    bool was_escorted;      // since the last search for jams, see escort.h
    fm_cell rest;           // the place that it has not got away from,
    uint16_t rest_ticks;    // for so long; 0: not known
    uint8_t padding[2];     // to whole lines
};
_Static_assert(offsetof(struct fm_agent, order) == 64, "the order begins a line");
_Static_assert(sizeof(struct fm_agent) % 64 == 0, "no two agents share a line");

// A game's own bytes on an agent.
struct fm_tag {
    uint64_t own_tick;   // in which it changed last, for the agent's team
    uint64_t other_tick; // for other teams
    uint8_t bytes[FM_TAG_SIZE_MAX];
};

/// The living agent behind an id, or NULL.
struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id);

/// The same, also one that another carries.
struct fm_agent *fm_world_find_any(const fm_world *world, fm_agent_id id);

/// Makes an agent that is not in the world the last passenger of another.
void fm_agent_take_aboard(fm_world *world, struct fm_agent *carrier, struct fm_agent *agent);

/// Undoes that. Nobody carries the agent then, and it is still not in the world.
void fm_agent_put_ashore(fm_world *world, struct fm_agent *agent);

/// The agent in a slot, living or not. The slot was given out (fm_world_agents.slot_count).
struct fm_agent *fm_agent_at(const fm_world *world, uint32_t slot);

fm_agent_id fm_agent_id_of(const fm_world *world, const struct fm_agent *agent);

/// Makes room for a tag. False when out of memory.
FM_CHECKED bool fm_agent_reserve_tag(fm_world *world, struct fm_agent *agent);

/// Releases the agent's tag, if it has one.
void fm_agent_drop_tag(fm_world *world, struct fm_agent *agent);

/// Whether the slot of a removed agent may be reused: ids and aliases stay below 2^53.
bool fm_agent_slot_can_return(const struct fm_agent *agent);

/// Changes the agent's state, and marks it for the stages that depend on it.
void fm_agent_set_state(fm_world *world, struct fm_agent *agent, fm_agent_state state);
