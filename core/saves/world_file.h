// core/saves/world_file.h: a whole world as bytes.
//
// The file holds everything that later ticks depend on, except what most searches have found so
// far: that is too much to write (planners of 10,000 agents may hold hundreds of megabytes) and can
// be found again. So saving is an event in the life of a world: fm_world_settle() lets go of
// whatever the file does not hold, and puts the world exactly where loading the file would put it.
// The world that goes on and the one that was loaded then have the same digest after every later
// tick, given the same commands and records.
//
//     world ── settle ──> world ─────────── commands, ticks ───────────> same digests
//                           └─ save ──> bytes ── load ──> world ── the same commands, records ──┘
//
// A reader that replays a run from before has to settle at the same places: between the same two
// ticks, after and before the same commands. A journal therefore notes when a world was settled.
//
//     "FMWORLD\n"  u32 version
//     sections, in a fixed order: u8 which, u64 size, bytes, u64 checksum of the bytes
//
// Rows of the map and of what teams know are run-length coded; the rest is as in bytes.h. A newer
// program reads older versions; an older one refuses newer ones.
//
// Threads: saving reads the world only and may be done by any thread as long as nobody changes it.

#pragma once

#include "core/base/bytes.h"
#include "core/world/world.h"

#define FM_WORLD_FILE_VERSION 1u

/// Between ticks: brings the world to where loading its file would. Cannot fail. What clients and
/// watched views see does not change. Paths by jump points (repeated-jps, auto) are kept; other
/// searches begin again in the next tick, so their agents may wait for some ticks as after new
/// orders. One that takes longer than from one settling to the next never ends: settle seldom where
/// agents search for a long time.
void fm_world_settle(fm_world *world);

/// Whether fm_world_settle() would change nothing: no tick has been run since it, and the world was
/// settled, loaded or made.
bool fm_world_is_settled(const fm_world *world);

/// Appends the world's bytes. The world is settled (asserted). Saving the same world again, or one
/// that was loaded from these bytes, gives the same bytes.
///
/// @param writer  its memory need not be the world's; nothing else is changed
/// @return FM_OK or FM_ERR_NO_MEMORY; then the writer has failed, too
FM_CHECKED fm_status fm_world_save(const fm_world *world, fm_writer *writer);

/// Whether memory has run out in a tick, in a command (a refused one, too) or in settling, so that
/// the world is not any more what its commands and records make of it. A reader that replays them
/// must take it from a file that was saved later.
bool fm_world_is_starved(const fm_world *world);

/// There is such a file: the world, which is settled (asserted), was saved as it is now.
void fm_world_note_saved(fm_world *world);

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
