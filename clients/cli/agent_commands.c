// clients/cli/agent_commands.c: `team`, `order` and `remove`.

#include "clients/cli/commands.h"

#include "clients/cli/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_team(fm_cli *cli)
{
    fm_cli_connect(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_TEAM_CREATE);
    if (!fm_cli_print_json(cli, result)) {
        printf("team %llu\n", (unsigned long long)fm_object_uint(result, "team", 0));
    }
    return 0;
}

// The agents named by arguments from `first` on and by --team.
static fm_id_list read_agents(fm_cli *cli, uint64_t world, int first)
{
    fm_id_list list = {.ids = NULL};
    for (int i = first; i < cli->argument_count; i++) {
        if (!fm_parse_ids(cli->arguments[i], &list)) {
            fm_cli_usage_error(cli, "'%s' is not a list of ids such as 1-20,33", cli->arguments[i]);
        }
    }
    const char *team = fm_cli_value(cli, "team");
    if (team != NULL) {
        uint64_t number =
            strcmp(team, "all") == 0 ? 0 : fm_cli_uint(cli, "team", 1, FM_TEAMS_MAX, 0);
        fm_mirror mirror;
        fm_snapshot_take(cli, world, 0, NULL, &mirror);
        fm_snapshot_agents(cli, &mirror, number, &list);
        fm_mirror_fini(&mirror);
    } else if (list.count == 0) {
        fm_cli_usage_error(cli, "which agents? ids such as 1-20,33, or --team");
    }
    if (list.count == 0) {
        fm_cli_die(cli, "there are no such agents");
    }
    return list;
}

// Sends a request for all agents, in pieces. @return the sum of the result's `entry`; `first`
// receives the first piece's order id
static uint64_t send_to_agents(fm_cli *cli, fm_method method, uint64_t world, fm_id_list agents,
                               const char *kind, const uint64_t goal[2], const char *entry,
                               uint64_t *first)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < agents.count; i += FM_CLI_AGENTS_AT_ONCE) {
        uint32_t left = agents.count - i;
        fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
        fm_params_uints(&cli->params, FM_FIELD_AGENTS, agents.ids + i,
                        left < FM_CLI_AGENTS_AT_ONCE ? left : FM_CLI_AGENTS_AT_ONCE);
        if (kind != NULL) {
            fm_params_text(&cli->params, FM_FIELD_KIND, kind);
        }
        if (goal != NULL) {
            fm_params_uints(&cli->params, FM_FIELD_GOAL, goal, 2);
        }
        fm_cli_pack_options(cli);
        const msgpack_object *result = fm_cli_call(cli, method);
        sum += fm_object_uint(result, entry, 0);
        if (i == 0) {
            *first = fm_object_uint(result, "order", 0);
        }
    }
    return sum;
}

static int run_order(fm_cli *cli)
{
    const char *kind = cli->arguments[0];
    bool moves = strcmp(kind, "move") == 0;
    uint64_t goal[2] = {0, 0}, first = 0;
    fm_cell cell;
    if (!moves && strcmp(kind, "stop") != 0) {
        fm_cli_usage_error(cli, "'%s' is neither move nor stop", kind);
    }
    if (moves) {
        if (cli->argument_count < 2 || !fm_parse_cell(cli->arguments[1], &cell)) {
            fm_cli_usage_error(cli, "move where? X,Y comes next");
        }
        goal[0] = fm_cell_x(cell);
        goal[1] = fm_cell_y(cell);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_id_list agents = read_agents(cli, world, moves ? 2 : 1);
    uint64_t count = send_to_agents(cli, FM_METHOD_AGENT_ORDER, world, agents, kind,
                                    moves ? goal : NULL, "count", &first);
    free(agents.ids);
    if (cli->json) {
        printf("{\"order\":%llu,\"count\":%llu}\n", (unsigned long long)first,
               (unsigned long long)count);
    } else if (moves) {
        printf("%llu agent%s to %llu,%llu; orders from %llu on\n", (unsigned long long)count,
               count == 1 ? " moves" : "s move", (unsigned long long)goal[0],
               (unsigned long long)goal[1], (unsigned long long)first);
    } else {
        printf("%llu agent%s\n", (unsigned long long)count, count == 1 ? " stops" : "s stop");
    }
    return 0;
}

static int run_remove(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), first;
    fm_id_list agents = read_agents(cli, world, 0);
    uint64_t count =
        send_to_agents(cli, FM_METHOD_AGENT_REMOVE, world, agents, NULL, NULL, "removed", &first);
    free(agents.ids);
    if (cli->json) {
        printf("{\"removed\":%llu}\n", (unsigned long long)count);
    } else {
        printf("%llu agent%s removed\n", (unsigned long long)count, count == 1 ? "" : "s");
    }
    return 0;
}

const fm_cli_command fm_cli_team = {
    .name = "team",
    .arguments = "",
    .summary = "make a team, whose agents share what they see",
    .details = "Makes a team and prints its number.",
    .options = (const fm_cli_option[]){FM_CLI_OPTION_WORLD,
                                       {.name = "planner",
                                        .letter = 'p',
                                        .kind = FM_CLI_TEXT,
                                        .argument = "SPEC",
                                        .text = "planner of its agents; the world's",
                                        .field = FM_FIELD_PLANNER},
                                       {.name = NULL}},
    .run = run_team,
};

#define OPTION_TEAM                                                                                \
    {                                                                                              \
        "team", 't', FM_CLI_TEXT, "N", "all agents of team N; 'all' for those of every team", 0    \
    }

const fm_cli_command fm_cli_order = {
    .name = "order",
    .arguments = "move X,Y [AGENTS...] | stop [AGENTS...]",
    .summary = "send agents somewhere, or stop them",
    .details = "Gives one order to many agents. AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch order move 200,180 1-50\n"
                "fogmarch order move 12,12 --team 2 --on-unreachable fail\n"
                "fogmarch order stop --team all",
    .options = (const fm_cli_option[]){FM_CLI_OPTION_WORLD,
                                       OPTION_TEAM,
                                       {.name = "on-unreachable",
                                        .kind = FM_CLI_TEXT,
                                        .argument = "WHAT",
                                        .text = "nearest, fail or wait, when there is no way;\n"
                                                "nearest",
                                        .field = FM_FIELD_ON_UNREACHABLE},
                                       {.name = NULL}},
    .arguments_min = 1,
    .arguments_max = 4096,
    .run = run_order,
};

const fm_cli_command fm_cli_remove = {
    .name = "remove",
    .arguments = "[AGENTS...]",
    .summary = "take agents out of a world",
    .details =
        "Takes agents out; their orders end as 'died'. AGENTS are ids and ranges of ids, such\n"
        "as 1-20,33.",
    .options = (const fm_cli_option[]){FM_CLI_OPTION_WORLD, OPTION_TEAM, {.name = NULL}},
    .arguments_max = 4096,
    .run = run_remove,
};
