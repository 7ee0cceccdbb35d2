// loadtest/drive/run_setup.c: makes the world with its teams, agents and subscribers, and takes it
// down.
//
// The world is made paused, so that agents do not move while others are still being spawned. Teams
// and agents are asked for with many requests in flight: a team of one per agent would otherwise
// take a round trip each.

#include "loadtest/drive/run_setup.h"

#include "loadtest/drive/run_walls.h"
#include "loadtest/drive/run_watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IN_FLIGHT_MAX  256u  // fewer than a world's inbox holds
#define SPAWN_MAX      8192u // agents of one request
#define AGENT_SIZE_MAX 20u   // bytes of an agent in a request: id and goal, or cell
#define SETTLE_MS      300   // for the memory of a destroyed world to be freed

// How late an answer may be. A server that is overloaded is measured as well.
#define PATIENCE_MS 120000

static const char *const client_name = "fogmarch-load";

// ---- connections --------------------------------------------------------------------------------

static fm_client *open_client(fm_run_state *run)
{
    fm_client_options options = fm_client_options_default();
    options.name = client_name;
    options.token = run->options->token;
    const char *address =
        run->options->connect != NULL ? run->options->connect : run->server.address;
    fm_client *client = NULL;
    fm_client_error error;
    if (fm_client_connect(address, &options, &client, &error) != FM_OK) {
        fm_run_fail(run, "%s", error.message);
        return NULL;
    }
    if (fm_client_hello(client, &run->welcome) != FM_OK) {
        fm_run_fail(run, "%s: hello: %s", address, fm_client_error_last(client)->message);
        fm_client_destroy(client);
        return NULL;
    }
    return client;
}

// A call on the control connection that must succeed.
static const msgpack_object *call(fm_run_state *run, fm_method method)
{
    const msgpack_object *result = NULL;
    if (!run->failed && fm_client_call(run->control, method, &run->params, &result) != FM_OK) {
        fm_run_fail(run, "%s: %s", fm_method_name(method),
                    fm_client_error_last(run->control)->message);
        return NULL;
    }
    return result;
}

static void subscribe(fm_run_state *run, fm_client *client, uint32_t team, uint64_t every)
{
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    fm_params_uint(&run->params, FM_FIELD_TEAM, team);
    fm_params_uint(&run->params, FM_FIELD_EVERY, every);
    fm_params_text(&run->params, FM_FIELD_ENCODING, run->scenario->encoding);
    if (fm_client_call(client, FM_METHOD_SUBSCRIBE, &run->params, NULL) != FM_OK) {
        fm_run_fail(run, "subscribe: %s", fm_client_error_last(client)->message);
    }
}

static bool make_audience(fm_run_state *run)
{
    const fm_scenario *scenario = run->scenario;
    uint32_t team_views = (uint32_t)scenario->team_views;
    uint32_t reading = team_views + (uint32_t)scenario->world_views;
    uint32_t count = reading + (uint32_t)scenario->silent_views;
    run->audience = calloc(count + 1, sizeof(fm_listener));
    if (run->audience == NULL) {
        fm_run_fail(run, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < count && !run->failed; i++) {
        fm_client *client = open_client(run);
        if (client == NULL) {
            return false;
        }
        fm_listener *listener = &run->audience[run->audience_count++];
        *listener = (fm_listener){.client = client, .silent = i >= reading};
        if (!scenario->check_walls || i >= team_views) {
            fm_client_skip_notifications(client); // their bytes are counted
        } else if (!fm_run_watch_walls(run, listener)) {
            return false;
        }
        uint32_t team = i < team_views ? run->teams[i % fm_scenario_team_count(scenario)] : 0;
        subscribe(run, client, team, scenario->view_every);
    }
    run->watch = run->failed ? NULL : open_client(run);
    if (run->watch == NULL) {
        return false;
    }
    fm_client_on_notification(run->watch, fm_run_on_watch, run);
    subscribe(run, run->watch, 0, 1);
    run->result->views = count + 1;
    return !run->failed;
}

// ---- the world ----------------------------------------------------------------------------------

static void put_map(fm_run_state *run)
{
    const fm_scenario *scenario = run->scenario;
    size_t size;
    const char *text = fm_ground_map_text(run->ground, &size);
    if (text != NULL) {
        uint64_t upload = 0;
        if (fm_client_upload(run->control, text, size, &upload) != FM_OK) {
            fm_run_fail(run, "map.upload: %s", fm_client_error_last(run->control)->message);
        }
        fm_params_uint(&run->params, FM_FIELD_UPLOAD, upload);
        return;
    }
    fm_params_text(&run->params, FM_FIELD_GENERATOR, scenario->map_generator);
    fm_params_uint(&run->params, FM_FIELD_WIDTH, scenario->map_width);
    fm_params_uint(&run->params, FM_FIELD_HEIGHT, scenario->map_height);
    fm_params_uint(&run->params, FM_FIELD_SEED, scenario->seed);
    fm_params_uint(&run->params, FM_FIELD_PLAYERS, scenario->map_players);
    fm_params_uint(&run->params, FM_FIELD_WALLS_REMOVED, scenario->map_walls_removed);
    fm_params_uint(&run->params, FM_FIELD_ROOM_SIDE, scenario->map_room_side);
    fm_params_uint(&run->params, FM_FIELD_BLOCKED_PERMILLE, scenario->map_blocked_permille);
}

static void put_rules(fm_run_state *run)
{
    const fm_scenario *scenario = run->scenario;
    fm_params *params = &run->params;
    fm_params_uint(params, FM_FIELD_NEIGHBOURS, scenario->neighbours);
    fm_params_bool(params, FM_FIELD_CORNER_CUTTING, scenario->corner_cutting);
    fm_params_uint(params, FM_FIELD_SENSE_RADIUS, scenario->sense_radius);
    fm_params_text(params, FM_FIELD_SENSE_SHAPE, scenario->sense_shape);
    fm_params_bool(params, FM_FIELD_LINE_OF_SIGHT, scenario->line_of_sight);
    fm_params_bool(params, FM_FIELD_OMNISCIENT, scenario->omniscient);
    fm_params_text(params, FM_FIELD_OCCUPANCY, scenario->occupancy);
    if (scenario->classes[0] != '\0') {
        fm_params_text(params, FM_FIELD_CLASSES, scenario->classes);
    }
    fm_params_text(params, FM_FIELD_PLANNER, scenario->planner);
    fm_params_uint(params, FM_FIELD_AGENTS_MAX, scenario->agents);
    fm_params_uint(params, FM_FIELD_TEAMS_MAX, fm_scenario_team_count(scenario));
    fm_params_real(params, FM_FIELD_TICK_HZ, scenario->tick_hz);
    fm_params_real(params, FM_FIELD_BUDGET_MS, scenario->budget_ms);
    fm_params_text(params, FM_FIELD_OVERLOAD, scenario->overload);
    fm_params_bool(params, FM_FIELD_PAUSED, true);
}

static bool make_world(fm_run_state *run)
{
    fm_params_clear(&run->params);
    put_map(run);
    put_rules(run);
    char name[64]; // two generators may use one server
    snprintf(name, sizeof name, "load-%.32s-%llx", run->scenario->name,
             (unsigned long long)(fm_run_now_ns() & 0xffffffffffff));
    fm_params_text(&run->params, FM_FIELD_NAME, name);
    run->world = fm_object_uint(call(run, FM_METHOD_WORLD_CREATE), "world", 0);
    if (!run->failed && run->world == 0) {
        fm_run_fail(run, "world.create: the answer names no world");
    }
    return !run->failed;
}

static bool wall_in(fm_run_state *run, const fm_cell walls[8])
{
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    fm_params_text(&run->params, FM_FIELD_SET, "blocked");
    fm_params_cells(&run->params, FM_FIELD_CELLS, walls, 8);
    call(run, FM_METHOD_TERRAIN_SET);
    return !run->failed;
}

// One goal for all, if the scenario wants that; perhaps an unreachable one.
static bool choose_goal(fm_run_state *run)
{
    fm_cell walls[8];
    run->common_goal = FM_CELL_NONE;
    if (strcmp(run->scenario->goal, "drawn") == 0) {
        return true;
    }
    run->common_goal = fm_ground_enclose(run->ground, walls);
    if (run->common_goal == FM_CELL_NONE) {
        fm_run_fail(run, "there is no cell on the map that could be enclosed");
        return false;
    }
    return strcmp(run->scenario->goal, "enclosed") != 0 || wall_in(run, walls);
}

// ---- teams and agents ---------------------------------------------------------------------------

// A request of the setup that has no answer yet.
struct birth {
    fm_run_state *run;
    uint32_t team;  // index
    uint32_t first; // agent
    uint32_t count; // agents
};

static void on_team(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    struct birth *birth = context;
    fm_run_state *run = birth->run;
    if (error != NULL) {
        fm_run_fail(run, "team.create: %s", error->message);
    } else {
        run->teams[birth->team] = (uint32_t)fm_object_uint(result, "team", 0);
    }
    free(birth);
}

static void on_spawned(void *context, uint64_t id, const fm_client_error *error,
                       const msgpack_object *result)
{
    (void)id;
    struct birth *birth = context;
    fm_run_state *run = birth->run;
    fm_numbers ids = fm_object_numbers(result, "agents");
    if (error != NULL) {
        fm_run_fail(run, "agent.spawn: %s", error->message);
    } else if (ids.count != birth->count) {
        fm_run_fail(run, "agent.spawn: %u ids for %u agents", ids.count, birth->count);
    }
    for (uint32_t i = 0; i < birth->count && !run->failed; i++) {
        if (fm_groups_name(&run->groups, birth->first + i, fm_numbers_at(ids, i)) != FM_OK) {
            fm_run_fail(run, "agent.spawn: agent id %llu is out of bounds",
                        (unsigned long long)fm_numbers_at(ids, i));
        }
    }
    free(birth);
}

// Waits until no more than `count` requests are in flight.
static void wait_for_answers(fm_run_state *run, uint32_t count)
{
    while (!run->failed && fm_client_in_flight(run->control) > count) {
        if (fm_client_wait(run->control, -1) != FM_OK) {
            fm_run_fail(run, "%s", fm_client_error_last(run->control)->message);
        }
    }
}

// Sends run->params.
static void send_birth(fm_run_state *run, fm_method method, fm_client_reply_fn *on_reply,
                       struct birth birth)
{
    struct birth *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        fm_run_fail(run, "out of memory");
        return;
    }
    *kept = birth;
    if (fm_client_send(run->control, method, &run->params, on_reply, kept, NULL) != FM_OK) {
        fm_run_fail(run, "%s: %s", fm_method_name(method),
                    fm_client_error_last(run->control)->message);
        free(kept);
    }
    wait_for_answers(run, IN_FLIGHT_MAX);
}

// Agents of one team and, unless it is NULL, one movement class.
static void spawn_agents(fm_run_state *run, uint32_t team, const fm_movement_class *movement,
                         uint32_t first, uint32_t end)
{
    uint32_t count_max = run->batch_max < SPAWN_MAX ? run->batch_max : SPAWN_MAX;
    bool exclusive = strcmp(run->scenario->occupancy, "exclusive") == 0;
    while (first < end && !run->failed) {
        uint32_t count = end - first < count_max ? end - first : count_max;
        fm_params_clear(&run->params);
        fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
        fm_params_uint(&run->params, FM_FIELD_TEAM, run->teams[team]);
        fm_params_cells(&run->params, FM_FIELD_CELLS, run->starts + first, count);
        if (exclusive || movement != NULL) {
            // Some cells were drawn twice, and all for units that are small and walk.
            fm_params_text(&run->params, FM_FIELD_PLACE, "nearest");
        }
        if (movement != NULL) {
            fm_params_text(&run->params, FM_FIELD_CLASS, movement->name);
        }
        send_birth(run, FM_METHOD_AGENT_SPAWN, on_spawned, (struct birth){run, team, first, count});
        first += count;
    }
}

// Each movement class gets an equal part of the team.
static void spawn_team(fm_run_state *run, uint32_t team, uint32_t first, uint32_t end)
{
    fm_movement_class classes[FM_CLASSES_MAX];
    uint32_t count;
    char error[200];
    if (run->scenario->classes[0] == '\0') {
        spawn_agents(run, team, NULL, first, end);
        return;
    }
    if (fm_movement_classes_parse(run->scenario->classes, classes, &count, error, sizeof error) !=
        FM_OK) {
        fm_run_fail(run, "classes: %s", error);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        spawn_agents(run, team, &classes[i], first + (end - first) * i / count,
                     first + (end - first) * (i + 1) / count);
    }
}

static bool make_agents(fm_run_state *run)
{
    uint64_t agents = run->scenario->agents;
    uint32_t teams = fm_scenario_team_count(run->scenario);
    for (uint32_t i = 0; i < teams && !run->failed; i++) {
        fm_params_clear(&run->params);
        fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
        send_birth(run, FM_METHOD_TEAM_CREATE, on_team, (struct birth){run, i, 0, 0});
    }
    wait_for_answers(run, 0);
    for (uint32_t i = 0; i < teams && !run->failed; i++) {
        spawn_team(run, i, (uint32_t)(agents * i / teams), (uint32_t)(agents * (i + 1) / teams));
    }
    wait_for_answers(run, 0);
    return !run->failed;
}

// ---- all of it ----------------------------------------------------------------------------------

static uint32_t smallest(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t least = a < b ? a : b;
    least = least < c ? least : c;
    return least < 1 ? 1 : (uint32_t)least;
}

static void resume(fm_run_state *run)
{
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    call(run, FM_METHOD_WORLD_RESUME);
}

bool fm_run_setup(fm_run_state *run)
{
    run->control = open_client(run);
    if (run->control == NULL) {
        return false;
    }
    fm_client_set_timeout(run->control, PATIENCE_MS);
    run->batch_max = smallest(run->welcome.message_size / AGENT_SIZE_MAX, run->welcome.agents_max,
                              run->welcome.cells_max);
    snprintf(run->result->server, sizeof run->result->server, "%s", run->welcome.server);
    fm_params_clear(&run->params);
    run->last = fm_counters_read(call(run, FM_METHOD_STATS));
    run->result->rss_start_bytes = run->last.rss_bytes;
    bool ready = !run->failed && make_world(run) && choose_goal(run) && make_agents(run) &&
                 make_audience(run);
    if (ready) {
        resume(run);
    }
    return !run->failed;
}

// When the run has failed already, failures from here on are not reported.
static void end_world(fm_run_state *run)
{
    if (run->control == NULL || run->world == 0) {
        return;
    }
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    if (fm_client_call(run->control, FM_METHOD_WORLD_DESTROY, &run->params, NULL) != FM_OK) {
        fm_run_fail(run, "world.destroy: %s", fm_client_error_last(run->control)->message);
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_MS * 1000000L}, NULL);
    fm_params_clear(&run->params);
    const msgpack_object *stats = NULL;
    if (fm_client_call(run->control, FM_METHOD_STATS, &run->params, &stats) == FM_OK) {
        run->result->rss_end_bytes = fm_counters_read(stats).rss_bytes;
    }
}

void fm_run_teardown(fm_run_state *run)
{
    for (uint32_t i = 0; i < run->audience_count; i++) {
        fm_client_destroy(run->audience[i].client);
        fm_wall_watch_destroy(run->audience[i].walls);
    }
    fm_client_destroy(run->watch);
    run->watch = NULL;
    end_world(run);
    fm_client_destroy(run->control);
    run->control = NULL;
}
