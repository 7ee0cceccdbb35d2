// test_as_served.c: every planner of the catalogue as a world serves it, against a plain reference
// search.
//
// test_planners.c notifies planners of all that happens, in every tick. A world does not: agents
// join and leave a search; one that follows its path is not notified of walls, but looks ahead
// (fm_planner_ops.walk); news may wait some ticks; searches borrow memory from a worker, and fields
// share their view's tiles; saved planners are loaded again; memory runs out in the middle, and
// is there again. Here all of this happens at random, under grants that mostly end a search early,
// on maps from one cell wide to several tiles.
//
// When a planner was notified of everything, or has looked at its whole path:
//
//   FOUND        the next step is legal, the path too, and they are cheapest if that was promised
//   PARTIAL      the next step is legal
//   UNREACHABLE  there is no path, and nearest() is one of the nearest
//   EXHAUSTED    only when memory ran out
//
// When it was not, its answer may be old, but with walk() or answer() its next step is legal. With
// the world at rest every agent arrives, or learns that there is no path.
//
// FOGMARCH_PLANNER=name runs only that planner; FOGMARCH_GAMES=count plays so many games of each.

#include "tests/support/support.h"

#include "tests/support/fog.h"
#include "tests/support/reference.h"

#include "core/map/tile_map.h"
#include "core/search/scratch.h"

#define GAMES         24u
#define TICKS         80u
#define AGENTS_MAX    40u
#define PENDING_MAX   512u
#define PATH_CAPACITY 40000u
#define PUSHED_MAX    4u // cells

struct game {
    fog world;
    fog_planner planner; // its starts are not used
    fm_planner_spec spec;
    char name[FM_PLANNER_SPEC_SIZE];
    uint64_t seed;
    uint32_t tick;
    fm_scratch scratch;
    fm_tile_map tiles;
    fm_heuristic_tables tables;
    fog_tables made;
    fm_cell agents[AGENTS_MAX];
    uint32_t agent_count;
    fm_change pending[PENDING_MAX]; // the planner was not notified yet
    uint32_t pending_count;
    reference costs; // to the goal, on the map as it is now
    fm_plan_state state;
    bool walks;     // follows its path, and is not notified
    bool is_due;    // wants to search, or something has happened to it
    bool is_fresh;  // knows of all that has changed
    bool optimal;   // FOUND means a cheapest path
    bool was_short; // memory has run out since the planner was made
};

#define CHECK(game, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s, game %llu, tick %u: %s", (game)->name, (unsigned long long)(game)->seed, \
                     (game)->tick, #condition);                                                    \
        }                                                                                          \
    } while (0)

static uint32_t below(struct game *game, uint32_t bound)
{
    return fm_random_below(&game->world.random, bound);
}

static const fm_planner_ops *ops_of(const struct game *game)
{
    return game->planner.ops;
}

// ---- setting up ---------------------------------------------------------------------------------

static void choose_options(struct game *game)
{
    static const uint16_t weights[] = {0, 1000, 1100, 2000}, horizons[] = {0, 1, FM_HORIZON_NONE};
    fm_planner_options *options = &game->spec.options;
    const fm_planner_ops *ops = game->spec.ops;
    *options = (fm_planner_options){
        .queue = (fm_queue_kind)below(game, 2),
        .ties = (fm_ties)below(game, 3),
        .step = (fm_step_choice)below(game, 2),
        .lookahead = ops->real_time ? below(game, 30) : 0,
        .heuristic = below(game, 2) == 0 ? (fm_heuristic_kind)below(game, FM_HEURISTIC_COUNT)
                                         : FM_HEURISTIC_DEFAULT,
        .field = {.weight = 1000, .period = 1, .horizon = FM_HORIZON_NONE},
        .rejoin = below(game, 2) == 0};
    if (below(game, 2) == 0) {
        options->field = (fm_field_options){.weight = weights[below(game, 4)],
                                            .period = (uint16_t)below(game, 6),
                                            .horizon = horizons[below(game, 3)],
                                            .full = (uint16_t)below(game, 40)};
    }
    const fm_view *view = &game->world.view;
    if (ops->guidance == FM_GUIDED_BY_ITS_OWN ||
        !fm_planner_spec_fits(&game->spec, view->connectivity, view->weights != NULL)) {
        options->heuristic = FM_HEURISTIC_DEFAULT;
    }
    // A path found by tables that were too high stays when they have been made again.
    game->optimal = fog_promises_cheapest(&game->spec, view) && !options->rejoin &&
                    !(game->tables.allow_stale && ops->guidance == FM_GUIDED_BY_ANY);
    fm_planner_spec_format(&game->spec, game->name, sizeof game->name);
}

// Small maps mostly, some of several tiles, some one cell wide.
static void choose_map(struct game *game)
{
    bool uniform = game->spec.ops->uniform_only;
    uint32_t kind = (uint32_t)(game->seed % 8);
    if (kind < 5) {
        fog_init(&game->world, game->seed, 1, 16, uniform);
    } else if (kind < 7) {
        fog_init(&game->world, game->seed, 20, 100, uniform);
    } else {
        fog_init(&game->world, game->seed, 1, 200, uniform);
    }
}

static void make_planner(struct game *game)
{
    const fm_planner_ops *ops = game->spec.ops;
    game->planner.self = calloc(1, ops->size);
    FM_ASSERT(game->planner.self != NULL);
    fm_status status = ops->init(game->planner.self, &game->world.view, &game->spec.options,
                                 &game->world.memory.memory, game->planner.goal);
    CHECK(game, status == FM_OK);
    game->walks = false;
    game->is_due = true;
    game->is_fresh = true;
    game->was_short = false;
    game->pending_count = 0;
    game->state = FM_PLAN_RUNNING;
}

static void end_planner(struct game *game)
{
    ops_of(game)->fini(game->planner.self, &game->planner.slab);
    free(game->planner.self);
}

static void game_init(struct game *game, const fm_planner_ops *ops, uint64_t seed)
{
    *game = (struct game){.seed = seed, .spec.ops = ops};
    choose_map(game);
    game->tables.allow_stale = below(game, 4) == 0;
    game->world.view.tables = &game->tables;
    choose_options(game);
    fog *world = &game->world;
    if (ops->uses_tiles && below(game, 2) == 0) {
        CHECK(game, fm_tile_map_init(&game->tiles, &world->view, &world->memory.memory) == FM_OK);
        world->view.tiles = &game->tiles;
    }
    fm_scratch_init(&game->scratch, &world->memory.memory);
    game->planner = (fog_planner){.world = world, .ops = ops, .goal = fog_free_cell(world)};
    fm_slab_init(&game->planner.slab, &world->memory.memory);
    game->planner.work = (fm_work){.slab = &game->planner.slab,
                                   .scratch = below(game, 4) == 0 ? NULL : &game->scratch};
    game->agent_count = ops->shared ? 1 + below(game, below(game, 2) == 0 ? 3 : AGENTS_MAX) : 1;
    for (uint32_t i = 0; i < game->agent_count; i++) {
        game->agents[i] = fog_free_cell(world);
    }
    make_planner(game);
}

static void game_fini(struct game *game)
{
    reference_fini(&game->costs);
    fm_scratch_fini(&game->scratch);
    fm_tile_map_fini(&game->tiles, &game->world.memory.memory);
    game->planner.ops->fini(game->planner.self, &game->planner.slab);
    for (uint32_t i = 0; i < FM_SLAB_CLASSES; i++) {
        CHECK(game, game->planner.slab.free_counts[i] == game->planner.slab.carved_counts[i]);
    }
    fm_slab_fini(&game->planner.slab);
    free(game->planner.self);
    fog_tables_fini(&game->made);
    fog_fini(&game->world); // asserts that all memory was released
}

// ---- checks -------------------------------------------------------------------------------------

static const reference *measure(struct game *game)
{
    if (game->costs.cost == NULL) {
        game->costs = reference_measure(&game->world.view, game->planner.goal);
    }
    return &game->costs;
}

static void check_path(struct game *game, fm_cell start)
{
    static fm_cell cells[PATH_CAPACITY];
    const fm_view *view = &game->world.view;
    uint32_t cost = 0;
    uint32_t length = ops_of(game)->path(game->planner.self, start, cells, PATH_CAPACITY);
    CHECK(game, length >= 1 && length <= PATH_CAPACITY);
    CHECK(game, cells[0] == start && cells[length - 1] == game->planner.goal);
    for (uint32_t i = 1; i < length; i++) {
        CHECK(game, reference_is_legal(view, cells[i - 1], cells[i]));
        cost += reference_step_cost(view, cells[i - 1], cells[i]);
    }
    uint32_t optimum = reference_cost(measure(game), start);
    CHECK(game, game->optimal ? cost == optimum : cost >= optimum);
}

static void check_nearest(struct game *game, fm_cell start)
{
    if (ops_of(game)->nearest == NULL) {
        return;
    }
    fm_cell nearest = ops_of(game)->nearest(game->planner.self, start);
    if (nearest == FM_CELL_NONE) {
        return;
    }
    CHECK(game, reference_is_nearest(&game->world.view, start, game->planner.goal, nearest, false));
}

// Of a planner that knows everything.
static void check_answer(struct game *game, fm_cell start, fm_plan_state state, fm_cell next)
{
    const fm_view *view = &game->world.view;
    if (start == game->planner.goal) {
        CHECK(game, state == FM_PLAN_FOUND && next == start);
        return;
    }
    uint32_t optimum = reference_cost(measure(game), start);
    switch (state) {
    case FM_PLAN_FOUND:
        CHECK(game, next != FM_CELL_NONE && reference_is_legal(view, start, next));
        CHECK(game, optimum < FM_COST_INFINITE);
        CHECK(game, !game->optimal || reference_step_cost(view, start, next) +
                                              reference_cost(&game->costs, next) ==
                                          optimum);
        check_path(game, start);
        break;
    case FM_PLAN_PARTIAL:
        CHECK(game, next != FM_CELL_NONE);
        CHECK(game, reference_is_legal(view, start, next) || ops_of(game)->walk != NULL);
        break;
    case FM_PLAN_UNREACHABLE:
        CHECK(game, optimum >= FM_COST_INFINITE);
        CHECK(game, next == FM_CELL_NONE);
        check_nearest(game, start);
        break;
    case FM_PLAN_RUNNING:
        CHECK(game, next == FM_CELL_NONE);
        break;
    case FM_PLAN_EXHAUSTED:
        CHECK(game, game->was_short);
        break;
    }
}

// ---- what happens -------------------------------------------------------------------------------

static fm_cell pushed_cell(struct game *game, fm_cell from)
{
    const fog *world = &game->world;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t reach = below(game, 3) == 0 ? PUSHED_MAX : 1;
        uint32_t x = fm_cell_x(from) + below(game, 2 * reach + 1) - reach;
        uint32_t y = fm_cell_y(from) + below(game, 2 * reach + 1) - reach;
        if (x < world->width && y < world->height &&
            !fm_bitmap_get(&world->blocked, fm_cell_at(x, y))) {
            return fm_cell_at(x, y);
        }
    }
    return from;
}

// Agents with a shared planner come and go; one stays.
static void join_and_leave(struct game *game)
{
    if (!ops_of(game)->shared || below(game, 6) != 0) {
        return;
    }
    game->is_due = true;
    if (below(game, 2) == 0 && game->agent_count < AGENTS_MAX) {
        game->agents[game->agent_count++] = fog_free_cell(&game->world);
    } else if (game->agent_count > 1) {
        uint32_t i = below(game, game->agent_count);
        game->agents[i] = game->agents[--game->agent_count];
    }
}

static void set_goal(struct game *game)
{
    fm_cell goal = fog_free_cell(&game->world);
    if (below(game, 30) == 0 && goal != game->planner.goal) {
        game->planner.goal = goal;
        ops_of(game)->set_goal(game->planner.self, goal, &game->planner.slab);
        reference_fini(&game->costs);
        game->walks = false;
        game->is_due = true;
        game->state = FM_PLAN_RUNNING;
    }
}

// Memory runs out in some of the games, now and then.
static void starve(struct game *game)
{
    fog_memory *memory = &game->world.memory;
    if (game->seed % 3 != 0 || game->tick >= TICKS) {
        memory->left = UINT64_MAX;
    } else if (below(game, 10) == 0) {
        memory->left = below(game, below(game, 2) == 0 ? 4 : 40);
        game->was_short = true;
    } else if (below(game, 4) == 0) {
        memory->left = UINT64_MAX;
    }
}

static void disturb(struct game *game)
{
    fog *world = &game->world;
    if (below(game, 3) == 0) {
        for (uint32_t edits = below(game, 8) == 0 ? 4 : 1; edits > 0; edits--) {
            fog_edit(world, game->agents[0]);
        }
    }
    join_and_leave(game);
    set_goal(game);
    starve(game);
}

static bool any_cheaper(const fog *world)
{
    for (uint32_t i = 0; i < world->change_count; i++) {
        if (world->changes[i].cheaper) {
            return true;
        }
    }
    return false;
}

// What happened in this tick, for tables and tiles, and for the planner later. All that it was not
// notified of while it walked it will never be.
static void note_news(struct game *game)
{
    fog *world = &game->world;
    fog_settle_changes(world);
    if (world->change_count > 0) {
        reference_fini(&game->costs);
    }
    if (game->tick < TICKS && below(game, 6) == 0 && world->width * world->height <= 256) {
        fog_tables_make(&game->made, world, game->spec.options.heuristic, &game->tables);
    } else {
        fog_tables_follow(world, &game->tables);
    }
    game->pending_count = game->walks ? 0 : game->pending_count;
    for (uint32_t i = 0; i < world->change_count; i++) {
        if (game->tiles.tiles != NULL) {
            fm_tile_map_note(&game->tiles, &world->view, world->changes[i].cell,
                             world->changes[i].cheaper);
        }
        CHECK(game, game->pending_count < PENDING_MAX);
        game->pending[game->pending_count++] = world->changes[i];
    }
    game->is_fresh = game->is_fresh && world->change_count == 0;
}

static void look_ahead(struct game *game)
{
    bool in_full = below(game, 2) == 0;
    if (!game->walks || (!in_full && below(game, 2) == 0)) {
        return;
    }
    game->state = ops_of(game)->walk(game->planner.self, game->agents[0],
                                     in_full ? FM_STEPS_ALL : 1 + below(game, 8));
    game->is_due = game->is_due || game->state != FM_PLAN_FOUND;
    game->is_fresh = game->is_fresh || (in_full && !any_cheaper(&game->world));
}

static void tell(struct game *game)
{
    const fm_planner_ops *ops = ops_of(game);
    void *self = game->planner.self;
    fm_work *work = &game->planner.work;
    bool is_told = !game->walks || any_cheaper(&game->world);
    if ((game->tick < TICKS && below(game, 60) == 0) || game->pending_count > PENDING_MAX / 2) {
        ops->forget(self, &game->planner.slab);
        game->is_fresh = true;
    } else if (is_told && game->pending_count > 0) {
        ops->knowledge_changed(self, game->pending, game->pending_count, work);
        game->is_fresh = game->is_fresh || !game->walks;
    }
    // One whose path is broken searches on the map as it is.
    game->is_fresh = game->is_fresh || (game->walks && game->state != FM_PLAN_FOUND);
    game->pending_count = 0;
    ops->set_starts(self, game->agents, game->agent_count);
}

// ---- searching ----------------------------------------------------------------------------------

static bool advance(struct game *game)
{
    static const uint32_t most[] = {3, 3, 40, 40, 400};
    uint32_t grant = 1 + below(game, most[below(game, FM_COUNT_OF(most))]);
    uint32_t strikes = below(game, 3) == 0 ? 128 : 0;
    fm_work *work = &game->planner.work;
    uint32_t before = work->expansions;
    work->in_turn = below(game, 4) == 0;
    game->state = fog_planner_advance(&game->planner, grant, strikes);
    uint32_t used = work->expansions - before;
    CHECK(game, used <= grant || (work->cut && ops_of(game)->joins_groups));
    bool could_go_on = game->state == FM_PLAN_PARTIAL && used >= grant;
    return game->state == FM_PLAN_RUNNING || could_go_on;
}

static void search(struct game *game)
{
    const fm_planner_ops *ops = ops_of(game);
    bool wants = ops->is_done == NULL || !ops->is_done(game->planner.self);
    game->state = ops->state_at(game->planner.self, game->agents[0]);
    for (uint32_t round = below(game, 4); wants && round < 4; round++) {
        wants = advance(game);
    }
    bool found = game->state == FM_PLAN_FOUND && !wants;
    game->walks = found && ops->is_walking != NULL && ops->is_walking(game->planner.self);
    // One that now follows its path has found it on the map as it is.
    game->is_due = !found;
}

// ---- moving -------------------------------------------------------------------------------------

static fm_plan_state ask(struct game *game, fm_cell start, fm_cell *next)
{
    const fm_planner_ops *ops = ops_of(game);
    void *self = game->planner.self;
    if (ops->answer != NULL) {
        fm_plan_state state = ops->answer(self, start, next);
        bool has_step = state == FM_PLAN_FOUND || state == FM_PLAN_PARTIAL;
        CHECK(game, state == ops->state_at(self, start));
        CHECK(game, !has_step || *next == ops->next_step(self, start));
        *next = has_step ? *next : FM_CELL_NONE;
        CHECK(game, *next == FM_CELL_NONE || *next == start || game->was_short ||
                        reference_is_legal(&game->world.view, start, *next));
        return state;
    }
    fm_plan_state state = ops->state_at(self, start);
    if (game->walks) {
        state = ops->walk(self, start, 1);
        game->is_due = game->is_due || state != FM_PLAN_FOUND;
    }
    bool has_step = state == FM_PLAN_FOUND || state == FM_PLAN_PARTIAL;
    *next = has_step ? ops->next_step(self, start) : FM_CELL_NONE;
    CHECK(game, !game->walks || !has_step || *next == start ||
                    reference_is_legal(&game->world.view, start, *next));
    return state;
}

static void move(struct game *game, uint32_t i)
{
    fm_cell start = game->agents[i], next;
    fm_plan_state state = ask(game, start, &next);
    if (game->is_fresh) {
        check_answer(game, start, state, next);
    }
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    fm_planner_distances(ops_of(game), game->planner.self, &game->world.view, game->planner.goal,
                         start, fm_view_moves(&game->world.view, start), distances);
    bool stays = game->tick < TICKS && below(game, 8) == 0;
    bool is_pushed = game->tick < TICKS && below(game, 12) == 0;
    if (is_pushed) {
        next = pushed_cell(game, start);
    } else if (next != FM_CELL_NONE && next != start &&
               !reference_is_legal(&game->world.view, start, next)) {
        next = start; // it was not notified of what is there
    }
    if (!stays && next != FM_CELL_NONE && next != start) {
        game->agents[i] = next;
        game->is_due = game->is_due || !game->walks;
    }
}

// ---- saving -------------------------------------------------------------------------------------

// What is worth keeping is saved and loaded into another planner; the rest begins again.
static void save_and_load(struct game *game)
{
    const fm_planner_ops *ops = ops_of(game);
    if (game->tick >= TICKS || game->was_short || below(game, 12) != 0) {
        return;
    }
    bool has_news = game->pending_count > 0 || game->state != FM_PLAN_FOUND || !game->is_fresh;
    fm_writer writer = fm_writer_init(&game->world.memory.memory);
    bool is_kept =
        ops->settle != NULL && !has_news && ops->settle(game->planner.self, &game->planner.slab);
    bool walks = game->walks;
    if (is_kept) {
        ops->save(game->planner.self, &writer);
        CHECK(game, !writer.failed);
    }
    end_planner(game);
    make_planner(game);
    if (is_kept) {
        fm_bytes_error error = {0};
        fm_reader reader = fm_reader_init(writer.data, writer.size, &error);
        CHECK(game, ops->load(game->planner.self, &reader) == FM_OK);
        CHECK(game, fm_reader_finish(&reader) == FM_OK);
        game->state = FM_PLAN_FOUND;
        game->walks = walks;
    }
    fm_writer_fini(&writer);
}

// ---- playing ------------------------------------------------------------------------------------

static void tick(struct game *game)
{
    note_news(game);
    look_ahead(game);
    bool is_late = game->tick < TICKS && below(game, 4) == 0 && !game->walks;
    bool has_news = game->pending_count > 0 && (!game->walks || any_cheaper(&game->world));
    if (game->is_due || (has_news && !is_late)) {
        tell(game);
        search(game);
    }
    game->world.change_count = 0;
    for (uint32_t i = 0; i < game->agent_count; i++) {
        move(game, i);
    }
    if (game->state == FM_PLAN_EXHAUSTED) {
        CHECK(game, game->was_short);
        game->world.memory.left = UINT64_MAX;
        end_planner(game); // as its orders end
        make_planner(game);
    }
    save_and_load(game);
    game->tick += 1;
}

static bool all_done(const struct game *game)
{
    for (uint32_t i = 0; i < game->agent_count; i++) {
        if (game->agents[i] != game->planner.goal &&
            game->planner.ops->state_at(game->planner.self, game->agents[i]) !=
                FM_PLAN_UNREACHABLE) {
            return false;
        }
    }
    return true;
}

// Planners of the LRTA* kind prove only late that there is no path.
static bool may_walk_forever(struct game *game)
{
    return strstr(game->spec.ops->name, "rta") != NULL && game->spec.ops->real_time &&
           reference_cost(measure(game), game->agents[0]) >= FM_COST_INFINITE;
}

static void play(const fm_planner_ops *ops, uint64_t seed)
{
    struct game game;
    game_init(&game, ops, seed);
    while (game.tick < TICKS) {
        disturb(&game);
        tick(&game);
    }
    uint32_t cell_count = game.world.width * game.world.height;
    uint32_t dearness = game.world.weights == NULL ? 1 : game.world.costliest;
    uint32_t ticks_max = TICKS + 200 + 12 * cell_count * (ops->real_time ? 20 * dearness : 1);
    starve(&game);
    while (!all_done(&game) && !may_walk_forever(&game) && game.tick < ticks_max) {
        game.is_due = game.is_due || !game.walks;
        tick(&game);
    }
    CHECK(&game, all_done(&game) || may_walk_forever(&game));
    game_fini(&game);
}

static void planners_answer_as_they_are_served(void **state)
{
    (void)state;
    const char *only = getenv("FOGMARCH_PLANNER"), *games = getenv("FOGMARCH_GAMES");
    uint32_t count = games == NULL || games[0] == '\0' ? GAMES : (uint32_t)strtoul(games, NULL, 0);
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        const fm_planner_ops *ops = fm_planner_catalogue[p];
        bool played = only == NULL || only[0] == '\0' || strcmp(only, ops->name) == 0;
        for (uint32_t i = 0; played && i < count; i++) {
            play(ops, fm_mix64(fm_mix64(fm_test_seed()) + 7 + i) / 24 * 24 + i % 24);
        }
    }
}

// Two rooms with pillars, a wall between them.
static void build_rooms(fog *world)
{
    fog_init(world, fm_test_seed(), 40, 40, true);
    for (uint32_t i = 0; i < 40 * 40; i++) {
        fm_cell cell = fm_cell_at(i % 40, i / 40);
        bool is_wall = i % 40 == 20 || (i % 40 % 4 == 2 && i / 40 % 4 == 1);
        if (fm_bitmap_get(&world->blocked, cell) != is_wall) {
            fog_toggle(world, cell);
        }
        world->change_count = 0;
    }
}

// An agent that is put behind a wall while its search is under way is not where the search began.
static void a_wall_away_is_not_near(void **state)
{
    (void)state;
    const fm_planner_ops *const planners[] = {&fm_repeated_jps, &fm_auto};
    for (uint32_t units = 1; units < 60; units++) {
        const fm_planner_ops *ops = planners[units % 2];
        const fm_planner_options options = {.rejoin = true};
        fog world;
        fog_planner planner;
        build_rooms(&world);
        fog_planner_init(&planner, &world, ops, &options);
        planner.goal = fm_cell_at(39, 39);
        planner.starts[0] = fm_cell_at(19, 2);
        ops->set_goal(planner.self, planner.goal, &planner.slab);
        fog_planner_tell(&planner);
        fm_plan_state answer = fog_planner_advance(&planner, units, 0);
        planner.starts[0] = fm_cell_at(21, 2);
        for (uint32_t i = 0; i < 200 && (i == 0 || answer == FM_PLAN_RUNNING); i++) {
            fog_planner_tell(&planner);
            answer = fog_planner_advance(&planner, 10000, 0);
        }
        assert_true(answer == FM_PLAN_FOUND || answer == FM_PLAN_PARTIAL);
        fog_planner_fini(&planner);
        fog_fini(&world);
    }
}

// A unit in a crowd is asked how far its neighbours are before its first search.
static void distances_need_no_search(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        const fm_planner_ops *ops = fm_planner_catalogue[p];
        const fm_planner_options options = {0};
        uint32_t distances[FM_DIRECTION_COUNT + 1];
        fog world;
        fog_planner planner;
        fog_init(&world, fm_test_seed() + p, 8, 8, true);
        fog_planner_init(&planner, &world, ops, &options);
        fog_planner_tell(&planner);
        fm_planner_distances(ops, planner.self, &world.view, planner.goal, planner.starts[0],
                             fm_view_moves(&world.view, planner.starts[0]), distances);
        fog_planner_fini(&planner);
        fog_fini(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planners_answer_as_they_are_served),
        cmocka_unit_test(a_wall_away_is_not_near),
        cmocka_unit_test(distances_need_no_search),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
