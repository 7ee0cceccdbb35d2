// core/tick/search_stage.h: the search stage: who may search how much.

#pragma once

#include "core/tick/tick_state.h"

/// The search stage.
void fm_stage_search(struct fm_tick *t);
