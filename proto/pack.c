// proto/pack.c: see pack.h.

#include "proto/pack.h"

#include <stdio.h>

void fm_pack_key_uint(msgpack_packer *packer, const char *key, uint64_t number)
{
    fm_pack_text(packer, key);
    msgpack_pack_uint64(packer, number);
}

void fm_pack_key_text(msgpack_packer *packer, const char *key, const char *text)
{
    fm_pack_text(packer, key);
    fm_pack_text(packer, text);
}

void fm_pack_key_bool(msgpack_packer *packer, const char *key, bool flag)
{
    fm_pack_text(packer, key);
    if (flag) {
        msgpack_pack_true(packer);
    } else {
        msgpack_pack_false(packer);
    }
}

void fm_pack_key_real(msgpack_packer *packer, const char *key, double real)
{
    fm_pack_text(packer, key);
    msgpack_pack_double(packer, real);
}

void fm_pack_key_cells(msgpack_packer *packer, const char *key, const fm_cell *cells,
                       uint32_t count)
{
    fm_pack_text(packer, key);
    msgpack_pack_array(packer, (size_t)count * 2);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, fm_cell_x(cells[i]));
        msgpack_pack_uint64(packer, fm_cell_y(cells[i]));
    }
}

void fm_pack_key_agents(msgpack_packer *packer, const char *key, const fm_agent_id *ids,
                        uint32_t count)
{
    fm_pack_text(packer, key);
    msgpack_pack_array(packer, count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, fm_agent_id_pack(ids[i]));
    }
}

void fm_pack_key_digest(msgpack_packer *packer, uint64_t digest)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)digest);
    fm_pack_key_text(packer, "digest", digits);
}
