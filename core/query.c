// core/query.c: see query.h.
//
// Two engines answer. Where costs are equal and the eight-neighbour rule holds, jump points do, and
// fm_nearest tells where to go instead when there is no way. Everything else is asked of the
// catalogue's forward A*, which is run like an agent's planner that never moves; its pages come
// from a slab of the query's own, so that a query may be dropped at any time.
//
//   SEARCH ── way found ──────────────────────────────> answer
//      └───── no way ──> NEAREST ──> SEARCH_NEAREST ──> answer
//
// Either engine reads `view`, the query's own copy of the view's few words. Detaching changes where
// those point to and nothing else, so a search under way does not notice.

#include "core/query.h"

#include "core/nearest.h"
#include "core/scratch.h"

#include <math.h>

enum phase {
    PHASE_SEARCH,
    PHASE_NEAREST,        // jump points only; A* knows it when it has failed
    PHASE_SEARCH_NEAREST, // the way to the nearest cell
};

// A planner that answers one question.
struct walker {
    const fm_planner_ops *ops;
    fm_slab slab;
    void *planner; // ops->size bytes
};

struct fm_query {
    const fm_memory *memory;
    fm_view view; // the caller's, or after detaching of the copies below
    fm_bitmap blocked, blocked_transposed;
    uint8_t *weights;

    fm_cell from, to;
    fm_cell target; // `to`, or the cell nearest to it
    enum phase phase;
    fm_query_state state;
    uint64_t expansions, expansions_max;

    fm_jump_search *search; // held while it is under way
    fm_nearest *nearest;
    struct walker *walker;

    fm_cell *cells; // of the answer, owned
    fm_query_answer answer;
};

static size_t weights_size(const fm_query *query)
{
    return (size_t)query->view.width * query->view.height;
}

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
    static const fm_planner_options options = {.queue = FM_QUEUE_BUCKET};
    const fm_planner_ops *ops = &fm_repeated_forward_astar;
    struct walker *walker = fm_memory_allocate_zeroed(query->memory, 1, sizeof *walker);
    if (walker == NULL) {
        return NULL;
    }
    walker->ops = ops;
    fm_slab_init(&walker->slab, query->memory);
    void *planner = fm_memory_allocate_zeroed(query->memory, 1, ops->size);
    if (planner == NULL ||
        ops->init(planner, &query->view, &options, query->memory, query->to) != FM_OK) {
        fm_memory_release(query->memory, planner, ops->size);
        walker_destroy(walker, query->memory);
        return NULL;
    }
    walker->planner = planner;
    ops->set_starts(planner, &query->from, 1);
    return walker;
}

// Ends the search, whatever it was, and lends its memory to the next.
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
}

// ---- answers ------------------------------------------------------------------------------------

static bool allocate_cells(fm_query *query, uint32_t count)
{
    query->cells = fm_memory_allocate(query->memory, count * sizeof *query->cells);
    query->answer.cells = query->cells;
    query->answer.cell_count = query->cells == NULL ? 0 : count;
    return query->cells != NULL;
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
    bool allocated = allocate_cells(query, fm_turns_expand(turns, count, NULL, 0));
    if (allocated) {
        fm_turns_expand(turns, count, query->cells, query->answer.cell_count);
    }
    if (turns != first_turns) {
        fm_memory_release(query->memory, turns, count * sizeof *turns);
    }
    return allocated;
}

static bool take_walker_path(fm_query *query)
{
    const struct walker *walker = query->walker;
    uint32_t count = walker->ops->path(walker->planner, query->from, NULL, 0);
    if (!allocate_cells(query, count)) {
        return false;
    }
    walker->ops->path(walker->planner, query->from, query->cells, count);
    return true;
}

// While the view is still what the path was found on.
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
}

// ---- steps --------------------------------------------------------------------------------------

// Each of these works within the grant and says where the query stands; RUNNING with `phase`
// changed means that the next phase may begin.

static fm_query_state found(fm_query *query, bool taken)
{
    if (!taken) {
        return FM_QUERY_EXHAUSTED;
    }
    measure_path(query);
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

// Makes the engine that the view's rules allow. False when memory is out.
static bool begin(fm_query *query, fm_scratch *scratch)
{
    if (!fm_jump_search_applies(&query->view)) {
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
    fm_jump_search_begin(query->search, &query->view, query->from, query->to, FM_COST_INFINITE);
    return true;
}

static fm_query_state advance_phase(fm_query *query, fm_work *work)
{
    if (query->walker != NULL) {
        return advance_walker(query, work);
    }
    return query->phase == PHASE_NEAREST ? advance_nearest(query, work)
                                         : advance_jump_search(query, work);
}

// ---- interface ----------------------------------------------------------------------------------

fm_status fm_query_create(const fm_view *view, fm_cell from, fm_cell to, uint64_t expansions_max,
                          const fm_memory *memory, fm_query **out)
{
    FM_ASSERT(fm_cell_x(from) < view->width && fm_cell_y(from) < view->height);
    FM_ASSERT(fm_cell_x(to) < view->width && fm_cell_y(to) < view->height);
    if (fm_view_is_blocked(view, from)) {
        return FM_ERR_BLOCKED_CELL;
    }
    fm_query *query = fm_memory_allocate(memory, sizeof *query);
    if (query == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *query = (fm_query){.memory = memory,
                        .view = *view,
                        .from = from,
                        .to = to,
                        .target = to,
                        .expansions_max = expansions_max};
    *out = query;
    return FM_OK;
}

void fm_query_destroy(fm_query *query)
{
    if (query == NULL) {
        return;
    }
    const fm_memory *memory = query->memory;
    drop_engines(query, NULL);
    fm_bitmap_fini(&query->blocked, memory);
    fm_bitmap_fini(&query->blocked_transposed, memory);
    fm_memory_release(memory, query->weights, weights_size(query));
    fm_memory_release(memory, query->cells, query->answer.cell_count * sizeof *query->cells);
    fm_memory_release(memory, query, sizeof *query);
}

static bool copy_bitmap(fm_bitmap *to, const fm_bitmap *from, const fm_memory *memory)
{
    if (fm_bitmap_init(to, from->width, from->height, true, memory) != FM_OK) {
        return false;
    }
    fm_bitmap_copy(to, from);
    return true;
}

static bool copy_view(fm_query *query)
{
    fm_view *view = &query->view;
    if (!copy_bitmap(&query->blocked, view->blocked, query->memory)) {
        return false;
    }
    view->blocked = &query->blocked;
    if (view->blocked_transposed != NULL) {
        if (!copy_bitmap(&query->blocked_transposed, view->blocked_transposed, query->memory)) {
            return false;
        }
        view->blocked_transposed = &query->blocked_transposed;
    }
    if (view->weights != NULL) {
        query->weights = fm_memory_allocate(query->memory, weights_size(query));
        if (query->weights == NULL) {
            return false;
        }
        memcpy(query->weights, view->weights, weights_size(query));
        view->weights = query->weights;
    }
    return true;
}

fm_status fm_query_detach(fm_query *query)
{
    if (query->state != FM_QUERY_RUNNING || query->blocked.words != NULL) {
        return FM_OK;
    }
    if (!copy_view(query)) {
        drop_engines(query, NULL);
        query->state = FM_QUERY_EXHAUSTED;
        return FM_ERR_NO_MEMORY;
    }
    return FM_OK;
}

fm_query_state fm_query_advance(fm_query *query, fm_work *work)
{
    if (query->state != FM_QUERY_RUNNING) {
        return query->state;
    }
    if (query->search == NULL && query->walker == NULL && !begin(query, work->scratch)) {
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
        drop_engines(query, work->scratch);
    }
    return query->state;
}

fm_query_answer fm_query_result(const fm_query *query)
{
    FM_ASSERT(query->state != FM_QUERY_RUNNING);
    fm_query_answer answer = query->answer;
    answer.state = query->state;
    answer.expansions = query->expansions;
    return answer;
}
