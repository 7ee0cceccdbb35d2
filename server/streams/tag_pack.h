// server/streams/tag_pack.h: the tags that games put on agents, as two entries of a keyframe or
// delta: `tagged` has each agent and how many bytes its tag is long, `tags` the bytes, one after
// the other. Both are left out when there are no tags.
//
// Threads: the event loop.

#pragma once

#include "server/streams/scene.h"

#include <msgpack.h>

/// Whether a reader must be sent the tag of the agent in a slot that it is to show.
///
/// @param was_shown  it has shown the agent since tick `since`, with the tag of then
bool fm_tag_is_news(const fm_scene *scene, uint32_t slot, bool was_shown, uint64_t since);

/// Packs the tags of the agents in those slots.
///
/// @param veiled   with names for numbers: a player
/// @param entries  grows by the entries that are packed
void fm_tags_pack(const fm_scene *scene, const uint32_t *slots, uint32_t count, bool veiled,
                  msgpack_packer *packer, uint32_t *entries);

/// Packs those of all agents in a rectangle. False when out of memory.
FM_CHECKED bool fm_tags_pack_keyframe(const fm_scene *scene, const fm_rect *rect, bool veiled,
                                      msgpack_packer *packer, uint32_t *entries);
