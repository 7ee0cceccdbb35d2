// clients/c/contents.h: whether what a well-formed message holds is what PROTOCOL.md says, as far
// as the library reads it: fm_object_uint() and others would take another type for a missing entry.

#pragma once

#include <fogmarch/object.h>
#include <fogmarch/words.h>

/// Whether the entries of an error or a notification by which the client decides have their types.
/// @param map  anything else is not sound
bool fm_contents_are_sound(const msgpack_object *map);

/// Whether the result of a method whose answer the client reads itself is one; true for others.
bool fm_contents_are_result(fm_method method, const msgpack_object *result);

/// Whether the entries of a keyframe or a delta have their types: lists of numbers, or bytes.
bool fm_contents_are_view(const msgpack_object *params);
