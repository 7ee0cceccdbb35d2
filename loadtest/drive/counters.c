// loadtest/drive/counters.c: see counters.h.

#include "loadtest/drive/counters.h"

#include <fogmarch/object.h>

static fm_quantiles read_quantiles(const msgpack_object *world, const char *name)
{
    const msgpack_object *map = fm_object_get(world, name);
    return (fm_quantiles){
        .count = fm_object_uint(map, "count", 0),
        .p50 = fm_object_real(map, "p50", 0),
        .p99 = fm_object_real(map, "p99", 0),
        .p999 = fm_object_real(map, "p999", 0),
        .max = fm_object_real(map, "max", 0),
    };
}

fm_counters fm_counters_read(const msgpack_object *stats)
{
    const msgpack_object *server = fm_object_get(stats, "server");
    const msgpack_object *world = fm_object_get(stats, "world");
    const msgpack_object *states = fm_object_get(world, "states");
    const msgpack_object *ended = fm_object_get(world, "orders_ended");
    const msgpack_object *conflicts = fm_object_get(world, "conflicts");
    const msgpack_object *stages = fm_object_get(world, "stages_ms");
    return (fm_counters){
        .workers = fm_object_uint(server, "workers", 0),
        .rss_bytes = fm_object_uint(server, "rss_bytes", 0),
        .deltas_merged = fm_object_uint(server, "deltas_merged", 0),
        .keyframes_forced = fm_object_uint(server, "keyframes_forced", 0),
        .ticks = fm_object_uint(world, "tick", 0),
        .late_ticks = fm_object_uint(world, "late_ticks", 0),
        .skipped_ticks = fm_object_uint(world, "skipped_ticks", 0),
        .degraded_ticks = fm_object_uint(world, "degraded_ticks", 0),
        .agents = fm_object_uint(world, "agents", 0),
        .moving = fm_object_uint(states, "moving", 0),
        .waiting = fm_object_uint(states, "waiting", 0),
        .idle = fm_object_uint(states, "idle", 0),
        .blocked = fm_object_uint(states, "blocked", 0),
        .planners = fm_object_uint(world, "planners", 0),
        .orders_given = fm_object_uint(world, "orders_given", 0),
        .ended_arrived = fm_object_uint(ended, "arrived", 0),
        .ended_nearest_reached = fm_object_uint(ended, "nearest_reached", 0),
        .ended_unreachable = fm_object_uint(ended, "unreachable", 0),
        .ended_replaced = fm_object_uint(ended, "replaced", 0),
        .ended_cancelled = fm_object_uint(ended, "cancelled", 0),
        .ended_died = fm_object_uint(ended, "died", 0),
        .ended_out_of_memory = fm_object_uint(ended, "out_of_memory", 0),
        .ended_target_lost = fm_object_uint(ended, "target_lost", 0),
        .ended_target_died = fm_object_uint(ended, "target_died", 0),
        .ended_explored = fm_object_uint(ended, "explored", 0),
        .ended_crowded = fm_object_uint(ended, "crowded", 0),
        .ended_deadline = fm_object_uint(ended, "deadline", 0),
        .ended_boarded = fm_object_uint(ended, "boarded", 0),
        .expansions = fm_object_uint(world, "expansions", 0),
        .moves = fm_object_uint(world, "moves", 0),
        .queued = fm_object_uint(conflicts, "waited", 0),
        .cells_edited = fm_object_uint(world, "cells_edited", 0),
        .search_bytes = fm_object_uint(world, "search_bytes", 0),
        .knowledge_bytes = fm_object_uint(world, "knowledge_bytes", 0),
        .ns_per_expansion = fm_object_real(world, "ns_per_expansion", 0),
        .tick_ms = read_quantiles(world, "tick_ms"),
        .overrun_ms = read_quantiles(world, "overrun_ms"),
        .order_to_first_move_ticks = read_quantiles(world, "order_to_first_move_ticks"),
        .stage_sense_ms = fm_object_real(stages, "sense", 0),
        .stage_assign_ms = fm_object_real(stages, "assign", 0),
        .stage_search_ms = fm_object_real(stages, "search", 0),
        .stage_choose_ms = fm_object_real(stages, "choose", 0),
        .stage_move_ms = fm_object_real(stages, "move", 0),
        .stage_observe_ms = fm_object_real(stages, "observe", 0),
        .stage_digest_ms = fm_object_real(stages, "digest", 0),
    };
}

void fm_counters_report(const fm_counters *begin, const fm_counters *end, double duration_s,
                        fm_result *result)
{
#define DIFFERENCE(member) result->member = end->member - begin->member
    DIFFERENCE(ticks);
    DIFFERENCE(late_ticks);
    DIFFERENCE(skipped_ticks);
    DIFFERENCE(degraded_ticks);
    DIFFERENCE(orders_given);
    DIFFERENCE(ended_arrived);
    DIFFERENCE(ended_nearest_reached);
    DIFFERENCE(ended_unreachable);
    DIFFERENCE(ended_replaced);
    DIFFERENCE(ended_cancelled);
    DIFFERENCE(ended_died);
    DIFFERENCE(ended_out_of_memory);
    DIFFERENCE(ended_target_lost);
    DIFFERENCE(ended_target_died);
    DIFFERENCE(ended_explored);
    DIFFERENCE(ended_crowded);
    DIFFERENCE(ended_deadline);
    DIFFERENCE(ended_boarded);
    DIFFERENCE(cells_edited);
    DIFFERENCE(deltas_merged);
    DIFFERENCE(keyframes_forced);
#undef DIFFERENCE
    double agent_ticks = (double)result->ticks * (double)result->agents;
    double moves = (double)(end->moves - begin->moves);
    result->duration_s = duration_s;
    result->ticks_expected = duration_s * result->tick_hz;
    result->expansions_per_second = (double)(end->expansions - begin->expansions) / duration_s;
    result->moves_per_second = moves / duration_s;
    double queued = (double)(end->queued - begin->queued);
    result->queueing_percent = agent_ticks > 0 ? 100 * queued / agent_ticks : 0;
    result->moves_per_agent = agent_ticks > 0 ? moves / agent_ticks : 0;
    result->ns_per_expansion = end->ns_per_expansion;
    result->workers = end->workers;
    result->planners = end->planners;
    result->tick_ms = end->tick_ms;
    result->overrun_ms = end->overrun_ms;
    result->order_to_first_move_ticks = end->order_to_first_move_ticks;
    result->stage_sense_ms = end->stage_sense_ms;
    result->stage_assign_ms = end->stage_assign_ms;
    result->stage_search_ms = end->stage_search_ms;
    result->stage_choose_ms = end->stage_choose_ms;
    result->stage_move_ms = end->stage_move_ms;
    result->stage_observe_ms = end->stage_observe_ms;
    result->stage_digest_ms = end->stage_digest_ms;
}
