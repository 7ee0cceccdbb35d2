// test_world_file.c: a saved world is complete.
//
// Method: random games (script.h) in which the world is settled and saved at random ticks, and
// continues. Each file is loaded, must save to the same bytes, and then runs the same commands and
// records with 1, 2, 3 and 8 workers: every digest, and the bytes of each later save, must be the
// same. The same holds for a replay from the beginning that settles where the original did. Watched
// views must not change. Then files are cut off and changed, with and without corrected checksums:
// they must be refused, or be a world that can be played.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/world_state.h"
#include "tests/support/script.h"
#include "tests/support/support.h"

#define RUNS       24u
#define SAVES_MAX  4u
#define VIEWS_MAX  4u // teams of a script and the view of everything
#define MIRROR_MAX (2 * FM_SCRIPT_AGENTS_MAX)

// A file of the original run.
struct saved {
    uint32_t step; // between this step and the next; with `commands_too` after those of the next
    bool commands_too;
    fm_writer bytes;
};

struct saves {
    struct saved list[SAVES_MAX];
    uint32_t count;
};

// ---- watched views ------------------------------------------------------------------------------

// What a client knows that received all changes of a view.
struct mirror {
    fm_agent_look agents[MIRROR_MAX];
    uint32_t count;
};

static uint32_t find(const struct mirror *mirror, fm_agent_id name)
{
    for (uint32_t i = 0; i < mirror->count; i++) {
        if (fm_agent_id_pack(mirror->agents[i].name) == fm_agent_id_pack(name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void reflect(struct mirror *mirror, const fm_world *world, uint32_t team)
{
    fm_changes changes = fm_world_changes(world, team);
    for (uint32_t i = 0; i < changes.left_count; i++) {
        if (changes.left[i].reason == FM_LEAVE_DIED) {
            continue; // it was carried, and so out of the view
        }
        uint32_t at = find(mirror, changes.left[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        mirror->agents[at] = mirror->agents[--mirror->count];
    }
    for (uint32_t i = 0; i < changes.entered_count; i++) {
        assert_int_equal(find(mirror, changes.entered[i].name), UINT32_MAX);
        assert_true(mirror->count < MIRROR_MAX);
        mirror->agents[mirror->count++] = changes.entered[i];
    }
    for (uint32_t i = 0; i < changes.changed_count; i++) {
        uint32_t at = find(mirror, changes.changed[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        mirror->agents[at] = changes.changed[i];
    }
}

static void check_mirror(const struct mirror *mirror, const fm_world *world, uint32_t team)
{
    fm_agent_look looks[MIRROR_MAX];
    uint32_t count = fm_world_agents_in_view(world, team, looks, MIRROR_MAX);
    assert_int_equal(count, mirror->count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find(mirror, looks[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        assert_int_equal(mirror->agents[at].cell, looks[i].cell);
        assert_int_equal(mirror->agents[at].state, looks[i].state);
    }
}

// ---- the original -------------------------------------------------------------------------------

static void save(fm_world *world, fm_writer *bytes)
{
    *bytes = fm_writer_init(&fm_memory_libc);
    fm_world_settle(world);
    assert_true(fm_world_is_settled(world));
    assert_int_equal(fm_world_save(world, bytes), FM_OK);
}

static void save_original(struct saves *saves, fm_world *world, uint32_t step, bool commands_too)
{
    struct saved *saved = &saves->list[saves->count++];
    saved->step = step;
    saved->commands_too = commands_too;
    save(world, &saved->bytes);
}

static void record_original(fm_script *script, struct saves *saves, fm_random *random)
{
    fm_world *world = fm_script_make_world(script);
    struct mirror mirrors[VIEWS_MAX] = {0};
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    for (uint32_t i = 0; i < FM_SCRIPT_TICKS; i++) {
        bool saves_now = saves->count < SAVES_MAX && fm_random_below(random, 30) == 0;
        bool commands_too = saves_now && i > 0 && fm_random_below(random, 3) == 0;
        if (saves_now && !commands_too) {
            save_original(saves, world, i, false);
        }
        fm_script_write(script, world, random, i);
        fm_script_apply(script, world, i, true);
        if (commands_too) {
            save_original(saves, world, i, true);
        }
        for (uint32_t team = 1; i == 0 && team <= script->team_count; team++) {
            assert_int_equal(fm_world_watch(world, team, true), FM_OK);
            mirrors[team].count =
                fm_world_agents_in_view(world, team, mirrors[team].agents, MIRROR_MAX);
        }
        fm_script_run(script, world, random, i);
        for (uint32_t team = 0; team <= script->team_count; team++) {
            reflect(&mirrors[team], world, team);
            check_mirror(&mirrors[team], world, team);
        }
    }
    fm_world_destroy(world);
}

// ---- the others ---------------------------------------------------------------------------------

static fm_world *load(const fm_writer *bytes)
{
    fm_world *world = NULL;
    fm_bytes_error error = {0};
    if (fm_world_load(bytes->data, bytes->size, &fm_memory_libc, &world, &error) != FM_OK) {
        fail_msg("at %zu: %s", error.offset, error.message);
    }
    return world;
}

static void check_bytes(fm_world *world, const struct saved *saved, const char *what)
{
    fm_writer again;
    save(world, &again);
    size_t size = again.size < saved->bytes.size ? again.size : saved->bytes.size;
    for (size_t i = 0; i < size; i++) {
        if (again.data[i] != saved->bytes.data[i]) {
            fail_msg("%s: byte %zu of %zu differs at step %u", what, i, size, saved->step);
        }
    }
    assert_int_equal(again.size, saved->bytes.size);
    fm_writer_fini(&again);
}

// Runs from a save, or from the beginning, to the end; settles and compares where the original was
// saved.
static void go_on(fm_script *script, const struct saves *saves, fm_world *world, uint32_t first,
                  uint32_t next_save, bool commands_done, uint32_t worker_count, const char *what)
{
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    for (uint32_t i = first; i < FM_SCRIPT_TICKS; i++) {
        const struct saved *saved = next_save < saves->count && saves->list[next_save].step == i
                                        ? &saves->list[next_save]
                                        : NULL;
        if (saved != NULL && !saved->commands_too) {
            check_bytes(world, saved, what);
        }
        if (i > first || !commands_done) {
            fm_script_apply(script, world, i, false);
        }
        if (saved != NULL && saved->commands_too) {
            check_bytes(world, saved, what);
        }
        next_save += saved != NULL;
        fm_script_replay(script, world, workers, i, what);
    }
    fm_workers_destroy(workers);
}

static void loaded_worlds_go_on_alike(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_script *script = fm_script_create(&random);
        struct saves saves = {0};
        record_original(script, &saves, &random);
        fm_world *again = fm_script_make_world(script);
        go_on(script, &saves, again, 0, 0, false, 1 + run % 3, "from the beginning");
        fm_world_destroy(again);
        for (uint32_t i = 0; i < saves.count; i++) {
            const struct saved *saved = &saves.list[i];
            fm_world *world = load(&saved->bytes);
            check_bytes(world, saved, "just loaded");
            go_on(script, &saves, world, saved->step, i + 1, saved->commands_too,
                  worker_counts[(run + i) % FM_COUNT_OF(worker_counts)], "from a file");
            fm_world_destroy(world);
        }
        for (uint32_t i = 0; i < saves.count; i++) {
            fm_writer_fini(&saves.list[i].bytes);
        }
        fm_script_destroy(script);
    }
}

// ---- damage -------------------------------------------------------------------------------------

// A file from the middle of a game.
static fm_writer make_file(fm_random *random)
{
    fm_script *script = fm_script_create(random);
    fm_world *world = fm_script_make_world(script);
    uint32_t ticks = 5 + fm_random_below(random, 60);
    fm_writer bytes;
    for (uint32_t i = 0; i < ticks; i++) {
        fm_script_write(script, world, random, i);
        fm_script_apply(script, world, i, true);
        fm_script_run(script, world, random, i);
    }
    save(world, &bytes);
    fm_world_destroy(world);
    fm_script_destroy(script);
    return bytes;
}

// Loads an exact copy of the bytes, so that a sanitizer finds reads past their end. An accepted
// file must be a world that can be played and saved.
static bool try_to_load(const uint8_t *bytes, size_t size)
{
    uint8_t *block = malloc(size + (size == 0));
    memcpy(block, bytes, size);
    fm_world *world = NULL;
    fm_bytes_error error = {0};
    fm_status status = fm_world_load(block, size, &fm_memory_libc, &world, &error);
    free(block);
    if (status != FM_OK) {
        assert_int_equal(status, FM_ERR_BAD_FORMAT);
        assert_null(world);
        assert_true(error.message[0] != '\0' && error.offset <= size);
        return false;
    }
    fm_tick_report report;
    for (uint32_t i = 0; i < 4; i++) {
        fm_tick_run(world, NULL, 20000, NULL, &report);
    }
    fm_writer again;
    save(world, &again);
    fm_writer_fini(&again);
    fm_world_destroy(world);
    return true;
}

static uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 8; i++) {
        value |= (uint64_t)bytes[i] << 8 * i;
    }
    return value;
}

static void write_u64(uint8_t *bytes, uint64_t value)
{
    for (uint32_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
}

#define FILE_HEAD_SIZE    12u
#define SECTION_HEAD_SIZE 9u
#define PLANNERS_SECTION  6u

// Corrects the checksums of all sections.
static void reseal(uint8_t *bytes, size_t size)
{
    size_t at = FILE_HEAD_SIZE;
    while (at + SECTION_HEAD_SIZE + 8 <= size) {
        size_t section = (size_t)read_u64(bytes + at + 1);
        at += SECTION_HEAD_SIZE;
        if (section > size - at - 8) {
            return;
        }
        write_u64(bytes + at + section, fm_bytes_checksum(bytes + at, section));
        at += section + 8;
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_writer bytes = make_file(&random);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_false(try_to_load(bytes.data, size));
    }
    for (uint32_t i = 0; i < 3000; i++) {
        size_t at = fm_random_below(&random, (uint32_t)bytes.size);
        uint8_t flip = (uint8_t)(1u << fm_random_below(&random, 8));
        bytes.data[at] ^= flip;
        assert_false(try_to_load(bytes.data, bytes.size));
        bytes.data[at] ^= flip;
    }
    fm_writer_put_u8(&bytes, 0);
    assert_false(try_to_load(bytes.data, bytes.size));
    fm_writer_fini(&bytes);
}

static void files_made_on_purpose_do_no_harm(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 1);
    uint32_t accepted = 0;
    for (uint32_t file = 0; file < 6; file++) {
        fm_writer bytes = make_file(&random);
        uint8_t *copy = malloc(bytes.size);
        for (uint32_t i = 0; i < 500; i++) {
            memcpy(copy, bytes.data, bytes.size);
            for (uint32_t flips = 1 + fm_random_below(&random, 3); flips > 0; flips--) {
                size_t at = FILE_HEAD_SIZE +
                            fm_random_below(&random, (uint32_t)bytes.size - FILE_HEAD_SIZE);
                copy[at] = fm_random_below(&random, 2) == 0
                               ? (uint8_t)(copy[at] ^ 1u << fm_random_below(&random, 8))
                               : (uint8_t)fm_random_below(&random, 256);
            }
            reseal(copy, bytes.size);
            accepted += try_to_load(copy, bytes.size);
        }
        free(copy);
        fm_writer_fini(&bytes);
    }
    print_message("%u of 3000 changed files were worlds\n", accepted);
}

// A section that ends too early, with all sizes and checksums right.
static void sections_cut_off_are_refused(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 2);
    fm_writer bytes = make_file(&random);
    size_t at = FILE_HEAD_SIZE;
    uint8_t *copy = malloc(bytes.size);
    while (at < bytes.size) {
        size_t section = (size_t)read_u64(bytes.data + at + 1);
        for (uint32_t i = 0; i < 60 && section > 0; i++) {
            size_t cut = 1 + fm_random_below(&random, (uint32_t)section);
            size_t end = at + SECTION_HEAD_SIZE + section;
            memcpy(copy, bytes.data, end - cut);
            memcpy(copy + end - cut, bytes.data + end, bytes.size - end);
            write_u64(copy + at + 1, section - cut);
            reseal(copy, bytes.size - cut);
            assert_false(try_to_load(copy, bytes.size - cut));
        }
        at += SECTION_HEAD_SIZE + section + 8;
    }
    free(copy);
    fm_writer_fini(&bytes);
}

// A file with a planner for each of four agents.
static fm_writer make_planners(void)
{
    fm_grid *grid;
    fm_world *world;
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = &fm_repeated_jps;
    assert_int_equal(fm_grid_create(40, 40, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_agent_id agents[4];
    const fm_cell cells[4] = {fm_cell_at(0, 0), fm_cell_at(0, 9), fm_cell_at(9, 9),
                              fm_cell_at(9, 0)};
    const fm_cell goals[4] = {fm_cell_at(39, 39), fm_cell_at(39, 30), fm_cell_at(30, 30),
                              fm_cell_at(30, 39)};
    const fm_command commands[] = {
        {.kind = FM_COMMAND_TEAM},
        {.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = 4},
        {.kind = FM_COMMAND_ORDER,
         .order = FM_ORDER_MOVE,
         .agents = agents,
         .agent_count = 4,
         .cells = goals,
         .cell_count = 4},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(commands); i++) {
        fm_command_result result = {.spawned = agents};
        fm_world_apply(world, &commands[i], &result);
        assert_int_equal(result.status, FM_OK);
    }
    fm_tick_report report;
    fm_tick_run(world, NULL, 100000, NULL, &report);
    fm_writer bytes;
    save(world, &bytes);
    fm_world_destroy(world);
    return bytes;
}

// Slots of planners are differences to the one before. In a forged file one is as large as a number
// can be, at any place of the section: it must not overflow.
static void planners_far_away_are_refused(void **state)
{
    (void)state;
    static const uint8_t largest[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    fm_writer bytes = make_planners();
    size_t at = FILE_HEAD_SIZE;
    for (uint32_t i = 0; i < PLANNERS_SECTION; i++) {
        at += SECTION_HEAD_SIZE + (size_t)read_u64(bytes.data + at + 1) + 8;
    }
    size_t section = (size_t)read_u64(bytes.data + at + 1), begin = at + SECTION_HEAD_SIZE;
    assert_int_equal(bytes.data[begin], 4);
    uint8_t *copy = malloc(bytes.size + sizeof largest);
    for (size_t place = begin + 1; place < begin + section; place++) {
        memcpy(copy, bytes.data, place);
        memcpy(copy + place, largest, sizeof largest);
        memcpy(copy + place + sizeof largest, bytes.data + place, bytes.size - place);
        write_u64(copy + at + 1, section + sizeof largest);
        reseal(copy, bytes.size + sizeof largest);
        assert_false(try_to_load(copy, bytes.size + sizeof largest));
    }
    free(copy);
    fm_writer_fini(&bytes);
}

// A team has seen a cell of each building that it remembers, so there are no more of them.
static void more_buildings_than_known_cells_are_refused(void **state)
{
    (void)state;
    fm_grid *grid;
    fm_world *world;
    fm_world_rules rules = fm_world_rules_default();
    assert_int_equal(fm_grid_create(40, 40, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_rect rect = {4, 4, 3, 2};
    const fm_command commands[] = {
        {.kind = FM_COMMAND_TEAM},
        {.kind = FM_COMMAND_BUILD, .rects = &rect, .rect_count = 1},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(commands); i++) {
        fm_command_result result = {.spawned = NULL};
        fm_world_apply(world, &commands[i], &result);
        assert_int_equal(result.status, FM_OK);
    }
    fm_knowledge *knowledge = fm_team_of(world, 1)->knowledge;
    fm_buildings_seen_note(&knowledge->buildings_seen, &world->map.buildings, fm_cell_at(4, 4));
    fm_writer bytes;
    save(world, &bytes);
    fm_world_destroy(world);
    fm_bytes_error error = {0};
    assert_int_equal(fm_world_load(bytes.data, bytes.size, &fm_memory_libc, &world, &error),
                     FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(error.message, "A team that knows 0 cells has seen 1 buildings."));
    fm_writer_fini(&bytes);
}

// If any allocation fails, nothing leaks, and the error is that.
static void loading_without_memory_leaves_nothing(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 3);
    fm_writer bytes = make_file(&random);
    bool loaded = false;
    for (uint64_t blocks = 0; !loaded; blocks++) {
        fm_test_memory memory;
        fm_test_memory_init(&memory, blocks);
        fm_world *world = NULL;
        fm_bytes_error error = {0};
        fm_status status = fm_world_load(bytes.data, bytes.size, &memory.memory, &world, &error);
        loaded = status == FM_OK;
        if (loaded) {
            fm_world_destroy(world);
        } else {
            assert_int_equal(status, FM_ERR_NO_MEMORY);
            assert_string_equal(error.message, fm_status_text(FM_ERR_NO_MEMORY));
            assert_null(world);
        }
        assert_int_equal(memory.held, 0);
    }
    fm_writer_fini(&bytes);
}

#define EMPTY_SECTION_SIZE 18u // which, size, a count of 0, checksum

// Takes the last number of the head away, which came with a later version.
static void shorten_head(fm_writer *bytes)
{
    size_t size = (size_t)read_u64(bytes->data + FILE_HEAD_SIZE + 1), cut = 1;
    uint8_t *end = bytes->data + FILE_HEAD_SIZE + SECTION_HEAD_SIZE + size;
    while (end[-(ptrdiff_t)cut - 1] & 0x80) {
        cut += 1;
    }
    memmove(end - cut, end, (size_t)(bytes->data + bytes->size - end));
    bytes->size -= cut;
    write_u64(bytes->data + FILE_HEAD_SIZE + 1, size - cut);
    reseal(bytes->data, bytes->size);
}

// Version 1 had agents of another shape where a cell holds one unit.
static void files_of_version_1_are_read_where_they_can_be(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t seen[2] = {0, 0};
    for (uint32_t i = 0; i < 60 && (seen[0] == 0 || seen[1] == 0); i++) {
        fm_writer bytes = make_file(&random);
        fm_world *world = load(&bytes), *older = NULL;
        bool exclusive = fm_script_is_exclusive(world);
        bool is_newer = fm_script_has_renamed(world) || fm_script_has_costs(world) ||
                        fm_script_has_carried(world);
        fm_world_destroy(world);
        if (is_newer) { // older versions could not write it
            fm_writer_fini(&bytes);
            continue;
        }
        fm_bytes_error error = {0};
        bytes.data[8] = 1;
        bytes.size -= EMPTY_SECTION_SIZE; // the section of receipts, which came later
        shorten_head(&bytes);             // version 7
        shorten_head(&bytes);             // version 5
        fm_status status = fm_world_load(bytes.data, bytes.size, &fm_memory_libc, &older, &error);
        assert_int_equal(status, exclusive ? FM_ERR_BAD_FORMAT : FM_OK);
        assert_int_equal(exclusive, strstr(error.message, "Version 1") != NULL);
        if (status == FM_OK) {
            fm_world_destroy(older);
        }
        seen[exclusive]++;
        fm_writer_fini(&bytes);
    }
    assert_true(seen[0] > 0 && seen[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_worlds_go_on_alike),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(files_made_on_purpose_do_no_harm),
        cmocka_unit_test(sections_cut_off_are_refused),
        cmocka_unit_test(planners_far_away_are_refused),
        cmocka_unit_test(more_buildings_than_known_cells_are_refused),
        cmocka_unit_test(loading_without_memory_leaves_nothing),
        cmocka_unit_test(files_of_version_1_are_read_where_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
