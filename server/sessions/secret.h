// server/sessions/secret.h: what the nodes of a cluster share: keys for resume tokens and tickets,
// so that what one node has given a client is good on all of them.
//
// cluster_secret_file has one or two lines, each a secret of 16 to 256 printable characters, the
// same on all nodes. The first one makes keys for what is issued; what the second one has signed is
// still accepted. So a secret is changed in three steps, each on all nodes, with SIGHUP:
//
//   old ──> old, new ──> new, old ──> new
//
// Keys are BLAKE2b hashes of the secret and of what they are for.
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <stdint.h>

#define FM_SECRETS_MAX       2u
#define FM_SECRET_KEY_SIZE   32u
#define FM_SECRET_ERROR_SIZE 256u

typedef struct fm_secret_keys {
    uint8_t resume[FM_SECRET_KEY_SIZE], ticket[FM_SECRET_KEY_SIZE];
} fm_secret_keys;

// All zero: there is none.
typedef struct fm_secrets {
    uint32_t count;
    fm_secret_keys keys[FM_SECRETS_MAX]; // the first one is for what is made now
} fm_secrets;

/// Reads the file.
///
/// @param secrets  receives the keys; left alone on failure
/// @param error    receives a sentence; room for FM_SECRET_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_secrets_read(const char *path, fm_secrets *secrets, char *error);

/// The same, of a text that holds its lines. It is overwritten.
FM_CHECKED fm_status fm_secrets_parse(char *text, fm_secrets *secrets, char *error);
