// failing_disk.h: a disk that refuses to write, in place of the real one. It is a
// VFS of SQLite over SQLite's own, so everything that the server's journals write goes through it.
//
// Threads: the settings may be changed while others write.

#pragma once

#include <stdint.h>

/// Makes it SQLite's default. Call it once; nothing fails at first.
void fm_failing_disk_install(void);

/// From now on, `writes` more writes and syncs succeed, and then all fail as a full disk does;
/// UINT64_MAX: none fails.
void fm_failing_disk_set(uint64_t writes);

/// The same, for syncs only: the data were written, but may be lost.
void fm_failing_disk_set_syncs(uint64_t syncs);

/// The process ends, with status 7, in place of the write or sync behind `writes` more.
void fm_failing_disk_die_after(uint64_t writes);

/// Number of writes and syncs so far.
uint64_t fm_failing_disk_count(void);
