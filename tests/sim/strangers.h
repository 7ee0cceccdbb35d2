// tests/sim/strangers.h: clients of a TLS port that never get a session. They send plain text,
// noise, or handshakes that stop or are damaged at any byte, or support only versions and ciphers
// that are refused. The server must disconnect all of them in time, and send them nothing but TLS.

#pragma once

#include "tests/sim/plan.h"

/// Strangers begin to connect.
void sim_strangers_begin(const sim_plan *plan);

/// No more strangers connect.
void sim_strangers_calm(void);

/// Waits until the server has disconnected all strangers.
void sim_strangers_audit(void);
