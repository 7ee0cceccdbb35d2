// test_lookouts.c: what a team sees, asked cell by cell, is what its view shows.
//
// Random worlds with walls, all shapes of sight, units of four sizes, some with a sight of their
// own, many on one cell. Every cell is asked for and compared with the bits that all eyes of the
// team's agents set.

#include "core/orders/target.h"
#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/lookouts.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

#define SIDE  80u
#define TEAMS 3u

static void apply(fm_world *world, fm_command command, fm_agent_id *spawned)
{
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_agent_id spawn(fm_world *world, uint32_t team, uint32_t class_index, fm_cell cell)
{
    fm_agent_id id;
    apply(world,
          (fm_command){.kind = FM_COMMAND_SPAWN,
                       .team = team,
                       .class_index = class_index,
                       .cells = &cell,
                       .cell_count = 1},
          &id);
    return id;
}

static fm_world *make_world(fm_sense_rules sense, fm_grid *grid)
{
    fm_world_rules rules = fm_world_rules_default();
    fm_world *world;
    char error[128];
    rules.sense = sense;
    rules.omniscient = true;
    if (sense.shape == FM_SENSE_DIAMOND) {
        rules.connectivity = FM_CONNECT_4;
        rules.steps = FM_STEPS_1;
    }
    assert_int_equal(fm_movement_classes_parse("one;two:size=2;three:size=3;four:size=4",
                                               rules.classes, &rules.class_count, error,
                                               sizeof error),
                     FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, NULL);
    }
    return world;
}

static fm_grid *make_grid(fm_random *random)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < SIDE * SIDE / 12; i++) {
        fm_cell cell = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
        fm_grid_set(grid, cell, FM_TERRAIN_WALL, 1);
    }
    return grid;
}

static bool is_room(const fm_grid *grid, fm_cell cell, uint32_t size)
{
    for (uint32_t i = 0; i < size * size; i++) {
        if (fm_grid_is_blocked(
                grid, fm_cell_at(fm_cell_x(cell) + i % size, fm_cell_y(cell) + i / size))) {
            return false;
        }
    }
    return true;
}

static void people(fm_world *world, fm_random *random, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = 1 + fm_random_below(random, 4);
        fm_cell cell =
            fm_cell_at(fm_random_below(random, SIDE - size), fm_random_below(random, SIDE - size));
        if (!is_room(fm_world_grid(world), cell, size)) {
            continue;
        }
        uint32_t team = 1 + fm_random_below(random, TEAMS);
        for (uint32_t k = fm_random_below(random, 4); k > 0; k--) {
            fm_agent_id id = spawn(world, team, size - 1, cell);
            if (fm_random_below(random, 3) == 0) {
                apply(world,
                      (fm_command){.kind = FM_COMMAND_SET,
                                   .agents = &id,
                                   .agent_count = 1,
                                   .set = FM_SET_SIGHT,
                                   .sight = (uint8_t)(1 + fm_random_below(random, 24))},
                      NULL);
            }
        }
    }
}

// What the eyes of all its agents see.
static void look(const fm_world *world, uint32_t team, fm_bitmap *visible)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
        uint32_t count =
            agent->alive && agent->team == team ? fm_agent_eyes(world, agent, eyes) : 0;
        for (uint32_t eye = 0; eye < count; eye++) {
            fm_knowledge_look(fm_team_of(world, team)->knowledge, fm_agent_sight(world, agent),
                              eyes[eye], visible);
        }
    }
}

static uint32_t compare(fm_world *world, uint32_t team)
{
    fm_bitmap visible;
    uint32_t seen = 0;
    assert_int_equal(fm_bitmap_init(&visible, SIDE, SIDE, false, &fm_memory_libc), FM_OK);
    look(world, team, &visible);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        fm_cell cell = fm_cell_at(i % SIDE, i / SIDE);
        assert_int_equal(fm_lookouts_see(world, team, cell), fm_bitmap_get(&visible, cell));
        seen += fm_bitmap_get(&visible, cell);
    }
    const struct fm_world_agents *agents = fm_world_agents(world);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        assert_int_equal(fm_lookouts_see_agent(world, team, agent),
                         fm_agent_touches(world, agent, &visible));
    }
    fm_bitmap_fini(&visible, &fm_memory_libc);
    return seen;
}

static bool is_empty(const fm_world *world, fm_cell cell)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    bool empty = true;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        uint32_t size = fm_world_class_size(world, agent->class_index);
        empty = empty && (fm_cell_x(cell) - fm_cell_x(agent->cell) >= size ||
                          fm_cell_y(cell) - fm_cell_y(agent->cell) >= size);
    }
    return empty;
}

// What was seen before walls change is not what is seen behind them, though nobody has moved.
static void change_walls(fm_world *world, fm_random *random)
{
    for (uint32_t i = 0; i < 40; i++) {
        fm_cell cell = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
        fm_terrain terrain =
            fm_grid_is_blocked(fm_world_grid(world), cell) ? FM_TERRAIN_GROUND : FM_TERRAIN_WALL;
        if (is_empty(world, cell)) {
            apply(world,
                  (fm_command){.kind = FM_COMMAND_TERRAIN,
                               .terrain = terrain,
                               .cells = &cell,
                               .cell_count = 1},
                  NULL);
        }
    }
}

static uint32_t compare_all(fm_world *world)
{
    uint32_t seen = 0;
    fm_unit_index_refresh(world);
    fm_lookouts_refresh(world);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        seen += compare(world, team);
    }
    return seen;
}

static void cells_are_those_that_the_eyes_see(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(20261126);
    for (uint32_t i = 0; i < 24; i++) {
        fm_sense_rules sense = {.radius = 1 + fm_random_below(&random, i < 18 ? 12 : 64),
                                .shape = (fm_sense_shape)(i % 3),
                                .line_of_sight = i % 3 != FM_SENSE_DIAMOND && i / 3 % 2 == 1};
        fm_world *world = make_world(sense, make_grid(&random));
        people(world, &random, fm_random_below(&random, 60));
        assert_true(compare_all(world) < TEAMS * SIDE * SIDE);
        change_walls(world, &random);
        (void)compare_all(world);
        fm_world_destroy(world);
    }
}

// The work of asking follows the cells that are looked from, not the agents.
static void many_on_one_cell_look_once(void **state)
{
    (void)state;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    fm_world *world = make_world((fm_sense_rules){.radius = 3}, grid);
    for (uint32_t i = 0; i < 600; i++) {
        fm_agent_id id = spawn(world, 1 + i % 2, 0, fm_cell_at(i / 2 % 3, 0));
        apply(world,
              (fm_command){.kind = FM_COMMAND_SET,
                           .agents = &id,
                           .agent_count = 1,
                           .set = FM_SET_SIGHT,
                           .sight = (uint8_t)(i / 6 % 2 * 5)},
              NULL);
    }
    fm_unit_index_refresh(world);
    fm_lookouts_refresh(world);
    assert_int_equal(fm_world_orders(world)->lookouts.count, 2 * 3 * 2);
    fm_world_destroy(world);
}

// A unit of 4 x 4 cells sees with all of its corners, and is seen as soon as one of its cells is:
// what a view shows may be followed.
static void large_units_see_and_are_seen_at_each_corner(void **state)
{
    (void)state;
    for (uint32_t large = 1; large <= 2; large++) {
        fm_grid *grid;
        assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
        fm_world *world = make_world((fm_sense_rules){.radius = 5}, grid);
        spawn(world, large, 3, fm_cell_at(20, 20));
        fm_agent_id small[] = {spawn(world, 3 - large, 0, fm_cell_at(28, 28)),
                               spawn(world, 3 - large, 0, fm_cell_at(29, 29))};
        const struct fm_agent *agent = &fm_world_agents(world)->slots[0];
        assert_int_equal(agent->class_index, 3);
        fm_unit_index_refresh(world);
        fm_lookouts_refresh(world);
        assert_true(fm_lookouts_see_agent(world, 3 - large, agent));
        assert_true(fm_target_may_name(world, large, FM_ORDER_FOLLOW, small[0]));
        assert_false(fm_target_may_name(world, large, FM_ORDER_FOLLOW, small[1]));
        fm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_those_that_the_eyes_see),
        cmocka_unit_test(many_on_one_cell_look_once),
        cmocka_unit_test(large_units_see_and_are_seen_at_each_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
