// core/map/labels.h: which cells reach each other, answered in constant time: the connected
// components of the cells of a view that are not blocked.
//
// Whatever the movement rule, two cells reach each other exactly when straight steps connect them:
// a legal diagonal step always has a free cell beside it. So components are those of four
// neighbours.
//
// Two levels. The map is cut into blocks of 64 x 64 cells, one word of the bitmap wide. Inside a
// block, runs of free cells are joined with the runs above them (union-find); what belongs together
// is a part. Parts that touch across a rim of two blocks are an edge of a small graph, whose
// components are the labels:
//
//     word of a row:  ..####...##.....      block: parts 0, 1, 2 ...     graph: (block, part) nodes
//     runs of free:   0    1    2   ──────> join ──> edges to the ──────> union-find ──> labels
//                                           with the    blocks east
//                                           row above   and south
//
// A changed cell makes its block dirty. Updating looks at dirty blocks only, may stop after any of
// them and continue later, and walks the graph only if the number of parts or an edge is not what
// it was: most of what a team learns leaves both alone. A part is found by counting the runs before
// a cell (popcount), so a block keeps two bytes a run, and nothing at all when it has one part or
// none. Labels depend on the view alone, never on the order of its changes.
//
// Threads: reads may be shared; touch, update and nearest are for one thread at a time.

#pragma once

#include "core/map/view.h"

#define FM_LABEL_NONE         0u  // of a blocked cell
#define FM_LABELS_BLOCK_SIDE  64u // cells
#define FM_LABELS_BLOCK_UNITS 8u  // expansions charged for examining one block
#define FM_LABELS_RUN_STRIDE  8u  // runs joined for one more
#define FM_LABELS_NODE_STRIDE 16u // nodes of the graph labelled for one more

typedef struct fm_labels fm_labels;

/// Makes labels of a view, not up to date yet.
///
/// @param view    outlives them; its fields may change, but not width and height
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_labels_create(const fm_view *view, const fm_memory *memory,
                                      fm_labels **out);

/// NULL is allowed.
void fm_labels_destroy(fm_labels *labels);

/// A cell inside the map may have been blocked or freed.
void fm_labels_touch(fm_labels *labels, fm_cell cell);

/// Any cell may have been.
void fm_labels_touch_all(fm_labels *labels);

/// Whether the labels are those of the view as of the last touch.
bool fm_labels_are_current(const fm_labels *labels);

/// Brings the labels up to date, or nearer to it.
///
/// @param units_max  no further block is begun once so many units are done; UINT64_MAX: all of it.
///                   At least one block is done in each call.
/// @param units      grows by the work done, in expansions: for each dirty block
///                   FM_LABELS_BLOCK_UNITS + runs / FM_LABELS_RUN_STRIDE, and if the graph has
///                   changed parts / FM_LABELS_NODE_STRIDE
/// @return FM_OK, or FM_ERR_NO_MEMORY: the labels are not current and may be updated again
FM_CHECKED fm_status fm_labels_update(fm_labels *labels, uint64_t units_max, uint64_t *units);

/// Label of a cell inside the map, FM_LABEL_NONE when it is blocked. Labels must be current. Good
/// until the next update.
uint32_t fm_labels_of(const fm_labels *labels, fm_cell cell);

/// Whether there is a path from a free cell to another. Labels must be current.
static inline bool fm_labels_connect(const fm_labels *labels, fm_cell a, fm_cell b)
{
    uint32_t label = fm_labels_of(labels, a);
    return label != FM_LABEL_NONE && label == fm_labels_of(labels, b);
}

/// Counts updates that changed the graph of parts: how many a block has, or an edge. A cell that
/// only joined a part, left it or went to another part of its block does not show. So a new number
/// says that it is worth asking again; an old one does not say that nothing has changed.
uint64_t fm_labels_graph_version(const fm_labels *labels);

/// Of the cells with a label, the one nearest to `goal` by fm_view_distance(); ties go to the
/// smaller straight-line distance, then to the smaller cell number. Blocks are examined from the
/// goal's outward, only those that have the label. Answers are remembered until the labels change.
/// Labels must be current.
///
/// @param units  grows by the work done, in expansions; not at all when the answer was remembered
/// @return FM_CELL_NONE when no cell has the label
fm_cell fm_labels_nearest(fm_labels *labels, fm_cell goal, uint32_t label, uint64_t *units);

/// Forgets those answers: the next ones are computed, and charged, again.
void fm_labels_forget_answers(fm_labels *labels);

/// Bytes held.
size_t fm_labels_bytes(const fm_labels *labels);
