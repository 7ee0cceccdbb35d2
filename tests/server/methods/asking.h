// tests/server/methods/asking.h: requests to a live server (tests/fuzz/live.h), field by field.
//
// put_...() add fields to the next request; ask_as() sends it. The server handles it only in
// all_are_answered().
//
// Threads: one.

#pragma once

#include "tests/fuzz/live.h"

#define ADMIN 0u // the client that ask() speaks for

void put_field(fm_field field); // then pack its value into asking_packer()
msgpack_packer *asking_packer(void);
void put_uint(fm_field field, uint64_t value);
void put_text(fm_field field, const char *value);
void put_true(fm_field field);
void put_bytes(fm_field field, const void *bytes, size_t size);
void put_numbers(fm_field field, const uint64_t *numbers, uint32_t count);
void put_rect(fm_field field, uint64_t x, uint64_t y, uint64_t width, uint64_t height);

/// Sends the request.
void ask_as(uint32_t client, fm_method method);

/// Lets the server handle everything that is due. Fails the test unless all requests since the last
/// call, which must be for this method, succeeded.
void all_are_answered(fm_method method);

/// The same, but fails the test when one of them has succeeded.
void none_is_answered(fm_method method);

/// One request of ADMIN, and its answer.
void ask(fm_method method);

/// ADMIN makes a paused world, a square of open ground: fm_live_hub()->host_last.
void make_open_world(uint32_t side);

/// As ask(), for a request that must be refused, or wait.
void ask_in_vain(fm_method method);
