// core/crowd/around_search.c: see around_search.h.

#include "core/crowd/around_search.h"

#include "core/base/heap.h"
#include "core/crowd/sight.h"
#include "core/crowd/standing.h"
#include "core/world/agent.h"
#include "core/world/planner_table.h"
#include "core/world/world_classes.h"

#include <string.h>

#define REACH      96u // cells around the middle of the window
#define SIDE       (2 * REACH + 1)
#define CELLS      (SIDE * SIDE)
#define PATH_MAX   128u // cells of the planner's path that are looked at
#define PATH_NEAR  24u  // the same, for somebody who stands there
#define PATH_CELLS 8u   // of a path that are listed for one expansion
#define FAR        UINT32_MAX
#define BEGIN_WORK 100u      // for the window, as cells expanded
#define DETOUR     10u       // steps, for a cell of the path that is taken
#define TAKEN      UINT8_MAX // as a number: somebody stands there

struct fm_around_search {
    fm_heap heap;
    fm_cell middle;            // of the window
    uint32_t distances[CELLS]; // from where a search begins; 0 where somebody stands
    uint32_t places[CELLS];    // in the heap; of a flood, its queue
    uint8_t steps[CELLS];      // direction of the last step to there
    uint8_t numbers[CELLS];    // in `path`, of cells where the way may lead; 0: it may not; TAKEN
    bool was_flood;            // the last search was one from the goal
    fm_cell path[PATH_MAX];    // of the planner, from the agent's cell
    uint32_t rests[PATH_MAX];  // costs from there to its end
};

// One search.
struct question {
    const fm_world *world;
    const struct fm_agent *agent;
    const fm_view *view;
    fm_around_memory *seen;
    uint32_t sight; // cells
    fm_cell goal;
    fm_cell end;         // to which estimates lead
    bool has_path;       // else any cell will do that is nearer to the goal
    bool goal_taken;     // then a cell beside it will do
    bool is_cut;         // it has left the window
    bool relies;         // somebody was there when the agent saw it last: that is no proof
    uint32_t goal_index; // in the window; CELLS
    uint32_t best;       // cost of the best way so far, with the rest of the path
    uint32_t best_cell;
};

fm_around_search *fm_around_search_create(const fm_memory *memory)
{
    fm_around_search *search = fm_memory_allocate_zeroed(memory, 1, sizeof *search);
    if (search == NULL) {
        return NULL;
    }
    fm_heap_init(&search->heap, memory);
    if (!FM_RESERVE_FROM(memory, search->heap.entries, search->heap.capacity, CELLS)) {
        fm_around_search_destroy(search, memory);
        return NULL;
    }
    return search;
}

void fm_around_search_destroy(fm_around_search *search, const fm_memory *memory)
{
    if (search != NULL) {
        fm_heap_fini(&search->heap);
        fm_memory_release(memory, search, sizeof *search);
    }
}

// ---- the window ---------------------------------------------------------------------------------

// CELLS: outside.
static uint32_t index_of(const fm_around_search *search, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) + REACH - fm_cell_x(search->middle);
    uint32_t y = fm_cell_y(cell) + REACH - fm_cell_y(search->middle);
    return x < SIDE && y < SIDE ? y * SIDE + x : CELLS;
}

static fm_cell cell_of(const fm_around_search *search, uint32_t i)
{
    return fm_cell_at(fm_cell_x(search->middle) + i % SIDE - REACH,
                      fm_cell_y(search->middle) + i / SIDE - REACH);
}

static void begin(fm_around_search *search, fm_cell middle)
{
    search->middle = middle;
    memset(search->distances, 0xff, sizeof search->distances);
    memset(search->numbers, 0, sizeof search->numbers);
}

static uint32_t *place_of(const void *context, uint32_t i)
{
    fm_around_search *search = (fm_around_search *)(uintptr_t)context;
    return &search->places[i];
}

// ---- who stands there ---------------------------------------------------------------------------

static bool is_in_sight(const struct question *q, fm_cell cell)
{
    return fm_cell_dx(q->agent->cell, cell) <= q->sight &&
           fm_cell_dy(q->agent->cell, cell) <= q->sight;
}

static bool is_remembered(const struct question *q, fm_cell cell)
{
    for (uint32_t i = 0; i < q->seen->count; i++) {
        if (q->seen->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

// The agent sees that nobody is there any more.
static void strike(const struct question *q, fm_cell cell)
{
    for (uint32_t i = 0; i < q->seen->count; i++) {
        if (q->seen->cells[i] == cell) {
            q->seen->cells[i] = q->seen->cells[--q->seen->count];
        }
    }
}

static void remember(const struct question *q, uint32_t unit)
{
    const struct fm_agent *other = fm_agent_at(q->world, unit - 1);
    uint32_t size = fm_world_class_size(q->world, other->class_index);
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell cell = other->cell + fm_cell_at(i % size, i / size);
        if (q->seen->count < FM_AROUND_SEEN_MAX && !is_remembered(q, cell)) {
            q->seen->cells[q->seen->count++] = cell;
        }
    }
}

// Slot + 1 of who stands there, UINT32_MAX: the agent saw somebody there; 0: nobody.
static uint32_t standing_at(struct question *q, fm_cell cell)
{
    uint32_t unit = fm_standing_at(q->world, q->agent, cell);
    if (q->sight == UINT32_MAX) {
        return unit;
    }
    if (unit != 0) {
        remember(q, unit);
        return unit;
    }
    uint32_t size = q->seen->count == 0 ? 0 : fm_world_class_size(q->world, q->agent->class_index);
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell part = cell + fm_cell_at(i % size, i / size);
        if (is_in_sight(q, part)) {
            strike(q, part);
        } else if (is_remembered(q, part)) {
            q->relies = true;
            return UINT32_MAX;
        }
    }
    return 0;
}

// ---- the way ------------------------------------------------------------------------------------

// The first cell of the path, after the agent's own, where somebody stands; 0: there is none, or it
// is one who stands on the goal.
static uint32_t first_taken(const fm_around_search *search, struct question *q, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t unit = standing_at(q, search->path[i]);
        if (unit != 0) {
            return unit == standing_at(q, q->goal) ? 0 : i;
        }
    }
    return 0;
}

// Numbers the free cells of the path behind the one that is taken. Returns whether there are any.
static bool number_path(fm_around_search *search, struct question *q, uint32_t taken,
                        uint32_t count)
{
    uint32_t rest = 0;
    bool any = false;
    for (uint32_t i = count - 1; i > taken; i--) {
        fm_cell cell = search->path[i], before = search->path[i - 1];
        uint32_t j = index_of(search, cell);
        bool is_taken = standing_at(q, cell) != 0;
        search->rests[i] = rest;
        if (j < CELLS && !is_taken) {
            search->numbers[j] = (uint8_t)i;
            any = true;
        }
        rest += fm_view_cost(q->view, before, fm_cell_direction(before, cell), cell);
        rest += is_taken ? DETOUR * q->view->step[0] : 0;
    }
    return any;
}

static void queue(fm_around_search *search, const struct question *q, uint32_t i, fm_cell cell)
{
    uint32_t f = search->distances[i] + fm_view_distance(q->view, cell, q->end);
    bool has_room = fm_heap_set(&search->heap, (uint64_t)f << 32 | i, i, place_of, search);
    FM_ASSERT(has_room);
}

static void offer(struct question *q, uint32_t cost, uint32_t i)
{
    if (cost < q->best) {
        q->best = cost;
        q->best_cell = i;
    }
}

static void spread(fm_around_search *search, struct question *q, uint32_t i)
{
    fm_cell cell = cell_of(search, i);
    for (uint32_t moves = fm_view_moves(q->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(cell, d);
        uint32_t j = index_of(search, next);
        uint32_t cost = fm_view_cost(q->view, cell, d, next);
        if (q->goal_taken && next == q->goal) {
            offer(q, search->distances[i] + cost, i);
        }
        if (j == CELLS) {
            q->is_cut = true;
            continue;
        }
        if (search->distances[j] == FAR && standing_at(q, next) != 0) {
            search->distances[j] = 0;
            search->numbers[j] = TAKEN;
        }
        if (search->distances[i] + cost < search->distances[j]) {
            search->distances[j] = search->distances[i] + cost;
            search->steps[j] = (uint8_t)d;
            queue(search, q, j, next);
        }
    }
}

// Whether a way may end in a cell that the search has come to.
static void judge(const fm_around_search *search, struct question *q, uint32_t i)
{
    if (i == q->goal_index) {
        offer(q, search->distances[i], i);
    }
    if (search->numbers[i] != 0) {
        offer(q, search->distances[i] + search->rests[search->numbers[i]], i);
    } else if (!q->has_path) {
        fm_cell cell = cell_of(search, i);
        uint32_t left = fm_view_distance(q->view, cell, q->goal);
        if (left < fm_view_distance(q->view, q->agent->cell, q->goal)) {
            offer(q, search->distances[i] + left, i);
        }
    }
}

static fm_around_answer search_way(fm_around_search *search, struct question *q, uint32_t most,
                                   uint64_t *work)
{
    uint32_t first = index_of(search, q->agent->cell);
    memset(search->places, 0, sizeof search->places);
    search->heap.count = 0;
    search->distances[first] = 0;
    queue(search, q, first, q->agent->cell);
    for (uint32_t expanded = 0; search->heap.count > 0; expanded++) {
        fm_heap_entry top = search->heap.entries[0];
        if (top.key >> 32 >= q->best) {
            break;
        }
        if (expanded == most) {
            return FM_AROUND_UNKNOWN;
        }
        fm_heap_remove(&search->heap, top.ref, place_of, search);
        *work += 1;
        judge(search, q, top.ref);
        spread(search, q, top.ref);
    }
    return q->best != FAR ? FM_AROUND_FOUND : q->is_cut ? FM_AROUND_UNKNOWN : FM_AROUND_SHUT;
}

// Lists the way to the best cell. Returns how many cells it has; 0: too many, or none.
static uint32_t list_way(const fm_around_search *search, const struct question *q, fm_cell *cells)
{
    uint32_t count = 1;
    for (fm_cell cell = cell_of(search, q->best_cell); cell != q->agent->cell; count++) {
        cell = fm_cell_step(cell, search->steps[index_of(search, cell)] ^ 4u);
    }
    if (count < 2 || count > FM_AROUND_CELLS_MAX) {
        return 0;
    }
    fm_cell cell = cell_of(search, q->best_cell);
    for (uint32_t i = count; i-- > 0;) {
        cells[i] = cell;
        if (i > 0) {
            cell = fm_cell_step(cell, search->steps[index_of(search, cell)] ^ 4u);
        }
    }
    return count;
}

// ---- whether the goal is shut in ----------------------------------------------------------------

static bool is_goal_shut(fm_around_search *search, struct question *q, uint32_t most,
                         uint64_t *work)
{
    uint32_t *waiting = search->places, count = 1;
    begin(search, q->goal);
    search->was_flood = true;
    waiting[0] = index_of(search, q->goal);
    search->distances[waiting[0]] = 0;
    for (uint32_t done = 0; done < count; done++) {
        fm_cell cell = cell_of(search, waiting[done]);
        *work += 1;
        for (uint32_t moves = fm_view_moves(q->view, cell); moves != 0; moves &= moves - 1) {
            fm_cell next = fm_cell_step(cell, (uint32_t)__builtin_ctz(moves));
            uint32_t j = index_of(search, next);
            if (j == CELLS || next == q->agent->cell || count == most) {
                return false;
            }
            if (search->distances[j] == FAR) {
                search->distances[j] = 0;
                if (standing_at(q, next) == 0) {
                    waiting[count++] = j;
                } else {
                    search->numbers[j] = TAKEN;
                }
            }
        }
    }
    return true;
}

// ---- all of it ----------------------------------------------------------------------------------

// Some planners walk the whole path for that, however few cells are wanted.
static uint32_t list_path(fm_around_search *search, const struct question *q, uint32_t most,
                          uint64_t *work)
{
    const struct fm_planner *planner = &fm_world_planners(q->world)->slots[q->agent->planner];
    uint32_t count = planner->spec.ops->path(planner->self, q->agent->cell, search->path, most);
    *work += count / PATH_CELLS;
    return fm_min(count, most);
}

fm_around_answer fm_around_search_run(fm_around_search *search, const fm_world *world,
                                      const struct fm_agent *agent, fm_around_memory *seen,
                                      uint32_t most, bool floods, fm_cell *cells, uint32_t *count,
                                      uint64_t *work)
{
    fm_cell goal = fm_order_aim(&agent->order);
    struct question q = {.world = world,
                         .agent = agent,
                         .seen = seen,
                         .sight = fm_crowd_sight(world, agent, UINT32_MAX),
                         .view = fm_world_class_view(world, agent->team, agent->class_index),
                         .goal = goal,
                         .end = goal,
                         .best = FAR};
    *work += 1;
    if (list_path(search, &q, PATH_NEAR, work) == PATH_NEAR &&
        first_taken(search, &q, PATH_NEAR) == 0) {
        return FM_AROUND_UNKNOWN;
    }
    uint32_t length = list_path(search, &q, PATH_MAX, work);
    bool is_whole = length > 1 && search->path[length - 1] == goal;
    uint32_t taken = length > 1 ? first_taken(search, &q, length) : 0;
    if (length > 1 ? taken == 0 : standing_at(&q, agent->next) == 0) {
        return FM_AROUND_UNKNOWN;
    }
    q.goal_taken = !fm_view_is_blocked(q.view, goal) && standing_at(&q, goal) != 0;
    begin(search, agent->cell);
    *work += BEGIN_WORK;
    search->was_flood = false;
    q.goal_index = q.goal_taken ? CELLS : index_of(search, goal);
    q.relies = false;
    q.has_path = length > 1 && number_path(search, &q, taken, length);
    if (q.has_path) {
        q.end = search->path[length - 1];
    } else if (is_whole || length == PATH_MAX) {
        q.has_path =
            true; // behind the agent's way there is no cell to go to, but it may be shut in
    }
    fm_around_answer answer = search_way(search, &q, most, work);
    if (answer == FM_AROUND_FOUND) {
        *count = list_way(search, &q, cells);
        answer = *count == 0 ? FM_AROUND_UNKNOWN : answer;
    }
    if (answer == FM_AROUND_UNKNOWN && floods && !fm_view_is_blocked(q.view, goal) &&
        is_goal_shut(search, &q, most, work)) {
        answer = FM_AROUND_SHUT;
    }
    return answer == FM_AROUND_SHUT && q.relies ? FM_AROUND_UNKNOWN : answer;
}

// Whether the last search has come there.
static bool has_reached(const fm_around_search *search, fm_cell cell)
{
    uint32_t i = index_of(search, cell);
    return i < CELLS && search->distances[i] != FAR && search->numbers[i] != TAKEN;
}

bool fm_around_search_proves(const fm_around_search *search, const struct fm_agent *agent)
{
    bool is_inside = has_reached(search, agent->cell);
    fm_cell goal = fm_order_aim(&agent->order);
    if (search->was_flood) {
        return has_reached(search, goal) && !is_inside;
    }
    // Where somebody stands on its goal a cell beside it would do.
    uint32_t i = index_of(search, goal);
    return is_inside && (i == CELLS || search->distances[i] == FAR);
}
