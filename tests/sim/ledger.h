// tests/sim/ledger.h: what clients were told of worlds, in memory that survives the simulated
// machine, and the checks of the worlds that come back.
//
// Told means received by a client. With durability tick everything that was told is on the disk, so
// a world comes back at that tick or later, with the digest of that tick, and gives no id twice.

#pragma once

#include "tests/sim/book.h"

#define SIM_LEDGER_WORLDS_MAX 1024u // by number
#define SIM_LEDGER_TICKS_MAX  4096u // latest ones of a world
#define SIM_LEDGER_AGENTS_MAX 512u  // of a world

typedef struct sim_ledger_world {
    bool is_told;                           // world.create was answered
    bool is_ending;                         // a client has asked for its end
    bool is_ended;                          // in a cluster: a client was told of its end
    bool is_back;                           // came back and was compared
    uint64_t tick_told;                     // the latest that any client received
    uint64_t order_told, order_before;      // the highest id, now and at the last machine's end
    uint64_t team_told, team_before;        // the highest number
    uint64_t agents[SIM_LEDGER_AGENTS_MAX]; // ids told
    uint32_t agent_count, agent_before;     // now, and at the last machine's end
    uint64_t back_ns;                       // when it came back; 0: it has not
    // By node, and tick % SIM_LEDGER_TICKS_MAX: a node that has lost a world and does not know it
    // computes ticks that nobody sees.
    uint64_t digests[SIM_NODES][SIM_LEDGER_TICKS_MAX], ticks[SIM_NODES][SIM_LEDGER_TICKS_MAX];
} sim_ledger_world;

typedef struct sim_ledger {
    uint32_t life; // number of machines before this one
    uint64_t kept_world;
    bool keeps_promises; // everything that was told is on the disk
    uint32_t power_failures;
    sim_book book; // at the last machine's end
    sim_ledger_world worlds[SIM_LEDGER_WORLDS_MAX];
} sim_ledger;

/// Initially all zero. Shared between the processes of a seed.
extern sim_ledger *sim_told;

/// A world has run a tick.
void sim_ledger_tick(uint64_t world, uint64_t tick, uint64_t digest);

/// A client received a world's state as of a tick.
void sim_ledger_hear(uint64_t world, uint64_t tick);

/// A client received the news that a world has ended. In a cluster it must be gone from etcd, and
/// never comes back.
void sim_ledger_hear_end(uint64_t world);

/// A client sends a request. From its request to end a world on, that world may be gone.
void sim_ledger_ask(const sim_request *request);

/// A client received the answer FM_OK. Checks that no id is given twice.
void sim_ledger_answer(const sim_request *request, const msgpack_object *result);

/// Whether a tick has this digest, as far as known.
bool sim_ledger_is_digest(uint64_t world, uint64_t tick, uint64_t digest);

/// The machine ends or crashes.
void sim_ledger_close(bool keeps_promises);

/// Compares a world that came back with what clients were told of it.
void sim_ledger_compare(uint64_t world, uint64_t tick, uint64_t digest);

/// Whether none is missing any more.
bool sim_ledger_are_all_back(void);

/// Checks that no world is missing, after sim_ledger_compare() of all that came back.
void sim_ledger_complete(void);
