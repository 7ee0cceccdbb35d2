// core/generate/generate.h: maps from a seed. The same arguments give the same map on every
// machine.

#pragma once

#include "core/base/random.h"
#include "core/map/grid.h"

#define FM_GENERATE_PLAYERS_MIN 2u
#define FM_GENERATE_PLAYERS_MAX 8u
#define FM_MAZE_SIDE_MIN        5u
#define FM_ROOM_SIDE_MIN        2u
#define FM_SKIRMISH_SIDE_MIN    64u

// X(enumerator, name on the wire and in configs)
#define FM_GENERATOR_LIST(X)                                                                       \
    X(FM_GENERATOR_OPEN, "open")                                                                   \
    X(FM_GENERATOR_MAZE, "maze")                                                                   \
    X(FM_GENERATOR_ROOMS, "rooms")                                                                 \
    X(FM_GENERATOR_RANDOM, "random")                                                               \
    X(FM_GENERATOR_SKIRMISH, "skirmish")

typedef enum fm_generator {
#define X(enumerator, name) enumerator,
    FM_GENERATOR_LIST(X)
#undef X
} fm_generator;

// Each generator looks at the options that are named for it and ignores the others.
typedef struct fm_generate_options {
    fm_generator generator;
    uint32_t width, height; // cells, 1..FM_SIDE_MAX; a maze wants odd sides from FM_MAZE_SIDE_MIN
                            // on, a skirmish map any from FM_SKIRMISH_SIDE_MIN on
    uint64_t seed;
    // maze: walls are cells, corridors lie on the odd lattice, carved by a randomized depth-first
    // search; then this many blocked interior cells, drawn uniformly, pillars included, are opened.
    uint32_t walls_removed;
    // rooms: cells between two walls, FM_ROOM_SIDE_MIN..FM_SIDE_MAX; each wall that two rooms share
    // has a door of one cell with probability 9/10, so not every room need be reachable.
    uint32_t room_side;
    uint32_t blocked_permille; // random: share of cells blocked, 0..1000; exact up to rounding
    uint32_t players;          // skirmish: FM_GENERATE_PLAYERS_MIN..FM_GENERATE_PLAYERS_MAX
} fm_generate_options;

/// 512 x 512 skirmish for 4 players with seed 1; walls_removed 750, room_side 16, blocked_permille
/// 300.
fm_generate_options fm_generate_options_default(void);

/// Makes a map.
///
/// A skirmish map is symmetric under exchange of its players, every cell that can be entered can be
/// reached from every base by straight steps alone, and it has regions between ridges (and some
/// rivers and belts of trees) with passes, lakes and forests. How symmetric, on the square lattice:
///
///     2 players                  exact: half turn
///     4 players, square map      exact: quarter turns
///     4 players, other maps      exact: mirrored in both axes
///     8 players, square map      exact: quarter turns and mirrors
///     6 players, 8 on other maps exact: half turn; otherwise as 3
///     3, 5, 7 players            turns of 360 / players degrees of one wedge's plan, in cells: the
///                                same regions, passes and distances, edges differing by a cell
///
/// Turns that the lattice does not have need a round map: there, the land is a disc in the middle
/// and the rest is water.
///
/// @param bases  receives the centre of each player's base (skirmish), and FM_CELL_NONE in all
///               other places; room for FM_GENERATE_PLAYERS_MAX; may be NULL
/// @param error  receives a sentence that names the option that is out of range; may be NULL
/// @return FM_OK, FM_ERR_BAD_SIZE, FM_ERR_BAD_VALUE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_generate(const fm_generate_options *options, const fm_memory *memory,
                                 fm_grid **out, fm_cell *bases, char *error, size_t error_size);
