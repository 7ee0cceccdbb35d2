// test_lookouts_growth.c: what it costs to know which enemies behind a wall are seen.
//
// Dense blocks of 1, 2 and 4 times as many units and enemies on either side of a wall, with line of
// sight and the largest radius. Nobody sees anybody, so every lookout is a candidate for every
// enemy; the work must grow with their number, not with the product of both. Work is counted, not
// timed.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/world/agent_marks.h"
#include "core/world/lookouts.h"
#include "core/world/unit_index.h"
#include "core/world/world_parts.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define UNITS       1000u // of each side, at scale 1
#define SCALE_MOST  4u
#define SIDE        256u
#define WALL        128u // its column
#define BLOCK       60u  // cells that a row of units is long
#define GROWTH_MOST 5.0

static void spawn(fm_world *world, uint32_t team, uint32_t left, uint32_t count)
{
    static fm_cell cells[UNITS * SCALE_MOST];
    static fm_agent_id ids[UNITS * SCALE_MOST];
    fm_command_result result = {.spawned = ids};
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = fm_cell_at(left + i % BLOCK, 40 + i / BLOCK);
    }
    fm_world_apply(
        world,
        &(fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = cells, .cell_count = count},
        &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_world *make_world(uint32_t count)
{
    fm_world_rules rules = fm_world_rules_default();
    fm_grid *grid;
    fm_world *world;
    rules.omniscient = true;
    rules.sense = (fm_sense_rules){.radius = FM_SENSE_RADIUS_MAX, .line_of_sight = true};
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < SIDE; y++) {
        fm_grid_set(grid, fm_cell_at(WALL, y), FM_TERRAIN_WALL, 1);
    }
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    for (uint32_t team = 1; team <= 2; team++) {
        fm_command_result result;
        fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
        spawn(world, team, team == 1 ? WALL - 2 - BLOCK : WALL + 2, count);
    }
    return world;
}

static uint64_t count_work(uint32_t scale)
{
    fm_world *world = make_world(UNITS * scale);
    fm_unit_index_refresh(world);
    uint64_t before = counted_work();
    fm_lookouts_refresh(world);
    const struct fm_world_agents *agents = fm_world_agents(world);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        assert_false(fm_lookouts_see_agent(world, 3 - agent->team, agent));
    }
    uint64_t spent = counted_work() - before;
    fm_world_destroy(world);
    return spent;
}

static void grows_with_the_units_on_both_sides(void **state)
{
    (void)state;
    uint64_t once = count_work(1), four_times = count_work(SCALE_MOST);
    print_message("%llu %llu x%.2f\n", (unsigned long long)once, (unsigned long long)four_times,
                  (double)four_times / (double)once);
    assert_true((double)four_times <= GROWTH_MOST * (double)once);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_with_the_units_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
