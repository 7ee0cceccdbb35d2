// server/cluster/node.c: see node.h.

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/cluster/node_state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MS       1000u // until a failed order is given again
#define SURE_MARGIN_MS 100u
#define OTHER_VERSION  30u    // ranks by which a node of another version comes later: 9 s
#define LOOK_OFTEN_MS  40u    // while worlds come or go
#define SILENT_MS      1500u  // after which etcd counts as gone
#define FULL_MS        5000u  // for which it counts as full: more than two writes
#define REFUSED_MS     5000u  // for which it counts as refusing
#define OVER_MS        20000u // for which a lost lease is shown, though the node joins again at once

// ---- the lease ---------------------------------------------------------------------------------

static void put_node(fm_node *node)
{
    char key[256], text[32];
    uv_mutex_lock(&node->lock);
    uint64_t worlds = node->worlds, agents = node->agents, load = node->load;
    uint64_t tokens = node->tokens_taken;
    uv_mutex_unlock(&node->lock);
    snprintf(text, sizeof text, "%016" PRIx64, node->options.incarnation);
    json_t *value = json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "incarnation", text, "tcp", node->options.tcp, "http",
        node->options.http, "version", node->options.version, "worlds", (json_int_t)worlds,
        "agents", (json_int_t)agents, "load", (json_int_t)load, "tokens", (json_int_t)tokens);
    char *dump = value == NULL ? NULL : json_dumps(value, JSON_COMPACT);
    json_decref(value);
    if (dump == NULL) {
        return;
    }
    fm_node_key(node, key, sizeof key, "nodes", node->options.name);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{");
    fm_etcd_put_text(&body, "key", key);
    fm_etcd_put(&body, ",");
    fm_etcd_put_text(&body, "value", dump);
    snprintf(text, sizeof text, ",\"lease\":\"%" PRId64 "\"}", node->lease);
    fm_etcd_put(&body, text);
    json_t *answer;
    if (fm_node_call(node, "kv/put", &body, &answer) == FM_ETCD_DONE) {
        json_decref(answer);
        node->told_ns = fm_clock_now_ns();
        node->tokens_told = tokens;
    }
    fm_writer_fini(&body);
    free(dump);
}

static void be_sure(fm_node *node, uint64_t sent_ns)
{
    uint64_t until_ns = sent_ns + (FM_NODE_LEASE_S * 1000 - SURE_MARGIN_MS) * FM_NS_PER_MS;
    fm_world_log_set_sure(node->options.store, until_ns);
    uv_mutex_lock(&node->lock);
    node->sure_until_ns = until_ns;
    uv_mutex_unlock(&node->lock);
}

static void join(fm_node *node)
{
    char text[32];
    fm_writer body = fm_writer_init(&fm_memory_libc);
    snprintf(text, sizeof text, "{\"TTL\":\"%u\"}", FM_NODE_LEASE_S);
    fm_etcd_put(&body, text);
    json_t *answer;
    uint64_t sent_ns = fm_clock_now_ns();
    if (fm_node_call(node, "lease/grant", &body, &answer) == FM_ETCD_DONE) {
        node->lease = fm_etcd_number(answer, "ID");
        json_decref(answer);
    }
    fm_writer_fini(&body);
    if (node->lease != 0) {
        fm_world_log_set_lease(node->options.store, node->lease);
        node->renewed_ns = sent_ns;
        node->is_unread = true;
        put_node(node);
        fm_log(FM_LOG_INFO, "joined the cluster", fm_log_text("cluster", node->options.cluster),
               fm_log_text("node", node->options.name));
    }
}

static void renew(fm_node *node)
{
    char text[48];
    fm_writer body = fm_writer_init(&fm_memory_libc);
    snprintf(text, sizeof text, "{\"ID\":\"%" PRId64 "\"}", node->lease);
    fm_etcd_put(&body, text);
    json_t *answer;
    uint64_t sent_ns = fm_clock_now_ns();
    fm_etcd_outcome outcome = fm_node_call(node, "lease/keepalive", &body, &answer);
    if (outcome == FM_ETCD_DONE) {
        bool holds = fm_etcd_number(json_object_get(answer, "result"), "TTL") > 0;
        json_decref(answer);
        node->renewed_ns = sent_ns;
        if (holds && !node->is_unread) {
            be_sure(node, sent_ns);
        } else if (!holds) {
            fm_log(FM_LOG_WARNING, "the node's lease was over",
                   fm_log_text("node", node->options.name));
            node->lease = 0;
            fm_world_log_set_lease(node->options.store, 0);
            uv_mutex_lock(&node->lock);
            node->leases_lost++;
            node->lost_ns = fm_clock_now_ns();
            uv_mutex_unlock(&node->lock);
        }
    }
    fm_writer_fini(&body);
}

// Others wait until nodes/ME shows that this node knows them.
static bool knows_more_tokens(fm_node *node)
{
    uv_mutex_lock(&node->lock);
    bool more = node->tokens_taken != node->tokens_told;
    uv_mutex_unlock(&node->lock);
    return more;
}

static void keep_lease(fm_node *node)
{
    uint64_t now_ns = fm_clock_now_ns();
    if (node->lease != 0 && now_ns - node->renewed_ns >= FM_NODE_RENEW_MS * FM_NS_PER_MS) {
        renew(node);
        now_ns = fm_clock_now_ns();
    }
    if (node->lease == 0) {
        join(node);
    } else if (now_ns - node->told_ns >= 2 * FM_NS_PER_S || knows_more_tokens(node)) {
        put_node(node);
    }
}

static void leave(fm_node *node)
{
    char text[48];
    json_t *answer;
    if (node->lease == 0) {
        return;
    }
    fm_world_log_set_sure(node->options.store, 0);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    snprintf(text, sizeof text, "{\"ID\":\"%" PRId64 "\"}", node->lease);
    fm_etcd_put(&body, text);
    if (fm_node_call(node, "lease/revoke", &body, &answer) == FM_ETCD_DONE) {
        json_decref(answer);
    }
    fm_writer_fini(&body);
}

// ---- the directory -----------------------------------------------------------------------------

static void copy_text(char *to, size_t size, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    snprintf(to, size, "%s", text == NULL ? "" : text);
}

static const char *last_part(const char *key)
{
    const char *slash = strrchr(key, '/');
    return slash == NULL ? key : slash + 1;
}

static void add_node(fm_node_directory *directory, const char *key, const char *value)
{
    json_t *json = directory->node_count < FM_NODES_MAX ? json_loads(value, 0, NULL) : NULL;
    if (json == NULL) {
        return;
    }
    fm_node_entry *entry = &directory->nodes[directory->node_count++];
    char text[32];
    snprintf(entry->name, sizeof entry->name, "%s", last_part(key));
    copy_text(entry->tcp, sizeof entry->tcp, json, "tcp");
    copy_text(entry->http, sizeof entry->http, json, "http");
    copy_text(entry->version, sizeof entry->version, json, "version");
    copy_text(text, sizeof text, json, "incarnation");
    entry->incarnation = strtoull(text, NULL, 16);
    entry->worlds = (uint64_t)fm_etcd_number(json, "worlds");
    entry->agents = (uint64_t)fm_etcd_number(json, "agents");
    entry->load = (uint64_t)fm_etcd_number(json, "load");
    // An older program that does not write it does not know such tokens.
    entry->tokens = json_object_get(json, "tokens") == NULL
                        ? UINT64_MAX
                        : (uint64_t)fm_etcd_number(json, "tokens");
    json_decref(json);
}

// Somebody has changed an owner by hand. Nobody may write to the world's log then, or take it; it
// is shown as damaged.
static void note_damaged_owner(fm_node_world *world, const char *key, const char *value)
{
    static fm_log_site site;
    *world = (fm_node_world){.number = world->number, .is_damaged = true};
    fm_log_limited(&site, FM_LOG_ERROR, "a world's owner in etcd is none: nobody has the world",
                   fm_log_text("key", key), fm_log_text("value", value));
}

static void add_owner(fm_node_directory *directory, const char *key, const char *value)
{
    fm_node_world *world = &directory->worlds[directory->world_count];
    *world = (fm_node_world){.number = strtoull(last_part(key), NULL, 16)};
    if (strlen(value) < sizeof world->owner &&
        fm_world_log_owner_parse(value, &world->epoch, world->node, &world->incarnation)) {
        snprintf(world->owner, sizeof world->owner, "%s", value);
    } else {
        note_damaged_owner(world, key, value);
    }
    directory->world_count += world->number != 0;
}

static void add_name(fm_node_directory *directory, const char *key, const char *value)
{
    fm_node_world *world = fm_node_find_world(directory, strtoull(last_part(key), NULL, 16));
    if (world != NULL) {
        snprintf(world->name, sizeof world->name, "%s", value);
    }
}

static const json_t *response_of(const json_t *answer, size_t index)
{
    const json_t *response = json_array_get(json_object_get(answer, "responses"), index);
    return json_object_get(response, "response_range");
}

static const json_t *range_of(const json_t *answer, size_t index)
{
    return json_object_get(response_of(answer, index), "kvs");
}

// Clients are sent names, and read UTF-8 only. jansson takes nothing else.
static bool is_text(const char *bytes)
{
    json_t *text = json_string(bytes);
    bool is = text != NULL;
    json_decref(text);
    return is;
}

// What is no text counts as an empty one.
static void add_all(fm_node_directory *directory, const json_t *kvs,
                    void (*add)(fm_node_directory *, const char *, const char *))
{
    static fm_log_site site;
    size_t i, size;
    const json_t *kv;
    json_array_foreach(kvs, i, kv)
    {
        char *key = fm_etcd_bytes(kv, "key", &size), *value = fm_etcd_bytes(kv, "value", &size);
        if (key != NULL && value != NULL && is_text(key)) {
            bool is = is_text(value);
            add(directory, key, is ? value : "");
            if (!is) {
                fm_log_limited(&site, FM_LOG_ERROR, "a key in etcd holds no text",
                               fm_log_text("key", key), fm_log_text("value", value));
            }
        }
        free(key);
        free(value);
    }
}

// etcd answers in order of keys, which is that of numbers, unless somebody else has put keys there.
static int compare_numbers(const void *one, const void *other)
{
    uint64_t a = ((const fm_node_world *)one)->number, b = ((const fm_node_world *)other)->number;
    return (a > b) - (a < b);
}

static void sort_worlds(fm_node_directory *directory)
{
    bool is_sorted = true;
    for (uint32_t i = 1; i < directory->world_count; i++) {
        is_sorted &= directory->worlds[i - 1].number < directory->worlds[i].number;
    }
    if (!is_sorted) {
        qsort(directory->worlds, directory->world_count, sizeof *directory->worlds,
              compare_numbers);
    }
}

static bool read_directory(const json_t *answer, uint64_t asked_ns, fm_node_directory *directory)
{
    size_t count = json_array_size(range_of(answer, 1));
    *directory = (fm_node_directory){.asked_ns = asked_ns, .looked_ns = fm_clock_now_ns()};
    if (count > FM_CLUSTER_WORLDS_MAX) {
        return false;
    }
    directory->worlds = calloc(count + 1, sizeof *directory->worlds);
    if (directory->worlds == NULL) {
        return false;
    }
    add_all(directory, range_of(answer, 0), add_node);
    add_all(directory, range_of(answer, 1), add_owner);
    directory->is_whole = response_of(answer, 1) != NULL && directory->world_count == count;
    sort_worlds(directory);
    add_all(directory, range_of(answer, 2), add_name);
    add_all(directory, range_of(answer, 3), fm_node_moves_add);
    add_all(directory, range_of(answer, 4), fm_node_moves_add_ready);
    add_all(directory, range_of(answer, 5), fm_node_moves_add_drain);
    directory->tokens = fm_token_log_revision(answer, 6);
    return true;
}

// ---- who takes over ----------------------------------------------------------------------------

static bool has_version(const fm_node_entry *entry, const fm_node_world *world)
{
    return world->version[0] == '\0' || strcmp(entry->version, world->version) == 0;
}

// How many nodes are better for a world without an owner. While the program is upgraded a world
// goes to a node of the version that it had: another one may not compute the same from its log.
static uint32_t rank_of(const fm_node *node, const fm_node_directory *directory,
                        const fm_node_world *world)
{
    const fm_node_entry *own =
        fm_node_find_owner(directory, node->options.name, node->options.incarnation);
    uint32_t rank = 0;
    bool others_have_version = false;
    for (uint32_t i = 0; i < directory->node_count && own != NULL; i++) {
        const fm_node_entry *other = &directory->nodes[i];
        others_have_version |= has_version(other, world);
        rank += other != own && fm_node_is_better(other, own, world->number);
    }
    bool comes_later = own != NULL && others_have_version && !has_version(own, world);
    return rank + (comes_later ? OTHER_VERSION : 0);
}

// A world is still here that another node owns, or has owned. From now on nothing of it is sent.
// Each look gives the order until the world is gone: there may be no room for it, and the event
// loop may not have listed the world yet, or may have no memory.
static bool drop(fm_node *node, uint64_t number)
{
    fm_world_log_note_lost(node->options.store, number);
    return fm_node_give_order(node, FM_NODE_DROP, number, "", false);
}

// Worlds that are still here, and have no owner: another node had them, and has destroyed them.
static bool drop_destroyed(fm_node *node, const fm_node_directory *fresh)
{
    fm_world_log_store *store = node->options.store;
    bool ordered = false;
    for (uint64_t number = fm_world_log_next_shown(store, 0); number != 0 && fresh->is_whole;
         number = fm_world_log_next_shown(store, number)) {
        ordered |= fm_node_find_world(fresh, number) == NULL && drop(node, number);
    }
    return ordered;
}

// The lock is held.
static bool consider(fm_node *node, fm_node_directory *fresh, fm_node_world *world)
{
    uint64_t now_ns = fresh->looked_ns, epoch;
    const fm_node_world *before = fm_node_find_world(&node->directory, world->number);
    if (before != NULL && strcmp(before->owner, world->owner) == 0) {
        world->is_damaged = before->is_damaged;
        world->dead_since_ns = before->dead_since_ns;
        world->again_ns = before->again_ns;
    }
    world->is_asked_for = before != NULL && before->is_asked_for;
    bool mine = fm_node_is_self(node, world->node, world->incarnation);
    bool known = fm_world_log_owns(node->options.store, world->number, &epoch);
    const fm_node_entry *owner = fm_node_find_owner(fresh, world->node, world->incarnation);
    world->has_owner = owner != NULL;
    snprintf(world->version, sizeof world->version, "%s",
             owner != NULL    ? owner->version
             : before != NULL ? before->version
                              : "");
    // Of an epoch that is over, or lost: also if it is this node's once more, in a later epoch.
    bool is_old = epoch < world->epoch && fm_world_log_knows(node->options.store, world->number);
    world->is_here = mine && known && !is_old;
    if (is_old) {
        return drop(node, world->number);
    }
    if (world->is_here) {
        fm_world_log_note_shown(node->options.store, world->number);
    }
    if (fm_node_moves_consider(node, fresh, world, before)) {
        return true;
    }
    if (known || !fresh->is_member || world->is_damaged || world->is_asked_for ||
        (world->has_owner && !mine) || now_ns < world->again_ns) {
        return false;
    }
    world->dead_since_ns = world->dead_since_ns == 0 ? now_ns : world->dead_since_ns;
    uint64_t wait_ns = mine ? 0 : rank_of(node, fresh, world) * FM_NODE_STAGGER_MS * FM_NS_PER_MS;
    if (now_ns - world->dead_since_ns < wait_ns) {
        return false;
    }
    world->is_asked_for =
        fm_node_give_order(node, FM_NODE_TAKE, world->number, world->owner, false);
    return world->is_asked_for;
}

// What this node has entered after the look began is newer than what the look found.
static void prefer_noted(const fm_node *node, fm_node_directory *fresh)
{
    for (uint32_t i = 0; i < fresh->world_count; i++) {
        const fm_node_world *before = fm_node_find_world(&node->directory, fresh->worlds[i].number);
        if (before != NULL && before->noted_ns > fresh->asked_ns) {
            fresh->worlds[i] = *before;
        }
    }
}

// The same, of worlds that the look did not find.
static void keep_noted(fm_node *node, const fm_node_world *worlds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (worlds[i].noted_ns > node->directory.asked_ns) {
            fm_node_note_world(node, &worlds[i]);
        }
    }
}

// A world of an older look that was destroyed here meanwhile.
static bool was_destroyed(const fm_node *node, uint64_t number, uint64_t asked_ns)
{
    bool was = false;
    for (uint32_t i = 0; i < FM_NODE_DESTROYED_MAX; i++) {
        was |= node->destroyed[i].world == number && node->destroyed[i].noted_ns > asked_ns;
    }
    return was;
}

static void leave_out_destroyed(const fm_node *node, fm_node_directory *fresh)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fresh->world_count; i++) {
        if (!was_destroyed(node, fresh->worlds[i].number, fresh->asked_ns)) {
            fresh->worlds[kept++] = fresh->worlds[i];
        }
    }
    fresh->world_count = kept;
}

static void count_all_arriving(fm_node_directory *fresh)
{
    for (uint32_t i = 0; i < fresh->world_count; i++) {
        fm_node_count_arriving(fresh, fresh->worlds[i].to, 1);
    }
}

static void take_in(fm_node *node, fm_node_directory *fresh)
{
    bool ordered = false;
    fresh->is_member =
        fm_node_find_owner(fresh, node->options.name, node->options.incarnation) != NULL;
    uv_mutex_lock(&node->lock);
    fm_node_moves_note_drain(node, fresh);
    node->is_moving = false;
    leave_out_destroyed(node, fresh);
    prefer_noted(node, fresh);
    count_all_arriving(fresh);
    for (uint32_t i = 0; i < fresh->world_count; i++) {
        ordered |= consider(node, fresh, &fresh->worlds[i]);
    }
    ordered |= drop_destroyed(node, fresh);
    fm_node_world *before = node->directory.worlds;
    uint32_t before_count = node->directory.world_count;
    node->directory = *fresh;
    keep_noted(node, before, before_count);
    free(before);
    if (node->is_draining && fresh->is_member && node->wish_count == 0) {
        fm_node_moves_plan(node);
    }
    uv_mutex_unlock(&node->lock);
    if (ordered) {
        node->options.on_order(node->options.context);
    }
}

// With a new lease, others may own the worlds that were here with the last one: the node must read
// the owners before it sends anything of them again. And others must see that it lives: as long as
// its entry is missing in the directory, they may take its worlds.
static void begin_to_be_sure(fm_node *node, bool is_member)
{
    if (node->lease != 0 && node->is_unread && is_member) {
        node->is_unread = false;
        be_sure(node, node->renewed_ns);
    }
}

static void look(fm_node *node)
{
    static const char *const prefixes[] = {"nodes", "owner", "worlds", "move", "ready", "drain"};
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    for (uint32_t i = 0; i < FM_COUNT_OF(prefixes); i++) {
        char prefix[256];
        fm_node_key(node, prefix, sizeof prefix, prefixes[i], "");
        fm_etcd_put(&body, i == 0 ? "{\"requestRange\":{" : ",{\"requestRange\":{");
        fm_etcd_put_prefix(&body, prefix);
        fm_etcd_put(&body, "}}");
    }
    fm_etcd_put(&body, ",");
    fm_token_log_ask(&body, node->options.cluster);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_node_directory *fresh = &node->fresh;
    uint64_t asked_ns = fm_clock_now_ns();
    if (fm_node_call(node, "kv/txn", &body, &answer) == FM_ETCD_DONE) {
        if (read_directory(answer, asked_ns, fresh)) {
            node->tokens_seen = fresh->tokens;
            take_in(node, fresh);
            begin_to_be_sure(node, fresh->is_member);
            fm_node_read_tokens(node);
            fm_world_log_settle_names(node->options.store);
        }
        json_decref(answer);
    }
    fm_writer_fini(&body);
}

// ---- states ------------------------------------------------------------------------------------

const char *fm_cluster_state_name(fm_cluster_state state)
{
    switch (state) {
#define X(enumerator, name, advice)                                                                \
    case enumerator:                                                                               \
        return name;
        FM_CLUSTER_STATE_LIST(X)
#undef X
    }
    FM_UNREACHABLE();
}

const char *fm_cluster_state_advice(fm_cluster_state state)
{
    switch (state) {
#define X(enumerator, name, advice)                                                                \
    case enumerator:                                                                               \
        return advice;
        FM_CLUSTER_STATE_LIST(X)
#undef X
    }
    FM_UNREACHABLE();
}

// etcd reports that it is full only on writes, of which there are a few in a second, and it may
// refuse some requests and answer others. A node whose
// lease was over has a new one some milliseconds after it has noticed, which nobody would see.
static fm_cluster_state state_of(const fm_node *node, uint64_t now_ns)
{
    if (now_ns - node->answered_ns > SILENT_MS * FM_NS_PER_MS) {
        return FM_CLUSTER_NO_MAJORITY;
    }
    if (node->refused_ns != 0 && now_ns - node->refused_ns < REFUSED_MS * FM_NS_PER_MS) {
        return FM_CLUSTER_REFUSED;
    }
    if (node->full_ns != 0 && now_ns - node->full_ns < FULL_MS * FM_NS_PER_MS) {
        return FM_CLUSTER_QUOTA_FULL;
    }
    bool was_over = node->lost_ns != 0 && now_ns - node->lost_ns < OVER_MS * FM_NS_PER_MS;
    return now_ns >= node->sure_until_ns || was_over ? FM_CLUSTER_LEASE_OVER : FM_CLUSTER_GOOD;
}

static void note_state(fm_node *node)
{
    char refusal[FM_ETCD_ERROR_SIZE];
    uv_mutex_lock(&node->lock);
    fm_cluster_state before = node->state, state = state_of(node, fm_clock_now_ns());
    node->state = state;
    memcpy(refusal, node->refusal, sizeof refusal);
    uv_mutex_unlock(&node->lock);
    if (state != before) {
        fm_log(state == FM_CLUSTER_GOOD ? FM_LOG_INFO : FM_LOG_WARNING, "state of the cluster",
               fm_log_text("state", fm_cluster_state_name(state)),
               fm_log_text("reason", state == FM_CLUSTER_REFUSED ? refusal : ""),
               fm_log_text("what_to_do", fm_cluster_state_advice(state)));
    }
}

// ---- the thread --------------------------------------------------------------------------------

static void run(void *context)
{
    fm_node *node = context;
    bool stop = false;
    pthread_setname_np(pthread_self(), "cluster"); // for top(1) and gdb
    while (!stop) {
        keep_lease(node);
        fm_node_moves_carry_out(node);
        look(node);
        note_state(node);
        uv_mutex_lock(&node->lock);
        if (!node->stop && node->wish_count == 0) {
            uint64_t wait_ms = node->is_moving ? LOOK_OFTEN_MS : FM_NODE_LOOK_MS;
            (void)uv_cond_timedwait(&node->woken, &node->lock, wait_ms * FM_NS_PER_MS);
        }
        stop = node->stop;
        uv_mutex_unlock(&node->lock);
    }
    leave(node);
}

fm_status fm_node_create(const fm_node_options *options, fm_node **out)
{
    fm_node *node = calloc(1, sizeof *node);
    if (node == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    node->options = *options;
    node->answered_ns = fm_clock_now_ns();
    node->sure_until_ns = node->answered_ns + SILENT_MS * FM_NS_PER_MS; // it is not a member yet
    if (fm_etcd_create(options->access, &node->etcd) != FM_OK) {
        goto fail_etcd;
    }
    if (uv_mutex_init(&node->lock) < 0) {
        goto fail_lock;
    }
    if (uv_cond_init(&node->woken) < 0) {
        goto fail_cond;
    }
    if (uv_cond_init(&node->known) < 0) {
        goto fail_known;
    }
    if (uv_thread_create(&node->thread, run, node) < 0) {
        goto fail_thread;
    }
    *out = node;
    return FM_OK;
fail_thread:
    uv_cond_destroy(&node->known);
fail_known:
    uv_cond_destroy(&node->woken);
fail_cond:
    uv_mutex_destroy(&node->lock);
fail_lock:
    fm_etcd_destroy(node->etcd);
fail_etcd:
    free(node);
    return FM_ERR_NO_MEMORY;
}

void fm_node_destroy(fm_node *node)
{
    if (node == NULL) {
        return;
    }
    uv_mutex_lock(&node->lock);
    node->stop = true;
    uv_cond_signal(&node->woken);
    uv_mutex_unlock(&node->lock);
    uv_thread_join(&node->thread);
    free(node->tokens.grants);
    uv_cond_destroy(&node->known);
    uv_cond_destroy(&node->woken);
    uv_mutex_destroy(&node->lock);
    fm_etcd_destroy(node->etcd);
    free(node->directory.worlds);
    free(node);
}

// ---- the event loop's side ---------------------------------------------------------------------

const char *fm_node_name(const fm_node *node)
{
    return node->options.name;
}

bool fm_node_next_order(fm_node *node, fm_node_order *order)
{
    uv_mutex_lock(&node->lock);
    bool any = node->order_count > 0;
    if (any) {
        *order = node->orders[node->order_first];
        node->order_first = (node->order_first + 1) % FM_NODE_ORDERS_MAX;
        node->order_count--;
    }
    uv_mutex_unlock(&node->lock);
    return any;
}

void fm_node_note_lost(fm_node *node, uint64_t world)
{
    uv_mutex_lock(&node->lock);
    (void)fm_node_give_order(node, FM_NODE_DROP, world, "",
                             false); // without room: the next read finds it
    uv_mutex_unlock(&node->lock);
    node->options.on_order(node->options.context);
}

void fm_node_end_order(fm_node *node, uint64_t number, fm_status status)
{
    uv_mutex_lock(&node->lock);
    fm_node_world *world = fm_node_find_world(&node->directory, number);
    if (world != NULL) {
        world->is_asked_for = false;
        world->is_damaged = status == FM_ERR_BAD_FORMAT;
        world->again_ns = status == FM_OK ? 0 : fm_clock_now_ns() + AGAIN_MS * FM_NS_PER_MS;
    }
    uv_mutex_unlock(&node->lock);
}

void fm_node_set_load(fm_node *node, uint64_t worlds, uint64_t agents, uint64_t load)
{
    uv_mutex_lock(&node->lock);
    node->worlds = worlds;
    node->agents = agents;
    node->load = load;
    uv_mutex_unlock(&node->lock);
}

bool fm_node_locate(fm_node *node, uint64_t number, const char *name, fm_node_world *world,
                    fm_node_entry *entry)
{
    uv_mutex_lock(&node->lock);
    const fm_node_directory *directory = &node->directory;
    const fm_node_world *one = number != 0 ? fm_node_find_world(directory, number) : NULL;
    for (uint32_t i = 0; i < directory->world_count && number == 0 && one == NULL; i++) {
        one = strcmp(directory->worlds[i].name, name) == 0 ? &directory->worlds[i] : NULL;
    }
    bool found = one != NULL;
    if (found) {
        *world = *one;
    }
    const fm_node_entry *owner =
        found ? fm_node_find_owner(directory, world->node, world->incarnation) : NULL;
    if (owner != NULL) {
        *entry = *owner;
    }
    uv_mutex_unlock(&node->lock);
    return found;
}

uint32_t fm_node_list(fm_node *node, fm_node_entry entries[FM_NODES_MAX])
{
    uv_mutex_lock(&node->lock);
    uint32_t count = node->directory.node_count;
    memcpy(entries, node->directory.nodes, count * sizeof *entries);
    uv_mutex_unlock(&node->lock);
    return count;
}

fm_cluster_state fm_node_state(fm_node *node)
{
    uv_mutex_lock(&node->lock);
    fm_cluster_state state = state_of(node, fm_clock_now_ns());
    uv_mutex_unlock(&node->lock);
    return state;
}

bool fm_node_copy(fm_node *node, fm_node_directory *directory)
{
    uv_mutex_lock(&node->lock);
    *directory = node->directory;
    uint64_t now_ns = fm_clock_now_ns();
    directory->state = state_of(node, now_ns);
    if (directory->state == FM_CLUSTER_REFUSED) { // others are answered meanwhile
        memcpy(directory->error, node->refusal, sizeof directory->error);
    }
    directory->term = node->term;
    directory->leases_lost = node->leases_lost;
    directory->lease_ms =
        node->sure_until_ns > now_ns ? (node->sure_until_ns - now_ns) / FM_NS_PER_MS : 0;
    directory->is_member &= directory->lease_ms > 0; // it may be over since the last read
    size_t size = (directory->world_count + 1) * sizeof *directory->worlds;
    directory->worlds = malloc(size);
    bool copied = directory->worlds != NULL;
    if (copied && node->directory.worlds != NULL) {
        memcpy(directory->worlds, node->directory.worlds,
               directory->world_count * sizeof *directory->worlds);
    }
    uv_mutex_unlock(&node->lock);
    return copied;
}
