// clients/cli/commands/agent_commands.c: `team`, `order`, `cancel` and `remove`.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/views/snapshot.h"
#include "core/base/name_hint.h"

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

fm_id_list fm_cli_read_agents(fm_cli *cli, uint64_t world, int first)
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
        fm_cli_die(cli, "there are no such agents: world %llu has none%s%s",
                   (unsigned long long)world, strcmp(team, "all") == 0 ? "" : " of team ",
                   strcmp(team, "all") == 0 ? "" : team);
    }
    if (!fm_id_list_drop_doubles(&list)) { // 1-9 --team 1
        fm_cli_die(cli, "out of memory");
    }
    return list;
}

#define ATTACK_ALERT 8u // cells

// What goes with the agents of a request.
struct request {
    fm_method method;
    const char *kind;                      // of an order, NULL otherwise
    uint64_t places[2 * FM_WAYPOINTS_MAX]; // x, y
    uint32_t place_count;                  // numbers; sent as `goal` or, if there are more, `goals`
    uint64_t target;                       // 0: none
    fm_field turn;                         // BEFORE or REPLACES, with `orders`
    uint32_t alert;                        // of an attack-move; 0: as the option says
    fm_id_list orders;                     // one of each agent; empty: without a turn
};

// Sends a request for all agents, in pieces. @return the sum of the result's `entry`; `first`
// receives the first piece's order id
static uint64_t send_to_agents(fm_cli *cli, uint64_t world, fm_id_list agents,
                               const struct request *request, const char *entry, uint64_t *first)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < agents.count; i += FM_CLI_AGENTS_AT_ONCE) {
        uint32_t left = agents.count - i;
        fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
        fm_params_uints(&cli->params, FM_FIELD_AGENTS, agents.ids + i,
                        left < FM_CLI_AGENTS_AT_ONCE ? left : FM_CLI_AGENTS_AT_ONCE);
        if (request->kind != NULL) {
            fm_params_text(&cli->params, FM_FIELD_KIND, request->kind);
        }
        if (request->alert != 0) {
            fm_params_uint(&cli->params, FM_FIELD_ALERT, request->alert);
        }
        if (request->place_count > 0) {
            fm_field field = strcmp(request->kind, "flee") == 0 ? FM_FIELD_CELLS
                             : request->place_count == 2        ? FM_FIELD_GOAL
                                                                : FM_FIELD_GOALS;
            fm_params_uints(&cli->params, field, request->places, request->place_count);
        }
        if (request->orders.count > 0) {
            fm_params_uints(&cli->params, request->turn, request->orders.ids + i,
                            left < FM_CLI_AGENTS_AT_ONCE ? left : FM_CLI_AGENTS_AT_ONCE);
        }
        if (request->target != 0) {
            fm_params_uint(&cli->params, FM_FIELD_TARGET, request->target);
        }
        fm_cli_pack_options(cli);
        const msgpack_object *result = fm_cli_call(cli, request->method);
        sum += fm_object_uint(result, entry, 0);
        if (i == 0) {
            *first = fm_object_uint(result, "order", 0);
        }
    }
    return sum;
}

// What comes after the kind of an order.
enum operand {
    NOTHING,
    ONE_PLACE,
    PLACES,
    AGENT,
    PLACE_OR_AGENT
};

static const struct order_words {
    const char *kind;
    enum operand operand;
    const char *one, *many; // "1 agent moves", "2 agents move"
} order_words[] = {
    {"move", ONE_PLACE, "moves", "move"},
    {"attack-move", ONE_PLACE, "moves", "move"},
    {"stop", NOTHING, "stops", "stop"},
    {"patrol", PLACES, "patrols", "patrol"},
    {"hold", NOTHING, "holds its ground", "hold their ground"},
    {"follow", AGENT, "follows", "follow"},
    {"guard", PLACE_OR_AGENT, "guards", "guard"},
    {"explore", NOTHING, "explores", "explore"},
    {"flee", NOTHING, "flees", "flee"},
    {"keep-distance", NOTHING, "keeps its distance", "keep their distance"},
    {"scatter", NOTHING, "scatters", "scatter"},
};

static const struct order_words *find_order(fm_cli *cli, const char *kind)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, kind);
    for (uint32_t i = 0; i < FM_COUNT_OF(order_words); i++) {
        if (strcmp(order_words[i].kind, kind) == 0) {
            return &order_words[i];
        }
        fm_name_hint_offer(&hint, order_words[i].kind);
    }
    fm_cli_usage_error(cli, "there is no order '%s'%s", kind, fm_name_hint_text(&hint));
}

// Reads X,Y or X,Y/X,Y/... Returns false for anything else.
static bool read_places(const char *text, uint32_t count_max, struct request *request)
{
    fm_cell cells[FM_WAYPOINTS_MAX];
    uint32_t count = fm_parse_cells(text, cells, count_max);
    for (uint32_t i = 0; i < count; i++) {
        request->places[2 * i] = fm_cell_x(cells[i]);
        request->places[2 * i + 1] = fm_cell_y(cells[i]);
    }
    request->place_count = 2 * count;
    return count > 0;
}

static void read_operand(fm_cli *cli, const struct order_words *words, struct request *request)
{
    const char *text = cli->argument_count < 2 ? "" : cli->arguments[1];
    uint64_t target = 0;
    bool agent = (words->operand == AGENT || words->operand == PLACE_OR_AGENT) &&
                 fm_parse_uint(text, (uint64_t)FM_UINT_MAX, &target);
    request->target = agent ? target : 0;
    switch (words->operand) {
    case NOTHING:
        return;
    case ONE_PLACE:
        if (!read_places(text, 1, request)) {
            fm_cli_usage_error(cli, "%s where? X,Y comes next, each 0 to %u, not '%s'", words->kind,
                               FM_SIDE_MAX - 1u, text);
        }
        return;
    case PLACES:
        if (!read_places(text, FM_WAYPOINTS_MAX, request)) {
            fm_cli_usage_error(cli, "%s where? X,Y/X,Y/... comes next, at most %u places, not '%s'",
                               words->kind, FM_WAYPOINTS_MAX, text);
        }
        return;
    case AGENT:
        if (!agent) {
            fm_cli_usage_error(cli, "%s whom? an agent's id comes next, not '%s'", words->kind,
                               text);
        }
        return;
    case PLACE_OR_AGENT:
        if (!agent && !read_places(text, 1, request)) {
            fm_cli_usage_error(cli, "%s what? X,Y or an agent's id comes next, not '%s'",
                               words->kind, text);
        }
        return;
    }
    FM_UNREACHABLE();
}

static void print_ordered(const struct order_words *words, const struct request *request,
                          uint64_t count, uint64_t first)
{
    printf("%llu agent%s %s", (unsigned long long)count, count == 1 ? "" : "s",
           count == 1 ? words->one : words->many);
    if (words->operand == ONE_PLACE) {
        printf(" to %llu,%llu", (unsigned long long)request->places[0],
               (unsigned long long)request->places[1]);
    }
    if (first != 0) {
        printf("; orders from %llu on", (unsigned long long)first);
    }
    putchar('\n');
}

// --before or --replaces. The caller frees the ids.
static void read_turn(fm_cli *cli, struct request *request)
{
    const char *before = fm_cli_value(cli, "before"), *replaces = fm_cli_value(cli, "replaces");
    const char *text = before != NULL ? before : replaces;
    if (before != NULL && replaces != NULL) {
        fm_cli_usage_error(cli, "--before or --replaces?");
    }
    request->turn = before != NULL ? FM_FIELD_BEFORE : FM_FIELD_REPLACES;
    if (text != NULL && !fm_parse_ids(text, &request->orders)) {
        fm_cli_usage_error(cli, "'%s' is not a list of orders such as 21,23", text);
    }
}

// --from and --around.
static void read_place_options(fm_cli *cli, struct request *request)
{
    const char *from = fm_cli_value(cli, "from"), *around = fm_cli_value(cli, "around");
    bool flees = strcmp(request->kind, "flee") == 0;
    bool keeps = strcmp(request->kind, "keep_distance") == 0;
    if (from != NULL && keeps) {
        if (!fm_parse_uint(from, (uint64_t)FM_UINT_MAX, &request->target) || request->target == 0) {
            fm_cli_usage_error(cli, "--from: '%s' is not the id of an agent to keep away from",
                               from);
        }
    } else if (from != NULL && !(flees && read_places(from, FM_WAYPOINTS_MAX, request))) {
        fm_cli_usage_error(cli, "--from: X,Y/X,Y/... to flee from is wanted");
    }
    if (around != NULL &&
        (strcmp(request->kind, "scatter") != 0 || !read_places(around, 1, request))) {
        fm_cli_usage_error(cli, "--around: X,Y to scatter around is wanted");
    }
}

static int run_order(fm_cli *cli)
{
    const struct order_words *words = find_order(cli, cli->arguments[0]);
    struct request request = {.method = FM_METHOD_AGENT_ORDER, .kind = words->kind};
    if (strcmp(words->kind, "attack-move") == 0) {
        request.kind = "move"; // that stops for enemies
        request.alert = fm_cli_value(cli, "alert") == NULL ? ATTACK_ALERT : 0;
    }
    if (strcmp(words->kind, "keep-distance") == 0) {
        request.kind = "keep_distance";
    }
    read_operand(cli, words, &request);
    read_place_options(cli, &request);
    read_turn(cli, &request);
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), first = 0;
    fm_id_list agents = fm_cli_read_agents(cli, world, words->operand == NOTHING ? 1 : 2);
    if (request.orders.count > 0 && request.orders.count != agents.count) {
        fm_cli_usage_error(cli, "%u orders for %u agents: one for each is wanted",
                           request.orders.count, agents.count);
    }
    uint64_t count = send_to_agents(cli, world, agents, &request, "count", &first);
    free(agents.ids);
    free(request.orders.ids);
    if (cli->json) {
        printf("{\"order\":%llu,\"count\":%llu}\n", (unsigned long long)first,
               (unsigned long long)count);
    } else {
        print_ordered(words, &request, count, first);
    }
    return 0;
}

// All of one agent's.
static int run_cancel(fm_cli *cli)
{
    uint64_t agent = 0;
    fm_id_list orders = {.ids = NULL};
    if (!fm_parse_uint(cli->arguments[0], (uint64_t)FM_UINT_MAX, &agent)) {
        fm_cli_usage_error(cli, "whose orders? an agent's id comes first, not '%s'",
                           cli->arguments[0]);
    }
    for (int i = 1; i < cli->argument_count; i++) {
        if (!fm_parse_ids(cli->arguments[i], &orders)) {
            fm_cli_usage_error(cli, "'%s' is not a list of orders such as 21,23",
                               cli->arguments[i]);
        }
    }
    fm_cli_connect(cli);
    uint64_t *agents = fm_cli_need(cli, calloc(orders.count, sizeof *agents));
    for (uint32_t i = 0; i < orders.count; i++) {
        agents[i] = agent;
    }
    fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    fm_params_uints(&cli->params, FM_FIELD_AGENTS, agents, orders.count);
    fm_params_uints(&cli->params, FM_FIELD_ORDERS, orders.ids, orders.count);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_AGENT_CANCEL);
    if (!fm_cli_print_json(cli, result)) {
        printf("%u order%s cancelled\n", orders.count, orders.count == 1 ? "" : "s");
    }
    free(agents);
    free(orders.ids);
    return 0;
}

static int run_go_on(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), first;
    fm_id_list agents = fm_cli_read_agents(cli, world, 0);
    struct request request = {.method = FM_METHOD_AGENT_RESUME};
    uint64_t count = send_to_agents(cli, world, agents, &request, "count", &first);
    free(agents.ids);
    if (cli->json) {
        printf("{\"count\":%llu}\n", (unsigned long long)count);
    } else {
        printf("%llu agent%s on\n", (unsigned long long)count, count == 1 ? " goes" : "s go");
    }
    return 0;
}

static int run_remove(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli), first;
    fm_id_list agents = fm_cli_read_agents(cli, world, 0);
    struct request request = {.method = FM_METHOD_AGENT_REMOVE};
    uint64_t count = send_to_agents(cli, world, agents, &request, "removed", &first);
    free(agents.ids);
    if (cli->json) {
        printf("{\"removed\":%llu}\n", (unsigned long long)count);
    } else {
        printf("%llu agent%s removed\n", (unsigned long long)count, count == 1 ? "" : "s");
    }
    return 0;
}

static const fm_cli_option team_options[] = {
    FM_CLI_OPTION_WORLD,
    {"planner", 'p', FM_CLI_TEXT, "SPEC", "planner of its agents; the world's", FM_FIELD_PLANNER},
    {"weight", 0, FM_CLI_UINT, "N", "of its share of the search; 1", FM_FIELD_WEIGHT},
    {.name = NULL},
};

const fm_cli_command fm_cli_team = {
    .name = "team",
    .arguments = "",
    .summary = "make a team, whose agents share what they see",
    .details = "Makes a team and prints its number.",
    .options = team_options,
    .run = run_team,
};

#define OPTION_TEAM                                                                                \
    {                                                                                              \
        "team", 't', FM_CLI_TEXT, "N", "all agents of team N; 'all' for those of every team", 0    \
    }

static const fm_cli_option order_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {"on-unreachable", 0, FM_CLI_TEXT, "WHAT",
     "nearest, fail or wait, when there is no path;\n"
     "nearest",
     FM_FIELD_ON_UNREACHABLE},
    {"max-detour", 0, FM_CLI_UINT, "PERCENT",
     "move: give up when the path gets longer than so\n"
     "many per cent of the first one known",
     FM_FIELD_MAX_DETOUR},
    {"queue", 'q', FM_CLI_FLAG, NULL, "after the orders they have, not in their place",
     FM_FIELD_QUEUE},
    {"at", 0, FM_CLI_UINT, "N", "into the queue after N others; 0: next", FM_FIELD_AT},
    {"before", 0, FM_CLI_TEXT, "ORDERS", "into the queue before these, one of each agent", 0},
    {"replaces", 0, FM_CLI_TEXT, "ORDERS",
     "in place of these, one of each agent; all others\n"
     "stay",
     0},
    {"deadline", 'd', FM_CLI_UINT, "TICKS", "ends so many ticks after its turn came",
     FM_FIELD_DEADLINE},
    {"alert", 'a', FM_CLI_UINT, "CELLS",
     "move, patrol, guard, explore, hold: stop when an\n"
     "enemy is seen so near; attack-move: 8",
     FM_FIELD_ALERT},
    {"once", 0, FM_CLI_FLAG, NULL,
     "follow: end as soon as it is near enough;\n"
     "keep-distance: as soon as it is far enough",
     FM_FIELD_ONCE},
    {"loop", 0, FM_CLI_FLAG, NULL, "patrol: round, not there and back", FM_FIELD_LOOP},
    {"spread", 's', FM_CLI_FLAG, NULL, "move: a place for each around X,Y", FM_FIELD_SPREAD},
    {"formation", 'f', FM_CLI_TEXT, "WHICH",
     "move: the same, as they stand (keep), in\n"
     "a line or in a box",
     FM_FIELD_FORMATION},
    {"common-speed", 0, FM_CLI_FLAG, NULL, "move: all as fast as the slowest of them",
     FM_FIELD_COMMON_SPEED},
    {"radius", 'r', FM_CLI_UINT, "CELLS",
     "follow: how near, 2; guard: how far away it\n"
     "may be, 4; flee: from what is nearer, 8;\n"
     "keep-distance: how far, 6; scatter: how far from\n"
     "the middle, so that each has about nine cells",
     FM_FIELD_RADIUS},
    {"from", 0, FM_CLI_TEXT, "X,Y/...|ID",
     "flee: places to flee from; keep-distance: the\n"
     "agent to keep away from; every seen enemy",
     0},
    {"around", 0, FM_CLI_TEXT, "X,Y", "scatter: the middle; the middle of where they are", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_order = {
    .name = "order",
    .arguments = "KIND [PLACE] [AGENTS...]",
    .summary = "tell agents what to do",
    .details =
        "Gives one order to many agents. AGENTS are ids and ranges of ids, such as 1-20,33.\n"
        "\n"
        "  move X,Y          go there\n"
        "  attack-move X,Y   the same, but stop when an enemy is near; go on by `go-on`\n"
        "  patrol X,Y        there and back, for ever; X,Y/X,Y/...: from one to the next\n"
        "  follow ID         stay near an agent, own or seen\n"
        "  guard X,Y | ID    come back when away from a place, or from an own agent\n"
        "  explore           see all that can be reached\n"
        "  flee              from enemies that are seen, and from places named by --from\n"
        "  keep-distance     go away from what comes too near: an agent named by --from, or\n"
        "                    every enemy that is seen; hold while it is far enough\n"
        "  scatter           spread out, each to a cell of its own, around where they are or\n"
        "                    --around a place\n"
        "  hold              stay, and do not move aside\n"
        "  stop              end all orders",
    .examples = "fogmarch order move 200,180 1-50\n"
                "fogmarch order move 12,12 --team 2 --on-unreachable fail\n"
                "fogmarch order patrol 40,10/80,10/80,40 7 --loop --queue\n"
                "fogmarch order move 200,180 --team 1 --formation box --common-speed\n"
                "fogmarch order attack-move 200,180 1-50 --alert 6\n"
                "fogmarch order hold 7 --deadline 50 --at 0\n"
                "fogmarch order move 90,90 7 --replaces 21\n"
                "fogmarch order follow 17 1-5 --radius 3\n"
                "fogmarch order explore --team 1\n"
                "fogmarch order flee --from 20,20 8-9\n"
                "fogmarch order keep-distance --from 17 1-5 --radius 7\n"
                "fogmarch order scatter --team 1 --around 40,40 --radius 12\n"
                "fogmarch order stop --team all",
    .options = order_options,
    .arguments_min = 1,
    .arguments_max = 4096,
    .run = run_order,
};

static const fm_cli_option cancel_options[] = {
    FM_CLI_OPTION_WORLD,
    {.name = NULL},
};

const fm_cli_command fm_cli_cancel = {
    .name = "cancel",
    .arguments = "AGENT ORDERS...",
    .summary = "take orders of an agent back",
    .details =
        "Ends orders of one agent, queued or under way; its others stay. `order` and `report\n"
        "--json` say which there are. ORDERS are ids and ranges of ids, such as 21,23-25.",
    .examples = "fogmarch cancel 7 21",
    .options = cancel_options,
    .arguments_min = 2,
    .arguments_max = 4096,
    .run = run_cancel,
};

static const fm_cli_option go_on_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {"ticks", 0, FM_CLI_UINT, "N", "in which they stop for nobody; 0", FM_FIELD_TICKS},
    {.name = NULL},
};

const fm_cli_command fm_cli_go_on = {
    .name = "go-on",
    .arguments = "[AGENTS...]",
    .summary = "let agents go on that stopped for enemies",
    .details =
        "Lets agents go on whose orders have --alert. Where an enemy is still near they stop\n"
        "again. AGENTS are ids and ranges of ids, such as 1-20,33.",
    .examples = "fogmarch go-on 1-50\n"
                "fogmarch go-on --team 1 --ticks 20",
    .options = go_on_options,
    .arguments_max = 4096,
    .run = run_go_on,
};

static const fm_cli_option remove_options[] = {
    FM_CLI_OPTION_WORLD,
    OPTION_TEAM,
    {.name = NULL},
};

const fm_cli_command fm_cli_remove = {
    .name = "remove",
    .arguments = "[AGENTS...]",
    .summary = "take agents out of a world",
    .details =
        "Takes agents out; their orders end as 'died'. AGENTS are ids and ranges of ids, such\n"
        "as 1-20,33.",
    .options = remove_options,
    .arguments_max = 4096,
    .run = run_remove,
};
