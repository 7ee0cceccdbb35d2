// test_interval.c: what commands leave to be told between two ticks has a bound, and its memory is
// given back.
//
// A world is not ticked while commands come, again and again, until one is refused. That one must
// have changed nothing. Then the world ticks, takes commands as before, and has about as much
// memory as at the start.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/endings.h"
#include "core/views/view_delta.h"
#include "core/world/given_orders.h"
#include "core/world/history.h"
#include "core/world/interval.h"
#include "tests/support/support.h"

#define UNITS      2000u
#define SIDE       1024u
#define ROUNDS_MAX 1000u

static size_t bytes;

static void *allocate(void *context, size_t size)
{
    (void)context;
    bytes += size;
    return malloc(size);
}

static void release(void *context, void *block, size_t size)
{
    (void)context;
    bytes -= size;
    free(block);
}

static const fm_memory counting = {.allocate = allocate, .release = release};

static fm_world *world;
static fm_agent_id agents[UNITS];

static fm_command_result apply(fm_command command)
{
    fm_command_result result = {
        .spawned = command.kind == FM_COMMAND_SPAWN ? agents : NULL,
    };
    fm_world_apply(world, &command, &result);
    return result;
}

static void tick(void)
{
    fm_tick_report report;
    fm_tick_run(world, NULL, 1000, NULL, &report);
}

static fm_command_result spawn(void)
{
    static fm_cell cells[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        cells[i] = fm_cell_at(8 + i % 50, 8 + i / 50);
    }
    return apply(
        (fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = UNITS});
}

static int set_up(void **state)
{
    (void)state;
    fm_world_rules rules = fm_world_rules_default();
    fm_grid *grid;
    char error[160];
    assert_int_equal(fm_planner_spec_parse("auto", &rules.planner, error, sizeof error), FM_OK);
    assert_int_equal(fm_grid_create(SIDE, SIDE, &counting, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &counting, &world), FM_OK);
    assert_int_equal(apply((fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
    assert_int_equal(spawn().status, FM_OK);
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    assert_int_equal(fm_world_watch(world, 1, true), FM_OK);
    tick();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fm_world_destroy(world);
    assert_int_equal(bytes, 0);
    return 0;
}

static fm_command_result hold(void)
{
    return apply((fm_command){
        .kind = FM_COMMAND_ORDER, .order = FM_ORDER_HOLD, .agents = agents, .agent_count = UNITS});
}

static fm_command_result block(uint32_t round)
{
    fm_rect rect = {0, 64, SIDE, SIDE - 64};
    return apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                              .rects = &rect,
                              .rect_count = 1,
                              .terrain = round % 2 == 0 ? FM_TERRAIN_WATER : FM_TERRAIN_GROUND});
}

static fm_command_result hold_again(uint32_t round)
{
    (void)round;
    return hold();
}

// @return how many commands were carried out before one was refused
static uint32_t repeat(fm_command_result (*command)(uint32_t round))
{
    fm_command_result result = command(0);
    uint32_t rounds = 0;
    while (result.status == FM_OK && rounds < ROUNDS_MAX) {
        assert_false(result.waits_for_tick);
        result = command(++rounds);
    }
    assert_int_equal(result.status, FM_ERR_LIMIT);
    assert_true(result.waits_for_tick);
    assert_int_equal(result.changed_count, 0);
    return rounds;
}

static void tick_often(void)
{
    for (uint32_t i = 0; i < 20; i++) {
        tick();
    }
}

static void tick_and_find_the_memory_given_back(size_t before)
{
    size_t grown = bytes;
    tick_often();
    print_message("bytes: %zu, %zu, %zu\n", before, grown, bytes);
    // The history has a bound of its own, and may have filled up meanwhile.
    assert_true(bytes < before + FM_HISTORY_MAX * sizeof(fm_history_entry) + 65536);
}

static void orders_end_so_often_between_two_ticks(void **state)
{
    (void)state;
    assert_int_equal(hold().status, FM_OK);
    tick_often();
    size_t before = bytes;
    uint32_t rounds = repeat(hold_again);
    assert_int_equal(rounds, (FM_ENDED_MAX + FM_ENDED_PER_AGENT_MAX * UNITS) / UNITS);
    uint64_t live = fm_world_orders(world)->live;
    assert_int_equal(fm_world_orders(world)->given - live, rounds * UNITS);
    assert_int_equal(live, UNITS);
    tick();
    uint32_t count;
    (void)fm_endings_of(world, 1, &count);
    assert_int_equal(count, rounds * UNITS);
    assert_int_equal(hold().status, FM_OK);
    tick_and_find_the_memory_given_back(before);
}

static void cells_change_so_often_between_two_ticks(void **state)
{
    (void)state;
    assert_in_range(repeat(block), 4, 5);
    assert_true(fm_world_interval(world)->edited_count <= FM_EDITED_MAX);
    tick();
    assert_int_equal(block(0).status, FM_OK);
    assert_int_equal(block(1).status, FM_OK);
    tick_often();
    assert_true(fm_world_interval(world)->edited_capacity < SIDE * SIDE / 4);
}

// There is room for the ends of all orders after a list has shrunk.
static void all_orders_end_after_the_lists_have_shrunk(void **state)
{
    (void)state;
    repeat(hold_again);
    for (uint32_t i = 0; i < 3; i++) {
        tick();
    }
    assert_in_range(fm_world_interval(world)->ended_capacity, fm_world_orders(world)->live,
                    4 * UNITS);
    assert_int_equal(
        apply((fm_command){.kind = FM_COMMAND_REMOVE, .agents = agents, .agent_count = UNITS})
            .status,
        FM_OK);
    tick();
    uint32_t count;
    (void)fm_endings_of(world, 1, &count);
    assert_int_equal(count, UNITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders_end_so_often_between_two_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cells_change_so_often_between_two_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_orders_end_after_the_lists_have_shrunk, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
