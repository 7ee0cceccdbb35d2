// server/cluster/world_log_state.h: the inside of server/cluster/world_log.h, for world_log.c,
// which appends, world_log_take.c, which reads, world_log_names.c and world_log_end.c. No other
// file includes it.

#pragma once

#include "server/cluster/world_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <uv.h>

#define FM_WORLD_LOG_VERSION   1u
#define FM_WORLD_LOG_KEY_SIZE  400u
#define FM_WORLD_LOG_PART_SIZE ((size_t)128 << 10) // bytes of a part of a keyframe
#define FM_WORLD_LOG_RECORD_SIZE                                                                   \
    ((size_t)4 << 20)                            // bytes of rows, beyond which no more batches join
#define FM_WORLD_LOG_ROWS_MAX  ((size_t)1 << 31) // bytes of rows of one record
#define FM_WORLD_LOG_HEAD_SIZE 18u               // of a record: version, more, epoch, checksum
#define FM_WORLD_LOG_CALL_MS   3000u             // for calls that no tick waits for

#define FM_WORLD_LOG_DOUBTS_MAX    32u
#define FM_WORLD_LOG_RESERVED_SIZE 80u // bytes of the value of names/NAME

#define FM_WORLD_LOG_OWNER_KEY    "owner/%016" PRIx64
#define FM_WORLD_LOG_WORLD_KEY    "worlds/%016" PRIx64 // value: its name
#define FM_WORLD_LOG_MOVE_KEY     "move/%016" PRIx64
#define FM_WORLD_LOG_READY_KEY    "ready/%016" PRIx64
#define FM_WORLD_LOG_SCENES_KEY   "scenes/%016" PRIx64
#define FM_WORLD_LOG_RECORD_KEY   "log/%016" PRIx64 "/%016" PRIx64
#define FM_WORLD_LOG_KEYFRAME_KEY "kf/%016" PRIx64
#define FM_WORLD_LOG_PARTS_KEY    "part/%016" PRIx64 "/%016" PRIx64
#define FM_WORLD_LOG_PART_KEY     FM_WORLD_LOG_PARTS_KEY "/%016" PRIx64 "/%08" PRIx32

// A keyframe, as in kf/W.
struct log_keyframe {
    uint64_t position, epoch;
    uint32_t part_count;
    uint64_t size, checksum; // of all parts together
    uint64_t tick, digest;
    fm_journal_pace pace;
    fm_writer head; // a journal's head; belongs to the world's entry
};

// A world of this node.
struct log_world {
    uint64_t number, epoch;
    char *scenes;   // for the next owner; owned; NULL: none. Guarded like the next four
    bool is_lost;   // guarded by the lock
    bool is_shown;  // the directory has shown it as this node's
    bool is_ending; // its keys are being removed, or are the next owner's
    char heir[FM_CLUSTER_OWNER_MAX]; // the owner after this one; empty: not known
    fm_writer head;                  // a journal's head, packed
    // ---- the writer's
    uint64_t position;                // of the next record
    uint64_t keyframe;                // position of the newest one
    uint64_t older;                   // of the one before; what is older is removed. 0: it was
    fm_journal_batch *first, *last;   // whose rows are in `payload`
    fm_journal_batch *keyframe_batch; // the one among them with a keyframe; NULL: none
    struct log_keyframe next_keyframe;
    fm_writer keyframe_bytes; // its world, packed
    uint32_t part_count;      // of its parts, those that are there
    bool is_gathered;         // `payload` must be sent as it is, and keyframe_bytes before it
    fm_writer payload, value;
    size_t sent, part_size; // bytes of the payload
};

// One append at a time.
struct log_lane {
    fm_etcd *etcd;
    fm_writer body;
    struct log_world *world; // NULL: not ours
    bool is_sent;            // a request is under way
    bool is_part;            // it is a part of a keyframe; else of a record
    uint64_t begun_ns;
    char error[FM_JOURNAL_ERROR_SIZE];
};

// A record as it is read.
struct log_record {
    fm_writer parts;
    uint64_t epoch; // of its first part
    uint64_t begin; // position of its first part
};

// A world that is read: to be taken over, or to follow it.
struct log_taking {
    fm_world_log_store *store;
    fm_etcd *etcd;
    uint64_t number, epoch;
    struct log_keyframe keyframe;
    char name[FM_JOURNAL_NAME_MAX + 1];
    uint32_t bases[FM_JOURNAL_BASES_MAX];
    fm_journal_head head;
    fm_writer packed_head;
    fm_writer world, rows; // rows: behind the keyframe, as in a batch
    uint64_t position;     // behind the last record
    struct log_record record;
    char *error; // room for FM_JOURNAL_ERROR_SIZE
};

// A name and number that are reserved for a world that has not begun (world_log_names.c).
struct log_reservation {
    struct log_reservation *next;
    uint64_t number;
    char value[FM_WORLD_LOG_RESERVED_SIZE]; // of names/NAME
};

// A reservation of which it is not known whether it was made, or is released.
struct log_doubt {
    uint64_t number;
    bool was_made;
    char name[FM_JOURNAL_NAME_MAX + 1];
    char value[FM_WORLD_LOG_RESERVED_SIZE], next[24]; // as in note_doubt(), like
    int64_t revision;
};

struct fm_world_log_store {
    fm_world_log_options options;
    fm_journal_fence fence;
    uv_mutex_t lock;           // guards the table of worlds, and members that say so
    struct log_world **worlds; // by number; owned
    uint32_t world_count, world_capacity;
    fm_world_log_numbers numbers; // guarded
    struct log_lane lanes[FM_FENCE_LANES];
    _Atomic uint64_t sure_until_ns;
    _Atomic int64_t lease;                            // of the node; 0: none
    struct log_reservation *reservations;             // guarded; owned
    struct log_doubt doubts[FM_WORLD_LOG_DOUBTS_MAX]; // guarded, like their number
    uint32_t doubt_count;
};

/// A key below the cluster's prefix. @param key  room for FM_WORLD_LOG_KEY_SIZE
__attribute__((format(printf, 3, 4))) void fm_world_log_key(const fm_world_log_store *store,
                                                            char *key, const char *format, ...);

/// The value of names/NAME, as this node has reserved it. @return false: it has not
bool fm_world_log_reservation_value(fm_world_log_store *store, uint64_t number,
                                    char value[FM_WORLD_LOG_RESERVED_SIZE]);

/// Its world has begun.
void fm_world_log_reservation_forget(fm_world_log_store *store, uint64_t number);

/// A world of this node. NULL: it has none of this number
struct log_world *fm_world_log_find(fm_world_log_store *store, uint64_t number);

/// As fm_journal_fence says.
void fm_world_log_keep(void *context, uint64_t number);
fm_fence_verdict fm_world_log_end(void *context, uint64_t number, bool is_left, char *error);

/// Enters a world that this node owns. Takes over `head`. @return false when out of memory
bool fm_world_log_add_world(fm_world_log_store *store, uint64_t number, uint64_t epoch,
                            uint64_t position, uint64_t keyframe, fm_writer *head);

/// Packs bytes: u64 size, then zstd. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_compress(const void *bytes, size_t size, fm_writer *out);

/// Unpacks them behind what `out` holds. @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_uncompress(const fm_writer *packed, size_t limit, fm_writer *out);

/// fm_etcd_call() with FM_WORLD_LOG_CALL_MS.
fm_etcd_outcome fm_world_log_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                  json_t **answer, char *error);

// ---- world_log_take.c --------------------------------------------------------------------------

/// Begins to read. fm_world_log_taking_fini() in any case.
/// @return FM_OK, FM_ERR_BUSY: it is still being dropped here, or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_taking_init(fm_world_log_store *store, uint64_t number,
                                              char *error, struct log_taking *taking);
void fm_world_log_taking_fini(struct log_taking *taking);

/// Reads the value of one key. @return FM_OK, FM_ERR_BAD_FORMAT: it is not there, FM_ERR_IO or
/// FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_read_key(struct log_taking *taking, const char *key,
                                           fm_writer *out);

/// Reads keyframe and records as they are now.
FM_CHECKED fm_status fm_world_log_read(struct log_taking *taking);

/// Appends new records to the rows that are there.
FM_CHECKED fm_status fm_world_log_read_records(struct log_taking *taking);

/// Writes a journal of what was read, replacing one that is there.
FM_CHECKED fm_status fm_world_log_write_journal(struct log_taking *taking, const char *folder,
                                                char *path, size_t size, fm_journal_file **out);

/// Adds the rows to it.
FM_CHECKED fm_status fm_world_log_add_rows(struct log_taking *taking, fm_journal_file *file);

/// Enters the world as this node's. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_enter(struct log_taking *taking);
