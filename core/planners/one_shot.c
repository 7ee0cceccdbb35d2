// core/planners/one_shot.c: the searches that every textbook begins with, for terrain that is known
// and for path queries.
//
// All five are one loop over a frontier, the cells reached and not yet expanded; they differ in
// which of these comes next:
//
//   breadth-first      the first that was reached     fewest steps
//   depth-first        the last                       some path, often a very long one
//   greedy-best-first  the one nearest to the goal    some path, quickly
//   dijkstra           the cheapest to reach          cheapest
//   astar              the least g + h                cheapest, if h is never too high
//
// They begin from scratch when the path they are on is blocked or costlier, or when any step has
// become cheaper. dijkstra and astar are the search of repeated-forward-astar under their
// well-known names; dijkstra is A* without an estimate. The other three are below.

#include "core/planners/one_shot.h"

#include "core/search/forward_search.h"

typedef enum frontier {
    FIRST_IN, // breadth-first
    LAST_IN,  // depth-first
    NEAREST,  // greedy
} frontier;

static fm_status one_shot_init(void *self, const fm_view *view, const fm_planner_options *options,
                               const fm_memory *memory, fm_cell goal)
{
    return fm_forward_init(self, view, options, memory, goal,
                           (fm_forward_rules){.any_heuristic = true});
}

static fm_status dijkstra_init(void *self, const fm_view *view, const fm_planner_options *options,
                               const fm_memory *memory, fm_cell goal)
{
    fm_planner_options blind = *options;
    blind.heuristic = FM_HEURISTIC_ZERO;
    return one_shot_init(self, view, &blind, memory, goal);
}

// ---- the frontier -------------------------------------------------------------------------------

// Buckets keep cells by steps from the root, or all in one as a stack; the heap keeps them by h.
FM_INLINE fm_queue_kind queue_of(const frontier order)
{
    return order == NEAREST ? FM_QUEUE_HEAP : FM_QUEUE_BUCKET;
}

// `before` is the key of the cell that is being expanded.
FM_INLINE uint64_t key_of(const frontier order, uint64_t before, const fm_forward_node *node)
{
    switch (order) {
    case FIRST_IN:
        return before + 1;
    case LAST_IN:
        return 0;
    case NEAREST:
        return (uint64_t)node->h << 32 | (FM_COST_INFINITE - node->g);
    }
    FM_UNREACHABLE();
}

// An empty frontier but for the root.
static bool begin(fm_forward *f, fm_slab *slab, const frontier order)
{
    if (!fm_forward_begin(f, slab)) {
        return false;
    }
    uint32_t root = fm_open_top(&f->open, f->queue);
    f->queue = queue_of(order);
    if (!fm_open_clear(&f->open, f->queue, 1) || !fm_open_reserve(&f->open, f->queue, 1)) {
        return false;
    }
    fm_open_push(&f->open, f->queue, root, 0);
    return true;
}

// ---- the search ---------------------------------------------------------------------------------

// A path that is not the cheapest may cost more than can be said, and is one all the same.
FM_INLINE uint32_t sum_of(uint32_t g, uint32_t cost)
{
    uint32_t sum = g + cost;
    return sum < FM_COST_INFINITE ? sum : FM_COST_INFINITE - 1;
}

// Reaches the cells around one that was taken off the frontier. The first to reach a cell is its
// parent; going deep, the last one is.
FM_INLINE bool expand(fm_forward *f, fm_slab *slab, uint32_t ref, uint64_t key,
                      const frontier order)
{
    fm_page *page = fm_node_page(&f->pages, ref);
    uint32_t position = fm_node_position(ref);
    fm_forward_node *node = &fm_forward_nodes(page)[position];
    fm_cell cell = fm_page_cell(page, position);
    node->closed = FM_FORWARD_CLOSED;
    if (!fm_open_reserve(&f->open, queue_of(order), FM_DIRECTION_COUNT)) {
        return false;
    }
    for (uint32_t moves = fm_view_moves(f->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell to = fm_cell_step(cell, d);
        uint32_t to_ref = fm_forward_touch(f, to, slab);
        if (to_ref == FM_NODE_NONE) {
            return false;
        }
        fm_forward_node *next = fm_forward_node_at(f, to_ref);
        bool reached = next->g < FM_COST_INFINITE;
        if (next->closed != FM_FORWARD_REACHED || (reached && order != LAST_IN)) {
            continue;
        }
        next->g = sum_of(node->g, fm_view_cost(f->view, cell, d, to));
        next->parent = (uint8_t)(d ^ 4);
        fm_open_push(&f->open, queue_of(order), to_ref, key_of(order, key, next));
    }
    return true;
}

FM_INLINE fm_forward_outcome run(fm_forward *f, fm_work *work, uint32_t expansions_at_start,
                                 const frontier order)
{
    fm_open_list *open = &f->open;
    while (open->count > 0) {
        uint32_t ref = fm_open_top(open, queue_of(order));
        uint64_t key = fm_open_top_key(open, queue_of(order));
        const fm_forward_node *node = fm_forward_node_at(f, ref);
        if (node->closed != FM_FORWARD_REACHED || node->g >= FM_COST_INFINITE) {
            fm_open_drop(open, queue_of(order)); // expanded since, or walled in
            continue;
        }
        fm_cell cell = fm_page_cell(fm_node_page(&f->pages, ref), fm_node_position(ref));
        if (cell == f->target) {
            f->reached = cell;
            return FM_FORWARD_DONE;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return FM_FORWARD_SUSPENDED;
        }
        fm_open_drop(open, queue_of(order));
        work->expansions += 1;
        if (!expand(f, work->slab, ref, key, order)) {
            return FM_FORWARD_NO_MEMORY;
        }
    }
    return FM_FORWARD_EMPTY;
}

FM_INLINE fm_plan_state advance(fm_forward *f, fm_work *work, const frontier order)
{
    uint32_t expansions_at_start = work->expansions;
    if (f->start == f->goal) {
        return FM_PLAN_FOUND;
    }
    if (f->state != FM_PLAN_RUNNING) {
        return f->state;
    }
    fm_forward_repair(f, work, expansions_at_start); // nothing was learned: checks tables only
    if (!f->searching && !begin(f, work->slab, order)) {
        return fm_forward_exhaust(f, work->slab);
    }
    return fm_forward_conclude(f, run(f, work, expansions_at_start, order), work->slab);
}

static fm_plan_state breadth_first_advance(void *self, fm_work *work)
{
    return advance(self, work, FIRST_IN);
}

static fm_plan_state depth_first_advance(void *self, fm_work *work)
{
    return advance(self, work, LAST_IN);
}

static fm_plan_state greedy_advance(void *self, fm_work *work)
{
    return advance(self, work, NEAREST);
}

static size_t one_shot_bytes(const void *self)
{
    return fm_forward_bytes(self, sizeof(fm_forward));
}

// The tables differ in name, summary, init, advance and what they promise.
#define ONE_SHOT_OPS(wire_name, text, init_function, advance_function)                             \
    .name = wire_name, .summary = text, .size = sizeof(fm_forward), .init = init_function,         \
    .advance = advance_function, .nearest = fm_forward_nearest, .bytes = one_shot_bytes,           \
    FM_PATH_FOLLOWER_OPS

const fm_planner_ops fm_breadth_first = {
    ONE_SHOT_OPS("breadth-first", "a path of as few steps as can be, whatever they cost",
                 one_shot_init, breadth_first_advance),
    .finding = FM_FINDS_SHORTEST,
};

const fm_planner_ops fm_depth_first = {
    ONE_SHOT_OPS("depth-first", "some path, often a very long one; to compare with", one_shot_init,
                 depth_first_advance),
    .finding = FM_FINDS_ANY,
};

const fm_planner_ops fm_greedy_best_first = {
    ONE_SHOT_OPS("greedy-best-first", "some path, by making straight for the goal", one_shot_init,
                 greedy_advance),
    .finding = FM_FINDS_ANY,
    .guidance = FM_GUIDED_BY_ANY,
};

const fm_planner_ops fm_dijkstra = {
    ONE_SHOT_OPS("dijkstra", "A* without an estimate: a cheapest path, looking everywhere",
                 dijkstra_init, fm_astar_advance),
};

const fm_planner_ops fm_astar = {
    ONE_SHOT_OPS("astar", "A* on terrain that is known; the search of repeated-forward-astar",
                 one_shot_init, fm_astar_advance),
    .guidance = FM_GUIDED_BY_ANY,
};
