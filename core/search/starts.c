// core/search/starts.c: see starts.h.

#include "core/search/starts.h"

#include <string.h>

void fm_starts_fini(fm_starts *starts)
{
    fm_memory_release(starts->memory, starts->cells, starts->capacity * sizeof *starts->cells);
    *starts = (fm_starts){.memory = starts->memory};
}

bool fm_starts_set(fm_starts *starts, const fm_cell *cells, uint32_t count)
{
    if (count > starts->capacity) {
        uint32_t capacity = count <= 1 ? 1 : count + count / 2;
        fm_cell *grown = fm_memory_allocate(starts->memory, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        fm_memory_release(starts->memory, starts->cells, starts->capacity * sizeof *starts->cells);
        starts->cells = grown;
        starts->capacity = capacity;
    }
    memcpy(starts->cells, cells, count * sizeof *cells);
    starts->count = count;
    starts->next_box = fm_box_around(cells, count);
    fm_starts_settle(starts, 0);
    return true;
}

void *fm_starts_next_node(fm_starts *starts, const fm_pages *pages)
{
    if (starts->node == NULL && starts->node_pages != pages->page_count) {
        starts->node = fm_pages_node(pages, fm_starts_next(starts));
        starts->node_pages = pages->page_count;
    }
    return starts->node;
}

// The heuristic to the new box is smaller by at most the distance between the boxes.
bool fm_starts_rebase(fm_starts *starts, const fm_view *view)
{
    starts->km += fm_box_shift(view, &starts->box, &starts->next_box);
    starts->box = starts->next_box;
    return starts->km <= FM_KM_MAX;
}
