// server/methods/cluster_methods.c: see cluster_methods.h. All answer from the directory as this
// node last read it (server/cluster/node.h); the node's thread writes requests into etcd.

#include "server/methods/cluster_methods.h"

#include <stdlib.h>
#include <string.h>

// ---- world.locate ------------------------------------------------------------------------------

static void answer_place(fm_session *session, const fm_request *request, uint64_t number,
                         const char *name, bool here, const fm_node_entry *entry)
{
    if (request->is_notification) {
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 6);
    fm_pack_key_uint(&reply.packer, "world", number);
    fm_pack_key_text(&reply.packer, "name", name);
    fm_pack_key_bool(&reply.packer, "here", here);
    fm_pack_key_text(&reply.packer, "node", entry->name);
    fm_pack_key_text(&reply.packer, "tcp", entry->tcp);
    fm_pack_key_text(&reply.packer, "http", entry->http);
    fm_reply_send(session, &reply);
}

// This node's entry in the directory.
static fm_node_entry own_entry(fm_node *node)
{
    static fm_node_entry entries[FM_NODES_MAX]; // too large for the stack; the event loop's
    fm_node_entry own = {.name = ""};
    uint32_t count = node == NULL ? 0 : fm_node_list(node, entries);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, fm_node_name(node)) == 0) {
            own = entries[i];
        }
    }
    return own;
}

void fm_pack_seeds(msgpack_packer *packer, const fm_hub *hub)
{
    static fm_node_entry entries[FM_NODES_MAX]; // as above
    uint32_t count = hub->node == NULL ? 0 : fm_node_list(hub->node, entries);
    fm_pack_text(packer, "seeds");
    msgpack_pack_array(packer, count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_map(packer, 3);
        fm_pack_key_text(packer, "node", entries[i].name);
        fm_pack_key_text(packer, "tcp", entries[i].tcp);
        fm_pack_key_text(packer, "http", entries[i].http);
    }
}

static fm_status locate_here(fm_session *session, const fm_request *request, uint64_t number,
                             const char *name)
{
    const fm_host *host = number != 0 ? fm_hub_find_host(session->hub, number)
                                      : fm_hub_find_host_by_name(session->hub, name, strlen(name));
    if (host == NULL || !fm_request_may_know(session, host)) {
        return FM_ERR_NO_WORLD;
    }
    const fm_node_entry own = own_entry(session->hub->node);
    answer_place(session, request, host->number, host->name, true, &own);
    return FM_OK;
}

static fm_status locate_elsewhere(fm_session *session, const fm_request *request, uint64_t number,
                                  const char *name, char *error)
{
    fm_node_world world;
    fm_node_entry entry = {.name = ""};
    fm_node *node = session->hub->node;
    if (!fm_node_locate(node, number, name, &world, &entry)) {
        return locate_here(session, request, number,
                           name); // made since the directory was read, or a replay
    }
    if (!fm_request_may_locate(session, &world)) {
        return FM_ERR_NO_WORLD;
    }
    const fm_host *host = fm_hub_find_host(session->hub, world.number);
    if (!world.has_owner || (world.is_here && host == NULL)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 world.is_damaged ? "the world's log, or the key of its owner, is damaged"
                                  : "the world is about to be taken over");
        return FM_ERR_NOT_READY;
    }
    if (host != NULL && host->state >= FM_HOST_ENDING) { // "here" would lead back to it
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world is on its way to another node");
        return FM_ERR_NOT_READY;
    }
    if (host != NULL && fm_request_is_in_doubt(session, host)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "this node does not reach etcd: another one may have the world");
        return FM_ERR_NOT_READY;
    }
    answer_place(session, request, world.number, world.name, host != NULL, &entry);
    return FM_OK;
}

fm_status fm_take_world_locate(fm_session *session, const fm_request *request, char *error)
{
    const fm_value *number = &request->values[FM_FIELD_WORLD];
    const fm_value *named = &request->values[FM_FIELD_NAME];
    char name[FM_WORLD_NAME_MAX + 1] = "";
    if (!number->present && !named->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world.locate: 'world' or 'name' is wanted");
        return FM_ERR_BAD_FIELD;
    }
    if (named->present) {
        memcpy(name, named->bytes, named->size);
    }
    return session->hub->node != NULL
               ? locate_elsewhere(session, request, number->number, name, error)
               : locate_here(session, request, number->number, name);
}

// ---- cluster.status ----------------------------------------------------------------------------

static void pack_nodes(msgpack_packer *packer, const fm_node_directory *directory)
{
    fm_pack_text(packer, "nodes");
    msgpack_pack_array(packer, directory->node_count);
    for (uint32_t i = 0; i < directory->node_count; i++) {
        const fm_node_entry *entry = &directory->nodes[i];
        msgpack_pack_map(packer, 8);
        fm_pack_key_text(packer, "node", entry->name);
        fm_pack_key_text(packer, "tcp", entry->tcp);
        fm_pack_key_text(packer, "http", entry->http);
        fm_pack_key_text(packer, "version", entry->version);
        fm_pack_key_uint(packer, "worlds", fm_node_count_worlds(directory, entry));
        fm_pack_key_uint(packer, "agents", entry->agents);
        fm_pack_key_uint(packer, "load", entry->load);
        fm_pack_key_bool(packer, "draining", entry->is_draining);
    }
}

// A node that etcd does not answer knows of its own worlds alone, and only as long as its lease
// holds.
static const char *state_of(const fm_node_directory *directory, const fm_node_world *world)
{
    bool is_cut_off =
        directory->state == FM_CLUSTER_NO_MAJORITY || directory->state == FM_CLUSTER_REFUSED;
    if (world->is_damaged) {
        return "damaged";
    }
    if (is_cut_off) {
        return world->is_here && directory->is_member ? "halted" : "unknown";
    }
    if (directory->state == FM_CLUSTER_QUOTA_FULL) {
        return "halted";
    }
    if (!world->has_owner) {
        return "waiting";
    }
    return world->heir[0] == '\0' ? "running" : "moving";
}

static void pack_worlds(msgpack_packer *packer, const fm_node_directory *directory)
{
    fm_pack_text(packer, "worlds");
    msgpack_pack_array(packer, directory->world_count);
    for (uint32_t i = 0; i < directory->world_count; i++) {
        const fm_node_world *world = &directory->worlds[i];
        msgpack_pack_map(packer, 6);
        fm_pack_key_uint(packer, "world", world->number);
        fm_pack_key_text(packer, "name", world->name);
        fm_pack_key_text(packer, "node", world->node);
        fm_pack_key_uint(packer, "epoch", world->epoch);
        fm_pack_key_text(packer, "to", world->to);
        fm_pack_key_text(packer, "state", state_of(directory, world));
    }
}

static void pack_appends(msgpack_packer *packer, const fm_world_log_numbers *numbers)
{
    double sum_us = (double)numbers->append_times.sum_us;
    double mean_us = numbers->appends == 0 ? 0 : sum_us / (double)numbers->appends;
    fm_pack_text(packer, "appends");
    msgpack_pack_map(packer, 8);
    fm_pack_key_uint(packer, "count", numbers->appends);
    fm_pack_key_real(packer, "mean_ms", mean_us / 1000);
    fm_pack_key_real(packer, "max_ms", (double)numbers->append_us_max / 1000);
    fm_pack_key_uint(packer, "unknown", numbers->unknown);
    fm_pack_key_uint(packer, "fenced", numbers->fenced);
    fm_pack_key_uint(packer, "taken", numbers->taken);
    fm_pack_key_uint(packer, "moved", numbers->moved);
    fm_pack_key_real(packer, "move_ms", (double)numbers->move_us_max / 1000);
}

static void pack_state(msgpack_packer *packer, const fm_node_directory *directory)
{
    fm_pack_key_text(packer, "state", fm_cluster_state_name(directory->state));
    fm_pack_key_text(packer, "what_to_do", fm_cluster_state_advice(directory->state));
    fm_pack_text(packer, "engine");
    msgpack_pack_map(packer, 3);
    fm_pack_key_uint(packer, "term", directory->term);
    fm_pack_key_uint(packer, "lease_ms", directory->lease_ms);
    fm_pack_key_uint(packer, "leases_lost", directory->leases_lost);
}

fm_status fm_take_cluster_status(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    static fm_node_directory directory; // too large for the stack; the event loop's
    fm_world_log_numbers numbers = {0};
    const fm_hub *hub = session->hub;
    directory = (fm_node_directory){.node_count = 0};
    if (hub->node != NULL) {
        if (!fm_node_copy(hub->node, &directory)) {
            return FM_ERR_NO_MEMORY;
        }
        numbers = fm_world_log_numbers_get(hub->log_store);
    }
    if (!request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 10);
        fm_pack_key_text(&reply.packer, "cluster", hub->config->cluster_name);
        fm_pack_key_text(&reply.packer, "node", hub->node == NULL ? "" : fm_node_name(hub->node));
        fm_pack_key_bool(&reply.packer, "member", directory.is_member);
        fm_pack_key_text(&reply.packer, "error", directory.error);
        pack_state(&reply.packer, &directory);
        pack_nodes(&reply.packer, &directory);
        pack_worlds(&reply.packer, &directory);
        pack_appends(&reply.packer, &numbers);
        fm_reply_send(session, &reply);
    }
    free(directory.worlds);
    return FM_OK;
}

// ---- cluster.move, .drain, .undrain ------------------------------------------------------------

static void copy_name(const fm_request *request, char *name)
{
    const fm_value *value = &request->values[FM_FIELD_NODE];
    size_t size = value->present ? value->size : 0;
    memcpy(name, value->present ? value->bytes : "", size);
    name[size] = '\0';
}

// Without a cluster there is one node, without a name.
static fm_status refuse_name(const char *name, char *error)
{
    if (name[0] == '\0') {
        return FM_OK;
    }
    snprintf(error, FM_ERROR_TEXT_SIZE, "this server is no node of a cluster");
    return FM_ERR_BAD_VALUE;
}

fm_status fm_take_cluster_move(fm_session *session, const fm_request *request, char *error)
{
    const fm_hub *hub = session->hub;
    uint64_t world = request->values[FM_FIELD_WORLD].number;
    char name[FM_CLUSTER_NAME_MAX + 1], reason[FM_ETCD_ERROR_SIZE] = "";
    fm_node_entry entry = {.name = ""};
    bool is_there = true;
    copy_name(request, name);
    fm_status status;
    if (hub->node == NULL) {
        status = fm_hub_find_host(hub, world) == NULL ? FM_ERR_NO_WORLD : refuse_name(name, error);
    } else {
        status = fm_node_move(hub->node, world, name, &entry, &is_there, reason);
        snprintf(error, FM_ERROR_TEXT_SIZE, "%.*s", (int)FM_ERROR_TEXT_SIZE - 1, reason);
    }
    if (status == FM_OK && !request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 5);
        fm_pack_key_uint(&reply.packer, "world", world);
        fm_pack_key_text(&reply.packer, "node", entry.name);
        fm_pack_key_text(&reply.packer, "tcp", entry.tcp);
        fm_pack_key_text(&reply.packer, "http", entry.http);
        fm_pack_key_bool(&reply.packer, "there", is_there);
        fm_reply_send(session, &reply);
    }
    return status;
}

static fm_status set_draining(fm_session *session, const fm_request *request, bool drains,
                              char *error)
{
    const fm_hub *hub = session->hub;
    char name[FM_CLUSTER_NAME_MAX + 1], reason[FM_ETCD_ERROR_SIZE] = "";
    fm_node_entry entry = {.name = ""};
    copy_name(request, name);
    fm_status status;
    if (hub->node == NULL) {
        status = refuse_name(name, error);
    } else {
        status = fm_node_set_draining(hub->node, name, drains, &entry, reason);
        snprintf(error, FM_ERROR_TEXT_SIZE, "%.*s", (int)FM_ERROR_TEXT_SIZE - 1, reason);
    }
    if (status == FM_OK && !request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 2);
        fm_pack_key_text(&reply.packer, "node", entry.name);
        fm_pack_key_uint(&reply.packer, "worlds", entry.worlds);
        fm_reply_send(session, &reply);
    }
    return status;
}

fm_status fm_take_cluster_drain(fm_session *session, const fm_request *request, char *error)
{
    return set_draining(session, request, true, error);
}

fm_status fm_take_cluster_undrain(fm_session *session, const fm_request *request, char *error)
{
    return set_draining(session, request, false, error);
}
