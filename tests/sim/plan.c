// tests/sim/plan.c: see plan.h.

#include "tests/sim/plan.h"

#include "tests/sim/neighbour.h"
#include "tests/sim/openssl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADMIN_TOKEN "0123456789abcdef-admin"

void sim_plan_set(fm_config *config, const char *name, const char *text)
{
    char error[FM_CONFIG_ERROR_SIZE];
    const fm_config_key *key = fm_config_key_find(name);
    if (key == NULL || fm_config_set(config, key, text, error) != FM_OK) {
        sim_fail("the plan's setting %s: %s is refused", name, text);
    }
}

static void set_uint(fm_config *config, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    sim_plan_set(config, name, text);
}

static void set_tenths(fm_config *config, const char *name, uint32_t tenths)
{
    char text[32];
    snprintf(text, sizeof text, "%u.%u", tenths / 10, tenths % 10);
    sim_plan_set(config, name, text);
}

static void draw_limits(fm_config *config)
{
    set_uint(config, "sessions_max", sim_between(12, 64));
    set_uint(config, "session_unsent_max", 65536u << sim_below(7));
    set_uint(config, "inbox_commands_max", sim_chance(200) ? sim_between(1, 10) : 4096);
    set_uint(config, "order_agents_per_tick", sim_chance(500) ? sim_between(6, 20) : 4096);
    set_uint(config, "session_queries_max", sim_chance(200) ? sim_between(1, 5) : 64);
    set_uint(config, "worlds_max", sim_between(2, 6));
    set_uint(config, "message_size_max", sim_chance(300) ? 1024 : 1048576);
    set_uint(config, "uploads_max_bytes", sim_chance(300) ? 65536 : 67108864);
    set_uint(config, "auth_failures_per_minute", sim_between(0, 10));
    if (sim_chance(200)) {
        set_uint(config, "rate_messages", sim_between(20, 200));
        set_uint(config, "rate_orders", sim_between(20, 200));
        set_uint(config, "rate_queries", sim_between(5, 50));
    }
}

static void draw_times(fm_config *config)
{
    set_tenths(config, "hello_timeout_s", sim_between(2, 20));
    set_tenths(config, "slow_reader_timeout_s", sim_between(2, 40));
    set_tenths(config, "message_timeout_s", sim_between(2, 40));
    set_tenths(config, "idle_timeout_s", sim_chance(500) ? 0 : sim_between(10, 40));
    set_tenths(config, "query_budget_ms", sim_between(1, 100));
    set_tenths(config, "grace_s", sim_between(0, 30));
}

static void draw_config(sim_plan *plan)
{
    fm_config *config = &plan->config;
    *config = fm_config_default();
    sim_plan_set(config, "log_level", "debug");
    set_uint(config, "workers", sim_chance(800) ? 1 : sim_between(2, 3));
    draw_limits(config);
    draw_times(config);
    if (sim_chance(500)) {
        const char *wrong = fm_grants_add_admin(&config->grants, ADMIN_TOKEN, strlen(ADMIN_TOKEN));
        FM_ASSERT(wrong == NULL);
        sim_known.token_count = 1;
        strcpy(sim_known.tokens[0].secret, ADMIN_TOKEN);
        sim_known.admin_token = ADMIN_TOKEN;
    }
}

static void draw_roughness(sim_plan *plan)
{
    sim_roughness *rough = &plan->roughness;
    rough->preempt_permille = sim_chance(300) ? 0 : sim_between(1, 300);
    rough->spurious_permille = sim_chance(500) ? 0 : sim_between(1, 100);
    rough->look_max_ns = sim_chance(900) ? 300 : 20000;
    if (sim_chance(400)) {
        rough->stall_permille = sim_between(1, 3);
        rough->stall_max_us = sim_chance(200) ? 500000 : 20000;
    }
}

static void draw_memory(sim_plan *plan)
{
    plan->memory_fails_after = SIM_NEVER;
    if (sim_chance(30)) {
        plan->memory_fails_at_start = true;
        plan->memory_fails_after = sim_below(200);
        plan->memory_fails_count = 1;
    } else if (sim_chance(250)) {
        plan->memory_fails_after = sim_below(1u << sim_between(4, 15));
        plan->memory_fails_count = sim_chance(600) ? 1 : sim_between(2, 300);
    }
}

// Each process has its own folder.
static void draw_journal(sim_plan *plan)
{
    if (!sim_chance(400)) {
        return;
    }
    fm_config *config = &plan->config;
    sim_plan_set(config, "journal_dir", ".");
    sim_plan_set(config, "durability",
                 sim_chance(700)   ? "tick"
                 : sim_chance(500) ? "interval"
                                   : "none");
    sim_plan_set(config, "journal_on_error", sim_chance(600) ? "pause" : "read_only");
    set_uint(config, "journal_interval_ms", sim_between(10, 300));
    set_uint(config, "keyframe_ticks", sim_between(10, 60));
    plan->crash_count = sim_chance(700) ? sim_between(1, 2) : 0;
    if (sim_chance(500)) {
        plan->disk.slow_permille = sim_below(200);
        plan->disk.slow_max_us = sim_chance(200) ? 250000 : 10000;
    }
    if (sim_chance(400)) {
        plan->disk.full_permille = sim_chance(500) ? sim_below(20) : 0;
        plan->disk.short_permille = sim_chance(500) ? sim_below(20) : 0;
        plan->disk.sync_permille = sim_chance(500) ? sim_below(100) : 0;
    }
}

static void draw_http(sim_plan *plan)
{
    plan->has_http = sim_chance(500);
    if (plan->has_http) {
        sim_plan_set(&plan->config, "http", "127.0.0.1:7422");
        set_uint(&plan->config, "http_connections_max",
                 sim_chance(850) ? SIM_HTTP_ROOMY : sim_between(4, 16));
    }
}

static void draw_tls(sim_plan *plan)
{
    plan->has_tls = sim_chance(300);
    if (plan->has_tls) {
        sim_plan_set(&plan->config, "tls_certificate", sim_certificate());
    }
}

// All that clients are told is in etcd, whatever the journals' durability.
static void draw_cluster(sim_plan *plan)
{
    fm_config *config = &plan->config;
    plan->is_node = sim_etcd != NULL;
    if (!plan->is_node) {
        return;
    }
    if (config->journal_dir[0] == '\0') {
        sim_plan_set(config, "journal_dir", ".");
        set_uint(config, "keyframe_ticks", sim_between(10, 60));
    }
    sim_plan_set(config, "journal_on_error", "pause");
    sim_plan_set(config, "cluster_name", SIM_ETCD_CLUSTER);
    sim_plan_set(config, "cluster_endpoints", "10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379");
    set_tenths(config, "cluster_drain_s", sim_below(30));
    plan->crash_count = sim_chance(600) ? sim_between(1, 2) : 0;
}

static void draw_etcd(sim_plan *plan, uint32_t life)
{
    if (!plan->is_node) {
        return;
    }
    sim_etcd_roughness *rough = &plan->etcd;
    sim_plan_set(&plan->config, "cluster_node", life % 2 == 1 && sim_chance(500) ? "other" : "one");
    plan->is_elsewhere = life > 0 && sim_chance(500);
    plan->memory_fails_at_start = false;
    plan->turn_max_us = 1000u << sim_between(4, 7);
    plan->chaos_ns = sim_between(500, 8000) * SIM_NS_MS;
    rough->delay_max_us = sim_chance(800) ? 1000 : 20000;
    if (sim_chance(700)) {
        rough->lost_permille = sim_chance(500) ? sim_below(40) : 0;
        rough->lost_answer_permille = sim_chance(500) ? sim_below(40) : 0;
        rough->late_permille = sim_chance(500) ? sim_below(20) : 0;
        rough->refused_permille = sim_chance(500) ? sim_below(40) : 0;
    }
    if (sim_chance(800)) {
        rough->calm_max_ms = sim_between(200, 3000);
        rough->freeze_max_ms = sim_between(20, 4000);
        rough->cut_max_ms = sim_between(20, 5000);
    }
    rough->has_rival = sim_chance(800);
    rough->has_moves = sim_chance(600);
    if (sim_bug_planted == SIM_BUG_LOST_FENCE || sim_bug_planted == SIM_BUG_LONG_LEASE ||
        sim_bug_planted == SIM_BUG_OLD_LOOK) {
        rough->has_rival = true; // they show only where another node takes a world
        rough->calm_max_ms = 500;
        rough->freeze_max_ms = 20;
        rough->cut_max_ms = 6000;
        plan->chaos_ns = 8 * SIM_NS_S;
    }
    if (sim_bug_planted == SIM_BUG_EARLY_END) {
        rough->calm_max_ms = 1000;
        rough->freeze_max_ms = rough->cut_max_ms = 5000;
        plan->chaos_ns = 8 * SIM_NS_S;
    }
    if (sim_node_count > 1) { // each may be without etcd until its lease has ended
        rough->has_rival = rough->has_moves = false;
        rough->calm_max_ms = sim_between(500, 3000);
        rough->freeze_max_ms = sim_between(20, 4000);
        rough->cut_max_ms = sim_between(3000, 7000);
        plan->chaos_ns = sim_between(3000, 12000) * SIM_NS_MS;
    }
}

static sim_ending draw_ending(const sim_plan *plan, uint32_t life)
{
    if (life < plan->crash_count) {
        return sim_chance(500) ? SIM_ENDS_KILLED : SIM_ENDS_IN_DARK;
    }
    return sim_chance(650)   ? SIM_ENDS_SETTLED
           : sim_chance(850) ? SIM_ENDS_IN_MID
                             : SIM_ENDS_AT_ONCE;
}

void sim_plan_draw(sim_plan *plan, uint64_t seed, uint32_t life)
{
    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    draw_config(plan);
    draw_journal(plan);
    draw_http(plan);
    draw_tls(plan);
    draw_cluster(plan);
    sim_kernel_begin_life(life);
    draw_roughness(plan);
    draw_memory(plan);
    plan->memory_fails_at_start &= life == 0;
    plan->actor_count = sim_between(1, 9);
    plan->prompt_count = sim_below(plan->actor_count + 1);
    plan->hostile_permille = sim_chance(300) ? 0 : sim_below(1000);
    plan->fault_permille = sim_chance(200) ? 0 : sim_below(60);
    plan->flood_permille = sim_chance(700) ? 0 : sim_below(30);
    plan->visitor_count = plan->has_http ? sim_below(SIM_VISITORS_MAX + 1) : 0;
    plan->stranger_count = plan->has_tls ? sim_below(SIM_STRANGERS_MAX + 1) : 0;
    plan->websocket_permille = plan->has_http && sim_chance(700) ? sim_below(1000) : 0;
    plan->turn_max_us = 1000u << sim_below(7);
    plan->chaos_ns = sim_between(100, 1600) * SIM_NS_MS;
    plan->ending = draw_ending(plan, life);
    draw_etcd(plan, life);
}

sim_link sim_plan_prompt_link(void)
{
    return (sim_link){.piece_max = 4096,
                      .delay_max_us = sim_below(100),
                      .window_size = 65536,
                      .socket_size = 262144};
}

sim_link sim_plan_any_link(void)
{
    return (sim_link){.piece_max = 1u << sim_below(14),
                      .delay_max_us = sim_chance(200) ? 20000 : sim_below(2000),
                      .window_size = 1u << sim_between(6, 16),
                      .socket_size = 1u << sim_between(8, 18)};
}

sim_port sim_plan_port(const sim_plan *plan, bool must_do)
{
    bool roomy = plan->config.http_connections_max >= SIM_HTTP_ROOMY;
    bool by_websocket = (roomy || !must_do) && sim_chance(plan->websocket_permille);
    return by_websocket ? SIM_PORT_HTTP : SIM_PORT_TCP;
}
