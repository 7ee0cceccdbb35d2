// core/orders/alert.h: units that stop when an enemy is near, as in an attack-move.
//
//                 the team sees an enemy within `alert` cells
//   GOES ITS WAY ──────────────────────────────────────────────> ALERTED: it stands, and a view
//        ^                                                          │     tells its team whom it
//        └── FM_COMMAND_RESUME; with `ticks`: so long it ───────────┘     saw
//            stops for nobody
//
// An order keeps its leg and its search while the unit stands. Only the game knows whether there is
// a fight, so only a command lets a unit continue; then it stops again for the next enemy, or for
// the same one.
//
// An enemy is an agent of another team. The nearest counts; of those equally near the one whose
// cell, then whose team is the smaller number, then the one born first. A unit stops only for what
// its team sees in this tick before any unit moves.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Part of the assign stage, for a unit whose order has `alert`: stops if an enemy is near.
void fm_alert_look(fm_world *world, struct fm_agent *agent);

/// Does FM_COMMAND_RESUME. Units whose orders have no `alert` are left alone and not counted.
void fm_alert_resume(fm_world *world, const fm_command *command, fm_command_result *result);
