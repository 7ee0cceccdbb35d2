// test_shipment.c: what a server sends to its standby.
//
// Goal: a packed shipment is read again as it was; the reader refuses shipments that are cut short
// or damaged, and does nothing else.
//
// Method: one shipment of each kind, cut at every length and with random bytes changed.

#include "server/journal/shipment.h"

#include "core/base/random.h"
#include "server/base/config.h"
#include "tests/support/support.h"

#include <stdlib.h>

static const uint8_t part[] = {1, 2, 3, 4, 5};

static fm_shipment example(fm_shipment_kind kind)
{
    fm_shipment shipment = {
        .kind = kind,
        .place = {.world = 7, .position = 99, .link.bytes = {1, 2, 3}},
        .keyframe = {.tick = 50,
                     .digest = 0x123456789,
                     .size = 4000,
                     .pace = {.paused = true, .tick_hz = 20, .budget_ms = 7.5}},
        .name = "arena",
        .overload = FM_OVERLOAD_SKIP,
        .timeline = 3,
        .bases = {12, 34},
        .base_count = 2,
        .offset = 512,
        .bytes = part,
        .size = sizeof part,
        .is_kept = true,
        .epoch = 4,
        .key = {9, 8, 7},
        .world_last = 70,
        .token_last = 11,
    };
    return shipment;
}

static fm_writer packed(fm_shipment_kind kind)
{
    const fm_shipment shipment = example(kind);
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&writer, &shipment);
    assert_false(writer.failed);
    return writer;
}

static bool has_place(fm_shipment_kind kind)
{
    return kind == FM_SHIPMENT_WORLD || kind == FM_SHIPMENT_KEYFRAME || kind == FM_SHIPMENT_ROWS;
}

static bool has_bytes(fm_shipment_kind kind)
{
    return kind == FM_SHIPMENT_PART || kind == FM_SHIPMENT_ROWS;
}

static void test_all_kinds_come_back(void **state)
{
    (void)state;
    for (fm_shipment_kind kind = FM_SHIPMENT_LEDGER; kind <= FM_SHIPMENT_BEAT; kind++) {
        fm_writer writer = packed(kind);
        fm_reader reader = fm_reader_init(writer.data, writer.size, NULL);
        const fm_shipment wanted = example(kind);
        fm_shipment got;
        assert_int_equal(fm_shipment_take(&reader, &got), FM_OK);
        assert_int_equal(got.kind, kind);
        if (has_place(kind)) {
            assert_memory_equal(&got.place, &wanted.place, sizeof got.place);
        }
        if (has_bytes(kind)) {
            assert_int_equal(got.size, sizeof part);
            assert_memory_equal(got.bytes, part, sizeof part);
        }
        if (kind == FM_SHIPMENT_WORLD) {
            assert_string_equal(got.name, "arena");
            assert_int_equal(got.overload, wanted.overload);
            assert_int_equal(got.timeline, wanted.timeline);
            assert_int_equal(got.base_count, 2);
            assert_memory_equal(got.bases, wanted.bases, sizeof got.bases);
        }
        if (kind == FM_SHIPMENT_WORLD || kind == FM_SHIPMENT_KEYFRAME) {
            assert_int_equal(got.keyframe.size, wanted.keyframe.size);
            assert_int_equal(got.keyframe.digest, wanted.keyframe.digest);
            assert_true(got.keyframe.pace.paused);
            assert_true(got.keyframe.pace.budget_ms == 7.5);
        }
        if (kind == FM_SHIPMENT_LEDGER) {
            assert_int_equal(got.epoch, 4);
            assert_memory_equal(got.key, wanted.key, sizeof got.key);
            assert_int_equal(got.world_last, 70);
            assert_int_equal(got.token_last, 11);
        }
        fm_writer_fini(&writer);
    }
}

static void test_what_is_cut_is_refused(void **state)
{
    (void)state;
    for (fm_shipment_kind kind = FM_SHIPMENT_LEDGER; kind <= FM_SHIPMENT_END; kind++) {
        fm_writer writer = packed(kind);
        size_t rest = has_bytes(kind) ? sizeof part - 1 : 0; // a shorter part is valid, too
        for (size_t size = 0; size < writer.size - rest; size++) {
            fm_reader reader = fm_reader_init(writer.data, size, NULL);
            fm_shipment got;
            assert_int_equal(fm_shipment_take(&reader, &got), FM_ERR_BAD_FORMAT);
        }
        fm_writer_fini(&writer);
    }
}

// An accepted shipment could have been sent: packed again it is the same.
static void test_what_is_changed_is_refused_or_another(void **state)
{
    (void)state;
    uint64_t seed = fm_test_seed();
    fm_random random = fm_random_seed(seed);
    for (uint32_t round = 0; round < 20000; round++) {
        fm_shipment_kind kind =
            FM_SHIPMENT_LEDGER + (fm_shipment_kind)fm_random_below(&random, FM_SHIPMENT_BEAT);
        fm_writer writer = packed(kind), again = fm_writer_init(&fm_memory_libc);
        for (uint32_t i = 0; i < 1 + fm_random_below(&random, 3); i++) {
            writer.data[fm_random_below(&random, (uint32_t)writer.size)] ^=
                (uint8_t)(1 + fm_random_below(&random, 255));
        }
        fm_reader reader = fm_reader_init(writer.data, writer.size, NULL);
        fm_shipment got;
        if (fm_shipment_take(&reader, &got) == FM_OK) {
            assert_true(strchr(got.name, '/') == NULL && got.name[0] != '.');
            fm_shipment_put(&again, &got);
            if (got.kind != FM_SHIPMENT_LEDGER) { // tokens follow it
                assert_int_equal(again.size, writer.size);
            }
            assert_memory_equal(again.data, writer.data, again.size);
        }
        fm_writer_fini(&writer);
        fm_writer_fini(&again);
    }
}

static void test_the_sum_tells(void **state)
{
    (void)state;
    fm_writer writer = packed(FM_SHIPMENT_LEDGER);
    uint64_t sum = fm_shipment_sum(writer.data, writer.size);
    size_t whole = writer.size, size;
    fm_writer_put_u64(&writer, sum);
    size = writer.size;
    assert_true(fm_shipment_is_whole(writer.data, &size));
    assert_int_equal(size, whole);
    for (size_t i = 0; i < writer.size; i++) {
        writer.data[i] ^= 1;
        size = writer.size;
        assert_false(fm_shipment_is_whole(writer.data, &size));
        writer.data[i] ^= 1;
        size = i;
        assert_false(fm_shipment_is_whole(writer.data, &size));
    }
    fm_writer_fini(&writer);
}

static void test_names_do_not_leave_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"", "../x", "a/b", ".hidden"};
    for (size_t i = 0; i < FM_COUNT_OF(names); i++) {
        fm_shipment shipment = example(FM_SHIPMENT_WORLD), got;
        snprintf(shipment.name, sizeof shipment.name, "%s", names[i]);
        fm_writer writer = fm_writer_init(&fm_memory_libc);
        fm_shipment_put(&writer, &shipment);
        fm_reader reader = fm_reader_init(writer.data, writer.size, NULL);
        assert_int_equal(fm_shipment_take(&reader, &got), FM_ERR_BAD_FORMAT);
        fm_writer_fini(&writer);
    }
}

static void test_tokens_come_back(void **state)
{
    (void)state;
    const fm_grant seat = {.hash = {1, 2, 3},
                           .role = FM_ROLE_PLAYER,
                           .number = 5,
                           .seat = {.number = 7, .team = 2},
                           .expires_s = 1000,
                           .used_s = 900};
    fm_grant no_seat = seat, got;
    no_seat.role = FM_ROLE_ADMIN; // an admin has no seat
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_shipment_put_grant(&writer, &seat);
    size_t size = writer.size;
    fm_shipment_put_grant(&writer, &no_seat);
    fm_reader reader = fm_reader_init(writer.data, writer.size, NULL);
    assert_int_equal(fm_shipment_take_grant(&reader, &got), FM_OK);
    assert_memory_equal(got.hash, seat.hash, sizeof got.hash);
    assert_int_equal(got.role, seat.role);
    assert_int_equal(got.number, 5);
    assert_int_equal(got.seat.number, 7);
    assert_int_equal(got.seat.team, 2);
    assert_int_equal(got.expires_s, 1000);
    assert_int_equal(got.used_s, 900);
    assert_int_equal(fm_shipment_take_grant(&reader, &got), FM_ERR_BAD_FORMAT);
    for (size_t cut = 0; cut < size; cut++) {
        reader = fm_reader_init(writer.data, cut, NULL);
        assert_int_equal(fm_shipment_take_grant(&reader, &got), FM_ERR_BAD_FORMAT);
    }
    fm_writer_fini(&writer);
}

static void test_places_and_rows_come_back(void **state)
{
    (void)state;
    const fm_shipment_place place = {.world = 3, .position = 8, .link.bytes = {4, 5}};
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_shipment_put_place(&writer, &place);
    fm_shipment_put_place(&writer, &place);
    fm_reader reader = fm_reader_init(writer.data, writer.size, NULL);
    fm_shipment_place got;
    assert_true(fm_shipment_take_place(&reader, &got));
    assert_memory_equal(&got, &place, sizeof got);
    assert_true(fm_shipment_take_place(&reader, &got));
    assert_false(fm_shipment_take_place(&reader, &got));
    assert_false(reader.failed);
    reader = fm_reader_init(writer.data, writer.size - 1, NULL);
    assert_true(fm_shipment_take_place(&reader, &got));
    assert_false(fm_shipment_take_place(&reader, &got));
    assert_true(reader.failed);
    fm_writer_clear(&writer);
    fm_journal_row row;
    fm_journal_rows_put(&writer, FM_JOURNAL_TICK, 12, part, sizeof part);
    fm_journal_rows_put(&writer, FM_JOURNAL_KEYFRAME, 12, NULL, 0);
    reader = fm_reader_init(writer.data, writer.size, NULL);
    assert_true(fm_journal_rows_take(&reader, &row));
    assert_int_equal(row.kind, FM_JOURNAL_TICK);
    assert_int_equal(row.tick, 12);
    assert_memory_equal(row.bytes, part, sizeof part);
    assert_true(fm_journal_rows_take(&reader, &row));
    assert_int_equal(row.kind, FM_JOURNAL_KEYFRAME);
    assert_false(fm_journal_rows_take(&reader, &row));
    assert_false(reader.failed);
    writer.data[0] = FM_JOURNAL_GAP + 1;
    reader = fm_reader_init(writer.data, writer.size, NULL);
    assert_false(fm_journal_rows_take(&reader, &row));
    assert_true(reader.failed);
    fm_writer_fini(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_come_back),
        cmocka_unit_test(test_what_is_cut_is_refused),
        cmocka_unit_test(test_what_is_changed_is_refused_or_another),
        cmocka_unit_test(test_the_sum_tells),
        cmocka_unit_test(test_names_do_not_leave_the_folder),
        cmocka_unit_test(test_tokens_come_back),
        cmocka_unit_test(test_places_and_rows_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
