// core/orders/detour.h: how long a path an order accepts (max_detour).
//
// When the path to its goal is first known, a move remembers its length in steps. Whenever the
// steps made and those still to go, as the team knows the map now, come to more than max_detour per
// cent of that, the path has become too long: on_unreachable = nearest ends the order where its
// agent stands, nearest_reached; fail ends it, unreachable; wait stops the agent, blocked, until
// the path is short enough again. Its planner is kept meanwhile: while the map stays as it is, it
// does not search.
//
// Units never lengthen a path, only knowledge of the map does: agents wait in a queue at a bridge,
// but a bridge that is gone counts. Planners that move before they know a whole path are asked once
// they do.

#pragma once

#include "core/world/world.h"

struct fm_agent;
struct fm_planner;

#define FM_DETOUR_PERCENT_MAX 100000u

/// Part of the choose stage: measures the path of an agent whose planner has found one. Workers;
/// writes this agent's order and nothing else.
void fm_detour_measure(const struct fm_planner *planner, struct fm_agent *agent);

/// Part of the assign stage: what follows for an agent whose path is too long.
void fm_detour_face(fm_world *world, struct fm_agent *agent);
