// tests/sim/memory.h: the server's memory: counted, and failing when the plan says so.
//
// What tasks allocate and release is the server's. What the simulation needs for itself it takes
// with sim_own_allocate(), which is neither counted nor ever fails.

#pragma once

#include "core/base/base.h"

void *sim_own_allocate(size_t size);
void sim_own_release(void *block);

/// After so many more allocations `count` in a row fail; SIM_MEMORY_PLENTY: none ever.
void sim_memory_fail(uint64_t after, uint64_t count);

#define SIM_MEMORY_PLENTY UINT64_MAX

/// What a library allocates: the server's when one of its threads does, but it never fails.
void *sim_counted_allocate(size_t size);
void *sim_counted_resize(void *block, size_t size);
void sim_counted_release(void *block);

/// Whether an allocation of the server fails now.
bool sim_memory_fails(size_t size);

/// How many allocations have failed.
uint64_t sim_memory_failures(void);

/// Blocks and bytes that the server holds now, and the most it ever held.
int64_t sim_memory_blocks(void);
int64_t sim_memory_bytes(void);
int64_t sim_memory_bytes_max(void);

/// Says which blocks the server holds.
void sim_memory_describe(void);

/// Arenas of worlds that have not been given back.
int64_t sim_memory_arenas(void);
