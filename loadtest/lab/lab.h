// loadtest/lab/lab.h: what all experiments of `fogmarch-lab` share: their table, their options, a
// progress bar, and how they fail.
//
// An experiment is one row of the table in main.c: help texts, its options, and a function in a
// file of its own. The functions are listed at the end of this header for that table, their only
// caller: one list in place of a header of a line for each. main.c parses the command line into
// fm_lab; the function does the work and returns the exit code. Every experiment draws its maps and
// missions from --seed alone, so that the same command gives the same expansions on every machine;
// only times differ.
//
// Exit codes  0 done; 1 something measured was wrong, or a file could not be used; 2 wrong usage.
// Failures    an experiment that cannot continue prints an error and ends the process.
// Threads     one.

#pragma once

#include "core/base/base.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "core/planners/catalogue.h"

#define FM_LAB_OK     0
#define FM_LAB_FAILED 1
#define FM_LAB_USAGE  2

#define FM_LAB_SEED_DEFAULT   1u
#define FM_LAB_OPTIONS_MAX    32u
#define FM_LAB_CONTENDERS_MAX 24u

typedef struct fm_lab_option {
    const char *name;     // without the dashes; NULL ends a list
    const char *argument; // of its value in the help; NULL for flags
    const char *text;     // in the help, lines separated by \n
} fm_lab_option;

typedef struct fm_lab fm_lab;

typedef struct fm_lab_command {
    const char *name;
    const char *arguments;        // as in "usage: fogmarch-lab NAME [OPTION...] ARGUMENTS"
    const char *summary;          // one line for the list
    const char *details;          // paragraphs for its own help
    const fm_lab_option *options; // besides those that all have; may be NULL
    int arguments_min, arguments_max;
    int (*run)(fm_lab *lab);
} fm_lab_command;

struct fm_lab {
    const fm_lab_command *command;
    struct {
        const char *name, *value;
    } given[FM_LAB_OPTIONS_MAX];
    uint32_t given_count;
    int argument_count;
    char **arguments;
    bool json;
    uint64_t seed;
    const char *svg;   // file for a picture, or NULL
    const char *table; // file for a markdown table, or NULL
    uint64_t progress_shown_ns;
    uint64_t progress_begun_ns;
};

// ---- options -----------------------------------------------------------------------------------

/// The value of an option (of flags: ""), the last one when it was given several times; NULL when
/// not given.
const char *fm_lab_value(const fm_lab *lab, const char *name);

/// A number in minimum..maximum; `fallback` when the option was not given. Ends in a usage error.
uint64_t fm_lab_uint(const fm_lab *lab, const char *name, uint64_t minimum, uint64_t maximum,
                     uint64_t fallback);

/// The numbers of --OPTION, separated by commas, or where it was not given those of `fallback`,
/// each in 1..maximum. Ends in a usage error when one is not, or there are more than `capacity`.
/// @return how many
uint32_t fm_lab_uints(const fm_lab *lab, const char *option, const char *fallback, uint32_t maximum,
                      uint32_t *numbers, uint32_t capacity);

/// Takes the next item of a comma-separated list; `item` receives it, cut to its size. Returns what
/// is left of the list, NULL after the last item.
const char *fm_lab_next_item(const char *list, char *item, size_t item_size);

// A planner that takes part in an experiment.
typedef struct fm_lab_contender {
    char name[FM_PLANNER_SPEC_SIZE]; // as it was asked for
    fm_planner_spec spec;
} fm_lab_contender;

/// A planner by name or alias ("dstar-lite-heap-larger-g", "dstar-lite:queue=heap"). Ends in a
/// usage error that lists the planners there are.
fm_planner_spec fm_lab_planner(const fm_lab *lab, const char *name);

/// The planners of --OPTION, separated by commas (a comma that "key=" follows belongs to the
/// planner before it), or where it was not given those of `fallback` that the catalogue has. Ends
/// in a usage error when one does not exist or there are more than FM_LAB_CONTENDERS_MAX.
/// @return how many
uint32_t fm_lab_contenders(const fm_lab *lab, const char *option, const char *fallback,
                           fm_lab_contender *contenders);

/// An order of turns, each of all orders as likely: turns[0..count - 1] are the numbers below
/// count.
void fm_lab_shuffle(fm_random *random, uint32_t *turns, uint32_t count);

// ---- failing -----------------------------------------------------------------------------------

/// "fogmarch-lab COMMAND: ..." on stderr, exit code 2.
_Noreturn void fm_lab_usage_error(const fm_lab *lab, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// The same, exit code 1.
_Noreturn void fm_lab_die(const fm_lab *lab, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Ends the process when out of memory (block NULL); else returns it.
void *fm_lab_need(const fm_lab *lab, void *block);

/// Ends when a call failed.
void fm_lab_check(const fm_lab *lab, fm_status status, const char *what);

// ---- progress ----------------------------------------------------------------------------------

/// Draws a bar on stderr when that is a terminal, a few times a second at most. done == total
/// wipes it.
void fm_lab_progress(fm_lab *lab, uint64_t done, uint64_t total);

// ---- the experiments ---------------------------------------------------------------------------

extern const fm_lab_command fm_lab_bench;       // bench.c
extern const fm_lab_command fm_lab_depressions; // depressions.c
extern const fm_lab_command fm_lab_example;     // example.c
extern const fm_lab_command fm_lab_gametime;    // gametime.c
extern const fm_lab_command fm_lab_landmarks;   // landmarks.c
extern const fm_lab_command fm_lab_hour;        // hour.c
extern const fm_lab_command fm_lab_crowd;       // crowd.c
extern const fm_lab_command fm_lab_mapf;        // mapf.c
extern const fm_lab_command fm_lab_maze;        // maze.c
extern const fm_lab_command fm_lab_maze101;     // maze.c
extern const fm_lab_command fm_lab_missions;    // missions.c
extern const fm_lab_command fm_lab_openlist;    // openlist.c
extern const fm_lab_command fm_lab_scen;        // scen.c
extern const fm_lab_command fm_lab_tiles;       // tiles.c
extern const fm_lab_command fm_lab_travel;      // travel.c
