// server/worlds/host.h: one world on this server, with its memory, inbox and pace.
//
//   CREATING ── made, off the loop ──> LIVE ── world.destroy ──> ENDING ── memory dropped ──> gone
//       └── failed ──> gone
//
// The members are in groups by who may touch them. What both threads read is written before the
// host is added, or guarded by the mailbox's lock.

#pragma once

#include "core/generate/generate.h"
#include "core/world/world.h"
#include "server/base/histogram.h"
#include "server/base/memory_arena.h"
#include "server/base/pacer.h"
#include "server/journal/journal.h"
#include "server/journal/replay.h"
#include "server/worlds/job.h"
#include "server/worlds/publication.h"

#include <stdatomic.h>

#define FM_WORLD_NAME_MAX    64u   // bytes
#define FM_HOST_SCENE_HEADS  64u   // of chains of views
#define FM_WATCHES_MAX       4096u // views of one world that are watched at once
#define FM_HOST_TRACES_MAX   64u   // agents of one world that are followed with debug.subscribe
#define FM_HOST_QUERIES_MAX  256u  // query jobs of one world, running and waiting
#define FM_HOST_COPIES_MAX   4u    // maps of one world of which its queries keep copies
#define FM_JOURNAL_FILE_SIZE 256u  // bytes of a journal's name in its folder, NUL included

#define FM_SHARES_MAX 256u // holders that are counted apart, teams and tokens, see shares.h

typedef struct fm_scene fm_scene;

typedef enum fm_host_state {
    FM_HOST_CREATING,
    FM_HOST_LIVE,
    FM_HOST_ENDING,     // it no longer takes requests
    FM_HOST_DESTROYING, // the same, in a cluster: it ends once its log is removed
} fm_host_state;

// A view that the conductor publishes.
typedef struct fm_host_watch {
    uint32_t team;
    uint64_t serial;
    bool lost;   // a publication was left out: the loop is behind, or no memory; a snapshot is due
    bool absent; // a replay: the team is not there at this tick
    bool sight;  // what is visible is wanted too
    bool motion; // courses are wanted
    fm_order_ended *unsent;  // orders that ended in what was left out; owned
    fm_alert *unsent_alerts; // units that stopped for enemies in it; owned
    uint32_t unsent_count, unsent_capacity;
    uint32_t unsent_alert_count, unsent_alert_capacity;
    bool unsent_lost; // there was no room for all of them
} fm_host_watch;

// The state of a world's journal.
// X(enumerator, name on the wire)
#define FM_HOST_JOURNAL_LIST(X)                                                                    \
    X(FM_HOST_JOURNAL_NONE, "none") /* there is none */                                            \
    X(FM_HOST_JOURNAL_GOOD, "good")                                                                \
    X(FM_HOST_JOURNAL_BEHIND, "behind")       /* the world waits for the disk */                   \
    X(FM_HOST_JOURNAL_PAUSED, "paused")       /* it cannot be written: the world stands still */   \
    X(FM_HOST_JOURNAL_READ_ONLY, "read_only") /* the same: nothing may be changed */

typedef enum fm_host_journal {
#define X(enumerator, name) enumerator,
    FM_HOST_JOURNAL_LIST(X)
#undef X
} fm_host_journal;

/// Static storage.
const char *fm_host_journal_name(fm_host_journal journal);

// The summary of a replay.
typedef struct fm_replay_summary {
    uint64_t first_tick, last_tick; // that the journal holds
    uint64_t seeks;                 // the tick that it seeks; FM_TICK_NONE: none
    uint64_t differences;           // ticks so far whose digest was not the recorded one
    char error[FM_ERROR_TEXT_SIZE]; // why it stopped; empty: no error
} fm_replay_summary;

#define FM_TICK_NONE UINT64_MAX

// The summary of a world, for world.list and the like.
typedef struct fm_host_summary {
    uint64_t tick;
    uint32_t agents, teams;
    bool paused;
    double tick_hz, budget_ms;
    double tick_ns; // that one takes, smoothed
    fm_host_journal journal;
    char halted[FM_ERROR_TEXT_SIZE]; // why it stands still, besides a pause; empty: it does not
    uint64_t digest;                 // of the last tick; 0 before the first
    uint64_t timeline;               // two equal ticks of one timeline are the same
    fm_replay_summary replay;
} fm_host_summary;

// What makes a host a replay: a world that comes from a journal, see server/worlds/playback.h.
typedef struct fm_playback {
    fm_replay *replay;               // owned; NULL: a world that lives. Fixed
    char file[FM_JOURNAL_FILE_SIZE]; // its name in journal_dir. Fixed
    uint64_t owner;                  // session that opened it; 0: closed. The event loop's
    // ---- the conductor's
    fm_events seeks;                // unanswered FM_JOB_SEEK; the last one counts
    bool arrived;                   // the whole view must be shown
    bool tried_again;               // status of the seek, with the journal as it is now
    fm_status status;               // result of the seek, once arrived
    uint64_t retry_ns;              // when to continue with a seek; 0: at once
    uint64_t looked_ns;             // when the journal's end was last checked
    uint64_t worlds_begun;          // fm_replay_worlds_begun() of the world that is watched
    char error[FM_ERROR_TEXT_SIZE]; // of the summary
} fm_playback;

// How much of the world's journal is on the disk, and on that of a standby
// (server/streams/shipping.h).
typedef struct fm_host_copies {
    _Atomic uint64_t position, tick, size; // committed: the last row, ticks completed, bytes so far
    _Atomic uint64_t copied;               // position that the standby has on its disk
} fm_host_copies;

typedef struct fm_followed fm_followed;

// server/worlds/following.h: the state of a host that follows another server's world.
typedef struct fm_following {
    fm_followed *followed;     // NULL: none, or no longer. The conductor's, like the rest
    fm_journal_reader *reader; // owned
    bool is_stuck;             // it cannot continue from here
    uint64_t retry_ns;         // when to try again to become a living world; 0: at once
    uint32_t tries;            // that failed
} fm_following;

// Jobs that wait, and how much may be sent: guarded by the mailbox's lock.
typedef struct fm_host_shared {
    fm_events inbox;
    bool is_closed; // it ends here: nothing more can be posted
    fm_host_summary summary;
    uint64_t tick_known, digest_known; // with holds_back: the last tick that may be sent
} fm_host_shared;

// server/worlds/shares.h: what each holder has asked for, by its place.
typedef struct fm_host_shares {
    atomic_uint waiting[FM_SHARES_MAX]; // jobs, of those in fm_host.jobs_waiting. Both threads'
    uint64_t used[FM_SHARES_MAX];       // work, in turns. The conductor's, as are
    fm_job *last[FM_SHARES_MAX + 1];    // in the backlog; the last one of who has no share
    uint64_t turn;                      // of the jobs that are done now
} fm_host_shares;

// server/worlds/queries.h: questions that run or wait, oldest first.
typedef struct fm_host_queries {
    fm_job *jobs[FM_HOST_QUERIES_MAX];
    uint32_t count;
} fm_host_queries;

// server/worlds/inspection.h: FM_JOB_TRACE, what to inspect after every tick.
typedef struct fm_host_traces {
    fm_job *jobs[FM_HOST_TRACES_MAX];
    uint32_t count;
} fm_host_traces;

// server/worlds/publish.h: the watched views.
typedef struct fm_host_watches {
    fm_host_watch *items; // owned
    uint32_t count, capacity;
} fm_host_watches;

// server/worlds/recording.h: the journal, and what waits for it.
typedef struct fm_host_recording {
    fm_journal *journal;            // NULL: none
    fm_journal_batch *batch;        // owned; not handed over yet; NULL: nothing
    fm_journal_batch *last_batch;   // owned; for the end
    fm_events held;                 // events that wait for the rows so far
    size_t held_size;               // bytes of them
    size_t row_begin;               // of the last row in `batch`
    uint64_t keyframe_tick;         // of the last keyframe
    uint64_t unkept_size;           // bytes of rows since
    uint64_t keyframe_size;         // bytes; 0: none was made here
    fm_host_journal journal_shown;  // in the summary
    bool unrecorded;                // the journal misses what happened last
    uint64_t catch_up_ns;           // when to repair that
    fm_distribution keyframe_times; // for which the world stood still
} fm_host_recording;

// server/worlds/live.h fills them in, server/worlds/world_stats.h reads them.
typedef struct fm_host_times {
    // Since the world began, or since stats reset them.
    uint64_t stage_ns[FM_STAGE_COUNT]; // sums
    uint64_t commands_ns;              // of what was done between ticks, the same
    uint32_t first_moves_before[65];   // what core/ had counted then
    fm_histogram tick_histogram;       // microseconds
    fm_histogram overrun_histogram;    // microseconds
    // Since the world began.
    fm_distribution tick_times, overrun_times, stage_times[FM_STAGE_COUNT], commands_times;
} fm_host_times;

struct fm_host {
    // ---- fixed once the world is made; both threads read ----------------------------------------
    uint64_t number;
    char name[FM_WORLD_NAME_MAX + 1];
    uint32_t width, height; // cells
    fm_world_rules rules;
    fm_overload overload;
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    uint32_t base_count;
    fm_memory_arena *arena;
    bool holds_back; // nothing may be sent before it is in the journal
    fm_playback playback;

    // ---- the event loop's -----------------------------------------------------------------------
    fm_host_state state;
    fm_scene *scenes; // views that somebody subscribed to
    fm_scene *scenes_by_team[FM_HOST_SCENE_HEADS];
    struct fm_shipper *shipper; // how far a standby is (server/streams/shipping.h); NULL: none

    // ---- both threads' --------------------------------------------------------------------------
    fm_host_shared shared;
    atomic_uint jobs_waiting;            // in the inbox or taken out of it but not done
    fm_host_shares shares;               // of those, by who has asked
    atomic_uint traces_unread;           // inspections that the loop has not taken in
    atomic_size_t published_unread_size; // bytes of publications that the loop has not taken in
    fm_host_copies copies;

    // ---- the conductor's ------------------------------------------------------------------------
    uint32_t place; // among the conductor's worlds
    fm_world *world;
    fm_pacer pacer;
    double tick_hz, budget_ms;
    bool paused;
    fm_events backlog; // taken from the inbox
    fm_job *step;      // world.step that is under way; holds up the backlog
    fm_job *order;     // agent.order that continues over ticks; the same
    uint64_t tick, digest;
    uint64_t timeline;      // see fm_host_summary
    uint32_t agents, teams; // counted as commands make and remove them, because counting is slow
    double tick_ns;         // smoothed
    fm_host_queries queries;
    fm_host_traces traces;
    fm_host_watches watches;
    fm_host_recording recording;
    fm_following following;
    fm_host_times times;
};

/// Whether a world is a replay.
static inline bool fm_host_is_replay(const fm_host *host)
{
    return host->playback.replay != NULL;
}

/// Whether a replay is on its way to another tick: jobs, and queries that have not begun, wait.
static inline bool fm_host_is_seeking(const fm_host *host)
{
    return host->playback.seeks.first != NULL || host->playback.arrived;
}

// What world.create asks for.
typedef struct fm_host_options {
    char name[FM_WORLD_NAME_MAX + 1];
    char *map; // owned by the options; NULL: generate
    size_t map_size;
    fm_generate_options generate;
    fm_world_rules rules;
    double tick_hz, budget_ms;
    fm_overload overload;
    bool paused;
    size_t memory_max; // bytes
    uint64_t number;   // that it is to have in a cluster; 0: the next one
    bool is_save; // `map` is a saved world (server/worlds/save_file.h), and brings its own rules
} fm_host_options;

/// Reads or generates the map and makes the world, or loads it. Slow: not on the event loop.
///
/// @param out    receives the host, state FM_HOST_CREATING; left alone on failure
/// @param error  receives a sentence; room for FM_ERROR_TEXT_SIZE; empty when the status says it
/// all
FM_CHECKED fm_status fm_host_create(const fm_host_options *options, fm_host **out, char *error);

// What a world is restored from.
typedef struct fm_host_restoration {
    const fm_journal_info *info;
    const uint8_t *bytes; // of fm_world_save()
    size_t size;
    size_t memory_max; // bytes
} fm_host_restoration;

/// Makes the host of a saved world, with the name, number and pace that its journal says. Its
/// journal is left to server/worlds/recording.h.
///
/// @param out    as in fm_host_create()
/// @param error  receives what is wrong with the bytes
/// @return as fm_world_load()
FM_CHECKED fm_status fm_host_restore(const fm_host_restoration *restoration, fm_host **out,
                                     fm_bytes_error *error);

/// Opens a journal as a replay and begins it at its first tick, paused. Its number is left to the
/// caller.
///
/// @param memory_max  bytes of the world
/// @param error       receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return as fm_replay_open() and fm_replay_seek()
FM_CHECKED fm_status fm_host_open_replay(const char *path, size_t memory_max, fm_host **out,
                                         char *error);

/// Releases the world by dropping its memory. After the conductor and the loop are done with it.
/// Slow. NULL is allowed.
void fm_host_destroy(fm_host *host);
