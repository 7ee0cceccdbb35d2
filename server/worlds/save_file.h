// server/worlds/save_file.h: a world with its name and pace as one file: what world.save gives and
// world.load takes.
//
//     "FMSAVED\n"  u32 version  u32 size of the head  head  u64 checksum of the head
//     the world, as core/saves/world_file.h writes it
//
// The head says how the server runs the world: name, ticks per second, budget, what happens when
// ticks are late, whether it is paused, the bases of its players; and the digest of its last tick.
//
// A file may also be the world alone, as `fogmarch replay seek --save` writes it: then there is no
// head, and the request decides how the world runs.
//
// Threads: none of its own.

#pragma once

#include "server/worlds/host.h"

#define FM_SAVE_VERSION 1u

typedef struct fm_save_head {
    char name[FM_WORLD_NAME_MAX + 1]; // empty: there is no head, and all of this is zero
    double tick_hz, budget_ms;
    fm_overload overload;
    bool paused;
    uint64_t digest; // of the last tick; 0 before the first
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    uint32_t base_count;
} fm_save_head;

/// Appends the file of a host whose world is settled (asserted). The conductor's thread.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_save_write(const fm_host *host, fm_writer *writer);

/// Reads the head, whatever the bytes are.
///
/// @param world  receives where the world begins in the bytes
/// @param error  receives what was wrong and where
/// @return FM_OK or FM_ERR_BAD_FORMAT
FM_CHECKED fm_status fm_save_read(const void *bytes, size_t size, fm_save_head *head, size_t *world,
                                  fm_bytes_error *error);
