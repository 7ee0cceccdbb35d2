// tests/fuzz/fuzz_scanner.c: any bytes: the scanner agrees with msgpack-c and with itself, and the
// request check handles every message that it accepts.
//
// libFuzzer target. The first byte chooses how the rest is cut into pieces. Built with
// FOGMARCH_FUZZ (preset fuzz); the seeds in corpus/scanner/ are written by
// make_scanner_seeds.c.
//
//   cmake --build --preset fuzz --target fuzz_scanner && build/fuzz/tests/fuzz_scanner CORPUS...

#include "tests/fuzz/fuzz.h"

#include "proto/protocol.h"
#include "proto/scanner.h"

#include <string.h>

// Small enough that a header with a large size costs msgpack-c no more than a few MiB.
static const fm_scan_limits limits = {
    .size_max = 1u << 16,
    .depth_max = FM_SCANNER_DEPTH_MAX,
    .elements_max = 1u << 16,
};

struct outcome {
    fm_scan_state state;
    size_t taken; // bytes
};

static struct outcome scan(const uint8_t *bytes, size_t size, size_t piece)
{
    fm_scanner scanner;
    fm_scanner_init(&scanner, &limits);
    size_t at = 0;
    while (at < size && scanner.state == FM_SCAN_MORE) {
        at += fm_scanner_feed(&scanner, bytes + at, piece < size - at ? piece : size - at);
    }
    return (struct outcome){scanner.state, at};
}

static bool is_key(const msgpack_object *key, const char *name)
{
    bool is_text = key->type == MSGPACK_OBJECT_STR || key->type == MSGPACK_OBJECT_BIN;
    return is_text && key->via.str.size == strlen(name) &&
           memcmp(key->via.str.ptr, name, key->via.str.size) == 0;
}

// Whether the handler would get the value that is in the message.
static bool is_value(const msgpack_object *object, const fm_value *value)
{
    switch (object->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        return value->number == object->via.boolean;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return value->number == object->via.u64 || value->real == (double)object->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return value->real == (double)object->via.i64;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return value->real == object->via.f64;
    case MSGPACK_OBJECT_STR:
    case MSGPACK_OBJECT_BIN:
        return value->bytes == object->via.str.ptr && value->size == object->via.str.size;
    case MSGPACK_OBJECT_ARRAY:
        return value->elements == object->via.array.ptr && value->count == object->via.array.size;
    case MSGPACK_OBJECT_NIL:
    case MSGPACK_OBJECT_MAP:
    case MSGPACK_OBJECT_EXT:
        return false; // no field has such a value
    }
    return false;
}

static bool is_in(const msgpack_object_map *params, fm_field field, const fm_value *value)
{
    for (uint32_t i = 0; i < params->size; i++) {
        if (is_key(&params->ptr[i].key, fm_field_name(field)) &&
            is_value(&params->ptr[i].val, value)) {
            return true;
        }
    }
    return false;
}

// Checks that every value that a handler gets is in the message, under its name.
static void check_values(const msgpack_object *message, const fm_request *request)
{
    static const msgpack_object_map none;
    const msgpack_object_array *parts = &message->via.array;
    const msgpack_object_array *list = &parts->ptr[parts->size - 1].via.array;
    const msgpack_object_map *params = list->size > 0 ? &list->ptr[0].via.map : &none;
    for (fm_field field = 0; field < FM_FIELD_COUNT; field++) {
        const fm_value *value = &request->values[field];
        FM_ASSERT(!value->present || is_in(params, field, value));
    }
}

static void check_request(const msgpack_object *message)
{
    fm_request request;
    char error[FM_ERROR_TEXT_SIZE] = "";
    fm_status status = fm_request_check(message, &request, error);
    FM_ASSERT(status == FM_OK || error[0] != '\0');
    FM_ASSERT(request.id <= UINT32_MAX);
    if (status == FM_OK) {
        check_values(message, &request);
    }
}

static void check_against_msgpack(const uint8_t *bytes, size_t size, struct outcome outcome)
{
    if (outcome.state == FM_SCAN_LARGE) {
        return; // its headers claim too much to give it to msgpack-c
    }
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    msgpack_unpack_return result =
        msgpack_unpack_next(&unpacked, (const char *)bytes, size, &offset);
    switch (outcome.state) {
    case FM_SCAN_DONE:
        FM_ASSERT(result == MSGPACK_UNPACK_SUCCESS && offset == outcome.taken);
        check_request(&unpacked.data);
        break;
    case FM_SCAN_MORE:
        FM_ASSERT(result == MSGPACK_UNPACK_CONTINUE);
        break;
    case FM_SCAN_BAD:
        FM_ASSERT(result == MSGPACK_UNPACK_PARSE_ERROR);
        break;
    case FM_SCAN_LARGE:
        break;
    }
    msgpack_unpacked_destroy(&unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t piece = 1u + bytes[0];
    bytes++, size--;
    struct outcome whole = scan(bytes, size, size), pieces = scan(bytes, size, piece);
    FM_ASSERT(whole.state == pieces.state && whole.taken == pieces.taken);
    check_against_msgpack(bytes, size, whole);
    return 0;
}
