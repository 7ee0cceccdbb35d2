// core/search/dstar_open.c: see dstar_open.h.

#include "core/search/dstar_open.h"

void fm_dstar_open_init(fm_dstar_open *open, const fm_pages *pages, const fm_memory *memory)
{
    *open = (fm_dstar_open){.pages = pages};
    fm_bucket_queue_init(&open->buckets, memory);
    fm_heap_init(&open->heap, memory);
}

void fm_dstar_open_fini(fm_dstar_open *open, fm_slab *slab)
{
    fm_bucket_queue_fini(&open->buckets, slab);
    fm_heap_fini(&open->heap);
}

void fm_dstar_open_clear(fm_dstar_open *open, fm_slab *slab)
{
    fm_bucket_queue_clear(&open->buckets, slab);
    open->heap.count = 0;
}

size_t fm_dstar_open_bytes(const fm_dstar_open *open)
{
    return fm_bucket_queue_bytes(&open->buckets) + fm_heap_bytes(&open->heap);
}
