// tests/proto/test_dense.c: the bytes of dense deltas (proto/dense.h), and the C mirror that takes
// them.
//
// Goal: what is written is what is read; the example of PROTOCOL.md is true to the byte; and no
// bytes, however spoilt, make a reader do more than refuse. Method: random lists there and back;
// the example; every prefix of good bytes and random bytes, under the sanitizers' eyes.

#include "tests/support/support.h"

#include <fogmarch/mirror.h>
#include "core/base/random.h"
#include "proto/dense.h"

#include <msgpack.h>

#define ENTRIES 200u
#define SIDE    64u

static fm_random seed_random(uint64_t more)
{
    return fm_random_seed(fm_test_seed() + more);
}

// Short numbers are as likely as long ones.
static uint32_t draw_bits(fm_random *random, uint32_t bits)
{
    return (uint32_t)(fm_random_next(random) & 0xffffffffu) >>
           (32 - fm_random_below(random, bits) - 1);
}

// ---- steps --------------------------------------------------------------------------------------

static void test_steps_come_back(void **state)
{
    (void)state;
    static fm_dense_step steps[ENTRIES];
    static uint8_t bytes[ENTRIES * FM_DENSE_STEP_SIZE_MAX];
    for (uint32_t round = 0; round < 500; round++) {
        fm_random random = seed_random(round);
        uint8_t *end = bytes;
        uint32_t place = 0;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            fm_dense_step step = {.place = place + 1 + draw_bits(&random, 22),
                                  .direction = fm_random_below(&random, FM_DENSE_ELSEWHERE + 1),
                                  .has_state = fm_random_below(&random, 3) == 0};
            if (step.direction == FM_DENSE_ELSEWHERE) {
                step.x = draw_bits(&random, 12);
                step.y = draw_bits(&random, 12);
            }
            step.state = step.has_state ? (uint8_t)fm_random_below(&random, 256) : 0;
            uint8_t *at = end;
            end = fm_dense_put_step(at, &step, place);
            assert_true(end > at && (size_t)(end - at) <= FM_DENSE_STEP_SIZE_MAX);
            steps[i] = step;
            place = step.place;
        }
        fm_dense_step read = {0};
        const uint8_t *at = bytes;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            at = fm_dense_get_step(at, end, &read);
            assert_non_null(at);
            assert_int_equal(read.place, steps[i].place);
            assert_int_equal(read.direction, steps[i].direction);
            assert_int_equal(read.x, steps[i].x);
            assert_int_equal(read.y, steps[i].y);
            assert_int_equal(read.has_state, steps[i].has_state);
            assert_int_equal(read.state, steps[i].state);
        }
        assert_ptr_equal(at, end);
    }
}

static void test_directions_go_where_they_say(void **state)
{
    (void)state;
    for (uint32_t direction = 0; direction <= FM_DENSE_STAYS; direction++) {
        uint32_t x = 10, y = 20;
        fm_dense_move(direction, &x, &y);
        assert_int_equal(fm_dense_direction(10, 20, x, y), direction);
    }
    uint32_t x = 10, y = 20;
    fm_dense_move(1, &x, &y); // south-east
    assert_int_equal(x, 11);
    assert_int_equal(y, 21);
    assert_int_equal(fm_dense_direction(10, 20, 12, 20), FM_DENSE_ELSEWHERE);
    assert_int_equal(fm_dense_direction(10, 20, 10, 18), FM_DENSE_ELSEWHERE);
    assert_int_equal(fm_dense_direction(0, 0, 4095, 0), FM_DENSE_ELSEWHERE);
}

// ---- runs ---------------------------------------------------------------------------------------

static void test_runs_come_back(void **state)
{
    (void)state;
    static fm_dense_run runs[ENTRIES];
    static uint8_t bytes[ENTRIES * FM_DENSE_RUN_SIZE_MAX];
    for (uint32_t round = 0; round < 500; round++) {
        fm_random random = seed_random(round);
        fm_dense_run before = {0};
        uint8_t *end = bytes;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            fm_dense_run run = {.begin = before.begin + before.count + draw_bits(&random, 20),
                                .count = 1 + draw_bits(&random, 14),
                                .look = fm_random_below(&random, 3) * 17};
            uint8_t *at = end;
            end = fm_dense_put_run(at, &run, &before);
            assert_true(end > at && (size_t)(end - at) <= FM_DENSE_RUN_SIZE_MAX);
            runs[i] = before = run;
        }
        fm_dense_run read = {0};
        const uint8_t *at = bytes;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            at = fm_dense_get_run(at, end, &read);
            assert_non_null(at);
            assert_int_equal(read.begin, runs[i].begin);
            assert_int_equal(read.count, runs[i].count);
            assert_int_equal(read.look, runs[i].look);
        }
        assert_ptr_equal(at, end);
    }
}

// ---- bytes that are none ------------------------------------------------------------------------

// Each copy has its own end, so that the address sanitizer sees a byte too far.
static void read_all(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    uint8_t *end = copy + size;
    fm_dense_step step = {0};
    for (const uint8_t *at = copy; at != NULL && at != end;) {
        const uint8_t *next = fm_dense_get_step(at, end, &step);
        assert_true(next == NULL || (next > at && next <= end));
        assert_true(next == NULL || step.direction <= FM_DENSE_ELSEWHERE);
        at = next;
    }
    fm_dense_run run = {0};
    for (const uint8_t *at = copy; at != NULL && at != end;) {
        const uint8_t *next = fm_dense_get_run(at, end, &run);
        assert_true(next == NULL || (next > at && next <= end));
        at = next;
    }
    free(copy);
}

static void test_any_bytes_are_read_to_their_end_at_most(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        fm_random random = seed_random(round);
        uint8_t bytes[40];
        size_t size = fm_random_below(&random, sizeof bytes);
        for (size_t i = 0; i < size; i++) {
            uint32_t byte = fm_random_below(&random, 256);
            bytes[i] = (uint8_t)(fm_random_below(&random, 3) == 0 ? byte | 0xe0 : byte);
        }
        read_all(bytes, size);
    }
    const uint8_t endless[] = {0xe8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    fm_dense_step step = {0};
    assert_null(fm_dense_get_step(endless, endless + sizeof endless, &step));
    const uint8_t no_direction[] = {0x0a};
    assert_null(fm_dense_get_step(no_direction, no_direction + 1, &step));
    const uint8_t no_look_before[] = {0x00, 0x01};
    fm_dense_run run = {0};
    assert_null(fm_dense_get_run(no_look_before, no_look_before + 2, &run));
}

// ---- the mirror ---------------------------------------------------------------------------------

static void pack_key(msgpack_packer *packer, const char *name)
{
    msgpack_pack_str_with_body(packer, name, strlen(name));
}

static void pack_number(msgpack_packer *packer, const char *name, uint64_t number)
{
    pack_key(packer, name);
    msgpack_pack_uint64(packer, number);
}

static void pack_numbers(msgpack_packer *packer, const char *name, const uint64_t *numbers,
                         size_t count)
{
    pack_key(packer, name);
    msgpack_pack_array(packer, count);
    for (size_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, numbers[i]);
    }
}

static void pack_binary(msgpack_packer *packer, const char *name, const uint8_t *bytes, size_t size)
{
    pack_key(packer, name);
    msgpack_pack_bin(packer, size);
    msgpack_pack_bin_body(packer, bytes, size);
}

static fm_status apply(fm_mirror *mirror, fm_notification notification, msgpack_sbuffer *bytes)
{
    msgpack_unpacked message;
    size_t offset = 0;
    msgpack_unpacked_init(&message);
    assert_int_equal(msgpack_unpack_next(&message, bytes->data, bytes->size, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    fm_status status = fm_mirror_apply(mirror, notification, &message.data);
    msgpack_unpacked_destroy(&message);
    msgpack_sbuffer_destroy(bytes);
    return status;
}

#define AGENT(slot) ((UINT64_C(5) << 32) | (slot))

// The view of PROTOCOL.md's example: 16 x 8 cells from (100, 200), unknown; agents 1, 3, 12, 13.
static fm_status begin_example(fm_mirror *mirror)
{
    const uint64_t rect[] = {100, 200, 16, 8}, cells[] = {128, 0};
    const uint64_t agents[] = {
        AGENT(1),  1, 102, 201, FM_AGENT_MOVING, AGENT(3),  1, 104, 203, FM_AGENT_MOVING,
        AGENT(12), 2, 110, 205, FM_AGENT_IDLE,   AGENT(13), 2, 111, 206, FM_AGENT_IDLE};
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 4);
    pack_number(&packer, "tick", 7);
    pack_numbers(&packer, "rect", rect, FM_COUNT_OF(rect));
    pack_numbers(&packer, "cells", cells, FM_COUNT_OF(cells));
    pack_numbers(&packer, "agents", agents, FM_COUNT_OF(agents));
    fm_mirror_init(mirror, 0, NULL, NULL);
    return apply(mirror, FM_NOTIFY_KEYFRAME, &bytes);
}

static fm_status change_example(fm_mirror *mirror, const uint8_t *steps, size_t steps_size,
                                const uint8_t *runs, size_t runs_size)
{
    mirror->subscription = 3;
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 4);
    pack_number(&packer, "subscription", 3);
    pack_number(&packer, "tick", 8);
    pack_binary(&packer, "steps", steps, steps_size);
    pack_binary(&packer, "runs", runs, runs_size);
    return apply(mirror, FM_NOTIFY_DELTA, &bytes);
}

static void check_agent(const fm_mirror *mirror, uint32_t slot, uint32_t x, uint32_t y,
                        fm_agent_state state)
{
    const fm_mirror_agent *agent = fm_mirror_find(mirror, AGENT(slot));
    assert_non_null(agent);
    assert_int_equal(agent->cell, fm_cell_at(x, y));
    assert_int_equal(agent->state, state);
}

static const uint8_t example_steps[] = {0x00, 0x33, 0x00, 0xe9, 0x01, 0x65, 0xc8, 0x01};
static const uint8_t example_runs[] = {0x12, 0x04, 0x01, 0x0d, 0x07, 0x00, 0x00, 0x05};

static void test_the_example_of_the_protocol(void **state)
{
    (void)state;
    fm_mirror mirror;
    assert_int_equal(begin_example(&mirror), FM_OK);
    assert_int_equal(change_example(&mirror, example_steps, sizeof example_steps, example_runs,
                                    sizeof example_runs),
                     FM_OK);
    check_agent(&mirror, 1, 103, 201, FM_AGENT_MOVING); // east
    check_agent(&mirror, 3, 103, 204, FM_AGENT_IDLE);   // south-west, and arrived
    check_agent(&mirror, 12, 101, 200, FM_AGENT_IDLE);  // elsewhere
    check_agent(&mirror, 13, 111, 206, FM_AGENT_IDLE);  // not told of
    const uint32_t looks[][3] = {{102, 201, 1}, {104, 201, 1}, {105, 201, 0}, {102, 202, 1},
                                 {105, 202, 1}, {106, 202, 5}, {107, 202, 0}};
    for (size_t i = 0; i < FM_COUNT_OF(looks); i++) {
        assert_int_equal(fm_mirror_look(&mirror, looks[i][0], looks[i][1]), looks[i][2]);
    }
    assert_int_equal(mirror.known_count, 8);
    assert_int_equal(mirror.moves, 3);
    fm_mirror_fini(&mirror);
}

// The view of the example, which now says what is visible: nothing, at first.
static fm_status see_example(fm_mirror *mirror, const uint8_t *sight, size_t size)
{
    const uint64_t rect[] = {100, 200, 16, 8}, cells[] = {128, 0}, visible[] = {128};
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 4);
    pack_number(&packer, "tick", 7);
    pack_numbers(&packer, "rect", rect, FM_COUNT_OF(rect));
    pack_numbers(&packer, "cells", cells, FM_COUNT_OF(cells));
    pack_numbers(&packer, "visible", visible, FM_COUNT_OF(visible));
    fm_mirror_init(mirror, 0, NULL, NULL);
    assert_int_equal(apply(mirror, FM_NOTIFY_KEYFRAME, &bytes), FM_OK);
    mirror->subscription = 3;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 3);
    pack_number(&packer, "subscription", 3);
    pack_number(&packer, "tick", 8);
    pack_binary(&packer, "sight", sight, size);
    return apply(mirror, FM_NOTIFY_DELTA, &bytes);
}

static const uint8_t example_sight[] = {0x00, 0x22, 0x02, 0x2d, 0x02};

static void test_the_example_of_what_is_visible(void **state)
{
    (void)state;
    fm_mirror mirror;
    assert_int_equal(see_example(&mirror, example_sight, sizeof example_sight), FM_OK);
    for (uint32_t y = 200; y < 208; y++) {
        for (uint32_t x = 100; x < 116; x++) {
            bool inside = x >= 102 && x <= 104 && y >= 202 && y <= 204;
            assert_int_equal(fm_mirror_sees(&mirror, x, y), inside);
        }
    }
    assert_false(fm_mirror_sees(&mirror, 99, 203));
    fm_mirror_fini(&mirror);
}

static void test_the_mirror_refuses_sight_that_does_not_fit(void **state)
{
    (void)state;
    static const uint8_t no_kind[] = {0x02, 0x00, 0x00}, half[] = {0x00, 0x22};
    static const uint8_t too_long[] = {0x01, 0x00, 0x80, 0x01},
                         too_far[] = {0x00, 0x80, 0x01, 0x00};
    static const uint8_t huge[] = {0x00, 0xff, 0xff, 0xff, 0xff, 0x0f,
                                   0xff, 0xff, 0xff, 0xff, 0x0f};
    const struct {
        const uint8_t *bytes;
        size_t size;
    } bad[] = {{no_kind, sizeof no_kind}, {half, sizeof half}, {too_long, sizeof too_long},
               {too_far, sizeof too_far}, {huge, sizeof huge}, {huge, 0}};
    for (size_t i = 0; i < FM_COUNT_OF(bad); i++) {
        fm_mirror mirror;
        assert_int_equal(see_example(&mirror, bad[i].bytes, bad[i].size), FM_ERR_BAD_MESSAGE);
        fm_mirror_fini(&mirror);
    }
    for (uint32_t round = 0; round < 2000; round++) {
        fm_random random = seed_random(round);
        uint8_t bytes[sizeof example_sight];
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)fm_random_below(&random, i == 0 ? 3 : 256);
        }
        fm_mirror mirror;
        fm_status ignored = see_example(&mirror, bytes, 1 + fm_random_below(&random, sizeof bytes));
        (void)ignored; // either; only harm is wrong
        fm_mirror_fini(&mirror);
    }
}

static void test_the_mirror_refuses_what_does_not_fit(void **state)
{
    (void)state;
    static const uint8_t nobody[] = {0x20}, far[] = {0xe0, 0xff, 0xff, 0xff, 0x7f};
    static const uint8_t no_state[] = {0x10, 0xff}, off_map[] = {0x09, 0x80, 0x20, 0x00};
    static const uint8_t too_long[] = {0x00, 0x80, 0x02, 0x01},
                         too_far[] = {0x80, 0x01, 0x00, 0x01};
    static const uint8_t no_terrain[] = {0x00, 0x00, 0x0f};
    const struct {
        const uint8_t *steps, *runs;
        size_t steps_size, runs_size;
    } bad[] = {
        {nobody, NULL, sizeof nobody, 0},
        {far, NULL, sizeof far, 0},
        {no_state, NULL, sizeof no_state, 0},
        {off_map, NULL, sizeof off_map, 0},
        {NULL, too_long, 0, sizeof too_long},
        {NULL, too_far, 0, sizeof too_far},
        {NULL, no_terrain, 0, sizeof no_terrain},
        {example_steps, NULL, sizeof example_steps - 1, 0},
        {NULL, example_runs, 0, sizeof example_runs - 1},
    };
    for (size_t i = 0; i < FM_COUNT_OF(bad); i++) {
        fm_mirror mirror;
        assert_int_equal(begin_example(&mirror), FM_OK);
        assert_int_equal(
            change_example(&mirror, bad[i].steps, bad[i].steps_size, bad[i].runs, bad[i].runs_size),
            FM_ERR_BAD_MESSAGE);
        fm_mirror_fini(&mirror);
    }
}

static void test_spoilt_bytes_do_the_mirror_no_harm(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 5000; round++) {
        fm_random random = seed_random(round);
        uint8_t steps[sizeof example_steps], runs[sizeof example_runs];
        memcpy(steps, example_steps, sizeof steps);
        memcpy(runs, example_runs, sizeof runs);
        for (uint32_t i = fm_random_below(&random, 4); i > 0; i--) {
            steps[fm_random_below(&random, sizeof steps)] = (uint8_t)fm_random_next(&random);
            runs[fm_random_below(&random, sizeof runs)] = (uint8_t)fm_random_next(&random);
        }
        fm_mirror mirror;
        assert_int_equal(begin_example(&mirror), FM_OK);
        fm_status status = change_example(&mirror, steps, sizeof steps, runs, sizeof runs);
        assert_true(status == FM_OK || status == FM_ERR_BAD_MESSAGE);
        fm_mirror_fini(&mirror);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_come_back),
        cmocka_unit_test(test_directions_go_where_they_say),
        cmocka_unit_test(test_runs_come_back),
        cmocka_unit_test(test_any_bytes_are_read_to_their_end_at_most),
        cmocka_unit_test(test_the_example_of_the_protocol),
        cmocka_unit_test(test_the_mirror_refuses_what_does_not_fit),
        cmocka_unit_test(test_the_example_of_what_is_visible),
        cmocka_unit_test(test_the_mirror_refuses_sight_that_does_not_fit),
        cmocka_unit_test(test_spoilt_bytes_do_the_mirror_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
