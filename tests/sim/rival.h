// tests/sim/rival.h: another node of the cluster, which takes worlds whose owner seems to be dead.
//
// It computes nothing and tells nobody anything: it becomes the owner as a node does, perhaps
// begins a record that it does not end, and dies a little later. So the server's node finds that it
// has lost a world, sees that another one lives, and later takes its world back.
//
// When it takes a world, the server's node must already know that its lease may be over: else both
// would speak.

#pragma once

#include "tests/sim/etcd_store.h"

/// A machine starts: a rival that lives dies soon.
void sim_rival_begin(void);

/// Whether it takes worlds from now on; if not it dies now.
void sim_rival_set(bool takes);
