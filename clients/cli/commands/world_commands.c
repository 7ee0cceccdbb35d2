// clients/cli/commands/world_commands.c: `worlds`, `info`, `pause`, `resume`, `step` and `destroy`.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

// What is not as it should be, below the list.
static void print_trouble(const msgpack_object *result)
{
    char missing[FM_ERROR_TEXT_SIZE], name[65], halted[FM_ERROR_TEXT_SIZE], journal[16];
    fm_numbers worlds = fm_object_numbers(result, "worlds");
    for (uint32_t i = 0; i < worlds.count; i++) {
        fm_object_text(&worlds.elements[i], "name", name, sizeof name);
        fm_object_text(&worlds.elements[i], "halted", halted, sizeof halted);
        fm_object_text(&worlds.elements[i], "journal", journal, sizeof journal);
        if (halted[0] != '\0') {
            printf("%s stands still: %s\n", name, halted);
        } else if (strcmp(journal, "read_only") == 0) {
            printf("%s takes no changes: its journal cannot be written\n", name);
        }
    }
    fm_object_text(result, "missing", missing, sizeof missing);
    if (missing[0] != '\0') {
        printf("Worlds may be missing here: %s\n", missing);
    }
}

// The column RATE.
static void describe_rate(const msgpack_object *world, char *text, size_t size)
{
    char halted[FM_ERROR_TEXT_SIZE];
    fm_object_text(world, "halted", halted, sizeof halted);
    if (fm_object_bool(world, "paused", false)) {
        snprintf(text, size, "paused");
    } else if (halted[0] != '\0') {
        snprintf(text, size, "halted");
    } else {
        snprintf(text, size, "%g Hz", fm_object_real(world, "tick_hz", 0));
    }
}

static bool is_relay_without(const msgpack_object *result)
{
    char missing[FM_ERROR_TEXT_SIZE];
    return fm_object_text(result, "missing", missing, sizeof missing) && missing[0] != '\0';
}

static void print_no_world(const fm_cli *cli, const msgpack_object *result)
{
    if (is_relay_without(result)) {
        print_trouble(result);
        return;
    }
    puts(cli->welcome.node[0] == '\0'
             ? "There is no world yet; 'fogmarch create' makes one."
             : "This node has no world; 'fogmarch cluster status' lists those of the cluster.");
}

static int run_worlds(fm_cli *cli)
{
    fm_cli_connect(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_LIST);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    fm_numbers worlds = fm_object_numbers(result, "worlds");
    if (worlds.count == 0) {
        print_no_world(cli, result);
        return 0;
    }
    bool counted = strcmp(cli->welcome.role, "player") != 0; // players are not told these
    printf("%6s  %-20s %11s %10s %8s %6s %8s %10s\n", "WORLD", "NAME", "SIZE", "TICK", "AGENTS",
           "TEAMS", "RATE", "BUDGET");
    for (uint32_t i = 0; i < worlds.count; i++) {
        const msgpack_object *world = &worlds.elements[i];
        char name[65], size[24], rate[24], agents[24] = "-", teams[24] = "-";
        fm_object_text(world, "name", name, sizeof name);
        snprintf(size, sizeof size, "%llux%llu",
                 (unsigned long long)fm_object_uint(world, "width", 0),
                 (unsigned long long)fm_object_uint(world, "height", 0));
        describe_rate(world, rate, sizeof rate);
        if (counted) {
            snprintf(agents, sizeof agents, "%llu",
                     (unsigned long long)fm_object_uint(world, "agents", 0));
            snprintf(teams, sizeof teams, "%llu",
                     (unsigned long long)fm_object_uint(world, "teams", 0));
        }
        printf("%6llu  %-20s %11s %10llu %8s %6s %8s %7g ms\n",
               (unsigned long long)fm_object_uint(world, "world", 0), name, size,
               (unsigned long long)fm_object_uint(world, "tick", 0), agents, teams, rate,
               fm_object_real(world, "budget_ms", 0));
    }
    print_trouble(result);
    return 0;
}

static int run_info(fm_cli *cli)
{
    fm_cli_connect(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_INFO);
    if (!fm_cli_print_json(cli, result)) {
        fm_report_map("", result);
    }
    return 0;
}

// pause and resume differ in the method and one word.
static int set_paused(fm_cli *cli, fm_method method, const char *what)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, method);
    if (!fm_cli_print_json(cli, result)) {
        printf("world %llu %s after tick %llu\n", (unsigned long long)world, what,
               (unsigned long long)fm_object_uint(result, "tick", 0));
    }
    return 0;
}

static int run_pause(fm_cli *cli)
{
    return set_paused(cli, FM_METHOD_WORLD_PAUSE, "paused");
}

static int run_resume(fm_cli *cli)
{
    return set_paused(cli, FM_METHOD_WORLD_RESUME, "goes on");
}

static int run_step(fm_cli *cli)
{
    uint64_t ticks = 0;
    if (cli->argument_count > 0 && fm_cli_value(cli, "ticks") != NULL) {
        fm_cli_usage_error(cli, "the number of ticks is given twice");
    }
    if (cli->argument_count > 0 && !fm_parse_uint(cli->arguments[0], UINT32_MAX, &ticks)) {
        fm_cli_usage_error(cli, "'%s' is no number of ticks; a world is named by --world",
                           cli->arguments[0]);
    }
    fm_cli_connect(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    if (cli->argument_count > 0) {
        fm_params_uint(&cli->params, FM_FIELD_TICKS, ticks);
    }
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_STEP);
    if (!fm_cli_print_json(cli, result)) {
        char digest[32];
        fm_object_text(result, "digest", digest, sizeof digest);
        printf("tick %llu, digest %s\n", (unsigned long long)fm_object_uint(result, "tick", 0),
               digest);
    }
    return 0;
}

static int run_destroy(fm_cli *cli)
{
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_DESTROY);
    if (!fm_cli_print_json(cli, result)) {
        printf("world %llu destroyed\n", (unsigned long long)world);
    }
    return 0;
}

const fm_cli_command fm_cli_worlds = {
    .name = "worlds",
    .arguments = "",
    .summary = "list the worlds",
    .details = "Lists the worlds of the server, one on each line.",
    .run = run_worlds,
};

const fm_cli_command fm_cli_info = {
    .name = "info",
    .arguments = "",
    .summary = "describe a world and its rules",
    .details = "Prints the size, rate, rules and bases of a world.",
    .options = fm_cli_world_options,
    .run = run_info,
};

const fm_cli_command fm_cli_pause = {
    .name = "pause",
    .arguments = "",
    .summary = "stop the ticks of a world",
    .details = "Stops the ticks of a world. Commands are still accepted.",
    .options = fm_cli_world_options,
    .run = run_pause,
};

static const fm_cli_option resume_options[] = {
    FM_CLI_OPTION_WORLD,
    {"tick-hz", 0, FM_CLI_REAL, "RATE", "ticks per second", FM_FIELD_TICK_HZ},
    {"budget-ms", 0, FM_CLI_REAL, "TIME", "milliseconds a tick may take", FM_FIELD_BUDGET_MS},
    {.name = NULL},
};

const fm_cli_command fm_cli_resume = {
    .name = "resume",
    .arguments = "",
    .summary = "let a world tick on, perhaps at another rate",
    .details =
        "Lets a world tick on. Rate and budget may be changed on the way, also of a world that\n"
        "is not paused.",
    .options = resume_options,
    .run = run_resume,
};

static const fm_cli_option step_options[] = {
    FM_CLI_OPTION_WORLD,
    {"ticks", 'n', FM_CLI_UINT, "N", "the same as TICKS", FM_FIELD_TICKS},
    {.name = NULL},
};

const fm_cli_command fm_cli_step = {
    .name = "step",
    .arguments = "[TICKS]",
    .summary = "run ticks of a paused world",
    .details =
        "Runs ticks of a paused world at once, up to 10000, and prints the digest of its state.\n"
        "TICKS may be left out: 1.",
    .options = step_options,
    .examples = "fogmarch pause && fogmarch step 100\n"
                "fogmarch step --world arena",
    .arguments_max = 1,
    .run = run_step,
};

const fm_cli_command fm_cli_destroy = {
    .name = "destroy",
    .arguments = "",
    .summary = "end a world",
    .details = "Ends a world and gives its memory back.",
    .options = fm_cli_world_options,
    .run = run_destroy,
};
