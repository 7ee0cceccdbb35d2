// tests/sim/ledger.h: what clients were told of worlds, in memory that outlives the simulated
// machine, and what must be so when it has come back.
//
// Told means received by a client. With durability tick whatever was told is on the disk, so the
// world that comes back has at least that tick, with the digest it had, and gives no id twice.

#pragma once

#include "tests/sim/book.h"

#define SIM_LEDGER_WORLDS_MAX 1024u // by number
#define SIM_LEDGER_TICKS_MAX  4096u // of a world, the latest
#define SIM_LEDGER_AGENTS_MAX 512u  // of a world

typedef struct sim_ledger_world {
    bool is_told;                           // world.create was answered
    bool is_ending;                         // somebody has asked for its end
    bool is_back;                           // of a world that came back: looked at
    uint64_t tick_told;                     // the latest that any client was sent
    uint64_t order_told, order_before;      // the highest id, now and as of the last machine's end
    uint64_t team_told, team_before;        // the highest number
    uint64_t agents[SIM_LEDGER_AGENTS_MAX]; // ids told
    uint32_t agent_count, agent_before;     // the same
    uint64_t digests[SIM_LEDGER_TICKS_MAX]; // by tick % SIM_LEDGER_TICKS_MAX
    uint64_t ticks[SIM_LEDGER_TICKS_MAX];
} sim_ledger_world;

typedef struct sim_ledger {
    uint32_t life; // how many machines there were before
    uint64_t kept_world;
    bool keeps_promises; // whatever was told is on the disk
    uint32_t power_failures;
    sim_book book; // as of the last machine's end
    sim_ledger_world worlds[SIM_LEDGER_WORLDS_MAX];
} sim_ledger;

/// All zero at first. Shared between the processes of a seed.
extern sim_ledger *sim_told;

/// A world has made a tick.
void sim_ledger_tick(uint64_t world, uint64_t tick, uint64_t digest);

/// A client was sent a world as of a tick.
void sim_ledger_hear(uint64_t world, uint64_t tick);

/// A client asks for something: the end of a world counts from here on.
void sim_ledger_ask(const sim_request *request);

/// A client was answered with FM_OK. Checks that no id is given twice.
void sim_ledger_answer(const sim_request *request, const msgpack_object *result);

/// The machine ends here, in one way or other.
void sim_ledger_close(bool keeps_promises);

/// What world.info says of a world that has come back.
void sim_ledger_compare(uint64_t world, uint64_t tick, uint64_t digest);

/// After all that came back were compared: none may be missing.
void sim_ledger_complete(void);
