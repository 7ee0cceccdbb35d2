// clients/c/params.c: see params.h.

#include "clients/c/params.h"

void fm_params_init(fm_params *params)
{
    msgpack_sbuffer_init(&params->entries);
    msgpack_packer_init(&params->packer, &params->entries, msgpack_sbuffer_write);
    params->count = 0;
    params->failed = false;
}

void fm_params_fini(fm_params *params)
{
    msgpack_sbuffer_destroy(&params->entries);
}

void fm_params_clear(fm_params *params)
{
    msgpack_sbuffer_clear(&params->entries);
    params->count = 0;
    params->failed = false;
}

// Takes what a msgpack_pack function returned: 0 is well.
static void note(fm_params *params, int failed)
{
    params->failed = params->failed || failed != 0;
}

static void begin_entry(fm_params *params, fm_field field)
{
    params->count++;
    note(params, !fm_pack_text(&params->packer, fm_field_name(field)));
}

void fm_params_uint(fm_params *params, fm_field field, uint64_t number)
{
    begin_entry(params, field);
    note(params, msgpack_pack_uint64(&params->packer, number));
}

void fm_params_real(fm_params *params, fm_field field, double real)
{
    begin_entry(params, field);
    note(params, msgpack_pack_double(&params->packer, real));
}

void fm_params_bool(fm_params *params, fm_field field, bool value)
{
    begin_entry(params, field);
    note(params, value ? msgpack_pack_true(&params->packer) : msgpack_pack_false(&params->packer));
}

void fm_params_text(fm_params *params, fm_field field, const char *text)
{
    begin_entry(params, field);
    note(params, !fm_pack_text(&params->packer, text));
}

void fm_params_bytes(fm_params *params, fm_field field, const void *bytes, size_t size)
{
    begin_entry(params, field);
    note(params, msgpack_pack_bin(&params->packer, size));
    note(params, msgpack_pack_bin_body(&params->packer, bytes, size));
}

void fm_params_uints(fm_params *params, fm_field field, const uint64_t *numbers, uint32_t count)
{
    begin_entry(params, field);
    note(params, msgpack_pack_array(&params->packer, count));
    for (uint32_t i = 0; i < count; i++) {
        note(params, msgpack_pack_uint64(&params->packer, numbers[i]));
    }
}

void fm_params_cells(fm_params *params, fm_field field, const fm_cell *cells, uint32_t count)
{
    begin_entry(params, field);
    note(params, msgpack_pack_array(&params->packer, (size_t)count * 2));
    for (uint32_t i = 0; i < count; i++) {
        note(params, msgpack_pack_uint32(&params->packer, fm_cell_x(cells[i])));
        note(params, msgpack_pack_uint32(&params->packer, fm_cell_y(cells[i])));
    }
}
