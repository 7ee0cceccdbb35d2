// server/process/metrics.c: see metrics.h.

#include "server/process/metrics.h"

#include "server/process/syscall_filter.h"
#include "server/relay/relay.h"
#include "server/streams/shipping.h"
#include "server/streams/stream.h"

#include "core/world/words.h"
#include "server/base/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_NS FM_NS_PER_S // for so long a text serves later scrapes

struct world_numbers {
    char name[FM_WORLD_NAME_MAX + 1]; // letters, digits, '.', '_', '-': a label as it is
    fm_world_stats stats;
    double tick_hz, budget_ms;
};

struct fm_metrics {
    fm_hub *hub;
    void (*on_ready)(void *context);
    void *context;
    uint32_t awaited; // worlds that have not answered
    uint64_t made_ns; // when `text` was made; 0: never
    char *text;       // owned
    size_t text_size;
    struct world_numbers *worlds; // owned; of the scrape under way
    uint32_t world_count, world_capacity;
};

// ---- the text ----------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static void head(FILE *out, const char *name,
                                                       const char *type, const char *help, ...)
{
    va_list arguments;
    va_start(arguments, help);
    fprintf(out, "# HELP %s ", name);
    vfprintf(out, help, arguments);
    fprintf(out, "\n# TYPE %s %s\n", name, type);
    va_end(arguments);
}

static void one(FILE *out, const char *name, const char *type, const char *help, double value)
{
    head(out, name, type, "%s", help);
    fprintf(out, "%s %.17g\n", name, value);
}

static void write_clients(FILE *out, const fm_hub *hub)
{
    uint32_t by_role[FM_ROLE_COUNT] = {0};
    for (uint32_t i = 0; i < hub->session_count; i++) {
        by_role[hub->sessions[i]->role] += fm_session_is_open(hub->sessions[i]);
    }
    head(out, "fogmarch_clients", "gauge", "Clients connected, by role; none: no hello yet.");
    for (uint32_t role = 0; role < FM_ROLE_COUNT; role++) {
        fprintf(out, "fogmarch_clients{role=\"%s\"} %u\n", fm_role_name((fm_role)role),
                by_role[role]);
    }
    head(out, "fogmarch_client_disconnects_total", "counter", "Sessions that ended, by reason.");
    for (uint32_t i = 0; i < hub->ending_count; i++) {
        fprintf(out, "fogmarch_client_disconnects_total{reason=\"%s\"} %llu\n",
                hub->endings[i].reason, (unsigned long long)hub->endings[i].count);
    }
}

// @param open, whole  the labels, to be continued and as they are: "{kind=\"delta\"," and
//                     "{kind=\"delta\"}", or "{" and ""
static void write_tally(FILE *out, const char *name, const char *open, const char *whole,
                        const uint64_t *edges, const fm_tally *tally)
{
    for (uint32_t i = 0; i < FM_TALLY_EDGES; i++) {
        fprintf(out, "%s_bucket%sle=\"%llu\"} %llu\n", name, open, (unsigned long long)edges[i],
                (unsigned long long)tally->up_to[i]);
    }
    fprintf(out, "%s_bucket%sle=\"+Inf\"} %llu\n", name, open, (unsigned long long)tally->count);
    fprintf(out, "%s_sum%s %llu\n", name, whole, (unsigned long long)tally->sum);
    fprintf(out, "%s_count%s %llu\n", name, whole, (unsigned long long)tally->count);
}

static void write_streams(FILE *out, const fm_hub_counts *counts)
{
    head(out, "fogmarch_frame_bytes", "histogram", "Bytes of messages to subscribers.");
    write_tally(out, "fogmarch_frame_bytes", "{kind=\"keyframe\",", "{kind=\"keyframe\"}",
                fm_hub_size_edges, &counts->keyframe_sizes);
    write_tally(out, "fogmarch_frame_bytes", "{kind=\"delta\",", "{kind=\"delta\"}",
                fm_hub_size_edges, &counts->delta_sizes);
    head(out, "fogmarch_client_delta_ticks", "histogram",
         "Ticks in one delta: 1 unless the client was behind or wanted fewer.");
    write_tally(out, "fogmarch_client_delta_ticks", "{", "", fm_hub_tick_edges,
                &counts->delta_ticks);
}

static void write_mismatches(FILE *out, const fm_hub *hub)
{
    uint64_t replayed = hub->counts.replay_mismatches;
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        replayed += fm_conductor_summary(hub->replayer, hub->replays[i]).replay.differences;
    }
    head(out, "fogmarch_state_hash_mismatch_total", "counter",
         "Ticks that were done again from a journal and gave another digest than recorded.");
    fprintf(out, "fogmarch_state_hash_mismatch_total{source=\"recovery\"} %llu\n",
            (unsigned long long)hub->counts.recovery_mismatches);
    fprintf(out, "fogmarch_state_hash_mismatch_total{source=\"replay\"} %llu\n",
            (unsigned long long)replayed);
}

static void write_server(FILE *out, const fm_hub *hub)
{
    size_t resident_size = 0;
    uv_resident_set_memory(&resident_size);
    const fm_hub_counts *counts = &hub->counts;
    head(out, "fogmarch_build_info", "gauge", "Always 1; the version is in the labels.");
    fprintf(out, "fogmarch_build_info{version=\"%s\",commit=\"%s\"} 1\n", FOGMARCH_VERSION,
            hub->commit);
    one(out, "fogmarch_uptime_seconds", "gauge", "Time since the server started.",
        (double)(fm_clock_now_ns() - hub->start_ns) / 1e9);
    one(out, "fogmarch_resident_memory_bytes", "gauge", "Memory of the process.",
        (double)resident_size);
    size_t unsent_size;
    one(out, "fogmarch_session_memory_bytes", "gauge",
        "Memory of all sessions and their subscriptions.",
        (double)fm_stream_session_bytes(hub, &unsent_size));
    one(out, "fogmarch_unsent_bytes", "gauge", "Bytes that wait for clients.", (double)unsent_size);
    one(out, "fogmarch_workers", "gauge", "Threads that share the work of a tick.",
        fm_conductor_worker_count(hub->conductor));
    one(out, "fogmarch_worlds", "gauge", "Worlds that tick.", hub->host_count);
    write_clients(out, hub);
    one(out, "fogmarch_client_messages_total", "counter", "Messages received.",
        (double)counts->messages);
    one(out, "fogmarch_client_rx_bytes_total", "counter", "Bytes received.",
        (double)counts->bytes_in);
    one(out, "fogmarch_client_tx_bytes_total", "counter", "Bytes queued for clients.",
        (double)counts->bytes_out);
    one(out, "fogmarch_client_sight_bytes_total", "counter",
        "Bytes of them that told what is visible.", (double)counts->sight_size);
    one(out, "fogmarch_client_coalesced_ticks_total", "counter",
        "Deltas that were merged into a later one because the client was behind.",
        (double)counts->deltas_merged);
    one(out, "fogmarch_client_forced_keyframes_total", "counter",
        "Keyframes sent because a client was too far behind for deltas.",
        (double)counts->keyframes_forced);
    one(out, "fogmarch_client_resumed_streams_total", "counter",
        "Subscriptions that continued where a lost connection had ended.",
        (double)counts->streams_resumed);
    one(out, "fogmarch_protocol_errors_total", "counter", "Messages refused as malformed.",
        (double)counts->protocol_errors);
    one(out, "fogmarch_connections_turned_away_total", "counter",
        "Connections beyond sessions_max, sessions_per_address_max or rate_connections.",
        (double)counts->turned_away);
    one(out, "fogmarch_connections_too_fast_total", "counter",
        "Those of them beyond rate_connections.", (double)counts->too_fast);
    one(out, "fogmarch_system_calls_refused_total", "counter",
        "System calls that syscall_filter has refused.", (double)fm_syscall_filter_refusals());
    one(out, "fogmarch_wrong_tokens_total", "counter", "Hellos with a missing or wrong token.",
        (double)counts->wrong_tokens);
    one(out, "fogmarch_rate_refusals_total", "counter", "Requests beyond a client's rates.",
        (double)counts->rate_refusals);
    write_mismatches(out, hub);
    one(out, "fogmarch_client_lag_ticks", "gauge",
        "Ticks that the client farthest behind has not been sent yet.",
        (double)fm_stream_lag_max(hub));
    write_streams(out, counts);
}

// One line per world.
#define PER_WORLD(out, metrics, metric, type, help, expression)                                    \
    do {                                                                                           \
        head(out, metric, type, "%s", help);                                                       \
        for (uint32_t w = 0; w < (metrics)->world_count; w++) {                                    \
            const struct world_numbers *world = &(metrics)->worlds[w];                             \
            fprintf(out, metric "{world=\"%s\"} %.17g\n", world->name, (double)(expression));      \
        }                                                                                          \
    } while (0)

// One line per world and name of `names`.
#define PER_NAME(out, metrics, metric, type, help, label, names, expression)                       \
    do {                                                                                           \
        head(out, metric, type, "%s", help);                                                       \
        for (uint32_t w = 0; w < (metrics)->world_count; w++) {                                    \
            const struct world_numbers *world = &(metrics)->worlds[w];                             \
            for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {                                    \
                fprintf(out, metric "{world=\"%s\"," label "=\"%s\"} %.17g\n", world->name,        \
                        names[i], (double)(expression));                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void write_distribution(FILE *out, const char *name, const char *labels,
                               const fm_distribution *distribution)
{
    for (uint32_t i = 0; i < FM_DISTRIBUTION_EDGES; i++) {
        fprintf(out, "%s_bucket{%s,le=\"%g\"} %llu\n", name, labels,
                fm_distribution_edges_us[i] / 1e6, (unsigned long long)distribution->up_to[i]);
    }
    fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %llu\n", name, labels,
            (unsigned long long)distribution->count);
    fprintf(out, "%s_sum{%s} %.17g\n", name, labels, (double)distribution->sum_us / 1e6);
    fprintf(out, "%s_count{%s} %llu\n", name, labels, (unsigned long long)distribution->count);
}

static void write_first_moves(FILE *out, const struct world_numbers *world)
{
    static const uint32_t edges[] = {1, 2, 3, 5, 10, 20, 40, 63};
    const fm_world_counts *counts = &world->stats.counts;
    uint64_t seen = 0;
    uint32_t ticks = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(edges); i++) {
        for (; ticks <= edges[i]; ticks++) {
            seen += counts->first_move_histogram[ticks];
        }
        fprintf(out, "fogmarch_first_move_delay_ticks_bucket{world=\"%s\",le=\"%u\"} %llu\n",
                world->name, edges[i], (unsigned long long)seen);
    }
    fprintf(out, "fogmarch_first_move_delay_ticks_bucket{world=\"%s\",le=\"+Inf\"} %llu\n",
            world->name, (unsigned long long)counts->first_move_count);
    fprintf(out, "fogmarch_first_move_delay_ticks_sum{world=\"%s\"} %llu\n", world->name,
            (unsigned long long)counts->first_move_ticks_sum);
    fprintf(out, "fogmarch_first_move_delay_ticks_count{world=\"%s\"} %llu\n", world->name,
            (unsigned long long)counts->first_move_count);
}

static void write_times(FILE *out, const fm_metrics *metrics)
{
    char labels[FM_WORLD_NAME_MAX + 64];
    head(out, "fogmarch_tick_duration_seconds", "histogram", "Time that ticks took.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        snprintf(labels, sizeof labels, "world=\"%s\"", metrics->worlds[w].name);
        write_distribution(out, "fogmarch_tick_duration_seconds", labels,
                           &metrics->worlds[w].stats.tick_times);
    }
    head(out, "fogmarch_tick_overrun_seconds", "histogram",
         "By how much ticks exceeded their budget.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        snprintf(labels, sizeof labels, "world=\"%s\"", metrics->worlds[w].name);
        write_distribution(out, "fogmarch_tick_overrun_seconds", labels,
                           &metrics->worlds[w].stats.overrun_times);
    }
    head(out, "fogmarch_tick_stage_seconds", "histogram",
         "Time that each stage of a tick took, and what was done for the world before it.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        snprintf(labels, sizeof labels, "world=\"%s\",stage=\"commands\"", metrics->worlds[w].name);
        write_distribution(out, "fogmarch_tick_stage_seconds", labels,
                           &metrics->worlds[w].stats.commands_times);
        for (uint32_t stage = 0; stage < FM_STAGE_COUNT; stage++) {
            snprintf(labels, sizeof labels, "world=\"%s\",stage=\"%s\"", metrics->worlds[w].name,
                     fm_stage_name((fm_stage)stage));
            write_distribution(out, "fogmarch_tick_stage_seconds", labels,
                               &metrics->worlds[w].stats.stage_times[stage]);
        }
    }
    head(out, "fogmarch_first_move_delay_ticks", "histogram",
         "Ticks from an order to its agent's first move.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        write_first_moves(out, &metrics->worlds[w]);
    }
}

static void write_journals(FILE *out, const fm_metrics *metrics)
{
    PER_WORLD(out, metrics, "fogmarch_journal_failing", "gauge",
              "1 while the journal cannot be written.", world->stats.journal_error[0] != '\0');
    PER_WORLD(out, metrics, "fogmarch_journal_commits_total", "counter",
              "Transactions of the journal.", world->stats.journal_numbers.commits);
    PER_WORLD(out, metrics, "fogmarch_journal_errors_total", "counter",
              "Transactions that failed and were tried again.",
              world->stats.journal_numbers.errors);
    PER_WORLD(out, metrics, "fogmarch_journal_rows_total", "counter",
              "Commands, ticks and the like written.", world->stats.journal_numbers.rows);
    PER_WORLD(out, metrics, "fogmarch_journal_bytes_total", "counter",
              "Bytes of these and of keyframes.", world->stats.journal_numbers.bytes);
    PER_WORLD(out, metrics, "fogmarch_journal_keyframes_total", "counter", "Keyframes written.",
              world->stats.journal_numbers.keyframes);
    PER_WORLD(out, metrics, "fogmarch_journal_backlog_bytes", "gauge",
              "Bytes that wait for the disk.", world->stats.journal_numbers.waiting_size);
    PER_WORLD(out, metrics, "fogmarch_journal_backlog_ticks", "gauge",
              "Ticks that wait for the disk.", world->stats.journal_numbers.waiting_ticks);
    char labels[FM_WORLD_NAME_MAX + 64];
    head(out, "fogmarch_journal_commit_seconds", "histogram",
         "Time of a transaction, with waiting for the disk.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        snprintf(labels, sizeof labels, "world=\"%s\"", metrics->worlds[w].name);
        write_distribution(out, "fogmarch_journal_commit_seconds", labels,
                           &metrics->worlds[w].stats.journal_numbers.commit_times);
    }
    head(out, "fogmarch_journal_keyframe_seconds", "histogram",
         "Time for which the world stood still, between two ticks, for a keyframe.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        snprintf(labels, sizeof labels, "world=\"%s\"", metrics->worlds[w].name);
        write_distribution(out, "fogmarch_journal_keyframe_seconds", labels,
                           &metrics->worlds[w].stats.keyframe_times);
    }
}

// The cluster's state as this node sees it; nothing without a cluster.
static void write_cluster(FILE *out, const fm_hub *hub)
{
    static fm_node_directory directory; // too large for the stack; the event loop's
    if (hub->node == NULL || !fm_node_copy(hub->node, &directory)) {
        return;
    }
    fm_world_log_numbers numbers = fm_world_log_numbers_get(hub->log_store);
    char labels[FM_CLUSTER_NAME_MAX + 16];
    snprintf(labels, sizeof labels, "node=\"%s\"", fm_node_name(hub->node));
    free(directory.worlds);
    head(out, "fogmarch_cluster_state", "gauge", "1 for the state that the cluster is in.");
    for (uint32_t state = 0; state < FM_CLUSTER_STATE_COUNT; state++) {
        fprintf(out, "fogmarch_cluster_state{state=\"%s\"} %d\n",
                fm_cluster_state_name((fm_cluster_state)state), directory.state == state);
    }
    one(out, "fogmarch_cluster_leader_term", "gauge", "Of etcd: grows with each new leader.",
        (double)directory.term);
    one(out, "fogmarch_cluster_nodes", "gauge", "Nodes that live.", directory.node_count);
    one(out, "fogmarch_cluster_lease_seconds", "gauge",
        "For which this node's lease holds, unless it is renewed.",
        (double)directory.lease_ms / 1e3);
    one(out, "fogmarch_cluster_leases_lost_total", "counter",
        "Times that this node was stopped or cut off for longer than its lease.",
        (double)directory.leases_lost);
    one(out, "fogmarch_cluster_append_unknown_total", "counter",
        "Appends to the log without an answer in time, which were sent again.",
        (double)numbers.unknown);
    one(out, "fogmarch_cluster_fenced_total", "counter",
        "Appends that were refused because another node had the world.", (double)numbers.fenced);
    head(out, "fogmarch_cluster_append_seconds", "histogram",
         "Time of an append to the worlds' log.");
    write_distribution(out, "fogmarch_cluster_append_seconds", labels, &numbers.append_times);
    head(out, "fogmarch_cluster_takeover_seconds", "histogram",
         "Time to bring a world here whose node was gone, from when that was known.");
    write_distribution(out, "fogmarch_cluster_takeover_seconds", labels, &numbers.take_times);
    head(out, "fogmarch_cluster_move_seconds", "histogram",
         "Pause of a world that was moved here, as far as this node knows.");
    write_distribution(out, "fogmarch_cluster_move_seconds", labels, &numbers.move_times);
}

static void write_relay(FILE *out, const fm_hub *hub)
{
    if (hub->relay == NULL) {
        return;
    }
    fm_relay_numbers numbers = fm_relay_count(hub->relay);
    one(out, "fogmarch_relay_sources", "gauge", "Servers that are asked for their worlds.",
        (double)numbers.sources);
    one(out, "fogmarch_relay_sources_connected", "gauge", "Of these, connected.",
        (double)numbers.sources_connected);
    one(out, "fogmarch_relay_views", "gauge", "Views that are subscribed to upstream.",
        (double)numbers.views);
    one(out, "fogmarch_relay_worlds_lost", "gauge",
        "Worlds that are shown as they were when their connection broke.",
        (double)numbers.feeds_lost);
    one(out, "fogmarch_relay_connections_lost_total", "counter",
        "Connections to worlds that broke or failed.", (double)numbers.lost_total);
    one(out, "fogmarch_relay_keyframes_total", "counter", "Keyframes from upstream.",
        (double)numbers.keyframes);
    one(out, "fogmarch_relay_deltas_total", "counter", "Deltas from upstream.",
        (double)numbers.deltas);
    one(out, "fogmarch_relay_rx_bytes_total", "counter", "Bytes of worlds from upstream.",
        (double)numbers.bytes_in);
    one(out, "fogmarch_relay_held_bytes", "gauge", "Bytes that are held back by relay_delay_ticks.",
        (double)numbers.held_size);
    one(out, "fogmarch_relay_pauses_total", "counter",
        "Views that stood still because relay_delay_mib was full.", (double)numbers.pauses);
}

// How far the standby is, if this server has or had one; and whether this server is one.
static void write_standby(FILE *out, const fm_hub *hub)
{
    const fm_shipping_report report = fm_shipping_report_get(hub);
    one(out, "fogmarch_standby_epoch", "gauge", "Grows with each standby that took over.",
        (double)hub->epoch);
    one(out, "fogmarch_standby_follows", "gauge", "1: this server is a standby.",
        hub->standby != NULL);
    head(out, "fogmarch_standby_state", "gauge", "1 for the state of the standby.");
    for (uint32_t state = FM_SHIPPING_NONE; state <= FM_SHIPPING_LATE; state++) {
        fprintf(out, "fogmarch_standby_state{state=\"%s\"} %d\n",
                fm_shipping_state_name((fm_shipping_state)state), report.state == state);
    }
    one(out, "fogmarch_standby_degraded", "gauge",
        "1: what clients are sent should be on a standby's disk, and is not.",
        hub->standby == NULL && strcmp(report.durability, "degraded") == 0);
    one(out, "fogmarch_standby_blocked", "gauge",
        "1: no standby has what clients should be sent, and nothing is sent (replica_missing).",
        hub->standby == NULL && strcmp(report.durability, "blocked") == 0);
    one(out, "fogmarch_standby_lag_ticks", "gauge",
        "Ticks that the standby is behind, of the world that is furthest behind.",
        (double)report.lag_ticks);
    one(out, "fogmarch_standby_lag_bytes", "gauge",
        "Bytes of journals that the standby does not have yet.", (double)report.lag_size);
}

static double known_ratio(const fm_world_counts *counts)
{
    double cells = (double)counts->map_cells * counts->teams;
    return counts->teams == 0 ? 0 : (double)counts->known_cells / cells;
}

static void write_searches(FILE *out, const fm_metrics *metrics)
{
    PER_WORLD(out, metrics, "fogmarch_search_expansions_total", "counter", "Cells expanded.",
              world->stats.counts.expansions);
    head(out, "fogmarch_planner_expansions_total", "counter",
         "Cells expanded, by planner, since the world was made or loaded.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        const struct world_numbers *world = &metrics->worlds[w];
        for (uint32_t i = 0; i < FM_SEARCH_KINDS; i++) {
            fprintf(out, "fogmarch_planner_expansions_total{world=\"%s\",planner=\"%s\"} %llu\n",
                    world->name, fm_search_kind_name(i),
                    (unsigned long long)world->stats.counts.expansions_by_kind[i]);
        }
    }
    head(out, "fogmarch_planner_memory_bytes", "gauge", "Memory of all searches of a kind.");
    for (uint32_t w = 0; w < metrics->world_count; w++) {
        const struct world_numbers *world = &metrics->worlds[w];
        for (uint32_t i = 0; i < FM_PLANNER_COUNT; i++) {
            fprintf(out, "fogmarch_planner_memory_bytes{world=\"%s\",planner=\"%s\"} %llu\n",
                    world->name, fm_search_kind_name(i),
                    (unsigned long long)world->stats.counts.search_bytes_by_kind[i]);
        }
    }
    PER_NAME(out, metrics, "fogmarch_replans_total", "counter",
             "Searches begun, or continued after an answer, by cause.", "cause", fm_replan_names,
             world->stats.counts.replans[i]);
    PER_WORLD(out, metrics, "fogmarch_search_expansion_seconds", "gauge",
              "Time of one expansion, smoothed.", world->stats.ns_per_expansion / 1e9);
}

static void write_worlds(FILE *out, const fm_metrics *metrics)
{
    PER_WORLD(out, metrics, "fogmarch_ticks_total", "counter", "Ticks completed.",
              world->stats.counts.tick);
    PER_WORLD(out, metrics, "fogmarch_tick_interval_seconds", "gauge",
              "Time from tick to tick that the world asks for.", 1 / world->tick_hz);
    PER_WORLD(out, metrics, "fogmarch_search_budget_seconds", "gauge", "Time that a tick may take.",
              world->budget_ms / 1e3);
    PER_WORLD(out, metrics, "fogmarch_ticks_late_total", "counter", "Ticks that began late.",
              world->stats.late_ticks);
    PER_WORLD(out, metrics, "fogmarch_ticks_skipped_total", "counter",
              "Ticks left out because the world was late.", world->stats.skipped_ticks);
    PER_WORLD(out, metrics, "fogmarch_ticks_degraded_total", "counter",
              "Ticks that searched less because the world was late.", world->stats.degraded_ticks);
    PER_NAME(out, metrics, "fogmarch_agents", "gauge", "Agents by state.", "state",
             fm_agent_state_names, world->stats.counts.agents_by_state[i]);
    PER_WORLD(out, metrics, "fogmarch_teams", "gauge", "Teams.", world->stats.counts.teams);
    PER_WORLD(out, metrics, "fogmarch_planners", "gauge", "Searches that are kept.",
              world->stats.counts.planners);
    PER_WORLD(out, metrics, "fogmarch_orders_total", "counter", "Orders given.",
              world->stats.counts.orders_given);
    PER_NAME(out, metrics, "fogmarch_orders_ended_total", "counter", "Orders ended, by reason.",
             "reason", fm_order_end_names, world->stats.counts.orders_ended[i]);
    write_searches(out, metrics);
    PER_WORLD(out, metrics, "fogmarch_moves_total", "counter", "Steps made by agents.",
              world->stats.counts.moves);
    PER_NAME(out, metrics, "fogmarch_conflicts_total", "counter",
             "Units that wanted the same cell, where a cell holds one, by what came of it.", "kind",
             fm_conflict_names, world->stats.counts.conflicts[i]);
    PER_WORLD(out, metrics, "fogmarch_stuck_agents", "gauge",
              "Agents that wanted to continue and did not get away, where a cell holds one.",
              world->stats.counts.stuck);
    PER_WORLD(out, metrics, "fogmarch_escorts", "gauge",
              "Agents that are let through a press, where a cell holds one.",
              world->stats.counts.escorts);
    PER_WORLD(out, metrics, "fogmarch_lanes", "gauge",
              "Passages in which two streams keep to lanes, where a cell holds one unit.",
              world->stats.counts.lanes);
    PER_WORLD(out, metrics, "fogmarch_passing_agents", "gauge",
              "Agents that keep to the right to pass units of other teams, where a cell holds one.",
              world->stats.counts.passing);
    PER_WORLD(out, metrics, "fogmarch_conceding_agents", "gauge",
              "Agents that let units of other teams push them, where a cell holds one.",
              world->stats.counts.conceding);
    PER_WORLD(out, metrics, "fogmarch_bypasses_total", "counter",
              "Agents that were told another way round a press, where a cell holds one.",
              world->stats.counts.bypasses);
    PER_NAME(out, metrics, "fogmarch_escorts_ended_total", "counter",
             "Ended escorts of agents through a press, by how.", "end", fm_escort_end_names,
             world->stats.counts.escorts_ended[i]);
    PER_WORLD(out, metrics, "fogmarch_known_cells_ratio", "gauge",
              "Share of the map that a team knows, on the average of all teams.",
              known_ratio(&world->stats.counts));
    PER_WORLD(out, metrics, "fogmarch_map_cells_changed_total", "counter",
              "Cells changed by terrain edits.", world->stats.counts.cells_edited);
    PER_WORLD(out, metrics, "fogmarch_search_memory_bytes", "gauge", "Memory of all searches.",
              world->stats.counts.search_bytes);
    PER_WORLD(out, metrics, "fogmarch_knowledge_memory_bytes", "gauge",
              "Memory of what the teams know.", world->stats.counts.knowledge_bytes);
    PER_WORLD(out, metrics, "fogmarch_agents_memory_bytes", "gauge", "Memory of all agents.",
              world->stats.counts.agent_bytes);
    PER_WORLD(out, metrics, "fogmarch_world_memory_bytes", "gauge", "Memory of the whole world.",
              world->stats.memory);
    PER_WORLD(out, metrics, "fogmarch_world_memory_max_bytes", "gauge",
              "Most memory that a world may have (--world-memory-max).", world->stats.memory_max);
    write_journals(out, metrics);
    write_times(out, metrics);
}

static void make_text(fm_metrics *metrics)
{
    free(metrics->text);
    metrics->text = NULL;
    metrics->text_size = 0;
    FILE *out = open_memstream(&metrics->text, &metrics->text_size);
    if (out != NULL) {
        write_server(out, metrics->hub);
        write_cluster(out, metrics->hub);
        write_relay(out, metrics->hub);
        if (metrics->hub->config->follow[0] != '\0' || metrics->hub->shipping != NULL ||
            metrics->hub->config->durability == FM_DURABILITY_REPLICA) {
            write_standby(out, metrics->hub);
        }
        write_worlds(out, metrics);
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(metrics->text);
            metrics->text = NULL;
            metrics->text_size = 0;
        }
    }
    metrics->made_ns = fm_clock_now_ns();
}

// ---- scrapes -----------------------------------------------------------------------------------

fm_metrics *fm_metrics_create(fm_hub *hub, void (*on_ready)(void *context), void *context)
{
    fm_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics != NULL) {
        metrics->hub = hub;
        metrics->on_ready = on_ready;
        metrics->context = context;
    }
    return metrics;
}

void fm_metrics_destroy(fm_metrics *metrics)
{
    if (metrics != NULL) {
        free(metrics->text);
        free(metrics->worlds);
        free(metrics);
    }
}

static bool post(fm_metrics *metrics, fm_host *host)
{
    fm_job *job = fm_job_create(FM_JOB_STATS, host);
    if (job == NULL) {
        return false;
    }
    job->is_scrape = true;
    if (fm_conductor_post(metrics->hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        return false;
    }
    return true;
}

bool fm_metrics_request(fm_metrics *metrics)
{
    fm_hub *hub = metrics->hub;
    if (metrics->made_ns != 0 && fm_clock_now_ns() - metrics->made_ns < FRESH_NS) {
        return true;
    }
    if (metrics->awaited > 0) {
        return false;
    }
    metrics->world_count = 0;
    if (!FM_RESERVE_FROM(&fm_memory_libc, metrics->worlds, metrics->world_capacity,
                         hub->host_count)) {
        make_text(metrics);
        return true;
    }
    for (uint32_t i = 0; i < hub->host_count && hub->relay == NULL; i++) {
        metrics->awaited += post(metrics, hub->hosts[i]);
    }
    if (metrics->awaited == 0) {
        make_text(metrics);
        return true;
    }
    return false;
}

void fm_metrics_take(fm_metrics *metrics, fm_job *job)
{
    if (job->status == FM_OK && metrics->world_count < metrics->world_capacity) {
        struct world_numbers *world = &metrics->worlds[metrics->world_count++];
        fm_host_summary summary = fm_conductor_summary(metrics->hub->conductor, job->host);
        memcpy(world->name, job->host->name, sizeof world->name);
        world->stats = *job->stats.world;
        world->tick_hz = summary.tick_hz;
        world->budget_ms = summary.budget_ms;
    }
    fm_job_destroy(job);
    if (--metrics->awaited == 0) {
        make_text(metrics);
        metrics->on_ready(metrics->context);
    }
}

void fm_metrics_make_do(fm_metrics *metrics)
{
    make_text(metrics);
    metrics->on_ready(metrics->context);
}

const char *fm_metrics_text(const fm_metrics *metrics, size_t *size)
{
    *size = metrics->text_size;
    return metrics->text;
}
