// tests/sim/actions.c: see actions.h.

#include "tests/sim/actions.h"

#include "tests/sim/etcd/etcd.h"

#include <stdio.h>
#include <string.h>

#define TROUBLED_END_PERMILLE 40u // of what clients do while etcd is silent
#define GROUP_MAX             12u // agents of one command

static const char *draw_word(const char *const *words, uint32_t count)
{
    return words[sim_below(count)];
}
#define DRAW_WORD(...)                                                                             \
    draw_word((const char *const[]){__VA_ARGS__}, FM_COUNT_OF(((const char *const[]){__VA_ARGS__})))

// ---- pieces of commands ------------------------------------------------------------------------

// The world that the next command is about; sometimes one that does not exist.
static sim_world *draw_world(sim_client *client)
{
    static sim_world nowhere = {.number = 999, .width = 10, .height = 10};
    sim_world *world = client->seat_world != 0 ? sim_book_world(client->seat_world) : NULL;
    if (world == NULL) {
        world = sim_book_draw_world();
    }
    return world == NULL || sim_chance(20) ? &nowhere : world;
}

static void put_world(sim_client *client, const sim_world *world)
{
    fm_params_uint(&client->params, FM_FIELD_WORLD, world->number);
}

static fm_cell draw_cell(const sim_world *world)
{
    bool off = sim_chance(10);
    return fm_cell_at(sim_below(world->width + (off ? 3 : 0)),
                      sim_below(world->height + (off ? 3 : 0)));
}

static void put_cells(sim_client *client, fm_field field, const sim_world *world, uint32_t count)
{
    fm_cell cells[2 * GROUP_MAX];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = draw_cell(world);
    }
    fm_params_cells(&client->params, field, cells, count);
}

static void put_rect(sim_client *client, fm_field field, const sim_world *world)
{
    uint32_t x = sim_below(world->width), y = sim_below(world->height);
    uint64_t rect[4] = {x, y, 1 + sim_below(world->width - x), 1 + sim_below(world->height - y)};
    if (sim_chance(20)) {
        rect[sim_below(4)] = sim_below(100);
    }
    fm_params_uints(&client->params, field, rect, 4);
}

static uint64_t draw_agent(const sim_client *client, const sim_world *world)
{
    if (client->role == FM_ROLE_PLAYER || world->agent_count == 0 || sim_chance(20)) {
        return ((uint64_t)sim_below(2) << 32) + 1 + sim_below(40); // a name, or a guess
    }
    return world->agents[sim_below(world->agent_count)];
}

static void put_agents(sim_client *client, const sim_world *world)
{
    uint64_t agents[GROUP_MAX];
    uint32_t count = sim_between(1, GROUP_MAX);
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = draw_agent(client, world);
    }
    fm_params_uints(&client->params, FM_FIELD_AGENTS, agents, count);
}

static uint32_t draw_team(const sim_world *world)
{
    return sim_below(world->team_count + 1) + (sim_chance(20) ? 1 : 0);
}

static const char *draw_planner(void)
{
    return DRAW_WORD("dstar-lite", "repeated-forward-astar", "adaptive-astar", "mpgaa-star",
                     "tbaa-star", "rtaa-star", "lss-lrta-star", "repeated-jps", "dstar-extra-lite",
                     "goal-field", "auto");
}

static void ask(sim_client *client, fm_method method, const sim_world *world, uint64_t number)
{
    sim_client_ask(client, method, world == NULL ? 0 : world->number, number, sim_chance(20));
}

// ---- worlds ------------------------------------------------------------------------------------

static void put_rules(sim_client *client, bool sound)
{
    fm_params *params = &client->params;
    if (!sound && sim_chance(300)) { // not every planner works with 4
        fm_params_uint(params, FM_FIELD_NEIGHBOURS, sim_chance(500) ? 4 : 8);
    }
    if (sim_chance(400)) {
        fm_params_text(params, FM_FIELD_OCCUPANCY, DRAW_WORD("none", "exclusive"));
    }
    if (sim_chance(200)) {
        fm_params_bool(params, FM_FIELD_LINE_OF_SIGHT, true);
    }
    if (sim_chance(150)) {
        fm_params_bool(params, FM_FIELD_OMNISCIENT, true);
    }
    fm_params_text(params, FM_FIELD_PLANNER, draw_planner());
    fm_params_text(params, FM_FIELD_OVERLOAD, DRAW_WORD("slip", "skip", "degrade"));
    fm_params_real(params, FM_FIELD_TICK_HZ, sim_between(4, 50));
    fm_params_real(params, FM_FIELD_BUDGET_MS, sim_between(1, 10));
}

static void put_map(sim_client *client)
{
    char map[1024];
    uint32_t width = sim_between(1, 20), height = sim_between(1, 20);
    int size = snprintf(map, sizeof map, "type octile\nheight %u\nwidth %u\nmap\n", height, width);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            map[size++] = ".....@TSW"[sim_below(sim_chance(5) ? 10 : 9)];
        }
        map[size++] = '\n';
    }
    fm_params_bytes(&client->params, FM_FIELD_MAP, map, (size_t)size);
}

void sim_act_create(sim_client *client, const char *name, bool sound)
{
    fm_params *params = &client->params;
    fm_params_text(params, FM_FIELD_NAME, name);
    if (!sound && sim_chance(300)) {
        put_map(client);
    } else {
        fm_params_text(params, FM_FIELD_GENERATOR,
                       sound ? DRAW_WORD("open", "rooms", "random")
                             : DRAW_WORD("open", "maze", "rooms", "random", "skirmish", "none"));
        fm_params_uint(params, FM_FIELD_WIDTH, sim_between(12, 48));
        fm_params_uint(params, FM_FIELD_HEIGHT, sim_between(12, 48));
        fm_params_uint(params, FM_FIELD_SEED, sim_below(1000));
        fm_params_uint(params, FM_FIELD_BLOCKED_PERMILLE, sim_below(350));
        fm_params_uint(params, FM_FIELD_WALLS_REMOVED, sim_below(50));
    }
    put_rules(client, sound);
    if (!sound && sim_chance(200)) {
        fm_params_bool(params, FM_FIELD_PAUSED, true);
    }
    sim_client_ask(client, FM_METHOD_WORLD_CREATE, 0, 0, false);
}

static void act_create(sim_client *client)
{
    char name[16];
    snprintf(name, sizeof name, "w%u", sim_below(8)); // some are taken
    sim_act_create(client, name, false);
}

static void act_destroy(sim_client *client)
{
    sim_world *world = draw_world(client);
    if (!world->is_kept) {
        put_world(client, world);
        ask(client, FM_METHOD_WORLD_DESTROY, world, 0);
    }
}

static void act_pause(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    ask(client, FM_METHOD_WORLD_PAUSE, world, 0);
}

static void act_resume(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    if (sim_chance(300)) {
        fm_params_real(&client->params, FM_FIELD_TICK_HZ, sim_between(2, 60));
    }
    ask(client, FM_METHOD_WORLD_RESUME, world, 0);
}

static void act_step(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    fm_params_uint(&client->params, FM_FIELD_TICKS, sim_between(1, 8));
    ask(client, FM_METHOD_WORLD_STEP, world, 0);
}

static void act_upload(sim_client *client)
{
    uint8_t bytes[64];
    uint32_t size = sim_between(1, sizeof bytes);
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_below(128);
    }
    if (sim_chance(400)) {
        fm_params_uint(&client->params, FM_FIELD_UPLOAD, sim_between(1, 5));
    }
    fm_params_uint(&client->params, FM_FIELD_TOTAL,
                   sim_between(1, sim_chance(100) ? 17825792 : 500));
    fm_params_uint(&client->params, FM_FIELD_OFFSET, sim_chance(700) ? 0 : sim_below(200));
    fm_params_bytes(&client->params, FM_FIELD_DATA, bytes, size);
    ask(client, FM_METHOD_MAP_UPLOAD, NULL, 0);
}

// ---- commands ----------------------------------------------------------------------------------

static void act_team(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    if (sim_chance(300)) {
        fm_params_text(&client->params, FM_FIELD_PLANNER, draw_planner());
    }
    ask(client, FM_METHOD_TEAM_CREATE, world, 0);
}

static void act_spawn(sim_client *client)
{
    sim_world *world = draw_world(client);
    uint32_t team = draw_team(world);
    put_world(client, world);
    fm_params_uint(&client->params, FM_FIELD_TEAM, team == 0 ? 1 : team);
    put_cells(client, FM_FIELD_CELLS, world, sim_between(1, GROUP_MAX));
    if (sim_chance(800)) {
        fm_params_text(&client->params, FM_FIELD_PLACE, "nearest");
    }
    if (sim_chance(200)) {
        fm_params_real(&client->params, FM_FIELD_SPEED, sim_between(1, 20));
    }
    ask(client, FM_METHOD_AGENT_SPAWN, world, team);
}

static void act_remove(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    put_agents(client, world);
    ask(client, FM_METHOD_AGENT_REMOVE, world, 0);
}

static void put_move(sim_client *client, const sim_world *world)
{
    fm_params *params = &client->params;
    put_cells(client, FM_FIELD_GOAL, world, 1);
    if (sim_chance(150)) {
        fm_params_bool(params, FM_FIELD_SPREAD, true);
    } else if (sim_chance(150)) {
        fm_params_text(params, FM_FIELD_FORMATION, DRAW_WORD("keep", "line", "box"));
    }
}

static void act_order(sim_client *client)
{
    sim_world *world = draw_world(client);
    const char *kind = DRAW_WORD("move", "move", "move", "move", "stop", "patrol", "hold", "follow",
                                 "guard", "explore", "flee", "keep_distance", "scatter");
    put_world(client, world);
    put_agents(client, world);
    fm_params_text(&client->params, FM_FIELD_KIND, kind);
    if (strcmp(kind, "move") == 0) {
        put_move(client, world);
    } else if (strcmp(kind, "patrol") == 0) {
        put_cells(client, FM_FIELD_GOALS, world, sim_between(1, 6));
    } else if (strcmp(kind, "follow") == 0) {
        fm_params_uint(&client->params, FM_FIELD_TARGET, draw_agent(client, world));
    } else if (strcmp(kind, "guard") == 0) {
        put_cells(client, FM_FIELD_GOAL, world, 1);
    }
    if (sim_chance(100) && strcmp(kind, "stop") != 0) {
        fm_params_bool(&client->params, FM_FIELD_QUEUE, true);
    }
    if (sim_chance(200)) {
        fm_params_text(&client->params, FM_FIELD_ON_UNREACHABLE,
                       DRAW_WORD("nearest", "fail", "wait"));
    }
    ask(client, FM_METHOD_AGENT_ORDER, world, client->role == FM_ROLE_PLAYER);
}

static void act_terrain(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    fm_params_text(&client->params, FM_FIELD_SET,
                   DRAW_WORD("blocked", "free", "ground", "trees", "swamp", "water", "wall"));
    if (sim_chance(500)) {
        put_cells(client, FM_FIELD_CELLS, world, sim_between(1, GROUP_MAX));
    } else {
        uint64_t rect[4] = {sim_below(world->width), sim_below(world->height), 1, 1};
        fm_params_uints(&client->params, FM_FIELD_RECTS, rect, 4);
    }
    ask(client, FM_METHOD_TERRAIN_SET, world, 0);
}

static void act_building(sim_client *client)
{
    sim_world *world = draw_world(client);
    put_world(client, world);
    if (sim_chance(400)) {
        fm_params_uint(&client->params, FM_FIELD_BUILDING, 1 + sim_below(world->building_last + 1));
        ask(client, FM_METHOD_BUILDING_REMOVE, world, 0);
        return;
    }
    uint64_t rect[4] = {sim_below(world->width), sim_below(world->height), sim_between(1, 4),
                        sim_between(1, 4)};
    fm_params_uint(&client->params, FM_FIELD_TEAM, draw_team(world));
    fm_params_uints(&client->params, FM_FIELD_RECT, rect, 4);
    ask(client, FM_METHOD_BUILDING_PLACE, world, 0);
}

// ---- questions ---------------------------------------------------------------------------------

static void act_ping(sim_client *client)
{
    uint64_t time = sim_below(1u << 30);
    fm_params_uint(&client->params, FM_FIELD_TIME, time);
    sim_client_ask(client, FM_METHOD_PING, 0, time, false);
}

static void act_look(sim_client *client)
{
    sim_world *world = draw_world(client);
    switch (sim_below(3)) {
    case 0:
        ask(client, FM_METHOD_WORLD_LIST, NULL, 0);
        break;
    case 1:
        put_world(client, world);
        ask(client, FM_METHOD_WORLD_INFO, world, 0);
        break;
    default:
        put_world(client, world);
        fm_params_bool(&client->params, FM_FIELD_TEAMS, sim_chance(500));
        ask(client, FM_METHOD_STATS, world, 0);
        break;
    }
}

static void act_query(sim_client *client)
{
    sim_world *world = draw_world(client);
    fm_method method = FM_METHOD_PATH_QUERY + sim_below(5);
    put_world(client, world);
    if (sim_chance(300)) {
        fm_params_uint(&client->params, FM_FIELD_TEAM, draw_team(world));
    }
    if (method == FM_METHOD_PATH_NEAREST) {
        put_cells(client, FM_FIELD_FROM, world, 1);
        put_cells(client, FM_FIELD_GOALS, world, sim_between(1, 8));
    } else if (method == FM_METHOD_PATH_FIELD) {
        put_cells(client, FM_FIELD_GOAL, world, 1);
        put_rect(client, FM_FIELD_RECT, world);
    } else if (sim_chance(300)) {
        put_cells(client, FM_FIELD_PAIRS, world, 2 * sim_between(1, 8));
    } else {
        put_cells(client, FM_FIELD_FROM, world, 1);
        put_cells(client, FM_FIELD_TO, world, 1);
    }
    ask(client, method, world, 0);
}

static void act_debug(sim_client *client)
{
    static const fm_method methods[] = {FM_METHOD_DEBUG_INSPECT, FM_METHOD_DEBUG_SUBSCRIBE,
                                        FM_METHOD_DEBUG_EXPLAIN, FM_METHOD_DEBUG_UNSUBSCRIBE,
                                        FM_METHOD_DEBUG_TOP,     FM_METHOD_DEBUG_JAMS};
    sim_world *world = draw_world(client);
    fm_method method = methods[sim_below(FM_COUNT_OF(methods))];
    put_world(client, world);
    if (method == FM_METHOD_DEBUG_UNSUBSCRIBE) {
        fm_params_uint(&client->params, FM_FIELD_SUBSCRIPTION, sim_between(1, 4));
    } else if (method == FM_METHOD_DEBUG_TOP) {
        fm_params_text(&client->params, FM_FIELD_BY,
                       DRAW_WORD("agents", "planners", "teams", "edits"));
    } else {
        fm_params_uint(&client->params, FM_FIELD_AGENT, draw_agent(client, world));
    }
    if (method == FM_METHOD_DEBUG_INSPECT || method == FM_METHOD_DEBUG_SUBSCRIBE) {
        put_rect(client, FM_FIELD_RECT, world);
    }
    ask(client, method, world, 0);
}

// ---- views -------------------------------------------------------------------------------------

static void act_subscribe(sim_client *client)
{
    sim_world *world = draw_world(client);
    if (client->view_count + client->request_count >= SIM_VIEWS_MAX) {
        return;
    }
    put_world(client, world);
    if (sim_chance(500)) {
        fm_params_uint(&client->params, FM_FIELD_TEAM, draw_team(world));
    }
    if (sim_chance(400)) {
        put_rect(client, FM_FIELD_RECT, world);
    }
    if (sim_chance(200)) {
        fm_params_uint(&client->params, FM_FIELD_EVERY, sim_between(1, 10));
    }
    if (sim_chance(200)) {
        fm_params_uint(&client->params, FM_FIELD_FOLLOW, draw_agent(client, world));
    }
    sim_client_ask(client, FM_METHOD_SUBSCRIBE, world->number, 0, false);
}

// NULL: none. The auditor's first view is never disturbed.
static sim_view *draw_view(const sim_client *client)
{
    uint32_t first = client->index == 0 ? 1 : 0;
    return client->view_count > first ? client->views[first + sim_below(client->view_count - first)]
                                      : NULL;
}

static void act_unsubscribe(sim_client *client)
{
    const sim_view *view = draw_view(client);
    uint64_t number = view == NULL ? 77 : view->number;
    fm_params_uint(&client->params, FM_FIELD_SUBSCRIPTION, number);
    sim_client_ask(client, FM_METHOD_UNSUBSCRIBE, 0, number, false);
}

static void act_move_view(sim_client *client)
{
    const sim_view *view = draw_view(client);
    if (view != NULL) {
        sim_world *world = sim_book_world(view->mirror.world);
        fm_params_uint(&client->params, FM_FIELD_SUBSCRIPTION, view->number);
        put_rect(client, FM_FIELD_RECT, world != NULL ? world : draw_world(client));
        ask(client, FM_METHOD_SUBSCRIPTION_MOVE, NULL, view->number);
    }
}

// ---- tokens ------------------------------------------------------------------------------------

static void act_token(sim_client *client)
{
    if (sim_chance(300) && sim_known.token_count > 0) {
        uint64_t number = sim_known.tokens[sim_below(sim_known.token_count)].number;
        fm_params_uint(&client->params, FM_FIELD_NUMBER, number == 0 ? 999 : number);
        ask(client, FM_METHOD_TOKEN_REVOKE, NULL, 0);
        return;
    }
    sim_world *world = draw_world(client);
    fm_params_text(&client->params, FM_FIELD_ROLE,
                   DRAW_WORD("player", "player", "observer", "debug", "king"));
    put_world(client, world);
    fm_params_uint(&client->params, FM_FIELD_TEAM, 1 + draw_team(world));
    sim_client_ask(client, FM_METHOD_TOKEN_CREATE, 0, 0, false);
}

// ---- nonsense ----------------------------------------------------------------------------------

static void put_anything(sim_client *client, fm_field field)
{
    fm_params *params = &client->params;
    uint64_t numbers[8];
    switch (sim_below(6)) {
    case 0:
        fm_params_uint(params, field,
                       sim_chance(500) ? sim_below(100) : UINT64_MAX >> sim_below(64));
        break;
    case 1:
        fm_params_real(params, field, (double)sim_below(2000) / 7 - 100);
        break;
    case 2:
        fm_params_bool(params, field, sim_chance(500));
        break;
    case 3:
        fm_params_text(params, field, DRAW_WORD("", "move", "none", "\xff\xfe", "player", "%s%n"));
        break;
    case 4:
        fm_params_bytes(params, field, "\0\1\2", sim_below(4));
        break;
    default:
        for (uint32_t i = 0; i < FM_COUNT_OF(numbers); i++) {
            numbers[i] = sim_below(60);
        }
        fm_params_uints(params, field, numbers, sim_below(FM_COUNT_OF(numbers) + 1));
        break;
    }
}

// Any method with any fields, but never about the worlds that must stay.
static void act_anything(sim_client *client)
{
    fm_method method = sim_below(FM_METHOD_COUNT);
    if (method == FM_METHOD_WORLD_DESTROY || method == FM_METHOD_HELLO ||
        method == FM_METHOD_SUBSCRIBE || method == FM_METHOD_PING ||
        method == FM_METHOD_UNSUBSCRIBE || method == FM_METHOD_AGENT_ORDER) {
        method = FM_METHOD_PATH_QUERY;
    }
    for (uint32_t i = sim_below(6); i > 0; i--) {
        put_anything(client, sim_below(FM_FIELD_COUNT));
    }
    if (sim_chance(700)) {
        put_world(client, draw_world(client));
    }
    sim_client_ask(client, method, 0, 0, false);
}

// Bytes that may or may not be the beginning of a message.
static void act_spoil(sim_client *client)
{
    uint8_t bytes[200];
    uint32_t size = sim_between(1, sizeof bytes);
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_below(256);
    }
    if (sim_chance(600)) { // a request that claims to be long, or is cut short
        static const uint8_t head[] = {0x94, 0x00, 0x07, 0xa4, 'p', 'i', 'n', 'g', 0x91, 0x81};
        memcpy(bytes, head, size < sizeof head ? size : sizeof head);
        if (sim_chance(300) && size > 3) {
            bytes[2] = DRAW_WORD("\xcf", "\xdd", "\xdf", "\xc6")[0];
        }
    }
    sim_client_spoil(client, bytes, size);
}

// ---- drawing -----------------------------------------------------------------------------------

void sim_act(sim_client *client, bool hostile)
{
    static const struct {
        uint32_t weight;
        void (*act)(sim_client *client);
        bool is_hostile;
    } actions[] = {
        {60, act_ping, false},      {60, act_look, false},      {20, act_create, false},
        {8, act_destroy, false},    {6, act_pause, false},      {14, act_resume, false},
        {20, act_step, false},      {10, act_upload, false},    {30, act_team, false},
        {70, act_spawn, false},     {20, act_remove, false},    {160, act_order, false},
        {40, act_terrain, false},   {30, act_building, false},  {120, act_query, false},
        {50, act_debug, false},     {60, act_subscribe, false}, {30, act_unsubscribe, false},
        {40, act_move_view, false}, {15, act_token, false},     {40, act_anything, false},
        {12, act_spoil, true},
    };
    uint32_t sum = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(actions); i++) {
        sum += actions[i].weight;
    }
    if (sim_etcd != NULL && sim_etcd_is_in_trouble() && sim_chance(TROUBLED_END_PERMILLE)) {
        act_destroy(client);
        return;
    }
    uint32_t drawn = sim_below(sum);
    uint32_t i = 0;
    while (drawn >= actions[i].weight) {
        drawn -= actions[i++].weight;
    }
    if (hostile || !actions[i].is_hostile) {
        actions[i].act(client);
    }
}
