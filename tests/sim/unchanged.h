// tests/sim/unchanged.h: an error has changed nothing: the digest of all that the event loop keeps
// is the same before and after a request that is refused (the world's own digest is compared in
// hooks.c); and the tokens that are good are those that the ledger holds, whatever its disk did.

#pragma once

#include "server/sessions/hub.h"

/// The ledger and the tokens in memory must say the same. At a quiet moment.
void sim_unchanged_audit(void);
