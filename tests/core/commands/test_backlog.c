// test_backlog.c: what commands leave to be told between two ticks has a bound, and its memory is
// given back.
//
// A world is not ticked while commands come, again and again, until one is not admitted. Then it
// ticks, takes commands as before, and has about as much memory as at the start.

#include "core/commands/apply.h"
#include "core/commands/backlog.h"
#include "core/commands/create.h"
#include "core/commands/order_command.h"
#include "core/tick/tick.h"
#include "core/views/endings.h"
#include "core/views/view_delta.h"
#include "core/world/given_orders.h"
#include "core/world/history.h"
#include "core/world/interval.h"
#include "tests/support/support.h"

#define UNITS      4000u // of each of two teams
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
static fm_agent_id agents[2][UNITS];

static fm_command_result apply(fm_command command)
{
    fm_command_result result = {
        .spawned = command.kind == FM_COMMAND_SPAWN ? agents[command.team - 1] : NULL,
    };
    fm_world_apply(world, &command, &result);
    return result;
}

static void tick(uint32_t count)
{
    fm_tick_report report;
    for (uint32_t i = 0; i < count; i++) {
        fm_tick_run(world, NULL, 1000, NULL, &report);
    }
}

static void spawn(uint32_t team)
{
    static fm_cell cells[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        cells[i] = fm_cell_at(8 + i % 50, 8 + i / 50);
    }
    fm_command_result result = apply(
        (fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = cells, .cell_count = UNITS});
    assert_int_equal(result.status, FM_OK);
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
    for (uint32_t team = 1; team <= 2; team++) {
        assert_int_equal(apply((fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
        spawn(team);
        assert_int_equal(fm_world_watch(world, team, true), FM_OK);
    }
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    tick(1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fm_world_destroy(world);
    assert_int_equal(bytes, 0);
    return 0;
}

static fm_command hold(uint32_t team)
{
    return (fm_command){.kind = FM_COMMAND_ORDER,
                        .team = team,
                        .order = FM_ORDER_HOLD,
                        .agents = agents[team - 1],
                        .agent_count = UNITS};
}

static fm_command block(uint32_t round, const fm_rect *rect)
{
    return (fm_command){.kind = FM_COMMAND_TERRAIN,
                        .rects = rect,
                        .rect_count = 1,
                        .terrain = round % 2 == 0 ? FM_TERRAIN_WATER : FM_TERRAIN_GROUND};
}

// @return how many commands were carried out before one was not admitted
static uint32_t hold_until_refused(uint32_t team)
{
    fm_command command = hold(team);
    uint32_t rounds = 0;
    while (fm_backlog_admits(world, &command)) {
        assert_int_equal(apply(command).status, FM_OK);
        assert_true(++rounds < ROUNDS_MAX);
    }
    return rounds;
}

static void orders_end_so_often_between_two_ticks(void **state)
{
    (void)state;
    assert_int_equal(apply(hold(1)).status, FM_OK);
    tick(20);
    size_t before = bytes;
    uint32_t rounds = hold_until_refused(1);
    assert_int_equal(rounds, (FM_BACKLOG_BASE + FM_BACKLOG_PER_AGENT * UNITS) / UNITS);
    size_t grown = bytes;
    tick(1);
    uint32_t count;
    (void)fm_endings_of(world, 1, &count);
    assert_int_equal(count, rounds * UNITS);
    assert_int_equal(hold_until_refused(1), rounds);
    tick(20);
    print_message("bytes: %zu, %zu, %zu\n", before, grown, bytes);
    // The history has a bound of its own, and may have filled up meanwhile.
    assert_true(bytes < before + FM_HISTORY_MAX * sizeof(fm_history_entry) + 65536);
}

static fm_command queue(uint32_t team)
{
    fm_command command = hold(team);
    command.queue = true;
    return command;
}

static uint32_t ends_of(uint32_t team)
{
    uint32_t count;
    tick(1);
    (void)fm_endings_of(world, team, &count);
    return count;
}

// One command ends all orders of all units, many times what is allowed. Who queues orders or sets
// something is not kept waiting for a tick by it, and what is told in a tick stays within the bound
// of backlog.h.
static void who_ends_nothing_is_not_refused(void **state)
{
    (void)state;
    fm_command stop = {.kind = FM_COMMAND_ORDER,
                       .team = 1,
                       .order = FM_ORDER_STOP,
                       .agents = agents[0],
                       .agent_count = UNITS};
    fm_command freeze = {.kind = FM_COMMAND_SET,
                         .team = 1,
                         .set = FM_SET_FROZEN,
                         .agents = agents[0],
                         .agent_count = UNITS};
    fm_command one = hold(1), first = hold(1), more = queue(1), again = hold(1);
    fm_command gone = {.kind = FM_COMMAND_REMOVE, .agents = agents[0], .agent_count = 1};
    one.agent_count = 1;
    assert_int_equal(apply(hold(1)).status, FM_OK);
    for (uint32_t i = 0; i < FM_ORDER_QUEUE_MAX; i++) {
        assert_int_equal(apply(more).status, FM_OK);
    }
    tick(1);
    assert_int_equal(apply(one).status, FM_OK); // so that the next command is not alone
    assert_true(fm_backlog_admits(world, &stop));
    assert_int_equal(apply(stop).status, FM_OK);
    const fm_command *fine[] = {&freeze, &more, &more, &freeze};
    for (uint32_t i = 0; i < FM_COUNT_OF(fine); i++) {
        assert_true(fm_backlog_admits(world, fine[i]));
        assert_int_equal(apply(*fine[i]).status, FM_OK);
    }
    assert_false(fm_backlog_admits(world, &again));
    assert_false(fm_backlog_admits(world, &one));
    assert_false(fm_backlog_admits(world, &gone));
    uint32_t noted_max = FM_BACKLOG_BASE + FM_BACKLOG_PER_AGENT * UNITS;
    uint32_t count = ends_of(1);
    assert_int_equal(count, FM_ORDER_QUEUE_MAX + 1 + (UNITS - 1) * (FM_ORDER_QUEUE_MAX + 1) + 1);
    assert_true(count > noted_max && count <= noted_max + FM_ORDER_QUEUE_MAX * UNITS);
    assert_int_equal(apply(stop).status, FM_OK);
    assert_int_equal(apply(stop).status, FM_OK);
    for (uint32_t rounds = 0; fm_backlog_admits(world, &first); rounds++) {
        assert_int_equal(apply(first).status, FM_OK);
        assert_true(rounds < ROUNDS_MAX);
    }
    assert_true(ends_of(1) <= noted_max);
}

// It would learn that somebody else gives many orders. Nor is the host kept out by its players.
static void a_team_is_not_refused_for_what_another_did(void **state)
{
    (void)state;
    fm_command second = hold(2), host = hold(2);
    hold_until_refused(1);
    assert_true(fm_backlog_admits(world, &second));
    assert_int_equal(apply(second).status, FM_OK);
    assert_true(hold_until_refused(2) > 0);
    host.team = FM_ALL_TEAMS;
    assert_true(fm_backlog_admits(world, &host));
}

static void cells_change_so_often_between_two_ticks(void **state)
{
    (void)state;
    fm_rect rect = {0, 128, SIDE, SIDE - 128};
    fm_command command = block(0, &rect);
    uint32_t rounds = 0;
    while (fm_backlog_admits(world, &command)) {
        assert_int_equal(apply(command).status, FM_OK);
        command = block(++rounds, &rect);
        assert_true(rounds < ROUNDS_MAX);
    }
    assert_int_equal(rounds, FM_BACKLOG_EDITS / (SIDE * (SIDE - 128)));
    tick(20);
    assert_true(fm_backlog_admits(world, &command));
    assert_true(fm_world_interval(world)->edited_capacity < SIDE * SIDE / 4);
}

static void units_leave_so_often_between_two_ticks(void **state)
{
    (void)state;
    fm_command command = {.kind = FM_COMMAND_REMOVE, .agents = agents[0], .agent_count = UNITS};
    uint32_t rounds = 0;
    while (fm_backlog_admits(world, &command)) {
        assert_int_equal(apply(command).status, FM_OK);
        spawn(1);
        assert_true(++rounds < ROUNDS_MAX);
    }
    tick(20);
    assert_true(fm_backlog_admits(world, &command));
    assert_true(fm_world_interval(world)->removed_capacity < rounds * UNITS / 4);
}

// An order that is given in parts keeps the room for all of its ends: lists do not shrink below it,
// in whatever tick they do.
static void all_orders_end_after_the_lists_have_shrunk(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 4; before++) {
        hold_until_refused(1);
        tick(before);
        fm_command command = hold(1);
        command.agents_a_tick = 7;
        assert_int_equal(apply(command).status, FM_OK);
        tick(1 + before);
        assert_true(fm_world_left_to_do(world) > 0);
        fm_orders_finish(world);
        command.agents_a_tick = 0;
        assert_int_equal(apply(command).status, FM_OK);
        tick(3);
        assert_true(fm_world_interval(world)->ended_capacity >= fm_world_orders(world)->live);
    }
    fm_command command = {.kind = FM_COMMAND_REMOVE, .agents = agents[0], .agent_count = UNITS};
    assert_int_equal(apply(command).status, FM_OK);
    tick(1);
    uint32_t count;
    (void)fm_endings_of(world, 1, &count);
    assert_int_equal(count, UNITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders_end_so_often_between_two_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_ends_nothing_is_not_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_team_is_not_refused_for_what_another_did, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(cells_change_so_often_between_two_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_leave_so_often_between_two_ticks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_orders_end_after_the_lists_have_shrunk, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
