// fogmarch/params.h: builds the parameters of a request, one field at a time.
//
// Entries are packed as they are added; their number is put in front when the request is sent. An
// error (memory) is remembered and reported by the call that sends. One fm_params can be used for
// many requests: clear, fill, send. Fields are not checked here: the server checks them.

#pragma once

#include <fogmarch/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// For fm_params_*() only.
typedef struct fm_params {
    char *bytes; // packed keys and values; owned
    size_t size, capacity;
    uint32_t count; // of entries
    bool failed;    // out of memory
} fm_params;

/// To be released with fm_params_fini().
void fm_params_init(fm_params *params);

void fm_params_fini(fm_params *params);

/// Forgets all entries and keeps the memory.
void fm_params_clear(fm_params *params);

/// @param number  0..2^53 - 1
void fm_params_uint(fm_params *params, fm_field field, uint64_t number);

void fm_params_real(fm_params *params, fm_field field, double real);

void fm_params_bool(fm_params *params, fm_field field, bool value);

/// @param text  UTF-8, NUL-terminated
void fm_params_text(fm_params *params, fm_field field, const char *text);

void fm_params_bytes(fm_params *params, fm_field field, const void *bytes, size_t size);

void fm_params_uints(fm_params *params, fm_field field, const uint64_t *numbers, uint32_t count);

/// Cells as x, y, x, y ...
void fm_params_cells(fm_params *params, fm_field field, const fm_cell *cells, uint32_t count);

#ifdef __cplusplus
}
#endif
