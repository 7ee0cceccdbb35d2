// server/cluster/world_log_parts.c: what appending and taking over have in common: keys, texts of
// owners, parts of transactions, packed bytes; see world_log_state.h.

#include "server/cluster/world_log_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#define COMPRESS_FAST 1

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

// ---- transactions ------------------------------------------------------------------------------

void fm_world_log_compare_value(fm_writer *body, const char *key, const char *value)
{
    fm_etcd_put(body, "{\"target\":\"VALUE\",\"result\":\"EQUAL\",");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_text(body, "value", value);
    fm_etcd_put(body, "}");
}

void fm_world_log_compare_absent(fm_writer *body, const char *key)
{
    fm_etcd_put(body, "{\"target\":\"CREATE\",\"result\":\"EQUAL\",\"create_revision\":\"0\",");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}");
}

void fm_world_log_put(fm_writer *body, const char *key, const void *value, size_t size)
{
    fm_etcd_put(body, "{\"requestPut\":{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, ",");
    fm_etcd_put_bytes(body, "value", value, size);
    fm_etcd_put(body, "}}");
}

void fm_world_log_get(fm_writer *body, const char *key)
{
    fm_etcd_put(body, "{\"requestRange\":{");
    fm_etcd_put_text(body, "key", key);
    fm_etcd_put(body, "}}");
}

char *fm_world_log_response_value(const json_t *answer, size_t index, size_t *size)
{
    const json_t *response = json_array_get(json_object_get(answer, "responses"), index);
    const json_t *range = json_object_get(response, "response_range");
    const json_t *kv = json_array_get(json_object_get(range, "kvs"), 0);
    return kv == NULL ? NULL : fm_etcd_bytes(kv, "value", size);
}

bool fm_world_log_succeeded(const json_t *answer)
{
    return json_is_true(json_object_get(answer, "succeeded"));
}

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
    if (reader.failed || size > limit) {
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
