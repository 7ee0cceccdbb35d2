// loadtest/drive/run_watch.h: what the load generator is sent while a scenario runs.

#pragma once

#include "loadtest/drive/run_state.h"

/// Handles notifications of the view of everything. A fm_client_notification_fn.
void fm_run_on_watch(void *context, fm_notification notification, const msgpack_object *params);

/// Requests the counters. The answer goes into run->last; at the edges of the measurement it begins
/// or ends it.
void fm_run_sample(fm_run_state *run, fm_event_kind kind, uint64_t due_ns);
