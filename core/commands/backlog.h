// core/commands/backlog.h: how much commands may leave to be told between two ticks.
//
// Views list which orders ended, which agents left and which cells were edited since the last tick.
// In a world that is paused nothing takes these lists, and every order to many units adds to them.
// So who applies commands asks first. What a team is allowed depends on that team alone, so that it
// learns nothing of others.
//
// What counts is units, not orders: each unit gets one order at most from a command, and room for
// that order's end is kept from then on (fm_interval_reserve()). So a command makes what is to be
// told, now or later, longer by its units at most, however many orders these have in their queues.
// But it may end all of these at once: a team's ends between two ticks are FM_BACKLOG_BASE and
// FM_BACKLOG_PER_AGENT for each place, and FM_ORDER_QUEUE_MAX more for each unit of the last
// command. A view keeps 65,536 of them for its readers; who misses some is told so (PROTOCOL.md,
// `untold`).
//
// A replay does not ask: what was once carried out is carried out again.

#pragma once

#include "core/world/world.h"

#define FM_BACKLOG_BASE      16384u                      // ends and agents that left, of one team
#define FM_BACKLOG_PER_AGENT 8u                          // more, for each place that its agents had
#define FM_BACKLOG_EDITS     (4u * FM_COMMAND_CELLS_MAX) // cells that one team edited

/// Whether a command may come after all that came since the last tick. One command alone is never
/// too much, and one that ends no order and takes nobody out of the world, such as an order that
/// queues or a player's to units without orders, is not refused for what others ended. A command of
/// FM_ALL_TEAMS has as much room as all teams together and one more, so that teams that have used
/// theirs up do not keep it out.
bool fm_backlog_admits(const fm_world *world, const fm_command *command);

/// Counts the cells that a command of a team has edited.
void fm_backlog_charge(fm_world *world, const fm_command *command, uint32_t edited_before);
