// loadtest/crash/crash.c: see crash.h.

#include "loadtest/crash/crash.h"

#include <fogmarch/connection.h>
#include <fogmarch/mirror.h>
#include "core/base/random.h"
#include "loadtest/crash/crash_book.h"
#include "loadtest/drive/server_process.h"
#include "loadtest/report/machine.h"
#include "server/journal/replay.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIDE            128u // cells of a world
#define CELL_COUNT      (SIDE * SIDE)
#define STRIDE          7919u // no divisor of CELL_COUNT: all cells, one after the other
#define TEAMS           2u
#define AGENTS_FIRST    100u    // of a team
#define AGENTS_MAX      512u    // of a world
#define UNDER_WAY_MAX   16u     // commands of a world
#define ATTACHED_US_MAX 400000u // microseconds from the last check to the kill
#define STARTING_US_MAX 60000u  // the same from the start, of those that are killed while starting
#define START_KILLS     4u      // one start in so many is killed
#define KEYFRAME_TICKS  "25"
#define PATIENCE_MS     30000
#define DETOUR_FIRST    10000u // of max_detour; so large that it has no effect
#define REPLAY_WORKERS  3u

struct crash;

// A command that has no answer yet.
struct under_way {
    struct world *world; // NULL: free
    uint32_t index;      // in the book
};

struct world {
    struct crash *crash;
    uint64_t number; // 0: not made yet
    const char *name;
    double tick_hz;
    fm_crash_book book;
    char journal[320];
    uint64_t sequence; // of commands
    uint64_t ids[AGENTS_MAX];
    uint32_t agent_count; // that a client was sent
    // of this round
    fm_client *commander, *watcher;
    fm_mirror mirror;
    bool asked; // for tick and digest
    struct under_way under_way[UNDER_WAY_MAX];
    char resume[2][FM_CLIENT_RESUME_SIZE]; // of the last round's commander and watcher
};

struct crash {
    const fm_crash_options *options;
    const fm_run_options *run;
    fm_crash_result *result;
    char *error;
    fm_random random;
    fm_params params;
    char folder[256];
    fm_server_process server;
    struct world worlds[FM_CRASH_WORLDS];
    fm_status status; // of callbacks
};

static const struct {
    const char *name;
    double tick_hz;
} plans[FM_CRASH_WORLDS] = {{"fast", 250}, {"slow", 40}};

__attribute__((format(printf, 3, 4))) static fm_status fail(struct crash *crash, fm_status status,
                                                            const char *format, ...)
{
    if (crash->error[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(crash->error, FM_RUN_ERROR_SIZE, format, arguments);
        va_end(arguments);
    }
    return status;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

// ---- what clients are sent ---------------------------------------------------------------------

static void note(struct crash *crash, fm_status status)
{
    if (status != FM_OK && crash->status == FM_OK) {
        crash->status = fail(crash, status, "%s", fm_status_text(status));
    }
}

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    struct world *world = context;
    fm_status status = fm_mirror_apply(&world->mirror, notification, params);
    if (status != FM_OK) {
        note(world->crash, fail(world->crash, status, "world %s: a delta that does not fit: %s",
                                world->name, fm_status_text(status)));
    }
    note(world->crash, fm_crash_book_hear(&world->book, world->mirror.tick, 0));
}

static uint64_t digest_of(const msgpack_object *answer)
{
    char text[32];
    return fm_object_text(answer, "digest", text, sizeof text) ? strtoull(text, NULL, 16) : 0;
}

static void hear_digest(struct world *world, const msgpack_object *answer)
{
    note(world->crash,
         fm_crash_book_hear(&world->book, fm_object_uint(answer, "tick", 0), digest_of(answer)));
}

static void on_info(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *answer)
{
    struct world *world = context;
    (void)id;
    world->asked = false;
    if (error == NULL) {
        hear_digest(world, answer);
    }
}

static void take_ids(struct world *world, const msgpack_object *answer)
{
    fm_numbers ids = fm_object_numbers(answer, "agents");
    for (uint32_t i = 0; i < ids.count && world->agent_count < AGENTS_MAX; i++) {
        world->ids[world->agent_count++] = fm_numbers_at(ids, i);
    }
}

// No answer at all, because the connection broke, says nothing about the command.
static void take_answer(struct world *world, uint32_t index, const fm_client_error *error,
                        const msgpack_object *answer)
{
    fm_crash_command *command = &world->book.commands[index];
    if (error == NULL) {
        command->answer = FM_CRASH_DONE;
        if (command->kind == FM_COMMAND_SPAWN) {
            take_ids(world, answer);
        }
    } else if (error->status != FM_ERR_IO) {
        command->answer = FM_CRASH_REFUSED;
    }
}

static void on_answer(void *context, uint64_t id, const fm_client_error *error,
                      const msgpack_object *answer)
{
    struct under_way *under_way = context;
    (void)id;
    take_answer(under_way->world, under_way->index, error, answer);
    under_way->world = NULL;
}

// ---- requests ----------------------------------------------------------------------------------

static fm_status call(struct world *world, fm_client *client, fm_method method,
                      const msgpack_object **answer)
{
    struct crash *crash = world->crash;
    if (world->number != 0) {
        fm_params_uint(&crash->params, FM_FIELD_WORLD, world->number);
    }
    fm_status status = fm_client_call(client, method, &crash->params, answer);
    fm_params_clear(&crash->params);
    return status == FM_OK ? FM_OK
                           : fail(crash, status, "%s: %s", fm_method_name(method),
                                  fm_client_error_last(client)->message);
}

static fm_status call_command(struct world *world, fm_method method, fm_command_kind kind,
                              fm_cell cell, uint32_t mark, const msgpack_object **answer)
{
    uint32_t index;
    fm_status status = fm_crash_book_send(&world->book, kind, cell, mark, &index);
    if (status != FM_OK) {
        fm_params_clear(&world->crash->params);
        return fail(world->crash, status, "%s", fm_status_text(status));
    }
    const msgpack_object *got = NULL;
    status = call(world, world->commander, method, &got);
    if (status == FM_OK) {
        take_answer(world, index, NULL, got);
        *answer = got;
    }
    return status;
}

static fm_status make_world(struct world *world, fm_cell bases[TEAMS])
{
    fm_params *params = &world->crash->params;
    fm_params_text(params, FM_FIELD_NAME, world->name);
    fm_params_text(params, FM_FIELD_GENERATOR, "skirmish");
    fm_params_uint(params, FM_FIELD_WIDTH, SIDE);
    fm_params_uint(params, FM_FIELD_HEIGHT, SIDE);
    fm_params_uint(params, FM_FIELD_PLAYERS, TEAMS);
    fm_params_uint(params, FM_FIELD_SEED, world->crash->options->seed);
    fm_params_real(params, FM_FIELD_TICK_HZ, world->tick_hz);
    const msgpack_object *answer;
    fm_status status = call(world, world->commander, FM_METHOD_WORLD_CREATE, &answer);
    if (status != FM_OK) {
        return status;
    }
    world->number = fm_object_uint(answer, "world", 0);
    fm_numbers numbers = fm_object_numbers(answer, "bases");
    for (uint32_t i = 0; i < TEAMS && 2 * i + 1 < numbers.count; i++) {
        bases[i] = fm_cell_at((uint32_t)fm_numbers_at(numbers, 2 * i),
                              (uint32_t)fm_numbers_at(numbers, 2 * i + 1));
    }
    snprintf(world->journal, sizeof world->journal, "%s/%llu-%s.journal", world->crash->folder,
             (unsigned long long)world->number, world->name);
    return FM_OK;
}

static fm_status make_team(struct world *world, fm_cell base)
{
    fm_params *params = &world->crash->params;
    const msgpack_object *answer;
    fm_params_uint(params, FM_FIELD_WEIGHT, 1);
    fm_status status =
        call_command(world, FM_METHOD_TEAM_CREATE, FM_COMMAND_TEAM, FM_CELL_NONE, 1, &answer);
    if (status != FM_OK) {
        return status;
    }
    fm_cell cells[AGENTS_FIRST];
    for (uint32_t i = 0; i < AGENTS_FIRST; i++) {
        cells[i] = base;
    }
    fm_params_uint(params, FM_FIELD_TEAM, fm_object_uint(answer, "team", 0));
    fm_params_cells(params, FM_FIELD_CELLS, cells, AGENTS_FIRST);
    return call_command(world, FM_METHOD_AGENT_SPAWN, FM_COMMAND_SPAWN, base, AGENTS_FIRST,
                        &answer);
}

static fm_status populate(struct world *world)
{
    fm_cell bases[TEAMS] = {0};
    fm_status status = make_world(world, bases);
    for (uint32_t i = 0; status == FM_OK && i < TEAMS; i++) {
        status = make_team(world, bases[i]);
    }
    return status;
}

// ---- commands at any moment --------------------------------------------------------------------

static fm_cell next_cell(struct world *world)
{
    uint32_t place = (uint32_t)(world->sequence * STRIDE % CELL_COUNT);
    return fm_cell_at(place % SIDE, place / SIDE);
}

// Packs one of three kinds, whose first cell and mark come from how many there were before.
static fm_command_kind pack_command(struct world *world, fm_cell cell, uint32_t *mark,
                                    fm_method *method)
{
    struct crash *crash = world->crash;
    fm_params *params = &crash->params;
    uint32_t draw = fm_random_below(&crash->random, 100);
    fm_params_uint(params, FM_FIELD_WORLD, world->number);
    fm_params_cells(params, draw < 60 || draw >= 95 ? FM_FIELD_CELLS : FM_FIELD_GOAL, &cell, 1);
    if (draw < 60) {
        *mark = 2 + (uint32_t)(world->sequence * 13 % 249);
        *method = FM_METHOD_TERRAIN_SET;
        fm_params_text(params, FM_FIELD_SET, "cost");
        fm_params_uint(params, FM_FIELD_COST, *mark);
        return FM_COMMAND_TERRAIN;
    }
    if (draw < 95) {
        *mark = DETOUR_FIRST + (uint32_t)(world->sequence % 90000);
        *method = FM_METHOD_AGENT_ORDER;
        uint64_t id = world->ids[fm_random_below(&crash->random, world->agent_count)];
        fm_params_uints(params, FM_FIELD_AGENTS, &id, 1);
        fm_params_text(params, FM_FIELD_KIND, "move");
        fm_params_uint(params, FM_FIELD_MAX_DETOUR, *mark);
        return FM_COMMAND_ORDER;
    }
    *mark = 1;
    *method = FM_METHOD_AGENT_SPAWN;
    fm_params_uint(params, FM_FIELD_TEAM, 1 + fm_random_below(&crash->random, TEAMS));
    return FM_COMMAND_SPAWN;
}

static fm_status send_command(struct world *world, struct under_way *under_way)
{
    struct crash *crash = world->crash;
    world->sequence++;
    fm_cell cell = next_cell(world);
    uint32_t mark;
    fm_method method;
    fm_command_kind kind = pack_command(world, cell, &mark, &method);
    fm_status status = fm_crash_book_send(&world->book, kind, cell, mark, &under_way->index);
    if (status == FM_OK) {
        under_way->world = world;
        status =
            fm_client_send(world->commander, method, &crash->params, on_answer, under_way, NULL);
    }
    fm_params_clear(&crash->params);
    return status == FM_OK ? FM_OK
                           : fail(crash, status, "%s: %s", fm_method_name(method),
                                  fm_client_error_last(world->commander)->message);
}

static fm_status keep_busy(struct world *world)
{
    struct crash *crash = world->crash;
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < UNDER_WAY_MAX; i++) {
        if (world->under_way[i].world == NULL) {
            status = send_command(world, &world->under_way[i]);
        }
    }
    if (status == FM_OK && !world->asked) {
        fm_params_uint(&crash->params, FM_FIELD_WORLD, world->number);
        status = fm_client_send(world->watcher, FM_METHOD_WORLD_INFO, &crash->params, on_info,
                                world, NULL);
        fm_params_clear(&crash->params);
        world->asked = status == FM_OK;
    }
    return status;
}

// ---- a round -----------------------------------------------------------------------------------

static fm_status launch(struct crash *crash)
{
    const char *const flags[] = {"--journal-dir", crash->folder, "--keyframe-ticks", KEYFRAME_TICKS,
                                 NULL};
    const fm_server_options options = {.path = crash->run->server,
                                       .workers = crash->options->workers,
                                       .sessions_max = 16,
                                       .flags = flags};
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    return fm_server_process_launch(&options, &crash->server, error) == FM_OK
               ? FM_OK
               : fail(crash, FM_ERR_IO, "%s", error);
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000}, NULL);
}

static fm_status start(struct crash *crash, bool may_be_killed)
{
    fm_status status = launch(crash);
    while (status == FM_OK && may_be_killed && fm_random_below(&crash->random, START_KILLS) == 0) {
        sleep_us(fm_random_below(&crash->random, STARTING_US_MAX));
        fm_server_process_kill(&crash->server);
        crash->result->starts_killed++;
        status = launch(crash);
    }
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    if (status == FM_OK && fm_server_process_await(&crash->server, error) != FM_OK) {
        return fail(crash, FM_ERR_IO, "%s", error);
    }
    return status;
}

// With the session of the last round.
static fm_status connect_one(struct crash *crash, char resume[FM_CLIENT_RESUME_SIZE],
                             fm_client **client)
{
    fm_client_options options = fm_client_options_default();
    options.name = "fogmarch-load";
    bool is_back = resume[0] != '\0';
    options.resume = is_back ? resume : NULL;
    fm_client_error error;
    fm_client_welcome welcome;
    if (fm_client_connect(crash->server.address, &options, client, &error) != FM_OK) {
        return fail(crash, FM_ERR_IO, "%s: %s", crash->server.address, error.message);
    }
    if (fm_client_hello(*client, &welcome) != FM_OK) {
        return fail(crash, FM_ERR_IO, "hello: %s", fm_client_error_last(*client)->message);
    }
    crash->result->sessions_resumed += is_back && welcome.resumed;
    crash->result->sessions_refused += is_back && !welcome.resumed;
    memcpy(resume, welcome.resume, FM_CLIENT_RESUME_SIZE);
    return FM_OK;
}

// The whole view, as it was before anything is sent.
static fm_status watch(struct world *world)
{
    fm_mirror_init(&world->mirror, 0, NULL, NULL);
    fm_client_on_notification(world->watcher, on_notification, world);
    const msgpack_object *answer;
    fm_status status = call(world, world->watcher, FM_METHOD_SUBSCRIBE, &answer);
    uint64_t end_us = now_us() + PATIENCE_MS * UINT64_C(1000);
    while (status == FM_OK && world->mirror.keyframes == 0) {
        status = now_us() < end_us ? fm_client_wait(world->watcher, 100) : FM_ERR_IO;
    }
    return status == FM_OK ? world->crash->status
                           : fail(world->crash, status, "world %s: no keyframe", world->name);
}

// Every edit that is in the journal, and every unit that a client was sent, are in the view.
static void look(struct world *world)
{
    const fm_crash_book *book = &world->book;
    uint64_t missing = 0;
    for (uint32_t place = 0; place < CELL_COUNT; place++) {
        uint32_t look = fm_mirror_look(&world->mirror, place % SIDE, place / SIDE);
        missing += book->costs[place] != 0 && look >> 4 != book->costs[place] - 1u;
    }
    for (uint32_t i = 0; i < world->agent_count; i++) {
        missing += fm_mirror_find(&world->mirror, world->ids[i]) == NULL;
    }
    world->crash->result->lost_commands += missing;
}

static fm_status attach(struct world *world)
{
    struct crash *crash = world->crash;
    fm_status status = connect_one(crash, world->resume[0], &world->commander);
    if (status == FM_OK) {
        status = connect_one(crash, world->resume[1], &world->watcher);
    }
    if (status != FM_OK || world->number == 0) {
        return status == FM_OK ? populate(world) : status;
    }
    const msgpack_object *answer = NULL;
    uint64_t tick_told = world->book.tick_told;
    status = call(world, world->watcher, FM_METHOD_WORLD_INFO, &answer);
    if (status == FM_OK) {
        hear_digest(world, answer);
        uint64_t tick = fm_object_uint(answer, "tick", 0);
        crash->result->lost_ticks += tick < tick_told ? tick_told - tick : 0;
        status = watch(world);
    }
    if (status == FM_OK) {
        look(world);
    }
    return status;
}

// Reads what is there, and sends what can be sent.
static fm_status serve(struct crash *crash, int timeout_ms)
{
    struct pollfd fds[2 * FM_CRASH_WORLDS];
    fm_client *clients[2 * FM_CRASH_WORLDS];
    for (uint32_t i = 0; i < FM_CRASH_WORLDS; i++) {
        clients[2 * i] = crash->worlds[i].commander;
        clients[2 * i + 1] = crash->worlds[i].watcher;
    }
    for (uint32_t i = 0; i < FM_COUNT_OF(fds); i++) {
        fds[i] = (struct pollfd){fm_client_fd(clients[i]), fm_client_events(clients[i]), 0};
    }
    if (poll(fds, FM_COUNT_OF(fds), timeout_ms) < 0 && errno != EINTR) {
        return fail(crash, FM_ERR_IO, "poll: %s", strerror(errno));
    }
    fm_status status = crash->status;
    for (uint32_t i = 0; status == FM_OK && i < FM_COUNT_OF(fds); i++) {
        if (fds[i].revents != 0 &&
            (fm_client_on_readable(clients[i]) != FM_OK || fm_client_flush(clients[i]) != FM_OK)) {
            status = fail(crash, FM_ERR_IO, "the server disconnected: %s",
                          fm_client_error_last(clients[i])->message);
        }
    }
    return status;
}

static fm_status play(struct crash *crash)
{
    uint64_t end_us = now_us() + fm_random_below(&crash->random, ATTACHED_US_MAX);
    fm_status status = FM_OK;
    uint64_t us;
    while (status == FM_OK && (us = now_us()) < end_us) {
        for (uint32_t i = 0; status == FM_OK && i < FM_CRASH_WORLDS; i++) {
            status = keep_busy(&crash->worlds[i]);
        }
        if (status == FM_OK) {
            status = serve(crash, (int)((end_us - us) / 1000));
        }
    }
    return status == FM_OK ? crash->status : status;
}

// What the server had sent before it died counts.
static void detach(struct world *world)
{
    fm_client *clients[] = {world->commander, world->watcher};
    for (size_t i = 0; i < FM_COUNT_OF(clients); i++) {
        while (clients[i] != NULL && fm_client_wait(clients[i], PATIENCE_MS) == FM_OK) {
        }
        fm_client_destroy(clients[i]);
    }
    world->commander = world->watcher = NULL;
    world->asked = false;
    fm_mirror_fini(&world->mirror);
}

static fm_status check(struct world *world)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_status status = fm_crash_book_check(&world->book, world->journal, error);
    return status == FM_OK ? FM_OK : fail(world->crash, status, "%s", error);
}

static fm_status play_round(struct crash *crash, uint32_t round)
{
    fm_crash_result *result = crash->result;
    uint64_t begin_us = now_us();
    fm_status status = start(crash, round > 0);
    for (uint32_t i = 0; status == FM_OK && i < FM_CRASH_WORLDS; i++) {
        status = attach(&crash->worlds[i]);
    }
    double start_ms = (double)(now_us() - begin_us) / 1000;
    if (status == FM_OK) {
        status = play(crash);
    }
    fm_server_process_kill(&crash->server);
    for (uint32_t i = 0; i < FM_CRASH_WORLDS; i++) {
        detach(&crash->worlds[i]);
    }
    status = status == FM_OK ? crash->status : status;
    for (uint32_t i = 0; status == FM_OK && i < FM_CRASH_WORLDS; i++) {
        status = check(&crash->worlds[i]);
    }
    result->rounds += status == FM_OK;
    result->start_ms_mean += (start_ms - result->start_ms_mean) / (round + 1);
    result->start_ms_max = start_ms > result->start_ms_max ? start_ms : result->start_ms_max;
    return status;
}

// ---- the end -----------------------------------------------------------------------------------

// The whole journal once more: nothing that was there in a round is gone, and its replay gives the
// recorded digests.
static fm_status replay(struct world *world, fm_workers *workers)
{
    struct crash *crash = world->crash;
    fm_crash_result *result = crash->result;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_replay *replay;
    fm_status status = fm_replay_open(world->journal, &fm_memory_libc, &replay, error);
    if (status != FM_OK) {
        return fail(crash, status, "%s", error);
    }
    uint32_t count;
    const fm_journal_keyframe *first =
        fm_journal_reader_keyframes(fm_replay_reader(replay), &count);
    bool more = true;
    status = fm_replay_begin(replay, first, error);
    while (status == FM_OK && more) {
        fm_replay_step step;
        status = fm_replay_tick(replay, workers, &step, &more, error);
    }
    fm_replay_verdict verdict = fm_replay_verdict_get(replay);
    fm_replay_close(replay);
    result->ticks_replayed += verdict.ticks;
    result->digest_differences += verdict.differences;
    result->lost_commands += verdict.refused;
    return status == FM_OK ? FM_OK : fail(crash, status, "%s", error);
}

static fm_status finish(struct crash *crash)
{
    fm_workers *workers;
    fm_status status = fm_workers_create(REPLAY_WORKERS, &workers);
    if (status != FM_OK) {
        return fail(crash, status, "%s", fm_status_text(status));
    }
    crash->result->replay_workers = REPLAY_WORKERS;
    for (uint32_t i = 0; status == FM_OK && i < FM_CRASH_WORLDS; i++) {
        struct world *world = &crash->worlds[i];
        fm_crash_book_rewind(&world->book);
        status = check(world);
        if (status == FM_OK) {
            status = replay(world, workers);
        }
    }
    fm_workers_destroy(workers);
    return status;
}

static void sum_up(const fm_crash_book *book, fm_crash_result *result)
{
    result->commands_sent += book->command_count;
    result->commands_acknowledged += fm_crash_book_done(book);
    result->lost_commands += fm_crash_book_lost(book);
    result->unknown_commands += book->strangers;
    result->ticks += book->tick_last;
    result->lost_ticks += book->lost_ticks;
    result->digests_compared += book->digests_compared;
    result->digest_differences += book->digest_differences;
}

static void remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        (void)unlinkat(dirfd(entries), entry->d_name, 0); // fails on "." and "..", which is fine
    }
    if (entries != NULL) {
        closedir(entries);
    }
    (void)rmdir(folder);
}

static fm_status prepare(struct crash *crash)
{
    const char *place = getenv("TMPDIR") == NULL ? "/tmp" : getenv("TMPDIR");
    snprintf(crash->folder, sizeof crash->folder, "%.200s/fogmarch-crash-XXXXXX", place);
    if (mkdtemp(crash->folder) == NULL) {
        crash->folder[0] = '\0';
        return fail(crash, FM_ERR_IO, "%s: %s", place, strerror(errno));
    }
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < FM_CRASH_WORLDS; i++) {
        struct world *world = &crash->worlds[i];
        world->crash = crash;
        world->name = plans[i].name;
        world->tick_hz = plans[i].tick_hz;
        status = fm_crash_book_init(&world->book, SIDE);
    }
    return status == FM_OK ? FM_OK : fail(crash, status, "%s", fm_status_text(status));
}

static void tell(const struct crash *crash, uint32_t round)
{
    if (crash->run->progress == FM_RUN_PROGRESS_LINE) {
        fprintf(stderr, "\rround %u of %u ", round + 1, crash->options->rounds);
    } else if (crash->run->progress == FM_RUN_PROGRESS_LINES && (round + 1) % 20 == 0) {
        fprintf(stderr, "round %u of %u\n", round + 1, crash->options->rounds);
    }
}

fm_status fm_crash_run(const fm_crash_options *options, const fm_run_options *run,
                       fm_crash_result *result, char *error)
{
    struct crash *crash = calloc(1, sizeof *crash);
    *result = (fm_crash_result){0};
    error[0] = '\0';
    if (crash == NULL) {
        snprintf(error, FM_RUN_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    crash->options = options;
    crash->run = run;
    crash->result = result;
    crash->error = error;
    crash->random = fm_random_seed(options->seed);
    fm_params_init(&crash->params);
    uint64_t begin_us = now_us();
    fm_status status = prepare(crash);
    for (uint32_t round = 0; status == FM_OK && round < options->rounds; round++) {
        status = fm_run_is_interrupted() ? fail(crash, FM_ERR_IO, "interrupted")
                                         : play_round(crash, round);
        tell(crash, round);
    }
    if (status == FM_OK) {
        status = finish(crash);
    }
    for (uint32_t i = 0; i < FM_CRASH_WORLDS; i++) {
        sum_up(&crash->worlds[i].book, result);
        fm_crash_book_fini(&crash->worlds[i].book);
    }
    result->seconds = (double)(now_us() - begin_us) / 1e6;
    if (run->progress == FM_RUN_PROGRESS_LINE) {
        fputc('\n', stderr);
    }
    if (status == FM_OK && fm_crash_is_good(result)) {
        remove_folder(crash->folder);
    } else if (crash->folder[0] != '\0') {
        fprintf(stderr, "fogmarch-load: the journals are in %s\n", crash->folder);
    }
    fm_params_fini(&crash->params);
    free(crash);
    return status;
}

// ---- printing ----------------------------------------------------------------------------------

bool fm_crash_is_good(const fm_crash_result *result)
{
    return result->lost_commands == 0 && result->unknown_commands == 0 && result->lost_ticks == 0 &&
           result->digest_differences == 0 && result->sessions_refused == 0;
}

void fm_crash_print(const fm_crash_result *result, FILE *file)
{
    fprintf(file,
            "%u servers killed with clients attached, %u while they started\n"
            "%llu of %llu acknowledged commands lost, %llu unknown ones found\n"
            "%llu of %llu ticks lost\n"
            "%llu of %llu sessions did not come back as who they were\n"
            "%llu digest differences; %llu compared, %llu ticks replayed with %u workers\n"
            "back and attached within %.0f ms on average, %.0f ms at most; %.1f s in all\n",
            result->rounds, result->starts_killed, (unsigned long long)result->lost_commands,
            (unsigned long long)result->commands_acknowledged,
            (unsigned long long)result->unknown_commands, (unsigned long long)result->lost_ticks,
            (unsigned long long)result->ticks, (unsigned long long)result->sessions_refused,
            (unsigned long long)(result->sessions_resumed + result->sessions_refused),
            (unsigned long long)result->digest_differences,
            (unsigned long long)result->digests_compared,
            (unsigned long long)result->ticks_replayed, result->replay_workers,
            result->start_ms_mean, result->start_ms_max, result->seconds);
}

void fm_crash_print_json(const fm_crash_result *result, FILE *file)
{
    static fm_result machine;
    fm_result_describe_machine(&machine);
    fprintf(file,
            "{\"rounds\": %u, \"starts_killed\": %u, \"commands_sent\": %llu, "
            "\"commands_acknowledged\": %llu, \"lost_commands\": %llu, \"unknown_commands\": %llu, "
            "\"ticks\": %llu, \"lost_ticks\": %llu, \"digests_compared\": %llu, "
            "\"digest_differences\": %llu, \"sessions_resumed\": %llu, "
            "\"sessions_refused\": %llu, \"ticks_replayed\": %llu, \"replay_workers\": %u, "
            "\"start_ms_mean\": %.1f, \"start_ms_max\": %.1f, \"seconds\": %.1f, "
            "\"cpu\": \"%s\", \"cores\": %u, \"system\": \"%s\", \"version\": \"%s\", "
            "\"commit\": \"%s\", \"time\": \"%s\"}\n",
            result->rounds, result->starts_killed, (unsigned long long)result->commands_sent,
            (unsigned long long)result->commands_acknowledged,
            (unsigned long long)result->lost_commands, (unsigned long long)result->unknown_commands,
            (unsigned long long)result->ticks, (unsigned long long)result->lost_ticks,
            (unsigned long long)result->digests_compared,
            (unsigned long long)result->digest_differences,
            (unsigned long long)result->sessions_resumed,
            (unsigned long long)result->sessions_refused,
            (unsigned long long)result->ticks_replayed, result->replay_workers,
            result->start_ms_mean, result->start_ms_max, result->seconds, machine.cpu,
            (unsigned)machine.cores, machine.system, machine.version, machine.commit, machine.time);
}
