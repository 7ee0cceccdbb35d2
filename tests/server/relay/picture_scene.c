// tests/server/relay/picture_scene.c: see picture_scene.h.

#include "tests/server/relay/picture_scene.h"

#include "proto/dense.h"
#include "tests/support/support.h"

#define SIDE 512u

struct picture picture;

void picture_show(uint32_t count)
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

fm_status picture_read(uint32_t enter, uint32_t steps, uint32_t first, uint32_t count,
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

void picture_end(void)
{
    msgpack_sbuffer_destroy(&picture.buffer);
}
