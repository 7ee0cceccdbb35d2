// core/orders/homecoming.h: units without an order that were pushed away go back.
//
//   AT HOME ── pushed ──> AWAY ── FM_RETURN_TICKS not pushed ──> RETURNING (by its own search)
//     ^  ^                 ^                                       │  │
//     │  │                 └───────────── pushed ──────────────────┘  │
//     │  └──────────────────────── is there again ───────────────────┤
//     └──── no path back, or a new order: its home is where it stands ┘
//
// In worlds with the rule `pushed_stay` no unit goes back. Around a passage with lanes it waits
// longer, see core/crowd/lanes.h.
//
// Home is the cell where the unit stood when it was pushed first. A search back is a D* Lite,
// whatever planner the unit has: the path is short and its distances are exact. Returning units
// have lower priority than units with orders, and wait while another unit whose home it is stands
// there.
//
// Threads: serial stages and commands only, but for fm_home_pushed(), and fm_home_stepped() of a
// unit that is not at home again: any worker, which writes this unit and its marks.

#pragma once

#include "core/world/agent.h"

#define FM_RETURN_TICKS 4u  // for units of one cell; twice as long for each cell more
#define FM_PEACE_TICKS  32u // a large unit that was not pushed for so long pushes others

/// A unit without an order is about to be pushed off its cell.
void fm_home_pushed(fm_world *world, struct fm_agent *agent);

/// Part of the assign stage: a unit without an order goes back when its time has come.
void fm_home_progress(fm_world *world, struct fm_agent *agent);

/// A unit without an order has made a step: it may be at home again.
void fm_home_stepped(fm_world *world, struct fm_agent *agent);

/// Makes the unit's cell its home; also when it gets an order.
void fm_home_forget(fm_world *world, struct fm_agent *agent);

/// Whether the unit is away from home.
static inline bool fm_agent_is_away(const struct fm_agent *agent)
{
    return agent->home != FM_CELL_NONE;
}
