// server/worlds/job.h: requests of the event loop to a conductor, with their results.
//
// A job goes from the loop to a world's inbox, is done by the conductor between two ticks, and
// comes back with its result.
//
//   loop:  create ──> fm_conductor_post ──┐                       ┌──> answered, destroyed
//                                         v                       │
//   conductor:                        inbox ──> done ──> fm_conductor_receive
//
// A new kind needs a line in fm_job_kind, a row in each of three tables: fm_job_kinds (job.c: what
// the kind is), the one in jobs.c (what it does), and the one in server/methods/methods.c (what the
// loop does with its result).
//
// Owner: the holder of the pointer. A job owns its arrays.

#pragma once

#include "core/base/bytes.h"
#include "core/crowd/laned.h"
#include "core/crowd/meeting.h"
#include "core/planners/query.h"
#include "core/tick/tick.h"
#include "core/views/explain.h"
#include "core/views/jams.h"
#include "core/views/unit_report.h"
#include "proto/protocol.h"
#include "server/base/histogram.h"
#include "server/journal/journal.h"
#include "server/worlds/event.h"

#include <stdatomic.h>

typedef struct fm_host fm_host;

typedef enum fm_job_kind {
    FM_JOB_ADD,     // the world begins; its first job
    FM_JOB_REMOVE,  // the world ends; its last job
    FM_JOB_COMMAND, // a command of core/world/world.h
    FM_JOB_PAUSE,
    FM_JOB_RESUME,
    FM_JOB_STEP,
    FM_JOB_SEEK, // of a replay
    FM_JOB_QUERY,
    FM_JOB_STATS,
    FM_JOB_INSPECT,
    FM_JOB_TRACE,   // inspect an agent after every tick; stays with the conductor
    FM_JOB_UNTRACE, // stop
    FM_JOB_EXPLAIN,
    FM_JOB_TOP,
    FM_JOB_JAMS,
    FM_JOB_UNITS,
    FM_JOB_WATCH,   // begin to publish a view; answered after a snapshot was published
    FM_JOB_UNWATCH, // stop
    FM_JOB_SAVE,
} fm_job_kind;

#define FM_JOB_KIND_COUNT (FM_JOB_SAVE + 1u)

// The arrays that job->command.command points to, and what spawn gives back.
typedef struct fm_job_command {
    fm_command command;
    fm_command_result result;
    fm_agent_id *agents; // all owned
    fm_cell *cells;
    uint64_t *orders; // as many as agents
    fm_rect *rects;
    fm_agent_id *spawned;
    fm_agent_id *names; // of those, for their own team
    bool by_name;       // comes from a player: agents and orders go by the names of its team
    fm_command_id id;   // command.id points here, if it has one
    uint8_t tag[FM_TAG_SIZE_MAX]; // command.tag points here
    bool id_is_taken;             // used by another command: the reason of the refusal
    bool waits_for_tick;          // see core/commands/backlog.h: the reason of the refusal
} fm_job_command;

// A question.
typedef enum fm_ask_kind {
    FM_ASK_PATH, // cells: from, to of each question; so in the next two
    FM_ASK_DISTANCE,
    FM_ASK_REACHABLE,
    FM_ASK_NEAREST, // cells: from, then the goals
    FM_ASK_FIELD,   // cells: the goal; rect
    FM_ASK_TRIAL,   // agent, planners; cells: room for from, and the goal or FM_CELL_NONE
} fm_ask_kind;

#define FM_TRIALS_MAX     8u         // planners of one FM_ASK_TRIAL
#define FM_PATH_CELLS_MAX (1u << 18) // cells of all paths in the answer of one job

typedef struct fm_query_copy fm_query_copy;

// A session, as its queries know it: held by each of them and by the session.
typedef struct fm_asker {
    uint64_t holder;     // whose share it uses: the same in all sessions of a token, or of a team
    atomic_bool is_gone; // the session has ended: nobody waits for its answers
    atomic_uint users;
} fm_asker;

typedef struct fm_query_item {
    fm_query *query; // owned; NULL: labels have answered it
    fm_query_answer answer;
    bool is_done;     // `answer` is there
    bool is_unfit;    // trial: the planner cannot work by the world's rules
    uint64_t work_ns; // of a worker
} fm_query_item;

typedef struct fm_job_query {
    fm_ask_kind kind;
    bool many;     // asked as a list, answered as one
    uint32_t team; // FM_ALL_TEAMS: the truth
    uint32_t class_index;
    uint64_t expansions_max; // of each question
    fm_planner_spec planner; // paths: ops NULL: whatever is best
    fm_cell *cells;          // owned
    uint32_t cell_count;
    fm_rect rect;
    fm_agent_id agent; // trial; the next three as well
    fm_cell goal;      // FM_CELL_NONE: that of the agent's order, when the job begins
    fm_planner_spec planners[FM_TRIALS_MAX];
    uint32_t planner_count;
    bool has_rect;   // list what is in `rect` of the searches
    fm_asker *asker; // held
    // ---- the conductor's, until the job is done
    fm_query_item *items; // owned; a question each
    uint32_t item_count;
    uint32_t unfinished;   // questions
    uint32_t path_cells;   // in the answers so far
    uint32_t failed_index; // which question was refused
    bool begun;
    uint64_t tick;       // ticks completed when it began
    bool is_detached;    // the map has changed
    fm_query_copy *copy; // of it, as it was; NULL: memory ran out
} fm_job_query;

typedef struct fm_quantiles {
    uint64_t count;
    double p50, p99, p999, max;
} fm_quantiles;

// A world's part of `stats`.
typedef struct fm_world_stats {
    fm_world_counts counts;
    fm_quantiles tick_ms, overrun_ms, order_to_first_move_ticks;
    double stages_ms[FM_STAGE_COUNT]; // mean over the ticks counted
    double commands_ms;               // before these: what was done between ticks; the same
    fm_distribution tick_times, overrun_times, stage_times[FM_STAGE_COUNT], commands_times;
    uint64_t late_ticks, skipped_ticks, degraded_ticks;
    double ns_per_expansion;
    const char *journal;                       // state on the wire
    char journal_error[FM_JOURNAL_ERROR_SIZE]; // why it cannot be written; empty: no error
    fm_journal_numbers journal_numbers;
    fm_distribution keyframe_times;
    uint64_t memory, memory_max; // bytes of the world's arena, and its limit
    fm_team_counts *teams;       // owned; NULL: not asked for
    uint32_t team_count;
} fm_world_stats;

// A unit's path may begin with the cell where it stands, and the one before it: so much more room
// than cells_max each report has.
#define FM_UNIT_CELLS_MORE 2u

#define FM_STATS_TEAMS_MAX 4096u // teams that `stats` lists

// Parts of an inspection, as bits.
// X(enumerator, bit, name on the wire)
#define FM_CHANNEL_LIST(X)                                                                         \
    X(FM_CHANNEL_REPORT, 1u, "report") /* state, order, planner, sizes */                          \
    X(FM_CHANNEL_PATH, 2u, "path")                                                                 \
    X(FM_CHANNEL_SEARCH, 4u, "search")   /* cells in the rectangle */                              \
    X(FM_CHANNEL_DETAILS, 8u, "details") /* the same: keys, parents, what was learned */

typedef enum fm_channel {
#define X(enumerator, bit, name) enumerator = bit,
    FM_CHANNEL_LIST(X)
#undef X
} fm_channel;

typedef struct fm_search_cell {
    fm_inspection seen;
    uint32_t raised; // h above the distance on an empty map, where it leads to the goal
} fm_search_cell;

typedef struct fm_job_inspect {
    uint64_t trace; // INSPECT: number of the trace that it belongs to, 0: none
    fm_agent_id agent;
    uint32_t channels; // of fm_channel
    double ns_per_expansion;
    bool has_rect;
    fm_rect rect;
    fm_agent_report report;
    fm_cell *path; // owned
    uint32_t path_count;
    fm_search_cell *search; // owned; cells in the rectangle
    uint32_t search_count;
} fm_job_inspect;

typedef struct fm_job {
    fm_event event; // first
    fm_job_kind kind;
    fm_host *host;

    // Who asked; session 0: nobody.
    uint64_t session;
    uint64_t request;
    uint64_t holder; // whose share it uses (server/worlds/shares.h); 0: it needs none
    uint64_t turn;   // the conductor's: when it is to be done
    fm_method method;
    bool is_notification; // the client wants no answer
    bool is_scrape;       // STATS for server/process/metrics.h

    fm_status status; // the result
    bool is_in_doubt; // FM_ERR_IO: another node has the world, and some of it may be done there
    uint64_t tick;    // ticks completed when it was done
    union {
        struct fm_creation *creation; // ADD: the loop's
        struct fm_opening *opening;   // ADD, of a replay: the same
        struct {
            bool is_left;       // the world goes on at another node
            bool with_keyframe; // which does not replay
        } remove;
        fm_job_command command;
        struct {
            double tick_hz, budget_ms; // 0: as they are
        } pace;
        struct {
            uint32_t left, done; // ticks
            uint64_t digest;
        } step;
        struct {
            uint64_t wanted;                // tick; job->tick: where it is then
            uint64_t digest;                // recorded; 0: not known
            uint64_t first_tick, last_tick; // that the journal holds
            uint64_t differences;           // as in fm_replay_summary
            char error[FM_ERROR_TEXT_SIZE];
        } seek;
        fm_job_query query;
        struct {
            bool reset;            // start the histograms again afterwards
            bool teams;            // list them
            fm_world_stats *world; // owned
        } stats;
        fm_job_inspect inspect; // TRACE and UNTRACE as well
        struct {
            fm_agent_id agent;
            fm_explanation *explanation; // owned
            bool has_lanes;              // it keeps to
            fm_laned lanes;
            uint32_t heading;
            fm_meeting meeting;
        } explain;
        struct {
            fm_top top;
            uint32_t capacity, count;
            fm_top_row *rows; // owned
        } top;
        struct {
            fm_jams *found; // owned
            uint32_t lane_count;
            fm_laned *lanes;       // owned
            fm_meetings *meetings; // owned
        } jams;
        struct {
            uint32_t team;           // their team; FM_ALL_TEAMS: any
            bool by_name;            // comes from a player: agents are given by its aliases
            uint32_t count;          // of agents; then of reports, without dead agents
            uint32_t cells_max;      // of each path
            fm_agent_id *agents;     // all owned
            fm_unit_report *reports; // in the order of `agents`
            fm_cell *cells;          // cells_max of each, and FM_UNIT_CELLS_MORE
        } units;
        struct {
            uint32_t team;
            uint64_t serial; // of the scene that wants it
            bool sight;      // report visible cells too: also for a view that is watched already
            bool motion;     // and courses of the view's own agents: the same
        } watch;
        struct {
            fm_writer file;  // owned
            uint64_t digest; // of the last tick
        } save;
    };
} fm_job;

// What a kind of job is. By default it waits its turn in the inbox, changes nothing and reads the
// world.
typedef struct fm_job_traits {
    bool always_fits;          // never refused with FM_ERR_BUSY: other limits bound it
    bool changes_world;        // goes into the journal: refused while that cannot be written
    bool is_harmless;          // done even by a world that waits until its journal can be written
    bool needs_no_world;       // done by a replay that has lost its world
    void (*fini)(fm_job *job); // releases what it owns; NULL: nothing
    size_t (*size)(const fm_job *job); // bytes of its answer; NULL: few
} fm_job_traits;

extern const fm_job_traits fm_job_kinds[FM_JOB_KIND_COUNT];

/// @return NULL when out of memory
fm_job *fm_job_create(fm_job_kind kind, fm_host *host);

/// Bytes of a finished job with what it owns, but for that of a command.
size_t fm_job_size(const fm_job *job);

/// @return with one user, NULL when out of memory
fm_asker *fm_asker_create(uint64_t holder);

/// One user less; the last one frees it. Any thread. NULL is allowed.
void fm_asker_release(fm_asker *asker);

/// NULL is allowed. Either thread, once no other holds the job.
void fm_job_destroy(fm_job *job);
