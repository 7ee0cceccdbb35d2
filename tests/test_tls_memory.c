// tests/test_tls_memory.c: where OpenSSL's blocks lie.
//
// Goal: blocks are aligned, whole and apart from each other, keep their bytes when they change
// size, take no more than they should, and give their memory back.
// Method: random takes, changes and gives checked by a pattern in each block, also by many threads
// that give back what others took; the addresses of a chunk's worth of blocks.

#include "tests/support.h"

#include "core/base/random.h"
#include "server/wire/tls_memory.h"

#include <pthread.h>

#define BLOCK_COUNT 512
#define ROUNDS      20000
#define SIZE_OF_SSL 7608u // an SSL object of OpenSSL 3.0, for which the sizes were chosen

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char pattern;
};

static void check_pattern(const struct block *block, size_t size)
{
    assert_int_equal(block->bytes[0], block->pattern);
    assert_memory_equal(block->bytes, block->bytes + 1, size - 1);
}

static void fill(struct block *block, fm_random *random)
{
    assert_non_null(block->bytes);
    assert_int_equal((uintptr_t)block->bytes % 16, 0);
    block->pattern = (unsigned char)fm_random_below(random, 256);
    memset(block->bytes, block->pattern, block->size);
}

// Small ones, structures, and buffers, of which some are larger than any of the sizes.
static size_t random_size(fm_random *random)
{
    static const uint32_t bounds[] = {64, 1024, 8200, FM_TLS_BLOCK_MAX + 8, 200u << 10};
    uint32_t kind = fm_random_below(random, 20);
    return 1 + fm_random_below(random, bounds[kind < 4 ? kind : kind % 3]);
}

static void change(struct block *block, fm_random *random)
{
    size_t size = random_size(random);
    if (block->bytes == NULL) {
        *block = (struct block){.bytes = fm_tls_memory_take(size), .size = size};
        fill(block, random);
        return;
    }
    check_pattern(block, block->size);
    if (fm_random_below(random, 2) == 0) {
        fm_tls_memory_give(block->bytes);
        block->bytes = NULL;
        return;
    }
    block->bytes = fm_tls_memory_resize(block->bytes, size);
    check_pattern(block, size < block->size ? size : block->size);
    block->size = size;
    fill(block, random);
}

static void give_all(struct block *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_tls_memory_give(blocks[i].bytes);
    }
}

static void test_blocks_are_apart(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct block blocks[BLOCK_COUNT] = {0};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        change(&blocks[fm_random_below(&random, BLOCK_COUNT)], &random);
    }
    give_all(blocks, BLOCK_COUNT);
}

static void test_nothing(void **state)
{
    (void)state;
    assert_null(fm_tls_memory_take(0));
    assert_null(fm_tls_memory_take(SIZE_MAX));
    assert_null(fm_tls_memory_take(PTRDIFF_MAX));
    fm_tls_memory_give(NULL);
    char *block = fm_tls_memory_resize(NULL, 100);
    assert_non_null(block);
    block[99] = 7;
    assert_null(fm_tls_memory_resize(block, SIZE_MAX));
    assert_int_equal(block[99], 7); // as it was
    assert_null(fm_tls_memory_resize(block, 0));
}

// Eight SSL objects to a chunk, next to each other; the ninth begins another one.
static void test_blocks_fit(void **state)
{
    (void)state;
    char *blocks[64];
    uint32_t count = FM_COUNT_OF(blocks), next_to_each_other = 0;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = fm_tls_memory_take(SIZE_OF_SSL);
        assert_non_null(blocks[i]);
        next_to_each_other += i > 0 && blocks[i] == blocks[i - 1] + SIZE_OF_SSL + 8;
    }
    assert_in_range(next_to_each_other, count * 7 / 8 - 8, count);
    for (uint32_t i = 0; i < count; i++) {
        fm_tls_memory_give(blocks[i]);
    }
}

struct exchange {
    pthread_mutex_t lock;
    struct block blocks[BLOCK_COUNT]; // whoever comes next may give back what another one took
    uint64_t seed;
};

static void *take_part(void *context)
{
    struct exchange *exchange = context;
    pthread_mutex_lock(&exchange->lock);
    fm_random random = fm_random_seed(exchange->seed++);
    pthread_mutex_unlock(&exchange->lock);
    struct block mine = {0};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        change(&mine, &random);
        pthread_mutex_lock(&exchange->lock);
        struct block *slot = &exchange->blocks[fm_random_below(&random, BLOCK_COUNT)];
        struct block other = *slot;
        *slot = mine;
        pthread_mutex_unlock(&exchange->lock);
        mine = other;
    }
    fm_tls_memory_give(mine.bytes);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static struct exchange exchange = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[4];
    exchange.seed = fm_test_seed();
    for (size_t i = 0; i < FM_COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &exchange), 0);
    }
    for (size_t i = 0; i < FM_COUNT_OF(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    give_all(exchange.blocks, BLOCK_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_apart),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_blocks_fit),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
