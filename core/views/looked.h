// core/views/looked.h: which cells a watched team sees now, kept up where its agents have changed.
//
// `visible` of a watched view has what the agents see that stand in tiles (presence.h) from where
// somebody can be seen, or all of them where the view tells what is visible. An agent that has not
// moved sees what it saw in the last tick, so only the surroundings of those that have are cleared
// and looked at again. What is seen depends on the true map and on where the agents stand, nothing
// else.
//
// Threads: one worker per view, in the observe stage.

#pragma once

#include "core/world/watched_view.h"

/// Brings `visible`, `is_visible_new` and `sees_other` up to date.
///
/// @param everywhere  all agents look; else those where `near` says so (NULL: all)
/// @param anew        all look, and nothing is kept for the next tick
void fm_looked_update(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                      bool everywhere, bool anew);

/// `visible` is not kept up in this tick.
void fm_looked_forget(struct fm_looked *looked);

/// Releases all. A zeroed fm_looked is allowed.
void fm_looked_fini(struct fm_looked *looked, const fm_memory *memory);

/// Adds what an agent sees to `visible`.
void fm_looked_from(const fm_world *world, const struct fm_agent *agent, fm_bitmap *visible);
