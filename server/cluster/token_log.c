// server/cluster/token_log.c: see token_log.h.

#include "server/cluster/token_log.h"

#include "server/base/log.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_SIZE   256u
#define CALL_MS    3000u
#define TRIES      20u
#define LEASE_MORE 60u // seconds that a key outlives its token
#define HEX_SIZE   (2u * FM_TOKEN_HASH_SIZE)

// ---- keys and values ---------------------------------------------------------------------------

static void make_key(char *key, const char *cluster, const char *what)
{
    snprintf(key, KEY_SIZE, "/fogmarch/%s/%s", cluster, what);
}

static void make_token_key(char *key, const char *cluster, uint64_t world, uint64_t number)
{
    snprintf(key, KEY_SIZE, "/fogmarch/%s/tokens/%016" PRIx64 "/%016" PRIx64, cluster, world,
             number);
}

static void make_value(char *value, size_t size, const fm_grant *grant)
{
    char hash[HEX_SIZE + 1];
    sodium_bin2hex(hash, sizeof hash, grant->hash, FM_TOKEN_HASH_SIZE);
    snprintf(value, size, "%s %u %" PRIu32 " %" PRIu64, hash, (unsigned)grant->role,
             grant->seat.team, grant->expires_s);
}

bool fm_token_log_parse(const char *key, const char *value, fm_grant *grant)
{
    const char *numbers = strstr(key, "/tokens/");
    char hash[HEX_SIZE + 1];
    unsigned role;
    size_t size = 0;
    fm_grant read = {.role = FM_ROLE_NONE};
    _Static_assert(HEX_SIZE == 64, "as in the format");
    if (numbers == NULL ||
        sscanf(numbers, "/tokens/%16" SCNx64 "/%16" SCNx64, &read.seat.number, &read.number) != 2 ||
        sscanf(value, "%64s %u %" SCNu32 " %" SCNu64, hash, &role, &read.seat.team,
               &read.expires_s) != 4 ||
        sodium_hex2bin(read.hash, sizeof read.hash, hash, strlen(hash), NULL, &size, NULL) != 0 ||
        size != sizeof read.hash || role < FM_ROLE_PLAYER || role > FM_ROLE_ADMIN ||
        read.number == 0 || (role == FM_ROLE_PLAYER) != (read.seat.number != 0)) {
        return false;
    }
    read.role = (fm_role)role;
    *grant = read;
    return true;
}

// ---- changes -----------------------------------------------------------------------------------

static void request_change(fm_writer *body, const char *cluster)
{
    char key[KEY_SIZE], text[24];
    uint64_t nonce;
    randombytes_buf(&nonce, sizeof nonce);
    snprintf(text, sizeof text, "%016" PRIx64, nonce);
    make_key(key, cluster, "tokens_changed");
    fm_etcd_request_put(body, key, text, strlen(text));
}

static uint64_t revision_of(const json_t *answer)
{
    return (uint64_t)fm_etcd_number(json_object_get(answer, "header"), "revision");
}

static fm_etcd_outcome call(fm_etcd *etcd, const char *path, const fm_writer *body, json_t **answer,
                            char *error)
{
    return fm_etcd_call(etcd, path, body, CALL_MS, answer, error);
}

// 0: there is none.
static int64_t grant_lease(fm_etcd *etcd, uint64_t seconds, char *error)
{
    char text[48];
    json_t *answer;
    int64_t lease = 0;
    fm_writer body = fm_writer_init(&fm_memory_libc);
    snprintf(text, sizeof text, "{\"TTL\":\"%" PRIu64 "\"}", seconds);
    fm_etcd_put(&body, text);
    if (call(etcd, "lease/grant", &body, &answer, error) == FM_ETCD_DONE) {
        lease = fm_etcd_number(answer, "ID");
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return lease;
}

static void request_put_leased(fm_writer *body, const char *key, const char *value, int64_t lease)
{
    char text[48];
    fm_etcd_put(body, "{\"requestPut\":{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_text(body, "value", value);
    snprintf(text, sizeof text, ",\"lease\":\"%" PRId64 "\"}}", lease);
    fm_etcd_put(body, text);
}

// The number of the next token, as text. NULL: none was made yet.
static fm_status read_next(const fm_token_log_place *place, fm_etcd *etcd, char **next, char *error)
{
    char key[KEY_SIZE];
    size_t size;
    json_t *answer;
    make_key(key, place->cluster, "tokens_next");
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_etcd_request_get(&body, key);
    fm_etcd_put(&body, "]}");
    fm_etcd_outcome outcome = call(etcd, "kv/txn", &body, &answer, error);
    if (outcome == FM_ETCD_DONE) {
        *next = fm_etcd_response_value(answer, 0, &size);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return outcome == FM_ETCD_DONE ? FM_OK : FM_ERR_IO;
}

// The key of the world that a seat is in. Destroying the world removes it, and after that its
// tokens: one that came later would stay.
static void make_world_key(char *key, const char *cluster, uint64_t world)
{
    snprintf(key, KEY_SIZE, "/fogmarch/%s/worlds/%016" PRIx64, cluster, world);
}

// Why a token could not be added: its world is gone, or another node was faster.
static fm_status judge_failure(const json_t *answer)
{
    return fm_etcd_response_has(answer, 0) ? FM_ERR_BUSY : FM_ERR_NO_WORLD;
}

// One try. FM_ERR_BUSY: another node was faster.
static fm_status try_to_add(const fm_token_log_place *place, fm_etcd *etcd, fm_grant *grant,
                            int64_t lease, uint64_t *revision, char *error)
{
    char next_key[KEY_SIZE], key[KEY_SIZE], world_key[KEY_SIZE], value[160], after[24];
    char *next = NULL;
    bool is_seat = grant->seat.number != 0;
    fm_status status = read_next(place, etcd, &next, error);
    if (status != FM_OK) {
        return status;
    }
    grant->number = next == NULL ? 1 : strtoull(next, NULL, 10);
    make_key(next_key, place->cluster, "tokens_next");
    make_token_key(key, place->cluster, grant->seat.number, grant->number);
    make_value(value, sizeof value, grant);
    snprintf(after, sizeof after, "%" PRIu64, grant->number + 1);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"compare\":[");
    if (next == NULL) {
        fm_etcd_compare_absent(&body, next_key);
    } else {
        fm_etcd_compare_value(&body, next_key, next);
    }
    make_world_key(world_key, place->cluster, grant->seat.number);
    if (is_seat) {
        fm_etcd_put(&body, ",");
        fm_etcd_compare_present(&body, world_key);
    }
    fm_etcd_put(&body, "],\"success\":[");
    fm_etcd_request_put(&body, next_key, after, strlen(after));
    fm_etcd_put(&body, ",");
    request_put_leased(&body, key, value, lease);
    fm_etcd_put(&body, ",");
    request_change(&body, place->cluster);
    fm_etcd_put(&body, "],\"failure\":[");
    if (is_seat) {
        fm_etcd_request_get(&body, world_key);
    }
    fm_etcd_put(&body, "]}");
    json_t *answer;
    status = FM_ERR_IO;
    if (call(etcd, "kv/txn", &body, &answer, error) == FM_ETCD_DONE) {
        status = fm_etcd_succeeded(answer) ? FM_OK : is_seat ? judge_failure(answer) : FM_ERR_BUSY;
        *revision = revision_of(answer);
        json_decref(answer);
    }
    free(next);
    fm_writer_fini(&body);
    return status;
}

// When an answer is lost, a token may exist whose secret was never sent.
fm_status fm_token_log_add(const fm_token_log_place *place, fm_grant *grant, uint64_t now_s,
                           uint64_t *revision, char *error)
{
    fm_etcd *etcd;
    int64_t lease = 0;
    if (fm_etcd_create(place->access, &etcd) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = FM_ERR_BUSY;
    if (grant->expires_s != 0) {
        uint64_t lasts_s = grant->expires_s > now_s ? grant->expires_s - now_s : 0;
        lease = grant_lease(etcd, lasts_s + LEASE_MORE, error);
        status = lease == 0 ? FM_ERR_IO : status;
    }
    for (uint32_t i = 0; i < TRIES && status == FM_ERR_BUSY; i++) {
        status = try_to_add(place, etcd, grant, lease, revision, error);
    }
    fm_etcd_destroy(etcd);
    if (status == FM_ERR_NO_WORLD) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "world %" PRIu64 " is gone", grant->seat.number);
    }
    return status == FM_ERR_BUSY ? FM_ERR_IO : status;
}

static fm_status strike(const fm_token_log_place *place, const char *from, const char *to,
                        uint64_t *revision, char *error)
{
    fm_etcd *etcd;
    json_t *answer;
    if (fm_etcd_create(place->access, &etcd) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_etcd_request_delete(&body, from, to);
    fm_etcd_put(&body, ",");
    request_change(&body, place->cluster);
    fm_etcd_put(&body, "]}");
    fm_etcd_outcome outcome = call(etcd, "kv/txn", &body, &answer, error);
    if (outcome == FM_ETCD_DONE) {
        *revision = revision_of(answer);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    fm_etcd_destroy(etcd);
    return outcome == FM_ETCD_DONE ? FM_OK : FM_ERR_IO;
}

fm_status fm_token_log_remove(const fm_token_log_place *place, uint64_t world, uint64_t number,
                              uint64_t *revision, char *error)
{
    char key[KEY_SIZE];
    make_token_key(key, place->cluster, world, number);
    return strike(place, key, NULL, revision, error);
}

fm_status fm_token_log_remove_world(const fm_token_log_place *place, uint64_t world,
                                    uint64_t *revision, char *error)
{
    char from[KEY_SIZE], to[KEY_SIZE];
    snprintf(from, sizeof from, "/fogmarch/%s/tokens/%016" PRIx64 "/", place->cluster, world);
    snprintf(to, sizeof to, "/fogmarch/%s/tokens/%016" PRIx64 "0", place->cluster, world);
    return strike(place, from, to, revision, error);
}

// ---- reading -----------------------------------------------------------------------------------

void fm_token_log_ask(fm_writer *body, const char *cluster)
{
    char key[KEY_SIZE];
    make_key(key, cluster, "tokens_changed");
    fm_etcd_request_get(body, key);
}

static const json_t *range_of(const json_t *answer, size_t index)
{
    const json_t *response = json_array_get(json_object_get(answer, "responses"), index);
    return json_object_get(json_object_get(response, "response_range"), "kvs");
}

uint64_t fm_token_log_revision(const json_t *answer, size_t index)
{
    return (uint64_t)fm_etcd_number(json_array_get(range_of(answer, index), 0), "mod_revision");
}

static int compare_numbers(const void *a, const void *b)
{
    const fm_grant *one = a, *other = b;
    return one->number < other->number ? -1 : one->number > other->number;
}

static bool read_all(const json_t *kvs, fm_token_list *list)
{
    size_t i, size, count = json_array_size(kvs);
    const json_t *kv;
    list->grants = calloc(count + 1, sizeof *list->grants);
    if (list->grants == NULL) {
        return false;
    }
    json_array_foreach(kvs, i, kv)
    {
        char *key = fm_etcd_bytes(kv, "key", &size), *value = fm_etcd_bytes(kv, "value", &size);
        if (key != NULL && value != NULL &&
            fm_token_log_parse(key, value, &list->grants[list->count])) {
            list->count++;
        } else {
            fm_log(FM_LOG_WARNING, "a token of the cluster cannot be read",
                   fm_log_text("key", key == NULL ? "" : key));
        }
        free(key);
        free(value);
    }
    qsort(list->grants, list->count, sizeof *list->grants, compare_numbers);
    return true;
}

fm_etcd_outcome fm_token_log_read(fm_etcd *etcd, const char *cluster, uint32_t timeout_ms,
                                  fm_token_list *list, char *error)
{
    char prefix[KEY_SIZE];
    json_t *answer;
    *list = (fm_token_list){.count = 0};
    make_key(prefix, cluster, "tokens/");
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_token_log_ask(&body, cluster);
    fm_etcd_put(&body, ",{\"requestRange\":{");
    fm_etcd_put_prefix(&body, prefix);
    fm_etcd_put(&body, "}}]}");
    fm_etcd_outcome outcome = fm_etcd_call(etcd, "kv/txn", &body, timeout_ms, &answer, error);
    if (outcome == FM_ETCD_DONE) {
        list->revision = fm_token_log_revision(answer, 0);
        outcome = read_all(range_of(answer, 1), list) ? FM_ETCD_DONE : FM_ETCD_UNREACHABLE;
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return outcome;
}
