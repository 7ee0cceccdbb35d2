// core/bucket_queue.c: the parts of bucket_queue.h that are not in the innermost loop.

#include "core/bucket_queue.h"

#include <string.h>

void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory)
{
    *queue = (fm_bucket_queue){.memory = memory};
}

void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab)
{
    for (uint32_t word = 0; word < queue->capacity / 64; word++) {
        for (uint64_t bits = queue->filled[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            fm_slab_give(slab, queue->pages[place], sizeof(fm_bucket_page));
            queue->pages[place] = NULL;
        }
        queue->filled[word] = 0;
    }
    queue->entry_count = 0;
    queue->entry_free = 0;
    queue->live = 0;
    queue->page_count = 0;
    queue->cursor = queue->capacity;
}

static void release_directory(fm_bucket_queue *queue)
{
    fm_memory_release(queue->memory, queue->pages, queue->capacity * sizeof *queue->pages);
    fm_memory_release(queue->memory, queue->filled, queue->capacity / 64 * sizeof *queue->filled);
}

void fm_bucket_queue_fini(fm_bucket_queue *queue, fm_slab *slab)
{
    fm_bucket_queue_clear(queue, slab);
    release_directory(queue);
    fm_memory_release(queue->memory, queue->entries,
                      queue->entry_capacity * sizeof *queue->entries);
    *queue = (fm_bucket_queue){.memory = queue->memory};
}

size_t fm_bucket_queue_bytes(const fm_bucket_queue *queue)
{
    return queue->capacity * sizeof *queue->pages + queue->capacity / 64 * sizeof *queue->filled +
           queue->entry_capacity * sizeof *queue->entries +
           (size_t)queue->page_count * sizeof(fm_bucket_page);
}

// The directory places in use, or false when there are none.
static bool used_range(const fm_bucket_queue *queue, uint32_t *low, uint32_t *high)
{
    bool any = false;
    for (uint32_t word = 0; word < queue->capacity / 64; word++) {
        uint64_t bits = queue->filled[word];
        if (bits != 0) {
            if (!any) {
                *low = word * 64 + (uint32_t)__builtin_ctzll(bits);
            }
            *high = word * 64 + 63 - (uint32_t)__builtin_clzll(bits);
            any = true;
        }
    }
    return any;
}

// Moves the directory so that it covers what is in use and `page_number`, with room on both sides.
static bool cover(fm_bucket_queue *queue, uint32_t page_number)
{
    uint32_t low = page_number, high = page_number;
    uint32_t used_low = 0, used_high = 0;
    bool any = used_range(queue, &used_low, &used_high);
    if (any) {
        low = queue->base + used_low < low ? queue->base + used_low : low;
        high = queue->base + used_high > high ? queue->base + used_high : high;
    }
    uint32_t span = high - low + 1;
    uint32_t capacity = 64;
    while (capacity < span + span / 2) {
        capacity *= 2;
    }
    // Keys mostly grow, so most of the room goes above.
    uint32_t room_below = (capacity - span) / 4;
    uint32_t base = low > room_below ? low - room_below : 0;

    fm_bucket_page **pages =
        fm_memory_allocate_zeroed(queue->memory, capacity, sizeof(fm_bucket_page *));
    uint64_t *filled = fm_memory_allocate_zeroed(queue->memory, capacity / 64, sizeof *filled);
    if (pages == NULL || filled == NULL) {
        fm_memory_release(queue->memory, pages, capacity * sizeof *pages);
        fm_memory_release(queue->memory, filled, capacity / 64 * sizeof *filled);
        return false;
    }
    uint32_t cursor = capacity;
    for (uint32_t i = used_low; any && i <= used_high; i++) {
        if (queue->pages[i] != NULL) {
            uint32_t place = queue->base + i - base;
            pages[place] = queue->pages[i];
            filled[place >> 6] |= (uint64_t)1 << (place & 63);
            cursor = place < cursor ? place : cursor;
        }
    }
    release_directory(queue);
    queue->pages = pages;
    queue->filled = filled;
    queue->base = base;
    queue->capacity = capacity;
    queue->cursor = cursor;
    return true;
}

bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key)
{
    uint32_t place = (key >> 6) - queue->base;
    if (place >= queue->capacity && !cover(queue, key >> 6)) {
        return false;
    }
    if (queue->entry_free == 0 && queue->entry_count == queue->entry_capacity) {
        uint32_t capacity = queue->entry_capacity == 0 ? 64 : queue->entry_capacity * 2;
        fm_bucket_entry *entries = fm_memory_resize(
            queue->memory, queue->entries, queue->entry_capacity, capacity, sizeof *entries);
        if (entries == NULL) {
            return false;
        }
        queue->entries = entries;
        queue->entry_capacity = capacity;
    }
    return true;
}

void fm_bucket_queue_sweep(fm_bucket_queue *queue, fm_slab *slab,
                           bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                           const void *context)
{
    for (uint32_t place = 0; place < queue->capacity; place++) {
        fm_bucket_page *page = queue->pages[place];
        if (page == NULL) {
            continue;
        }
        for (uint64_t bits = page->filled; bits != 0; bits &= bits - 1) {
            uint32_t bucket = (uint32_t)__builtin_ctzll(bits);
            uint32_t key = (queue->base + place) << 6 | bucket;
            uint32_t *link = &page->heads[bucket];
            while (*link != 0) {
                uint32_t position = *link - 1;
                if (keep(context, key, queue->entries[position].ref)) {
                    link = &queue->entries[position].next;
                } else {
                    *link = queue->entries[position].next;
                    queue->entries[position].next = queue->entry_free;
                    queue->entry_free = position + 1;
                    queue->live -= 1;
                }
            }
            if (page->heads[bucket] == 0) {
                page->filled &= ~((uint64_t)1 << bucket);
            }
        }
        if (page->filled == 0) {
            queue->pages[place] = NULL;
            queue->page_count -= 1;
            queue->filled[place >> 6] &= ~((uint64_t)1 << (place & 63));
            fm_slab_give(slab, page, sizeof *page);
        }
    }
}
