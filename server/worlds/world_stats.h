// server/worlds/world_stats.h: the numbers of a world, for `stats` and for metrics.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "server/base/config.h"
#include "server/worlds/host.h"

/// Does an FM_JOB_STATS. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_stats_make(const fm_config *config, const fm_host *host, fm_job *job);

/// Resets the histograms. @param counts  of the world, now
void fm_stats_reset(fm_host *host, const fm_world_counts *counts);
