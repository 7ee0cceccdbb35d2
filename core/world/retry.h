// core/world/retry.h: when to retry after a refusal: after a wait that doubles each time, or as
// soon as something has changed on which the refusal may have depended.
//
//             refused                          wait over
//   FRESH ──────────────> RESTING for 1 tick ────────────> asked again ── granted ──> FRESH
//     ^                      │   ^                              │
//     │        woken         │   └── refused: RESTING for 2, 4, 8 ... FM_RETRY_WAIT_MAX ticks
//     └──────────────────────┘
//
// The side that refuses keeps a version that grows with each change. When the version differs from
// that of the last refusal, a retry is due, and waits begin at 1 again. A zeroed fm_retry is FRESH.
//
// Orders use it, see unreachable.h. A unit that is only blocked by another one, which moves aside
// or is pushed, tries in every tick: that is not a refusal.

#pragma once

#include "core/base/base.h"

#define FM_RETRY_WAIT_MAX 32u // ticks

typedef struct fm_retry {
    uint64_t due_tick; // of the next question
    uint64_t change;   // as of the last refusal
    uint32_t wait;     // ticks between the last refusal and due_tick; 0: FRESH
} fm_retry;

/// Whether the wait is over.
static inline bool fm_retry_is_due(const fm_retry *retry, uint64_t tick)
{
    return tick >= retry->due_tick;
}

/// Whether something has changed since the last refusal. A FRESH one is always awake.
static inline bool fm_retry_is_woken(const fm_retry *retry, uint64_t change)
{
    return retry->wait == 0 || change != retry->change;
}

/// Asked in `tick`, and refused.
static inline void fm_retry_refuse(fm_retry *retry, uint64_t tick, uint64_t change)
{
    uint32_t doubled = retry->wait * 2 < FM_RETRY_WAIT_MAX ? retry->wait * 2 : FM_RETRY_WAIT_MAX;
    retry->wait = fm_retry_is_woken(retry, change) ? 1 : doubled;
    retry->change = change;
    retry->due_tick = tick + retry->wait;
}
