// tests/sim/life.c: see life.h.
//
//   start ──> a world is made ──> CHAOS ──┬──> calm ──> all is compared ──┬──> SIGTERM ──> end
//                                         └──────────── in mid ───────────┘
//
// One client, the auditor, makes a world that stays, subscribes to all of it before any client
// gives an order there, and is never disturbed. At the end every view that is left is compared with
// a new subscription to it, which the server makes from the world itself, and every acknowledged
// order must have ended once.

#include "tests/sim/life.h"

#include "tests/sim/actors.h"
#include "tests/sim/audit.h"
#include "tests/sim/disk.h"
#include "tests/sim/hooks.h"
#include "tests/sim/ledger.h"
#include "tests/sim/loop.h"
#include "tests/sim/memory.h"
#include "tests/sim/neighbour.h"
#include "tests/sim/net.h"
#include "tests/sim/openssl.h"
#include "tests/sim/pages.h"
#include "tests/sim/plan.h"
#include "tests/sim/strangers.h"
#include "tests/sim/unchanged.h"
#include "tests/sim/verify.h"

#include "server/base/log.h"
#include "server/process/server.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_LIMIT_NS   (5 * SIM_NS_S)
#define END_EXTRA_NS     (2 * SIM_NS_S)  // after grace_s
#define CLUSTER_END_NS   (30 * SIM_NS_S) // that a node may take longer
#define RETURN_LIMIT_NS  (30 * SIM_NS_S) // until all worlds have come from etcd
#define TICK_LATE_MAX_NS (150 * SIM_NS_MS)

static sim_plan plan;

static struct {
    sim_task *task;
    int exit_code;
    bool at_once; // by _exit()
} server;

static void *run_server(void *argument)
{
    static const char *const nothing[] = {NULL}; // no flags or variables: SIGHUP gets defaults
    server.exit_code = fm_server_run(argument, nothing, nothing, "simulated");
    return NULL;
}

// The server has called _exit(): the process is over, whatever its other threads do.
static void on_exit_called(int code)
{
    if (sim_node() != 0) {
        sim_fail("the neighbour exits with %d", code);
    }
    server.exit_code = code;
    server.at_once = true;
    sim_trace("the server exits with %d", code);
    sim_wait(&server, SIM_NEVER);
}

static bool server_is_over(void *context)
{
    (void)context;
    return server.at_once || sim_task_is_done(server.task);
}

static bool server_has_begun(void *context)
{
    return sim_listening[SIM_PORT_TCP].is_open || server_is_over(context);
}

static bool time_is_up(void *context)
{
    const uint64_t *end_ns = context;
    return sim_now_ns() >= *end_ns || server_is_over(NULL);
}

static void pass(uint64_t ns, const char *what)
{
    uint64_t end_ns = sim_now_ns() + ns;
    sim_run(time_is_up, &end_ns, end_ns + SIM_NS_S, what);
}

// ---- the end -----------------------------------------------------------------------------------

static void check_memory(void)
{
    if (sim_memory_blocks() != 0 || sim_memory_arenas() != 0) {
        sim_memory_describe();
        sim_fail("the server ended with %" PRId64 " blocks, %" PRId64 " bytes and %" PRId64
                 " worlds that it has not given back",
                 sim_memory_blocks(), sim_memory_bytes(), sim_memory_arenas());
    }
}

static void check_exit(void)
{
    int wanted = plan.ending == SIM_ENDS_AT_ONCE && server.at_once ? 1 : 0;
    if (server.exit_code != wanted) {
        sim_fail("the server ended with exit code %d, not %d", server.exit_code, wanted);
    }
}

// Answers of a world may wait when its journal waits for the disk or for memory.
static bool journal_may_fail(void)
{
    const sim_disk_roughness *disk = &plan.disk;
    bool memory_may_fail = plan.config.journal_dir[0] != '\0' && sim_memory_failures() > 0;
    return memory_may_fail || plan.is_node ||
           disk->full_permille + disk->short_permille + disk->sync_permille + disk->slow_permille >
               0;
}

static void check_ticks(void)
{
    if (plan.roughness.look_max_ns <= 1000 && !journal_may_fail() &&
        sim_tick_late_max_ns() > TICK_LATE_MAX_NS) {
        sim_fail("a tick began %" PRIu64 " ms late", sim_tick_late_max_ns() / SIM_NS_MS);
    }
}

static void end_server(void)
{
    if (plan.ending != SIM_ENDS_SETTLED) {
        sim_note_fault(SIM_FAULT_STOPPED);
    }
    sim_actors_expect_end();
    sim_pages_expect_end();
    sim_signal(0, plan.seed % 2 == 0 ? SIGTERM : SIGINT);
    if (plan.ending == SIM_ENDS_AT_ONCE) {
        pass(sim_below(100) * SIM_NS_MS, "between two signals");
        if (!server_is_over(NULL)) {
            sim_signal(0, SIGTERM);
        }
    }
    uint64_t grace_ns = (uint64_t)(plan.config.grace_s * 1e9);
    uint64_t drain_ns = plan.is_node ? CLUSTER_END_NS : 0;
    uint64_t limit_ns = sim_now_ns() + grace_ns + drain_ns + END_EXTRA_NS +
                        plan.roughness.stall_max_us * 20000ull + plan.disk.slow_max_us * 100000ull;
    sim_run(server_is_over, NULL, limit_ns, "the server's end");
    if (!server.at_once) {
        sim_neighbour_end();
    }
}

// ---- a life ------------------------------------------------------------------------------------

static bool start_server(void)
{
    if (plan.memory_fails_at_start) {
        sim_memory_fail(plan.memory_fails_after, plan.memory_fails_count);
    }
    server.task = sim_task_create("loop", run_server, &plan.config);
    sim_run(server_has_begun, NULL, sim_now_ns() + START_LIMIT_NS, "the server's start");
    return !server_is_over(NULL);
}

// Whether everything that clients received must be there when the machine starts again.
static bool keeps_promises(void)
{
    return plan.is_node ||
           (plan.config.durability == FM_DURABILITY_TICK &&
            (plan.config.journal_on_error == FM_JOURNAL_PAUSE || !sim_disk_has_failed()));
}

static void crash(void)
{
    bool dark = plan.ending == SIM_ENDS_IN_DARK;
    sim_note_fault(dark ? SIM_FAULT_POWER_LOST : SIM_FAULT_KILLED);
    sim_trace("%s", dark ? "the power fails" : "the server is killed");
    if (dark) {
        sim_told->power_failures++;
        sim_disk_lose_power();
    }
    sim_ledger_close(keeps_promises());
    if (plan.is_node) {
        sim_etcd_leave();
    }
}

static bool all_are_back(void *context)
{
    (void)context;
    return sim_ledger_are_all_back();
}

static void calm_down(void)
{
    sim_rough.stall_permille = 0;
    sim_disk_rough = (sim_disk_roughness){0};
    sim_memory_fail(SIM_MEMORY_PLENTY, 0);
    if (plan.is_node) {
        sim_etcd_set_rough(&(sim_etcd_roughness){.delay_max_us = 500});
    }
    sim_neighbour_end();
    sim_pages_calm();
    sim_strangers_calm();
    sim_actors_calm();
    sim_audit_end();
    sim_pages_audit();
    sim_strangers_audit();
    sim_unchanged_audit();
}

// @return false: the machine has crashed
static bool live(void)
{
    if (!start_server()) {
        if (server.exit_code != 1 || sim_memory_failures() == 0) {
            sim_fail("the server did not start, exit code %d", server.exit_code);
        }
        return true;
    }
    if (sim_told->life > 0 && plan.is_node) { // they come one by one, when a lease has ended
        sim_run(all_are_back, NULL, sim_now_ns() + RETURN_LIMIT_NS, "the worlds' return");
    }
    if (sim_told->life > 0) {
        sim_ledger_complete();
    }
    sim_memory_fail(SIM_MEMORY_PLENTY, 0);
    sim_actors_prepare(&plan);
    sim_audit_begin(&plan);
    sim_rough = plan.roughness;
    sim_disk_rough = plan.disk;
    if (plan.is_node) {
        sim_etcd_set_rough(&plan.etcd);
    }
    if (!plan.memory_fails_at_start && plan.memory_fails_after != SIM_NEVER) {
        sim_memory_fail(plan.memory_fails_after, plan.memory_fails_count);
    }
    sim_actors_begin();
    sim_pages_begin(&plan);
    sim_strangers_begin(&plan);
    if (sim_node_count > 1) {
        sim_neighbour_begin(&plan);
    }
    pass(plan.chaos_ns, "chaos");
    if (plan.ending == SIM_ENDS_KILLED || plan.ending == SIM_ENDS_IN_DARK) {
        crash();
        return false;
    }
    if (plan.ending == SIM_ENDS_SETTLED) {
        calm_down();
    }
    end_server();
    check_exit();
    check_ticks();
    return true;
}

void sim_result_count_runs(sim_result *result)
{
    for (uint32_t i = 0; i < SIM_FAULT_COUNT; i++) {
        result->runs[i] = result->faults[i] > 0;
    }
}

void sim_result_add(sim_result *sum, const sim_result *one)
{
    sum->trace_hash = sum->trace_hash * 31 + one->trace_hash;
    sum->virtual_ns += one->virtual_ns;
    sum->answers += one->answers;
    sum->notifications += one->notifications;
    sum->ticks += one->ticks;
    sum->views_compared += one->views_compared;
    sum->orders_audited += one->orders_audited;
    sum->pages += one->pages;
    sum->ticks_replayed += one->ticks_replayed;
    for (uint32_t i = 0; i < SIM_FAULT_COUNT; i++) {
        sum->faults[i] += one->faults[i];
        sum->runs[i] += one->runs[i];
    }
    sum->ping_max_ns = one->ping_max_ns > sum->ping_max_ns ? one->ping_max_ns : sum->ping_max_ns;
    sum->answer_max_ns =
        one->answer_max_ns > sum->answer_max_ns ? one->answer_max_ns : sum->answer_max_ns;
    sum->tick_late_max_ns = one->tick_late_max_ns > sum->tick_late_max_ns ? one->tick_late_max_ns
                                                                          : sum->tick_late_max_ns;
}

// Another machine has a folder of its own.
static void remove_journals(void)
{
    DIR *files = opendir(".");
    for (const struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        unlink(entry->d_name);
    }
    closedir(files);
}

bool sim_live(uint64_t seed, bool print_trace, sim_result *sum)
{
    sim_kernel_start(seed, print_trace);
    sim_disk_install();
    sim_on_exit = on_exit_called;
    sim_describe = sim_actors_describe;
    fm_log_start(&(fm_log_options){.level = FM_LOG_DEBUG, .file = STDERR_FILENO});
    sim_openssl_begin(seed, sim_told->life);
    sim_plan_draw(&plan, seed, sim_told->life);
    sim_net_speaks_tls = plan.has_tls;
    if (plan.is_node) {
        sim_told->keeps_promises = true;
        sim_etcd_begin(seed);
    }
    if (plan.is_elsewhere) {
        remove_journals();
    }
    sim_journal_may_fail = journal_may_fail();
    bool ended = live();
    fm_log_stop();
    sim_openssl_end();
    uint64_t ticks_replayed = 0;
    if (ended && !server.at_once) {
        check_memory();
        ticks_replayed = plan.config.journal_dir[0] != '\0' ? sim_verify_journals() : 0;
    }
    sim_result result = {
        .trace_hash = sim_trace_hash(),
        .virtual_ns = sim_now_ns() - 1000 * SIM_NS_S,
        .answers = sim_answers_count,
        .notifications = sim_notifications_heard,
        .ticks = sim_tick_count(),
        .views_compared = sim_audit_counts.views,
        .orders_audited = sim_audit_counts.orders,
        .pages = sim_pages_read(),
        .ticks_replayed = ticks_replayed,
        .ping_max_ns = sim_ping_max_ns(),
        .answer_max_ns = sim_answer_max_ns(),
        .tick_late_max_ns = sim_tick_late_max_ns(),
    };
    memcpy(result.faults, sim_fault_counts, sizeof result.faults);
    sim_result_add(sum, &result);
    return ended;
}
