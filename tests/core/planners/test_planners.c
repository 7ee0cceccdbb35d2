// test_planners.c: every planner of the catalogue against a plain reference search.
//
// Random worlds change in both directions while the planner is suspended at random points, agents
// walk or are pushed, and goals move. After every tick each answer is compared with the costs that
// the reference finds on the same map:
//
//   FOUND        the next step is legal and cost + D(next) == D(position); path() is legal, leads
//                from start to goal and costs D(position). For planners that promise less: a path
//                with the fewest steps, or any path.
//   PARTIAL      real-time planners only; the next step is legal
//   UNREACHABLE  D(position) is infinite, and nearest() really is the nearest
//   at the end   with the world at rest every agent arrives, or learns that there is no path
//
// Planners that take a heuristic get a random one; the tables that some heuristics read are made
// again, or become stale, at random moments, also during suspended searches.
//
// FOGMARCH_PLANNER=name runs only that planner.
//
// Some faults show only with grants of one to three expansions, so half of the worlds are played
// that way. A failure prints the planner with its options and the world's seed; the same
// FOGMARCH_SEED plays the same worlds again.

#include "tests/support/support.h"

#include "tests/support/fog.h"
#include "tests/support/reference.h"

#define SMALL_WORLDS  300u
#define LARGE_WORLDS  12u
#define TICKS         60u
#define PATH_CAPACITY 40000u
#define WINDING_SIDE  250u

struct play {
    fog world;
    fog_planner planner;
    fm_planner_spec spec;
    char name[FM_PLANNER_SPEC_SIZE];
    uint64_t seed;
    uint32_t tick;
    reference costs;                 // to the goal, on the map as it is now
    bool was_pushed[FOG_STARTS_MAX]; // since the goal was found unreachable
    bool optimal;                    // FOUND means a cheapest path
    fm_heuristic_tables tables;
    fog_tables made; // what they point to
};

#define CHECK(play, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s, world %llu, tick %u: %s", (play)->name,                                  \
                     (unsigned long long)(play)->seed, (play)->tick, #condition);                  \
        }                                                                                          \
    } while (0)

static uint32_t below(struct play *play, uint32_t bound)
{
    return fm_random_below(&play->world.random, bound);
}

// ---- checks ----

static uint32_t fewest_steps(struct play *play, fm_cell start)
{
    fm_view steps = play->world.view;
    steps.weights = NULL;
    steps.step[0] = steps.step[1] = 1;
    reference counts = reference_measure(&steps, play->planner.goal);
    uint32_t count = reference_cost(&counts, start);
    reference_fini(&counts);
    return count;
}

static void check_path(struct play *play, fm_cell start)
{
    static fm_cell cells[PATH_CAPACITY], cut[3];
    const fm_planner_ops *ops = play->planner.ops;
    const fm_view *view = &play->world.view;
    uint32_t length = ops->path(play->planner.self, start, cells, PATH_CAPACITY);
    CHECK(play, length >= 1 && length <= PATH_CAPACITY);
    CHECK(play, cells[0] == start && cells[length - 1] == play->planner.goal);
    uint32_t cost = 0;
    for (uint32_t i = 1; i < length; i++) {
        CHECK(play, reference_is_legal(view, cells[i - 1], cells[i]));
        cost += reference_step_cost(view, cells[i - 1], cells[i]);
    }
    uint32_t optimum = reference_cost(&play->costs, start);
    CHECK(play, play->optimal ? cost == optimum : cost >= optimum);
    CHECK(play, ops->finding != FM_FINDS_SHORTEST || length - 1 == fewest_steps(play, start));
    CHECK(play, ops->path(play->planner.self, start, cut, 3) == length);
    CHECK(play, memcmp(cut, cells, (length < 3 ? length : 3) * sizeof *cut) == 0);
}

// Of a path that is not proven only the steps must be legal.
static void check_partial_path(struct play *play, fm_cell start, fm_cell next)
{
    static fm_cell cells[PATH_CAPACITY];
    const fm_planner_ops *ops = play->planner.ops;
    uint32_t length = ops->path(play->planner.self, start, cells, PATH_CAPACITY);
    CHECK(play, length <= PATH_CAPACITY);
    CHECK(play, length == 0 || (cells[0] == start && cells[1] == next));
    CHECK(play, length == 0 || cells[length - 1] == play->planner.goal);
    for (uint32_t i = 1; i < length; i++) {
        CHECK(play, reference_is_legal(&play->world.view, cells[i - 1], cells[i]));
    }
}

static void check_nearest(struct play *play, fm_cell start, bool was_pushed)
{
    if (play->planner.ops->nearest == NULL) {
        return;
    }
    fm_cell nearest = play->planner.ops->nearest(play->planner.self, start);
    if (nearest == FM_CELL_NONE) {
        return;
    }
    CHECK(play,
          reference_is_nearest(&play->world.view, start, play->planner.goal, nearest, !was_pushed));
}

static void check_answer(struct play *play, uint32_t i)
{
    const fm_planner_ops *ops = play->planner.ops;
    fm_cell start = play->planner.starts[i];
    const fm_view *view = &play->world.view;
    fm_plan_state state = ops->state_at(play->planner.self, start);
    fm_cell next = ops->next_step(play->planner.self, start);
    if (start == play->planner.goal) {
        CHECK(play, state == FM_PLAN_FOUND);
        CHECK(play, next == start);
        return;
    }
    switch (state) {
    case FM_PLAN_FOUND:
        CHECK(play, next != FM_CELL_NONE && reference_is_legal(view, start, next));
        CHECK(play, reference_cost(&play->costs, start) < FM_COST_INFINITE);
        CHECK(play, !play->optimal || reference_step_cost(view, start, next) +
                                              reference_cost(&play->costs, next) ==
                                          reference_cost(&play->costs, start));
        check_path(play, start);
        break;
    case FM_PLAN_PARTIAL:
        CHECK(play, ops->real_time);
        CHECK(play, next != FM_CELL_NONE && reference_is_legal(view, start, next));
        check_partial_path(play, start, next);
        break;
    case FM_PLAN_UNREACHABLE:
        CHECK(play, reference_cost(&play->costs, start) >= FM_COST_INFINITE);
        CHECK(play, next == FM_CELL_NONE);
        CHECK(play, ops->path(play->planner.self, start, NULL, 0) == 0);
        // Real-time planners walk while they search; ties refer to the cell where the search began.
        check_nearest(play, start,
                      play->was_pushed[i] || ops->real_time || ops->finding != FM_FINDS_CHEAPEST);
        break;
    case FM_PLAN_RUNNING:
        CHECK(play, next == FM_CELL_NONE);
        CHECK(play, ops->path(play->planner.self, start, NULL, 0) == 0);
        break;
    case FM_PLAN_EXHAUSTED:
        CHECK(play, state != FM_PLAN_EXHAUSTED);
        break;
    }
    play->was_pushed[i] &= state == FM_PLAN_UNREACHABLE;
}

// The sum is RUNNING exactly when some start has no answer, and no grant is exceeded.
static void check_advance(struct play *play, fm_plan_state state, uint32_t granted, uint32_t used)
{
    const fog_planner *planner = &play->planner;
    bool any_running = false;
    for (uint32_t i = 0; i < planner->start_count; i++) {
        any_running |= planner->ops->state_at(planner->self, planner->starts[i]) == FM_PLAN_RUNNING;
    }
    CHECK(play, (state == FM_PLAN_RUNNING) == any_running);
    CHECK(play, used <= granted);
    CHECK(play, state != FM_PLAN_RUNNING || used == granted || planner->work.cut);
}

struct visited {
    struct play *play;
    bool *seen;
    uint32_t count;
    uint64_t digest;
};

static void visit(const fm_inspection *cell, void *context)
{
    struct visited *visited = context;
    struct play *play = visited->play;
    const fm_view *view = &play->world.view;
    CHECK(play, fm_cell_x(cell->cell) < view->width && fm_cell_y(cell->cell) < view->height);
    bool *seen =
        &visited->seen[(size_t)fm_cell_y(cell->cell) * view->width + fm_cell_x(cell->cell)];
    CHECK(play, !*seen);
    *seen = true;
    CHECK(play, !(cell->open && cell->closed));
    CHECK(play, cell->parent == FM_CELL_NONE ||
                    fm_cell_direction(cell->cell, cell->parent) < FM_DIRECTION_COUNT);
    visited->count += 1;
    const uint64_t words[] = {cell->cell, cell->open, cell->closed, cell->g,
                              cell->h,    cell->rhs,  cell->key,    cell->parent};
    for (size_t i = 0; i < FM_COUNT_OF(words); i++) {
        visited->digest = fm_mix64(visited->digest * 31 + words[i] + 1);
    }
}

// Checks that inspect() visits every cell at most once. Returns a hash of all that it showed.
static uint64_t check_inspect(struct play *play, const fog_planner *planner)
{
    size_t cell_count = (size_t)play->world.width * play->world.height;
    struct visited visited = {.play = play, .seen = calloc(cell_count, sizeof(bool))};
    FM_ASSERT(visited.seen != NULL);
    planner->ops->inspect(planner->self, visit, &visited);
    free(visited.seen);
    size_t bytes = planner->ops->bytes(planner->self);
    CHECK(play, bytes >= planner->ops->size);
    CHECK(play, visited.count == 0 || bytes > planner->ops->size);
    return visited.digest;
}

// ---- playing ----

// Half of them are exact.
static void choose_field_options(fm_field_options *field, fm_random *random)
{
    static const uint16_t weights[] = {0, 1000, 1100, 1500}, horizons[] = {0, 1, FM_HORIZON_NONE};
    *field = (fm_field_options){.weight = 1000, .period = 1, .horizon = FM_HORIZON_NONE};
    if (fm_random_below(random, 2) == 0) {
        field->weight = weights[fm_random_below(random, FM_COUNT_OF(weights))];
        field->period = (uint16_t)fm_random_below(random, 6);
        field->horizon = horizons[fm_random_below(random, FM_COUNT_OF(horizons))];
        field->full = (uint16_t)fm_random_below(random, 40);
    }
}

static void choose_spec(struct play *play, const fm_planner_ops *ops, fm_random *random,
                        uint32_t lookahead_max)
{
    play->spec = (fm_planner_spec){
        .ops = ops,
        .options = {.queue = (fm_queue_kind)fm_random_below(random, 2),
                    .ties = (fm_ties)fm_random_below(random, 3),
                    .step = (fm_step_choice)fm_random_below(random, 2),
                    .lookahead = ops->real_time ? fm_random_below(random, lookahead_max) : 0}};
    switch (fm_random_below(random, 3)) {
    case 0:
        play->spec.options.heuristic = FM_HEURISTIC_LANDMARKS;
        break;
    case 1:
        play->spec.options.heuristic =
            (fm_heuristic_kind)fm_random_below(random, FM_HEURISTIC_COUNT);
        break;
    }
    choose_field_options(&play->spec.options.field, random);
    const fm_view *view = &play->world.view;
    if (ops->guidance == FM_GUIDED_BY_ITS_OWN ||
        !fm_planner_spec_fits(&play->spec, view->connectivity, view->weights != NULL)) {
        play->spec.options.heuristic = FM_HEURISTIC_DEFAULT;
    }
    // A path found by tables that were too high stays when they have been made again.
    play->optimal = fog_promises_cheapest(&play->spec, view) &&
                    !(play->tables.allow_stale && ops->guidance == FM_GUIDED_BY_ANY);
    fm_planner_spec_format(&play->spec, play->name, sizeof play->name);
}

static void play_init(struct play *play, const fm_planner_ops *ops, uint64_t seed, bool large)
{
    *play = (struct play){.seed = seed};
    fog_init(&play->world, seed, large ? 40 : 1, large ? 80 : 16, ops->uniform_only);
    play->tables.allow_stale = below(play, 4) == 0;
    play->world.view.tables = &play->tables;
    choose_spec(play, ops, &play->world.random, large ? 200 : 12);
    fog_planner_init(&play->planner, &play->world, ops, &play->spec.options);
}

static void play_fini(struct play *play)
{
    reference_fini(&play->costs);
    fog_planner_fini(&play->planner);
    fog_tables_fini(&play->made);
    fog_fini(&play->world);
}

// Computes the costs to the goal again, if anything has changed since the last time.
static const reference *measure(struct play *play)
{
    if (play->costs.cost == NULL) {
        play->costs = reference_measure(&play->world.view, play->planner.goal);
    }
    return &play->costs;
}

static void tell(struct play *play)
{
    fog_settle_changes(&play->world);
    if (play->tick < TICKS && below(play, 6) == 0 && play->world.width <= 16) {
        fog_tables_make(&play->made, &play->world, play->spec.options.heuristic, &play->tables);
    } else {
        fog_tables_follow(&play->world, &play->tables);
    }
    fog_planner_tell(&play->planner);
    play->world.change_count = 0;
}

static void disturb(struct play *play)
{
    fog_planner *planner = &play->planner;
    reference_fini(&play->costs);
    if (below(play, 3) == 0) {
        fog_edit(&play->world, planner->starts[0]);
    }
    fm_cell goal = fog_free_cell(&play->world);
    if (below(play, 30) == 0 && goal != planner->goal) {
        planner->goal = goal;
        planner->ops->set_goal(planner->self, planner->goal, &planner->slab);
    }
    for (uint32_t i = 0; i < planner->start_count; i++) {
        if (below(play, 12) == 0) {
            planner->starts[i] = fog_free_cell(&play->world);
            play->was_pushed[i] = true;
        }
    }
}

static void think(struct play *play, uint32_t grant_max)
{
    uint32_t calls = 1 + (below(play, 4) == 0);
    while (calls-- > 0) {
        uint32_t grant = 1 + below(play, grant_max);
        uint32_t before = play->planner.work.expansions;
        uint32_t strikes = below(play, 3) == 0 ? 128 : 0;
        fm_plan_state state = fog_planner_advance(&play->planner, grant, strikes);
        check_advance(play, state, grant, play->planner.work.expansions - before);
    }
}

static void walk(struct play *play)
{
    fog_planner *planner = &play->planner;
    for (uint32_t i = 0; i < planner->start_count; i++) {
        fm_cell next = planner->ops->next_step(planner->self, planner->starts[i]);
        if (next != FM_CELL_NONE) {
            planner->starts[i] = next;
        }
    }
}

static void tick(struct play *play, uint32_t grant_max)
{
    tell(play);
    think(play, grant_max);
    measure(play);
    for (uint32_t i = 0; i < play->planner.start_count; i++) {
        check_answer(play, i);
    }
    if (below(play, 8) == 0) {
        check_inspect(play, &play->planner);
    }
    walk(play);
    play->tick += 1;
}

// Whether every agent has arrived or knows that there is no path.
static bool all_done(const fog_planner *planner)
{
    for (uint32_t i = 0; i < planner->start_count; i++) {
        if (planner->starts[i] != planner->goal &&
            planner->ops->state_at(planner->self, planner->starts[i]) != FM_PLAN_UNREACHABLE) {
            return false;
        }
    }
    return true;
}

// Planners of the LRTA* kind prove soon that there is no path only when their look-ahead covers the
// whole component of the agent.
static bool may_walk_forever(struct play *play)
{
    if (!play->planner.ops->real_time || strstr(play->planner.ops->name, "rta") == NULL) {
        return false;
    }
    return reference_cost(measure(play), play->planner.starts[0]) >= FM_COST_INFINITE;
}

static void play_world(const fm_planner_ops *ops, uint64_t seed, bool large)
{
    struct play play;
    play_init(&play, ops, seed, large);
    uint32_t grant_max = large ? 200 : seed % 2 == 0 ? 40 : 3;
    for (uint32_t i = 0; i < TICKS; i++) {
        disturb(&play);
        if (below(&play, 80) == 0) {
            ops->forget(play.planner.self, &play.planner.slab);
            fog_tables_follow(&play.world, &play.tables); // tick() does not notify them
            play.world.change_count = 0;
        }
        tick(&play, grant_max);
    }
    // Each cell is expanded a few times per search at most, and a step takes a tick. Estimates that
    // know nothing of costs are learned step by step.
    uint32_t cell_count = play.world.width * play.world.height;
    uint32_t dearness = play.world.weights == NULL ? 1 : play.world.costliest;
    uint32_t ticks_max = play.tick + 100 + 12 * cell_count * (ops->real_time ? 20 * dearness : 1);
    while (!all_done(&play.planner) && play.tick < ticks_max) {
        if (may_walk_forever(&play)) {
            break;
        }
        tick(&play, grant_max);
    }
    CHECK(&play, all_done(&play.planner) || may_walk_forever(&play));
    play_fini(&play);
}

// Whether the planner takes part in this run.
static bool is_played(const fm_planner_ops *ops)
{
    const char *only = getenv("FOGMARCH_PLANNER");
    return only == NULL || only[0] == '\0' || strcmp(only, ops->name) == 0;
}

static uint64_t world_seed(uint32_t i)
{
    return fm_mix64(fm_mix64(fm_test_seed()) + i) / 4 * 4 + i % 4;
}

static void test_small_worlds(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        bool played = is_played(fm_planner_catalogue[p]);
        for (uint32_t i = 0; played && i < SMALL_WORLDS; i++) {
            play_world(fm_planner_catalogue[p], world_seed(i), false);
        }
    }
}

static void test_large_worlds(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        bool played = is_played(fm_planner_catalogue[p]);
        for (uint32_t i = 0; played && i < LARGE_WORLDS; i++) {
            play_world(fm_planner_catalogue[p], world_seed(1000 + i), true);
        }
    }
}

// ---- costs beyond the largest ----

// Nobody is notified.
static void set_wall(fog *world, fm_cell cell, bool wall)
{
    if (fm_bitmap_get(&world->blocked, cell) != wall) {
        fog_toggle(world, cell);
        world->change_count = 0;
    }
}

// Every cell costs as much as can be.
static void make_dear(fog *world, fm_connectivity connectivity)
{
    size_t cell_count = (size_t)world->width * world->height;
    world->weights = malloc(cell_count);
    FM_ASSERT(world->weights != NULL);
    memset(world->weights, FM_COST_MAX, cell_count);
    world->view.weights = world->weights;
    fm_view_set_rules(&world->view, connectivity, FM_STEPS_70_99);
}

// One corridor winds through the whole map of dear cells. So the way from one end to the other
// costs more than FM_COST_INFINITE, which counts as no path, while shorter ways do not.
static void wind(fog *world, fm_connectivity connectivity)
{
    for (uint32_t y = 0; y < world->height; y++) {
        for (uint32_t x = 0; x < world->width; x++) {
            bool is_gap = x == (y % 4 == 1 ? world->width - 1 : 0);
            set_wall(world, fm_cell_at(x, y), y % 2 == 1 && !is_gap);
        }
    }
    make_dear(world, connectivity);
}

static void toggle_short_cuts(fog *world)
{
    for (uint32_t i = 0; i < 4; i++) {
        fog_toggle(world, fm_cell_at(0, 4 * i + 1));
    }
}

// With default options, and as exact as can be.
static void aim_plainly(struct play *play, const fm_planner_ops *ops, fm_cell goal)
{
    play->spec = (fm_planner_spec){
        .ops = ops,
        .options.field = {.weight = FM_WEIGHT_UNIT, .period = 1, .horizon = FM_HORIZON_NONE}};
    play->optimal = fog_promises_cheapest(&play->spec, &play->world.view);
    fm_planner_spec_format(&play->spec, play->name, sizeof play->name);
    fog_planner_init(&play->planner, &play->world, ops, &play->spec.options);
    play->planner.goal = goal;
    ops->set_goal(play->planner.self, goal, &play->planner.slab);
}

// The paths of planners that promise any path may cost more than can be said. `finds` is what the
// others answer.
static void check_far(struct play *play, fm_cell start, fm_plan_state finds)
{
    fog_planner *planner = &play->planner;
    planner->starts[0] = start;
    planner->start_count = 1;
    reference_fini(&play->costs);
    measure(play);
    fm_plan_state state = FM_PLAN_RUNNING;
    for (uint32_t i = 0; i < 200 && state == FM_PLAN_RUNNING; i++) {
        fog_planner_tell(planner);
        play->world.change_count = 0;
        state = fog_planner_advance(planner, 1000000, 0);
    }
    CHECK(play,
          (reference_cost(&play->costs, start) < FM_COST_INFINITE) == (finds == FM_PLAN_FOUND));
    CHECK(play, state == (planner->ops->finding == FM_FINDS_CHEAPEST ? finds : FM_PLAN_FOUND));
    if (finds == FM_PLAN_FOUND) {
        check_answer(play, 0);
    } else if (state == FM_PLAN_FOUND) {
        CHECK(play, planner->ops->path(planner->self, start, NULL, 0) > 20000);
    }
}

static void play_far(const fm_planner_ops *ops, fm_connectivity connectivity)
{
    struct play play = {.seed = fm_test_seed()};
    fog_init(&play.world, play.seed, WINDING_SIDE, WINDING_SIDE, true);
    wind(&play.world, connectivity);
    aim_plainly(&play, ops, fm_cell_at(0, 0));
    fm_cell far = fm_cell_at(0, WINDING_SIDE - 2);
    check_far(&play, fm_cell_at(7, 160), FM_PLAN_FOUND);
    check_far(&play, far, FM_PLAN_UNREACHABLE);
    toggle_short_cuts(&play.world);
    check_far(&play, far, FM_PLAN_FOUND);
    toggle_short_cuts(&play.world);
    check_far(&play, far, FM_PLAN_UNREACHABLE);
    play_fini(&play);
}

static void test_costs_beyond_the_largest(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        const fm_planner_ops *ops = fm_planner_catalogue[p];
        if (is_played(ops) && !ops->uniform_only && !ops->real_time) {
            play_far(ops, FM_CONNECT_4);
            play_far(ops, FM_CONNECT_8);
        }
    }
}

// Estimates of an agent that cannot get out rise with each look ahead. When they say that no path
// can be cheap enough to count, there is none; they must not start again from below.
static void play_walled_in(const fm_planner_ops *ops)
{
    struct play play = {.seed = fm_test_seed()};
    fog_init(&play.world, play.seed, 4, 4, true);
    for (uint32_t i = 0; i < 16; i++) {
        set_wall(&play.world, fm_cell_at(i % 4, i / 4), i / 4 == 1);
    }
    make_dear(&play.world, FM_CONNECT_8);
    aim_plainly(&play, ops, fm_cell_at(3, 3));
    fm_plan_state state = FM_PLAN_RUNNING;
    play.planner.starts[0] = fm_cell_at(0, 0);
    for (uint32_t i = 0; i < 400000 && state != FM_PLAN_UNREACHABLE; i++) {
        fog_planner_tell(&play.planner);
        state = fog_planner_advance(&play.planner, 2, 0);
        walk(&play);
    }
    CHECK(&play, state == FM_PLAN_UNREACHABLE);
    measure(&play);
    check_answer(&play, 0);
    play_fini(&play);
}

static void test_real_time_planners_learn_that_they_are_walled_in(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        if (is_played(fm_planner_catalogue[p]) && fm_planner_catalogue[p]->real_time) {
            play_walled_in(fm_planner_catalogue[p]);
        }
    }
}

// ---- suspension ----

// Plays the same events to two planners on the same map; one gets its grant in one piece, the other
// one unit at a time. inspect() must always show the same of both.
static void play_twins(const fm_planner_ops *ops, uint64_t seed)
{
    struct play play;
    play_init(&play, ops, seed, false);
    fog_planner *one = &play.planner, many;
    fog_planner_init(&many, &play.world, ops, &play.spec.options);
    many.goal = one->goal;
    many.ops->set_goal(many.self, many.goal, &many.slab);
    for (play.tick = 0; play.tick < TICKS; play.tick++) {
        disturb(&play);
        if (many.goal != one->goal) {
            many.goal = one->goal;
            many.ops->set_goal(many.self, many.goal, &many.slab);
        }
        memcpy(many.starts, one->starts, sizeof many.starts);
        many.start_count = one->start_count;
        fog_settle_changes(&play.world);
        fog_tables_follow(&play.world, &play.tables);
        fog_planner_tell(one);
        fog_planner_tell(&many);
        play.world.change_count = 0;

        uint32_t grant = 1 + below(&play, 40);
        fm_plan_state state = fog_planner_advance(one, grant, 0), many_state = FM_PLAN_RUNNING;
        for (uint32_t i = 0; i < grant; i++) {
            many_state = fog_planner_advance(&many, 1, 0);
        }
        CHECK(&play, state == many_state);
        CHECK(&play, one->work.expansions == many.work.expansions);
        CHECK(&play, check_inspect(&play, one) == check_inspect(&play, &many));
        for (uint32_t i = 0; i < one->start_count; i++) {
            CHECK(&play, ops->next_step(one->self, one->starts[i]) ==
                             ops->next_step(many.self, one->starts[i]));
        }
        walk(&play);
    }
    fog_planner_fini(&many);
    play_fini(&play);
}

static void test_suspension_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        bool played = is_played(fm_planner_catalogue[p]) && !fm_planner_catalogue[p]->real_time;
        for (uint32_t i = 0; played && i < SMALL_WORLDS / 2; i++) {
            play_twins(fm_planner_catalogue[p], world_seed(2000 + i));
        }
    }
}

// ---- replay ----

// Plays the same events to two planners; the deadline stops one, and the other is told where. They
// must stop at the same place.
static void play_replay(const fm_planner_ops *ops, uint64_t seed)
{
    struct play play;
    play_init(&play, ops, seed, true);
    fog_planner *one = &play.planner, replay;
    fog_planner_init(&replay, &play.world, ops, &play.spec.options);
    replay.start_count = one->start_count;
    replay.goal = one->goal;
    ops->fini(replay.self, &replay.slab); // its goal was another one
    memset(replay.self, 0, ops->size);
    CHECK(&play, ops->init(replay.self, &play.world.view, &play.spec.options,
                           &play.world.memory.memory, replay.goal) == FM_OK);
    for (play.tick = 0; play.tick < TICKS; play.tick++) {
        disturb(&play);
        if (replay.goal != one->goal) {
            replay.goal = one->goal;
            replay.ops->set_goal(replay.self, replay.goal, &replay.slab);
        }
        memcpy(replay.starts, one->starts, sizeof replay.starts);
        fog_settle_changes(&play.world);
        fog_tables_follow(&play.world, &play.tables);
        fog_planner_tell(one);
        fog_planner_tell(&replay);
        play.world.change_count = 0;

        fm_plan_state state = fog_planner_advance(one, 1000, 128);
        CHECK(&play, !one->work.cut || one->work.cut_at != 0);
        CHECK(&play, fog_planner_repeat(&replay, &one->work) == state);
        CHECK(&play, one->work.expansions == replay.work.expansions);
        CHECK(&play, check_inspect(&play, one) == check_inspect(&play, &replay));
        walk(&play);
    }
    fog_planner_fini(&replay);
    play_fini(&play);
}

static void test_replay_stops_where_the_deadline_did(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        bool played = is_played(fm_planner_catalogue[p]);
        for (uint32_t i = 0; played && i < SMALL_WORLDS / 10; i++) {
            play_replay(fm_planner_catalogue[p], world_seed(4000 + i));
        }
    }
}

// ---- memory ----

// Memory runs out at a random allocation. The planner reports that, or works without; when there is
// memory again it finds its path.
static void play_out_of_memory(const fm_planner_ops *ops, uint64_t seed)
{
    struct play play;
    play_init(&play, ops, seed, true);
    fog_planner *planner = &play.planner;
    play.world.memory.left = below(&play, 12);
    for (play.tick = 0; play.tick < 20; play.tick++) {
        disturb(&play);
        fog_settle_changes(&play.world);
        fog_tables_follow(&play.world, &play.tables);
        fog_planner_tell(planner);
        play.world.change_count = 0;
        fm_plan_state state = fog_planner_advance(planner, 500, 0);
        if (state == FM_PLAN_EXHAUSTED && planner->starts[0] != planner->goal) {
            CHECK(&play,
                  ops->next_step(planner->self, planner->starts[0]) == FM_CELL_NONE || ops->shared);
        }
        check_inspect(&play, planner);
        walk(&play);
    }
    play.world.memory.left = UINT64_MAX;
    ops->forget(planner->self, &planner->slab);
    for (uint32_t i = 0; i < TICKS; i++) {
        tick(&play, 1000);
    }
    play_fini(&play);
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        bool played = is_played(fm_planner_catalogue[p]);
        for (uint32_t i = 0; played && i < 40; i++) {
            play_out_of_memory(fm_planner_catalogue[p], world_seed(3000 + i));
        }
    }
}

int main(void)
{
    const char *only = getenv("FOGMARCH_PLANNER");
    if (only != NULL && only[0] != '\0' && fm_planner_by_name(only) == NULL) {
        fprintf(stderr, "FOGMARCH_PLANNER: there is no planner %s\n", only);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_worlds),
        cmocka_unit_test(test_large_worlds),
        cmocka_unit_test(test_costs_beyond_the_largest),
        cmocka_unit_test(test_real_time_planners_learn_that_they_are_walled_in),
        cmocka_unit_test(test_suspension_changes_nothing),
        cmocka_unit_test(test_replay_stops_where_the_deadline_did),
        cmocka_unit_test(test_memory_may_run_out),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
