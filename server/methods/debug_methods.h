// server/methods/debug_methods.h: debug.*: what an agent does, and why.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_debug_inspect, fm_take_debug_subscribe, fm_take_debug_unsubscribe,
    fm_take_debug_explain, fm_take_debug_top, fm_take_debug_jams, fm_take_debug_compare;
fm_answer_fn fm_answer_debug_inspect, fm_answer_debug_subscribe, fm_answer_debug_unsubscribe,
    fm_answer_debug_explain, fm_answer_debug_top, fm_answer_debug_jams, fm_answer_debug_compare;

/// Sends a client the tick's report of an agent that it follows with debug.subscribe, or skips it
/// for a client that does not read. Stops the trace of a session that has gone.
///
/// @param session  NULL: it has gone
void fm_debug_send_trace(fm_hub *hub, fm_session *session, const fm_job *job);
