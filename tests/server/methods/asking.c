// tests/server/methods/asking.c: see asking.h.

#include "tests/server/methods/asking.h"

#include "tests/support/support.h"

static struct {
    msgpack_sbuffer fields;
    msgpack_packer packer;
    uint32_t count;
    uint64_t asked; // requests since the last all_are_answered(), and before it
    uint64_t answered_before;
} request;

msgpack_packer *asking_packer(void)
{
    request.packer = (msgpack_packer){.data = &request.fields, .callback = msgpack_sbuffer_write};
    return &request.packer;
}

void put_field(fm_field field)
{
    fm_pack_text(asking_packer(), fm_field_name(field));
    request.count += 1;
}

void put_uint(fm_field field, uint64_t value)
{
    put_field(field);
    msgpack_pack_uint64(asking_packer(), value);
}

void put_text(fm_field field, const char *value)
{
    put_field(field);
    fm_pack_text(asking_packer(), value);
}

void put_true(fm_field field)
{
    put_field(field);
    msgpack_pack_true(asking_packer());
}

void put_bytes(fm_field field, const void *bytes, size_t size)
{
    put_field(field);
    msgpack_pack_bin(asking_packer(), size);
    msgpack_pack_bin_body(asking_packer(), bytes, size);
}

void put_numbers(fm_field field, const uint64_t *numbers, uint32_t count)
{
    put_field(field);
    msgpack_pack_array(asking_packer(), count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(asking_packer(), numbers[i]);
    }
}

void put_rect(fm_field field, uint64_t x, uint64_t y, uint64_t width, uint64_t height)
{
    put_numbers(field, (const uint64_t[]){x, y, width, height}, 4);
}

void ask_as(uint32_t client, fm_method method)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    request.answered_before =
        request.asked == 0 ? fm_live_answered(method) : request.answered_before;
    request.asked += 1;
    fm_pack_request(&packer, fm_live_ask(client, method), method);
    msgpack_pack_map(&packer, request.count);
    if (request.count > 0) {
        msgpack_sbuffer_write(&buffer, request.fields.data, request.fields.size);
    }
    fm_live_send(client, buffer.data, buffer.size, SIZE_MAX);
    msgpack_sbuffer_destroy(&buffer);
    msgpack_sbuffer_clear(&request.fields);
    request.count = 0;
}

void all_are_answered(fm_method method)
{
    fm_live_settle();
    uint64_t answered = fm_live_answered(method) - request.answered_before;
    if (answered != request.asked) {
        fail_msg("%s: %llu of %llu requests succeeded", fm_method_name(method),
                 (unsigned long long)answered, (unsigned long long)request.asked);
    }
    request.asked = 0;
}

void none_is_answered(fm_method method)
{
    fm_live_settle();
    assert_int_equal(fm_live_answered(method), request.answered_before);
    request.asked = 0;
}

void ask_in_vain(fm_method method)
{
    ask_as(ADMIN, method);
    none_is_answered(method);
}

void ask(fm_method method)
{
    ask_as(ADMIN, method);
    all_are_answered(method);
}

void make_open_world(uint32_t side)
{
    put_text(FM_FIELD_NAME, "arena");
    put_text(FM_FIELD_GENERATOR, "open");
    put_uint(FM_FIELD_WIDTH, side);
    put_uint(FM_FIELD_HEIGHT, side);
    put_true(FM_FIELD_PAUSED);
    ask(FM_METHOD_WORLD_CREATE);
}
