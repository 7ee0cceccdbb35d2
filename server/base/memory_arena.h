// server/base/memory_arena.h: one jemalloc arena per world, behind fm_memory.
//
// All memory of a world comes from an arena of its own. The arena counts bytes, refuses to grow
// beyond its limit, and dropping it gives everything back to the system at once, even blocks that
// were not released: RSS stays flat over any number of worlds.
//
// Sanitizer builds go without jemalloc: blocks come from malloc and are kept in a list, so that
// destroying an arena does the same there, and each block is still watched by the sanitizer.
//
// Threads: fm_memory's functions and the byte count may be used by any number of threads at once.
// Create and destroy by one thread, destroy after the others are done.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"

typedef struct fm_memory_arena fm_memory_arena;

/// Makes an arena.
///
/// @param bytes_max  beyond it allocations fail; SIZE_MAX for no limit
/// @param out        receives the arena; left alone on failure
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_memory_arena_create(size_t bytes_max, fm_memory_arena **out);

/// Gives back all blocks, released or not, and the arena itself. NULL is allowed.
void fm_memory_arena_destroy(fm_memory_arena *arena);

/// The arena as fm_memory. Good until the arena is destroyed.
const fm_memory *fm_memory_arena_memory(const fm_memory_arena *arena);

/// Changes the limit; one below what is in use frees nothing. Only while no thread allocates.
void fm_memory_arena_limit(fm_memory_arena *arena, size_t bytes_max);

/// Bytes in use: asked for and not released, rounded up as the allocator rounds.
size_t fm_memory_arena_bytes(const fm_memory_arena *arena);
