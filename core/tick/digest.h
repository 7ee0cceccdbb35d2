// core/tick/digest.h: one number for the whole state of a world.
//
// Each agent and each planner has a hash of what is counted of it, and the digest mixes the sums of
// these with what there is once. A sum does not depend on the order of its parts, so the digest
// stage computes the hashes again of those that something has happened to (FM_MARK_REHASH, of those
// who only stepped a part; planners that were notified, or are due), and the sums follow. It is the
// number that fm_world_digest() (tick.h) computes from scratch; debug builds compare them in every
// tick.

#pragma once

#include "core/world/world.h"

/// The digest stage.
///
/// @return the digest of the world as it is now
uint64_t fm_digest_follow(fm_world *world, fm_workers *workers);

/// The same of a world in which nothing has happened in this tick.
uint64_t fm_digest_still(const fm_world *world);
