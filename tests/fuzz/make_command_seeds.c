// tests/fuzz/make_command_seeds.c: writes the seeds of fuzz_commands.c and fuzz_world.c: games as a
// journal would keep them, a file for each kind of rules, and the worlds after these games.
//
//   make_command_seeds COMMANDS_FOLDER WORLDS_FOLDER

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/command_file.h"
#include "core/saves/settle.h"
#include "core/saves/world_save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAMES 8u

static const fm_agent_id agents[] = {{1, 0}, {2, 0}, {3, 0}, {5, 0}, {6, 0}};

#define CELL(x, y) ((y) << 12 | (x)) // fm_cell_at(), for constants

static const fm_cell cells[] = {CELL(1, 7), CELL(2, 7), CELL(8, 8), CELL(12, 0)};

static const fm_rect rects[] = {{5, 7, 2, 2}, {0, 0, 3, 1}};

static const fm_command commands[] = {
    {.kind = FM_COMMAND_TEAM, .weight = 2},
    {.kind = FM_COMMAND_TEAM},
    {.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = 2},
    {.kind = FM_COMMAND_SPAWN,
     .team = 2,
     .cells = cells + 2,
     .cell_count = 1,
     .class_index = 1,
     .placing = FM_PLACE_NEAREST,
     .speed = 500},
    {.kind = FM_COMMAND_ORDER,
     .agents = agents,
     .agent_count = 2,
     .cells = cells + 3,
     .cell_count = 1,
     .spread = true},
    {.kind = FM_COMMAND_TERRAIN,
     .cells = cells + 2,
     .cell_count = 1,
     .rects = rects + 1,
     .rect_count = 1,
     .terrain = FM_TERRAIN_SWAMP,
     .cost = 3},
    {.kind = FM_COMMAND_BUILD, .team = 1, .rects = rects, .rect_count = 1},
    {.kind = FM_COMMAND_ORDER,
     .agents = agents,
     .agent_count = 2,
     .order = FM_ORDER_PATROL,
     .cells = cells,
     .cell_count = 4,
     .queue = true,
     .loop = true},
    {.kind = FM_COMMAND_ORDER,
     .agents = agents + 2,
     .agent_count = 1,
     .order = FM_ORDER_FOLLOW,
     .target = {2, 0},
     .radius = 3},
    {.kind = FM_COMMAND_ORDER, .agents = agents, .agent_count = 1, .order = FM_ORDER_EXPLORE},
    {.kind = FM_COMMAND_DEMOLISH, .building = 1, .team = 1},
    {.kind = FM_COMMAND_SET,
     .agents = agents + 1,
     .agent_count = 1,
     .set = FM_SET_TAG | FM_SET_TAG_SHOWN | FM_SET_SIGHT | FM_SET_TEAM,
     .tag = (const uint8_t *)"hero",
     .tag_size = 4,
     .tag_shown = true,
     .sight = 9,
     .new_team = 2},
    {.kind = FM_COMMAND_COST,
     .team = 2,
     .cells = cells + 2,
     .cell_count = 1,
     .rects = rects + 1,
     .rect_count = 1,
     .cost = 40},
    {.kind = FM_COMMAND_SPAWN,
     .team = 2,
     .cells = cells,
     .cell_count = 2,
     .placing = FM_PLACE_NEAREST},
    {.kind = FM_COMMAND_BOARD,
     .agents = agents + 4,
     .agent_count = 1,
     .target = {5, 0},
     .radius = 8},
    {.kind = FM_COMMAND_REMOVE, .agents = agents, .agent_count = 1},
    {.kind = FM_COMMAND_UNBOARD, .target = {5, 0}},
};

static const fm_cut cuts[] = {{0, 0, 3}, {1, 1, 0}};
static const fm_tick_record record = {
    .tick = 4, .expansions_budget = 50, .rounds = 2, .cuts = cuts, .cut_count = 2, .digest = 1};

static void put(FILE *file, const fm_writer *writer)
{
    FM_ASSERT(writer->size <= UINT8_MAX);
    fputc((int)writer->size, file);
    fwrite(writer->data, 1, writer->size, file);
}

static void put_game(FILE *file, uint32_t rules)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fputc((int)(rules << 2 | rules % 4), file);
    for (size_t i = 0; i < FM_COUNT_OF(commands); i++) {
        fm_writer_clear(&writer);
        fm_status status = fm_command_pack(&commands[i], &writer);
        FM_ASSERT(status == FM_OK);
        put(file, &writer);
        fwrite("\0\0", 1, 2, file); // two ticks
        if (i % 4 == rules % 4) {
            fm_writer_clear(&writer);
            status = fm_record_pack(&record, &writer);
            FM_ASSERT(status == FM_OK);
            put(file, &writer);
        }
    }
    fm_writer_fini(&writer);
}

// The same game in a world of its own.
static fm_world *play_game(uint32_t number)
{
    static const char *const planners[] = {"dstar-lite", "auto", "rtaa-star", "mpgaa-star"};
    fm_grid *grid;
    fm_world *world;
    fm_tick_report report;
    fm_world_rules rules = fm_world_rules_default();
    fm_status status = fm_grid_create(14, 10, &fm_memory_libc, &grid);
    FM_ASSERT(status == FM_OK);
    status = fm_planner_spec_parse(planners[number % 4], &rules.planner, NULL, 0);
    FM_ASSERT(status == FM_OK);
    status =
        fm_movement_classes_parse("ground;tank:size=2", rules.classes, &rules.class_count, NULL, 0);
    FM_ASSERT(status == FM_OK);
    rules.occupancy = number % 2 == 1 ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
    rules.agents_max = 16;
    rules.teams_max = 4;
    status = fm_world_create(&rules, grid, &fm_memory_libc, &world);
    FM_ASSERT(status == FM_OK);
    for (size_t i = 0; i < FM_COUNT_OF(commands) - number; i++) {
        fm_agent_id spawned[FM_COUNT_OF(cells)];
        fm_command_result result = {.spawned = spawned};
        fm_world_apply(world, &commands[i], &result);
        FM_ASSERT(result.status == FM_OK);
        fm_tick_run(world, NULL, 100, NULL, &report);
    }
    return world;
}

static void put_world(FILE *file, uint32_t number)
{
    fm_world *world = play_game(number);
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_world_settle(world);
    fm_status status = fm_world_save(world, &writer);
    FM_ASSERT(status == FM_OK);
    fwrite("\0\0", 1, 2, file); // checksums are corrected, memory does not run out
    fwrite(writer.data, 1, writer.size, file);
    fm_writer_fini(&writer);
    fm_world_destroy(world);
}

static void write_seed(const char *folder, const char *name, uint32_t number,
                       void (*fill)(FILE *file, uint32_t number))
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%u", folder, name, number);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "make_command_seeds: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    fill(file, number);
    if (fclose(file) != 0) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_command_seeds COMMANDS_FOLDER WORLDS_FOLDER\n");
        return 2;
    }
    for (uint32_t number = 0; number < GAMES; number++) {
        write_seed(argv[1], "game", number, put_game);
        write_seed(argv[2], "world", number, put_world);
    }
    return 0;
}
