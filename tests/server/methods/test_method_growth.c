// test_method_growth.c: the cost of a request grows in proportion to what it names, not faster.
//
// Every method is called with 1, 2 and 4 times as many agents, cells, teams, worlds, subscriptions,
// sessions or bytes, whichever its cost depends on. All work that follows counts, including the
// next tick and its deltas. The whole server runs in one thread (tests/fuzz/live.h). Quadratic work
// stops all worlds for seconds, long before a limit refuses the request.
//
// Deeds on agents, paths, streams and numbers are here; growth_orders.c has each kind of order and
// what changes living units, growth_worlds.c the others.

#include "tests/server/methods/growth_orders.h"
#include "tests/server/methods/growth_scene.h"
#include "tests/server/methods/growth_worlds.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SCALE_MOST 4u

// Four times as many may cost 4 times as much, or a little more where something is sorted.
#define GROWTH_MOST 5.0

// ---- teams, agents, ground ----------------------------------------------------------------------

static void create_teams(void)
{
    add_teams(MANY * scene.scale);
    step();
}

static void put_down(void)
{
    spawn(UNITS * scene.scale);
    step();
}

static void remove_units(void)
{
    put_world();
    put_agents(UNITS * scene.scale);
    ask(FM_METHOD_AGENT_REMOVE);
    step();
}

static void send_units(void)
{
    order(UNITS * scene.scale);
    step();
}

static void cancel_orders(void)
{
    uint64_t *orders = malloc(UNITS * scene.scale * sizeof *orders);
    for (uint32_t i = 0; i < UNITS * scene.scale; i++) {
        orders[i] = 1 + i;
    }
    put_world();
    put_agents(UNITS * scene.scale);
    put_numbers(FM_FIELD_ORDERS, orders, UNITS * scene.scale);
    ask(FM_METHOD_AGENT_CANCEL);
    free(orders);
    step();
}

static void resume_units(void)
{
    put_world();
    put_agents(UNITS * scene.scale);
    ask(FM_METHOD_AGENT_RESUME);
    step();
}

static void change_planners(void)
{
    put_world();
    put_agents(UNITS * scene.scale);
    put_text(FM_FIELD_PLANNER, "repeated-forward-astar");
    ask(FM_METHOD_AGENT_PLANNER);
    step();
}

static void freeze(void)
{
    put_world();
    put_agents(UNITS * scene.scale);
    put_true(FM_FIELD_FROZEN);
    ask(FM_METHOD_AGENT_SET);
    step();
}

static void place(void)
{
    put_world();
    put_agents(UNITS * scene.scale);
    put_cells(FM_FIELD_CELLS, SIDE * SIDE / 2, UNITS * scene.scale);
    ask(FM_METHOD_AGENT_PLACE);
    step();
}

// One carries few, so they go in and out again and again.
static void board_and_come_out(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        put_world();
        put_uint(FM_FIELD_CARRIER, 1);
        put_numbers(FM_FIELD_AGENTS, (const uint64_t[]){2, 3}, 2);
        put_uint(FM_FIELD_RADIUS, 8);
        ask(FM_METHOD_AGENT_BOARD);
        put_world();
        put_uint(FM_FIELD_CARRIER, 1);
        put_uint(FM_FIELD_RADIUS, 8);
        ask(FM_METHOD_AGENT_UNBOARD);
    }
    step();
}

static void report_units(void)
{
    put_world();
    put_agents(MANY * scene.scale);
    ask(FM_METHOD_AGENT_REPORT);
}

static void change_cells(void)
{
    put_world();
    put_text(FM_FIELD_SET, "blocked");
    put_cells(FM_FIELD_CELLS, SIDE * SIDE / 2, UNITS * scene.scale);
    ask(FM_METHOD_TERRAIN_SET);
    step();
}

// The most cells of one tick: more are refused, see FM_COST_CELLS_MAX.
static void change_costs(void)
{
    put_world();
    put_uint(FM_FIELD_TEAM, 1);
    put_uint(FM_FIELD_COST, 9);
    put_cells(FM_FIELD_CELLS, SIDE * SIDE / 2, UNITS * scene.scale);
    ask(FM_METHOD_TEAM_COST);
    step();
}

static void build(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        put_world();
        put_rect(FM_FIELD_RECT, i % 32 * 4, SIDE / 2 + i / 32 * 4, 2, 2);
        ask_as(ADMIN, FM_METHOD_BUILDING_PLACE);
    }
    all_are_answered(FM_METHOD_BUILDING_PLACE);
    step();
}

static void buildings(void)
{
    some_marching_units();
    build();
}

static void demolish(void)
{
    for (uint32_t i = 1; i <= MANY * scene.scale; i++) {
        put_world();
        put_uint(FM_FIELD_BUILDING, i);
        ask_as(ADMIN, FM_METHOD_BUILDING_REMOVE);
    }
    all_are_answered(FM_METHOD_BUILDING_REMOVE);
    step();
}

// ---- paths --------------------------------------------------------------------------------------

static void ask_for_pairs(fm_method method)
{
    uint32_t count = MANY / 2 * scene.scale;
    put_world();
    put_field(FM_FIELD_PAIRS);
    msgpack_pack_array(asking_packer(), 4 * count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(asking_packer(), i);
        msgpack_pack_uint64(asking_packer(), 0);
        msgpack_pack_uint64(asking_packer(), SIDE - 1 - i);
        msgpack_pack_uint64(asking_packer(), SIDE - 1);
    }
    ask(method);
}

static void find_paths(void)
{
    ask_for_pairs(FM_METHOD_PATH_QUERY);
}

static void find_distances(void)
{
    ask_for_pairs(FM_METHOD_PATH_DISTANCE);
}

static void find_out_what_is_reachable(void)
{
    ask_for_pairs(FM_METHOD_PATH_REACHABLE);
}

static void find_nearest(void)
{
    put_world();
    put_numbers(FM_FIELD_FROM, (const uint64_t[]){0, 0}, 2);
    put_cells(FM_FIELD_GOALS, SIDE * SIDE / 2, 2 * MANY * scene.scale);
    ask(FM_METHOD_PATH_NEAREST);
}

static void make_field(void)
{
    put_world();
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){0, 0}, 2);
    put_rect(FM_FIELD_RECT, 0, 0, SIDE, 24 * scene.scale);
    ask(FM_METHOD_PATH_FIELD);
}

// ---- streams ------------------------------------------------------------------------------------

static void subscribe_as(uint32_t client)
{
    put_world();
    put_uint(FM_FIELD_TEAM, TEAM_MEMBER);
    ask_as(client, FM_METHOD_SUBSCRIBE);
}

static void subscribe_once(void)
{
    subscribe_as(ADMIN);
    all_are_answered(FM_METHOD_SUBSCRIBE);
    step();
}

static void subscribe_often(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        subscribe_as(ADMIN);
    }
    all_are_answered(FM_METHOD_SUBSCRIBE);
    step();
}

static void subscriptions(void)
{
    some_marching_units();
    subscribe_often();
}

static void move_subscriptions(void)
{
    for (uint32_t i = 1; i <= MANY * scene.scale; i++) {
        put_uint(FM_FIELD_SUBSCRIPTION, i);
        put_rect(FM_FIELD_RECT, i, 0, 32, 32);
        ask_as(ADMIN, FM_METHOD_SUBSCRIPTION_MOVE);
    }
    all_are_answered(FM_METHOD_SUBSCRIPTION_MOVE);
    step();
}

static void unsubscribe(void)
{
    for (uint32_t i = 1; i <= MANY * scene.scale; i++) {
        put_uint(FM_FIELD_SUBSCRIPTION, i);
        ask_as(ADMIN, FM_METHOD_UNSUBSCRIBE);
    }
    all_are_answered(FM_METHOD_UNSUBSCRIBE);
    step();
}

static void many_subscribers(void)
{
    some_marching_units();
    for (uint32_t i = 1; i < CLIENTS * scene.scale; i++) {
        come(i);
    }
    all_are_answered(FM_METHOD_HELLO);
    for (uint32_t i = 0; i < CLIENTS * scene.scale; i++) {
        subscribe_as(i);
    }
    all_are_answered(FM_METHOD_SUBSCRIBE);
    step();
}

// ---- numbers and debugging ----------------------------------------------------------------------

static void many_teams(void)
{
    world();
    create_teams();
}

static void ask_for_stats(void)
{
    put_world();
    put_true(FM_FIELD_TEAMS);
    ask(FM_METHOD_STATS);
}

static void ask_for_each(fm_method method, uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++) {
        put_world();
        put_uint(FM_FIELD_AGENT, i);
        ask_as(ADMIN, method);
    }
    all_are_answered(method);
}

static void inspect(void)
{
    ask_for_each(FM_METHOD_DEBUG_INSPECT, MANY * scene.scale);
}

static void explain(void)
{
    ask_for_each(FM_METHOD_DEBUG_EXPLAIN, MANY * scene.scale);
}

static void watch_agents(void)
{
    ask_for_each(FM_METHOD_DEBUG_SUBSCRIBE, MANY / 2 * scene.scale);
    step();
}

static void watched_agents(void)
{
    marching_units();
    watch_agents();
}

static void watch_no_more(void)
{
    for (uint32_t i = 0; i < MANY / 2 * scene.scale; i++) {
        put_world();
        put_uint(FM_FIELD_SUBSCRIPTION, i + 1);
        ask_as(ADMIN, FM_METHOD_DEBUG_UNSUBSCRIBE);
    }
    all_are_answered(FM_METHOD_DEBUG_UNSUBSCRIBE);
    step();
}

static void compare(void)
{
    static const char *const planners[] = {
        "dstar-lite", "dstar-lite adaptive-astar",
        "dstar-lite adaptive-astar mpgaa-star repeated-forward-astar"};
    put_world();
    put_uint(FM_FIELD_AGENT, 1);
    put_text(FM_FIELD_PLANNERS, planners[scene.scale / 2]);
    ask(FM_METHOD_DEBUG_COMPARE);
}

static void ask_for_top(void)
{
    put_world();
    ask(FM_METHOD_DEBUG_TOP);
}

static void ask_for_jams(void)
{
    put_world();
    ask(FM_METHOD_DEBUG_JAMS);
}

// ---- all of them --------------------------------------------------------------------------------

static const struct deed deeds[] = {
    {FM_METHOD_WORLD_STEP, "agents", marching_units, step},
    {FM_METHOD_TEAM_CREATE, "teams", world, create_teams},
    {FM_METHOD_AGENT_SPAWN, "agents", world_with_a_team, put_down},
    {FM_METHOD_AGENT_REMOVE, "agents", marching_units, remove_units},
    {FM_METHOD_AGENT_ORDER, "agents", units, send_units},
    {FM_METHOD_AGENT_CANCEL, "agents", marching_units, cancel_orders},
    {FM_METHOD_AGENT_RESUME, "agents", alert_units, resume_units},
    {FM_METHOD_AGENT_PLANNER, "agents", marching_units, change_planners},
    {FM_METHOD_AGENT_SET, "agents", marching_units, freeze},
    {FM_METHOD_AGENT_PLACE, "agents", marching_units, place},
    {FM_METHOD_AGENT_BOARD, "requests", some_marching_units, board_and_come_out},
    {FM_METHOD_AGENT_UNBOARD, "requests", some_marching_units, board_and_come_out},
    {FM_METHOD_AGENT_REPORT, "agents", some_marching_units, report_units},
    {FM_METHOD_TERRAIN_SET, "cells", some_marching_units, change_cells},
    {FM_METHOD_TEAM_COST, "cells", some_marching_units, change_costs},
    {FM_METHOD_BUILDING_PLACE, "buildings", some_marching_units, build},
    {FM_METHOD_BUILDING_REMOVE, "buildings", buildings, demolish},
    {FM_METHOD_PATH_QUERY, "pairs", world, find_paths},
    {FM_METHOD_PATH_DISTANCE, "pairs", world, find_distances},
    {FM_METHOD_PATH_REACHABLE, "pairs", world, find_out_what_is_reachable},
    {FM_METHOD_PATH_NEAREST, "goals", world, find_nearest},
    {FM_METHOD_PATH_FIELD, "cells", world, make_field},
    {FM_METHOD_SUBSCRIBE, "agents", marching_units, subscribe_once},
    {FM_METHOD_SUBSCRIBE, "subscriptions", some_marching_units, subscribe_often},
    {FM_METHOD_SUBSCRIPTION_MOVE, "subscriptions", subscriptions, move_subscriptions},
    {FM_METHOD_UNSUBSCRIBE, "subscriptions", subscriptions, unsubscribe},
    {FM_METHOD_WORLD_STEP, "subscriptions", subscriptions, step},
    {FM_METHOD_WORLD_STEP, "subscribers", many_subscribers, step},
    {FM_METHOD_STATS, "agents", marching_units, ask_for_stats},
    {FM_METHOD_STATS, "teams", many_teams, ask_for_stats},
    {FM_METHOD_DEBUG_INSPECT, "requests", some_marching_units, inspect},
    {FM_METHOD_DEBUG_SUBSCRIBE, "subscriptions", some_marching_units, watch_agents},
    {FM_METHOD_DEBUG_UNSUBSCRIBE, "subscriptions", watched_agents, watch_no_more},
    {FM_METHOD_DEBUG_EXPLAIN, "requests", some_marching_units, explain},
    {FM_METHOD_DEBUG_COMPARE, "planners", some_marching_units, compare},
    {FM_METHOD_DEBUG_TOP, "agents", marching_units, ask_for_top},
    {FM_METHOD_DEBUG_JAMS, "agents", marching_units, ask_for_jams},
};

static uint32_t deed_count(void)
{
    return FM_COUNT_OF(deeds) + deeds_of_orders_count + deeds_of_worlds_count;
}

static const struct deed *deed_at(uint32_t i)
{
    if (i < FM_COUNT_OF(deeds)) {
        return &deeds[i];
    }
    i -= FM_COUNT_OF(deeds);
    return i < deeds_of_orders_count ? &deeds_of_orders[i]
                                     : &deeds_of_worlds[i - deeds_of_orders_count];
}

static uint64_t count(const struct deed *deed, uint32_t scale)
{
    make_config();
    scene.scale = scale;
    deed->prepare();
    uint64_t before = counted_work();
    deed->act();
    uint64_t spent = counted_work() - before;
    fm_live_end();
    return spent;
}

static void every_method_grows_with_what_it_names(void **state)
{
    (void)state;
    uint32_t failures = 0;
    for (uint32_t i = 0; i < deed_count(); i++) {
        uint64_t once = count(deed_at(i), 1);
        uint64_t twice = count(deed_at(i), 2);
        uint64_t four_times = count(deed_at(i), SCALE_MOST);
        double growth = (double)four_times / (double)once;
        bool failed = growth > GROWTH_MOST;
        print_message("%-18s %-14s %10llu %10llu %10llu  x%.2f%s\n",
                      fm_method_name(deed_at(i)->method), deed_at(i)->of, (unsigned long long)once,
                      (unsigned long long)twice, (unsigned long long)four_times, growth,
                      failed ? "  TOO MUCH" : "");
        failures += failed;
    }
    assert_int_equal(failures, 0);
    counted_work_or_skip();
}

static void every_method_is_asked(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        uint32_t i = 0;
        while (i < deed_count() && deed_at(i)->method != method) {
            i += 1;
        }
        if (i == deed_count()) {
            fail_msg("%s has no line in deeds[], deeds_of_orders[] or deeds_of_worlds[]",
                     fm_method_name(method));
        }
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_asked),
        cmocka_unit_test(every_method_grows_with_what_it_names),
    };
    return cmocka_run_group_tests(tests, set_up_scene, NULL);
}
