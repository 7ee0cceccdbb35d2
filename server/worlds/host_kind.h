// server/worlds/host_kind.h: the differences between living worlds (live.h) and replays
// (playback.h), as a table. All worlds of a conductor are of one kind.

#pragma once

#include "core/base/workers.h"
#include "server/worlds/mailbox.h"

typedef struct fm_host_kind {
    /// Updates the world's summary.
    void (*show)(fm_mailbox *mailbox, fm_host *host);

    /// When the world wants its next turn, on the clock of fm_clock_now_ns(); UINT64_MAX: only
    /// after a job.
    uint64_t (*due_ns)(const fm_config *config, const fm_host *host);

    /// Does a tick, or its equivalent. Small worlds take their turns at the same time.
    /// @param workers  NULL: this thread alone
    void (*turn)(fm_mailbox *mailbox, fm_host *host, fm_workers *workers);

    /// Before the world's jobs.
    void (*prepare)(fm_mailbox *mailbox, fm_host *host);

    /// Whether jobs must wait for what is under way.
    bool (*holds_up_jobs)(const fm_config *config, const fm_host *host);

    /// Whether a kind of job is refused now, with FM_ERR_IO.
    bool (*refuses)(const fm_config *config, const fm_host *host, fm_job_kind kind);
} fm_host_kind;
