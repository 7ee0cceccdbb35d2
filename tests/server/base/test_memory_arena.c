// test_memory_arena.c: the memory of a world.
//
// Goal: blocks do not overlap and keep their contents, the count of bytes is exact at rest, the
// limit holds with many threads, and a destroyed arena returns its memory to the system. Method:
// random allocations and releases, checked by a pattern in each block; RSS from /proc over rounds
// of create, fill and destroy. RSS is only compared if jemalloc is the allocator: a sanitizer keeps
// freed blocks to catch uses of them.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "server/base/memory_arena.h"

#include <pthread.h>
#include <unistd.h>

#define ROUNDS      20
#define ARENA_BYTES (64u << 20)
#define BLOCK_COUNT 64

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char pattern;
};

static size_t rss_bytes(void)
{
    unsigned long pages, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

// Compares each byte with its neighbour in one call, which is quick even under ThreadSanitizer.
static void check_block(const struct block *block)
{
    assert_int_equal(block->bytes[0], block->pattern);
    assert_memory_equal(block->bytes, block->bytes + 1, block->size - 1);
}

// Small ones, slab chunks, and arrays that grow.
static size_t random_size(fm_random *random)
{
    static const uint32_t bounds[] = {64, 4096, 64u << 10, 1u << 20};
    return 1 + fm_random_below(random, bounds[fm_random_below(random, FM_COUNT_OF(bounds))]);
}

static void swap_block(const fm_memory *memory, struct block *block, fm_random *random)
{
    if (block->bytes != NULL) {
        check_block(block);
        fm_memory_release(memory, block->bytes, block->size);
    }
    block->size = random_size(random);
    block->pattern = (unsigned char)fm_random_below(random, 256);
    block->bytes = fm_memory_allocate(memory, block->size);
    assert_non_null(block->bytes);
    assert_int_equal((uintptr_t)block->bytes % (block->size < 16 ? 8 : 16), 0);
    memset(block->bytes, block->pattern, block->size);
}

static void test_blocks_are_apart(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_memory_arena *arena;
    struct block blocks[BLOCK_COUNT] = {0};
    assert_int_equal(fm_memory_arena_create(SIZE_MAX, &arena), FM_OK);
    const fm_memory *memory = fm_memory_arena_memory(arena);
    assert_int_equal(fm_memory_arena_bytes(arena), 0);
    for (int i = 0; i < 2000; i++) {
        swap_block(memory, &blocks[fm_random_below(&random, BLOCK_COUNT)], &random);
    }
    size_t asked = 0;
    for (int i = 0; i < BLOCK_COUNT; i++) {
        asked += blocks[i].bytes != NULL ? blocks[i].size : 0;
    }
    assert_in_range(fm_memory_arena_bytes(arena), asked, 2 * asked);
    for (int i = 0; i < BLOCK_COUNT; i++) {
        fm_memory_release(memory, blocks[i].bytes, blocks[i].size);
    }
    assert_int_equal(fm_memory_arena_bytes(arena), 0);
    fm_memory_arena_destroy(arena);
}

static void test_limit(void **state)
{
    (void)state;
    fm_memory_arena *arena;
    assert_int_equal(fm_memory_arena_create(1u << 20, &arena), FM_OK);
    const fm_memory *memory = fm_memory_arena_memory(arena);
    assert_null(fm_memory_allocate(memory, (1u << 20) + 1));
    assert_null(fm_memory_allocate(memory, SIZE_MAX));
    assert_null(fm_memory_allocate(memory, SIZE_MAX / 2));
    assert_int_equal(fm_memory_arena_bytes(arena), 0);
    void *block = fm_memory_allocate(memory, 1u << 20);
    assert_non_null(block);
    assert_null(fm_memory_allocate(memory, 1));
    fm_memory_release(memory, block, 1u << 20);
    block = fm_memory_allocate(memory, 1);
    assert_non_null(block);
    fm_memory_arena_destroy(arena); // while the block is still allocated
}

struct worker {
    const fm_memory *memory;
    uint64_t seed;
};

static void *take_and_give(void *context)
{
    struct worker *worker = context;
    fm_random random = fm_random_seed(worker->seed);
    struct block blocks[8] = {0};
    for (int i = 0; i < 1000; i++) {
        swap_block(worker->memory, &blocks[fm_random_below(&random, FM_COUNT_OF(blocks))], &random);
    }
    for (size_t i = 0; i < FM_COUNT_OF(blocks); i += 2) { // the others go with the arena
        fm_memory_release(worker->memory, blocks[i].bytes, blocks[i].size);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    fm_memory_arena *arena;
    pthread_t threads[4];
    struct worker workers[FM_COUNT_OF(threads)];
    assert_int_equal(fm_memory_arena_create(SIZE_MAX, &arena), FM_OK);
    for (size_t i = 0; i < FM_COUNT_OF(threads); i++) {
        workers[i] = (struct worker){fm_memory_arena_memory(arena), fm_test_seed() + i};
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &workers[i]), 0);
    }
    for (size_t i = 0; i < FM_COUNT_OF(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    fm_memory_arena_destroy(arena);
}

// Fills an arena and destroys it, with every block still allocated.
static void fill_and_destroy(fm_random *random)
{
    fm_memory_arena *arena;
    assert_int_equal(fm_memory_arena_create(SIZE_MAX, &arena), FM_OK);
    const fm_memory *memory = fm_memory_arena_memory(arena);
    while (fm_memory_arena_bytes(arena) < ARENA_BYTES) {
        size_t size = random_size(random);
        void *block = fm_memory_allocate(memory, size);
        assert_non_null(block);
        memset(block, 1, size);
    }
    fm_memory_arena_destroy(arena);
}

static void test_destroyed_arenas_give_memory_back(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fill_and_destroy(&random); // after the first one jemalloc has what it keeps for itself
    size_t before = rss_bytes();
    for (int i = 0; i < ROUNDS; i++) {
        fill_and_destroy(&random);
    }
    size_t after = rss_bytes();
    print_message("RSS before %zu KiB, after %d rounds of %u MiB %zu KiB\n", before >> 10, ROUNDS,
                  ARENA_BYTES >> 20, after >> 10);
#ifdef FOGMARCH_JEMALLOC
    assert_in_range(after, 0, before + ARENA_BYTES / 16);
#endif
}

static void test_destroy_null(void **state)
{
    (void)state;
    fm_memory_arena_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_apart),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_destroyed_arenas_give_memory_back),
        cmocka_unit_test(test_destroy_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
