// loadtest/report/report.c: see report.h.

#include "loadtest/report/report.h"

#include <string.h>

static void put_quantiles(const char *title, const fm_quantiles *quantiles, const char *unit,
                          FILE *out)
{
    if (quantiles->count == 0) {
        fprintf(out, "  %-26s none\n", title);
        return;
    }
    fprintf(out, "  %-26s p50 %9.3f  p99 %9.3f  ", title, quantiles->p50, quantiles->p99);
    if (quantiles->count >= FM_P999_COUNT_MIN) {
        fprintf(out, "p99.9 %9.3f  ", quantiles->p999);
    }
    fprintf(out, "max %9.3f %s\n", quantiles->max, unit);
}

static void put_orders(const fm_result *result, FILE *out)
{
    const struct {
        const char *name;
        uint64_t count;
    } ends[] = {
        {"arrived", result->ended_arrived},
        {"nearest reached", result->ended_nearest_reached},
        {"unreachable", result->ended_unreachable},
        {"replaced", result->ended_replaced},
        {"cancelled", result->ended_cancelled},
        {"died", result->ended_died},
        {"out of memory", result->ended_out_of_memory},
        {"target lost", result->ended_target_lost},
        {"target died", result->ended_target_died},
        {"explored", result->ended_explored},
        {"crowded", result->ended_crowded},
        {"deadline", result->ended_deadline},
        {"boarded", result->ended_boarded},
    };
    fprintf(out, "  %-26s %llu given; ended:", "orders", (unsigned long long)result->orders_given);
    const char *comma = " ";
    for (size_t i = 0; i < FM_COUNT_OF(ends); i++) {
        if (ends[i].count > 0) {
            fprintf(out, "%s%s %llu", comma, ends[i].name, (unsigned long long)ends[i].count);
            comma = ", ";
        }
    }
    fputs(comma[0] == ',' ? "\n" : " none\n", out);
}

static void put_errors(const fm_result *result, FILE *out)
{
    fprintf(out, "  %-26s %llu\n", "errors", (unsigned long long)result->errors_total);
    for (uint32_t i = 0; i < result->error_count; i++) {
        fprintf(out, "    %-40s %llu\n", result->errors[i].kind,
                (unsigned long long)result->errors[i].count);
    }
}

static void put_work(const fm_result *result, FILE *out)
{
    fprintf(out,
            "  %-26s %.3g expansions/s (%.1f ns each), %.3g moves/s (%.3f per agent and tick)\n",
            "work", result->expansions_per_second, result->ns_per_expansion,
            result->moves_per_second, result->moves_per_agent);
    fprintf(out,
            "  %-26s sense %.3f, assign %.3f, search %.3f, choose %.3f, move %.3f, "
            "observe %.3f, digest %.3f ms\n",
            "mean of the stages", result->stage_sense_ms, result->stage_assign_ms,
            result->stage_search_ms, result->stage_choose_ms, result->stage_move_ms,
            result->stage_observe_ms, result->stage_digest_ms);
    fprintf(
        out,
        "  %-26s moving %.1f %%, waiting for a search %.1f %%, for others in their way %.1f %%, "
        "idle %.1f %%, blocked %.1f %%\n",
        "agents", result->moving_percent, result->waiting_percent, result->queueing_percent,
        result->idle_percent, result->blocked_percent);
    if (result->cells_edited > 0) {
        fprintf(out, "  %-26s %llu\n", "cells edited", (unsigned long long)result->cells_edited);
    }
}

static void put_costs(const fm_result *result, FILE *out)
{
    fprintf(out, "  %-26s %.2f bytes per agent and tick; %.1f KiB/s to %llu views\n", "wire",
            result->bytes_per_agent, result->bytes_per_second / 1024,
            (unsigned long long)result->views);
    if (result->deltas_merged > 0 || result->keyframes_forced > 0) {
        fprintf(out, "  %-26s %llu deltas merged, %llu keyframes forced\n", "slow readers",
                (unsigned long long)result->deltas_merged,
                (unsigned long long)result->keyframes_forced);
    }
    fprintf(out, "  %-26s search %.1f KiB, knowledge %.1f KiB per agent; %llu planners\n", "memory",
            result->search_bytes_per_agent / 1024, result->knowledge_bytes_per_agent / 1024,
            (unsigned long long)result->planners);
    fprintf(out, "  %-26s %.1f MiB at most; %.1f before the world was made, %.1f after it\n",
            "server RSS", (double)result->rss_bytes / 1048576,
            (double)result->rss_start_bytes / 1048576, (double)result->rss_end_bytes / 1048576);
    fprintf(out, "  %-26s server %.2f (%.0f ns per expansion, all included), load generator %.2f\n",
            "processors busy", result->server_cpus, result->server_ns_per_expansion,
            result->generator_cpus);
}

void fm_result_print(const fm_result *result, FILE *out)
{
    fprintf(out,
            "%s: %llu agents in %llu teams, %s, %s, %llu workers, %g Hz, budget %g ms, seed %llu\n",
            result->scenario, (unsigned long long)result->agents, (unsigned long long)result->teams,
            result->map, result->planner, (unsigned long long)result->workers, result->tick_hz,
            result->budget_ms, (unsigned long long)result->seed);
    fprintf(out, "%s, %llu cores, %s, commit %s\n", result->cpu, (unsigned long long)result->cores,
            result->compiler, result->commit[0] == '\0' ? "unknown" : result->commit);
    fprintf(out, "  %-26s %llu of %.0f due in %.1f s; %llu late, %llu skipped, %llu degraded\n",
            "ticks", (unsigned long long)result->ticks, result->ticks_expected, result->duration_s,
            (unsigned long long)result->late_ticks, (unsigned long long)result->skipped_ticks,
            (unsigned long long)result->degraded_ticks);
    put_quantiles("tick", &result->tick_ms, "ms", out);
    put_quantiles("overrun of the budget", &result->overrun_ms, "ms", out);
    put_quantiles("tick, from the deltas", &result->stream_tick_ms, "ms", out);
    put_quantiles("order to first move", &result->order_to_first_move_ticks, "ticks", out);
    put_quantiles("due to answered", &result->reply_ms, "ms", out);
    put_quantiles("sent late", &result->late_ms, "ms", out);
    put_work(result, out);
    put_orders(result, out);
    put_costs(result, out);
    put_errors(result, out);
}
