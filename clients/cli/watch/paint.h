// clients/cli/watch/paint.h: draws the map of a view onto a canvas.
//
// With colours each character shows two pixels, one above the other (the upper half block);
// without, one letter. A viewport says which part of the map is shown; a pixel that covers many
// cells takes the mean of their colours, and an agent in it wins. Letters: . ground, # blocked,
// T trees, S swamp, ~ water, H building, digits for agents of teams; where fog is drawn, ground
// that no team knows is blank, what is blocked there is +, and ground that is known but not visible
// now is a comma; in colours that is darker.

#pragma once

#include <fogmarch/mirror.h>
#include "clients/cli/base/canvas.h"
#include "clients/cli/watch/viewport.h"

typedef struct fm_scene {
    const fm_mirror *view;  // what is shown
    const fm_mirror *teams; // views of teams, for fog over `view`; may be NULL
    uint32_t team_count;
    const fm_viewport *viewport; // NULL: the whole of `view`
    // One agent that stands out, as an @, its goal as an X, and its path.
    fm_cell selected, goal; // FM_CELL_NONE: not known
    const fm_cell *path;
    uint32_t path_count;
} fm_scene;

/// A scene of a whole view and nothing else.
static inline fm_scene fm_scene_of(const fm_mirror *view)
{
    return (fm_scene){.view = view, .selected = FM_CELL_NONE, .goal = FM_CELL_NONE};
}

/// Draws the scene into `rows` rows of the canvas from `first_row` on.
void fm_paint_scene(fm_canvas *canvas, uint32_t first_row, uint32_t rows, const fm_scene *scene);
