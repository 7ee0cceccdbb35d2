// core/search/open_list.c: memory of the open lists; the rest is in open_list.h, for the inner
// loops.

#include "core/search/open_list.h"

#include <string.h>

void fm_open_init(fm_open_list *list, const fm_memory *memory)
{
    *list = (fm_open_list){.memory = memory, .entry_free = FM_OPEN_NONE};
}

static void release_buckets(fm_open_list *list)
{
    fm_memory_release(list->memory, list->heads, list->bucket_count * sizeof *list->heads);
    fm_memory_release(list->memory, list->used, list->bucket_count / 64 * sizeof *list->used);
    list->heads = NULL;
    list->used = NULL;
    list->bucket_count = 0;
}

void fm_open_fini(fm_open_list *list)
{
    release_buckets(list);
    fm_memory_release(list->memory, list->entries, list->entry_capacity * sizeof *list->entries);
    fm_memory_release(list->memory, list->items, list->item_capacity * sizeof *list->items);
    fm_open_init(list, list->memory);
}

uint32_t fm_open_span(const fm_view *view)
{
    uint32_t step = view->connectivity == FM_CONNECT_4 ? view->step[0] : view->step[1];
    return 2 * (view->weights == NULL ? step : step * FM_COST_MAX);
}

static bool make_buckets(fm_open_list *list, uint32_t count)
{
    release_buckets(list);
    list->heads = fm_memory_allocate(list->memory, count * sizeof *list->heads);
    list->used = fm_memory_allocate_zeroed(list->memory, count / 64, sizeof *list->used);
    if (list->heads == NULL || list->used == NULL) {
        fm_memory_release(list->memory, list->heads, count * sizeof *list->heads);
        fm_memory_release(list->memory, list->used, count / 64 * sizeof *list->used);
        list->heads = NULL;
        list->used = NULL;
        return false;
    }
    list->bucket_count = count;
    memset(list->heads, 0xff, count * sizeof *list->heads);
    return true;
}

static void empty_buckets(fm_open_list *list)
{
    for (uint32_t i = 0; i < list->bucket_count / 64; i++) {
        for (uint64_t bits = list->used[i]; bits != 0; bits &= bits - 1) {
            list->heads[i * 64 + (uint32_t)__builtin_ctzll(bits)] = FM_OPEN_NONE;
        }
        list->used[i] = 0;
    }
}

bool fm_open_clear(fm_open_list *list, fm_queue_kind kind, uint32_t span)
{
    list->count = 0;
    list->cursor = UINT32_MAX;
    if (kind == FM_QUEUE_HEAP) {
        return true;
    }
    FM_ASSERT(span < FM_OPEN_BUCKETS_MAX);
    list->entry_top = 0;
    list->entry_free = FM_OPEN_NONE;
    if (span >= list->bucket_count) {
        uint32_t count = 64;
        while (count <= span) {
            count *= 2;
        }
        return make_buckets(list, count);
    }
    empty_buckets(list);
    return true;
}

static uint32_t grown(uint32_t capacity, uint32_t needed)
{
    uint32_t next = capacity == 0 ? 64 : capacity * 2;
    return next < needed ? needed : next;
}

bool fm_open_grow(fm_open_list *list, fm_queue_kind kind, uint32_t extra)
{
    if (kind == FM_QUEUE_HEAP) {
        return FM_RESERVE_FROM(list->memory, list->items, list->item_capacity, list->count + extra);
    }
    uint32_t capacity = grown(list->entry_capacity, list->entry_top + extra);
    fm_open_entry *entries = fm_memory_resize(list->memory, list->entries, list->entry_capacity,
                                              capacity, sizeof *entries);
    if (entries != NULL) {
        list->entries = entries;
        list->entry_capacity = capacity;
    }
    return entries != NULL;
}

size_t fm_open_bytes(const fm_open_list *list)
{
    return list->bucket_count * sizeof *list->heads + list->bucket_count / 64 * sizeof *list->used +
           list->entry_capacity * sizeof *list->entries + list->item_capacity * sizeof *list->items;
}

void fm_open_visit(const fm_open_list *list, fm_queue_kind kind,
                   bool (*visit)(void *context, uint32_t node, uint64_t key), void *context)
{
    if (kind == FM_QUEUE_HEAP) {
        for (uint32_t i = 0; i < list->count; i++) {
            if (!visit(context, list->items[i].node, list->items[i].key)) {
                return;
            }
        }
        return;
    }
    uint32_t key = list->cursor;
    for (uint32_t left = list->count; left > 0; key++) {
        key += fm_open_gap(list, key & (list->bucket_count - 1));
        uint32_t entry = list->heads[key & (list->bucket_count - 1)];
        for (; entry != FM_OPEN_NONE; entry = list->entries[entry].next) {
            left -= 1;
            if (!visit(context, list->entries[entry].node, key)) {
                return;
            }
        }
    }
}
