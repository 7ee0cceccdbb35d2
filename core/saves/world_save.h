// core/saves/world_save.h: writes a world; see world_file.h.
//
// Threads: saving only reads the world; any thread may do it while the world does not change.

#pragma once

#include "core/base/bytes.h"
#include "core/world/world.h"

/// Appends the world's bytes. The world is settled (asserted). Saving the same world again, or one
/// that was loaded from these bytes, gives the same bytes.
///
/// @param writer  its memory need not be the world's; nothing else is changed
/// @return FM_OK or FM_ERR_NO_MEMORY; then the writer has failed, too
FM_CHECKED fm_status fm_world_save(const fm_world *world, fm_writer *writer);
