// clients/cli/commands/standby_commands.c: `standby`: whether a server has a standby or is one, and
// how one takes over.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

// ---- status -------------------------------------------------------------------------------------

// The meaning of a state, and advice.
static const fm_report_meaning states[] = {
    {"none", "no standby follows"},
    {"catching_up", "it does not have everything yet"},
    {"in_step", "it has everything, but for what is on its way"},
    {"late", "it does not say what it has: look at its machine and the network"},
    {"following", "it gets everything"},
    {"connecting", "it tries again twice a second"},
    {"refused", "it tries again twice a second; see below"},
};

static void print_durability(const char *durability)
{
    if (strcmp(durability, "blocked") == 0) {
        puts("Nothing is sent to clients until a standby has everything (replica_missing: block).");
    } else if (strcmp(durability, "degraded") == 0) {
        puts("What clients are sent is on this server's disk only (replica_missing: degrade).");
    } else {
        printf("Durability: %s.\n", durability);
    }
}

static void print_worlds(fm_numbers worlds)
{
    if (worlds.count > 0) {
        printf("\n%8s  %-20s %12s %10s\n", "WORLD", "NAME", "TICK", "LAG TICKS");
    }
    for (uint32_t i = 0; i < worlds.count; i++) {
        const msgpack_object *world = &worlds.elements[i];
        char name[65];
        fm_object_text(world, "name", name, sizeof name);
        printf("%8llu  %-20s %12s %10llu\n", (unsigned long long)fm_object_uint(world, "world", 0),
               name, fm_report_grouped(fm_object_uint(world, "tick", 0)),
               (unsigned long long)fm_object_uint(world, "lag_ticks", 0));
    }
}

static int print_status(fm_cli *cli)
{
    const msgpack_object *status = fm_cli_call(cli, FM_METHOD_STANDBY_STATUS);
    char role[32], peer[256], state[32], error[FM_ERROR_TEXT_SIZE], durability[32];
    if (fm_cli_print_json(cli, status)) {
        return 0;
    }
    fm_object_text(status, "role", role, sizeof role);
    fm_object_text(status, "peer", peer, sizeof peer);
    fm_object_text(status, "state", state, sizeof state);
    fm_object_text(status, "error", error, sizeof error);
    fm_object_text(status, "durability", durability, sizeof durability);
    bool is_primary = strcmp(role, "primary") == 0;
    printf("This server is a %s, epoch %llu.\n", is_primary ? "server of its own" : role,
           (unsigned long long)fm_object_uint(status, "epoch", 0));
    printf("Standby%s%s: %s, %s.\n",
           peer[0] == '\0' ? ""
           : is_primary    ? " at "
                           : " of ",
           peer, state, fm_report_meaning_of(states, FM_COUNT_OF(states), state));
    if (error[0] != '\0') {
        printf("  %s\n", error);
    }
    if (is_primary) {
        print_durability(durability);
        printf("Behind: %s ticks, %s bytes.\n",
               fm_report_grouped(fm_object_uint(status, "lag_ticks", 0)),
               fm_report_grouped(fm_object_uint(status, "lag_bytes", 0)));
    }
    print_worlds(fm_object_numbers(status, "worlds"));
    return 0;
}

// ---- promote ------------------------------------------------------------------------------------

static int promote(fm_cli *cli)
{
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_STANDBY_PROMOTE);
    if (!fm_cli_print_json(cli, result)) {
        uint64_t worlds = fm_object_uint(result, "worlds", 0);
        printf(
            "It has taken over %llu world%s, in epoch %llu. Send clients here, and do not start\n"
            "the other server again but as a standby of this one (--follow).\n",
            (unsigned long long)worlds, worlds == 1 ? "" : "s",
            (unsigned long long)fm_object_uint(result, "epoch", 0));
    }
    return 0;
}

static int run_standby(fm_cli *cli)
{
    const char *action = cli->arguments[0];
    bool is_status = strcmp(action, "status") == 0;
    if (!is_status && strcmp(action, "promote") != 0) {
        fm_cli_usage_error(cli, "'%s' is none of: %s", action, cli->command->arguments);
    }
    fm_cli_connect(cli);
    return is_status ? print_status(cli) : promote(cli);
}

const fm_cli_command fm_cli_standby = {
    .name = "standby",
    .arguments = "status | promote",
    .summary = "show a server's standby, make one take over",
    .details =
        "status    whether the server has a standby or is one, and how far that is behind\n"
        "promote   a standby stops following and goes on with the worlds; the server that it\n"
        "          followed ends as soon as it hears of that",
    .examples = "fogmarch standby status\n"
                "fogmarch --connect 10.0.0.2:7421 standby promote",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_standby,
};
