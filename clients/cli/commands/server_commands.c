// clients/cli/commands/server_commands.c: `ping` and `stats`, about the server itself.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int run_ping(fm_cli *cli)
{
    uint64_t count = fm_cli_uint(cli, "count", 1, 1000000, 1);
    fm_cli_connect(cli);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        }
        double begin_ms = now_ms();
        const msgpack_object *result = fm_cli_call(cli, FM_METHOD_PING);
        double round_trip_ms = now_ms() - begin_ms;
        double uptime_s = (double)fm_object_uint(result, "uptime_ms", 0) / 1000;
        if (cli->json) {
            printf("{\"server\":");
            fm_json_print_text(cli->welcome.server, strlen(cli->welcome.server));
            printf(",\"role\":\"%s\",\"round_trip_ms\":%.3f,\"uptime_ms\":%.0f}\n",
                   cli->welcome.role, round_trip_ms, uptime_s * 1000);
        } else {
            printf("%s at %s answered in %.3f ms; up %.1f s; role %s\n", cli->welcome.server,
                   cli->address, round_trip_ms, uptime_s, cli->welcome.role);
        }
        fflush(stdout);
    }
    return 0;
}

static void print_teams(fm_numbers numbers)
{
    printf("\n%8s %7s %8s %8s %12s %12s %12s %16s\n", "team", "weight", "agents", "waiting",
           "share", "saved", "used", "used in all");
    for (uint32_t i = 0; i + 7 < numbers.count; i += 8) {
        static const int widths[] = {8, 7, 8, 8, 12, 12, 12, 16};
        for (uint32_t k = 0; k < 8; k++) {
            printf("%s%*s", k == 0 ? "" : " ", widths[k],
                   fm_report_grouped(fm_numbers_at(numbers, i + k)));
        }
        putchar('\n');
    }
}

// 0: of none, because there are many and none was named.
static uint64_t world_to_tell_of(fm_cli *cli)
{
    if (fm_cli_value(cli, "world") != NULL || fm_cli_value(cli, "teams") != NULL) {
        return fm_cli_world_option(cli);
    }
    fm_numbers worlds = fm_object_numbers(fm_cli_call(cli, FM_METHOD_WORLD_LIST), "worlds");
    return worlds.count == 1 ? fm_object_uint(&worlds.elements[0], "world", 0) : 0;
}

// A relay has no counters of worlds: without a named one, its own are printed, and who has the
// rest.
static const msgpack_object *call_stats(fm_cli *cli)
{
    uint64_t world = world_to_tell_of(cli);
    if (world > 0) {
        fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    }
    fm_cli_pack_options(cli);
    if (world == 0 || fm_cli_value(cli, "world") != NULL || fm_cli_value(cli, "teams") != NULL) {
        return fm_cli_call(cli, FM_METHOD_STATS);
    }
    const msgpack_object *result = fm_cli_call_unless(cli, FM_METHOD_STATS, FM_ERR_DENIED);
    if (result == NULL) {
        fprintf(stderr, "fogmarch: %s\n", fm_client_error_last(cli->client)->message);
        result = fm_cli_call(cli, FM_METHOD_STATS);
    }
    return result;
}

static int run_stats(fm_cli *cli)
{
    fm_cli_connect(cli);
    const msgpack_object *result = call_stats(cli);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    const msgpack_object *counters = fm_object_get(result, "world");
    void (*report)(const char *, const msgpack_object *) =
        fm_cli_value(cli, "all") != NULL ? fm_report_map : fm_report_counters;
    report("", fm_object_get(result, "server"));
    if (counters != NULL) {
        putchar('\n');
        report("", counters);
    }
    if (fm_object_get(result, "teams") != NULL) {
        print_teams(fm_object_numbers(result, "teams"));
    }
    return 0;
}

static const fm_cli_option ping_options[] = {
    {"count", 'n', FM_CLI_UINT, "N", "so many pings, one each second; 1", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_ping = {
    .name = "ping",
    .arguments = "",
    .summary = "ask whether the server is there",
    .details = "Says hello, sends a ping and prints how long the answer took.",
    .options = ping_options,
    .run = run_ping,
};

static const fm_cli_option stats_options[] = {
    FM_CLI_OPTION_WORLD,
    {"teams", 0, FM_CLI_FLAG, NULL, "also what each team may search", FM_FIELD_TEAMS},
    {"all", 0, FM_CLI_FLAG, NULL, "also what is 0", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_stats = {
    .name = "stats",
    .arguments = "",
    .summary = "print the counters of the server, or of a world too",
    .details =
        "Prints counters since the start: the server's and those of a world, unless there are\n"
        "many and none is named: tick times, orders by their end, searches, memory. A relay\n"
        "has only its own.\n"
        "What is 0 is left out; --all and --json have it. Times are in milliseconds, memory in\n"
        "bytes. stages_ms are means; `commands` is what was done for the world between ticks.\n"
        "conflicts are where units met, not faults: waited for another, stepped around it,\n"
        "pushed it aside, or would have changed places with it. What teams may search, have\n"
        "saved and have used is in expansions.\n"
        "expansions_by_planner has what single agents of `auto` search under auto, whatever it\n"
        "chose, and the goal fields that its groups share under goal-field; besides planners,\n"
        "`survey` makes tables of landmarks and clusters, and `seek` looks where to explore or\n"
        "flee to.",
    .options = stats_options,
    .run = run_stats,
};
