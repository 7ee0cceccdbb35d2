// clients/c/mirror_sight.h: the visible cells of a mirror.

#pragma once

#include <fogmarch/mirror.h>

/// The entry `visible` of a keyframe whose rectangle the mirror has taken; without one the mirror
/// does not know what is visible.
FM_CHECKED fm_status fm_mirror_fill_sight(fm_mirror *mirror, const msgpack_object *params);

/// The entries `visible` and `sight` of a delta.
///
/// @param rect_changed  it has moved the rectangle
FM_CHECKED fm_status fm_mirror_change_sight(fm_mirror *mirror, const msgpack_object *params,
                                            bool rect_changed);
