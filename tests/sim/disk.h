// tests/sim/disk.h: the disk under the journals: a VFS of SQLite over SQLite's own, and a folder
// that survives the simulated machine.
//
//   write ──> pending ── sync ──> kept
//                └── power failure ──> each pending write is there, half there, or not at all
//
// Programs see what they see on a real system: they read what was written, synced or not, also
// after a kill of the process alone.

#pragma once

#include "tests/sim/kernel.h"

// How bad the disk is, for the server's tasks.
typedef struct sim_disk_roughness {
    uint32_t full_permille;  // of the writes fail, as a full disk's do
    uint32_t short_permille; // of the writes fail after a part
    uint32_t sync_permille;  // of the syncs fail
    uint32_t slow_permille;  // of the syncs are slow
    uint32_t slow_max_us;    // longest slow sync
} sim_disk_roughness;

/// May be changed at any time. Initially all 0.
extern sim_disk_roughness sim_disk_rough;

/// Makes this VFS SQLite's default. Call it before SQLite is used.
void sim_disk_install(void);

/// Whether a write or a sync has failed so far.
bool sim_disk_has_failed(void);

/// The power fails. The process must not use the disk afterwards.
void sim_disk_lose_power(void);
