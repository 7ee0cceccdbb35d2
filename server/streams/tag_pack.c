// server/streams/tag_pack.c: see tag_pack.h.

#include "server/streams/tag_pack.h"

#include "proto/pack.h"

#include <stdlib.h>

bool fm_tag_is_news(const fm_scene *scene, uint32_t slot, bool was_shown, uint64_t since)
{
    if (slot >= scene->tag_count) {
        return false;
    }
    const fm_scene_tag *tag = &scene->tags[slot];
    return was_shown ? tag->changed_tick > since : tag->size > 0;
}

void fm_tags_pack(const fm_scene *scene, const uint32_t *slots, uint32_t count, bool veiled,
                  msgpack_packer *packer, uint32_t *entries)
{
    size_t size = 0;
    if (count == 0) {
        return;
    }
    fm_pack_text(packer, "tagged");
    msgpack_pack_array(packer, 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) {
        const fm_scene_agent *agent = &scene->agents[slots[i]];
        msgpack_pack_uint64(packer, veiled ? agent->name : agent->id);
        msgpack_pack_uint64(packer, scene->tags[slots[i]].size);
        size += scene->tags[slots[i]].size;
    }
    fm_pack_text(packer, "tags");
    msgpack_pack_bin(packer, size);
    for (uint32_t i = 0; i < count; i++) {
        const fm_scene_tag *tag = &scene->tags[slots[i]];
        msgpack_pack_bin_body(packer, tag->bytes, tag->size);
    }
    *entries += 2;
}

static bool is_shown(const fm_scene_agent *agent, const fm_rect *rect)
{
    return agent->in_view && fm_cell_x(agent->cell) - rect->x < rect->width &&
           fm_cell_y(agent->cell) - rect->y < rect->height;
}

bool fm_tags_pack_keyframe(const fm_scene *scene, const fm_rect *rect, bool veiled,
                           msgpack_packer *packer, uint32_t *entries)
{
    uint32_t most = scene->tag_count < scene->slot_count ? scene->tag_count : scene->slot_count;
    if (most == 0) {
        return true;
    }
    uint32_t *slots = malloc(most * sizeof *slots), count = 0;
    for (uint32_t slot = 0; slots != NULL && slot < most; slot++) {
        if (is_shown(&scene->agents[slot], rect) && fm_tag_is_news(scene, slot, false, 0)) {
            slots[count++] = slot;
        }
    }
    if (slots != NULL) {
        fm_tags_pack(scene, slots, count, veiled, packer, entries);
    }
    free(slots);
    return slots != NULL;
}
