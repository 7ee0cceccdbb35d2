// core/time_bounded.c: planners that search with A* for a slice of time per tick and walk meanwhile
// toward the best cell of the open list.
//
//   tba-star   for terrain that is mostly known (Bjornsson, Bulitko and Sturtevant 2009). One
//              search from where the agent stood; whatever changes inside it begins it anew.
//   rtba-star  restarts only when the way it wants to walk is broken. A search tree that is out of
//              date elsewhere costs nothing until the way leads there.
//   tbaa-star  the same, and every search, even a broken off one, raises the estimates of the next
//              (Hernandez, Baier, Uras and Koenig 2012).
//
// Each tick the way from the best cell is traced back through the parents. If it meets the agent,
// the agent steps along it; if it ends at the root without meeting it, the agent steps back toward
// the root, where the two ways must meet at the latest.
//
//         begin            trace meets the agent, goal on top
//   (no search) ──> PARTIAL ─────────────────────────────────> FOUND
//        ^             │ way broken                              │ path broken
//        └─────────────┴─────────────────────────────────────────┘
//
// All is stale in one direction only: steps got dearer. So a way whose steps still cost what the
// search paid for them is a shortest one if it leads to the goal.

#include "core/forward_search.h"

// Kept back from each grant for a search that has to begin anew, so that the agent need not pass.
#define GRACE_EXPANSIONS 16u

struct time_bounded {
    fm_forward forward; // first, for the shared functions
    bool any_change_restarts;
    bool stale;   // steps inside the search tree got dearer
    fm_cell step; // where to go next while the state is FM_PLAN_PARTIAL
};

typedef enum choice {
    CHOICE_MADE,
    CHOICE_NONE,   // the agent stands on the best cell
    CHOICE_BROKEN, // the way is not what it was
} choice;

static fm_status time_bounded_init(struct time_bounded *t, const fm_view *view,
                                   const fm_planner_options *options, const fm_memory *memory,
                                   fm_cell goal, fm_forward_rules rules)
{
    t->step = FM_CELL_NONE;
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

// Whether what was found for the old start is of use for the new one.
static bool still_serves(fm_forward *f, fm_cell start)
{
    const fm_forward_node *node = fm_forward_find(f, start);
    switch (f->state) {
    case FM_PLAN_FOUND:
        return fm_forward_follow(f, start);
    case FM_PLAN_UNREACHABLE:
    case FM_PLAN_RUNNING:
    case FM_PLAN_PARTIAL:
        return fm_forward_is_reached(f, node);
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
    if (cells[0] == f->start) {
        return;
    }
    if (f->start != FM_CELL_NONE && !still_serves(f, cells[0])) {
        fm_forward_restart(f);
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
    bool walking = f->state == FM_PLAN_RUNNING || f->state == FM_PLAN_PARTIAL;
    for (uint32_t i = 0; i < count; i++) {
        if (f->state == FM_PLAN_FOUND) {
            survives &= fm_forward_path_survives(f, &changes[i]);
        } else {
            bool intact = fm_forward_tree_survives(f, &changes[i]);
            survives &= intact || (walking && !t->any_change_restarts);
            t->stale |= !intact;
        }
    }
    if (!survives) {
        fm_forward_restart(f);
    }
    if (cheaper) {
        fm_forward_lower(f, changes, count, work->slab);
    }
    if (f->state == FM_PLAN_PARTIAL) {
        f->state = FM_PLAN_RUNNING; // until the way has been traced again
    }
}

// Whether the step from a cell's parent is legal and costs what the search paid for it.
static bool edge_holds(const fm_forward *f, const fm_forward_node *node, fm_cell cell)
{
    if (!fm_forward_is_reached(f, node) || node->parent == FM_NO_DIRECTION ||
        !(fm_view_moves(f->view, cell) >> node->parent & 1)) {
        return false;
    }
    fm_cell parent = fm_cell_step(cell, node->parent);
    return fm_forward_find(f, parent)->g + fm_view_cost(f->view, cell, node->parent, parent) ==
           node->g;
}

static fm_cell best_cell(fm_forward *f)
{
    if (f->reached != FM_CELL_NONE) {
        return f->reached;
    }
    uint32_t ref = fm_forward_top(f);
    return ref == FM_NODE_NONE ? f->root
                               : fm_page_cell(fm_node_page(&f->pages, ref), fm_node_position(ref));
}

// Traces the way from the best cell and decides where to step.
static choice choose(struct time_bounded *t)
{
    fm_forward *f = &t->forward;
    fm_cell cell = best_cell(f), last = FM_CELL_NONE;
    while (cell != f->start && cell != f->root) {
        const fm_forward_node *node = fm_forward_find(f, cell);
        if (!edge_holds(f, node, cell)) {
            return CHOICE_BROKEN;
        }
        last = cell;
        cell = fm_cell_step(cell, node->parent);
    }
    if (cell == f->start && last == FM_CELL_NONE) {
        return CHOICE_NONE;
    }
    if (cell == f->start && f->reached != FM_CELL_NONE) {
        fm_forward_succeed(f);
        return CHOICE_MADE;
    }
    if (cell != f->start) {
        const fm_forward_node *node = fm_forward_find(f, f->start);
        if (!edge_holds(f, node, f->start)) {
            return CHOICE_BROKEN;
        }
        last = fm_cell_step(f->start, node->parent);
    }
    t->step = last;
    f->state = FM_PLAN_PARTIAL;
    return CHOICE_MADE;
}

// Searches on. Returns true when that has settled the state.
static bool search(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &t->forward;
    if (!f->searching) {
        t->stale = false;
        if (!fm_forward_begin(f, work->slab)) {
            fm_forward_exhaust(f, work->slab);
            return true;
        }
    }
    if (f->reached != FM_CELL_NONE) {
        return false;
    }
    switch (fm_forward_run(f, work, expansions_at_start)) {
    case FM_FORWARD_SUSPENDED:
    case FM_FORWARD_DONE:
        return false;
    case FM_FORWARD_EMPTY:
        fm_forward_fail(f);
        if (t->stale) {
            f->nearest = FM_CELL_NONE; // there is no way, but some closed cells may be cut off too
        }
        return true;
    case FM_FORWARD_NO_MEMORY:
        fm_forward_exhaust(f, work->slab);
        return true;
    }
    FM_UNREACHABLE();
}

// Finds the next move with the grant of `work`.
static void think(struct time_bounded *t, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &t->forward;
    // Look at the way before spending the grant on a search that leads nowhere.
    if (f->searching && choose(t) == CHOICE_BROKEN) {
        fm_forward_restart(f);
    }
    if (f->state == FM_PLAN_FOUND || search(t, work, expansions_at_start)) {
        return;
    }
    if (choose(t) == CHOICE_BROKEN) {
        fm_forward_restart(f);
    }
}

static fm_plan_state time_bounded_advance(void *self, fm_work *work)
{
    struct time_bounded *t = self;
    fm_forward *f = &t->forward;
    uint32_t expansions_at_start = work->expansions, granted = work->expansions_max;
    if (f->start == f->goal) {
        return FM_PLAN_FOUND;
    }
    if (f->state != FM_PLAN_RUNNING && f->state != FM_PLAN_PARTIAL) {
        return f->state;
    }
    if (!fm_forward_repair(f, work, expansions_at_start)) {
        return FM_PLAN_RUNNING;
    }
    uint32_t grace = granted / 2 < GRACE_EXPANSIONS ? granted / 2 : GRACE_EXPANSIONS;
    work->expansions_max = granted - grace;
    think(t, work, expansions_at_start);
    work->expansions_max = granted;

    if (f->state == FM_PLAN_RUNNING && !work->cut) {
        think(t, work, expansions_at_start);
    } else if (f->state == FM_PLAN_PARTIAL && !work->cut) {
        search(t, work, expansions_at_start); // the move is settled; what is left helps the next
    }
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
    "rtba-star", "time-bounded A* that restarts where its way is broken", rtba_init);
const fm_planner_ops fm_tbaa_star = TIME_BOUNDED_OPS(
    "tbaa-star", "time-bounded Adaptive A*: moves at once and learns from every search", tbaa_init);
