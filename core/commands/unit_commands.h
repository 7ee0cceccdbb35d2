// core/commands/unit_commands.h: the commands that change living agents: what they are, and where.
//
// Orders stay, and continue with the agent's new cell and class: its search starts over, and what
// was found about its goal is forgotten. Only the orders of an agent that changes teams end
// (exchange.h).
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_SET, whole or not at all. An agent fits in its new class where it stands, or is
/// refused.
void fm_units_set(fm_world *world, const fm_command *command, fm_command_result *result);

/// Does FM_COMMAND_PLACE, whole or not at all.
void fm_units_place(fm_world *world, const fm_command *command, fm_command_result *result);
