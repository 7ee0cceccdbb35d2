// test_costs.c: costs that a game adds for one team: whose paths they change, what searches are
// notified of, what is refused, and that other teams learn nothing of them.
//
// Method: small worlds where the way around is known; a model of what cells weigh beside random
// edits, for every class; two worlds that differ in another team's costs only. Random games have
// the command too (tests/support/script.c), for replays, saves and any number of workers.

#include "core/tick/digest.h"
#include "core/views/view_delta.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

static fm_command_result add_cost(struct order_scene *scene, uint32_t team, uint32_t cost,
                                  fm_rect rect)
{
    fm_command_result result = {.status = FM_OK};
    fm_command command = {.kind = FM_COMMAND_COST,
                          .team = team,
                          .rects = &rect,
                          .rect_count = 1,
                          .cost = (uint8_t)cost};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static fm_command_result use_planner(struct order_scene *scene, fm_agent_id agent, const char *name)
{
    fm_command_result result = {.status = FM_OK};
    fm_command command = {.kind = FM_COMMAND_PLANNER, .agents = &agent, .agent_count = 1};
    assert_int_equal(fm_planner_spec_parse(name, &command.planner, NULL, 0), FM_OK);
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static bool holds(fm_rect rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect.x < rect.width && fm_cell_y(cell) - rect.y < rect.height;
}

// Whether an agent enters a rectangle before its order ends, which must be by arriving.
static bool goes_through(struct order_scene *scene, fm_agent_id agent, uint64_t order, fm_rect rect)
{
    bool entered = false;
    uint32_t ended = scene->ended_count;
    for (uint32_t i = 0; i < 200 && scene->ended_count == ended; i++) {
        scene_run(scene, 1);
        entered = entered || holds(rect, scene_look(scene, agent).cell);
    }
    assert_int_equal(scene_ending(scene, order).reason, FM_END_ARRIVED);
    return entered;
}

// ---- whose paths change -------------------------------------------------------------------------

static void only_its_team_keeps_away(void **state)
{
    (void)state;
    static const char *const planners[] = {
        "auto",       "dstar-lite",     "dstar-extra-lite",      "goal-field",
        "mpgaa-star", "adaptive-astar", "repeated-forward-astar"};
    const fm_rect tower = {10, 2, 5, 7};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        for (uint32_t omniscient = 0; omniscient < 2; omniscient++) {
            struct order_scene scene = scene_make(NULL, 28, 16, omniscient);
            fm_agent_id mine = scene_spawn(&scene, 1, 2, 5), other = scene_spawn(&scene, 2, 2, 5);
            assert_int_equal(use_planner(&scene, mine, planners[i]).status, FM_OK);
            assert_int_equal(use_planner(&scene, other, planners[i]).status, FM_OK);
            assert_int_equal(add_cost(&scene, 1, 30, tower).changed_count, 35);
            uint64_t order = scene_move_to(&scene, mine, 24, 5, false);
            assert_false(goes_through(&scene, mine, order, tower));
            order = scene_move_to(&scene, other, 24, 5, false);
            assert_true(goes_through(&scene, other, order, tower));
            // Without the costs everything is as before.
            assert_int_equal(add_cost(&scene, 1, 0, tower).changed_count, 35);
            order = scene_move_to(&scene, mine, 2, 5, false);
            assert_true(goes_through(&scene, mine, order, tower));
            fm_world_destroy(scene.world);
        }
    }
}

// It changes its path under way when a tower is built ahead of it, and when the tower is removed.
static void units_under_way_turn(void **state)
{
    (void)state;
    static const char *const planners[] = {"auto", "dstar-lite", "goal-field", "adaptive-astar"};
    const fm_rect tower = {18, 1, 4, 9};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        for (uint32_t falls = 0; falls < 2; falls++) {
            struct order_scene scene = scene_make(NULL, 40, 12, true);
            fm_agent_id agent = scene_spawn(&scene, 1, 2, 4);
            assert_int_equal(use_planner(&scene, agent, planners[i]).status, FM_OK);
            assert_int_equal(add_cost(&scene, 1, falls ? 60 : 0, tower).status, FM_OK);
            uint64_t order = scene_move_to(&scene, agent, 36, 4, false);
            scene_run(&scene, 3);
            assert_int_equal(add_cost(&scene, 1, falls ? 0 : 60, tower).status, FM_OK);
            assert_int_equal(goes_through(&scene, agent, order, tower), falls);
            fm_world_destroy(scene.world);
        }
    }
}

// ---- what searches are notified of --------------------------------------------------------------

// A search is notified of the changed cells and repairs what depends on them: it does not start
// over.
static void searches_mend_what_changed(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 128, 128, true);
    scene.budget = 1000000;
    fm_agent_id agent = scene_spawn(&scene, 1, 4, 4);
    assert_int_equal(use_planner(&scene, agent, "dstar-lite").status, FM_OK);
    assert_int_equal(add_cost(&scene, 1, 9, (fm_rect){0, 0, 1, 1}).status, FM_OK);
    scene_move_to(&scene, agent, 90, 60, false);
    scene_run(&scene, 2);
    uint64_t first = scene_look(&scene, agent).planner_expansions;
    assert_true(first > 50);
    assert_int_equal(add_cost(&scene, 1, 40, (fm_rect){100, 120, 4, 4}).changed_count, 16);
    scene_run(&scene, 1);
    uint64_t far = scene_look(&scene, agent).planner_expansions - first;
    assert_in_range(far, 0, first / 4);
    assert_int_equal(add_cost(&scene, 1, 40, (fm_rect){100, 120, 4, 4}).changed_count, 0);
    fm_world_destroy(scene.world);
}

// Cells that touch many searches: their repairs, which end only when all are done, leave the tick
// within its budget. What would take more begins again, in turns.
static void repairs_keep_to_the_budget(void **state)
{
    (void)state;
    enum {
        SEARCHES = 60,
        BUDGET = 60000,
        SLACK = BUDGET / 10
    };
    struct order_scene scene = scene_make(NULL, 128, 128, true);
    scene.budget = 1000000;
    for (uint32_t i = 0; i < SEARCHES; i++) {
        fm_agent_id agent = scene_spawn(&scene, 1, 2 + i, 2);
        assert_int_equal(use_planner(&scene, agent, "dstar-lite").status, FM_OK);
        scene_move_to(&scene, agent, 120 - i, 124, false);
    }
    assert_int_equal(add_cost(&scene, 1, 9, (fm_rect){0, 0, 1, 1}).status, FM_OK);
    scene_run(&scene, 4);
    for (uint32_t tick = 0; tick < 6; tick++) {
        fm_tick_report report;
        assert_int_equal(
            add_cost(&scene, 1, tick % 2 == 0 ? 40 : 0, (fm_rect){20, 20, 64, 64}).changed_count,
            64 * 64);
        fm_tick_run(scene.world, NULL, BUDGET, NULL, &report);
        assert_in_range(report.expansions, 1, BUDGET + SLACK);
    }
    fm_world_destroy(scene.world);
}

// What a cell weighs for a class of the model.
static uint32_t model_weight(const fm_movement_class *movement, fm_learned look, uint32_t added)
{
    uint32_t weight = fm_movement_weight(movement, (fm_terrain)look.terrain, look.cost) + added;
    return weight < FM_COST_MAX ? weight : FM_COST_MAX;
}

// The costliest cell of the square, if the square fits.
static void check_view(struct order_scene *scene, uint32_t class_index, const uint8_t *added)
{
    const fm_movement_class *movement = &fm_world_rules_get(scene->world)->classes[class_index];
    const fm_knowledge *knowledge = fm_team_of(scene->world, 1)->knowledge;
    const fm_view *view = fm_knowledge_view(knowledge, class_index);
    for (uint32_t y = 0; y + movement->size <= view->height; y++) {
        for (uint32_t x = 0; x + movement->size <= view->width; x++) {
            uint32_t costliest = 0;
            if (fm_view_is_blocked(view, fm_cell_at(x, y))) {
                continue;
            }
            for (uint32_t i = 0; i < (uint32_t)movement->size * movement->size; i++) {
                uint32_t cx = x + i % movement->size, cy = y + i / movement->size;
                fm_learned look = fm_knowledge_look_up(knowledge, fm_cell_at(cx, cy));
                uint32_t weight = model_weight(movement, look, added[cy * view->width + cx]);
                costliest = weight > costliest ? weight : costliest;
            }
            assert_int_equal(fm_view_weight(view, fm_cell_at(x, y)), costliest);
        }
    }
}

static void edit_terrain(struct order_scene *scene, fm_random *random)
{
    fm_cell cell = fm_cell_at(fm_random_below(random, 40), fm_random_below(random, 30));
    fm_command command = {.kind = FM_COMMAND_TERRAIN, .cells = &cell, .cell_count = 1};
    command.terrain = fm_random_below(random, 2) ? FM_TERRAIN_SWAMP : FM_TERRAIN_GROUND;
    command.cost = (uint8_t)(1 + fm_random_below(random, 8));
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(scene->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

// Random edits of costs and terrain, in fog: a cell weighs what the team saw plus what was added.
static void cells_weigh_what_was_seen_and_added(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 6; run++) {
        fm_world_rules rules = fm_world_rules_default();
        fm_grid *grid;
        assert_int_equal(fm_movement_classes_parse("ground;tank:size=2,ground=1,swamp=3",
                                                   rules.classes, &rules.class_count, NULL, 0),
                         FM_OK);
        struct order_scene scene = {.budget = SCENE_BUDGET};
        assert_int_equal(fm_grid_create(40, 30, &fm_memory_libc, &grid), FM_OK);
        assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
        fm_command_result result = {.status = FM_OK};
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        fm_agent_id agent = scene_spawn(&scene, 1, 5, 5);
        uint8_t added[40 * 30] = {0};
        assert_int_equal(fm_world_prepare_class(scene.world, 1, run % 2), FM_OK);
        for (uint32_t i = 0; i < 60; i++) {
            fm_rect rect = {fm_random_below(&random, 30), fm_random_below(&random, 20),
                            1 + fm_random_below(&random, 10), 1 + fm_random_below(&random, 10)};
            uint32_t cost = fm_random_below(&random, 3) ? fm_random_below(&random, 250) : 0;
            assert_int_equal(add_cost(&scene, 1, cost, rect).status, FM_OK);
            for (uint32_t y = rect.y; y < rect.y + rect.height; y++) {
                memset(added + y * 40 + rect.x, (int)cost, rect.width);
            }
            edit_terrain(&scene, &random);
            if (i % 7 == 0) {
                scene_move_to(&scene, agent, fm_random_below(&random, 40),
                              fm_random_below(&random, 30), false);
            }
            fm_tick_report report;
            fm_tick_run(scene.world, NULL, scene.budget, NULL, &report);
        }
        assert_int_equal(fm_world_prepare_class(scene.world, 1, 1), FM_OK);
        check_view(&scene, 0, added);
        check_view(&scene, 1, added);
        fm_world_destroy(scene.world);
    }
}

// ---- what is refused ----------------------------------------------------------------------------

static void planners_of_equal_costs_are_refused(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2), other = scene_spawn(&scene, 2, 9, 9);
    assert_int_equal(use_planner(&scene, agent, "repeated-jps").status, FM_OK);
    assert_int_equal(use_planner(&scene, other, "repeated-jps").status, FM_OK);
    uint64_t digest = fm_world_digest(scene.world);
    const fm_rect rect = {4, 4, 3, 3};
    assert_int_equal(add_cost(&scene, 1, 5, rect).status, FM_ERR_NOT_READY);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(use_planner(&scene, agent, "auto").status, FM_OK);
    assert_int_equal(add_cost(&scene, 1, 5, rect).status, FM_OK);
    // From now on only the other team can have such a planner.
    assert_int_equal(use_planner(&scene, agent, "repeated-jps").status, FM_ERR_BAD_VALUE);
    assert_int_equal(use_planner(&scene, other, "repeated-jps").status, FM_OK);
    fm_command turn = {.kind = FM_COMMAND_SET,
                       .agents = &other,
                       .agent_count = 1,
                       .set = FM_SET_TEAM,
                       .new_team = 1};
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(scene.world, &turn, &result);
    assert_int_equal(result.status, FM_ERR_BAD_VALUE);
    fm_cell cell = fm_cell_at(20, 20);
    fm_command spawn = {.kind = FM_COMMAND_SPAWN, .team = 1, .cells = &cell, .cell_count = 1};
    assert_int_equal(fm_planner_spec_parse("repeated-jps", &spawn.planner, NULL, 0), FM_OK);
    fm_world_apply(scene.world, &spawn, &result);
    assert_int_equal(result.status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

static void what_is_wrong_is_refused_whole(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    uint64_t digest = fm_world_digest(scene.world);
    assert_int_equal(add_cost(&scene, 0, 5, (fm_rect){1, 1, 1, 1}).status, FM_ERR_NO_TEAM);
    assert_int_equal(add_cost(&scene, 3, 5, (fm_rect){1, 1, 1, 1}).status, FM_ERR_NO_TEAM);
    assert_int_equal(add_cost(&scene, 1, 5, (fm_rect){30, 1, 3, 1}).status, FM_ERR_OFF_GRID);
    assert_int_equal(add_cost(&scene, 1, 5, (fm_rect){3, 1, 0, 1}).status, FM_ERR_BAD_VALUE);
    assert_int_equal(add_cost(&scene, 1, 250, (fm_rect){3, 1, 1, 1}).status, FM_ERR_BAD_VALUE);
    // Nothing can be removed where nothing was added.
    assert_int_equal(add_cost(&scene, 1, 0, (fm_rect){3, 1, 1, 1}).status, FM_OK);
    assert_int_equal(fm_world_digest(scene.world), digest);
    fm_world_destroy(scene.world);
}

// The limit counts a team's cells between two ticks, whether they change or not, for each team.
static void cells_of_a_tick_are_bounded(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 512, 256, true);
    const fm_rect most = {0, 0, 512, FM_COST_CELLS_MAX / 512}, one = {0, 0, 1, 1};
    assert_int_equal(add_cost(&scene, 1, 5, most).changed_count, FM_COST_CELLS_MAX);
    uint64_t digest = fm_world_digest(scene.world);
    assert_int_equal(add_cost(&scene, 1, 5, one).status, FM_ERR_LIMIT);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(add_cost(&scene, 2, 5, one).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(add_cost(&scene, 1, 5, most).status, FM_OK);
    assert_int_equal(add_cost(&scene, 1, 5, one).status, FM_ERR_LIMIT);
    fm_world_destroy(scene.world);
}

// ---- what other teams learn ---------------------------------------------------------------------

static void check_same_changes(const fm_changes *a, const fm_changes *b)
{
    assert_int_equal(a->entered_count, b->entered_count);
    assert_int_equal(a->left_count, b->left_count);
    assert_int_equal(a->ended_count, b->ended_count);
    assert_int_equal(a->cell_count, b->cell_count);
    assert_int_equal(a->changed_count, b->changed_count);
    for (uint32_t i = 0; i < a->changed_count; i++) {
        assert_int_equal(a->changed[i].cell, b->changed[i].cell);
        assert_int_equal(a->changed[i].state, b->changed[i].state);
        assert_int_equal(fm_agent_id_pack(a->changed[i].name),
                         fm_agent_id_pack(b->changed[i].name));
    }
    for (uint32_t i = 0; i < a->cell_count; i++) {
        assert_int_equal(a->cells[i].cell, b->cells[i].cell);
        assert_int_equal(a->cells[i].cost, b->cells[i].cost);
    }
}

// The enemy walks unseen, in one world with costs, in the other without.
static void other_teams_see_nothing_of_it(void **state)
{
    (void)state;
    struct order_scene scenes[2];
    const fm_rect tower = {50, 20, 8, 20};
    for (uint32_t i = 0; i < 2; i++) {
        scenes[i] = scene_make(NULL, 96, 48, false);
        assert_int_equal(fm_world_watch(scenes[i].world, 1, true), FM_OK);
        fm_agent_id mine = scene_spawn(&scenes[i], 1, 2, 2);
        fm_agent_id enemy = scene_spawn(&scenes[i], 2, 40, 30);
        scene_move_to(&scenes[i], mine, 24, 40, false);
        scene_move_to(&scenes[i], enemy, 80, 30, false);
    }
    uint32_t changes_seen = 0;
    for (uint32_t tick = 0; tick < 60; tick++) {
        if (tick % 5 == 0) {
            assert_int_equal(add_cost(&scenes[1], 2, 1 + tick, tower).status, FM_OK);
        }
        for (uint32_t i = 0; i < 2; i++) {
            scene_run(&scenes[i], 1);
        }
        fm_changes a = fm_world_changes(scenes[0].world, 1);
        fm_changes b = fm_world_changes(scenes[1].world, 1);
        check_same_changes(&a, &b);
        changes_seen += a.changed_count;
    }
    assert_true(changes_seen > 10);
    assert_true(fm_world_digest(scenes[0].world) != fm_world_digest(scenes[1].world));
    fm_world_destroy(scenes[0].world);
    fm_world_destroy(scenes[1].world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_its_team_keeps_away),
        cmocka_unit_test(units_under_way_turn),
        cmocka_unit_test(searches_mend_what_changed),
        cmocka_unit_test(repairs_keep_to_the_budget),
        cmocka_unit_test(cells_weigh_what_was_seen_and_added),
        cmocka_unit_test(planners_of_equal_costs_are_refused),
        cmocka_unit_test(what_is_wrong_is_refused_whole),
        cmocka_unit_test(cells_of_a_tick_are_bounded),
        cmocka_unit_test(other_teams_see_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
