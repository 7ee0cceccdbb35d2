// fogmarch/object.h: reads entries of a result or notification by name.
//
// What a server sends is not trusted: an entry that is missing or has another type reads as the
// fallback, so a reader needs no special cases for older or newer servers.

#pragma once

#include <fogmarch/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// Any value of a message. It is msgpack-c's type: code that includes <msgpack.h> may access it
// directly.
typedef struct msgpack_object msgpack_object;

/// The entry of a map by name; NULL when there is none or `map` is NULL or not a map.
const msgpack_object *fm_object_get(const msgpack_object *map, const char *name);

uint64_t fm_object_uint(const msgpack_object *map, const char *name, uint64_t fallback);

/// Accepts integers too.
double fm_object_real(const msgpack_object *map, const char *name, double fallback);

bool fm_object_bool(const msgpack_object *map, const char *name, bool fallback);

/// Copies a text, cut to fit and NUL-terminated; empty when there is none.
/// @return whether there was one
bool fm_object_text(const msgpack_object *map, const char *name, char *text, size_t size);

/// How many elements an array has; 0 when it is NULL or none.
uint32_t fm_object_count(const msgpack_object *array);

/// Element `index` of an array; NULL when there is none.
const msgpack_object *fm_object_at(const msgpack_object *array, uint32_t index);

/// Bytes, which lie in the message. @return NULL when there are none
const void *fm_object_bytes(const msgpack_object *map, const char *name, size_t *size);

// An array of numbers inside a message.
typedef struct fm_numbers {
    const msgpack_object *elements;
    uint32_t count;
} fm_numbers;

/// An array; count 0 when there is none.
fm_numbers fm_object_numbers(const msgpack_object *map, const char *name);

/// Element `index` (asserted to be in range) as a number; 0 when it is none.
uint64_t fm_numbers_at(fm_numbers numbers, uint32_t index);

#ifdef __cplusplus
}
#endif
