// core/commands/apply.h: the commands that change a world between ticks.
//
// Each kind of command is a row of the table in apply.c; core/world/world.h has what they are made
// of.

#pragma once

#include "core/world/receipts.h"

/// Does one command, whole or not at all. Between ticks only; the command belongs to the tick that
/// follows. Orders whose agents stand on their goal end in that tick. While fm_world_left_to_do()
/// says that an order is still being given, every command is refused with FM_ERR_NOT_READY.
void fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result);

/// The answer to a command with this id (fm_command.id). @return NULL: none, or it is no longer
/// kept. Good until the next command
const fm_receipt *fm_world_receipt(const fm_world *world, uint32_t seat, uint64_t id);
