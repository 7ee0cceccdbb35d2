// loadtest/lab/main.c: the program `fogmarch-lab`: finds the experiment, reads its options, runs
// it.
//
// Options that all experiments have may stand before or after the experiment's name.

#include "loadtest/lab/lab.h"

#include "core/base/name_hint.h"
#include "loadtest/lab/stopwatch.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LONG  256 // values of getopt_long()
#define HELP_COLUMN 22  // where the text of an option begins

// The table of experiments.
static const fm_lab_command *const table[] = {
    &fm_lab_example,     &fm_lab_maze,     &fm_lab_maze101,   &fm_lab_missions, &fm_lab_gametime,
    &fm_lab_depressions, &fm_lab_openlist, &fm_lab_landmarks, &fm_lab_mapf,     &fm_lab_hour,
    &fm_lab_crowd,       &fm_lab_travel,   &fm_lab_scen,      &fm_lab_tiles,    &fm_lab_bench,
};

static const fm_lab_option common_options[] = {
    {"seed", "N", "of maps and missions; 1"},
    {"json", NULL, "print JSON, for programs"},
    {"svg", "FILE", "draw a picture, with gnuplot"},
    {"table", "FILE", "write the table as markdown"},
    {"help", NULL, "print this help"},
    {"version", NULL, "print the version"},
    {.name = NULL},
};

// ---- help --------------------------------------------------------------------------------------

static void print_option(const fm_lab_option *option)
{
    char head[80];
    snprintf(head, sizeof head, "  --%s%s%s", option->name, option->argument == NULL ? "" : " ",
             option->argument == NULL ? "" : option->argument);
    printf("%-*s", HELP_COLUMN, head);
    for (const char *c = option->text; *c != '\0'; c++) {
        putchar(*c);
        if (*c == '\n') {
            printf("%-*s", HELP_COLUMN, "");
        }
    }
    putchar('\n');
}

static void print_options(const char *heading, const fm_lab_option *options)
{
    printf("\n%s:\n", heading);
    for (const fm_lab_option *option = options; option->name != NULL; option++) {
        print_option(option);
    }
}

static void print_help(void)
{
    puts("Usage: fogmarch-lab EXPERIMENT [OPTION...] [ARGUMENT...]\n"
         "\n"
         "Measures the planners of fogmarch, in process and without a server, on the experiments\n"
         "of the literature and on our own.\n"
         "\n"
         "Experiments:");
    for (size_t i = 0; i < FM_COUNT_OF(table); i++) {
        printf("  %-12s%s\n", table[i]->name, table[i]->summary);
    }
    print_options("Options of every experiment", common_options);
    puts("\n"
         "'fogmarch-lab EXPERIMENT --help' says more about each.\n"
         "\n"
         "Exit status: 0 done, 1 something measured was wrong or a file could not be used,\n"
         "2 wrong usage.");
}

static void print_command_help(const fm_lab_command *command)
{
    printf("Usage: fogmarch-lab %s [OPTION...]%s%s\n\n%s\n", command->name,
           command->arguments[0] == '\0' ? "" : " ", command->arguments, command->details);
    if (command->options != NULL) {
        print_options("Options", command->options);
    }
    print_options("Options of every experiment", common_options);
}

// ---- the command line --------------------------------------------------------------------------

static const fm_lab_command *find_command(const fm_lab *lab, const char *name)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, name);
    for (size_t i = 0; i < FM_COUNT_OF(table); i++) {
        if (strcmp(table[i]->name, name) == 0) {
            return table[i];
        }
        fm_name_hint_offer(&hint, table[i]->name);
    }
    fm_lab_usage_error(lab, "there is no experiment '%s'%s", name, fm_name_hint_text(&hint));
}

// The name of an option of the command, or of all commands, by its number among both.
static const fm_lab_option *option_at(const fm_lab_command *command, uint32_t index)
{
    uint32_t common_count = FM_COUNT_OF(common_options) - 1;
    if (index < common_count) {
        return &common_options[index];
    }
    const fm_lab_option *own = command == NULL || command->options == NULL
                                   ? NULL
                                   : &command->options[index - common_count];
    return own == NULL || own->name == NULL ? NULL : own;
}

// After getopt_long() has said what is wrong: which option may be meant.
static void suggest_option(const struct option *longs, const char *argument)
{
    fm_name_hint hint;
    fm_name_hint_of_option(&hint, argument, longs);
    if (hint.distance > 0 && fm_name_hint_best(&hint) != NULL) {
        fprintf(stderr, "Perhaps %s.\n", fm_name_hint_best(&hint));
    }
}

// Reads argv[1..] into lab->given and lab->arguments, and returns what getopt_long() leaves over:
// the index of the first argument. Stops at the first argument unless the command is known.
static int read_options(fm_lab *lab, int argc, char **argv)
{
    struct option longs[FM_LAB_OPTIONS_MAX + 1] = {0};
    for (uint32_t i = 0; option_at(lab->command, i) != NULL; i++) {
        FM_ASSERT(i < FM_LAB_OPTIONS_MAX);
        const fm_lab_option *option = option_at(lab->command, i);
        longs[i] =
            (struct option){.name = option->name,
                            .has_arg = option->argument == NULL ? no_argument : required_argument,
                            .val = FIRST_LONG + (int)i};
    }
    int found;
    while ((found = getopt_long(argc, argv, lab->command == NULL ? "+h" : "h", longs, NULL)) !=
           -1) {
        const char *name = found == 'h'          ? "help"
                           : found >= FIRST_LONG ? longs[found - FIRST_LONG].name
                                                 : NULL;
        if (name == NULL || lab->given_count == FM_LAB_OPTIONS_MAX) {
            suggest_option(longs, argv[optind - 1]);
            fprintf(stderr, "Try 'fogmarch-lab --help'.\n");
            exit(FM_LAB_USAGE);
        }
        lab->given[lab->given_count].name = name;
        lab->given[lab->given_count].value = optarg == NULL ? "" : optarg;
        lab->given_count += 1;
    }
    return optind;
}

static void answer_and_leave(const fm_lab *lab)
{
    if (fm_lab_value(lab, "version") != NULL) {
        puts("fogmarch-lab " FOGMARCH_VERSION);
        exit(FM_LAB_OK);
    }
    if (fm_lab_value(lab, "help") != NULL) {
        if (lab->command == NULL) {
            print_help();
        } else {
            print_command_help(lab->command);
        }
        exit(FM_LAB_OK);
    }
}

int main(int argc, char **argv)
{
    fm_lab lab = {0};
    fm_lab_stopwatch_start();
    int first = read_options(&lab, argc, argv);
    if (first == argc) {
        answer_and_leave(&lab);
        print_help();
        return FM_LAB_USAGE;
    }
    lab.command = find_command(&lab, argv[first]);
    // The rest is read again with the experiment's own options; its name takes argv[0]'s place.
    optind = 0;
    int rest = read_options(&lab, argc - first, argv + first);
    answer_and_leave(&lab);
    lab.argument_count = argc - first - rest;
    lab.arguments = argv + first + rest;
    if (lab.argument_count < lab.command->arguments_min ||
        lab.argument_count > lab.command->arguments_max) {
        fm_lab_usage_error(&lab, "usage: fogmarch-lab %s [OPTION...] %s", lab.command->name,
                           lab.command->arguments);
    }
    lab.json = fm_lab_value(&lab, "json") != NULL;
    lab.seed = fm_lab_uint(&lab, "seed", 0, UINT64_MAX, FM_LAB_SEED_DEFAULT);
    lab.svg = fm_lab_value(&lab, "svg");
    lab.table = fm_lab_value(&lab, "table");
    int exit_code = lab.command->run(&lab);
    if (fflush(stdout) != 0) {
        fm_lab_die(&lab, "standard output cannot be written");
    }
    return exit_code;
}
