// clients/c/params.c: see params.h.

#include <fogmarch/params.h>

#include "proto/protocol.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256u // bytes

void fm_params_init(fm_params *params)
{
    *params = (fm_params){.bytes = NULL};
}

void fm_params_fini(fm_params *params)
{
    free(params->bytes);
    fm_params_init(params);
}

void fm_params_clear(fm_params *params)
{
    params->size = 0;
    params->count = 0;
    params->failed = false;
}

// What msgpack-c packs goes here. @return 0, or -1 when memory ran out
static int append(void *context, const char *bytes, size_t size)
{
    fm_params *params = context;
    if (params->capacity - params->size < size) {
        size_t capacity = params->capacity == 0 ? FIRST_CAPACITY : params->capacity;
        while (capacity - params->size < size) {
            capacity *= 2;
        }
        char *grown = realloc(params->bytes, capacity);
        if (grown == NULL) {
            return -1;
        }
        params->bytes = grown;
        params->capacity = capacity;
    }
    memcpy(params->bytes + params->size, bytes, size);
    params->size += size;
    return 0;
}

static msgpack_packer packer_of(fm_params *params)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, params, append);
    return packer;
}

// Takes what a msgpack_pack function returned: 0 is well.
static void note(fm_params *params, int failed)
{
    params->failed = params->failed || failed != 0;
}

static msgpack_packer begin_entry(fm_params *params, fm_field field)
{
    msgpack_packer packer = packer_of(params);
    params->count++;
    note(params, !fm_pack_text(&packer, fm_field_name(field)));
    return packer;
}

void fm_params_uint(fm_params *params, fm_field field, uint64_t number)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, msgpack_pack_uint64(&packer, number));
}

void fm_params_real(fm_params *params, fm_field field, double real)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, msgpack_pack_double(&packer, real));
}

void fm_params_bool(fm_params *params, fm_field field, bool value)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, value ? msgpack_pack_true(&packer) : msgpack_pack_false(&packer));
}

void fm_params_text(fm_params *params, fm_field field, const char *text)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, !fm_pack_text(&packer, text));
}

void fm_params_bytes(fm_params *params, fm_field field, const void *bytes, size_t size)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, msgpack_pack_bin(&packer, size));
    note(params, msgpack_pack_bin_body(&packer, bytes, size));
}

void fm_params_uints(fm_params *params, fm_field field, const uint64_t *numbers, uint32_t count)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, msgpack_pack_array(&packer, count));
    for (uint32_t i = 0; i < count; i++) {
        note(params, msgpack_pack_uint64(&packer, numbers[i]));
    }
}

void fm_params_cells(fm_params *params, fm_field field, const fm_cell *cells, uint32_t count)
{
    msgpack_packer packer = begin_entry(params, field);
    note(params, msgpack_pack_array(&packer, (size_t)count * 2));
    for (uint32_t i = 0; i < count; i++) {
        note(params, msgpack_pack_uint32(&packer, fm_cell_x(cells[i])));
        note(params, msgpack_pack_uint32(&packer, fm_cell_y(cells[i])));
    }
}
