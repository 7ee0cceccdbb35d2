// core/world/view_surveys.h: the surveys of a world (core/search/heuristic_survey.h): one for each
// view on which some planner uses tables.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/search/heuristic_survey.h"
#include "core/world/world.h"

struct fm_agent;

// The survey of one view (core/world/view_surveys.c).
struct fm_world_survey {
    fm_heuristic_survey *survey;
    uint32_t team;
    uint32_t class_index; // of the agent that asked first; others may share the view
    uint64_t cursor;      // version of the view that it has read up to
    uint32_t round_expansions;
    bool cut;
};

// The surveys, in the order in which they were begun. Whose: view_surveys.c; the search stage
// counts what each has done.
struct fm_world_surveys {
    struct fm_world_survey *list;
    uint32_t count, capacity;
    uint32_t *running; // indices of those that work in this tick
    uint32_t running_count, running_capacity;
};

const struct fm_world_surveys *fm_world_surveys(const fm_world *world);
struct fm_world_surveys *fm_world_edit_surveys(fm_world *world);

/// An agent is about to get a planner: begins a survey of its view if its spec uses tables. When
/// out of memory there is none, and the default heuristic is used.
void fm_view_surveys_want(fm_world *world, const struct fm_agent *agent, fm_cell goal);

/// Once a tick, before the search stage.
void fm_view_surveys_follow(fm_world *world);

/// Costs have changed scale for the teams that are marked (fm_team.forgets).
void fm_view_surveys_forget(fm_world *world);

/// Ends all surveys while their knowledge continues; the next planner that wants one begins it.
void fm_view_surveys_settle(fm_world *world);

/// Call before the surveys' knowledge is released.
void fm_view_surveys_destroy(fm_world *world);

/// Bytes held by all surveys.
size_t fm_view_surveys_bytes(const fm_world *world);
