// test_orders.c: queues, patrols, holding; every order ends exactly once.
//
// Method: small worlds drawn as text, or open ones; one tick at a time, with checks of the agents'
// cells. The last test is a property: random commands of every kind, edits, births and deaths, and
// a plain list of all order ids; each ends once, with a reason that its kind can have.

#include "core/saves/settle.h"
#include "core/views/view_delta.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

#include <string.h>

// ---- queue --------------------------------------------------------------------------------------

static void queued_orders_are_done_in_turn(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    uint64_t first =
        scene_move_to(&scene, agent, 10, 2, true); // the queue is empty: begins at once
    uint64_t second = scene_move_to(&scene, agent, 10, 10, true);
    uint64_t third = scene_move_to(&scene, agent, 2, 10, true);
    scene_run(&scene, 8);
    assert_int_equal(scene_ending(&scene, first).reason, FM_END_ARRIVED);
    assert_int_equal(scene.ended_count, 1);
    // The next one moves in the tick after: no tick is lost between them.
    scene_run(&scene, 16);
    assert_int_equal(scene_ending(&scene, second).cell, fm_cell_at(10, 10));
    assert_int_equal(scene_ending(&scene, third).cell, fm_cell_at(2, 10));
    assert_int_equal(scene_look(&scene, agent).state, FM_AGENT_IDLE);
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.first_move_histogram[1], 3);
    fm_world_destroy(scene.world);
}

static void new_orders_and_stop_end_the_queue(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    uint64_t orders[4];
    for (uint32_t i = 0; i < 2; i++) {
        orders[i] = scene_move_to(&scene, agent, 20, 20 + i, true);
    }
    orders[2] = scene_move_to(&scene, agent, 5, 5, false);
    orders[3] = scene_move_to(&scene, agent, 6, 6, true);
    scene_order(&scene, agent, (fm_command){.order = FM_ORDER_STOP});
    scene_run(&scene, 3);
    assert_int_equal(scene.ended_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(scene_ending(&scene, orders[i]).reason,
                         i < 2 ? FM_END_REPLACED : FM_END_CANCELLED);
    }
    assert_int_equal(scene_look(&scene, agent).cell, fm_cell_at(2, 2));
    // Deaths end queued orders too.
    orders[0] = scene_move_to(&scene, agent, 20, 20, false);
    orders[1] = scene_move_to(&scene, agent, 21, 20, true);
    scene_remove(&scene, agent);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, orders[0]).reason, FM_END_DIED);
    assert_int_equal(scene_ending(&scene, orders[1]).reason, FM_END_DIED);
    fm_world_destroy(scene.world);
}

static void full_queues_refuse(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agents[2] = {scene_spawn(&scene, 1, 2, 2), scene_spawn(&scene, 1, 3, 2)};
    for (uint32_t i = 0; i <= FM_ORDER_QUEUE_MAX; i++) {
        scene_move_to(&scene, agents[1], 20, 20, true); // the first begins, the others wait
    }
    fm_cell goal = fm_cell_at(9, 9);
    fm_command command = {.order = FM_ORDER_MOVE,
                          .agents = agents,
                          .agent_count = 2,
                          .cells = &goal,
                          .cell_count = 1,
                          .queue = true};
    fm_command_result result = scene_give(&scene, command);
    assert_int_equal(result.status, FM_ERR_LIMIT);
    assert_int_equal(result.failed_index, 1);
    assert_false(scene_look(&scene, agents[0]).has_order); // all or nothing
    command.order = FM_ORDER_STOP;
    assert_int_equal(scene_give(&scene, command).status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

static void check_queue(const struct order_scene *scene, fm_agent_id agent, const uint64_t *orders,
                        uint32_t count)
{
    fm_agent_report report = scene_look(scene, agent);
    assert_int_equal(report.order, orders[0]);
    assert_int_equal(report.queue_count, count - 1);
    for (uint32_t i = 1; i < count; i++) {
        assert_int_equal(report.queue_orders[i - 1], orders[i]);
    }
}

// Gives a queued move with a turn.
static fm_command_result give_with_turn(struct order_scene *scene, fm_agent_id agent, fm_cell goal,
                                        fm_turn turn, uint32_t at, const uint64_t *order)
{
    return scene_give(scene, (fm_command){.order = FM_ORDER_MOVE,
                                          .agents = &agent,
                                          .agent_count = 1,
                                          .cells = &goal,
                                          .cell_count = 1,
                                          .queue = true,
                                          .turn = turn,
                                          .at = at,
                                          .orders = order,
                                          .order_count = order != NULL});
}

static fm_command_result cancel(struct order_scene *scene, const fm_agent_id *agents,
                                const uint64_t *orders, uint32_t count)
{
    fm_command_result result = {0};
    fm_command command = {.kind = FM_COMMAND_CANCEL,
                          .agents = agents,
                          .agent_count = count,
                          .orders = orders,
                          .order_count = count};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static void queues_are_edited_anywhere(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2), other = scene_spawn(&scene, 1, 9, 9);
    fm_cell goal = fm_cell_at(20, 5);
    uint64_t a = scene_move_to(&scene, agent, 30, 2, false);
    uint64_t b = scene_move_to(&scene, agent, 30, 10, true);
    uint64_t c = scene_move_to(&scene, agent, 2, 10, true);
    uint64_t d = give_with_turn(&scene, agent, goal, FM_TURN_AT, 0, NULL).first_order;
    uint64_t e = give_with_turn(&scene, agent, goal, FM_TURN_BEFORE, 0, &c).first_order;
    uint64_t f = give_with_turn(&scene, agent, goal, FM_TURN_INSTEAD, 0, &b).first_order;
    uint64_t g = give_with_turn(&scene, agent, goal, FM_TURN_AT, 32, NULL).first_order;
    check_queue(&scene, agent, (const uint64_t[]){a, d, f, e, c, g}, 6);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, b).reason, FM_END_REPLACED);
    assert_int_equal(scene.ended_count, 1);
    // Ids of ended, foreign or active orders name no place in the queue.
    assert_int_equal(give_with_turn(&scene, agent, goal, FM_TURN_BEFORE, 0, &b).status,
                     FM_ERR_NO_ORDER);
    assert_int_equal(give_with_turn(&scene, other, goal, FM_TURN_INSTEAD, 0, &c).status,
                     FM_ERR_NO_ORDER);
    assert_int_equal(give_with_turn(&scene, agent, goal, FM_TURN_BEFORE, 0, &a).status,
                     FM_ERR_NO_ORDER);
    assert_int_equal(give_with_turn(&scene, agent, goal, FM_TURN_BEFORE, 0, NULL).status,
                     FM_ERR_BAD_VALUE);
    // Cancels all named orders or none, and no others.
    fm_agent_id twice[] = {agent, agent};
    assert_int_equal(cancel(&scene, twice, (const uint64_t[]){e, e}, 2).status, FM_ERR_BAD_VALUE);
    fm_command_result result = cancel(&scene, twice, (const uint64_t[]){e, b}, 2);
    assert_int_equal(result.status, FM_ERR_NO_ORDER);
    assert_int_equal(result.failed_index, 1);
    check_queue(&scene, agent, (const uint64_t[]){a, d, f, e, c, g}, 6);
    assert_int_equal(cancel(&scene, twice, (const uint64_t[]){e, c}, 2).status, FM_OK);
    check_queue(&scene, agent, (const uint64_t[]){a, d, f, g}, 4);
    // The active order is cancelled and the next one begins; another one replaces it, and the queue
    // stays.
    assert_int_equal(cancel(&scene, &agent, &a, 1).status, FM_OK);
    scene_run(&scene, 1);
    check_queue(&scene, agent, (const uint64_t[]){d, f, g}, 3);
    uint64_t h =
        give_with_turn(&scene, agent, fm_cell_at(4, 2), FM_TURN_INSTEAD, 0, &d).first_order;
    check_queue(&scene, agent, (const uint64_t[]){h, f, g}, 3);
    scene_run(&scene, 40);
    assert_int_equal(scene_ending(&scene, a).reason, FM_END_CANCELLED);
    assert_int_equal(scene_ending(&scene, c).reason, FM_END_CANCELLED);
    assert_int_equal(scene_ending(&scene, e).reason, FM_END_CANCELLED);
    assert_int_equal(scene_ending(&scene, d).reason, FM_END_REPLACED);
    assert_int_equal(scene_ending(&scene, h).cell, fm_cell_at(4, 2));
    assert_int_equal(scene_ending(&scene, f).cell, goal);
    assert_int_equal(scene_ending(&scene, g).reason, FM_END_ARRIVED);
    assert_int_equal(scene.ended_count, 8);
    fm_world_destroy(scene.world);
}

// A full queue takes no more orders, but an order in it can be replaced.
static void full_queues_are_edited(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    uint64_t last = 0;
    for (uint32_t i = 0; i <= FM_ORDER_QUEUE_MAX; i++) {
        last = scene_move_to(&scene, agent, 20, 20, true);
    }
    assert_int_equal(give_with_turn(&scene, agent, 5, FM_TURN_AT, 0, NULL).status, FM_ERR_LIMIT);
    fm_command_result result = give_with_turn(&scene, agent, 5, FM_TURN_INSTEAD, 0, &last);
    assert_int_equal(result.status, FM_OK);
    fm_agent_report report = scene_look(&scene, agent);
    assert_int_equal(report.queue_orders[FM_ORDER_QUEUE_MAX - 1], result.first_order);
    fm_world_destroy(scene.world);
}

static void deadlines_end_orders(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    uint64_t wait = scene_order(&scene, agent, (fm_command){.order = FM_ORDER_HOLD, .deadline = 5});
    fm_cell far = fm_cell_at(60, 2);
    uint64_t walk = scene_order(
        &scene, agent,
        (fm_command){
            .order = FM_ORDER_MOVE, .cells = &far, .cell_count = 1, .queue = true, .deadline = 7});
    scene_run(&scene, 5);
    assert_int_equal(scene.ended_count, 0);
    // The next one makes its first move in the tick in which this one ends.
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, wait).reason, FM_END_DEADLINE);
    assert_int_equal(scene_look(&scene, agent).cell, fm_cell_at(3, 2));
    // Its own deadline counts from then on: seven moves.
    scene_run(&scene, 6);
    assert_int_equal(scene.ended_count, 1);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, walk).reason, FM_END_DEADLINE);
    assert_int_equal(scene_ending(&scene, walk).cell, fm_cell_at(9, 2));
    assert_int_equal(scene_look(&scene, agent).state, FM_AGENT_IDLE);
    // A unit that is there earlier has arrived.
    fm_cell near = fm_cell_at(12, 2);
    uint64_t arrives = scene_order(
        &scene, agent,
        (fm_command){.order = FM_ORDER_MOVE, .cells = &near, .cell_count = 1, .deadline = 3});
    scene_run(&scene, 5);
    assert_int_equal(scene_ending(&scene, arrives).reason, FM_END_ARRIVED);
    assert_int_equal(scene_give(&scene, (fm_command){.order = FM_ORDER_STOP, .deadline = 3}).status,
                     FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

// ---- patrol, hold -------------------------------------------------------------------------------

#define CROWD 10u

// A crowd with an old order gets a new one, some of the units in each tick.
static struct order_scene make_crowd(fm_agent_id *crowd, fm_command *command)
{
    static const fm_cell old_goal = 30u << 12 | 2, goals[] = {30u << 12 | 30};
    struct order_scene scene = scene_make(NULL, 40, 40, true);
    for (uint32_t i = 0; i < CROWD; i++) {
        crowd[i] = scene_spawn(&scene, 1, 2 + i, 2);
    }
    *command = (fm_command){.agents = crowd,
                            .agent_count = CROWD,
                            .cells = &old_goal,
                            .cell_count = 1,
                            .order = FM_ORDER_MOVE};
    fm_command_result result = scene_give(&scene, *command);
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(result.first_order, 1);
    scene_run(&scene, 1);
    command->cells = goals;
    command->agents_a_tick = 4;
    return scene;
}

static uint64_t order_of(const struct order_scene *scene, fm_agent_id agent)
{
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene->world, agent, &report), FM_OK);
    return report.order;
}

// Units that the command has reached have the new order, with consecutive ids, the others the old
// one.
static void check_reached(const struct order_scene *scene, const fm_agent_id *crowd,
                          uint32_t reached)
{
    assert_int_equal(fm_world_left_to_do(scene->world), CROWD - reached);
    for (uint32_t i = 0; i < CROWD; i++) {
        assert_int_equal(order_of(scene, crowd[i]), (i < reached ? CROWD : 0) + 1 + i);
    }
    assert_int_equal(scene->ended_count, reached);
}

static void an_order_to_many_reaches_some_in_each_tick(void **state)
{
    (void)state;
    fm_agent_id crowd[CROWD];
    fm_command command;
    struct order_scene scene = make_crowd(crowd, &command);
    fm_command_result result = scene_give(&scene, command);
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(result.first_order, CROWD + 1);
    assert_int_equal(result.first_number, CROWD + 1);
    assert_int_equal(result.changed_count, CROWD);
    fm_agent_id ids[CROWD];
    memcpy(ids, crowd, sizeof ids);
    memset(crowd, 0, sizeof crowd); // the command's arrays are no longer read
    assert_int_equal(order_of(&scene, ids[3]), CROWD + 4);
    assert_int_equal(fm_world_left_to_do(scene.world), CROWD - 4);

    fm_command stop = {.agents = ids, .agent_count = CROWD, .order = FM_ORDER_STOP};
    assert_int_equal(scene_give(&scene, stop).status, FM_ERR_NOT_READY);
    scene_run(&scene, 1); // also reports the orders of units reached at once
    check_reached(&scene, ids, 8);
    scene_run(&scene, 1);
    check_reached(&scene, ids, CROWD);
    assert_int_equal(scene_give(&scene, stop).status, FM_OK);
    fm_world_destroy(scene.world);
}

static void settling_carries_an_order_to_its_end(void **state)
{
    (void)state;
    fm_agent_id crowd[CROWD];
    fm_command command;
    struct order_scene scene = make_crowd(crowd, &command);
    assert_int_equal(scene_give(&scene, command).status, FM_OK);
    scene_run(&scene, 1);
    fm_world_settle(scene.world);
    assert_int_equal(fm_world_left_to_do(scene.world), 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        assert_int_equal(order_of(&scene, crowd[i]), CROWD + 1 + i);
    }
    scene_run(&scene, 1);
    assert_int_equal(scene.ended_count, CROWD);

    // A world may be destroyed in the middle of it.
    command.order = FM_ORDER_PATROL;
    command.agents_a_tick = 1;
    assert_int_equal(scene_give(&scene, command).status, FM_OK);
    fm_world_destroy(scene.world);
}

static void patrols_go_there_and_back_or_round(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_cell ways[3] = {fm_cell_at(4, 4), fm_cell_at(12, 4), fm_cell_at(12, 12)};
    fm_agent_id there = scene_spawn(&scene, 1, 4, 4), round = scene_spawn(&scene, 1, 4, 4),
                home = scene_spawn(&scene, 1, 20, 4);
    fm_command command = {.order = FM_ORDER_PATROL, .cells = ways, .cell_count = 3};
    scene_order(&scene, there, command);
    command.loop = true;
    scene_order(&scene, round, command);
    fm_cell away = fm_cell_at(20, 9);
    scene_order(&scene, home,
                (fm_command){.order = FM_ORDER_PATROL, .cells = &away, .cell_count = 1});
    // Legs of 8, 8, 8, 8 steps there and back; of 8, 8 and 8 round.
    static const uint32_t wanted_there[] = {1, 2, 1, 0, 1, 2, 1, 0};
    static const uint32_t wanted_round[] = {1, 2, 0, 1, 2, 0, 1, 2};
    for (uint32_t leg = 0; leg < 8; leg++) {
        scene_run(&scene, 8);
        assert_int_equal(scene_look(&scene, there).cell, ways[wanted_there[leg]]);
        assert_int_equal(scene_look(&scene, round).cell, ways[wanted_round[leg]]);
    }
    // 64 ticks are 12 legs of 5 steps, and 4 steps: an even number, so it is on its way out.
    assert_int_equal(scene_look(&scene, home).cell, fm_cell_at(20, 8));
    assert_int_equal(scene.ended_count, 0);
    fm_world_destroy(scene.world);
}

static void hold_stays(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 16, 16, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 8, 8);
    uint64_t hold = scene_order(&scene, agent, (fm_command){.order = FM_ORDER_HOLD});
    scene_run(&scene, 50);
    assert_int_equal(scene_look(&scene, agent).state, FM_AGENT_HOLDING);
    assert_int_equal(scene_look(&scene, agent).cell, fm_cell_at(8, 8));
    assert_int_equal(scene.ended_count, 0);
    scene_move_to(&scene, agent, 9, 9, false);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, hold).reason, FM_END_REPLACED);
    fm_world_destroy(scene.world);
}

// ---- all kinds ----------------------------------------------------------------------------------

// In a narrow passage a friend that is idle steps aside, and one that holds its ground does not.
static void friends_do_not_push_one_who_holds(void **state)
{
    (void)state;
    static const char *const rows[] = {"#########", "#.......#", "####.####", "#########"};
    for (uint32_t holds = 0; holds < 2; holds++) {
        fm_grid *grid;
        assert_int_equal(fm_grid_create(9, 4, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t y = 0; y < 4; y++) {
            for (uint32_t x = 0; x < 9; x++) {
                fm_grid_set(grid, fm_cell_at(x, y),
                            rows[y][x] == '#' ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND, 1);
            }
        }
        fm_world_rules rules = fm_world_rules_default();
        rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
        rules.omniscient = true;
        struct order_scene scene = {.budget = SCENE_BUDGET};
        assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
        assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
        fm_command_result result = {0};
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        fm_agent_id walker = scene_spawn(&scene, 1, 1, 1), other = scene_spawn(&scene, 1, 3, 1);
        if (holds) {
            scene_order(&scene, other, (fm_command){.order = FM_ORDER_HOLD});
        }
        scene_move_to(&scene, walker, 7, 1, false);
        scene_run(&scene, 40);
        assert_int_equal(scene_look(&scene, walker).cell == fm_cell_at(7, 1), !holds);
        if (holds) {
            assert_int_equal(scene_look(&scene, other).cell, fm_cell_at(3, 1));
        }
        fm_world_destroy(scene.world);
    }
}

// With a few expansions for each, an agent starts in the tick after its order.
static void all_kinds_move_in_the_next_tick(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < FM_ORDER_KIND_COUNT; kind++) {
        struct order_scene scene = scene_make(NULL, 200, 200, false);
        scene.budget = 1000; // for all of them
        fm_agent_id friend = scene_spawn(&scene, 1, 20, 20),
                    enemy = scene_spawn(&scene, 2, 102, 102);
        fm_agent_id agents[40];
        for (uint32_t i = 0; i < 40; i++) {
            agents[i] = scene_spawn(&scene, 1, 100 + i % 3, 100);
        }
        scene_run(&scene, 1);
        (void)enemy;
        fm_cell far = fm_cell_at(180, 10);
        bool targets = kind == FM_ORDER_FOLLOW || kind == FM_ORDER_GUARD;
        bool cells = kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL || kind == FM_ORDER_SCATTER;
        fm_command_result result =
            scene_give(&scene, (fm_command){.order = (fm_order_kind)kind,
                                            .agents = agents,
                                            .agent_count = 40,
                                            .cells = cells ? &far : NULL,
                                            .cell_count = cells,
                                            .target = targets ? friend : (fm_agent_id){0}});
        assert_int_equal(result.status, FM_OK);
        scene_run(&scene, 1);
        bool moves = kind != FM_ORDER_STOP && kind != FM_ORDER_HOLD;
        fm_world_counts counts;
        fm_world_counts_get(scene.world, &counts);
        assert_int_equal(counts.first_move_histogram[1], moves ? 40 : 0);

        fm_world_destroy(scene.world);
    }
}

// Reasons for which an order of a kind can end, besides replaced, cancelled, died.
static bool can_end(fm_order_kind kind, fm_order_end reason)
{
    switch (reason) {
    case FM_END_REPLACED:
    case FM_END_CANCELLED:
    case FM_END_DIED:
    case FM_END_DEADLINE:
    case FM_END_BOARDED:
        return true;
    case FM_END_ARRIVED:
    case FM_END_NEAREST:
    case FM_END_CROWDED:
        return kind == FM_ORDER_MOVE || kind == FM_ORDER_FLEE || kind == FM_ORDER_FOLLOW ||
               (kind == FM_ORDER_KEEP_DISTANCE && reason == FM_END_ARRIVED);
    case FM_END_UNREACHABLE:
        return kind != FM_ORDER_HOLD && kind != FM_ORDER_EXPLORE;
    case FM_END_TARGET_LOST:
        return kind == FM_ORDER_FOLLOW || kind == FM_ORDER_KEEP_DISTANCE;
    case FM_END_TARGET_DIED:
        return kind == FM_ORDER_FOLLOW || kind == FM_ORDER_GUARD || kind == FM_ORDER_KEEP_DISTANCE;
    case FM_END_EXPLORED:
        return kind == FM_ORDER_EXPLORE;
    case FM_END_EXHAUSTED:
    case FM_END_COUNT:
        break;
    }
    return false; // there is enough memory
}

#define ACCOUNT_MAX 20000u
#define UNITS_MAX   200u

// How every order of a run ended.
struct account {
    fm_order_kind kind[ACCOUNT_MAX];
    uint8_t ended[ACCOUNT_MAX];
    uint64_t given;
};

static void settle(const struct order_scene *scene, struct account *account)
{
    fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        uint64_t id = changes.ended[i].order;
        assert_true(id >= 1 && id <= account->given);
        assert_int_equal(account->ended[id], 0);
        account->ended[id] = 1;
        assert_true(can_end(account->kind[id], changes.ended[i].reason));
    }
}

// Gives one random order to some of the units, and notes its ids.
static void order_at_random(struct order_scene *scene, struct account *account, fm_random *random,
                            const fm_agent_id *units, uint32_t unit_count)
{
    const fm_grid *grid = fm_world_grid(scene->world);
    fm_cell cells[4];
    fm_agent_id agents[8];
    uint32_t count = 1 + fm_random_below(random, 8), first = fm_random_below(random, unit_count);
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = units[(first + 2 * i) % unit_count]; // every other one is of the same team
    }
    for (uint32_t i = 0; i < 4; i++) {
        cells[i] =
            fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
    }
    fm_order_kind kind = (fm_order_kind)fm_random_below(random, FM_ORDER_KIND_COUNT);
    bool may_target = kind == FM_ORDER_GUARD || kind == FM_ORDER_KEEP_DISTANCE;
    bool target = kind == FM_ORDER_FOLLOW || (may_target && fm_random_below(random, 2) == 0);
    bool follows = kind == FM_ORDER_FOLLOW || kind == FM_ORDER_KEEP_DISTANCE;
    bool several = kind == FM_ORDER_PATROL || kind == FM_ORDER_FLEE;
    fm_command command = {
        .order = kind,
        .agents = agents,
        .agent_count = count,
        .cells = cells,
        .cell_count = target    ? 0
                      : several ? 1 + fm_random_below(random, 4)
                                : 1,
        .on_unreachable = (fm_on_unreachable)fm_random_below(random, 3),
        .queue = kind != FM_ORDER_STOP && fm_random_below(random, 2) == 0,
        .loop = fm_random_below(random, 2) == 0,
        .radius = fm_random_below(random, 10),
        .once = follows && fm_random_below(random, 2) == 0,
        .alert =
            kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL ? fm_random_below(random, 2) * 4 : 0,
        .deadline = kind != FM_ORDER_STOP ? fm_random_below(random, 3) * 20 : 0,
        .spread = kind == FM_ORDER_MOVE && fm_random_below(random, 2) == 0,
        .agents_a_tick = fm_random_below(random, 4) == 0 ? 1 + fm_random_below(random, 3) : 0,
    };
    command.turn = command.queue ? (fm_turn)fm_random_below(random, 2) : FM_TURN_LAST;
    command.at = fm_random_below(random, 4);
    command.target = target ? units[fm_random_below(random, unit_count)] : (fm_agent_id){0};
    fm_command_result result = scene_give(scene, command);
    if (result.status != FM_OK || kind == FM_ORDER_STOP) {
        return; // a dead unit, an unseen target or a full queue
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(account->given + 1 < ACCOUNT_MAX);
        account->given += 1;
        account->kind[account->given] = kind == FM_ORDER_SCATTER ? FM_ORDER_MOVE : kind;
    }
    assert_int_equal(result.first_order + count - 1, account->given);
}

// Cancels one of a unit's orders, or replaces it.
static void edit_at_random(struct order_scene *scene, struct account *account, fm_random *random,
                           fm_agent_id unit)
{
    fm_agent_report report;
    if (fm_world_inspect(scene->world, unit, &report) != FM_OK) {
        return;
    }
    uint32_t pick = fm_random_below(random, report.queue_count + 1);
    uint64_t order = pick == 0 ? report.order : report.queue_orders[pick - 1];
    if (fm_random_below(random, 2) == 0) {
        fm_status status = cancel(scene, &unit, &order, 1).status;
        assert_int_equal(status, order == 0 ? FM_ERR_NO_ORDER : FM_OK);
        return;
    }
    fm_cell goal = scene_free_cell(scene, random);
    fm_turn turn = fm_random_below(random, 2) == 0 ? FM_TURN_BEFORE : FM_TURN_INSTEAD;
    if (give_with_turn(scene, unit, goal, turn, 0, &order).status == FM_OK) {
        account->given += 1;
        account->kind[account->given] = FM_ORDER_MOVE;
    }
}

static void every_order_ends_exactly_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static struct account account;
    for (uint32_t i = 0; i < 12; i++) {
        memset(&account, 0, sizeof account);
        struct order_scene scene =
            scene_make_fog(&random, i % 2 ? FM_GENERATOR_RANDOM : FM_GENERATOR_ROOMS,
                           24 + fm_random_below(&random, 40), (i / 2) % 2 == 1);
        fm_agent_id units[UNITS_MAX];
        uint32_t unit_count = 0;
        for (uint32_t tick = 0; tick < 250; tick++) {
            if (tick < 24 || (fm_random_below(&random, 10) == 0 && unit_count < UNITS_MAX)) {
                fm_cell cell = scene_free_cell(&scene, &random);
                fm_command_result result = {.spawned = &units[unit_count]};
                fm_command spawn_one = {.kind = FM_COMMAND_SPAWN,
                                        .team = 1 + unit_count % 2,
                                        .cells = &cell,
                                        .cell_count = 1,
                                        .speed = fm_random_below(&random, 2) * 7000};
                fm_world_apply(scene.world, &spawn_one, &result);
                unit_count += result.status == FM_OK; // the cell may be occupied
            }
            for (uint32_t n = fm_random_below(&random, 3); n > 0 && unit_count > 2; n--) {
                order_at_random(&scene, &account, &random, units, unit_count);
            }
            if (unit_count > 0 && fm_world_left_to_do(scene.world) == 0) {
                edit_at_random(&scene, &account, &random,
                               units[fm_random_below(&random, unit_count)]);
            }
            if (fm_random_below(&random, 12) == 0 && unit_count > 0) {
                fm_command_result result = {0};
                fm_world_apply(scene.world,
                               &(fm_command){.kind = FM_COMMAND_REMOVE,
                                             .agents = &units[fm_random_below(&random, unit_count)],
                                             .agent_count = 1},
                               &result);
            }
            fm_cell edited = scene_free_cell(&scene, &random);
            fm_command_result result = {0};
            fm_world_apply(scene.world,
                           &(fm_command){.kind = FM_COMMAND_TERRAIN,
                                         .cells = &edited,
                                         .cell_count = 1,
                                         .terrain = fm_random_below(&random, 2)
                                                        ? FM_TERRAIN_WALL
                                                        : FM_TERRAIN_GROUND},
                           &result);
            fm_tick_report report;
            fm_tick_run(scene.world, NULL, 1 + fm_random_below(&random, scene.budget), NULL,
                        &report);
            settle(&scene, &account);
        }
        while (fm_world_left_to_do(scene.world) > 0) {
            fm_tick_report report;
            fm_tick_run(scene.world, NULL, 1, NULL, &report);
            settle(&scene, &account);
        }
        // At the end all living agents die, and so every order has ended.
        for (uint32_t u = 0; u < unit_count; u++) {
            fm_command_result result = {0};
            fm_world_apply(
                scene.world,
                &(fm_command){.kind = FM_COMMAND_REMOVE, .agents = &units[u], .agent_count = 1},
                &result);
        }
        fm_tick_report report;
        fm_tick_run(scene.world, NULL, 1, NULL, &report);
        settle(&scene, &account);
        assert_true(account.given > 20);
        for (uint64_t id = 1; id <= account.given; id++) {
            assert_int_equal(account.ended[id], 1);
        }
        fm_world_destroy(scene.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queued_orders_are_done_in_turn),
        cmocka_unit_test(new_orders_and_stop_end_the_queue),
        cmocka_unit_test(full_queues_refuse),
        cmocka_unit_test(queues_are_edited_anywhere),
        cmocka_unit_test(full_queues_are_edited),
        cmocka_unit_test(deadlines_end_orders),
        cmocka_unit_test(an_order_to_many_reaches_some_in_each_tick),
        cmocka_unit_test(settling_carries_an_order_to_its_end),
        cmocka_unit_test(patrols_go_there_and_back_or_round),
        cmocka_unit_test(hold_stays),
        cmocka_unit_test(friends_do_not_push_one_who_holds),
        cmocka_unit_test(all_kinds_move_in_the_next_tick),
        cmocka_unit_test(every_order_ends_exactly_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
