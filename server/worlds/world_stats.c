// server/worlds/world_stats.c: see world_stats.h.

#include "server/worlds/world_stats.h"

#include "core/views/inspect.h"
#include "server/worlds/recording.h"

#include <stdlib.h>
#include <string.h>

static fm_quantiles quantiles_ms(const fm_histogram *microseconds)
{
    return (fm_quantiles){
        .count = microseconds->count,
        .p50 = (double)fm_histogram_quantile(microseconds, 0.5) / 1e3,
        .p99 = (double)fm_histogram_quantile(microseconds, 0.99) / 1e3,
        .p999 = (double)fm_histogram_quantile(microseconds, 0.999) / 1e3,
        .max = (double)microseconds->max / 1e3,
    };
}

// What core/ has counted since the histograms started again.
static fm_quantiles first_move_quantiles(const fm_host *host, const fm_world_counts *counts)
{
    fm_histogram *histogram = calloc(1, sizeof *histogram);
    if (histogram == NULL) {
        return (fm_quantiles){0};
    }
    for (uint32_t ticks = 0; ticks < FM_COUNT_OF(counts->first_move_histogram); ticks++) {
        uint32_t count =
            counts->first_move_histogram[ticks] - host->times.first_moves_before[ticks];
        histogram->buckets[ticks] = count; // these values have a bucket each, but for the last
        histogram->count += count;
        histogram->max = count > 0 ? ticks : histogram->max;
    }
    fm_quantiles quantiles = {
        .count = histogram->count,
        .p50 = (double)fm_histogram_quantile(histogram, 0.5),
        .p99 = (double)fm_histogram_quantile(histogram, 0.99),
        .p999 = (double)fm_histogram_quantile(histogram, 0.999),
        .max = (double)histogram->max,
    };
    free(histogram);
    return quantiles;
}

static fm_status list_teams(const fm_host *host, fm_world_stats *stats)
{
    uint32_t count = fm_world_team_counts(host->world, NULL, 0);
    count = count < FM_STATS_TEAMS_MAX ? count : FM_STATS_TEAMS_MAX;
    stats->teams = calloc(count + 1, sizeof *stats->teams);
    if (stats->teams == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_world_team_counts(host->world, stats->teams, count);
    stats->team_count = count;
    return FM_OK;
}

fm_status fm_stats_make(const fm_config *config, const fm_host *host, fm_job *job)
{
    fm_world_stats *stats = calloc(1, sizeof *stats);
    if (stats == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_world_counts_get(host->world, &stats->counts);
    stats->tick_ms = quantiles_ms(&host->times.tick_histogram);
    stats->overrun_ms = quantiles_ms(&host->times.overrun_histogram);
    stats->order_to_first_move_ticks = first_move_quantiles(host, &stats->counts);
    for (uint32_t stage = 0; stage < FM_STAGE_COUNT && host->times.tick_histogram.count > 0;
         stage++) {
        stats->stages_ms[stage] =
            (double)host->times.stage_ns[stage] / 1e6 / (double)host->times.tick_histogram.count;
    }
    if (host->times.tick_histogram.count > 0) {
        stats->commands_ms =
            (double)host->times.commands_ns / 1e6 / (double)host->times.tick_histogram.count;
    }
    stats->tick_times = host->times.tick_times;
    stats->overrun_times = host->times.overrun_times;
    stats->commands_times = host->times.commands_times;
    memcpy(stats->stage_times, host->times.stage_times, sizeof stats->stage_times);
    stats->late_ticks = host->pacer.late_ticks;
    stats->skipped_ticks = host->pacer.skipped_ticks;
    stats->degraded_ticks = host->pacer.degraded_ticks;
    stats->ns_per_expansion = host->pacer.ns_per_expansion;
    stats->memory = fm_memory_arena_bytes(host->arena);
    stats->memory_max = config->world_memory_max;
    fm_recording_stats(config, host, stats);
    job->stats.world = stats;
    return job->stats.teams ? list_teams(host, stats) : FM_OK;
}

void fm_stats_reset(fm_host *host, const fm_world_counts *counts)
{
    host->times.tick_histogram = (fm_histogram){0};
    host->times.overrun_histogram = (fm_histogram){0};
    memset(host->times.stage_ns, 0, sizeof host->times.stage_ns);
    host->times.commands_ns = 0;
    memcpy(host->times.first_moves_before, counts->first_move_histogram,
           sizeof host->times.first_moves_before);
}
