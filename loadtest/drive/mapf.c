// loadtest/drive/mapf.c: see mapf.h.

#include "loadtest/drive/mapf.h"

#include <fogmarch/connection.h>
#include <fogmarch/mirror.h>

#include "clients/maps/maps.h"
#include "core/map/map_file.h"
#include "loadtest/drive/server_process.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_COUNT ((size_t)FM_SIDE_MAX * FM_SIDE_MAX) // numbers of cells

struct play {
    const fm_mapf_options *options;
    const fm_run_options *run;
    fm_mapf_result *result;
    char *error;
    char *map;
    size_t map_size;
    fm_problem *problems;
    uint32_t problem_count;
    fm_server_process server;
    fm_client *client;
    fm_params params;
    fm_mirror mirror;
    fm_status mirror_status;
    uint64_t world;
    uint64_t *ids;        // of the agents, in the order of the problems
    fm_cell *before;      // their cells a tick ago
    uint32_t *arrivals;   // see mapf_score.h
    uint32_t still_ticks; // without a move, up to now
    uint32_t *holders;    // by cell: index of the agent there plus one
    uint32_t *held;       // the same a tick ago
};

static fm_status fail(struct play *play, fm_status status, const char *what, const char *why)
{
    snprintf(play->error, FM_RUN_ERROR_SIZE, "%s: %s", what, why);
    return status;
}

// ---- files --------------------------------------------------------------------------------------

static fm_status read_file(struct play *play, const char *path, char **text, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long end = file == NULL || fseek(file, 0, SEEK_END) != 0 ? -1 : ftell(file);
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0) {
        fm_status status = fail(play, FM_ERR_BAD_VALUE, path, strerror(errno));
        if (file != NULL) {
            fclose(file);
        }
        return status;
    }
    *size = (size_t)end;
    *text = malloc(*size + 1);
    bool complete = *text != NULL && fread(*text, 1, *size, file) == *size;
    fclose(file);
    return complete ? FM_OK : fail(play, FM_ERR_IO, path, "cannot be read");
}

// The server is sent the map in the one format that it reads.
static fm_status read_map(struct play *play)
{
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid;
    fm_status status = fm_map_load(play->options->map, &fm_memory_libc, &grid, fault);
    if (status != FM_OK) {
        snprintf(play->error, FM_RUN_ERROR_SIZE, "%s", fault);
        return status;
    }
    play->map_size = fm_map_written_size(grid);
    play->map = malloc(play->map_size);
    if (play->map != NULL) {
        fm_map_write(grid, play->map);
    }
    fm_grid_destroy(grid);
    return play->map != NULL ? FM_OK
                             : fail(play, FM_ERR_NO_MEMORY, play->options->map, "out of memory");
}

static fm_status read_problems(struct play *play)
{
    char *text = NULL;
    size_t size = 0;
    fm_text_error error;
    fm_status status = read_file(play, play->options->scen, &text, &size);
    if (status == FM_OK) {
        status = fm_scen_read(text, size, &fm_memory_libc, &play->problems, &play->problem_count,
                              &error);
        if (status != FM_OK) {
            snprintf(play->error, FM_RUN_ERROR_SIZE, "%s:%u: %s", play->options->scen, error.line,
                     error.message);
        }
    }
    free(text);
    uint32_t wanted = play->options->agents == 0 ? play->problem_count : play->options->agents;
    if (status == FM_OK && (wanted > play->problem_count || wanted == 0)) {
        return fail(play, FM_ERR_BAD_VALUE, play->options->scen, "has fewer problems than agents");
    }
    play->result->agents = wanted;
    return status;
}

static fm_status prepare(struct play *play)
{
    fm_status status = read_map(play);
    if (status == FM_OK) {
        status = read_problems(play);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_mapf_result *result = play->result;
    for (uint32_t i = 0; i < result->agents; i++) {
        result->longest_length = fmax(result->longest_length, play->problems[i].optimal_length);
    }
    result->ticks_max = (uint32_t)(FM_MAPF_TICKS_FACTOR * result->longest_length);
    if (result->ticks_max < FM_MAPF_TICKS_MIN) {
        result->ticks_max = FM_MAPF_TICKS_MIN;
    }
    play->ids = calloc(result->agents, sizeof *play->ids);
    play->before = calloc(result->agents, sizeof *play->before);
    play->arrivals = malloc(result->agents * sizeof *play->arrivals);
    play->holders = calloc(CELL_COUNT, sizeof *play->holders);
    play->held = calloc(CELL_COUNT, sizeof *play->held);
    bool complete = play->ids != NULL && play->before != NULL && play->arrivals != NULL &&
                    play->holders != NULL && play->held != NULL;
    return complete ? FM_OK : fail(play, FM_ERR_NO_MEMORY, "mapf", "out of memory");
}

// ---- the witness --------------------------------------------------------------------------------

static void on_ended(void *context, const fm_mirror_ended *ended)
{
    struct play *play = context;
    play->result->arrived += ended->reason == FM_END_ARRIVED;
}

static const fm_mirror_ops mirror_ops = {.ended = on_ended};

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    struct play *play = context;
    if (play->mirror_status == FM_OK) {
        play->mirror_status = fm_mirror_apply(&play->mirror, notification, params);
    }
}

static fm_cell cell_of(const struct play *play, uint32_t i)
{
    const fm_mirror_agent *agent = fm_mirror_find(&play->mirror, play->ids[i]);
    return agent == NULL ? FM_CELL_NONE : agent->cell;
}

// Whether an agent that stood in `from` stands in `to` now.
static bool went(const struct play *play, fm_cell from, fm_cell to)
{
    return play->held[from] != 0 && play->held[from] == play->holders[to];
}

// Swaps and crossings are seen from both sides; the smaller direction counts.
static uint32_t clashes_of_move(const struct play *play, fm_cell from, fm_cell to)
{
    uint32_t d = fm_cell_direction(from, to);
    if (d == FM_DIRECTION_COUNT) {
        return 1; // more than one cell in one tick
    }
    uint32_t clashes = d < 4 && went(play, to, from);
    if ((d & 1) != 0 && d < 4) {
        fm_cell left = fm_cell_step(from, d - 1);
        fm_cell right = fm_cell_step(from, (d + 1) % FM_DIRECTION_COUNT);
        clashes += (uint32_t)went(play, left, right) + (uint32_t)went(play, right, left);
    }
    return clashes;
}

static void look(struct play *play)
{
    fm_mapf_result *result = play->result;
    uint64_t moves_before = result->moves;
    for (uint32_t i = 0; i < result->agents; i++) {
        play->held[play->before[i]] = i + 1;
    }
    for (uint32_t i = 0; i < result->agents; i++) {
        uint32_t *holder = &play->holders[cell_of(play, i)];
        result->collisions += *holder != 0;
        *holder = i + 1;
    }
    for (uint32_t i = 0; i < result->agents; i++) {
        fm_cell cell = cell_of(play, i);
        if (cell != play->before[i]) {
            result->collisions += clashes_of_move(play, play->before[i], cell);
            result->moves += 1;
        }
    }
    for (uint32_t i = 0; i < result->agents; i++) {
        fm_cell cell = cell_of(play, i);
        play->held[play->before[i]] = 0;
        play->holders[cell] = 0;
        play->before[i] = cell;
        fm_mapf_note(&play->arrivals[i], cell == play->problems[i].goal, result->ticks);
    }
    play->still_ticks = result->moves == moves_before ? play->still_ticks + 1 : 0;
    result->score = fm_mapf_score_of(play->arrivals, result->agents, result->ticks);
}

// ---- requests -----------------------------------------------------------------------------------

static fm_status call(struct play *play, fm_method method, const msgpack_object **answer)
{
    if (play->world != 0) {
        fm_params_uint(&play->params, FM_FIELD_WORLD, play->world);
    }
    const msgpack_object *result = NULL;
    fm_status status = fm_client_call(play->client, method, &play->params, &result);
    fm_params_clear(&play->params);
    if (answer != NULL) {
        *answer = result;
    }
    return status == FM_OK ? FM_OK
                           : fail(play, status, fm_method_name(method),
                                  fm_client_error_last(play->client)->message);
}

static fm_status connect_to_server(struct play *play)
{
    const fm_run_options *run = play->run;
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    const fm_server_options server = {
        .path = run->server, .workers = play->options->workers, .sessions_max = 4};
    if (run->connect == NULL && fm_server_process_start(&server, &play->server, error) != FM_OK) {
        return fail(play, FM_ERR_IO, "server", error);
    }
    fm_client_options options = fm_client_options_default();
    options.name = "fogmarch-load";
    options.token = run->token;
    const char *address = run->connect != NULL ? run->connect : play->server.address;
    fm_client_error client_error;
    fm_status status = fm_client_connect(address, &options, &play->client, &client_error);
    if (status != FM_OK) {
        return fail(play, FM_ERR_IO, address, client_error.message);
    }
    if (fm_client_hello(play->client, NULL) != FM_OK) {
        return fail(play, FM_ERR_IO, "hello", fm_client_error_last(play->client)->message);
    }
    fm_client_on_notification(play->client, on_notification, play);
    return FM_OK;
}

static fm_status make_world(struct play *play)
{
    uint64_t upload = 0;
    if (fm_client_upload(play->client, play->map, play->map_size, &upload) != FM_OK) {
        return fail(play, FM_ERR_BAD_FORMAT, play->options->map,
                    fm_client_error_last(play->client)->message);
    }
    char name[64];
    snprintf(name, sizeof name, "mapf-%u-%d", play->result->agents, (int)play->server.pid);
    fm_params_text(&play->params, FM_FIELD_NAME, name);
    fm_params_uint(&play->params, FM_FIELD_UPLOAD, upload);
    fm_params_bool(&play->params, FM_FIELD_OMNISCIENT, true);
    fm_params_text(&play->params, FM_FIELD_OCCUPANCY, "exclusive");
    fm_params_text(&play->params, FM_FIELD_PLANNER,
                   play->options->planner == NULL ? "dstar-lite" : play->options->planner);
    fm_params_bool(&play->params, FM_FIELD_PAUSED, true);
    // Nothing is measured by the clock: a tick may search until it has found.
    fm_params_real(&play->params, FM_FIELD_BUDGET_MS, 1000);
    fm_params_real(&play->params, FM_FIELD_TICK_HZ, 1);
    const msgpack_object *answer;
    fm_status status = call(play, FM_METHOD_WORLD_CREATE, &answer);
    if (status == FM_OK) {
        play->world = fm_object_uint(answer, "world", 0);
        status = call(play, FM_METHOD_SUBSCRIBE, NULL);
    }
    return status;
}

static fm_status spawn(struct play *play)
{
    const msgpack_object *answer;
    fm_status status = call(play, FM_METHOD_TEAM_CREATE, &answer);
    if (status != FM_OK) {
        return status;
    }
    uint32_t count = play->result->agents;
    for (uint32_t i = 0; i < count; i++) {
        play->before[i] = play->problems[i].start;
        play->arrivals[i] =
            play->problems[i].start == play->problems[i].goal ? 0 : FM_MAPF_OFF_GOAL;
    }
    fm_params_uint(&play->params, FM_FIELD_TEAM, fm_object_uint(answer, "team", 0));
    fm_params_cells(&play->params, FM_FIELD_CELLS, play->before, count);
    status = call(play, FM_METHOD_AGENT_SPAWN, &answer);
    fm_numbers ids = fm_object_numbers(answer, "agents");
    for (uint32_t i = 0; status == FM_OK && i < count && i < ids.count; i++) {
        play->ids[i] = fm_numbers_at(ids, i);
    }
    return status;
}

static fm_status give_orders(struct play *play)
{
    uint32_t count = play->result->agents;
    fm_cell *goals = malloc(count * sizeof *goals);
    if (goals == NULL) {
        return fail(play, FM_ERR_NO_MEMORY, "mapf", "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        goals[i] = play->problems[i].goal;
    }
    fm_params_uints(&play->params, FM_FIELD_AGENTS, play->ids, count);
    fm_params_text(&play->params, FM_FIELD_KIND, "move");
    fm_params_text(&play->params, FM_FIELD_ON_UNREACHABLE, "fail");
    fm_params_cells(&play->params, FM_FIELD_GOALS, goals, count);
    free(goals);
    return call(play, FM_METHOD_AGENT_ORDER, NULL);
}

static uint64_t orders_ended(const struct play *play)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        sum += play->mirror.ended[i];
    }
    return sum;
}

// A tick, and its delta, which may come after the answer.
static fm_status step(struct play *play)
{
    const msgpack_object *answer;
    fm_status status = call(play, FM_METHOD_WORLD_STEP, &answer);
    uint64_t tick = status == FM_OK ? fm_object_uint(answer, "tick", 0) : 0;
    // Without a change there is no delta; a ping's answer comes after one that there is.
    if (status == FM_OK && play->mirror.tick < tick) {
        uint64_t world = play->world;
        play->world = 0;
        status = call(play, FM_METHOD_PING, NULL);
        play->world = world;
    }
    if (status == FM_OK && play->mirror_status != FM_OK) {
        status = fail(play, play->mirror_status, "delta", "does not fit what came before");
    }
    return status;
}

// Whether nothing that follows could change the score.
static bool is_over(const struct play *play)
{
    const fm_mapf_result *result = play->result;
    bool orders_are_over = orders_ended(play) >= result->agents;
    return (orders_are_over && result->ticks > 0 && result->score.stuck == 0) ||
           (orders_are_over && play->still_ticks >= FM_MAPF_STILL_TICKS) ||
           result->ticks >= result->ticks_max;
}

static void name_the_stuck(struct play *play)
{
    fm_mapf_result *result = play->result;
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->agents && count < FM_MAPF_STUCK_MAX; i++) {
        if (play->arrivals[i] == FM_MAPF_OFF_GOAL) {
            result->stuck[count].agent = i;
            result->stuck[count].cell = cell_of(play, i);
            result->stuck[count++].goal = play->problems[i].goal;
        }
    }
}

static fm_status run_ticks(struct play *play)
{
    fm_mapf_result *result = play->result;
    fm_status status = FM_OK;
    while (status == FM_OK && !is_over(play)) {
        status = step(play);
        result->ticks += 1;
        if (status == FM_OK) {
            look(play);
        }
        if (result->ticks_95 == 0 && (uint64_t)result->arrived * 20 >= result->agents * 19u) {
            result->ticks_95 = result->ticks;
        }
    }
    if (status == FM_OK) {
        name_the_stuck(play);
    }
    return status;
}

static void clean_up(struct play *play)
{
    if (play->client != NULL && play->world != 0 && play->run->connect != NULL) {
        fm_params_clear(&play->params);
        fm_params_uint(&play->params, FM_FIELD_WORLD, play->world);
        fm_client_set_timeout(play->client, 1000);
        if (fm_client_call(play->client, FM_METHOD_WORLD_DESTROY, &play->params, NULL) != FM_OK) {
            fprintf(stderr, "fogmarch-load: the world could not be destroyed\n");
        }
    }
    fm_client_destroy(play->client);
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    if (fm_server_process_stop(&play->server, error) != FM_OK) {
        fprintf(stderr, "fogmarch-load: %s\n", error);
    }
    fm_mirror_fini(&play->mirror);
    fm_params_fini(&play->params);
    fm_memory_release(&fm_memory_libc, play->problems,
                      play->problem_count * sizeof *play->problems);
    free(play->map);
    free(play->ids);
    free(play->before);
    free(play->arrivals);
    free(play->holders);
    free(play->held);
}

fm_status fm_mapf_run(const fm_mapf_options *options, const fm_run_options *run,
                      fm_mapf_result *result, char *error)
{
    static fm_status (*const steps[])(struct play *) = {
        prepare, connect_to_server, make_world, spawn, give_orders, run_ticks,
    };
    *result = (fm_mapf_result){0};
    struct play play = {.options = options, .run = run, .result = result, .error = error};
    fm_params_init(&play.params);
    fm_mirror_init(&play.mirror, 0, &mirror_ops, &play);
    fm_status status = FM_OK;
    for (size_t i = 0; status == FM_OK && i < FM_COUNT_OF(steps); i++) {
        status = steps[i](&play);
    }
    clean_up(&play);
    return status;
}

// ---- printing -----------------------------------------------------------------------------------

static uint32_t named_count(const fm_mapf_result *result)
{
    uint32_t stuck = result->score.stuck;
    return stuck < FM_MAPF_STUCK_MAX ? stuck : FM_MAPF_STUCK_MAX;
}

void fm_mapf_print(const fm_mapf_result *result, FILE *file)
{
    const fm_mapf_score *score = &result->score;
    fprintf(file,
            "%u of %u agents arrived, %u stand on their goals at the end, %u are stuck\n"
            "%u collisions\n"
            "makespan %u, sum of costs %llu%s\n"
            "%u ticks, 95 %% had arrived after %u; the longest path alone is %.1f cells\n",
            result->arrived, result->agents, score->on_goal_at_end, score->stuck,
            result->collisions, score->makespan, (unsigned long long)score->sum_of_costs,
            score->stuck > 0 ? "; a stuck agent costs all ticks" : "", result->ticks,
            result->ticks_95, result->longest_length);
    for (uint32_t i = 0; i < named_count(result); i++) {
        fm_cell cell = result->stuck[i].cell, goal = result->stuck[i].goal;
        fprintf(file, "agent %u is at %u,%u; its goal is %u,%u\n", result->stuck[i].agent,
                fm_cell_x(cell), fm_cell_y(cell), fm_cell_x(goal), fm_cell_y(goal));
    }
}

void fm_mapf_print_json(const fm_mapf_result *result, FILE *file)
{
    const fm_mapf_score *score = &result->score;
    fprintf(file,
            "{\"agents\": %u, \"arrived\": %u, \"on_goal_at_end\": %u, \"stuck\": %u, "
            "\"collisions\": %u, \"makespan\": %u, \"sum_of_costs\": %llu, \"ticks\": %u, "
            "\"ticks_95\": %u, \"ticks_max\": %u, \"longest_length\": %.6f, \"moves\": %llu, "
            "\"stuck_agents\": [",
            result->agents, result->arrived, score->on_goal_at_end, score->stuck,
            result->collisions, score->makespan, (unsigned long long)score->sum_of_costs,
            result->ticks, result->ticks_95, result->ticks_max, result->longest_length,
            (unsigned long long)result->moves);
    for (uint32_t i = 0; i < named_count(result); i++) {
        fm_cell cell = result->stuck[i].cell, goal = result->stuck[i].goal;
        fprintf(file, "%s{\"agent\": %u, \"cell\": [%u, %u], \"goal\": [%u, %u]}",
                i == 0 ? "" : ", ", result->stuck[i].agent, fm_cell_x(cell), fm_cell_y(cell),
                fm_cell_x(goal), fm_cell_y(goal));
    }
    fputs("]}\n", file);
}
