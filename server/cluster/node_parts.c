// server/cluster/node_parts.c: what node.c and node_moves.c have in common; see node_state.h.

#include "server/base/clock.h"
#include "server/cluster/node_state.h"

#include <stdio.h>

#define CALL_MS 800u

// ---- keys --------------------------------------------------------------------------------------

void fm_node_key(const fm_node *node, char *key, size_t size, const char *what, const char *name)
{
    snprintf(key, size, "/fogmarch/%s/%s/%s", node->options.cluster, what, name);
}

fm_etcd_outcome fm_node_call(fm_node *node, const char *path, const fm_writer *body,
                             json_t **answer)
{
    char error[FM_ETCD_ERROR_SIZE] = "";
    fm_etcd_outcome outcome = fm_etcd_call(node->etcd, path, body, CALL_MS, answer, error);
    uv_mutex_lock(&node->lock);
    memcpy(node->directory.error, outcome == FM_ETCD_DONE ? "" : error,
           outcome == FM_ETCD_DONE ? 1 : sizeof error);
    node->answered_ns = outcome == FM_ETCD_UNREACHABLE ? node->answered_ns : fm_clock_now_ns();
    if (outcome == FM_ETCD_REFUSED && strstr(error, "space exceeded") != NULL) {
        node->full_ns = fm_clock_now_ns();
    }
    uint64_t term = outcome == FM_ETCD_DONE
                        ? (uint64_t)fm_etcd_number(json_object_get(*answer, "header"), "raft_term")
                        : 0;
    node->term = term == 0 ? node->term : term;
    uv_mutex_unlock(&node->lock);
    return outcome;
}

// ---- the directory -----------------------------------------------------------------------------

fm_node_world *fm_node_find_world(const fm_node_directory *directory, uint64_t number)
{
    for (uint32_t i = 0; i < directory->world_count; i++) { // few enough, a few times a second
        if (directory->worlds[i].number == number) {
            return &directory->worlds[i];
        }
    }
    return NULL;
}

const fm_node_entry *fm_node_find_owner(const fm_node_directory *directory, const char *name,
                                        uint64_t incarnation)
{
    for (uint32_t i = 0; i < directory->node_count; i++) {
        if (directory->nodes[i].incarnation == incarnation &&
            strcmp(directory->nodes[i].name, name) == 0) {
            return &directory->nodes[i];
        }
    }
    return NULL;
}

bool fm_node_is_self(const fm_node *node, const char *name, uint64_t incarnation)
{
    return incarnation == node->options.incarnation && strcmp(name, node->options.name) == 0;
}

// ---- orders ------------------------------------------------------------------------------------

bool fm_node_give_order(fm_node *node, fm_node_order_kind kind, uint64_t world, const char *owner,
                        bool with_keyframe)
{
    if (node->order_count == FM_NODE_ORDERS_MAX) {
        return false;
    }
    fm_node_order *order =
        &node->orders[(node->order_first + node->order_count++) % FM_NODE_ORDERS_MAX];
    *order = (fm_node_order){.kind = kind, .world = world, .with_keyframe = with_keyframe};
    snprintf(order->owner, sizeof order->owner, "%s", owner);
    return true;
}
