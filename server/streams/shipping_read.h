// server/streams/shipping_read.h: reads a world's journal for a standby, as shipments.
//
//   CLAIMED ── the row that the standby has is here ──┐
//      └── it is not ──┐                              v
//   NEW ───────────────┴── newest keyframe ── parts ──> rows, keyframes ──> the end, for now
//                      ^                                   └── rows that are gone ──┐
//                      └────────────────────────────────────────────────────────────┘
//
// Threads: one at a time for each shipper: the pool's while it reads, else the event loop's.

#pragma once

#include "server/journal/shipment.h"

#define FM_SHIPPER_PATH_SIZE 4096u

// A shipment on its way to the standby.
typedef struct fm_parcel {
    struct fm_parcel *next;
    fm_writer bytes;         // empty: a position that the standby has reported
    uint64_t world;          // 0: the ledger
    uint64_t position, tick; // that the standby has with it; 0: no row is whole with it
    bool is_end;             // the world is gone
    uint64_t version;        // of the ledger
    uint64_t number;         // of the shipment; the event loop's, like the next
    size_t size;             // bytes that were sent
} fm_parcel;

typedef struct fm_parcels {
    fm_parcel *first, *last; // `last` counts only while there is a first
    size_t size;             // bytes of all
    bool failed;             // out of memory: nothing more can be added
} fm_parcels;

// How far the journal of one world is read.
typedef struct fm_shipper {
    struct fm_shipper *next;
    uint64_t world;
    char path[FM_SHIPPER_PATH_SIZE];
    fm_journal_reader *reader; // owned; NULL: not open
    bool is_claimed;           // `claim` was not checked yet
    bool has_begun;            // the standby has it up to `position`, or will
    bool is_broken;            // it cannot be read; it starts over
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_shipment_place claim;
    uint64_t position, tick; // of the last row that was read
    uint8_t *bytes;          // owned; of a keyframe on its way; NULL: none
    size_t size, offset;
    // ---- the event loop's
    uint64_t copied, copied_tick;        // position that the standby has
    uint64_t goal, goal_tick, goal_size; // committed when it was last read: position ... bytes
    uint64_t copied_size;                // bytes that had been committed of what it has
    uint64_t retry_ns;                   // when one that is broken is read again
} fm_shipper;

/// Reads on until the parcels have grown by `size_max`, or to the end.
void fm_shipper_read(fm_shipper *shipper, fm_parcels *parcels, size_t size_max);

/// NULL is allowed.
void fm_shipper_destroy(fm_shipper *shipper);

/// Adds one; it takes over the writer's bytes. @return false when out of memory
bool fm_parcels_put(fm_parcels *parcels, fm_writer *bytes, const fm_parcel *about);

void fm_parcels_fini(fm_parcels *parcels);
