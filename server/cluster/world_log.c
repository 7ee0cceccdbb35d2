// server/cluster/world_log.c: see world_log.h. Worlds begin, and batches are appended.

#include "server/cluster/world_log.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/cluster/world_log_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_EPOCH ((uint64_t)1)

// ---- the lease ---------------------------------------------------------------------------------

void fm_world_log_set_sure(fm_world_log_store *store, uint64_t until_ns)
{
    atomic_store(&store->sure_until_ns, until_ns);
}

void fm_world_log_set_lease(fm_world_log_store *store, int64_t lease)
{
    atomic_store(&store->lease, lease);
}

static fm_fence_verdict check(void *context, uint64_t number)
{
    fm_world_log_store *store = context;
    uint64_t epoch;
    if (!fm_world_log_owns(store, number, &epoch)) {
        return FM_FENCE_LOST;
    }
    return fm_clock_now_ns() < atomic_load(&store->sure_until_ns) ? FM_FENCE_COMMITTED
                                                                  : FM_FENCE_WAITING;
}

bool fm_world_log_is_sure(fm_world_log_store *store, uint64_t number)
{
    return check(store, number) == FM_FENCE_COMMITTED;
}

// ---- keyframes ---------------------------------------------------------------------------------

static void pack_keyframe(const struct log_keyframe *keyframe, fm_writer *out)
{
    uint64_t hz, budget;
    memcpy(&hz, &keyframe->pace.tick_hz, sizeof hz);
    memcpy(&budget, &keyframe->pace.budget_ms, sizeof budget);
    fm_writer_put_u8(out, FM_WORLD_LOG_VERSION);
    fm_writer_put_u64(out, keyframe->position);
    fm_writer_put_u64(out, keyframe->epoch);
    fm_writer_put_u32(out, keyframe->part_count);
    fm_writer_put_u64(out, keyframe->size);
    fm_writer_put_u64(out, keyframe->checksum);
    fm_writer_put_u64(out, keyframe->tick);
    fm_writer_put_u64(out, keyframe->digest);
    fm_writer_put_u8(out, keyframe->pace.paused);
    fm_writer_put_u64(out, hz);
    fm_writer_put_u64(out, budget);
    fm_writer_put_bytes(out, keyframe->head.data, keyframe->head.size);
}

// Name, number and so on, as they do not change.
static void pack_head(const fm_journal_head *head, fm_writer *out)
{
    fm_writer_put_text(out, head->name);
    fm_writer_put_u64(out, head->number);
    fm_writer_put_u32(out, head->overload);
    fm_writer_put_u64(out, head->timeline);
    fm_writer_put_u32(out, head->base_count);
    for (uint32_t i = 0; i < head->base_count; i++) {
        fm_writer_put_u32(out, head->bases[i]);
    }
}

// The parts of a world's bytes, which are not read until a record names them.
static void set_bytes(struct log_keyframe *keyframe, const fm_writer *packed)
{
    keyframe->size = packed->size;
    keyframe->checksum = fm_bytes_checksum(packed->data, packed->size);
    keyframe->part_count =
        (uint32_t)((packed->size + FM_WORLD_LOG_PART_SIZE - 1) / FM_WORLD_LOG_PART_SIZE);
}

static void build_part(const fm_world_log_store *store, uint64_t number,
                       const struct log_keyframe *keyframe, const fm_writer *packed, uint32_t part,
                       fm_writer *body)
{
    char key[FM_WORLD_LOG_KEY_SIZE];
    size_t at = part * FM_WORLD_LOG_PART_SIZE, left = packed->size - at;
    fm_world_log_key(store, key, FM_WORLD_LOG_PART_KEY, number, keyframe->position, keyframe->epoch,
                     part);
    fm_writer_clear(body);
    fm_etcd_put(body, "{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_bytes(body, "value", packed->data + at,
                      left < FM_WORLD_LOG_PART_SIZE ? left : FM_WORLD_LOG_PART_SIZE);
    fm_etcd_put(body, "}");
}

static fm_status put_parts(fm_world_log_store *store, fm_etcd *etcd, uint64_t number,
                           struct log_keyframe *keyframe, const uint8_t *bytes, size_t size,
                           char *error)
{
    fm_writer packed = fm_writer_init(&fm_memory_libc);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_status status = fm_world_log_compress(bytes, size, &packed);
    set_bytes(keyframe, &packed);
    for (uint32_t part = 0; part < keyframe->part_count && status == FM_OK; part++) {
        json_t *answer;
        build_part(store, number, keyframe, &packed, part, &body);
        if (fm_world_log_call(etcd, "kv/put", &body, &answer, error) == FM_ETCD_DONE) {
            json_decref(answer);
        } else {
            status = FM_ERR_IO;
        }
    }
    fm_writer_fini(&packed);
    fm_writer_fini(&body);
    return status;
}

// The reservation must be there still, and be the same: a request that comes late must not begin a
// world that was given up. From now on it stays when the node's lease ends.
static fm_status create_owner(fm_world_log_store *store, fm_etcd *etcd,
                              const struct log_keyframe *keyframe, const fm_journal_head *head,
                              const char *owner, char *error)
{
    char owner_key[FM_WORLD_LOG_KEY_SIZE], keyframe_key[FM_WORLD_LOG_KEY_SIZE],
        world_key[FM_WORLD_LOG_KEY_SIZE], name_key[FM_WORLD_LOG_KEY_SIZE],
        reserved[FM_WORLD_LOG_RESERVED_SIZE];
    if (!fm_world_log_reservation_value(store, head->number, reserved)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "its name is not reserved");
        return FM_ERR_EXISTS;
    }
    fm_world_log_key(store, name_key, "names/%s", head->name);
    fm_world_log_key(store, owner_key, FM_WORLD_LOG_OWNER_KEY, head->number);
    fm_world_log_key(store, keyframe_key, FM_WORLD_LOG_KEYFRAME_KEY, head->number);
    fm_world_log_key(store, world_key, FM_WORLD_LOG_WORLD_KEY, head->number);
    fm_writer body = fm_writer_init(&fm_memory_libc), packed = fm_writer_init(&fm_memory_libc);
    pack_keyframe(keyframe, &packed);
    fm_etcd_put(&body, "{\"compare\":[");
    fm_etcd_compare_absent(&body, owner_key);
    fm_etcd_put(&body, ",");
    fm_etcd_compare_value(&body, name_key, reserved);
    fm_etcd_put(&body, "],\"success\":[");
    fm_etcd_request_put(&body, owner_key, owner, strlen(owner));
    fm_etcd_put(&body, ",");
    fm_etcd_request_put(&body, keyframe_key, packed.data, packed.size);
    fm_etcd_put(&body, ",");
    fm_etcd_request_put(&body, name_key, reserved, strlen(reserved));
    fm_etcd_put(&body, ",");
    fm_etcd_request_put(&body, world_key, head->name, strlen(head->name));
    fm_etcd_put(&body, "],\"failure\":[");
    fm_etcd_request_get(&body, owner_key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(etcd, "kv/txn", &body, &answer, error) == FM_ETCD_DONE) {
        bool ours =
            fm_etcd_succeeded(answer) || fm_etcd_response_is(answer, 0, owner, strlen(owner));
        status = ours ? FM_OK : FM_ERR_EXISTS;
        json_decref(answer);
    }
    fm_writer_fini(&packed);
    fm_writer_fini(&body);
    return status;
}

// Before its owner is written: else the node's thread, which sees the owner before this one gets
// its answer, would take the world as one that was lost, and two of it would run here.
static fm_status enter_new(fm_world_log_store *store, const fm_journal_head *head)
{
    fm_writer packed = fm_writer_init(&fm_memory_libc);
    pack_head(head, &packed);
    bool entered =
        !packed.failed && fm_world_log_add_world(store, head->number, FIRST_EPOCH, 1, 0, &packed);
    fm_writer_fini(&packed);
    return entered ? FM_OK : FM_ERR_NO_MEMORY;
}

// The first keyframe stands before all records, which begin at 1. A world that could not begin
// stays entered until fm_world_log_end(), which removes what was written.
static fm_status begin_log(fm_world_log_store *store, const fm_journal_head *head,
                           const fm_journal_world *world, const char *owner, bool is_here,
                           char *error)
{
    fm_etcd *etcd;
    if (fm_etcd_create(store->options.access, &etcd) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    struct log_keyframe keyframe = {.epoch = FIRST_EPOCH,
                                    .tick = world->tick,
                                    .digest = world->digest,
                                    .pace = world->pace,
                                    .head = fm_writer_init(&fm_memory_libc)};
    pack_head(head, &keyframe.head);
    fm_status status =
        put_parts(store, etcd, head->number, &keyframe, world->bytes, world->size, error);
    if (status == FM_OK && is_here) {
        status = enter_new(store, head);
    }
    if (status == FM_OK) {
        status = create_owner(store, etcd, &keyframe, head, owner, error);
    }
    if (status == FM_OK) {
        fm_world_log_reservation_forget(store, head->number);
    }
    fm_writer_fini(&keyframe.head);
    fm_etcd_destroy(etcd);
    return status;
}

static fm_status create(void *context, const fm_journal_head *head, const fm_journal_world *world,
                        char *error)
{
    fm_world_log_store *store = context;
    char owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(owner, 1, store->options.node, store->options.incarnation);
    return begin_log(store, head, world, owner, true, error);
}

fm_status fm_world_log_place(fm_world_log_store *store, const fm_journal_head *head,
                             const fm_journal_world *world, const char *owner, char *error)
{
    return begin_log(store, head, world, owner, false, error);
}

// ---- appending ---------------------------------------------------------------------------------

// The keyframe among the batches, if there is one.
static bool pack_world(struct log_world *world)
{
    const fm_journal_batch *batch = world->keyframe_batch;
    world->part_count = 0;
    world->next_keyframe.part_count = 0;
    if (batch == NULL) {
        return true;
    }
    fm_writer_clear(&world->keyframe_bytes);
    if (fm_world_log_compress(batch->world.data, batch->world.size, &world->keyframe_bytes) !=
        FM_OK) {
        return false;
    }
    world->next_keyframe = (struct log_keyframe){.position = world->position, // of the first part
                                                 .epoch = world->epoch,
                                                 .tick = batch->keyframe_tick,
                                                 .digest = batch->keyframe_digest,
                                                 .pace = batch->keyframe_pace,
                                                 .head = world->head};
    set_bytes(&world->next_keyframe, &world->keyframe_bytes);
    return true;
}

// Rows of batches, up to one keyframe. A retry must send the same bytes: they may be there already.
static void gather(struct log_world *world, fm_journal_batch *first)
{
    fm_writer rows = fm_writer_init(&fm_memory_libc);
    world->first = first;
    world->last = NULL;
    world->keyframe_batch = NULL;
    for (fm_journal_batch *batch = first; batch != NULL; batch = batch->next) {
        if (batch->has_keyframe && world->keyframe_batch != NULL) {
            break;
        }
        if (rows.size > FM_WORLD_LOG_RECORD_SIZE) {
            break;
        }
        world->keyframe_batch = batch->has_keyframe ? batch : world->keyframe_batch;
        world->last = batch;
        fm_writer_put_bytes(&rows, batch->rows.data, batch->rows.size);
    }
    fm_writer_clear(&world->payload);
    world->is_gathered = !rows.failed &&
                         fm_world_log_compress(rows.data, rows.size, &world->payload) == FM_OK &&
                         pack_world(world);
    world->sent = 0;
    fm_writer_fini(&rows);
}

// The next part of the record.
static void fill_value(struct log_world *world)
{
    size_t left = world->payload.size - world->sent;
    world->part_size = left < FM_ETCD_VALUE_MAX - 64 ? left : FM_ETCD_VALUE_MAX - 64;
    const uint8_t *bytes = world->payload.data + world->sent;
    fm_writer_clear(&world->value);
    fm_writer_put_u8(&world->value, FM_WORLD_LOG_VERSION);
    fm_writer_put_u8(&world->value, world->part_size < left);
    fm_writer_put_u64(&world->value, world->epoch);
    fm_writer_put_u64(&world->value, fm_bytes_checksum(bytes, world->part_size));
    fm_writer_put_bytes(&world->value, bytes, world->part_size);
}

static bool is_last_part(const struct log_world *world)
{
    return world->sent + world->part_size == world->payload.size;
}

// What lies before the last but one keyframe is no longer needed.
static void request_removal(const fm_world_log_store *store, const struct log_world *world,
                            fm_writer *body)
{
    char from[FM_WORLD_LOG_KEY_SIZE], to[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(store, from, FM_WORLD_LOG_RECORD_KEY, world->number, (uint64_t)0);
    fm_world_log_key(store, to, FM_WORLD_LOG_RECORD_KEY, world->number, world->older);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, from, to);
    fm_world_log_key(store, from, FM_WORLD_LOG_PARTS_KEY, world->number, (uint64_t)0);
    fm_world_log_key(store, to, FM_WORLD_LOG_PARTS_KEY, world->number, world->older);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, from, to);
}

// A condition: what lies before this record was not removed since. So a copy of it that comes late,
// from a member of etcd that was frozen, neither stands there again nor brings back its keyframe.
// The first record has the first keyframe before it.
static void compare_before(const fm_world_log_store *store, const struct log_world *world,
                           fm_writer *body)
{
    char key[FM_WORLD_LOG_KEY_SIZE];
    if (world->position > 1) {
        fm_world_log_key(store, key, FM_WORLD_LOG_RECORD_KEY, world->number, world->position - 1);
    } else {
        fm_world_log_key(store, key, FM_WORLD_LOG_PART_KEY, world->number, (uint64_t)0, FIRST_EPOCH,
                         (uint32_t)0);
    }
    fm_etcd_compare_present(body, key);
}

static void build_append(fm_world_log_store *store, struct log_lane *lane)
{
    struct log_world *world = lane->world;
    char owner_key[FM_WORLD_LOG_KEY_SIZE], log_key[FM_WORLD_LOG_KEY_SIZE],
        owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_key(store, owner_key, FM_WORLD_LOG_OWNER_KEY, world->number);
    fm_world_log_key(store, log_key, FM_WORLD_LOG_RECORD_KEY, world->number, world->position);
    fm_world_log_owner_text(owner, world->epoch, store->options.node, store->options.incarnation);
    fill_value(world);
    fm_writer *body = &lane->body;
    fm_writer_clear(body);
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_value(body, owner_key, owner);
    fm_etcd_put(body, ",");
    fm_etcd_compare_absent(body, log_key);
    fm_etcd_put(body, ",");
    compare_before(store, world, body);
    fm_etcd_put(body, "],\"success\":[");
    fm_etcd_request_put(body, log_key, world->value.data, world->value.size);
    if (world->keyframe_batch != NULL && is_last_part(world)) {
        char keyframe_key[FM_WORLD_LOG_KEY_SIZE];
        fm_writer packed = fm_writer_init(&fm_memory_libc);
        fm_world_log_key(store, keyframe_key, FM_WORLD_LOG_KEYFRAME_KEY, world->number);
        pack_keyframe(&world->next_keyframe, &packed);
        fm_etcd_put(body, ",");
        fm_etcd_request_put(body, keyframe_key, packed.data, packed.size);
        body->failed |= packed.failed;
        fm_writer_fini(&packed);
    }
    if (world->older > 0) {
        request_removal(store, world, body);
    }
    fm_etcd_put(body, "],\"failure\":[");
    fm_etcd_request_get(body, owner_key);
    fm_etcd_put(body, ",");
    fm_etcd_request_get(body, log_key);
    fm_etcd_put(body, "]}");
    body->failed |= world->value.failed;
}

// The next request of an append: a part of the keyframe, as long as there are any, then the record.
// @return whether it is under way; else out of memory
static bool send_next(fm_world_log_store *store, struct log_lane *lane)
{
    struct log_world *world = lane->world;
    lane->is_part = world->part_count < world->next_keyframe.part_count;
    if (lane->is_part) {
        build_part(store, world->number, &world->next_keyframe, &world->keyframe_bytes,
                   world->part_count, &lane->body);
    } else {
        build_append(store, lane);
    }
    lane->is_sent = !lane->body.failed;
    if (lane->is_sent) {
        fm_etcd_begin(lane->etcd, lane->is_part ? "kv/put" : "kv/txn", &lane->body);
    }
    return lane->is_sent;
}

static void begin(void *context, uint32_t index, uint64_t number, fm_journal_batch *first)
{
    fm_world_log_store *store = context;
    struct log_lane *lane = &store->lanes[index];
    lane->world = fm_world_log_find(store, number);
    lane->is_sent = false;
    lane->begun_ns = fm_clock_now_ns();
    lane->error[0] = '\0';
    if (lane->world == NULL || lane->world->is_lost) {
        return;
    }
    if (!lane->world->is_gathered) {
        gather(lane->world, first);
    }
    if (lane->world->is_gathered) {
        (void)send_next(store, lane);
    }
}

static void wait(void *context, bool under_way[FM_FENCE_LANES], uint64_t until_ns)
{
    fm_world_log_store *store = context;
    fm_etcd *clients[FM_FENCE_LANES];
    bool answered[FM_FENCE_LANES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < FM_FENCE_LANES; i++) {
        if (under_way[i] && store->lanes[i].is_sent) {
            clients[count++] = store->lanes[i].etcd;
        } else if (under_way[i]) {
            until_ns = 0; // nothing was sent
        }
    }
    fm_etcd_wait(clients, count, until_ns, answered);
    for (uint32_t i = 0, next = 0; i < FM_FENCE_LANES; i++) {
        if (under_way[i] && store->lanes[i].is_sent) {
            under_way[i] = answered[next++];
        }
    }
}

static fm_fence_verdict lose(fm_world_log_store *store, struct log_world *world)
{
    uv_mutex_lock(&store->lock);
    world->is_lost = true;
    store->numbers.fenced++;
    uv_mutex_unlock(&store->lock);
    store->options.lost(store->options.context, world->number);
    return FM_FENCE_LOST;
}

// Our record may be there from a try whose answer was lost.
static fm_fence_verdict judge(fm_world_log_store *store, struct log_lane *lane,
                              const json_t *answer)
{
    struct log_world *world = lane->world;
    char owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(owner, world->epoch, store->options.node, store->options.incarnation);
    if (fm_etcd_succeeded(answer)) {
        return FM_FENCE_COMMITTED;
    }
    if (!fm_etcd_response_is(answer, 0, owner, strlen(owner))) {
        return lose(store, world);
    }
    if (fm_etcd_response_is(answer, 1, world->value.data, world->value.size)) {
        return FM_FENCE_COMMITTED;
    }
    snprintf(lane->error, sizeof lane->error,
             "world %" PRIu64 ": another record stands at position %" PRIu64, world->number,
             world->position);
    return lose(store, world); // only a writer that breaks this protocol wrote it
}

// A part of a record.
static fm_fence_verdict finish_record(fm_world_log_store *store, struct log_lane *lane,
                                      const json_t *answer)
{
    struct log_world *world = lane->world;
    fm_fence_verdict verdict = judge(store, lane, answer);
    if (verdict == FM_FENCE_COMMITTED) {
        world->sent += world->part_size;
        world->position++;
        world->older = 0;
    }
    bool is_whole = world->sent == world->payload.size;
    return verdict == FM_FENCE_COMMITTED && !is_whole ? FM_FENCE_GOING_ON : verdict;
}

static fm_fence_verdict finish_request(fm_world_log_store *store, struct log_lane *lane)
{
    json_t *answer = NULL;
    char error[FM_ETCD_ERROR_SIZE];
    fm_etcd_outcome outcome = fm_etcd_finish(lane->etcd, FM_WORLD_LOG_TIMEOUT_MS, &answer, error);
    if (outcome != FM_ETCD_DONE) {
        snprintf(lane->error, sizeof lane->error, "%.250s", error);
        uv_mutex_lock(&store->lock);
        store->numbers.unknown++;
        uv_mutex_unlock(&store->lock);
        return FM_FENCE_WAITING;
    }
    lane->world->part_count += lane->is_part;
    fm_fence_verdict verdict =
        lane->is_part ? FM_FENCE_GOING_ON : finish_record(store, lane, answer);
    json_decref(answer);
    return verdict;
}

static void note_committed(fm_world_log_store *store, struct log_lane *lane)
{
    struct log_world *world = lane->world;
    for (fm_journal_batch *batch = world->first; batch != NULL; batch = batch->next) {
        batch->is_committed = true;
        if (batch == world->last) {
            break;
        }
    }
    world->is_gathered = false;
    if (world->keyframe_batch != NULL) {
        world->older = world->keyframe;
        world->keyframe = world->next_keyframe.position;
        fm_writer_fini(&world->keyframe_bytes); // it can be large
        world->keyframe_bytes = fm_writer_init(&fm_memory_libc);
    }
    uint64_t took_us = (fm_clock_now_ns() - lane->begun_ns) / 1000;
    uv_mutex_lock(&store->lock);
    store->numbers.appends++;
    fm_distribution_add(&store->numbers.append_times, took_us);
    store->numbers.append_us_max =
        took_us > store->numbers.append_us_max ? took_us : store->numbers.append_us_max;
    uv_mutex_unlock(&store->lock);
}

static fm_fence_verdict finish(void *context, uint32_t index, char *error)
{
    fm_world_log_store *store = context;
    struct log_lane *lane = &store->lanes[index];
    fm_fence_verdict verdict =
        lane->world == NULL || lane->world->is_lost ? FM_FENCE_LOST : FM_FENCE_WAITING;
    if (lane->is_sent) {
        lane->is_sent = false;
        verdict = finish_request(store, lane);
    }
    if (verdict == FM_FENCE_COMMITTED) {
        note_committed(store, lane);
    } else if (verdict == FM_FENCE_GOING_ON && !send_next(store, lane)) {
        verdict = FM_FENCE_WAITING;
    }
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "%s", lane->error);
    return verdict;
}

// ---- the store ---------------------------------------------------------------------------------

fm_status fm_world_log_store_create(const fm_world_log_options *options, fm_world_log_store **out)
{
    fm_world_log_store *store = calloc(1, sizeof *store);
    if (store == NULL || uv_mutex_init(&store->lock) < 0) {
        free(store);
        return FM_ERR_NO_MEMORY;
    }
    store->options = *options;
    store->fence = (fm_journal_fence){.context = store,
                                      .create = create,
                                      .begin = begin,
                                      .finish = finish,
                                      .wait = wait,
                                      .check = check,
                                      .end = fm_world_log_end,
                                      .keep = fm_world_log_keep};
    for (uint32_t i = 0; i < FM_FENCE_LANES; i++) {
        store->lanes[i].body = fm_writer_init(&fm_memory_libc);
    }
    for (uint32_t i = 0; i < FM_FENCE_LANES; i++) {
        if (fm_etcd_create(options->access, &store->lanes[i].etcd) != FM_OK) {
            fm_world_log_store_destroy(store);
            return FM_ERR_NO_MEMORY;
        }
    }
    *out = store;
    return FM_OK;
}

void fm_world_log_store_destroy(fm_world_log_store *store)
{
    if (store == NULL) {
        return;
    }
    while (store->world_count > 0) {
        fm_world_log_forget(store, store->worlds[store->world_count - 1]->number);
    }
    free(store->worlds);
    while (store->reservations != NULL) { // of worlds that were being made when the server ended
        fm_world_log_reservation_forget(store, store->reservations->number);
    }
    for (uint32_t i = 0; i < FM_FENCE_LANES; i++) {
        fm_etcd_destroy(store->lanes[i].etcd);
        fm_writer_fini(&store->lanes[i].body);
    }
    uv_mutex_destroy(&store->lock);
    free(store);
}

const fm_journal_fence *fm_world_log_store_fence(fm_world_log_store *store)
{
    return &store->fence;
}
