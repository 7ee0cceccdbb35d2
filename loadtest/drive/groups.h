// loadtest/drive/groups.h: groups of agents that are ordered together, and their open orders.
//
//   RESTING ── begin ──> ASKED ── answered ──> UNDER_WAY ── last order ended ──> RESTING
//                          └──── refused ────────────────────────────────────────^
//
// A group may get another order at any time; reports of its earlier orders then no longer count.
// Orders may be reported as ended before the answer that names them is here: the two come over
// different connections.
//
// Threads: one at a time. No I/O, no clock.

#pragma once

#include "loadtest/drive/ground.h"

#define FM_GROUP_NONE UINT32_MAX

// An agent's state in its group's order.
typedef struct fm_member {
    uint64_t id;         // of the agent, on the wire
    uint64_t order;      // the one it is on; 0: none, or not known yet
    uint64_t last_ended; // the newest order of it that ended
    uint32_t group;
} fm_member;

typedef struct fm_group {
    uint32_t first, count; // members
    uint32_t open_count;   // orders that have not ended
    uint32_t turn;         // counts its orders; an answer to an earlier one is stale
    fm_cell goal;          // of its last order; where its first member began, before that
    uint64_t due_ns;       // of its next order; for the owner
} fm_group;

typedef struct fm_groups {
    fm_member *members; // by agent, as fm_ground_draw_starts() numbers them
    uint32_t member_count;
    fm_group *groups;
    uint32_t group_count;
    uint32_t *members_by_slot; // by index1 of the agent's id: member plus one
    uint32_t slot_capacity;
} fm_groups;

/// Divides the agents of each team into groups of scenario.group_size, and singles.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_groups_init(fm_groups *groups, const fm_scenario *scenario,
                                    fm_ground *ground, const fm_cell *starts);

/// A zeroed fm_groups is allowed.
void fm_groups_fini(fm_groups *groups);

/// Notes which id the server gave to an agent. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_groups_name(fm_groups *groups, uint32_t member, uint64_t id);

/// The group is being sent to `goal`.
void fm_groups_begin(fm_groups *groups, uint32_t group, fm_cell goal);

/// The server took the order; the members' orders count on from first_order.
/// @return true when all of them have ended already
bool fm_groups_answered(fm_groups *groups, uint32_t group, uint32_t turn, uint64_t first_order);

/// An order of an agent ended.
/// @return the group, when it was its last one; else FM_GROUP_NONE
uint32_t fm_groups_ended(fm_groups *groups, uint64_t agent, uint64_t order);

/// A keyframe shows the agent idle: whatever order it was on has ended unseen.
/// @return as fm_groups_ended()
uint32_t fm_groups_idle(fm_groups *groups, uint64_t agent);
