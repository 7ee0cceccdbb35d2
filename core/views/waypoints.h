// core/views/waypoints.h: the path of an agent as a few straight lines in any direction, in place
// of steps in eight, for programs that draw between cells.
//
//     path       # . . . . .        waypoints   # . . . . .
//                s→↘. . . .                     s-._. . . .
//                . . ↘→→g .                     . . `--._g .
//
// From a cell of the path the line goes to one as far as can be for which the agent's whole square,
// moved along it, stays on cells that its team has seen and that it can enter, on ground of equal
// cost; next from there. Where no line is longer than a step, the steps stay.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/world/world.h"

#define FM_WAYPOINT_CELLS    64u // of the path ahead that are examined
#define FM_COURSE_POINTS_MAX 4u

// The middle of the agent, in half cells: that of an agent of one cell in x, y is 2 x + 1, 2 y + 1.
typedef struct fm_waypoint {
    uint32_t x2, y2;
} fm_waypoint;

/// Where an agent turns next, without its own cell. The last point may be where the examined part
/// of the path ends. Uses only what its team knows.
///
/// @return how many are in `points`; 0 without a path or such an agent
uint32_t fm_world_waypoints(const fm_world *world, fm_agent_id id, fm_waypoint *points,
                            uint32_t capacity);

// Where one of a view's own agents goes next.
typedef struct fm_course {
    fm_agent_id name; // by which the view knows it
    uint32_t count;   // 0: it stands
    fm_waypoint points[FM_COURSE_POINTS_MAX];
} fm_course;

/// The courses of a view's own agents, of those in `looks`; with FM_ALL_TEAMS, of all. The same
/// order as `looks`.
///
/// @return how many are in `courses`
uint32_t fm_world_courses(const fm_world *world, uint32_t team, const fm_agent_look *looks,
                          uint32_t look_count, fm_course *courses, uint32_t capacity);
