// core/world/names.h: aliases: the numbers by which a player knows agents and orders.
//
// The ids of fm_world count everybody's agents, so they would show a player how many others were
// born or have died out of its sight. A player gets aliases ("names" in identifiers) instead, which
// depend only on what its team owns and has seen:
//
//   own agent    index1 = 2 * member + 1. `member` counts the places of the team's agents: a dead
//                agent's place goes to the team's next one, with the next generation. One that has
//                come from another team gets a name like a new agent (exchange.h).
//   other agent  index1 = 2 * sighting + 2. A sighting begins when the agent comes into the team's
//                view and ends when it leaves it: one that comes back has another name, so nobody
//                can know whether it is the same one, or whether the first has died in the fog.
//   order        its number among the orders of the team, from 1
//
// A name has the shape of an id and is packed like one. Sightings belong to a watched view and are
// no part of the simulation; several that begin in one tick are numbered by cell, team and birth.
//
// Threads: as fm_view_delta_observe(): one worker per view.

#pragma once

#include "core/world/world.h"

struct fm_agent;

struct fm_sighting {
    uint32_t slot; // of the agent; of a free one: the next free one
    uint32_t generation;
    bool taken;
};

typedef struct fm_sightings {
    struct fm_sighting *list;
    uint32_t count, capacity;
    uint32_t free;     // head of the list of free ones, UINT32_MAX
    uint32_t *of_slot; // by agent slot: index of its sighting; good for agents in view
    uint32_t of_slot_capacity;
} fm_sightings;

void fm_sightings_init(fm_sightings *sightings);
void fm_sightings_fini(fm_sightings *sightings, const fm_memory *memory);

/// Makes room for `more` sightings, of agents in slots below `slot_count`.
bool fm_sightings_reserve(fm_sightings *sightings, uint32_t more, uint32_t slot_count,
                          const fm_memory *memory);

/// Begins a sighting, for which room was made.
void fm_sightings_begin(fm_sightings *sightings, uint32_t slot);

/// Ends one. @return the name that it had
fm_agent_id fm_sightings_end(fm_sightings *sightings, uint32_t slot);

/// Name of the agent in a slot that is in view.
fm_agent_id fm_sightings_name(const fm_sightings *sightings, uint32_t slot);

/// The name of a living agent for its own team, carried or not.
fm_agent_id fm_agent_own_name(const struct fm_agent *agent);

/// The name by which an agent's own team knows it. @return all zero when there is no such agent
fm_agent_id fm_world_own_name(const fm_world *world, fm_agent_id id);

/// The agent behind a name that `team` was given: one of its own, also if it is carried, or one
/// that its view (which must be watched for that) shows now. @return all zero when there is none
fm_agent_id fm_world_agent_named(const fm_world *world, uint32_t team, fm_agent_id name);
