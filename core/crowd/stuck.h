// core/crowd/stuck.h: which units are stuck, where a cell holds one.
//
// Every FM_JAM_TICKS all units of a team are looked at, each team in a tick of its own: who has
// been under way all the time, is not farther than FM_JAM_REACH from where it was and has not got
// nearer to its goal for long, is stuck, unless it waits in a queue that moves.
//
// Threads: the tick thread, after the choose stage.

#pragma once

#include "core/world/world.h"

struct fm_agent;
struct fm_mover;

/// Looks at the units of the teams whose turn it is: sets their anchors, notes who is stuck.
void fm_stuck_look_around(fm_world *world);

/// The first other unit on the cells that a unit covers after the step that it wants most, as
/// slot + 1; 0: none.
///
/// @param mover  wants a step
uint32_t fm_stuck_unit_ahead(const fm_world *world, const struct fm_mover *mover);

/// The team's next unit that was stuck, is where it was, and follows no plan. NULL: there is none.
const struct fm_agent *fm_stuck_next(fm_world *world, uint32_t team);

/// Whether a unit is still where it was at the last look around, and wants to continue.
bool fm_stuck_yet(const fm_world *world, const struct fm_agent *agent);

/// Whether no unit of the team made a step in the last tick: then nothing is lost when all wait for
/// a search, and the tick has little else to do.
bool fm_stuck_team_stands(fm_world *world, uint32_t team);
