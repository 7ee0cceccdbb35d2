// server/streams/body_packer.h: packs keyframes and deltas of a scene, and the entries that both
// have. proto/protocol.def describes them.
//
// Threads: the event loop.

#pragma once

#include "core/map/rect.h"
#include "proto/protocol.h"
#include "server/streams/scene.h"

#include <msgpack.h>

// One body on its way. The map's entries are counted as they are packed.
typedef struct fm_body_packer {
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    uint32_t entries;
    size_t sight_size;
    fm_form form;
} fm_body_packer;

void fm_body_begin(fm_body_packer *body, fm_form form);

/// Ends the packing. The caller owns the frame; NULL when out of memory.
fm_body fm_body_take(fm_body_packer *body);

static inline void fm_body_uint(fm_body_packer *body, uint64_t number)
{
    msgpack_pack_uint64(&body->packer, number);
}

static inline void fm_body_entry(fm_body_packer *body, const char *name)
{
    body->entries++;
    fm_pack_text(&body->packer, name);
}

static inline void fm_body_number(fm_body_packer *body, const char *name, uint64_t number)
{
    fm_body_entry(body, name);
    fm_body_uint(body, number);
}

static inline void fm_body_array(fm_body_packer *body, const char *name, size_t count)
{
    fm_body_entry(body, name);
    msgpack_pack_array(&body->packer, count);
}

static inline void fm_body_xy(fm_body_packer *body, fm_cell cell)
{
    fm_body_uint(body, fm_cell_x(cell));
    fm_body_uint(body, fm_cell_y(cell));
}

void fm_body_bytes(fm_body_packer *body, const char *name, const uint8_t *bytes, size_t size);
void fm_body_rect(fm_body_packer *body, const fm_rect *rect);

/// The numbers of an agent in `agents` and `enter`, and in `classes`.
void fm_body_agent(fm_body_packer *body, const fm_scene_agent *agent);
void fm_body_class(fm_body_packer *body, const fm_scene_agent *agent);

/// The entry `motion`, of these agents; none without agents.
void fm_body_motion(fm_body_packer *body, const fm_scene *scene, const uint32_t *slots,
                    uint32_t count);

/// The entry `buildings`: all that lie in the rectangle, or partly.
void fm_body_buildings(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect);
size_t fm_scene_count_buildings(const fm_scene *scene, const fm_rect *rect);

// ---- what a scene shows -------------------------------------------------------------------------

static inline uint16_t fm_scene_look_at(const fm_scene *scene, uint32_t x, uint32_t y)
{
    return scene->looks[(size_t)y * scene->host->width + x];
}

/// Whether an agent is shown in a rectangle.
static inline bool fm_scene_shows(const fm_scene_agent *agent, const fm_rect *rect)
{
    return agent->in_view && fm_rect_contains(rect, agent->cell);
}
