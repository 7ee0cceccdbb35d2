// core/world/tick_lists.h: lists that live for one tick and keep their memory for the next.

#pragma once

#include "core/world/tick_record.h"
#include "core/world/world.h"

// Lists of one tick, which rebuilds them. Whose: core/tick, and due.c, which lists what is due.
struct fm_tick_lists {
    uint32_t *notified;  // planner slots: all that the search stage has turned to
    fm_cell *starts;     // of these
    uint32_t *aged;      // those that are due, by age
    uint32_t *searching; // those of them that want to search
    uint32_t *sensing;   // agent slots, by team
    uint32_t notified_capacity, aged_capacity, starts_capacity, searching_capacity,
        sensing_capacity;
    uint32_t notified_count;
    bool teams_in_turns; // an equal share would not do for a search: teams get theirs in turns
    uint32_t searching_count;
    uint32_t *by_team; // planner slots, then two numbers for each team
    uint32_t by_team_capacity;
    fm_cut *cuts;
    uint32_t cut_count, cut_capacity;
};
