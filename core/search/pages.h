// core/search/pages.h: per-cell search memory in small square pages, taken when a search first
// touches them.
//
// A page holds the nodes of FM_PAGE_SIDE x FM_PAGE_SIDE cells and pointers to the pages around it.
// A search that stands on a cell reaches a neighbour's node with one table look-up and, on a page's
// rim, one pointer: there is no map-sized array and hardly any hashing. A hash table by tile finds
// the page of an arbitrary cell (changes of knowledge, starts, paths).
//
// A node is named by a 32-bit reference: slot of its page << 6 | position in the page. References
// and page addresses stay good until fm_pages_clear().
//
// Threads: one worker at a time for each fm_pages.

#pragma once

#include "core/base/slab.h"
#include "core/map/cell.h"

#define FM_PAGE_SIDE  8u
#define FM_PAGE_CELLS (FM_PAGE_SIDE * FM_PAGE_SIDE)
#define FM_PAGE_SELF  FM_DIRECTION_COUNT // index of a page itself in `near`
#define FM_NODE_NONE  UINT32_MAX

typedef struct fm_page fm_page;

struct fm_page {
    fm_page *near[FM_DIRECTION_COUNT + 1]; // pages around, by direction, or `nowhere`; itself
    uint32_t slot;
    fm_cell corner;               // its north-west cell
    _Alignas(16) uint8_t nodes[]; // FM_PAGE_CELLS nodes
};

// Where a step from a position in a page leads.
typedef struct fm_page_step {
    uint8_t page;     // index in `near`
    uint8_t position; // in that page
} fm_page_step;

// By position and direction.
extern const fm_page_step fm_page_steps[FM_PAGE_CELLS][FM_DIRECTION_COUNT];

// A place of the hash table, open addressing.
typedef struct fm_page_place {
    fm_cell corner;
    uint32_t entry; // slot + 1; 0 is empty
} fm_page_place;

typedef struct fm_pages {
    const fm_memory *memory;
    const void *blank;  // a node as a search finds it, node_size bytes; outlives the pages
    uint32_t node_size; // bytes
    uint32_t page_size; // bytes, header included
    uint32_t page_count;
    uint32_t capacity;   // of by_slot
    uint32_t table_mask; // size of the hash table - 1; 0 while there is none
    fm_page **by_slot;
    fm_page_place *table; // by hash of the tile
    // A page of blank nodes that stands in `near` for every page that has not been taken, so that
    // reading a neighbour needs no test. Never written to. NULL while there are no pages.
    fm_page *nowhere;
    int32_t left, top, right,
        bottom; // box around all pages, cells; left > right while there are none
} fm_pages;

/// Sets up an empty store. Takes no memory yet.
///
/// @param blank      what a node holds before its first use; outlives the store
/// @param node_size  bytes; FM_PAGE_CELLS nodes and the header fit in FM_SLAB_BLOCK_MAX (asserted)
void fm_pages_init(fm_pages *pages, const void *blank, uint32_t node_size, const fm_memory *memory);

/// Gives all pages to `slab`, keeping the tables for the next search.
void fm_pages_clear(fm_pages *pages, fm_slab *slab);

/// fm_pages_clear(), and the tables too.
void fm_pages_fini(fm_pages *pages, fm_slab *slab);

/// The page of a cell, or NULL when it has not been touched.
fm_page *fm_pages_find(const fm_pages *pages, fm_cell cell);

/// The page of a cell, taken now if it was not there. NULL when out of memory.
fm_page *fm_pages_get(fm_pages *pages, fm_cell cell, fm_slab *slab);

/// The node of a cell, or NULL when its page has not been touched.
static inline void *fm_pages_node(const fm_pages *pages, fm_cell cell);

/// Whether a cell lies within `margin` cells of the box around all pages; if not, no page is so
/// near. Filters out most changes of a large map without a look at the hash table.
static inline bool fm_pages_may_hold(const fm_pages *pages, fm_cell cell, int32_t margin)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    return x >= pages->left - margin && x <= pages->right + margin && y >= pages->top - margin &&
           y <= pages->bottom + margin;
}

/// The page in direction `near` (0..FM_DIRECTION_COUNT - 1) of `page`, taken now if it was not
/// there. For directions that stay on the map only. NULL when out of memory.
fm_page *fm_pages_get_near(fm_pages *pages, fm_page *page, uint32_t near, fm_slab *slab);

/// Bytes held.
size_t fm_pages_bytes(const fm_pages *pages);

static inline uint32_t fm_page_position(fm_cell cell)
{
    return (fm_cell_y(cell) % FM_PAGE_SIDE) * FM_PAGE_SIDE + fm_cell_x(cell) % FM_PAGE_SIDE;
}

/// The north-west cell of the page that a cell lies in.
static inline fm_cell fm_page_corner(fm_cell cell)
{
    return cell & ~((FM_PAGE_SIDE - 1) << 12 | (FM_PAGE_SIDE - 1));
}

static inline void *fm_pages_node(const fm_pages *pages, fm_cell cell)
{
    fm_page *page = fm_pages_find(pages, cell);
    return page == NULL ? NULL : page->nodes + (size_t)fm_page_position(cell) * pages->node_size;
}

static inline fm_cell fm_page_cell(const fm_page *page, uint32_t position)
{
    return page->corner + fm_cell_at(position % FM_PAGE_SIDE, position / FM_PAGE_SIDE);
}

static inline uint32_t fm_node_ref(const fm_page *page, uint32_t position)
{
    return page->slot << 6 | position;
}

static inline fm_page *fm_node_page(const fm_pages *pages, uint32_t ref)
{
    return pages->by_slot[ref >> 6];
}

static inline uint32_t fm_node_position(uint32_t ref)
{
    return ref & (FM_PAGE_CELLS - 1);
}
