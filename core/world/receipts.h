// core/world/receipts.h: what a world answered to commands that carry an id, so that sending one
// again is safe.
//
// A client whose connection broke, or whose server died, does not know whether its last commands
// were carried out. It sends them again with the id that they had: what was carried out is not
// carried out twice, and is answered as it was the first time. Receipts are part of the world: they
// are saved with it, and come back when its commands are replayed. They have no effect on ticks
// and no place in the digest.
//
// Ids belong to a seat (a team's players share one, everybody else another), so no team can learn
// what another one did, or evict its receipts. For each seat the last FM_RECEIPTS_OF_SEAT are kept,
// and of the spawned agents FM_RECEIPTS_AGENTS_MAX; the oldest are dropped first. Where more than
// FM_RECEIPTS_SEATS_MAX seats use ids, the one that was silent longest is dropped.
//
// Commands that were refused have changed nothing and leave no receipt.
//
// Threads: commands only.

#pragma once

#include "core/world/world.h"

#define FM_RECEIPTS_OF_SEAT    1024u
#define FM_RECEIPTS_AGENTS_MAX 65536u // of all receipts of one seat, but for its last one
#define FM_RECEIPTS_SEATS_MAX  256u

// An agent that was spawned, as the answer named it.
typedef struct fm_receipt_agent {
    fm_agent_id id;
    uint32_t name_index1; // of its name for its own team; the generation is that of the id
} fm_receipt_agent;

typedef struct fm_receipt {
    uint64_t id;
    uint64_t request; // fm_command_id.request
    uint64_t first_order, first_number;
    fm_receipt_agent *agents; // owned; spawned
    uint32_t agent_count;
    uint32_t changed_count;
    uint32_t made;      // team or building
    uint32_t made_name; // of the building, for the team
    fm_command_kind kind;
} fm_receipt;

typedef struct fm_receipt_seat {
    uint32_t seat;
    uint64_t used;       // count of receipts written when its last one was; 0: it is empty
    fm_receipt *entries; // ring; owned
    uint32_t capacity, first, count;
    uint64_t agent_count; // of all entries
} fm_receipt_seat;

typedef struct fm_receipts {
    fm_receipt_seat *seats; // owned
    uint32_t count, capacity;
    uint64_t written; // receipts so far
} fm_receipts;

/// The receipt of a command. @return NULL: none, or no longer
const fm_receipt *fm_receipts_find(const fm_receipts *receipts, uint32_t seat, uint64_t id);

/// Makes sure that the next fm_receipts_add() of this seat works, and makes an array for agents.
///
/// @param agents  receives an array of `agent_count`, to be given to fm_receipts_add() or released;
///                NULL when there are none
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_receipts_reserve(fm_receipts *receipts, const fm_memory *memory,
                                         uint32_t seat, uint32_t agent_count,
                                         fm_receipt_agent **agents);

/// Keeps a receipt, for which room was made; takes over its agents. Drops what is beyond the
/// limits.
void fm_receipts_add(fm_receipts *receipts, const fm_memory *memory, uint32_t seat,
                     const fm_receipt *receipt);

/// The receipt of a seat that was kept so many receipts ago, 0 the last one (below seat->count).
const fm_receipt *fm_receipt_at(const fm_receipt_seat *seat, uint32_t age);

const fm_receipts *fm_world_receipts(const fm_world *world);
fm_receipts *fm_world_edit_receipts(fm_world *world);

void fm_receipts_fini(fm_receipts *receipts, const fm_memory *memory);
