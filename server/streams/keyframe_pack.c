// server/streams/keyframe_pack.c: see keyframe_pack.h.

#include "server/streams/keyframe_pack.h"

#include "server/streams/body_packer.h"
#include "server/streams/motion_pack.h"
#include "server/streams/sight_pack.h"
#include "server/streams/tag_pack.h"

#include <stdlib.h>
#include <string.h>

// Walks over the rectangle as one long row of looks, run by run.
struct run_walk {
    const fm_scene *scene;
    const fm_rect *rect;
    uint32_t x, y; // relative to the rectangle
    uint32_t count;
    uint16_t look;
};

// How many cells from the first one on have this look. Four at a time.
static uint32_t count_alike(const uint16_t *looks, uint32_t count, uint16_t look)
{
    uint64_t four_alike = look * UINT64_C(0x0001000100010001), four;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        memcpy(&four, looks + i, sizeof four);
        if (four != four_alike) {
            break;
        }
    }
    while (i < count && looks[i] == look) {
        i++;
    }
    return i;
}

static bool next_run(struct run_walk *walk)
{
    const fm_rect *rect = walk->rect;
    walk->count = 0;
    while (walk->y < rect->height) {
        const uint16_t *row =
            &walk->scene->looks[(size_t)(rect->y + walk->y) * walk->scene->host->width + rect->x];
        if (walk->count == 0) {
            walk->look = row[walk->x];
        }
        uint32_t alike = count_alike(row + walk->x, rect->width - walk->x, walk->look);
        walk->x += alike;
        walk->count += alike;
        if (walk->x < rect->width) {
            break;
        }
        walk->x = 0;
        walk->y++;
    }
    return walk->count > 0;
}

#define LONG_ARRAY_SIZE 5u // bytes of the head of a msgpack array of any length: 0xdd, count

// An array whose length is only known once it is packed, so that a map of 16 million cells is
// walked over once.
static size_t begin_array(fm_body_packer *body, const char *name)
{
    fm_body_entry(body, name);
    size_t head = body->buffer.size;
    msgpack_pack_array(&body->packer, UINT32_MAX);
    return head;
}

static void end_array(fm_body_packer *body, size_t head, uint32_t count)
{
    if (body->buffer.size < head + LONG_ARRAY_SIZE) {
        return; // out of memory: the body will be dropped
    }
    for (uint32_t i = 1; i < LONG_ARRAY_SIZE; i++) {
        body->buffer.data[head + i] = (char)(count >> 8 * (LONG_ARRAY_SIZE - 1 - i));
    }
}

static void pack_keyframe_cells(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    uint32_t count = 0;
    size_t head = begin_array(body, "cells");
    for (struct run_walk walk = {.scene = scene, .rect = rect}; next_run(&walk);) {
        fm_body_uint(body, walk.count);
        fm_body_uint(body, walk.look);
        count += 2;
    }
    end_array(body, head, count);
}

static void pack_keyframe_agents(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        count += fm_scene_shows(&scene->agents[slot], rect);
    }
    fm_body_array(body, "agents", count * 5);
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        if (fm_scene_shows(&scene->agents[slot], rect)) {
            fm_body_agent(body, &scene->agents[slot]);
        }
    }
}

static bool pack_keyframe_motion(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    if (!body->form.motion || scene->motions == NULL) {
        return true;
    }
    uint32_t *slots = malloc((scene->slot_count + 1) * sizeof *slots), count = 0;
    for (uint32_t slot = 0; slots != NULL && slot < scene->slot_count; slot++) {
        if (fm_scene_shows(&scene->agents[slot], rect) && fm_motion_is_known(scene, slot)) {
            slots[count++] = slot;
        }
    }
    fm_body_motion(body, scene, slots, count);
    free(slots);
    return slots != NULL;
}

// Of agents of another movement class than the first; most worlds have none.
static void pack_keyframe_classes(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        count += fm_scene_shows(agent, rect) && agent->class_index != 0;
    }
    if (count == 0) {
        return;
    }
    fm_body_array(body, "classes", count * 2);
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        if (fm_scene_shows(agent, rect) && agent->class_index != 0) {
            fm_body_class(body, agent);
        }
    }
}

static bool pack_keyframe_sight(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    size_t size = body->buffer.size;
    bool packed =
        !body->form.sight || fm_sight_pack_keyframe(scene, rect, &body->packer, &body->entries);
    body->sight_size += body->buffer.size - size;
    return packed;
}

fm_body fm_keyframe_pack(const fm_scene *scene, const fm_rect *rect, fm_form form)
{
    fm_body_packer body;
    fm_body_begin(&body, form);
    fm_body_number(&body, "world", scene->host->number);
    fm_body_number(&body, "team", scene->team);
    fm_body_number(&body, "tick", scene->tick);
    fm_body_rect(&body, rect);
    pack_keyframe_cells(&body, scene, rect);
    bool complete = pack_keyframe_sight(&body, scene, rect) &&
                    pack_keyframe_motion(&body, scene, rect) &&
                    fm_tags_pack_keyframe(scene, rect, form.veiled, &body.packer, &body.entries);
    pack_keyframe_agents(&body, scene, rect);
    pack_keyframe_classes(&body, scene, rect);
    if (fm_scene_count_buildings(scene, rect) > 0) {
        fm_body_buildings(&body, scene, rect);
    }
    if (!complete) {
        msgpack_sbuffer_destroy(&body.buffer);
        return (fm_body){.entries = body.entries};
    }
    return fm_body_take(&body);
}
