// core/bucket_queue.c: the parts of bucket_queue.h that are not in the innermost loop.

#include "core/bucket_queue.h"

#include <string.h>

void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory)
{
    *queue = (fm_bucket_queue){.memory = memory};
}

// All entries, linked as one free list. Place 0 is never used.
static void free_entries(fm_bucket_queue *queue, uint32_t first)
{
    for (uint32_t i = first; i < queue->entry_capacity; i++) {
        queue->entries[i].next = i + 1 < queue->entry_capacity ? i + 1 : 0;
    }
    queue->entry_free = first < queue->entry_capacity ? first : 0;
}

void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab)
{
    for (uint32_t place = 0; place < queue->capacity; place++) {
        fm_slab_give(slab, queue->pages[place], sizeof(fm_bucket_page));
        queue->pages[place] = NULL;
    }
    if (queue->capacity > 0) {
        memset(queue->filled, 0, queue->capacity / 64 * sizeof *queue->filled);
    }
    free_entries(queue, 1);
    queue->live = 0;
    queue->page_count = 0;
    queue->cursor = 0;
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

// The directory places that have a page, or false when there are none.
static bool used_range(const fm_bucket_queue *queue, uint32_t *low, uint32_t *high)
{
    bool any = false;
    for (uint32_t place = 0; place < queue->capacity; place++) {
        if (queue->pages[place] != NULL) {
            *low = any ? *low : place;
            *high = place;
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
    uint32_t cursor = capacity - 1;
    for (uint32_t i = used_low; any && i <= used_high; i++) {
        if (queue->pages[i] != NULL) {
            uint32_t place = queue->base + i - base;
            pages[place] = queue->pages[i];
            if (pages[place]->filled != 0) {
                filled[place >> 6] |= (uint64_t)1 << (place & 63);
                cursor = place < cursor ? place : cursor;
            }
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

static bool grow_entries(fm_bucket_queue *queue)
{
    uint32_t before = queue->entry_capacity;
    uint32_t capacity = before == 0 ? 64 : before * 2;
    fm_bucket_entry *entries =
        fm_memory_resize(queue->memory, queue->entries, before, capacity, sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    queue->entries = entries;
    queue->entry_capacity = capacity;
    free_entries(queue, before == 0 ? 1 : before);
    return true;
}

bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key, fm_slab *slab)
{
    if ((key >> 6) - queue->base >= queue->capacity && !cover(queue, key >> 6)) {
        return false;
    }
    if (queue->entry_free == 0 && !grow_entries(queue)) {
        return false;
    }
    uint32_t place = (key >> 6) - queue->base;
    if (queue->pages[place] == NULL) {
        fm_bucket_page *page = fm_slab_take(slab, sizeof *page);
        if (page == NULL) {
            return false;
        }
        memset(page, 0, sizeof *page);
        queue->pages[place] = page;
        queue->page_count += 1;
    }
    return true;
}

void fm_bucket_queue_page_filled(fm_bucket_queue *queue, uint32_t place)
{
    queue->filled[place >> 6] |= (uint64_t)1 << (place & 63);
    if (place < queue->cursor) {
        queue->cursor = place;
    }
}

// A few empty pages stay: the next key is likely to fall into one of them.
static void page_emptied(fm_bucket_queue *queue, uint32_t place, fm_slab *slab)
{
    queue->filled[place >> 6] &= ~((uint64_t)1 << (place & 63));
    if (queue->page_count > FM_BUCKET_PAGES_KEPT) {
        fm_slab_give(slab, queue->pages[place], sizeof(fm_bucket_page));
        queue->pages[place] = NULL;
        queue->page_count -= 1;
    }
}

void fm_bucket_queue_page_emptied(fm_bucket_queue *queue, fm_slab *slab)
{
    page_emptied(queue, queue->cursor, slab);
}

static void sweep_bucket(fm_bucket_queue *queue, uint32_t *link, uint32_t key,
                         bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                         const void *context)
{
    while (*link != 0) {
        fm_bucket_entry *entry = &queue->entries[*link];
        if (keep(context, key, entry->ref)) {
            link = &entry->next;
        } else {
            uint32_t place = *link;
            *link = entry->next;
            entry->next = queue->entry_free;
            queue->entry_free = place;
            queue->live -= 1;
        }
    }
}

void fm_bucket_queue_sweep(fm_bucket_queue *queue, fm_slab *slab,
                           bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                           const void *context)
{
    for (uint32_t place = 0; place < queue->capacity; place++) {
        fm_bucket_page *page = queue->pages[place];
        if (page == NULL || page->filled == 0) {
            continue;
        }
        for (uint64_t bits = page->filled; bits != 0; bits &= bits - 1) {
            uint32_t bucket = (uint32_t)__builtin_ctzll(bits);
            sweep_bucket(queue, &page->heads[bucket], (queue->base + place) << 6 | bucket, keep,
                         context);
            if (page->heads[bucket] == 0) {
                page->filled &= ~((uint64_t)1 << bucket);
            }
        }
        if (page->filled == 0) {
            page_emptied(queue, place, slab);
        }
    }
}
