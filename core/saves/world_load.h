// core/saves/world_load.h: makes a world of a file that may be anything; see world_file.h.
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/bytes.h"
#include "core/world/world.h"

/// Makes a world from bytes, whatever they are: everything is checked. Nobody watches the new
/// world.
///
/// @param memory  outlives the world; thread-safe
/// @param out     receives the world; left alone on failure, and nothing is left behind
/// @param error   receives what was wrong and where; may be NULL
/// @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_load(const void *bytes, size_t size, const fm_memory *memory,
                                   fm_world **out, fm_bytes_error *error);
