// core/crowd/bypass.h: ways round a press.
//
// Searches never see units, so all take the shortest way, and where that leads through a gap of
// four cells hundreds stand before it while the field beside it is empty. So a team measures how
// fast its units get on, and those whose way leads through a press are told another that is sooner:
//
//        . . . via . . .          p: a press before a gap. Those at its back and those who come
//        . ^ @ @ @ v . .          go round by way of the cell `via`, from where the shortest way
//     u p p p @ @ @ . v           to the end of the press is free; those near the gap wait.
//     p p p p . . . . e           e: the end, on the way of all of them
//     p p p p @ @ @ . .
//
// How fast: units that are not free to go stay within four cells for some ticks (agent.rest_ticks);
// the mean over blocks of 8 x 8 cells and those around them says how many ticks a cell takes. These
// are tolls on cells. Whose path costs much more with tolls than the way by a search from the end
// of the press, with tolls as well, goes by that way. As tolls are less near the gap, where all are
// faster, who is next stays.
//
// Only for planners that keep a path for one unit and can go by way of a cell (fm_planner_ops
// .go_via): jump points, and auto while it uses them. Not for teams with units larger than one
// cell, nor for orders with max_detour. Tolls are of what a team knows of itself, made again each
// time, and no part of a world's state; the path that was told is its planner's.
//
// A unit that is told keeps the account of its patience (patience.h), so its order ends in bounded
// time as any other.
//
// Cost: teams take turns, each once in FM_BYPASS_PERIOD ticks at most, and one in a tick pays for a
// press: one search of a window of 161 x 161 cells, another one if somebody is to be told, and the
// paths of its units in there, of FM_BYPASS_PATHS cells at most; those who come first are drawn.
// This is charged to what the tick has for joint searches, and no team has its turn while more is
// owed than was. Without a press it costs a look at each unit in FM_BYPASS_PERIOD ticks.
//
// Threads: serial stages.

#pragma once

#include "core/world/world.h"

#define FM_BYPASS_PERIOD 8u         // ticks between two looks of a team
#define FM_BYPASS_PATHS  (1u << 16) // cells of paths in a look

/// Before the resolution, after the choose stage: tells some units other ways.
///
/// @param most  that may be paid in this tick, in expansions; the rest is paid in the next ones
/// @return what was paid
uint64_t fm_bypass_attend(fm_world *world, uint64_t most);

/// Forgets whose turn it is, and what is owed.
void fm_bypass_drop(fm_world *world);

/// Releases the memory for it.
void fm_bypass_fini(fm_world *world);
