// core/map/bitmap.c: see bitmap.h for the layout.

#include "core/map/bitmap.h"

#include "core/base/base.h"

fm_status fm_bitmap_init(fm_bitmap *bitmap, uint32_t width, uint32_t height, bool margin,
                         const fm_memory *memory)
{
    FM_ASSERT(width >= 1 && width <= FM_SIDE_MAX && height >= 1 && height <= FM_SIDE_MAX);

    uint32_t pitch = (width + 63) / 64 + 1;
    // One word more than the rows need, so that the last row has a right margin too.
    size_t size = ((size_t)pitch * (height + 2) + 1) * sizeof(uint64_t);
    uint64_t *words = fm_memory_allocate(memory, size);
    if (words == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    memset(words, margin ? 0xff : 0, size);
    *bitmap =
        (fm_bitmap){.width = width, .height = height, .pitch = pitch, .size = size, .words = words};
    fm_bitmap_clear(bitmap);
    return FM_OK;
}

void fm_bitmap_fini(fm_bitmap *bitmap, const fm_memory *memory)
{
    fm_memory_release(memory, bitmap->words, bitmap->size);
    *bitmap = (fm_bitmap){0};
}

void fm_bitmap_copy(fm_bitmap *to, const fm_bitmap *from)
{
    FM_ASSERT(to->width == from->width && to->height == from->height);
    memcpy(to->words, from->words, from->size);
}

// The bits of a row's last word that lie inside the map.
static uint64_t last_word_mask(const fm_bitmap *bitmap)
{
    return bitmap->width % 64 == 0 ? UINT64_MAX : ((uint64_t)1 << bitmap->width % 64) - 1;
}

void fm_bitmap_clear(fm_bitmap *bitmap)
{
    uint32_t word_count = (bitmap->width + 63) / 64;
    for (uint32_t y = 0; y < bitmap->height; y++) {
        uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
        memset(row, 0, (word_count - 1) * sizeof(uint64_t));
        row[word_count - 1] &= ~last_word_mask(bitmap);
    }
}

static void check_rect(const fm_bitmap *bitmap, const fm_rect *rect)
{
    FM_ASSERT(rect->width >= 1 && rect->x < bitmap->width &&
              rect->width <= bitmap->width - rect->x);
    FM_ASSERT(rect->y < bitmap->height && rect->height <= bitmap->height - rect->y);
}

void fm_bitmap_fill(fm_bitmap *bitmap, fm_rect rect, bool value)
{
    check_rect(bitmap, &rect);
    uint32_t x_last = rect.x + rect.width - 1;
    for (uint32_t y = rect.y; y < rect.y + rect.height; y++) {
        uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
        for (uint32_t word = rect.x >> 6; word <= x_last >> 6; word++) {
            uint64_t mask = fm_bitmap_span(word, rect.x, x_last);
            row[word] = value ? row[word] | mask : row[word] & ~mask;
        }
    }
}

bool fm_bitmap_any(const fm_bitmap *bitmap, fm_rect rect)
{
    check_rect(bitmap, &rect);
    uint32_t x_last = rect.x + rect.width - 1;
    uint64_t any = 0;
    for (uint32_t y = rect.y; y < rect.y + rect.height && any == 0; y++) {
        const uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
        for (uint32_t word = rect.x >> 6; word <= x_last >> 6; word++) {
            any |= row[word] & fm_bitmap_span(word, rect.x, x_last);
        }
    }
    return any != 0;
}

uint64_t fm_bitmap_count(const fm_bitmap *bitmap)
{
    uint32_t word_count = (bitmap->width + 63) / 64;
    uint64_t count = 0;
    for (uint32_t y = 0; y < bitmap->height; y++) {
        const uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
        for (uint32_t i = 0; i + 1 < word_count; i++) {
            count += (uint64_t)__builtin_popcountll(row[i]);
        }
        count += (uint64_t)__builtin_popcountll(row[word_count - 1] & last_word_mask(bitmap));
    }
    return count;
}
