// test_bucket_queue.c: the open list of D* Lite against a list that is searched
// from end to end.
//
// Cells are queued under keys far apart and close together, removed from anywhere, taken, and get
// larger keys while they are queued, as when agents move. The top is always the newest cell of the
// smallest key, and at the end no page of keys is left in use.

#include "core/search/bucket_queue.h"

#include "core/base/random.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

#define SIDE  24u // cells, and three pages
#define CELLS (SIDE * SIDE)

// The queue and its model, by cell number.
struct pair {
    fm_slab slab;
    fm_pages pages;
    fm_bucket_queue queue;
    uint32_t keys[CELLS];   // FM_BUCKET_KEY_NONE: not queued
    uint32_t wanted[CELLS]; // the key that it ought to have
    uint64_t since[CELLS];  // when it was queued
    uint64_t now;
    uint32_t count;
};

static const fm_bucket_node blank = {.links = {FM_NODE_NONE, FM_NODE_NONE}};

static uint32_t ref_of(struct pair *pair, uint32_t number)
{
    fm_cell cell = fm_cell_at(number % SIDE, number / SIDE);
    const fm_page *page = fm_pages_get(&pair->pages, cell, &pair->slab);
    assert_non_null(page);
    return fm_node_ref(page, fm_page_position(cell));
}

static uint32_t number_of(const struct pair *pair, uint32_t ref)
{
    fm_cell cell = fm_page_cell(fm_node_page(&pair->pages, ref), fm_node_position(ref));
    return fm_cell_y(cell) * SIDE + fm_cell_x(cell);
}

static fm_bucket_links *links_of(struct pair *pair, uint32_t number)
{
    return fm_bucket_links_of(&pair->pages, ref_of(pair, number));
}

static uint32_t wanted_key(const void *context, uint32_t ref)
{
    const struct pair *pair = context;
    return pair->wanted[number_of(pair, ref)];
}

// The newest of the smallest key; CELLS when there is none.
static uint32_t model_top(const struct pair *pair)
{
    uint32_t top = CELLS;
    for (uint32_t i = 0; i < CELLS; i++) {
        if (pair->keys[i] == FM_BUCKET_KEY_NONE) {
            continue;
        }
        if (top == CELLS || pair->keys[i] < pair->keys[top] ||
            (pair->keys[i] == pair->keys[top] && pair->since[i] > pair->since[top])) {
            top = i;
        }
    }
    return top;
}

static void put_in_model(struct pair *pair, uint32_t number, uint32_t key)
{
    pair->keys[number] = pair->wanted[number] = key;
    pair->since[number] = ++pair->now;
}

static void check_top(struct pair *pair)
{
    uint32_t top = model_top(pair);
    fm_bucket_top found = fm_bucket_queue_peek(&pair->queue);
    if (top == CELLS) {
        assert_int_equal(found.key, FM_BUCKET_KEY_NONE);
        return;
    }
    assert_int_equal(found.key, pair->keys[top]);
    assert_int_equal(number_of(pair, found.ref), top);
}

// Queues a cell, or removes one that is queued.
static void toggle(struct pair *pair, fm_random *random)
{
    static const uint32_t spans[] = {3, 60, 5000, 2000000000};
    uint32_t number = fm_random_below(random, CELLS);
    fm_bucket_links *links = links_of(pair, number);
    assert_true(fm_bucket_is_queued(links) == (pair->keys[number] != FM_BUCKET_KEY_NONE));
    if (fm_bucket_is_queued(links)) {
        fm_bucket_queue_remove(&pair->queue, &pair->pages, links, &pair->slab);
        pair->keys[number] = FM_BUCKET_KEY_NONE;
        pair->count -= 1;
        return;
    }
    uint32_t key = 100000 + fm_random_below(random, spans[fm_random_below(random, 4)]);
    assert_true(fm_bucket_queue_push(&pair->queue, &pair->pages, key, ref_of(pair, number), links,
                                     &pair->slab));
    put_in_model(pair, number, key);
    pair->count += 1;
}

// Renews keys at the top, a few of them, or takes it when its key holds.
static void take(struct pair *pair, fm_random *random)
{
    fm_bucket_top top = fm_bucket_queue_peek(&pair->queue);
    uint32_t number = model_top(pair), limit = 1 + fm_random_below(random, 6);
    if (number == CELLS) {
        return;
    }
    if (pair->wanted[number] == top.key) {
        fm_bucket_links *links = links_of(pair, number);
        fm_bucket_queue_take(&pair->queue, &pair->pages, &top, links, &pair->slab);
        pair->keys[number] = FM_BUCKET_KEY_NONE;
        pair->count -= 1;
        return;
    }
    fm_bucket_renewal done =
        fm_bucket_queue_renew(&pair->queue, &pair->pages, &top, pair->wanted[number], limit,
                              wanted_key, pair, &pair->slab);
    assert_false(done.failed);
    uint32_t moved = 0;
    while (number != CELLS && moved < limit && pair->keys[number] == top.key &&
           pair->wanted[number] != top.key) {
        put_in_model(pair, number, pair->wanted[number]);
        moved += 1;
        number = model_top(pair);
    }
    assert_int_equal(done.moved, moved);
}

static void test_top_is_the_newest_of_the_smallest_key(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    fm_slab_init(&pair->slab, &fm_memory_libc);
    fm_pages_init(&pair->pages, &blank, sizeof blank, &fm_memory_libc);
    fm_bucket_queue_init(&pair->queue, &fm_memory_libc);
    memset(pair->keys, 0xff, sizeof pair->keys);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t what = fm_random_below(&random, 8), number = fm_random_below(&random, CELLS);
        if (what < 3 + (i / 2000 & 1) * 2) {
            toggle(pair, &random);
        } else if (what < 7) {
            take(pair, &random);
        } else if (pair->keys[number] != FM_BUCKET_KEY_NONE) {
            pair->wanted[number] += fm_random_below(&random, 200);
        }
        check_top(pair);
    }
    while (pair->count > 0) {
        take(pair, &random);
        check_top(pair);
    }
    assert_int_equal(pair->queue.page_count, pair->queue.spare_count);
    fm_bucket_queue_fini(&pair->queue, &pair->slab);
    fm_pages_fini(&pair->pages, &pair->slab);
    fm_slab_fini(&pair->slab);
    free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_is_the_newest_of_the_smallest_key)};
    return cmocka_run_group_tests_name("bucket queue", tests, NULL, NULL);
}
