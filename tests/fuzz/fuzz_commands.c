// tests/fuzz/fuzz_commands.c: any bytes as the commands and tick records that a journal holds
// between two keyframes, given to a small world.
//
// Each blob is refused with a sentence, or packs to the same bytes again: the world accepts or
// refuses a command as a whole, and replays a record. A second world gets the bytes that were
// packed again, and replays what the first one recorded; both have the same digest after each tick.
//
// An input: byte 0 chooses the rules; then blobs, each with its size before it (one byte). A blob
// of size 0 is a tick that the first world runs by itself, and the second one replays.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "tests/fuzz/fuzz.h"

#include "core/map/map_file.h"
#include "core/saves/command_file.h"

#include <string.h>

#define BLOBS_MAX  64u
#define BUDGET     200u // expansions of a tick
#define AGENTS_MAX 64u

struct pair {
    fm_world *worlds[2];
    fm_writer writer;
};

static const char map[] = "type octile\nheight 10\nwidth 14\nmap\n"
                          "..............\n"
                          "..@@@@........\n"
                          "..@..@...TT...\n"
                          "..@.......T...\n"
                          "..@@@@....TWW.\n"
                          "...........WW.\n"
                          "@@@@.@@@@@@@@@\n"
                          "..............\n"
                          "....SSSS......\n"
                          "..............\n";

static fm_world_rules rules_of(uint8_t choice)
{
    static const char *const planners[] = {"dstar-lite", "auto", "rtaa-star:lookahead=5",
                                           "astar:heuristic=landmarks"};
    fm_world_rules rules = fm_world_rules_default();
    fm_status status = fm_planner_spec_parse(planners[choice % 4], &rules.planner, NULL, 0);
    FM_ASSERT(status == FM_OK);
    status = fm_movement_classes_parse("ground;tank:size=2;boat:water=1", rules.classes,
                                       &rules.class_count, NULL, 0);
    FM_ASSERT(status == FM_OK);
    rules.occupancy = (choice & 4) != 0 ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
    rules.omniscient = (choice & 8) != 0;
    rules.sense.line_of_sight = (choice & 16) != 0;
    rules.agents_max = AGENTS_MAX;
    rules.teams_max = 8;
    return rules;
}

static fm_world *make_world(uint8_t choice)
{
    fm_world_rules rules = rules_of(choice);
    fm_grid *grid;
    fm_world *world;
    fm_status status = fm_map_read(map, sizeof map - 1, &fm_memory_libc, &grid, NULL);
    FM_ASSERT(status == FM_OK);
    status = fm_world_create(&rules, grid, &fm_memory_libc, &world);
    FM_ASSERT(status == FM_OK);
    return world;
}

static void apply(struct pair *pair, const fm_command *first, const fm_command *second)
{
    fm_agent_id spawned[2][AGENTS_MAX];
    fm_command_result results[2] = {{.spawned = spawned[0]}, {.spawned = spawned[1]}};
    bool is_room = first->kind != FM_COMMAND_SPAWN || first->cell_count <= AGENTS_MAX;
    if (!is_room) {
        results[0].spawned = results[1].spawned = NULL;
    }
    fm_world_apply(pair->worlds[0], first, &results[0]);
    fm_world_apply(pair->worlds[1], second, &results[1]);
    FM_ASSERT(results[0].status == results[1].status);
    FM_ASSERT(results[0].failed_index == results[1].failed_index);
    FM_ASSERT(results[0].changed_count == results[1].changed_count);
}

static void check_same_bytes(const fm_writer *writer, const uint8_t *bytes, size_t size)
{
    FM_ASSERT(writer->size == size && memcmp(writer->data, bytes, size) == 0);
}

static void take_command(struct pair *pair, const uint8_t *bytes, size_t size)
{
    fm_bytes_error error = {.message = ""};
    fm_command_copy *first = NULL, *second = NULL;
    fm_status status = fm_command_unpack(bytes, size, &fm_memory_libc, &first, &error);
    if (status != FM_OK) {
        FM_ASSERT(first == NULL && error.message[0] != '\0' && error.offset <= size);
        return;
    }
    fm_writer_clear(&pair->writer);
    status = fm_command_pack(&first->command, &pair->writer);
    FM_ASSERT(status == FM_OK);
    check_same_bytes(&pair->writer, bytes, size);
    status =
        fm_command_unpack(pair->writer.data, pair->writer.size, &fm_memory_libc, &second, &error);
    FM_ASSERT(status == FM_OK);
    apply(pair, &first->command, &second->command);
    fm_command_copy_destroy(first, &fm_memory_libc);
    fm_command_copy_destroy(second, &fm_memory_libc);
}

static void replay_both(struct pair *pair, const fm_tick_record *record)
{
    fm_tick_report reports[2];
    fm_tick_replay(pair->worlds[0], NULL, record, &reports[0]);
    fm_tick_replay(pair->worlds[1], NULL, record, &reports[1]);
    FM_ASSERT(reports[0].record.digest == reports[1].record.digest);
}

static void take_record(struct pair *pair, const uint8_t *bytes, size_t size)
{
    fm_bytes_error error = {.message = ""};
    fm_record_copy *copy = NULL;
    fm_status status = fm_record_unpack(bytes, size, &fm_memory_libc, &copy, &error);
    if (status != FM_OK) {
        FM_ASSERT(copy == NULL && error.message[0] != '\0' && error.offset <= size);
        return;
    }
    fm_writer_clear(&pair->writer);
    status = fm_record_pack(&copy->record, &pair->writer);
    FM_ASSERT(status == FM_OK);
    if (bytes[1] == FM_RECORD_VERSION) { // older records are written in the current version
        check_same_bytes(&pair->writer, bytes, size);
    }
    replay_both(pair, &copy->record);
    fm_record_copy_destroy(copy, &fm_memory_libc);
}

// The first world runs a tick, the second one replays its record as a journal would give it.
static void run_tick(struct pair *pair)
{
    fm_tick_report report, replayed;
    fm_record_copy *copy;
    fm_tick_run(pair->worlds[0], NULL, BUDGET, NULL, &report);
    fm_writer_clear(&pair->writer);
    fm_status status = fm_record_pack(&report.record, &pair->writer);
    FM_ASSERT(status == FM_OK);
    status = fm_record_unpack(pair->writer.data, pair->writer.size, &fm_memory_libc, &copy, NULL);
    FM_ASSERT(status == FM_OK);
    fm_tick_replay(pair->worlds[1], NULL, &copy->record, &replayed);
    FM_ASSERT(replayed.record.digest == report.record.digest);
    FM_ASSERT(replayed.record.digest == copy->record.digest);
    fm_record_copy_destroy(copy, &fm_memory_libc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) {
        return 0;
    }
    struct pair pair = {{make_world(bytes[0]), make_world(bytes[0])},
                        fm_writer_init(&fm_memory_libc)};
    size_t at = 1;
    for (uint32_t i = 0; i < BLOBS_MAX && at < size; i++) {
        size_t blob_size = bytes[at++], left = size - at;
        blob_size = blob_size < left ? blob_size : left;
        if (blob_size == 0) {
            run_tick(&pair);
        } else if (bytes[at] == 'T') {
            take_record(&pair, bytes + at, blob_size);
        } else {
            take_command(&pair, bytes + at, blob_size);
        }
        at += blob_size;
    }
    fm_writer_fini(&pair.writer);
    fm_world_destroy(pair.worlds[0]);
    fm_world_destroy(pair.worlds[1]);
    return 0;
}
