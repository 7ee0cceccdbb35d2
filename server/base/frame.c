// server/base/frame.c: see frame.h.

#include "server/base/frame.h"

#include <stdlib.h>
#include <string.h>

#define BROKEN SIZE_MAX // `alloc` of a buffer for which memory ran out

// A buffer starts with 8 KiB, which an answer of 30 bytes should not hold while it waits in a
// queue.
static char *fit(msgpack_sbuffer *buffer)
{
    size_t size = buffer->size, room = buffer->alloc;
    char *bytes = msgpack_sbuffer_release(buffer);
    char *fitting = size > 0 && size < room / 2 ? realloc(bytes, size) : NULL;
    return fitting != NULL ? fitting : bytes;
}

int fm_frame_write(void *context, const char *bytes, size_t size)
{
    msgpack_sbuffer *buffer = context;
    if (buffer->alloc == BROKEN) {
        return -1;
    }
    if (msgpack_sbuffer_write(buffer, bytes, size) != 0) {
        msgpack_sbuffer_destroy(buffer);
        *buffer = (msgpack_sbuffer){.alloc = BROKEN};
        return -1;
    }
    return 0;
}

fm_frame *fm_frame_take(msgpack_sbuffer *buffer)
{
    fm_frame *frame = buffer->alloc == BROKEN ? NULL : malloc(sizeof *frame);
    if (frame == NULL) {
        msgpack_sbuffer_destroy(buffer);
        msgpack_sbuffer_init(buffer); // TLS goes on with it, and destroys it again
        return NULL;
    }
    size_t size = buffer->size; // restored by fit()
    *frame = (fm_frame){.references = 1, .size = size, .bytes = fit(buffer)};
    return frame;
}

fm_frame *fm_frame_copy(const void *bytes, size_t size)
{
    fm_frame *frame = malloc(sizeof *frame);
    char *copy = malloc(size > 0 ? size : 1);
    if (frame == NULL || copy == NULL) {
        free(frame);
        free(copy);
        return NULL;
    }
    memcpy(copy, bytes, size);
    *frame = (fm_frame){.references = 1, .size = size, .bytes = copy};
    return frame;
}

void fm_frame_drop(fm_frame *frame)
{
    if (frame != NULL && --frame->references == 0) {
        free(frame->bytes);
        free(frame);
    }
}
