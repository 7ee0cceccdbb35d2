// loadtest/lab/campaign.h: what `gametime` and `depressions` share: they run many planners on the
// missions of the twelve game maps, under one setting after the other. Eight neighbours; the agent
// sees the eight cells beside it.
//
// Threads: one.

#pragma once

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/report.h"

#include <stdio.h>

typedef struct fm_lab_campaign {
    fm_lab *lab;
    uint32_t missions; // on each map
    fm_lab_contender contenders[FM_LAB_CONTENDERS_MAX];
    uint32_t count; // of contenders
    fm_lab_worker worker;
    fm_line_of_sight *sight;
    uint64_t done, total; // missions, each once for every pass
} fm_lab_campaign;

/// Reads --planners and --missions, and makes what missions need. Ends the process when they are
/// invalid. For fm_lab_campaign_fini().
void fm_lab_campaign_init(fm_lab_campaign *campaign, fm_lab *lab, const char *planners_default,
                          uint32_t missions_default);
void fm_lab_campaign_fini(fm_lab_campaign *campaign);

/// The ground of a mission on a map of which nothing is known, given up after intervals_max.
fm_lab_ground fm_lab_campaign_ground(const fm_lab_campaign *campaign, const fm_grid *map,
                                     uint64_t intervals_max);

/// Calls `play` for each map of --map, or each of the twelve. It plays every mission `passes` times
/// and calls fm_lab_campaign_next() before each.
void fm_lab_campaign_play(fm_lab_campaign *campaign, uint32_t passes, fm_lab_on_map *play,
                          void *context);
void fm_lab_campaign_next(fm_lab_campaign *campaign);

/// Ends a gnuplot command with a line for each contender. `series` is a printf format for its data;
/// it gets the contender's number, the first being `first`.
__attribute__((format(printf, 3, 0))) void fm_lab_campaign_plot(const fm_lab_campaign *campaign,
                                                                FILE *plot, const char *series,
                                                                uint32_t first);
