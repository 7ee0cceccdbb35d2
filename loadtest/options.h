// loadtest/options.h: the command line of fogmarch-load.

#pragma once

#include "loadtest/crash/crash.h"
#include "loadtest/drive/mapf.h"
#include "loadtest/series/curve.h"

#define FM_EXIT_OK      0
#define FM_EXIT_FAILURE 1 // the run failed, or --crash-rounds found something missing
#define FM_EXIT_USAGE   2 // the command line or the scenario is wrong

typedef struct fm_load_options {
    fm_scenario scenario; // file and flags together
    fm_run_options run;
    const char *output;     // folder for result files; NULL: none are written
    const char *tick_times; // file for the time of each tick; NULL: none is written
    bool json;
    bool find_max;
    fm_curve_sizes curve; // count 0: no curve is played
    double seconds_per_try;
    bool report;            // a capacity report is made
    double seconds;         // that the report, or --find-max, may take
    fm_mapf_options mapf;   // map NULL: a scenario is played
    fm_crash_options crash; // rounds 0: none
} fm_load_options;

/// Reads the command line, and the scenario file that it names. Does what needs no run: --help,
/// --version, --keys.
///
/// @param options    receives the options when there is something to run; its texts point into argv
///                   and the environment
/// @param exit_code  receives the exit code when there is not
/// @return true when there is something to run
bool fm_load_options_read(int argc, char **argv, fm_load_options *options, int *exit_code);
