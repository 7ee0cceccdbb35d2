// clients/c/contents.c: see contents.h.

#include "clients/c/contents.h"

#include "core/base/base.h"

static bool is_of_type(const msgpack_object *map, const char *name, msgpack_object_type type)
{
    const msgpack_object *value = fm_object_get(map, name);
    return value != NULL && value->type == type;
}

static bool may_be_of_type(const msgpack_object *map, const char *name, msgpack_object_type type)
{
    return fm_object_get(map, name) == NULL || is_of_type(map, name, type);
}

bool fm_contents_are_sound(const msgpack_object *map)
{
    static const char *const numbers[] = {"subscription", "world", "code"};
    static const char *const texts[] = {"name", "message", "node", "tcp", "http", "ticket"};
    bool are = map != NULL && map->type == MSGPACK_OBJECT_MAP;
    for (size_t i = 0; i < FM_COUNT_OF(numbers) && are; i++) {
        are = may_be_of_type(map, numbers[i], MSGPACK_OBJECT_POSITIVE_INTEGER);
    }
    for (size_t i = 0; i < FM_COUNT_OF(texts) && are; i++) {
        are = may_be_of_type(map, texts[i], MSGPACK_OBJECT_STR);
    }
    return are;
}

static bool are_seeds(const msgpack_object *seeds)
{
    bool are = seeds == NULL || seeds->type == MSGPACK_OBJECT_ARRAY;
    for (uint32_t i = 0; i < fm_object_count(seeds) && are; i++) {
        are = is_of_type(fm_object_at(seeds, i), "tcp", MSGPACK_OBJECT_STR);
    }
    return are;
}

bool fm_contents_are_result(fm_method method, const msgpack_object *result)
{
    switch ((int)method) { // those of all others are the program's
    case FM_METHOD_HELLO:
        return fm_contents_are_sound(result) && is_of_type(result, "resume", MSGPACK_OBJECT_STR) &&
               are_seeds(fm_object_get(result, "seeds"));
    case FM_METHOD_SUBSCRIBE:
        return is_of_type(result, "subscription", MSGPACK_OBJECT_POSITIVE_INTEGER) &&
               is_of_type(result, "stream", MSGPACK_OBJECT_POSITIVE_INTEGER) &&
               is_of_type(result, "resumed", MSGPACK_OBJECT_BOOLEAN);
    case FM_METHOD_DEBUG_SUBSCRIBE:
        return is_of_type(result, "subscription", MSGPACK_OBJECT_POSITIVE_INTEGER);
    case FM_METHOD_WORLD_LOCATE:
        return fm_contents_are_sound(result) &&
               is_of_type(result, "here", MSGPACK_OBJECT_BOOLEAN) &&
               (fm_object_bool(result, "here", false) ||
                is_of_type(result, "tcp", MSGPACK_OBJECT_STR));
    default:
        return true;
    }
}

static bool are_numbers(const msgpack_object *list)
{
    bool are = list->type == MSGPACK_OBJECT_ARRAY;
    for (uint32_t i = 0; i < fm_object_count(list) && are; i++) {
        are = list->via.array.ptr[i].type == MSGPACK_OBJECT_POSITIVE_INTEGER;
    }
    return are;
}

bool fm_contents_are_view(const msgpack_object *params)
{
    static const char *const lists[] = {"rect",   "cells",  "agents",  "buildings", "classes",
                                        "tagged", "motion", "visible", "moved",     "enter",
                                        "leave",  "ended",  "alerts",  "died",      "load"};
    static const char *const bytes[] = {"tags", "steps", "runs", "sight"};
    bool are = fm_contents_are_sound(params) &&
               is_of_type(params, "tick", MSGPACK_OBJECT_POSITIVE_INTEGER);
    for (size_t i = 0; i < FM_COUNT_OF(lists) && are; i++) {
        const msgpack_object *list = fm_object_get(params, lists[i]);
        are = list == NULL || are_numbers(list);
    }
    for (size_t i = 0; i < FM_COUNT_OF(bytes) && are; i++) {
        are = may_be_of_type(params, bytes[i], MSGPACK_OBJECT_BIN);
    }
    return are && may_be_of_type(params, "untold", MSGPACK_OBJECT_BOOLEAN);
}
