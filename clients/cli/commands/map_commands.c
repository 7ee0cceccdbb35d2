// clients/cli/commands/map_commands.c: `terrain`, `build`, `demolish`: edits of the true map;
// `cost`: what is added to it for one team.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"

#include <stdio.h>
#include <string.h>

static void print_changed(const msgpack_object *result)
{
    uint64_t changed = fm_object_uint(result, "changed", 0);
    printf("%llu cell%s changed\n", (unsigned long long)changed, changed == 1 ? "" : "s");
}

// Sorts the arguments into cells and rectangles.
static void pack_places(fm_cli *cli)
{
    static fm_cell cells[FM_CLI_GIVEN_MAX];
    static uint64_t sides[4 * FM_CLI_GIVEN_MAX];
    uint32_t cell_count = 0, rect_count = 0;
    for (int i = 1; i < cli->argument_count; i++) {
        fm_rect rect;
        if (fm_parse_cell(cli->arguments[i], &cells[cell_count])) {
            cell_count++;
        } else if (fm_parse_rect(cli->arguments[i], &rect)) {
            memcpy(&sides[4 * rect_count++], (uint64_t[]){rect.x, rect.y, rect.width, rect.height},
                   4 * sizeof *sides);
        } else {
            fm_cli_usage_error(cli, "'%s' is neither X,Y nor X,Y,WIDTH,HEIGHT", cli->arguments[i]);
        }
    }
    if (cell_count > 0) {
        fm_params_cells(&cli->params, FM_FIELD_CELLS, cells, cell_count);
    }
    if (rect_count > 0) {
        fm_params_uints(&cli->params, FM_FIELD_RECTS, sides, 4 * rect_count);
    }
}

static bool is_terrain(const char *name)
{
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        if (strcmp(fm_terrain_name((fm_terrain)terrain), name) == 0) {
            return true;
        }
    }
    return false;
}

static int run_terrain(fm_cli *cli)
{
    const char *set = cli->arguments[0];
    uint64_t cost = 0;
    if (strncmp(set, "cost=", 5) == 0 && fm_parse_uint(set + 5, FM_COST_MAX, &cost) && cost > 0) {
        set = "cost";
    } else if (strcmp(set, "blocked") != 0 && strcmp(set, "free") != 0 && !is_terrain(set)) {
        fm_cli_usage_error(cli,
                           "'%s' is neither blocked, free, a terrain nor cost=N with N in 1..%u",
                           set, FM_COST_MAX);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_text(&cli->params, FM_FIELD_SET, set);
    if (cost > 0) {
        fm_params_uint(&cli->params, FM_FIELD_COST, cost);
    }
    pack_places(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_TERRAIN_SET);
    if (!fm_cli_print_json(cli, result)) {
        print_changed(result);
    }
    return 0;
}

static int run_cost(fm_cli *cli)
{
    uint64_t cost;
    if (!fm_parse_uint(cli->arguments[0], FM_ADDED_COST_MAX, &cost)) {
        fm_cli_usage_error(cli, "'%s' is not a cost in 0..%u", cli->arguments[0],
                           FM_ADDED_COST_MAX);
    }
    if (fm_cli_value(cli, "team") == NULL) {
        fm_cli_usage_error(cli, "--team says whose paths heed it");
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uint(&cli->params, FM_FIELD_COST, cost);
    pack_places(cli);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_TEAM_COST);
    if (!fm_cli_print_json(cli, result)) {
        print_changed(result);
    }
    return 0;
}

static int run_build(fm_cli *cli)
{
    fm_rect rect;
    if (!fm_parse_rect(cli->arguments[0], &rect)) {
        fm_cli_usage_error(cli, "'%s' is not of the form X,Y,WIDTH,HEIGHT", cli->arguments[0]);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uints(&cli->params, FM_FIELD_RECT,
                    (uint64_t[]){rect.x, rect.y, rect.width, rect.height}, 4);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_BUILDING_PLACE);
    if (!fm_cli_print_json(cli, result)) {
        uint64_t pushed = fm_object_uint(result, "pushed", 0);
        printf("building %llu", (unsigned long long)fm_object_uint(result, "building", 0));
        if (pushed > 0) {
            printf("; %llu unit%s pushed", (unsigned long long)pushed, pushed == 1 ? "" : "s");
        }
        putchar('\n');
    }
    return 0;
}

static int run_demolish(fm_cli *cli)
{
    uint64_t building;
    if (!fm_parse_uint(cli->arguments[0], UINT32_MAX, &building) || building == 0) {
        fm_cli_usage_error(cli, "'%s' is not the number of a building", cli->arguments[0]);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uint(&cli->params, FM_FIELD_BUILDING, building);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_BUILDING_REMOVE);
    if (!fm_cli_print_json(cli, result)) {
        print_changed(result);
    }
    return 0;
}

const fm_cli_command fm_cli_terrain = {
    .name = "terrain",
    .arguments = "blocked|free|cost=N|TERRAIN PLACE...",
    .summary = "edit the map of a world",
    .details =
        "Changes cells of the true map; teams learn of it when they look. A PLACE is a cell\n"
        "X,Y or a rectangle X,Y,WIDTH,HEIGHT. cost=N (1 to 250) makes cells cost N times\n"
        "what open floor costs and leaves them as passable as they are. TERRAIN is ground, water,\n"
        "swamp, trees, wall or out_of_bounds: what movement classes go by.",
    .examples = "fogmarch terrain blocked 40,10,1,20\n"
                "fogmarch terrain free 40,15 40,16\n"
                "fogmarch terrain cost=4 0,0,64,64\n"
                "fogmarch terrain water 10,0,6,64",
    .options = fm_cli_world_options,
    .arguments_min = 2,
    .arguments_max = FM_CLI_GIVEN_MAX,
    .run = run_terrain,
};

static const fm_cli_option cost_options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "N", "whose paths heed it", FM_FIELD_TEAM},
    {.name = NULL},
};

const fm_cli_command fm_cli_cost = {
    .name = "cost",
    .arguments = "COST PLACE...",
    .summary = "have a team's paths keep away from cells",
    .details =
        "Adds COST (0 to 249) to what cells cost one team, in place of what was added before;\n"
        "open floor costs 1. Its paths go round them where that is cheaper. Nothing is blocked,\n"
        "and other teams have nothing to do with it. A PLACE is a cell X,Y or a rectangle\n"
        "X,Y,WIDTH,HEIGHT.",
    .examples = "fogmarch cost 20 40,30,13,13 --team 1\n"
                "fogmarch cost 0 40,30,13,13 --team 1",
    .options = cost_options,
    .arguments_min = 2,
    .arguments_max = FM_CLI_GIVEN_MAX,
    .run = run_cost,
};

static const fm_cli_option build_options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "N", "the owner; nobody", FM_FIELD_TEAM},
    {"on-units", 0, FM_CLI_TEXT, "WHAT", "push units that stand there aside, or refuse;\npush",
     FM_FIELD_ON_UNITS},
    {.name = NULL},
};

const fm_cli_command fm_cli_build = {
    .name = "build",
    .arguments = "X,Y,WIDTH,HEIGHT",
    .summary = "place a building",
    .details =
        "Places a rectangle that no unit enters, and prints its number. Its owner knows at\n"
        "once; other teams when they look, and they believe in it until they see that it is\n"
        "gone.",
    .examples = "fogmarch build 40,30,4,3 --team 1\n"
                "fogmarch build 40,30,4,3 --team 1 --on-units refuse",
    .options = build_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_build,
};

const fm_cli_command fm_cli_demolish = {
    .name = "demolish",
    .arguments = "BUILDING",
    .summary = "remove a building",
    .details = "Removes the building of that number; the terrain under it is as it was before.",
    .examples = "fogmarch demolish 1",
    .options = fm_cli_world_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_demolish,
};
