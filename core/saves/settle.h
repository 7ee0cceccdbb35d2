// core/saves/settle.h: settling, which comes before saving; world_file.h says why. And whether
// replaying a world's records leads where the world is.
//
// Threads: that of the world's ticks, between them.

#pragma once

#include "core/world/world.h"

/// Between ticks: brings the world to where loading its file would. Cannot fail. What clients and
/// watched views see does not change. Paths by jump points (repeated-jps, auto) are kept; other
/// searches begin again in the next tick, so their agents may wait for some ticks as after new
/// orders. A search that takes longer than from one settling to the next never ends: settle rarely
/// where agents search for a long time.
void fm_world_settle(fm_world *world);

/// Whether fm_world_settle() would change nothing: no tick has been run since it, and the world was
/// settled, loaded or made.
bool fm_world_is_settled(const fm_world *world);

/// Whether memory ran out in a tick, in a command (even a refused one) or in settling, so that the
/// world is no longer a function of its commands and records. A reader that replays them must start
/// from a file that was saved later.
bool fm_world_is_starved(const fm_world *world);

/// Clears that: the world, which is settled (asserted), was saved as it is now.
void fm_world_note_saved(fm_world *world);
