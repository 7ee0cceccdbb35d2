// server/worlds/inspection.h: what debug.* methods ask of a world: the inside of one agent, agents
// traced from tick to tick, why an agent does what it does, which agents cost most.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "server/worlds/mailbox.h"

/// Fills in what an agent is and does, as far as the channels ask for it.
/// @return FM_OK, FM_ERR_NO_AGENT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_inspection_make(fm_host *host, fm_job_inspect *inspect);

/// Does an FM_JOB_EXPLAIN. @return FM_OK, FM_ERR_NO_AGENT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_inspection_explain(fm_host *host, fm_job *job);

/// Does an FM_JOB_UNITS. @return FM_OK, FM_ERR_NO_TEAM or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_inspection_report_units(fm_host *host, fm_job *job);

/// Does an FM_JOB_TOP. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_inspection_list_top(fm_host *host, fm_job *job);

/// Does an FM_JOB_JAMS. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_inspection_list_jams(fm_host *host, fm_job *job);

/// Starts inspecting an agent after every tick, and now.
/// @return FM_OK, FM_ERR_NO_AGENT, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_trace_begin(fm_mailbox *mailbox, fm_host *host, fm_job *job);

/// Ends a trace of a session. @return FM_OK, or FM_ERR_BAD_VALUE: there is none
FM_CHECKED fm_status fm_trace_end(fm_host *host, uint64_t session, uint64_t number);

/// After a tick: inspects all agents that are followed.
void fm_trace_all(fm_mailbox *mailbox, fm_host *host);

/// Ends all traces.
void fm_trace_abandon(fm_host *host);
