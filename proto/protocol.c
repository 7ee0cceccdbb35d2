// proto/protocol.c: from msgpack values to checked requests, and the frames around answers.
//
// A method's parameters are rows of a table made from protocol.def; one walk over the rows and the
// received map does all the checks, so no handler has any. Text and binary count as the same, for
// MessagePack-RPC clients that are older than this distinction. Any thread.

#include "proto/protocol.h"

#include "proto/param_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_SHOWN_MAX 48 // bytes of a client's text that an error repeats

struct param {
    fm_field field; // FM_FIELD_COUNT ends the list
    enum param_type type;
    enum need need;
    double minimum; // of the number, the size or the count; exact up to 2^53
    double maximum;
};

struct name {
    const char *text;
    uint32_t size;
};

#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct {
    struct name name;
    fm_role role;
    const struct param *params;
} methods[FM_METHOD_COUNT] = {
#define PARAM(field, type, need, minimum, maximum, text) {field, type, need, minimum, maximum},
#define RESULT(name, type, text)
#define FM_METHOD(enumerator, name, role, text, fields)                                            \
    [enumerator] = {NAME(name), role, (const struct param[]){fields{.field = FM_FIELD_COUNT}}},
#include "proto/protocol.def"
#undef FM_METHOD
#undef RESULT
#undef PARAM
};

static const struct name fields[FM_FIELD_COUNT] = {
#define FM_FIELD(enumerator, name) [enumerator] = NAME(name),
#include "proto/protocol.def"
#undef FM_FIELD
};

static const char *const notifications[FM_NOTIFICATION_COUNT] = {
#define FM_NOTIFICATION(enumerator, name, text, fields) [enumerator] = name,
#include "proto/protocol.def"
#undef FM_NOTIFICATION
};

static const char *const roles[FM_ROLE_COUNT] = {
#define FM_ROLE(enumerator, name, text) [enumerator] = name,
#include "proto/protocol.def"
#undef FM_ROLE
};

const char *fm_method_name(fm_method method)
{
    FM_ASSERT(method < FM_METHOD_COUNT);
    return methods[method].name.text;
}

fm_role fm_method_role(fm_method method)
{
    FM_ASSERT(method < FM_METHOD_COUNT);
    return methods[method].role;
}

bool fm_role_may(fm_role role, fm_method method)
{
    bool only_looks = role == FM_ROLE_OBSERVER || role == FM_ROLE_DEBUG;
    bool acts = method == FM_METHOD_AGENT_ORDER || method == FM_METHOD_AGENT_CANCEL ||
                method == FM_METHOD_AGENT_RESUME || method == FM_METHOD_BUILDING_PLACE ||
                method == FM_METHOD_BUILDING_REMOVE;
    return role >= fm_method_role(method) && !(only_looks && acts);
}

const char *fm_notification_name(fm_notification notification)
{
    FM_ASSERT(notification < FM_NOTIFICATION_COUNT);
    return notifications[notification];
}

const char *fm_field_name(fm_field field)
{
    FM_ASSERT(field < FM_FIELD_COUNT);
    return fields[field].text;
}

const char *fm_role_name(fm_role role)
{
    FM_ASSERT(role < FM_ROLE_COUNT);
    return roles[role];
}

bool fm_role_by_name(const char *name, fm_role *role)
{
    for (uint32_t i = 0; i < FM_ROLE_COUNT; i++) {
        if (strcmp(name, roles[i]) == 0) {
            *role = (fm_role)i;
            return true;
        }
    }
    return false;
}

// ---- reading ------------------------------------------------------------------------------------

// The contents of a str or bin.
static bool read_bytes(const msgpack_object *object, struct name *out)
{
    if (object->type == MSGPACK_OBJECT_STR) {
        *out = (struct name){object->via.str.ptr, object->via.str.size};
        return true;
    }
    if (object->type == MSGPACK_OBJECT_BIN) {
        *out = (struct name){object->via.bin.ptr, object->via.bin.size};
        return true;
    }
    return false;
}

static bool is_same(const struct name *a, const struct name *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

// Bytes of the UTF-8 character at the front; 0 when invalid. NUL counts as invalid.
static uint32_t character_size(const uint8_t *bytes, size_t size)
{
    uint8_t first = bytes[0];
    if (first < 0x80) {
        return first != 0;
    }
    // Table 3-7 of the Unicode standard: the second byte's range depends on the first byte, which
    // keeps out overlong forms, surrogates and what lies above U+10FFFF.
    uint32_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0xc2 || first > 0xf4 || size < wanted || bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (uint32_t i = 2; i < wanted; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return wanted;
}

static bool is_text(const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t at = 0; at < size;) {
        uint32_t taken = character_size(bytes + at, size - at);
        if (taken == 0) {
            return false;
        }
        at += taken;
    }
    return true;
}

// ---- saying what is wrong -----------------------------------------------------------------------

// Describes a value for an error; numbers are shown as received.
static void describe(const msgpack_object *object, char *out, size_t size)
{
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        snprintf(out, size, "nil");
        return;
    case MSGPACK_OBJECT_BOOLEAN:
        snprintf(out, size, "%s", object->via.boolean ? "true" : "false");
        return;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        snprintf(out, size, "%" PRIu64, object->via.u64);
        return;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        snprintf(out, size, "%" PRId64, object->via.i64);
        return;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        snprintf(out, size, "the real number %g", object->via.f64);
        return;
    case MSGPACK_OBJECT_STR:
        snprintf(out, size, "text");
        return;
    case MSGPACK_OBJECT_BIN:
        snprintf(out, size, "bytes");
        return;
    case MSGPACK_OBJECT_ARRAY:
        snprintf(out, size, "an array");
        return;
    case MSGPACK_OBJECT_MAP:
        snprintf(out, size, "a map");
        return;
    case MSGPACK_OBJECT_EXT:
        snprintf(out, size, "an extension");
        return;
    }
    FM_UNREACHABLE();
}

// Where an error's text goes, and what it is about.
struct complaint {
    const char *method;
    const char *field;
    const struct param *param;
    char *error;
};

static bool complain(const struct complaint *complaint, const char *wanted, const char *got)
{
    snprintf(complaint->error, FM_ERROR_TEXT_SIZE, "%s: field '%s': %s wanted, got %s",
             complaint->method, complaint->field, wanted, got);
    return false;
}

static bool complain_of_type(const struct complaint *complaint, const char *wanted,
                             const msgpack_object *object)
{
    char got[64];
    describe(object, got, sizeof(got));
    return complain(complaint, wanted, got);
}

// "2 numbers", "1..64 bytes of text": the parameter's range and what it counts.
static void describe_range(const struct param *param, const char *unit, char *out, size_t size)
{
    if (param->minimum == param->maximum) {
        snprintf(out, size, "%.16g%s", param->minimum, unit);
    } else {
        snprintf(out, size, "%.16g..%.16g%s", param->minimum, param->maximum, unit);
    }
}

static bool check_range(const struct complaint *complaint, double amount, const char *unit)
{
    const struct param *param = complaint->param;
    if (amount >= param->minimum && amount <= param->maximum) { // never true of NaN
        return true;
    }
    char wanted[96], got[64];
    describe_range(param, unit, wanted, sizeof(wanted));
    snprintf(got, sizeof(got), "%.16g", amount);
    return complain(complaint, wanted, got);
}

// ---- one field ----------------------------------------------------------------------------------

static bool check_uint(const struct complaint *complaint, const msgpack_object *object,
                       fm_value *value)
{
    if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
        return check_range(complaint, (double)object->via.i64, "");
    }
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return complain_of_type(complaint, "whole number", object);
    }
    value->number = object->via.u64;
    return check_range(complaint, (double)object->via.u64, "");
}

static bool check_real(const struct complaint *complaint, const msgpack_object *object,
                       fm_value *value)
{
    switch (object->type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        value->real = (double)object->via.u64;
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        value->real = (double)object->via.i64;
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        value->real = object->via.f64;
        break;
    default:
        return complain_of_type(complaint, "number", object);
    }
    return check_range(complaint, value->real, "");
}

static bool check_bool(const struct complaint *complaint, const msgpack_object *object,
                       fm_value *value)
{
    if (object->type != MSGPACK_OBJECT_BOOLEAN) {
        return complain_of_type(complaint, "true or false", object);
    }
    value->number = object->via.boolean;
    return true;
}

static bool check_bytes(const struct complaint *complaint, const msgpack_object *object,
                        fm_value *value)
{
    bool is_for_text = complaint->param->type == TEXT;
    struct name bytes;
    if (!read_bytes(object, &bytes)) {
        return complain_of_type(complaint, is_for_text ? "text" : "bytes", object);
    }
    value->bytes = bytes.text;
    value->size = bytes.size;
    if (!check_range(complaint, bytes.size, is_for_text ? " bytes of text" : " bytes")) {
        return false;
    }
    if (is_for_text && !is_text(bytes.text, bytes.size)) {
        return complain(complaint, "UTF-8 text without NUL", "other bytes");
    }
    return true;
}

static bool check_element(const struct complaint *complaint, const msgpack_object *object,
                          uint32_t index)
{
    if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= FM_UINT_MAX) {
        return true;
    }
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "0..%" PRIu64 " at index %" PRIu32, FM_UINT_MAX, index);
    return complain_of_type(complaint, wanted, object);
}

static bool check_uints(const struct complaint *complaint, const msgpack_object *object,
                        fm_value *value)
{
    if (object->type != MSGPACK_OBJECT_ARRAY) {
        return complain_of_type(complaint, "array of whole numbers", object);
    }
    value->elements = object->via.array.ptr;
    value->count = object->via.array.size;
    if (!check_range(complaint, value->count, " numbers")) {
        return false;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        if (!check_element(complaint, &value->elements[i], i)) {
            return false;
        }
    }
    return true;
}

static bool check_value(const struct complaint *complaint, const msgpack_object *object,
                        fm_value *value)
{
    switch (complaint->param->type) {
    case UINT:
        return check_uint(complaint, object, value);
    case REAL:
        return check_real(complaint, object, value);
    case BOOL:
        return check_bool(complaint, object, value);
    case TEXT:
    case BYTES:
        return check_bytes(complaint, object, value);
    case UINTS:
        return check_uints(complaint, object, value);
    }
    FM_UNREACHABLE();
}

// ---- all fields ---------------------------------------------------------------------------------

static const struct param *find_param(const struct param *params, const struct name *name)
{
    for (const struct param *param = params; param->field != FM_FIELD_COUNT; param++) {
        if (is_same(&fields[param->field], name)) {
            return param;
        }
    }
    return NULL;
}

// A field that the method does not know is ignored, whatever its value.
static bool check_entry(const msgpack_object_kv *entry, fm_request *request, char *error)
{
    struct name name;
    if (!read_bytes(&entry->key, &name)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s: names of fields must be text",
                 fm_method_name(request->method));
        return false;
    }
    const struct param *param = find_param(methods[request->method].params, &name);
    if (param == NULL) {
        return true;
    }
    struct complaint complaint = {
        .method = fm_method_name(request->method),
        .field = fm_field_name(param->field),
        .param = param,
        .error = error,
    };
    fm_value *value = &request->values[param->field];
    if (value->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s: field '%s' is given twice", complaint.method,
                 complaint.field);
        return false;
    }
    value->present = true;
    return check_value(&complaint, &entry->val, value);
}

static bool check_needs(const fm_request *request, char *error)
{
    const struct param *param = methods[request->method].params;
    for (; param->field != FM_FIELD_COUNT; param++) {
        if (param->need == MUST && !request->values[param->field].present) {
            snprintf(error, FM_ERROR_TEXT_SIZE, "%s: field '%s' is missing",
                     fm_method_name(request->method), fm_field_name(param->field));
            return false;
        }
    }
    return true;
}

static bool check_params(const msgpack_object *params, fm_request *request, char *error)
{
    if (params->type != MSGPACK_OBJECT_ARRAY || params->via.array.size > 1 ||
        (params->via.array.size == 1 && params->via.array.ptr[0].type != MSGPACK_OBJECT_MAP)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s: params must be an array that holds one map",
                 fm_method_name(request->method));
        return false;
    }
    if (params->via.array.size == 1) {
        const msgpack_object_map *map = &params->via.array.ptr[0].via.map;
        for (uint32_t i = 0; i < map->size; i++) {
            if (!check_entry(&map->ptr[i], request, error)) {
                return false;
            }
        }
    }
    return check_needs(request, error);
}

// ---- the envelope -------------------------------------------------------------------------------

// Splits [0, id, method, params] and [2, method, params].
static bool open_envelope(const msgpack_object *message, fm_request *request, struct name *method,
                          const msgpack_object **params)
{
    if (message->type != MSGPACK_OBJECT_ARRAY || message->via.array.size < 3) {
        return false;
    }
    const msgpack_object *part = message->via.array.ptr;
    uint32_t count = message->via.array.size;
    if (part[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return false;
    }
    request->is_notification = part[0].via.u64 == FM_MESSAGE_NOTIFICATION;
    if (!request->is_notification) {
        if (part[0].via.u64 != FM_MESSAGE_REQUEST || count != 4 ||
            part[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER || part[1].via.u64 > UINT32_MAX) {
            return false;
        }
        request->id = part[1].via.u64;
    } else if (count != 3) {
        return false;
    }
    *params = &part[count - 1];
    return read_bytes(&part[count - 2], method);
}

static bool find_method(const struct name *name, fm_method *method)
{
    for (uint32_t i = 0; i < FM_METHOD_COUNT; i++) {
        if (is_same(&methods[i].name, name)) {
            *method = (fm_method)i;
            return true;
        }
    }
    return false;
}

// Repeats a client's text without trusting it: the answer must stay short and be valid text.
static void quote(const struct name *name, char *out)
{
    uint32_t size = name->size < NAME_SHOWN_MAX ? name->size : NAME_SHOWN_MAX;
    for (uint32_t i = 0; i < size; i++) {
        char letter = name->text[i];
        out[i] = letter >= ' ' && letter <= '~' ? letter : '?';
    }
    out[size] = '\0';
}

fm_status fm_request_check(const msgpack_object *message, fm_request *request, char *error)
{
    memset(request, 0, sizeof(*request));
    struct name name;
    const msgpack_object *params;
    if (!open_envelope(message, request, &name, &params)) {
        snprintf(
            error, FM_ERROR_TEXT_SIZE,
            "neither a request [0, id, method, params] nor a notification [2, method, params]");
        return FM_ERR_BAD_MESSAGE;
    }
    if (!find_method(&name, &request->method)) {
        char shown[NAME_SHOWN_MAX + 1];
        quote(&name, shown);
        snprintf(error, FM_ERROR_TEXT_SIZE, "there is no method '%s'", shown);
        return FM_ERR_NO_METHOD;
    }
    return check_params(params, request, error) ? FM_OK : FM_ERR_BAD_FIELD;
}

// ---- writing ------------------------------------------------------------------------------------

bool fm_pack_text(msgpack_packer *packer, const char *text)
{
    return msgpack_pack_str_with_body(packer, text, strlen(text)) == 0;
}

bool fm_pack_request(msgpack_packer *packer, uint64_t id, fm_method method)
{
    return msgpack_pack_array(packer, 4) == 0 &&
           msgpack_pack_uint64(packer, FM_MESSAGE_REQUEST) == 0 &&
           msgpack_pack_uint64(packer, id) == 0 && fm_pack_text(packer, fm_method_name(method)) &&
           msgpack_pack_array(packer, 1) == 0;
}

bool fm_pack_result(msgpack_packer *packer, uint64_t id)
{
    return msgpack_pack_array(packer, 4) == 0 &&
           msgpack_pack_uint64(packer, FM_MESSAGE_RESPONSE) == 0 &&
           msgpack_pack_uint64(packer, id) == 0 && msgpack_pack_nil(packer) == 0;
}

bool fm_pack_error_and(msgpack_packer *packer, uint64_t id, fm_status status, const char *message,
                       uint32_t more)
{
    FM_ASSERT(status != FM_OK);
    return msgpack_pack_array(packer, 4) == 0 &&
           msgpack_pack_uint64(packer, FM_MESSAGE_RESPONSE) == 0 &&
           msgpack_pack_uint64(packer, id) == 0 && msgpack_pack_map(packer, 3 + more) == 0 &&
           fm_pack_text(packer, "code") && msgpack_pack_uint64(packer, status) == 0 &&
           fm_pack_text(packer, "name") && fm_pack_text(packer, fm_status_name(status)) &&
           fm_pack_text(packer, "message") &&
           fm_pack_text(packer, message == NULL ? fm_status_text(status) : message);
}

bool fm_pack_error(msgpack_packer *packer, uint64_t id, fm_status status, const char *message)
{
    return fm_pack_error_and(packer, id, status, message, 0) && msgpack_pack_nil(packer) == 0;
}

bool fm_pack_notification(msgpack_packer *packer, fm_notification notification)
{
    return msgpack_pack_array(packer, 3) == 0 &&
           msgpack_pack_uint64(packer, FM_MESSAGE_NOTIFICATION) == 0 &&
           fm_pack_text(packer, fm_notification_name(notification)) &&
           msgpack_pack_array(packer, 1) == 0;
}
