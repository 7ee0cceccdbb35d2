// clients/cli/building_commands.c: `build` and `demolish`.

#include "clients/cli/commands.h"

#include "clients/cli/parse.h"

#include <stdio.h>

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
        uint64_t changed = fm_object_uint(result, "changed", 0);
        printf("%llu cell%s changed\n", (unsigned long long)changed, changed == 1 ? "" : "s");
    }
    return 0;
}

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
    .options =
        (const fm_cli_option[]){FM_CLI_OPTION_WORLD,
                                {.name = "team",
                                 .letter = 't',
                                 .kind = FM_CLI_UINT,
                                 .argument = "N",
                                 .text = "the owner; nobody",
                                 .field = FM_FIELD_TEAM},
                                {.name = "on-units",
                                 .kind = FM_CLI_TEXT,
                                 .argument = "WHAT",
                                 .text = "push units that stand there aside, or refuse;\npush",
                                 .field = FM_FIELD_ON_UNITS},
                                {.name = NULL}},
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
    .options = (const fm_cli_option[]){FM_CLI_OPTION_WORLD, {.name = NULL}},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_demolish,
};
