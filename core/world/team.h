// core/world/team.h: a team, as the tick keeps it: what it knows, who belongs to it, its share of
// the search.

#pragma once

#include "core/base/account.h"
#include "core/map/knowledge.h"
#include "core/search/planner.h"
#include "core/world/seekers.h"
#include "core/world/team_labels.h"

struct fm_agent;
struct fm_escort;
struct fm_jam;
struct fm_lanes;
struct fm_view_delta;

// Members read in every tick come first, here and in the structs within: with thousands of teams
// each cache line counts.
struct fm_team {
    fm_knowledge *knowledge;
    struct fm_view_delta *delta;           // NULL unless watched
    uint32_t first_sensing, sensing_count; // its part of fm_world.lists.sensing
    fm_account account;
    fm_seekers seekers;
    fm_team_labels labels;
    fm_planner_spec spec;
    uint32_t *members; // slots that are or were its agents', see names.h
    uint32_t member_count, member_capacity;
    uint32_t agent_free; // head of the list of its free slots through `planner`, FM_SLOT_NONE
    uint64_t orders_given;
    uint64_t cost_tick;  // in which `cost_cells` counts
    uint32_t cost_cells; // that commands have named, see core/commands/costs.h
    uint32_t sights_set; // times that an agent was told how far it sees
    uint32_t exchanges;  // slots that it has got from other teams, or given to them
    // Where the ends of its orders stand since the last tick, see core/views/endings.h.
    uint32_t ended_count, ended_end;
    // What commands and orders left to be told of it since the last tick, see
    // core/commands/backlog.h: orders that ended and agents that left; cells that it edited.
    uint32_t noted_count, edited_count;
    // See core/crowd/jam.h.
    struct fm_jam *jams; // that are worked on
    uint32_t jam_count;
    uint32_t stuck_count; // agents that were stuck at the last search for jams
    uint32_t stuck_left; // agents that were stuck at the last search for jams: at most so many wait
                         // for help
    uint32_t stuck_next; // member whose turn was last
    struct fm_escort *escorts; // see escorts.h
    uint32_t escort_count;
    uint32_t escort_heir;    // slot + 1 of the agent that gets the next one; 0: none
    uint32_t escorts_wanted; // agents that might get one at the last look around
    bool escorts_settled;    // none of these can get one until something ends that keeps them
    struct fm_lanes *lanes;  // see core/crowd/lanes.h
    uint32_t lane_count;
    uint64_t told; // changes that its planners are told of in this tick, all together, see notice.c
    uint32_t field_count; // goal fields among its planners, see planner_table.c
    bool forgets;         // its searches begin again, see fm_planners_forget()
    // Living agents larger than one cell, where a cell holds one unit: fm_agent_enter() and
    // fm_agent_leave() count them.
    uint32_t large_count;
};

// The teams; team t is at t - 1. Whose: core/commands/teams.c and core/saves. Of a team its jams
// and lanes are core/crowd's, its delta core/views', its account the search stage's.
struct fm_world_teams {
    struct fm_team *list;
    uint32_t count, capacity;
    // Work on labels of all teams together. Whose: tick.c and team_labels.c.
    uint64_t label_units;     // done in this tick, without those kept for single teams
    uint64_t label_units_max; // beyond it orders wait for the next tick; 0, between ticks: no bound
    bool want_labels;         // some team's are wanted, see fm_team_labels_want()
};

/// A team that exists, by its id from 1.
struct fm_team *fm_team_of(const fm_world *world, uint32_t team);

/// The agent in the world that is a team's member number `i`; NULL: it is dead or carried, or
/// another team's by now.
struct fm_agent *fm_team_member(const fm_world *world, uint32_t team, uint32_t i);

uint32_t fm_world_team_count(const fm_world *world);
const struct fm_world_teams *fm_world_teams(const fm_world *world);
struct fm_world_teams *fm_world_edit_teams(fm_world *world);
