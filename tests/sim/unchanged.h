// tests/sim/unchanged.h: checks that an error changes nothing: the digest of the event loop's state
// is the same before and after a refused request (hooks.c compares the world's own digest). Also
// checks that the valid tokens are exactly those in their ledger, whatever its disk did.

#pragma once

#include "server/sessions/hub.h"

/// Checks that the ledger and memory hold the same tokens. Call it while no request is open.
void sim_unchanged_audit(void);
