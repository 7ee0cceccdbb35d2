// tests/sim/verify.h: replays the journals that a server has left, without faults.

#pragma once

#include "core/base/base.h"

/// Replays every journal of the process's folder, with one worker and no clock. Ends the process if
/// a tick has another digest than recorded. @return how many ticks
uint64_t sim_verify_journals(void);
