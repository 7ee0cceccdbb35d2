// core/tick/notice.h: which planners must react to what has changed.

#pragma once

#include "core/tick/tick_state.h"

/// Before the search stage: wakes the planners (core/world/due.h) that what was learned concerns.
void fm_search_notice(struct fm_tick *t);
