// core/orders/goal_search.h: orders whose next leg has to be searched for: explore, flee and
// keep_distance.
//
// In the assign stage such agents are listed by team. Then teams search in parallel, each for its
// own agents one after the other, in an order that rotates. The cells examined are charged like
// expansions, up to a share of the tick's budget. Last, on the tick thread, each agent gets its new
// leg and its planner.
//
//   explore   the nearest frontier cell (frontier.h) that no other explorer of the team is bound
//             for. Chosen again when the cell is no longer a frontier. Ends `explored` when none
//             can be reached.
//   flee      of the cells around, the one that brings most distance from what it flees for the
//             fewest steps, and on the way to which it never comes nearer than it is. It flees from
//             the cells that the order names and from all enemies that its team sees; ends
//             `arrived` when none is within the radius. Where no better cell exists, on_unreachable
//             decides: nearest ends as nearest_reached, fail as unreachable, and with wait it
//             stays, and searches again.
//   keep_distance  where retreat.h says, while something is too near (keep_distance.h). It
//             considers up to FM_DANGERS_MAX enemies within twice its radius, or its target.
//
// An agent that has not moved under its order sets out at once, whatever the load: an explorer for
// where the search for the rim is now, others for the best of the cells beside it.

#pragma once

#include "core/base/workers.h"
#include "core/world/world.h"

struct fm_agent;

#define FM_DANGERS_MAX 16u // enemies that an agent considers, the nearest ones

/// Sets the radius of an order whose turn has come.
void fm_goal_search_begin(fm_world *world, struct fm_agent *agent);

/// Once a tick: lists the agent if its order needs another leg. Serial.
void fm_goal_search_progress(fm_world *world, struct fm_agent *agent);

/// As fm_order_leg_over(), for all three.
void fm_goal_search_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);

/// Searches for all listed agents. Serial, runs teams in parallel. Afterwards search.state of each
/// order says what came of it.
///
/// @param budget  expansions of the tick
/// @return how many of them this took
uint64_t fm_goal_search_run(fm_world *world, fm_workers *workers, uint64_t budget);

/// Gives an agent what was found: sets its leg, or ends its order.
void fm_goal_search_take(fm_world *world, struct fm_agent *agent);
