// core/planners/real_time.c: planners that look a few expansions ahead, raise the estimates of the
// cells they expanded, make one step, and look ahead again.
//
//   rtaa-star      learns h(s) = f* - g(s) for the closed cells, where f* is the smallest f of the
//                  open list (Koenig and Likhachev 2006).
//   lss-lrta-star  learns the largest consistent h there is, by a Dijkstra search from the open
//                  cells back into the closed ones (Koenig and Sun 2009).
//   a- and da-     the same two, but they avoid depressions of the estimate: instead of the best
//                  open cell they go to one whose estimate was never raised (a-), or was raised
//                  least (da-) (Hernandez and Baier 2012).
//
// The look-ahead is a number of expansions, or what the grant allows. When the goal itself comes
// into view the path is known to be a shortest one, and is walked like that of Adaptive A*.
//
//   begin ──> SEARCHING ── look-ahead done ──> LEARNING ── learned ──> step (FM_PLAN_PARTIAL)
//     ^           │ goal on top: FM_PLAN_FOUND  (LSS only)                │
//     └───────────┴────────────── the agent has moved ────────────────────┘
//
// They notice that there is no path when the look-ahead covers all that the agent can reach, or at
// last by their estimates, which then rise until no path could be cheap enough to count.

#include "core/planners/real_time.h"

#include "core/search/forward_search.h"

typedef enum avoidance {
    GO_TO_BEST,
    GO_WHERE_NEVER_RAISED,
    GO_WHERE_RAISED_LEAST,
} avoidance;

struct real_time {
    fm_forward forward; // first, for the shared functions
    avoidance avoidance;
    bool learns_by_search; // LSS-LRTA*
    bool is_learning;      // forward.repairs holds the frontier of the learning search
    uint32_t seen;         // cells closed in this episode
    fm_cell step;          // where to go next, once learned
};

static fm_status real_time_init(void *self, const fm_view *view, const fm_planner_options *options,
                                const fm_memory *memory, fm_cell goal, avoidance where_to,
                                bool learns_by_search)
{
    struct real_time *r = self;
    r->avoidance = where_to;
    r->learns_by_search = learns_by_search;
    r->step = FM_CELL_NONE;
    return fm_forward_init(&r->forward, view, options, memory, goal,
                           (fm_forward_rules){.learns = true});
}

// ---- choosing where to go ----

struct choice {
    const fm_forward *forward;
    avoidance avoidance;
    uint32_t node; // the best so far, or FM_NODE_NONE
    uint32_t raised, f, g;
};

static bool consider(void *context, uint32_t ref, uint64_t key)
{
    struct choice *choice = context;
    const fm_forward *f = choice->forward;
    const fm_forward_node *node = fm_forward_node_at(f, ref);
    uint64_t node_f = f->queue == FM_QUEUE_BUCKET ? key : key >> 32;
    if (node->closed != FM_FORWARD_REACHED || node->g + node->h != node_f) {
        return true; // a stale entry
    }
    fm_cell cell = fm_page_cell(fm_node_page(&f->pages, ref), fm_node_position(ref));
    uint32_t raised = node->h - fm_heuristic_estimate(&f->heuristic, cell);
    if (choice->avoidance == GO_WHERE_NEVER_RAISED && raised > 0) {
        return true;
    }
    bool better = choice->node == FM_NODE_NONE || raised < choice->raised ||
                  (raised == choice->raised &&
                   (node_f < choice->f || (node_f == choice->f && node->g > choice->g)));
    if (better) {
        *choice = (struct choice){f, choice->avoidance, ref, raised, (uint32_t)node_f, node->g};
    }
    return true;
}

// The open cell to make for. The open list is not empty.
static uint32_t target_of(struct real_time *r)
{
    fm_forward *f = &r->forward;
    struct choice choice = {.forward = f, .avoidance = r->avoidance, .node = FM_NODE_NONE};
    if (r->avoidance != GO_TO_BEST) {
        fm_open_visit(&f->open, f->queue, consider, &choice);
    }
    return choice.node != FM_NODE_NONE ? choice.node : fm_forward_top(f);
}

static void choose(struct real_time *r)
{
    fm_forward *f = &r->forward;
    uint32_t ref = target_of(r);
    fm_cell cell = fm_page_cell(fm_node_page(&f->pages, ref), fm_node_position(ref));
    while (cell != f->root) {
        r->step = cell;
        cell = fm_cell_step(cell, fm_forward_find(f, cell)->parent);
    }
}

// ---- learning (LSS-LRTA*) ----

static bool push_open_cell(void *context, uint32_t ref, uint64_t key)
{
    fm_forward *f = context;
    const fm_forward_node *node = fm_forward_node_at(f, ref);
    (void)key;
    if (node->closed == FM_FORWARD_REACHED && node->g < FM_COST_INFINITE) {
        fm_open_push(&f->repairs, FM_QUEUE_HEAP, ref, node->h);
    }
    return true;
}

static bool begin_learning(struct real_time *r)
{
    fm_forward *f = &r->forward;
    if (!fm_open_reserve(&f->repairs, FM_QUEUE_HEAP, f->open.count)) {
        return false;
    }
    fm_open_visit(&f->open, f->queue, push_open_cell, f);
    r->is_learning = true;
    return true;
}

// Lowers the estimates of the closed cells around one whose own is final. The first visit counts
// as coming down from infinity.
static bool relearn_around(fm_forward *f, uint32_t ref)
{
    const fm_page *page = fm_node_page(&f->pages, ref);
    fm_cell cell = fm_page_cell(page, fm_node_position(ref));
    uint32_t h = fm_forward_nodes(page)[fm_node_position(ref)].h;
    if (!fm_open_reserve(&f->repairs, FM_QUEUE_HEAP, FM_DIRECTION_COUNT)) {
        return false;
    }
    for (uint32_t moves = fm_view_moves(f->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell to = fm_cell_step(cell, d);
        const fm_page *to_page = fm_pages_find(&f->pages, to);
        fm_forward_node *node =
            to_page == NULL ? NULL : &fm_forward_nodes(to_page)[fm_page_position(to)];
        if (!fm_forward_is_reached(f, node) || node->closed == FM_FORWARD_REACHED) {
            continue;
        }
        uint32_t sum = h + fm_view_cost(f->view, cell, d, to);
        uint32_t bound = sum < FM_COST_INFINITE ? sum : FM_COST_INFINITE;
        if (node->closed == FM_FORWARD_CLOSED || bound < node->h) {
            node->closed = FM_FORWARD_RELEARNED;
            node->h = bound;
            fm_open_push(&f->repairs, FM_QUEUE_HEAP, fm_node_ref(to_page, fm_page_position(to)),
                         bound);
        }
    }
    return true;
}

// Continues learning. Returns false when the grant was used up first, if it is to be looked at.
static bool learn(struct real_time *r, fm_work *work, uint32_t expansions_at_start, bool bounded)
{
    fm_open_list *frontier = &r->forward.repairs;
    while (r->is_learning && frontier->count > 0) {
        uint32_t ref = fm_open_top(frontier, FM_QUEUE_HEAP);
        if (fm_forward_node_at(&r->forward, ref)->h != fm_open_top_key(frontier, FM_QUEUE_HEAP)) {
            fm_open_drop(frontier, FM_QUEUE_HEAP);
            continue;
        }
        if (bounded && fm_work_must_stop(work, expansions_at_start)) {
            return false;
        }
        fm_open_drop(frontier, FM_QUEUE_HEAP);
        work->expansions += 1;
        work->secondary += 1;
        if (!relearn_around(&r->forward, ref)) {
            fm_forward_exhaust(&r->forward, work->slab);
        }
    }
    r->is_learning = false;
    return true;
}

// ---- planner interface ----

static void real_time_forget(void *self, fm_slab *slab)
{
    struct real_time *r = self;
    r->is_learning = false;
    fm_forward_forget(&r->forward, slab);
}

static void real_time_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    struct real_time *r = self;
    if (r->is_learning) {
        real_time_forget(self, slab); // half of the estimates are neither old nor new
    }
    fm_forward_set_goal(&r->forward, goal, slab);
}

// Whether what was found for the old start answers for the new one as well.
static bool still_answers(fm_forward *f, fm_cell start)
{
    if (f->state == FM_PLAN_FOUND) {
        return fm_forward_follow(f, start);
    }
    return f->state == FM_PLAN_EXHAUSTED ||
           (f->state == FM_PLAN_UNREACHABLE && fm_forward_is_reached(f, fm_forward_find(f, start)));
}

static void real_time_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct real_time *r = self;
    fm_forward *f = &r->forward;
    FM_ASSERT(count == 1);
    if (cells[0] == f->start) {
        return;
    }
    // Learning under way must be finished; the episode after that begins at the new start.
    if (f->start != FM_CELL_NONE && !r->is_learning && !still_answers(f, cells[0])) {
        fm_forward_restart(f);
    }
    f->start = cells[0];
}

static void real_time_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                        fm_work *work)
{
    struct real_time *r = self;
    fm_forward *f = &r->forward;
    // Estimates that are half old and half new cannot be repaired, so they are finished first, on
    // the map as it is now.
    bool was_learning = r->is_learning;
    learn(r, work, 0, false);
    bool cheaper = fm_forward_any_cheaper(changes, count);
    bool survives =
        !cheaper && !was_learning && f->state != FM_PLAN_EXHAUSTED && f->state != FM_PLAN_PARTIAL;
    fm_forward_charge_changes(f, count, work);
    for (uint32_t i = 0; i < count; i++) {
        survives &= f->state == FM_PLAN_FOUND ? fm_forward_path_survives(f, &changes[i])
                                              : fm_forward_tree_survives(f, &changes[i]);
    }
    if (!survives) {
        fm_forward_restart(f);
    }
    if (cheaper) {
        fm_forward_lower(f, changes, count, work);
    }
    if (cheaper && was_learning) {
        fm_forward_lower_relearned(f, work->slab);
    }
}

// Whether every path costs so much that it counts as none (view.h). The open list is not empty.
static bool costs_too_much(fm_forward *f)
{
    const fm_forward_node *node = fm_forward_node_at(f, fm_forward_top(f));
    return node->g + node->h >= FM_COST_INFINITE;
}

// Looks ahead. Returns true when the look-ahead is done and a step can be chosen.
static bool look_ahead(struct real_time *r, fm_work *work, uint32_t expansions_at_start)
{
    fm_forward *f = &r->forward;
    if (!f->searching) {
        r->seen = 0;
        r->step = FM_CELL_NONE;
        if (!fm_forward_begin(f, work->slab)) {
            fm_forward_exhaust(f, work->slab);
            return false;
        }
    }
    uint32_t granted = work->expansions_max, used = work->expansions - expansions_at_start;
    uint32_t left = granted > used ? granted - used : 0;
    bool fixed = f->options.lookahead > 0;
    // Learning by search costs about as much again as looking ahead.
    uint32_t share = fixed                 ? f->options.lookahead - r->seen
                     : r->learns_by_search ? left - left / 2
                                           : left;
    work->expansions_max = used + (share < left ? share : left);
    uint32_t before = work->expansions;
    fm_forward_outcome outcome = fm_forward_run(f, work, expansions_at_start);
    work->expansions_max = granted;
    r->seen += work->expansions - before;

    switch (outcome) {
    case FM_FORWARD_DONE:
        fm_forward_succeed(f);
        return false;
    case FM_FORWARD_EMPTY:
        fm_forward_fail(f);
        return false;
    case FM_FORWARD_NO_MEMORY:
        fm_forward_exhaust(f, work->slab);
        return false;
    case FM_FORWARD_SUSPENDED:
        if (costs_too_much(f)) {
            f->state = FM_PLAN_UNREACHABLE;
            return false;
        }
        return r->seen > 0 && (!fixed || r->seen == f->options.lookahead);
    }
    FM_UNREACHABLE();
}

static fm_plan_state real_time_advance(void *self, fm_work *work)
{
    struct real_time *r = self;
    fm_forward *f = &r->forward;
    uint32_t expansions_at_start = work->expansions;
    if (f->start == f->goal) {
        return FM_PLAN_FOUND;
    }
    if (f->state != FM_PLAN_RUNNING) {
        return f->state;
    }
    for (;;) {
        if (!r->is_learning) {
            if (!fm_forward_repair(f, work, expansions_at_start) ||
                !look_ahead(r, work, expansions_at_start)) {
                return f->state;
            }
            choose(r);
            if (r->learns_by_search && !begin_learning(r)) {
                return fm_forward_exhaust(f, work->slab);
            }
        }
        if (!learn(r, work, expansions_at_start, true) || f->state != FM_PLAN_RUNNING) {
            return f->state;
        }
        if (f->root == f->start) {
            return f->state = FM_PLAN_PARTIAL;
        }
        fm_forward_restart(f); // the agent was pushed away while it learned
    }
}

static fm_cell real_time_next_step(const void *self, fm_cell start)
{
    const struct real_time *r = self;
    if (r->forward.state == FM_PLAN_PARTIAL && start == r->forward.start &&
        start != r->forward.goal) {
        return r->step;
    }
    return fm_forward_next_step(self, start);
}

static size_t real_time_bytes(const void *self)
{
    return fm_forward_bytes(self, sizeof(struct real_time));
}

// The tables differ in name, summary and init only.
#define REAL_TIME_OPS(wire_name, text, init_function)                                              \
    {                                                                                              \
        .name = wire_name, .summary = text, .size = sizeof(struct real_time), .real_time = true,   \
        .guidance = FM_GUIDED_BY_CONSISTENT, .init = init_function,                                \
        .set_goal = real_time_set_goal, .set_starts = real_time_set_starts,                        \
        .knowledge_changed = real_time_knowledge_changed, .forget = real_time_forget,              \
        .advance = real_time_advance, .next_step = real_time_next_step,                            \
        .nearest = fm_forward_nearest, .bytes = real_time_bytes, FM_FORWARD_OPS                    \
    }

static fm_status rtaa_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_TO_BEST, false);
}

static fm_status artaa_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_WHERE_NEVER_RAISED, false);
}

static fm_status dartaa_init(void *self, const fm_view *view, const fm_planner_options *options,
                             const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_WHERE_RAISED_LEAST, false);
}

static fm_status lss_init(void *self, const fm_view *view, const fm_planner_options *options,
                          const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_TO_BEST, true);
}

static fm_status alss_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_WHERE_NEVER_RAISED, true);
}

static fm_status dalss_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    return real_time_init(self, view, options, memory, goal, GO_WHERE_RAISED_LEAST, true);
}

const fm_planner_ops fm_rtaa_star =
    REAL_TIME_OPS("rtaa-star", "looks a few expansions ahead, learns, makes one step", rtaa_init);
const fm_planner_ops fm_artaa_star =
    REAL_TIME_OPS("artaa-star", "rtaa-star that goes where it never had to learn", artaa_init);
const fm_planner_ops fm_dartaa_star =
    REAL_TIME_OPS("dartaa-star", "rtaa-star that goes where it had to learn least", dartaa_init);
const fm_planner_ops fm_lss_lrta_star =
    REAL_TIME_OPS("lss-lrta-star", "like rtaa-star, but learns all that can be learned", lss_init);
const fm_planner_ops fm_alss_lrta_star = REAL_TIME_OPS(
    "alss-lrta-star", "lss-lrta-star that goes where it never had to learn", alss_init);
const fm_planner_ops fm_dalss_lrta_star = REAL_TIME_OPS(
    "dalss-lrta-star", "lss-lrta-star that goes where it had to learn least", dalss_init);
