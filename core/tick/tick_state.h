// core/tick/tick_state.h: what the stages of one tick share, for the files that make up the row.
// No other file includes it; tick.h is the interface.
//
//   tick.c          the row, and the stages that are short
//   notice.c        wakes planners that must react to changes
//   search_stage.c  shares the tick's expansions among planners

#pragma once

#include "core/tick/tick.h"

// What stages hand to later stages of the same tick.
struct fm_tick {
    fm_world *world;
    fm_workers *workers;
    const fm_tick_clock *clock;
    const fm_tick_record *recorded; // NULL unless this is a replay
    uint32_t recorded_next;         // first cut of `recorded` that was not used yet
    fm_tick_report *report;
    uint64_t granted; // expansions of the whole tick,
    uint64_t budget;  // and what is left of them
    uint64_t pool;    // of the round, where teams take turns: expansions not granted yet
    uint32_t put_off; // planners that are due and have to wait for their turn
    uint32_t round;
    uint32_t turns;    // planners at the head of fm_world.lists.searching that the round looks at
    bool deadline_met; // the deadline has stopped somebody
};

/// The time, for the report; 0 without a clock.
static inline uint64_t fm_tick_now(const struct fm_tick *t)
{
    return t->clock == NULL || t->clock->now_ns == NULL ? 0
                                                        : t->clock->now_ns(t->clock->now_context);
}
