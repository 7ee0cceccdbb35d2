// core/planners/dstar_extra_lite.c: D* Extra Lite, an A* search from the goal that is kept alive:
// where the map breaks an edge of its search tree, it cuts off the branch behind that edge and
// grows it again.
//
// There is no rhs and no underconsistent cell as in D* Lite. A cell is visited or it is not; a
// visited one has a cost g and a parent, the next cell on the path to the goal. Changes of the map:
//
//   costlier cells whose parent edge no longer holds are cut, with all that hangs on them.
//            The visited cells around the gap are opened, and the search grows back from there.
//   cheaper  the visited cells around the change are opened.
//
// Cutting is done with a stack that is kept from call to call, four cells to a unit of work, and to
// its end before the search continues. Until then nothing that the tree says counts.
//
// What holds whenever the stack is empty:
//   - parents lead to the goal over legal edges, and no g is below what that path costs
//   - around a closed cell u no visited or unvisited v has g(v) > g(u) + c(u, v)
//   - the key a cell is queued under is a lower bound of g + h + km
// So an expanded cell has its true distance, and keeps it, unless it is cut, until something gets
// cheaper. That is what its era says: it had its true distance after the last time that something
// got cheaper. A start of an older era, or an open one, counts when no key on the open list is
// smaller than its own.
//
// The paper reopens the start when a single cheaper edge would shorten its path, judged by the g of
// the edge's end. But a change of the same batch may just have cut that end off; the start then
// keeps a path that is too long. Asking the open list instead is sound: the gap's rim is on it.
//
// The key of a cell is f = g + h + km, with h the distance to the agents (starts.h). The order of
// cells with equal f does not matter, so f itself is the bucket.
//
// Source: M. Przybylski, B. Putz, "D* Extra Lite: a Dynamic A* with Search-Tree Cutting and
// Frontier-Gap Repairing", 2017.

#include "core/planners/dstar_extra_lite.h"

#include "core/search/planner.h"

#include "core/search/bucket_queue.h"
#include "core/search/field.h"
#include "core/search/starts.h"

#include <stddef.h>

#define ERA_NEVER      0u
#define CUTS_PER_UNIT  4u // cutting a cell costs about a quarter of expanding it
#define LOOKS_PER_UNIT 4u // of cells around a change

struct node {
    uint32_t g;          // FM_COST_INFINITE: not visited
    uint32_t parent : 4; // direction of the next cell toward the goal, or FM_DIRECTION_COUNT
    uint32_t era : 28;   // the last one in which g was known to be the true distance
    fm_bucket_links links;
};

_Static_assert(sizeof(struct node) == sizeof(fm_bucket_node) &&
                   offsetof(struct node, links) == offsetof(fm_bucket_node, links),
               "the queue finds its links");

#define ERA_MAX ((1u << 28) - 1)

struct tree {
    const fm_view *view;
    const fm_memory *memory;
    fm_cell goal;

    fm_pages pages;
    fm_bucket_queue open;
    fm_starts starts;
    uint32_t era; // one more whenever something near the search got cheaper

    uint32_t *cut; // stack: cells that are cut while what hangs on them is not
    uint32_t cut_count, cut_capacity;
    uint32_t cuts_paid; // cells that may be cut before the next unit is charged

    uint32_t top;   // nothing on the open list has a smaller key
    bool done;      // every start has its answer
    bool begun;     // the goal has been opened
    bool exhausted; // memory ran out
};

static const struct node blank = {.g = FM_COST_INFINITE,
                                  .parent = FM_DIRECTION_COUNT,
                                  .era = ERA_NEVER,
                                  .links = {FM_NODE_NONE, FM_NODE_NONE}};

// A cell with everything needed to reach its neighbours.
struct spot {
    fm_page *page;
    uint32_t position;
    fm_cell cell;
    struct node *node;
};

FM_INLINE struct node *node_at(const fm_page *page, uint32_t position)
{
    return (struct node *)(void *)page->nodes + position;
}

FM_INLINE struct spot spot_at(fm_page *page, uint32_t position)
{
    return (struct spot){page, position, fm_page_cell(page, position), node_at(page, position)};
}

FM_INLINE struct spot spot_of(const struct tree *t, uint32_t ref)
{
    return spot_at(fm_node_page(&t->pages, ref), fm_node_position(ref));
}

FM_INLINE bool is_visited(const struct node *node)
{
    return node->g < FM_COST_INFINITE;
}

FM_INLINE bool is_open(const struct node *node)
{
    return fm_bucket_is_queued(&node->links);
}

// ---- open list ----------------------------------------------------------------------------------

FM_INLINE uint32_t key_of(const struct tree *t, fm_cell cell, const struct node *node)
{
    bool four = t->view->connectivity == FM_CONNECT_4;
    return node->g + fm_box_distance(t->view, four, &t->starts.box, cell) + t->starts.km;
}

FM_INLINE void close_cell(struct tree *t, struct node *node, fm_slab *slab)
{
    if (is_open(node)) {
        fm_bucket_queue_remove(&t->open, &t->pages, &node->links, slab);
    }
}

// Queues a visited cell under its key.
FM_INLINE void open_cell(struct tree *t, const struct spot *u, fm_slab *slab)
{
    uint32_t key = key_of(t, u->cell, u->node), ref = fm_node_ref(u->page, u->position);
    close_cell(t, u->node, slab);
    if (!fm_bucket_queue_push(&t->open, &t->pages, key, ref, &u->node->links, slab)) {
        t->exhausted = true;
    }
}

// The open cell with the smallest key, which becomes t->top. False when there is none.
FM_INLINE bool find_top(struct tree *t, fm_bucket_top *top)
{
    *top = fm_bucket_queue_peek(&t->open);
    t->top = top->key;
    return top->key != FM_BUCKET_KEY_NONE;
}

// For the open list.
FM_INLINE uint32_t renewed_key(const void *context, uint32_t ref)
{
    const struct tree *t = context;
    struct spot u = spot_of(t, ref);
    return key_of(t, u.cell, u.node);
}

// ---- the search ---------------------------------------------------------------------------------

// Whether the edge to the parent is legal and costs no more than what is left of g.
static bool parent_holds(const struct tree *t, const struct spot *u)
{
    uint32_t d = u->node->parent;
    if (u->cell == t->goal) {
        return true;
    }
    if (!(fm_view_moves(t->view, u->cell) >> d & 1)) {
        return false;
    }
    fm_cell cell = fm_cell_step(u->cell, d);
    const struct node *parent = fm_pages_node(&t->pages, cell);
    return parent->g + fm_view_cost(t->view, u->cell, d, cell) <= u->node->g;
}

FM_INLINE void expand(struct tree *t, const struct spot *u, const bool weighted, fm_slab *slab)
{
    FM_VALIDATE(parent_holds(t, u));
    const fm_view *view = t->view;
    const uint32_t g = u->node->g;
    u->node->era = t->era;
    for (uint32_t moves = fm_view_moves(view, u->cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[u->position][i];
        fm_page *page = u->page->near[step.page];
        if (__builtin_expect(page == t->pages.nowhere, 0)) {
            page = fm_pages_get_near(&t->pages, u->page, step.page, slab);
            if (page == NULL) {
                t->exhausted = true;
                return;
            }
        }
        struct spot v = {page, step.position, fm_cell_step(u->cell, i),
                         node_at(page, step.position)};
        uint32_t cost = g + (weighted ? fm_view_cost(view, u->cell, i, v.cell) : view->step[i & 1]);
        if (cost < v.node->g) {
            v.node->g = cost;
            v.node->parent = i ^ 4;
            open_cell(t, &v, slab);
        }
    }
}

// Whether a start's g is its true distance, as far as is known.
FM_INLINE bool is_settled(const struct tree *t, fm_cell start, const struct node *node)
{
    if (start == t->goal) {
        return true;
    }
    return node != NULL && is_visited(node) &&
           (node->era == t->era || t->top >= key_of(t, start, node));
}

// Whether all starts are settled.
FM_INLINE bool all_settled(struct tree *t)
{
    while (t->starts.settled_count < t->starts.count) {
        struct node *node = fm_starts_next_node(&t->starts, &t->pages);
        if (!is_settled(t, fm_starts_next(&t->starts), node)) {
            return false;
        }
        if (node != NULL) {
            node->era = t->era;
        }
        fm_starts_settle(&t->starts, t->starts.settled_count + 1);
    }
    return true;
}

// The starts have to be checked again.
static void unsettle(struct tree *t)
{
    t->done = false;
    fm_starts_settle(&t->starts, 0);
}

FM_INLINE void run(struct tree *t, const bool weighted, fm_work *work, uint32_t expansions_at_start)
{
    uint32_t units = 0; // until the grant and the deadline are checked
    while (!t->exhausted) {
        fm_bucket_top top;
        bool empty = !find_top(t, &top);
        if (all_settled(t) || empty) {
            t->done = true;
            return;
        }
        if (units == 0) {
            units = fm_work_units(work, expansions_at_start);
            if (units == 0) {
                return;
            }
        }
        struct spot u = spot_of(t, top.ref);
        uint32_t key = key_of(t, u.cell, u.node);
        if (key != top.key) {
            fm_bucket_renewal done = fm_bucket_queue_renew(&t->open, &t->pages, &top, key, units,
                                                           renewed_key, t, work->slab);
            t->exhausted |= done.failed;
            fm_work_charge(work, done.moved);
            units -= done.moved;
            continue;
        }
        work->expansions += 1;
        units -= 1;
        fm_bucket_queue_take(&t->open, &t->pages, &top, &u.node->links, work->slab);
        expand(t, &u, weighted, work->slab);
    }
}

static void run_weighted(struct tree *t, fm_work *work, uint32_t expansions_at_start)
{
    run(t, true, work, expansions_at_start);
}

static void run_uniform(struct tree *t, fm_work *work, uint32_t expansions_at_start)
{
    run(t, false, work, expansions_at_start);
}

// ---- cutting ------------------------------------------------------------------------------------

// Takes a cell out of the tree. What hangs on it follows in cut_around().
static void cut(struct tree *t, const struct spot *u, fm_slab *slab)
{
    if (!FM_RESERVE_FROM(t->memory, t->cut, t->cut_capacity, t->cut_count + 1)) {
        t->exhausted = true;
        return;
    }
    close_cell(t, u->node, slab);
    *u->node = blank;
    t->cut[t->cut_count++] = fm_node_ref(u->page, u->position);
}

// Cuts the neighbours whose parent was the cell, and opens the others: they are the gap's rim. An
// edge to a child may no longer be legal.
static void cut_around(struct tree *t, const struct spot *u, fm_slab *slab)
{
    uint32_t moves = fm_view_moves(t->view, u->cell);
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i++) {
        fm_page_step step = fm_page_steps[u->position][i];
        fm_page *page = u->page->near[step.page];
        if (page == t->pages.nowhere) {
            continue; // outside the map, or nothing has been expanded across this edge
        }
        struct spot v = spot_at(page, step.position);
        if (!is_visited(v.node)) {
            continue;
        }
        if (v.node->parent == (i ^ 4)) {
            cut(t, &v, slab);
        } else if (!is_open(v.node) && moves >> i & 1) {
            open_cell(t, &v, slab);
        }
    }
}

// Cuts all that is to be cut. Returns false when the grant was used up first.
static bool finish_cutting(struct tree *t, fm_work *work, uint32_t expansions_at_start)
{
    while (t->cut_count > 0 && !t->exhausted) {
        if (t->cuts_paid == 0) {
            if (fm_work_must_stop(work, expansions_at_start)) {
                return false;
            }
            work->expansions += 1;
            work->secondary += 1;
            t->cuts_paid = CUTS_PER_UNIT;
        }
        t->cuts_paid -= 1;
        struct spot u = spot_of(t, t->cut[--t->cut_count]);
        cut_around(t, &u, work->slab);
    }
    return true;
}

// ---- beginning and rebasing ---------------------------------------------------------------------

// Forgets the search, not the goal or the starts.
static void start_over(struct tree *t, fm_slab *slab)
{
    fm_bucket_queue_clear(&t->open, slab);
    fm_pages_clear(&t->pages, slab);
    t->era = ERA_NEVER + 1;
    t->cut_count = 0;
    t->cuts_paid = 0;
    t->top = 0;
    t->begun = false;
    t->exhausted = false;
    unsettle(t);
}

static void begin(struct tree *t, fm_slab *slab)
{
    fm_page *page = fm_pages_get(&t->pages, t->goal, slab);
    t->begun = true;
    fm_starts_begin(&t->starts);
    if (page == NULL) {
        t->exhausted = true;
        return;
    }
    struct spot goal = spot_at(page, fm_page_position(t->goal));
    goal.node->g = 0;
    open_cell(t, &goal, slab);
}

// The agents have moved: keys are computed again from here on.
static void rebase(struct tree *t, fm_slab *slab)
{
    if (!fm_starts_rebase(&t->starts, t->view)) {
        start_over(t, slab);
        begin(t, slab);
    }
}

// ---- changes of the map -------------------------------------------------------------------------

// All edges that a change of cell b can touch join two of the nine cells around it: those incident
// to b, and the diagonals that squeeze past its corners. Nothing is decided from b itself: a change
// notified of before this one may have cut it. Returns whether something got cheaper where the
// search has been, even if all cells there were cut since. Adds the cells examined to `looked_at`.
static bool repair_around(struct tree *t, const fm_change *change, fm_slab *slab,
                          uint32_t *looked_at)
{
    if (!change->cheaper && fm_pages_find(&t->pages, change->cell) == NULL) {
        return false; // no search has been near
    }
    bool cheaper = false;
    int64_t x = fm_cell_x(change->cell), y = fm_cell_y(change->cell);
    for (uint32_t i = 0; i <= FM_DIRECTION_COUNT; i++) {
        int64_t ux = i < FM_DIRECTION_COUNT ? x + fm_direction_dx[i] : x;
        int64_t uy = i < FM_DIRECTION_COUNT ? y + fm_direction_dy[i] : y;
        if (ux < 0 || uy < 0 || ux >= t->view->width || uy >= t->view->height) {
            continue;
        }
        fm_cell cell = fm_cell_at((uint32_t)ux, (uint32_t)uy);
        fm_page *page = fm_pages_find(&t->pages, cell);
        if (page == NULL) {
            continue;
        }
        *looked_at += 1;
        cheaper |= change->cheaper;
        struct spot u = spot_at(page, fm_page_position(cell));
        if (is_visited(u.node) && !parent_holds(t, &u)) {
            cut(t, &u, slab);
        } else if (is_visited(u.node) && change->cheaper) {
            open_cell(t, &u, slab);
            t->top = 0;
        }
    }
    return cheaper;
}

static void extra_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                    fm_work *work)
{
    struct tree *t = self;
    if (!t->begun || t->exhausted) {
        return;
    }
    bool cheaper = false;
    uint32_t looked_at = 0;
    for (uint32_t i = 0; i < count; i++) {
        cheaper |= repair_around(t, &changes[i], work->slab, &looked_at);
    }
    fm_work_charge(work, (looked_at + LOOKS_PER_UNIT - 1) / LOOKS_PER_UNIT);
    if (cheaper) {
        t->era += 1;
    }
    if (t->era == ERA_MAX) { // once in a very long run
        start_over(t, work->slab);
    }
    if (cheaper || t->cut_count > 0) {
        unsettle(t);
    }
}

// ---- planner interface --------------------------------------------------------------------------

static fm_status extra_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    (void)options;
    struct tree *t = self;
    *t = (struct tree){.view = view, .memory = memory, .goal = goal, .era = ERA_NEVER + 1};
    fm_pages_init(&t->pages, &blank, sizeof blank, memory);
    fm_bucket_queue_init(&t->open, memory);
    fm_starts_init(&t->starts, memory);
    return FM_OK;
}

static void extra_fini(void *self, fm_slab *slab)
{
    struct tree *t = self;
    fm_bucket_queue_fini(&t->open, slab);
    fm_pages_fini(&t->pages, slab);
    fm_memory_release(t->memory, t->cut, t->cut_capacity * sizeof *t->cut);
    fm_starts_fini(&t->starts);
}

static void extra_forget(void *self, fm_slab *slab)
{
    start_over(self, slab);
}

// Every cost is to the goal, so a new one leaves nothing to keep.
static void extra_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    struct tree *t = self;
    t->goal = goal;
    start_over(t, slab);
}

// An agent that made a step on a shortest path stands again where the true distance is known.
static void carry_era_along(struct tree *t, fm_cell from, fm_cell to)
{
    uint32_t d = fm_cell_direction(from, to);
    const struct node *before = fm_pages_node(&t->pages, from);
    struct node *now = fm_pages_node(&t->pages, to);
    if (d < FM_DIRECTION_COUNT && before != NULL && now != NULL && is_visited(before) &&
        is_visited(now) && before->era == t->era && fm_view_moves(t->view, from) >> d & 1 &&
        before->g == fm_view_cost(t->view, from, d, to) + now->g) {
        now->era = t->era;
    }
}

static void extra_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct tree *t = self;
    for (uint32_t i = 0; i < count && i < t->starts.count; i++) {
        carry_era_along(t, t->starts.cells[i], cells[i]);
    }
    t->exhausted |= !fm_starts_set(&t->starts, cells, count);
    unsettle(t);
}

static void search(struct tree *t, fm_work *work, uint32_t expansions_at_start)
{
    // Checks before rebasing: most moves along a path leave nothing to do, and km should stay
    // small.
    fm_bucket_top top;
    bool empty = !find_top(t, &top);
    t->done = all_settled(t) || empty;
    if (t->done) {
        return;
    }
    if (fm_starts_have_moved(&t->starts)) {
        rebase(t, work->slab);
    }
    if (t->view->weights != NULL) {
        run_weighted(t, work, expansions_at_start);
    } else {
        run_uniform(t, work, expansions_at_start);
    }
}

static bool all_at_goal(const struct tree *t)
{
    for (uint32_t i = 0; i < t->starts.count; i++) {
        if (t->starts.cells[i] != t->goal) {
            return false;
        }
    }
    return true;
}

static fm_plan_state extra_advance(void *self, fm_work *work)
{
    struct tree *t = self;
    uint32_t expansions_at_start = work->expansions;
    if (all_at_goal(t)) {
        return FM_PLAN_FOUND;
    }
    if (!t->begun && !t->exhausted) {
        begin(t, work->slab);
    }
    if (!t->done && finish_cutting(t, work, expansions_at_start) && !t->exhausted) {
        search(t, work, expansions_at_start);
    }
    if (t->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    if (!t->done) {
        return FM_PLAN_RUNNING;
    }
    return t->starts.settled_count == t->starts.count ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
}

static fm_plan_state extra_state_at(const void *self, fm_cell start)
{
    const struct tree *t = self;
    if (start == t->goal) {
        return FM_PLAN_FOUND;
    }
    if (t->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    const struct node *node = fm_pages_node(&t->pages, start);
    if (t->done) {
        return node != NULL && is_visited(node) ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
    }
    return t->cut_count == 0 && is_settled(t, start, node) ? FM_PLAN_FOUND : FM_PLAN_RUNNING;
}

static fm_field field_of(const struct tree *t)
{
    return (fm_field){.view = t->view, .pages = &t->pages, .goal = t->goal};
}

static fm_cell extra_next_step(const void *self, fm_cell start)
{
    const struct tree *t = self;
    if (start == t->goal) {
        return start;
    }
    const fm_field field = field_of(t);
    return extra_state_at(t, start) == FM_PLAN_FOUND ? fm_field_step(&field, start, FM_STEP_NEAREST)
                                                     : FM_CELL_NONE;
}

// As for D* Lite: a neighbour without a distance lies behind.
static void extra_distances(const void *self, fm_cell start, uint32_t moves,
                            uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const struct tree *t = self;
    const struct node *node = fm_pages_node(&t->pages, start);
    uint32_t own = node == NULL || !is_visited(node) ? FM_COST_INFINITE : node->g;
    distances[FM_DIRECTION_COUNT] = own;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(start, i);
        uint32_t behind = own + fm_view_cost(t->view, start, i, next);
        node = fm_pages_node(&t->pages, next);
        distances[i] = node != NULL && is_visited(node) && node->g < behind ? node->g : behind;
    }
}

static uint32_t extra_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct tree *t = self;
    const fm_field field = field_of(t);
    return extra_state_at(t, start) == FM_PLAN_FOUND
               ? fm_field_path(&field, start, FM_STEP_NEAREST, cells, capacity)
               : 0;
}

static void extra_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct tree *t = self;
    for (uint32_t slot = 0; slot < t->pages.page_count; slot++) {
        const fm_page *page = t->pages.by_slot[slot];
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            const struct node *node = node_at(page, position);
            if (!is_visited(node)) {
                continue;
            }
            fm_cell cell = fm_page_cell(page, position);
            bool has_parent = node->parent < FM_DIRECTION_COUNT;
            fm_inspection inspection = {
                .cell = cell,
                .open = is_open(node),
                .closed = !is_open(node),
                .g = node->g,
                .h = fm_box_distance(t->view, t->view->connectivity == FM_CONNECT_4, &t->starts.box,
                                     cell),
                .rhs = FM_COST_INFINITE,
                .key = is_open(node) ? key_of(t, cell, node) : 0,
                .parent = has_parent ? fm_cell_step(cell, node->parent) : FM_CELL_NONE};
            visit(&inspection, context);
        }
    }
}

static size_t extra_bytes(const void *self)
{
    const struct tree *t = self;
    return sizeof *t + fm_pages_bytes(&t->pages) + fm_bucket_queue_bytes(&t->open) +
           t->cut_capacity * sizeof *t->cut + fm_starts_bytes(&t->starts);
}

const fm_planner_ops fm_dstar_extra_lite = {
    .name = "dstar-extra-lite",
    .summary = "incremental search that cuts broken branches off its tree; shared like dstar-lite",
    .size = sizeof(struct tree),
    .shared = true,
    .init = extra_init,
    .fini = extra_fini,
    .set_goal = extra_set_goal,
    .set_starts = extra_set_starts,
    .knowledge_changed = extra_knowledge_changed,
    .forget = extra_forget,
    .advance = extra_advance,
    .state_at = extra_state_at,
    .next_step = extra_next_step,
    .distances = extra_distances,
    .exact_distances = true,
    .path = extra_path,
    .inspect = extra_inspect,
    .bytes = extra_bytes,
};
