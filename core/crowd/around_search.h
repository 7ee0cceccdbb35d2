// core/crowd/around_search.h: a way round units that stand in the way (standing.h), or the proof
// that there is none.
//
// A* from the agent, over what its team knows as free, with those units as obstacles. It leads to
// the planner's path behind the first of them that stands on it, so that the way to there and the
// rest of the path are shortest together; each such unit on that rest counts as a detour. A planner
// that has no path yet is led to a cell nearer to the goal as the crow flies.
//
//      . . o o . .          *: the planner's path, o: the way, #: units that stand
//      u * o # o *  g
//      . . . # . .
//
// A search that comes to its end without that, inside the window, has proved that the agent is shut
// in. A flood from the goal that comes to its end without the agent has proved the same of the
// goal. What the agent does not see, and has not seen, counts as free, so a proof holds as long as
// these units stand.
//
// Threads: one.

#pragma once

#include "core/base/memory.h"
#include "core/world/world.h"

struct fm_agent;

#define FM_AROUND_CELLS_MAX 384u   // of a way
#define FM_AROUND_BRIEF     3000u  // cells that a search expands at most, when the unit has just
#define FM_AROUND_LONG      12000u // been blocked, and later; as many for a flood
#define FM_AROUND_SEEN_MAX  64u    // cells that are remembered

typedef enum fm_around_answer {
    FM_AROUND_UNKNOWN, // nobody stands in the way, or neither was found
    FM_AROUND_FOUND,
    FM_AROUND_SHUT, // there is no way
} fm_around_answer;

typedef struct fm_around_search fm_around_search;

// Where an agent has seen those that stand in its way, in a world whose teams do not see
// everything: cells under them. It counts on them where it does not look at the moment; else it
// would try the two ends of a long row in turns. Begins zeroed.
typedef struct fm_around_memory {
    uint32_t count;
    fm_cell cells[FM_AROUND_SEEN_MAX];
} fm_around_memory;

/// The caller's, for fm_around_search_destroy() with the same memory. NULL: out of memory.
fm_around_search *fm_around_search_create(const fm_memory *memory);

/// NULL is allowed.
void fm_around_search_destroy(fm_around_search *search, const fm_memory *memory);

/// Looks for a way of an agent that has a planner with an answer for its cell.
///
/// @param seen    by the agent, under this order; this search adds to it
/// @param most    cells that the search may expand
/// @param floods  also looks whether the goal is shut in, as many once more
/// @param cells   receives the way, FM_AROUND_CELLS_MAX at most: the agent's cell and those after
/// it
/// @param count   receives how many
/// @param work    cells expanded are added
fm_around_answer fm_around_search_run(fm_around_search *search, const fm_world *world,
                                      const struct fm_agent *agent, fm_around_memory *seen,
                                      uint32_t most, bool floods, fm_cell *cells, uint32_t *count,
                                      uint64_t *work);

/// After FM_AROUND_SHUT: whether what was proved holds of another agent of the team and class that
/// sees the same.
bool fm_around_search_proves(const fm_around_search *search, const struct fm_agent *agent);
