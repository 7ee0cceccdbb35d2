// core/planners/query.c: see query.h.
//
// Three engines answer. For paths, where costs are equal and the eight-neighbour rule holds, jump
// points do, and fm_nearest finds where to go instead when there is no path. Everything else is
// asked of the catalogue's A*, or of the planner that the caller names, which is run like an
// agent's planner that never moves; its pages come from a slab of the query's own, so that a query
// may be dropped at any time. The nearest of several goals and fields come from a sweep (sweep.h).
// A trial runs a planner up to its first answer, and the query keeps a copy of the search.
//
//   SEARCH ── path found ──────────────────────────────> answer
//      └───── no path ──> NEAREST ──> SEARCH_NEAREST ──> answer
//
// All engines read `view`, the query's own copy of the view's few words. Moving only changes where
// these point, so a search under way does not notice, unless it uses tables.

#include "core/planners/query.h"

#include "core/planners/catalogue.h"
#include "core/search/nearest.h"
#include "core/search/scratch.h"
#include "core/search/sweep.h"

#include <math.h>

enum phase {
    PHASE_SEARCH,
    PHASE_NEAREST,        // jump points only; A* knows the nearest cell when it has failed
    PHASE_SEARCH_NEAREST, // the path to the nearest cell
};

// A planner that answers one question.
struct walker {
    const fm_planner_ops *ops;
    fm_slab slab;
    void *planner; // ops->size bytes
};

struct fm_query {
    const fm_memory *memory;
    fm_view view; // of words that belong to the caller

    fm_planner_spec spec; // of the walker; ops NULL: whatever is best
    fm_cell from, to;
    fm_cell target; // `to`, or the cell nearest to it
    enum phase phase;
    fm_query_state state;
    uint64_t expansions, expansions_max;

    fm_jump_search *search; // held while it is under way
    fm_nearest *nearest;
    struct walker *walker;

    bool is_sweep;        // nearest, field
    fm_sweep *sweep;      // held while it is under way
    const fm_cell *goals; // nearest: the caller's
    uint32_t goal_count;
    fm_box box;
    uint32_t *costs; // field, owned; NULL otherwise
    uint32_t wanted; // field: cells that are still to come

    bool is_trial;
    fm_inspection *search_cells; // trial, owned; room for cells_max
    uint32_t cells_max;

    fm_cell *cells;      // of the answer, owned
    uint32_t cells_most; // longer paths are not kept
    fm_query_answer answer;
};

// ---- engines ------------------------------------------------------------------------------------

static void walker_destroy(struct walker *walker, const fm_memory *memory)
{
    if (walker == NULL) {
        return;
    }
    if (walker->planner != NULL) {
        walker->ops->fini(walker->planner, &walker->slab);
    }
    fm_memory_release(memory, walker->planner, walker->ops->size);
    fm_slab_fini(&walker->slab);
    fm_memory_release(memory, walker, sizeof *walker);
}

static struct walker *walker_create(const fm_query *query)
{
    const fm_planner_ops *ops = query->spec.ops != NULL ? query->spec.ops : &fm_astar;
    struct walker *walker = fm_memory_allocate_zeroed(query->memory, 1, sizeof *walker);
    if (walker == NULL) {
        return NULL;
    }
    walker->ops = ops;
    fm_slab_init(&walker->slab, query->memory);
    void *planner = fm_memory_allocate_zeroed(query->memory, 1, ops->size);
    if (planner == NULL || ops->init(planner, &query->view, &query->spec.options, query->memory,
                                     query->target) != FM_OK) {
        fm_memory_release(query->memory, planner, ops->size);
        walker_destroy(walker, query->memory);
        return NULL;
    }
    walker->planner = planner;
    ops->set_starts(planner, &query->from, 1);
    return walker;
}

// Ends the search of any kind, and keeps its memory for the next.
static void drop_engines(fm_query *query, fm_scratch *scratch)
{
    if (scratch != NULL) {
        fm_scratch_give(scratch, query->search);
    } else {
        fm_jump_search_destroy(query->search);
    }
    query->search = NULL;
    fm_nearest_destroy(query->nearest);
    query->nearest = NULL;
    walker_destroy(query->walker, query->memory);
    query->walker = NULL;
    fm_sweep_destroy(query->sweep);
    query->sweep = NULL;
}

// ---- answers ------------------------------------------------------------------------------------

static bool allocate_cells(fm_query *query, uint32_t count)
{
    query->cells = fm_memory_allocate(query->memory, count * sizeof *query->cells);
    query->answer.cells = query->cells;
    query->answer.cell_count = query->cells == NULL ? 0 : count;
    return query->cells != NULL;
}

// Costs are equal everywhere, so cost and length follow from the lines between turns, faster than
// cell by cell.
static void measure_turns(fm_query *query, const fm_cell *turns, uint32_t count)
{
    fm_query_answer *answer = &query->answer;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t steps = fm_turn_steps(turns[i - 1], turns[i]);
        bool diagonal = fm_turn_direction(turns[i - 1], turns[i]) & 1;
        answer->diagonal_count += diagonal ? steps : 0;
        answer->straight_count += diagonal ? 0 : steps;
    }
    answer->cost =
        answer->straight_count * query->view.step[0] + answer->diagonal_count * query->view.step[1];
    answer->length = answer->straight_count + answer->diagonal_count * M_SQRT2;
}

static bool take_jump_path(fm_query *query)
{
    fm_cell first_turns[64];
    uint32_t count = fm_jump_search_turns(query->search, first_turns, FM_COUNT_OF(first_turns));
    fm_cell *turns = first_turns;
    if (count > FM_COUNT_OF(first_turns)) {
        turns = fm_memory_allocate(query->memory, count * sizeof *turns);
        if (turns == NULL) {
            return false;
        }
        fm_jump_search_turns(query->search, turns, count);
    }
    measure_turns(query, turns, count);
    uint32_t steps = query->answer.straight_count + query->answer.diagonal_count;
    query->answer.cells_dropped = steps >= query->cells_most;
    bool allocated = !query->answer.cells_dropped && allocate_cells(query, steps + 1);
    if (allocated) {
        fm_turns_expand(turns, count, query->cells, query->answer.cell_count);
    }
    if (turns != first_turns) {
        fm_memory_release(query->memory, turns, count * sizeof *turns);
    }
    return allocated || query->answer.cells_dropped;
}

void fm_query_drop_cells(fm_query *query)
{
    fm_memory_release(query->memory, query->cells, query->answer.cell_count * sizeof *query->cells);
    query->cells = NULL;
    query->answer.cells = NULL;
    query->answer.cell_count = 0;
    query->answer.cells_dropped = true;
}

// Call while the view is still the one the path was found on.
static void measure_path(fm_query *query)
{
    fm_query_answer *answer = &query->answer;
    for (uint32_t i = 1; i < answer->cell_count; i++) {
        fm_cell from = query->cells[i - 1], to = query->cells[i];
        uint32_t diagonal = fm_cell_x(from) != fm_cell_x(to) && fm_cell_y(from) != fm_cell_y(to);
        answer->diagonal_count += diagonal;
        answer->straight_count += 1 - diagonal;
        answer->cost += fm_view_cost(&query->view, from, diagonal, to);
    }
    answer->length = query->view.weights == NULL
                         ? answer->straight_count + answer->diagonal_count * M_SQRT2
                         : fm_view_length(&query->view, query->cells, answer->cell_count);
    if (answer->cell_count > query->cells_most) {
        fm_query_drop_cells(query);
    }
}

static bool take_walker_path(fm_query *query)
{
    const struct walker *walker = query->walker;
    uint32_t count = walker->ops->path(walker->planner, query->from, NULL, 0);
    if (!allocate_cells(query, count)) {
        return false;
    }
    walker->ops->path(walker->planner, query->from, query->cells, count);
    measure_path(query);
    return true;
}

// ---- steps --------------------------------------------------------------------------------------

// Each of these works within the grant and says where the query stands; RUNNING with `phase`
// changed means that the next phase may begin.

static fm_query_state found(fm_query *query, bool taken)
{
    if (!taken) {
        return FM_QUERY_EXHAUSTED;
    }
    return query->phase == PHASE_SEARCH ? FM_QUERY_FOUND : FM_QUERY_UNREACHABLE;
}

static fm_query_state advance_jump_search(fm_query *query, fm_work *work)
{
    switch (fm_jump_search_advance(query->search, work)) {
    case FM_JUMP_RUNNING:
        return FM_QUERY_RUNNING;
    case FM_JUMP_FOUND:
        return found(query, take_jump_path(query));
    case FM_JUMP_UNREACHABLE:
        if (fm_nearest_create(&query->view, query->from, query->to, query->memory,
                              &query->nearest) != FM_OK) {
            return FM_QUERY_EXHAUSTED;
        }
        query->phase = PHASE_NEAREST;
        return FM_QUERY_RUNNING;
    case FM_JUMP_EXHAUSTED:
        return FM_QUERY_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

static fm_query_state advance_nearest(fm_query *query, fm_work *work)
{
    switch (fm_nearest_advance(query->nearest, query->search, work, &query->target)) {
    case FM_JUMP_RUNNING:
        return FM_QUERY_RUNNING;
    case FM_JUMP_FOUND:
        fm_jump_search_begin(query->search, &query->view, query->from, query->target,
                             FM_COST_INFINITE);
        query->phase = PHASE_SEARCH_NEAREST;
        return FM_QUERY_RUNNING;
    case FM_JUMP_UNREACHABLE:
    case FM_JUMP_EXHAUSTED:
        return FM_QUERY_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

// ---- trials -------------------------------------------------------------------------------------

static void note_cell(const fm_inspection *inspection, void *context)
{
    fm_query *query = context;
    fm_query_answer *answer = &query->answer;
    answer->open_count += inspection->open;
    answer->closed_count += inspection->closed;
    int32_t x = (int32_t)fm_cell_x(inspection->cell), y = (int32_t)fm_cell_y(inspection->cell);
    if (answer->search_count < query->cells_max && x >= query->box.left && x <= query->box.right &&
        y >= query->box.top && y <= query->box.bottom) {
        query->search_cells[answer->search_count++] = *inspection;
    }
}

// Call before the planner is destroyed.
static void keep_trial(fm_query *query)
{
    const struct walker *walker = query->walker;
    walker->ops->inspect(walker->planner, note_cell, query);
    query->answer.search = query->search_cells;
    query->answer.bytes = walker->ops->bytes(walker->planner);
}

// A real-time planner's answer depends on the grant, so its grant must not depend on interruptions.
static void limit_trial(fm_work *work)
{
    work->deadline = (fm_deadline){0};
    if (work->expansions_max > FM_QUERY_TRIAL_GRANT) {
        work->expansions_max = FM_QUERY_TRIAL_GRANT;
    }
}

static bool take_first_step(fm_query *query)
{
    fm_cell next = query->walker->ops->next_step(query->walker->planner, query->from);
    bool moves = next != FM_CELL_NONE && next != query->from;
    if (!allocate_cells(query, moves ? 2 : 1)) {
        return false;
    }
    query->cells[0] = query->from;
    if (moves) {
        query->cells[1] = next;
    }
    return true;
}

static fm_query_state advance_trial(fm_query *query, fm_work *work)
{
    struct walker *walker = query->walker;
    switch (walker->ops->advance(walker->planner, work)) {
    case FM_PLAN_RUNNING:
        return FM_QUERY_RUNNING;
    case FM_PLAN_PARTIAL:
        if (!take_first_step(query)) {
            return FM_QUERY_EXHAUSTED;
        }
        measure_path(query);
        return FM_QUERY_PARTIAL;
    case FM_PLAN_FOUND:
        return found(query, take_walker_path(query));
    case FM_PLAN_UNREACHABLE:
        return FM_QUERY_UNREACHABLE;
    case FM_PLAN_EXHAUSTED:
        return FM_QUERY_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

// ---- planners -----------------------------------------------------------------------------------

static fm_query_state advance_walker(fm_query *query, fm_work *work)
{
    struct walker *walker = query->walker;
    switch (walker->ops->advance(walker->planner, work)) {
    case FM_PLAN_RUNNING:
    case FM_PLAN_PARTIAL:
        return FM_QUERY_RUNNING;
    case FM_PLAN_FOUND:
        return found(query, take_walker_path(query));
    case FM_PLAN_UNREACHABLE:
        query->target = walker->ops->nearest(walker->planner, query->from);
        walker->ops->set_goal(walker->planner, query->target, &walker->slab);
        walker->ops->set_starts(walker->planner, &query->from, 1);
        query->phase = PHASE_SEARCH_NEAREST;
        return FM_QUERY_RUNNING;
    case FM_PLAN_EXHAUSTED:
        return FM_QUERY_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

// ---- sweeps -------------------------------------------------------------------------------------

static bool stop_at_goal(fm_cell cell, uint32_t cost, void *context)
{
    (void)cost;
    fm_query *query = context;
    for (uint32_t i = 0; i < query->goal_count; i++) {
        if (query->goals[i] == cell) {
            query->target = cell;
            return true;
        }
    }
    return false;
}

static bool note_cost(fm_cell cell, uint32_t cost, void *context)
{
    fm_query *query = context;
    const fm_box *box = &query->box;
    uint32_t width = (uint32_t)(box->right - box->left) + 1;
    uint32_t x = fm_cell_x(cell) - (uint32_t)box->left, y = fm_cell_y(cell) - (uint32_t)box->top;
    query->costs[(size_t)y * width + x] = cost;
    query->wanted -= 1;
    return query->wanted == 0;
}

static bool take_sweep_path(fm_query *query)
{
    uint32_t count = fm_sweep_path(query->sweep, query->target, NULL, 0);
    if (!allocate_cells(query, count)) {
        return false;
    }
    fm_sweep_path(query->sweep, query->target, query->cells, count);
    measure_path(query);
    return true;
}

static fm_query_state advance_sweep(fm_query *query, fm_work *work)
{
    bool field = query->costs != NULL;
    if (field && query->wanted == 0) {
        return FM_QUERY_FOUND;
    }
    switch (fm_sweep_advance(query->sweep, work, field ? note_cost : stop_at_goal, query)) {
    case FM_SWEEP_RUNNING:
        return FM_QUERY_RUNNING;
    case FM_SWEEP_STOPPED:
        return field ? FM_QUERY_FOUND : found(query, take_sweep_path(query));
    case FM_SWEEP_DONE:
        return field ? FM_QUERY_FOUND : FM_QUERY_UNREACHABLE;
    case FM_SWEEP_EXHAUSTED:
        return FM_QUERY_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

// Makes the engine that the view's rules allow. False when out of memory.
static bool begin(fm_query *query, fm_scratch *scratch)
{
    if (query->is_sweep) {
        return fm_sweep_create(&query->view, query->from, query->box, query->memory,
                               &query->sweep) == FM_OK;
    }
    if (query->spec.ops != NULL || !fm_jump_search_applies(&query->view)) {
        query->walker = walker_create(query);
        return query->walker != NULL;
    }
    if (scratch != NULL) {
        query->search = fm_scratch_take(scratch);
    } else if (fm_jump_search_create(query->memory, &query->search) != FM_OK) {
        query->search = NULL;
    }
    if (query->search == NULL) {
        return false;
    }
    fm_jump_search_begin(query->search, &query->view, query->from, query->target, FM_COST_INFINITE);
    return true;
}

static fm_query_state advance_phase(fm_query *query, fm_work *work)
{
    if (query->is_sweep) {
        return advance_sweep(query, work);
    }
    if (query->walker != NULL) {
        return query->is_trial ? advance_trial(query, work) : advance_walker(query, work);
    }
    return query->phase == PHASE_NEAREST ? advance_nearest(query, work)
                                         : advance_jump_search(query, work);
}

// ---- interface ----------------------------------------------------------------------------------

static fm_query *create(const fm_view *view, fm_cell from, uint64_t expansions_max,
                        const fm_memory *memory)
{
    FM_ASSERT(fm_cell_x(from) < view->width && fm_cell_y(from) < view->height);
    fm_query *query = fm_memory_allocate(memory, sizeof *query);
    if (query != NULL) {
        *query = (fm_query){
            .memory = memory,
            .view = *view,
            .from = from,
            .expansions_max = expansions_max,
            .cells_most = UINT32_MAX,
        };
    }
    return query;
}

fm_status fm_query_create(const fm_view *view, fm_cell from, fm_cell to, uint64_t expansions_max,
                          const fm_memory *memory, fm_query **out)
{
    FM_ASSERT(fm_cell_x(to) < view->width && fm_cell_y(to) < view->height);
    if (fm_view_is_blocked(view, from)) {
        return FM_ERR_BLOCKED_CELL;
    }
    fm_query *query = create(view, from, expansions_max, memory);
    if (query == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    query->to = to;
    query->target = to;
    *out = query;
    return FM_OK;
}

void fm_query_use_substitute(fm_query *query, fm_cell substitute)
{
    query->target = substitute;
    query->phase = PHASE_SEARCH_NEAREST;
}

fm_status fm_query_create_nearest(const fm_view *view, fm_cell from, const fm_cell *goals,
                                  uint32_t goal_count, uint64_t expansions_max,
                                  const fm_memory *memory, fm_query **out)
{
    FM_ASSERT(goal_count >= 1);
    if (fm_view_is_blocked(view, from)) {
        return FM_ERR_BLOCKED_CELL;
    }
    fm_query *query = create(view, from, expansions_max, memory);
    if (query == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    query->is_sweep = true;
    query->goals = goals;
    query->goal_count = goal_count;
    query->target = FM_CELL_NONE;
    query->box = fm_box_around(goals, goal_count);
    *out = query;
    return FM_OK;
}

static size_t field_cell_count(const fm_query *query)
{
    const fm_box *box = &query->box;
    return (size_t)(box->right - box->left + 1) * (size_t)(box->bottom - box->top + 1);
}

fm_status fm_query_create_field(const fm_view *view, fm_cell goal, fm_box box, uint32_t reachable,
                                uint64_t expansions_max, const fm_memory *memory, fm_query **out)
{
    if (fm_view_is_blocked(view, goal)) {
        return FM_ERR_BLOCKED_CELL;
    }
    fm_query *query = create(view, goal, expansions_max, memory);
    if (query == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    query->is_sweep = true;
    query->target = goal;
    query->box = box;
    query->wanted = reachable;
    size_t count = field_cell_count(query);
    FM_ASSERT(count >= 1 && count <= FM_QUERY_FIELD_CELLS_MAX);
    query->costs = fm_memory_allocate(memory, count * sizeof *query->costs);
    if (query->costs == NULL) {
        fm_query_destroy(query);
        return FM_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        query->costs[i] = FM_COST_INFINITE;
    }
    *out = query;
    return FM_OK;
}

fm_status fm_query_create_trial(const fm_view *view, const fm_query_trial *trial,
                                uint64_t expansions_max, const fm_memory *memory, fm_query **out)
{
    if (!fm_planner_spec_fits(trial->spec, view->connectivity, view->weights != NULL)) {
        return FM_ERR_BAD_VALUE;
    }
    fm_query *query;
    fm_status status =
        fm_query_create(view, trial->from, trial->to, expansions_max, memory, &query);
    if (status != FM_OK) {
        return status;
    }
    query->is_trial = true;
    query->spec = *trial->spec;
    query->box = trial->box;
    if (trial->cells_max > 0) {
        query->search_cells =
            fm_memory_allocate(memory, trial->cells_max * sizeof *query->search_cells);
        if (query->search_cells == NULL) {
            fm_query_destroy(query);
            return FM_ERR_NO_MEMORY;
        }
        query->cells_max = trial->cells_max;
    }
    *out = query;
    return FM_OK;
}

bool fm_query_takes_planner(const fm_planner_ops *ops)
{
    return ops->nearest != NULL && !ops->real_time;
}

fm_status fm_query_use_planner(fm_query *query, const fm_planner_spec *spec)
{
    FM_ASSERT(query->search == NULL && query->walker == NULL);
    const fm_view *view = &query->view;
    if (!fm_query_takes_planner(spec->ops) ||
        !fm_planner_spec_fits(spec, view->connectivity, view->weights != NULL)) {
        return FM_ERR_BAD_VALUE;
    }
    query->spec = *spec;
    return FM_OK;
}

void fm_query_destroy(fm_query *query)
{
    if (query == NULL) {
        return;
    }
    const fm_memory *memory = query->memory;
    drop_engines(query, NULL);
    fm_memory_release(memory, query->costs, field_cell_count(query) * sizeof *query->costs);
    fm_memory_release(memory, query->search_cells, query->cells_max * sizeof *query->search_cells);
    fm_memory_release(memory, query->cells, query->answer.cell_count * sizeof *query->cells);
    fm_memory_release(memory, query, sizeof *query);
}

void fm_query_move(fm_query *query, const fm_view *view)
{
    query->view = *view;
}

void fm_query_give_up(fm_query *query)
{
    if (query->state == FM_QUERY_RUNNING) {
        drop_engines(query, NULL);
        query->state = FM_QUERY_EXHAUSTED;
    }
}

fm_query_state fm_query_advance(fm_query *query, fm_work *work)
{
    if (query->state != FM_QUERY_RUNNING) {
        return query->state;
    }
    if (query->search == NULL && query->walker == NULL && query->sweep == NULL &&
        !begin(query, work->scratch)) {
        query->state = FM_QUERY_EXHAUSTED;
        return query->state;
    }
    // The query's own limit and the grant, whichever is nearer.
    uint32_t grant = work->expansions_max, done = 0;
    enum phase phase;
    do {
        phase = query->phase;
        uint64_t left = query->expansions_max - query->expansions;
        fm_work part = *work;
        if (query->walker != NULL) {
            part.slab = &query->walker->slab;
        }
        part.expansions = 0;
        part.expansions_max = left < grant - done ? (uint32_t)left : grant - done;
        if (query->is_trial && query->spec.ops->real_time) {
            limit_trial(&part);
        }
        query->state = advance_phase(query, &part);
        work->expansions += part.expansions;
        work->secondary = part.secondary;
        work->cut = part.cut;
        done += part.expansions;
        query->expansions += part.expansions;
        if (query->state == FM_QUERY_RUNNING && query->phase == phase &&
            query->expansions >= query->expansions_max) {
            query->state = FM_QUERY_LIMIT;
        }
    } while (query->state == FM_QUERY_RUNNING && query->phase != phase && !work->cut);
    if (query->state != FM_QUERY_RUNNING) {
        if (query->is_trial && query->walker != NULL) {
            keep_trial(query);
        }
        drop_engines(query, work->scratch);
    }
    return query->state;
}

void fm_query_keep_cells(fm_query *query, uint32_t cells_max)
{
    query->cells_most = cells_max;
}

fm_query_answer fm_query_result(const fm_query *query)
{
    FM_ASSERT(query->state != FM_QUERY_RUNNING);
    fm_query_answer answer = query->answer;
    answer.state = query->state;
    answer.target = query->target;
    answer.costs = query->costs;
    answer.expansions = query->expansions;
    return answer;
}
