// test_session_growth.c: what one of many clients costs does not grow with how many there are.
//
// Goal    when thousands of subscribers close at once, come back, or are due a delta, each costs
// the
//         same as if it were alone. Where each went through all others, 8,000 that closed held up
//         the event loop for 0.13 s, 65,536 would have for half a minute.
// Method  the whole server in one thread (tests/fuzz/live.h), with 200 and 800 clients; work is
//         counted.

#include "server/base/log.h"
#include "server/sessions/hub.h"
#include "server/sessions/session.h"
#include "server/streams/scenes.h"
#include "server/streams/stream.h"
#include "tests/server/methods/growth_scene.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define FEW    200u
#define MORE   800u
#define WORLDS 240u
#define ASKERS 16u // clients that ask each world
#define GROWTH_MOST                                                                                \
    6.0               // four times as many cost 4 times as much; the list of all is moved together
#define FIND_MOST 40u // work to find one of MORE views; in a list it would be 400
#define PASS_MOST 40u // work for a world in which nothing happens, in a turn of the conductor
#define SAME_MOST 1.5 // one of more costs the same as one of few

static void on_yield(fm_hub *hub)
{
    (void)hub;
}

static void begin(void)
{
    make_config();
    scene.config.sessions_max = FM_LIVE_CLIENTS_MAX;
    world_with_a_team();
    spawn(1);
    step();
}

static void bring(uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        come(i);
    }
    all_are_answered(FM_METHOD_HELLO);
}

static void bring_subscribers(uint32_t count)
{
    bring(count);
    for (uint32_t i = 1; i < count; i++) {
        put_world();
        put_uint(FM_FIELD_TEAM, TEAM_MEMBER);
        ask_as(i, FM_METHOD_SUBSCRIBE);
    }
    all_are_answered(FM_METHOD_SUBSCRIBE);
}

static void close_all(uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        fm_live_hang_up(i);
    }
    assert_int_equal(fm_live_hub()->session_count, 1);
}

// ---- what is counted ----------------------------------------------------------------------------

static void subscribers(uint32_t count)
{
    begin();
    bring_subscribers(count);
}

// The turn of the loop is over: none is served.
static void due_subscribers(uint32_t count)
{
    subscribers(count);
    order(1);
    fm_live_hub()->on_yield = on_yield;
    fm_live_hub()->due_taken = 1u << 20;
    step();
    assert_non_null(fm_live_hub()->due_first);
}

static void those_in_the_middle_catch_up(uint32_t count)
{
    for (uint32_t i = count / 4; i < count / 2; i++) {
        fm_stream_catch_up(fm_live_hub()->sessions[i]);
    }
}

static void all_are_found_by_alias(uint32_t count)
{
    fm_hub *hub = fm_live_hub();
    assert_int_equal(hub->session_count, count);
    for (uint32_t i = 0; i < count; i++) {
        fm_session *session = hub->sessions[i];
        assert_ptr_equal(fm_hub_find_session_by_alias(hub, session->alias), session);
        assert_ptr_equal(fm_hub_find_session(hub, session->number), session);
    }
}

static void views(uint32_t count)
{
    begin();
    for (uint32_t i = 0; i < count; i += FEW) {
        add_teams(FEW);
    }
    for (uint32_t i = 0; i < count; i++) {
        put_world();
        put_uint(FM_FIELD_TEAM, 2 + i);
        ask(FM_METHOD_SUBSCRIBE);
    }
}

static void all_are_found_by_team(uint32_t count)
{
    const fm_host *host = fm_hub_find_host(fm_live_hub(), scene.first_world);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(fm_scenes_find(host, 2 + i)->team, 2 + i);
    }
    assert_null(fm_scenes_find(host, 2 + count));
}

static uint64_t count_work(void (*prepare)(uint32_t), void (*act)(uint32_t), uint32_t count)
{
    prepare(count);
    uint64_t before = counted_work();
    act(count);
    uint64_t spent = counted_work() - before;
    fm_live_end();
    return spent;
}

static void grows_with_them(void (*prepare)(uint32_t), void (*act)(uint32_t))
{
    uint64_t few = count_work(prepare, act, FEW), more = count_work(prepare, act, MORE);
    print_message("%llu, %llu\n", (unsigned long long)few, (unsigned long long)more);
    assert_true((double)more <= GROWTH_MOST * (double)few);
    counted_work_or_skip();
}

// ---- cases --------------------------------------------------------------------------------------

static void subscribers_close_at_once(void **state)
{
    (void)state;
    grows_with_them(subscribers, close_all);
}

static void subscribers_close_while_they_are_due(void **state)
{
    (void)state;
    grows_with_them(due_subscribers, close_all);
}

static void subscribers_catch_up(void **state)
{
    (void)state;
    grows_with_them(due_subscribers, those_in_the_middle_catch_up);
}

static void clients_come_back(void **state)
{
    (void)state;
    grows_with_them(subscribers, all_are_found_by_alias);
}

// Of one session, which is told of each delta that it was sent.
static void subscriptions(uint32_t count)
{
    begin();
    for (uint32_t i = 0; i < count; i += FEW) {
        for (uint32_t k = 0; k < FEW; k++) {
            put_world();
            put_uint(FM_FIELD_TEAM, TEAM_MEMBER);
            ask_as(ADMIN, FM_METHOD_SUBSCRIBE);
        }
        all_are_answered(FM_METHOD_SUBSCRIBE);
    }
}

static void each_is_read(uint32_t count)
{
    fm_hub *hub = fm_live_hub();
    assert_int_equal(hub->sessions[0]->subscription_count, count);
    for (uint32_t i = 0; i < count; i++) {
        hub->session_events->drained(hub->sessions[0]);
    }
}

static void one_client_reads(void **state)
{
    (void)state;
    grows_with_them(subscriptions, each_is_read);
}

static void views_are_found(void **state)
{
    (void)state;
    uint64_t spent = count_work(views, all_are_found_by_team, MORE);
    print_message("%llu\n", (unsigned long long)spent);
    assert_true(spent <= MORE * FIND_MOST);
    counted_work_or_skip();
}

static void ping_often(void)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    for (uint32_t i = 0; i < FEW; i++) {
        fm_pack_request(&packer, fm_live_ask(ADMIN, FM_METHOD_PING), FM_METHOD_PING);
        msgpack_pack_map(&packer, 0);
    }
    fm_live_send(ADMIN, buffer.data, buffer.size, SIZE_MAX);
    msgpack_sbuffer_destroy(&buffer);
}

// One client sends more than is done for it in a turn; the others are silent.
static uint64_t work_of_turns(uint32_t count)
{
    begin();
    bring(count);
    fm_hub *hub = fm_live_hub();
    hub->on_yield = on_yield;
    ping_often();
    uint32_t turns = 0;
    uint64_t before = counted_work();
    for (; hub->yield_count > 0; turns++) {
        assert_ptr_equal(hub->yield_first, hub->sessions[0]);
        fm_sessions_take_turns(hub);
    }
    uint64_t spent = counted_work() - before;
    assert_true(turns > 0);
    fm_live_end();
    return spent;
}

static void turns_of_one(void **state)
{
    (void)state;
    uint64_t few = work_of_turns(FEW), more = work_of_turns(MORE);
    print_message("%llu, %llu\n", (unsigned long long)few, (unsigned long long)more);
    assert_true((double)more <= SAME_MOST * (double)few);
    counted_work_or_skip();
}

static void make_worlds(uint32_t count)
{
    make_config();
    start();
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        make_named(name);
        all_are_answered(FM_METHOD_WORLD_CREATE);
    }
}

// Each world is asked several things at once, so that the time that jobs get between ticks is over.
static void busy_worlds(uint32_t count)
{
    make_worlds(count);
    for (uint32_t client = 1; client <= ASKERS; client++) {
        come(client);
    }
    all_are_answered(FM_METHOD_HELLO);
    for (uint32_t i = 0; i < count * ASKERS; i++) {
        put_uint(FM_FIELD_WORLD, fm_live_hub()->hosts[i / ASKERS]->number);
        ask_as(1 + i % ASKERS, FM_METHOD_WORLD_PAUSE);
    }
}

static void all_are_done(uint32_t count)
{
    (void)count;
    all_are_answered(FM_METHOD_WORLD_PAUSE);
}

static void worlds_are_asked(void **state)
{
    (void)state;
    uint64_t few = count_work(busy_worlds, all_are_done, WORLDS / 4);
    uint64_t more = count_work(busy_worlds, all_are_done, WORLDS);
    print_message("%llu, %llu\n", (unsigned long long)few, (unsigned long long)more);
    assert_true((double)more <= GROWTH_MOST * (double)few);
    counted_work_or_skip();
}

static void idle_worlds(uint32_t count)
{
    make_worlds(count);
    scene.first_world = fm_live_hub()->hosts[0]->number;
}

static void one_is_asked(uint32_t count)
{
    (void)count;
    for (uint32_t i = 0; i < FEW; i++) {
        put_world();
        ask(FM_METHOD_WORLD_PAUSE); // three turns, the last with nothing to do
    }
}

// A turn of the conductor passes over the worlds in which nothing happens once.
static void one_world_of_many_is_asked(void **state)
{
    (void)state;
    uint64_t few = count_work(idle_worlds, one_is_asked, WORLDS / 4);
    uint64_t more = count_work(idle_worlds, one_is_asked, WORLDS);
    uint64_t for_each = (more - few) / (FEW * (WORLDS - WORLDS / 4));
    print_message("%llu, %llu, %llu for each world and turn\n", (unsigned long long)few,
                  (unsigned long long)more, (unsigned long long)for_each);
    assert_true(for_each <= PASS_MOST);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subscribers_close_at_once),
        cmocka_unit_test(subscribers_close_while_they_are_due),
        cmocka_unit_test(subscribers_catch_up),
        cmocka_unit_test(clients_come_back),
        cmocka_unit_test(one_client_reads),
        cmocka_unit_test(views_are_found),
        cmocka_unit_test(turns_of_one),
        cmocka_unit_test(worlds_are_asked),
        cmocka_unit_test(one_world_of_many_is_asked),
    };
    return cmocka_run_group_tests(tests, set_up_scene, NULL);
}
