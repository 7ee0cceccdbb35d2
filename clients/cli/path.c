// clients/cli/path.c: `path`: asks for a shortest path.

#include "clients/cli/commands.h"

#include "clients/cli/parse.h"
#include "clients/cli/report.h"

#include <stdio.h>
#include <string.h>

static void pack_cell(fm_cli *cli, fm_field field, const char *text)
{
    fm_cell cell;
    if (!fm_parse_cell(text, &cell)) {
        fm_cli_usage_error(cli, "'%s' is not of the form X,Y", text);
    }
    fm_params_cells(&cli->params, field, &cell, 1);
}

static void print_cells(fm_numbers cells)
{
    for (uint32_t i = 0; i + 1 < cells.count; i += 2) {
        printf("%s%llu,%llu",
               i == 0        ? ""
               : i % 20 == 0 ? "\n"
                             : " ",
               (unsigned long long)fm_numbers_at(cells, i),
               (unsigned long long)fm_numbers_at(cells, i + 1));
    }
    putchar('\n');
}

static int run_path(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    pack_cell(cli, FM_FIELD_FROM, cli->arguments[0]);
    pack_cell(cli, FM_FIELD_TO, cli->arguments[1]);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_PATH_QUERY);
    bool complete = fm_object_bool(result, "complete", false);
    if (!fm_cli_print_json(cli, result)) {
        char reason[32];
        fm_numbers cells = fm_object_numbers(result, "cells");
        fm_object_text(result, "reason", reason, sizeof reason);
        printf("%s: length %.3f, cost %s, %u cells, %s expansions%s\n", reason,
               fm_object_real(result, "length", 0),
               fm_report_grouped(fm_object_uint(result, "cost", 0)), cells.count / 2,
               fm_report_grouped(fm_object_uint(result, "expansions", 0)),
               complete || cells.count == 0 ? "" : " (to the nearest reachable cell)");
        if (fm_cli_value(cli, "cells") != NULL) {
            print_cells(cells);
        }
    }
    return 0;
}

const fm_cli_command fm_cli_path = {
    .name = "path",
    .arguments = "X,Y X,Y",
    .summary = "find a shortest path between two cells",
    .details =
        "Finds a shortest path from the first cell to the second, on the true map or on what a\n"
        "team knows of it. That there is none is an answer, too: exit status 0.",
    .examples = "fogmarch path 3,4 200,180 --team 1",
    .options =
        (const fm_cli_option[]){
            FM_CLI_OPTION_WORLD,
            {.name = "team",
             .letter = 't',
             .kind = FM_CLI_UINT,
             .argument = "N",
             .text = "on what team N knows; the true map",
             .field = FM_FIELD_TEAM},
            {.name = "expansions-max",
             .kind = FM_CLI_UINT,
             .argument = "N",
             .text = "give up after so many expansions",
             .field = FM_FIELD_EXPANSIONS_MAX},
            {.name = "cells", .kind = FM_CLI_FLAG, .text = "print the cells of the path, too"},
            {.name = NULL}},
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run_path,
};
