// core/world/words.c: see words.h.

#include "core/world/words.h"

#define X(enumerator, name) name,
const char *const fm_order_kind_names[FM_ORDER_KIND_COUNT] = {FM_ORDER_KIND_LIST(X)};
const char *const fm_order_end_names[FM_END_COUNT] = {FM_ORDER_END_LIST(X)};
const char *const fm_agent_state_names[FM_AGENT_STATE_COUNT] = {FM_AGENT_STATE_LIST(X)};
const char *const fm_replan_names[FM_REPLAN_COUNT] = {FM_REPLAN_LIST(X)};
const char *const fm_conflict_names[FM_CONFLICT_COUNT] = {FM_CONFLICT_LIST(X)};
const char *const fm_escort_end_names[FM_ESCORT_END_COUNT] = {FM_ESCORT_END_LIST(X)};
#undef X

const char *const fm_plan_state_names[FM_PLAN_EXHAUSTED + 1] = {
    [FM_PLAN_RUNNING] = "running",     [FM_PLAN_FOUND] = "found",
    [FM_PLAN_PARTIAL] = "partial",     [FM_PLAN_UNREACHABLE] = "unreachable",
    [FM_PLAN_EXHAUSTED] = "exhausted",
};

const char *fm_search_kind_name(uint32_t kind)
{
    if (kind < FM_PLANNER_COUNT) {
        return fm_planner_catalogue[kind]->name;
    }
    return kind == FM_SEARCH_SURVEY ? "survey" : kind == FM_SEARCH_SEEK ? "seek" : "joint";
}
