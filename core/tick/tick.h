// core/tick/tick.h: one step of the simulation, as a fixed row of stages.
//
//   stage    runs on      reads                   writes
//   -------  -----------  ----------------------  -----------------------------------------------
//   sense    workers      truth                   one team's knowledge each
//   assign   tick thread  everything              agents, planners made and dropped, orders ended;
//            workers      knowledge, where all    one team's explorers and fleers each: what they
//                         agents stand (const)    found (core/orders/goal_search.h)
//   search   workers      knowledge (const)       one planner each; in rounds
//   choose   workers      planners (const)        one agent each: next cell
//   move     tick thread  everything              agents, orders ended
//   observe  workers      everything (const)      one watched view each
//   digest   tick thread  everything              report
//
// Commands (fm_world_apply) come before the row, on the tick thread. Each stage is over before
// the next one starts. The order is the order of the table in tick.c; no other place decides it.
//
// Why it is deterministic: time comes in as a number of expansions and as the record of which
// planners the deadline cut short; serial stages walk agents in slot order; results of parallel
// stages do not depend on which worker ran what. Proof: tests/core/tick/test_determinism.c.
//
// Grants: the budget is shared among teams first, who may save what they do not use (account.h),
// and then equally among the planners of each. First every planner is notified of what changed and
// where its agents stand. In round 0 those that have something to do may do a few expansions; that
// is all that most repairs need. What is left goes to those that want more, and what they leave
// over is shared again, for FM_SEARCH_ROUNDS_MAX rounds at most. Where the equal share of a team
// would be too small for a search, it is not dealt out equally: in round 0 real-time planners get
// some for a move, and then one planner after the other gets what finishes a search, those first
// whose agents cannot move, and of these those that have waited longest. Planners that get nothing
// at all are not even notified: they stay due (core/world/due.h). What is left then is for joint
// searches (core/crowd/jam.h), a quarter of the budget at least, also beyond it; no more than that
// once the deadline has stopped a planner.
//
// Teams take turns, planner by planner. The deadline stops every planner within FM_DEADLINE_STRIDE
// units, and those whose turn has not come search nothing in this tick. The order of turns rotates
// from tick to tick, so that none is always last. Which planners the deadline stopped, and where,
// is the tick's record: with it a replay does exactly the same work, and needs no clock.

#pragma once

#include "core/world/tick_record.h"
#include "core/world/world.h"

// How time comes in. Functions are called from several workers at once.
typedef struct fm_tick_clock {
    fm_deadline deadline;              // of the search stage; .passed NULL: none
    uint64_t (*now_ns)(void *context); // for the report's stage times only; may be NULL
    void *now_context;
} fm_tick_clock;

// X(enumerator, name in metrics)
#define FM_STAGE_LIST(X)                                                                           \
    X(FM_STAGE_SENSE, "sense")                                                                     \
    X(FM_STAGE_ASSIGN, "assign")                                                                   \
    X(FM_STAGE_SEARCH, "search")                                                                   \
    X(FM_STAGE_CHOOSE, "choose")                                                                   \
    X(FM_STAGE_MOVE, "move")                                                                       \
    X(FM_STAGE_OBSERVE, "observe")                                                                 \
    X(FM_STAGE_DIGEST, "digest")

typedef enum fm_stage {
#define X(enumerator, name) enumerator,
    FM_STAGE_LIST(X)
#undef X
    FM_STAGE_COUNT,
} fm_stage;

typedef struct fm_tick_report {
    fm_tick_record record;             // its cuts are good until the next tick
    uint64_t expansions;               // done in this tick
    uint64_t notify_expansions;        // of these, what notifying planners of changes was charged
    uint64_t joint_expansions;         // of these, joint searches for units that are stuck
    uint64_t label_units;              // work on labels, in expansions; not in `expansions`
    uint32_t planners_notified;        // planners that the search stage turned to
    uint32_t planners_searched;        // of these, those that wanted to search
    uint32_t planners_unfinished;      // and still want to
    uint32_t moved_count;              // agents that changed cell
    uint64_t agents_visited;           // by stages; each stage that looks at an agent counts
    bool still;                        // nothing can happen in the world: no stage was run
    uint32_t ended_count;              // orders that ended
    bool starved;                      // the world is now, see fm_world_is_starved()
    uint64_t stage_ns[FM_STAGE_COUNT]; // for graphs and the pacer, never for decisions in here
    uint64_t rounds_ns;                // of the search stage, without notifying planners of changes
} fm_tick_report;

/// Runs one tick.
///
/// @param workers            NULL runs everything on the calling thread
/// @param expansions_budget  at least 1 is used
/// @param clock              NULL: no deadline, no stage times
void fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions_budget,
                 const fm_tick_clock *clock, fm_tick_report *report);

/// Runs one tick again as it was recorded: no clock, the same grants, the same cuts.
void fm_tick_replay(fm_world *world, fm_workers *workers, const fm_tick_record *record,
                    fm_tick_report *report);

/// One number for the whole state, computed from scratch. After a tick it is the one of its record.
uint64_t fm_world_digest(const fm_world *world);

/// Name of a stage, for logs and metrics.
const char *fm_stage_name(fm_stage stage);
