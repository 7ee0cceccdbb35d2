// core/saves/world_load.h: makes a world of a file that may be anything; see world_file.h.
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/bytes.h"
#include "core/world/world.h"

// What a file says of its world before it is loaded.
typedef struct fm_world_file_info {
    uint32_t version;
    uint64_t tick; // ticks completed
    uint32_t width, height;
    uint32_t teams, agents; // agents alive
    uint32_t agent_slots;
} fm_world_file_info;

/// Reads the head of a file, and checks no more than that.
///
/// @param error  receives what was wrong and where; may be NULL
/// @return FM_OK or FM_ERR_BAD_FORMAT
FM_CHECKED fm_status fm_world_file_peek(const void *bytes, size_t size, fm_world_file_info *info,
                                        fm_bytes_error *error);

/// Makes a world from bytes, whatever they are: everything is checked. Nobody watches the new
/// world.
///
/// @param memory  outlives the world; thread-safe
/// @param out     receives the world; left alone on failure, and nothing is left behind
/// @param error   receives what was wrong and where; may be NULL
/// @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_load(const void *bytes, size_t size, const fm_memory *memory,
                                   fm_world **out, fm_bytes_error *error);
