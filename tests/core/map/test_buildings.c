// test_buildings.c: buildings are placed and removed, and teams know them as they last saw them.
//
// Method: random worlds in which teams walk around while buildings come and go, compared with a
// plain model. It keeps which building covers each true cell and the terrain below it, and for each
// team the building that it saw last in each cell, from the cells that its knowledge has just
// learned.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/world_classes.h"
#include "tests/support/support.h"

#define SIDE      40u
#define TEAMS     3u
#define AGENTS    18u
#define BUILDINGS 400u // in total

struct scene {
    fm_world *world;
    fm_random random;
    fm_agent_id agents[AGENTS];
    fm_terrain ground[SIDE][SIDE]; // y, x; without buildings
    uint32_t at[SIDE][SIDE];       // building that stands there
    uint32_t owner[BUILDINGS];
    fm_rect rects[BUILDINGS];
    uint32_t believed[TEAMS + 1][SIDE][SIDE]; // building that the team saw there last
    bool listed[TEAMS + 1][BUILDINGS];        // seen at the last look at any of its cells
};

static fm_command_result apply(struct scene *scene, fm_command command)
{
    fm_command_result result = {.spawned = NULL};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static fm_cell random_cell(struct scene *scene)
{
    return fm_cell_at(fm_random_below(&scene->random, SIDE), fm_random_below(&scene->random, SIDE));
}

static void make_scene(struct scene *scene, uint64_t seed, fm_occupancy_rule occupancy)
{
    *scene = (struct scene){.random = fm_random_seed(seed)};
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t chance = fm_random_below(&scene->random, 12);
            scene->ground[y][x] = chance == 0   ? FM_TERRAIN_WATER
                                  : chance == 1 ? FM_TERRAIN_TREES
                                                : FM_TERRAIN_GROUND;
            fm_grid_set(grid, fm_cell_at(x, y), scene->ground[y][x], 1);
        }
    }
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = occupancy;
    rules.sense.radius = 1 + fm_random_below(&scene->random, 6);
    rules.sense.line_of_sight = fm_random_below(&scene->random, 2);
    rules.omniscient = fm_random_below(&scene->random, 4) == 0;
    assert_int_equal(fm_movement_class_parse("ground", &rules.classes[0], NULL, 0), FM_OK);
    assert_int_equal(
        fm_movement_class_parse("tank:size=2,ground=1,trees=4", &rules.classes[1], NULL, 0), FM_OK);
    rules.class_count = 2;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene->world), FM_OK);
    assert_int_equal(fm_world_watch(scene->world, FM_ALL_TEAMS, true), FM_OK);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        assert_int_equal(apply(scene, (fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
        assert_int_equal(fm_world_watch(scene->world, team, true), FM_OK);
    }
    for (uint32_t i = 0; i < AGENTS;) {
        fm_cell cell = random_cell(scene);
        fm_command command = {.kind = FM_COMMAND_SPAWN,
                              .team = 1 + i % TEAMS,
                              .class_index = i % 2,
                              .cells = &cell,
                              .cell_count = 1};
        fm_command_result result = {.spawned = &scene->agents[i]};
        fm_world_apply(scene->world, &command, &result);
        i += result.status == FM_OK;
    }
}

static bool covers(const fm_rect *rect, fm_cell cell, uint32_t size)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    return x < rect->x + rect->width && rect->x < x + size && y < rect->y + rect->height &&
           rect->y < y + size;
}

static uint32_t units_on(const struct scene *scene, const fm_rect *rect)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < AGENTS; i++) {
        fm_agent_report report;
        assert_int_equal(fm_world_inspect(scene->world, scene->agents[i], &report), FM_OK);
        count += covers(rect, report.cell, i % 2 + 1);
    }
    return count;
}

// What one team sees or learns of a cell.
static void look(struct scene *scene, uint32_t team, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    scene->believed[team][y][x] = scene->at[y][x];
    for (uint32_t building = 1; building < BUILDINGS && scene->rects[building].width > 0;
         building++) {
        if (covers(&scene->rects[building], cell, 1)) {
            scene->listed[team][building] = scene->at[y][x] == building;
        }
    }
}

static bool all_know(const struct scene *scene)
{
    return fm_world_rules_get(scene->world)->omniscient;
}

static void fill(struct scene *scene, uint32_t building, uint32_t value)
{
    const fm_rect *rect = &scene->rects[building];
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            scene->at[y][x] = value;
            for (uint32_t team = 0; team <= TEAMS; team++) {
                if (team == FM_ALL_TEAMS || team == scene->owner[building] || all_know(scene)) {
                    look(scene, team, fm_cell_at(x, y));
                }
            }
        }
    }
}

static void place(struct scene *scene)
{
    fm_cell corner = random_cell(scene);
    fm_rect rect = {fm_cell_x(corner), fm_cell_y(corner), 1 + fm_random_below(&scene->random, 5),
                    1 + fm_random_below(&scene->random, 5)};
    fm_command command = {.kind = FM_COMMAND_BUILD,
                          .team = fm_random_below(&scene->random, TEAMS + 1),
                          .rects = &rect,
                          .rect_count = 1,
                          .on_units = (fm_on_units)fm_random_below(&scene->random, 2)};
    fm_status expected = FM_OK;
    if (rect.x + rect.width > SIDE || rect.y + rect.height > SIDE) {
        expected = FM_ERR_OFF_GRID;
    }
    for (uint32_t y = rect.y; expected == FM_OK && y < rect.y + rect.height; y++) {
        for (uint32_t x = rect.x; x < rect.x + rect.width; x++) {
            expected = scene->at[y][x] != 0 ? FM_ERR_BUILDING : expected;
        }
    }
    uint32_t units = units_on(scene, &rect);
    if (expected == FM_OK && units > 0 && command.on_units == FM_UNITS_REFUSE) {
        expected = FM_ERR_OCCUPIED_CELL;
    }
    fm_command_result result = apply(scene, command);
    assert_int_equal(result.status, expected);
    if (expected != FM_OK) {
        assert_int_equal(result.changed_count, 0);
        assert_int_equal(result.in_the_way.index1 != 0, expected == FM_ERR_OCCUPIED_CELL);
        return;
    }
    assert_int_equal(result.changed_count, units);
    assert_int_equal(units_on(scene, &rect), 0);
    assert_true(result.building < BUILDINGS);
    scene->rects[result.building] = rect;
    scene->owner[result.building] = command.team;
    fill(scene, result.building, result.building);
}

static uint32_t placed_count(const struct scene *scene)
{
    uint32_t count = 0;
    while (count + 1 < BUILDINGS && scene->rects[count + 1].width > 0) {
        count += 1;
    }
    return count;
}

static bool stands(const struct scene *scene, uint32_t building)
{
    const fm_rect *rect = &scene->rects[building];
    return rect->width > 0 && scene->at[rect->y][rect->x] == building;
}

static void demolish(struct scene *scene, uint32_t placed)
{
    uint32_t building = fm_random_below(&scene->random, placed + 2);
    uint32_t team = fm_random_below(&scene->random, 4) == 0
                        ? fm_random_below(&scene->random, TEAMS + 1)
                        : FM_ALL_TEAMS;
    bool may = building >= 1 && building <= placed && stands(scene, building) &&
               (team == FM_ALL_TEAMS || team == scene->owner[building]);
    fm_command_result result =
        apply(scene, (fm_command){.kind = FM_COMMAND_DEMOLISH, .building = building, .team = team});
    assert_int_equal(result.status, may ? FM_OK : FM_ERR_NO_BUILDING);
    if (may) {
        fill(scene, building, 0);
    }
}

static void check_truth(const struct scene *scene)
{
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            fm_learned cell = fm_world_look_up(scene->world, FM_ALL_TEAMS, fm_cell_at(x, y));
            assert_int_equal(cell.terrain,
                             scene->at[y][x] != 0 ? FM_TERRAIN_BUILDING : scene->ground[y][x]);
        }
    }
}

// A building is listed exactly while the team, since it first saw the building, has seen it at each
// later look at its cells. The cells agree with the list.
static void check_beliefs(const struct scene *scene, uint32_t team, uint32_t placed)
{
    bool listed[BUILDINGS] = {false};
    uint32_t count, last = 0;
    const fm_building_look *looks = fm_world_buildings(scene->world, team, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(looks[i].id > last && looks[i].id <= placed);
        last = looks[i].id;
        listed[last] = true;
        assert_int_equal(looks[i].team, scene->owner[last]);
        assert_memory_equal(&looks[i].rect, &scene->rects[last], sizeof looks[i].rect);
        assert_true(looks[i].name >= 1 && looks[i].name <= placed);
    }
    for (uint32_t building = 1; building <= placed; building++) {
        const fm_rect *rect = &scene->rects[building];
        bool seen = false;
        assert_int_equal(listed[building], scene->listed[team][building]);
        for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
            for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
                fm_learned cell = fm_world_look_up(scene->world, team, fm_cell_at(x, y));
                seen = seen || scene->believed[team][y][x] == building;
                assert_int_equal(cell.terrain == FM_TERRAIN_BUILDING,
                                 scene->believed[team][y][x] != 0);
            }
        }
        assert_true(seen || !listed[building]);
        if (stands(scene, building) && seen) {
            assert_true(listed[building]);
        }
    }
}

static void wander(struct scene *scene)
{
    for (uint32_t i = 0; i < 4; i++) {
        fm_cell goal = random_cell(scene);
        fm_agent_id agent = scene->agents[fm_random_below(&scene->random, AGENTS)];
        fm_command_result result = apply(scene, (fm_command){.kind = FM_COMMAND_ORDER,
                                                             .agents = &agent,
                                                             .agent_count = 1,
                                                             .cells = &goal,
                                                             .cell_count = 1,
                                                             .order = FM_ORDER_MOVE});
        assert_int_equal(result.status, FM_OK);
    }
    fm_tick_report report;
    fm_tick_run(scene->world, NULL, 100000, NULL, &report);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        fm_changes changes = fm_world_changes(scene->world, team);
        for (uint32_t i = 0; i < changes.cell_count; i++) {
            look(scene, team, changes.cells[i].cell);
        }
    }
    for (uint32_t i = 0; i < AGENTS; i++) {
        fm_agent_report agent;
        assert_int_equal(fm_world_inspect(scene->world, scene->agents[i], &agent), FM_OK);
        const fm_view *truth = fm_world_class_view(scene->world, FM_ALL_TEAMS, i % 2);
        assert_false(fm_view_is_blocked(truth, agent.cell));
    }
}

static void buildings_come_and_go(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 16; run++) {
        struct scene *scene = malloc(sizeof *scene);
        make_scene(scene, fm_test_seed() + run,
                   run % 2 ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE);
        for (uint32_t tick = 0; tick < 120; tick++) {
            if (fm_random_below(&scene->random, 2)) {
                place(scene);
            } else {
                demolish(scene, placed_count(scene));
            }
            check_truth(scene);
            wander(scene);
            for (uint32_t team = 0; team <= TEAMS; team++) {
                check_beliefs(scene, team, placed_count(scene));
            }
        }
        fm_world_destroy(scene->world);
        free(scene);
    }
}

// A building that cannot be placed is refused with the reason, and terrain under a building stays.
static void limits_and_refusals(void **state)
{
    (void)state;
    struct scene *scene = malloc(sizeof *scene);
    make_scene(scene, fm_test_seed() + 99, FM_OCCUPANCY_NONE);
    static const struct {
        fm_rect rect;
        uint32_t rect_count, team;
        fm_status status;
    } wrong[] = {
        {{0, 0, 0, 3}, 1, 1, FM_ERR_BAD_VALUE},
        {{0, 0, 3, 0}, 1, 1, FM_ERR_BAD_VALUE},
        {{0, 0, 3, 3}, 0, 1, FM_ERR_BAD_VALUE},
        {{0, 0, 3, 3}, 2, 1, FM_ERR_BAD_VALUE},
        {{SIDE - 1, 0, 2, 1}, 1, 1, FM_ERR_OFF_GRID},
        {{0, 0, 3, 3}, 1, TEAMS + 1, FM_ERR_NO_TEAM},
        {{UINT32_MAX, 0, 2, 1}, 1, 1, FM_ERR_OFF_GRID},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        fm_rect rects[2] = {wrong[i].rect, wrong[i].rect};
        fm_command_result result = apply(scene, (fm_command){.kind = FM_COMMAND_BUILD,
                                                             .team = wrong[i].team,
                                                             .rects = rects,
                                                             .rect_count = wrong[i].rect_count});
        assert_int_equal(result.status, wrong[i].status);
    }
    fm_rect rect = {4, 4, 3, 2};
    fm_command build = {.kind = FM_COMMAND_BUILD, .rects = &rect, .rect_count = 1};
    fm_command_result built = apply(scene, build);
    assert_int_equal(built.status, FM_OK);
    fm_command_result again = apply(scene, build);
    assert_int_equal(again.status, FM_ERR_BUILDING);
    assert_int_equal(again.building, built.building);

    fm_cell under = fm_cell_at(5, 5);
    fm_rect around = {0, 0, 10, 10};
    fm_command edit = {
        .kind = FM_COMMAND_TERRAIN, .cells = &under, .cell_count = 1, .terrain = FM_TERRAIN_WALL};
    assert_int_equal(apply(scene, edit).status, FM_ERR_BUILDING);
    edit.cell_count = 0;
    edit.rects = &around;
    edit.rect_count = 1;
    assert_int_equal(apply(scene, edit).status, FM_ERR_BUILDING);
    edit.terrain = FM_TERRAIN_BUILDING;
    assert_int_equal(apply(scene, edit).status, FM_ERR_BAD_VALUE);
    edit.terrain = FM_TERRAIN_UNKNOWN;
    edit.cost = 3; // the cost of a cell may change under it
    assert_int_equal(apply(scene, edit).status, FM_OK);
    assert_int_equal(fm_world_look_up(scene->world, FM_ALL_TEAMS, under).terrain,
                     FM_TERRAIN_BUILDING);
    fm_command raze = {.kind = FM_COMMAND_DEMOLISH, .building = built.building};
    assert_int_equal(apply(scene, raze).status, FM_OK);
    assert_int_equal(apply(scene, raze).status, FM_ERR_NO_BUILDING);
    fm_learned cell = fm_world_look_up(scene->world, FM_ALL_TEAMS, under);
    assert_int_equal(cell.terrain, scene->ground[5][5]);
    assert_int_equal(cell.cost, 3);
    fm_world_destroy(scene->world);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buildings_come_and_go),
        cmocka_unit_test(limits_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
