// core/views/unit_report.h: what a unit is doing, for the player who owns it: its orders, the next
// cells of its path, and why it waits.
//
// Nothing in it depends on what the unit's team cannot know: paths are those of the team's
// knowledge, and a blocking or followed unit is named only if the team can name it now.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/views/explain.h"

typedef struct fm_unit_order {
    uint64_t id;
    uint64_t number; // of the order among those of its team, from 1
    fm_order_kind kind;
    fm_cell goal; // where it leads now or, queued, will lead first; FM_CELL_NONE: nowhere yet
    uint32_t ticks_left; // to its deadline, queued from when its turn comes; 0: it has none
} fm_unit_order;

typedef struct fm_unit_report {
    fm_agent_id agent;
    fm_agent_id name; // for its own team
    uint32_t team;
    fm_cell cell; // of the carrier, when it is carried
    uint32_t class_index;
    uint32_t speed; // cells in 1000 s; 0: a cell a tick
    bool frozen;
    uint32_t sight; // cells; 0: as the world's rules say
    fm_agent_state state;
    fm_agent_id carrier, carrier_name; // who carries it; all zero: it is in the world
    uint32_t passenger_count;          // that it carries, in the order in which they came aboard
    fm_agent_id passengers[FM_PASSENGERS_MAX], passenger_names[FM_PASSENGERS_MAX];
    bool is_alerted; // it has stopped for an enemy
    bool has_order;  // then the first of `orders` is under way, the others wait for their turn
    uint32_t order_count;
    fm_unit_order orders[FM_ORDER_QUEUE_MAX + 1];
    fm_cell substitute;      // where it goes instead of its goal; FM_CELL_NONE
    fm_agent_id target;      // that its order follows or guards; all zero: none that can be named
    fm_agent_id target_name; // for its own team
    fm_why why;
    fm_agent_id blocker, blocker_name; // as in fm_explanation; all zero: none that can be named
    fm_cell blocked_at;
    uint64_t waits_ticks;
    uint32_t path_count; // cells that fm_world_report_unit() has written
} fm_unit_report;

/// @param agent     carried or not
/// @param cells     receives the cells that come next on its path, as far as they are known
/// @param capacity  of these
/// @return FM_OK or FM_ERR_NO_AGENT
FM_CHECKED fm_status fm_world_report_unit(const fm_world *world, fm_agent_id agent,
                                          fm_unit_report *report, fm_cell *cells,
                                          uint32_t capacity);
