// core/planners/time_bounded.c: planners that search with A* for a slice of time per tick and walk
// meanwhile toward the best cell of the open list.
//
//   tba-star   for terrain that is mostly known (Bjornsson, Bulitko and Sturtevant 2009). One
//              search from where the agent stood; whatever changes inside it begins it again.
//   rtba-star  restarts only when the path it follows is broken. A search tree that is out of date
//              elsewhere does no harm until the path leads there.
//   tbaa-star  the same, and every search, even a broken off one, raises the estimates of the next
//              (Hernandez, Baier, Uras and Koenig 2012).
//
// The path from the best cell is traced back through the parents, CELLS_PER_UNIT of them for what
// an expansion costs, in slices like the search. While it is, the agent continues along the path
// that it has. What a trace has passed is marked, so the next one ends where it meets a mark: all
// paths are branches of one tree. If it ends at the root instead, the agent's cell lies on another
// branch: the agent goes back from parent to parent until it meets the marked path, at the root at
// the latest.
//
//         begin           the marked path leads from the agent to the goal
//   (no search) ──> PARTIAL ─────────────────────────────────> FOUND
//        ^             │ path broken                             │ path broken
//        └─────────────┴─────────────────────────────────────────┘
//
// All is stale in one direction only: steps got costlier. So a path whose steps still cost what the
// search paid for them is a shortest one if it leads to the goal. Each step is looked at when it is
// marked, and again when something around it changes.

#include "core/planners/time_bounded.h"

#include "core/search/forward_search.h"

// Reserved from each grant for a search that has to restart, so that the agent still gets a move.
#define GRACE_EXPANSIONS 16u

// Cells traced for one unit of work; the ratio of the authors of TBA*.
#define CELLS_PER_UNIT 10u

struct time_bounded {
    fm_forward forward; // first, for the shared functions; its path_start is where the path begins
    bool any_change_restarts;
    bool stale;         // steps inside the search tree got costlier
    bool settled;       // the next move is
    bool going_back;    // the path begins at the root, and the agent is not on it yet
    fm_cell way_end;    // where the path leads
    fm_cell traced;     // how far the trace has come; FM_CELL_NONE: none is under way
    fm_cell trace_end;  // where it began
    uint32_t cells_due; // that may be traced before the next unit of work is charged
    fm_cell step;       // where to go next while the state is FM_PLAN_PARTIAL
};

static fm_status time_bounded_init(struct time_bounded *t, const fm_view *view,
                                   const fm_planner_options *options, const fm_memory *memory,
                                   fm_cell goal, fm_forward_rules rules)
{
    t->way_end = t->traced = t->trace_end = t->step = FM_CELL_NONE;
    return fm_forward_init(&t->forward, view, options, memory, goal, rules);
}

static fm_status tba_init(void *self, const fm_view *view, const fm_planner_options *options,
                          const fm_memory *memory, fm_cell goal)
{
    struct time_bounded *t = self;
    t->any_change_restarts = true;
    return time_bounded_init(t, view, options, memory, goal, (fm_forward_rules){0});
}

static fm_status rtba_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    return time_bounded_init(self, view, options, memory, goal, (fm_forward_rules){0});
}

static fm_status tbaa_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    return time_bounded_init(self, view, options, memory, goal, (fm_forward_rules){.learns = true});
}

// ---- the path -----------------------------------------------------------------------------------

// Gives up the trace that is under way.
static void drop_trace(struct time_bounded *t)
{
    fm_forward_unmark(&t->forward, t->traced, FM_CELL_NONE);
    t->traced = FM_CELL_NONE;
}

// Gives up the path: the agent stands on `cell` and has no next step.
static void stand(struct time_bounded *t, fm_cell cell)
{
    fm_forward *f = &t->forward;
    fm_forward_unmark(f, f->path_start, t->way_end);
    f->path_start = t->way_end = cell;
    t->going_back = false;
}

static void restart(struct time_bounded *t)
{
    drop_trace(t);
    t->going_back = false;
    fm_forward_restart(&t->forward);
}

// The agent has gone, or was pushed, to another cell of the tree.
static void follow_way(struct time_bounded *t, fm_cell cell)
{
    fm_forward *f = &t->forward;
    const fm_forward_node *node = fm_forward_find(f, cell);
    bool follows = !t->going_back && f->start != t->way_end &&
                   fm_cell_step(f->start, fm_forward_find(f, f->start)->next) == cell;
    if (!follows) {
        drop_trace(t); // so that what is marked is the path
    }
    bool is_marked = node->next != FM_NO_DIRECTION;
    if (cell == t->way_end && t->traced != FM_CELL_NONE && (is_marked || cell == t->traced)) {
        // The trace has passed the end of the path, which has got another parent since.
        fm_forward_unmark(f, f->path_start, cell);
        fm_forward_unmark(f, t->traced, cell);
        f->path_start = cell;
        t->way_end = t->trace_end;
        t->traced = FM_CELL_NONE;
    } else if (cell == t->way_end || is_marked) {
        f->path_start = fm_forward_unmark(f, f->path_start, cell);
        t->going_back = false;
    } else if (!t->going_back) {
        stand(t, cell);
    }
}

// The parent's node, if the step from there is legal and costs what the search paid for it.
static fm_forward_node *parent_of(const fm_forward *f, const fm_forward_node *node, fm_cell cell)
{
    if (!fm_forward_is_reached(f, node) || node->parent == FM_NO_DIRECTION ||
        !(fm_view_moves(f->view, cell) >> node->parent & 1)) {
        return NULL;
    }
    fm_cell parent = fm_cell_step(cell, node->parent);
    fm_forward_node *parent_node = fm_forward_find(f, parent);
    bool holds = parent_node->g + fm_view_cost(f->view, cell, node->parent, parent) == node->g;
    return holds ? parent_node : NULL;
}

typedef enum tracing {
    TRACE_DONE,      // there is nothing to trace
    TRACE_SUSPENDED, // the grant is used up
    TRACE_BROKEN,    // a step is not what it was
} tracing;

// Begins a trace, if the best cell is not where the path leads anyway. One that goes back to its
// path comes to it first.
static void begin_trace(struct time_bounded *t)
{
    fm_forward *f = &t->forward;
    if (t->traced != FM_CELL_NONE || t->going_back) {
        return;
    }
    fm_cell best = f->reached;
    if (best == FM_CELL_NONE) {
        uint32_t ref = fm_forward_top(f);
        if (ref == FM_NODE_NONE) {
            return;
        }
        best = fm_page_cell(fm_node_page(&f->pages, ref), fm_node_position(ref));
    }
    if (best == f->start) {
        stand(t, best);
    } else if (best != t->way_end) {
        t->traced = t->trace_end = best;
    }
}

static bool charge_cell(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    if (t->cells_due == 0) {
        if (fm_work_must_stop(work, expansions_at_start)) {
            return false;
        }
        fm_work_charge(work, 1);
        t->cells_due = CELLS_PER_UNIT;
    }
    t->cells_due -= 1;
    return true;
}

static tracing trace(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &t->forward;
    begin_trace(t);
    while (t->traced != FM_CELL_NONE) {
        if (!charge_cell(t, work, expansions_at_start)) {
            return TRACE_SUSPENDED;
        }
        const fm_forward_node *node = fm_forward_find(f, t->traced);
        fm_forward_node *parent = parent_of(f, node, t->traced);
        if (parent == NULL) {
            return TRACE_BROKEN;
        }
        fm_cell up = fm_cell_step(t->traced, node->parent);
        bool meets_way = up == f->start || parent->next != FM_NO_DIRECTION;
        if (meets_way) {
            fm_forward_unmark(f, up, t->way_end);
        } else if (up == f->root) {
            stand(t, up);
            t->going_back = true;
        }
        parent->next = node->parent ^ 4;
        t->traced = up;
        if (meets_way || up == f->root) {
            t->way_end = t->trace_end;
            t->traced = FM_CELL_NONE;
        }
    }
    return TRACE_DONE;
}

// Settles the next move, if there is a path. Returns false when the step back to it is not what it
// was.
static bool settle_move(struct time_bounded *t)
{
    fm_forward *f = &t->forward;
    const fm_forward_node *node = fm_forward_find(f, f->start);
    f->state = FM_PLAN_PARTIAL;
    if (t->going_back) {
        if (parent_of(f, node, f->start) == NULL) {
            return false;
        }
        t->step = fm_cell_step(f->start, node->parent);
    } else if (t->way_end == f->reached) {
        node = fm_forward_find(f, f->reached);
        fm_forward_learn(f, node->g + node->h);
        f->state = FM_PLAN_FOUND;
    } else if (t->way_end != f->start) {
        t->step = fm_cell_step(f->start, node->next);
    } else {
        f->state = FM_PLAN_RUNNING;
    }
    t->settled = f->state == FM_PLAN_PARTIAL;
    return true;
}

// ---- events -------------------------------------------------------------------------------------

static bool is_walking(const fm_forward *f)
{
    return f->state == FM_PLAN_RUNNING || f->state == FM_PLAN_PARTIAL;
}

// Whether what was found for the old start is of use for the new one.
static bool still_serves(fm_forward *f, fm_cell start)
{
    switch (f->state) {
    case FM_PLAN_FOUND:
        return fm_forward_follow(f, start);
    case FM_PLAN_UNREACHABLE:
    case FM_PLAN_RUNNING:
    case FM_PLAN_PARTIAL:
        return fm_forward_is_reached(f, fm_forward_find(f, start));
    case FM_PLAN_EXHAUSTED:
        return true;
    }
    FM_UNREACHABLE();
}

static void time_bounded_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct time_bounded *t = self;
    fm_forward *f = &t->forward;
    FM_ASSERT(count == 1);
    t->settled = false;
    if (cells[0] == f->start) {
        return;
    }
    if (f->start != FM_CELL_NONE && !still_serves(f, cells[0])) {
        restart(t);
    } else if (f->searching && is_walking(f)) {
        follow_way(t, cells[0]);
    }
    if (f->state == FM_PLAN_PARTIAL) {
        f->state = FM_PLAN_RUNNING;
    }
    f->start = cells[0];
}

static void time_bounded_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                           fm_work *work)
{
    struct time_bounded *t = self;
    fm_forward *f = &t->forward;
    bool cheaper = fm_forward_any_cheaper(changes, count);
    bool survives = !cheaper && f->state != FM_PLAN_EXHAUSTED;
    bool walking = is_walking(f), has_way = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!fm_pages_may_hold(&f->pages, changes[i].cell, 0) ||
            !fm_forward_is_reached(f, fm_forward_find(f, changes[i].cell))) {
            continue; // then no cell beside it was expanded
        }
        fm_work_charge(work, 1);
        bool way_holds = fm_forward_path_survives(f, &changes[i]);
        if (f->state == FM_PLAN_FOUND) {
            survives &= way_holds;
            continue;
        }
        bool intact = fm_forward_tree_survives(f, &changes[i]);
        t->stale |= !intact;
        has_way &= way_holds;
        // Where the tree is intact only the end of the path, an open cell, can have got blocked.
        survives &= intact || (walking && way_holds && !t->any_change_restarts);
    }
    if (!survives) {
        restart(t);
    } else if (walking && f->searching && !has_way) {
        drop_trace(t);
        stand(t, f->start);
    }
    if (cheaper) {
        fm_forward_lower(f, changes, count, work);
    }
    t->settled = false;
    if (f->state == FM_PLAN_PARTIAL) {
        f->state = FM_PLAN_RUNNING; // until it has been looked at again
    }
}

// ---- searching ----------------------------------------------------------------------------------

typedef enum searching {
    SEARCH_SUSPENDED,
    SEARCH_REACHED, // the goal
    SEARCH_OVER,    // without a path, or without memory
} searching;

static searching search(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &t->forward;
    if (!f->searching) {
        drop_trace(t);
        t->stale = false;
        if (!fm_forward_begin(f, work->slab)) {
            fm_forward_exhaust(f, work->slab);
            return SEARCH_OVER;
        }
        stand(t, f->start);
    }
    if (f->reached != FM_CELL_NONE) {
        return SEARCH_REACHED;
    }
    switch (fm_forward_run(f, work, expansions_at_start)) {
    case FM_FORWARD_SUSPENDED:
        return SEARCH_SUSPENDED;
    case FM_FORWARD_DONE:
        return SEARCH_REACHED;
    case FM_FORWARD_EMPTY:
        fm_forward_fail(f);
        if (t->stale) {
            f->nearest = FM_CELL_NONE; // there is no path, but some closed cells may be cut off too
        }
        return SEARCH_OVER;
    case FM_FORWARD_NO_MEMORY:
        fm_forward_exhaust(f, work->slab);
        return SEARCH_OVER;
    }
    FM_UNREACHABLE();
}

// The part of a grant reserved for tracing the path of a search that uses all the rest: the path
// has no more cells than were expanded.
static uint32_t trace_share(uint32_t granted)
{
    return (granted + CELLS_PER_UNIT) / (CELLS_PER_UNIT + 1);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// The trace of the tick before first, then the search, its trace, and with what is left the search
// again. Once the move is settled only a search that has nothing left to do gives way to tracing.
static void think(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &t->forward;
    uint32_t granted = work->expansions_max;
    uint32_t kept = larger(GRACE_EXPANSIONS, trace_share(granted));
    kept = kept < granted / 2 ? kept : granted / 2;
    for (;;) {
        bool traces = f->searching && (!t->settled || f->reached != FM_CELL_NONE);
        tracing traced = traces ? trace(t, work, expansions_at_start) : TRACE_DONE;
        if (traced == TRACE_BROKEN || (traces && !settle_move(t))) {
            restart(t);
            uint32_t left = granted - (work->expansions - expansions_at_start);
            kept = trace_share(left) < left ? trace_share(left) : 0;
        } else if (traced == TRACE_SUSPENDED || f->state == FM_PLAN_FOUND ||
                   (traces && f->reached != FM_CELL_NONE && t->going_back)) {
            return;
        }
        work->expansions_max = granted - kept;
        searching searched = search(t, work, expansions_at_start);
        work->expansions_max = granted;
        if (searched == SEARCH_OVER || (searched == SEARCH_SUSPENDED && (kept == 0 || work->cut))) {
            return;
        }
        kept = 0;
    }
}

static fm_plan_state time_bounded_advance(void *self, fm_work *work)
{
    struct time_bounded *t = self;
    fm_forward *f = &t->forward;
    if (f->start == f->goal) {
        return FM_PLAN_FOUND;
    }
    if (!is_walking(f)) {
        return f->state;
    }
    uint32_t expansions_at_start = work->expansions;
    if (!fm_forward_repair(f, work, expansions_at_start)) {
        return FM_PLAN_RUNNING;
    }
    think(t, work, expansions_at_start);
    return f->state;
}

static fm_cell time_bounded_next_step(const void *self, fm_cell start)
{
    const struct time_bounded *t = self;
    if (t->forward.state == FM_PLAN_PARTIAL && start == t->forward.start &&
        start != t->forward.goal) {
        return t->step;
    }
    return fm_forward_next_step(self, start);
}

static size_t time_bounded_bytes(const void *self)
{
    return fm_forward_bytes(self, sizeof(struct time_bounded));
}

// The tables differ in name, summary and init only.
#define TIME_BOUNDED_OPS(wire_name, text, init_function)                                           \
    {                                                                                              \
        .name = wire_name, .summary = text, .size = sizeof(struct time_bounded),                   \
        .real_time = true, .guidance = FM_GUIDED_BY_CONSISTENT, .init = init_function,             \
        .set_goal = fm_forward_set_goal, .set_starts = time_bounded_set_starts,                    \
        .knowledge_changed = time_bounded_knowledge_changed, .forget = fm_forward_forget,          \
        .advance = time_bounded_advance, .next_step = time_bounded_next_step,                      \
        .nearest = fm_forward_nearest, .bytes = time_bounded_bytes, FM_FORWARD_OPS                 \
    }

const fm_planner_ops fm_tba_star = TIME_BOUNDED_OPS(
    "tba-star", "time-bounded A*: one search in slices, moves at once; for known terrain",
    tba_init);
const fm_planner_ops fm_rtba_star = TIME_BOUNDED_OPS(
    "rtba-star", "time-bounded A* that restarts where its path is broken", rtba_init);
const fm_planner_ops fm_tbaa_star = TIME_BOUNDED_OPS(
    "tbaa-star", "time-bounded Adaptive A*: moves at once and learns from every search", tbaa_init);
