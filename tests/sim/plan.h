// tests/sim/plan.h: what a seed means: the server's settings, how rough the run is, who connects,
// what fails, and how it ends. All of it is drawn before the server starts.

#pragma once

#include "tests/sim/book.h"
#include "tests/sim/disk.h"

#include "server/base/config.h"

// With so many HTTP connections allowed, or more, nobody is turned away.
#define SIM_HTTP_ROOMY   1024u
#define SIM_VISITORS_MAX 8u

#define SIM_STRANGERS_MAX 4u

typedef enum sim_ending {
    SIM_ENDS_SETTLED, // everybody calms down, everything is compared, then SIGTERM
    SIM_ENDS_IN_MID,  // SIGTERM in the middle of everything
    SIM_ENDS_AT_ONCE, // two of them
    SIM_ENDS_KILLED,  // as by kill -9; then it starts again
    SIM_ENDS_IN_DARK, // the power fails
} sim_ending;

typedef struct sim_plan {
    uint64_t seed;
    fm_config config;
    sim_roughness roughness;
    sim_disk_roughness disk;
    uint32_t crash_count;      // lives that end with a crash, before the last
    uint32_t actor_count;      // clients that act, besides the auditor
    uint32_t prompt_count;     // of these, the first ones are prompt
    uint32_t hostile_permille; // of the others
    uint32_t fault_permille;   // of their turns end their connection or stop their reading
    uint32_t flood_permille;   // of their turns open many connections
    bool has_http;
    bool has_tls;                // on all its ports
    uint32_t stranger_count;     // who get no further than the handshake
    uint32_t visitor_count;      // who ask the HTTP port for pages
    uint32_t websocket_permille; // of the clients' connections
    uint32_t turn_max_us;        // between two turns of a client
    uint64_t chaos_ns;           // how long they act
    bool memory_fails_at_start;
    uint64_t memory_fails_after, memory_fails_count; // allocations from the beginning of chaos on
    sim_ending ending;
} sim_plan;

/// Draws it, after sim_kernel_start(). Machines of one seed have the same settings.
///
/// @param life  how many machines there were before
void sim_plan_draw(sim_plan *plan, uint64_t seed, uint32_t life);

/// A link that answers may be expected on at once, and one that may be anything.
sim_link sim_plan_prompt_link(void);
sim_link sim_plan_any_link(void);

/// Where a client connects to. @param must_do  it may not be turned away
sim_port sim_plan_port(const sim_plan *plan, bool must_do);
