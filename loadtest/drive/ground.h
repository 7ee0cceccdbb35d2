// loadtest/drive/ground.h: the generator's own copy of the map: where agents may begin, where goals
// lie, where walls may go up.
//
// A map that comes from a seed is the same here and in the server, so the driver never has to ask
// which cells are free. All cells handed out as starts and goals lie in the largest connected part
// of the map, unless an unreachable one is asked for. Walls that were put up during the run are not
// taken into account: their effect on goals belongs to the load.
//
// Threads: one at a time.

#pragma once

#include "loadtest/drive/scenario.h"

typedef struct fm_ground fm_ground;

/// Makes the scenario's map: reads `map.file`, or generates.
///
/// @param error  receives what is wrong; room for FM_SCENARIO_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT, FM_ERR_BAD_SIZE, FM_ERR_BAD_VALUE (or there are
///         more agents than cells) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_ground_create(const fm_scenario *scenario, fm_ground **out, char *error);

/// NULL is allowed.
void fm_ground_destroy(fm_ground *ground);

const fm_grid *fm_ground_grid(const fm_ground *ground);

/// The true map by the scenario's rules of movement. Good until the ground is destroyed.
fm_view fm_ground_view(const fm_ground *ground, const fm_scenario *scenario);

/// The map as a .map file; NULL for a generated map.
const char *fm_ground_map_text(const fm_ground *ground, size_t *size);

/// Draws a free cell for each agent, no two alike. Agents of a team follow each other: the first
/// agents / teams of them belong to the first team, and so on; a cell's agent is its index.
///
/// @param cells  receives scenario.agents cells
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_ground_draw_starts(fm_ground *ground, const fm_scenario *scenario,
                                           fm_cell *cells);

/// Draws a goal whose distance from `from` (larger of dx and dy) lies within `distance`, if there
/// is one in a few dozen draws; else the last one drawn.
fm_cell fm_ground_draw_goal(fm_ground *ground, fm_cell from, fm_range distance);

/// Draws a cell that cannot be reached: blocked, or cut off. FM_CELL_NONE when there is none.
fm_cell fm_ground_draw_unreachable(fm_ground *ground);

/// A cell near the middle of the map whose eight neighbours are floor, all of the largest connected
/// part: with walls on the eight it is enclosed.
///
/// @param walls  receives the eight
/// @return FM_CELL_NONE when there is none
fm_cell fm_ground_enclose(fm_ground *ground, fm_cell walls[8]);

/// Draws a straight wall on floor that no other wall stands on.
///
/// @param cells  receives at most length.high cells; room for 256
/// @return how many; 0 when no place was found
uint32_t fm_ground_raise_wall(fm_ground *ground, fm_range length, fm_cell *cells);

/// The same for a square of length cells, or what can hold a wall of it.
uint32_t fm_ground_raise_crater(fm_ground *ground, fm_range length, fm_cell *cells);

/// The same cells are floor again.
void fm_ground_lower_wall(fm_ground *ground, const fm_cell *cells, uint32_t count);

/// Draws from low..high.
double fm_ground_draw(fm_ground *ground, fm_range range);
