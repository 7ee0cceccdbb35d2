// tests/server/methods/growth_scene.c: see growth_scene.h.

#include "tests/server/methods/growth_scene.h"

#include "tests/support/support.h"

static const char token[] = "aaaaaaaaaaaaaaaa";
static const char grant[] = "admin aaaaaaaaaaaaaaaa\n";

struct scene scene;

static void make_map(void)
{
    int size = snprintf(scene.map, sizeof scene.map, "type octile\nheight %u\nwidth %u\nmap\n",
                        SIDE, SIDE);
    for (uint32_t y = 0; y < SIDE; y++) {
        memset(scene.map + size, '.', SIDE);
        scene.map[(uint32_t)size + SIDE] = '\n';
        size += (int)SIDE + 1;
    }
    scene.map_size = (size_t)size;
}

int set_up_scene(void **state)
{
    (void)state;
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    make_map();
    return 0;
}

void make_config(void)
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

void put_cells(fm_field field, uint32_t first, uint32_t count)
{
    put_field(field);
    msgpack_pack_array(asking_packer(), 2 * count);
    for (uint32_t i = first; i < first + count; i++) {
        msgpack_pack_uint64(asking_packer(), i % SIDE);
        msgpack_pack_uint64(asking_packer(), i / SIDE);
    }
}

void put_agents(uint32_t count)
{
    put_field(FM_FIELD_AGENTS);
    msgpack_pack_array(asking_packer(), count);
    for (uint32_t i = 1; i <= count; i++) {
        msgpack_pack_uint64(asking_packer(), i); // ids in a world that lost no unit
    }
}

void put_world(void)
{
    put_uint(FM_FIELD_WORLD, scene.first_world);
}

// ---- a server -----------------------------------------------------------------------------------

void come(uint32_t client)
{
    fm_live_connect(client);
    put_uint(FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    put_text(FM_FIELD_TOKEN, token);
    ask_as(client, FM_METHOD_HELLO);
}

void start(void)
{
    fm_live_begin(&scene.config, &scene.config);
    come(ADMIN);
    all_are_answered(FM_METHOD_HELLO);
}

void make_named(const char *name)
{
    put_text(FM_FIELD_NAME, name);
    put_bytes(FM_FIELD_MAP, scene.map, scene.map_size);
    put_true(FM_FIELD_OMNISCIENT);
    put_true(FM_FIELD_PAUSED);
    ask_as(ADMIN, FM_METHOD_WORLD_CREATE);
}

void world(void)
{
    start();
    make_named("arena");
    all_are_answered(FM_METHOD_WORLD_CREATE);
    scene.first_world = fm_live_known(FM_KNOWN_WORLD, 0);
}

void add_teams(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_world();
        ask_as(ADMIN, FM_METHOD_TEAM_CREATE);
    }
    all_are_answered(FM_METHOD_TEAM_CREATE);
}

void world_with_a_team(void)
{
    world();
    add_teams(1);
}

void spawn(uint32_t count)
{
    put_world();
    put_uint(FM_FIELD_TEAM, TEAM_MEMBER);
    put_cells(FM_FIELD_CELLS, SIDE, count);
    ask(FM_METHOD_AGENT_SPAWN);
}

void step_ticks(uint32_t ticks)
{
    put_world();
    put_uint(FM_FIELD_TICKS, ticks);
    ask(FM_METHOD_WORLD_STEP);
}

void step(void)
{
    step_ticks(1);
}

void order(uint32_t count)
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

void units(void)
{
    stand(UNITS * scene.scale);
}

void marching_units(void)
{
    march(UNITS * scene.scale);
}

void alert_units(void)
{
    stand(UNITS * scene.scale);
    put_world();
    put_agents(UNITS * scene.scale);
    put_text(FM_FIELD_KIND, "hold");
    put_uint(FM_FIELD_ALERT, 5);
    ask(FM_METHOD_AGENT_ORDER);
    step();
}

void some_marching_units(void)
{
    march(UNITS);
}
