// core/world/planner_table.h: which planner serves which agent.
//
// Planners that search backward are shared: agents of one team and movement class with the same
// goal and spec find the same planner and count as its users. The others serve one agent. A planner
// without users ends at once and gives its pages back.
//
// auto serves one agent too. Where jump points do not apply, the eighth agent that it leads to a
// goal and those that come after it share one dstar-lite: it costs less than their searches
// together.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/agent.h"

struct fm_planner {
    bool in_use;
    bool wants_search; // RUNNING when last checked
    uint8_t turns;     // that it has had in this tick
    bool cut;          // stopped by the deadline in this round
    bool skipped;      // the deadline had passed before its turn
    bool disturbed;    // had an answer, then knowledge changed: the next expansion is a replan
    bool has_answered; // has ever had an answer
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
    uint32_t first_agent; // slot of the one that came last; the others by fm_agent_mates
    uint64_t cursor;      // version of the knowledge it has read up to
    uint64_t asked_tick;  // tick since which its agents wait for an answer
    uint64_t expansions;
    uint64_t serial;                   // among all planners that ever existed
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
    uint64_t hash;                     // its hash that the last digest counted
};

// The planners. Whose: planner_table.c; the bits are those of due.c, grants and rounds those of the
// search stage, hashes those of core/tick/digest.c.
struct fm_world_planners {
    struct fm_planner *slots;
    uint32_t slot_count, capacity;
    uint32_t free; // head of the list of free slots
    uint32_t count;
    uint64_t made;
    uint64_t hash_sum;    // of fm_planner.hash
    uint32_t search_cost; // recent cost of a search, in 1/16 expansions; 0: not known yet
    uint32_t *table;      // slot + 1 by hash; chains through fm_planner.next
    uint32_t table_mask;

    // Bits per planner slot; see due.h.
    uint64_t *due;     // the next search stage visits it
    uint64_t *walking; // its agent follows a path by itself
    uint64_t *eager;   // the others: it must be notified of every step of its agents
    uint32_t due_capacity, walking_capacity, eager_capacity;
};

const struct fm_world_planners *fm_world_planners(const fm_world *world);

/// Whether an agent that has a planner of its own for some goal would now be given a group's for
/// it.
bool fm_planner_belongs_to_group(const fm_world *world, const struct fm_agent *agent);

/// The planner for a goal of an agent's team, by the agent's spec, or D* Lite for one on the march
/// with its group whose spec is not shared: a shared one that is there
/// already, or a new one. The agent counts as a user of it until fm_planner_release().
///
/// The agent has none yet.
///
/// @return false when out of memory
bool fm_planner_take(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// The same, of D* Lite whatever the agent's spec: for a short path whose distances have to be
/// exact.
bool fm_planner_take_exact(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// Releases an agent's planner, which ends with its last user. Does nothing when there is none.
void fm_planner_release(fm_world *world, struct fm_agent *agent);

/// Gives a planner that serves one agent a new goal. A shared one is released instead, and so is
/// any with FM_CELL_NONE. Does nothing when the agent has none.
void fm_planner_redirect(fm_world *world, struct fm_agent *agent, fm_cell goal);

#define FM_RECENT_TICKS 16u // over which the cost of a search is smoothed

/// Recent cost of a planner's searches, as of a tick: expansions per tick x 256, smoothed.
uint64_t fm_planner_recent(const struct fm_planner *planner, uint64_t tick);

/// Name of the planner that searches now: its own, or of `auto` that of the one that it chose.
const char *fm_planner_runs(const struct fm_planner *planner);

/// How far the goal of an agent's planner is from a cell: exact where its search knows it, else an
/// estimate. Any worker, while nothing searches.
uint32_t fm_planner_distance(const fm_world *world, const struct fm_agent *agent,
                             const struct fm_planner *planner, fm_cell cell);

/// Ends the search of every planner of the teams that are marked (fm_team.forgets), without ending
/// the planner, and clears the marks.
void fm_planners_forget(fm_world *world);

/// Between ticks, for saved worlds: ends every planner but those that can be saved, and numbers
/// these from 0 on. Agents that have lost theirs get new ones in the next tick.
void fm_planners_settle(fm_world *world);

/// Writes a planner that fm_planners_settle() has kept.
void fm_planner_save(const struct fm_planner *planner, fm_writer *writer);

/// Makes the planner that fm_planners_settle() has left to an agent and fm_planner_save() has
/// written. The agent has a goal (asserted) and no planner yet.
///
/// @return FM_OK, FM_ERR_BAD_FORMAT (noted in the reader) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_planner_restore(fm_world *world, struct fm_agent *agent, fm_reader *reader);

/// Gives each of `count` workers (1..FM_WORKERS_MAX) a slab and a scratch for searches, and keeps
/// those that there are. Serial stages only.
void fm_world_expect_workers(fm_world *world, uint32_t count);

/// Takes them back, with all that is in the slabs. For the end of the world, after its planners.
void fm_world_release_workers(fm_world *world);

/// Ends a planner even if agents use it. For the end of the world.
void fm_planner_end(fm_world *world, uint32_t slot);
