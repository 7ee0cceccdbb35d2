// core/world/words.h: names of the enumerators of world.h and planner.h, on the wire and on
// screens.

#pragma once

#include "core/world/world.h"

/// By value of the enum.
extern const char *const fm_order_kind_names[FM_ORDER_KIND_COUNT];
extern const char *const fm_order_end_names[FM_END_COUNT];
extern const char *const fm_agent_state_names[FM_AGENT_STATE_COUNT];
extern const char *const fm_replan_names[FM_REPLAN_COUNT];
extern const char *const fm_conflict_names[FM_CONFLICT_COUNT];
extern const char *const fm_escort_end_names[FM_ESCORT_END_COUNT];
extern const char *const fm_plan_state_names[FM_PLAN_EXHAUSTED + 1];

/// Of fm_world_counts.expansions_by_kind: a planner, "survey", "seek" or "joint".
const char *fm_search_kind_name(uint32_t kind);
