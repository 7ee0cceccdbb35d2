// clients/cli/paint.h: draws the map of a view onto a canvas.
//
// With colours each character shows two pixels, one above the other (the upper half block);
// without, one letter. The map is scaled to the room it gets, its sides in proportion; a pixel that
// covers many cells takes the mean of their colours, and an agent in it wins.

#pragma once

#include "clients/c/mirror.h"
#include "clients/cli/canvas.h"

typedef struct fm_scene {
    const fm_mirror *view;  // what is shown
    const fm_mirror *teams; // views of teams, for fog over `view`; may be NULL
    uint32_t team_count;
} fm_scene;

/// Colour of a team's agents.
uint32_t fm_paint_team_colour(uint32_t team);

/// Draws the scene into `rows` rows of the canvas from `first_row` on.
void fm_paint_scene(fm_canvas *canvas, uint32_t first_row, uint32_t rows, const fm_scene *scene);
