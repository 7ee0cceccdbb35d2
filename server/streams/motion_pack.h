// server/streams/motion_pack.h: how agents move, as numbers of a keyframe or delta: the entry
// `motion`.
//
// Threads: the event loop.

#pragma once

#include "server/streams/scene.h"

#include <msgpack.h>

/// Whether anything is known of the agent in a slot of a scene that keeps motion.
bool fm_motion_is_known(const fm_scene *scene, uint32_t slot);

/// Packs the numbers of those agents as one array.
///
/// @param veiled  with names for numbers: a player
void fm_motion_pack(const fm_scene *scene, const uint32_t *slots, uint32_t count, bool veiled,
                    msgpack_packer *packer);
