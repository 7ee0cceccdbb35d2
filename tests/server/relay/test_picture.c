// test_picture.c: what a relay makes of a delta that names agents' tags and classes.
//
// A scene of agents that stand, and a delta as upstream packs it: some agents come, some step, and
// some get a tag. Each tag and class must reach the look of its agent, whichever of these it is;
// and the work, counted and not timed, must grow with the entries of the lists, not with their
// product.

#include "proto/dense.h"
#include "server/relay/picture.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SIDE        512u
#define AGENTS      1000u // of each kind, at scale 1
#define SCALE_MOST  4u
#define AGENTS_MOST (3 * AGENTS * SCALE_MOST)
#define GROWTH_MOST 5.0

struct picture {
    fm_host host;
    fm_scene scene;
    fm_scene_agent agents[AGENTS_MOST];
    msgpack_sbuffer buffer;
    msgpack_packer packer;
};

static struct picture picture;

// `count` agents stand in a row of cells.
static void show(uint32_t count)
{
    picture.host = (fm_host){.width = SIDE, .height = SIDE};
    picture.scene = (fm_scene){
        .host = &picture.host, .live = true, .agents = picture.agents, .slot_count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = fm_agent_id_pack((fm_agent_id){.index1 = i + 1, .generation = 1});
        picture.agents[i] = (fm_scene_agent){.id = id,
                                             .name = id,
                                             .team = 1,
                                             .cell = fm_cell_at(i % SIDE, i / SIDE),
                                             .in_view = true};
    }
    msgpack_sbuffer_clear(&picture.buffer);
    msgpack_packer_init(&picture.packer, &picture.buffer, msgpack_sbuffer_write);
}

static void put_name(const char *name)
{
    msgpack_pack_str_with_body(&picture.packer, name, strlen(name));
}

static uint64_t agent_id(uint32_t index1)
{
    return fm_agent_id_pack((fm_agent_id){.index1 = index1, .generation = 1});
}

// Agents enter: those behind the ones shown.
static void put_enter(uint32_t count)
{
    put_name("enter");
    msgpack_pack_array(&picture.packer, 5 * count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t values[] = {agent_id(picture.scene.slot_count + 1 + i), 2, i % SIDE, 100, 0};
        for (uint32_t k = 0; k < FM_COUNT_OF(values); k++) {
            msgpack_pack_uint64(&picture.packer, values[k]);
        }
    }
}

// The first `count` agents step to the south.
static void put_steps(uint32_t count)
{
    uint8_t *bytes = malloc((size_t)count * FM_DENSE_STEP_SIZE_MAX + 1), *at = bytes;
    for (uint32_t i = 0; i < count; i++) {
        fm_cell cell = picture.agents[i].cell;
        uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
        fm_dense_step step = {.place = i + 1, .direction = fm_dense_direction(x, y, x, y + 1)};
        at = fm_dense_put_step(at, &step, i);
    }
    put_name("steps");
    msgpack_pack_bin_with_body(&picture.packer, bytes, (size_t)(at - bytes));
    free(bytes);
}

// A class and a tag of one byte for `count` agents from `first` on, the last one first.
static void put_classes_and_tags(uint32_t first, uint32_t count)
{
    put_name("classes");
    msgpack_pack_array(&picture.packer, 2 * count);
    for (uint32_t i = count; i-- > 0;) {
        msgpack_pack_uint64(&picture.packer, agent_id(first + i));
        msgpack_pack_uint64(&picture.packer, 3);
    }
    put_name("tagged");
    msgpack_pack_array(&picture.packer, 2 * count);
    for (uint32_t i = count; i-- > 0;) {
        msgpack_pack_uint64(&picture.packer, agent_id(first + i));
        msgpack_pack_uint64(&picture.packer, 1);
    }
    put_name("tags");
    msgpack_pack_bin(&picture.packer, count);
    for (uint32_t i = count; i-- > 0;) {
        msgpack_pack_bin_body(&picture.packer, &(uint8_t){(uint8_t)(first + i)}, 1);
    }
}

// A delta in which `enter` agents come and `steps` agents step, with classes and tags.
static fm_status read(uint32_t enter, uint32_t steps, uint32_t first, uint32_t count,
                      fm_publication **out)
{
    msgpack_pack_map(&picture.packer, 6);
    put_name("tick");
    msgpack_pack_uint64(&picture.packer, 1);
    put_enter(enter);
    put_steps(steps);
    put_classes_and_tags(first, count);
    msgpack_unpacked message;
    msgpack_unpacked_init(&message);
    assert_int_equal(msgpack_unpack_next(&message, picture.buffer.data, picture.buffer.size, NULL),
                     MSGPACK_UNPACK_SUCCESS);
    fm_status status = fm_picture_of_delta(&picture.scene, &message.data, out);
    msgpack_unpacked_destroy(&message);
    return status;
}

static void each_class_and_tag_finds_its_agent(void **state)
{
    (void)state;
    fm_publication *out;
    show(20);
    // 5 step, 5 of them and 10 that stand and 10 that come are named.
    assert_int_equal(read(10, 10, 6, 25, &out), FM_OK);
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
        show(10);
        assert_int_equal(read(0, 5, firsts[i], 1, &out), FM_ERR_BAD_MESSAGE);
    }
    show(10);
    picture.agents[3].in_view = false;
    assert_int_equal(read(0, 2, 4, 1, &out), FM_ERR_BAD_MESSAGE);
    assert_null(out);
}

static uint64_t work(uint32_t scale)
{
    fm_publication *out;
    uint32_t count = AGENTS * scale;
    show(2 * count);
    uint64_t before = counted_work();
    assert_int_equal(read(count, count, count + 1, count, &out), FM_OK);
    uint64_t spent = counted_work() - before;
    fm_publication_destroy(out);
    return spent;
}

static void work_grows_with_the_entries(void **state)
{
    (void)state;
    uint64_t once = work(1), twice = work(2), four_times = work(SCALE_MOST);
    print_message("%llu %llu %llu\n", (unsigned long long)once, (unsigned long long)twice,
                  (unsigned long long)four_times);
    assert_true((double)four_times <= GROWTH_MOST * (double)once);
}

int main(void)
{
    msgpack_sbuffer_init(&picture.buffer);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_and_tag_finds_its_agent),
        cmocka_unit_test(agents_that_nobody_knows_are_refused),
        cmocka_unit_test(work_grows_with_the_entries),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    msgpack_sbuffer_destroy(&picture.buffer);
    return failures;
}
