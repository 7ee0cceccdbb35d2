// proto/pack.h: packs the entries of a map that many messages have: a key and its value.
//
// A packer that fails (out of memory) stays failed: the owner of its buffer checks once, at the
// end.

#pragma once

#include "core/map/grid.h"
#include "core/world/world.h"
#include "proto/protocol.h"

void fm_pack_key_uint(msgpack_packer *packer, const char *key, uint64_t number);
void fm_pack_key_text(msgpack_packer *packer, const char *key, const char *text);
void fm_pack_key_bool(msgpack_packer *packer, const char *key, bool flag);
void fm_pack_key_real(msgpack_packer *packer, const char *key, double real);

/// An array of x, y.
void fm_pack_key_cells(msgpack_packer *packer, const char *key, const fm_cell *cells,
                       uint32_t count);

/// An array of packed ids.
void fm_pack_key_agents(msgpack_packer *packer, const char *key, const fm_agent_id *ids,
                        uint32_t count);

/// The key `digest` and 16 hexadecimal digits.
void fm_pack_key_digest(msgpack_packer *packer, uint64_t digest);
