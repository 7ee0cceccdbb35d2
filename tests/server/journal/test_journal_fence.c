// Journals behind a fence: what a node may publish of a world that another node owns.
//
// Goal: as soon as the fence says that a world is lost, nothing of it is published or written,
// whatever waits, including its end; and the journal still ends.
//
// Method: a fence that says what the test wants; batches that hold something, with and without
// rows.

#include "tests/server/journal/written.h"
#include "tests/support/support.h"

struct fence {
    fm_journal_fence table;
    fm_fence_verdict append, standing, end;
    fm_journal_batch *first, *last;
    uint32_t begins, appends, ends;
    uint32_t requests;  // that the next append takes before its last one
    bool is_unanswered; // the request under way
    bool was_left;
};

static fm_status create(void *context, const fm_journal_head *head, const fm_journal_world *world,
                        char *error)
{
    (void)context;
    (void)head;
    (void)world;
    (void)error;
    return FM_OK;
}

static void begin(void *context, uint32_t lane, uint64_t world, fm_journal_batch *first)
{
    struct fence *fence = context;
    assert_int_equal(lane, 0);
    assert_int_equal(world, 7);
    fence->first = fence->last = first;
    fence->begins++;
    while (fence->last->next != NULL) {
        fence->last = fence->last->next;
    }
}

static fm_fence_verdict finish(void *context, uint32_t lane, char *error)
{
    (void)lane;
    (void)error;
    struct fence *fence = context;
    if (fence->requests > 0) {
        fence->requests--;
        return FM_FENCE_GOING_ON;
    }
    fence->appends++;
    for (fm_journal_batch *batch = fence->first; batch != NULL; batch = batch->next) {
        batch->is_committed = fence->append == FM_FENCE_COMMITTED;
        if (batch == fence->last) {
            break;
        }
    }
    return fence->append;
}

// A writer in a hurry waits for the answer.
static void wait_for(void *context, bool under_way[FM_FENCE_LANES], uint64_t until_ns)
{
    struct fence *fence = context;
    fence->is_unanswered &= until_ns != UINT64_MAX;
    under_way[0] = under_way[0] && !fence->is_unanswered;
    for (uint32_t lane = 1; lane < FM_FENCE_LANES; lane++) {
        assert_false(under_way[lane]); // there is one world
    }
}

static fm_fence_verdict check(void *context, uint64_t world)
{
    assert_int_equal(world, 7);
    return ((const struct fence *)context)->standing;
}

static fm_fence_verdict end(void *context, uint64_t world, bool is_left, char *error)
{
    (void)error;
    struct fence *fence = context;
    assert_int_equal(world, 7);
    fence->ends++;
    fence->was_left = is_left;
    return is_left ? FM_FENCE_COMMITTED : fence->end;
}

static struct fm_written *start(struct fence *fence)
{
    *fence = (struct fence){.table = {.context = fence,
                                      .create = create,
                                      .begin = begin,
                                      .finish = finish,
                                      .wait = wait_for,
                                      .check = check,
                                      .end = end}};
    struct fm_written *written = fm_written_create();
    fm_journal_options options = fm_written_options(written);
    options.fence = &fence->table;
    fm_written_start(written, &options);
    return written;
}

// An event that waits for the rows before it, such as the answer to a query.
static void submit(struct fm_written *written, bool is_last, bool is_left)
{
    fm_journal_batch *batch = fm_journal_batch_create();
    assert_non_null(batch);
    batch->is_last = is_last;
    batch->is_left = is_left;
    batch->held_first = (void *)(uintptr_t)++written->submitted;
    fm_journal *journal = written->journal;
    written->journal = is_last ? NULL : journal;
    fm_journal_submit(journal, batch);
}

static void test_what_is_lost_is_not_told(void **state)
{
    (void)state;
    struct fence fence;
    struct fm_written *written = start(&fence);
    fm_written_tick(written, false);
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 1);
    assert_int_equal(written->given_up, 0);
    fence.append = FM_FENCE_WAITING;
    fm_written_tick(written, false);
    submit(written, false, false);
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 1);
    fence.append = FM_FENCE_LOST;
    fm_journals_turn(written->journals);
    assert_int_equal(written->given_up, 2);
    assert_true(fm_journal_is_lost(written->journal));
    assert_true(fm_journal_is_in_doubt(written->journal));
    fm_written_tick(written, false);
    uint32_t appends = fence.appends;
    fm_journals_turn(written->journals);
    assert_int_equal(written->given_up, 3);
    assert_int_equal(fence.appends, appends);
    submit(written, true, false); // destroyed, as far as this node knows
    fm_journals_turn(written->journals);
    assert_int_equal(written->given_up, 4);
    assert_int_equal(fence.ends, 1);
    assert_true(fence.was_left);
    fm_written_destroy(written);
}

// The directory says so before the next append does: the world is dropped while its last rows wait.
static void test_a_world_that_is_lost_while_it_ends(void **state)
{
    (void)state;
    for (uint32_t is_left = 0; is_left < 2; is_left++) {
        struct fence fence;
        struct fm_written *written = start(&fence);
        fence.append = FM_FENCE_LOST;
        fence.standing = is_left == 0 ? FM_FENCE_COMMITTED : FM_FENCE_LOST;
        fm_written_tick(written, false);
        submit(written, true, is_left != 0);
        fm_journals_turn(written->journals);
        assert_int_equal(written->released, 2);
        assert_int_equal(written->given_up, 2);
        assert_int_equal(fence.ends, 1);
        assert_true(fence.was_left);
        fm_written_destroy(written);
    }
}

static void test_a_world_without_news(void **state)
{
    (void)state;
    struct fence fence;
    struct fm_written *written = start(&fence);
    fence.standing = FM_FENCE_WAITING;
    submit(written, false, false);
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 0); // the lease may be over
    assert_true(fm_journal_is_in_doubt(written->journal));
    fence.standing = FM_FENCE_COMMITTED;
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 1);
    assert_int_equal(written->given_up, 0);
    fence.standing = FM_FENCE_WAITING;
    submit(written, false, false);
    fm_journals_turn(written->journals);
    fence.standing = FM_FENCE_LOST; // it was
    fm_journals_turn(written->journals);
    assert_int_equal(written->given_up, 1);
    assert_int_equal(fence.appends, 0);
    submit(written, true, true);
    fm_journals_turn(written->journals);
    assert_int_equal(fence.ends, 1);
    fm_written_destroy(written);
}

// Its client hears of the end of a world when its log is gone, and not before.
static void test_a_world_is_destroyed_in_the_shared_log_first(void **state)
{
    (void)state;
    for (uint32_t is_lost = 0; is_lost < 2; is_lost++) {
        struct fence fence;
        struct fm_written *written = start(&fence);
        fence.append = fence.end = FM_FENCE_WAITING;
        fm_written_tick(written, false); // which is gone with its world: it need not be committed
        submit(written, true, false);
        fm_journals_turn(written->journals);
        assert_true(fm_journals_turn(written->journals) < UINT64_MAX); // tried again
        assert_int_equal(fence.ends, 2);
        assert_int_equal(written->released, 0);
        assert_int_equal(written->given_up, 0);
        fence.end = is_lost == 0 ? FM_FENCE_COMMITTED : FM_FENCE_LOST; // another node was faster
        fm_journals_turn(written->journals);
        assert_int_equal(written->released, 2);
        assert_int_equal(written->given_up, is_lost == 0 ? 0 : 2);
        assert_int_equal(fence.ends, 3 + is_lost);
        assert_int_equal(fence.was_left, is_lost != 0);
        fm_written_destroy(written);
    }
}

// The writer stops, and etcd is silent: nobody knows.
static void test_it_is_not_known_whether_a_world_is_destroyed(void **state)
{
    (void)state;
    for (uint32_t is_left = 0; is_left < 2; is_left++) {
        struct fence fence;
        struct fm_written *written = start(&fence);
        fence.append = fence.end = FM_FENCE_WAITING;
        fm_written_tick(written, false);
        submit(written, true, is_left != 0);
        fm_journals_turn(written->journals);
        fm_journals_stop(written->journals);
        assert_int_equal(written->released, 2);
        assert_int_equal(written->given_up, 2);
        fm_written_destroy(written);
    }
}

// What the log has is published, whatever waits behind it.
static void test_an_append_that_takes_long(void **state)
{
    (void)state;
    struct fence fence;
    struct fm_written *written = start(&fence);
    fence.is_unanswered = true;
    fm_written_tick(written, false);
    assert_int_equal(fm_journals_turn(written->journals), 0); // it looks again at once
    fm_written_tick(written, false);
    assert_int_equal(fm_journals_turn(written->journals), 0);
    assert_int_equal(fence.begins, 1);
    assert_int_equal(written->released, 0);
    fence.is_unanswered = false;
    fm_journals_turn(written->journals);
    assert_int_equal(fence.appends, 1);
    assert_int_equal(written->released, 1);
    fm_journals_turn(written->journals);
    assert_int_equal(fence.begins, 2);
    assert_int_equal(written->released, 2);
    fm_written_destroy(written);
}

// As with a keyframe, whose parts are sent before the record.
static void test_an_append_of_several_requests(void **state)
{
    (void)state;
    struct fence fence;
    struct fm_written *written = start(&fence);
    fence.requests = 2;
    fm_written_tick(written, true);
    assert_int_equal(fm_journals_turn(written->journals), 0);
    assert_int_equal(fm_journals_turn(written->journals), 0);
    assert_int_equal(written->released, 0);
    fm_journals_turn(written->journals);
    assert_int_equal(fence.begins, 1);
    assert_int_equal(written->released, 1);
    fence.requests = 3;
    fm_written_tick(written, true);
    fm_journals_flush(written->journals); // all of them
    assert_int_equal(written->released, 2);
    fm_written_destroy(written);
}

// Its batches are in use until the append has ended.
static void test_a_world_that_is_lost_or_ends_during_an_append(void **state)
{
    (void)state;
    for (uint32_t is_lost = 0; is_lost < 2; is_lost++) {
        struct fence fence;
        struct fm_written *written = start(&fence);
        fence.is_unanswered = true;
        fm_written_tick(written, false);
        fm_journals_turn(written->journals);
        if (is_lost) {
            fence.standing = FM_FENCE_LOST;
        } else {
            submit(written, true, false);
        }
        fm_journals_turn(written->journals);
        assert_int_equal(written->released, 0);
        assert_int_equal(fence.ends, 0);
        fence.is_unanswered = false;
        fence.append = is_lost ? FM_FENCE_LOST : FM_FENCE_COMMITTED;
        fm_journals_turn(written->journals);
        assert_int_equal(written->released, is_lost ? 1 : 2);
        assert_int_equal(written->given_up, is_lost ? 1 : 0);
        fm_written_destroy(written);
    }
}

static void test_a_log_that_is_slow(void **state)
{
    (void)state;
    struct fence fence;
    struct fm_written *written = start(&fence);
    fence.append = FM_FENCE_WAITING;
    for (uint32_t i = 0; i <= FM_JOURNAL_TICKS_SLOW; i++) {
        assert_false(fm_journal_is_slow(written->journal));
        fm_written_tick(written, false);
        fm_journals_turn(written->journals);
    }
    assert_true(fm_journal_is_slow(written->journal));
    fence.append = FM_FENCE_COMMITTED;
    fm_journals_turn(written->journals);
    assert_false(fm_journal_is_slow(written->journal));
    fm_written_destroy(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_lost_is_not_told),
        cmocka_unit_test(test_a_world_that_is_lost_while_it_ends),
        cmocka_unit_test(test_a_world_without_news),
        cmocka_unit_test(test_a_world_is_destroyed_in_the_shared_log_first),
        cmocka_unit_test(test_it_is_not_known_whether_a_world_is_destroyed),
        cmocka_unit_test(test_an_append_that_takes_long),
        cmocka_unit_test(test_an_append_of_several_requests),
        cmocka_unit_test(test_a_world_that_is_lost_or_ends_during_an_append),
        cmocka_unit_test(test_a_log_that_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
