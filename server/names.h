// server/names.h: the words on the wire for what core/world.h numbers.

#pragma once

#include "core/world.h"

/// By value of the enum.
extern const char *const fm_order_kind_names[FM_ORDER_KIND_COUNT];
extern const char *const fm_order_end_names[FM_END_COUNT];
extern const char *const fm_agent_state_names[FM_AGENT_STATE_COUNT];
