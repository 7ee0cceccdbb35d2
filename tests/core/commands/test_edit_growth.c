// test_edit_growth.c: what a large edit costs where there are many teams, and that each team is
// told of the same as by edits of single cells.
//
// A team that has not seen a cell has nothing to do with its edit, so many teams may cost little
// more than one. Work is counted, not timed. Then two worlds: one gets all cells in one command,
// some of them twice, and one a command for each. All digests must be equal while units walk about
// and see what was edited.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/world/world_state.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SIDE  128u
#define TEAMS 256u

// Each cell of the map costs about as much as telling a few teams of a word of it.
#define GROWTH_MOST 3.0

static void apply(fm_world *world, fm_command command)
{
    fm_agent_id spawned[1];
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_world *make_world(uint32_t teams)
{
    fm_grid *grid;
    fm_world *world;
    fm_world_rules rules = fm_world_rules_default();
    assert_int_equal(fm_planner_spec_parse("repeated-jps", &rules.planner, NULL, 0), FM_OK);
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    for (uint32_t i = 0; i < teams; i++) {
        fm_cell cell = fm_cell_at(1 + 7 * i % (SIDE - 2), 1 + i * 4 % (SIDE - 2));
        apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
        apply(world, (fm_command){
                         .kind = FM_COMMAND_SPAWN, .team = i + 1, .cells = &cell, .cell_count = 1});
    }
    return world;
}

static void edit(fm_world *world, const fm_cell *cells, uint32_t count, fm_terrain terrain)
{
    apply(world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                              .cells = cells,
                              .cell_count = count,
                              .terrain = terrain,
                              .cost = 1});
}

static uint64_t tick(fm_world *world)
{
    fm_tick_report report;
    fm_tick_run(world, NULL, 100000, NULL, &report);
    return fm_world_digest(world);
}

static uint64_t work_of_edit(uint32_t teams)
{
    fm_world *world = make_world(teams);
    fm_rect rect = {.width = SIDE, .height = SIDE};
    fm_cell first = fm_cell_at(0, 0);
    tick(world);
    edit(world, &first, 1, FM_TERRAIN_WATER); // makes room
    uint64_t before = counted_work();
    apply(world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                              .rects = &rect,
                              .rect_count = 1,
                              .terrain = FM_TERRAIN_SWAMP,
                              .cost = 1});
    uint64_t work = counted_work() - before;
    fm_world_destroy(world);
    return work;
}

// Room for what is edited out of sight stays until that is seen, so an edit takes none for cells
// that look so already.
static void nothing_is_kept_of_what_stays(void **state)
{
    (void)state;
    fm_world *world = make_world(TEAMS);
    fm_cell first = fm_cell_at(1, 1);
    tick(world);
    edit(world, &first, 1, FM_TERRAIN_GROUND); // makes room
    size_t before = 0, after = 0;
    for (uint32_t team = 1; team <= TEAMS; team++) {
        before += fm_knowledge_bytes(fm_team_of(world, team)->knowledge);
    }
    fm_rect rect = {.width = SIDE, .height = SIDE};
    apply(world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                              .rects = &rect,
                              .rect_count = 1,
                              .terrain = FM_TERRAIN_GROUND,
                              .cost = 1});
    for (uint32_t team = 1; team <= TEAMS; team++) {
        after += fm_knowledge_bytes(fm_team_of(world, team)->knowledge);
    }
    print_message("%zu bytes, %zu after an edit that changes nothing\n", before, after);
    assert_int_equal(after, before);
    fm_world_destroy(world);
}

static void teams_that_saw_nothing(void **state)
{
    (void)state;
    uint64_t one = work_of_edit(1), many = work_of_edit(TEAMS);
    print_message("1 team %llu, %u teams %llu, x%.2f\n", (unsigned long long)one, TEAMS,
                  (unsigned long long)many, (double)many / (double)one);
    assert_true((double)many <= GROWTH_MOST * (double)one);
    counted_work_or_skip();
}

static void send(fm_world *world, uint32_t agent, fm_cell goal)
{
    fm_agent_id id = fm_agent_id_unpack(agent + 1); // of the first generation
    apply(world, (fm_command){.kind = FM_COMMAND_ORDER,
                              .agents = &id,
                              .agent_count = 1,
                              .order = FM_ORDER_MOVE,
                              .cells = &goal,
                              .cell_count = 1});
}

// A unit under a wall is pushed to where it is free then.
static bool has_unit(const fm_world *world, uint32_t units, fm_cell cell)
{
    fm_agent_report report;
    for (uint32_t i = 0; i < units; i++) {
        assert_int_equal(fm_world_inspect(world, fm_agent_id_unpack(i + 1), &report), FM_OK);
        if (report.cell == cell) {
            return true;
        }
    }
    return false;
}

static void at_once_as_one_by_one(void **state)
{
    (void)state;
    enum {
        UNITS = 12,
        CELLS = 3000
    };
    fm_random random = fm_random_seed(fm_test_seed());
    static fm_cell cells[CELLS];
    fm_world *worlds[2] = {make_world(UNITS), make_world(UNITS)};
    for (uint32_t round = 0; round < 8; round++) {
        fm_terrain terrain = round % 2 == 0 ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND;
        uint32_t count = 1 + fm_random_below(&random, CELLS);
        for (uint32_t i = 0; i < count; i++) {
            cells[i] =
                i > 0 && fm_random_below(&random, 2) == 0 && fm_cell_x(cells[i - 1]) < SIDE - 1
                    ? cells[i - 1] + 1
                    : fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE));
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            cells[kept] = cells[i];
            kept += !has_unit(worlds[0], UNITS, cells[i]);
        }
        count = kept;
        edit(worlds[0], cells, count, terrain);
        for (uint32_t i = 0; i < count; i++) {
            edit(worlds[1], cells + i, 1, terrain);
        }
        for (uint32_t i = 0; i < UNITS; i++) {
            fm_cell goal =
                fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE));
            send(worlds[0], i, goal);
            send(worlds[1], i, goal);
        }
        for (uint32_t i = 0; i < 40; i++) {
            assert_int_equal(tick(worlds[0]), tick(worlds[1]));
        }
    }
    fm_world_destroy(worlds[0]);
    fm_world_destroy(worlds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_that_saw_nothing),
        cmocka_unit_test(nothing_is_kept_of_what_stays),
        cmocka_unit_test(at_once_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
