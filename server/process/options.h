// server/process/options.h: fills fm_config from flags, environment and file.
//
// A flag overrides an environment variable, that overrides the file, that overrides the default.
// The key tick_hz is --tick-hz as a flag and FOGMARCH_TICK_HZ in the environment. Every error names
// where the value came from: FILE:LINE and key, variable, or flag.

#pragma once

#include "server/base/config.h"

#define FM_EXIT_OK      0
#define FM_EXIT_FAILURE 1 // the config is wrong, or the server could not start or continue
#define FM_EXIT_USAGE   2 // the command line is wrong

/// Reads the options and does what needs no server: --help, --version, --print-config,
/// --check-config.
///
/// @param arguments    argv without the program's name, NULL at the end
/// @param environment  "NAME=value", NULL at the end; as environ
/// @param config       receives the settings when the server is to be started
/// @param out          for help, version and config
/// @param errors       for errors, one line each
/// @param exit_code    receives the exit code when the process is to end now
/// @return true when the server is to be started
bool fm_options_read(const char *const *arguments, const char *const *environment,
                     fm_config *config, FILE *out, FILE *errors, int *exit_code);

/// Whether the settings of a relay fit together, and its files can be read. OK where relay_of is
/// empty.
///
/// @param error  receives a sentence that begins with the setting; room for FM_RELAY_ERROR_SIZE
FM_CHECKED fm_status fm_options_check_relay(const fm_config *config, char *error);

/// What is wrong with the rights of the token file: a static text; NULL: nothing.
const char *fm_options_token_file_warning(const fm_config *config);

/// Whether there is a token file that is not read, since a variable takes its place: clients know
/// FOGMARCH_TOKEN too, so it may have been meant for them.
bool fm_options_token_file_is_passed_over(const fm_config *config);
