// core/saves/world_file.h: a whole world as bytes.
//
// The file holds everything that later ticks depend on, except what most searches have found so
// far: that is too much to write (planners of 10,000 agents may hold hundreds of megabytes) and can
// be found again. So saving changes the world: fm_world_settle() drops whatever the file does not
// hold, and puts the world exactly into the state that loading the file gives. The world that
// continues and the one that was loaded then have the same digest after every later tick, given the
// same commands and records.
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
// program reads older versions as far as it says; an older one refuses newer ones.
//
// settle.h, world_save.h and world_load.h have the functions.

#pragma once

#define FM_WORLD_FILE_VERSION                                                                      \
    8u // 1: agents of worlds with one unit per cell were laid out otherwise; 2: without receipts
       // and orders that ended as crowded; 3: nobody is frozen; 4: orders without deadlines, no
       // tags, sights and changes of teams; 5: teams without costs of their own;
       // 6: nobody is carried; 7: nobody keeps its distance
