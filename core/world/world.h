// core/world/world.h: the whole state of one simulation, and the commands that change it.
//
// Everything the next tick depends on is in here, and nothing else is: no clock, no sockets, no
// globals. Two worlds with equal content that are given equal commands and equal tick records stay
// equal. Ids are handed out in the order of the commands.
//
// Owner: the tick thread. Workers see a world only inside a parallel stage (core/tick/tick.h).

#pragma once

#include "core/base/account.h"
#include "core/base/workers.h"
#include "core/map/knowledge.h"
#include "core/planners/catalogue.h"
#include "core/search/landmarks.h"

#define FM_AGENTS_MAX           (1u << 20) // agents of one world, whatever its rules say
#define FM_AGENT_GENERATION_MAX ((1u << 21) - 1)
#define FM_TEAMS_MAX            (1u << 16) // teams of one world
#define FM_ALL_TEAMS            0u         // in place of a team id: the truth, everybody
#define FM_RECTS_MAX            4096u      // rectangles of one terrain command
#define FM_COMMAND_CELLS_MAX    (1u << 20) // cells of one command
#define FM_ORDER_QUEUE_MAX      32u        // orders of an agent that wait for their turn
#define FM_WAYPOINTS_MAX        32u        // of one patrol; cells that one flees from
#define FM_ORDER_RADIUS_MAX     64u        // cells
#define FM_COST_CELLS_MAX                                                                          \
    (1u << 16)                  // of one team whose added cost commands set between two
                                // ticks
#define FM_TAG_SIZE_MAX     64u // bytes of an agent's tag
#define FM_PASSENGERS_MAX   64u // agents that one carries
#define FM_BOARD_RADIUS_MAX 8u  // cells

// Names an agent from its birth to its death; a stale id is never taken for a live one. All zero
// means "no agent". On the wire: generation << 32 | index1.
typedef struct fm_agent_id {
    uint32_t index1;     // slot in fm_world.agents.slots, plus one
    uint32_t generation; // grows each time the slot is given out; 0 the first time
} fm_agent_id;

static inline uint64_t fm_agent_id_pack(fm_agent_id id)
{
    return (uint64_t)id.generation << 32 | id.index1;
}

static inline fm_agent_id fm_agent_id_unpack(uint64_t packed)
{
    return (fm_agent_id){.index1 = (uint32_t)packed, .generation = (uint32_t)(packed >> 32)};
}

//   IDLE ── order ──> MOVING <──> WAITING          (searching, or no grant yet)
//    ^                  │  ^  ^
//    └── order ends ────┘  │  └──> HOLDING         (stands where its order wants it)
//                          └── BLOCKED             (goal unreachable, order says wait)
//
// What is done for a unit that is stuck, or stands among those who are; see core/crowd/jam.h.
//
// X(enumerator, name on the wire)
#define FM_AGENT_HELP_LIST(X)                                                                      \
    X(FM_HELP_NONE, "none")                                                                        \
    X(FM_HELP_SEARCH, "search")                                                                    \
    X(FM_HELP_PLAN, "plan")                                                                        \
    X(FM_HELP_ESCORT, "escort") /* only in views: see core/world/escorts.h */                      \
    X(FM_HELP_STANDS, "stands") /* the same, of one that stands for another */

typedef enum fm_agent_help {
#define X(enumerator, name) enumerator,
    FM_AGENT_HELP_LIST(X)
#undef X
} fm_agent_help;

// X(enumerator, name on the wire)
#define FM_AGENT_STATE_LIST(X)                                                                     \
    X(FM_AGENT_IDLE, "idle")                                                                       \
    X(FM_AGENT_MOVING, "moving")                                                                   \
    X(FM_AGENT_WAITING, "waiting")                                                                 \
    X(FM_AGENT_BLOCKED, "blocked")                                                                 \
    X(FM_AGENT_HOLDING, "holding")                                                                 \
    X(FM_AGENT_CARRIED, "carried") /* not in the world, see core/commands/boarding.h */

typedef enum fm_agent_state {
#define X(enumerator, name) enumerator,
    FM_AGENT_STATE_LIST(X)
#undef X
    FM_AGENT_STATE_COUNT,
} fm_agent_state;

// Why a search was begun, or continued after it had an answer.
//
// X(enumerator, name on the wire)
#define FM_REPLAN_LIST(X)                                                                          \
    X(FM_REPLAN_GOAL, "goal")       /* for a new goal: an order, its next leg */                   \
    X(FM_REPLAN_SENSED, "sensed")   /* the team saw cells for the first time */                    \
    X(FM_REPLAN_EDIT, "map_change") /* it saw that cells it had known were edited */

typedef enum fm_replan {
#define X(enumerator, name) enumerator,
    FM_REPLAN_LIST(X)
#undef X
    FM_REPLAN_COUNT,
} fm_replan;

// Counters of conflicts between units, where a cell holds one (core/crowd/crowd.h).
//
// X(enumerator, name on the wire)
#define FM_CONFLICT_LIST(X)                                                                        \
    X(FM_CONFLICT_WAITED, "waited")           /* unit and tick: would have moved, but stayed */    \
    X(FM_CONFLICT_SIDESTEPPED, "sidestepped") /* step: to another cell than its search wanted */   \
    X(FM_CONFLICT_PUSHED, "pushed")           /* step: of one that is not under way */             \
    X(FM_CONFLICT_SWAP, "swap_avoided")       /* try: two would have exchanged places or crossed */

typedef enum fm_conflict {
#define X(enumerator, name) enumerator,
    FM_CONFLICT_LIST(X)
#undef X
    FM_CONFLICT_COUNT,
} fm_conflict;

// How escorts of units end (core/crowd/escort.h).
//
// X(enumerator, name on the wire)
#define FM_ESCORT_END_LIST(X)                                                                      \
    X(FM_ESCORT_AWAY, "away")           /* the unit has left the place, or arrived */              \
    X(FM_ESCORT_STALLED, "no_progress") /* it got no nearer for a while */                         \
    X(FM_ESCORT_LATE, "out_of_time")    /* it had one for long */                                  \
    X(FM_ESCORT_DROPPED, "dropped")     /* its order ended otherwise, or the team was settled */

typedef enum fm_escort_end {
#define X(enumerator, name) enumerator,
    FM_ESCORT_END_LIST(X)
#undef X
    FM_ESCORT_END_COUNT,
} fm_escort_end;

// Who expands cells: the planners of the catalogue, by index, and these.
#define FM_SEARCH_SURVEY FM_PLANNER_COUNT       // tables of landmarks and clusters
#define FM_SEARCH_SEEK   (FM_PLANNER_COUNT + 1) // where to explore or flee to
#define FM_SEARCH_JOINT  (FM_PLANNER_COUNT + 2) // for units that are stuck, see core/crowd/jam.h
#define FM_SEARCH_KINDS  (FM_PLANNER_COUNT + 3)

// X(enumerator, name on the wire)
#define FM_ORDER_KIND_LIST(X)                                                                      \
    X(FM_ORDER_MOVE, "move")                                                                       \
    X(FM_ORDER_STOP, "stop")                                                                       \
    X(FM_ORDER_PATROL, "patrol")                                                                   \
    X(FM_ORDER_HOLD, "hold")                                                                       \
    X(FM_ORDER_FOLLOW, "follow")                                                                   \
    X(FM_ORDER_GUARD, "guard")                                                                     \
    X(FM_ORDER_EXPLORE, "explore")                                                                 \
    X(FM_ORDER_FLEE, "flee")                                                                       \
    X(FM_ORDER_KEEP_DISTANCE, "keep_distance")                                                     \
    X(FM_ORDER_SCATTER, "scatter") /* of a command; its orders are moves */

typedef enum fm_order_kind {
#define X(enumerator, name) enumerator,
    FM_ORDER_KIND_LIST(X)
#undef X
    FM_ORDER_KIND_COUNT,
} fm_order_kind;

// What an order does when its goal cannot be reached on what the team knows.
// X(enumerator, name on the wire)
#define FM_ON_UNREACHABLE_LIST(X)                                                                  \
    X(FM_UNREACHABLE_NEAREST, "nearest")                                                           \
    X(FM_UNREACHABLE_FAIL, "fail")                                                                 \
    X(FM_UNREACHABLE_WAIT, "wait")

typedef enum fm_on_unreachable {
#define X(enumerator, name) enumerator,
    FM_ON_UNREACHABLE_LIST(X)
#undef X
} fm_on_unreachable;

// How the goals of a group lie; see core/orders/group.h.
// X(enumerator, name on the wire)
#define FM_FORMATION_LIST(X)                                                                       \
    X(FM_FORMATION_NONE, "none")                                                                   \
    X(FM_FORMATION_KEEP, "keep")                                                                   \
    X(FM_FORMATION_LINE, "line")                                                                   \
    X(FM_FORMATION_BOX, "box")

typedef enum fm_formation {
#define X(enumerator, name) enumerator,
    FM_FORMATION_LIST(X)
#undef X
} fm_formation;

// Every order ends exactly once, with one of these.
// X(enumerator, name on the wire)
#define FM_ORDER_END_LIST(X)                                                                       \
    X(FM_END_ARRIVED, "arrived")                                                                   \
    X(FM_END_NEAREST, "nearest_reached")                                                           \
    X(FM_END_UNREACHABLE, "unreachable")                                                           \
    X(FM_END_REPLACED, "replaced")                                                                 \
    X(FM_END_CANCELLED, "cancelled")                                                               \
    X(FM_END_DIED, "died")                                                                         \
    X(FM_END_EXHAUSTED, "out_of_memory")                                                           \
    X(FM_END_TARGET_LOST, "target_lost")                                                           \
    X(FM_END_TARGET_DIED, "target_died")                                                           \
    X(FM_END_EXPLORED, "explored")                                                                 \
    X(FM_END_CROWDED, "crowded") /* as nearest_reached; others have the cells that are nearer */   \
    X(FM_END_DEADLINE, "deadline")                                                                 \
    X(FM_END_BOARDED, "boarded")

typedef enum fm_order_end {
#define X(enumerator, name) enumerator,
    FM_ORDER_END_LIST(X)
#undef X
    FM_END_COUNT,
} fm_order_end;

// How many units a cell holds.
// X(enumerator, name on the wire)
#define FM_OCCUPANCY_LIST(X)                                                                       \
    X(FM_OCCUPANCY_NONE, "none")           /* any number */                                        \
    X(FM_OCCUPANCY_EXCLUSIVE, "exclusive") /* one; core/crowd/crowd.h says who gets it */

typedef enum fm_occupancy_rule {
#define X(enumerator, name) enumerator,
    FM_OCCUPANCY_LIST(X)
#undef X
} fm_occupancy_rule;

// Where new agents go.
// X(enumerator, name on the wire)
#define FM_PLACING_LIST(X)                                                                         \
    X(FM_PLACE_EXACT, "exact")     /* where the command says, or the command is refused */         \
    X(FM_PLACE_NEAREST, "nearest") /* to the nearest cell that can hold them */

typedef enum fm_placing {
#define X(enumerator, name) enumerator,
    FM_PLACING_LIST(X)
#undef X
} fm_placing;

#define FM_TICK_MILLIHERTZ_MAX 1000000u

// How much longer a diagonal step is than a straight one, for speeds.
#define FM_SPEED_STRAIGHT 1000u
#define FM_SPEED_DIAGONAL 1414u

#define FM_BLOCKED_TICKS_MAX 1800u

// Rules of a world, fixed when it is made. Start from fm_world_rules_default().
typedef struct fm_world_rules {
    fm_connectivity connectivity;
    fm_step_costs steps; // FM_STEPS_1 exactly with FM_CONNECT_4
    fm_sense_rules sense;
    fm_planner_spec planner; // of agents that are not given another
    bool omniscient;         // teams know the whole map from the start and see every edit
    uint32_t agents_max;     // 1..FM_AGENTS_MAX
    uint32_t teams_max;      // 1..FM_TEAMS_MAX
    uint32_t saved_ticks;    // of its share that a team may save, 0..FM_SAVED_TICKS_MAX; account.h

    fm_landmark_rules landmarks; // for planners with heuristic=landmarks

    fm_occupancy_rule occupancy;
    bool pushed_stay; // who is pushed from where it stands without an order does not go back there
    // After so many ticks an order ends whose way units of other teams block that stand still;
    // 0..FM_BLOCKED_TICKS_MAX, 0: not for that reason, and who is blocked for some ticks lets
    // others push it.
    uint32_t blocked_ticks;
    uint32_t tick_millihertz; // ticks in 1000 s of game time, for speeds; 1..FM_TICK_MILLIHERTZ_MAX
    uint32_t players_build;   // buildings that players may have, for each team; 0: see permit.h

    // Movement classes, each with a name of its own; class_count 0 stands for "ground" alone.
    // Elsewhere a class is its index in here.
    fm_movement_class classes[FM_CLASSES_MAX];
    uint32_t class_count;
} fm_world_rules;

/// 8 neighbours, 10/14, sight radius 5 (square, no line of sight), dstar-lite, 65536 agents,
/// 4096 teams, any number of units in a cell, 10 ticks a second, 8 landmarks.
fm_world_rules fm_world_rules_default(void);

// What placing a building does about units on its site.
// X(enumerator, name on the wire)
#define FM_ON_UNITS_LIST(X)                                                                        \
    X(FM_UNITS_PUSH, "push")                                                                       \
    X(FM_UNITS_REFUSE, "refuse")

typedef enum fm_on_units {
#define X(enumerator, name) enumerator,
    FM_ON_UNITS_LIST(X)
#undef X
} fm_on_units;

typedef enum fm_command_kind {
    FM_COMMAND_TEAM,   // planner (ops NULL: the world's), weight
    FM_COMMAND_SPAWN,  // team, cells (one agent each), planner (ops NULL: the team's), class_index,
                       // placing, speed
    FM_COMMAND_REMOVE, // agents
    FM_COMMAND_ORDER,  // agents, order, on_unreachable, cells; queue, loop
    FM_COMMAND_TERRAIN,  // cells, rects, terrain, cost
    FM_COMMAND_BUILD,    // team (owner; FM_ALL_TEAMS: nobody), rects (one), on_units
    FM_COMMAND_DEMOLISH, // building, team (its owner, or FM_ALL_TEAMS)
    FM_COMMAND_PLANNER,  // agents, planner (ops NULL: each its team's): their searches restart
    FM_COMMAND_SET,      // agents, set, and what that says: class_index, speed, frozen, tag,
                         // tag_shown, sight, new_team
    FM_COMMAND_PLACE,    // agents, cells (one each), placing: they stand there now
    FM_COMMAND_CANCEL,   // agents, orders (one each; an agent may be named again): these end
    FM_COMMAND_RESUME,   // agents, ticks: those that have stopped for an enemy go on
    FM_COMMAND_COST,     // team, cells, rects, cost: what is added to theirs for the team
    FM_COMMAND_BOARD,    // agents, target, radius: the target carries them from now on
    FM_COMMAND_UNBOARD,  // agents, or target: all that it carries; radius: they come out
} fm_command_kind;

#define FM_COMMAND_KIND_LAST FM_COMMAND_UNBOARD

// When a queued order's turn comes. The order under way is not in the queue.
typedef enum fm_turn {
    FM_TURN_LAST,    // after all others
    FM_TURN_AT,      // after `at` others, or after all where there are fewer
    FM_TURN_BEFORE,  // before the one that `orders` names
    FM_TURN_INSTEAD, // when that of `orders` would have come, which ends as replaced; if that is
                     // under way, now. The others in the queue stay
} fm_turn;

// What FM_COMMAND_SET changes of living agents, as a set.
typedef enum fm_set {
    FM_SET_CLASS = 1,
    FM_SET_SPEED = 2,
    FM_SET_FROZEN = 4,
    FM_SET_TAG = 8,
    FM_SET_TAG_SHOWN = 16,
    FM_SET_SIGHT = 32,
    FM_SET_TEAM = 64,
} fm_set;

#define FM_SET_ALL                                                                                 \
    (FM_SET_CLASS | FM_SET_SPEED | FM_SET_FROZEN | FM_SET_TAG | FM_SET_TAG_SHOWN | FM_SET_SIGHT |  \
     FM_SET_TEAM)

// What makes sending a command again safe: see core/world/receipts.h.
typedef struct fm_command_id {
    uint32_t seat;    // whose ids they are: a team, or FM_ALL_TEAMS
    uint64_t id;      // not 0
    uint64_t request; // a checksum of the request, so that a different command with this id is
                      // noticed
} fm_command_id;

// Arrays belong to the caller and are only read during fm_world_apply(). Values may come straight
// from a client: fm_world_apply() checks them all before it changes anything.
typedef struct fm_command {
    fm_command_kind kind;
    uint32_t team; // SPAWN: of the new agents; BUILD, DEMOLISH: the owner; COST: whose searches
                   // heed it; with agents: theirs, or FM_ALL_TEAMS, any
    const fm_agent_id *agents; // REMOVE, ORDER, PLANNER, SET, PLACE, CANCEL, BOARD, UNBOARD
    const fm_cell *cells;      // SPAWN, ORDER, TERRAIN, PLACE, COST
    const uint64_t *orders;    // ORDER with a turn that wants it, CANCEL: ids, one of each agent
    uint32_t agent_count, cell_count, order_count;
    const fm_command_id *id; // leaves a receipt; NULL: none. That there is no receipt of this id
                             // yet is for the caller to see to

    // By kind. Only members of the command's own kind may be read or set. The largest comes first:
    // `{0}` makes all of it zero.
    union {
        struct { // FM_COMMAND_TEAM, FM_COMMAND_SPAWN, FM_COMMAND_PLANNER; the other two have no
                 // planner
            fm_planner_spec planner;
            uint32_t weight;      // TEAM: of its share of the search, 1..FM_TEAM_WEIGHT_MAX; 0: 1
            uint32_t class_index; // SPAWN, SET: movement class of the agents
            fm_placing placing;   // SPAWN, PLACE
            uint32_t speed;       // SPAWN, SET: cells in 1000 s; 0: a cell a tick. At most one step
                                  // a tick is made, so that is the limit, for diagonal steps
            uint8_t set;          // SET: of fm_set
            bool frozen;          // SET: does not move, and nobody pushes it; its order waits
            bool tag_shown;       // SET: other teams that see the agent see its tag as well
            uint8_t tag_size;     // SET: bytes, 0..FM_TAG_SIZE_MAX
            uint8_t sight;        // SET: cells that it sees, 1..FM_SENSE_RADIUS_MAX; 0: as the
                                  // rules say
            uint32_t new_team;    // SET: whose the agent is from now on
            const uint8_t *tag;   // SET: the game's own bytes, not interpreted
        };
        struct { // FM_COMMAND_ORDER; FM_COMMAND_BOARD and FM_COMMAND_UNBOARD: target, radius
            // What `cells` are: a move's goals, one for all agents or one each; a patrol's
            // waypoints (1..FM_WAYPOINTS_MAX; from one the path back leads to where the agent stood
            // when its turn came); the cell to guard, unless there is a target; for flee cells to
            // flee from, besides seen enemies (0..FM_WAYPOINTS_MAX); the middle of a scatter, or
            // none.
            fm_order_kind order;
            fm_on_unreachable on_unreachable;
            fm_agent_id target; // follow, keep_distance: of the agents' own team, or seen by it;
                                // keep_distance: all zero: any enemy that the team sees; guard: of
                                // the own team; BOARD, UNBOARD: the carrier
            uint32_t radius;    // follow, guard, flee, keep_distance: cells,
                                // 1..FM_ORDER_RADIUS_MAX; 0: 2, 4, 8, 6. scatter: the same; 0: by
                                // their number. BOARD, UNBOARD: cells from the carrier,
                                // 1..FM_BOARD_RADIUS_MAX; 0: 1
            uint32_t agents_a_tick; // the order goes to so many agents at once, then to as many
                                    // more at the beginning of each tick; 0: to all at once. See
                                    // fm_world_left_to_do(). Not with `orders`
            bool queue;        // with the orders that the agents have, not in their place; not with
                               // stop
            fm_turn turn;      // with queue
            uint32_t at;       // with FM_TURN_AT
            bool once;         // follow: ends as arrived when it is within the radius;
                               // keep_distance: when nothing is
            uint32_t alert;    // stops when its team sees an enemy within so many cells,
                               // 1..FM_ORDER_RADIUS_MAX; 0: never. See core/orders/alert.h; not
                               // with stop, follow, flee and keep_distance
            uint32_t deadline; // ticks after its turn came in which it ends, if it has not; 0:
                               // none; not with stop
            bool loop; // patrol: from the last waypoint straight to the first, not back by the
                       // others

            // A move to one cell by agents of one team: goals around it.
            bool spread;            // each agent a goal of its own
            bool common_speed;      // all as fast as the slowest; also without the two beside it
            fm_formation formation; // the same as `spread`, in a formation
            uint32_t max_detour;    // move without spread and formation: per cent of the first path
                                    // known that it may get, 100..FM_DETOUR_PERCENT_MAX; 0: any
        };
        struct { // FM_COMMAND_TERRAIN, FM_COMMAND_BUILD, FM_COMMAND_COST
            const fm_rect *rects;
            uint32_t rect_count;
            fm_terrain terrain;   // TERRAIN: 0 (FM_TERRAIN_UNKNOWN) keeps each cell's terrain
            uint8_t cost;         // TERRAIN: 0 keeps each cell's cost; COST: 0..FM_ADDED_COST_MAX,
                                  // in place of what was added before
            fm_on_units on_units; // BUILD
        };
        uint32_t building; // FM_COMMAND_DEMOLISH: id
        uint32_t ticks;    // FM_COMMAND_RESUME: in which they stop for nobody
    };
} fm_command;

// What a command did. On failure nothing was changed.
typedef struct fm_command_result {
    fm_status status;
    uint32_t failed_index; // which agent, cell or rectangle was refused; 0 otherwise
    uint32_t team;         // FM_COMMAND_TEAM: the new team
    uint64_t
        first_order; // FM_COMMAND_ORDER move: id of the first agent's order, the others count on
    uint64_t first_number;  // the same, as the first agent's team counts its own orders
    uint32_t changed_count; // agents spawned, removed, ordered, set, placed or given a planner;
                            // cells that changed
    // FM_COMMAND_BUILD: the new building, with changed_count units pushed out; with FM_ERR_BUILDING
    // the one that stands there, with FM_ERR_OCCUPIED_CELL a unit that does.
    uint32_t building;
    fm_agent_id in_the_way;
    // FM_COMMAND_SPAWN: room for cell_count ids, given by the caller; may be NULL.
    fm_agent_id *spawned;
} fm_command_result;

// An agent as a view shows it.
typedef struct fm_agent_look {
    fm_agent_id id;
    fm_agent_id
        name; // by which the view's player knows it, see core/world/names.h; of FM_ALL_TEAMS: id
    uint32_t team;
    fm_cell cell;
    fm_agent_state state; // FM_AGENT_IDLE for agents of other teams: their plans are their own
    uint8_t class_index;  // movement class
    bool tells_tag;       // its tag is news to the view: see fm_world_tag()
} fm_agent_look;

typedef struct fm_order_ended {
    uint64_t order;
    uint64_t number; // of the order among those of its team, from 1
    fm_agent_id agent;
    fm_agent_id name; // of the agent, for its team
    uint32_t team;
    fm_order_end reason;
    fm_cell cell; // where the agent stood
} fm_order_ended;

// A unit that stopped because its team saw an enemy near it (core/orders/alert.h).
typedef struct fm_alert {
    uint64_t order, number; // as in fm_order_ended; so are the next three
    fm_agent_id agent;
    fm_agent_id name;
    uint32_t team;
    fm_agent_id seen;      // the enemy
    fm_agent_id seen_name; // by which the view knows it; all zero: it is out of sight again
    fm_cell cell;          // where it stood
} fm_alert;

typedef enum fm_leave_reason {
    FM_LEAVE_FOG,     // no longer seen
    FM_LEAVE_REMOVED, // no longer there
    FM_LEAVE_OUTSIDE, // only on the wire: not in the rectangle any more
    FM_LEAVE_TURNED,  // belongs to another team now, and enters as one of it where it is seen
    FM_LEAVE_BOARDED, // another agent carries it
    FM_LEAVE_DIED,    // removed while another one carried it, so it had left already
} fm_leave_reason;

typedef struct fm_agent_left {
    fm_agent_id id;
    fm_agent_id name; // as in fm_agent_look
    uint32_t team;
    uint32_t new_team; // with FM_LEAVE_TURNED
    fm_cell cell;      // where it stood, of those removed
    fm_leave_reason reason;
    bool is_followed; // in settled worlds, of those removed: some order names it, so it is saved
} fm_agent_left;

// Cells of a row that a team sees now and did not before, or the other way round.
typedef struct fm_sight_flip {
    uint32_t y;
    uint32_t word;  // of the row: cells from x = 64 * word
    uint64_t cells; // bit by bit
} fm_sight_flip;

// What one view (a team's, or FM_ALL_TEAMS) has to be sent after a tick. FM_ALL_TEAMS: agents by
// slot. A team: its own agents and then the others, each by name, and the ended orders by number,
// so that the order of the entries shows nothing of what the team cannot see. Cells in order of
// learning. Good until the next fm_world_apply() or fm_tick_run().
typedef struct fm_changes {
    const fm_agent_look *entered;
    const fm_agent_look *changed; // moved, or changed state, class, tag or, of others, team; and
                                  // were in view before
    const fm_agent_left *left;    // with FM_LEAVE_DIED: own agents (FM_ALL_TEAMS: any), which were
                                  // not in view
    const fm_learned *cells;
    const fm_order_ended *ended;       // of the view's own orders
    const fm_alert *alerts;            // of the view's own units
    const fm_building_look *buildings; // all that the view shows now, when `buildings_changed`
    const fm_sight_flip *sight;        // see core/views/sight.h
    bool buildings_changed;
    bool incomplete; // out of memory, this is not all but `ended` and `alerts`: after a later tick,
                     // show the whole view
    uint32_t building_count;
    uint32_t entered_count;
    uint32_t changed_count;
    uint32_t left_count;
    uint32_t cell_count;
    uint32_t ended_count;
    uint32_t alert_count;
    uint32_t sight_count;
} fm_changes;

// Everything about one agent, for debugging.
typedef struct fm_agent_report {
    fm_agent_id id;
    uint32_t team;
    fm_cell cell;
    uint32_t class_index;
    fm_agent_state state;
    bool has_order;
    uint64_t order;
    fm_order_kind order_kind;
    fm_agent_id target;   // that the order follows or guards; all zero: none
    uint32_t queue_count; // orders that wait for their turn
    uint64_t queue_orders[FM_ORDER_QUEUE_MAX];
    fm_order_kind queue_kinds[FM_ORDER_QUEUE_MAX];
    fm_cell goal;            // of the order
    fm_cell goal_substitute; // nearest reachable cell it walks to instead; FM_CELL_NONE
    fm_on_unreachable on_unreachable;
    char planner[96];         // spec
    const char *planner_runs; // name of the planner that leads it now, which `auto` chose; static
    fm_plan_state plan_state;
    uint32_t planner_agents;           // agents that share the planner
    uint64_t planner_expansions;       // since the planner began
    uint64_t planner_recent;           // expansions per tick x 256, smoothed
    uint32_t open_count, closed_count; // cells
    size_t planner_bytes;              // search memory
    size_t knowledge_bytes;            // of the team
    uint64_t known_count;              // cells the team knows
    uint64_t moves;                    // since birth
    uint64_t replans;                  // changes of knowledge that made it search again
} fm_agent_report;

typedef struct fm_world_counts {
    uint64_t tick; // ticks completed
    uint32_t teams;
    uint32_t agents; // alive, those carried too
    uint32_t agents_by_state[FM_AGENT_STATE_COUNT];
    uint32_t planners;
    uint64_t orders_given;
    uint64_t orders_ended[FM_END_COUNT];
    uint64_t expansions;
    uint64_t moves;
    uint64_t cells_edited;
    uint64_t first_move_ticks_sum; // over orders whose agent has made its first move
    uint64_t first_move_count;
    uint32_t first_move_histogram[65]; // ticks from order to first move; [64] counts 64 and more
    uint64_t search_bytes;             // of all planners
    uint64_t knowledge_bytes;          // of all teams
    uint64_t agent_bytes;              // of all agents, queued orders too
    uint32_t planners_by_kind[FM_PLANNER_COUNT];     // adds up to `planners`
    uint64_t search_bytes_by_kind[FM_PLANNER_COUNT]; // adds up to `search_bytes`
    uint64_t map_cells;
    uint64_t known_cells; // summed over the teams

    // These are not saved: they begin when the world is made, loaded or brought back. They are as
    // deterministic as the rest.
    uint64_t expansions_by_kind[FM_SEARCH_KINDS]; // adds up to `expansions`
    uint64_t replans[FM_REPLAN_COUNT];
    uint64_t conflicts[FM_CONFLICT_COUNT];
    uint64_t escorts_ended[FM_ESCORT_END_COUNT];
    uint64_t bypasses;           // agents that were told another way round a press of their team
    uint32_t escorts;            // that agents have
    uint32_t lanes;              // open ones: two streams keep to theirs in a passage
    uint32_t passing, conceding; // agents in the last tick, see core/crowd/meeting.h
    uint32_t stuck; // agents that wanted to continue and did not, when jams were looked for last
} fm_world_counts;

// What a team may search and does, in expansions; see account.h.
typedef struct fm_team_counts {
    uint32_t team;
    uint32_t weight;
    uint32_t agents;     // alive
    uint32_t waiting;    // of them: have an order but nothing to go by
    uint64_t share;      // of the last tick's budget
    uint64_t saved;      // for the next one
    uint64_t used;       // in the last tick
    uint64_t used_total; // since the team began
} fm_team_counts;

typedef struct fm_world fm_world;

/// Ticks completed.
uint64_t fm_world_tick(const fm_world *world);

const fm_grid *fm_world_grid(const fm_world *world);
const fm_world_rules *fm_world_rules_get(const fm_world *world);
bool fm_world_has_team(const fm_world *world, uint32_t team);

/// What a team knows, as a unit sees it that moves like "ground"; FM_ALL_TEAMS gives the truth.
/// Good until the next tick or command. NULL when there is no such team.
const fm_view *fm_world_view(const fm_world *world, uint32_t team);
