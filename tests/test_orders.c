// tests/test_orders.c: what each kind of order does, and that every order ends exactly once.
//
// Method: small worlds drawn as text, or open ones; one tick at a time, looking at where agents
// stand. The last test is a property: random commands of every kind, edits, births and deaths, and
// a plain account of all order ids; each ends once, with a reason that its kind can have.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/commands/order_command.h"
#include "core/generate/generate.h"
#include "core/saves/world_file.h"
#include "core/search/frontier.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "tests/support.h"

#include <string.h>

#define BUDGET 20000u // expansions per tick, unless a test says otherwise

struct scene {
    fm_world *world;
    uint32_t budget;
    fm_order_ended ended[256]; // all so far
    uint32_t ended_count;
};

// A world from rows of text, '#' blocked, or an open one (rows NULL); teams 1 and 2.
static struct scene make_scene(const char *const *rows, uint32_t width, uint32_t height,
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
    struct scene scene = {.budget = BUDGET};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
    }
    return scene;
}

static fm_agent_id spawn(struct scene *scene, uint32_t team, uint32_t x, uint32_t y)
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

static fm_command_result give(struct scene *scene, fm_command command)
{
    fm_command_result result = {0};
    command.kind = FM_COMMAND_ORDER;
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static void build_wall(struct scene *scene, fm_rect wall)
{
    fm_command command = {
        .kind = FM_COMMAND_TERRAIN, .rects = &wall, .rect_count = 1, .terrain = FM_TERRAIN_WALL};
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

// Gives one agent an order that must be accepted; returns the order's id.
static uint64_t order(struct scene *scene, fm_agent_id agent, fm_command command)
{
    command.agents = &agent;
    command.agent_count = 1;
    fm_command_result result = give(scene, command);
    assert_int_equal(result.status, FM_OK);
    return result.first_order;
}

static uint64_t move_to(struct scene *scene, fm_agent_id agent, uint32_t x, uint32_t y, bool queue)
{
    fm_cell cell = fm_cell_at(x, y);
    return order(
        scene, agent,
        (fm_command){.order = FM_ORDER_MOVE, .cells = &cell, .cell_count = 1, .queue = queue});
}

static void remove_agent(struct scene *scene, fm_agent_id agent)
{
    fm_command_result result = {0};
    fm_world_apply(scene->world,
                   &(fm_command){.kind = FM_COMMAND_REMOVE, .agents = &agent, .agent_count = 1},
                   &result);
    assert_int_equal(result.status, FM_OK);
}

static void run(struct scene *scene, uint32_t ticks)
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

static fm_agent_report look(const struct scene *scene, fm_agent_id agent)
{
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene->world, agent, &report), FM_OK);
    return report;
}

// How an order ended; fails the test when it did not end exactly once.
static fm_order_ended ending(const struct scene *scene, uint64_t id)
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

static uint32_t apart(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx > dy ? dx : dy;
}

// ---- queue --------------------------------------------------------------------------------------

static void queued_orders_are_done_in_turn(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 32, 32, true);
    fm_agent_id agent = spawn(&scene, 1, 2, 2);
    uint64_t first = move_to(&scene, agent, 10, 2, true); // nothing is before it: begins at once
    uint64_t second = move_to(&scene, agent, 10, 10, true);
    uint64_t third = move_to(&scene, agent, 2, 10, true);
    run(&scene, 8);
    assert_int_equal(ending(&scene, first).reason, FM_END_ARRIVED);
    assert_int_equal(scene.ended_count, 1);
    // The next one moves in the tick after: no tick is lost between them.
    run(&scene, 16);
    assert_int_equal(ending(&scene, second).cell, fm_cell_at(10, 10));
    assert_int_equal(ending(&scene, third).cell, fm_cell_at(2, 10));
    assert_int_equal(look(&scene, agent).state, FM_AGENT_IDLE);
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.first_move_histogram[1], 3);
    fm_world_destroy(scene.world);
}

static void new_orders_and_stop_end_the_queue(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 32, 32, true);
    fm_agent_id agent = spawn(&scene, 1, 2, 2);
    uint64_t orders[4];
    for (uint32_t i = 0; i < 2; i++) {
        orders[i] = move_to(&scene, agent, 20, 20 + i, true);
    }
    orders[2] = move_to(&scene, agent, 5, 5, false);
    orders[3] = move_to(&scene, agent, 6, 6, true);
    order(&scene, agent, (fm_command){.order = FM_ORDER_STOP});
    run(&scene, 3);
    assert_int_equal(scene.ended_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(ending(&scene, orders[i]).reason,
                         i < 2 ? FM_END_REPLACED : FM_END_CANCELLED);
    }
    assert_int_equal(look(&scene, agent).cell, fm_cell_at(2, 2));
    // Deaths end queued orders too.
    orders[0] = move_to(&scene, agent, 20, 20, false);
    orders[1] = move_to(&scene, agent, 21, 20, true);
    remove_agent(&scene, agent);
    run(&scene, 1);
    assert_int_equal(ending(&scene, orders[0]).reason, FM_END_DIED);
    assert_int_equal(ending(&scene, orders[1]).reason, FM_END_DIED);
    fm_world_destroy(scene.world);
}

static void full_queues_refuse(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 32, 32, true);
    fm_agent_id agents[2] = {spawn(&scene, 1, 2, 2), spawn(&scene, 1, 3, 2)};
    for (uint32_t i = 0; i <= FM_ORDER_QUEUE_MAX; i++) {
        move_to(&scene, agents[1], 20, 20, true); // the first begins, the others wait
    }
    fm_cell goal = fm_cell_at(9, 9);
    fm_command command = {.order = FM_ORDER_MOVE,
                          .agents = agents,
                          .agent_count = 2,
                          .cells = &goal,
                          .cell_count = 1,
                          .queue = true};
    fm_command_result result = give(&scene, command);
    assert_int_equal(result.status, FM_ERR_LIMIT);
    assert_int_equal(result.failed_index, 1);
    assert_false(look(&scene, agents[0]).has_order); // whole or not at all
    command.order = FM_ORDER_STOP;
    assert_int_equal(give(&scene, command).status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

// ---- patrol, hold -------------------------------------------------------------------------------

#define CROWD 10u

// A crowd with an order of old that is told something new, some of them in each tick.
static struct scene make_crowd(fm_agent_id *crowd, fm_command *command)
{
    static const fm_cell old_goal = 30u << 12 | 2, goals[] = {30u << 12 | 30};
    struct scene scene = make_scene(NULL, 40, 40, true);
    for (uint32_t i = 0; i < CROWD; i++) {
        crowd[i] = spawn(&scene, 1, 2 + i, 2);
    }
    *command = (fm_command){.agents = crowd,
                            .agent_count = CROWD,
                            .cells = &old_goal,
                            .cell_count = 1,
                            .order = FM_ORDER_MOVE};
    fm_command_result result = give(&scene, *command);
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(result.first_order, 1);
    run(&scene, 1);
    command->cells = goals;
    command->agents_a_tick = 4;
    return scene;
}

static uint64_t order_of(const struct scene *scene, fm_agent_id agent)
{
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene->world, agent, &report), FM_OK);
    return report.order;
}

// Those that it has reached have the new order, with the numbers of one command, the others the
// old one.
static void check_reached(const struct scene *scene, const fm_agent_id *crowd, uint32_t reached)
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
    struct scene scene = make_crowd(crowd, &command);
    fm_command_result result = give(&scene, command);
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(result.first_order, CROWD + 1);
    assert_int_equal(result.first_number, CROWD + 1);
    assert_int_equal(result.changed_count, CROWD);
    fm_agent_id ids[CROWD];
    memcpy(ids, crowd, sizeof ids);
    memset(crowd, 0, sizeof crowd); // the command's arrays are not read any more
    assert_int_equal(order_of(&scene, ids[3]), CROWD + 4);
    assert_int_equal(fm_world_left_to_do(scene.world), CROWD - 4);

    fm_command stop = {.agents = ids, .agent_count = CROWD, .order = FM_ORDER_STOP};
    assert_int_equal(give(&scene, stop).status, FM_ERR_NOT_READY);
    run(&scene, 1); // tells of those reached at once, too
    check_reached(&scene, ids, 8);
    run(&scene, 1);
    check_reached(&scene, ids, CROWD);
    assert_int_equal(give(&scene, stop).status, FM_OK);
    fm_world_destroy(scene.world);
}

static void settling_carries_an_order_to_its_end(void **state)
{
    (void)state;
    fm_agent_id crowd[CROWD];
    fm_command command;
    struct scene scene = make_crowd(crowd, &command);
    assert_int_equal(give(&scene, command).status, FM_OK);
    run(&scene, 1);
    fm_world_settle(scene.world);
    assert_int_equal(fm_world_left_to_do(scene.world), 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        assert_int_equal(order_of(&scene, crowd[i]), CROWD + 1 + i);
    }
    run(&scene, 1);
    assert_int_equal(scene.ended_count, CROWD);

    // A world may end in the middle of it.
    command.order = FM_ORDER_PATROL;
    command.agents_a_tick = 1;
    assert_int_equal(give(&scene, command).status, FM_OK);
    fm_world_destroy(scene.world);
}

static void patrols_go_there_and_back_or_round(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 32, 32, true);
    fm_cell ways[3] = {fm_cell_at(4, 4), fm_cell_at(12, 4), fm_cell_at(12, 12)};
    fm_agent_id there = spawn(&scene, 1, 4, 4), round = spawn(&scene, 1, 4, 4),
                home = spawn(&scene, 1, 20, 4);
    fm_command command = {.order = FM_ORDER_PATROL, .cells = ways, .cell_count = 3};
    order(&scene, there, command);
    command.loop = true;
    order(&scene, round, command);
    fm_cell away = fm_cell_at(20, 9);
    order(&scene, home, (fm_command){.order = FM_ORDER_PATROL, .cells = &away, .cell_count = 1});
    // Legs of 8, 8, 8, 8 steps there and back; of 8, 8 and 8 round.
    static const uint32_t wanted_there[] = {1, 2, 1, 0, 1, 2, 1, 0};
    static const uint32_t wanted_round[] = {1, 2, 0, 1, 2, 0, 1, 2};
    for (uint32_t leg = 0; leg < 8; leg++) {
        run(&scene, 8);
        assert_int_equal(look(&scene, there).cell, ways[wanted_there[leg]]);
        assert_int_equal(look(&scene, round).cell, ways[wanted_round[leg]]);
    }
    // 64 ticks are 12 legs of 5 steps, and 4 steps: an even number, so it is on its way out.
    assert_int_equal(look(&scene, home).cell, fm_cell_at(20, 8));
    assert_int_equal(scene.ended_count, 0);
    fm_world_destroy(scene.world);
}

static void hold_stays(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 16, 16, true);
    fm_agent_id agent = spawn(&scene, 1, 8, 8);
    uint64_t hold = order(&scene, agent, (fm_command){.order = FM_ORDER_HOLD});
    run(&scene, 50);
    assert_int_equal(look(&scene, agent).state, FM_AGENT_HOLDING);
    assert_int_equal(look(&scene, agent).cell, fm_cell_at(8, 8));
    assert_int_equal(scene.ended_count, 0);
    move_to(&scene, agent, 9, 9, false);
    run(&scene, 1);
    assert_int_equal(ending(&scene, hold).reason, FM_END_REPLACED);
    fm_world_destroy(scene.world);
}

// ---- follow, guard ------------------------------------------------------------------------------

static fm_command follow_command(const fm_agent_id *follower, fm_agent_id target, uint32_t radius)
{
    return (fm_command){.order = FM_ORDER_FOLLOW,
                        .agents = follower,
                        .agent_count = 1,
                        .target = target,
                        .radius = radius};
}

static void follows_a_friend_until_it_dies(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 128, 16, true);
    fm_agent_id leader = spawn(&scene, 1, 60, 8), follower = spawn(&scene, 1, 2, 8);
    uint64_t follow = order(&scene, follower, follow_command(&follower, leader, 3));
    move_to(&scene, leader, 120, 8, false);
    uint32_t ticks_searched = 0;
    for (uint32_t i = 0; i < 120; i++) {
        fm_world_counts before, after;
        fm_world_counts_get(scene.world, &before);
        run(&scene, 1);
        fm_world_counts_get(scene.world, &after);
        ticks_searched += after.expansions > before.expansions;
    }
    // The follower is 58 steps behind all the time; a goal that is off by a quarter is good enough.
    assert_true(ticks_searched >= 2 && ticks_searched <= 12);
    assert_int_equal(look(&scene, leader).cell, fm_cell_at(120, 8));
    assert_int_equal(apart(look(&scene, follower).cell, look(&scene, leader).cell), 3);
    assert_int_equal(look(&scene, follower).state, FM_AGENT_HOLDING);
    move_to(&scene, leader, 100, 8, false);
    run(&scene, 60);
    assert_int_equal(apart(look(&scene, follower).cell, look(&scene, leader).cell), 3);
    assert_int_equal(scene.ended_count, 2);
    remove_agent(&scene, leader);
    run(&scene, 1);
    assert_int_equal(ending(&scene, follow).reason, FM_END_TARGET_DIED);
    fm_world_destroy(scene.world);
}

// Hunter and enemy see each other over a wall 60 cells long. The enemy walks away behind it.
static void loses_an_enemy_in_the_fog(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 96, 24, false);
    build_wall(&scene, (fm_rect){0, 8, 60, 1});
    fm_agent_id enemy = spawn(&scene, 2, 30, 10), hunter = spawn(&scene, 1, 30, 6);
    uint64_t follow = order(&scene, hunter, follow_command(&hunter, enemy, 0));
    move_to(&scene, enemy, 2, 22, false);
    fm_cell last_seen = FM_CELL_NONE;
    for (uint32_t i = 0; i < 300 && scene.ended_count < 2; i++) {
        fm_cell cell = look(&scene, enemy).cell;
        last_seen = apart(cell, look(&scene, hunter).cell) <= 5 ? cell : last_seen;
        run(&scene, 1);
    }
    assert_int_equal(ending(&scene, follow).reason, FM_END_TARGET_LOST);
    assert_int_equal(ending(&scene, follow).cell, last_seen);
    // One that is not seen and one that there is not get the same answer.
    fm_command_result result = give(&scene, follow_command(&hunter, enemy, 0));
    assert_int_equal(result.status, FM_ERR_NO_TARGET);
    result = give(&scene, follow_command(&hunter, (fm_agent_id){.index1 = 77}, 0));
    assert_int_equal(result.status, FM_ERR_NO_TARGET);
    fm_world_destroy(scene.world);
}

// A slow hunter is still on its way to where it saw the enemy last when that comes back into sight,
// which may be another one for all it knows.
static void a_lost_enemy_stays_lost(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 64, 24, false);
    fm_agent_id enemy = spawn(&scene, 2, 7, 10), hunter;
    fm_cell cell = fm_cell_at(2, 10);
    fm_command_result result = {.spawned = &hunter};
    fm_world_apply(scene.world,
                   &(fm_command){.kind = FM_COMMAND_SPAWN,
                                 .team = 1,
                                 .cells = &cell,
                                 .cell_count = 1,
                                 .speed = fm_world_rules_get(scene.world)->tick_millihertz / 4},
                   &result);
    uint64_t follow = order(&scene, hunter, follow_command(&hunter, enemy, 1));
    move_to(&scene, enemy, 14, 10, false);
    move_to(&scene, enemy, 9, 14, true);
    fm_cell last_seen = FM_CELL_NONE;
    bool lost = false, back = false;
    for (uint32_t i = 0; i < 14; i++) {
        cell = look(&scene, enemy).cell;
        bool seen = apart(cell, look(&scene, hunter).cell) <= 5;
        last_seen = seen && !lost ? cell : last_seen;
        lost |= !seen;
        back |= lost && seen;
        run(&scene, 1);
    }
    assert_true(lost && back && last_seen != look(&scene, enemy).cell);
    run(&scene, 40);
    assert_int_equal(ending(&scene, follow).reason, FM_END_TARGET_LOST);
    assert_int_equal(look(&scene, hunter).cell, last_seen);
    fm_world_destroy(scene.world);
}

// Where it was seen last no way leads; to have lost it says more than that.
static void an_enemy_is_lost_behind_a_wall(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 64, 10, false);
    build_wall(&scene, (fm_rect){8, 0, 1, 10});
    fm_agent_id enemy = spawn(&scene, 2, 9, 5), hunter = spawn(&scene, 1, 7, 5);
    uint64_t follow = order(&scene, hunter, follow_command(&hunter, enemy, 1));
    run(&scene, 30);
    assert_int_equal(scene.ended_count, 0); // it is still to be seen
    move_to(&scene, enemy, 60, 5, false);
    run(&scene, 60);
    assert_int_equal(ending(&scene, follow).reason, FM_END_TARGET_LOST);
    fm_world_destroy(scene.world);
}

// Nor does it make a difference whether the slot of the dead is given to another at once.
static void sees_an_enemy_die_beside_it(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 32, 32, false);
    fm_agent_id enemy = spawn(&scene, 2, 12, 8), hunter = spawn(&scene, 1, 8, 8);
    uint64_t follow = order(&scene, hunter, follow_command(&hunter, enemy, 1));
    run(&scene, 10);
    assert_int_equal(look(&scene, hunter).cell, fm_cell_at(11, 8));
    // One order is under way, others come too late: their targets are dead when their turn comes.
    fm_agent_id ward = spawn(&scene, 1, 2, 2);
    uint64_t late = order(&scene, hunter,
                          (fm_command){.order = FM_ORDER_FOLLOW, .target = enemy, .queue = true});
    uint64_t guard =
        order(&scene, hunter, (fm_command){.order = FM_ORDER_GUARD, .target = ward, .queue = true});
    remove_agent(&scene, enemy);
    remove_agent(&scene, ward);
    spawn(&scene, 2, 30, 30);
    run(&scene, 2);
    assert_int_equal(ending(&scene, follow).reason, FM_END_TARGET_DIED);
    assert_int_equal(ending(&scene, late).reason, FM_END_TARGET_DIED);
    assert_int_equal(ending(&scene, guard).reason, FM_END_TARGET_DIED);
    assert_int_equal(look(&scene, hunter).state, FM_AGENT_IDLE);
    fm_world_destroy(scene.world);
}

static void guards_come_back_to_their_post(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 64, 64, true);
    fm_agent_id ward = spawn(&scene, 1, 40, 40), guard = spawn(&scene, 1, 10, 30),
                other = spawn(&scene, 2, 20, 20);
    fm_cell post = fm_cell_at(30, 30);
    uint64_t area =
        order(&scene, guard,
              (fm_command){.order = FM_ORDER_GUARD, .cells = &post, .cell_count = 1, .radius = 6});
    run(&scene, 40);
    assert_int_equal(look(&scene, guard).cell, fm_cell_at(27, 30)); // half the radius
    // A wall comes down on it and a good deal around: it is put out, and comes back.
    fm_rect wall = {22, 20, 11, 20};
    fm_command_result result = {0};
    fm_command edit = {
        .kind = FM_COMMAND_TERRAIN, .rects = &wall, .rect_count = 1, .terrain = FM_TERRAIN_WALL};
    fm_world_apply(scene.world, &edit, &result);
    run(&scene, 40);
    assert_true(apart(look(&scene, guard).cell, post) >= 3);
    edit.terrain = FM_TERRAIN_GROUND;
    fm_world_apply(scene.world, &edit, &result);
    run(&scene, 40);
    assert_int_equal(apart(look(&scene, guard).cell, post), 3);
    // To guard a friend is to stay with it, also when it walks.
    order(&scene, guard, (fm_command){.order = FM_ORDER_GUARD, .target = ward, .radius = 4});
    move_to(&scene, ward, 60, 60, false);
    run(&scene, 80);
    assert_true(apart(look(&scene, guard).cell, look(&scene, ward).cell) <= 4);
    assert_int_equal(ending(&scene, area).reason, FM_END_REPLACED);
    assert_int_equal(give(&scene, (fm_command){.order = FM_ORDER_GUARD,
                                               .target = other,
                                               .agents = &guard,
                                               .agent_count = 1})
                         .status,
                     FM_ERR_NO_TARGET);
    fm_world_destroy(scene.world);
}

// ---- explore ------------------------------------------------------------------------------------

static struct scene make_fog(fm_random *random, fm_generator generator, uint32_t side,
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
    struct scene scene = {.budget = 50 + fm_random_below(random, 5000)};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    return scene;
}

static fm_cell free_cell(const struct scene *scene, fm_random *random)
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

// Every cell that can be reached from `from` is known to team 1, and so are its neighbours.
static void check_explored(const struct scene *scene, fm_cell from)
{
    const fm_view *truth = fm_world_view(scene->world, FM_ALL_TEAMS);
    fm_wave wave = {0};
    assert_int_equal(fm_wave_begin(&wave, truth, from, &fm_memory_libc), FM_OK);
    for (fm_cell cell = fm_wave_take(&wave); cell != FM_CELL_NONE; cell = fm_wave_take(&wave)) {
        assert_int_not_equal(fm_world_look_up(scene->world, 1, cell).terrain, FM_TERRAIN_UNKNOWN);
        fm_wave_spread(&wave, cell, &fm_memory_libc);
    }
    fm_wave_fini(&wave, &fm_memory_libc);
}

static void explores_all_that_can_be_reached(void **state)
{
    (void)state;
    static const fm_generator generators[] = {FM_GENERATOR_MAZE, FM_GENERATOR_ROOMS,
                                              FM_GENERATOR_RANDOM};
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 24; i++) {
        struct scene scene =
            make_fog(&random, generators[i % 3], 17 + 2 * fm_random_below(&random, 20), false);
        fm_cell start = free_cell(&scene, &random);
        uint32_t count = 1 + fm_random_below(&random, 4);
        for (uint32_t j = 0; j < count; j++) {
            fm_agent_id agent = spawn(&scene, 1, fm_cell_x(start), fm_cell_y(start));
            order(&scene, agent, (fm_command){.order = FM_ORDER_EXPLORE});
        }
        for (uint32_t tick = 0; tick < 20000 && scene.ended_count < count; tick++) {
            run(&scene, 1);
        }
        assert_int_equal(scene.ended_count, count);
        for (uint32_t j = 0; j < count; j++) {
            assert_int_equal(scene.ended[j].reason, FM_END_EXPLORED);
        }
        check_explored(&scene, start);
        fm_world_destroy(scene.world);
    }
}

// From the middle of an open map four explorers go four ways, and are done much sooner than one.
static void explorers_share_the_rim(void **state)
{
    (void)state;
    uint32_t ticks[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        struct scene scene = make_scene(NULL, 64, 64, false);
        fm_agent_id agents[4];
        uint32_t count = i == 0 ? 1 : 4;
        for (uint32_t j = 0; j < count; j++) {
            agents[j] = spawn(&scene, 1, 32, 32);
            order(&scene, agents[j], (fm_command){.order = FM_ORDER_EXPLORE});
        }
        run(&scene, 1);
        for (uint32_t j = 0; j < count; j++) {
            assert_int_equal(look(&scene, agents[j]).moves, 1); // in the first tick
            for (uint32_t k = 0; k < j; k++) {
                assert_true(apart(look(&scene, agents[j]).goal, look(&scene, agents[k]).goal) >
                            FM_CLAIM_SIDE);
            }
        }
        while (scene.ended_count < count && ticks[i] < 5000) {
            run(&scene, 1);
            ticks[i] += 1;
        }
        assert_int_equal(scene.ended_count, count);
        fm_world_destroy(scene.world);
    }
    assert_true(ticks[1] * 2 < ticks[0]);
}

// ---- flee ---------------------------------------------------------------------------------------

static void flees_until_it_is_safe(void **state)
{
    (void)state;
    struct scene scene = make_scene(NULL, 64, 64, true);
    fm_agent_id agent = spawn(&scene, 1, 30, 30), hunter = spawn(&scene, 2, 34, 30);
    (void)hunter;
    uint64_t id = order(&scene, agent, (fm_command){.order = FM_ORDER_FLEE, .radius = 9});
    uint32_t before = 4;
    for (uint32_t i = 0; i < 20 && scene.ended_count == 0; i++) {
        run(&scene, 1);
        uint32_t now = apart(look(&scene, agent).cell, fm_cell_at(34, 30));
        assert_true(now >= before); // away from the first step on
        before = now;
    }
    // Sight ends at 5 cells: what is not seen is not fled from.
    assert_int_equal(ending(&scene, id).reason, FM_END_ARRIVED);
    assert_true(before >= 6);
    fm_cell fire = fm_cell_at(25, 30);
    id = order(&scene, agent,
               (fm_command){.order = FM_ORDER_FLEE, .radius = 9, .cells = &fire, .cell_count = 1});
    run(&scene, 20);
    assert_int_equal(ending(&scene, id).reason, FM_END_ARRIVED);
    assert_true(apart(look(&scene, agent).cell, fire) >= 7);
    fm_world_destroy(scene.world);
}

static void cornered_ones_do_as_told(void **state)
{
    (void)state;
    static const char *const rows[] = {"########", "#......#", "########"};
    for (uint32_t rule = 0; rule < 3; rule++) {
        struct scene scene = make_scene(rows, 8, 3, true);
        fm_agent_id agent = spawn(&scene, 1, 3, 1), hunter = spawn(&scene, 2, 6, 1);
        uint64_t id =
            order(&scene, agent,
                  (fm_command){.order = FM_ORDER_FLEE, .on_unreachable = (fm_on_unreachable)rule});
        run(&scene, 12);
        assert_int_equal(look(&scene, agent).cell, fm_cell_at(1, 1));
        if (rule == FM_UNREACHABLE_WAIT) {
            assert_int_equal(scene.ended_count, 0);
            assert_int_equal(look(&scene, agent).state, FM_AGENT_HOLDING);
            remove_agent(&scene, hunter);
            run(&scene, 10);
            assert_int_equal(ending(&scene, id).reason, FM_END_ARRIVED);
        } else {
            assert_int_equal(ending(&scene, id).reason,
                             rule == FM_UNREACHABLE_FAIL ? FM_END_UNREACHABLE : FM_END_NEAREST);
        }
        fm_world_destroy(scene.world);
    }
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
        struct scene scene = {.budget = BUDGET};
        assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
        assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
        fm_command_result result = {0};
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        fm_agent_id walker = spawn(&scene, 1, 1, 1), other = spawn(&scene, 1, 3, 1);
        if (holds) {
            order(&scene, other, (fm_command){.order = FM_ORDER_HOLD});
        }
        move_to(&scene, walker, 7, 1, false);
        run(&scene, 40);
        assert_int_equal(look(&scene, walker).cell == fm_cell_at(7, 1), !holds);
        if (holds) {
            assert_int_equal(look(&scene, other).cell, fm_cell_at(3, 1));
        }
        fm_world_destroy(scene.world);
    }
}

// With a few expansions for each, an agent that is sent somewhere sets out in the next tick.
static void all_kinds_move_in_the_next_tick(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < FM_ORDER_KIND_COUNT; kind++) {
        struct scene scene = make_scene(NULL, 200, 200, false);
        scene.budget = 1000; // for all of them
        fm_agent_id friend = spawn(&scene, 1, 20, 20), enemy = spawn(&scene, 2, 102, 102);
        fm_agent_id agents[40];
        for (uint32_t i = 0; i < 40; i++) {
            agents[i] = spawn(&scene, 1, 100 + i % 3, 100);
        }
        run(&scene, 1);
        (void)enemy;
        fm_cell far = fm_cell_at(180, 10);
        bool targets = kind == FM_ORDER_FOLLOW || kind == FM_ORDER_GUARD;
        bool cells = kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL;
        fm_command_result result =
            give(&scene, (fm_command){.order = (fm_order_kind)kind,
                                      .agents = agents,
                                      .agent_count = 40,
                                      .cells = cells ? &far : NULL,
                                      .cell_count = cells,
                                      .target = targets ? friend : (fm_agent_id){0}});
        assert_int_equal(result.status, FM_OK);
        run(&scene, 1);
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
        return true;
    case FM_END_ARRIVED:
    case FM_END_NEAREST:
        return kind == FM_ORDER_MOVE || kind == FM_ORDER_FLEE;
    case FM_END_UNREACHABLE:
        return kind != FM_ORDER_HOLD && kind != FM_ORDER_EXPLORE;
    case FM_END_TARGET_LOST:
        return kind == FM_ORDER_FOLLOW;
    case FM_END_TARGET_DIED:
        return kind == FM_ORDER_FOLLOW || kind == FM_ORDER_GUARD;
    case FM_END_EXPLORED:
        return kind == FM_ORDER_EXPLORE;
    case FM_END_EXHAUSTED:
    case FM_END_COUNT:
        break;
    }
    return false; // there is memory enough
}

#define ACCOUNT_MAX 20000u
#define UNITS_MAX   200u

// What has become of every order of a run.
struct account {
    fm_order_kind kind[ACCOUNT_MAX];
    uint8_t ended[ACCOUNT_MAX];
    uint64_t given;
};

static void settle(const struct scene *scene, struct account *account)
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

// One random order for some of the units; notes what was given.
static void order_at_random(struct scene *scene, struct account *account, fm_random *random,
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
    bool target =
        kind == FM_ORDER_FOLLOW || (kind == FM_ORDER_GUARD && fm_random_below(random, 2) == 0);
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
        .spread = kind == FM_ORDER_MOVE && fm_random_below(random, 2) == 0,
        .agents_a_tick = fm_random_below(random, 4) == 0 ? 1 + fm_random_below(random, 3) : 0,
    };
    command.target = target ? units[fm_random_below(random, unit_count)] : (fm_agent_id){0};
    fm_command_result result = give(scene, command);
    if (result.status != FM_OK || kind == FM_ORDER_STOP) {
        return; // the dead, the unseen, the full
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(account->given + 1 < ACCOUNT_MAX);
        account->given += 1;
        account->kind[account->given] = kind;
    }
    assert_int_equal(result.first_order + count - 1, account->given);
}

static void every_order_ends_exactly_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static struct account account;
    for (uint32_t i = 0; i < 12; i++) {
        memset(&account, 0, sizeof account);
        struct scene scene = make_fog(&random, i % 2 ? FM_GENERATOR_RANDOM : FM_GENERATOR_ROOMS,
                                      24 + fm_random_below(&random, 40), (i / 2) % 2 == 1);
        fm_agent_id units[UNITS_MAX];
        uint32_t unit_count = 0;
        for (uint32_t tick = 0; tick < 250; tick++) {
            if (tick < 24 || (fm_random_below(&random, 10) == 0 && unit_count < UNITS_MAX)) {
                fm_cell cell = free_cell(&scene, &random);
                fm_command_result result = {.spawned = &units[unit_count]};
                fm_command spawn_one = {.kind = FM_COMMAND_SPAWN,
                                        .team = 1 + unit_count % 2,
                                        .cells = &cell,
                                        .cell_count = 1,
                                        .speed = fm_random_below(&random, 2) * 7000};
                fm_world_apply(scene.world, &spawn_one, &result);
                unit_count += result.status == FM_OK; // it may be occupied
            }
            for (uint32_t n = fm_random_below(&random, 3); n > 0 && unit_count > 2; n--) {
                order_at_random(&scene, &account, &random, units, unit_count);
            }
            if (fm_random_below(&random, 12) == 0 && unit_count > 0) {
                fm_command_result result = {0};
                fm_world_apply(scene.world,
                               &(fm_command){.kind = FM_COMMAND_REMOVE,
                                             .agents = &units[fm_random_below(&random, unit_count)],
                                             .agent_count = 1},
                               &result);
            }
            fm_cell edited = free_cell(&scene, &random);
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
        // The end of the world: all agents that live die, and every account is closed.
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
        cmocka_unit_test(an_order_to_many_reaches_some_in_each_tick),
        cmocka_unit_test(settling_carries_an_order_to_its_end),
        cmocka_unit_test(patrols_go_there_and_back_or_round),
        cmocka_unit_test(hold_stays),
        cmocka_unit_test(follows_a_friend_until_it_dies),
        cmocka_unit_test(loses_an_enemy_in_the_fog),
        cmocka_unit_test(a_lost_enemy_stays_lost),
        cmocka_unit_test(an_enemy_is_lost_behind_a_wall),
        cmocka_unit_test(sees_an_enemy_die_beside_it),
        cmocka_unit_test(guards_come_back_to_their_post),
        cmocka_unit_test(explores_all_that_can_be_reached),
        cmocka_unit_test(explorers_share_the_rim),
        cmocka_unit_test(flees_until_it_is_safe),
        cmocka_unit_test(cornered_ones_do_as_told),
        cmocka_unit_test(friends_do_not_push_one_who_holds),
        cmocka_unit_test(all_kinds_move_in_the_next_tick),
        cmocka_unit_test(every_order_ends_exactly_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
