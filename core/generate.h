// core/generate.h: maps from a seed. The same arguments give the same map on every machine.

#pragma once

#include "core/grid.h"
#include "core/random.h"

#define FM_GENERATE_PLAYERS_MAX 8u

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

typedef struct fm_generate_options {
    fm_generator generator;
    uint32_t width, height; // cells, 1..FM_SIDE_MAX; a maze wants odd sides of at least 5
    uint64_t seed;
    // maze: walls are cells, corridors lie on the odd lattice, carved by a randomized depth-first
    // search; then this many blocked interior cells, drawn uniformly, pillars included, are opened.
    uint32_t walls_removed;
    uint32_t room_side; // rooms: cells between two walls, at least 2; each shared wall has a door
                        // with probability 9/10
    uint32_t blocked_permille; // random: share of cells blocked, 0..1000
    uint32_t players;          // skirmish: 2..FM_GENERATE_PLAYERS_MAX
} fm_generate_options;

/// 512 x 512 skirmish for 4 players with seed 1; walls_removed 750, room_side 16, blocked_permille
/// 300.
fm_generate_options fm_generate_options_default(void);

/// Makes a map. A skirmish map is symmetric under exchange of its players (by rotation or
/// reflection), every base reaches every other, and it has ridges with passes, lakes and forests.
///
/// @param bases  receives the centre of each player's base (skirmish), else the first
///               `players` cells of FM_CELL_NONE; room for FM_GENERATE_PLAYERS_MAX; may be NULL
/// @param error  receives a sentence that names the option that is out of range; may be NULL
/// @return FM_OK, FM_ERR_BAD_SIZE, FM_ERR_BAD_VALUE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_generate(const fm_generate_options *options, const fm_memory *memory,
                                 fm_grid **out, fm_cell *bases, char *error, size_t error_size);
