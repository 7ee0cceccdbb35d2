// core/commands/planner_command.h: the command that gives agents another planner.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_PLANNER, whole or not at all.
void fm_planner_command(fm_world *world, const fm_command *command, fm_command_result *result);
