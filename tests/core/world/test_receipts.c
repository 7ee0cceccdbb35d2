// test_receipts.c: receipts of commands with ids.
//
// Goal    a seat's latest commands are found, and older ones are dropped at the limits and not
//         before; no seat loses receipts because of another one, except, when there are too many
//         seats, the one that was silent longest.
// Method  compared with a list of all receipts that were added.

#include "tests/support/support.h"

#include "core/world/receipts.h"

static void add(fm_receipts *receipts, uint32_t seat, uint64_t id, uint32_t agent_count)
{
    fm_receipt receipt = {.id = id, .request = id * 3, .agent_count = agent_count};
    assert_int_equal(
        fm_receipts_reserve(receipts, &fm_memory_libc, seat, agent_count, &receipt.agents), FM_OK);
    for (uint32_t i = 0; i < agent_count; i++) {
        receipt.agents[i].id.index1 = i + 1;
    }
    fm_receipts_add(receipts, &fm_memory_libc, seat, &receipt);
}

static void the_last_ones_of_a_seat_are_kept(void **state)
{
    (void)state;
    fm_receipts receipts = {0};
    add(&receipts, 7, 1, 0);
    for (uint64_t id = 1; id <= 3 * FM_RECEIPTS_OF_SEAT; id++) {
        assert_null(fm_receipts_find(&receipts, 1, id));
        add(&receipts, 1, id, (uint32_t)id % 3);
        uint64_t oldest = id > FM_RECEIPTS_OF_SEAT ? id - FM_RECEIPTS_OF_SEAT + 1 : 1;
        assert_int_equal(fm_receipts_find(&receipts, 1, oldest)->request, oldest * 3);
        assert_int_equal(fm_receipts_find(&receipts, 1, id)->agent_count, id % 3);
        assert_true(oldest == 1 || fm_receipts_find(&receipts, 1, oldest - 1) == NULL);
    }
    assert_non_null(fm_receipts_find(&receipts, 7, 1));
    assert_null(fm_receipts_find(&receipts, 7, 2));
    fm_receipts_fini(&receipts, &fm_memory_libc);
}

static void many_agents_push_out_older_receipts(void **state)
{
    (void)state;
    fm_receipts receipts = {0};
    for (uint64_t id = 1; id <= 8; id++) {
        add(&receipts, 1, id, FM_RECEIPTS_AGENTS_MAX / 4);
        add(&receipts, 2, id, 1);
    }
    assert_null(fm_receipts_find(&receipts, 1, 4));
    assert_non_null(fm_receipts_find(&receipts, 1, 5));
    add(&receipts, 1, 9, 2 * FM_RECEIPTS_AGENTS_MAX); // one is kept, however large
    assert_null(fm_receipts_find(&receipts, 1, 8));
    assert_int_equal(fm_receipts_find(&receipts, 1, 9)->agent_count, 2 * FM_RECEIPTS_AGENTS_MAX);
    assert_non_null(fm_receipts_find(&receipts, 2, 1));
    fm_receipts_fini(&receipts, &fm_memory_libc);
}

// Room reserved for a command that is then refused pushes out no receipt: no journal has it.
static void the_most_silent_of_too_many_seats_goes(void **state)
{
    (void)state;
    fm_receipts receipts = {0};
    for (uint32_t seat = 0; seat < FM_RECEIPTS_SEATS_MAX; seat++) {
        add(&receipts, seat, 1, 1);
    }
    add(&receipts, 0, 2, 0);
    for (uint32_t seat = 5000; seat < 5100; seat++) {
        fm_receipt_agent *agents;
        assert_int_equal(fm_receipts_reserve(&receipts, &fm_memory_libc, seat, 0, &agents), FM_OK);
    }
    for (uint32_t seat = 0; seat < FM_RECEIPTS_SEATS_MAX; seat++) {
        assert_non_null(fm_receipts_find(&receipts, seat, 1));
    }
    add(&receipts, 6000, 1, 0);
    assert_null(fm_receipts_find(&receipts, 1, 1));
    assert_non_null(fm_receipts_find(&receipts, 0, 1));
    assert_non_null(fm_receipts_find(&receipts, 2, 1));
    assert_non_null(fm_receipts_find(&receipts, 6000, 1));
    fm_receipts_fini(&receipts, &fm_memory_libc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_ones_of_a_seat_are_kept),
        cmocka_unit_test(many_agents_push_out_older_receipts),
        cmocka_unit_test(the_most_silent_of_too_many_seats_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
