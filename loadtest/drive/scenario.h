// loadtest/drive/scenario.h: what a load test does, as one plain value, read from YAML files.
//
// The keys are listed in scenario.def. libcyaml checks a file against a schema made from that list:
// a key that does not exist, or a value of another type, is reported with file and line; so is a
// value out of its range. Flags change a scenario after it was read; fm_scenario_check() then
// checks that the whole still makes sense.

#pragma once

#include "core/base/workers.h"
#include "core/generate/generate.h"
#include "proto/protocol.h"

#include <stdio.h>

#define FM_SCENARIO_ERROR_SIZE 1400u // bytes of an error text, NUL included; holds a file's name

// Values are drawn uniformly from low..high.
typedef struct fm_range {
    double low, high;
} fm_range;

typedef struct fm_scenario {
#define FM_SCENARIO_TEXT(member, section, key, default_text, size_max, text)                       \
    char member[(size_max) + 1];
#define FM_SCENARIO_CHOICE(member, section, key, default_text, choices, text) char member[16];
#define FM_SCENARIO_BOOL(member, section, key, default_value, text)           bool member;
#define FM_SCENARIO_UINT(member, section, key, default_value, minimum, maximum, text)              \
    uint64_t member;
#define FM_SCENARIO_REAL(member, section, key, default_value, minimum, maximum, text) double member;
#define FM_SCENARIO_RANGE(member, section, key, low_value, high_value, minimum, maximum, text)     \
    fm_range member;
#include "loadtest/drive/scenario.def"
} fm_scenario;

/// Every key at its default.
fm_scenario fm_scenario_default(void);

/// Reads a scenario file over the defaults.
///
/// @param path      of the file; messages name it
/// @param scenario  left alone on failure
/// @param error     receives "FILE:LINE: KEY: what is wrong", as much of it as is known; room for
///                  FM_SCENARIO_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO (cannot be read), FM_ERR_BAD_FORMAT, FM_ERR_BAD_VALUE or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_scenario_read(const char *path, fm_scenario *scenario, char *error);

/// Sets one key from text, as a flag gives it.
///
/// @param section, key  as in scenario.def (asserted to exist); not a range
/// @param error         receives what is wrong with the text; room for FM_SCENARIO_ERROR_SIZE
/// @return FM_OK, or FM_ERR_BAD_VALUE: the scenario is left alone
FM_CHECKED fm_status fm_scenario_set(fm_scenario *scenario, const char *section, const char *key,
                                     const char *text, char *error);

/// Writes a sentence of what is wrong with a value. @return FM_ERR_BAD_VALUE
///
/// @param error  room for FM_SCENARIO_ERROR_SIZE
__attribute__((format(printf, 2, 3))) fm_status fm_scenario_refuse(char *error, const char *format,
                                                                   ...);

/// Checks that the keys fit each other, such as teams and agents.
///
/// @param error  as of fm_scenario_read(), without file and line
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_scenario_check(const fm_scenario *scenario, char *error);

/// Teams that the world has: `teams`, or one per agent.
static inline uint32_t fm_scenario_team_count(const fm_scenario *scenario)
{
    return (uint32_t)(scenario->teams == 0 ? scenario->agents : scenario->teams);
}

/// Prints all keys with default, range and meaning, as a YAML file with comments.
void fm_scenario_print_keys(FILE *out);
