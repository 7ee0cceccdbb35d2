// tests/sim/strangers.h: who connects to a port that speaks TLS and does not get as far as a
// session: plain text, noise, handshakes that end or are damaged at any byte, and clients that can
// do only what is not good enough. The server must disconnect all of them in time, and say nothing
// to them but TLS.

#pragma once

#include "tests/sim/plan.h"

/// They begin to come.
void sim_strangers_begin(const sim_plan *plan);

/// No more of them come.
void sim_strangers_calm(void);

/// Waits until the server has disconnected all who are left.
void sim_strangers_audit(void);
