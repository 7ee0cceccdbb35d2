// core/views/test_waypoints.c: straightened paths do not touch walls.
//
// Method: random maps, in fog and known, with agents of all sizes on their way. A square as large
// as the agent is moved along its waypoints in small steps; every cell that it overlaps must be
// free, and seen where the line is longer than a step. The last waypoint of a short path is the
// goal.

#include "tests/support/crowd.h"

#include "core/base/random.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/views/waypoints.h"
#include "core/world/world_classes.h"

#define WORLDS    24u
#define SIDE      32u
#define FRACTIONS 64 // of a cell, in which squares are moved

static crowd stage;

static fm_world_rules rules_of_sizes(bool omniscient)
{
    static const char *const classes[] = {"one", "two:size=2,ground=1", "three:size=3,ground=1",
                                          "four:size=4,ground=1"};
    fm_world_rules rules = crowd_rules();
    rules.omniscient = omniscient;
    rules.occupancy = FM_OCCUPANCY_NONE;
    for (uint32_t i = 0; i < FM_CLASS_SIZE_MAX; i++) {
        assert_int_equal(fm_movement_class_parse(classes[i], &rules.classes[i], NULL, 0), FM_OK);
    }
    rules.class_count = FM_CLASS_SIZE_MAX;
    return rules;
}

// Whether the square at x, y, in fractions of cells, overlaps no wall that was seen.
static void is_clear(uint32_t team, int64_t x, int64_t y, int64_t size)
{
    const fm_view *view = fm_world_class_view(stage.world, team, 0);
    for (int64_t j = y / FRACTIONS; j * FRACTIONS < y + size * FRACTIONS; j++) {
        for (int64_t i = x / FRACTIONS; i * FRACTIONS < x + size * FRACTIONS; i++) {
            assert_true(fm_grid_contains(stage.grid, i, j));
            assert_false(fm_view_is_blocked(view, fm_cell_at((uint32_t)i, (uint32_t)j)));
        }
    }
}

static void follow(uint32_t team, uint32_t size, fm_waypoint from, fm_waypoint to)
{
    int64_t x = ((int64_t)from.x2 - size) * FRACTIONS / 2;
    int64_t y = ((int64_t)from.y2 - size) * FRACTIONS / 2;
    int64_t dx = ((int64_t)to.x2 - from.x2) * FRACTIONS / 2;
    int64_t dy = ((int64_t)to.y2 - from.y2) * FRACTIONS / 2;
    // Positions that lie on the grid of fractions exactly.
    int64_t steps = FRACTIONS * 2;
    for (int64_t i = 0; i <= steps; i++) {
        if (dx * i % steps == 0 && dy * i % steps == 0) {
            is_clear(team, x + dx * i / steps, y + dy * i / steps, size);
        }
    }
}

static uint64_t look_at(uint32_t team, uint32_t index, fm_cell goal)
{
    fm_waypoint points[FM_WAYPOINT_CELLS];
    fm_cell path[SIDE * SIDE];
    uint32_t size = fm_world_rules_get(stage.world)->classes[index % FM_CLASS_SIZE_MAX].size;
    uint32_t cells = fm_world_agent_path(stage.world, stage.units[index], path, SIDE * SIDE);
    uint32_t count =
        fm_world_waypoints(stage.world, stage.units[index], points, FM_COUNT_OF(points));
    assert_true(count < cells || count == 0);
    fm_cell cell = crowd_cell(&stage, index);
    fm_waypoint at = {.x2 = 2 * fm_cell_x(cell) + size, .y2 = 2 * fm_cell_y(cell) + size};
    for (uint32_t i = 0; i < count; i++) {
        follow(team, size, at, points[i]);
        at = points[i];
    }
    if (count > 0 && cells <= FM_WAYPOINT_CELLS && path[cells - 1] == goal) {
        assert_int_equal(at.x2, 2 * fm_cell_x(goal) + size);
        assert_int_equal(at.y2, 2 * fm_cell_y(goal) + size);
    }
    return cells > count + 1 ? cells - count - 1 : 0;
}

static uint64_t play(fm_random *random, bool omniscient)
{
    fm_world_rules rules = rules_of_sizes(omniscient);
    fm_grid *grid;
    uint64_t spared = 0;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        if (fm_random_below(random, 100) < 6) {
            fm_grid_set(grid, fm_cell_at(i % SIDE, i / SIDE), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    fm_cell goals[2 * FM_CLASS_SIZE_MAX];
    for (uint32_t i = 0; i < FM_COUNT_OF(goals); i++) {
        fm_cell cell = fm_cell_at(fm_random_below(random, SIDE - 4), fm_random_below(random, SIDE));
        crowd_spawn(&stage, (fm_command){.team = team,
                                         .cells = &cell,
                                         .cell_count = 1,
                                         .class_index = i % FM_CLASS_SIZE_MAX,
                                         .placing = FM_PLACE_NEAREST});
        goals[i] = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
        crowd_order(&stage, i, goals[i], FM_UNREACHABLE_NEAREST);
    }
    for (uint32_t tick = 0; tick < 24; tick++) {
        fm_tick_report report;
        fm_tick_run(stage.world, NULL, 1u << 30, NULL, &report);
        stage.look_count =
            fm_world_agents_in_view(stage.world, FM_ALL_TEAMS, stage.looks, CROWD_UNITS_MAX);
        for (uint32_t i = 0; i < stage.look_count; i++) {
            stage.cells[stage.looks[i].id.index1 - 1] = stage.looks[i].cell;
        }
        for (uint32_t i = 0; i < FM_COUNT_OF(goals); i++) {
            spared += look_at(team, i, goals[i]);
        }
    }
    crowd_fini(&stage);
    return spared;
}

static void lines_keep_clear_of_walls(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint64_t spared = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        spared += play(&random, i % 2 == 0);
    }
    assert_true(spared > 1000); // most cells of a path are no waypoints
}

// An open field is crossed in one line; a wall in between makes it two.
static void lines_turn_at_walls_only(void **state)
{
    (void)state;
    for (uint32_t walled = 0; walled < 2; walled++) {
        fm_world_rules rules = rules_of_sizes(true);
        fm_grid *grid;
        assert_int_equal(fm_grid_create(20, 12, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t y = 4; walled && y < 12; y++) {
            fm_grid_set(grid, fm_cell_at(9, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        crowd_init(&stage, &rules, grid);
        crowd_spawn_at(&stage, crowd_team(&stage), fm_cell_at(0, 5));
        crowd_order(&stage, 0, fm_cell_at(19, 8), FM_UNREACHABLE_FAIL);
        fm_tick_report report;
        fm_tick_run(stage.world, NULL, 1u << 30, NULL, &report);
        fm_waypoint points[FM_WAYPOINT_CELLS];
        uint32_t count =
            fm_world_waypoints(stage.world, stage.units[0], points, FM_COUNT_OF(points));
        assert_in_range(count, walled ? 2 : 1, walled ? 4 : 1);
        assert_int_equal(points[count - 1].x2, 39);
        assert_int_equal(points[count - 1].y2, 17);
        crowd_fini(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_keep_clear_of_walls),
        cmocka_unit_test(lines_turn_at_walls_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
