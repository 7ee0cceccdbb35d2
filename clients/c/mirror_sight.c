// clients/c/mirror_sight.c: see mirror_sight.h.

#include "clients/c/mirror_sight.h"

#include "proto/dense.h"

#include <stdlib.h>
#include <string.h>

#define RUN_SIZE 4u // numbers of an entry of a delta's `visible`

static size_t cell_count(const fm_mirror *mirror)
{
    return (size_t)mirror->rect.width * mirror->rect.height;
}

// Nothing is visible, in a rectangle that may be another one than before.
static fm_status begin_sight(fm_mirror *mirror)
{
    free(mirror->visible);
    mirror->visible = calloc(cell_count(mirror), 1);
    return mirror->visible == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

fm_status fm_mirror_fill_sight(fm_mirror *mirror, const msgpack_object *params)
{
    if (fm_object_get(params, "visible") == NULL) {
        free(mirror->visible);
        mirror->visible = NULL;
        return FM_OK;
    }
    fm_status status = begin_sight(mirror);
    if (status != FM_OK) {
        return status;
    }
    fm_numbers numbers = fm_object_numbers(params, "visible");
    size_t at = 0, count = cell_count(mirror);
    for (uint32_t i = 0; i < numbers.count; i++) {
        uint64_t length = fm_numbers_at(numbers, i);
        if (length > count - at) {
            return FM_ERR_BAD_MESSAGE;
        }
        memset(mirror->visible + at, i % 2 == 1, length);
        at += length;
    }
    return at == count ? FM_OK : FM_ERR_BAD_MESSAGE;
}

static fm_status take_runs(fm_mirror *mirror, fm_numbers numbers)
{
    const fm_rect *rect = &mirror->rect;
    if (numbers.count % RUN_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += RUN_SIZE) {
        uint64_t column = fm_numbers_at(numbers, i) - rect->x;
        uint64_t row = fm_numbers_at(numbers, i + 1) - rect->y;
        uint64_t length = fm_numbers_at(numbers, i + 2), visible = fm_numbers_at(numbers, i + 3);
        if (column >= rect->width || row >= rect->height || visible > 1) {
            return FM_ERR_BAD_MESSAGE;
        }
        size_t at = (size_t)row * rect->width + column;
        if (length > cell_count(mirror) - at) {
            return FM_ERR_BAD_MESSAGE;
        }
        memset(mirror->visible + at, (int)visible, length);
    }
    return FM_OK;
}

// Marks the cells that differ from the one above them.
static fm_status read_edges(const uint8_t *at, const uint8_t *end, uint8_t *marks, size_t count)
{
    for (fm_dense_span span = {0}; at != end;) {
        at = fm_dense_get_span(at, end, &span);
        if (at == NULL || span.begin > count || span.count > count - span.begin) {
            return FM_ERR_BAD_MESSAGE;
        }
        memset(marks + span.begin, 1, span.count);
    }
    return FM_OK;
}

static fm_status take_bytes(fm_mirror *mirror, const uint8_t *bytes, size_t size)
{
    size_t count = cell_count(mirror), width = mirror->rect.width;
    if (size == 0 || bytes[0] > FM_DENSE_SIGHT_FLIPS) {
        return FM_ERR_BAD_MESSAGE;
    }
    uint8_t *marks = calloc(count, 1);
    if (marks == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = read_edges(bytes + 1, bytes + size, marks, count);
    for (size_t i = width; i < count; i++) {
        marks[i] ^= marks[i - width];
    }
    for (size_t i = 0; bytes[0] == FM_DENSE_SIGHT_FLIPS && i < count; i++) {
        marks[i] ^= mirror->visible[i];
    }
    free(mirror->visible);
    mirror->visible = marks;
    return status;
}

fm_status fm_mirror_change_sight(fm_mirror *mirror, const msgpack_object *params, bool rect_changed)
{
    if (mirror->visible == NULL) {
        return FM_OK; // visible cells are not reported
    }
    fm_status status = rect_changed ? begin_sight(mirror) : FM_OK;
    if (status == FM_OK) {
        status = take_runs(mirror, fm_object_numbers(params, "visible"));
    }
    size_t size = 0;
    const uint8_t *bytes = fm_object_bytes(params, "sight", &size);
    return status == FM_OK && bytes != NULL ? take_bytes(mirror, bytes, size) : status;
}
