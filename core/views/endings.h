// core/views/endings.h: which orders ended since the last tick, by team, for watched views.
//
// An order ends once, so a view that is out of memory for the rest still lists its ends: the room
// for both lists is made when an order is given (fm_interval_reserve()).

#pragma once

#include "core/world/world.h"

/// Divides the ends of orders among their teams, in time linear in them. Serial, before teams
/// observe.
void fm_endings_divide(fm_world *world);

/// The ends of orders of a watched view, as last divided: of a team by number, so that their order
/// shows nothing of other teams; of FM_ALL_TEAMS as they came. One worker per team. Good until the
/// next fm_world_apply() or fm_tick_run().
///
/// @param count  receives how many
const fm_order_ended *fm_endings_of(const fm_world *world, uint32_t team, uint32_t *count);
