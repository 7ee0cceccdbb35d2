// core/planners/forward_astar.c: planners that search from scratch whenever their path no longer is
// a shortest one on what is known, and walk along it in between.
//
//   repeated-forward-astar   A* from the agent to the goal: the baseline.
//   repeated-backward-astar  A* from the goal to the agent.
//   adaptive-astar           the forward one, but each search raises the estimates for the next
//                            (Koenig and Likhachev 2005), and cheaper steps lower them again
//                            (generalized: Sun, Koenig and Yeoh 2008).
//   mpgaa-star               also keeps the paths of old searches, and a search may end where one
//                            of them still leads to the goal at the estimated cost (multi-path,
//                            generalized: Hernandez, Baier and Asin 2014).
//
// When is a path no longer a shortest one? When a step on it is blocked or costlier, and when any
// step anywhere is cheaper. Costlier steps elsewhere only make other paths longer. A search that is
// suspended asks the same of what it has done so far (fm_forward_tree_survives).

#include "core/planners/forward_astar.h"

#include "core/search/forward_search.h"

static const fm_forward_rules forward_rules = {.any_heuristic = true};
static const fm_forward_rules backward_rules = {.backward = true, .any_heuristic = true};
static const fm_forward_rules adaptive_rules = {.learns = true};
static const fm_forward_rules multi_path_rules = {.learns = true, .keeps_paths = true};

static fm_status forward_init(void *self, const fm_view *view, const fm_planner_options *options,
                              const fm_memory *memory, fm_cell goal)
{
    return fm_forward_init(self, view, options, memory, goal, forward_rules);
}

static fm_status backward_init(void *self, const fm_view *view, const fm_planner_options *options,
                               const fm_memory *memory, fm_cell goal)
{
    return fm_forward_init(self, view, options, memory, goal, backward_rules);
}

static fm_status adaptive_init(void *self, const fm_view *view, const fm_planner_options *options,
                               const fm_memory *memory, fm_cell goal)
{
    return fm_forward_init(self, view, options, memory, goal, adaptive_rules);
}

static fm_status multi_path_init(void *self, const fm_view *view, const fm_planner_options *options,
                                 const fm_memory *memory, fm_cell goal)
{
    return fm_forward_init(self, view, options, memory, goal, multi_path_rules);
}

// Whether what is known about the old start answers for the new one as well.
static bool still_answers(fm_forward *a, fm_cell start)
{
    bool closed = fm_forward_is_reached(a, fm_forward_find(a, start));
    switch (a->state) {
    case FM_PLAN_FOUND:
        return fm_forward_follow(a, start);
    case FM_PLAN_UNREACHABLE:
        return a->rules.backward ? !closed : closed; // the same side of the wall
    case FM_PLAN_EXHAUSTED:
        return true;
    case FM_PLAN_RUNNING:
    case FM_PLAN_PARTIAL:
        return false;
    }
    FM_UNREACHABLE();
}

void fm_path_follower_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    fm_forward *a = self;
    FM_ASSERT(count == 1);
    if (cells[0] == a->start) {
        return;
    }
    if (a->start != FM_CELL_NONE && !still_answers(a, cells[0])) {
        fm_forward_restart(a);
    }
    a->start = cells[0];
}

void fm_path_follower_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                        fm_work *work)
{
    fm_forward *a = self;
    bool cheaper = fm_forward_any_cheaper(changes, count);
    bool survives = !cheaper && a->state != FM_PLAN_EXHAUSTED;
    fm_forward_charge_changes(a, count, work);
    for (uint32_t i = 0; i < count; i++) {
        survives &= a->state == FM_PLAN_FOUND ? fm_forward_path_survives(a, &changes[i])
                                              : fm_forward_tree_survives(a, &changes[i]);
    }
    if (!survives) {
        fm_forward_restart(a);
    }
    if (cheaper) {
        fm_forward_lower(a, changes, count, work);
    }
}

fm_plan_state fm_astar_advance(void *self, fm_work *work)
{
    fm_forward *a = self;
    uint32_t expansions_at_start = work->expansions;
    if (a->start == a->goal) {
        return FM_PLAN_FOUND;
    }
    if (a->state != FM_PLAN_RUNNING) {
        return a->state;
    }
    if (!fm_forward_repair(a, work, expansions_at_start)) {
        return FM_PLAN_RUNNING;
    }
    if (!a->searching && !fm_forward_begin(a, work->slab)) {
        return fm_forward_exhaust(a, work->slab);
    }
    return fm_forward_conclude(a, fm_forward_run(a, work, expansions_at_start), work->slab);
}

static size_t astar_bytes(const void *self)
{
    return fm_forward_bytes(self, sizeof(fm_forward));
}

// The tables differ in name, summary, init and guidance only.
#define ASTAR_OPS(wire_name, text, init_function)                                                  \
    .name = wire_name, .summary = text, .size = sizeof(fm_forward), .init = init_function,         \
    .advance = fm_astar_advance, .bytes = astar_bytes, FM_PATH_FOLLOWER_OPS

const fm_planner_ops fm_repeated_forward_astar = {
    ASTAR_OPS("repeated-forward-astar",
              "A* from the agent, again from scratch whenever its path is broken", forward_init),
    .guidance = FM_GUIDED_BY_ANY,
    .nearest = fm_forward_nearest,
};

const fm_planner_ops fm_repeated_backward_astar = {
    ASTAR_OPS("repeated-backward-astar",
              "A* from the goal, again from scratch whenever the path is broken", backward_init),
    .guidance = FM_GUIDED_BY_ANY,
};

const fm_planner_ops fm_adaptive_astar = {
    ASTAR_OPS("adaptive-astar", "repeated A* that learns better estimates from every search",
              adaptive_init),
    .guidance = FM_GUIDED_BY_CONSISTENT,
    .nearest = fm_forward_nearest,
};

const fm_planner_ops fm_mpgaa_star = {
    ASTAR_OPS("mpgaa-star", "adaptive A* that also reuses the paths of earlier searches",
              multi_path_init),
    .guidance = FM_GUIDED_BY_CONSISTENT,
    .nearest = fm_forward_nearest,
};
