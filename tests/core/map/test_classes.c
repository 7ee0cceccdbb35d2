// test_classes.c: movement classes, from their text to agents of many sizes in one world.
//
// Method: a plain model decides whether a unit fits, and what a cell weighs for it, by every cell
// of its square, on the known or the true map. The views of planners must agree with it after every
// change; planners must find what a plain search finds; and agents must end where the plain search
// says they can get.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/map/class_map.h"
#include "core/search/scratch.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/world_classes.h"
#include "tests/support/reference.h"
#include "tests/support/support.h"

#define SIDE_MAX  40u
#define TICKS_MAX 6000u

// Errors say which item or class is empty.
static void check_wrong_items(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"tank:", "item 1 of class 'tank' is empty"},
        {"tank:,size=2", "item 1 of class 'tank' is empty"},
        {"tank:size=2,,ground=1", "item 2 of class 'tank' is empty"},
        {"tank:size=2,ground=1,", "item 3 of class 'tank' is empty"},
        {"ground;tank:size=2,", "item 2 of class 'tank' is empty"},
        {";ground", "class 1 of ';ground' is empty"},
        {"ground;;tank", "class 2 of 'ground;;tank' is empty"},
        {"tank:size=2,ground=1,size=3", "class 'tank' has 'size' twice"},
        {"tank:ground=1,water=3,ground=1", "class 'tank' has 'ground' twice"},
        {"tank:swamp=0,swamp=0", "class 'tank' has 'swamp' twice"},
        {"tank:gruond=1", "class 'tank': 'gruond' is neither a terrain nor 'size'; perhaps ground"},
        {"tank:lava=1", "class 'tank': 'lava' is neither a terrain nor 'size'"},
        {"ground;tank;", "class 3 of 'ground;tank;' is empty"},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        fm_movement_class classes[FM_CLASSES_MAX];
        uint32_t count;
        char error[200] = "";
        fm_status status =
            fm_movement_classes_parse(cases[i].text, classes, &count, error, sizeof error);
        assert_string_equal(error, cases[i].error);
        assert_int_equal(status, FM_ERR_BAD_VALUE);
    }
}

// ---- classes as text

static void reads_and_writes_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *whole;
    } good[] = {
        {"ground", "ground:size=1,ground=1"},
        {"tank:size=3", "tank:size=3,ground=1"},
        {"boat:water=1,size=2", "boat:size=2,water=1"},
        {"legs:ground=1,swamp=3,trees=250", "legs:size=1,ground=1,trees=250,swamp=3"},
        {"ghost:wall=2,out_of_bounds=7,ground=0", "ghost:size=1,out_of_bounds=7,wall=2"},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(good); i++) {
        fm_movement_class movement;
        char text[FM_CLASS_TEXT_SIZE], error[200] = "";
        if (fm_movement_class_parse(good[i].text, &movement, error, sizeof error) != FM_OK) {
            fail_msg("%s: %s", good[i].text, error);
        }
        fm_movement_class_format(&movement, text, sizeof text);
        assert_string_equal(text, good[i].whole);
        fm_movement_class again;
        assert_int_equal(fm_movement_class_parse(text, &again, NULL, 0), FM_OK);
        assert_memory_equal(&again, &movement, sizeof again);
    }
    static const char *const bad[] = {"",
                                      ":",
                                      "a b",
                                      "tank:size=0",
                                      "tank:size=5",
                                      "tank:size",
                                      "tank:lava=1",
                                      "tank:water=251",
                                      "tank:water=-1",
                                      "tank:unknown=1",
                                      "tank:building=1",
                                      "tank:ground=0",
                                      "tank:water=1x",
                                      "tank:water=",
                                      "a-name-that-is-longer-than-thirty-one-letters"};
    for (uint32_t i = 0; i < FM_COUNT_OF(bad); i++) {
        fm_movement_class movement = {.size = 77};
        char error[200] = "";
        if (fm_movement_class_parse(bad[i], &movement, error, sizeof error) == FM_OK) {
            fail_msg("'%s' was taken", bad[i]);
        }
        assert_int_equal(movement.size, 77);
        assert_true(strlen(error) > 0);
    }
    check_wrong_items();
    // The longest possible text fits.
    fm_movement_class longest = {.name = "abcdefghijklmnopqrstuvwxyz-0123", .size = 4};
    memset(longest.cost, FM_COST_MAX, sizeof longest.cost);
    longest.cost[FM_TERRAIN_UNKNOWN] = longest.cost[FM_TERRAIN_BUILDING] = 0;
    char text[FM_CLASS_TEXT_SIZE];
    fm_movement_class_format(&longest, text, sizeof text);
    fm_movement_class again;
    assert_int_equal(fm_movement_class_parse(text, &again, NULL, 0), FM_OK);
    assert_memory_equal(&again, &longest, sizeof again);
}

// ---- the plain model

// What single cells weigh for a class; 0: blocked.
struct model {
    uint32_t width, height, size;
    uint8_t weight[SIDE_MAX][SIDE_MAX]; // y, x
};

// The costliest cell of the square with its corner on (x, y); 0 when it does not fit.
static uint32_t square_weight(const struct model *model, uint32_t x, uint32_t y)
{
    uint32_t costliest = 0;
    for (uint32_t dy = 0; dy < model->size; dy++) {
        for (uint32_t dx = 0; dx < model->size; dx++) {
            if (x + dx >= model->width || y + dy >= model->height ||
                model->weight[y + dy][x + dx] == 0) {
                return 0;
            }
            uint32_t weight = model->weight[y + dy][x + dx];
            costliest = weight > costliest ? weight : costliest;
        }
    }
    return costliest;
}

static fm_movement_class random_class(fm_random *random, const char *name)
{
    fm_movement_class movement = {.size = (uint8_t)(1 + fm_random_below(random, 4))};
    strcpy(movement.name, name);
    uint32_t costliest = fm_random_below(random, 2) ? 1 : 9;
    for (uint32_t terrain = 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        if (terrain == FM_TERRAIN_GROUND || fm_random_below(random, 2)) {
            movement.cost[terrain] = (uint8_t)(1 + fm_random_below(random, costliest));
        }
    }
    return movement;
}

static fm_connectivity random_connectivity(fm_random *random)
{
    return (fm_connectivity)fm_random_below(random, 3);
}

static fm_step_costs random_steps(fm_random *random, fm_connectivity connectivity)
{
    return connectivity == FM_CONNECT_4 ? FM_STEPS_1
           : fm_random_below(random, 2) ? FM_STEPS_10_14
                                        : FM_STEPS_70_99;
}

static void compare(const fm_view *view, const struct model *model)
{
    for (uint32_t y = 0; y < model->height; y++) {
        for (uint32_t x = 0; x < model->width; x++) {
            uint32_t weight = square_weight(model, x, y);
            assert_int_equal(fm_view_is_blocked(view, fm_cell_at(x, y)), weight == 0);
            if (view->blocked_transposed != NULL) {
                assert_int_equal(fm_bitmap_get(view->blocked_transposed, fm_cell_at(y, x)),
                                 weight == 0);
            }
            if (weight != 0) {
                assert_int_equal(fm_view_weight(view, fm_cell_at(x, y)), weight);
            }
        }
    }
}

// ---- one map

struct map_run {
    struct model model;
    fm_movement_class movement;
    fm_class_map *map;
    bool weighted;
};

static void set_random_cell(struct map_run *run, fm_random *random)
{
    uint32_t x = fm_random_below(random, run->model.width);
    uint32_t y = fm_random_below(random, run->model.height);
    uint32_t weight = fm_random_below(random, 5) == 0 ? 0
                      : run->weighted                 ? 1 + fm_random_below(random, 6)
                                                      : 1;
    run->model.weight[y][x] = (uint8_t)weight;
    fm_class_map_set(run->map, fm_cell_at(x, y), weight);
}

static void begin_map(struct map_run *run, fm_random *random)
{
    *run = (struct map_run){.model = {.width = 1 + fm_random_below(random, SIDE_MAX),
                                      .height = 1 + fm_random_below(random, SIDE_MAX)},
                            .movement = random_class(random, "some")};
    run->model.size = run->movement.size;
    memset(run->model.weight, 1, sizeof run->model.weight);
    fm_connectivity connectivity = random_connectivity(random);
    bool grid_weighted = fm_random_below(random, 2);
    run->weighted = grid_weighted || fm_movement_class_is_weighted(&run->movement);
    assert_int_equal(fm_class_map_create(&run->movement, run->model.width, run->model.height,
                                         grid_weighted, connectivity,
                                         random_steps(random, connectivity), &fm_memory_libc,
                                         &run->map),
                     FM_OK);
}

// The log, applied to copies of the old bits and weights, gives the new ones, and is right about
// what became cheaper or costlier.
static void check_log(const struct map_run *run, fm_bitmap *blocked, uint8_t *weights,
                      uint64_t version)
{
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_change_log_since(&run->map->log, version, &count, &complete);
    assert_true(complete);
    for (uint32_t i = 0; i < count; i++) {
        bool was_blocked = fm_bitmap_get(blocked, changes[i].cell);
        assert_int_equal(changes[i].cheaper || changes[i].costlier, true);
        assert_int_equal(changes[i].blocked && changes[i].cheaper, false);
        assert_int_equal(was_blocked && !changes[i].blocked, was_blocked && changes[i].cheaper);
        if (changes[i].blocked) {
            fm_bitmap_set(blocked, changes[i].cell);
        } else {
            fm_bitmap_reset(blocked, changes[i].cell);
        }
    }
    for (uint32_t y = 0; y < run->model.height; y++) {
        for (uint32_t x = 0; x < run->model.width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            assert_int_equal(fm_bitmap_get(blocked, cell),
                             fm_view_is_blocked(&run->map->view, cell));
            uint8_t *before = &weights[y * SIDE_MAX + x];
            uint32_t after = fm_view_weight(&run->map->view, cell);
            bool named = *before == after || fm_bitmap_get(blocked, cell);
            for (uint32_t i = 0; i < count && !named; i++) {
                named = changes[i].cell == cell;
            }
            assert_true(named);
            *before = (uint8_t)after;
        }
    }
}

static void maps_follow_every_change(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 60; i++) {
        struct map_run run;
        begin_map(&run, &random);
        compare(&run.map->view, &run.model);
        fm_bitmap blocked;
        uint8_t weights[SIDE_MAX * SIDE_MAX];
        memset(weights, 1, sizeof weights);
        assert_int_equal(
            fm_bitmap_init(&blocked, run.model.width, run.model.height, true, &fm_memory_libc),
            FM_OK);
        fm_bitmap_copy(&blocked, &run.map->blocked);
        run.map->log_wanted = true;
        for (uint32_t step = 0; step < 30; step++) {
            uint64_t version = run.map->log.version;
            for (uint32_t n = 1 + fm_random_below(&random, 20); n > 0; n--) {
                set_random_cell(&run, &random);
            }
            compare(&run.map->view, &run.model);
            check_log(&run, &blocked, weights, version);
            if (fm_random_below(&random, 3) == 0) {
                fm_change_log_trim(&run.map->log);
            }
        }
        fm_bitmap_fini(&blocked, &fm_memory_libc);
        fm_class_map_destroy(run.map);
    }
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    fm_movement_class movement = {.name = "big", .size = 3, .cost = {[FM_TERRAIN_GROUND] = 2}};
    for (uint64_t blocks = 0;; blocks++) {
        fm_test_memory memory;
        fm_test_memory_init(&memory, blocks);
        fm_class_map *map;
        fm_status status = fm_class_map_create(&movement, 20, 30, false, FM_CONNECT_8,
                                               FM_STEPS_10_14, &memory.memory, &map);
        if (status == FM_OK) {
            map->log_wanted = true;
            fm_class_map_set(map, fm_cell_at(10, 10), 0); // the log cannot grow: start over
            uint32_t count;
            bool complete;
            fm_change_log_since(&map->log, 0, &count, &complete);
            assert_false(complete);
            fm_class_map_destroy(map);
        }
        assert_int_equal(memory.held, 0);
        if (status == FM_OK) {
            assert_int_equal(blocks, 6);
            return;
        }
        assert_int_equal(status, FM_ERR_NO_MEMORY);
    }
}

// ---- planners

// A view made from every square, for the plain search.
struct plain {
    fm_bitmap blocked;
    uint8_t weights[SIDE_MAX * SIDE_MAX];
    fm_view view;
};

static void plain_init(struct plain *plain, const struct map_run *run)
{
    const struct model *model = &run->model;
    assert_int_equal(
        fm_bitmap_init(&plain->blocked, model->width, model->height, true, &fm_memory_libc), FM_OK);
    plain->view = run->map->view;
    plain->view.blocked = &plain->blocked;
    plain->view.blocked_transposed = NULL;
    plain->view.weights = run->map->view.weights == NULL ? NULL : plain->weights;
    for (uint32_t y = 0; y < model->height; y++) {
        for (uint32_t x = 0; x < model->width; x++) {
            uint32_t weight = square_weight(model, x, y);
            plain->weights[y * model->width + x] = (uint8_t)weight;
            if (weight == 0) {
                fm_bitmap_set(&plain->blocked, fm_cell_at(x, y));
            }
        }
    }
}

static fm_cell random_cell_of(const struct model *model, fm_random *random)
{
    fm_cell cell = 0;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t x = fm_random_below(random, model->width);
        uint32_t y = fm_random_below(random, model->height);
        cell = fm_cell_at(x, y);
        if (square_weight(model, x, y) != 0) {
            break;
        }
    }
    return cell;
}

static void check_answer(const fm_planner_ops *ops, const void *self, const struct plain *plain,
                         fm_plan_state state, fm_cell start, fm_cell goal)
{
    reference costs = reference_measure(&plain->view, goal);
    uint32_t best =
        fm_bitmap_get(&plain->blocked, start) ? FM_COST_INFINITE : reference_cost(&costs, start);
    if (start != goal && (best == FM_COST_INFINITE || fm_bitmap_get(&plain->blocked, goal))) {
        assert_int_equal(state, FM_PLAN_UNREACHABLE);
    } else if (start != goal) {
        assert_int_equal(state, FM_PLAN_FOUND);
        fm_cell cells[SIDE_MAX * SIDE_MAX];
        uint32_t count = ops->path(self, start, cells, FM_COUNT_OF(cells));
        assert_in_range(count, 2, FM_COUNT_OF(cells));
        assert_int_equal(cells[0], start);
        assert_int_equal(cells[count - 1], goal);
        uint32_t cost = 0;
        for (uint32_t i = 1; i < count; i++) {
            assert_true(reference_is_legal(&plain->view, cells[i - 1], cells[i]));
            cost += reference_step_cost(&plain->view, cells[i - 1], cells[i]);
        }
        assert_int_equal(cost, best);
    }
    reference_fini(&costs);
}

static void tell(const fm_planner_ops *ops, void *self, struct map_run *run, fm_work *work,
                 fm_cell start)
{
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_change_log_since(&run->map->log, 0, &count, &complete);
    if (!complete) {
        // It is trimmed each time: only the changes since then are left.
        changes = fm_change_log_since(&run->map->log, run->map->log.trimmed, &count, &complete);
    }
    if (count > 0) {
        ops->knowledge_changed(self, changes, count, work);
    }
    fm_change_log_trim(&run->map->log);
    ops->set_starts(self, &start, 1);
}

static void play(const fm_planner_ops *ops, fm_random *random)
{
    struct map_run run;
    begin_map(&run, random);
    bool uniform = run.map->view.weights == NULL && run.map->view.connectivity == FM_CONNECT_8;
    if (ops->uniform_only && !uniform) {
        fm_class_map_destroy(run.map);
        return;
    }
    for (uint32_t n = run.model.width * run.model.height / 8; n > 0; n--) {
        set_random_cell(&run, random);
    }
    run.map->log_wanted = true;
    fm_slab slab;
    fm_slab_init(&slab, &fm_memory_libc);
    fm_scratch scratch;
    fm_scratch_init(&scratch, &fm_memory_libc);
    fm_work work = {.slab = &slab, .scratch = &scratch};
    fm_cell start = random_cell_of(&run.model, random), goal = random_cell_of(&run.model, random);
    fm_planner_options options = {.queue = FM_QUEUE_BUCKET};
    void *self = calloc(1, ops->size);
    assert_int_equal(ops->init(self, &run.map->view, &options, &fm_memory_libc, goal), FM_OK);
    for (uint32_t step = 0; step < 12; step++) {
        tell(ops, self, &run, &work, start);
        fm_plan_state state;
        do {
            work.expansions_max = 1 + fm_random_below(random, 60);
            state = ops->advance(self, &work);
        } while (state == FM_PLAN_RUNNING || state == FM_PLAN_PARTIAL);
        struct plain plain;
        plain_init(&plain, &run);
        check_answer(ops, self, &plain, state, start, goal);
        fm_bitmap_fini(&plain.blocked, &fm_memory_libc);
        fm_cell next = state == FM_PLAN_FOUND ? ops->next_step(self, start) : FM_CELL_NONE;
        start = next == FM_CELL_NONE ? start : next;
        for (uint32_t n = fm_random_below(random, 4); n > 0; n--) {
            set_random_cell(&run, random);
        }
    }
    ops->fini(self, &slab);
    free(self);
    fm_scratch_fini(&scratch);
    fm_slab_fini(&slab);
    fm_class_map_destroy(run.map);
}

static void planners_find_what_a_plain_search_finds(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; fm_planner_catalogue[i] != NULL; i++) {
        const fm_planner_ops *ops = fm_planner_catalogue[i];
        bool proves = ops->finding == FM_FINDS_CHEAPEST && !ops->real_time;
        for (uint32_t run = 0; proves && run < 25; run++) {
            play(ops, &random);
        }
    }
}

// ---- a world of many classes

#define AGENTS 12u

struct scene {
    fm_world *world;
    fm_agent_id agents[AGENTS];
    uint32_t classes[AGENTS];
    fm_cell cells[AGENTS];
    fm_order_end ended[AGENTS];
    uint32_t ended_count[AGENTS];
};

static fm_grid *random_grid(fm_random *random)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(8 + fm_random_below(random, SIDE_MAX - 8),
                                    8 + fm_random_below(random, SIDE_MAX - 8), &fm_memory_libc,
                                    &grid),
                     FM_OK);
    for (uint32_t patch = grid->width * grid->height / 40; patch > 0; patch--) {
        fm_terrain terrain = (fm_terrain)(1 + fm_random_below(random, FM_TERRAIN_BUILDING - 1));
        uint32_t x = fm_random_below(random, grid->width);
        uint32_t y = fm_random_below(random, grid->height);
        for (uint32_t n = 0; n < 6; n++) {
            uint32_t cx = x + fm_random_below(random, 4), cy = y + fm_random_below(random, 3);
            if (fm_grid_contains(grid, cx, cy)) {
                fm_grid_set(grid, fm_cell_at(cx, cy), terrain, 1);
            }
        }
    }
    return grid;
}

// What a team knows, or the truth, for a class.
static struct model model_of(const fm_world *world, uint32_t team, uint32_t class_index)
{
    const fm_movement_class *movement = &fm_world_rules_get(world)->classes[class_index];
    const fm_grid *grid = fm_world_grid(world);
    struct model model = {.width = grid->width, .height = grid->height, .size = movement->size};
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_learned look = fm_world_look_up(world, team, fm_cell_at(x, y));
            uint32_t weight = look.terrain == FM_TERRAIN_UNKNOWN
                                  ? 1
                                  : movement->cost[look.terrain] * (uint32_t)look.cost;
            model.weight[y][x] = (uint8_t)(weight > FM_COST_MAX ? FM_COST_MAX : weight);
        }
    }
    return model;
}

static fm_command_result apply(fm_world *world, fm_command command)
{
    fm_command_result result = {.spawned = NULL};
    fm_world_apply(world, &command, &result);
    return result;
}

static void spawn_agents(struct scene *scene, fm_random *random, uint32_t class_count)
{
    for (uint32_t i = 0; i < AGENTS; i++) {
        scene->classes[i] = fm_random_below(random, class_count);
        struct model truth = model_of(scene->world, FM_ALL_TEAMS, scene->classes[i]);
        for (bool spawned = false; !spawned;) {
            uint32_t x = fm_random_below(random, truth.width);
            uint32_t y = fm_random_below(random, truth.height);
            scene->cells[i] = fm_cell_at(x, y);
            fm_command command = {.kind = FM_COMMAND_SPAWN,
                                  .team = 1 + i % 2,
                                  .class_index = scene->classes[i],
                                  .cells = &scene->cells[i],
                                  .cell_count = 1};
            fm_command_result result = {.spawned = &scene->agents[i]};
            fm_world_apply(scene->world, &command, &result);
            spawned = square_weight(&truth, x, y) != 0;
            assert_int_equal(result.status, spawned ? FM_OK : FM_ERR_BLOCKED_CELL);
        }
    }
}

// @param class_count  classes that agents have, from the first; 0: any
static struct scene make_scene_of(fm_random *random, const fm_planner_ops *planner,
                                  uint32_t class_count)
{
    static const char *const names[] = {"one", "two", "three"};
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = planner;
    rules.connectivity = random_connectivity(random);
    rules.steps = random_steps(random, rules.connectivity);
    rules.sense.shape = rules.connectivity == FM_CONNECT_4 ? FM_SENSE_DIAMOND : FM_SENSE_SQUARE;
    rules.sense.radius = 1 + fm_random_below(random, 4);
    rules.sense.line_of_sight = fm_random_below(random, 3) == 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        rules.classes[rules.class_count++] = random_class(random, names[i]);
    }
    if (fm_random_below(random, 2)) {
        rules.classes[rules.class_count++] = fm_movement_class_ground();
    }
    struct scene scene = {.world = NULL};
    assert_int_equal(fm_world_create(&rules, random_grid(random), &fm_memory_libc, &scene.world),
                     FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(apply(scene.world, (fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
    }
    spawn_agents(&scene, random, class_count == 0 ? rules.class_count : class_count);
    return scene;
}

static struct scene make_scene(fm_random *random, const fm_planner_ops *planner)
{
    return make_scene_of(random, planner, 0);
}

// The views of every class in use agree with the plain model.
static void check_views(const struct scene *scene)
{
    for (uint32_t team = 0; team <= 2; team++) {
        for (uint32_t c = 0; c < fm_world_rules_get(scene->world)->class_count; c++) {
            const fm_view *view = fm_world_class_view(scene->world, team, c);
            if (view != NULL) {
                struct model model = model_of(scene->world, team, c);
                compare(view, &model);
            }
        }
    }
}

static void note_changes(struct scene *scene)
{
    fm_agent_look looks[AGENTS];
    uint32_t count = fm_world_agents_in_view(scene->world, FM_ALL_TEAMS, looks, AGENTS);
    assert_int_equal(count, AGENTS);
    for (uint32_t i = 0; i < count; i++) {
        scene->cells[looks[i].id.index1 - 1] = looks[i].cell;
        assert_int_equal(looks[i].class_index, scene->classes[looks[i].id.index1 - 1]);
    }
    fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        uint32_t agent = changes.ended[i].agent.index1 - 1;
        scene->ended_count[agent] += 1;
        scene->ended[agent] = changes.ended[i].reason;
    }
}

static bool is_place(const struct scene *scene, uint32_t agent)
{
    struct model truth = model_of(scene->world, FM_ALL_TEAMS, scene->classes[agent]);
    return square_weight(&truth, fm_cell_x(scene->cells[agent]), fm_cell_y(scene->cells[agent])) !=
           0;
}

static void run_tick(struct scene *scene, fm_random *random)
{
    fm_tick_report report;
    fm_tick_run(scene->world, NULL, 1 + fm_random_below(random, 3000), NULL, &report);
    note_changes(scene);
}

static fm_cell random_cell(const fm_world *world, fm_random *random)
{
    return fm_cell_at(fm_random_below(random, fm_world_grid(world)->width),
                      fm_random_below(random, fm_world_grid(world)->height));
}

static void order(struct scene *scene, uint32_t agent, fm_cell goal)
{
    fm_command_result result = apply(scene->world, (fm_command){.kind = FM_COMMAND_ORDER,
                                                                .agents = &scene->agents[agent],
                                                                .agent_count = 1,
                                                                .cells = &goal,
                                                                .cell_count = 1,
                                                                .order = FM_ORDER_MOVE});
    assert_int_equal(result.status, FM_OK);
}

// @param costs  change what the cell costs, in place of its terrain
static void edit(const struct scene *scene, fm_cell cell, fm_random *random, bool costs)
{
    uint32_t terrain = 1 + fm_random_below(random, FM_TERRAIN_BUILDING - 1);
    fm_command_result result = apply(
        scene->world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                                   .cells = &cell,
                                   .cell_count = 1,
                                   .terrain = costs ? FM_TERRAIN_UNKNOWN : (fm_terrain)terrain,
                                   .cost = costs ? (uint8_t)(1 + fm_random_below(random, 40)) : 0});
    assert_int_equal(result.status, FM_OK);
}

// On a map without edits every order ends as the true map allows.
static void orders_end_where_units_fit(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static const fm_planner_ops *const planners[] = {&fm_dstar_lite, &fm_auto, &fm_adaptive_astar,
                                                     &fm_dstar_extra_lite};
    for (uint32_t run = 0; run < 24; run++) {
        struct scene scene = make_scene(&random, planners[run % FM_COUNT_OF(planners)]);
        fm_cell starts[AGENTS], goals[AGENTS];
        memcpy(starts, scene.cells, sizeof starts);
        fm_cell shared_goal = random_cell(scene.world, &random);
        uint32_t left = AGENTS;
        for (uint32_t i = 0; i < AGENTS; i++) {
            goals[i] = i % 3 == 0 ? shared_goal : random_cell(scene.world, &random);
            order(&scene, i, goals[i]);
        }
        for (uint32_t tick = 0; tick < TICKS_MAX && left > 0; tick++) {
            run_tick(&scene, &random);
            if (tick % 16 == 0) {
                check_views(&scene);
            }
            left = 0;
            for (uint32_t i = 0; i < AGENTS; i++) {
                left += scene.ended_count[i] == 0;
                assert_true(is_place(&scene, i));
            }
        }
        assert_int_equal(left, 0);
        for (uint32_t i = 0; i < AGENTS; i++) {
            const fm_view *truth = fm_world_class_view(scene.world, FM_ALL_TEAMS, scene.classes[i]);
            reference costs = reference_measure(truth, goals[i]);
            bool reachable =
                starts[i] == goals[i] || (!fm_view_is_blocked(truth, goals[i]) &&
                                          reference_cost(&costs, starts[i]) != FM_COST_INFINITE);
            assert_int_equal(scene.ended_count[i], 1);
            assert_int_equal(scene.ended[i], reachable ? FM_END_ARRIVED : FM_END_NEAREST);
            reference_fini(&costs);
        }
        fm_world_destroy(scene.world);
    }
}

static uint32_t octile(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx < dy ? 10 * (dy - dx) + 14 * dx : 10 * (dx - dy) + 14 * dy;
}

// Octile distance from the unit to the nearest cell where it fits.
static uint32_t nearest_place(const struct scene *scene, uint32_t agent, fm_cell from)
{
    struct model truth = model_of(scene->world, FM_ALL_TEAMS, scene->classes[agent]);
    uint32_t nearest = UINT32_MAX;
    for (uint32_t y = 0; y < truth.height; y++) {
        for (uint32_t x = 0; x < truth.width; x++) {
            uint32_t distance = octile(from, fm_cell_at(x, y));
            if (square_weight(&truth, x, y) != 0 && distance < nearest) {
                nearest = distance;
            }
        }
    }
    return nearest;
}

// Under constant edits no unit ever stands where it does not fit, a unit that is walled in steps to
// the nearest cell where it fits, and the views stay right, also when costs appear.
static void edits_push_units_out(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 1);
    for (uint32_t run = 0; run < 16; run++) {
        struct scene scene = make_scene(&random, &fm_dstar_lite);
        for (uint32_t tick = 0; tick < 60; tick++) {
            order(&scene, fm_random_below(&random, AGENTS), random_cell(scene.world, &random));
            fm_cell cell = random_cell(scene.world, &random), before[AGENTS];
            if (fm_random_below(&random, 2)) {
                cell = scene.cells[fm_random_below(&random, AGENTS)];
            }
            memcpy(before, scene.cells, sizeof before);
            edit(&scene, cell, &random, run % 2 && fm_random_below(&random, 4) == 0);
            fm_agent_report report;
            for (uint32_t i = 0; i < AGENTS; i++) {
                assert_int_equal(fm_world_inspect(scene.world, scene.agents[i], &report), FM_OK);
                uint32_t nearest = nearest_place(&scene, i, before[i]);
                assert_int_equal(octile(before[i], report.cell),
                                 nearest == UINT32_MAX ? 0 : nearest);
            }
            check_views(&scene);
            run_tick(&scene, &random);
            for (uint32_t i = 0; i < AGENTS; i++) {
                // A unit that fits nowhere stays.
                assert_true(is_place(&scene, i) ||
                            nearest_place(&scene, i, scene.cells[i]) == UINT32_MAX);
            }
        }
        fm_world_destroy(scene.world);
    }
}

// A view that is made late equals one that existed all the time.
static void views_may_be_made_at_any_time(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 2);
    struct scene scene = make_scene(&random, &fm_dstar_lite);
    for (uint32_t i = 0; i < AGENTS; i++) {
        order(&scene, i, random_cell(scene.world, &random));
    }
    for (uint32_t tick = 0; tick < 30; tick++) {
        run_tick(&scene, &random);
    }
    for (uint32_t team = 0; team <= 2; team++) {
        for (uint32_t c = 0; c < fm_world_rules_get(scene.world)->class_count; c++) {
            assert_int_equal(fm_world_prepare_class(scene.world, team, c), FM_OK);
            assert_non_null(fm_world_class_view(scene.world, team, c));
        }
    }
    check_views(&scene);
    assert_int_equal(fm_world_prepare_class(scene.world, 3, 0), FM_ERR_NO_TEAM);
    fm_command_result result =
        apply(scene.world, (fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .class_index = 7});
    assert_int_equal(result.status, FM_ERR_NO_CLASS);
    fm_world_destroy(scene.world);
}

// So does one that is made in parts, while the world goes on: units learn, and the ground changes.
static void views_may_be_made_in_parts(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 3);
    for (uint32_t game = 0; game < 8; game++) {
        struct scene scene = make_scene_of(&random, &fm_dstar_lite, 1);
        uint32_t width = fm_world_grid(scene.world)->width, parts = 0;
        uint32_t height = fm_world_grid(scene.world)->height;
        for (uint32_t tick = 0; tick < 40; tick++) {
            order(&scene, fm_random_below(&random, AGENTS), random_cell(scene.world, &random));
            edit(&scene, random_cell(scene.world, &random), &random, game % 2 && tick % 4 == 0);
            for (uint32_t team = 1; team <= 2; team++) {
                parts += fm_world_class_view(scene.world, team, 1) == NULL;
                fm_status status = fm_world_prepare_class_part(scene.world, team, 1, 2 * width);
                assert_int_equal(status, FM_OK);
            }
            run_tick(&scene, &random);
            check_views(&scene);
        }
        assert_non_null(fm_world_class_view(scene.world, 1, 1));
        assert_non_null(fm_world_class_view(scene.world, 2, 1));
        // Two rows at a time; what a class that moves as `ground` does needs is there.
        const fm_movement_class *movement = &fm_world_rules_get(scene.world)->classes[1];
        uint32_t parts_each = fm_movement_class_is_ground(movement) ? 1 : (height + 1) / 2;
        assert_int_equal(parts, 2 * parts_each);
        fm_world_destroy(scene.world);
    }
}

static void rules_name_each_class_once(void **state)
{
    (void)state;
    fm_world_rules rules = fm_world_rules_default();
    rules.classes[0] = fm_movement_class_ground();
    rules.classes[1] = fm_movement_class_ground();
    rules.class_count = 2;
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_grid_create(5, 5, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_ERR_BAD_VALUE);
    strcpy(rules.classes[1].name, "giant");
    rules.classes[1].size = 4;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_text),
        cmocka_unit_test(maps_follow_every_change),
        cmocka_unit_test(running_out_of_memory_leaves_nothing),
        cmocka_unit_test(planners_find_what_a_plain_search_finds),
        cmocka_unit_test(orders_end_where_units_fit),
        cmocka_unit_test(edits_push_units_out),
        cmocka_unit_test(views_may_be_made_at_any_time),
        cmocka_unit_test(views_may_be_made_in_parts),
        cmocka_unit_test(rules_name_each_class_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
