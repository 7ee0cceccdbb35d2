// core/commands/command_agents.h: what commands that name agents check first.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Checks that every agent of a command lives and belongs to the command's team; and that it is in
/// the world, unless the command is one for those that are carried, too: remove, unboard.
///
/// @param failed_index  receives the agent that was refused
/// @return FM_OK, FM_ERR_NO_AGENT or FM_ERR_CARRIED
FM_CHECKED fm_status fm_command_check_owners(const fm_world *world, const fm_command *command,
                                             uint32_t *failed_index);

/// The same, and makes room for what the command may note. Ending orders or removing these agents,
/// and what they carry, cannot fail after it.
///
/// @return the same, or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_command_check_agents(fm_world *world, const fm_command *command,
                                             uint32_t *failed_index);

/// Checks that no agent of a command is named twice. Those that are not there do not count.
///
/// @param failed_index  receives the first that is named again
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_command_check_named_once(fm_world *world, const fm_command *command,
                                                 uint32_t *failed_index);
