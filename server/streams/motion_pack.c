// server/streams/motion_pack.c: see motion_pack.h.

#include "server/streams/motion_pack.h"

#define NUMBERS_EACH 4u // besides waypoints

bool fm_motion_is_known(const fm_scene *scene, uint32_t slot)
{
    const fm_scene_motion *motion = &scene->motions[slot];
    return motion->heading < FM_DIRECTION_COUNT || motion->point_count > 0;
}

static void pack_agent(const fm_scene_agent *agent, const fm_scene_motion *motion, bool veiled,
                       msgpack_packer *packer)
{
    msgpack_pack_uint64(packer, veiled ? agent->name : agent->id);
    msgpack_pack_uint64(packer, motion->heading);
    msgpack_pack_uint64(packer, motion->speed);
    msgpack_pack_uint64(packer, motion->point_count);
    for (uint32_t i = 0; i < motion->point_count; i++) {
        msgpack_pack_uint64(packer, motion->points[i].x2);
        msgpack_pack_uint64(packer, motion->points[i].y2);
    }
}

void fm_motion_pack(const fm_scene *scene, const uint32_t *slots, uint32_t count, bool veiled,
                    msgpack_packer *packer)
{
    size_t numbers = 0;
    for (uint32_t i = 0; i < count; i++) {
        numbers += NUMBERS_EACH + 2u * scene->motions[slots[i]].point_count;
    }
    msgpack_pack_array(packer, numbers);
    for (uint32_t i = 0; i < count; i++) {
        pack_agent(&scene->agents[slots[i]], &scene->motions[slots[i]], veiled, packer);
    }
}
