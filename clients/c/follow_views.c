// clients/c/follow_views.c: what a program that follows its worlds has subscribed to, by the
// program's numbers and by those of the present node. See follow.h.

#include "clients/c/follow.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- parameters ---------------------------------------------------------------------------------

bool fm_entry_next(const fm_params *params, size_t *at, struct fm_entry *entry)
{
    size_t begin = *at;
    msgpack_unpacked key, value;
    msgpack_unpacked_init(&key);
    msgpack_unpacked_init(&value);
    bool good =
        begin < params->size &&
        msgpack_unpack_next(&key, params->bytes, params->size, at) == MSGPACK_UNPACK_SUCCESS &&
        msgpack_unpack_next(&value, params->bytes, params->size, at) == MSGPACK_UNPACK_SUCCESS &&
        key.data.type == MSGPACK_OBJECT_STR;
    if (good) {
        bool is_number = value.data.type == MSGPACK_OBJECT_POSITIVE_INTEGER;
        *entry = (struct fm_entry){.number = is_number ? value.data.via.u64 : 0,
                                   .bytes = params->bytes + begin,
                                   .size = *at - begin};
        snprintf(entry->name, sizeof entry->name, "%.*s", (int)key.data.via.str.size,
                 key.data.via.str.ptr);
    }
    msgpack_unpacked_destroy(&key);
    msgpack_unpacked_destroy(&value);
    return good;
}

bool fm_entry_is(const struct fm_entry *entry, fm_field field)
{
    return strcmp(entry->name, fm_field_name(field)) == 0;
}

void fm_entry_append(fm_params *params, const struct fm_entry *entry)
{
    size_t size = params->size + entry->size;
    char *grown = size > params->capacity ? realloc(params->bytes, 2 * size) : params->bytes;
    if (grown == NULL) {
        params->failed = true;
        return;
    }
    params->capacity = size > params->capacity ? 2 * size : params->capacity;
    params->bytes = grown;
    memcpy(params->bytes + params->size, entry->bytes, entry->size);
    params->size = size;
    params->count++;
}

// ---- subscriptions ------------------------------------------------------------------------------

void fm_views_unsubscribe(fm_client *client, const struct subscription *one)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_SUBSCRIPTION, one->number);
    (void)!fm_client_send(client,
                          one->method == FM_METHOD_DEBUG_SUBSCRIBE ? FM_METHOD_DEBUG_UNSUBSCRIBE
                                                                   : FM_METHOD_UNSUBSCRIBE,
                          &params, NULL, NULL, NULL);
    fm_params_fini(&params);
}

static struct subscription *find(const struct fm_follow *follow, uint64_t node_number)
{
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        if (node_number != 0 && one->node_number == node_number) {
            return one;
        }
    }
    return NULL;
}

struct subscription *fm_views_of_program(const struct fm_follow *follow, uint64_t number)
{
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].number == number) {
            return &follow->subscriptions[i];
        }
    }
    return NULL;
}

void fm_views_forget_those_over(struct fm_follow *follow)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].is_over) {
            fm_params_fini(&follow->subscriptions[i].params);
        } else {
            follow->subscriptions[kept++] = follow->subscriptions[i];
        }
    }
    follow->subscription_count = kept;
}

struct subscription *fm_views_meet(struct fm_follow *follow, uint64_t node_number, uint64_t world)
{
    struct subscription *one =
        follow->continuing == 0 ? NULL : fm_views_of_program(follow, follow->continuing);
    if (find(follow, node_number) == NULL && one != NULL && one->node_number == 0 &&
        (world == 0 || one->world == world)) {
        one->node_number = node_number;
        return one;
    }
    return fm_views_answered(follow, node_number);
}

struct subscription *fm_views_answered(struct fm_follow *follow, uint64_t node_number)
{
    struct subscription *one = find(follow, node_number);
    if (one != NULL) {
        return one;
    }
    if (follow->subscription_count == follow->subscription_capacity) {
        uint32_t capacity = 2 * follow->subscription_capacity + 4;
        struct subscription *grown = realloc(follow->subscriptions, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        follow->subscriptions = grown;
        follow->subscription_capacity = capacity;
    }
    one = &follow->subscriptions[follow->subscription_count++];
    *one = (struct subscription){.number = ++follow->last_number, .node_number = node_number};
    fm_params_init(&one->params);
    return one;
}

void fm_views_again(const struct subscription *one, fm_params *params)
{
    struct fm_entry entry;
    fm_params_init(params);
    for (size_t at = 0; fm_entry_next(&one->params, &at, &entry);) {
        if (!one->has_rect || !fm_entry_is(&entry, FM_FIELD_RECT)) {
            fm_entry_append(params, &entry);
        }
    }
    if (one->method == FM_METHOD_SUBSCRIBE && one->has_rect && one->stream != 0) {
        fm_params_uints(params, FM_FIELD_RECT, one->rect, 4);
        fm_params_uint(params, FM_FIELD_STREAM, one->stream);
        fm_params_uint(params, FM_FIELD_SINCE, one->tick);
    }
}

// The request, as it was sent: [0, id, method, [{...}]].
void fm_views_note_request(struct subscription *one, const struct fm_client_pending *request)
{
    msgpack_unpacked whole;
    msgpack_unpacked_init(&whole);
    size_t at = 0;
    if (msgpack_unpack_next(&whole, request->bytes, request->size, &at) != MSGPACK_UNPACK_SUCCESS) {
        msgpack_unpacked_destroy(&whole);
        return;
    }
    const msgpack_object *map = &whole.data.via.array.ptr[3].via.array.ptr[0];
    msgpack_sbuffer packed;
    msgpack_sbuffer_init(&packed);
    msgpack_packer packer;
    msgpack_packer_init(&packer, &packed, msgpack_sbuffer_write);
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        (void)!msgpack_pack_object(&packer, map->via.map.ptr[i].key);
        (void)!msgpack_pack_object(&packer, map->via.map.ptr[i].val);
    }
    const fm_params given = {.bytes = packed.data, .size = packed.size};
    struct fm_entry entry;
    fm_params_clear(&one->params);
    for (at = 0; fm_entry_next(&given, &at, &entry);) {
        if (!fm_entry_is(&entry, FM_FIELD_STREAM) && !fm_entry_is(&entry, FM_FIELD_SINCE)) {
            fm_entry_append(&one->params, &entry);
        }
    }
    msgpack_sbuffer_destroy(&packed);
    msgpack_unpacked_destroy(&whole);
    one->method = request->method;
    one->world = request->world;
    one->was_answered = true;
}

void fm_views_note_rect(struct subscription *one, const msgpack_object *params)
{
    fm_numbers rect = fm_object_numbers(params, "rect");
    for (uint32_t i = 0; rect.count == 4 && i < 4; i++) {
        one->rect[i] = fm_numbers_at(rect, i);
        one->has_rect = true;
    }
}

void fm_follow_put_number(msgpack_object *map, const char *name, uint64_t number)
{
    msgpack_object *value = (msgpack_object *)fm_object_get(map, name);
    if (value != NULL && value->type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
        value->via.u64 = number;
    }
}

bool fm_views_may_go(const struct fm_follow *follow, uint64_t world)
{
    bool may = follow->is_on && world != 0;
    for (uint32_t i = 0; may && i < follow->subscription_count; i++) {
        const struct subscription *one = &follow->subscriptions[i];
        may = one->is_over || !one->was_answered || one->world == world;
    }
    return may;
}

void fm_follow_note_place(struct fm_follow *follow, const msgpack_object *moved)
{
    follow->place[0] = follow->ticket[0] = '\0';
    fm_object_text(moved, "tcp", follow->place, sizeof follow->place);
    fm_object_text(moved, "ticket", follow->ticket, sizeof follow->ticket);
}

static msgpack_object text_object(const char *text)
{
    msgpack_object object = {.type = MSGPACK_OBJECT_STR};
    object.via.str.ptr = text;
    object.via.str.size = text == NULL ? 0 : (uint32_t)strlen(text);
    return object;
}

void fm_views_end(fm_client *client, struct subscription *one, fm_notification notification,
                  const msgpack_object *place, const char *why)
{
    static const char *const names[] = {"subscription", "world", "node", "tcp", "http", "error"};
    const uint64_t numbers[] = {one->number, one->world};
    const char *const texts[] = {NULL, NULL, "", "", "", why};
    msgpack_object_kv entries[6];
    for (uint32_t i = 0; i < 6; i++) {
        const msgpack_object *text = fm_object_get(place, names[i]);
        entries[i].key = text_object(names[i]);
        if (i < 2) {
            entries[i].val.type = MSGPACK_OBJECT_POSITIVE_INTEGER;
            entries[i].val.via.u64 = numbers[i];
        } else {
            entries[i].val = text != NULL ? *text : text_object(texts[i]);
        }
    }
    msgpack_object map = {.type = MSGPACK_OBJECT_MAP};
    map.via.map.size = notification != FM_NOTIFY_MOVED ? 2 : why == NULL ? 5 : 6;
    map.via.map.ptr = entries;
    one->is_over = true;
    fm_client_tell(client, notification, &map);
}
