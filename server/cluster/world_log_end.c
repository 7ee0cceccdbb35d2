// server/cluster/world_log_end.c: a world ends here: it is destroyed, and its log with it, or
// another node has it from now on. See world_log.h.
//
// A world is destroyed in one transaction, which removes all its keys if the owner is this node.
// Its client is answered once etcd has done that; until then the same transaction is sent again and
// again. If the node dies first, another one has the world, or nobody has.

#include "server/base/log.h"
#include "server/cluster/world_log_state.h"

#include <stdio.h>
#include <stdlib.h>

// A condition: the world is still ours.
static void compare_owner(const fm_world_log_store *store, const struct log_world *world,
                          fm_writer *body, const char *key)
{
    char owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(owner, world->epoch, store->options.node, store->options.incarnation);
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_value(body, key, owner);
    fm_etcd_put(body, "],\"success\":[");
}

static void delete_key(const fm_world_log_store *store, fm_writer *body, const char *kind,
                       uint64_t number)
{
    char key[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(store, key, "%s/%016" PRIx64, kind, number);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, key, NULL);
}

// ---- destroyed ---------------------------------------------------------------------------------

static void delete_all(const fm_world_log_store *store, fm_writer *body, const char *kind,
                       uint64_t number)
{
    char from[FM_WORLD_LOG_KEY_SIZE], to[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(store, from, "%s/%016" PRIx64 "/", kind, number);
    fm_world_log_key(store, to, "%s/%016" PRIx64 "0", kind, number);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, from, to);
}

// Without an owner it was done by a try whose answer was lost, or by the next owner.
static fm_fence_verdict judge(const json_t *answer)
{
    bool is_gone = fm_etcd_succeeded(answer) || !fm_etcd_response_has(answer, 0);
    return is_gone ? FM_FENCE_COMMITTED : FM_FENCE_LOST;
}

static fm_fence_verdict destroy(const fm_world_log_store *store, const struct log_world *world,
                                fm_etcd *etcd, char *error)
{
    char owner_key[FM_WORLD_LOG_KEY_SIZE], name_key[FM_WORLD_LOG_KEY_SIZE];
    char name[FM_JOURNAL_NAME_MAX + 1], reason[FM_ETCD_ERROR_SIZE];
    uint64_t number = world->number;
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_reader head = fm_reader_init(world->head.data, world->head.size, NULL);
    fm_reader_take_text(&head, name, sizeof name, "name");
    fm_world_log_key(store, owner_key, FM_WORLD_LOG_OWNER_KEY, number);
    fm_world_log_key(store, name_key, "names/%s", name);
    compare_owner(store, world, &body, owner_key);
    fm_etcd_request_delete(&body, owner_key, NULL);
    fm_etcd_put(&body, ",");
    fm_etcd_request_delete(&body, name_key, NULL);
    delete_key(store, &body, "kf", number);
    delete_key(store, &body, "worlds", number);
    delete_key(store, &body, "move", number);
    delete_key(store, &body, "ready", number);
    delete_key(store, &body, "scenes", number);
    delete_all(store, &body, "log", number);
    delete_all(store, &body, "part", number);
    fm_etcd_put(&body, "],\"failure\":[");
    fm_etcd_request_get(&body, owner_key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_fence_verdict verdict = FM_FENCE_WAITING;
    if (fm_etcd_call(etcd, "kv/txn", &body, FM_WORLD_LOG_TIMEOUT_MS, &answer, reason) ==
        FM_ETCD_DONE) {
        verdict = judge(answer);
        json_decref(answer);
    } else {
        snprintf(error, FM_JOURNAL_ERROR_SIZE,
                 "world %" PRIu64 " is to be destroyed, and its log not removed yet: %.200s",
                 number, reason);
    }
    fm_writer_fini(&body);
    return verdict;
}

// ---- given away --------------------------------------------------------------------------------

// The last step of a move. If the answer is lost, the directory later shows the owner: this node
// takes the world again, or the next owner has it.
static void hand_over(fm_world_log_store *store, const struct log_world *world, fm_etcd *etcd,
                      const char *heir)
{
    char owner_key[FM_WORLD_LOG_KEY_SIZE], scenes_key[FM_WORLD_LOG_KEY_SIZE],
        error[FM_ETCD_ERROR_SIZE];
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_world_log_key(store, owner_key, FM_WORLD_LOG_OWNER_KEY, world->number);
    fm_world_log_key(store, scenes_key, FM_WORLD_LOG_SCENES_KEY, world->number);
    compare_owner(store, world, &body, owner_key);
    fm_etcd_request_put(&body, owner_key, heir, strlen(heir));
    fm_etcd_put(&body, ",");
    fm_etcd_request_put(&body, scenes_key, world->scenes, strlen(world->scenes));
    delete_key(store, &body, "move", world->number);
    delete_key(store, &body, "ready", world->number);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    if (fm_world_log_call(etcd, "kv/txn", &body, &answer, error) == FM_ETCD_DONE) {
        json_decref(answer);
    } else {
        fm_log(FM_LOG_WARNING, "not known whether a world was handed over",
               fm_log_uint("world", world->number), fm_log_text("reason", error));
    }
    fm_writer_fini(&body);
}

// ---- both --------------------------------------------------------------------------------------

// Which of the two, and for whom. From now on the directory may no longer show it.
static void find_heir(fm_world_log_store *store, struct log_world *world, char *heir)
{
    uv_mutex_lock(&store->lock);
    world->is_ending = true;
    snprintf(heir, FM_CLUSTER_OWNER_MAX, "%s", world->is_lost ? "" : world->heir);
    uv_mutex_unlock(&store->lock);
}

fm_fence_verdict fm_world_log_end(void *context, uint64_t number, bool is_left, char *error)
{
    fm_world_log_store *store = context;
    struct log_world *world = fm_world_log_find(store, number);
    char heir[FM_CLUSTER_OWNER_MAX];
    fm_etcd *etcd;
    fm_fence_verdict verdict = is_left ? FM_FENCE_COMMITTED : FM_FENCE_WAITING;
    if (world == NULL) {
        return is_left ? FM_FENCE_COMMITTED : FM_FENCE_LOST;
    }
    find_heir(store, world, heir);
    if ((!is_left || heir[0] != '\0') && fm_etcd_create(store->options.access, &etcd) == FM_OK) {
        if (is_left) {
            hand_over(store, world, etcd, heir);
        } else {
            verdict = destroy(store, world, etcd, error);
        }
        fm_etcd_destroy(etcd);
    }
    if (verdict == FM_FENCE_LOST) {
        fm_world_log_note_lost(store, number);
    } else if (verdict == FM_FENCE_COMMITTED) {
        fm_world_log_forget(store, number);
    }
    return verdict;
}
