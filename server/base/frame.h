// server/base/frame.h: bytes on their way out, shared by all receivers.
//
// A frame is written once and then only read. Each queue that holds it counts as one reference.
//
// Threads: the event loop.

#pragma once

#include "core/base/base.h"

#include <msgpack.h>

typedef struct fm_frame {
    uint32_t references;
    size_t size;
    char *bytes; // owned
} fm_frame;

/// The write function of packers, in place of msgpack_sbuffer_write(): once out of memory the
/// buffer stays empty, so that a message is whole or none.
int fm_frame_write(void *buffer, const char *bytes, size_t size);

/// Makes a frame of what a packer wrote, which it takes over (the buffer is empty afterwards).
///
/// @return a frame with one reference, or NULL when out of memory, now or while it was packed (the
/// bytes are then released)
fm_frame *fm_frame_take(msgpack_sbuffer *buffer);

/// Makes a frame of a copy of some bytes. @return NULL when out of memory
fm_frame *fm_frame_copy(const void *bytes, size_t size);

static inline fm_frame *fm_frame_hold(fm_frame *frame)
{
    frame->references++;
    return frame;
}

/// Gives one reference back. NULL is allowed.
void fm_frame_drop(fm_frame *frame);
