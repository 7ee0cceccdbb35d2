// proto/dense.c: see dense.h.

#include "proto/dense.h"

#define HAS_STATE  0x10u
#define GAP_SHIFT  5u
#define GAP_LONG   7u // in the head: the rest follows
#define LOOK_AGAIN 1u

// ---- numbers ------------------------------------------------------------------------------------

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7) {
        *at++ = (uint8_t)(number | 0x80);
    }
    *at++ = (uint8_t)number;
    return at;
}

// At most five bytes: no number of the format has more than 32 bits.
static const uint8_t *get_number(const uint8_t *at, const uint8_t *end, uint32_t *number)
{
    uint64_t sum = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
        if (at == NULL || at == end) {
            return NULL;
        }
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = (uint32_t)sum;
            return sum <= UINT32_MAX ? at : NULL;
        }
    }
    return NULL;
}

// ---- steps --------------------------------------------------------------------------------------

uint32_t fm_dense_direction(uint32_t from_x, uint32_t from_y, uint32_t to_x, uint32_t to_y)
{
    static const uint8_t directions[3][3] = {{5, 6, 7}, {4, FM_DENSE_STAYS, 0}, {3, 2, 1}};
    uint32_t column = to_x - from_x + 1, row = to_y - from_y + 1;
    return column < 3 && row < 3 ? directions[row][column] : FM_DENSE_ELSEWHERE;
}

void fm_dense_move(uint32_t direction, uint32_t *x, uint32_t *y)
{
    static const int8_t columns[] = {1, 1, 0, -1, -1, -1, 0, 1, 0};
    static const int8_t rows[] = {0, 1, 1, 1, 0, -1, -1, -1, 0};
    *x += (uint32_t)columns[direction];
    *y += (uint32_t)rows[direction];
}

uint8_t *fm_dense_put_step(uint8_t *at, const fm_dense_step *step, uint32_t before)
{
    uint32_t gap = step->place - before - 1;
    uint32_t near = gap < GAP_LONG ? gap : GAP_LONG;
    *at++ = (uint8_t)(step->direction | (step->has_state ? HAS_STATE : 0) | near << GAP_SHIFT);
    if (near == GAP_LONG) {
        at = put_number(at, gap - GAP_LONG);
    }
    if (step->direction == FM_DENSE_ELSEWHERE) {
        at = put_number(put_number(at, step->x), step->y);
    }
    if (step->has_state) {
        *at++ = step->state;
    }
    return at;
}

const uint8_t *fm_dense_get_step(const uint8_t *at, const uint8_t *end, fm_dense_step *step)
{
    if (at == end) {
        return NULL;
    }
    uint32_t head = *at++, before = step->place, more = 0;
    *step = (fm_dense_step){.direction = head & 15, .has_state = (head & HAS_STATE) != 0};
    if (step->direction > FM_DENSE_ELSEWHERE) {
        return NULL;
    }
    if (head >> GAP_SHIFT == GAP_LONG) {
        at = get_number(at, end, &more);
    }
    uint64_t place = (uint64_t)before + 1 + (head >> GAP_SHIFT) + more;
    step->place = (uint32_t)place;
    if (step->direction == FM_DENSE_ELSEWHERE) {
        at = get_number(get_number(at, end, &step->x), end, &step->y);
    }
    if (at == NULL || place > UINT32_MAX || (step->has_state && at == end)) {
        return NULL;
    }
    if (step->has_state) {
        step->state = *at++;
    }
    return at;
}

// ---- runs ---------------------------------------------------------------------------------------

uint8_t *fm_dense_put_run(uint8_t *at, const fm_dense_run *run, const fm_dense_run *before)
{
    bool again = before->count > 0 && run->look == before->look;
    at = put_number(at, run->begin - before->begin - before->count);
    at = put_number(at, (uint64_t)(run->count - 1) << 1 | (again ? LOOK_AGAIN : 0));
    return again ? at : put_number(at, run->look);
}

const uint8_t *fm_dense_get_run(const uint8_t *at, const uint8_t *end, fm_dense_run *run)
{
    uint32_t gap = 0, length = 0;
    at = get_number(get_number(at, end, &gap), end, &length);
    bool again = (length & LOOK_AGAIN) != 0;
    if (at == NULL || (again && run->count == 0)) {
        return NULL;
    }
    run->begin += (uint64_t)run->count + gap;
    run->count = (length >> 1) + 1;
    return again ? at : get_number(at, end, &run->look);
}

// ---- sight --------------------------------------------------------------------------------------

uint8_t *fm_dense_put_span(uint8_t *at, const fm_dense_span *span, const fm_dense_span *before)
{
    at = put_number(at, span->begin - before->begin - before->count);
    return put_number(at, span->count - 1);
}

const uint8_t *fm_dense_get_span(const uint8_t *at, const uint8_t *end, fm_dense_span *span)
{
    uint32_t gap = 0, length = 0;
    at = get_number(get_number(at, end, &gap), end, &length);
    span->begin += span->count + gap;
    span->count = (uint64_t)length + 1;
    return at;
}
