// tests/sim/etcd/etcd_store.c: see etcd_store.h.

#include "tests/sim/etcd/etcd_store.h"

#include "server/cluster/etcd.h"
#include "tests/sim/etcd/etcd_past.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_LAG_MAX_MS 350u // etcd ends leases a little late

#define GRPC_NOT_FOUND    5
#define GRPC_EXHAUSTED    8
#define GRPC_OUT_OF_RANGE 11

sim_etcd_store *sim_etcd;
void (*sim_etcd_on_put)(const sim_etcd_key *key);
void (*sim_etcd_on_remove)(const char *name);

// ---- keys --------------------------------------------------------------------------------------

uint32_t sim_etcd_first(const char *name)
{
    uint32_t low = 0, high = sim_etcd->key_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(sim_etcd->keys[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static sim_etcd_key *find(const char *name)
{
    uint32_t at = sim_etcd_first(name);
    bool there = at < sim_etcd->key_count && strcmp(sim_etcd->keys[at].name, name) == 0;
    return there ? &sim_etcd->keys[at] : NULL;
}

sim_etcd_key *sim_etcd_find(const char *format, ...)
{
    char name[SIM_ETCD_KEY_SIZE] = "/fogmarch/" SIM_ETCD_CLUSTER "/";
    size_t size = strlen(name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name + size, sizeof name - size, format, arguments);
    va_end(arguments);
    return find(name);
}

uint8_t *sim_etcd_room(size_t size)
{
    FM_ASSERT(sim_etcd->used + size <= SIM_ETCD_BYTES_MAX);
    uint8_t *room = sim_etcd->bytes + sim_etcd->used;
    sim_etcd->used += size;
    return room;
}

// Something is about to be written.
static void begin_revision(void)
{
    sim_etcd->revision =
        sim_etcd->transaction != 0 ? sim_etcd->transaction : sim_etcd->revision + 1;
}

void sim_etcd_put(const char *name, const void *value, size_t size, int64_t lease)
{
    FM_ASSERT(strlen(name) < SIM_ETCD_KEY_SIZE);
    begin_revision();
    sim_etcd_key *key = find(name);
    if (key == NULL) {
        uint32_t at = sim_etcd_first(name);
        FM_ASSERT(sim_etcd->key_count < SIM_ETCD_KEYS_MAX);
        key = &sim_etcd->keys[at];
        memmove(key + 1, key, (sim_etcd->key_count++ - at) * sizeof *key);
        *key = (sim_etcd_key){.created = sim_etcd->revision};
        memcpy(key->name, name, strlen(name) + 1);
    }
    uint8_t *room = sim_etcd_room(size + 1);
    if (size > 0) {
        memcpy(room, value, size);
    }
    room[size] = 0;
    key->value = room;
    key->size = size;
    key->modified = sim_etcd->revision;
    key->lease = lease;
    sim_etcd_past_put(key);
    sim_etcd_on_put(key);
}

// Keys [from, to).
static void remove_keys(uint32_t from, uint32_t to)
{
    if (from == to) {
        return;
    }
    begin_revision();
    for (uint32_t i = from; i < to; i++) {
        sim_etcd_past_remove(sim_etcd->keys[i].name);
        sim_etcd_on_remove(sim_etcd->keys[i].name);
    }
    memmove(&sim_etcd->keys[from], &sim_etcd->keys[to],
            (sim_etcd->key_count - to) * sizeof *sim_etcd->keys);
    sim_etcd->key_count -= to - from;
}

void sim_etcd_remove(const char *name)
{
    const sim_etcd_key *key = find(name);
    if (key != NULL) {
        uint32_t at = (uint32_t)(key - sim_etcd->keys);
        remove_keys(at, at + 1);
    }
}

// ---- leases ------------------------------------------------------------------------------------

static sim_etcd_lease *find_lease(int64_t id)
{
    for (uint32_t i = 0; i < SIM_ETCD_LEASES_MAX; i++) {
        if (sim_etcd->leases[i].id == id) {
            return &sim_etcd->leases[i];
        }
    }
    return NULL;
}

static void end_lease(sim_etcd_lease *lease)
{
    sim_trace("etcd: lease %" PRId64 " ends", lease->id);
    for (uint32_t i = sim_etcd->key_count; i-- > 0;) {
        if (sim_etcd->keys[i].lease == lease->id) {
            remove_keys(i, i + 1);
        }
    }
    *lease = (sim_etcd_lease){0};
}

static void renew(sim_etcd_lease *lease, uint64_t now_ns)
{
    lease->ends_ns = now_ns + lease->ttl_s * SIM_NS_S + sim_below(LEASE_LAG_MAX_MS + 1) * SIM_NS_MS;
}

uint64_t sim_etcd_end_leases(uint64_t now_ns)
{
    uint64_t next_ns = SIM_NEVER;
    for (uint32_t i = 0; i < SIM_ETCD_LEASES_MAX; i++) {
        sim_etcd_lease *lease = &sim_etcd->leases[i];
        if (lease->id != 0 && lease->ends_ns <= now_ns) {
            end_lease(lease);
        } else if (lease->id != 0 && lease->ends_ns < next_ns) {
            next_ns = lease->ends_ns;
        }
    }
    return next_ns;
}

void sim_etcd_extend_leases(uint64_t now_ns)
{
    sim_etcd->term++;
    for (uint32_t i = 0; i < SIM_ETCD_LEASES_MAX; i++) {
        if (sim_etcd->leases[i].id != 0) {
            renew(&sim_etcd->leases[i], now_ns);
        }
    }
}

// ---- JSON --------------------------------------------------------------------------------------

static void set_number(json_t *object, const char *name, int64_t number)
{
    char text[24]; // as the gateway writes numbers of 64 bits
    snprintf(text, sizeof text, "%" PRId64, number);
    json_object_set_new(object, name, json_string(text));
}

static void set_bytes(json_t *object, const char *name, const void *bytes, size_t size)
{
    size_t length = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(length);
    FM_ASSERT(text != NULL);
    sodium_bin2base64(text, length, bytes, size, sodium_base64_VARIANT_ORIGINAL);
    json_object_set_new(object, name, json_string(text));
    free(text);
}

static json_t *new_answer(void)
{
    json_t *answer = json_object(), *header = json_object();
    set_number(header, "revision", sim_etcd->revision);
    set_number(header, "raft_term", sim_etcd->term + 2);
    json_object_set_new(answer, "header", header);
    return answer;
}

static json_t *refuse(int *code, int http, int grpc, const char *text)
{
    *code = http;
    return json_pack("{s:s,s:s,s:i}", "error", text, "message", text, "code", grpc);
}

static void get_key(const json_t *object, const char *name, char *key)
{
    size_t size = 0;
    char *bytes = fm_etcd_bytes(object, name, &size);
    FM_ASSERT(bytes != NULL && size < SIM_ETCD_KEY_SIZE && strlen(bytes) == size);
    memcpy(key, bytes, size + 1);
    free(bytes);
}

// ---- single operations -------------------------------------------------------------------------

// The keys that a range or its deletion is about.
static void find_range(const json_t *request, uint32_t *from, uint32_t *to)
{
    char key[SIM_ETCD_KEY_SIZE], end[SIM_ETCD_KEY_SIZE];
    get_key(request, "key", key);
    get_key(request, "range_end", end);
    *from = sim_etcd_first(key);
    if (end[0] == '\0') {
        *to = *from + (find(key) != NULL);
    } else {
        *to = sim_etcd_first(end);
        *to = *to < *from ? *from : *to;
    }
}

static json_t *describe_key(const sim_etcd_key *key)
{
    json_t *kv = json_object();
    set_bytes(kv, "key", key->name, strlen(key->name));
    set_number(kv, "create_revision", key->created);
    set_number(kv, "mod_revision", key->modified);
    if (key->size > 0) { // what is empty or false is left out
        set_bytes(kv, "value", key->value, key->size);
    }
    return kv;
}

// Appends keys of a range. `at`: those that it may be about, or NULL: those of now
static void append_keys(json_t *kvs, const sim_etcd_key *const *at, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        json_array_append_new(kvs, describe_key(at == NULL ? &sim_etcd->keys[i] : at[i]));
    }
}

// The same as find_range(), among keys as they were.
static void find_past_range(const json_t *request, const sim_etcd_key *const *keys, uint32_t count,
                            uint32_t *from, uint32_t *to)
{
    char key[SIM_ETCD_KEY_SIZE], end[SIM_ETCD_KEY_SIZE];
    get_key(request, "key", key);
    get_key(request, "range_end", end);
    *from = 0;
    while (*from < count && strcmp(keys[*from]->name, key) < 0) {
        ++*from;
    }
    *to = *from;
    while (*to < count && (end[0] == '\0' ? strcmp(keys[*to]->name, key) == 0
                                          : strcmp(keys[*to]->name, end) < 0)) {
        ++*to;
    }
}

static json_t *range(const json_t *request)
{
    uint32_t from, to;
    int64_t limit = fm_etcd_number(request, "limit"), past = fm_etcd_number(request, "revision");
    const sim_etcd_key *const *keys = NULL;
    json_t *answer = new_answer(), *kvs = json_array();
    if (past > 0) {
        uint32_t count = sim_etcd_past_list(past, &keys);
        find_past_range(request, keys, count, &from, &to);
    } else {
        find_range(request, &from, &to);
    }
    set_number(answer, "count", to - from);
    bool more = limit > 0 && to - from > (uint64_t)limit;
    to = more ? from + (uint32_t)limit : to;
    append_keys(kvs, keys, from, to);
    if (from < to) {
        json_object_set(answer, "kvs", kvs);
    }
    json_decref(kvs);
    if (more) {
        json_object_set_new(answer, "more", json_true());
    }
    return answer;
}

// Of a revision that a request names. NULL: it can be read
static json_t *refuse_revision(const json_t *request, int *code)
{
    switch (sim_etcd_past_judge(fm_etcd_number(request, "revision"))) {
    case SIM_ETCD_KNOWN:
        return NULL;
    case SIM_ETCD_COMPACTED:
        sim_trace("etcd: a request names a revision that was compacted");
        return refuse(code, 400, GRPC_OUT_OF_RANGE,
                      "etcdserver: mvcc: required revision has been compacted");
    case SIM_ETCD_FUTURE:
        return refuse(code, 400, GRPC_OUT_OF_RANGE,
                      "etcdserver: mvcc: required revision is a future revision");
    }
    FM_UNREACHABLE();
}

static bool lacks_lease(const json_t *request)
{
    int64_t lease = fm_etcd_number(request, "lease");
    return lease != 0 && find_lease(lease) == NULL;
}

static json_t *put(const json_t *request)
{
    char key[SIM_ETCD_KEY_SIZE];
    size_t size = 0;
    get_key(request, "key", key);
    char *value = fm_etcd_bytes(request, "value", &size);
    FM_ASSERT(value != NULL && key[0] != '\0');
    sim_etcd_put(key, value, size, fm_etcd_number(request, "lease"));
    free(value);
    return new_answer();
}

static json_t *remove_range(const json_t *request)
{
    uint32_t from, to;
    find_range(request, &from, &to);
    remove_keys(from, to);
    json_t *answer = new_answer();
    set_number(answer, "deleted", to - from);
    return answer;
}

// ---- transactions ------------------------------------------------------------------------------

static bool holds(const json_t *compare)
{
    char name[SIM_ETCD_KEY_SIZE];
    const char *target = json_string_value(json_object_get(compare, "target"));
    const char *result = json_string_value(json_object_get(compare, "result"));
    FM_ASSERT(target != NULL && result != NULL);
    get_key(compare, "key", name);
    const sim_etcd_key *key = find(name);
    if (strcmp(result, "GREATER") == 0) {
        FM_ASSERT(strcmp(target, "CREATE") == 0);
        return (key == NULL ? 0 : key->created) > fm_etcd_number(compare, "create_revision");
    }
    FM_ASSERT(strcmp(result, "EQUAL") == 0);
    if (strcmp(target, "CREATE") == 0) {
        return (key == NULL ? 0 : key->created) == fm_etcd_number(compare, "create_revision");
    }
    if (strcmp(target, "MOD") == 0) {
        return (key == NULL ? 0 : key->modified) == fm_etcd_number(compare, "mod_revision");
    }
    FM_ASSERT(strcmp(target, "VALUE") == 0);
    if (strstr(name, "/owner/") != NULL && sim_bug_shows(SIM_BUG_LOST_FENCE, 1)) {
        return true;
    }
    size_t size = 0;
    char *value = fm_etcd_bytes(compare, "value", &size);
    bool same = key != NULL && key->size == size && memcmp(key->value, value, size) == 0;
    free(value);
    return same;
}

// Appends to a world's log that are told to be done, and are not, when the bug is planted.
static bool is_forgotten(const json_t *request)
{
    char key[SIM_ETCD_KEY_SIZE];
    get_key(request, "key", key);
    return strstr(key, "/log/") != NULL && sim_bug_shows(SIM_BUG_LYING_ETCD, 50);
}

static json_t *carry_out(const json_t *operation)
{
    const json_t *request;
    if ((request = json_object_get(operation, "requestPut")) != NULL) {
        return json_pack("{s:o}", "response_put",
                         is_forgotten(request) ? new_answer() : put(request));
    }
    if ((request = json_object_get(operation, "requestRange")) != NULL) {
        return json_pack("{s:o}", "response_range", range(request));
    }
    request = json_object_get(operation, "requestDeleteRange");
    FM_ASSERT(request != NULL);
    return json_pack("{s:o}", "response_delete_range", remove_range(request));
}

static bool is_allowed(const json_t *operations, bool is_full, json_t **refusal, int *code)
{
    size_t i;
    const json_t *operation;
    json_array_foreach(operations, i, operation)
    {
        const json_t *request = json_object_get(operation, "requestPut");
        if (request != NULL && is_full) {
            *refusal =
                refuse(code, 429, GRPC_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
            return false;
        }
        if (request != NULL && lacks_lease(request)) {
            *refusal = refuse(code, 404, GRPC_NOT_FOUND, "etcdserver: requested lease not found");
            return false;
        }
        request = json_object_get(operation, "requestRange");
        *refusal = request == NULL ? NULL : refuse_revision(request, code);
        if (*refusal != NULL) {
            return false;
        }
    }
    return true;
}

static json_t *transact(const json_t *request, bool is_full, int *code)
{
    const json_t *compares = json_object_get(request, "compare"), *one;
    bool succeeded = true;
    size_t i;
    json_array_foreach(compares, i, one)
    {
        succeeded = succeeded && holds(one);
    }
    const json_t *operations = json_object_get(request, succeeded ? "success" : "failure");
    json_t *refusal = NULL;
    if (!is_allowed(operations, is_full, &refusal, code)) {
        return refusal;
    }
    json_t *responses = json_array();
    sim_etcd->transaction = sim_etcd->revision + 1;
    json_array_foreach(operations, i, one)
    {
        json_array_append_new(responses, carry_out(one));
    }
    sim_etcd->transaction = 0;
    json_t *answer = new_answer(); // with the revision after it
    if (succeeded) {
        json_object_set_new(answer, "succeeded", json_true());
    }
    if (json_array_size(responses) > 0) {
        json_object_set(answer, "responses", responses);
    }
    json_decref(responses);
    return answer;
}

// ---- requests ----------------------------------------------------------------------------------

static json_t *grant(const json_t *request)
{
    sim_etcd_lease *lease = find_lease(0);
    FM_ASSERT(lease != NULL);
    *lease = (sim_etcd_lease){.id = ++sim_etcd->lease_last + 7000,
                              .ttl_s = (uint32_t)fm_etcd_number(request, "TTL")};
    renew(lease, sim_now_ns());
    json_t *answer = new_answer();
    set_number(answer, "ID", lease->id);
    set_number(answer, "TTL", lease->ttl_s);
    return answer;
}

static json_t *keep_alive(const json_t *request)
{
    int64_t id = fm_etcd_number(request, "ID");
    sim_etcd_lease *lease = find_lease(id);
    json_t *result = new_answer();
    set_number(result, "ID", id);
    if (lease != NULL) {
        renew(lease, sim_now_ns());
        set_number(result, "TTL", lease->ttl_s);
    }
    return json_pack("{s:o}", "result", result);
}

static json_t *revoke(const json_t *request, int *code)
{
    sim_etcd_lease *lease = find_lease(fm_etcd_number(request, "ID"));
    if (lease == NULL) {
        return refuse(code, 404, GRPC_NOT_FOUND, "etcdserver: requested lease not found");
    }
    end_lease(lease);
    return new_answer();
}

static json_t *put_alone(const json_t *request, bool is_full, int *code)
{
    if (is_full) {
        return refuse(code, 429, GRPC_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
    }
    return lacks_lease(request)
               ? refuse(code, 404, GRPC_NOT_FOUND, "etcdserver: requested lease not found")
               : put(request);
}

static json_t *range_alone(const json_t *request, int *code)
{
    json_t *refusal = refuse_revision(request, code);
    return refusal == NULL ? range(request) : refusal;
}

static json_t *compact(const json_t *request, int *code)
{
    int64_t revision = fm_etcd_number(request, "revision");
    bool is_again = revision > 0 && revision == sim_etcd->compacted;
    json_t *refusal = refuse_revision(request, code);
    if (is_again) {
        refusal = refuse(code, 400, GRPC_OUT_OF_RANGE,
                         "etcdserver: mvcc: required revision has been compacted");
    }
    if (refusal != NULL) {
        return refusal;
    }
    sim_etcd_past_compact(revision);
    return new_answer();
}

json_t *sim_etcd_answer(const char *path, const json_t *request, bool is_full, int *code)
{
    *code = 200;
    sim_etcd_past_turn();
    if (strcmp(path, "kv/txn") == 0) {
        return transact(request, is_full, code);
    }
    if (strcmp(path, "kv/range") == 0) {
        return range_alone(request, code);
    }
    if (strcmp(path, "kv/put") == 0) {
        return put_alone(request, is_full, code);
    }
    if (strcmp(path, "lease/grant") == 0) {
        return grant(request);
    }
    if (strcmp(path, "lease/keepalive") == 0) {
        return keep_alive(request);
    }
    if (strcmp(path, "lease/revoke") == 0) {
        return revoke(request, code);
    }
    if (strcmp(path, "kv/compaction") == 0) {
        return compact(request, code);
    }
    sim_fail("etcd is asked for %s, which the simulation does not have", path);
}
