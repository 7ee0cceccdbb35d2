// core/search/jump_search.h: jump-point search: shortest paths on maps of equal costs, found by
// reading the bitmaps of blocked cells 64 cells at a time.
//
// Among all shortest paths between two cells, those that make their diagonal steps as early as they
// can are enough. Such a path turns only where an obstacle forces it to: at jump points. So the
// search jumps from one to the next and puts nothing between them on the open list.
//
// A search object is reused: begin() forgets the last search without clearing anything. It works
// for one (view, start, goal) at a time and stops and continues between any two expansions.
//
// The result depends on the view, start and goal alone, never on what the memory was used for.
//
// Threads: one worker at a time for each search.

#pragma once

#include "core/search/planner.h"

typedef struct fm_jump_search fm_jump_search;

typedef enum fm_jump_state {
    FM_JUMP_RUNNING,
    FM_JUMP_FOUND,
    FM_JUMP_UNREACHABLE, // no path, or none cheaper than the bound
    FM_JUMP_EXHAUSTED,   // out of memory
} fm_jump_state;

/// Whether a view's rules fit jump points: all weights equal, FM_CONNECT_8, and a transposed copy
/// of the blocked cells.
static inline bool fm_jump_search_applies(const fm_view *view)
{
    return view->weights == NULL && view->connectivity == FM_CONNECT_8 &&
           view->blocked_transposed != NULL;
}

/// Makes a search. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_jump_search_create(const fm_memory *memory, fm_jump_search **out);

/// NULL is allowed.
void fm_jump_search_destroy(fm_jump_search *search);

/// Forgets the last search and sets up a new one.
///
/// @param view         fm_jump_search_applies() (asserted); must not change until the search is
/// over
/// @param start, goal  inside the map; a blocked one has no path to anywhere but itself
/// @param cost_bound   paths that cost this or more do not count; FM_COST_INFINITE: all count
void fm_jump_search_begin(fm_jump_search *search, const fm_view *view, fm_cell start, fm_cell goal,
                          uint32_t cost_bound);

/// Searches on, as fm_planner_ops.advance does. An expansion is one jump point and the jumps from
/// it.
fm_jump_state fm_jump_search_advance(fm_jump_search *search, fm_work *work);

/// Cost of the path found (FM_JUMP_FOUND only).
uint32_t fm_jump_search_cost(const fm_jump_search *search);

/// The turning points of the path found, start and goal included, each reached from the one before
/// in a straight or diagonal line.
///
/// @param cells  receives the first `capacity` of them
/// @return how many there are, which may exceed capacity; 1 when the start is the goal
uint32_t fm_jump_search_turns(const fm_jump_search *search, fm_cell *cells, uint32_t capacity);

/// Whether what the search has done so far may depend on one of the changed cells. Takes time in
/// the size of the search plus the number of changes. May say yes where nothing depends on them,
/// never the other way round: it checks the box around the expanded jump points, not each scan. For
/// searches under way.
bool fm_jump_search_may_have_seen(const fm_jump_search *search, const fm_change *changes,
                                  uint32_t count);

/// Visits the jump points of the search, in a fixed order.
void fm_jump_search_inspect(const fm_jump_search *search, fm_inspect_fn *visit, void *context);

/// Bytes held.
size_t fm_jump_search_bytes(const fm_jump_search *search);

// ---- paths as turning points --------------------------------------------------------------------

/// Steps between two turning points in line with each other.
static inline uint32_t fm_turn_steps(fm_cell from, fm_cell to)
{
    uint32_t dx = fm_cell_dx(from, to), dy = fm_cell_dy(from, to);
    return dx > dy ? dx : dy;
}

/// The direction from one turning point to the next, which is another cell in line with it.
static inline uint32_t fm_turn_direction(fm_cell from, fm_cell to)
{
    static const uint8_t directions[3][3] = {{FM_NORTH_WEST, FM_NORTH, FM_NORTH_EAST},
                                             {FM_WEST, FM_DIRECTION_COUNT, FM_EAST},
                                             {FM_SOUTH_WEST, FM_SOUTH, FM_SOUTH_EAST}};
    uint32_t right = 1 + (fm_cell_x(to) > fm_cell_x(from)) - (fm_cell_x(to) < fm_cell_x(from));
    uint32_t down = 1 + (fm_cell_y(to) > fm_cell_y(from)) - (fm_cell_y(to) < fm_cell_y(from));
    return directions[down][right];
}

/// The cells of a path from its turning points.
///
/// @param cells  receives the first `capacity` of them, turns[0] first
/// @return how many there are, which may exceed capacity
uint32_t fm_turns_expand(const fm_cell *turns, uint32_t count, fm_cell *cells, uint32_t capacity);
