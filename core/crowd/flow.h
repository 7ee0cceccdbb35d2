// core/crowd/flow.h: units that are held up rather step behind those that want the same way, and
// not before those that come towards them.
//
// Where two streams mix each unit meets others at every second step, and both lose it. If each
// rather steps to where somebody is about to leave in its own direction, files form, and they last:
// who follows in a file is met by nobody. So a step to a cell where a unit stands that wants the
// same way counts as shorter, by six tenths of a straight step, and one to a cell where a unit
// stands that wants against it as longer. Then even the planner's next step has no precedence, but
// it stays better than waiting, and so does a cell that is nearer to the goal by two or more. Whose
// units they are does not matter.
//
//   > < > <        > > > .
//   < > < >   ->   . < < <
//
// Not before the unit was blocked since it was nearest to its goal. Not in worlds with one team or
// 4 neighbours, nor in teams with units larger than one cell, nor within two cells of such a unit:
// who gets past these late may be shut in. Not around open lanes (lanes.h), nor before the search
// has found a path: till then distances are what it has learned so far. And not within eight steps
// of the goal: there units have to find places.
//
// Where each unit's planner wants it to go is noted for this and other rules (passing.h): by slot,
// of this tick and the one before (fm_crowd_turn()). The choose stage reads those of the tick
// before.
//
// Source: that pedestrians who follow those before them form lanes is the dynamic floor field of
// C. Burstedde, K. Klauck, A. Schadschneider, J. Zittartz, "Simulation of pedestrian dynamics using
// a two-dimensional cellular automaton", Physica A 295, 2001.
//
// Threads: as each function says.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Makes room for agents. On a failed allocation there is less, and the world stays as it was.
bool fm_flow_reserve(fm_world *world, uint32_t agent_count);

/// Forgets what the agent in a slot wanted. Choose stage: the worker that has the slot.
void fm_flow_forget(const fm_world *world, uint32_t slot);

/// Notes where an agent's planner wants it to go in this tick. Choose stage: the worker that
/// chooses for the agent.
///
/// @param way  a direction; FM_DIRECTION_COUNT: nowhere
void fm_flow_note(const fm_world *world, const struct fm_agent *agent, uint32_t way);

/// Where the planner of the agent in a slot wanted it to go in this tick, after the choose stage,
/// or in the one before. FM_DIRECTION_COUNT: nowhere. Any thread.
uint32_t fm_flow_way(const fm_world *world, uint32_t slot, uint64_t tick);

/// Changes the distances of the cells around a unit by who stands on them, where this
/// applies (above). Choose stage, any worker.
///
/// @param moves      the agent's steps, bit d for direction d
/// @param way        the planner's next step, one of them
/// @param distances  to the goal, from the cell in each direction of `moves`, and last from the
///                   agent's own
/// @return whether the planner's next step has no precedence
bool fm_flow_bias(const fm_world *world, const struct fm_agent *agent, uint32_t moves, uint32_t way,
                  uint32_t distances[FM_DIRECTION_COUNT + 1]);

/// Forgets all ways. Serial stages.
void fm_flow_drop_all(fm_world *world);

void fm_flow_fini(fm_world *world);
