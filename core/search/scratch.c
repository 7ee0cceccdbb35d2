// core/search/scratch.c: see scratch.h.

#include "core/search/scratch.h"

void fm_scratch_init(fm_scratch *scratch, const fm_memory *memory)
{
    *scratch = (fm_scratch){.memory = memory};
}

void fm_scratch_fini(fm_scratch *scratch)
{
    for (uint32_t i = 0; i < scratch->idle_count; i++) {
        fm_jump_search_destroy(scratch->idle[i]);
    }
    scratch->idle_count = 0;
    scratch->idle_size = 0;
}

fm_jump_search *fm_scratch_take(fm_scratch *scratch)
{
    if (scratch->idle_count > 0) {
        fm_jump_search *idle = scratch->idle[--scratch->idle_count];
        scratch->idle_size -= fm_jump_search_bytes(idle);
        return idle;
    }
    fm_jump_search *search;
    return fm_jump_search_create(scratch->memory, &search) == FM_OK ? search : NULL;
}

void fm_scratch_give(fm_scratch *scratch, fm_jump_search *search)
{
    if (search == NULL) {
        return;
    }
    size_t size = fm_jump_search_bytes(search);
    if (scratch->idle_count == FM_SCRATCH_KEPT_MAX ||
        scratch->idle_size + size > FM_SCRATCH_SIZE_MAX) {
        fm_jump_search_destroy(search);
        return;
    }
    scratch->idle_size += size;
    scratch->idle[scratch->idle_count++] = search;
}
