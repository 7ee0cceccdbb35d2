// core/world/seekers.c: see seekers.h.

#include "core/world/seekers.h"

void fm_seekers_fini(fm_seekers *seekers, const fm_memory *memory)
{
    fm_frontier_fini(&seekers->frontier, memory);
    fm_wave_fini(&seekers->nearby, memory);
    fm_wave_fini(&seekers->threat, memory);
    fm_enemies_fini(&seekers->enemies, memory);
    fm_memory_release(memory, seekers->slots, seekers->capacity * sizeof *seekers->slots);
    *seekers = (fm_seekers){0};
}
