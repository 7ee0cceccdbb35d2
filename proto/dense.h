// proto/dense.h: writes and reads dense deltas, in which a step is a gap of ids and a direction.
// PROTOCOL.md, *Dense deltas*, has the format with an example.
//
//   steps   one entry per agent that moved or changed state, by rising place (the low 32 bits of
//           its id):  head  [gap]  [x y]  [state]
//             head  bits 0..3  direction 0..7, FM_DENSE_STAYS or FM_DENSE_ELSEWHERE
//                   bit 4      a state follows
//                   bits 5..7  places passed over since the entry before; 7: gap follows, less 7
//   runs    one entry per run of cells, row by row over the rectangle:  gap  length  [look]
//             gap     cells passed over since the end of the run before
//             length  (cells - 1) << 1 | whether the look is that of the run before
//   sight   which cells are visible:  FM_DENSE_SIGHT_WHOLE or FM_DENSE_SIGHT_FLIPS, then one entry
//           per run of cells, row by row over the rectangle, that differ from the cell above them
//           (above the first row: from a cell that is not visible, or does not flip):  gap  length
//             gap     cells passed over since the end of the run before
//             length  cells - 1
//
// Numbers behind the head are LEB128: seven bits in each byte, the low ones first, the highest bit
// set in all but the last. The state is one byte.
//
// Threads: any; nothing is kept between calls.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_DENSE_STAYS     8u
#define FM_DENSE_ELSEWHERE 9u

#define FM_DENSE_STEP_SIZE_MAX 17u // bytes of an entry of `steps`
#define FM_DENSE_RUN_SIZE_MAX  15u // bytes of an entry of `runs`
#define FM_DENSE_SPAN_SIZE_MAX 10u // bytes of an entry of `sight`

#define FM_DENSE_SIGHT_WHOLE 0u // marked cells are visible, all others are not
#define FM_DENSE_SIGHT_FLIPS 1u // marked cells flip between visible and not

// An agent that moved or changed state.
typedef struct fm_dense_step {
    uint32_t place;     // low 32 bits of the id; from 1
    uint32_t direction; // 0 east, 1 south-east, clockwise to 7 north-east; or one of the two above
    uint32_t x, y;      // with FM_DENSE_ELSEWHERE
    bool has_state;     // else the state is as it was
    uint8_t state;
} fm_dense_step;

// Cells of one look.
typedef struct fm_dense_run {
    uint64_t begin; // cells of the rectangle before it, row by row
    uint32_t count; // from 1
    uint32_t look;
} fm_dense_run;

// Cells of an entry of `sight`.
typedef struct fm_dense_span {
    uint64_t begin; // cells of the rectangle before it, row by row
    uint64_t count; // from 1
} fm_dense_span;

/// The direction from one cell to a neighbour, FM_DENSE_STAYS, or FM_DENSE_ELSEWHERE.
uint32_t fm_dense_direction(uint32_t from_x, uint32_t from_y, uint32_t to_x, uint32_t to_y);

/// What a direction 0..7 adds to x and y, modulo 2^32; 0 for FM_DENSE_STAYS.
void fm_dense_move(uint32_t direction, uint32_t *x, uint32_t *y);

/// Writes an entry.
///
/// @param at      room for FM_DENSE_STEP_SIZE_MAX bytes
/// @param before  the place of the entry before, less than this one's; 0: none
/// @return behind it
uint8_t *fm_dense_put_step(uint8_t *at, const fm_dense_step *step, uint32_t before);

/// Reads an entry.
///
/// @param step  in: the entry before, all zero at first; out: this one
/// @return behind it; NULL: the bytes are cut off or invalid
const uint8_t *fm_dense_get_step(const uint8_t *at, const uint8_t *end, fm_dense_step *step);

/// Writes an entry.
///
/// @param at      room for FM_DENSE_RUN_SIZE_MAX bytes
/// @param before  the run before, which ends where this one begins or earlier; all zero at first
/// @return behind it
uint8_t *fm_dense_put_run(uint8_t *at, const fm_dense_run *run, const fm_dense_run *before);

/// Reads an entry, as fm_dense_get_step() does.
const uint8_t *fm_dense_get_run(const uint8_t *at, const uint8_t *end, fm_dense_run *run);

/// Writes an entry, as fm_dense_put_run() does; room for FM_DENSE_SPAN_SIZE_MAX bytes.
uint8_t *fm_dense_put_span(uint8_t *at, const fm_dense_span *span, const fm_dense_span *before);

/// Reads an entry, as fm_dense_get_step() does.
const uint8_t *fm_dense_get_span(const uint8_t *at, const uint8_t *end, fm_dense_span *span);
