// server/cluster/etcd_json.c: requests to etcd and its answers, as JSON; see etcd.h.

#include "server/cluster/etcd.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

void fm_etcd_put(fm_writer *body, const char *text)
{
    fm_writer_put_bytes(body, text, strlen(text));
}

void fm_etcd_put_bytes(fm_writer *body, const char *name, const void *bytes, size_t size)
{
    size_t encoded = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
    fm_etcd_put(body, "\"");
    fm_etcd_put(body, name);
    fm_etcd_put(body, "\":\"");
    uint8_t *room = fm_writer_extend(body, encoded);
    if (room != NULL) {
        sodium_bin2base64((char *)room, encoded, bytes, size, sodium_base64_VARIANT_ORIGINAL);
        body->size--; // the NUL
    }
    fm_etcd_put(body, "\"");
}

void fm_etcd_put_text(fm_writer *body, const char *name, const char *text)
{
    fm_etcd_put_bytes(body, name, text, strlen(text));
}

void fm_etcd_put_prefix(fm_writer *body, const char *prefix)
{
    char end[512];
    size_t size = strlen(prefix);
    FM_ASSERT(size > 0 && size < sizeof end);
    memcpy(end, prefix, size + 1);
    end[size - 1]++;
    fm_etcd_put_text(body, "key", prefix);
    fm_etcd_put(body, ",");
    fm_etcd_put_text(body, "range_end", end);
}

int64_t fm_etcd_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10)
                                 : json_integer_value(value);
}

char *fm_etcd_bytes(const json_t *object, const char *name, size_t *size)
{
    const json_t *value = json_object_get(object, name);
    const char *text = value == NULL ? "" : json_string_value(value);
    size_t length = text == NULL ? 0 : strlen(text);
    char *bytes = text == NULL ? NULL : malloc(length + 1);
    if (bytes == NULL || sodium_base642bin((uint8_t *)bytes, length, text, length, NULL, size, NULL,
                                           sodium_base64_VARIANT_ORIGINAL) != 0) {
        free(bytes);
        return NULL;
    }
    bytes[*size] = '\0';
    return bytes;
}

// ---- transactions ------------------------------------------------------------------------------

void fm_etcd_compare_value(fm_writer *body, const char *key, const char *value)
{
    fm_etcd_put(body, "{\"target\":\"VALUE\",\"result\":\"EQUAL\",");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_text(body, "value", value);
    fm_etcd_put(body, "}");
}

void fm_etcd_compare_absent(fm_writer *body, const char *key)
{
    fm_etcd_compare_created(body, key, 0);
}

void fm_etcd_compare_present(fm_writer *body, const char *key)
{
    fm_etcd_put(body, "{\"target\":\"CREATE\",\"result\":\"GREATER\",\"create_revision\":\"0\",");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}");
}

void fm_etcd_compare_created(fm_writer *body, const char *key, int64_t revision)
{
    char text[80];
    snprintf(text, sizeof text,
             "{\"target\":\"CREATE\",\"result\":\"EQUAL\",\"create_revision\":\"%" PRId64 "\",",
             revision);
    fm_etcd_put(body, text);
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}");
}

void fm_etcd_compare_written(fm_writer *body, const char *key, int64_t revision)
{
    char text[80];
    snprintf(text, sizeof text,
             "{\"target\":\"MOD\",\"result\":\"EQUAL\",\"mod_revision\":\"%" PRId64 "\",",
             revision);
    fm_etcd_put(body, text);
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}");
}

void fm_etcd_request_put_leased(fm_writer *body, const char *key, const void *value, size_t size,
                                int64_t lease)
{
    char text[40];
    fm_etcd_put(body, "{\"requestPut\":{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_bytes(body, "value", value, size);
    snprintf(text, sizeof text, ",\"lease\":\"%" PRId64 "\"}}", lease);
    fm_etcd_put(body, lease == 0 ? "}}" : text);
}

void fm_etcd_request_put(fm_writer *body, const char *key, const void *value, size_t size)
{
    fm_etcd_request_put_leased(body, key, value, size, 0);
}

void fm_etcd_request_get(fm_writer *body, const char *key)
{
    fm_etcd_put(body, "{\"requestRange\":{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}}");
}

static const json_t *first_key(const json_t *answer, size_t index)
{
    const json_t *response = json_array_get(json_object_get(answer, "responses"), index);
    const json_t *range = json_object_get(response, "response_range");
    return json_array_get(json_object_get(range, "kvs"), 0);
}

bool fm_etcd_response_has(const json_t *answer, size_t index)
{
    return first_key(answer, index) != NULL;
}

char *fm_etcd_response_value(const json_t *answer, size_t index, size_t *size)
{
    const json_t *kv = first_key(answer, index);
    return kv == NULL ? NULL : fm_etcd_bytes(kv, "value", size);
}

int64_t fm_etcd_response_revision(const json_t *answer, size_t index)
{
    const json_t *kv = first_key(answer, index);
    return kv == NULL ? 0 : fm_etcd_number(kv, "mod_revision");
}

bool fm_etcd_succeeded(const json_t *answer)
{
    return json_is_true(json_object_get(answer, "succeeded"));
}

void fm_etcd_request_delete(fm_writer *body, const char *from, const char *to)
{
    fm_etcd_put(body, "{\"requestDeleteRange\":{");
    fm_etcd_put_text(body, "key", from);
    if (to != NULL) {
        fm_etcd_put(body, ",");
        fm_etcd_put_text(body, "range_end", to);
    }
    fm_etcd_put(body, "}}");
}

bool fm_etcd_response_is(const json_t *answer, size_t index, const void *wanted, size_t wanted_size)
{
    size_t size = 0;
    char *value = fm_etcd_response_value(answer, index, &size);
    bool same = value != NULL && size == wanted_size && memcmp(value, wanted, size) == 0;
    free(value);
    return same;
}
