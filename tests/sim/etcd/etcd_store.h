// tests/sim/etcd/etcd_store.h: what the simulated etcd holds: keys, leases, and its answers to
// requests.
//
// It is in memory that survives the simulated machine, like the ledger. There is one copy: that
// three members agree is etcd's business, and has been tested by others. Past revisions are kept
// until they are compacted (etcd_past.h). There are no watches, because the server has none: a
// request of any other kind ends the run.
//
// A transaction has one revision, however much it writes.
//
// tests/cluster/cluster_model.py compares its answers with those of etcd itself (sim --etcd).
//
// Threads: none; requests are carried out between the tasks' turns.

#pragma once

#include "tests/sim/kernel.h"

#include <jansson.h>

#define SIM_ETCD_CLUSTER    "sim"
#define SIM_ETCD_KEYS_MAX   16384u
#define SIM_ETCD_KEY_SIZE   200u
#define SIM_ETCD_LEASES_MAX 256u
#define SIM_ETCD_BYTES_MAX  ((size_t)1 << 30) // of all values that were ever written
#define SIM_ETCD_WORLDS_MAX 1024u             // by number

#define SIM_ETCD_CHANGES_MAX 32768u // that are not compacted

typedef struct sim_etcd_key {
    char name[SIM_ETCD_KEY_SIZE];
    const uint8_t *value; // a NUL is behind it
    size_t size;
    int64_t created, modified; // revisions
    int64_t lease;             // 0: none
} sim_etcd_key;

// What happened to a key.
typedef struct sim_etcd_change {
    sim_etcd_key key; // as it was written, or what was removed, at its revision
    bool is_removal;
} sim_etcd_change;

typedef struct sim_etcd_lease {
    int64_t id; // 0: free
    uint32_t ttl_s;
    uint64_t ends_ns;
} sim_etcd_lease;

// A world's log, as far as it was committed (etcd_log.h).
typedef struct sim_etcd_log {
    bool is_there;
    uint64_t position; // of the next record
    uint64_t keyframe; // position of the newest one
    uint64_t epoch, tick;
    uint8_t *parts; // of a record that is not complete
    size_t parts_size;
} sim_etcd_log;

typedef struct sim_etcd_store {
    int64_t revision, lease_last, term;
    int64_t compacted;                    // what was before this revision is forgotten
    int64_t transaction;                  // revision of what it writes; 0: none is carried out
    uint64_t left_ns;                     // when the last machine ended
    uint32_t key_count;                   // sorted
    sim_etcd_key keys[SIM_ETCD_KEYS_MAX]; // of all clusters
    sim_etcd_lease leases[SIM_ETCD_LEASES_MAX];
    sim_etcd_log logs[SIM_ETCD_WORLDS_MAX];
    fm_random compactions; // all zero: none come by themselves
    uint32_t change_count; // in the order of their revisions
    sim_etcd_change changes[SIM_ETCD_CHANGES_MAX];
    size_t used;
    uint8_t bytes[SIM_ETCD_BYTES_MAX]; // values; never given back
} sim_etcd_store;

/// Shared between the processes of a seed, initially all zero. NULL: this run has no etcd.
extern sim_etcd_store *sim_etcd;

/// Called when a key was written, and before one is removed.
extern void (*sim_etcd_on_put)(const sim_etcd_key *key);
extern void (*sim_etcd_on_remove)(const char *name);

/// A key below the cluster's prefix. NULL: it does not exist
sim_etcd_key *sim_etcd_find(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The first key that is not less; its index may be key_count.
uint32_t sim_etcd_first(const char *name);

void sim_etcd_put(const char *name, const void *value, size_t size, int64_t lease);
void sim_etcd_remove(const char *name);

/// Room that lasts as long as the store.
uint8_t *sim_etcd_room(size_t size);

/// Carries out a request. @param code  receives the status of HTTP
/// @return a new reference
json_t *sim_etcd_answer(const char *path, const json_t *request, bool is_full, int *code);

/// Ends the leases whose time is over, with their keys. @return when the next one ends
uint64_t sim_etcd_end_leases(uint64_t now_ns);

/// A new leader: all leases last for their whole time again, from `now_ns` on.
void sim_etcd_extend_leases(uint64_t now_ns);
