// core/saves/world_file_state.h: what writing and reading a saved world have in common. No other
// file includes it; world_file.h, world_save.h and world_load.h are the interface.
//
//   world_save.c         writes all sections
//   world_load.c         the file as a whole, the head, rules, map, buildings
//   world_load_agents.c  teams, agents, planners
//   world_loader.c       small parts that both read
//   world_rows.c         rows of cells, run-length coded

#pragma once

#include "core/saves/world_file.h"
#include "core/world/world.h"

#define FM_WORLD_MAGIC      "FMWORLD\n"
#define FM_WORLD_MAGIC_SIZE 8u

// Sections of a file, in their order.
// X(enumerator, what it is called in errors)
#define FM_WORLD_SECTION_LIST(X)                                                                   \
    X(FM_SECTION_HEAD, "head")                                                                     \
    X(FM_SECTION_RULES, "rules")                                                                   \
    X(FM_SECTION_MAP, "map")                                                                       \
    X(FM_SECTION_BUILDINGS, "buildings")                                                           \
    X(FM_SECTION_TEAMS, "teams")                                                                   \
    X(FM_SECTION_AGENTS, "agents")                                                                 \
    X(FM_SECTION_PLANNERS, "planners")                                                             \
    X(FM_SECTION_RECEIPTS, "receipts") /* from version 3 on */

typedef enum fm_world_section {
#define X(enumerator, name) enumerator,
    FM_WORLD_SECTION_LIST(X)
#undef X
    FM_SECTION_COUNT,
} fm_world_section;

// Bytes around a section's own: which, size, checksum.
#define FM_SECTION_HEAD_SIZE 9u
#define FM_SECTION_TAIL_SIZE 8u

// Kinds of order, as a set.
#define FM_ALL_KINDS UINT32_MAX
#define FM_MOVES     (1u << FM_ORDER_MOVE)
#define FM_PATROLS   (1u << FM_ORDER_PATROL)
#define FM_KEEPS     (1u << FM_ORDER_KEEP_DISTANCE)
#define FM_FOLLOWS   (1u << FM_ORDER_FOLLOW | 1u << FM_ORDER_GUARD | FM_KEEPS)

// Members of fm_order that are numbers or cells and are written as they are. A mask says first
// which are not 0, or FM_CELL_NONE; only these follow. NUMBER(kinds that have it, member, largest
// value), CELL(kinds, member): on the map, or FM_CELL_NONE. `kind` comes before what depends on it.
#define FM_ORDER_MEMBER_LIST(NUMBER, CELL)                                                         \
    NUMBER(FM_ALL_KINDS, number, UINT64_MAX)                                                       \
    NUMBER(FM_ALL_KINDS, kind, FM_ORDER_KIND_COUNT - 1)                                            \
    NUMBER(FM_ALL_KINDS, on_unreachable, FM_UNREACHABLE_WAIT)                                      \
    NUMBER(FM_ALL_KINDS, given_tick, UINT64_MAX)                                                   \
    NUMBER(FM_ALL_KINDS, has_moved, 1)                                                             \
    NUMBER(FM_ALL_KINDS, radius, FM_ORDER_RADIUS_MAX)                                              \
    CELL(FM_ALL_KINDS, goal)                                                                       \
    NUMBER(FM_ALL_KINDS, resting, 1)                                                               \
    CELL(FM_ALL_KINDS, substitute)                                                                 \
    NUMBER(FM_ALL_KINDS, retry.due_tick, UINT64_MAX)                                               \
    NUMBER(FM_ALL_KINDS, retry.wait, FM_RETRY_WAIT_MAX)                                            \
    NUMBER(FM_ALL_KINDS, leg_moves, UINT64_MAX)                                                    \
    NUMBER(FM_ALL_KINDS, pause_end, UINT64_MAX)                                                    \
    NUMBER(FM_MOVES, marches, 1)                                                                   \
    CELL(FM_MOVES, move.own_goal)                                                                  \
    NUMBER(FM_MOVES, max_detour, UINT32_MAX)                                                       \
    NUMBER(FM_MOVES, move.first_steps, UINT32_MAX)                                                 \
    NUMBER(FM_MOVES, is_too_long, 1)                                                               \
    NUMBER(FM_MOVES, speed, UINT32_MAX)                                                            \
    NUMBER(FM_PATROLS, patrol.waypoint, FM_WAYPOINTS_MAX)                                          \
    NUMBER(FM_ALL_KINDS, loop, 1)                                                                  \
    NUMBER(FM_PATROLS, patrol.backwards, 1)                                                        \
    CELL(FM_ALL_KINDS, home)                                                                       \
    NUMBER(FM_FOLLOWS, follow.target.index1, UINT32_MAX)                                           \
    NUMBER(FM_FOLLOWS, follow.target.generation, UINT32_MAX)                                       \
    CELL(FM_FOLLOWS, follow.post)                                                                  \
    NUMBER(FM_FOLLOWS, follow.rest_begin, UINT64_MAX)                                              \
    NUMBER(FM_FOLLOWS, follow.settled, 1)                                                          \
    CELL(FM_FOLLOWS, follow.settled_cell)                                                          \
    NUMBER(FM_ALL_KINDS, deadline, UINT32_MAX)                                                     \
    NUMBER(FM_ALL_KINDS, alert, FM_ORDER_RADIUS_MAX)                                               \
    NUMBER(FM_ALL_KINDS, is_alerted, 1)                                                            \
    NUMBER(FM_ALL_KINDS, alert_from, UINT64_MAX)                                                   \
    NUMBER(FM_FOLLOWS, follow.once, 1)                                                             \
    NUMBER(FM_KEEPS, follow.has_target, 1) /* from version 8 on */

// Reasons of which the head counts orders one after the other. Those that came later stand at the
// head's end.
#define FM_ENDS_OF_HEAD ((uint32_t)FM_END_CROWDED)

// The same of fm_agent.
#define FM_AGENT_MEMBER_LIST(NUMBER, CELL)                                                         \
    CELL(cell)                                                                                     \
    NUMBER(must_sense, 1)                                                                          \
    NUMBER(state, FM_AGENT_STATE_COUNT - 1)                                                        \
    NUMBER(plan_state, FM_PLAN_EXHAUSTED)                                                          \
    NUMBER(class_index, FM_CLASSES_MAX - 1)                                                        \
    NUMBER(moves, UINT64_MAX)                                                                      \
    NUMBER(stepped_tick, UINT64_MAX)                                                               \
    NUMBER(born, UINT64_MAX)                                                                       \
    NUMBER(speed, UINT32_MAX)                                                                      \
    NUMBER(heading, FM_DIRECTION_COUNT)                                                            \
    NUMBER(settled, 1)                                                                             \
    NUMBER(stalled_ticks, UINT16_MAX)                                                              \
    CELL(settled_aim)                                                                              \
    CELL(home)                                                                                     \
    CELL(anchor)                                                                                   \
    NUMBER(pushed_tick, UINT64_MAX)                                                                \
    NUMBER(asking_since, UINT64_MAX)                                                               \
    NUMBER(nearest, UINT32_MAX)                                                                    \
    NUMBER(hindered, UINT16_MAX)                                                                   \
    NUMBER(frozen, 1)                                                                              \
    NUMBER(sight, FM_SENSE_RADIUS_MAX)                                                             \
    NUMBER(tag_size, FM_TAG_SIZE_MAX)                                                              \
    NUMBER(tag_shown, 1)

// A slot begins with its generation in front of two bits: whether its agent lives, or is carried,
// and whether the generation of its name is another and follows. Before version 5 there was only
// the first bit.
#define FM_SLOT_ALIVE   1u
#define FM_SLOT_RENAMED 2u

// An agent's credit is written as a number that is never negative.
#define FM_CREDIT_BIAS (2 * (int64_t)FM_TICK_MILLIHERTZ_MAX)
#define FM_CREDIT_MAX  (4 * (int64_t)FM_TICK_MILLIHERTZ_MAX)

// What a retry remembers of the labels that refused it: their version is particular to this
// process, so one of these is written instead.
enum fm_retry_memory {
    FM_RETRY_HAD_NONE, // there were no labels
    FM_RETRY_IS_SAME,  // they are as they were
    FM_RETRY_IS_OTHER, // they have changed
};

// Which costs a team reckons with.
enum fm_weights_form {
    FM_WEIGHTS_NONE,  // all are the same to it
    FM_WEIGHTS_SEEN,  // those that it has seen
    FM_WEIGHTS_LAYER, // and what the game adds, which follows; from version 6 on
};

// How an order's route is written.
enum fm_route_form {
    FM_ROUTE_NONE,
    FM_ROUTE_AGAIN, // the one written last
    FM_ROUTE_CELLS, // a count and cells
};

// How an agent's planner is.
enum fm_spec_form {
    FM_SPEC_OF_TEAM,
    FM_SPEC_AGAIN, // the last one that was written as text
    FM_SPEC_TEXT,
};

/// How many sections a file of a version has.
static inline uint32_t fm_world_section_count(uint32_t version)
{
    return version < 3 ? FM_SECTION_RECEIPTS : FM_SECTION_COUNT;
}

/// What a section is called in errors.
const char *fm_world_section_name(fm_world_section section);
