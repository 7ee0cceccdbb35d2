// tests/sim/hooks.h: what the simulation sees of the server from inside: its log, its random
// numbers, its ticks and how late they begin, and its exit.

#pragma once

#include "tests/sim/kernel.h"

/// How late the latest tick began, beyond what stalls of threads account for, in this process.
uint64_t sim_tick_late_max_ns(void);

/// Ticks that were run.
uint64_t sim_tick_count(void);

/// What the server's _exit() does.
extern void (*sim_on_exit)(int code);
