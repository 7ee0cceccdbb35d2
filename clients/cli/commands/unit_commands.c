// clients/cli/commands/unit_commands.c: `set`, `place`, `board`, `unboard` and `report`: what
// living agents are, where they are, and what they do.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORTED_AT_ONCE 256u // agents in one agent.report

static void pack_head(fm_cli *cli, uint64_t world, const fm_id_list *agents, uint32_t first,
                      uint32_t count)
{
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uints(&cli->params, FM_FIELD_AGENTS, agents->ids + first, count);
}

// How many of a list go into the request that begins with number `first`.
static uint32_t count_at_once(const fm_id_list *agents, uint32_t first, uint32_t most)
{
    return agents->count - first < most ? agents->count - first : most;
}

static int print_count(const fm_cli *cli, uint64_t count, const char *what)
{
    if (cli->json) {
        printf("{\"count\":%llu}\n", (unsigned long long)count);
    } else {
        printf("%llu agent%s %s\n", (unsigned long long)count, count == 1 ? "" : "s", what);
    }
    return 0;
}

// ---- set ----------------------------------------------------------------------------------------

static int run_set(fm_cli *cli)
{
    bool freeze = fm_cli_value(cli, "freeze") != NULL, thaw = fm_cli_value(cli, "thaw") != NULL;
    bool show = fm_cli_value(cli, "show-tag") != NULL, hide = fm_cli_value(cli, "hide-tag") != NULL;
    static const char *const values[] = {"class", "speed", "tag", "sight", "to-team"};
    bool changes = freeze || thaw || show || hide;
    for (uint32_t i = 0; i < FM_COUNT_OF(values); i++) {
        changes = changes || fm_cli_value(cli, values[i]) != NULL;
    }
    if ((freeze && thaw) || (show && hide)) {
        fm_cli_usage_error(cli,
                           freeze && thaw ? "--freeze or --thaw?" : "--show-tag or --hide-tag?");
    }
    if (!changes) {
        fm_cli_usage_error(cli, "what? --class, --speed, --freeze, --thaw, --tag, --show-tag, "
                                "--hide-tag, --sight or --to-team");
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), sum = 0;
    fm_id_list agents = fm_cli_read_agents(cli, world, 0);
    uint32_t count;
    for (uint32_t i = 0; i < agents.count; i += count) {
        count = count_at_once(&agents, i, FM_CLI_AGENTS_AT_ONCE);
        pack_head(cli, world, &agents, i, count);
        if (freeze || thaw) {
            fm_params_bool(&cli->params, FM_FIELD_FROZEN, freeze);
        }
        if (show || hide) {
            fm_params_bool(&cli->params, FM_FIELD_TAG_SHOWN, show);
        }
        fm_cli_pack_options(cli);
        sum += fm_object_uint(fm_cli_call(cli, FM_METHOD_AGENT_SET), "count", 0);
    }
    free(agents.ids);
    return print_count(cli, sum, "changed");
}

// ---- place --------------------------------------------------------------------------------------

// One cell for all of them, or one for each. The caller frees the numbers.
static uint64_t *read_cells(fm_cli *cli, uint32_t agent_count)
{
    fm_cell *cells = fm_cli_need(cli, calloc(agent_count, sizeof *cells));
    uint64_t *numbers = fm_cli_need(cli, calloc(agent_count, 2 * sizeof *numbers));
    uint32_t count = fm_parse_cells(cli->arguments[0], cells, agent_count);
    if (count != 1 && count != agent_count) {
        fm_cli_usage_error(cli,
                           "where? X,Y comes first, or X,Y/X,Y/... with one for each agent, not "
                           "'%s'",
                           cli->arguments[0]);
    }
    for (uint32_t i = 0; i < agent_count; i++) {
        numbers[2 * i] = fm_cell_x(cells[count == 1 ? 0 : i]);
        numbers[2 * i + 1] = fm_cell_y(cells[count == 1 ? 0 : i]);
    }
    free(cells);
    return numbers;
}

static int run_place(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), sum = 0;
    fm_id_list agents = fm_cli_read_agents(cli, world, 1);
    uint64_t *cells = read_cells(cli, agents.count);
    uint32_t count;
    for (uint32_t i = 0; i < agents.count; i += count) {
        count = count_at_once(&agents, i, FM_CLI_AGENTS_AT_ONCE);
        pack_head(cli, world, &agents, i, count);
        fm_params_uints(&cli->params, FM_FIELD_CELLS, cells + 2 * (size_t)i, 2 * count);
        if (fm_cli_value(cli, "nearest") != NULL) {
            fm_params_text(&cli->params, FM_FIELD_PLACE, "nearest");
        }
        sum += fm_object_uint(fm_cli_call(cli, FM_METHOD_AGENT_PLACE), "count", 0);
    }
    free(cells);
    free(agents.ids);
    return print_count(cli, sum, "placed");
}

// ---- board, unboard -----------------------------------------------------------------------------

// CARRIER, the first argument.
static void pack_carrier(fm_cli *cli)
{
    fm_id_list carrier = {0};
    if (!fm_parse_ids(cli->arguments[0], &carrier) || carrier.count != 1) {
        fm_cli_usage_error(cli, "who carries them? the id of one agent comes first, not '%s'",
                           cli->arguments[0]);
    }
    fm_params_uint(&cli->params, FM_FIELD_CARRIER, carrier.ids[0]);
    free(carrier.ids);
    fm_cli_pack_options(cli);
}

static int run_board(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_id_list agents = fm_cli_read_agents(cli, world, 1);
    pack_head(cli, world, &agents, 0, agents.count);
    free(agents.ids);
    pack_carrier(cli);
    return print_count(cli, fm_object_uint(fm_cli_call(cli, FM_METHOD_AGENT_BOARD), "count", 0),
                       "boarded");
}

static int run_unboard(fm_cli *cli)
{
    fm_cli_connect(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    pack_carrier(cli);
    return print_count(cli, fm_object_uint(fm_cli_call(cli, FM_METHOD_AGENT_UNBOARD), "count", 0),
                       "came out");
}

// ---- report -------------------------------------------------------------------------------------

// "X,Y", or "-" when there is none.
static const char *place_of(const msgpack_object *map, const char *name, char text[32])
{
    fm_numbers cell = fm_object_numbers(map, name);
    snprintf(text, 32, "-");
    if (cell.count >= 2) {
        snprintf(text, 32, "%llu,%llu", (unsigned long long)fm_numbers_at(cell, 0),
                 (unsigned long long)fm_numbers_at(cell, 1));
    }
    return text;
}

static void print_unit(const msgpack_object *unit)
{
    char cell[32], goal[32], state[32], kind[32] = "-", why[160];
    fm_numbers orders = fm_object_numbers(unit, "orders");
    fm_object_text(unit, "state", state, sizeof state);
    fm_object_text(unit, "why", why, sizeof why);
    snprintf(goal, sizeof goal, "-");
    if (orders.count > 0) {
        fm_object_text(&orders.elements[0], "kind", kind, sizeof kind);
        place_of(&orders.elements[0], "goal", goal);
    }
    printf("%10llu  %-9s %-8s %-8s %-9s %6u  %s\n",
           (unsigned long long)fm_object_uint(unit, "agent", 0), place_of(unit, "cell", cell),
           state, kind, goal, orders.count > 0 ? orders.count - 1 : 0, why);
}

static int run_report(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_id_list agents = fm_cli_read_agents(cli, world, 0);
    uint32_t count;
    for (uint32_t i = 0; i < agents.count; i += count) {
        count = count_at_once(&agents, i, REPORTED_AT_ONCE);
        pack_head(cli, world, &agents, i, count);
        fm_cli_pack_options(cli);
        const msgpack_object *result = fm_cli_call(cli, FM_METHOD_AGENT_REPORT);
        if (fm_cli_print_json(cli, result)) {
            continue;
        }
        if (i == 0) {
            printf("%10s  %-9s %-8s %-8s %-9s %6s  %s\n", "AGENT", "AT", "STATE", "ORDER", "GOAL",
                   "QUEUED", "WHY");
        }
        fm_numbers units = fm_object_numbers(result, "agents");
        for (uint32_t n = 0; n < units.count; n++) {
            print_unit(&units.elements[n]);
        }
    }
    free(agents.ids);
    return 0;
}

// ---- the commands -------------------------------------------------------------------------------

#define OPTION_TEAM                                                                                \
    {                                                                                              \
        "team", 't', FM_CLI_TEXT, "N", "all agents of team N; 'all' for those of every team", 0    \
    }

static const fm_cli_option set_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {"class", 0, FM_CLI_TEXT, "NAME", "movement class, of those of the world", FM_FIELD_CLASS},
    {"speed", 0, FM_CLI_REAL, "CELLS", "cells per second of game time; 0: one step a tick",
     FM_FIELD_SPEED},
    {"freeze", 0, FM_CLI_FLAG, NULL, "they do not move, and nobody pushes them", 0},
    {"thaw", 0, FM_CLI_FLAG, NULL, "they do again, and their orders continue", 0},
    {"tag", 0, FM_CLI_TEXT, "TEXT", "the game's own, up to 64 bytes; '' takes it away",
     FM_FIELD_TAG},
    {"show-tag", 0, FM_CLI_FLAG, NULL, "other teams that see them are told their tags", 0},
    {"hide-tag", 0, FM_CLI_FLAG, NULL, "only their own team is", 0},
    {"sight", 0, FM_CLI_UINT, "CELLS", "how far they see; 0: as the world's rules say",
     FM_FIELD_SIGHT},
    {"to-team", 0, FM_CLI_UINT, "N", "whose they are from now on; their orders end", FM_FIELD_TEAM},
    {.name = NULL},
};

const fm_cli_command fm_cli_set = {
    .name = "set",
    .arguments = "[AGENTS...]",
    .summary = "change what living agents are",
    .details = "Changes all of them or, on an error, none. Their orders stay, unless they change\n"
               "teams. AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch set --class boat --speed 2 1-20\n"
                "fogmarch set --freeze --team 1\n"
                "fogmarch set --tag hero --show-tag --sight 12 7\n"
                "fogmarch set --to-team 2 7",
    .options = set_options,
    .arguments_max = 4096,
    .run = run_set,
};

static const fm_cli_option place_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {"nearest", 0, FM_CLI_FLAG, NULL, "on the nearest cells that can hold them", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_place = {
    .name = "place",
    .arguments = "X,Y[/X,Y...] [AGENTS...]",
    .summary = "put living agents elsewhere",
    .details =
        "Puts all of them on one cell, or each on its own. Their orders stay and continue from\n"
        "there. AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch place 40,40 7\n"
                "fogmarch place 40,40/41,40 7-8\n"
                "fogmarch place 12,12 --team 2 --nearest",
    .options = place_options,
    .arguments_min = 1,
    .arguments_max = 4096,
    .run = run_place,
};

static const fm_cli_option board_options[] = {
    FM_CLI_OPTION_WORLD,
    {"radius", 'r', FM_CLI_UINT, "CELLS", "from the carrier, 1 to 8; 1: beside it",
     FM_FIELD_RADIUS},
    {.name = NULL},
};

const fm_cli_command fm_cli_board = {
    .name = "board",
    .arguments = "CARRIER AGENTS...",
    .summary = "let one agent carry others",
    .details =
        "They are out of the world until `unboard`, and die with their carrier. Their orders end.\n"
        "CARRIER is an id; AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch board 7 8-12",
    .options = board_options,
    .arguments_min = 2,
    .arguments_max = 4096,
    .run = run_board,
};

const fm_cli_command fm_cli_unboard = {
    .name = "unboard",
    .arguments = "CARRIER",
    .summary = "let all that an agent carries come out",
    .details = "They stand around it, all of them, or none where there is too little room.",
    .examples = "fogmarch unboard 7\n"
                "fogmarch unboard 7 --radius 3",
    .options = board_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_unboard,
};

static const fm_cli_option report_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {"cells", 0, FM_CLI_UINT, "N", "cells of each path, with --json; 32", FM_FIELD_CELLS_MAX},
    {.name = NULL},
};

const fm_cli_command fm_cli_report = {
    .name = "report",
    .arguments = "[AGENTS...]",
    .summary = "say what agents are doing",
    .details =
        "A line for each: where it is, its order and goal, how many more wait, and why it waits.\n"
        "--json has their paths as well, an object for each 256 agents. A player asks about its\n"
        "own. AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch report 1-20\n"
                "fogmarch report --team 1 --json",
    .options = report_options,
    .arguments_max = 4096,
    .run = run_report,
};
