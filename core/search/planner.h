// core/search/planner.h: what every path planner can do, whatever its algorithm.
//
// A planner answers for one (team knowledge, movement class, goal) and keeps its search between
// ticks. It reads the world through a `const fm_view *` only. It never reads a clock: it is handed
// a number of expansions and a deadline to check (fm_work), stops when either is used up, and
// resumes at the same unit of work next time.
//
//                  set_goal / knowledge_changed / forget / set_starts
//      ┌───────────────────────────────┬───────────────────────┐
//      v                               │                       │
//   RUNNING ───────── advance ──────> FOUND (or PARTIAL)    UNREACHABLE
//      └───────────────────────────────────────────────────────^
//
//   RUNNING      more expansions are needed
//   FOUND        next_step() leads along a shortest path on what is known; see ops->finding
//   PARTIAL      real-time planners: next_step() is a good move, not yet a proven one
//   UNREACHABLE  no path on what is known; any change of knowledge withdraws it
//   EXHAUSTED search memory ran out; next_step() has no answer
//
// Shared planners (ops->shared) search backward from the goal and answer for any number of
// agents; the others search from their one agent. Each answers for the cells that set_starts()
// named last.
//
// Order within a tick, each at most once: knowledge_changed (or forget), set_starts, then any
// number of advance, then next_step / state_at / path / inspect, which change nothing.
//
// Adding a planner: write core/planners/<name>.c with one `const fm_planner_ops`, declare it in
// <name>.h beside it, include that in catalogue.h and list it in catalogue.c.
// tests/core/planners/test_planners.c then checks it against a reference search, like all the
// others.

#pragma once

#include "core/base/bytes.h"
#include "core/base/slab.h"
#include "core/map/change_log.h"
#include "core/search/heuristic.h"

typedef enum fm_plan_state {
    FM_PLAN_RUNNING,
    FM_PLAN_FOUND,
    FM_PLAN_PARTIAL,
    FM_PLAN_UNREACHABLE,
    FM_PLAN_EXHAUSTED,
} fm_plan_state;

// How advance() learns that the deadline has passed. NULL function: never.
typedef struct fm_deadline {
    bool (*passed)(void *context);
    void *context;
} fm_deadline;

#define FM_LOOKAHEAD_MAX     1000000u // expansions per episode
#define FM_PLANNER_SPEC_SIZE 128u     // bytes of a planner's name with options, NUL included

// Units of work between two looks at the deadline.
#define FM_DEADLINE_STRIDE 32u

// What a worker lends to a planner for one call.
typedef struct fm_work {
    fm_slab *slab;           // this worker's; pages come from here and go back here
    uint32_t expansions_max; // advance() stops when `expansions` has grown by this much
    uint32_t expansions;     // added to by advance() and knowledge_changed(): work charged
    uint32_t secondary; // the part of it that was not the expansion of a cell: repair, re-keying
    fm_deadline deadline;
    bool in_turn; // searches are finished one after the other, so no move is wanted before the
                  // search is done
    bool cut;     // set by advance() when it stopped because of the deadline
    // What `expansions` was when the deadline stopped it; in a replay given beforehand, in place of
    // a deadline. 0: it did not.
    uint32_t cut_at;
    struct fm_scratch *scratch; // this worker's, for searches that keep nothing; see scratch.h
} fm_work;

typedef enum fm_queue_kind {
    FM_QUEUE_BUCKET,
    FM_QUEUE_HEAP,
} fm_queue_kind;

typedef enum fm_ties {
    FM_TIES_DEFAULT, // the planner's default
    FM_TIES_SMALLER_G,
    FM_TIES_LARGER_G,
} fm_ties;

// Which of several equally good steps an agent takes (D* Lite).
typedef enum fm_step_choice {
    FM_STEP_NEAREST, // to the cell nearest to the goal as the crow flies: fewer moves in the end
    FM_STEP_FIRST,   // the first in the order of directions, as in published experiments
} fm_step_choice;

// How exact a goal field is, and how soon it is repaired. 0 means the default in all of them.
typedef struct fm_field_options {
    uint16_t weight;  // of the estimate, in thousandths: 1000 (shortest paths) to 2000
    uint16_t period;  // ticks between repairs while every agent has a step: 1..FM_PERIOD_MAX
    uint16_t horizon; // tiles that paths are checked ahead; FM_HORIZON_NONE: to the goal
    uint16_t full;    // ticks between checks to the goal, where the horizon is shorter
} fm_field_options;

#define FM_WEIGHT_UNIT  1000u
#define FM_WEIGHT_MAX   2000u
#define FM_PERIOD_MAX   1000u
#define FM_HORIZON_MAX  1000u
#define FM_HORIZON_NONE UINT16_MAX

typedef struct fm_planner_options {
    fm_queue_kind queue;
    fm_ties ties;
    fm_step_choice step;
    uint32_t lookahead; // expansions per episode of real-time planners; 0: what the grant allows
    fm_heuristic_kind heuristic; // of forward searches
    fm_field_options field;      // of goal fields; all zero: the defaults
    // Set by worlds where agents push each other, not by name. One that was pushed off its path may
    // go back to it straight instead of searching again (jump points): its path is then some cells
    // longer than a shortest one.
    bool rejoin;
} fm_planner_options;

// Which estimates a planner can be guided by.
typedef enum fm_guidance {
    FM_GUIDED_BY_ITS_OWN,    // the option `heuristic` is refused
    FM_GUIDED_BY_CONSISTENT, // others would break what it learns or checks
    FM_GUIDED_BY_ANY,        // where the estimates are too high, paths may be longer
} fm_guidance;

// What FM_PLAN_FOUND promises.
typedef enum fm_finding {
    FM_FINDS_CHEAPEST, // next_step() leads along a cheapest path
    FM_FINDS_SHORTEST, // along one of as few steps as can be, whatever they cost
    FM_FINDS_ANY,      // along some path
} fm_finding;

typedef struct fm_planner_ops fm_planner_ops;

#define FM_STEPS_ALL UINT32_MAX // for fm_planner_ops.walk: check the whole path

// A planner as a user names it: "dstar-lite" or "dstar-lite:queue=heap,ties=larger-g".
typedef struct fm_planner_spec {
    const fm_planner_ops *ops;
    fm_planner_options options;
} fm_planner_spec;

// What inspect() reports of one cell. Fields that an algorithm does not have are
// FM_COST_INFINITE (costs), 0 (key) or FM_CELL_NONE (parent).
typedef struct fm_inspection {
    fm_cell cell;
    bool open;
    bool closed; // expanded by the current search
    bool stale;  // knowledge around it has changed since, and the search has not handled that yet
    uint32_t g;
    uint32_t h; // the heuristic in use, learned where the algorithm learns
    uint32_t rhs;
    uint64_t key; // as the open list orders it, renewed where the agents have moved since
    fm_cell parent;
} fm_inspection;

typedef void fm_inspect_fn(const fm_inspection *cell, void *context);

struct fm_planner_ops {
    // As written in configs and messages, e.g. "adaptive-astar".
    const char *name;

    // One line for people.
    const char *summary;

    // Bytes of private state. The caller allocates and zeroes them, then calls init().
    size_t size;

    // One instance answers for all agents with the same (knowledge, class, goal).
    bool shared;

    // Needs equal weights and FM_CONNECT_8, like jump points. The catalogue's caller checks.
    bool uniform_only;

    // May report PARTIAL moves before a search is complete.
    bool real_time;

    // Shares the tiles of its view (core/map/tile_map.h), which the view has before init(), and
    // finds changes there: knowledge_changed() does nothing.
    bool uses_tiles;

    // Keeps a field of distances: a cell that has a distance has a step as well. How many of these
    // a world has decides whether groups get more.
    bool keeps_field;

    // distances() are exact for every cell that the search knows, not only beside a start; a cell
    // that it does not know is no nearer to the goal than it says.
    bool exact_distances;

    // Agents with this planner switch to one shared search when enough of them have the same goal,
    // and use their own while it has no answer. Not for planners that are shared themselves.
    bool joins_groups;

    // A few more expansions do not improve its answer before its search is over: it waits for a
    // larger grant. For planners with real_time.
    bool waits_for_grant;

    // Takes the option `weight`: above 1 paths may be longer than the cheapest.
    bool takes_weight;

    // What the option `heuristic` may be.
    fm_guidance guidance;

    // What kind of path FOUND means, with a heuristic that is never too high.
    fm_finding finding;

    // Sets up the private state. `view` and `memory` outlive the planner; `goal` is inside the
    // map. May allocate. On failure nothing needs undoing.
    // Returns FM_OK or FM_ERR_NO_MEMORY.
    fm_status (*init)(void *self, const fm_view *view, const fm_planner_options *options,
                      const fm_memory *memory, fm_cell goal);

    // Releases what the planner holds: pages to `slab`, the rest to the memory of init(). Not the
    // private state itself: the caller owns that.
    void (*fini)(void *self, fm_slab *slab);

    // A new goal inside the map; the agents stay where they are. May keep what is still true.
    void (*set_goal)(void *self, fm_cell goal, fm_slab *slab);

    // The agents that want answers stand here now. count is 1 unless ops->shared; at least 1.
    // `cells` is the caller's and good only during the call.
    void (*set_starts)(void *self, const fm_cell *cells, uint32_t count);

    // The view has changed in these cells, and already holds the new values. Robust against
    // duplicates and against cells that changed back. Work done is added to work->expansions.
    void (*knowledge_changed)(void *self, const fm_change *changes, uint32_t count, fm_work *work);

    // The view has changed beyond what anybody can list: drop all that was searched or learned.
    void (*forget)(void *self, fm_slab *slab);

    // Works until every start has its answer, until work->expansions_max expansions are done, or
    // until the deadline has passed (checked every FM_DEADLINE_STRIDE units). Tests for the end of
    // the search before it tests for the end of the grant, so a search that needs exactly
    // expansions_max expansions is finished by them. At least one unit of progress per call.
    // Returns the state of the start that is furthest behind.
    fm_plan_state (*advance)(void *self, fm_work *work);

    // Whether advance() would have nothing to do. NULL: call advance() to find out.
    bool (*is_done)(const void *self);

    // The answer for an agent that stands on `start`, one of the starts set last.
    fm_plan_state (*state_at)(const void *self, fm_cell start);

    // The cell to step to from `start`: a legal neighbour, `start` itself at the goal, or
    // FM_CELL_NONE when there is no answer (yet). Deterministic ties.
    fm_cell (*next_step)(const void *self, fm_cell start);

    // state_at() and, where that is FOUND or PARTIAL, next_step() in one call, for planners that do
    // both in one computation. The step is legal on the view as it is now. May be NULL.
    fm_plan_state (*answer)(const void *self, fm_cell start, fm_cell *next);

    // Ranks the cells around `start`, one of the starts set last: writes into distances[d] how far
    // the goal is from the neighbour in each direction d of `moves` (bits, as fm_view_moves()
    // gives them), and into distances[FM_DIRECTION_COUNT] how far it is from `start`. They only
    // need to be comparable with each other: exact where the search knows, else an estimate. For
    // agents that block each other and may have to take another cell than next_step()'s. NULL:
    // fm_view_distance() to the goal is used.
    void (*distances)(const void *self, fm_cell start, uint32_t moves,
                      uint32_t distances[FM_DIRECTION_COUNT + 1]);

    // Copies the path from `start` to the goal, both included. Returns its length in cells, which
    // may exceed capacity; then the tail is cut off. 0 when there is no complete path. With PARTIAL
    // it may be any, or none: what the agent would walk if nothing more were searched.
    uint32_t (*path)(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity);

    // For an unreachable goal: the reachable cell with the smallest distance to the goal by
    // fm_view_distance(), ties by path length, when this search knows it; else FM_CELL_NONE.
    // May be NULL.
    fm_cell (*nearest)(const void *self, fm_cell start);

    // Of a planner that is made of several: the one that answers now. NULL: it is its own.
    const fm_planner_ops *(*runs)(const void *self);

    // Visits every cell that holds search state, in a fixed order.
    void (*inspect)(const void *self, fm_inspect_fn *visit, void *context);

    // Bytes of memory held, private state included.
    size_t (*bytes)(const void *self);

    // For planners that serve one agent and keep a path; both or none. is_walking(): there is a
    // path to the goal, and the planner need not be notified of steps along it, nor of cells that
    // got blocked. walk() is called in place of both: the agent stands on `start`, and so many of
    // its `steps` ahead are looked at. Returns FOUND; PARTIAL when the path is broken farther
    // ahead, and may be followed until advance() has found another; RUNNING when the next step is
    // illegal, or the agent stands off the path. FOUND although the path is broken is allowed for a
    // while, except with FM_STEPS_ALL.
    bool (*is_walking)(const void *self);
    fm_plan_state (*walk)(void *self, fm_cell start, uint32_t steps);

    // The agent, which stands on `start` and is walking, goes on to another cell first, from where
    // it plans on to its goal: along a path of `count` turning points, 2 at least, whose first is
    // `start`, whose last is that cell, and whose steps are legal. If it is pushed off that path it
    // still goes there, until there is another goal. path() and distances() lead there meanwhile.
    // Returns whether it does; false also when out of memory. May be NULL.
    bool (*go_via)(void *self, fm_cell start, const fm_cell *turns, uint32_t count);

    // The cell to which the agent goes first since go_via(); FM_CELL_NONE: to its goal. NULL where
    // go_via is.
    fm_cell (*via)(const void *self);

    // Prefetches what walk() and next_step() will read beyond `self`, which was prefetched already:
    // with depth 0 what `self` points to, with depth 1, after that, what that points to. Changes
    // nothing. May be NULL.
    void (*fetch)(const void *self, uint32_t depth);

    // For saved worlds (world_file.h), where what is known is small; all three or none. settle()
    // drops all that save() does not write, or returns false: not worth keeping, the planner is
    // destroyed. Called only on a planner that has an answer (FOUND) with nothing changed since.
    // load() brings a planner fresh from init() to the state in which settle() left the other; the
    // bytes may be anything, and errors are noted in the reader. Returns FM_OK or FM_ERR_NO_MEMORY.
    bool (*settle)(void *self, fm_slab *slab);
    void (*save)(const void *self, fm_writer *writer);
    fm_status (*load)(void *self, fm_reader *reader);
};

/// Writes a spec so that fm_planner_spec_parse() reads it back. Always NUL-terminated.
void fm_planner_spec_format(const fm_planner_spec *spec, char *text, size_t size);

/// Whether two specs mean the same planner.
bool fm_planner_spec_equals(const fm_planner_spec *a, const fm_planner_spec *b);

/// Whether a planner with its options can work under these rules: jump points need equal costs and
/// FM_CONNECT_8; a planner that needs consistent estimates cannot take others.
bool fm_planner_spec_fits(const fm_planner_spec *spec, fm_connectivity connectivity, bool weighted);

/// The fallback of ops->distances: as far as it would be if nothing were in between.
void fm_planner_guess_distances(const fm_view *view, fm_cell goal, fm_cell start, uint32_t moves,
                                uint32_t distances[FM_DIRECTION_COUNT + 1]);

/// ops->distances, or its fallback.
void fm_planner_distances(const fm_planner_ops *ops, const void *self, const fm_view *view,
                          fm_cell goal, fm_cell start, uint32_t moves,
                          uint32_t distances[FM_DIRECTION_COUNT + 1]);

/// Whether advance() has to return now. `expansions_at_start` is what work->expansions was when it
/// was called. Between two calls work->expansions must grow: a replay stops by the count alone, and
/// would otherwise stop at another place than the deadline did.
static inline bool fm_work_must_stop(fm_work *work, uint32_t expansions_at_start)
{
    uint32_t done = work->expansions - expansions_at_start;
    if (done >= work->expansions_max || work->cut) {
        return true;
    }
    bool look = done % FM_DEADLINE_STRIDE == FM_DEADLINE_STRIDE - 1;
    if (work->cut_at != 0) {
        work->cut = work->expansions >= work->cut_at;
    } else if (look && work->deadline.passed != NULL &&
               work->deadline.passed(work->deadline.context)) {
        work->cut = true;
        work->cut_at = work->expansions;
    }
    return work->cut;
}

/// Charges work that was no expansion of a cell.
static inline void fm_work_charge(fm_work *work, uint32_t units)
{
    work->expansions += units;
    work->secondary += units;
}

/// The same for loops too small to check every time: how many units of work may be done before the
/// next check. 0: advance() has to return now.
static inline uint32_t fm_work_units(fm_work *work, uint32_t expansions_at_start)
{
    if (fm_work_must_stop(work, expansions_at_start)) {
        return 0;
    }
    uint32_t done = work->expansions - expansions_at_start;
    uint32_t left = work->expansions_max - done;
    if (work->deadline.passed == NULL && work->cut_at == 0) {
        return left;
    }
    uint32_t look_in = FM_DEADLINE_STRIDE - (done + 1) % FM_DEADLINE_STRIDE;
    return left < look_in ? left : look_in;
}
