// core/crowd/passage.h: a straight passage two to twenty cells wide, its lanes, and how far units
// are from having passed it when they keep to theirs.
//
//   . . . . . . . . . . . . .
//   . . . . @ @ @ @ @ . . . .
//   . . . . < < < < < . . . .    direction 1
//   . . . . > > > > > . . . .    direction 0
//   . . . . @ @ @ @ @ . . . .
//   . . . . . . . . . . . . .    all this: the box
//
// Places in a passage are counted along it (0 .. length - 1 inside) and across it (0 .. width - 1).
// Direction 0 leads east or south, direction 1 back. Each lane belongs to a direction. A lane that
// is to change hands closes first: nobody enters it, and those who are in it leave at its end.
//
// The distances of a direction lead to the cells behind the far end, and count a step onto a lane
// of the other direction as FM_PASSAGE_WRONG more, also before both ends. So who waits stands
// beside the way of those who come out. Where units of two teams meet nobody can push those of the
// other: then those who wait never step onto its first cells, and leave all of it. Those who come
// out in turn leave the first cells before the lanes of those who wait: one whose goal is on the
// other side of them goes round:
//
//   @ @ @ G e e e e e e .    G: the goal of the unit e
//   < < < < < < < < < < e    direction 1 waits
//   > > > e e e e e e e .    direction 0 comes out
//   @ @ @ . . . . . . . .
//
// Threads: one writer; parallel stages read.

#pragma once

#include "core/base/memory.h"
#include "core/map/rect.h"
#include "core/map/view.h"

#define FM_PASSAGE_WIDTH_MAX  20u
#define FM_PASSAGE_LENGTH_MAX 64u
#define FM_PASSAGE_REACH      12u // cells around it
#define FM_PASSAGE_WRONG      200u
#define FM_PASSAGE_WAY_OUT    4u // cells before an end that those who wait leave,
#define FM_PASSAGE_CLEAR      6u // and onto which they never step where teams meet
#define FM_PASSAGE_WAY_IN     6u // that those who come out leave
#define FM_PASSAGE_BESIDE     2u // cells beside the lanes from where these go round
#define FM_PASSAGE_FAR        UINT16_MAX

typedef struct fm_passage {
    fm_cell origin;         // its north-west corner
    uint32_t length, width; // cells, of which a unit's north-west corner may be in
    uint32_t gap;           // lanes that belong to nobody where teams meet: a unit's cells but one
    bool is_vertical;       // leads from north to south
    bool teams_meet;        // in it, so nobody is sure to be let through by pushing
    uint32_t owners;        // bit i: the direction to which lane i belongs
    uint32_t closing;       // bit i: lane i is closing
    uint32_t shut;          // bit i: lane i is one of the gap
    bool is_wide[2];        // by direction that comes out: whether there is room to go round
    fm_rect box;            // of which it has distances
    // By direction, whether for those who are in a closing lane, and cell of the box, in steps of
    // 10 and 14; FM_PASSAGE_FAR: it cannot be passed from there. Owned.
    uint16_t *distances;
} fm_passage;

/// Finds the passage around a cell beside a wall. One of up to two cells in length is found where a
/// wall leads away from it to both sides for four cells, so not between single obstacles.
///
/// @param out  receives all but the distances; no lane is closing
/// @return false: there is none
bool fm_passage_find(const fm_view *view, fm_cell cell, fm_passage *out);

/// Bytes of `distances`.
size_t fm_passage_bytes(const fm_passage *passage);

/// Fills in `distances`, for which there is room, and `is_wide`. To be done again when lanes
/// change.
void fm_passage_measure(fm_passage *passage, const fm_view *view);

/// Gives each direction its lanes: the half on its right. Of an odd number the outer ones belong to
/// the direction `most`, so that none of the others who wait has to cross those who come out; for
/// up to three lanes.
void fm_passage_divide(fm_passage *passage, uint32_t most);

/// Whether there is a lane for either direction then.
static inline bool fm_passage_has_halves(const fm_passage *passage)
{
    return (passage->width + passage->gap) / 2 > passage->gap;
}

/// The same where teams meet, who have to agree without a word: the middle lane is direction 0's.
/// Units larger than a cell use the lanes on which they keep off the others' cells.
void fm_passage_halve(fm_passage *passage);

/// Closes the lane that a direction is to get next.
void fm_passage_close_for(fm_passage *passage, uint32_t direction);

/// Nobody is left in the lanes that close: gives them to the other direction.
void fm_passage_hand_over(fm_passage *passage);

static inline int32_t fm_passage_along(const fm_passage *passage, fm_cell cell)
{
    return passage->is_vertical ? (int32_t)fm_cell_y(cell) - (int32_t)fm_cell_y(passage->origin)
                                : (int32_t)fm_cell_x(cell) - (int32_t)fm_cell_x(passage->origin);
}

static inline int32_t fm_passage_across(const fm_passage *passage, fm_cell cell)
{
    return passage->is_vertical ? (int32_t)fm_cell_x(cell) - (int32_t)fm_cell_x(passage->origin)
                                : (int32_t)fm_cell_y(cell) - (int32_t)fm_cell_y(passage->origin);
}

/// The cell at a place, which is on the map.
static inline fm_cell fm_passage_cell(const fm_passage *passage, int32_t along, int32_t across)
{
    int32_t dx = passage->is_vertical ? across : along;
    int32_t dy = passage->is_vertical ? along : across;
    return fm_cell_at(fm_cell_x(passage->origin) + (uint32_t)dx,
                      fm_cell_y(passage->origin) + (uint32_t)dy);
}

/// Whether a place across it is on a lane, inside or in its continuation outside.
static inline bool fm_passage_has_lane(const fm_passage *passage, int32_t across)
{
    return across >= 0 && across < (int32_t)passage->width;
}

/// Whether a cell is inside.
static inline bool fm_passage_contains(const fm_passage *passage, fm_cell cell)
{
    int32_t along = fm_passage_along(passage, cell);
    return along >= 0 && along < (int32_t)passage->length &&
           fm_passage_has_lane(passage, fm_passage_across(passage, cell));
}

/// The lanes of a direction, bit i for lane i, with those that close or without.
static inline uint32_t fm_passage_lanes(const fm_passage *passage, uint32_t direction,
                                        bool with_closing)
{
    uint32_t all = (1u << passage->width) - 1;
    uint32_t lanes = (direction == 0 ? all & ~passage->owners : passage->owners) & ~passage->shut;
    return with_closing ? lanes : lanes & ~passage->closing;
}

/// How many cells before an end a cell is, beside the lanes or not; 0: before none.
static inline uint32_t fm_passage_before(const fm_passage *passage, fm_cell cell)
{
    int32_t along = fm_passage_along(passage, cell), length = (int32_t)passage->length;
    return along < 0 ? (uint32_t)-along : along < length ? 0 : (uint32_t)(along - length) + 1;
}

/// Where a unit that does not pass goes first from a cell near an end: behind the first
/// FM_PASSAGE_WAY_IN cells before the nearest lane of those who wait there, if its goal is on the
/// other side of that lane. FM_CELL_NONE: it need not, or there is no room.
fm_cell fm_passage_way_round(const fm_passage *passage, fm_cell cell, fm_cell goal);

/// Whether such a unit keeps off a cell: the lanes, and those first cells before them.
bool fm_passage_is_way_in(const fm_passage *passage, fm_cell cell);

/// Whether a unit of a direction leaves a closing lane.
static inline bool fm_passage_is_left(const fm_passage *passage, uint32_t direction, fm_cell cell)
{
    return passage->closing != 0 && fm_passage_contains(passage, cell) &&
           (fm_passage_lanes(passage, direction, true) & passage->closing) >>
                   fm_passage_across(passage, cell) &
               1;
}

/// Whether a unit that passes in a direction, and may use `lanes`, must not enter a cell: on
/// another lane, or right before one.
static inline bool fm_passage_is_closed(const fm_passage *passage, uint32_t direction,
                                        uint32_t lanes, fm_cell cell)
{
    int32_t along = fm_passage_along(passage, cell), across = fm_passage_across(passage, cell);
    int32_t before = passage->teams_meet ? (int32_t)FM_PASSAGE_CLEAR : 1;
    int32_t first = direction == 0 ? -before : 0;
    return along >= first && along < first + (int32_t)passage->length + before &&
           fm_passage_has_lane(passage, across) && !(lanes >> across & 1);
}

/// The distance of a cell of the box, for a unit that leaves a closing lane or not.
static inline uint32_t fm_passage_distance(const fm_passage *passage, uint32_t direction,
                                           bool leaves, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) - passage->box.x, y = fm_cell_y(cell) - passage->box.y;
    uint32_t row = (2 * direction + leaves) * passage->box.height + y;
    return passage->distances[row * passage->box.width + x];
}
