// tests/sim/bytes.h: a queue of bytes that grows.

#pragma once

#include "core/base/base.h"

typedef struct sim_bytes {
    uint8_t *bytes; // owned
    size_t begin, end, capacity;
} sim_bytes;

static inline size_t sim_bytes_size(const sim_bytes *queue)
{
    return queue->end - queue->begin;
}

static inline const uint8_t *sim_bytes_front(const sim_bytes *queue)
{
    return queue->bytes + queue->begin;
}

void sim_bytes_append(sim_bytes *queue, const void *bytes, size_t size);

/// Removes `size` bytes from the front; the queue must hold that many.
void sim_bytes_drop(sim_bytes *queue, size_t size);

void sim_bytes_fini(sim_bytes *queue);
