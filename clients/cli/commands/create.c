// clients/cli/commands/create.c: `create`, from a map file or a generator, with all rules of a
// world.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"
#include "core/map/map_file.h"

#include <stdio.h>
#include <stdlib.h>

static void print_world(const msgpack_object *result)
{
    char name[65];
    fm_object_text(result, "name", name, sizeof name);
    printf("world %llu: %s, %llux%llu cells\n",
           (unsigned long long)fm_object_uint(result, "world", 0), name,
           (unsigned long long)fm_object_uint(result, "width", 0),
           (unsigned long long)fm_object_uint(result, "height", 0));
    fm_numbers bases = fm_object_numbers(result, "bases");
    for (uint32_t i = 0; i + 1 < bases.count; i += 2) {
        printf("base %u: %llu,%llu\n", i / 2 + 1, (unsigned long long)fm_numbers_at(bases, i),
               (unsigned long long)fm_numbers_at(bases, i + 1));
    }
}

// All that were given, as one text.
static void pack_classes(fm_cli *cli)
{
    char text[FM_CLASSES_MAX * FM_CLASS_TEXT_SIZE] = "";
    size_t length = 0;
    const char *given;
    for (uint32_t i = 0; (given = fm_cli_value_at(cli, "class", i)) != NULL; i++) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s", i == 0 ? "" : ";", given);
        if (length >= sizeof text) {
            fm_cli_usage_error(cli, "--class: more than %u classes", FM_CLASSES_MAX);
        }
    }
    if (length > 0) {
        fm_params_text(&cli->params, FM_FIELD_CLASSES, text);
    }
}

// Old programs expect many units per cell, so the wire keeps that as its default.
static void pack_occupancy(fm_cli *cli)
{
    if (fm_cli_value(cli, "occupancy") == NULL) {
        fm_params_text(&cli->params, FM_FIELD_OCCUPANCY, "exclusive");
    }
}

// The server reads only MovingAI's format, so that no library of it parses untrusted maps.
static void upload_map(fm_cli *cli, const fm_grid *grid)
{
    size_t size = fm_map_written_size(grid);
    char *text = fm_cli_need(cli, malloc(size));
    fm_map_write(grid, text);
    fm_cli_upload_bytes(cli, text, size);
    free(text);
}

static int run_create(fm_cli *cli)
{
    const char *map = fm_cli_value(cli, "map");
    if (map != NULL && fm_cli_value(cli, "generate") != NULL) {
        fm_cli_usage_error(cli, "--map and --generate: a world has one map");
    }
    if (map == NULL && fm_cli_value(cli, "generate") == NULL) {
        fm_cli_usage_error(cli, "one of --map FILE and --generate KIND is needed");
    }
    fm_grid *grid = map == NULL ? NULL : fm_cli_load_map(cli, map);
    fm_cli_connect(cli);
    if (grid != NULL) {
        upload_map(cli, grid);
        fm_grid_destroy(grid);
    }
    fm_params_text(&cli->params, FM_FIELD_NAME, cli->arguments[0]);
    fm_cli_pack_options(cli);
    pack_classes(cli);
    pack_occupancy(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_CREATE);
    if (!fm_cli_print_json(cli, result)) {
        print_world(result);
    }
    return 0;
}

static const fm_cli_option options[] = {
    {"map", 'm', FM_CLI_TEXT, "FILE",
     "map file: MovingAI, Tiled, PNG, PPM, ASCII, see\n'fogmarch map --help'; - for standard input",
     0},
    {"generate", 'g', FM_CLI_TEXT, "KIND", "open, maze, rooms, random or skirmish",
     FM_FIELD_GENERATOR},
    {"width", 0, FM_CLI_UINT, "CELLS", "generated: width, up to 4096; 512", FM_FIELD_WIDTH},
    {"height", 0, FM_CLI_UINT, "CELLS", "generated: height, up to 4096; 512", FM_FIELD_HEIGHT},
    {"seed", 's', FM_CLI_UINT, "N", "generated: the same seed makes the same map; 1",
     FM_FIELD_SEED},
    {"players", 0, FM_CLI_UINT, "N", "skirmish: bases, 2 to 8; 4", FM_FIELD_PLAYERS},
    {"walls-removed", 0, FM_CLI_UINT, "N", "maze: walls opened again; 750", FM_FIELD_WALLS_REMOVED},
    {"room-side", 0, FM_CLI_UINT, "CELLS", "rooms: cells between two walls; 16",
     FM_FIELD_ROOM_SIDE},
    {"blocked", 0, FM_CLI_UINT, "PERMILLE", "random: blocked cells of 1000; 300",
     FM_FIELD_BLOCKED_PERMILLE},
    {"neighbours", 0, FM_CLI_UINT, "N", "4 or 8 directions; 8", FM_FIELD_NEIGHBOURS},
    {"corner-cutting", 0, FM_CLI_FLAG, NULL,
     "a diagonal step needs one free cell beside it,\nnot two", FM_FIELD_CORNER_CUTTING},
    {"step-costs", 0, FM_CLI_TEXT, "COSTS", "1, 10/14 or 70/99; 1 with 4 neighbours, else\n10/14",
     FM_FIELD_STEP_COSTS},
    {"sense-radius", 0, FM_CLI_UINT, "CELLS", "how far agents see, up to 64; 5",
     FM_FIELD_SENSE_RADIUS},
    {"sense-shape", 0, FM_CLI_TEXT, "SHAPE",
     "square, diamond or disc; diamond with 4\nneighbours, else square", FM_FIELD_SENSE_SHAPE},
    {"line-of-sight", 0, FM_CLI_FLAG, NULL, "blocked cells hide what lies behind them",
     FM_FIELD_LINE_OF_SIGHT},
    {"omniscient", 0, FM_CLI_FLAG, NULL, "teams know the whole map from the start",
     FM_FIELD_OMNISCIENT},
    {"occupancy", 0, FM_CLI_TEXT, "RULE",
     "exclusive: a cell holds one agent;\nnone: any number; exclusive", FM_FIELD_OCCUPANCY},
    {"pushed-stay", 0, FM_CLI_FLAG, NULL, "exclusive: who is pushed aside does not go back",
     FM_FIELD_PUSHED_STAY},
    {"blocked-ticks", 0, FM_CLI_UINT, "N",
     "exclusive: units of other teams that stand in its\nway for so long end an order; 0: they do "
     "not",
     FM_FIELD_BLOCKED_TICKS},
    {"planner", 'p', FM_CLI_TEXT, "SPEC", "planner of agents that are given no other",
     FM_FIELD_PLANNER},
    {"landmarks", 0, FM_CLI_UINT, "N", "for planners with heuristic=landmarks, up to 16; 8",
     FM_FIELD_LANDMARKS},
    {"landmark-placement", 0, FM_CLI_TEXT, "HOW",
     "farthest, random, avoid or past-the-goal;\nfarthest", FM_FIELD_LANDMARK_PLACEMENT},
    {"landmarks-move", 0, FM_CLI_FLAG, NULL, "the least used one moves to a recent goal",
     FM_FIELD_LANDMARKS_MOVE},
    {"stale", 0, FM_CLI_TEXT, "RULE",
     "allow or refuse: use landmarks that a cheaper\nstep has outdated; refuse", FM_FIELD_STALE},
    {"class", 0, FM_CLI_TEXT, "CLASS",
     "movement class, NAME:TERRAIN=COST,... with\n"
     "size=1 to 4; up to 8 times; ground",
     0},
    {"agents-max", 0, FM_CLI_UINT, "N", "agents at most; 65536", FM_FIELD_AGENTS_MAX},
    {"teams-max", 0, FM_CLI_UINT, "N", "teams at most; 4096", FM_FIELD_TEAMS_MAX},
    {"saved-ticks", 0, FM_CLI_UINT, "N",
     "ticks' worth of its share of the search that a team\nmay save; 8", FM_FIELD_SAVED_TICKS},
    {"tick-hz", 0, FM_CLI_REAL, "RATE", "ticks per second; from the server's config",
     FM_FIELD_TICK_HZ},
    {"budget-ms", 0, FM_CLI_REAL, "TIME", "milliseconds a tick may take; from the\nserver's config",
     FM_FIELD_BUDGET_MS},
    {"overload", 0, FM_CLI_TEXT, "POLICY",
     "slip, skip or degrade when ticks are late;\nfrom the server's config", FM_FIELD_OVERLOAD},
    {"paused", 0, FM_CLI_FLAG, NULL, "begin paused", FM_FIELD_PAUSED},
    {.name = NULL},
};

const fm_cli_command fm_cli_create = {
    .name = "create",
    .arguments = "NAME",
    .summary = "make a world from a map file or a generator",
    .details =
        "Makes a world called NAME (letters, digits, . _ -) and prints its number, its size and\n"
        "the bases of its players, if it has any.",
    .examples = "fogmarch create arena --generate skirmish --players 2 --seed 7\n"
                "fogmarch create ramparts --map Ramparts.map --line-of-sight --tick-hz 20\n"
                "fogmarch create bay --map bay.map --class ground --class boat:water=1,size=2",
    .options = options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_create,
};
