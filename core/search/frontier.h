// core/search/frontier.h: the rim of what a team knows, and the nearest part of it.
//
// A frontier cell is known, can be entered, and has a straight neighbour that the team does not
// know: a unit on it sees something new. Explorers go from one frontier cell to the next; when none
// can be reached, everything that can be reached is explored. (Yamauchi, "A Frontier-Based Approach
// for Autonomous Exploration", 1997.)
//
// The nearest one is found by a wave from the agent over known cells. It ends soon: while something
// is left to explore, it is mostly near. A wave that is cut off by the grant continues in the next
// tick.
//
// Explorers of one team share the rim out: each claims the cell that it goes to, and others look
// for cells more than FM_CLAIM_SIDE cells away from it. Where all are claimed, the explorer shares
// the one with the fewest claims.
//
// Threads: one team's frontier at a time on any worker.

#pragma once

#include "core/map/knowledge.h"
#include "core/search/wave.h"

#define FM_CLAIM_SIDE 4u // cells

// What is kept for the explorers of one team. Zeroed: none.
typedef struct fm_frontier {
    fm_wave wave;
    uint64_t job;     // order that the wave works for; 0: it is over
    fm_cell fallback; // among those claimed, the nearest of the least claimed; FM_CELL_NONE
    uint32_t fallback_claims;
    uint16_t *claims; // explorers bound for each tile of FM_CLAIM_SIDE x FM_CLAIM_SIDE cells
    uint32_t columns, rows;
    fm_cell *claimed; // the cells counted in `claims`
    uint32_t claimed_count, claimed_capacity;
} fm_frontier;

void fm_frontier_fini(fm_frontier *frontier, const fm_memory *memory);

/// Whether a cell is a frontier cell for agents that move by `view`, one of the knowledge's.
bool fm_frontier_is(const fm_knowledge *knowledge, const fm_view *view, fm_cell cell);

/// Claims a cell until fm_frontier_forget_claims(). Without memory nothing happens.
void fm_frontier_claim(fm_frontier *frontier, const fm_view *view, fm_cell cell,
                       const fm_memory *memory);
void fm_frontier_forget_claims(fm_frontier *frontier);

typedef enum fm_frontier_state {
    FM_FRONTIER_RUNNING,
    FM_FRONTIER_FOUND,
    FM_FRONTIER_EXPLORED, // none can be reached
    FM_FRONTIER_EXHAUSTED,
} fm_frontier_state;

/// Looks for the frontier cell nearest to `from` on behalf of an order; continues where the last
/// call for the same order left off, also when its agent has moved since.
///
/// @param cells_max   cells to examine in this call, at least 1
/// @param cells_used  grows by the cells examined
/// @param cell        receives it with FOUND; with RUNNING the cell that the wave has come to
fm_frontier_state fm_frontier_search(fm_frontier *frontier, const fm_knowledge *knowledge,
                                     const fm_view *view, uint64_t order, fm_cell from,
                                     uint32_t cells_max, uint32_t *cells_used, fm_cell *cell,
                                     const fm_memory *memory);
