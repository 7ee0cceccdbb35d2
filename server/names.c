// server/names.c: see names.h.

#include "server/names.h"

#define X(enumerator, name) name,
const char *const fm_order_kind_names[FM_ORDER_KIND_COUNT] = {FM_ORDER_KIND_LIST(X)};
const char *const fm_order_end_names[FM_END_COUNT] = {FM_ORDER_END_LIST(X)};
const char *const fm_agent_state_names[FM_AGENT_STATE_COUNT] = {FM_AGENT_STATE_LIST(X)};
#undef X
