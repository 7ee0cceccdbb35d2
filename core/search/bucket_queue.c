// core/search/bucket_queue.c: the parts of bucket_queue.h that are not in the innermost loop.

#include "core/search/bucket_queue.h"

#include <string.h>

void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory)
{
    *queue = (fm_bucket_queue){.memory = memory, .top_key = FM_BUCKET_KEY_NONE};
}

void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab)
{
    for (uint32_t place = 0; place < queue->capacity; place++) {
        fm_slab_give(slab, queue->pages[place], sizeof(fm_bucket_page));
        queue->pages[place] = NULL;
    }
    while (queue->spares != NULL) {
        fm_bucket_page *page = queue->spares;
        queue->spares = page->next_spare;
        fm_slab_give(slab, page, sizeof *page);
    }
    queue->spare_count = 0;
    if (queue->capacity > 0) {
        memset(queue->filled, 0, queue->capacity / 64 * sizeof *queue->filled);
    }
    queue->top = NULL;
    queue->top_key = FM_BUCKET_KEY_NONE;
    queue->page_count = 0;
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
    fm_bucket_queue_init(queue, queue->memory);
}

size_t fm_bucket_queue_bytes(const fm_bucket_queue *queue)
{
    return queue->capacity * sizeof *queue->pages + queue->capacity / 64 * sizeof *queue->filled +
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
    for (uint32_t i = used_low; any && i <= used_high; i++) {
        if (queue->pages[i] != NULL) {
            uint32_t place = queue->base + i - base;
            pages[place] = queue->pages[i];
            filled[place >> 6] |= (uint64_t)1 << (place & 63);
        }
    }
    release_directory(queue);
    queue->pages = pages;
    queue->filled = filled;
    queue->base = base;
    queue->capacity = capacity;
    return true;
}

// The page at a directory place has the smallest key.
static void set_top(fm_bucket_queue *queue, uint32_t place)
{
    queue->top = queue->pages[place];
    queue->top_key = (queue->base + place) << 6;
}

static fm_bucket_page *take_page(fm_bucket_queue *queue, fm_slab *slab)
{
    fm_bucket_page *page = queue->spares;
    if (page != NULL) {
        queue->spares = page->next_spare;
        queue->spare_count -= 1;
    } else {
        page = fm_slab_take(slab, sizeof *page);
        if (page == NULL) {
            return NULL;
        }
        page->filled = 0;
        memset(page->heads, 0xff, sizeof page->heads); // FM_NODE_NONE
        queue->page_count += 1;
    }
    return page;
}

// All of its buckets are empty.
static void give_page(fm_bucket_queue *queue, uint32_t place, fm_slab *slab)
{
    fm_bucket_page *page = queue->pages[place];
    queue->pages[place] = NULL;
    queue->filled[place >> 6] &= ~((uint64_t)1 << (place & 63));
    if (queue->spare_count < FM_BUCKET_SPARES_MAX) {
        page->next_spare = queue->spares;
        queue->spares = page;
        queue->spare_count += 1;
    } else {
        fm_slab_give(slab, page, sizeof *page);
        queue->page_count -= 1;
    }
}

bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key, fm_slab *slab)
{
    if ((key >> 6) - queue->base >= queue->capacity && !cover(queue, key >> 6)) {
        return false;
    }
    uint32_t place = (key >> 6) - queue->base;
    if (queue->pages[place] != NULL) {
        return true;
    }
    fm_bucket_page *page = take_page(queue, slab);
    if (page == NULL) {
        return false;
    }
    queue->pages[place] = page;
    queue->filled[place >> 6] |= (uint64_t)1 << (place & 63);
    if (queue->top == NULL || queue->base + place < queue->top_key >> 6) {
        set_top(queue, place);
    }
    return true;
}

// Looks for the page of the smallest key, which is not below this place.
static void find_top(fm_bucket_queue *queue, uint32_t place)
{
    uint64_t mask = UINT64_MAX << (place & 63);
    for (uint32_t word = place >> 6; word < queue->capacity >> 6; word++) {
        uint64_t bits = queue->filled[word] & mask;
        if (bits != 0) {
            set_top(queue, word * 64 + (uint32_t)__builtin_ctzll(bits));
            return;
        }
        mask = UINT64_MAX;
    }
    queue->top = NULL;
    queue->top_key = FM_BUCKET_KEY_NONE;
}

void fm_bucket_queue_emptied(fm_bucket_queue *queue, uint32_t place, fm_slab *slab)
{
    bool was_top = queue->pages[place] == queue->top;
    give_page(queue, place, slab);
    if (was_top) {
        find_top(queue, place);
    }
}
