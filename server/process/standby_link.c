// server/process/standby_link.c: see standby_link.h.

#include "server/process/standby_link.h"

#include "proto/pack.h"
#include "server/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define CONNECT_MS   2000u // a promotion waits for this long
#define CALL_MS      5000u // for an answer
#define SILENCE_MS   5000u // the other server sends a beat every second
#define INPUT_SIZE   ((size_t)64 << 10)
#define MESSAGE_MAX  (1u << 30) // bytes; a row may have 512 MiB
#define ELEMENTS_MAX 65536u

fm_status fm_standby_link_init(fm_standby_link *link)
{
    *link = (fm_standby_link){.link.fd = -1, .fd = -1};
    return uv_mutex_init(&link->lock) < 0 ? FM_ERR_NO_MEMORY : FM_OK;
}

void fm_standby_link_fini(fm_standby_link *link)
{
    fm_standby_link_close(link);
    uv_mutex_destroy(&link->lock);
    free(link->input);
}

void fm_standby_link_interrupt(fm_standby_link *link)
{
    uv_mutex_lock(&link->lock);
    link->is_interrupted = true;
    if (link->fd >= 0) {
        (void)shutdown(link->fd, SHUT_RDWR);
    }
    uv_mutex_unlock(&link->lock);
}

void fm_standby_link_renew(fm_standby_link *link)
{
    uv_mutex_lock(&link->lock);
    link->is_interrupted = false;
    uv_mutex_unlock(&link->lock);
}

void fm_standby_link_close(fm_standby_link *link)
{
    uv_mutex_lock(&link->lock);
    link->fd = -1;
    uv_mutex_unlock(&link->lock);
    fm_etcd_link_close(&link->link);
    link->begin = link->scanned = link->size = 0;
}

static uint64_t deadline_ns(uint64_t ms)
{
    return fm_clock_now_ns() + ms * FM_NS_PER_MS;
}

// ---- messages ----------------------------------------------------------------------------------

// Makes room for more bytes, dropping parsed ones.
static bool make_room(fm_standby_link *link)
{
    if (link->begin > 0) {
        memmove(link->input, link->input + link->begin, link->size - link->begin);
        link->size -= link->begin;
        link->scanned -= link->begin;
        link->begin = 0;
    }
    if (link->capacity - link->size >= INPUT_SIZE) {
        return true;
    }
    size_t capacity = link->capacity < INPUT_SIZE ? 2 * INPUT_SIZE : 2 * link->capacity;
    uint8_t *input = realloc(link->input, capacity);
    if (input == NULL) {
        return false;
    }
    link->input = input;
    link->capacity = capacity;
    return true;
}

static bool receive(fm_standby_link *link, uint64_t until_ns)
{
    if (!make_room(link)) {
        return false;
    }
    size_t size = fm_etcd_link_receive(&link->link, link->input + link->size,
                                       link->capacity - link->size, until_ns);
    link->size += size;
    return size > 0;
}

bool fm_standby_link_wait(fm_standby_link *link)
{
    return receive(link, deadline_ns(SILENCE_MS));
}

// The bytes of the next whole message. NULL: not whole yet, or invalid
static const uint8_t *next_message(fm_standby_link *link, size_t *size, bool *is_bad)
{
    link->scanned +=
        fm_scanner_feed(&link->scanner, link->input + link->scanned, link->size - link->scanned);
    *is_bad = link->scanner.state == FM_SCAN_BAD || link->scanner.state == FM_SCAN_LARGE;
    if (link->scanner.state != FM_SCAN_DONE) {
        return NULL;
    }
    const uint8_t *message = link->input + link->begin;
    *size = link->scanned - link->begin;
    link->begin = link->scanned;
    fm_scanner_reset(&link->scanner);
    return message;
}

static const msgpack_object *member(const msgpack_object *map, const char *key)
{
    if (map->type != MSGPACK_OBJECT_MAP) {
        return NULL;
    }
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *name = &map->via.map.ptr[i].key;
        if (name->type == MSGPACK_OBJECT_STR && name->via.str.size == strlen(key) &&
            memcmp(name->via.str.ptr, key, name->via.str.size) == 0) {
            return &map->via.map.ptr[i].val;
        }
    }
    return NULL;
}

static bool is_named(const msgpack_object *name, const char *word)
{
    return name->type == MSGPACK_OBJECT_STR && name->via.str.size == strlen(word) &&
           memcmp(name->via.str.ptr, word, name->via.str.size) == 0;
}

static bool take_shipment(const msgpack_object *root, fm_standby_message *message)
{
    const msgpack_object *parts = root->via.array.ptr;
    if (root->via.array.size != 3 ||
        !is_named(&parts[1], fm_notification_name(FM_NOTIFY_SHIPMENT)) ||
        parts[2].type != MSGPACK_OBJECT_ARRAY || parts[2].via.array.size != 1) {
        return false;
    }
    const msgpack_object *number = member(parts[2].via.array.ptr, "number");
    const msgpack_object *data = member(parts[2].via.array.ptr, "data");
    if (number == NULL || number->type != MSGPACK_OBJECT_POSITIVE_INTEGER || data == NULL ||
        data->type != MSGPACK_OBJECT_BIN) {
        return false;
    }
    *message = (fm_standby_message){.is_shipment = true,
                                    .number = number->via.u64,
                                    .data = (const uint8_t *)data->via.bin.ptr,
                                    .size = data->via.bin.size};
    return true;
}

// Binary data is not copied from the input.
static bool unpack(const uint8_t *bytes, size_t size, msgpack_unpacked *unpacked)
{
    size_t offset = 0;
    msgpack_unpacked_init(unpacked);
    bool good = msgpack_unpack_next(unpacked, (const char *)bytes, size, &offset) ==
                    MSGPACK_UNPACK_SUCCESS &&
                unpacked->data.type == MSGPACK_OBJECT_ARRAY && unpacked->data.via.array.size >= 3 &&
                unpacked->data.via.array.ptr[0].type == MSGPACK_OBJECT_POSITIVE_INTEGER;
    return good;
}

bool fm_standby_link_take(fm_standby_link *link, fm_standby_message *message, bool *is_bad)
{
    size_t size;
    msgpack_unpacked unpacked;
    const uint8_t *bytes = next_message(link, &size, is_bad);
    if (bytes == NULL) {
        return false;
    }
    *message = (fm_standby_message){.is_shipment = false};
    *is_bad = !unpack(bytes, size, &unpacked);
    if (!*is_bad) {
        (void)take_shipment(&unpacked.data, message);
    }
    msgpack_unpacked_destroy(&unpacked);
    return !*is_bad;
}

// ---- calls -------------------------------------------------------------------------------------

static bool send_buffer(fm_standby_link *link, msgpack_sbuffer *buffer)
{
    bool sent = fm_etcd_link_send(&link->link, buffer->data, buffer->size, deadline_ns(SILENCE_MS));
    msgpack_sbuffer_destroy(buffer);
    return sent;
}

// [2, method, [{number: N}]]
bool fm_standby_link_say(fm_standby_link *link, uint64_t number)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, 3);
    msgpack_pack_int(&packer, 2);
    fm_pack_text(&packer, fm_method_name(FM_METHOD_JOURNAL_HAVE));
    msgpack_pack_array(&packer, 1);
    msgpack_pack_map(&packer, 1);
    fm_pack_key_uint(&packer, fm_field_name(FM_FIELD_NUMBER), number);
    return send_buffer(link, &buffer);
}

static fm_status read_answer(const msgpack_object *answer, msgpack_object *result, char *error)
{
    const msgpack_object *parts = answer->via.array.ptr;
    const msgpack_object *text = member(&parts[2], "message");
    if (parts[2].type == MSGPACK_OBJECT_NIL) {
        *result = parts[3];
        return FM_OK;
    }
    bool is_text = text != NULL && text->type == MSGPACK_OBJECT_STR;
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "it refuses: %.*s",
             is_text ? (int)(text->via.str.size < 300 ? text->via.str.size : 300) : 9,
             is_text ? text->via.str.ptr : "no reason");
    return FM_ERR_DENIED;
}

// Waits for the answer to the last request. Other messages before it are ignored.
static fm_status wait_for_answer(fm_standby_link *link, msgpack_unpacked *unpacked,
                                 msgpack_object *result, char *error)
{
    uint64_t until_ns = deadline_ns(CALL_MS);
    for (;;) {
        size_t size;
        bool is_bad;
        const uint8_t *bytes = next_message(link, &size, &is_bad);
        if (bytes != NULL && unpack(bytes, size, unpacked)) {
            const msgpack_object *parts = unpacked->data.via.array.ptr;
            if (parts[0].via.u64 == 1 && unpacked->data.via.array.size == 4 &&
                parts[1].type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
                parts[1].via.u64 == link->request) {
                return read_answer(&unpacked->data, result, error);
            }
        }
        if (bytes != NULL) {
            msgpack_unpacked_destroy(unpacked);
        } else if (is_bad || !receive(link, until_ns)) {
            snprintf(error, FM_JOURNAL_ERROR_SIZE,
                     is_bad ? "it does not speak the protocol" : "it does not answer");
            return FM_ERR_IO;
        }
    }
}

static bool say_hello(fm_standby_link *link, const char *token)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    fm_pack_request(&packer, ++link->request, FM_METHOD_HELLO);
    msgpack_pack_map(&packer, token[0] == '\0' ? 2 : 3);
    fm_pack_key_uint(&packer, "protocol", 1);
    fm_pack_key_text(&packer, "client", "fogmarchd standby");
    if (token[0] != '\0') {
        fm_pack_key_text(&packer, "token", token);
    }
    return send_buffer(link, &buffer);
}

static bool ask_to_follow(fm_standby_link *link, const fm_writer *places, uint64_t epoch)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    fm_pack_request(&packer, ++link->request, FM_METHOD_JOURNAL_FOLLOW);
    msgpack_pack_map(&packer, 2);
    fm_pack_key_uint(&packer, fm_field_name(FM_FIELD_EPOCH), epoch);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_DATA));
    msgpack_pack_bin(&packer, places->size);
    msgpack_pack_bin_body(&packer, places->data, places->size);
    return send_buffer(link, &buffer);
}

static fm_status read_follow(const msgpack_object *result, uint64_t *epoch, bool *replica,
                             char *error)
{
    const msgpack_object *its = member(result, "epoch"), *flag = member(result, "replica");
    if (its == NULL || its->type != MSGPACK_OBJECT_POSITIVE_INTEGER || its->via.u64 < *epoch) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE,
                 "its epoch is older than this one's, %llu: it has been replaced",
                 (unsigned long long)*epoch);
        return FM_ERR_DENIED;
    }
    *epoch = its->via.u64;
    *replica = flag != NULL && flag->type == MSGPACK_OBJECT_BOOLEAN && flag->via.boolean;
    return FM_OK;
}

static fm_status call_all(fm_standby_link *link, const char *token, const fm_writer *places,
                          uint64_t *epoch, bool *replica, char *error)
{
    msgpack_unpacked unpacked;
    msgpack_object result;
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "it closed the connection");
    if (!say_hello(link, token)) {
        return FM_ERR_IO;
    }
    fm_status status = wait_for_answer(link, &unpacked, &result, error);
    if (status == FM_ERR_IO) {
        return status;
    }
    msgpack_unpacked_destroy(&unpacked);
    if (status != FM_OK) {
        return status;
    }
    if (!ask_to_follow(link, places, *epoch)) {
        return FM_ERR_IO;
    }
    status = wait_for_answer(link, &unpacked, &result, error);
    if (status == FM_ERR_IO) {
        return status;
    }
    if (status == FM_OK) {
        status = read_follow(&result, epoch, replica, error);
    }
    msgpack_unpacked_destroy(&unpacked);
    return status;
}

fm_status fm_standby_link_open(fm_standby_link *link, const fm_etcd_access *access,
                               const char *host, const char *port, const char *token,
                               const fm_writer *places, uint64_t *epoch, bool *replica, char *error)
{
    const fm_scan_limits limits = {
        .size_max = MESSAGE_MAX, .depth_max = FM_SCANNER_DEPTH_MAX, .elements_max = ELEMENTS_MAX};
    fm_scanner_init(&link->scanner, &limits);
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "it cannot be reached");
    if (!fm_etcd_link_open(&link->link, access, host, port, deadline_ns(CONNECT_MS))) {
        return FM_ERR_IO;
    }
    uv_mutex_lock(&link->lock);
    link->fd = link->link.fd;
    bool is_interrupted = link->is_interrupted;
    uv_mutex_unlock(&link->lock);
    fm_status status =
        is_interrupted ? FM_ERR_IO : call_all(link, token, places, epoch, replica, error);
    if (status != FM_OK) {
        fm_standby_link_close(link);
    }
    return status;
}
