// tests/sim/neighbour.c: see neighbour.h.

#include "tests/sim/neighbour.h"

#include "server/cluster/world_log_state.h"
#include "server/process/server.h"
#include "tests/sim/disk.h"
#include "tests/sim/loop.h"
#include "tests/sim/memory.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NODE          1u // its number
#define MOVES_MAX_MS  400u
#define MOVE_PERMILLE 300u // of the worlds that could
#define END_LIMIT_NS  (45 * SIM_NS_S)

void __real_fm_world_log_store_destroy(fm_world_log_store *store);
void __wrap_fm_world_log_store_destroy(fm_world_log_store *store);

uint32_t sim_node_count = 1;

static struct {
    fm_config config;
    sim_task *task; // NULL: there is none
    int exit_code;
    sim_source moves;
    fm_world_log_store *stores[SIM_NODES]; // NULL: that node is no member
    uint64_t sure_until_ns[SIM_NODES];
} all;

static bool is_over(void *context)
{
    (void)context;
    return sim_task_is_done(all.task);
}

bool sim_neighbour_lives(void)
{
    return all.task != NULL && !is_over(NULL);
}

static void *run_server(void *argument)
{
    static const char *const nothing[] = {NULL};
    all.exit_code = fm_server_run(argument, nothing, nothing, "simulated");
    return NULL;
}

// ---- moving ------------------------------------------------------------------------------------

static uint32_t node_of(uint64_t incarnation)
{
    uint32_t node = 0;
    while (node < SIM_NODES &&
           (all.stores[node] == NULL || all.stores[node]->options.incarnation != incarnation)) {
        node++;
    }
    return node;
}

static bool is_listed(const fm_world_log_store *store)
{
    char text[24];
    const sim_etcd_key *key = sim_etcd_find("nodes/%s", store->options.node);
    snprintf(text, sizeof text, "%016" PRIx64, store->options.incarnation);
    return key != NULL && strstr((const char *)key->value, text) != NULL;
}

// As cluster.move does: the other node is to have it.
static void ask_for_move(uint64_t world, const char *owner)
{
    char node[FM_CLUSTER_NAME_MAX + 1], text[FM_CLUSTER_OWNER_MAX], name[SIM_ETCD_KEY_SIZE];
    uint64_t epoch, incarnation;
    FM_ASSERT(fm_world_log_owner_parse(owner, &epoch, node, &incarnation));
    uint32_t from = node_of(incarnation);
    const fm_world_log_store *to = from < SIM_NODES ? all.stores[1 - from] : NULL;
    if (to == NULL || !is_listed(to) || !sim_chance(MOVE_PERMILLE) ||
        sim_etcd_find(FM_WORLD_LOG_MOVE_KEY, world) != NULL) {
        return;
    }
    sim_trace("world %" PRIu64 " is to move to %s", world, to->options.node);
    fm_world_log_owner_text(text, epoch + 1, to->options.node, to->options.incarnation);
    snprintf(name, sizeof name, "/fogmarch/" SIM_ETCD_CLUSTER "/" FM_WORLD_LOG_MOVE_KEY, world);
    sim_etcd_put(name, text, strlen(text), 0);
}

static void on_moves(void *owner)
{
    (void)owner;
    all.moves.due_ns = sim_now_ns() + sim_between(1, MOVES_MAX_MS) * SIM_NS_MS;
    for (uint64_t world = 1; world < SIM_ETCD_WORLDS_MAX; world++) {
        const sim_etcd_key *key =
            sim_etcd->logs[world].is_there ? sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, world) : NULL;
        if (key != NULL) {
            ask_for_move(world, (const char *)key->value);
        }
    }
}

// ---- one speaker -------------------------------------------------------------------------------

// A node that has no lease when it ends does not say that it leaves.
void __wrap_fm_world_log_store_destroy(fm_world_log_store *store)
{
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        all.stores[i] = all.stores[i] == store ? NULL : all.stores[i];
    }
    __real_fm_world_log_store_destroy(store);
}

void sim_neighbour_note_sure(fm_world_log_store *store, uint64_t until_ns)
{
    all.stores[sim_node()] = until_ns == 0 ? NULL : store;
    all.sure_until_ns[sim_node()] = until_ns;
}

// Without the lock: no task is between two of its steps that matter here.
static const struct log_world *peek(const fm_world_log_store *store, uint64_t number)
{
    for (uint32_t i = 0; i < store->world_count; i++) {
        if (store->worlds[i]->number == number) {
            return store->worlds[i];
        }
    }
    return NULL;
}

static bool is_text(const sim_etcd_key *key, const char *text)
{
    return key != NULL && strcmp((const char *)key->value, text) == 0;
}

static void check_gift(uint64_t world, const char *owner)
{
    sim_note_fault(SIM_FAULT_MOVED);
    if (!is_text(sim_etcd_find(FM_WORLD_LOG_MOVE_KEY, world), owner)) {
        sim_fail("world %" PRIu64 " is given away to %s, and nobody has asked for that", world,
                 owner);
    }
    if (!is_text(sim_etcd_find(FM_WORLD_LOG_READY_KEY, world), owner)) {
        sim_fail("world %" PRIu64 " is given to %s, which is not ready", world, owner);
    }
}

void sim_neighbour_check_owner(uint64_t world, const sim_etcd_key *owner)
{
    char node[FM_CLUSTER_NAME_MAX + 1];
    uint64_t epoch, incarnation;
    const char *text = (const char *)owner->value;
    if (sim_node_count == 1 || !fm_world_log_owner_parse(text, &epoch, node, &incarnation)) {
        return; // of the rival rival.c knows more
    }
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        const fm_world_log_store *store = all.stores[i];
        const struct log_world *entry = store == NULL ? NULL : peek(store, world);
        if (entry == NULL || store->options.incarnation == incarnation || entry->epoch >= epoch) {
            continue;
        }
        if (strcmp(entry->heir, text) == 0) {
            check_gift(world, text);
        } else if (!entry->is_lost && all.sure_until_ns[i] > sim_now_ns()) {
            sim_fail("world %" PRIu64 " belongs to %s now, and %s is sure of it for %" PRIu64
                     " ms more",
                     world, text, store->options.node,
                     (all.sure_until_ns[i] - sim_now_ns()) / SIM_NS_MS);
        } else {
            sim_note_fault(SIM_FAULT_TAKEN);
        }
    }
}

// ---- beginning and end -------------------------------------------------------------------------

void sim_neighbour_begin(const sim_plan *plan)
{
    all.config = plan->config;
    (void)mkdir(SIM_NEIGHBOUR_FOLDER, 0700); // it may be there, after a crash
    sim_plan_set(&all.config, "journal_dir", SIM_NEIGHBOUR_FOLDER);
    sim_plan_set(&all.config, "listen", "127.0.0.1:7423");
    sim_plan_set(&all.config, "http", "");
    sim_plan_set(&all.config, "cluster_node", "two");
    sim_kernel_set_node(NODE);
    all.task = sim_task_create("neighbour", run_server, &all.config);
    sim_kernel_set_node(0);
    all.moves = (sim_source){.due_ns = sim_now_ns(), .happen = on_moves};
    sim_source_add(&all.moves);
}

void sim_neighbour_end(void)
{
    if (all.task == NULL) {
        return;
    }
    sim_source_remove(&all.moves);
    if (!is_over(NULL)) {
        sim_signal(NODE, SIGTERM);
        sim_run(is_over, NULL, sim_now_ns() + END_LIMIT_NS, "the neighbour's end");
    }
    sim_task_release(all.task);
    all.task = NULL;
    bool could_not_start = sim_memory_failures() > 0 || sim_disk_has_failed();
    if (all.exit_code != 0 && !could_not_start) {
        sim_fail("the neighbour ended with exit code %d", all.exit_code);
    }
}
