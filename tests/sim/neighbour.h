// tests/sim/neighbour.h: a second node of the cluster: the whole server once more, in the same
// process, with a loop, a folder and connections to etcd of its own (sim --cluster --nodes 2).
//
//   chaos ── the neighbour starts and joins; worlds move between both, lives are cut off from etcd,
//            one or both, until leases end and the other node takes the worlds
//   calm  ── it is told to end: its worlds go to the first node, where all is compared
//
// Clients connect to the first node alone; from it they hear where their worlds are. The neighbour
// takes the place of the rival (rival.h), which computes nothing.
//
// A node must not be sure of a world when another one becomes its owner, unless it has given it
// away: then that was asked for, and the next owner was ready.

#pragma once

#include "tests/sim/plan.h"

#include "server/cluster/world_log.h"

#define SIM_NEIGHBOUR_FOLDER "neighbour" // its journals, below the first one's

/// How many nodes are simulated.
extern uint32_t sim_node_count;

/// Starts it.
void sim_neighbour_begin(const sim_plan *plan);

/// Whether it may have worlds.
bool sim_neighbour_lives(void);

/// Tells it to end, and waits until it has. Does nothing where there is none.
void sim_neighbour_end(void);

/// The running task's node is sure of its worlds until then; 0: it leaves.
void sim_neighbour_note_sure(fm_world_log_store *store, uint64_t until_ns);

/// The owner of a world is written.
void sim_neighbour_check_owner(uint64_t world, const sim_etcd_key *owner);
