// server/process/membership.c: see membership.h.

#include "server/process/membership.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/process/recovery.h"
#include "server/streams/scenes.h"
#include "server/streams/stream.h"
#include "server/worlds/recording.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE      4096u
#define FOLLOWERS_MAX  2u // threads of the pool, which has four
#define FOLLOW_MS      5u // between two reads of a followed log
#define FOLLOW_TRIES   8u
#define TOKENS_MS      1000u               // that a start waits for them
#define REPLAY_NUMBERS ((uint64_t)1 << 40) // numbers of replays, above those of all nodes' worlds

struct taking {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    fm_node_order order;
    uint64_t begun_ns;
    uint64_t source_ns; // FOLLOW: when another node was last seen to have the world
    char scenes[FM_SCENES_TEXT_SIZE];
    fm_host *host;
    fm_status status;
    char error[FM_JOURNAL_ERROR_SIZE];
};

// A world that was stopped for another node.
struct leaving {
    struct leaving *next;
    uint64_t world, begun_ns;
    char heir[FM_CLUSTER_OWNER_MAX];
};

// What the store and the node point to.
struct fm_membership {
    char node[FM_CLUSTER_NAME_MAX + 1];
    char tcp[FM_CLUSTER_ADDRESS_MAX + 1];
    uint64_t incarnation;
    fm_etcd_access access;
    fm_hub *hub;
    struct leaving *leaving;
    uint32_t follower_count; // threads of the pool that read other nodes' logs
    atomic_bool is_leaving;  // they are to end
};

static void left(fm_hub *hub, fm_host *host);

// ---- beginning and end -------------------------------------------------------------------------

static void name_node(const fm_config *config, fm_membership *own)
{
    if (config->cluster_node[0] != '\0') {
        snprintf(own->node, sizeof own->node, "%s", config->cluster_node);
    } else if (gethostname(own->node, sizeof own->node - 1) != 0 || own->node[0] == '\0') {
        snprintf(own->node, sizeof own->node, "node");
    }
}

static void on_lost(void *context, uint64_t world)
{
    const fm_membership *membership = context;
    if (membership->hub->node != NULL) {
        fm_node_note_lost(membership->hub->node, world);
    }
}

fm_status fm_membership_find_etcd(const fm_config *config, fm_etcd_access *access, char *error)
{
    if (config->cluster_endpoints[0] == '\0' || config->journal_dir[0] == '\0') {
        snprintf(error, FM_ETCD_ERROR_SIZE, "cluster_name needs cluster_endpoints and journal_dir");
        return FM_ERR_BAD_VALUE;
    }
    bool is_everywhere =
        strncmp(config->listen, "0.0.0.0:", 8) == 0 || strncmp(config->listen, "[::]:", 5) == 0;
    if (is_everywhere && config->cluster_advertise[0] == '\0') {
        snprintf(
            error, FM_ETCD_ERROR_SIZE,
            "cluster_advertise is needed where listen is %.60s: other nodes send clients there",
            config->listen);
        return FM_ERR_BAD_VALUE;
    }
    const fm_etcd_settings settings = {.members = config->cluster_endpoints,
                                       .ca_file = config->cluster_ca_file,
                                       .certificate = config->cluster_certificate,
                                       .key = config->cluster_key,
                                       .user = config->cluster_user,
                                       .password_file = config->cluster_password_file};
    return fm_etcd_access_init(&settings, access, error);
}

fm_status fm_membership_read_secrets(const fm_config *config, fm_secrets *secrets, char *error)
{
    if (config->cluster_secret_file[0] == '\0') {
        *secrets = (fm_secrets){.count = 0};
        return FM_OK;
    }
    char reason[FM_SECRET_ERROR_SIZE];
    fm_status status = fm_secrets_read(config->cluster_secret_file, secrets, reason);
    snprintf(error, FM_ETCD_ERROR_SIZE, "%s", status == FM_OK ? "" : reason);
    return status;
}

// Keys shared by all nodes replace those of this node.
static void share_keys(fm_hub *hub)
{
    if (hub->secrets.count > 0) {
        memcpy(hub->resume_key.bytes, hub->secrets.keys[0].resume, sizeof hub->resume_key.bytes);
    }
}

void fm_membership_reload(fm_hub *hub)
{
    char error[FM_ETCD_ERROR_SIZE];
    if (hub->log_store == NULL || hub->config->cluster_secret_file[0] == '\0') {
        return;
    }
    if (fm_membership_read_secrets(hub->config, &hub->secrets, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "the cluster's secrets kept as they were",
               fm_log_text("reason", error));
        return;
    }
    share_keys(hub);
    fm_log(FM_LOG_INFO, "the cluster's secrets read again",
           fm_log_uint("count", hub->secrets.count));
}

static void end(fm_membership *own)
{
    fm_etcd_access_fini(&own->access);
    free(own);
}

fm_status fm_membership_prepare(fm_hub *hub)
{
    const fm_config *config = hub->config;
    if (config->cluster_name[0] == '\0') {
        return FM_OK;
    }
    char error[FM_ETCD_ERROR_SIZE];
    fm_membership *own = calloc(1, sizeof *own);
    if (own == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    if (fm_membership_find_etcd(config, &own->access, error) != FM_OK ||
        fm_membership_read_secrets(config, &hub->secrets, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot be a node", fm_log_text("reason", error));
        end(own);
        return FM_ERR_BAD_VALUE;
    }
    name_node(config, own);
    own->hub = hub;
    randombytes_buf(&own->incarnation, sizeof own->incarnation);
    const fm_world_log_options options = {.access = &own->access,
                                          .cluster = config->cluster_name,
                                          .node = own->node,
                                          .incarnation = own->incarnation,
                                          .lost = on_lost,
                                          .context = own};
    fm_status status = fm_world_log_store_create(&options, &hub->log_store);
    if (status != FM_OK) {
        end(own);
        return status;
    }
    hub->membership = own;
    hub->on_left = left;
    hub->host_last = REPLAY_NUMBERS;
    return FM_OK;
}

fm_status fm_membership_join(fm_hub *hub, const char *address, uint16_t port,
                             void (*wake)(void *context), void *context)
{
    const fm_config *config = hub->config;
    fm_membership *own = hub->membership;
    if (own == NULL) {
        return FM_OK;
    }
    share_keys(hub);
    if (config->cluster_advertise[0] != '\0') {
        snprintf(own->tcp, sizeof own->tcp, "%s", config->cluster_advertise);
    } else {
        bool is_ipv6 = strchr(address, ':') != NULL;
        snprintf(own->tcp, sizeof own->tcp, is_ipv6 ? "[%.200s]:%u" : "%.200s:%u", address, port);
    }
    const fm_node_options options = {.access = &own->access,
                                     .cluster = config->cluster_name,
                                     .name = own->node,
                                     .incarnation = own->incarnation,
                                     .tcp = own->tcp,
                                     .http = config->cluster_advertise_http,
                                     .version = FOGMARCH_VERSION,
                                     .store = hub->log_store,
                                     .on_order = wake,
                                     .context = context};
    fm_status status = fm_node_create(&options, &hub->node);
    if (status == FM_OK && !fm_node_wait_for_tokens(hub->node, TOKENS_MS)) {
        fm_log(FM_LOG_WARNING, "etcd does not answer: tokens that were created are not known yet");
    }
    return status;
}

void fm_membership_leave(fm_hub *hub)
{
    fm_node *node = hub->node;
    if (hub->membership != NULL) {
        atomic_store(&hub->membership->is_leaving, true);
    }
    hub->node = NULL;
    fm_node_destroy(node);
}

void fm_membership_end(fm_hub *hub)
{
    fm_world_log_store_destroy(hub->log_store);
    hub->log_store = NULL;
    if (hub->membership != NULL) {
        end(hub->membership);
        hub->membership = NULL;
    }
}

void fm_membership_tell_load(fm_hub *hub)
{
    if (hub->node == NULL) {
        return;
    }
    uint64_t agents = 0;
    double load = 0; // of one second
    for (uint32_t i = 0; i < hub->host_count; i++) {
        fm_host_summary summary = fm_conductor_summary(hub->conductor, hub->hosts[i]);
        agents += summary.agents;
        load += summary.paused ? 0 : summary.tick_hz * summary.tick_ns / (double)FM_NS_PER_S;
    }
    fm_node_set_load(hub->node, hub->host_count, agents, (uint64_t)(load * 1000));
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

// ---- following ---------------------------------------------------------------------------------

// Replays what comes until the world is this node's. @param again  a keyframe came: from the start
static fm_status follow_to_the_end(struct taking *taking, fm_world_log_follower *follower,
                                   fm_recovery *recovery, bool *again)
{
    fm_follow_state state = FM_FOLLOW_BEHIND;
    fm_status status = FM_OK;
    bool is_told = false;
    while (status == FM_OK && state != FM_FOLLOW_OWNED) {
        uint64_t looked_ns = fm_clock_now_ns();
        status = fm_world_log_follow_on(follower, &state, taking->error);
        *again = status == FM_OK && state == FM_FOLLOW_AGAIN;
        if (*again || status != FM_OK) {
            return status;
        }
        if (state == FM_FOLLOW_OVER || atomic_load(&taking->hub->membership->is_leaving)) {
            return FM_ERR_EXISTS;
        }
        taking->source_ns =
            state == FM_FOLLOW_OWNED && taking->source_ns != 0 ? taking->source_ns : looked_ns;
        status = fm_recovery_go_on(recovery, taking->error);
        if (status == FM_OK && state == FM_FOLLOW_CLOSE && !is_told) {
            status = fm_world_log_follow_ready(follower, taking->error);
            is_told = true;
        }
        if (state == FM_FOLLOW_CLOSE) {
            uv_sleep(FOLLOW_MS);
        }
    }
    return status;
}

static fm_status follow_once(struct taking *taking, bool *again)
{
    fm_hub *hub = taking->hub;
    char path[PATH_SIZE];
    fm_world_log_follower *follower = NULL;
    fm_recovery *recovery = NULL;
    fm_status status =
        fm_world_log_follow(hub->log_store, taking->order.world, taking->order.owner,
                            hub->config->journal_dir, path, sizeof path, &follower, taking->error);
    if (status == FM_OK) {
        status = fm_recovery_begin(hub, path, &recovery, taking->error);
    }
    if (status == FM_OK) {
        status = follow_to_the_end(taking, follower, recovery, again);
    }
    if (status == FM_OK && !*again) {
        fm_world_log_follow_scenes(follower, taking->scenes, sizeof taking->scenes, taking->error);
        status = fm_world_log_follow_enter(follower);
    }
    if (status == FM_OK && !*again) {
        status = fm_recovery_finish(recovery, &taking->host, taking->error);
        recovery = NULL;
        if (status != FM_OK) {
            fm_world_log_forget(hub->log_store, taking->order.world);
        }
    }
    fm_recovery_drop(recovery);
    fm_world_log_follow_end(follower);
    return status;
}

// A log that cannot be followed here is no reason to stop the world where it runs.
static void follow(uv_work_t *work)
{
    struct taking *taking = work->data;
    bool again = true;
    for (uint32_t i = 0; i < FOLLOW_TRIES && again; i++) {
        again = false;
        taking->status = follow_once(taking, &again);
    }
    taking->status = taking->status == FM_ERR_BAD_FORMAT ? FM_ERR_IO : taking->status;
    taking->status = again ? FM_ERR_BUSY : taking->status;
}

// ---- taken -------------------------------------------------------------------------------------

static void tell_taken(const struct taking *taking)
{
    bool was_moved = taking->order.kind == FM_NODE_FOLLOW;
    uint64_t took_ns = fm_clock_now_ns() - (was_moved ? taking->source_ns : taking->begun_ns);
    uint64_t epoch;
    (void)fm_world_log_owns(taking->hub->log_store, taking->order.world, &epoch);
    fm_world_log_note_come(taking->hub->log_store, was_moved, took_ns / 1000);
    if (taking->hub->node != NULL) {
        fm_node_note_come(taking->hub->node, taking->order.world, epoch);
    }
    fm_log(FM_LOG_INFO, was_moved ? "world moved here" : "world taken over",
           fm_log_uint("world", taking->order.world), fm_log_text("name", taking->host->name),
           fm_log_text("from", taking->order.owner), fm_log_uint("epoch", epoch),
           fm_log_uint("tick", taking->host->tick),
           fm_log_real("ms", (double)took_ns / (double)FM_NS_PER_MS));
}

// Another node was first, which is normal, or something is wrong.
static void tell_not_taken(const struct taking *taking)
{
    if (taking->status != FM_ERR_EXISTS && taking->status != FM_ERR_BUSY) {
        fm_log(FM_LOG_ERROR,
               taking->order.kind == FM_NODE_FOLLOW ? "world not moved here"
                                                    : "world not taken over",
               fm_log_uint("world", taking->order.world), fm_log_status("status", taking->status),
               fm_log_text("reason", taking->error));
    }
}

static void on_taken(uv_work_t *work, int error)
{
    struct taking *taking = work->data;
    fm_hub *hub = taking->hub;
    fm_hub_beat(hub);
    if (error < 0) {
        taking->status = FM_ERR_IO;
    }
    hub->membership->follower_count -= taking->order.kind == FM_NODE_FOLLOW;
    if (taking->status == FM_OK) {
        tell_taken(taking);
        fm_job *watches = fm_scenes_expect(hub, taking->host, taking->scenes);
        taking->status = fm_recovery_hand_over(hub, taking->host, watches, taking->error);
        if (taking->status != FM_OK) {
            fm_scenes_forget(hub, taking->host, watches);
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
        bool follows = order->kind == FM_NODE_FOLLOW;
        hub->membership->follower_count += follows;
        if (uv_queue_work(hub->loop, &taking->work, follows ? follow : take, on_taken) == 0) {
            return;
        }
        hub->membership->follower_count -= follows;
        free(taking);
    }
    fm_node_end_order(hub->node, order->world, FM_ERR_NO_MEMORY);
}

// ---- dropping ----------------------------------------------------------------------------------

// Notifies clients where the world is, as far as known.
//
// @param tick  as in fm_stream_end_host()
static void drop_from_hub(fm_hub *hub, fm_host *host, uint64_t tick)
{
    fm_node_world world;
    fm_node_entry place = {.name = ""};
    if (hub->node != NULL) {
        (void)fm_node_locate(hub->node, host->number, NULL, &world, &place);
    }
    if (strcmp(place.name, hub->membership->node) == 0) {
        place = (fm_node_entry){.name = ""}; // no longer here
    }
    fm_stream_end_host(hub, host, &place, tick);
    fm_hub_drop_host(hub, host);
}

// The job with which a world leaves this node.
//
// @return NULL: out of memory, or the host is NULL or ends already, and its heir must not change
static fm_job *make_removal(fm_host *host)
{
    bool stays = host != NULL && host->state < FM_HOST_ENDING;
    fm_job *job = stays ? fm_job_create(FM_JOB_REMOVE, host) : NULL;
    if (job != NULL) {
        job->is_notification = true;
        job->remove.is_left = true;
    }
    return job;
}

#define WHY_SIZE 128u

// The directory may be older than what the journal's writer has just been refused.
static const char *why_dropped(fm_hub *hub, uint64_t number, char why[WHY_SIZE])
{
    fm_node_world world;
    fm_node_entry entry;
    if (!fm_node_locate(hub->node, number, NULL, &world, &entry)) {
        return "its owner is gone from etcd: it was destroyed elsewhere, or by hand";
    }
    if (world.node[0] == '\0') {
        return "its owner in etcd is none";
    }
    if (strcmp(world.node, hub->membership->node) == 0) {
        return "etcd has its owner, or its log, no longer as this node wrote them";
    }
    snprintf(why, WHY_SIZE, "node %.64s has it", world.node);
    return why;
}

static void drop(fm_hub *hub, uint64_t number)
{
    char why[WHY_SIZE];
    fm_host *host = fm_hub_find_host(hub, number);
    fm_job *job = make_removal(host);
    if (job == NULL) {
        return; // gone already, or the next read finds it again
    }
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        return;
    }
    host->state = FM_HOST_ENDING;
    drop_from_hub(hub, host, 0);
    fm_log(FM_LOG_WARNING, "world dropped", fm_log_uint("world", number),
           fm_log_text("name", host->name), fm_log_text("reason", why_dropped(hub, number, why)));
}

// ---- leaving -----------------------------------------------------------------------------------

// The world stays in the hub until the journal's writer has entered the new owner, so that deltas
// under way reach the clients. It no longer ticks or takes requests.
static fm_status begin_leaving(fm_hub *hub, const fm_node_order *order)
{
    fm_membership *own = hub->membership;
    fm_host *host = fm_hub_find_host(hub, order->world);
    fm_job *job = make_removal(host);
    struct leaving *leaving = calloc(1, sizeof *leaving);
    char scenes[FM_SCENES_TEXT_SIZE];
    if (job == NULL || leaving == NULL) {
        goto fail;
    }
    (void)fm_scenes_describe(host, scenes, sizeof scenes);
    if (!fm_world_log_set_heir(hub->log_store, order->world, order->owner, scenes)) {
        goto fail;
    }
    job->remove.with_keyframe = order->with_keyframe;
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        goto fail;
    }
    *leaving = (struct leaving){
        .next = own->leaving, .world = order->world, .begun_ns = fm_clock_now_ns()};
    memcpy(leaving->heir, order->owner, sizeof leaving->heir);
    own->leaving = leaving;
    host->state = FM_HOST_ENDING;
    return FM_OK;
fail:
    free(leaving);
    fm_job_destroy(job);
    return FM_ERR_BUSY;
}

static void left(fm_hub *hub, fm_host *host)
{
    struct leaving **link = &hub->membership->leaving;
    while (*link != NULL && (*link)->world != host->number) {
        link = &(*link)->next;
    }
    struct leaving *leaving = *link;
    if (leaving != NULL && hub->node != NULL) {
        fm_node_note_left(hub->node, host->number, leaving->heir);
        fm_node_end_order(hub->node, host->number, FM_OK);
        uint64_t took_ns = fm_clock_now_ns() - leaving->begun_ns;
        fm_log(FM_LOG_INFO, "world has gone to another node", fm_log_uint("world", host->number),
               fm_log_text("name", host->name), fm_log_text("to", leaving->heir),
               fm_log_uint("tick", host->tick),
               fm_log_real("ms", (double)took_ns / (double)FM_NS_PER_MS));
    }
    if (leaving != NULL) {
        *link = leaving->next;
        free(leaving);
    }
    drop_from_hub(hub, host, host->tick); // which no longer changes
}

// ---- orders ------------------------------------------------------------------------------------

static void take_order(fm_hub *hub, const fm_node_order *order)
{
    bool is_here = fm_hub_find_host(hub, order->world) != NULL;
    fm_status status = FM_ERR_BUSY; // tried again a little later
    switch (order->kind) {
    case FM_NODE_DROP:
        drop(hub, order->world);
        return;
    case FM_NODE_TAKE:
    case FM_NODE_FOLLOW:
        if (!is_here &&
            (order->kind == FM_NODE_TAKE || hub->membership->follower_count < FOLLOWERS_MAX)) {
            begin_taking(hub, order);
            return;
        }
        break;
    case FM_NODE_LEAVE:
        status = begin_leaving(hub, order);
        if (status == FM_OK) {
            return; // left() ends it
        }
        break;
    }
    fm_node_end_order(hub->node, order->world, status);
}

void fm_membership_take_orders(fm_hub *hub)
{
    fm_node_order order;
    while (hub->node != NULL && !hub->going_down && fm_node_next_order(hub->node, &order)) {
        take_order(hub, &order);
    }
}

// ---- draining ----------------------------------------------------------------------------------

bool fm_membership_begin_to_drain(fm_hub *hub)
{
    bool begins = hub->node != NULL && hub->host_count > 0 && fm_node_has_heirs(hub->node);
    if (begins) {
        fm_node_begin_to_end(hub->node);
    }
    return begins;
}

bool fm_membership_is_drained(fm_hub *hub)
{
    return hub->host_count == 0 || !fm_node_has_heirs(hub->node);
}
