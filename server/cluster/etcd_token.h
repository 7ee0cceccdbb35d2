// server/cluster/etcd_token.h: the token that etcd gave this process for its user last. All clients
// of etcd use it, so that not each of them logs in: that costs etcd a tenth of a second of a
// processor.
//
// Threads: any.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <stdbool.h>

#define FM_ETCD_TOKEN_SIZE 1024u

typedef struct fm_etcd_token fm_etcd_token;

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_etcd_token_create(fm_etcd_token **out);

/// NULL is allowed.
void fm_etcd_token_destroy(fm_etcd_token *token);

/// Hands a fresh token to all clients of this process. Any thread.
void fm_etcd_token_share(fm_etcd_token *shared, const char *token);

/// Takes the one that was handed over last. If that is no longer good, nobody else takes it. Any
/// thread.
///
/// @param token  the one that is no longer good, or empty; receives another one. Room for
///               FM_ETCD_TOKEN_SIZE
/// @return false: there is no other one
bool fm_etcd_token_take(fm_etcd_token *shared, char *token);
