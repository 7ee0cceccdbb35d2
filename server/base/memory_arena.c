// server/base/memory_arena.c: see memory_arena.h.
//
// With jemalloc, every call names the arena and turns the thread's cache off: a cached block would
// be handed to the next world, and would still be in the cache when its arena is destroyed. A cache
// for each arena and thread would avoid that; jemalloc caches blocks up to 32 KiB. Measured on two
// shared cores, one thread, release plus allocate: 255 ns at 64 KiB with and without such a cache;
// at 64 bytes 71 ns without and 29 ns with it, which slabs make rare. A world asks for slab chunks
// of 4 to 64 KiB, and for arrays; blocks of 4 to 32 KiB were not measured.

#include "server/base/memory_arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef FOGMARCH_JEMALLOC
#include <jemalloc/jemalloc.h>
#include <stdio.h>
#include <sys/mman.h>
#endif

#define HUGE_PAGES_FROM (32u << 20) // bytes of an arena

struct fm_memory_arena {
    fm_memory memory; // context points back here
    size_t bytes_max;
    _Atomic size_t bytes;
#ifdef FOGMARCH_JEMALLOC
    extent_hooks_t hooks;         // of the jemalloc arena
    extent_alloc_t *system_alloc; // what it would have without us
    unsigned index;               // of the jemalloc arena
    int flags;                    // for mallocx() and dallocx()
#else
    pthread_mutex_t lock; // guards the list
    struct block *blocks;
#endif
};

// Takes `size` from the limit before allocating, so that threads together cannot exceed it.
static bool reserve(fm_memory_arena *arena, size_t size)
{
    size_t before = atomic_fetch_add_explicit(&arena->bytes, size, memory_order_relaxed);
    if (size <= arena->bytes_max && before <= arena->bytes_max - size) {
        return true;
    }
    atomic_fetch_sub_explicit(&arena->bytes, size, memory_order_relaxed);
    return false;
}

static void unreserve(fm_memory_arena *arena, size_t size)
{
    atomic_fetch_sub_explicit(&arena->bytes, size, memory_order_relaxed);
}

#ifdef FOGMARCH_JEMALLOC

static void *arena_allocate(void *context, size_t size)
{
    fm_memory_arena *arena = context;
    if (size > PTRDIFF_MAX) {
        return NULL; // nallocx() and mallocx() do not define what they do with such sizes
    }
    size_t rounded = nallocx(size, arena->flags);
    if (rounded == 0 || !reserve(arena, rounded)) {
        return NULL;
    }
    void *block = mallocx(size, arena->flags);
    if (block == NULL) {
        unreserve(arena, rounded);
    }
    return block;
}

static void arena_release(void *context, void *block, size_t size)
{
    fm_memory_arena *arena = context;
    unreserve(arena, nallocx(size, arena->flags));
    sdallocx(block, size, arena->flags);
}

static extent_hooks_t *default_hooks(void)
{
    extent_hooks_t *hooks = NULL;
    size_t size = sizeof hooks;
    int error = mallctl("arena.0.extent_hooks", &hooks, &size, NULL, 0);
    FM_ASSERT(error == 0);
    return hooks;
}

// What jemalloc asks the system for. The kernel is asked to use huge pages (2 MiB) where a world is
// large, since a tick visits its agents and their searches all over the place: the ticks of 100,000
// agents take a tenth less time. A small world would take up more memory than it uses. A system
// without huge pages refuses, which does not matter.
static void *ask_system(extent_hooks_t *hooks, void *where, size_t size, size_t alignment,
                        bool *zero, bool *commit, unsigned index)
{
    const fm_memory_arena *arena =
        (const void *)((const char *)hooks - offsetof(fm_memory_arena, hooks));
    void *extent = arena->system_alloc(hooks, where, size, alignment, zero, commit, index);
    if (extent != NULL && arena->bytes >= HUGE_PAGES_FROM) {
        (void)madvise(extent, size, MADV_HUGEPAGE);
    }
    return extent;
}

static fm_status open_arena(fm_memory_arena *arena)
{
    arena->hooks = *default_hooks();
    arena->system_alloc = arena->hooks.alloc;
    arena->hooks.alloc = ask_system;
    extent_hooks_t *hooks = &arena->hooks;
    size_t size = sizeof arena->index;
    if (mallctl("arenas.create", &arena->index, &size, &hooks, sizeof hooks) != 0) {
        return FM_ERR_NO_MEMORY;
    }
    arena->flags = (int)MALLOCX_ARENA(arena->index) | MALLOCX_TCACHE_NONE;
    return FM_OK;
}

static void close_arena(fm_memory_arena *arena)
{
    char name[64];
    snprintf(name, sizeof name, "arena.%u.destroy", arena->index);
    int error = mallctl(name, NULL, NULL, NULL, 0);
    FM_ASSERT(error == 0);
}

#else

// Stands in front of every block. A multiple of the strictest alignment, so that what follows is
// aligned for any type.
struct block {
    _Alignas(max_align_t) struct block *next;
    struct block *previous;
};

static void *arena_allocate(void *context, size_t size)
{
    fm_memory_arena *arena = context;
    size_t total;
    if (__builtin_add_overflow(size, sizeof(struct block), &total) || !reserve(arena, size)) {
        return NULL;
    }
    struct block *block = malloc(total);
    if (block == NULL) {
        unreserve(arena, size);
        return NULL;
    }
    pthread_mutex_lock(&arena->lock);
    *block = (struct block){.next = arena->blocks};
    if (arena->blocks != NULL) {
        arena->blocks->previous = block;
    }
    arena->blocks = block;
    pthread_mutex_unlock(&arena->lock);
    return block + 1;
}

static void arena_release(void *context, void *memory, size_t size)
{
    fm_memory_arena *arena = context;
    struct block *block = (struct block *)memory - 1;
    pthread_mutex_lock(&arena->lock);
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        arena->blocks = block->next;
    }
    pthread_mutex_unlock(&arena->lock);
    unreserve(arena, size);
    free(block);
}

static fm_status open_arena(fm_memory_arena *arena)
{
    int error = pthread_mutex_init(&arena->lock, NULL);
    FM_ASSERT(error == 0); // cannot fail for a default mutex
    return FM_OK;
}

static void close_arena(fm_memory_arena *arena)
{
    while (arena->blocks != NULL) {
        struct block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    pthread_mutex_destroy(&arena->lock);
}

#endif

fm_status fm_memory_arena_create(size_t bytes_max, fm_memory_arena **out)
{
    fm_memory_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = open_arena(arena);
    if (status != FM_OK) {
        free(arena);
        return status;
    }
    arena->bytes_max = bytes_max;
    arena->memory = (fm_memory){
        .allocate = arena_allocate,
        .release = arena_release,
        .context = arena,
    };
    *out = arena;
    return FM_OK;
}

void fm_memory_arena_destroy(fm_memory_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    close_arena(arena);
    free(arena);
}

const fm_memory *fm_memory_arena_memory(const fm_memory_arena *arena)
{
    return &arena->memory;
}

void fm_memory_arena_limit(fm_memory_arena *arena, size_t bytes_max)
{
    arena->bytes_max = bytes_max;
}

size_t fm_memory_arena_bytes(const fm_memory_arena *arena)
{
    return atomic_load_explicit(&arena->bytes, memory_order_relaxed);
}
