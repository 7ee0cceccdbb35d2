// server/cluster/world_log_follow.c: reads the log of a world that lives on another node, which is
// about to give it to this one; see world_log.h and node.h.
//
// The owner is read before the records: once it is this node nobody else appends, so the records
// that are read afterwards are all.

#include "server/cluster/world_log_state.h"

#include <stdio.h>
#include <stdlib.h>

#define CLOSE_SIZE ((size_t)256 << 10) // bytes of rows: a few ticks

struct fm_world_log_follower {
    struct log_taking taking;
    fm_journal_file *file;
    char mine[FM_CLUSTER_OWNER_MAX];   // the owner's text, once it is this node
    char source[FM_CLUSTER_OWNER_MAX]; // as it is
    char source_node[FM_CLUSTER_NAME_MAX + 1];
    uint64_t source_incarnation;
};

// ---- whose it is -------------------------------------------------------------------------------

// The source is gone, or the move was given up.
static bool is_over(const fm_world_log_follower *follower, const json_t *answer)
{
    size_t size;
    char incarnation[24];
    snprintf(incarnation, sizeof incarnation, "%016" PRIx64, follower->source_incarnation);
    char *node = fm_etcd_response_value(answer, 2, &size);
    bool lives = node != NULL && strstr(node, incarnation) != NULL;
    free(node);
    return !lives || !fm_etcd_response_is(answer, 0, follower->source, strlen(follower->source)) ||
           !fm_etcd_response_is(answer, 1, follower->mine, strlen(follower->mine));
}

static fm_status look(fm_world_log_follower *follower, fm_follow_state *state)
{
    struct log_taking *taking = &follower->taking;
    char owner_key[FM_WORLD_LOG_KEY_SIZE], move_key[FM_WORLD_LOG_KEY_SIZE],
        node_key[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(taking->store, owner_key, FM_WORLD_LOG_OWNER_KEY, taking->number);
    fm_world_log_key(taking->store, move_key, FM_WORLD_LOG_MOVE_KEY, taking->number);
    fm_world_log_key(taking->store, node_key, "nodes/%s", follower->source_node);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_etcd_request_get(&body, owner_key);
    fm_etcd_put(&body, ",");
    fm_etcd_request_get(&body, move_key);
    fm_etcd_put(&body, ",");
    fm_etcd_request_get(&body, node_key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/txn", &body, &answer, taking->error) == FM_ETCD_DONE) {
        bool owned = fm_etcd_response_is(answer, 0, follower->mine, strlen(follower->mine));
        *state = owned                       ? FM_FOLLOW_OWNED
                 : is_over(follower, answer) ? FM_FOLLOW_OVER
                                             : FM_FOLLOW_BEHIND;
        status = FM_OK;
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return status;
}

static fm_status read_source(fm_world_log_follower *follower)
{
    struct log_taking *taking = &follower->taking;
    char key[FM_WORLD_LOG_KEY_SIZE];
    fm_writer owner = fm_writer_init(&fm_memory_libc);
    fm_world_log_key(taking->store, key, FM_WORLD_LOG_OWNER_KEY, taking->number);
    fm_status status = fm_world_log_read_key(taking, key, &owner);
    uint64_t epoch = 0;
    char node[FM_CLUSTER_NAME_MAX + 1];
    if (status == FM_OK) {
        snprintf(follower->source, sizeof follower->source, "%.*s", (int)owner.size,
                 (const char *)owner.data);
        bool good = fm_world_log_owner_parse(follower->source, &epoch, follower->source_node,
                                             &follower->source_incarnation) &&
                    fm_world_log_owner_parse(follower->mine, &taking->epoch, node, &(uint64_t){0});
        // One epoch before, or it is this node's already.
        status =
            good && (epoch + 1 == taking->epoch || strcmp(follower->source, follower->mine) == 0)
                ? FM_OK
                : FM_ERR_EXISTS;
    }
    fm_writer_fini(&owner);
    return status;
}

// ---- rows --------------------------------------------------------------------------------------

static bool has_keyframe(const fm_writer *rows)
{
    fm_reader reader = fm_reader_init(rows->data, rows->size, NULL);
    while (fm_reader_left(&reader) > 0) {
        uint8_t kind = fm_reader_take_u8(&reader);
        (void)fm_reader_take_u64(&reader);
        (void)fm_reader_take_bytes(&reader, fm_reader_take_u32(&reader), "row");
        if (kind == FM_JOURNAL_KEYFRAME) {
            return true;
        }
    }
    return false;
}

// Records removed while reading look damaged to a late reader, but are not.
static fm_status passing(fm_status status)
{
    return status == FM_ERR_BAD_FORMAT ? FM_ERR_IO : status;
}

fm_status fm_world_log_follow_on(fm_world_log_follower *follower, fm_follow_state *state,
                                 char *error)
{
    struct log_taking *taking = &follower->taking;
    taking->error = error;
    fm_status status = look(follower, state);
    if (status != FM_OK || *state == FM_FOLLOW_OVER) {
        return status;
    }
    fm_writer_clear(&taking->rows);
    status = fm_world_log_read_records(taking);
    if (status == FM_OK && has_keyframe(&taking->rows)) {
        *state = FM_FOLLOW_AGAIN;
        return FM_OK;
    }
    if (status == FM_OK && taking->rows.size > 0) {
        status = fm_world_log_add_rows(taking, follower->file);
    }
    if (*state == FM_FOLLOW_BEHIND && taking->rows.size < CLOSE_SIZE) {
        *state = FM_FOLLOW_CLOSE;
    }
    return passing(status);
}

// ---- beginning and end -------------------------------------------------------------------------

fm_status fm_world_log_follow(fm_world_log_store *store, uint64_t number, const char *owner,
                              const char *folder, char *path, size_t size,
                              fm_world_log_follower **out, char *error)
{
    fm_world_log_follower *follower = calloc(1, sizeof *follower);
    if (follower == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    struct log_taking *taking = &follower->taking;
    snprintf(follower->mine, sizeof follower->mine, "%s", owner);
    fm_status status = fm_world_log_taking_init(store, number, error, taking);
    if (status == FM_OK) {
        status = read_source(follower);
    }
    if (status == FM_OK) {
        status = fm_world_log_read(taking);
    }
    if (status == FM_OK && has_keyframe(&taking->rows)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "a keyframe came while the log was read");
        status = FM_ERR_IO;
    }
    if (status == FM_OK) {
        status = fm_world_log_write_journal(taking, folder, path, size, &follower->file);
    }
    if (status != FM_OK) {
        fm_world_log_follow_end(follower);
        return passing(status);
    }
    *out = follower;
    return FM_OK;
}

fm_status fm_world_log_follow_ready(fm_world_log_follower *follower, char *error)
{
    struct log_taking *taking = &follower->taking;
    char key[FM_WORLD_LOG_KEY_SIZE], move_key[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(taking->store, key, FM_WORLD_LOG_READY_KEY, taking->number);
    fm_world_log_key(taking->store, move_key, FM_WORLD_LOG_MOVE_KEY, taking->number);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    // A late copy finds that the move is over, and leaves nothing behind.
    fm_etcd_put(&body, "{\"compare\":[");
    fm_etcd_compare_value(&body, move_key, follower->mine);
    fm_etcd_put(&body, "],\"success\":[");
    fm_etcd_request_put(&body, key, follower->mine, strlen(follower->mine));
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/txn", &body, &answer, error) == FM_ETCD_DONE) {
        json_decref(answer);
        status = FM_OK;
    }
    fm_writer_fini(&body);
    return status;
}

void fm_world_log_follow_scenes(fm_world_log_follower *follower, char *text, size_t size,
                                char *error)
{
    char key[FM_WORLD_LOG_KEY_SIZE];
    fm_writer scenes = fm_writer_init(&fm_memory_libc);
    follower->taking.error = error;
    fm_world_log_key(follower->taking.store, key, FM_WORLD_LOG_SCENES_KEY, follower->taking.number);
    bool read = fm_world_log_read_key(&follower->taking, key, &scenes) == FM_OK;
    size_t length = read && scenes.size < size ? scenes.size : 0;
    if (length > 0) {
        memcpy(text, scenes.data, length);
    }
    text[length] = '\0';
    fm_writer_fini(&scenes);
}

fm_status fm_world_log_follow_enter(fm_world_log_follower *follower)
{
    fm_journal_file_close(follower->file); // the world that continues it opens it again
    follower->file = NULL;
    return fm_world_log_enter(&follower->taking);
}

void fm_world_log_follow_end(fm_world_log_follower *follower)
{
    if (follower != NULL) {
        fm_journal_file_close(follower->file);
        fm_world_log_taking_fini(&follower->taking);
        free(follower);
    }
}
