// core/map/movement.h: movement classes: which terrain a kind of unit may enter, what that costs,
// and how large the unit is.
//
// Classes are named in the rules of a world. An agent's cell is the north-west corner of the square
// of size x size cells that it covers; it may stand where all of them can be entered, and the
// costliest of them is what its cell weighs. A cell's weight for a class is its cost on the map
// times the class's cost for its terrain.
//
// As text: "name:size=2,ground=1,swamp=3". Terrains that are not named cannot be entered; a class
// that names none enters ground only. An item that is empty ("tank:size=2,,ground=1") is an error.

#pragma once

#include "core/map/grid.h"

#define FM_CLASSES_MAX     8u         // of one world
#define FM_CLASS_NONE      UINT32_MAX // in place of a class index
#define FM_CLASS_SIZE_MAX  4u         // cells to a side
#define FM_CLASS_NAME_SIZE 32u        // bytes, NUL included
#define FM_CLASS_TEXT_SIZE 192u       // bytes of a class as text, NUL included

typedef struct fm_movement_class {
    char name[FM_CLASS_NAME_SIZE];  // letters, digits, '-' and '_'
    uint8_t size;                   // cells to a side, 1..FM_CLASS_SIZE_MAX
    uint8_t cost[FM_TERRAIN_COUNT]; // by fm_terrain: 0 cannot be entered, else 1..FM_COST_MAX
} fm_movement_class;

/// "ground": one cell large, enters only ground, at cost 1.
fm_movement_class fm_movement_class_ground(void);

/// Whether the fields are in their ranges and some terrain can be entered.
bool fm_movement_class_is_valid(const fm_movement_class *movement);

/// Whether a class moves as fm_movement_class_ground() does, whatever its name.
bool fm_movement_class_is_ground(const fm_movement_class *movement);

/// Whether the class makes cells of equal cost on the map unequal.
bool fm_movement_class_is_weighted(const fm_movement_class *movement);

/// Reads a class as text; see above.
///
/// @param error  receives, on failure, a sentence that names what was wrong (NUL-terminated, cut
///               to error_size); may be NULL
/// @return FM_OK or FM_ERR_BAD_VALUE; *movement is left alone on failure
FM_CHECKED fm_status fm_movement_class_parse(const char *text, fm_movement_class *movement,
                                             char *error, size_t error_size);

/// Writes a class so that fm_movement_class_parse() reads it back. Always NUL-terminated;
/// FM_CLASS_TEXT_SIZE bytes hold any class.
void fm_movement_class_format(const fm_movement_class *movement, char *text, size_t size);

/// Reads the classes of a world, separated by ';': "ground;boat:water=1;tank:size=3".
///
/// @param classes  room for FM_CLASSES_MAX
/// @param count    receives how many there are, at least 1
/// @param error    as above
/// @return FM_OK, FM_ERR_LIMIT (too many) or FM_ERR_BAD_VALUE (also: two of the same name)
FM_CHECKED fm_status fm_movement_classes_parse(const char *text, fm_movement_class *classes,
                                               uint32_t *count, char *error, size_t error_size);

/// What a cell weighs for a class: 0 when it cannot be entered, else 1..FM_COST_MAX. Unknown cells
/// are free and weigh 1 (the free-space assumption).
static inline uint32_t fm_movement_weight(const fm_movement_class *movement, fm_terrain terrain,
                                          uint32_t cost)
{
    if (terrain == FM_TERRAIN_UNKNOWN) {
        return FM_COST_FLOOR;
    }
    uint32_t weight = movement->cost[terrain] * cost;
    return weight < FM_COST_MAX ? weight : FM_COST_MAX;
}
