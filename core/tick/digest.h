// core/tick/digest.h: one number for the whole state of a world.
//
// Each agent and each planner has a hash, and the digest mixes the sums of these with the world's
// other state. A sum does not depend on the order of its parts, so the digest stage rehashes only
// what something has happened to (agents with FM_MARK_REHASH, only a part of those that just
// stepped; planners that were notified, or are due), and adjusts the sums. The result is the number
// that fm_world_digest() (tick.h) computes from scratch; debug builds compare them in every tick.

#pragma once

#include "core/world/world.h"

/// The digest stage.
///
/// @return the digest of the world as it is now
uint64_t fm_digest_follow(fm_world *world, fm_workers *workers);

/// The same for a world in which nothing has happened in this tick.
uint64_t fm_digest_still(const fm_world *world);
