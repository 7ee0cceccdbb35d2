// core/commands/construction.h: the commands that place and remove buildings.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_BUILD, whole or not at all. Units in the way refuse it, or are pushed out when
/// all of it stands.
void fm_construction_build(fm_world *world, const fm_command *command, fm_command_result *result);

/// Does FM_COMMAND_DEMOLISH.
void fm_construction_demolish(fm_world *world, const fm_command *command,
                              fm_command_result *result);
