// clients/cli/replay/replay.c: `replay`: what can be done with the journal of a world: the table of
// actions, the options of each, the help.

#include "clients/cli/replay/replay.h"

#include <stdio.h>
#include <string.h>

// Names of options between blanks.
static const struct action {
    const char *name, *wanted;
    int arguments; // besides its name
    const char *options;
    int (*run)(fm_cli *cli);
} actions[] = {
    {"check", "check FILE", 1, " ", fm_replay_check},
    {"verify", "verify FILE", 1, " workers from to ", fm_replay_verify},
    {"seek", "seek FILE TICK", 2, " workers agents team picture save ", fm_replay_show},
    {"diff", "diff FILE FILE", 2, " workers ", fm_replay_diff},
    {"export", "export FILE", 1, " workers out from to ", fm_replay_export},
    {"fork", "fork FILE TICK", 2, " workers planner budget-ms ticks ", fm_replay_fork},
};

// Options of other actions would be ignored silently.
static void check_options(const fm_cli *cli, const struct action *action)
{
    static const char *const own[] = {"workers", "from", "to",      "agents",    "team", "picture",
                                      "save",    "out",  "planner", "budget-ms", "ticks"};
    for (uint32_t i = 0; i < FM_COUNT_OF(own); i++) {
        char name[24];
        snprintf(name, sizeof name, " %s ", own[i]);
        if (fm_cli_value(cli, own[i]) != NULL && strstr(action->options, name) == NULL) {
            fm_cli_usage_error(cli, "%s has no option --%s", action->name, own[i]);
        }
    }
}

static int run_replay(fm_cli *cli)
{
    for (uint32_t i = 0; i < FM_COUNT_OF(actions); i++) {
        const struct action *action = &actions[i];
        if (strcmp(cli->arguments[0], action->name) != 0) {
            continue;
        }
        if (cli->argument_count != 1 + action->arguments) {
            fm_cli_usage_error(cli, "wanted: %s", action->wanted);
        }
        check_options(cli, action);
        return action->run(cli);
    }
    fm_cli_usage_error(cli,
                       "there is no action '%s'; wanted: check, verify, seek, diff, export or fork",
                       cli->arguments[0]);
}

static const fm_cli_option options[] = {
    {"workers", 0, FM_CLI_UINT, "N", "threads that replay; as many as there are processors", 0},
    {"from", 0, FM_CLI_UINT, "TICK", "verify, export: the first tick; the oldest there is", 0},
    {"to", 0, FM_CLI_UINT, "TICK", "verify, export: the last tick; the newest there is", 0},
    {"agents", 'a', FM_CLI_FLAG, NULL, "seek: list the agents", 0},
    {"picture", 'p', FM_CLI_TEXT, "FILE", "seek: draw the world, as SVG", 0},
    {"team", 't', FM_CLI_UINT, "TEAM", "seek: draw what this team knows", 0},
    {"save", 0, FM_CLI_TEXT, "FILE", "seek: save the world, for world.load", 0},
    {"out", 'o', FM_CLI_TEXT, "DIR", "export: folder of the two files; here", 0},
    {"planner", 0, FM_CLI_TEXT, "PLANNER", "fork: planner of all agents; as recorded", 0},
    {"budget-ms", 0, FM_CLI_REAL, "TIME", "fork: milliseconds a tick may take; as recorded", 0},
    {"ticks", 'n', FM_CLI_UINT, "N", "fork: how many ticks; all that are recorded", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_replay = {
    .name = "replay",
    .arguments = "ACTION FILE [FILE | TICK]",
    .summary = "go through the journal of a world",
    .details =
        "Replays journals, the files FOLDER/NUMBER-NAME.journal of a server with journal_dir,\n"
        "also that of a world that is running. No server is needed.\n"
        "\n"
        "check FILE      reads all and says whether it is whole: each row follows the one before,\n"
        "                and it ends where it was written to; exit status 1 when not, with what "
        "is\n"
        "                lost\n"
        "verify FILE     replays all ticks and compares the digests; exit status 1 when one\n"
        "                differs, with the first such tick, and agents and fields as far as a\n"
        "                keyframe tells\n"
        "seek FILE TICK  the world after a tick: a summary, agents, a picture, a world file\n"
        "diff FILE FILE  the first tick at which two journals differ, and which agents and\n"
        "                fields do; exit status 1 when there is one\n"
        "export FILE     the map and all moves that were ordered, as NAME.map and NAME.scen in\n"
        "                the MovingAI formats, for fogmarch-load --mapf, fogmarch-lab and others\n"
        "fork FILE TICK  continues from a tick with the recorded commands, but with another\n"
        "                planner or budget, and compares what comes of it. With the recorded\n"
        "                budget the result is the same on every machine",
    .examples = "fogmarch replay verify journals/1-arena.journal --workers 8\n"
                "fogmarch replay seek journals/1-arena.journal 500 --picture arena.svg\n"
                "fogmarch replay fork journals/1-arena.journal 500 --planner repeated-jps",
    .options = options,
    .arguments_min = 1,
    .arguments_max = 3,
    .run = run_replay,
};
