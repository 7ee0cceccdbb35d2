// clients/c/object.c: see object.h.

#include <fogmarch/object.h>

#include "core/base/base.h"

#include <msgpack.h>
#include <string.h>

const msgpack_object *fm_object_get(const msgpack_object *map, const char *name)
{
    if (map == NULL || map->type != MSGPACK_OBJECT_MAP) {
        return NULL;
    }
    size_t size = strlen(name);
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *key = &map->via.map.ptr[i].key;
        if (key->type == MSGPACK_OBJECT_STR && key->via.str.size == size &&
            memcmp(key->via.str.ptr, name, size) == 0) {
            return &map->via.map.ptr[i].val;
        }
    }
    return NULL;
}

uint64_t fm_object_uint(const msgpack_object *map, const char *name, uint64_t fallback)
{
    const msgpack_object *value = fm_object_get(map, name);
    return value != NULL && value->type == MSGPACK_OBJECT_POSITIVE_INTEGER ? value->via.u64
                                                                           : fallback;
}

double fm_object_real(const msgpack_object *map, const char *name, double fallback)
{
    const msgpack_object *value = fm_object_get(map, name);
    if (value == NULL) {
        return fallback;
    }
    switch ((int)value->type) { // msgpack-c has more types than there are numbers
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return value->via.f64;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return (double)value->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return (double)value->via.i64;
    default:
        return fallback;
    }
}

bool fm_object_bool(const msgpack_object *map, const char *name, bool fallback)
{
    const msgpack_object *value = fm_object_get(map, name);
    return value != NULL && value->type == MSGPACK_OBJECT_BOOLEAN ? value->via.boolean : fallback;
}

bool fm_object_text(const msgpack_object *map, const char *name, char *text, size_t size)
{
    FM_ASSERT(size > 0);
    const msgpack_object *value = fm_object_get(map, name);
    if (value == NULL || value->type != MSGPACK_OBJECT_STR) {
        text[0] = '\0';
        return false;
    }
    size_t length = value->via.str.size < size ? value->via.str.size : size - 1;
    memcpy(text, value->via.str.ptr, length);
    text[length] = '\0';
    return true;
}

uint32_t fm_object_count(const msgpack_object *array)
{
    return array != NULL && array->type == MSGPACK_OBJECT_ARRAY ? array->via.array.size : 0;
}

const msgpack_object *fm_object_at(const msgpack_object *array, uint32_t index)
{
    return index < fm_object_count(array) ? &array->via.array.ptr[index] : NULL;
}

const void *fm_object_bytes(const msgpack_object *map, const char *name, size_t *size)
{
    const msgpack_object *value = fm_object_get(map, name);
    bool is_there = value != NULL && value->type == MSGPACK_OBJECT_BIN;
    *size = is_there ? value->via.bin.size : 0;
    return is_there ? value->via.bin.ptr : NULL;
}

fm_numbers fm_object_numbers(const msgpack_object *map, const char *name)
{
    const msgpack_object *value = fm_object_get(map, name);
    if (value == NULL || value->type != MSGPACK_OBJECT_ARRAY) {
        return (fm_numbers){.elements = NULL, .count = 0};
    }
    return (fm_numbers){.elements = value->via.array.ptr, .count = value->via.array.size};
}

uint64_t fm_numbers_at(fm_numbers numbers, uint32_t index)
{
    FM_ASSERT(index < numbers.count);
    const msgpack_object *element = &numbers.elements[index];
    return element->type == MSGPACK_OBJECT_POSITIVE_INTEGER ? element->via.u64 : 0;
}
