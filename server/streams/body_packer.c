// server/streams/body_packer.c: see body_packer.h.

#include "server/streams/body_packer.h"

#include "server/streams/motion_pack.h"

void fm_body_begin(fm_body_packer *body, fm_form form)
{
    body->form = form;
    msgpack_sbuffer_init(&body->buffer);
    msgpack_packer_init(&body->packer, &body->buffer, fm_frame_write);
    body->entries = 0;
    body->sight_size = 0;
}

fm_body fm_body_take(fm_body_packer *body)
{
    fm_frame *frame = fm_frame_take(&body->buffer);
    return (fm_body){.frame = frame, .entries = body->entries, .sight_size = body->sight_size};
}

void fm_body_agent(fm_body_packer *body, const fm_scene_agent *agent)
{
    fm_body_uint(body, body->form.veiled ? agent->name : agent->id);
    fm_body_uint(body, agent->team);
    fm_body_xy(body, agent->cell);
    fm_body_uint(body, agent->state);
}

void fm_body_class(fm_body_packer *body, const fm_scene_agent *agent)
{
    fm_body_uint(body, body->form.veiled ? agent->name : agent->id);
    fm_body_uint(body, agent->class_index);
}

void fm_body_motion(fm_body_packer *body, const fm_scene *scene, const uint32_t *slots,
                    uint32_t count)
{
    if (count > 0) {
        fm_body_entry(body, "motion");
        fm_motion_pack(scene, slots, count, body->form.veiled, &body->packer);
    }
}

static bool touches(const fm_rect *rect, const fm_building_look *building)
{
    const fm_rect *other = &building->rect;
    return other->x < rect->x + rect->width && rect->x < other->x + other->width &&
           other->y < rect->y + rect->height && rect->y < other->y + other->height;
}

size_t fm_scene_count_buildings(const fm_scene *scene, const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t i = 0; i < scene->building_count; i++) {
        count += touches(rect, &scene->buildings[i]);
    }
    return count;
}

void fm_body_buildings(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    fm_body_array(body, "buildings", fm_scene_count_buildings(scene, rect) * 6);
    for (uint32_t i = 0; i < scene->building_count; i++) {
        const fm_building_look *building = &scene->buildings[i];
        if (touches(rect, building)) {
            fm_body_uint(body, body->form.veiled ? building->name : building->id);
            fm_body_uint(body, building->team);
            fm_body_uint(body, building->rect.x);
            fm_body_uint(body, building->rect.y);
            fm_body_uint(body, building->rect.width);
            fm_body_uint(body, building->rect.height);
        }
    }
}

void fm_body_rect(fm_body_packer *body, const fm_rect *rect)
{
    fm_body_array(body, "rect", 4);
    fm_body_uint(body, rect->x);
    fm_body_uint(body, rect->y);
    fm_body_uint(body, rect->width);
    fm_body_uint(body, rect->height);
}

void fm_body_bytes(fm_body_packer *body, const char *name, const uint8_t *bytes, size_t size)
{
    fm_body_entry(body, name);
    msgpack_pack_bin(&body->packer, size);
    msgpack_pack_bin_body(&body->packer, bytes, size);
}
