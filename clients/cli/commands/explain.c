// clients/cli/commands/explain.c: `explain`: why an agent does what it does.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

static const char *place(const msgpack_object *map, const char *name, char *text, size_t size)
{
    fm_numbers cell = fm_object_numbers(map, name);
    if (cell.count < 2) {
        return "-";
    }
    snprintf(text, size, "%llu,%llu", (unsigned long long)fm_numbers_at(cell, 0),
             (unsigned long long)fm_numbers_at(cell, 1));
    return text;
}

static void print_reason(const msgpack_object *result)
{
    char state[32], why[128], cell[32];
    fm_object_text(result, "state", state, sizeof state);
    fm_object_text(result, "why", why, sizeof why);
    printf("agent %llu is %s: %s", (unsigned long long)fm_object_uint(result, "agent", 0), state,
           why);
    uint64_t blocker = fm_object_uint(result, "blocker", 0);
    if (blocker != 0) {
        printf(", agent %llu", (unsigned long long)blocker);
    }
    if (fm_object_numbers(result, "blocked_at").count == 2) {
        printf(" at %s", place(result, "blocked_at", cell, sizeof cell));
    }
    uint64_t waits = fm_object_uint(result, "waits_ticks", 0);
    if (waits > 0) {
        printf("; for %s tick%s", fm_report_grouped(waits), waits == 1 ? "" : "s");
    }
    putchar('\n');
    if (fm_object_bool(result, "stuck", false)) {
        char help[16];
        fm_object_text(result, "help", help, sizeof help);
        printf("it is stuck, and has been kept from its way for %s ticks; help: %s\n",
               fm_report_grouped(fm_object_uint(result, "kept_ticks", 0)), help);
    }
}

// Prints for whom it stands, or who stands for it.
static void print_escort(const msgpack_object *result)
{
    uint64_t escort = fm_object_uint(result, "escort", 0);
    uint64_t agent = fm_object_uint(result, "agent", 0);
    fm_numbers stands = fm_object_numbers(result, "stands");
    if (escort != 0 && escort != agent) {
        printf("it stands so that agent %llu gets through a press\n", (unsigned long long)escort);
    } else if (escort != 0) {
        printf("it has an escort, to get through a press; %u agent%s for it%s", stands.count,
               stands.count == 1 ? " stands" : "s stand", stands.count == 0 ? "" : ":");
        for (uint32_t i = 0; i < stands.count; i++) {
            printf(" %llu", (unsigned long long)fm_numbers_at(stands, i));
        }
        putchar('\n');
    }
}

static void print_lanes(const msgpack_object *result)
{
    char heading[8], at[32];
    fm_object_text(result, "lanes_to", heading, sizeof heading);
    if (fm_object_numbers(result, "lanes").count == 4) {
        printf("it keeps to the lanes of the passage at %s, to the %s: two streams meet there\n",
               place(result, "lanes", at, sizeof at), heading);
    }
}

// Prints how it deals with units of other teams and with a press that it meets.
static void print_meeting(const msgpack_object *result)
{
    char at[32];
    uint64_t until = fm_object_uint(result, "passes_until", 0);
    if (until != 0) {
        printf("it keeps to the right until tick %llu, to pass units of team %llu\n",
               (unsigned long long)until,
               (unsigned long long)fm_object_uint(result, "passes_team", 0));
    }
    if (fm_object_bool(result, "concedes", false)) {
        puts("it concedes: units of other teams may push it");
    }
    if (fm_object_numbers(result, "via").count == 2) {
        printf("it goes round a press, by way of %s\n", place(result, "via", at, sizeof at));
    }
}

// Prints whom the blocker waits for, and so on.
static void print_chain(const msgpack_object *result)
{
    fm_numbers chain = fm_object_numbers(result, "waits_for");
    for (uint32_t i = 3; i + 2 < chain.count; i += 3) {
        printf("agent %llu waits for agent %llu at %llu,%llu\n",
               (unsigned long long)fm_numbers_at(chain, i - 3),
               (unsigned long long)fm_numbers_at(chain, i),
               (unsigned long long)fm_numbers_at(chain, i + 1),
               (unsigned long long)fm_numbers_at(chain, i + 2));
    }
}

static void print_orders(fm_numbers orders)
{
    char event[16], detail[32], cell[32];
    if (orders.count == 0) {
        return;
    }
    puts("\norders, newest first");
    printf("%10s  %-10s %-8s %-16s %s\n", "TICK", "ORDER", "EVENT", "KIND, REASON", "STOOD AT");
    for (uint32_t i = 0; i < orders.count; i++) {
        const msgpack_object *entry = &orders.elements[i];
        fm_object_text(entry, "event", event, sizeof event);
        fm_object_text(entry, strcmp(event, "ended") == 0 ? "reason" : "kind", detail,
                       sizeof detail);
        printf("%10llu  %-10llu %-8s %-16s %s\n",
               (unsigned long long)fm_object_uint(entry, "tick", 0),
               (unsigned long long)fm_object_uint(entry, "order", 0), event, detail,
               place(entry, "cell", cell, sizeof cell));
    }
}

static void print_replans(fm_numbers replans)
{
    char cell[32];
    if (replans.count == 0) {
        return;
    }
    puts("\nchanges that made it search again, newest first");
    printf("%10s  %-12s %-14s %s\n", "TICK", "EXPANSIONS", "CELLS CHANGED", "FIRST OF THEM");
    for (uint32_t i = 0; i < replans.count; i++) {
        const msgpack_object *entry = &replans.elements[i];
        printf("%10llu  %-12s %-14llu %s\n", (unsigned long long)fm_object_uint(entry, "tick", 0),
               fm_report_grouped(fm_object_uint(entry, "expansions", 0)),
               (unsigned long long)fm_object_uint(entry, "changed", 0),
               place(entry, "cell", cell, sizeof cell));
    }
}

static int run_explain(fm_cli *cli)
{
    uint64_t agent;
    if (!fm_parse_uint(cli->arguments[0], (uint64_t)FM_UINT_MAX, &agent)) {
        fm_cli_usage_error(cli, "'%s' is not an agent's id", cli->arguments[0]);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uint(&cli->params, FM_FIELD_AGENT, agent);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_DEBUG_EXPLAIN);
    if (!fm_cli_print_json(cli, result)) {
        print_reason(result);
        print_escort(result);
        print_lanes(result);
        print_meeting(result);
        print_chain(result);
        print_orders(fm_object_numbers(result, "orders"));
        print_replans(fm_object_numbers(result, "replans"));
    }
    return 0;
}

const fm_cli_command fm_cli_explain = {
    .name = "explain",
    .arguments = "AGENT",
    .summary = "say why an agent does what it does",
    .details =
        "Says what holds the agent up and who stands in its way, which orders it had and how\n"
        "they ended, and what made its search continue and at what cost, newest first.",
    .examples = "fogmarch explain 17",
    .options = fm_cli_world_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_explain,
};
