// core/base/slab.c: see slab.h.

#include "core/base/slab.h"

struct fm_slab_block {
    fm_slab_block *next;
};

struct fm_slab_chunk {
    fm_slab_chunk *next;
    size_t size; // bytes, this header included
};

#define FIRST_BLOCKS 3u // the first chunk of a class holds as many at least

static uint32_t class_of(size_t size)
{
    FM_ASSERT(size >= 1 && size <= FM_SLAB_BLOCK_MAX);
    return (uint32_t)((size + FM_SLAB_STEP - 1) / FM_SLAB_STEP) - 1;
}

static void push(fm_slab *slab, uint32_t size_class, fm_slab_block *block)
{
    block->next = slab->free_blocks[size_class];
    slab->free_blocks[size_class] = block;
    slab->free_counts[size_class] += 1;
}

static fm_slab_block *pop(fm_slab *slab, uint32_t size_class)
{
    fm_slab_block *block = slab->free_blocks[size_class];
    fm_slab_block *next = block->next;
    slab->free_blocks[size_class] = next;
    slab->free_counts[size_class] -= 1;
    // Its link is read by the next call, and mostly nobody has touched it for long.
    __builtin_prefetch(next, 1);
    return block;
}

static size_t next_chunk_size(const fm_slab *slab, uint32_t size_class, size_t block_size)
{
    uint32_t carved = slab->carved_counts[size_class];
    uint64_t size = (uint64_t)(carved < FIRST_BLOCKS ? FIRST_BLOCKS : carved) * block_size;
    size = (size + FM_SLAB_STEP + FM_SLAB_CHUNK_MIN - 1) / FM_SLAB_CHUNK_MIN * FM_SLAB_CHUNK_MIN;
    return size < FM_SLAB_CHUNK_MAX ? size : FM_SLAB_CHUNK_MAX;
}

// Carves a new chunk into blocks of one class. The first FM_SLAB_STEP bytes or less hold the header
// and the padding up to the alignment.
static bool refill(fm_slab *slab, uint32_t size_class)
{
    size_t block_size = (size_t)(size_class + 1) * FM_SLAB_STEP;
    size_t size = next_chunk_size(slab, size_class, block_size);
    fm_slab_chunk *chunk = fm_memory_allocate(slab->memory, size);
    if (chunk == NULL) {
        return false;
    }
    *chunk = (fm_slab_chunk){.next = slab->chunks, .size = size};
    slab->chunks = chunk;

    uintptr_t end = (uintptr_t)chunk + size;
    uintptr_t first = ((uintptr_t)(chunk + 1) + FM_SLAB_STEP - 1) & ~(uintptr_t)(FM_SLAB_STEP - 1);
    uintptr_t last = first + (end - first) / block_size * block_size;
    // From the back to the front, so that blocks are handed out in the order of their addresses.
    for (uintptr_t block = last; block > first; block -= block_size) {
        push(slab, size_class, (fm_slab_block *)(block - block_size));
    }
    slab->carved_counts[size_class] += (uint32_t)((last - first) / block_size);
    return true;
}

void fm_slab_init(fm_slab *slab, const fm_memory *memory)
{
    *slab = (fm_slab){.memory = memory};
}

void fm_slab_fini(fm_slab *slab)
{
    fm_slab_chunk *chunk = slab->chunks;
    while (chunk != NULL) {
        fm_slab_chunk *next = chunk->next;
        fm_memory_release(slab->memory, chunk, chunk->size);
        chunk = next;
    }
    *slab = (fm_slab){.memory = slab->memory};
}

void *fm_slab_take(fm_slab *slab, size_t size)
{
    uint32_t size_class = class_of(size);
    if (slab->free_blocks[size_class] == NULL && !refill(slab, size_class)) {
        return NULL;
    }
    return pop(slab, size_class);
}

void fm_slab_give(fm_slab *slab, void *block, size_t size)
{
    if (block != NULL) {
        push(slab, class_of(size), block);
    }
}

void fm_slabs_level(fm_slab *slabs, uint32_t slab_count)
{
    for (uint32_t size_class = 0; size_class < FM_SLAB_CLASSES; size_class++) {
        uint64_t total = 0;
        for (uint32_t i = 0; i < slab_count; i++) {
            total += slabs[i].free_counts[size_class];
        }
        uint32_t fair = (uint32_t)(total / slab_count);
        uint32_t poor = 0;
        for (uint32_t rich = 0; rich < slab_count; rich++) {
            // A small imbalance is cheaper than moving blocks back and forth every tick.
            while (slabs[rich].free_counts[size_class] > fair + fair / 2 + 64) {
                while (poor < slab_count && slabs[poor].free_counts[size_class] >= fair) {
                    poor += 1;
                }
                if (poor == slab_count) {
                    break;
                }
                push(&slabs[poor], size_class, pop(&slabs[rich], size_class));
            }
        }
    }
}
