// tests/sim/plan.h: what a seed determines before the server starts: its settings, how rough the
// run is, which clients connect, what fails, and how the run ends.

#pragma once

#include "tests/sim/book.h"
#include "tests/sim/disk.h"
#include "tests/sim/etcd/etcd.h"

#include "server/base/config.h"

// If so many HTTP connections or more are allowed, the server turns no visitor away.
#define SIM_HTTP_ROOMY   1024u
#define SIM_VISITORS_MAX 8u

#define SIM_STRANGERS_MAX 4u

typedef enum sim_ending {
    SIM_ENDS_SETTLED, // all clients calm down, everything is compared, then SIGTERM
    SIM_ENDS_IN_MID,  // SIGTERM in the middle of everything
    SIM_ENDS_AT_ONCE, // two SIGTERMs
    SIM_ENDS_KILLED,  // as by kill -9; then the server starts again
    SIM_ENDS_IN_DARK, // the power fails; then the server starts again
} sim_ending;

typedef struct sim_plan {
    uint64_t seed;
    fm_config config;
    sim_roughness roughness;
    sim_disk_roughness disk;
    uint32_t crash_count;      // lives that end with a crash, before the last
    uint32_t actor_count;      // clients that act, besides the auditor
    uint32_t prompt_count;     // so many of these are prompt: the first ones
    uint32_t hostile_permille; // of the others are hostile
    uint32_t fault_permille;   // of their turns end their connection or stop their reading
    uint32_t flood_permille;   // of their turns open many connections
    bool is_node;              // of a cluster: worlds are kept in the simulated etcd
    bool is_elsewhere;         // after a crash another machine starts, with an empty folder
    sim_etcd_roughness etcd;
    bool has_http;
    bool has_tls;                // on all of the server's ports
    uint32_t stranger_count;     // clients that get no further than the handshake
    uint32_t visitor_count;      // clients that ask the HTTP port for pages
    uint32_t websocket_permille; // of the clients' connections are WebSockets
    uint32_t turn_max_us;        // longest time between two turns of a client
    uint64_t chaos_ns;           // how long clients act
    bool memory_fails_at_start;
    uint64_t memory_fails_after, memory_fails_count; // allocations from the beginning of chaos on
    sim_ending ending;
} sim_plan;

/// Draws the plan, after sim_kernel_start(). All machines of a seed have the same settings. With
/// the simulated etcd (sim_etcd) the server is a node of a cluster.
///
/// @param life  number of machines before this one
void sim_plan_draw(sim_plan *plan, uint64_t seed, uint32_t life);

/// Changes a setting; the value must be good.
void sim_plan_set(fm_config *config, const char *name, const char *text);

/// A link that is quick enough for a prompt client, and a random one.
sim_link sim_plan_prompt_link(void);
sim_link sim_plan_any_link(void);

/// Which port a client connects to. @param must_do  it must be a port that turns no client away
sim_port sim_plan_port(const sim_plan *plan, bool must_do);
