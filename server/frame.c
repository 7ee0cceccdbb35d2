// server/frame.c: see frame.h.

#include "server/frame.h"

#include <stdlib.h>

fm_frame *fm_frame_take(msgpack_sbuffer *buffer)
{
    fm_frame *frame = malloc(sizeof *frame);
    if (frame == NULL) {
        msgpack_sbuffer_destroy(buffer);
        return NULL;
    }
    size_t size = buffer->size;
    *frame = (fm_frame){.references = 1, .size = size, .bytes = msgpack_sbuffer_release(buffer)};
    return frame;
}

void fm_frame_drop(fm_frame *frame)
{
    if (frame != NULL && --frame->references == 0) {
        free(frame->bytes);
        free(frame);
    }
}
