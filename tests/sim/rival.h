// tests/sim/rival.h: another node of the cluster, which takes worlds whose owner seems to be dead.
//
// It computes nothing and tells nobody anything: it becomes the owner as a node does, perhaps
// begins a record that it does not end, and dies a little later. So the server's node finds that it
// has lost a world, sees that another one lives, and later takes its world back.
//
// When it takes a world, the server's node must already know that its lease may be over: else both
// would speak.
//
// Worlds also move while both nodes live (server/cluster/node.h):
//
//   to the rival    it asks for a world (move/W), or the server's node drains; it says that it is
//                   where the log ends (ready/W), later or never; the server enters it as owner
//   from the rival  it offers a world of its own (move/W); the server's node follows the log and
//                   says so (ready/W); the rival enters it as owner, perhaps without waiting
//
// It may be of another version, which needs a keyframe in place of ready/W. What the server must
// not do is checked when it enters the rival as owner (sim_rival_check_gift()).

#pragma once

#include "tests/sim/etcd/etcd_store.h"

/// A machine starts: a rival that lives dies soon.
void sim_rival_begin(void);

/// Whether it takes worlds from now on; if not it dies now. @param moves  worlds move too
void sim_rival_set(bool takes, bool moves);

/// The owner of a world is written: if the server's node gives it to the rival, this must be what
/// was agreed, and the log complete.
///
/// @param keyframe_is_last  the log ends with a keyframe
void sim_rival_check_gift(uint64_t world, const sim_etcd_key *owner, bool keyframe_is_last);
