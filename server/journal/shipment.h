// server/journal/shipment.h: what a server sends to its standby, as bytes: the journals' rows as
// they lie on its disk, and what its ledger holds. PROTOCOL.md, journal.follow, says how they
// travel.
//
//   LEDGER                           tokens and keys, whole, whenever they change
//   WORLD, PART, PART ...            a world that starts over: head, and its newest keyframe
//   ROWS, ROWS, KEYFRAME, PART ...   what comes behind it
//   END                              the world was destroyed
//   BEAT                             nothing; shows each side that the other is alive
//
// The copy has the same rows in the same positions with the same links (journal_mark.h). So each
// ROWS names the link that its last row must have: rows that were lost, swapped or changed on the
// way, or that belong to another history, do not fit.
//
// Numbers are little-endian, as core/base/bytes.h has them. A reader refuses what it does not know.
//
// Threads: none of its own.

#pragma once

#include "server/base/tokens.h"
#include "server/journal/journal_batch.h"

#define FM_SHIPMENT_PART_SIZE  ((size_t)256 << 10) // bytes of a keyframe in one PART
#define FM_SHIPMENT_ROWS_SIZE  ((size_t)256 << 10) // bytes of rows, beyond which no more join
#define FM_SHIPMENT_KEY_SIZE   32u                 // bytes of the key of resume tokens
#define FM_SHIPMENT_WORLDS_MAX 4096u               // in fm_shipment_places

typedef enum fm_shipment_kind {
    FM_SHIPMENT_LEDGER = 1,
    FM_SHIPMENT_WORLD = 2,
    FM_SHIPMENT_KEYFRAME = 3,
    FM_SHIPMENT_PART = 4,
    FM_SHIPMENT_ROWS = 5,
    FM_SHIPMENT_END = 6,
    FM_SHIPMENT_BEAT = 7,
} fm_shipment_kind;

// Where a journal is.
typedef struct fm_shipment_place {
    uint64_t world, position;
    fm_journal_link link; // of the row there
} fm_shipment_place;

// A keyframe without its bytes, which follow in PARTs.
typedef struct fm_shipment_keyframe {
    uint64_t tick, digest, size; // ticks completed; of the last; bytes to come
    fm_journal_pace pace;
} fm_shipment_keyframe;

typedef struct fm_shipment {
    fm_shipment_kind kind;
    fm_shipment_place place;       // WORLD, KEYFRAME: of the keyframe's row; ROWS: of the last row;
                                   // PART, END: the world
    fm_shipment_keyframe keyframe; // WORLD, KEYFRAME
    char name[FM_JOURNAL_NAME_MAX + 1]; // WORLD, like the next four
    uint32_t overload;
    uint64_t timeline;
    uint32_t bases[FM_JOURNAL_BASES_MAX];
    uint32_t base_count;
    uint64_t offset;      // PART: where its bytes belong
    const uint8_t *bytes; // PART; ROWS: as fm_journal_rows_take() reads them; in the reader's own
    size_t size;
    bool is_kept;                      // END: the file stays, renamed
    uint64_t epoch;                    // LEDGER, like the rest
    uint8_t key[FM_SHIPMENT_KEY_SIZE]; // of resume tokens
    uint64_t world_last, token_last;   // numbers given out so far
    uint32_t grant_count;
} fm_shipment;

/// Packs the members that `kind` needs.
void fm_shipment_put(fm_writer *writer, const fm_shipment *shipment);

/// Appends a checksum of 8 bytes over all of it, against accidents on the way.
uint64_t fm_shipment_sum(const void *bytes, size_t size);

/// @param size with the sum; receives that without @return false: it was damaged on the way
bool fm_shipment_is_whole(const uint8_t *bytes, size_t *size);

/// One of a LEDGER's tokens; grant_count of them follow the shipment.
void fm_shipment_put_grant(fm_writer *writer, const fm_grant *grant);

/// Reads one.
///
/// @param reader  goes on to the grants of a LEDGER, or must be at its end
/// @return FM_OK or FM_ERR_BAD_FORMAT
FM_CHECKED fm_status fm_shipment_take(fm_reader *reader, fm_shipment *shipment);

/// @return FM_OK or FM_ERR_BAD_FORMAT
FM_CHECKED fm_status fm_shipment_take_grant(fm_reader *reader, fm_grant *grant);

// Whose standby somebody is or was: said before the places.
typedef struct fm_shipment_claim {
    bool has_taken_over;    // it does not want to follow any more
    fm_journal_link ledger; // the name of the ledger that its tokens come from
} fm_shipment_claim;

void fm_shipment_put_claim(fm_writer *writer, const fm_shipment_claim *claim);

/// Reads it and goes on behind it.
/// @return false: there is none, and nothing was read
bool fm_shipment_take_claim(const uint8_t **bytes, size_t *size, fm_shipment_claim *claim);

/// Places, one after the other: what a standby has when it begins to follow.
void fm_shipment_put_place(fm_writer *writer, const fm_shipment_place *place);

/// @return false: none is left, or it is invalid and the reader has failed
bool fm_shipment_take_place(fm_reader *reader, fm_shipment_place *place);
