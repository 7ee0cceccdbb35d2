// server/streams/sight_pack.h: the entries of keyframes and deltas that say which cells of a scene
// are visible. proto/protocol.def has them; sight_bits.h counts.
//
// Threads: the event loop.

#pragma once

#include "server/streams/scene.h"

#include <msgpack.h>

/// Packs `visible`.
///
/// @param entries  of the map that is packed; grows by one
/// @return false when out of memory
bool fm_sight_pack_keyframe(const fm_scene *scene, const fm_rect *rect, msgpack_packer *packer,
                            uint32_t *entries);

#define FM_SIGHT_ELSEWHERE UINT64_MAX

/// Packs `visible`, or `sight` with `dense`, unless the reader has it.
///
/// @param since  the tick that the reader shows; FM_SIGHT_ELSEWHERE: of another rectangle
/// @return false when out of memory
bool fm_sight_pack_delta(const fm_scene *scene, const fm_rect *rect, uint64_t since, bool dense,
                         msgpack_packer *packer, uint32_t *entries);
