// core/commands/teams.h: the command that makes a team.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_TEAM, whole or not at all.
void fm_teams_command(fm_world *world, const fm_command *command, fm_command_result *result);
