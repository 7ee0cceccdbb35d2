// clients/cli/commands/path.c: `path`, `distance`, `reachable`, `nearest` and `field`: questions
// about paths.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

#define PAIRS_MAX 4096 // cells on one command line
#define NO_WAY    FM_COST_INFINITE

// ---- asking -------------------------------------------------------------------------------------

static fm_cell read_cell(fm_cli *cli, const char *text)
{
    fm_cell cell = 0;
    if (!fm_parse_cell(text, &cell)) {
        fm_cli_usage_error(cli, "'%s' is not of the form X,Y, each 0 to %u", text,
                           FM_SIDE_MAX - 1u);
    }
    return cell;
}

static void pack_cell(fm_cli *cli, fm_field field, const char *text)
{
    fm_cell cell = read_cell(cli, text);
    fm_params_cells(&cli->params, field, &cell, 1);
}

// The arguments from `first` on, as a list of cells.
static void pack_cells(fm_cli *cli, fm_field field, int first)
{
    static fm_cell cells[PAIRS_MAX];
    uint32_t count = 0;
    for (int i = first; i < cli->argument_count; i++) {
        cells[count++] = read_cell(cli, cli->arguments[i]);
    }
    fm_params_cells(&cli->params, field, cells, count);
}

static void begin(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
}

// One path from the first argument to the second, or one for every two arguments.
static const msgpack_object *ask_pairs(fm_cli *cli, fm_method method)
{
    if (cli->argument_count % 2 != 0) {
        fm_cli_usage_error(cli, "cells come in pairs: '%s' has none",
                           cli->arguments[cli->argument_count - 1]);
    }
    begin(cli);
    if (cli->argument_count == 2) {
        pack_cell(cli, FM_FIELD_FROM, cli->arguments[0]);
        pack_cell(cli, FM_FIELD_TO, cli->arguments[1]);
    } else {
        pack_cells(cli, FM_FIELD_PAIRS, 0);
    }
    fm_cli_pack_options(cli);
    return fm_cli_call(cli, method);
}

// ---- printing -----------------------------------------------------------------------------------

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

static void print_reason(const msgpack_object *result)
{
    char reason[32];
    fm_object_text(result, "reason", reason, sizeof reason);
    fputs(reason, stdout);
}

static void print_way(const fm_cli *cli, const msgpack_object *result)
{
    fm_numbers cells = fm_object_numbers(result, "cells");
    bool complete = fm_object_bool(result, "complete", false);
    print_reason(result);
    printf(": length %.3f, cost %s, ", fm_object_real(result, "length", 0),
           fm_report_grouped(fm_object_uint(result, "cost", 0)));
    if (fm_object_get(result, "cells") != NULL) {
        printf("%u cells, ", cells.count / 2);
    }
    printf("%s expansions%s\n", fm_report_grouped(fm_object_uint(result, "expansions", 0)),
           complete || cells.count == 0 ? "" : " (to the nearest reachable cell)");
    if (fm_cli_value(cli, "cells") != NULL) {
        print_cells(cells);
    }
}

static void print_ways(const fm_cli *cli, const msgpack_object *result)
{
    const msgpack_object *answers = fm_object_get(result, "answers");
    if (answers == NULL || answers->type != MSGPACK_OBJECT_ARRAY) {
        print_way(cli, result);
        return;
    }
    for (uint32_t i = 0; i < answers->via.array.size; i++) {
        print_way(cli, &answers->via.array.ptr[i]);
    }
}

// ---- the commands -------------------------------------------------------------------------------

static int run_path(fm_cli *cli)
{
    const msgpack_object *result = ask_pairs(cli, FM_METHOD_PATH_QUERY);
    if (!fm_cli_print_json(cli, result)) {
        print_ways(cli, result);
    }
    return 0;
}

static int run_distance(fm_cli *cli)
{
    const msgpack_object *result = ask_pairs(cli, FM_METHOD_PATH_DISTANCE);
    if (!fm_cli_print_json(cli, result)) {
        print_ways(cli, result);
    }
    return 0;
}

static int run_reachable(fm_cli *cli)
{
    const msgpack_object *result = ask_pairs(cli, FM_METHOD_PATH_REACHABLE);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    fm_numbers many = fm_object_numbers(result, "reachable");
    for (uint32_t i = 0; i < many.count; i++) {
        puts(fm_numbers_at(many, i) != 0 ? "yes" : "no");
    }
    if (many.count == 0) {
        puts(fm_object_bool(result, "complete", false) ? "yes" : "no");
    }
    return 0;
}

static int run_nearest(fm_cli *cli)
{
    begin(cli);
    pack_cell(cli, FM_FIELD_FROM, cli->arguments[0]);
    pack_cells(cli, FM_FIELD_GOALS, 1);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_PATH_NEAREST);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    fm_numbers goal = fm_object_numbers(result, "goal");
    if (goal.count == 2) {
        printf("%llu,%llu ", (unsigned long long)fm_numbers_at(goal, 0),
               (unsigned long long)fm_numbers_at(goal, 1));
    }
    print_way(cli, result);
    return 0;
}

static int run_field(fm_cli *cli)
{
    fm_rect rect;
    if (!fm_parse_rect(cli->arguments[1], &rect)) {
        fm_cli_usage_error(cli, "'%s' is not of the form X,Y,WIDTH,HEIGHT", cli->arguments[1]);
    }
    const uint64_t sides[4] = {rect.x, rect.y, rect.width, rect.height};
    begin(cli);
    pack_cell(cli, FM_FIELD_GOAL, cli->arguments[0]);
    fm_params_uints(&cli->params, FM_FIELD_RECT, sides, 4);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_PATH_FIELD);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    fm_numbers costs = fm_object_numbers(result, "costs");
    for (uint32_t i = 0; i < costs.count; i++) {
        uint64_t cost = fm_numbers_at(costs, i);
        if (cost == NO_WAY) {
            printf("%6s", "-");
        } else {
            printf("%6llu", (unsigned long long)cost);
        }
        fputs((i + 1) % rect.width == 0 ? "\n" : " ", stdout);
    }
    print_reason(result);
    printf(": %s expansions\n", fm_report_grouped(fm_object_uint(result, "expansions", 0)));
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------

#define OPTIONS_OF_ALL                                                                             \
    FM_CLI_OPTION_WORLD,                                                                           \
        {"team", 't', FM_CLI_UINT, "N", "on what team N knows; the true map", FM_FIELD_TEAM},      \
    {                                                                                              \
        "class", 0, FM_CLI_TEXT, "NAME", "for units of this movement class", FM_FIELD_CLASS        \
    }

#define OPTION_EXPANSIONS_MAX                                                                      \
    {                                                                                              \
        "expansions-max", 0, FM_CLI_UINT, "N", "give up after so many expansions",                 \
            FM_FIELD_EXPANSIONS_MAX                                                                \
    }

#define OPTION_CELLS                                                                               \
    {                                                                                              \
        "cells", 0, FM_CLI_FLAG, NULL, "print the cells of the path, too", 0                       \
    }

static const fm_cli_option path_options[] = {
    OPTIONS_OF_ALL,
    OPTION_EXPANSIONS_MAX,
    OPTION_CELLS,
    {"planner", 'p', FM_CLI_TEXT, "SPEC", "one that searches forward; what is best",
     FM_FIELD_PLANNER},
    {.name = NULL},
};

const fm_cli_command fm_cli_path = {
    .name = "path",
    .arguments = "X,Y X,Y [X,Y X,Y ...]",
    .summary = "find a shortest path between two cells",
    .details =
        "Finds a shortest path from the first cell to the second, on the true map or on what a\n"
        "team knows of it; and from the third to the fourth, and so on, at most 64. That there is\n"
        "none is an answer, too: exit status 0.",
    .examples = "fogmarch path 68,97 443,414 --team 1",
    .options = path_options,
    .arguments_min = 2,
    .arguments_max = 128,
    .run = run_path,
};

static const fm_cli_option distance_options[] = {
    OPTIONS_OF_ALL,
    OPTION_EXPANSIONS_MAX,
    {.name = NULL},
};

const fm_cli_command fm_cli_distance = {
    .name = "distance",
    .arguments = "X,Y X,Y [X,Y X,Y ...]",
    .summary = "say how far it is between two cells",
    .details = "Says how long a shortest path is, for at most 256 pairs of cells.",
    .examples = "fogmarch distance 68,97 443,414 68,97 120,40 --team 1",
    .options = distance_options,
    .arguments_min = 2,
    .arguments_max = 512,
    .run = run_distance,
};

static const fm_cli_option reachable_options[] = {
    OPTIONS_OF_ALL,
    {.name = NULL},
};

const fm_cli_command fm_cli_reachable = {
    .name = "reachable",
    .arguments = "X,Y X,Y [X,Y X,Y ...]",
    .summary = "say whether there is a path between two cells",
    .details = "Says yes or no for each pair of cells, without a search.",
    .examples = "fogmarch reachable 68,97 443,414",
    .options = reachable_options,
    .arguments_min = 2,
    .arguments_max = PAIRS_MAX,
    .run = run_reachable,
};

static const fm_cli_option nearest_options[] = {
    OPTIONS_OF_ALL,
    OPTION_EXPANSIONS_MAX,
    OPTION_CELLS,
    {.name = NULL},
};

const fm_cli_command fm_cli_nearest = {
    .name = "nearest",
    .arguments = "X,Y X,Y [X,Y ...]",
    .summary = "find the nearest of several goals",
    .details = "Finds which of the cells after the first is the nearest to it by the cost of the\n"
               "path, and the path.",
    .examples = "fogmarch nearest 68,97 443,414 200,200 120,40 --team 1",
    .options = nearest_options,
    .arguments_min = 2,
    .arguments_max = 257,
    .run = run_nearest,
};

static const fm_cli_option field_options[] = {
    OPTIONS_OF_ALL,
    OPTION_EXPANSIONS_MAX,
    {.name = NULL},
};

const fm_cli_command fm_cli_field = {
    .name = "field",
    .arguments = "X,Y X,Y,WIDTH,HEIGHT",
    .summary = "print the costs to a goal from all cells of a rectangle",
    .details = "Prints what it costs to come to the goal from each cell of the rectangle, row by\n"
               "row; - where there is no path.",
    .examples = "fogmarch field 68,97 60,90,16,16 --team 1",
    .options = field_options,
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run_field,
};
