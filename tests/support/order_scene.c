// order_scene.c: see order_scene.h.

#include "tests/support/order_scene.h"

#include "core/views/view_delta.h"
#include "tests/support/support.h"

struct order_scene scene_make(const char *const *rows, uint32_t width, uint32_t height,
                              bool omniscient)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; rows != NULL && y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            if (rows[y][x] == '#') {
                fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, 1);
            }
        }
    }
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = &fm_auto;
    rules.omniscient = omniscient;
    struct order_scene scene = {.budget = SCENE_BUDGET};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
    }
    return scene;
}

fm_agent_id scene_spawn(struct order_scene *scene, uint32_t team, uint32_t x, uint32_t y)
{
    fm_agent_id id;
    fm_cell cell = fm_cell_at(x, y);
    fm_command_result result = {.spawned = &id};
    fm_world_apply(
        scene->world,
        &(fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = &cell, .cell_count = 1},
        &result);
    assert_int_equal(result.status, FM_OK);
    return id;
}

fm_command_result scene_give(struct order_scene *scene, fm_command command)
{
    fm_command_result result = {0};
    command.kind = FM_COMMAND_ORDER;
    fm_world_apply(scene->world, &command, &result);
    return result;
}

void scene_wall(struct order_scene *scene, fm_rect wall)
{
    fm_command command = {
        .kind = FM_COMMAND_TERRAIN, .rects = &wall, .rect_count = 1, .terrain = FM_TERRAIN_WALL};
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

uint64_t scene_order(struct order_scene *scene, fm_agent_id agent, fm_command command)
{
    command.agents = &agent;
    command.agent_count = 1;
    fm_command_result result = scene_give(scene, command);
    assert_int_equal(result.status, FM_OK);
    return result.first_order;
}

uint64_t scene_move_to(struct order_scene *scene, fm_agent_id agent, uint32_t x, uint32_t y,
                       bool queue)
{
    fm_cell cell = fm_cell_at(x, y);
    return scene_order(
        scene, agent,
        (fm_command){.order = FM_ORDER_MOVE, .cells = &cell, .cell_count = 1, .queue = queue});
}

void scene_remove(struct order_scene *scene, fm_agent_id agent)
{
    fm_command_result result = {0};
    fm_world_apply(scene->world,
                   &(fm_command){.kind = FM_COMMAND_REMOVE, .agents = &agent, .agent_count = 1},
                   &result);
    assert_int_equal(result.status, FM_OK);
}

void scene_run(struct order_scene *scene, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        fm_tick_report report;
        fm_tick_run(scene->world, NULL, scene->budget, NULL, &report);
        fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
        for (uint32_t j = 0; j < changes.ended_count; j++) {
            assert_true(scene->ended_count < FM_COUNT_OF(scene->ended));
            scene->ended[scene->ended_count++] = changes.ended[j];
        }
    }
}

fm_agent_report scene_look(const struct order_scene *scene, fm_agent_id agent)
{
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene->world, agent, &report), FM_OK);
    return report;
}

fm_order_ended scene_ending(const struct order_scene *scene, uint64_t id)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < scene->ended_count; i++) {
        if (scene->ended[i].order == id) {
            assert_int_equal(found, UINT32_MAX);
            found = i;
        }
    }
    assert_int_not_equal(found, UINT32_MAX);
    return scene->ended[found];
}

uint32_t cells_apart(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx > dy ? dx : dy;
}

struct order_scene scene_make_fog(fm_random *random, fm_generator generator, uint32_t side,
                                  bool exclusive)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = generator;
    options.width = options.height = side;
    options.room_side = 8;
    options.blocked_permille = 250;
    options.walls_removed = 20;
    options.seed = fm_random_next(random);
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = &fm_auto;
    rules.sense.radius = 1 + fm_random_below(random, 4);
    rules.sense.line_of_sight = fm_random_below(random, 2) == 0;
    rules.occupancy = exclusive ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
    struct order_scene scene = {.budget = 50 + fm_random_below(random, 5000)};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    return scene;
}

fm_cell scene_free_cell(const struct order_scene *scene, fm_random *random)
{
    const fm_grid *grid = fm_world_grid(scene->world);
    for (;;) {
        fm_cell cell =
            fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
        if (!fm_grid_is_blocked(grid, cell)) {
            return cell;
        }
    }
}
