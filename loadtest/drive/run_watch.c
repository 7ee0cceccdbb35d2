// loadtest/drive/run_watch.c: what the generator receives: the view of everything, and the server's
// counters.
//
// The view says which orders ended (so that groups can rest and then get another) and how long each
// tick took (a second opinion on the server's own histogram). The counters say everything else;
// they are asked for twice a second, and at both edges of the measurement.

#include "loadtest/drive/run_watch.h"

#include "loadtest/drive/detours.h"
#include "loadtest/drive/run_orders.h"
#include "proto/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SAMPLE_S      0.5
#define AGENT_NUMBERS 5u // of a keyframe's agent: id, team, x, y, state
#define MOVED_NUMBERS 4u // of `moved`: id, x, y, state
#define ENDED_NUMBERS 5u // of an order that ended: order, agent, reason, x, y

// ---- the view -----------------------------------------------------------------------------------

static void rest_if_done(fm_run_state *run, uint32_t group, uint64_t now_ns)
{
    if (group != FM_GROUP_NONE) {
        fm_run_group_rests(run, group, now_ns);
    }
}

// Agents that a delta moves. A plain one does not separate them from those that only changed state.
static uint64_t moves_of(const msgpack_object *delta)
{
    size_t size = 0;
    uint64_t moves = fm_object_numbers(delta, "moved").count / MOVED_NUMBERS;
    const uint8_t *at = fm_object_bytes(delta, "steps", &size);
    const uint8_t *end = at == NULL ? NULL : at + size;
    for (fm_dense_step step = {0}; at != NULL && at != end;) {
        at = fm_dense_get_step(at, end, &step);
        moves += step.direction != FM_DENSE_STAYS;
    }
    return moves;
}

static void take_delta(fm_run_state *run, const msgpack_object *delta, uint64_t now_ns)
{
    fm_numbers ended = fm_object_numbers(delta, "ended");
    for (uint32_t i = 0; i + ENDED_NUMBERS <= ended.count; i += ENDED_NUMBERS) {
        uint64_t order = fm_numbers_at(ended, i), agent = fm_numbers_at(ended, i + 1);
        rest_if_done(run, fm_groups_ended(&run->groups, agent, order), now_ns);
    }
    run->moves_shown += run->measuring ? moves_of(delta) : 0;
    fm_numbers load = fm_object_numbers(delta, "load");
    if (load.count > 0) {
        uint64_t tick_us = fm_numbers_at(load, 0);
        fm_histogram_add(&run->stream_tick_us, tick_us);
        if (run->measuring && run->options->tick_times != NULL) {
            fprintf(run->options->tick_times, "%llu %llu\n", (unsigned long long)tick_us,
                    (unsigned long long)(load.count > 1 ? fm_numbers_at(load, 1) : 0));
        }
    }
}

// The first keyframe comes before any order. A later one means that this program was too slow to
// read, and that ends of orders were left out.
static void take_keyframe(fm_run_state *run, const msgpack_object *keyframe, uint64_t now_ns)
{
    fm_numbers agents = fm_object_numbers(keyframe, "agents");
    for (uint32_t i = 0; i + AGENT_NUMBERS <= agents.count; i += AGENT_NUMBERS) {
        if (fm_numbers_at(agents, i + 4) == FM_AGENT_IDLE) {
            rest_if_done(run, fm_groups_idle(&run->groups, fm_numbers_at(agents, i)), now_ns);
        }
    }
}

void fm_run_on_watch(void *context, fm_notification notification, const msgpack_object *params)
{
    fm_run_state *run = context;
    uint64_t now_ns = fm_run_now_ns();
    if (run->detours != NULL) {
        fm_detours_take(run->detours, notification, params);
    }
    switch (notification) {
    case FM_NOTIFY_KEYFRAME:
        take_keyframe(run, params, now_ns);
        return;
    case FM_NOTIFY_DELTA:
        take_delta(run, params, now_ns);
        return;
    case FM_NOTIFY_WORLD_ENDED:
        fm_run_fail(run, "the world was destroyed by somebody else");
        return;
    case FM_NOTIFY_DEBUG:
    case FM_NOTIFY_IDLE:
        return; // the client has answered it
    case FM_NOTIFY_GOING_DOWN:
        fm_run_fail(run, "the server is going down");
        return;
    case FM_NOTIFY_MOVED:
        fm_run_fail(run, "the world went to another node");
        return;
    case FM_NOTIFY_SHIPMENT: // not requested
    case FM_NOTIFICATION_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

// Bytes that all reading views but the generator's own have received.
static uint64_t audience_bytes_of(const fm_run_state *run)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < run->audience_count; i++) {
        const fm_listener *listener = &run->audience[i];
        if (listener->client != NULL && !listener->silent) {
            bytes += fm_client_traffic_get(listener->client).bytes_in;
        }
    }
    return bytes;
}

// ---- the counters -------------------------------------------------------------------------------

static double own_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void begin_measuring(fm_run_state *run, uint64_t now_ns)
{
    run->measuring = true;
    run->begin = run->last;
    run->measure_ns = now_ns;
    run->moves_shown = 0;
    if (run->detours != NULL) {
        run->detours->trip_count = 0; // those of the warm-up
    }
    run->reply_us = (fm_histogram){0};
    run->late_us = (fm_histogram){0};
    run->stream_tick_us = (fm_histogram){0};
    run->watch_bytes_begin = fm_client_traffic_get(run->watch).bytes_in;
    run->audience_bytes_begin = audience_bytes_of(run);
    run->server_cpu_begin = fm_server_process_cpu_s(&run->server);
    run->generator_cpu_begin = own_cpu_s();
    fm_run_push(run, now_ns + (uint64_t)(run->scenario->duration_s * 1e9), FM_EVENT_END, 0);
}

static void take_sample(fm_run_state *run)
{
    double agents = run->last.agents > 0 ? (double)run->last.agents : 1;
    run->moving_sum += (double)run->last.moving / agents;
    run->waiting_sum += (double)run->last.waiting / agents;
    run->idle_sum += (double)run->last.idle / agents;
    run->blocked_sum += (double)run->last.blocked / agents;
    run->search_bytes_sum += (double)run->last.search_bytes / agents;
    run->knowledge_bytes_sum += (double)run->last.knowledge_bytes / agents;
    run->sample_count++;
    if (run->last.rss_bytes > run->result->rss_bytes) {
        run->result->rss_bytes = run->last.rss_bytes;
    }
}

static void end_measuring(fm_run_state *run, uint64_t now_ns)
{
    fm_result *result = run->result;
    double seconds = (double)(now_ns - run->measure_ns) * 1e-9;
    take_sample(run);
    fm_counters_report(&run->begin, &run->last, seconds, result);
    result->stream_tick_ms = fm_quantiles_of(&run->stream_tick_us, 1000);
    result->reply_ms = fm_quantiles_of(&run->reply_us, 1000);
    result->late_ms = fm_quantiles_of(&run->late_us, 1000);
    double watch_bytes =
        (double)(fm_client_traffic_get(run->watch).bytes_in - run->watch_bytes_begin);
    double agent_ticks = (double)result->ticks * (double)result->agents;
    result->bytes_per_agent = agent_ticks > 0 ? watch_bytes / agent_ticks : 0;
    result->bytes_per_move = run->moves_shown > 0 ? watch_bytes / (double)run->moves_shown : 0;
    uint64_t audience_bytes = audience_bytes_of(run);
    audience_bytes -=
        run->audience_bytes_begin < audience_bytes ? run->audience_bytes_begin : audience_bytes;
    result->bytes_per_second = (watch_bytes + (double)audience_bytes) / seconds;
    if (run->server.pid != 0) {
        result->server_cpus =
            (fm_server_process_cpu_s(&run->server) - run->server_cpu_begin) / seconds;
    }
    if (result->expansions_per_second > 0) {
        result->server_ns_per_expansion = result->server_cpus * 1e9 / result->expansions_per_second;
    }
    result->generator_cpus = (own_cpu_s() - run->generator_cpu_begin) / seconds;
    double samples = run->sample_count;
    result->moving_percent = 100 * run->moving_sum / samples;
    // Those that others hold up are in the state waiting as well; the result tells them apart.
    double waiting_percent = 100 * run->waiting_sum / samples;
    result->queueing_percent = fmin(result->queueing_percent, waiting_percent);
    result->waiting_percent = waiting_percent - result->queueing_percent;
    result->idle_percent = 100 * run->idle_sum / samples;
    result->blocked_percent = 100 * run->blocked_sum / samples;
    result->search_bytes_per_agent = run->search_bytes_sum / samples;
    result->knowledge_bytes_per_agent = run->knowledge_bytes_sum / samples;
    run->over = true;
}

// A request for the counters that has no answer yet.
struct question {
    fm_run_state *run;
    fm_event_kind kind; // MEASURE, SAMPLE or END
};

static void on_counters(void *context, uint64_t id, const fm_client_error *error,
                        const msgpack_object *stats)
{
    (void)id;
    struct question question = *(struct question *)context;
    fm_run_state *run = question.run;
    free(context);
    run->sample_in_flight &= question.kind != FM_EVENT_SAMPLE;
    if (error != NULL) {
        fm_run_fail(run, "stats: %s", error->message);
        return;
    }
    uint64_t now_ns = fm_run_now_ns();
    run->last = fm_counters_read(stats);
    if (question.kind == FM_EVENT_MEASURE) {
        begin_measuring(run, now_ns);
    } else if (question.kind == FM_EVENT_END) {
        end_measuring(run, now_ns);
    } else if (run->measuring && !run->over) {
        take_sample(run);
    }
}

void fm_run_sample(fm_run_state *run, fm_event_kind kind, uint64_t due_ns)
{
    if (kind == FM_EVENT_SAMPLE) {
        fm_run_push(run, due_ns + (uint64_t)(SAMPLE_S * 1e9), FM_EVENT_SAMPLE, 0);
        if (run->sample_in_flight) {
            return;
        }
    }
    struct question *question = malloc(sizeof *question);
    if (question == NULL) {
        fm_run_fail(run, "out of memory");
        return;
    }
    *question = (struct question){run, kind};
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    if (kind == FM_EVENT_MEASURE) {
        fm_params_bool(&run->params, FM_FIELD_RESET, true);
    }
    fm_status status =
        fm_client_send(run->control, FM_METHOD_STATS, &run->params, on_counters, question, NULL);
    if (status == FM_OK) {
        run->sample_in_flight |= kind == FM_EVENT_SAMPLE;
        return;
    }
    free(question);
    if (status != FM_ERR_BUSY || kind != FM_EVENT_SAMPLE) {
        fm_run_fail(run, "stats: %s", fm_client_error_last(run->control)->message);
    }
}
