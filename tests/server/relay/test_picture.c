// test_picture.c: what a relay makes of a delta that names agents' tags and classes: each tag and
// class reaches the look of its agent, whether it comes, steps or stands. test_picture_growth.c
// counts the work.

#include "tests/server/relay/picture_scene.h"
#include "tests/support/support.h"

static void each_class_and_tag_finds_its_agent(void **state)
{
    (void)state;
    fm_publication *out;
    picture_show(20);
    // 5 step, 5 of them and 10 that stand and 10 that come are named.
    assert_int_equal(picture_read(10, 10, 6, 25, &out), FM_OK);
    const fm_changes *changes = &out->changes;
    assert_int_equal(changes->entered_count, 10);
    assert_int_equal(changes->changed_count, 20);
    bool is_seen[31] = {false};
    for (uint32_t i = 0; i < 30; i++) {
        const fm_agent_look *look = i < 10 ? &changes->entered[i] : &changes->changed[i - 10];
        uint32_t index1 = look->name.index1;
        assert_false(is_seen[index1]);
        is_seen[index1] = true;
        assert_int_equal(look->class_index, index1 >= 6 ? 3 : 0);
        assert_int_equal(look->tells_tag, index1 >= 6);
        if (index1 <= 20) {
            assert_int_equal(fm_cell_y(look->cell), index1 <= 10 ? 1 : 0);
        }
    }
    assert_int_equal(out->tag_count, 25);
    for (uint32_t i = 0; i < out->tag_count; i++) {
        assert_int_equal(out->tags[i].size, 1);
        assert_int_equal(out->tags[i].bytes[0], out->tags[i].name.index1);
    }
    fm_publication_destroy(out);
}

static void agents_that_nobody_knows_are_refused(void **state)
{
    (void)state;
    fm_publication *out = NULL;
    static const uint32_t firsts[] = {11, 1000000, UINT32_MAX - 1};
    for (uint32_t i = 0; i < FM_COUNT_OF(firsts); i++) {
        picture_show(10);
        assert_int_equal(picture_read(0, 5, firsts[i], 1, &out), FM_ERR_BAD_MESSAGE);
    }
    picture_show(10);
    picture.agents[3].in_view = false;
    assert_int_equal(picture_read(0, 2, 4, 1, &out), FM_ERR_BAD_MESSAGE);
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_and_tag_finds_its_agent),
        cmocka_unit_test(agents_that_nobody_knows_are_refused),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    picture_end();
    return failures;
}
