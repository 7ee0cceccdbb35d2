// tests/sim/memory.h: the server's memory: it is counted, and allocations fail when the plan says
// so.
//
// What tasks allocate and release is the server's. The simulation's own memory comes from
// sim_own_allocate(), which is not counted and never fails.

#pragma once

#include "core/base/base.h"

void *sim_own_allocate(size_t size);
void sim_own_release(void *block);

/// After so many more allocations, `count` in a row fail; SIM_MEMORY_PLENTY: none ever fails.
void sim_memory_fail(uint64_t after, uint64_t count);

#define SIM_MEMORY_PLENTY UINT64_MAX

/// Allocates for a library. It counts as the server's if a task calls it, but it never fails.
void *sim_counted_allocate(size_t size);
void *sim_counted_resize(void *block, size_t size);
void sim_counted_release(void *block);

/// Counts an allocation of the server's. @return whether it must fail
bool sim_memory_fails(size_t size);

/// How many allocations have failed.
uint64_t sim_memory_failures(void);

/// Blocks and bytes that the server holds now, and the most that it ever held.
int64_t sim_memory_blocks(void);
int64_t sim_memory_bytes(void);
int64_t sim_memory_bytes_max(void);

/// Prints which blocks the server holds.
void sim_memory_describe(void);

/// Arenas of worlds that were not released.
int64_t sim_memory_arenas(void);
