// test_slab.c: a slab hands out blocks that do not overlap, takes little memory for few blocks and
// large chunks for many, and gives all of it back.
//
// Method: blocks of several sizes, filled with their number, from memory that counts bytes and
// chunks; then from memory that ends after so many chunks.

#include "core/base/slab.h"
#include "tests/support/support.h"

#define BLOCKS 2000u

struct count {
    size_t bytes, largest;
    uint32_t chunks, left;
};

static void *allocate(void *context, size_t size)
{
    struct count *count = context;
    if (count->left == 0) {
        return NULL;
    }
    count->left -= 1;
    count->chunks += 1;
    count->bytes += size;
    count->largest = size > count->largest ? size : count->largest;
    return malloc(size);
}

static void release(void *context, void *block, size_t size)
{
    struct count *count = context;
    count->bytes -= size;
    free(block);
}

static void *take(fm_slab *slab, size_t size, uint32_t number)
{
    unsigned char *block = fm_slab_take(slab, size);
    if (block != NULL) {
        assert_int_equal((uintptr_t)block % FM_SLAB_STEP, 0);
        memset(block, (int)(number % 251), size);
    }
    return block;
}

static void check_size(size_t size)
{
    static void *blocks[BLOCKS];
    struct count count = {.left = UINT32_MAX};
    const fm_memory memory = {.allocate = allocate, .release = release, .context = &count};
    fm_slab slab;
    fm_slab_init(&slab, &memory);
    assert_int_equal(count.bytes, 0);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = take(&slab, size, i);
        assert_non_null(blocks[i]);
        // Never much more than is in use, and so few chunks that they cost no time.
        size_t used = (i + 1) * ((size + FM_SLAB_STEP - 1) / FM_SLAB_STEP * FM_SLAB_STEP);
        assert_true(count.bytes <= 4 * used + 2 * FM_SLAB_CHUNK_MIN ||
                    count.bytes <= used + used / 4 + FM_SLAB_CHUNK_MAX);
    }
    assert_true(count.largest <= FM_SLAB_CHUNK_MAX);
    assert_true(count.chunks <= count.bytes / FM_SLAB_CHUNK_MAX + 8);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const unsigned char *bytes = blocks[i];
        assert_true(bytes[0] == i % 251 && bytes[size - 1] == i % 251);
        fm_slab_give(&slab, blocks[i], size);
    }
    uint32_t chunks = count.chunks;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_non_null(fm_slab_take(&slab, size));
    }
    assert_int_equal(count.chunks, chunks); // those that were given back serve again
    fm_slab_fini(&slab);
    assert_int_equal(count.bytes, 0);
}

static void few_take_little_and_many_take_large_chunks(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 64, 65, 1024, 2112, 4096, 5000, FM_SLAB_BLOCK_MAX};
    for (size_t i = 0; i < FM_COUNT_OF(sizes); i++) {
        check_size(sizes[i]);
    }
}

static void memory_that_ends_is_an_answer(void **state)
{
    (void)state;
    for (uint32_t chunks = 0; chunks < 8; chunks++) {
        struct count count = {.left = chunks};
        const fm_memory memory = {.allocate = allocate, .release = release, .context = &count};
        fm_slab slab;
        fm_slab_init(&slab, &memory);
        uint32_t taken = 0;
        while (take(&slab, 640, taken) != NULL) {
            taken += 1;
        }
        assert_int_equal(count.chunks, chunks);
        assert_int_equal(taken, slab.carved_counts[640 / FM_SLAB_STEP - 1]);
        assert_true(taken >= 3 * chunks);
        count.left = 1;
        assert_non_null(take(&slab, 640, 0)); // it goes on once there is memory
        fm_slab_fini(&slab);
        assert_int_equal(count.bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_take_little_and_many_take_large_chunks),
        cmocka_unit_test(memory_that_ends_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
