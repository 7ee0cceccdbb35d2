// tests/sim/hooks.h: what the simulation sees of the server from inside: its log, its random
// numbers, its ticks and how late they begin, and its exit.

#pragma once

#include "tests/sim/kernel.h"

/// How late the most delayed tick of this process began, without stalls of threads.
uint64_t sim_tick_late_max_ns(void);

/// Number of ticks run.
uint64_t sim_tick_count(void);

/// Called instead of _exit() in the server.
extern void (*sim_on_exit)(int code);
