// server/cluster/node_parts.c: what node.c and node_moves.c have in common; see node_state.h.

#include "server/base/clock.h"
#include "server/cluster/node_state.h"

#include <stdio.h>
#include <stdlib.h>

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
    } else if (outcome == FM_ETCD_REFUSED && strstr(error, "lease not found") == NULL) {
        node->refused_ns = fm_clock_now_ns();
        memcpy(node->refusal, error, sizeof error);
    } else if (outcome == FM_ETCD_DONE && strcmp(path, "kv/put") == 0) {
        node->full_ns = 0;
    }
    uint64_t term = outcome == FM_ETCD_DONE
                        ? (uint64_t)fm_etcd_number(json_object_get(*answer, "header"), "raft_term")
                        : 0;
    node->term = term == 0 ? node->term : term;
    uv_mutex_unlock(&node->lock);
    return outcome;
}

// ---- the directory -----------------------------------------------------------------------------

// Index of the first world with that number or a higher one.
static uint32_t place_of(const fm_node_directory *directory, uint64_t number)
{
    uint32_t low = 0, high = directory->world_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (directory->worlds[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

fm_node_world *fm_node_find_world(const fm_node_directory *directory, uint64_t number)
{
    uint32_t place = place_of(directory, number);
    bool is_there = place < directory->world_count && directory->worlds[place].number == number;
    return is_there ? &directory->worlds[place] : NULL;
}

void fm_node_forget_world(fm_node_directory *directory, uint64_t number)
{
    fm_node_world *world = fm_node_find_world(directory, number);
    if (world != NULL) {
        fm_node_count_arriving(directory, world->to, -1);
        size_t after = (size_t)(directory->worlds + --directory->world_count - world);
        memmove(world, world + 1, after * sizeof *world);
    }
}

void fm_node_count_arriving(fm_node_directory *directory, const char *to, int change)
{
    for (uint32_t i = 0; i < directory->node_count && to[0] != '\0'; i++) {
        fm_node_entry *entry = &directory->nodes[i];
        entry->arriving += strcmp(entry->name, to) == 0 ? (uint32_t)change : 0;
    }
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

void fm_node_note_world(fm_node *node, const fm_node_world *world)
{
    fm_node_directory *directory = &node->directory;
    size_t size = (directory->world_count + 1) * sizeof *directory->worlds;
    fm_node_world *worlds = fm_node_find_world(directory, world->number) == NULL
                                ? realloc(directory->worlds, size)
                                : NULL;
    if (worlds != NULL) { // else the next read finds it
        directory->worlds = worlds;
        uint32_t place = place_of(directory, world->number);
        memmove(worlds + place + 1, worlds + place,
                (directory->world_count++ - place) * sizeof *worlds);
        worlds[place] = *world;
        fm_node_count_arriving(directory, world->to, 1);
    }
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

// ---- tokens ------------------------------------------------------------------------------------

void fm_node_read_tokens(fm_node *node)
{
    char error[FM_ETCD_ERROR_SIZE];
    fm_token_list list;
    if (node->tokens_known && node->tokens_seen == node->tokens.revision) {
        return;
    }
    if (fm_token_log_read(node->etcd, node->options.cluster, CALL_MS, &list, error) !=
        FM_ETCD_DONE) {
        return; // the next read finds it again
    }
    uv_mutex_lock(&node->lock);
    free(node->tokens.grants);
    node->tokens = list;
    node->tokens_known = node->tokens_fresh = true;
    uv_cond_broadcast(&node->known);
    uv_mutex_unlock(&node->lock);
    node->options.on_order(node->options.context);
}

bool fm_node_take_tokens(fm_node *node, fm_token_list *list)
{
    uv_mutex_lock(&node->lock);
    bool fresh = node->tokens_fresh;
    if (fresh) {
        *list = node->tokens;
        node->tokens.grants = NULL;
        node->tokens.count = 0;
        node->tokens_fresh = false;
        node->tokens_taken = list->revision;
        uv_cond_signal(&node->woken); // to notify the others
    }
    uv_mutex_unlock(&node->lock);
    return fresh;
}

bool fm_node_wait_for_tokens(fm_node *node, uint32_t timeout_ms)
{
    uint64_t end_ns = fm_clock_now_ns() + timeout_ms * FM_NS_PER_MS;
    uv_mutex_lock(&node->lock);
    for (uint64_t now_ns = fm_clock_now_ns(); !node->tokens_known && now_ns < end_ns;
         now_ns = fm_clock_now_ns()) {
        (void)uv_cond_timedwait(&node->known, &node->lock, end_ns - now_ns);
    }
    bool known = node->tokens_known;
    uv_mutex_unlock(&node->lock);
    return known;
}

bool fm_node_tokens_are_known(fm_node *node, uint64_t revision)
{
    uv_mutex_lock(&node->lock);
    const fm_node_directory *directory = &node->directory;
    bool known = node->tokens_taken >= revision;
    for (uint32_t i = 0; i < directory->node_count && known; i++) {
        const fm_node_entry *entry = &directory->nodes[i];
        known = entry->tokens >= revision || fm_node_is_self(node, entry->name, entry->incarnation);
    }
    uv_mutex_unlock(&node->lock);
    return known;
}
