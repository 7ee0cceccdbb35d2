// core/commands/command_agents.h: what commands that name agents check first.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Checks that every agent of a command lives and belongs to the command's team, and makes room for
/// what the command may note. Ending orders or removing these agents cannot fail after it.
///
/// @param failed_index  receives the agent that was refused
/// @return FM_OK, FM_ERR_NO_AGENT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_command_check_agents(fm_world *world, const fm_command *command,
                                             uint32_t *failed_index);
