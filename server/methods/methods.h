// server/methods/methods.h: what each method does, as one table indexed by fm_method, and what is
// done with each kind of job that comes back from the conductor.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/session.h"

/// The handlers of sessions' events: fm_hub.session_events.
extern const fm_session_events fm_methods_session_events;

/// Takes in a job that came back, and answers the request that it was made for. Takes the job over.
void fm_methods_job_done(fm_hub *hub, fm_job *job);

/// Asserts that every method has its handler.
void fm_methods_check(void);
