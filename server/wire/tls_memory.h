// server/wire/tls_memory.h: OpenSSL's memory, in blocks that fit.
//
// A TLS connection that says nothing keeps some fifty blocks, 13.5 KB of them, and what a general
// allocator adds by rounding up is 1.4 KB: 8 KiB for the largest, which has 7608 bytes. Here sizes
// are rounded up to 16 bytes.
//
//   chunk, at a multiple of 64 KiB
//   ┌────────┬───────┬───────┬───────┬──── ─ ─ ─
//   │ header │ block │ block │ block │ not touched yet
//   └────────┴───────┴───────┴───────┴──── ─ ─ ─
//
// All blocks of a chunk have one size, and the header of a block's chunk is found by clearing the
// lower bits of its address. A block that is larger than any of the sizes has a chunk to itself.
//
// Bounds: a chunk goes back to the C library when its last block is given back, but for one of each
// size.
//
// Threads: any; one lock, held for a few instructions.

#pragma once

#include "core/base/base.h"

#define FM_TLS_BLOCK_MAX (32u << 10) // bytes; a larger one has a chunk to itself

/// Has OpenSSL take its memory from here, if it has taken none yet. Builds with a sanitizer leave
/// it where it is, because a sanitizer watches the blocks of the C library.
void fm_tls_memory_install(void);

/// `size` bytes, aligned to 16, contents unspecified. NULL when memory is out, and for 0.
void *fm_tls_memory_take(size_t size);

/// The block, or another one that begins with the same bytes. NULL when memory is out: the block is
/// as it was. A block of NULL is taken, a size of 0 gives it back.
void *fm_tls_memory_resize(void *block, size_t size);

/// NULL is allowed.
void fm_tls_memory_give(void *block);
