// tests/sim/bugs.h: bugs that can be planted, to check that the simulation finds them.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// X(name, option, text)
#define SIM_BUGS(X)                                                                                \
    X(NONE, "none", "none")                                                                        \
    X(LOST_BYTE, "lost-byte", "a write of a part forgets the byte behind it, once in 500 times")   \
    X(LOST_RECORD, "lost-record", "one of 300 messages over TLS is not sent")                      \
    X(LOST_BLOCK, "lost-block", "one of 2,000 blocks is never given back")                         \
    X(LATE_TICK, "late-tick", "one of 100 ticks begins 200 ms late")                               \
    X(EARLY_NEWS, "early-news", "clients are told before it is on the disk")                       \
    X(LYING_SYNC, "lying-sync", "the disk says that it has synced, and has not")                   \
    X(EARLY_REVOKE, "early-revoke", "a token ends before that is written, which may fail")         \
    X(HALF_DONE, "half-done", "one of 20 requests that are refused ends a token all the same")     \
    X(LYING_ETCD, "lying-etcd", "one of 50 records is not in etcd, which says that it is")         \
    X(LOST_FENCE, "lost-fence", "etcd does not look at whose world it is")                         \
    X(LONG_LEASE, "long-lease", "a node thinks that its lease lasts 3 s longer")                   \
    X(EARLY_END, "early-end", "a world counts as destroyed although etcd has not answered")        \
    X(OLD_LOOK, "old-look", "a node looks at the directory as it was when it looked last")

typedef enum sim_bug {
#define X(name, option, text) SIM_BUG_##name,
    SIM_BUGS(X)
#undef X
    SIM_BUG_COUNT,
} sim_bug;

/// The planted bug.
extern sim_bug sim_bug_planted;

/// Whether the bug shows now: once in `times` on average.
bool sim_bug_shows(sim_bug bug, uint32_t times);
