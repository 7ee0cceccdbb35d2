// tests/sim/memory.c: see memory.h. Stands between the server and its allocator (--wrap).

#include "tests/sim/memory.h"

#include "server/base/memory_arena.h"
#include "tests/sim/kernel.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
fm_status __real_fm_memory_arena_create(size_t bytes_max, fm_memory_arena **out);
void __real_fm_memory_arena_destroy(fm_memory_arena *arena);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
fm_status __wrap_fm_memory_arena_create(size_t bytes_max, fm_memory_arena **out);
void __wrap_fm_memory_arena_destroy(fm_memory_arena *arena);

// A block that the server holds. The table uses open addressing; size 0 marks an empty slot.
struct held {
    const void *block;
    size_t size;
    const void *caller; // NULL: a library
};

static struct {
    int64_t blocks, bytes, bytes_max, arenas;
    uint64_t failures;
    uint64_t fail_after, fail_count;
    struct held *held; // owned
    size_t held_capacity;
} memory = {.fail_after = SIM_MEMORY_PLENTY};

void *sim_own_allocate(size_t size)
{
    void *block = __real_malloc(size);
    FM_ASSERT(block != NULL);
    return block;
}

void sim_own_release(void *block)
{
    __real_free(block);
}

void sim_memory_fail(uint64_t after, uint64_t count)
{
    memory.fail_after = after;
    memory.fail_count = count;
}

uint64_t sim_memory_failures(void)
{
    return memory.failures;
}

int64_t sim_memory_blocks(void)
{
    return memory.blocks;
}

int64_t sim_memory_bytes(void)
{
    return memory.bytes;
}

int64_t sim_memory_bytes_max(void)
{
    return memory.bytes_max;
}

int64_t sim_memory_arenas(void)
{
    return memory.arenas;
}

bool sim_memory_fails(size_t size)
{
    if (sim_task_current() == NULL || memory.fail_after == SIM_MEMORY_PLENTY) {
        return false;
    }
    if (memory.fail_after > 0) {
        memory.fail_after--;
        return false;
    }
    if (--memory.fail_count == 0) {
        memory.fail_after = SIM_MEMORY_PLENTY;
    }
    memory.failures++;
    sim_note_fault(SIM_FAULT_NO_MEMORY);
    sim_trace("no memory for %zu bytes", size);
    return true;
}

// ---- blocks that are held ----------------------------------------------------------------------

// The slot of a block, or the empty slot where it would be.
static size_t place_of(const void *block)
{
    size_t at =
        (size_t)(((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u) & (memory.held_capacity - 1);
    while (memory.held[at].size != 0 && memory.held[at].block != block) {
        at = (at + 1) & (memory.held_capacity - 1);
    }
    return at;
}

static void grow_table(void)
{
    struct held *old = memory.held;
    size_t old_capacity = memory.held_capacity;
    memory.held_capacity = old_capacity == 0 ? 4096 : 2 * old_capacity;
    memory.held = __real_calloc(memory.held_capacity, sizeof *memory.held);
    FM_ASSERT(memory.held != NULL);
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].size != 0) {
            memory.held[place_of(old[i].block)] = old[i];
        }
    }
    __real_free(old);
}

// Blocks behind an emptied slot move up, unless their own slot is behind it.
static void empty_place(size_t at)
{
    memory.held[at].size = 0;
    for (size_t i = (at + 1) & (memory.held_capacity - 1); memory.held[i].size != 0;
         i = (i + 1) & (memory.held_capacity - 1)) {
        struct held moved = memory.held[i];
        memory.held[i].size = 0;
        memory.held[place_of(moved.block)] = moved;
    }
}

static void *count_in(void *block, const void *caller)
{
    if (block == NULL || sim_task_current() == NULL) {
        return block;
    }
    if (2 * (size_t)memory.blocks >= memory.held_capacity) {
        grow_table();
    }
    size_t size = malloc_usable_size(block);
    memory.held[place_of(block)] = (struct held){block, size == 0 ? 1 : size, caller};
    memory.blocks++;
    memory.bytes += (int64_t)size;
    memory.bytes_max = memory.bytes > memory.bytes_max ? memory.bytes : memory.bytes_max;
    return block;
}

static void count_out(const void *block)
{
    if (block == NULL || memory.held_capacity == 0) {
        return;
    }
    size_t at = place_of(block);
    if (memory.held[at].size != 0) { // else the server did not allocate it
        memory.blocks--;
        memory.bytes -= (int64_t)memory.held[at].size;
        empty_place(at);
    }
}

void sim_memory_describe(void)
{
    extern const char __executable_start;
    for (size_t i = 0; i < memory.held_capacity; i++) {
        if (memory.held[i].size != 0 && memory.held[i].caller == NULL) {
            fprintf(stderr, "%zu bytes, allocated by a library\n", memory.held[i].size);
        } else if (memory.held[i].size != 0) {
            fprintf(stderr, "%zu bytes, allocated at 0x%zx (addr2line -e sim)\n",
                    memory.held[i].size,
                    (size_t)((const char *)memory.held[i].caller - &__executable_start));
        }
    }
}

void *__wrap_malloc(size_t size)
{
    return sim_memory_fails(size) ? NULL
                                  : count_in(__real_malloc(size), __builtin_return_address(0));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return sim_memory_fails(count * size)
               ? NULL
               : count_in(__real_calloc(count, size), __builtin_return_address(0));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (sim_memory_fails(size)) {
        return NULL;
    }
    count_out(block);
    return count_in(__real_realloc(block, size), __builtin_return_address(0));
}

void __wrap_free(void *block)
{
    if (sim_task_current() != NULL && sim_bug_shows(SIM_BUG_LOST_BLOCK, 2000)) {
        return;
    }
    count_out(block);
    __real_free(block);
}

void *sim_counted_allocate(size_t size)
{
    return count_in(__real_malloc(size), NULL);
}

void *sim_counted_resize(void *block, size_t size)
{
    count_out(block);
    return count_in(__real_realloc(block, size), NULL);
}

void sim_counted_release(void *block)
{
    count_out(block);
    __real_free(block);
}

// ---- arenas of worlds --------------------------------------------------------------------------

#ifdef FOGMARCH_JEMALLOC
void *__real_mallocx(size_t size, int flags);
void *__wrap_mallocx(size_t size, int flags);

void *__wrap_mallocx(size_t size, int flags)
{
    return sim_memory_fails(size) ? NULL : __real_mallocx(size, flags);
}
#endif

fm_status __wrap_fm_memory_arena_create(size_t bytes_max, fm_memory_arena **out)
{
    fm_status status = __real_fm_memory_arena_create(bytes_max, out);
    memory.arenas += status == FM_OK;
    return status;
}

void __wrap_fm_memory_arena_destroy(fm_memory_arena *arena)
{
    memory.arenas -= arena != NULL;
    __real_fm_memory_arena_destroy(arena);
}
