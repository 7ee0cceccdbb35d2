// core/crowd/lanes.h: where two streams of a team meet in a passage, each gets lanes.
//
// Units that meet in a passage (passage.h) push each other back and forth, and nobody who waits
// before it leaves a way to those who come out; units of two teams, who push each other only
// after long, stand there till then. So where two come towards each other in one, the team has
// lanes in it: who wants through goes by the distances of the passage in place of its own search's,
// and never onto a lane of the other direction; who is inside decides first; who has come out goes
// round those who wait.
//
// One team, up to four cells: of those who wait the one that goes on farthest behind the passage
// decides first, so who comes out last is not far from its goal. When a direction would be over
// later than the other, even if a lane more became its own when those in it have left, it gets that
// lane.
// Two teams: each keeps to the right half, as each finds for itself from the units that it sees.
//
//   NONE ── two come towards each other ──> FOUND ── both directions are many, ──> OPEN
//    ^                                       │ ^       or teams meet                │
//    └── the map is another there, or ───────┘ └── one direction is nearly over ───┘
//        no two directions for long
//
// Who was pushed off its place around a passage with lanes goes back there later than elsewhere:
// it would be pushed off again.
//
// While lanes are not open units go as everywhere. Those who have been under way for long do not
// keep to lanes in some ticks: then what holds for all crowds (core/crowd/README.md) holds for
// them.
//
// A team with units larger than one cell has lanes only where it meets another. Each movement class
// has its own: places of a large unit are those of its north-west corner, and between the halves as
// many lanes belong to nobody as its side has cells but one. Lanes are of what a team knows. They
// are no part of a world's state: settling ends them.
//
// Threads: fm_lanes_attend() and fm_lanes_drop_all() in serial stages; the rest anywhere.

#pragma once

#include "core/crowd/passage.h"
#include "core/crowd/pibt.h"
#include "core/world/agent.h"
#include "core/world/planner_table.h"

#define FM_LANES_MAX 8u // passages of a team

// Of a team, see team.h.
typedef struct fm_lanes {
    fm_passage passage;
    uint32_t class_index;
    bool is_open;
    uint32_t counts[2];    // units that want through, by direction, in the last tick
    uint32_t waiting[2];   // of these, those who are not in it yet
    uint32_t leaving;      // those who are in a closing lane
    uint64_t checked_tick; // when it was found, or looked at again
    uint64_t met_tick;     // last one in which there were units of both directions
    uint64_t others_tick;  // last one in which a unit of another team came towards one; 0: none
} fm_lanes;

/// Which lanes a unit under way passes: 1 + twice their index + direction; 0: none. By the
/// distances of its search where these are exact, else by its path; of a real-time planner that has
/// none yet, by its estimates.
///
/// @param before  what this said in the last tick, which holds while its search has no path
uint32_t fm_lanes_of(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, uint32_t before);

/// The passage that fm_lanes_of() has named, if its lanes are open.
const fm_passage *fm_lanes_open(const fm_world *world, uint32_t team, uint32_t number);

/// The passage with open lanes whose waiting units another one, which passes none, goes round.
///
/// @param first  receives the cell to which it goes first, see fm_passage_way_round()
/// @return NULL: there is none
const fm_passage *fm_lanes_beside(const fm_world *world, const struct fm_agent *agent,
                                  const struct fm_planner *planner, fm_cell *first);

/// How many ticks more a unit that waits before a passage counts as under way: one for each
/// straight step from the end of the passage to its goal if nothing is in between, up to 32. 0 for
/// those inside, and where teams meet.
uint32_t fm_lanes_precedence(const fm_world *world, const struct fm_agent *agent,
                             const fm_passage *passage, uint32_t direction, fm_cell goal);

/// Whether a unit is around a passage with open lanes.
bool fm_lanes_are_near(const fm_world *world, const struct fm_agent *agent);

/// Before the resolution: counts who wants through, finds and forgets lanes.
void fm_lanes_attend(fm_world *world);

/// Ends all.
void fm_lanes_drop_all(fm_world *world);
