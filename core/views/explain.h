// core/views/explain.h: why an agent does what it does, and where the work goes.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/views/escorted.h"
#include "core/world/history.h"

// X(enumerator, name on the wire)
#define FM_WHY_LIST(X)                                                                             \
    X(FM_WHY_NO_ORDER, "it has no order")                                                          \
    X(FM_WHY_MOVES, "it moves along its path")                                                     \
    X(FM_WHY_SEARCHES, "its search has no answer yet: it waits for its share of the budget")       \
    X(FM_WHY_UNREACHABLE, "its goal cannot be reached on what its team knows")                     \
    X(FM_WHY_SUBSTITUTE, "it goes to the reachable cell nearest to its goal")                      \
    X(FM_WHY_OCCUPIED, "somebody stands in its way")                                               \
    X(FM_WHY_RESTS, "its order lets it stay where it is")                                          \
    X(FM_WHY_SLOW, "it gathers speed for its next step")                                           \
    X(FM_WHY_NO_MEMORY, "its search ran out of memory")                                            \
    X(FM_WHY_FROZEN, "it is frozen")                                                               \
    X(FM_WHY_ALERTED, "it has stopped for an enemy, and goes on when it is told")                  \
    X(FM_WHY_CARRIED, "another unit carries it")

typedef enum fm_why {
#define X(enumerator, name) enumerator,
    FM_WHY_LIST(X)
#undef X
} fm_why;

#define FM_EXPLAINED_ORDERS_MAX  40u
#define FM_EXPLAINED_REPLANS_MAX 20u
#define FM_EXPLAINED_CHAIN_MAX   32u

typedef struct fm_explanation {
    fm_agent_id agent;
    fm_agent_state state;
    fm_why why;
    fm_agent_id blocker; // FM_WHY_OCCUPIED: who; all zero else
    fm_cell blocked_at; // FM_WHY_OCCUPIED: the cell it wants to enter; FM_WHY_UNREACHABLE: its goal
    // The chain of waiting: the blocker, its own blocker, and so on. Ends with a unit that waits
    // for none, or with one that was listed before: they wait in a circle.
    fm_agent_id chain[FM_EXPLAINED_CHAIN_MAX];
    fm_cell chain_cells[FM_EXPLAINED_CHAIN_MAX]; // where they stand
    uint32_t chain_count;
    uint64_t waits_ticks; // since its last step or its order began, whichever is later
    bool is_stuck;        // did not get away when jams were looked for last, see jams.h
    uint32_t kept_ticks; // in which it has not come nearer to its goal, less those in which it made
                         // the step that it wanted
    fm_agent_help help;  // what is done for it, or by it for another
    // The escort that it has, or stands for, see escorted.h; `agent` all zero: none.
    fm_escorted escort;
    // Newest first.
    fm_history_entry orders[FM_EXPLAINED_ORDERS_MAX];
    fm_history_entry replans[FM_EXPLAINED_REPLANS_MAX]; // of the search that leads it now
    uint32_t order_count, replan_count;
} fm_explanation;

/// @return FM_OK, FM_ERR_NO_AGENT, or FM_ERR_CARRIED
FM_CHECKED fm_status fm_world_explain(const fm_world *world, fm_agent_id agent,
                                      fm_explanation *explanation);

/// The same without `orders`, `replans`, `chain` and `escort`: costs little.
FM_CHECKED fm_status fm_world_explain_now(const fm_world *world, fm_agent_id agent,
                                          fm_explanation *explanation);

// X(enumerator, name on the wire)
#define FM_TOP_LIST(X)                                                                             \
    X(FM_TOP_AGENTS, "agents")                                                                     \
    X(FM_TOP_PLANNERS, "planners")                                                                 \
    X(FM_TOP_TEAMS, "teams")                                                                       \
    X(FM_TOP_EDITS, "edits")

typedef enum fm_top {
#define X(enumerator, name) enumerator,
    FM_TOP_LIST(X)
#undef X
} fm_top;

#define FM_TOP_MAX 100u // rows

typedef struct fm_top_row {
    uint64_t cost;  // what rows are ordered by: expansions per tick lately x 256, AGENTS: divided
                    // by those who share the search; EDITS: expansions
    uint64_t total; // expansions since the search or the team began; EDITS: as cost
    fm_agent_id agent; // AGENTS: it, or the first of those who share its search; PLANNERS: one of
                       // those it leads
    uint32_t team;     // EDITS: 0
    uint32_t users;    // agents; EDITS: cells
    size_t bytes;      // of the search; TEAMS: of all of its searches and its knowledge
    uint64_t tick;     // EDITS: when
    fm_cell cell;      // goal; EDITS: one of the cells; TEAMS: FM_CELL_NONE
    char planner[FM_PLANNER_SPEC_SIZE]; // AGENTS, PLANNERS
    const char *runs;                   // the same: name of the planner that searches now; static
} fm_top_row;

/// The most expensive first; equal ones in the order of their slots.
///
/// @param rows      receives up to `capacity`, which is at most FM_TOP_MAX (asserted)
/// @return how many; TEAMS: 0 when out of memory
uint32_t fm_world_top(const fm_world *world, fm_top top, fm_top_row *rows, uint32_t capacity);
