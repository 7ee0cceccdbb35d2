// clients/cli/replay/world_diff.h: what differs between two worlds, in words: which agent, team or
// cell, which of its fields, and both values.

#pragma once

#include "core/world/world.h"

#define FM_DIFFERENCE_FIELD_SIZE 32u
#define FM_DIFFERENCE_VALUE_SIZE 128u

// X(enumerator, name)
#define FM_DIFFERENCE_LIST(X)                                                                      \
    X(FM_DIFFERENCE_WORLD, "world")                                                                \
    X(FM_DIFFERENCE_TEAM, "team")                                                                  \
    X(FM_DIFFERENCE_AGENT, "agent")                                                                \
    X(FM_DIFFERENCE_CELL, "cell") /* of the true map, or of what a team knows */

typedef enum fm_difference_kind {
#define X(enumerator, name) enumerator,
    FM_DIFFERENCE_LIST(X)
#undef X
} fm_difference_kind;

typedef struct fm_difference {
    fm_difference_kind kind;
    uint64_t id; // of the agent, as on the wire; of the team
    fm_cell cell;
    char field[FM_DIFFERENCE_FIELD_SIZE];
    char values[2][FM_DIFFERENCE_VALUE_SIZE]; // of the first world and of the second
} fm_difference;

/// Compares two worlds: agents first, by slot, then teams, the map, what teams know, counts.
///
/// @param worlds       two; unchanged, except that the view of everything is not watched afterwards
/// @param differences  receives the first `capacity`
/// @param total        receives how many there are; where it exceeds `capacity`, maps of some teams
///                     were not compared
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_diff(fm_world *const worlds[2], fm_difference *differences,
                                   uint32_t capacity, uint64_t *total);

/// Name of a kind. Static storage.
const char *fm_difference_kind_name(fm_difference_kind kind);
