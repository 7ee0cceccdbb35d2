// loadtest/options.c: see options.h.

#include "loadtest/options.h"

#include "core/base/name_hint.h"
#include "loadtest/drive/scenario_files.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: fogmarch-load --scenario NAME [OPTION]...\n"
    "       fogmarch-load report --mix NAME [--map FILE] [--workers W] [--quick] [OPTION]...\n"
    "       fogmarch-load --mapf MAP SCEN [--agents N] [--planner PLANNER] [--json]\n"
    "       fogmarch-load --crash-rounds N [--workers W] [--seed N] [--json]\n"
    "       fogmarch-load --cluster N [--kills N] [--moves N] [--engine-faults N] [--json]\n"
    "Plays a scenario against a fogmarch server over TCP and measures it.\n"
    "\n"
    "Starts a server of its own on a free port of this machine, and ends it afterwards,\n"
    "unless --connect names one that is running.\n"
    "\n"
    "What is played:\n"
    "  --scenario NAME    A scenario that comes with the program, such as skirmish, or the path\n"
    "                     of a YAML file. Keys: fogmarch-load --keys\n"
    "  --map FILE         Use this map file (MovingAI, Tiled, PNG, PPM, ASCII) in place\n"
    "                     of the scenario's map\n"
    "  --agents N         Number of agents\n"
    "  --teams N          Number of teams; 0: each agent is a team of its own\n"
    "  --workers W        Worker threads of the server; 0: one per processor\n"
    "  --duration SECONDS Time that is measured\n"
    "  --warm-up SECONDS  Time before that, which is not\n"
    "  --seed N           Seed of everything that is drawn\n"
    "  --tick-hz HZ       Ticks per second\n"
    "  --budget-ms MS     Time a tick may take\n"
    "  --planner PLANNER  Planner of all agents, such as adaptive-astar\n"
    "  --overload POLICY  slip, skip or degrade\n"
    "\n"
    "  --mapf MAP SCEN    In place of a scenario: one agent for each of the first N lines of a\n"
    "                     .scen file, on known terrain where a cell holds one agent, until all\n"
    "                     stand on their goals, nobody moves, or sixteen times the\n"
    "                     ticks of the longest path have passed\n"
    "  --crash-rounds N   In place of a scenario: kills a server that keeps journals N times, at\n"
    "                     random moments, with clients attached, and looks whether anything that\n"
    "                     they were told is missing afterwards\n"
    "  --cluster N        In place of a scenario: N nodes and three members of etcd; the node "
    "that\n"
    "                     has the world is killed --kills times, the world moved --moves times,\n"
    "                     etcd damaged --engine-faults times. How long that takes, and whether\n"
    "                     anything is lost. Needs etcd, python3 and fogmarch's Python client;\n"
    "                     more with --cluster 3 --help\n"
    "\n"
    "  report             How many agents this machine carries at 5, 10, 20 and 30 Hz, with 1 to "
    "W\n"
    "                     workers, and what a tick's budget buys; ten minutes. Writes "
    "report.json,\n"
    "                     report.csv and report.html, a page with charts, into --output; else\n"
    "                     into the current folder\n"
    "  --mix NAME         The scenario that report plays, by name or path\n"
    "  --quick            report in two minutes, with fewer tries\n"
    "  --seconds SECONDS  report, or --find-max (60), in this time\n"
    "\n"
    "What it is played against:\n"
    "  --server PATH      Start this fogmarchd; the one beside this program otherwise\n"
    "  --connect ADDRESS:PORT\n"
    "                     Use a running server. FOGMARCH_TOKEN is the token for it\n"
    "\n"
    "What comes out:\n"
    "  --json             Print the result as one JSON object\n"
    "  --output DIR       Write DIR/NAME.json and DIR/NAME.csv as well\n"
    "  --tick-times FILE  Write the microseconds of each measured tick, and of its search, to "
    "this\n"
    "                     file, a line each\n"
    "  --find-max         Search for the largest number of agents whose p99 tick time\n"
    "                     stays in the budget, for 1 to W workers\n"
    "  --curve SIZES      Play the scenario with each number of agents of a list, such as\n"
    "                     5000,10000,20000, and print a table; with --output write\n"
    "                     DIR/curve.csv, DIR/curve.json and a chart, DIR/curve.svg\n"
    "  --seconds-per-try SECONDS\n"
    "                     Time that --find-max measures for each number it tries; 3\n"
    "  --quiet            No progress on standard error\n"
    "  --keys             Print all keys of a scenario with their defaults, and exit\n"
    "  -h, --help         Print this text and exit\n"
    "  -V, --version      Print the version and exit\n"
    "\n"
    "Exit status:\n"
    "  0  the scenario was played; what it measured may still be bad\n"
    "  1  the server, the connection or a file failed; something was missing after a crash\n"
    "  2  the command line or the scenario is wrong\n"
    "\n"
    "Examples:\n"
    "  fogmarch-load --scenario skirmish\n"
    "  fogmarch-load --scenario solo --agents 500 --workers 1 --duration 20 --json\n"
    "  fogmarch-load --scenario solo --find-max --workers 2\n"
    "  fogmarch-load --scenario skirmish --curve 5000,10000,20000,40000 --output results\n"
    "  fogmarch-load --scenario skirmish --map Ramparts.map --output results\n"
    "  fogmarch-load report --map Ramparts.map --mix skirmish --output capacity\n"
    "  fogmarch-load --mapf random-64-64-20.map random-64-64-20-random-1.scen --agents 400\n"
    "  fogmarch-load --crash-rounds 200 --json\n"
    "  fogmarch-load --cluster 3 --kills 12 --moves 24 --json\n";

#define FIND_MAX_S     60.0
#define REPORT_S       600.0
#define REPORT_QUICK_S 120.0

enum flag {
    FLAG_SCENARIO = 256,
    FLAG_MIX,
    FLAG_QUICK,
    FLAG_SECONDS,
    FLAG_MAPF,
    FLAG_CRASH_ROUNDS,
    FLAG_MAP,
    FLAG_AGENTS,
    FLAG_TEAMS,
    FLAG_WORKERS,
    FLAG_DURATION,
    FLAG_WARM_UP,
    FLAG_SEED,
    FLAG_TICK_HZ,
    FLAG_BUDGET_MS,
    FLAG_PLANNER,
    FLAG_OVERLOAD,
    FLAG_SERVER,
    FLAG_CONNECT,
    FLAG_JSON,
    FLAG_OUTPUT,
    FLAG_TICK_TIMES,
    FLAG_FIND_MAX,
    FLAG_CURVE,
    FLAG_SECONDS_PER_TRY,
    FLAG_QUIET,
    FLAG_KEYS,
    FLAG_HELP = 'h',
    FLAG_VERSION = 'V',
};

static const struct option flags[] = {
    {"scenario", required_argument, NULL, FLAG_SCENARIO},
    {"mix", required_argument, NULL, FLAG_MIX},
    {"quick", no_argument, NULL, FLAG_QUICK},
    {"seconds", required_argument, NULL, FLAG_SECONDS},
    {"mapf", required_argument, NULL, FLAG_MAPF},
    {"crash-rounds", required_argument, NULL, FLAG_CRASH_ROUNDS},
    {"map", required_argument, NULL, FLAG_MAP},
    {"agents", required_argument, NULL, FLAG_AGENTS},
    {"teams", required_argument, NULL, FLAG_TEAMS},
    {"workers", required_argument, NULL, FLAG_WORKERS},
    {"duration", required_argument, NULL, FLAG_DURATION},
    {"warm-up", required_argument, NULL, FLAG_WARM_UP},
    {"seed", required_argument, NULL, FLAG_SEED},
    {"tick-hz", required_argument, NULL, FLAG_TICK_HZ},
    {"budget-ms", required_argument, NULL, FLAG_BUDGET_MS},
    {"planner", required_argument, NULL, FLAG_PLANNER},
    {"overload", required_argument, NULL, FLAG_OVERLOAD},
    {"server", required_argument, NULL, FLAG_SERVER},
    {"connect", required_argument, NULL, FLAG_CONNECT},
    {"json", no_argument, NULL, FLAG_JSON},
    {"output", required_argument, NULL, FLAG_OUTPUT},
    {"tick-times", required_argument, NULL, FLAG_TICK_TIMES},
    {"find-max", no_argument, NULL, FLAG_FIND_MAX},
    {"curve", required_argument, NULL, FLAG_CURVE},
    {"seconds-per-try", required_argument, NULL, FLAG_SECONDS_PER_TRY},
    {"quiet", no_argument, NULL, FLAG_QUIET},
    {"keys", no_argument, NULL, FLAG_KEYS},
    {"help", no_argument, NULL, FLAG_HELP},
    {"version", no_argument, NULL, FLAG_VERSION},
    {NULL, 0, NULL, 0},
};

// Flags that stand for one key of the scenario.
static const struct {
    enum flag flag;
    const char *name, *section, *key;
} overrides[] = {
    {FLAG_MAP, "--map", "map", "file"},
    {FLAG_AGENTS, "--agents", "agents", "count"},
    {FLAG_TEAMS, "--teams", "agents", "teams"},
    {FLAG_WORKERS, "--workers", "server", "workers"},
    {FLAG_DURATION, "--duration", "", "duration_s"},
    {FLAG_WARM_UP, "--warm-up", "", "warm_up_s"},
    {FLAG_SEED, "--seed", "", "seed"},
    {FLAG_TICK_HZ, "--tick-hz", "server", "tick_hz"},
    {FLAG_BUDGET_MS, "--budget-ms", "server", "budget_ms"},
    {FLAG_PLANNER, "--planner", "server", "planner"},
    {FLAG_OVERLOAD, "--overload", "server", "overload"},
};

// What the command line says, before the scenario file is read.
struct command_line {
    const char *scenario;
    const char *values[FM_COUNT_OF(overrides)];
    const char *seconds_per_try;
    const char *crash_rounds;
    const char *curve;
    const char *mix, *seconds; // of a report
    bool quick;
    bool quiet;
};

static bool refuse(const char *what, const char *why, int *exit_code)
{
    fprintf(stderr, "fogmarch-load: %s%s%s\n", what, what[0] == '\0' ? "" : ": ", why);
    *exit_code = FM_EXIT_USAGE;
    return false;
}

static bool take_override(struct command_line *line, int flag)
{
    for (size_t i = 0; i < FM_COUNT_OF(overrides); i++) {
        if ((int)overrides[i].flag == flag) {
            line->values[i] = optarg;
            return true;
        }
    }
    return false;
}

// After getopt_long() has said what is wrong: which flag may be meant.
static void suggest_flag(const char *argument)
{
    fm_name_hint hint;
    fm_name_hint_of_option(&hint, argument, flags);
    if (hint.distance > 0 && fm_name_hint_best(&hint) != NULL) {
        fprintf(stderr, "Perhaps %s.\n", fm_name_hint_best(&hint));
    }
}

// @return false when the program is to end now
static bool read_flags(int argc, char **argv, struct command_line *line, fm_load_options *options,
                       int *exit_code)
{
    int flag;
    *exit_code = FM_EXIT_OK;
    while ((flag = getopt_long(argc, argv, "hV", flags, NULL)) != -1) {
        switch (flag) {
        case FLAG_SCENARIO:
            line->scenario = optarg;
            break;
        case FLAG_MIX:
            line->mix = optarg;
            break;
        case FLAG_QUICK:
            line->quick = true;
            break;
        case FLAG_SECONDS:
            line->seconds = optarg;
            break;
        case FLAG_MAPF:
            options->mapf.map = optarg;
            break;
        case FLAG_CRASH_ROUNDS:
            line->crash_rounds = optarg;
            break;
        case FLAG_SERVER:
            options->run.server = optarg;
            break;
        case FLAG_CONNECT:
            options->run.connect = optarg;
            break;
        case FLAG_JSON:
            options->json = true;
            break;
        case FLAG_OUTPUT:
            options->output = optarg;
            break;
        case FLAG_TICK_TIMES:
            options->tick_times = optarg;
            break;
        case FLAG_FIND_MAX:
            options->find_max = true;
            break;
        case FLAG_CURVE:
            line->curve = optarg;
            break;
        case FLAG_SECONDS_PER_TRY:
            line->seconds_per_try = optarg;
            break;
        case FLAG_QUIET:
            line->quiet = true;
            break;
        case FLAG_KEYS:
            fm_scenario_print_keys(stdout);
            return false;
        case FLAG_HELP:
            fputs(help, stdout);
            return false;
        case FLAG_VERSION:
            puts("fogmarch-load " FOGMARCH_VERSION);
            return false;
        default:
            if (!take_override(line, flag)) { // getopt has printed the error
                suggest_flag(argv[optind - 1]);
                fputs("Try 'fogmarch-load --help'.\n", stderr);
                *exit_code = FM_EXIT_USAGE;
                return false;
            }
        }
    }
    if (optind < argc && strcmp(argv[optind], "report") == 0) {
        options->report = true;
        optind++;
    }
    if (options->mapf.map != NULL && optind < argc) {
        options->mapf.scen = argv[optind++];
    }
    return optind == argc ||
           refuse(argv[optind], "no such argument; flags begin with --", exit_code);
}

// How long a report or --find-max may take.
static bool read_seconds(const struct command_line *line, fm_load_options *options, int *exit_code)
{
    char *end;
    options->seconds = options->find_max ? FIND_MAX_S : line->quick ? REPORT_QUICK_S : REPORT_S;
    if (line->seconds != NULL) {
        options->seconds = strtod(line->seconds, &end);
        if (end == line->seconds || *end != '\0' || !(options->seconds >= 5) ||
            options->seconds > 86400) {
            return refuse("--seconds", "a number in 5..86400 is wanted", exit_code);
        }
    }
    return true;
}

// Checks what a report needs, and what only a report has.
static bool check_report(const struct command_line *line, const fm_load_options *options,
                         int *exit_code)
{
    if (!options->report) {
        bool lost =
            line->mix != NULL || line->quick || (line->seconds != NULL && !options->find_max);
        return !lost || refuse(line->mix != NULL ? "--mix"
                               : line->quick     ? "--quick"
                                                 : "--seconds",
                               "goes with report", exit_code);
    }
    if (line->mix == NULL) {
        return refuse("--mix", "which? See --help", exit_code);
    }
    if (line->scenario != NULL || line->curve != NULL || options->find_max ||
        line->crash_rounds != NULL || options->mapf.map != NULL || options->tick_times != NULL) {
        return refuse("report", "goes with no other kind of run", exit_code);
    }
    return options->run.connect == NULL ||
           refuse("--connect", "report needs a server of its own", exit_code);
}

static bool read_seconds_per_try(const char *text, double *seconds)
{
    char *end;
    *seconds = text == NULL ? 3 : strtod(text, &end);
    return text == NULL || (end != text && *end == '\0' && *seconds >= 1 && *seconds <= 3600);
}

static fm_run_progress progress_of(const struct command_line *line)
{
    return line->quiet             ? FM_RUN_PROGRESS_NONE
           : isatty(STDERR_FILENO) ? FM_RUN_PROGRESS_LINE
                                   : FM_RUN_PROGRESS_LINES;
}

// Of the flags that stand for keys of a scenario, takes those that are known without one.
static bool read_overrides(const struct command_line *line, const char *instead,
                           const enum flag *known, size_t known_count, fm_scenario *scenario,
                           int *exit_code)
{
    char error[FM_SCENARIO_ERROR_SIZE];
    for (size_t i = 0; i < FM_COUNT_OF(overrides); i++) {
        bool is_known = false;
        for (size_t j = 0; j < known_count; j++) {
            is_known |= overrides[i].flag == known[j];
        }
        if (line->values[i] == NULL) {
            continue;
        }
        if (!is_known) {
            snprintf(error, sizeof error, "does not go with %s", instead);
            return refuse(overrides[i].name, error, exit_code);
        }
        if (fm_scenario_set(scenario, overrides[i].section, overrides[i].key, line->values[i],
                            error) != FM_OK) {
            return refuse(overrides[i].name, error, exit_code);
        }
    }
    return true;
}

// --curve and --find-max need scenarios.
static bool refuse_series(const struct command_line *line, const fm_load_options *options,
                          const char *instead, int *exit_code)
{
    char error[64];
    snprintf(error, sizeof error, "does not go with %s", instead);
    if (line->curve != NULL || options->find_max) {
        return refuse(line->curve != NULL ? "--curve" : "--find-max", error, exit_code);
    }
    return true;
}

static bool read_mapf(const struct command_line *line, fm_load_options *options, int *exit_code)
{
    static const enum flag known[] = {FLAG_AGENTS, FLAG_PLANNER, FLAG_WORKERS};
    fm_scenario scenario = fm_scenario_default();
    scenario.agents = 0;
    if (options->mapf.scen == NULL) {
        return refuse("--mapf", "a map file and a .scen file are wanted", exit_code);
    }
    if (!refuse_series(line, options, "--mapf", exit_code) ||
        !read_overrides(line, "--mapf", known, FM_COUNT_OF(known), &scenario, exit_code)) {
        return false;
    }
    options->run.token = getenv("FOGMARCH_TOKEN");
    options->mapf.workers = (uint32_t)scenario.workers;
    options->mapf.agents = (uint32_t)scenario.agents;
    for (size_t i = 0; i < FM_COUNT_OF(overrides); i++) {
        if (overrides[i].flag == FLAG_PLANNER) {
            options->mapf.planner = line->values[i];
        }
    }
    return true;
}

static bool read_crash(const struct command_line *line, fm_load_options *options, int *exit_code)
{
    static const enum flag known[] = {FLAG_SEED, FLAG_WORKERS};
    fm_scenario scenario = fm_scenario_default();
    char *end;
    unsigned long rounds = strtoul(line->crash_rounds, &end, 10);
    if (end == line->crash_rounds || *end != '\0' || rounds < 1 || rounds > FM_CRASH_ROUNDS_MAX) {
        return refuse("--crash-rounds", "a number in 1..100000 is wanted", exit_code);
    }
    if (options->run.connect != NULL) {
        return refuse("--crash-rounds", "kills only a server of its own", exit_code);
    }
    if (!refuse_series(line, options, "--crash-rounds", exit_code) ||
        !read_overrides(line, "--crash-rounds", known, FM_COUNT_OF(known), &scenario, exit_code)) {
        return false;
    }
    options->run.progress = progress_of(line);
    options->crash = (fm_crash_options){.rounds = (uint32_t)rounds,
                                        .workers = (uint32_t)scenario.workers,
                                        .seed = (uint64_t)scenario.seed};
    return true;
}

// The sizes take the place of --agents.
static bool read_curve(const struct command_line *line, fm_load_options *options, int *exit_code)
{
    char error[FM_SCENARIO_ERROR_SIZE];
    if (options->find_max || options->tick_times != NULL) {
        return refuse("--curve",
                      options->find_max ? "does not go with --find-max"
                                        : "does not go with --tick-times",
                      exit_code);
    }
    for (size_t i = 0; i < FM_COUNT_OF(overrides); i++) {
        if (overrides[i].flag == FLAG_AGENTS && line->values[i] != NULL) {
            return refuse("--agents", "does not go with --curve, which lists them", exit_code);
        }
    }
    if (fm_curve_read_sizes(line->curve, &options->curve, error) != FM_OK ||
        fm_curve_check(&options->scenario, &options->curve, error) != FM_OK) {
        return refuse("--curve", error, exit_code);
    }
    return true;
}

bool fm_load_options_read(int argc, char **argv, fm_load_options *options, int *exit_code)
{
    struct command_line line = {0};
    *options = (fm_load_options){0};
    if (!read_flags(argc, argv, &line, options, exit_code)) {
        return false;
    }
    if (!check_report(&line, options, exit_code) || !read_seconds(&line, options, exit_code)) {
        return false;
    }
    if (options->mapf.map != NULL) {
        return read_mapf(&line, options, exit_code);
    }
    if (line.crash_rounds != NULL) {
        return read_crash(&line, options, exit_code);
    }
    line.scenario = options->report ? line.mix : line.scenario;
    if (line.scenario == NULL) {
        return refuse("--scenario", "which? See --help", exit_code);
    }
    char error[FM_SCENARIO_ERROR_SIZE];
    if (fm_scenario_open(line.scenario, &options->scenario, error) != FM_OK) {
        return refuse("", error, exit_code);
    }
    for (size_t i = 0; i < FM_COUNT_OF(overrides); i++) {
        if (line.values[i] != NULL &&
            fm_scenario_set(&options->scenario, overrides[i].section, overrides[i].key,
                            line.values[i], error) != FM_OK) {
            return refuse(overrides[i].name, error, exit_code);
        }
    }
    if (line.curve != NULL && !read_curve(&line, options, exit_code)) {
        return false;
    }
    if (line.curve == NULL && fm_scenario_check(&options->scenario, error) != FM_OK) {
        return refuse("", error, exit_code);
    }
    if (!read_seconds_per_try(line.seconds_per_try, &options->seconds_per_try)) {
        return refuse("--seconds-per-try", "a number in 1..3600 is wanted", exit_code);
    }
    if (options->find_max && (options->run.connect != NULL || options->scenario.workers == 0)) {
        return refuse("--find-max", "needs a server of its own and --workers 1 or more", exit_code);
    }
    if (options->report && options->scenario.workers == 0) {
        return refuse("report", "needs --workers 1 or more", exit_code);
    }
    options->run.token = getenv("FOGMARCH_TOKEN");
    options->run.progress = progress_of(&line);
    return true;
}
