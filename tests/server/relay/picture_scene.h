// tests/server/relay/picture_scene.h: a relay's scene of agents that stand, and a delta as upstream
// packs it, in which some agents come, some step, and some get a class and a tag.
//
// Threads: one.

#pragma once

#include "server/relay/picture.h"

#define PICTURE_AGENTS_MAX 12000u

struct picture {
    fm_host host;
    fm_scene scene;
    fm_scene_agent agents[PICTURE_AGENTS_MAX];
    msgpack_sbuffer buffer;
    msgpack_packer packer;
};

extern struct picture picture;

/// `count` agents stand in a row of cells.
void picture_show(uint32_t count);

/// Reads a delta in which `enter` agents come and `steps` agents step; `count` agents from `first`
/// on have class 3 and a tag of one byte, their index.
///
/// @param out  receives what the relay makes of it; the caller destroys it
fm_status picture_read(uint32_t enter, uint32_t steps, uint32_t first, uint32_t count,
                       fm_publication **out);

void picture_end(void);
