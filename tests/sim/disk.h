// tests/sim/disk.h: the disk under the journals: a VFS of SQLite over SQLite's own, and a folder
// that outlives the simulated machine.
//
//   write ──> pending ── sync ──> kept
//                └── power failure ──> each pending write is there, half there, or not at all
//
// The programs' view is that of a real system: what was written is read, whether it was synced or
// not, also after the death of the process alone.

#pragma once

#include "tests/sim/kernel.h"

// How bad the disk is, for what tasks do.
typedef struct sim_disk_roughness {
    uint32_t full_permille;  // of the writes fail, as a full disk's do
    uint32_t short_permille; // of the writes do a part and fail
    uint32_t sync_permille;  // of the syncs fail
    uint32_t slow_permille;  // of the syncs take a while
    uint32_t slow_max_us;    // at most so long
} sim_disk_roughness;

/// May be changed at any time; all 0 at first.
extern sim_disk_roughness sim_disk_rough;

/// Makes it SQLite's default, before SQLite is used.
void sim_disk_install(void);

/// The power fails: the process may do nothing more with the disk.
void sim_disk_lose_power(void);
