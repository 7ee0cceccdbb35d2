// tests/server/methods/growth_orders.c: see growth_orders.h. Most deeds happen where two teams have
// UNITS * scale units each on a few cells, all of them in sight of each other: there an order that
// goes through the units around for each unit is quadratic.

#include "tests/server/methods/growth_orders.h"

#include "tests/support/support.h"

#define HEAP_CELLS 4u // that a crowd stands on
#define HEAP_AT    60u
#define QUEUED     3u // orders that wait

static uint32_t crowd(void)
{
    return UNITS * scene.scale;
}

// ---- where ------------------------------------------------------------------------------------

static void spawn_at(uint32_t team, uint32_t count, uint32_t x, uint32_t y)
{
    put_world();
    put_uint(FM_FIELD_TEAM, team);
    put_field(FM_FIELD_CELLS);
    msgpack_pack_array(asking_packer(), 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(asking_packer(), x + i % HEAP_CELLS);
        msgpack_pack_uint64(asking_packer(), y);
    }
    ask(FM_METHOD_AGENT_SPAWN);
}

// Team 1 has the ids 1..crowd() and, where the enemy to follow is seen from, crowd() + 1; that is
// the first one of team 2.
static void crowds(void)
{
    world();
    add_teams(2);
    spawn_at(1, crowd(), HEAP_AT, HEAP_AT);
    spawn_at(1, 1, HEAP_AT + 9, HEAP_AT + 9);
    spawn_at(2, 1, HEAP_AT + 8, HEAP_AT + 8);
    spawn_at(2, crowd(), HEAP_AT, HEAP_AT + 1);
    step();
}

// ---- orders -----------------------------------------------------------------------------------

static void begin_order(const char *kind)
{
    put_world();
    put_agents(crowd());
    put_text(FM_FIELD_KIND, kind);
}

static void finish_order(void)
{
    ask(FM_METHOD_AGENT_ORDER);
    step_ticks(2);
}

static void put_goal(void)
{
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){SIDE - 8, SIDE - 8}, 2);
}

static void follow_an_enemy(void)
{
    begin_order("follow");
    put_uint(FM_FIELD_TARGET, crowd() + 2);
    finish_order();
}

static void follow_a_friend(void)
{
    begin_order("follow");
    put_uint(FM_FIELD_TARGET, crowd() + 1);
    finish_order();
}

static void chase_an_enemy(void)
{
    begin_order("follow");
    put_uint(FM_FIELD_TARGET, crowd() + 2);
    put_true(FM_FIELD_ONCE);
    finish_order();
}

static void guard_a_friend(void)
{
    begin_order("guard");
    put_uint(FM_FIELD_TARGET, crowd() + 1);
    finish_order();
}

static void keep_away_from_all(void)
{
    begin_order("keep_distance");
    put_uint(FM_FIELD_RADIUS, 64);
    finish_order();
}

static void keep_away_from_one(void)
{
    begin_order("keep_distance");
    put_uint(FM_FIELD_TARGET, crowd() + 2);
    finish_order();
}

static void flee(void)
{
    begin_order("flee");
    put_uint(FM_FIELD_RADIUS, 64);
    finish_order();
}

static void patrol(void)
{
    begin_order("patrol");
    put_cells(FM_FIELD_GOALS, 0, 8);
    finish_order();
}

static void explore(void)
{
    begin_order("explore");
    finish_order();
}

static void scatter(void)
{
    begin_order("scatter");
    finish_order();
}

static void attack_move(void)
{
    begin_order("move");
    put_goal();
    put_uint(FM_FIELD_ALERT, 64);
    finish_order();
}

static void move_spread(void)
{
    begin_order("move");
    put_goal();
    put_true(FM_FIELD_SPREAD);
    finish_order();
}

static void move_in_a_box(void)
{
    begin_order("move");
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){SIDE / 2, SIDE / 2}, 2); // the box fits the map
    put_text(FM_FIELD_FORMATION, "box");
    put_true(FM_FIELD_COMMON_SPEED);
    finish_order();
}

static void move_each_to_its_own(void)
{
    begin_order("move");
    put_cells(FM_FIELD_GOALS, 0, crowd());
    put_uint(FM_FIELD_DEADLINE, 1);
    finish_order();
}

// ---- queues -----------------------------------------------------------------------------------

// Orders count from 1: the first of each unit, then the second ...
static void queues(void)
{
    crowds();
    for (uint32_t i = 0; i <= QUEUED; i++) {
        begin_order("move");
        put_goal();
        put_true(FM_FIELD_QUEUE);
        ask(FM_METHOD_AGENT_ORDER);
    }
}

static void put_orders(fm_field field, uint32_t turn)
{
    put_field(field);
    msgpack_pack_array(asking_packer(), crowd());
    for (uint32_t i = 1; i <= crowd(); i++) {
        msgpack_pack_uint64(asking_packer(), turn * crowd() + i);
    }
}

static void put_in_at(void)
{
    begin_order("move");
    put_goal();
    put_uint(FM_FIELD_AT, 0);
    finish_order();
}

static void put_in_before(void)
{
    begin_order("move");
    put_goal();
    put_orders(FM_FIELD_BEFORE, 2);
    finish_order();
}

static void replace(void)
{
    begin_order("move");
    put_goal();
    put_orders(FM_FIELD_REPLACES, 1);
    finish_order();
}

static void take_back(void)
{
    put_world();
    put_agents(crowd());
    put_orders(FM_FIELD_ORDERS, QUEUED);
    ask(FM_METHOD_AGENT_CANCEL);
    step();
}

// ---- living units -----------------------------------------------------------------------------

static void watched_crowds(void)
{
    crowds();
    for (uint32_t team = 1; team <= 2; team++) {
        put_world();
        put_uint(FM_FIELD_TEAM, team);
        put_true(FM_FIELD_SIGHT);
        ask(FM_METHOD_SUBSCRIBE);
    }
    begin_order("move");
    put_goal();
    ask(FM_METHOD_AGENT_ORDER);
    step();
}

static void begin_set(void)
{
    put_world();
    put_agents(crowd());
}

static void finish_set(void)
{
    ask(FM_METHOD_AGENT_SET);
    step();
}

static void tag(void)
{
    begin_set();
    put_bytes(FM_FIELD_TAG, "tag", 3);
    put_true(FM_FIELD_TAG_SHOWN);
    finish_set();
}

static void see_farther(void)
{
    begin_set();
    put_uint(FM_FIELD_SIGHT, 9);
    finish_set();
}

static void change_sides(void)
{
    begin_set();
    put_uint(FM_FIELD_TEAM, 2);
    finish_set();
}

static void slow_down(void)
{
    begin_set();
    put_field(FM_FIELD_SPEED);
    msgpack_pack_double(asking_packer(), 0.5);
    finish_set();
}

// One carrier, which has room for 64.
static void board_one(void)
{
    put_world();
    put_uint(FM_FIELD_CARRIER, crowd());
    put_agents(15 * scene.scale);
    put_uint(FM_FIELD_RADIUS, 8);
    ask(FM_METHOD_AGENT_BOARD);
    step();
}

static void aboard(void)
{
    watched_crowds();
    board_one();
}

static void come_out(void)
{
    put_world();
    put_uint(FM_FIELD_CARRIER, crowd());
    put_uint(FM_FIELD_RADIUS, 8);
    ask(FM_METHOD_AGENT_UNBOARD);
    step();
}

static void die_aboard(void)
{
    put_world();
    put_numbers(FM_FIELD_AGENTS, (const uint64_t[]){crowd()}, 1);
    ask(FM_METHOD_AGENT_REMOVE);
    step();
}

const struct deed deeds_of_orders[] = {
    {FM_METHOD_AGENT_ORDER, "follow enemy", crowds, follow_an_enemy},
    {FM_METHOD_AGENT_ORDER, "follow friend", crowds, follow_a_friend},
    {FM_METHOD_AGENT_ORDER, "chase", crowds, chase_an_enemy},
    {FM_METHOD_AGENT_ORDER, "guard", crowds, guard_a_friend},
    {FM_METHOD_AGENT_ORDER, "keep_distance", crowds, keep_away_from_all},
    {FM_METHOD_AGENT_ORDER, "keep, of one", crowds, keep_away_from_one},
    {FM_METHOD_AGENT_ORDER, "flee", crowds, flee},
    {FM_METHOD_AGENT_ORDER, "patrol", crowds, patrol},
    {FM_METHOD_AGENT_ORDER, "explore", crowds, explore},
    {FM_METHOD_AGENT_ORDER, "scatter", crowds, scatter},
    {FM_METHOD_AGENT_ORDER, "alert", crowds, attack_move},
    {FM_METHOD_AGENT_ORDER, "spread", crowds, move_spread},
    {FM_METHOD_AGENT_ORDER, "box", crowds, move_in_a_box},
    {FM_METHOD_AGENT_ORDER, "goals", crowds, move_each_to_its_own},
    {FM_METHOD_AGENT_ORDER, "at", queues, put_in_at},
    {FM_METHOD_AGENT_ORDER, "before", queues, put_in_before},
    {FM_METHOD_AGENT_ORDER, "replaces", queues, replace},
    {FM_METHOD_AGENT_CANCEL, "queued", queues, take_back},
    {FM_METHOD_AGENT_SET, "tags", watched_crowds, tag},
    {FM_METHOD_AGENT_SET, "sights", watched_crowds, see_farther},
    {FM_METHOD_AGENT_SET, "teams", watched_crowds, change_sides},
    {FM_METHOD_AGENT_SET, "speeds", watched_crowds, slow_down},
    {FM_METHOD_AGENT_BOARD, "passengers", watched_crowds, board_one},
    {FM_METHOD_AGENT_UNBOARD, "passengers", aboard, come_out},
    {FM_METHOD_AGENT_REMOVE, "passengers", aboard, die_aboard},
};

const uint32_t deeds_of_orders_count = FM_COUNT_OF(deeds_of_orders);
