// core/forward_astar.c: planners that search from scratch whenever their path no longer is a
// shortest one on what is known, and walk along it in between.
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
// When is a path no longer a shortest one? When a step on it is blocked or dearer, and when any
// step anywhere is cheaper. Dearer steps elsewhere only make other paths longer. A search that is
// suspended asks the same of what it has done so far (fm_forward_tree_survives).

#include "core/forward_search.h"

static const fm_forward_rules forward_rules = {0};
static const fm_forward_rules backward_rules = {.backward = true};
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

static void astar_set_starts(void *self, const fm_cell *cells, uint32_t count)
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

static void astar_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                    fm_work *work)
{
    fm_forward *a = self;
    bool cheaper = fm_forward_any_cheaper(changes, count);
    bool survives = !cheaper && a->state != FM_PLAN_EXHAUSTED;
    for (uint32_t i = 0; i < count; i++) {
        survives &= a->state == FM_PLAN_FOUND ? fm_forward_path_survives(a, &changes[i])
                                              : fm_forward_tree_survives(a, &changes[i]);
    }
    if (!survives) {
        fm_forward_restart(a);
    }
    if (cheaper) {
        fm_forward_lower(a, changes, count, work->slab);
    }
}

static fm_plan_state astar_advance(void *self, fm_work *work)
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
    switch (fm_forward_run(a, work, expansions_at_start)) {
    case FM_FORWARD_SUSPENDED:
        return FM_PLAN_RUNNING;
    case FM_FORWARD_DONE:
        return fm_forward_succeed(a);
    case FM_FORWARD_EMPTY:
        return fm_forward_fail(a);
    case FM_FORWARD_NO_MEMORY:
        return fm_forward_exhaust(a, work->slab);
    }
    FM_UNREACHABLE();
}

static size_t astar_bytes(const void *self)
{
    return fm_forward_bytes(self, sizeof(fm_forward));
}

const fm_planner_ops fm_repeated_forward_astar = {
    .name = "repeated-forward-astar",
    .summary = "A* from the agent, again from scratch whenever its path is broken",
    .size = sizeof(fm_forward),
    .init = forward_init,
    .fini = fm_forward_fini,
    .set_goal = fm_forward_set_goal,
    .set_starts = astar_set_starts,
    .knowledge_changed = astar_knowledge_changed,
    .forget = fm_forward_forget,
    .advance = astar_advance,
    .state_at = fm_forward_state_at,
    .next_step = fm_forward_next_step,
    .path = fm_forward_path,
    .nearest = fm_forward_nearest,
    .inspect = fm_forward_inspect,
    .bytes = astar_bytes,
};

const fm_planner_ops fm_repeated_backward_astar = {
    .name = "repeated-backward-astar",
    .summary = "A* from the goal, again from scratch whenever the path is broken",
    .size = sizeof(fm_forward),
    .init = backward_init,
    .fini = fm_forward_fini,
    .set_goal = fm_forward_set_goal,
    .set_starts = astar_set_starts,
    .knowledge_changed = astar_knowledge_changed,
    .forget = fm_forward_forget,
    .advance = astar_advance,
    .state_at = fm_forward_state_at,
    .next_step = fm_forward_next_step,
    .path = fm_forward_path,
    .inspect = fm_forward_inspect,
    .bytes = astar_bytes,
};

const fm_planner_ops fm_adaptive_astar = {
    .name = "adaptive-astar",
    .summary = "repeated A* that learns better estimates from every search",
    .size = sizeof(fm_forward),
    .init = adaptive_init,
    .fini = fm_forward_fini,
    .set_goal = fm_forward_set_goal,
    .set_starts = astar_set_starts,
    .knowledge_changed = astar_knowledge_changed,
    .forget = fm_forward_forget,
    .advance = astar_advance,
    .state_at = fm_forward_state_at,
    .next_step = fm_forward_next_step,
    .path = fm_forward_path,
    .nearest = fm_forward_nearest,
    .inspect = fm_forward_inspect,
    .bytes = astar_bytes,
};

const fm_planner_ops fm_mpgaa_star = {
    .name = "mpgaa-star",
    .summary = "adaptive A* that also reuses the paths of earlier searches",
    .size = sizeof(fm_forward),
    .init = multi_path_init,
    .fini = fm_forward_fini,
    .set_goal = fm_forward_set_goal,
    .set_starts = astar_set_starts,
    .knowledge_changed = astar_knowledge_changed,
    .forget = fm_forward_forget,
    .advance = astar_advance,
    .state_at = fm_forward_state_at,
    .next_step = fm_forward_next_step,
    .path = fm_forward_path,
    .nearest = fm_forward_nearest,
    .inspect = fm_forward_inspect,
    .bytes = astar_bytes,
};
