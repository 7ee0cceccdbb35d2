// server/base/config_file.h: the YAML file, checked by libcyaml against a schema made from
// config.def.

#pragma once

#include "server/base/config.h"

// Where a key stands in the file.
typedef struct fm_config_entry {
    char *text;    // value as written, owned; NULL: the file does not set the key
    uint32_t line; // from 1
} fm_config_entry;

/// Receives what is wrong with a file, as far as known: "FILE:LINE: KEY: what is wrong".
typedef void fm_config_tell(void *context, const char *error);

/// Reads a file. Does not check values: their text goes to fm_config_set().
///
/// @param entries  all zero; receives one entry per key of fm_config_keys, in that order; give them
///                 back with fm_config_entries_fini(). On failure it has the valid ones, so that
///                 their values can be checked as well
/// @param tell     called on failure, for each fault among the keys
/// @return FM_OK, FM_ERR_IO (the file cannot be read), FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_config_file_read(const char *path, fm_config_entry *entries,
                                         fm_config_tell *tell, void *context);

void fm_config_entries_fini(fm_config_entry *entries);
