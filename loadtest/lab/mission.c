// loadtest/lab/mission.c: see mission.h.

#include "loadtest/lab/mission.h"

#include "loadtest/lab/stopwatch.h"

#include <stdlib.h>

void fm_lab_worker_init(fm_lab_worker *worker)
{
    fm_slab_init(&worker->slab, &fm_memory_libc);
    fm_scratch_init(&worker->scratch, &fm_memory_libc);
}

void fm_lab_worker_fini(fm_lab_worker *worker)
{
    fm_scratch_fini(&worker->scratch);
    fm_slab_fini(&worker->slab);
}

// ---- the loop ----------------------------------------------------------------------------------

struct walk {
    const fm_lab_ground *ground;
    fm_knowledge *knowledge;
    const fm_planner_ops *ops;
    void *planner;
    fm_work work;
    uint64_t before; // version of the knowledge that the planner has seen
    fm_cell at, goal;
    fm_plan_state state;
    fm_lab_mission *mission;
};

static bool ticks_passed(void *context)
{
    return fm_lab_ticks() >= *(const uint64_t *)context;
}

// Notifies the planner of what is new and of where the agent stands.
static void tell(struct walk *walk)
{
    uint32_t count;
    bool complete;
    const fm_change *changes =
        fm_change_log_since(&walk->knowledge->log, walk->before, &count, &complete);
    if (!complete) {
        walk->ops->forget(walk->planner, walk->work.slab);
    } else if (count > 0) {
        walk->ops->knowledge_changed(walk->planner, changes, count, &walk->work);
    }
    walk->before = walk->knowledge->log.version;
    fm_knowledge_trim_logs(walk->knowledge);
    walk->ops->set_starts(walk->planner, &walk->at, 1);
}

static void search(struct walk *walk, uint64_t deadline_ticks)
{
    bool unlimited = walk->ground->interval_expansions == 0 && walk->ground->interval_ticks == 0;
    walk->work.expansions_max =
        walk->ground->interval_expansions == 0 ? UINT32_MAX : walk->ground->interval_expansions;
    walk->work.deadline = (fm_deadline){
        .passed = walk->ground->interval_ticks == 0 ? NULL : ticks_passed,
        .context = &deadline_ticks,
    };
    uint32_t expansions_before = walk->work.expansions;
    do {
        walk->state = walk->ops->advance(walk->planner, &walk->work);
    } while (unlimited && walk->state == FM_PLAN_RUNNING);
    walk->mission->replans += walk->work.expansions > expansions_before;
}

// What the planner did in this interval, added up.
static void account(struct walk *walk, uint64_t ticks)
{
    fm_lab_mission *mission = walk->mission;
    mission->planning_ticks += ticks;
    if (ticks > mission->interval_longest_ticks) {
        mission->interval_longest_ticks = ticks;
    }
    if (walk->work.expansions > 0) {
        mission->expansions += walk->work.expansions - walk->work.secondary;
        mission->secondary += walk->work.secondary;
        size_t bytes = walk->ops->bytes(walk->planner);
        mission->bytes_max = bytes > mission->bytes_max ? bytes : mission->bytes_max;
        walk->work.expansions = 0;
        walk->work.secondary = 0;
    }
}

// The agent makes the step that the planner named, if the truth has it.
static void move(struct walk *walk, fm_cell next)
{
    if (next == FM_CELL_NONE || next == walk->at) {
        return;
    }
    uint32_t d = fm_cell_direction(walk->at, next);
    FM_ASSERT(d < FM_DIRECTION_COUNT);
    FM_ASSERT(fm_view_moves(&walk->knowledge->view, walk->at) >> d & 1);
    if (fm_grid_is_blocked(walk->knowledge->truth, next)) {
        return; // not seen yet: it will be, from where the agent stands
    }
    walk->mission->cost += fm_view_cost(&walk->knowledge->view, walk->at, d, next);
    walk->mission->moves += 1;
    walk->at = next;
}

// One interval. Returns whether there will be another.
static bool go_on(struct walk *walk)
{
    fm_lab_mission *mission = walk->mission;
    if (walk->at == walk->goal) {
        mission->outcome = FM_LAB_ARRIVED;
        return false;
    }
    if (walk->ground->intervals_max != 0 && mission->intervals >= walk->ground->intervals_max) {
        mission->outcome = FM_LAB_GIVEN_UP;
        return false;
    }
    uint64_t begun = fm_lab_ticks();
    fm_knowledge_sense(walk->knowledge, NULL, walk->at);
    uint64_t sensed = fm_lab_ticks();
    tell(walk);
    search(walk, sensed + walk->ground->interval_ticks);
    fm_cell next = walk->ops->next_step(walk->planner, walk->at);
    uint64_t planned = fm_lab_ticks();

    mission->sensing_ticks += sensed - begun;
    mission->intervals += 1;
    account(walk, planned - sensed);
    if (walk->state == FM_PLAN_UNREACHABLE || walk->state == FM_PLAN_EXHAUSTED) {
        mission->outcome = walk->state == FM_PLAN_EXHAUSTED ? FM_LAB_EXHAUSTED : FM_LAB_UNREACHABLE;
        return false;
    }
    move(walk, next);
    return true;
}

// ---- before and after --------------------------------------------------------------------------

static void remember(fm_knowledge *knowledge, const fm_bitmap *remembered)
{
    const fm_grid *truth = knowledge->truth;
    for (uint32_t y = 0; y < truth->height; y++) {
        for (uint32_t x = 0; x < truth->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (!fm_bitmap_get(remembered, cell)) {
                continue;
            }
            fm_bitmap_set(&knowledge->known, cell);
            knowledge->known_count += 1;
            if (!fm_grid_is_blocked(truth, cell)) {
                continue;
            }
            fm_bitmap_set(&knowledge->blocked, cell);
            if (knowledge->blocked_transposed.words != NULL) {
                fm_bitmap_set(&knowledge->blocked_transposed, fm_cell_at(y, x));
            }
        }
    }
}

static fm_status make_planner(struct walk *walk, const fm_planner_spec *spec)
{
    walk->planner = fm_memory_allocate_zeroed(&fm_memory_libc, 1, spec->ops->size);
    if (walk->planner == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = spec->ops->init(walk->planner, &walk->knowledge->view, &spec->options,
                                       &fm_memory_libc, walk->goal);
    if (status != FM_OK) {
        fm_memory_release(&fm_memory_libc, walk->planner, spec->ops->size);
        walk->planner = NULL;
    }
    return status;
}

static void unmake_planner(struct walk *walk)
{
    walk->ops->fini(walk->planner, walk->work.slab);
    fm_memory_release(&fm_memory_libc, walk->planner, walk->ops->size);
}

// Subtracts the time that the system gave to others.
static void take_off(fm_lab_mission *mission, uint64_t processor_ns, uint64_t clock_ns)
{
    if (processor_ns < clock_ns) {
        double share = (double)processor_ns / (double)clock_ns;
        mission->planning_ticks = (uint64_t)((double)mission->planning_ticks * share);
        mission->sensing_ticks = (uint64_t)((double)mission->sensing_ticks * share);
    }
}

fm_status fm_lab_mission_play(const fm_lab_ground *ground, const fm_planner_spec *spec,
                              fm_cell start, fm_cell goal, fm_lab_worker *worker,
                              fm_lab_mission *mission)
{
    *mission = (fm_lab_mission){0};
    struct walk walk = {
        .ground = ground,
        .ops = spec->ops,
        .work = {.slab = &worker->slab, .scratch = &worker->scratch},
        .at = start,
        .goal = goal,
        .mission = mission,
    };
    fm_status status = fm_knowledge_create(ground->truth, ground->sight, ground->connectivity,
                                           ground->steps, false, &fm_memory_libc, &walk.knowledge);
    if (status != FM_OK) {
        return status;
    }
    if (ground->remembered != NULL) {
        remember(walk.knowledge, ground->remembered);
    }
    uint64_t clock_begun_ns = fm_lab_clock_ns(), processor_begun_ns = fm_lab_processor_ns();
    uint64_t begun = fm_lab_ticks();
    status = make_planner(&walk, spec);
    if (status == FM_OK) {
        mission->planning_ticks += fm_lab_ticks() - begun;
        while (go_on(&walk)) {
        }
        begun = fm_lab_ticks();
        unmake_planner(&walk);
        mission->planning_ticks += fm_lab_ticks() - begun;
        mission->last = walk.at;
        take_off(mission, fm_lab_processor_ns() - processor_begun_ns,
                 fm_lab_clock_ns() - clock_begun_ns);
    }
    fm_knowledge_destroy(walk.knowledge);
    return status;
}

fm_status fm_lab_mission_measure(const fm_lab_ground *ground, const fm_planner_spec *spec,
                                 fm_cell start, fm_cell goal, uint32_t repeats,
                                 fm_lab_worker *worker, fm_lab_mission *mission)
{
    for (uint32_t i = 0; i < repeats; i++) {
        fm_lab_mission again;
        fm_status status = fm_lab_mission_play(ground, spec, start, goal, worker, &again);
        if (status != FM_OK) {
            return status;
        }
        if (i == 0 || again.planning_ticks < mission->planning_ticks) {
            *mission = again;
        }
    }
    return FM_OK;
}

// ---- the ground --------------------------------------------------------------------------------

uint32_t fm_lab_optimal_cost(const fm_lab_ground *ground, fm_cell start, fm_cell goal,
                             fm_lab_worker *worker)
{
    const fm_planner_ops *ops = &fm_repeated_forward_astar;
    const fm_planner_options options = {0};
    fm_view view = fm_view_of_grid(ground->truth, ground->connectivity, ground->steps);
    fm_work work = {
        .slab = &worker->slab, .scratch = &worker->scratch, .expansions_max = UINT32_MAX};
    uint32_t cost = FM_COST_INFINITE;
    void *planner = fm_memory_allocate_zeroed(&fm_memory_libc, 1, ops->size);
    if (planner == NULL) {
        return cost;
    }
    if (ops->init(planner, &view, &options, &fm_memory_libc, goal) == FM_OK) {
        ops->set_starts(planner, &start, 1);
        while (ops->advance(planner, &work) == FM_PLAN_RUNNING) {
        }
        uint32_t length = ops->path(planner, start, NULL, 0);
        fm_cell *cells = length == 0 ? NULL : calloc(length, sizeof *cells);
        if (cells != NULL) {
            ops->path(planner, start, cells, length);
            cost = 0;
            for (uint32_t i = 1; i < length; i++) {
                cost += fm_view_cost(&view, cells[i - 1], fm_cell_direction(cells[i - 1], cells[i]),
                                     cells[i]);
            }
        }
        free(cells);
        ops->fini(planner, &worker->slab);
    }
    fm_memory_release(&fm_memory_libc, planner, ops->size);
    return cost;
}

// Marks what hangs together with `from` by straight steps. The array `stack` has room for every
// cell; afterwards it holds the marked ones. Two cells reach each other by straight steps exactly
// when they reach each other at all, whatever the rule for diagonals.
static uint32_t flood(const fm_grid *grid, fm_cell from, fm_bitmap *marked, fm_cell *cells)
{
    uint32_t count = 1;
    cells[0] = from;
    fm_bitmap_set(marked, from);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t x = (int64_t)fm_cell_x(cells[i]) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(cells[i]) + fm_direction_dy[d];
            if (!fm_grid_contains(grid, x, y)) {
                continue;
            }
            fm_cell next = fm_cell_at((uint32_t)x, (uint32_t)y);
            if (!fm_grid_is_blocked(grid, next) && !fm_bitmap_get(marked, next)) {
                fm_bitmap_set(marked, next);
                cells[count++] = next;
            }
        }
    }
    return count;
}

// The marked cells in row order, which is the same whatever order the flood took.
static void list_marked(const fm_bitmap *marked, fm_cell *cells)
{
    for (uint32_t y = 0; y < marked->height; y++) {
        const uint64_t *row = fm_bitmap_row(marked, (int32_t)y);
        for (uint32_t word = 0; word <= (marked->width - 1) >> 6; word++) {
            for (uint64_t bits = row[word]; bits != 0; bits &= bits - 1) {
                *cells++ = fm_cell_at(word * 64 + (uint32_t)__builtin_ctzll(bits), y);
            }
        }
    }
}

// The free cells that hang together with `from`, in row order; to be freed. NULL when memory ran
// out.
static fm_cell *component_of(const fm_grid *grid, fm_cell from, uint32_t *count)
{
    fm_bitmap marked;
    if (fm_bitmap_init(&marked, grid->width, grid->height, false, &fm_memory_libc) != FM_OK) {
        return NULL;
    }
    fm_cell *cells = calloc(grid->free_count, sizeof *cells);
    if (cells != NULL) {
        *count = flood(grid, from, &marked, cells);
        list_marked(&marked, cells);
    }
    fm_bitmap_fini(&marked, &fm_memory_libc);
    return cells;
}

fm_cell *fm_lab_largest_component(const fm_grid *grid, uint32_t *count)
{
    fm_bitmap marked;
    fm_cell *cells = calloc(grid->free_count + 1, sizeof *cells);
    fm_cell largest = FM_CELL_NONE;
    uint32_t largest_count = 0;
    if (cells == NULL ||
        fm_bitmap_init(&marked, grid->width, grid->height, false, &fm_memory_libc) != FM_OK) {
        free(cells);
        return NULL;
    }
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (fm_grid_is_blocked(grid, cell) || fm_bitmap_get(&marked, cell)) {
                continue;
            }
            uint32_t found = flood(grid, cell, &marked, cells);
            largest = found > largest_count ? cell : largest;
            largest_count = found > largest_count ? found : largest_count;
        }
    }
    fm_bitmap_fini(&marked, &fm_memory_libc);
    free(cells);
    *count = 0;
    return largest == FM_CELL_NONE ? NULL : component_of(grid, largest, count);
}
