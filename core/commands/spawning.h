// core/commands/spawning.h: the commands that add and remove agents.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_SPAWN, whole or not at all.
void fm_spawning_spawn(fm_world *world, const fm_command *command, fm_command_result *result);

/// Does FM_COMMAND_REMOVE, whole or not at all. The agents' orders end as FM_END_DIED.
void fm_spawning_remove(fm_world *world, const fm_command *command, fm_command_result *result);
