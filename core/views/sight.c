// core/views/sight.c: see sight.h. Compares two bitmaps word by word: what is visible, and what was
// reported.

#include "core/views/sight.h"

#include "core/world/world_parts.h"

void fm_sight_fini(struct fm_sight *sight, const fm_memory *memory)
{
    fm_memory_release(memory, sight->flips, sight->capacity * sizeof *sight->flips);
    fm_bitmap_fini(&sight->told, memory);
    *sight = (struct fm_sight){0};
}

fm_status fm_sight_begin(const fm_world *world, struct fm_sight *sight, const fm_bitmap *visible)
{
    uint32_t width = visible->width, height = visible->height;
    fm_status status = fm_bitmap_init(&sight->told, width, height, false, fm_world_memory(world));
    if (status == FM_OK) {
        fm_bitmap_copy(&sight->told, visible);
    }
    return status;
}

static uint32_t count_changed(const fm_bitmap *a, const fm_bitmap *b)
{
    uint32_t count = 0, words = (a->width + 63) / 64;
    for (uint32_t y = 0; y < a->height; y++) {
        const uint64_t *x = fm_bitmap_row(a, (int32_t)y), *z = fm_bitmap_row(b, (int32_t)y);
        for (uint32_t i = 0; i < words; i++) {
            count += x[i] != z[i];
        }
    }
    return count;
}

static void note_row(struct fm_sight *sight, const fm_bitmap *visible, uint32_t y)
{
    const uint64_t *now = fm_bitmap_row(visible, (int32_t)y);
    uint64_t *told = fm_bitmap_row(&sight->told, (int32_t)y);
    for (uint32_t word = 0; word < (visible->width + 63) / 64; word++) {
        uint64_t cells = now[word] ^ told[word];
        if (cells != 0) {
            sight->flips[sight->count++] = (fm_sight_flip){.y = y, .word = word, .cells = cells};
            told[word] = now[word];
        }
    }
}

bool fm_sight_note(const fm_world *world, struct fm_sight *sight, const fm_bitmap *visible)
{
    sight->count = 0;
    if (sight->told.words == NULL) {
        return true;
    }
    uint32_t changed = count_changed(visible, &sight->told);
    FM_SHRINK_EMPTY(fm_world_memory(world), sight->flips, sight->capacity, changed);
    if (!FM_RESERVE(world, sight->flips, sight->capacity, changed)) {
        return false;
    }
    for (uint32_t y = 0; y < visible->height; y++) {
        note_row(sight, visible, y);
    }
    return true;
}
