// tests/sim/etcd/etcd_past.h: past revisions of the simulated etcd, and compaction, which forgets
// them.
//
//   1 ....... compacted ..................... now
//     gone    └── can be read: as it was then ──┘   later: refused
//
// Each change of a key is kept until a compaction at its revision or a later one; of those the
// newest of each key stays, unless it was the key's removal. So a request that names a revision is
// answered as etcd answers it, or refused as etcd refuses it.
//
// The server names none: all that it reads is of now. A compaction at any moment must therefore
// change nothing, and the planted bug old-look shows that it would be noticed if it did.

#pragma once

#include "tests/sim/etcd/etcd_store.h"

typedef enum sim_etcd_age {
    SIM_ETCD_KNOWN,
    SIM_ETCD_COMPACTED, // forgotten
    SIM_ETCD_FUTURE,    // not there yet
} sim_etcd_age;

/// What etcd says of a request that names this revision. 0: it names none
sim_etcd_age sim_etcd_past_judge(int64_t revision);

/// A key was written, or is removed by the present revision.
void sim_etcd_past_put(const sim_etcd_key *key);
void sim_etcd_past_remove(const char *name);

/// The keys as they were at a revision that is known, by name. They are good until the next change.
/// @return how many
uint32_t sim_etcd_past_list(int64_t revision, const sim_etcd_key *const **keys);

/// Forgets what was before a revision that is known, and not compacted yet.
void sim_etcd_past_compact(int64_t revision);

/// From now on compactions come by themselves, as the seed says.
void sim_etcd_past_begin(uint64_t seed);

/// A request is about to be carried out: perhaps compacts first.
void sim_etcd_past_turn(void);
