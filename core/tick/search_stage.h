// core/tick/search_stage.h: the search stage: shares the tick's expansions among planners and lets
// them search.

#pragma once

#include "core/tick/tick_state.h"

/// The search stage.
void fm_stage_search(struct fm_tick *t);
