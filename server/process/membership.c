// server/process/membership.c: see membership.h.

#include "server/process/membership.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/process/recovery.h"
#include "server/streams/stream.h"
#include "server/worlds/recording.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE      4096u
#define REPLAY_NUMBERS ((uint64_t)1 << 40) // numbers of replays, above those of all nodes' worlds

struct taking {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    fm_node_order order;
    uint64_t begun_ns;
    fm_host *host;
    fm_status status;
    char error[FM_JOURNAL_ERROR_SIZE];
};

// What the store and the node point to.
struct membership {
    char node[FM_CLUSTER_NAME_MAX + 1];
    char tcp[FM_CLUSTER_ADDRESS_MAX + 1];
    uint64_t incarnation;
    fm_hub *hub;
};

static struct membership own; // one server in a process

// ---- beginning and end -------------------------------------------------------------------------

static void name_node(const fm_config *config)
{
    if (config->cluster_node[0] != '\0') {
        snprintf(own.node, sizeof own.node, "%s", config->cluster_node);
    } else if (gethostname(own.node, sizeof own.node - 1) != 0 || own.node[0] == '\0') {
        snprintf(own.node, sizeof own.node, "node");
    }
}

static void on_lost(void *context, uint64_t world)
{
    const struct membership *membership = context;
    if (membership->hub->node != NULL) {
        fm_node_note_lost(membership->hub->node, world);
    }
}

fm_status fm_membership_prepare(fm_hub *hub)
{
    const fm_config *config = hub->config;
    if (config->cluster_name[0] == '\0') {
        return FM_OK;
    }
    char error[FM_ETCD_ERROR_SIZE] = "cluster_name needs cluster_endpoints and journal_dir";
    if (config->cluster_endpoints[0] == '\0' || config->journal_dir[0] == '\0' ||
        !fm_etcd_members_check(config->cluster_endpoints, error)) {
        fm_log(FM_LOG_ERROR, "cannot be a node", fm_log_text("reason", error));
        return FM_ERR_BAD_VALUE;
    }
    name_node(config);
    own.hub = hub;
    randombytes_buf(&own.incarnation, sizeof own.incarnation);
    hub->host_last = REPLAY_NUMBERS;
    const fm_world_log_options options = {.members = config->cluster_endpoints,
                                          .cluster = config->cluster_name,
                                          .node = own.node,
                                          .incarnation = own.incarnation,
                                          .lost = on_lost,
                                          .context = &own};
    return fm_world_log_store_create(&options, &hub->log_store);
}

fm_status fm_membership_join(fm_hub *hub, const char *address, uint16_t port,
                             void (*wake)(void *context), void *context)
{
    const fm_config *config = hub->config;
    if (hub->log_store == NULL) {
        return FM_OK;
    }
    if (config->cluster_advertise[0] != '\0') {
        snprintf(own.tcp, sizeof own.tcp, "%s", config->cluster_advertise);
    } else {
        bool is_ipv6 = strchr(address, ':') != NULL;
        snprintf(own.tcp, sizeof own.tcp, is_ipv6 ? "[%.200s]:%u" : "%.200s:%u", address, port);
    }
    const fm_node_options options = {.members = config->cluster_endpoints,
                                     .cluster = config->cluster_name,
                                     .name = own.node,
                                     .incarnation = own.incarnation,
                                     .tcp = own.tcp,
                                     .http = config->cluster_advertise_http,
                                     .version = FOGMARCH_VERSION,
                                     .store = hub->log_store,
                                     .on_order = wake,
                                     .context = context};
    return fm_node_create(&options, &hub->node);
}

void fm_membership_leave(fm_hub *hub)
{
    fm_node *node = hub->node;
    hub->node = NULL;
    fm_node_destroy(node);
}

void fm_membership_tell_load(fm_hub *hub)
{
    if (hub->node == NULL) {
        return;
    }
    uint64_t agents = 0;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        agents += fm_conductor_summary(hub->conductor, hub->hosts[i]).agents;
    }
    fm_node_set_load(hub->node, hub->host_count, agents);
}

// ---- taking over -------------------------------------------------------------------------------

static void take(uv_work_t *work)
{
    struct taking *taking = work->data;
    fm_hub *hub = taking->hub;
    char path[PATH_SIZE];
    taking->status = fm_world_log_take(hub->log_store, taking->order.world, taking->order.owner,
                                       hub->config->journal_dir, path, sizeof path, taking->error);
    if (taking->status != FM_OK) {
        return;
    }
    taking->status = fm_recovery_bring_back(hub, path, &taking->host, taking->error);
    if (taking->status != FM_OK) {
        fm_world_log_forget(hub->log_store, taking->order.world);
    }
}

static void tell_taken(const struct taking *taking)
{
    uint64_t took_ns = fm_clock_now_ns() - taking->begun_ns;
    uint64_t epoch;
    (void)fm_world_log_owns(taking->hub->log_store, taking->order.world, &epoch);
    fm_log(FM_LOG_INFO, "world taken over", fm_log_uint("world", taking->order.world),
           fm_log_text("name", taking->host->name), fm_log_text("from", taking->order.owner),
           fm_log_uint("epoch", epoch), fm_log_uint("tick", taking->host->tick),
           fm_log_real("ms", (double)took_ns / (double)FM_NS_PER_MS));
}

// Somebody else was first, which is how it is meant, or something is wrong.
static void tell_not_taken(const struct taking *taking)
{
    if (taking->status != FM_ERR_EXISTS && taking->status != FM_ERR_BUSY) {
        fm_log(FM_LOG_ERROR, "world not taken over", fm_log_uint("world", taking->order.world),
               fm_log_status("status", taking->status), fm_log_text("reason", taking->error));
    }
}

static void on_taken(uv_work_t *work, int error)
{
    struct taking *taking = work->data;
    fm_hub *hub = taking->hub;
    if (error < 0) {
        taking->status = FM_ERR_IO;
    }
    if (taking->status == FM_OK) {
        tell_taken(taking);
        taking->status = fm_recovery_hand_over(hub, taking->host, taking->error);
        if (taking->status != FM_OK) {
            fm_journal_destroy(taking->host->recording.journal);
            fm_host_destroy(taking->host);
            fm_world_log_forget(hub->log_store, taking->order.world);
        }
    }
    if (taking->status != FM_OK) {
        tell_not_taken(taking);
    }
    if (hub->node != NULL) {
        fm_node_end_order(hub->node, taking->order.world, taking->status);
    }
    free(taking);
}

static void begin_taking(fm_hub *hub, const fm_node_order *order)
{
    struct taking *taking = calloc(1, sizeof *taking);
    if (taking != NULL) {
        *taking = (struct taking){
            .work.data = taking, .hub = hub, .order = *order, .begun_ns = fm_clock_now_ns()};
        if (uv_queue_work(hub->loop, &taking->work, take, on_taken) == 0) {
            return;
        }
        free(taking);
    }
    fm_node_end_order(hub->node, order->world, FM_ERR_NO_MEMORY);
}

// ---- dropping ----------------------------------------------------------------------------------

static void drop(fm_hub *hub, uint64_t number)
{
    fm_host *host = fm_hub_find_host(hub, number);
    fm_job *job = host == NULL ? NULL : fm_job_create(FM_JOB_REMOVE, host);
    if (job == NULL) {
        return; // gone already, or the next look finds it again
    }
    job->is_notification = true;
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        return;
    }
    host->state = FM_HOST_ENDING;
    fm_stream_end_host(hub, host);
    fm_hub_drop_host(hub, host);
    fm_log(FM_LOG_WARNING, "world dropped: another node has it", fm_log_uint("world", number),
           fm_log_text("name", host->name));
}

void fm_membership_take_orders(fm_hub *hub)
{
    fm_node_order order;
    while (hub->node != NULL && !hub->going_down && fm_node_next_order(hub->node, &order)) {
        if (order.kind == FM_NODE_DROP) {
            drop(hub, order.world);
        } else if (fm_hub_find_host(hub, order.world) == NULL) {
            begin_taking(hub, &order);
        } else {
            fm_node_end_order(hub->node, order.world, FM_ERR_BUSY);
        }
    }
}
