// core/search/forward_search.h: the A* that all planners of the forward family share: paged nodes,
// one open list, estimates that learn, and what happens to a search when the map changes under it.
//
// Everything is lazy. A node carries the number of the search that wrote it; an older node is read
// as if it had been brought up to date (fm_forward_estimate), so no search has to walk over the
// cells of the one before.
//
// Learning  After a search whose smallest f was C, every closed cell s has h(s) >= C - g(s). The
//           record of each search keeps C, and a node learns when it is next looked at. This also
//           holds for a search that was cut short, and stays true while steps get costlier (Koenig
//           and Likhachev, Adaptive A*, 2005; Sun, Koenig and Yeoh, Generalized Adaptive A*, 2008).
// Repair    When steps get cheaper, a Dijkstra search over h lowers what is now too high, before
//           the next search begins.
// New goal  h towards t serves t' as max(H(s, t'), h(s) - h(t')), again when next looked at; where
//           H is a metric, else all that was learned is dropped.
//
// What must hold between any two units of work: h(u) <= c(u, v) + h(v) on every usable edge and
// h(goal) = 0, once the repair is done.
//
// fm_forward is the first member of each planner's state, so the functions marked "op" stand in
// the planners' tables as they are.

#pragma once

#include "core/search/open_list.h"
#include "core/search/pages.h"
#include "core/search/planner.h"

#define FM_NO_DIRECTION FM_DIRECTION_COUNT

// Searches until all nodes are brought up to date at once and the numbers begin again: it bounds
// the records at 64 KiB.
#define FM_FORWARD_SEARCHES_MAX 4096u

// Look-ups of changed cells charged as one expansion.
#define FM_FORWARD_LOOKS_PER_UNIT 8u

typedef struct fm_forward_node {
    uint32_t search; // number of the search or repair that wrote this node; 0: none yet
    uint32_t g;      // cost from the root, FM_COST_INFINITE while not reached
    uint32_t h;      // estimate of the cost to the target
    uint8_t parent;  // direction of the cell before this one, FM_NO_DIRECTION at the root
    uint8_t next;    // direction of the path that leads on from here, or FM_NO_DIRECTION
    uint8_t closed;  // an fm_forward_mark
    bool loose;      // this search has proven that the path from here is not a shortest one
} fm_forward_node;

typedef enum fm_forward_mark {
    FM_FORWARD_REACHED,
    FM_FORWARD_CLOSED,
    FM_FORWARD_RELEARNED, // closed, and its h has been found again (LSS-LRTA*)
} fm_forward_mark;

// What a search leaves behind for the nodes it wrote.
typedef struct fm_forward_record {
    uint64_t shift; // fm_forward.shift during the search
    uint32_t cost; // no path to the goal over a cell of the open list was cheaper; 0: learn nothing
} fm_forward_record;

// What one member of the family does.
typedef struct fm_forward_rules {
    bool backward;      // search from the goal to the agent
    bool learns;        // raise h after each search
    bool keeps_paths;   // old paths stay marked, and a search may end on one
    bool any_heuristic; // may be guided by estimates that are not consistent
} fm_forward_rules;

typedef enum fm_forward_outcome {
    FM_FORWARD_SUSPENDED, // the grant is used up
    FM_FORWARD_DONE,      // `reached` is on top of the open list
    FM_FORWARD_EMPTY,     // all that can be reached is closed
    FM_FORWARD_NO_MEMORY,
} fm_forward_outcome;

typedef struct fm_forward {
    const fm_view *view;
    const fm_memory *memory;
    fm_forward_rules rules;
    fm_planner_options options;
    fm_plan_state state;
    fm_cell start; // the agent's
    fm_cell goal;

    // The search.
    bool searching;         // there is one, suspended or done
    fm_queue_kind queue;    // of this search
    uint32_t search;        // its number
    fm_cell root;           // from where
    fm_cell target;         // to where; the estimates lead there
    fm_heuristic heuristic; // towards it, before anything is learned
    fm_cell reached;        // where FM_FORWARD_DONE ended
    fm_cell nearest;        // after FM_FORWARD_EMPTY: the closed cell nearest to the target
    fm_pages pages;
    fm_open_list open;

    // What was learned.
    fm_forward_record *records; // by search number
    uint32_t record_capacity;
    uint64_t shift;       // sum of h(new goal) over all changes of the goal
    fm_open_list repairs; // heap: nodes whose h was lowered, by h
    fm_cell path_start;   // where the marked path begins, FM_CELL_NONE if there is none
} fm_forward;

// ---- nodes ----

static inline fm_forward_node *fm_forward_nodes(const fm_page *page)
{
    return (fm_forward_node *)(void *)page->nodes;
}

static inline fm_forward_node *fm_forward_node_at(const fm_forward *forward, uint32_t ref)
{
    return &fm_forward_nodes(fm_node_page(&forward->pages, ref))[fm_node_position(ref)];
}

/// The node of a cell, or NULL where no search has been.
fm_forward_node *fm_forward_find(const fm_forward *forward, fm_cell cell);

/// Whether the current search has reached the cell (and holds a g for it).
static inline bool fm_forward_is_reached(const fm_forward *forward, const fm_forward_node *node)
{
    return node != NULL && forward->searching && node->search == forward->search &&
           node->g < FM_COST_INFINITE;
}

/// The estimate from a cell to the target, all that was learned included. `node` is the cell's, or
/// NULL.
uint32_t fm_forward_estimate(const fm_forward *forward, const fm_forward_node *node, fm_cell cell);

/// Brings the node of a cell into the current search, taking a page where none was.
/// @return its reference, FM_NODE_NONE when out of memory
uint32_t fm_forward_touch(fm_forward *forward, fm_cell cell, fm_slab *slab);

// ---- one search ----

/// How the open list orders a node. Among equal f, larger g first: where many paths are equally
/// short this saves most expansions. Buckets come close to it by taking the latest first.
FM_INLINE uint64_t fm_forward_key(const fm_forward *forward, const fm_queue_kind kind, uint32_t g,
                                  uint32_t h)
{
    if (kind == FM_QUEUE_BUCKET) {
        return g + h;
    }
    uint32_t tie = forward->options.ties == FM_TIES_SMALLER_G ? g : FM_COST_INFINITE - g;
    return (uint64_t)(g + h) << 32 | tie;
}

/// Begins a search from the agent to the goal (or back, by the rules). @return false when out of
/// memory
FM_CHECKED bool fm_forward_begin(fm_forward *forward, fm_slab *slab);

/// Expands cells until the target is on top of the open list or the grant is used up.
/// `expansions_at_start` is for fm_work_must_stop().
fm_forward_outcome fm_forward_run(fm_forward *forward, fm_work *work, uint32_t expansions_at_start);

/// The best node of the open list as a reference, FM_NODE_NONE when the list is empty. Throws
/// stale entries away.
uint32_t fm_forward_top(fm_forward *forward);

/// Remembers that no path over a cell of the open list costs less than `cost`; of what is above
/// FM_COST_INFINITE no more than that, so that estimates cannot outgrow 32 bits.
void fm_forward_learn(fm_forward *forward, uint32_t cost);

/// Ends the current search, learns from it, and forgets the path.
void fm_forward_restart(fm_forward *forward);

/// Ends in state FM_PLAN_EXHAUSTED and gives the pages back.
fm_plan_state fm_forward_exhaust(fm_forward *forward, fm_slab *slab);

/// After FM_FORWARD_EMPTY: sets the nearest cell and the state.
fm_plan_state fm_forward_fail(fm_forward *forward);

/// Handles the end of a run. @return the planner's new state
fm_plan_state fm_forward_conclude(fm_forward *forward, fm_forward_outcome outcome, fm_slab *slab);

/// After FM_FORWARD_DONE: learns, marks the path from the agent to the goal, sets the state.
fm_plan_state fm_forward_succeed(fm_forward *forward);

/// Unmarks the cells of a marked path from `first` on, until `end` (FM_CELL_NONE: all), which keeps
/// its mark. @return `end`, or FM_CELL_NONE when the path does not lead there
fm_cell fm_forward_unmark(fm_forward *forward, fm_cell first, fm_cell end);

// ---- changes ----

/// Whether nothing that the current search has done so far depends on a cell that got blocked or
/// costlier. Takes a blocked cell off the open list.
bool fm_forward_tree_survives(fm_forward *forward, const fm_change *change);

/// Whether no marked path leads through the change. Unmarks where one does, if paths are kept.
bool fm_forward_path_survives(fm_forward *forward, const fm_change *change);

/// Charges `work` for checking so many changes with one of the two functions above.
static inline void fm_forward_charge_changes(const fm_forward *forward, uint32_t count,
                                             fm_work *work)
{
    bool asks_path = forward->state == FM_PLAN_FOUND; // nine look-ups by hash, mostly one otherwise
    fm_work_charge(work, asks_path ? count : count / FM_FORWARD_LOOKS_PER_UNIT);
}

/// Whether some step may have become cheaper.
bool fm_forward_any_cheaper(const fm_change *changes, uint32_t count);

/// Puts what the cheaper steps made wrong on the list of repairs, and charges `work` for it. The
/// search was given up before.
void fm_forward_lower(fm_forward *forward, const fm_change *changes, uint32_t count, fm_work *work);

/// After fm_forward_lower(): the cells that were learned again (FM_FORWARD_RELEARNED) may have come
/// out lower than they were, so their neighbours may be too high.
void fm_forward_lower_relearned(fm_forward *forward, fm_slab *slab);

/// Lowers estimates until all are consistent. @return false when the grant was used up first
bool fm_forward_repair(fm_forward *forward, fm_work *work, uint32_t expansions_at_start);

/// The agent went from `start` to `cell`. @return true when it is still on the marked path
bool fm_forward_follow(fm_forward *forward, fm_cell cell);

// ---- ops ----

fm_status fm_forward_init(fm_forward *forward, const fm_view *view,
                          const fm_planner_options *options, const fm_memory *memory, fm_cell goal,
                          fm_forward_rules rules);
void fm_forward_fini(void *self, fm_slab *slab);                           // op
void fm_forward_forget(void *self, fm_slab *slab);                         // op
void fm_forward_set_goal(void *self, fm_cell goal, fm_slab *slab);         // op
fm_plan_state fm_forward_state_at(const void *self, fm_cell start);        // op
fm_cell fm_forward_next_step(const void *self, fm_cell start);             // op
void fm_forward_distances(const void *self, fm_cell start, uint32_t moves, // op
                          uint32_t distances[FM_DIRECTION_COUNT + 1]);
uint32_t fm_forward_path(const void *self, fm_cell start, fm_cell *cells, // op
                         uint32_t capacity);
fm_cell fm_forward_nearest(const void *self, fm_cell start);                    // op
void fm_forward_inspect(const void *self, fm_inspect_fn *visit, void *context); // op

// What all planners of the family have in their tables.
#define FM_FORWARD_OPS                                                                             \
    .fini = fm_forward_fini, .state_at = fm_forward_state_at, .path = fm_forward_path,             \
    .inspect = fm_forward_inspect, .distances = fm_forward_distances

/// Bytes held, with own_size for the planner's private state.
size_t fm_forward_bytes(const fm_forward *forward, size_t own_size);

// ---- ops of planners that follow their path until it no longer is what they promise ----
// They stand in core/planners/forward_astar.c.

fm_plan_state fm_astar_advance(void *self, fm_work *work);                          // op
void fm_path_follower_set_starts(void *self, const fm_cell *cells, uint32_t count); // op
void fm_path_follower_knowledge_changed(void *self, const fm_change *changes,       // op
                                        uint32_t count, fm_work *work);

#define FM_PATH_FOLLOWER_OPS                                                                       \
    .set_goal = fm_forward_set_goal, .set_starts = fm_path_follower_set_starts,                    \
    .knowledge_changed = fm_path_follower_knowledge_changed, .forget = fm_forward_forget,          \
    .next_step = fm_forward_next_step, FM_FORWARD_OPS
