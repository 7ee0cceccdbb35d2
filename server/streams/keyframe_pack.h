// server/streams/keyframe_pack.h: all that a scene shows in a rectangle, as the body of a keyframe.
//
// Threads: the event loop.

#pragma once

#include "server/streams/scene.h"

/// The caller owns the frame; NULL when out of memory.
fm_body fm_keyframe_pack(const fm_scene *scene, const fm_rect *rect, fm_form form);
