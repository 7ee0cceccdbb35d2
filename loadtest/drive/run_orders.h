// loadtest/drive/run_orders.h: what the load generator sends while a scenario runs.

#pragma once

#include "loadtest/drive/run_state.h"

/// Schedules the first order of every group, the volleys and the walls, from now on.
void fm_run_begin_orders(fm_run_state *run, uint64_t now_ns);

/// The group has nothing left to do: it gets another order when it has rested.
void fm_run_group_rests(fm_run_state *run, uint32_t group, uint64_t now_ns);

/// Does an event of the kinds ORDER, VOLLEY, WALL_UP and WALL_DOWN.
void fm_run_on_order_event(fm_run_state *run, const fm_event *event);

/// Sends the orders that were collected in this turn of the loop.
void fm_run_send_due_groups(fm_run_state *run);
