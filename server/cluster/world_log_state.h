// server/cluster/world_log_state.h: the inside of server/cluster/world_log.h, for world_log.c,
// which appends, and world_log_take.c, which reads. Nobody else includes it.

#pragma once

#include "server/cluster/world_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <uv.h>

#define FM_WORLD_LOG_VERSION   1u
#define FM_WORLD_LOG_KEY_SIZE  400u
#define FM_WORLD_LOG_PART_SIZE ((size_t)512 << 10) // bytes of a part of a keyframe
#define FM_WORLD_LOG_RECORD_SIZE                                                                   \
    ((size_t)4 << 20)                            // bytes of rows, beyond which no more batches join
#define FM_WORLD_LOG_ROWS_MAX  ((size_t)1 << 31) // bytes of rows of one record
#define FM_WORLD_LOG_HEAD_SIZE 18u               // of a record: version, more, epoch, checksum
#define FM_WORLD_LOG_CALL_MS   3000u             // for what no tick waits for

#define FM_WORLD_LOG_OWNER_KEY    "owner/%016" PRIx64
#define FM_WORLD_LOG_RECORD_KEY   "log/%016" PRIx64 "/%016" PRIx64
#define FM_WORLD_LOG_KEYFRAME_KEY "kf/%016" PRIx64
#define FM_WORLD_LOG_PARTS_KEY    "part/%016" PRIx64 "/%016" PRIx64
#define FM_WORLD_LOG_PART_KEY     FM_WORLD_LOG_PARTS_KEY "/%016" PRIx64 "/%08" PRIx32

// A keyframe as kf/W says it.
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
    struct log_world *next;
    uint64_t number, epoch;
    bool is_lost;   // guarded by the lock
    fm_writer head; // a journal's head, packed
    // ---- the writer's
    uint64_t position;                // of the next record
    uint64_t keyframe;                // position of the newest one
    fm_journal_batch *first, *last;   // whose rows are in `payload`
    fm_journal_batch *keyframe_batch; // the one among them with a keyframe; NULL: none
    struct log_keyframe next_keyframe;
    bool is_gathered; // `payload` must go out as it is
    bool has_parts;   // those of next_keyframe are there
    fm_writer payload, value;
    size_t sent, part_size; // bytes of the payload
};

// One append at a time.
struct log_lane {
    fm_etcd *etcd;
    fm_writer body;
    struct log_world *world; // NULL: not ours
    bool is_sent;
    uint64_t begun_ns;
    char error[FM_JOURNAL_ERROR_SIZE];
};

struct fm_world_log_store {
    fm_world_log_options options;
    fm_journal_fence fence;
    uv_mutex_t lock; // guards the list of worlds, and what says so
    struct log_world *worlds;
    fm_world_log_numbers numbers; // guarded
    struct log_lane lanes[FM_FENCE_LANES];
    _Atomic uint64_t sure_until_ns;
};

/// A key below the cluster's prefix. @param key  room for FM_WORLD_LOG_KEY_SIZE
__attribute__((format(printf, 3, 4))) void fm_world_log_key(const fm_world_log_store *store,
                                                            char *key, const char *format, ...);

/// Enters a world that this node owns. Takes over `head`. @return false when out of memory
bool fm_world_log_add_world(fm_world_log_store *store, uint64_t number, uint64_t epoch,
                            uint64_t position, uint64_t keyframe, fm_writer *head);

/// Packs bytes: u64 size, then zstd. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_compress(const void *bytes, size_t size, fm_writer *out);

/// Unpacks them behind what `out` holds. @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_uncompress(const fm_writer *packed, size_t limit, fm_writer *out);

// ---- transactions: parts of their JSON ---------------------------------------------------------

void fm_world_log_compare_value(fm_writer *body, const char *key, const char *value);
void fm_world_log_compare_absent(fm_writer *body, const char *key);
void fm_world_log_put(fm_writer *body, const char *key, const void *value, size_t size);
void fm_world_log_get(fm_writer *body, const char *key);

/// Value of the only key of a range among a transaction's responses, for free(). NULL: none
char *fm_world_log_response_value(const json_t *answer, size_t index, size_t *size);
bool fm_world_log_succeeded(const json_t *answer);

/// fm_etcd_call() with FM_WORLD_LOG_CALL_MS.
fm_etcd_outcome fm_world_log_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                  json_t **answer, char *error);
