// tests/sim/etcd/etcd.h: the way to the simulated etcd (etcd_store.h), and what goes wrong on it.
//
//   server ── request ──> ... ── carried out ──> ... ── answer ──> server
//                └ lost, late      └ refused, or done     └ lost, in pieces
//
// The server's own client of etcd runs (server/cluster/etcd.c: HTTP, JSON, deadlines, other
// members); the linker replaces the connections below it (server/cluster/etcd_link.h). A request
// whose sender has given up may still be carried out, as long as nothing says that it was lost.
//
// Now and then the whole cluster freezes, as when its leader is lost: then nothing is carried out,
// and afterwards leases last for their whole time again. Or this node is cut off from it: then
// leases end. Or one member is gone, or the database is full.
//
// Threads: as the server's tasks call; everything else happens between their turns.

#pragma once

#include "tests/sim/etcd/etcd_store.h"

#define SIM_ETCD_MEMBERS 3u

// How rough it is, of 1,000 requests each.
typedef struct sim_etcd_roughness {
    uint32_t lost_permille;        // never carried out
    uint32_t lost_answer_permille; // carried out, and no answer comes
    uint32_t late_permille;        // carried out up to 2.5 s later
    uint32_t refused_permille;     // answered by an error that says nothing of what was done
    uint32_t delay_max_us;         // of the others, each way
    uint32_t calm_max_ms;   // longest time between two troubles of the whole; 0: there are none
    uint32_t freeze_max_ms; // longest freeze
    uint32_t cut_max_ms;    // longest time for which the node is cut off
    bool has_rival;         // another node takes worlds (rival.h)
    bool has_moves;         // worlds move to it, and back
} sim_etcd_roughness;

/// A machine starts; leases go on from where they were when the last one ended. @param seed  for
/// the moments at which etcd compacts
void sim_etcd_begin(uint64_t seed);

/// The machine has crashed, or has ended.
void sim_etcd_leave(void);

/// From now on it is rough; all zero: calm, and what is frozen or cut off is no longer.
void sim_etcd_set_rough(const sim_etcd_roughness *rough);

/// Whether requests are not carried out now.
bool sim_etcd_is_in_trouble(void);

/// Worlds that are to be somewhere.
uint32_t sim_etcd_world_count(void);

/// Names that were reserved for worlds that have no owner.
uint32_t sim_etcd_reserved_count(void);
