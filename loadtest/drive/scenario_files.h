// loadtest/drive/scenario_files.h: the scenarios that come with the program, by name.

#pragma once

#include "loadtest/drive/scenario.h"

/// Reads a scenario: one that comes with the program by its bare name, or a file by its path.
///
/// @param name      "skirmish", or a path; a bare name that is no scenario may be a file as well
/// @param scenario  left alone on failure
/// @param error     receives what is wrong; room for FM_SCENARIO_ERROR_SIZE
/// @return as fm_scenario_read(); FM_ERR_IO when there is neither, with a list of what there is
FM_CHECKED fm_status fm_scenario_open(const char *name, fm_scenario *scenario, char *error);
