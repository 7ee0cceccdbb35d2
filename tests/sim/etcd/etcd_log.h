// tests/sim/etcd/etcd_log.h: checks what is written into the worlds' logs in the simulated etcd,
// and that nothing is told that is not there.
//
// - A record is written by the owner, in its epoch; epochs never fall.
// - Positions have no gaps, and neither have ticks.
// - Each tick has the digest that it had when it was computed.
// - A client is told of a tick only when it is in the log.

#pragma once

#include "tests/sim/etcd/etcd_store.h"

/// A key was written.
void sim_etcd_log_put(const sim_etcd_key *key);

/// A key is about to be removed.
void sim_etcd_log_removed(const char *name);

/// A client was told of a tick of a world, or of what was done after it.
void sim_etcd_log_told(uint64_t world, uint64_t tick);

/// Records of all worlds' logs that were checked.
uint64_t sim_etcd_log_count(void);
