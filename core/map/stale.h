// core/map/stale.h: how cells looked that a team knows and that have been edited since it saw them.
//
// Few cells are edited out of sight, so what is kept lies in pages of 64 x 64 cells, one word of a
// bitmap wide, which come with the first such cell and go with the last. A team that knows none of
// the edited cells holds nothing; with thousands of teams most do not.
//
// Threads: one writer, while nobody reads, like the knowledge.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/map/cell.h"

#define FM_STALE_SIDE 64u // cells of a page

// Edited cells of one word of a bitmap, each once.
typedef struct fm_edited_word {
    uint32_t y, word;
    uint64_t mask;
    uint8_t terrain_before[64]; // by bit, of those in `mask`
} fm_edited_word;

typedef struct fm_stale_page {
    uint32_t count;                                // of cells in `cells`
    uint64_t cells[FM_STALE_SIDE];                 // by row, a bit for each that is stale
    uint8_t terrain[FM_STALE_SIDE][FM_STALE_SIDE]; // of those: fm_terrain as last seen; y, x
} fm_stale_page;

// All zero: nothing is stale.
typedef struct fm_stale {
    fm_stale_page **pages; // row by row, NULL where nothing is stale; NULL: no page was ever needed
    uint32_t columns, rows; // pages
    uint32_t page_count;
} fm_stale;

void fm_stale_fini(fm_stale *stale, const fm_memory *memory);

/// Makes room for cells of one word of the bitmaps of a map of that size.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_stale_reserve(fm_stale *stale, uint32_t width, uint32_t height, uint32_t y,
                                      uint32_t word, const fm_memory *memory);

/// The page that has the cells of a word; NULL: none of them is stale.
static inline fm_stale_page *fm_stale_page_of(const fm_stale *stale, uint32_t y, uint32_t word)
{
    return stale->pages == NULL ? NULL : stale->pages[y / FM_STALE_SIDE * stale->columns + word];
}

/// Which cells of a word are stale, a bit for each.
static inline uint64_t fm_stale_word(const fm_stale *stale, uint32_t y, uint32_t word)
{
    const fm_stale_page *page = fm_stale_page_of(stale, y, word);
    return page == NULL ? 0 : page->cells[y % FM_STALE_SIDE];
}

/// The terrain of a stale cell (asserted) as it was last seen.
uint8_t fm_stale_terrain(const fm_stale *stale, fm_cell cell);

/// Cells are edited: those of `known`, a part of the mask, become stale, but for those that are
/// already. After fm_stale_reserve() for that word.
void fm_stale_note(fm_stale *stale, const fm_edited_word *edited, uint64_t known);

/// Cells of a word are seen again.
void fm_stale_forget(fm_stale *stale, uint32_t y, uint32_t word, uint64_t mask,
                     const fm_memory *memory);

/// How many cells are stale.
uint64_t fm_stale_count(const fm_stale *stale);

/// Bytes held, the fm_stale itself left out.
size_t fm_stale_bytes(const fm_stale *stale);
