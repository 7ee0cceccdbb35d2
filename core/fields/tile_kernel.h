// core/fields/tile_kernel.h: distances within a tile of 32 x 32 cells, exact, by vector
// instructions.
//
// A tile is solved by sweeping its rows down and up until nothing changes. A row is one vector of
// 32 lanes: it takes what the row before it offers, straight and diagonally, where masks made of
// the free cells allow it; if that changed anything, the row is spread along itself by five
// doubling shifts each way, masked by "all cells between are free". A row is looked at only when
// the row before it has changed.
//
// The source is shared (tile_sweep.h); a kernel for each instruction set compiles it with its own
// registers. All give the same integers. fm_tile_kernel_best() chooses by what the processor has,
// so that one program runs on every one.
//
// Tiles whose distances lie too far apart for 16 bits, and those of maps with weights, are swept by
// fm_tile_sweep_wide() instead, in plain C.
//
// Threads: kernels are const and keep nothing.

#pragma once

#include "core/map/box.h"
#include "core/map/tile_map.h"

#define FM_TILE_NOWHERE UINT16_MAX // distance of cells without a path

// What steps cost in a tile without weights, and which are legal.
typedef struct fm_tile_steps {
    uint32_t straight, diagonal;
    fm_connectivity connectivity;
} fm_tile_steps;

// The passages from one row of 32 cells into another beside it, as bits of the cells entered.
typedef struct fm_tile_passage {
    uint32_t straight;
    uint32_t from_left;  // diagonally, from the cell before
    uint32_t from_right; // from the cell behind
} fm_tile_passage;

// A row of cells at a tile's side, and the box that the search heads for, which gives the estimate.
typedef struct fm_tile_row {
    int32_t x, y;     // of the first cell
    bool is_vertical; // the others lie south of it, not east
} fm_tile_row;

typedef struct fm_tile_estimate {
    fm_box box;           // of the box around the agents
    fm_tile_steps steps;  // the cheapest there are
    uint32_t weight_1024; // factor of the estimate, in 1024ths: 1024..2048
} fm_tile_estimate;

typedef struct fm_tile_kernel {
    const char *name; // of the instruction set

    // Whether this processor supports it.
    bool (*is_supported)(void);

    // Lowers all distances to what a path inside the tile from a cell with a smaller one costs.
    // `free` has one word for each row. Blocked cells hold FM_TILE_NOWHERE, and keep it. The sum of
    // the largest distance given and fm_tile_way_max() is below FM_TILE_NOWHERE.
    void (*sweep)(const uint32_t free[FM_TILE_SIDE], const fm_tile_steps *steps,
                  uint16_t distances[FM_TILE_SIDE][FM_TILE_SIDE]);

    // What a row with these costs offers to the row beside it: costs of cells entered,
    // FM_COST_INFINITE where there is no passage.
    void (*cross)(const uint32_t from[FM_TILE_SIDE], const fm_tile_passage *passage,
                  const fm_tile_steps *steps, uint32_t offers[FM_TILE_SIDE]);

    // The least sum of offer and estimate over those cells where the offer is below what is
    // `known`; FM_COST_INFINITE when there is none.
    uint32_t (*least_key)(const uint32_t offers[FM_TILE_SIDE], const uint32_t known[FM_TILE_SIDE],
                          const fm_tile_row *row, const fm_tile_estimate *estimate);
} fm_tile_kernel;

// All that were built, the fastest first, NULL-terminated. The last one runs everywhere.
extern const fm_tile_kernel *const fm_tile_kernels[];

/// The fastest one that this processor supports.
const fm_tile_kernel *fm_tile_kernel_best(void);

/// The cost of a path inside a tile is never above this.
static inline uint32_t fm_tile_way_max(const fm_tile_steps *steps)
{
    // A cheapest path has at most three cells in a square of two by two, and then its steps there
    // are straight; else two.
    uint32_t straight = 3 * steps->straight, diagonal = 2 * steps->diagonal;
    return FM_TILE_CELLS / 4 * (straight > diagonal ? straight : diagonal);
}

/// The passages from a row into the one beside it.
static inline fm_tile_passage fm_tile_passage_between(uint32_t from, uint32_t into,
                                                      fm_connectivity connectivity)
{
    fm_tile_passage passage = {.straight = from & into};
    switch (connectivity) {
    case FM_CONNECT_4:
        break;
    case FM_CONNECT_8:
        passage.from_left = passage.straight & passage.straight << 1;
        passage.from_right = passage.straight & passage.straight >> 1;
        break;
    case FM_CONNECT_8_CORNERS:
        passage.from_left = into & from << 1 & (into << 1 | from);
        passage.from_right = into & from >> 1 & (into >> 1 | from);
        break;
    }
    return passage;
}

/// The same with costs of 32 bits: blocked cells hold FM_COST_INFINITE, and keep it.
///
/// @param weights  of the cells; NULL when all are 1. Steps are as a view has them: even where
///                 there are weights
void fm_tile_sweep_wide(const uint32_t free[FM_TILE_SIDE], const uint8_t (*weights)[FM_TILE_SIDE],
                        const fm_tile_steps *steps, uint32_t (*distances)[FM_TILE_SIDE]);
