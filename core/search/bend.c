// core/search/bend.c: see bend.h.

#include "core/search/bend.h"

#include <string.h>

#define RUN_UNKNOWN UINT8_MAX

// The end of `steps` legal steps in one direction, FM_CELL_NONE when there are not so many.
static fm_cell walk(const fm_view *view, fm_cell cell, uint32_t d, uint32_t steps)
{
    for (; steps > 0; steps--) {
        if (!(fm_view_moves(view, cell) >> d & 1)) {
            return FM_CELL_NONE;
        }
        cell = fm_cell_step(cell, d);
    }
    return cell;
}

// The two lines of a path, in steps and directions.
struct lines {
    uint32_t slant, straight;
    uint32_t across, along; // where `slant` or `straight` is 0, undefined
};

static struct lines lines_of(fm_cell from, fm_cell to)
{
    uint32_t dx = fm_cell_dx(from, to), dy = fm_cell_dy(from, to);
    struct lines lines = {.slant = fm_min(dx, dy), .across = fm_turn_direction(from, to)};
    lines.straight = (dx < dy ? dy : dx) - lines.slant;
    // Seen from one end the straight line lies along the longer axis.
    fm_cell beside = dx < dy ? fm_cell_at(fm_cell_x(from), fm_cell_y(to))
                             : fm_cell_at(fm_cell_x(to), fm_cell_y(from));
    lines.along = fm_turn_direction(from, beside);
    return lines;
}

bool fm_bend_find(const fm_view *view, fm_cell from, fm_cell to, uint32_t steps_max, fm_cell *bend)
{
    struct lines lines = lines_of(from, to);
    if (lines.slant + lines.straight > steps_max) {
        return false;
    }
    *bend = walk(view, from, lines.across, lines.slant);
    if (*bend != FM_CELL_NONE && walk(view, *bend, lines.along, lines.straight) == to) {
        return true;
    }
    *bend = walk(view, from, lines.along, lines.straight);
    return *bend != FM_CELL_NONE && walk(view, *bend, lines.across, lines.slant) == to;
}

fm_sight fm_sight_of(const fm_view *view, fm_cell to, uint32_t steps_max)
{
    fm_sight sight = {.view = view, .to = to, .steps_max = steps_max};
    memset(sight.runs, RUN_UNKNOWN, sizeof sight.runs);
    return sight;
}

// Whether so many steps from the cell that is seen are legal.
static bool runs_on(fm_sight *sight, uint32_t d, uint32_t steps)
{
    if (sight->runs[d] == RUN_UNKNOWN) {
        uint32_t run = 0;
        for (fm_cell cell = sight->to;
             run < sight->steps_max && fm_view_moves(sight->view, cell) >> d & 1; run++) {
            cell = fm_cell_step(cell, d);
        }
        sight->runs[d] = (uint8_t)run;
    }
    return steps <= sight->runs[d];
}

// What a step adds to a cell.
static uint32_t step_of(uint32_t d)
{
    return d < FM_DIRECTION_COUNT ? (uint32_t)fm_direction_step[d] : 0;
}

// Steps may be made back, so the path is walked from its other end, where all begin.
bool fm_sight_reaches(fm_sight *sight, fm_cell from)
{
    const struct lines lines = lines_of(sight->to, from);
    uint32_t slant = lines.slant, straight = lines.straight;
    if (slant + straight > sight->steps_max) {
        return false;
    }
    if (straight == 0 || runs_on(sight, lines.along, straight)) {
        fm_cell bend = sight->to + straight * step_of(lines.along);
        if (walk(sight->view, bend, lines.across, slant) == from) {
            return true;
        }
    }
    if (slant == 0 || runs_on(sight, lines.across, slant)) {
        fm_cell bend = sight->to + slant * step_of(lines.across);
        return walk(sight->view, bend, lines.along, straight) == from;
    }
    return false;
}
