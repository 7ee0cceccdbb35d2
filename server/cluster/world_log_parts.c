// server/cluster/world_log_parts.c: what the files of the worlds' logs have in common: the table of
// this node's worlds, keys, texts of owners, calls, packed bytes; see world_log_state.h.

#include "server/cluster/world_log_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#define COMPRESS_FAST 1

// ---- the table ---------------------------------------------------------------------------------

// Index of the first world with that number or a higher one. The lock is held.
static uint32_t place_of(const fm_world_log_store *store, uint64_t number)
{
    uint32_t low = 0, high = store->world_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (store->worlds[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The lock is held.
static struct log_world *find(const fm_world_log_store *store, uint64_t number)
{
    uint32_t place = place_of(store, number);
    bool is_here = place < store->world_count && store->worlds[place]->number == number;
    return is_here ? store->worlds[place] : NULL;
}

// An entry stays where it is until its world ends or is forgotten, and only the writer uses what
// appends need of it.
struct log_world *fm_world_log_find(fm_world_log_store *store, uint64_t number)
{
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    uv_mutex_unlock(&store->lock);
    return world;
}

// In order of numbers, because each look at the directory searches for all. @return false when out
// of memory
static bool insert(fm_world_log_store *store, struct log_world *world)
{
    uv_mutex_lock(&store->lock);
    bool has_room = FM_RESERVE_FROM(&fm_memory_libc, store->worlds, store->world_capacity,
                                    store->world_count + 1);
    if (has_room) {
        uint32_t place = place_of(store, world->number);
        struct log_world **at = store->worlds + place;
        memmove(at + 1, at, (store->world_count++ - place) * sizeof *at);
        *at = world;
    }
    uv_mutex_unlock(&store->lock);
    return has_room;
}

// @return the world, which is no longer in the table. NULL: there is none
static struct log_world *take_out(fm_world_log_store *store, uint64_t number)
{
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    if (world != NULL) {
        struct log_world **at = store->worlds + place_of(store, number);
        memmove(at, at + 1, (size_t)(store->worlds + --store->world_count - at) * sizeof *at);
    }
    uv_mutex_unlock(&store->lock);
    return world;
}

bool fm_world_log_add_world(fm_world_log_store *store, uint64_t number, uint64_t epoch,
                            uint64_t position, uint64_t keyframe, fm_writer *head)
{
    struct log_world *world = calloc(1, sizeof *world);
    if (world == NULL) {
        return false;
    }
    *world = (struct log_world){
        .number = number, .epoch = epoch, .position = position, .keyframe = keyframe};
    world->value = fm_writer_init(&fm_memory_libc);
    world->payload = fm_writer_init(&fm_memory_libc);
    world->keyframe_bytes = fm_writer_init(&fm_memory_libc);
    world->head = *head; // before others find the world
    if (!insert(store, world)) {
        free(world);
        return false;
    }
    *head = fm_writer_init(&fm_memory_libc);
    return true;
}

void fm_world_log_forget(fm_world_log_store *store, uint64_t number)
{
    struct log_world *world = take_out(store, number);
    if (world != NULL) {
        fm_writer_fini(&world->value);
        fm_writer_fini(&world->payload);
        fm_writer_fini(&world->keyframe_bytes);
        fm_writer_fini(&world->head);
        free(world->scenes);
        free(world);
    }
}

void fm_world_log_note_lost(fm_world_log_store *store, uint64_t number)
{
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    if (world != NULL) {
        world->is_lost = true;
    }
    uv_mutex_unlock(&store->lock);
}

void fm_world_log_note_shown(fm_world_log_store *store, uint64_t number)
{
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    if (world != NULL) {
        world->is_shown = true;
    }
    uv_mutex_unlock(&store->lock);
}

uint64_t fm_world_log_next_shown(fm_world_log_store *store, uint64_t after)
{
    uint64_t next = 0;
    uv_mutex_lock(&store->lock);
    for (uint32_t i = place_of(store, after + 1); i < store->world_count && next == 0; i++) {
        const struct log_world *world = store->worlds[i];
        bool counts = (world->is_shown || world->is_lost) && !world->is_ending;
        next = counts ? world->number : 0;
    }
    uv_mutex_unlock(&store->lock);
    return next;
}

bool fm_world_log_knows(fm_world_log_store *store, uint64_t number)
{
    return fm_world_log_find(store, number) != NULL;
}

bool fm_world_log_owns(fm_world_log_store *store, uint64_t number, uint64_t *epoch)
{
    uv_mutex_lock(&store->lock);
    const struct log_world *world = find(store, number);
    bool owns = world != NULL && !world->is_lost;
    *epoch = owns ? world->epoch : 0;
    uv_mutex_unlock(&store->lock);
    return owns;
}

bool fm_world_log_set_heir(fm_world_log_store *store, uint64_t number, const char *heir,
                           const char *scenes)
{
    char *copy = strdup(scenes);
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    bool owns = copy != NULL && world != NULL && !world->is_lost;
    if (owns) {
        snprintf(world->heir, sizeof world->heir, "%s", heir);
        free(world->scenes);
        world->scenes = copy;
    }
    uv_mutex_unlock(&store->lock);
    if (!owns) {
        free(copy);
    }
    return owns;
}

void fm_world_log_keep(void *context, uint64_t number)
{
    fm_world_log_store *store = context;
    uv_mutex_lock(&store->lock);
    struct log_world *world = find(store, number);
    if (world != NULL) {
        world->heir[0] = '\0';
    }
    uv_mutex_unlock(&store->lock);
}

fm_token_log_place fm_world_log_token_place(const fm_world_log_store *store)
{
    return (fm_token_log_place){.access = store->options.access, .cluster = store->options.cluster};
}

fm_world_log_numbers fm_world_log_numbers_get(fm_world_log_store *store)
{
    uv_mutex_lock(&store->lock);
    fm_world_log_numbers numbers = store->numbers;
    uv_mutex_unlock(&store->lock);
    return numbers;
}

void fm_world_log_note_come(fm_world_log_store *store, bool was_followed, uint64_t took_us)
{
    fm_world_log_numbers *numbers = &store->numbers;
    uv_mutex_lock(&store->lock);
    fm_distribution_add(was_followed ? &numbers->move_times : &numbers->take_times, took_us);
    numbers->moved += was_followed;
    numbers->taken += !was_followed;
    if (was_followed && took_us > numbers->move_us_max) {
        numbers->move_us_max = took_us;
    }
    uv_mutex_unlock(&store->lock);
}

// ---- owners ------------------------------------------------------------------------------------

void fm_world_log_owner_text(char *text, uint64_t epoch, const char *node, uint64_t incarnation)
{
    snprintf(text, FM_CLUSTER_OWNER_MAX, "%" PRIu64 " %s %016" PRIx64, epoch, node, incarnation);
}

bool fm_world_log_owner_parse(const char *text, uint64_t *epoch, char *node, uint64_t *incarnation)
{
    char format[32];
    snprintf(format, sizeof format, "%%" SCNu64 " %%%us %%" SCNx64, FM_CLUSTER_NAME_MAX);
    return sscanf(text, format, epoch, node, incarnation) == 3;
}

void fm_world_log_key(const fm_world_log_store *store, char *key, const char *format, ...)
{
    int size = snprintf(key, FM_WORLD_LOG_KEY_SIZE, "/fogmarch/%s/", store->options.cluster);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(key + size, FM_WORLD_LOG_KEY_SIZE - (size_t)size, format, arguments);
    va_end(arguments);
}

// ---- calls -------------------------------------------------------------------------------------

fm_etcd_outcome fm_world_log_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                  json_t **answer, char *error)
{
    return fm_etcd_call(etcd, path, body, FM_WORLD_LOG_CALL_MS, answer, error);
}

// ---- bytes -------------------------------------------------------------------------------------

fm_status fm_world_log_compress(const void *bytes, size_t size, fm_writer *out)
{
    fm_writer_put_u64(out, size);
    size_t bound = ZSTD_compressBound(size), begin = out->size;
    uint8_t *room = fm_writer_extend(out, bound);
    if (room == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    size_t packed = ZSTD_compress(room, bound, bytes, size, COMPRESS_FAST);
    if (ZSTD_isError(packed)) {
        return FM_ERR_NO_MEMORY;
    }
    out->size = begin + packed;
    return FM_OK;
}

fm_status fm_world_log_uncompress(const fm_writer *packed, size_t limit, fm_writer *out)
{
    fm_reader reader = fm_reader_init(packed->data, packed->size, NULL);
    uint64_t size = fm_reader_take_u64(&reader);
    if (reader.failed || size > limit ||
        ZSTD_getFrameContentSize(packed->data + 8, packed->size - 8) != size) {
        return FM_ERR_BAD_FORMAT;
    }
    uint8_t *room = fm_writer_extend(out, size == 0 ? 1 : (size_t)size);
    if (room == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    size_t got = ZSTD_decompress(room, (size_t)size, packed->data + 8, packed->size - 8);
    out->size -= size == 0;
    return !ZSTD_isError(got) && got == size ? FM_OK : FM_ERR_BAD_FORMAT;
}
