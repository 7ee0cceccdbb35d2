// test_replay.c: a journal can be replayed, forwards and backwards.
//
// Goal: every tick of a journal is as it was recorded, with any number of workers and from any
// keyframe; the state after a tick does not depend on the seeks before; a changed record or command
// is noticed at its tick; gaps, ends and growing files are handled. Method: made-up games
// (script.h) written into journals as a server does; seeks in random order, compared with a replay
// from the beginning.

#include "clients/cli/replay/world_diff.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/commands/order_command.h"
#include "core/orders/orders.h"
#include "core/saves/experiment.h"
#include "core/saves/settle.h"
#include "core/saves/world_save.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "server/journal/journal_file.h"
#include "server/journal/replay.h"
#include "tests/support/script.h"
#include "tests/support/support.h"

#include <ftw.h>
#include <unistd.h>

#define KEYFRAME_TICKS 25u
#define GAP_BEGIN      60u // first tick that is not written, in journals with a gap
#define GAP_END        68u // completed ticks at the keyframe behind it

#define STARVED_TICK 60u // the tick in which memory runs out, in some journals

static const fm_journal_pace pace = {.tick_hz = 10, .budget_ms = 50};

struct game {
    char folder[64], path[128];
    fm_random random;
    fm_script *script;
    fm_world *world;
    fm_world *shadow; // the same world, which decides which commands are accepted
    fm_journal_file *file;
    uint32_t step; // ticks completed
    uint64_t digests[FM_SCRIPT_TICKS + 1];
    bool writes; // false: in a gap
};

// The state of a world after a tick, with its searches but without their sizes: a path that existed
// before a keyframe has more room than one that was loaded from it.
struct sight {
    uint64_t digest, planners, expansions, open_cells, closed_cells, path_cells, moves;
};

// ---- writing a game into a journal -------------------------------------------------------------

static void check_file(fm_status status, const char *error)
{
    if (status != FM_OK) {
        fail_msg("%s", error);
    }
}

static fm_writer save(fm_world *world)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_world_settle(world);
    assert_int_equal(fm_world_save(world, &writer), FM_OK);
    return writer;
}

static fm_journal_world world_of(const struct game *game, const fm_writer *bytes)
{
    return (fm_journal_world){.tick = game->step,
                              .digest = game->digests[game->step],
                              .pace = pace,
                              .bytes = bytes->data,
                              .size = bytes->size};
}

static struct game *game_create(void)
{
    struct game *game = calloc(1, sizeof *game);
    assert_non_null(game);
    snprintf(game->folder, sizeof game->folder, "/tmp/fogmarch-replay-XXXXXX");
    assert_non_null(mkdtemp(game->folder));
    snprintf(game->path, sizeof game->path, "%s/1-game.journal", game->folder);
    game->random = fm_random_seed(fm_test_seed());
    game->script = fm_script_create(&game->random);
    game->world = fm_script_make_world(game->script);
    game->shadow = fm_script_make_world(game->script);
    game->writes = true;
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_journal_head head = {.name = "game", .number = 1};
    fm_writer bytes = save(game->world);
    fm_journal_world world = world_of(game, &bytes);
    check_file(
        fm_journal_file_create(game->path, &head, &world, FM_DURABILITY_NONE, &game->file, error),
        error);
    fm_writer_fini(&bytes);
    return game;
}

static void add_row(struct game *game, fm_journal_kind kind, uint64_t tick, const fm_writer *bytes)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    check_file(fm_journal_file_add(game->file, kind, tick, bytes == NULL ? NULL : bytes->data,
                                   bytes == NULL ? 0 : bytes->size, error),
               error);
}

static void add_keyframe(struct game *game)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_writer bytes = save(game->world);
    fm_world_settle(game->shadow);
    fm_journal_world world = world_of(game, &bytes);
    check_file(fm_journal_file_begin(game->file, error), error);
    if (!game->writes) {
        add_row(game, FM_JOURNAL_GAP, game->step, NULL);
        game->writes = true;
    }
    check_file(fm_journal_file_add_keyframe(game->file, &world, error), error);
    check_file(fm_journal_file_commit(game->file, error), error);
    fm_writer_fini(&bytes);
}

static void add_commands(struct game *game, const fm_script_step *step)
{
    for (uint32_t i = 0; i < step->command_count; i++) {
        fm_command_result result = {.status = FM_OK};
        fm_world_apply(game->shadow, &step->commands[i], &result);
        if (result.status == FM_OK && game->writes) {
            fm_writer bytes = fm_writer_init(&fm_memory_libc);
            assert_int_equal(fm_command_pack(&step->commands[i], &bytes), FM_OK);
            add_row(game, FM_JOURNAL_COMMAND, game->step + 1, &bytes);
            fm_writer_fini(&bytes);
        }
    }
}

static void add_record(struct game *game, fm_tick_record record, uint64_t tamper)
{
    record.digest ^= tamper;
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    assert_int_equal(fm_record_pack(&record, &bytes), FM_OK);
    add_row(game, FM_JOURNAL_TICK, record.tick, &bytes);
    fm_writer_fini(&bytes);
}

// One tick with its commands. `tamper` changes the digest that is written.
static void play_tick(struct game *game, uint64_t tamper)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_script_step *step = &game->script->steps[game->step];
    fm_script_write(game->script, game->world, &game->random, game->step);
    fm_script_apply(game->script, game->world, game->step, true);
    check_file(fm_journal_file_begin(game->file, error), error);
    add_commands(game, step);
    fm_script_run(game->script, game->world, &game->random, game->step);
    fm_tick_replay(game->shadow, NULL, &step->record, &(fm_tick_report){.expansions = 0});
    if (game->writes) {
        add_record(game, step->record, tamper);
    }
    check_file(fm_journal_file_commit(game->file, error), error);
    game->digests[++game->step] = step->record.digest;
}

// Plays up to a tick, with a keyframe now and then.
static void play(struct game *game, uint32_t to)
{
    while (game->step < to) {
        play_tick(game, 0);
        if (game->step % KEYFRAME_TICKS == 0 && game->writes) {
            add_keyframe(game);
        }
    }
}

static struct game *game_played(void)
{
    struct game *game = game_create();
    play(game, FM_SCRIPT_TICKS);
    return game;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void game_destroy(struct game *game)
{
    fm_journal_file_close(game->file);
    fm_world_destroy(game->world);
    fm_world_destroy(game->shadow);
    fm_script_destroy(game->script);
    nftw(game->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(game);
}

// ---- seeking -----------------------------------------------------------------------------------

static fm_replay *open_replay(const struct game *game)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay *replay;
    check_file(fm_replay_open(game->path, &fm_memory_libc, &replay, error), error);
    return replay;
}

static void seek(fm_replay *replay, uint64_t tick, fm_workers *workers)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    check_file(fm_replay_seek(replay, tick, workers, NULL, NULL, error), error);
    assert_int_equal(fm_replay_position(replay), tick);
}

static fm_replay_verdict run_through(fm_replay *replay, fm_workers *workers)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay_step step;
    bool more = true;
    while (more) {
        check_file(fm_replay_step_next(replay, workers, &step, &more, error), error);
    }
    return fm_replay_verdict_get(replay);
}

static struct sight look(fm_replay *replay)
{
    fm_world_counts counts;
    fm_world_counts_get(fm_replay_world(replay), &counts);
    struct sight sight = {.digest = fm_replay_digest(replay),
                          .planners = counts.planners,
                          .expansions = counts.expansions,
                          .moves = counts.moves};
    fm_world *world = fm_replay_world(replay);
    fm_agent_look looks[FM_SCRIPT_LOOKS_MAX];
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, FM_SCRIPT_LOOKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        fm_agent_report report;
        assert_int_equal(fm_world_inspect(world, looks[i].id, &report), FM_OK);
        sight.open_cells += report.open_count;
        sight.closed_cells += report.closed_count;
        sight.path_cells += fm_world_agent_path(world, looks[i].id, NULL, 0);
    }
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, false), FM_OK);
    return sight;
}

static void test_digests_are_those_of_the_recording(void **state)
{
    (void)state;
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    struct game *game = game_played();
    for (size_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
        fm_workers *workers;
        assert_int_equal(fm_workers_create(worker_counts[i], &workers), FM_OK);
        fm_replay *replay = open_replay(game);
        assert_int_equal(fm_replay_info(replay)->last_tick, FM_SCRIPT_TICKS);
        seek(replay, 0, workers);
        fm_replay_verdict verdict = run_through(replay, workers);
        assert_int_equal(verdict.ticks, FM_SCRIPT_TICKS);
        assert_int_equal(verdict.differences, 0);
        assert_int_equal(verdict.refused, 0);
        fm_replay_close(replay);
        fm_workers_destroy(workers);
    }
    game_destroy(game);
}

static void test_any_tick_from_anywhere(void **state)
{
    (void)state;
    struct game *game = game_played();
    struct sight sights[FM_SCRIPT_TICKS + 1];
    fm_replay *replay = open_replay(game);
    for (uint32_t tick = 0; tick <= FM_SCRIPT_TICKS; tick++) { // forwards
        seek(replay, tick, NULL);
        sights[tick] = look(replay);
        assert_int_equal(sights[tick].digest, tick == 0 ? 0 : game->digests[tick]);
    }
    for (uint32_t tick = FM_SCRIPT_TICKS; tick-- > 0;) { // backwards
        seek(replay, tick, NULL);
        struct sight here = look(replay);
        assert_memory_equal(&here, &sights[tick], sizeof here);
    }
    for (int i = 0; i < 60; i++) { // anywhere, with some steps in between
        uint32_t tick = fm_random_below(&game->random, FM_SCRIPT_TICKS + 1);
        seek(replay, tick, NULL);
        struct sight here = look(replay);
        assert_memory_equal(&here, &sights[tick], sizeof here);
        char error[FM_JOURNAL_ERROR_SIZE];
        fm_replay_step step;
        bool more;
        for (uint32_t k = fm_random_below(&game->random, 4); k > 0; k--) {
            check_file(fm_replay_step_next(replay, NULL, &step, &more, error), error);
        }
    }
    assert_int_equal(fm_replay_verdict_get(replay).differences, 0);
    fm_replay_close(replay);
    game_destroy(game);
}

static void test_a_changed_digest_is_found_at_its_tick(void **state)
{
    (void)state;
    struct game *game = game_create();
    play(game, 41);
    play_tick(game, 1); // tick 42
    play(game, FM_SCRIPT_TICKS);
    fm_replay *replay = open_replay(game);
    seek(replay, 0, NULL);
    fm_replay_verdict verdict = run_through(replay, NULL);
    assert_int_equal(verdict.first_difference, 42);
    assert_int_equal(verdict.differences, 1);
    assert_int_equal(verdict.ticks, FM_SCRIPT_TICKS);
    fm_replay_close(replay);
    game_destroy(game);
}

static void add_team_unwritten(fm_world *world)
{
    fm_command_result result = {.status = FM_OK};
    fm_orders_finish(world);
    fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    assert_int_equal(result.status, FM_OK);
}

// A missing command changes the world from its tick on.
static void test_a_missing_command_is_found_at_its_tick(void **state)
{
    (void)state;
    struct game *game = game_create();
    play(game, 30);
    char error[FM_JOURNAL_ERROR_SIZE];
    add_team_unwritten(game->world);
    fm_tick_report report;
    check_file(fm_journal_file_begin(game->file, error), error);
    fm_tick_run(game->world, NULL, 1000, NULL, &report);
    add_record(game, report.record, 0);
    check_file(fm_journal_file_commit(game->file, error), error);
    fm_replay *replay = open_replay(game);
    seek(replay, 0, NULL);
    fm_replay_verdict verdict = run_through(replay, NULL);
    assert_int_equal(verdict.first_difference, 31);
    assert_int_equal(verdict.differences, 1);
    fm_replay_close(replay);
    game_destroy(game);
}

static void expect_out_of_range(fm_replay *replay, uint64_t tick, const char *words)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    uint64_t before = fm_replay_position(replay);
    assert_int_equal(fm_replay_seek(replay, tick, NULL, NULL, NULL, error), FM_ERR_BAD_VALUE);
    if (strstr(error, words) == NULL || strstr(error, "1-game.journal") == NULL) {
        fail_msg("'%s' is not in: %s", words, error);
    }
    assert_int_equal(fm_replay_position(replay), before);
}

static void test_a_gap_is_crossed_and_not_entered(void **state)
{
    (void)state;
    struct game *game = game_create();
    play(game, GAP_BEGIN - 1);
    game->writes = false;
    play(game, GAP_END);
    add_keyframe(game);
    play(game, FM_SCRIPT_TICKS);
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay *replay = open_replay(game);
    seek(replay, 0, NULL);
    fm_replay_verdict verdict = run_through(replay, NULL);
    assert_int_equal(verdict.differences, 0);
    assert_int_equal(verdict.ticks, FM_SCRIPT_TICKS - (GAP_END - GAP_BEGIN + 1));
    static const uint64_t fine[] = {GAP_END + 1, GAP_BEGIN - 1, GAP_END, 3, FM_SCRIPT_TICKS};
    for (size_t i = 0; i < FM_COUNT_OF(fine); i++) {
        seek(replay, fine[i], NULL);
    }
    for (uint64_t tick = GAP_BEGIN; tick < GAP_END; tick++) {
        assert_int_equal(fm_replay_seek(replay, tick, NULL, NULL, NULL, error), FM_ERR_BAD_VALUE);
        assert_non_null(strstr(error, "ticks 60 to 67 were not written"));
    }
    seek(replay, FM_SCRIPT_TICKS, NULL);
    assert_int_equal(fm_replay_digest(replay), game->digests[FM_SCRIPT_TICKS]);
    fm_replay_close(replay);
    game_destroy(game);
}

// When memory runs out in a tick, its result does not follow from its record, and a keyframe
// replaces the record. Here a command that is not in the journal makes the difference.
static void play_starved_tick(struct game *game)
{
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_script_step *step = &game->script->steps[game->step];
    fm_script_write(game->script, game->world, &game->random, game->step);
    fm_script_apply(game->script, game->world, game->step, true);
    add_team_unwritten(game->world);
    char error[FM_JOURNAL_ERROR_SIZE];
    check_file(fm_journal_file_begin(game->file, error), error);
    add_commands(game, step);
    add_team_unwritten(game->shadow);
    fm_script_run(game->script, game->world, &game->random, game->step);
    fm_tick_replay(game->shadow, NULL, &step->record, &(fm_tick_report){.expansions = 0});
    game->digests[++game->step] = step->record.digest;
    assert_int_equal(fm_record_pack(&step->record, &bytes), FM_OK);
    add_row(game, FM_JOURNAL_GAP, game->step, &bytes);
    check_file(fm_journal_file_commit(game->file, error), error);
    fm_writer_fini(&bytes);
}

static void test_a_bridge_is_crossed(void **state)
{
    (void)state;
    static const uint64_t ticks[] = {STARVED_TICK, STARVED_TICK - 1, STARVED_TICK + 1, 3,
                                     STARVED_TICK, FM_SCRIPT_TICKS,  STARVED_TICK};
    struct game *game = game_create();
    play(game, STARVED_TICK - 1);
    play_starved_tick(game);
    add_keyframe(game);
    play(game, FM_SCRIPT_TICKS);
    fm_replay *replay = open_replay(game);
    assert_int_equal(fm_replay_info(replay)->last_tick, FM_SCRIPT_TICKS);
    seek(replay, 0, NULL);
    fm_replay_verdict verdict = run_through(replay, NULL);
    assert_int_equal(verdict.differences, 0);
    assert_int_equal(verdict.bridged, 1);
    assert_int_equal(verdict.ticks, FM_SCRIPT_TICKS - 1);
    for (size_t i = 0; i < FM_COUNT_OF(ticks); i++) {
        seek(replay, ticks[i], NULL);
        assert_int_equal(fm_replay_digest(replay), game->digests[ticks[i]]);
    }
    fm_replay_step step;
    bool more;
    char error[FM_JOURNAL_ERROR_SIZE];
    seek(replay, STARVED_TICK - 1, NULL);
    check_file(fm_replay_tick(replay, NULL, &step, &more, error), error);
    assert_true(more && step.bridged.tick == STARVED_TICK);
    assert_int_equal(fm_replay_position(replay), STARVED_TICK);
    fm_replay_close(replay);
    game_destroy(game);
}

// The keyframe behind it must have exactly that tick and digest.
static void test_a_bridge_that_leads_nowhere(void **state)
{
    (void)state;
    struct game *game = game_create();
    play(game, STARVED_TICK - 1);
    play_starved_tick(game);
    game->digests[STARVED_TICK] ^= 1;
    add_keyframe(game);
    fm_replay *replay = open_replay(game);
    char error[FM_JOURNAL_ERROR_SIZE];
    assert_int_equal(fm_replay_seek(replay, STARVED_TICK, NULL, NULL, NULL, error),
                     FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(error, "memory ran out in tick 60, and no keyframe of it follows"));
    fm_replay_close(replay);
    game_destroy(game);
}

static void test_a_journal_that_grows(void **state)
{
    (void)state;
    char error[FM_JOURNAL_ERROR_SIZE];
    struct game *game = game_create();
    fm_replay *replay = open_replay(game);
    expect_out_of_range(replay, 1, "tick 1 is not in this journal, which holds 0 to 0");
    for (uint32_t to = 10; to <= FM_SCRIPT_TICKS; to += 10) {
        play(game, to);
        check_file(fm_replay_refresh(replay, error), error);
        assert_int_equal(fm_replay_info(replay)->last_tick, to);
        seek(replay, to, NULL);
        seek(replay, to - 7, NULL);
        expect_out_of_range(replay, to + 1, "is not in this journal, which holds 0 to");
    }
    fm_replay_close(replay);
    game_destroy(game);
}

static bool give_up_at(void *context, uint64_t tick)
{
    return tick < *(uint64_t *)context;
}

static void test_a_long_way_can_be_given_up(void **state)
{
    (void)state;
    char error[FM_JOURNAL_ERROR_SIZE];
    struct game *game = game_create();
    play(game, 24);
    fm_replay *replay = open_replay(game);
    uint64_t end = 10;
    assert_int_equal(fm_replay_seek(replay, 24, NULL, give_up_at, &end, error), FM_ERR_BUSY);
    assert_int_equal(fm_replay_position(replay), 10);
    seek(replay, 24, NULL);
    assert_int_equal(fm_replay_verdict_get(replay).differences, 0);
    fm_replay_close(replay);
    game_destroy(game);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay *replay = NULL;
    assert_int_equal(fm_replay_open("/nowhere/1-a.journal", &fm_memory_libc, &replay, error),
                     FM_ERR_IO);
    assert_non_null(strstr(error, "/nowhere/1-a.journal: No such file"));
    struct game *game = game_create();
    char path[160];
    snprintf(path, sizeof path, "%s/text", game->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("This is a text and no database, however long it may continue.\n", file);
    fclose(file);
    assert_int_equal(fm_replay_open(path, &fm_memory_libc, &replay, error), FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(error, "/text: "));
    assert_null(replay);
    game_destroy(game);
}

// Nothing leaks when memory runs out while a world is loaded.
static void test_memory_that_runs_out(void **state)
{
    (void)state;
    char error[FM_JOURNAL_ERROR_SIZE];
    struct game *game = game_create();
    play(game, KEYFRAME_TICKS);
    bool loaded = false;
    for (uint64_t left = 0; !loaded; left = left * 9 / 8 + 1) {
        fm_test_memory memory;
        fm_test_memory_init(&memory, left);
        fm_replay *replay;
        check_file(fm_replay_open(game->path, &memory.memory, &replay, error), error);
        uint32_t count;
        const fm_journal_keyframe *keyframes =
            fm_journal_reader_keyframes(fm_replay_reader(replay), &count);
        fm_status status = fm_replay_begin(replay, &keyframes[count - 1], error);
        assert_true(status == FM_OK || status == FM_ERR_NO_MEMORY);
        assert_true((fm_replay_world(replay) != NULL) == (status == FM_OK));
        loaded = status == FM_OK;
        fm_replay_close(replay);
        assert_int_equal(memory.held, 0);
    }
    game_destroy(game);
}

// ---- differences between worlds ----------------------------------------------------------------

static uint64_t diff(fm_world *a, fm_world *b, fm_difference *differences, uint32_t capacity)
{
    fm_world *const worlds[2] = {a, b};
    uint64_t total;
    assert_int_equal(fm_world_diff(worlds, differences, capacity, &total), FM_OK);
    return total;
}

static const fm_difference *find_difference(const fm_difference *list, uint64_t count,
                                            fm_difference_kind kind, const char *field)
{
    for (uint64_t i = 0; i < count; i++) {
        if (list[i].kind == kind && strcmp(list[i].field, field) == 0) {
            return &list[i];
        }
    }
    fail_msg("no %s differs in %s", fm_difference_kind_name(kind), field);
    return NULL;
}

static fm_command_result command(fm_world *world, fm_command command)
{
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    return result;
}

// Two worlds at the same tick are equal; a later change of one of them is reported.
static void test_differences_are_named(void **state)
{
    (void)state;
    fm_world *worlds[2];
    fm_difference list[64];
    for (int i = 0; i < 2; i++) {
        fm_grid *grid;
        assert_int_equal(fm_grid_create(20, 10, &fm_memory_libc, &grid), FM_OK);
        fm_world_rules rules = fm_world_rules_default();
        assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &worlds[i]), FM_OK);
        command(worlds[i], (fm_command){.kind = FM_COMMAND_TEAM});
        command(worlds[i], (fm_command){.kind = FM_COMMAND_SPAWN,
                                        .team = 1,
                                        .cells = (fm_cell[]){fm_cell_at(1, 1), fm_cell_at(2, 2)},
                                        .cell_count = 2});
    }
    assert_int_equal(diff(worlds[0], worlds[1], list, FM_COUNT_OF(list)), 0);
    const fm_agent_id second = {.index1 = 2};
    command(worlds[1], (fm_command){.kind = FM_COMMAND_ORDER,
                                    .agents = &second,
                                    .agent_count = 1,
                                    .order = FM_ORDER_MOVE,
                                    .cells = (fm_cell[]){fm_cell_at(9, 7)},
                                    .cell_count = 1});
    uint64_t total = diff(worlds[0], worlds[1], list, FM_COUNT_OF(list));
    const fm_difference *goal = find_difference(list, total, FM_DIFFERENCE_AGENT, "goal");
    assert_int_equal(goal->id, 2);
    assert_string_equal(goal->values[0], "none");
    assert_string_equal(goal->values[1], "9,7");
    command(worlds[1], (fm_command){.kind = FM_COMMAND_TERRAIN,
                                    .cells = (fm_cell[]){fm_cell_at(3, 4)},
                                    .cell_count = 1,
                                    .terrain = FM_TERRAIN_WATER});
    command(worlds[0],
            (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &second, .agent_count = 1});
    total = diff(worlds[0], worlds[1], list, FM_COUNT_OF(list));
    const fm_difference *cell = find_difference(list, total, FM_DIFFERENCE_CELL, "terrain");
    assert_int_equal(cell->cell, fm_cell_at(3, 4));
    assert_string_equal(cell->values[1], "water, cost 1");
    const fm_difference *life = find_difference(list, total, FM_DIFFERENCE_AGENT, "existence");
    assert_int_equal(life->id, 2);
    assert_string_equal(life->values[0], "not there");
    assert_true(diff(worlds[0], worlds[1], list, 1) > 1);
    fm_world_destroy(worlds[0]);
    fm_world_destroy(worlds[1]);
}

// ---- another planner ---------------------------------------------------------------------------

// core/saves/experiment.h: all units search with the new planner, and the world continues.
static void test_another_planner(void **state)
{
    (void)state;
    struct game *game = game_played();
    fm_replay *replay = open_replay(game);
    seek(replay, FM_SCRIPT_TICKS / 2, NULL);
    fm_world *world = fm_replay_take_world(replay);
    assert_null(fm_replay_world(replay));
    fm_planner_spec spec;
    assert_int_equal(fm_planner_spec_parse("adaptive-astar", &spec, NULL, 0), FM_OK);
    uint32_t kept;
    assert_int_equal(fm_world_use_planner(world, &spec, &kept), FM_OK);
    assert_int_equal(kept, 0);
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    assert_int_equal(counts.planners, 0); // all old searches are gone
    for (int i = 0; i < 20; i++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, 20000, NULL, &report);
    }
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    fm_agent_look looks[FM_SCRIPT_LOOKS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, FM_SCRIPT_LOOKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        fm_agent_report report;
        assert_int_equal(fm_world_describe(world, looks[i].id, &report), FM_OK);
        assert_string_equal(report.planner, "adaptive-astar");
    }
    fm_world_destroy(world);
    seek(replay, 5, NULL); // the replay makes a new world
    assert_int_equal(fm_replay_digest(replay), game->digests[5]);
    fm_replay_close(replay);
    game_destroy(game);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests_are_those_of_the_recording),
        cmocka_unit_test(test_any_tick_from_anywhere),
        cmocka_unit_test(test_a_changed_digest_is_found_at_its_tick),
        cmocka_unit_test(test_a_missing_command_is_found_at_its_tick),
        cmocka_unit_test(test_a_gap_is_crossed_and_not_entered),
        cmocka_unit_test(test_a_bridge_is_crossed),
        cmocka_unit_test(test_a_bridge_that_leads_nowhere),
        cmocka_unit_test(test_a_journal_that_grows),
        cmocka_unit_test(test_a_long_way_can_be_given_up),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_memory_that_runs_out),
        cmocka_unit_test(test_differences_are_named),
        cmocka_unit_test(test_another_planner),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
