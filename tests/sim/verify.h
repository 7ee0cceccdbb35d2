// tests/sim/verify.h: the journals that a server has left, gone through by somebody undisturbed.

#pragma once

#include "core/base/base.h"

/// Replays every journal of the process's folder, with one worker and no clock: each tick must have
/// the digest that it had. Ends the process otherwise. @return how many ticks
uint64_t sim_verify_journals(void);
