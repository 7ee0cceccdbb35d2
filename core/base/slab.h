// core/base/slab.h: small blocks for search memory, without locks.
//
// Searches take and give back pages by the thousand, inside parallel stages. Every worker
// therefore has a slab of its own: a free list per block size, refilled by carving chunks from the
// world's memory. The first chunks of a size are small, because a server may hold thousands of
// worlds with a few agents each; then each is as large as all before it together. A block may be
// given back to another worker's slab than it came from; in a serial stage fm_slabs_level() evens
// the lists out. Chunks go back only when the slab ends, that is with the world.
//
// Threads: one worker at a time for each slab.

#pragma once

#include "core/base/memory.h"

#define FM_SLAB_BLOCK_MAX 8192u       // bytes; the largest block
#define FM_SLAB_STEP      64u         // bytes; block sizes are rounded up to a multiple
#define FM_SLAB_CHUNK_MIN (4u << 10)  // bytes taken from memory at a time; multiples of this
#define FM_SLAB_CHUNK_MAX (64u << 10) // the same, at most
#define FM_SLAB_CLASSES   (FM_SLAB_BLOCK_MAX / FM_SLAB_STEP)

typedef struct fm_slab_block fm_slab_block;
typedef struct fm_slab_chunk fm_slab_chunk;

typedef struct fm_slab {
    const fm_memory *memory;
    fm_slab_block *free_blocks[FM_SLAB_CLASSES]; // by size / FM_SLAB_STEP - 1
    uint32_t free_counts[FM_SLAB_CLASSES];       // blocks in each list
    uint32_t carved_counts[FM_SLAB_CLASSES]; // blocks of each size that its chunks were cut into
    fm_slab_chunk *chunks;                   // all chunks this slab ever took
} fm_slab;

/// Sets up an empty slab on memory that outlives it. Takes nothing yet.
void fm_slab_init(fm_slab *slab, const fm_memory *memory);

/// Gives all chunks back, and with them every block that was taken from this slab.
void fm_slab_fini(fm_slab *slab);

/// A block of `size` bytes (1..FM_SLAB_BLOCK_MAX, asserted), aligned to 64 bytes, contents
/// unspecified. NULL when out of memory.
void *fm_slab_take(fm_slab *slab, size_t size);

/// Gives back a block taken from any slab of the same world, with the size it was taken with.
/// NULL is allowed.
void fm_slab_give(fm_slab *slab, void *block, size_t size);

/// Serial stages: moves free blocks from rich slabs to poor ones, so that a worker that frees
/// more than it takes does not make the others grow.
void fm_slabs_level(fm_slab *slabs, uint32_t slab_count);
