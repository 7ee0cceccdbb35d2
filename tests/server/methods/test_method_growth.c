// test_method_growth.c: what a request costs the server grows with what it names, and not faster.
//
// Every method is asked with 1, 2 and 4 times as many agents, cells, teams, worlds, subscriptions,
// sessions or bytes, whichever it depends on, until all that follows from it is done: the tick
// after it and its deltas included. The whole server runs in one thread (tests/fuzz/live.h). What
// takes quadratic work stops all worlds for seconds, long before a limit refuses it.

#include "tests/server/methods/asking.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <unistd.h>

#define SIDE        128u
#define UNITS       300u // at scale 1
#define MANY        24u  // of what is costlier, at scale 1
#define SCALE_MOST  4u
#define PIECE       4096u // of an upload
#define TICKS_EACH  10u   // of a journal, at scale 1
#define CLIENTS     2u    // at scale 1
#define TEAM_MEMBER 1u

// Four times as many may cost 4 times as much, or a little more where something is sorted.
#define GROWTH_MOST 5.0

static const char token[] = "aaaaaaaaaaaaaaaa";
static const char grant[] = "admin aaaaaaaaaaaaaaaa\n";

static struct scene {
    uint32_t scale;
    uint64_t first_world;
    char map[SIDE * (SIDE + 1) + 64];
    size_t map_size;
    fm_config config;
} scene;

// `count` cells, one after the other from `first`, which is counted row by row.
static void put_cells(fm_field field, uint32_t first, uint32_t count)
{
    put_field(field);
    msgpack_pack_array(asking_packer(), 2 * count);
    for (uint32_t i = first; i < first + count; i++) {
        msgpack_pack_uint64(asking_packer(), i % SIDE);
        msgpack_pack_uint64(asking_packer(), i / SIDE);
    }
}

static void put_agents(uint32_t count)
{
    put_field(FM_FIELD_AGENTS);
    msgpack_pack_array(asking_packer(), count);
    for (uint32_t i = 1; i <= count; i++) {
        msgpack_pack_uint64(asking_packer(), i); // as a world that lost nobody numbers them
    }
}

static void put_world(void)
{
    put_uint(FM_FIELD_WORLD, scene.first_world);
}

// ---- a server -----------------------------------------------------------------------------------

static void come(uint32_t client)
{
    fm_live_connect(client);
    put_uint(FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    put_text(FM_FIELD_TOKEN, token);
    ask_as(client, FM_METHOD_HELLO);
}

static void start(void)
{
    fm_live_begin(&scene.config, &scene.config);
    come(ADMIN);
    all_are_answered(FM_METHOD_HELLO);
}

static void make_named(const char *name)
{
    put_text(FM_FIELD_NAME, name);
    put_bytes(FM_FIELD_MAP, scene.map, scene.map_size);
    put_true(FM_FIELD_OMNISCIENT);
    put_true(FM_FIELD_PAUSED);
    ask_as(ADMIN, FM_METHOD_WORLD_CREATE);
}

static void world(void)
{
    start();
    make_named("arena");
    all_are_answered(FM_METHOD_WORLD_CREATE);
    scene.first_world = fm_live_known(FM_KNOWN_WORLD, 0);
}

static void add_teams(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_world();
        ask_as(ADMIN, FM_METHOD_TEAM_CREATE);
    }
    all_are_answered(FM_METHOD_TEAM_CREATE);
}

static void world_with_a_team(void)
{
    world();
    add_teams(1);
}

static void spawn(uint32_t count)
{
    put_world();
    put_uint(FM_FIELD_TEAM, TEAM_MEMBER);
    put_cells(FM_FIELD_CELLS, SIDE, count);
    ask(FM_METHOD_AGENT_SPAWN);
}

static void step_ticks(uint32_t ticks)
{
    put_world();
    put_uint(FM_FIELD_TICKS, ticks);
    ask(FM_METHOD_WORLD_STEP);
}

static void step(void)
{
    step_ticks(1);
}

static void order(uint32_t count)
{
    put_world();
    put_agents(count);
    put_text(FM_FIELD_KIND, "move");
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){SIDE / 2, SIDE - 8}, 2);
    ask(FM_METHOD_AGENT_ORDER);
}

static void stand(uint32_t count)
{
    world_with_a_team();
    spawn(count);
    step();
}

static void march(uint32_t count)
{
    stand(count);
    order(count);
    step();
}

static void units(void)
{
    stand(UNITS * scene.scale);
}

static void marching_units(void)
{
    march(UNITS * scene.scale);
}

static void alert_units(void)
{
    stand(UNITS * scene.scale);
    put_world();
    put_agents(UNITS * scene.scale);
    put_text(FM_FIELD_KIND, "hold");
    put_uint(FM_FIELD_ALERT, 5);
    ask(FM_METHOD_AGENT_ORDER);
    step();
}

static void some_marching_units(void)
{
    march(UNITS);
}

// ---- sessions, tokens, uploads ------------------------------------------------------------------

static void nobody(void)
{
    fm_live_begin(&scene.config, &scene.config);
}

static void say_hello(void)
{
    for (uint32_t i = 0; i < CLIENTS * scene.scale; i++) {
        come(i);
    }
    all_are_answered(FM_METHOD_HELLO);
}

static void ping(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        ask_as(ADMIN, FM_METHOD_PING);
    }
    all_are_answered(FM_METHOD_PING);
}

static void create_tokens(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        put_text(FM_FIELD_ROLE, "observer");
        ask_as(ADMIN, FM_METHOD_TOKEN_CREATE);
    }
    all_are_answered(FM_METHOD_TOKEN_CREATE);
}

static void tokens(void)
{
    start();
    create_tokens();
}

static void list_tokens(void)
{
    ask(FM_METHOD_TOKEN_LIST);
}

static void revoke_tokens(void)
{
    for (uint32_t i = 1; i <= MANY; i++) {
        put_uint(FM_FIELD_NUMBER, i);
        ask_as(ADMIN, FM_METHOD_TOKEN_REVOKE);
    }
    all_are_answered(FM_METHOD_TOKEN_REVOKE);
}

static void upload(void)
{
    static const char piece[PIECE];
    uint32_t count = MANY * scene.scale;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0) {
            put_uint(FM_FIELD_TOTAL, (uint64_t)count * PIECE);
        } else {
            put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
        }
        put_uint(FM_FIELD_OFFSET, (uint64_t)i * PIECE);
        put_bytes(FM_FIELD_DATA, piece, PIECE);
        ask_as(ADMIN, FM_METHOD_MAP_UPLOAD);
        fm_live_settle();
    }
    all_are_answered(FM_METHOD_MAP_UPLOAD);
}

// ---- worlds -------------------------------------------------------------------------------------

static void create_worlds(void)
{
    for (uint32_t i = 0; i < MANY / 4 * scene.scale; i++) {
        char name[16];
        snprintf(name, sizeof name, "world%u", i);
        make_named(name);
        fm_live_settle();
    }
    all_are_answered(FM_METHOD_WORLD_CREATE);
}

static void worlds(void)
{
    start();
    create_worlds();
}

static void list_worlds(void)
{
    ask(FM_METHOD_WORLD_LIST);
}

static void ask_each_world(fm_method method)
{
    for (uint32_t i = 0; i < MANY / 4 * scene.scale; i++) {
        put_uint(FM_FIELD_WORLD, fm_live_known(FM_KNOWN_WORLD, i));
        ask_as(ADMIN, method);
    }
    all_are_answered(method);
}

static void tell_of_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_INFO);
}

static void destroy_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_DESTROY);
}

static void pause_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_PAUSE);
}

static void resume_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_RESUME);
}

static void locate_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_LOCATE);
}

static void ask_for_the_cluster(void)
{
    ask(FM_METHOD_CLUSTER_STATUS);
}

static void follow(void)
{
    put_uint(FM_FIELD_EPOCH, 0);
    ask(FM_METHOD_JOURNAL_FOLLOW);
}

static void have(void)
{
    for (uint32_t i = 1; i <= MANY * scene.scale; i++) {
        put_uint(FM_FIELD_NUMBER, i);
        ask(FM_METHOD_JOURNAL_HAVE);
    }
}

static void ask_for_the_standby(void)
{
    ask(FM_METHOD_STANDBY_STATUS);
}

static void promote(void)
{
    ask_in_vain(FM_METHOD_STANDBY_PROMOTE); // the server is none
}

static void save(void)
{
    put_world();
    ask(FM_METHOD_WORLD_SAVE);
}

static void move_worlds(void)
{
    ask_each_world(FM_METHOD_CLUSTER_MOVE);
}

static void drain(void)
{
    ask(FM_METHOD_CLUSTER_DRAIN);
}

static void saved_units(void)
{
    marching_units();
    save();
}

static uint64_t download_piece(uint64_t offset)
{
    size_t size;
    put_uint(FM_FIELD_SAVE, fm_live_known(FM_KNOWN_SAVE, 0));
    put_uint(FM_FIELD_OFFSET, offset);
    put_uint(FM_FIELD_SIZE, PIECE);
    ask(FM_METHOD_SAVE_DOWNLOAD);
    (void)fm_live_file(&size);
    return size;
}

static void download(void)
{
    uint64_t offset = 0, size;
    do {
        size = download_piece(offset);
        offset += size;
    } while (size == PIECE);
}

static void uploaded_units(void)
{
    saved_units();
    uint64_t offset = 0, size, total = fm_live_known(FM_KNOWN_TOTAL, 0);
    do {
        size = download_piece(offset);
        if (offset == 0) {
            put_uint(FM_FIELD_TOTAL, total);
        } else {
            put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
        }
        size_t piece;
        const void *bytes = fm_live_file(&piece);
        put_uint(FM_FIELD_OFFSET, offset);
        put_bytes(FM_FIELD_DATA, bytes, piece);
        ask(FM_METHOD_MAP_UPLOAD);
        offset += size;
    } while (size == PIECE);
}

static void load(void)
{
    put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
    put_text(FM_FIELD_NAME, "again");
    put_true(FM_FIELD_PAUSED);
    ask(FM_METHOD_WORLD_LOAD);
}

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

// ---- replays ------------------------------------------------------------------------------------

// The folder's journals: deletes them, or names the last one.
static const char *find_journal(bool deletes)
{
    static char name[256];
    DIR *entries = opendir(fm_fuzz_folder());
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (deletes) {
            unlinkat(dirfd(entries), entry->d_name, 0); // "." and ".." stay
        } else if (dot != NULL && strcmp(dot, ".ended") == 0) {
            snprintf(name, sizeof name, "%s", entry->d_name);
        }
    }
    closedir(entries);
    return name;
}

static void journal(void)
{
    find_journal(true);
    snprintf(scene.config.journal_dir, sizeof scene.config.journal_dir, "%s", fm_fuzz_folder());
    scene.config.journal_keep = true; // also when its world has ended
    some_marching_units();
    step_ticks(TICKS_EACH * scene.scale);
    fm_live_end();
    start();
}

static void list_journals(void)
{
    ask(FM_METHOD_REPLAY_LIST);
}

static void open_replay(void)
{
    put_text(FM_FIELD_FILE, find_journal(false));
    ask(FM_METHOD_REPLAY_OPEN);
    scene.first_world = fm_live_known(FM_KNOWN_WORLD, 0);
}

static void replay(void)
{
    journal();
    open_replay();
}

static void seek(void)
{
    put_world();
    put_uint(FM_FIELD_TICK, TICKS_EACH * scene.scale);
    ask(FM_METHOD_REPLAY_SEEK);
}

static void play(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_PLAY);
    fm_live_sleep(100 * TICKS_EACH * scene.scale);
}

static void pause_replay(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_PAUSE);
}

static void close_replay(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_CLOSE);
}

// ---- all of them --------------------------------------------------------------------------------

struct deed {
    fm_method method;
    const char *of; // what there is more of
    void (*prepare)(void);
    void (*act)(void);
};

static const struct deed deeds[] = {
    {FM_METHOD_HELLO, "sessions", nobody, say_hello},
    {FM_METHOD_PING, "requests", start, ping},
    {FM_METHOD_TOKEN_CREATE, "tokens", start, create_tokens},
    {FM_METHOD_TOKEN_LIST, "tokens", tokens, list_tokens},
    {FM_METHOD_TOKEN_REVOKE, "tokens", tokens, revoke_tokens},
    {FM_METHOD_MAP_UPLOAD, "bytes", start, upload},
    {FM_METHOD_WORLD_CREATE, "worlds", start, create_worlds},
    {FM_METHOD_WORLD_LIST, "worlds", worlds, list_worlds},
    {FM_METHOD_WORLD_INFO, "worlds", worlds, tell_of_worlds},
    {FM_METHOD_WORLD_DESTROY, "worlds", worlds, destroy_worlds},
    {FM_METHOD_WORLD_PAUSE, "worlds", worlds, pause_worlds},
    {FM_METHOD_WORLD_RESUME, "worlds", worlds, resume_worlds},
    {FM_METHOD_WORLD_LOCATE, "worlds", worlds, locate_worlds},
    {FM_METHOD_CLUSTER_STATUS, "worlds", worlds, ask_for_the_cluster},
    {FM_METHOD_CLUSTER_MOVE, "worlds", worlds, move_worlds},
    {FM_METHOD_CLUSTER_DRAIN, "worlds", worlds, drain},
    {FM_METHOD_JOURNAL_FOLLOW, "ticks", journal, follow},
    {FM_METHOD_JOURNAL_HAVE, "requests", start, have},
    {FM_METHOD_STANDBY_STATUS, "worlds", worlds, ask_for_the_standby},
    {FM_METHOD_STANDBY_PROMOTE, "worlds", worlds, promote},
    {FM_METHOD_WORLD_STEP, "agents", marching_units, step},
    {FM_METHOD_WORLD_SAVE, "agents", marching_units, save},
    {FM_METHOD_SAVE_DOWNLOAD, "agents", saved_units, download},
    {FM_METHOD_WORLD_LOAD, "agents", uploaded_units, load},
    {FM_METHOD_TEAM_CREATE, "teams", world, create_teams},
    {FM_METHOD_AGENT_SPAWN, "agents", world_with_a_team, put_down},
    {FM_METHOD_AGENT_REMOVE, "agents", marching_units, remove_units},
    {FM_METHOD_AGENT_ORDER, "agents", units, send_units},
    {FM_METHOD_AGENT_CANCEL, "agents", marching_units, cancel_orders},
    {FM_METHOD_AGENT_RESUME, "agents", alert_units, resume_units},
    {FM_METHOD_AGENT_PLANNER, "agents", marching_units, change_planners},
    {FM_METHOD_AGENT_SET, "agents", marching_units, freeze},
    {FM_METHOD_AGENT_PLACE, "agents", marching_units, place},
    {FM_METHOD_AGENT_REPORT, "agents", some_marching_units, report_units},
    {FM_METHOD_TERRAIN_SET, "cells", some_marching_units, change_cells},
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
    {FM_METHOD_REPLAY_LIST, "ticks", journal, list_journals},
    {FM_METHOD_REPLAY_OPEN, "ticks", journal, open_replay},
    {FM_METHOD_REPLAY_SEEK, "ticks", replay, seek},
    {FM_METHOD_REPLAY_PLAY, "ticks", replay, play},
    {FM_METHOD_REPLAY_PAUSE, "ticks", replay, pause_replay},
    {FM_METHOD_REPLAY_CLOSE, "ticks", replay, close_replay},
};

static void make_config(void)
{
    char error[FM_ERROR_TEXT_SIZE];
    scene.config = fm_config_default();
    scene.config.workers = 1;
    scene.config.session_unsent_max = 64u << 20;
    scene.config.worlds_max = 256;
    assert_true(fm_tokens_start());
    assert_int_equal(
        fm_grants_parse(&scene.config.grants, grant, sizeof grant - 1, '\n', error, sizeof error),
        FM_OK);
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
    for (uint32_t i = 0; i < FM_COUNT_OF(deeds); i++) {
        uint64_t once = count(&deeds[i], 1);
        uint64_t twice = count(&deeds[i], 2);
        uint64_t four_times = count(&deeds[i], SCALE_MOST);
        double growth = (double)four_times / (double)once;
        bool failed = growth > GROWTH_MOST;
        print_message("%-18s %-14s %10llu %10llu %10llu  x%.2f%s\n",
                      fm_method_name(deeds[i].method), deeds[i].of, (unsigned long long)once,
                      (unsigned long long)twice, (unsigned long long)four_times, growth,
                      failed ? "  TOO MUCH" : "");
        failures += failed;
    }
    assert_int_equal(failures, 0);
}

static void every_method_is_asked(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        uint32_t i = 0;
        while (i < FM_COUNT_OF(deeds) && deeds[i].method != method) {
            i += 1;
        }
        if (i == FM_COUNT_OF(deeds)) {
            fail_msg("%s has no line in deeds[]", fm_method_name(method));
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    int size = snprintf(scene.map, sizeof scene.map, "type octile\nheight %u\nwidth %u\nmap\n",
                        SIDE, SIDE);
    for (uint32_t y = 0; y < SIDE; y++) {
        memset(scene.map + size, '.', SIDE);
        scene.map[(uint32_t)size + SIDE] = '\n';
        size += (int)SIDE + 1;
    }
    scene.map_size = (size_t)size;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_asked),
        cmocka_unit_test(every_method_grows_with_what_it_names),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
