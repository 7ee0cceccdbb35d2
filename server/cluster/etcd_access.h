// server/cluster/etcd_access.h: how etcd's members are reached: addresses, TLS and user. Made once,
// used by every client of this process.
//
// Threads: made and ended by one; reading may be shared.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <stddef.h>

#define FM_ETCD_ERROR_SIZE    256u
#define FM_ETCD_PASSWORD_SIZE 256u
#define FM_ETCD_MEMBERS_MAX   9u

struct ssl_ctx_st;

// Until when a member counts as silent, because it could not be connected to; all clients of a
// process share it, so that not each of them waits for a dead member. Any thread.
typedef struct fm_etcd_silence {
    _Atomic uint64_t until_ns[FM_ETCD_MEMBERS_MAX];
} fm_etcd_silence;

struct fm_etcd_token;

typedef struct fm_etcd_access {
    const char *members;    // ADDRESS:PORT, separated by commas; outlives this
    struct ssl_ctx_st *tls; // NULL: plain TCP
    const char *user;       // empty: no authentication; outlives this
    char password[FM_ETCD_PASSWORD_SIZE];
    fm_etcd_silence *silence;    // owned
    struct fm_etcd_token *token; // the last one of `user`, guarded; owned; NULL: without a user
} fm_etcd_access;

// The settings. Texts may be empty, never NULL.
typedef struct fm_etcd_settings {
    const char *members;
    const char *ca_key;      // name of the setting of ca_file, for errors; NULL: cluster_ca_file
    const char *ca_file;     // PEM; "system": the system's own. Empty: no TLS
    const char *certificate; // PEM, of this node, where members want one
    const char *key;         // PEM; empty: in the certificate's file
    const char *user;
    const char *password_file; // its first line is the password
} fm_etcd_settings;

/// Reads the files and checks the settings.
///
/// @param error  receives a sentence; room for FM_ETCD_ERROR_SIZE
/// @return FM_OK, FM_ERR_BAD_VALUE, FM_ERR_IO or FM_ERR_NO_MEMORY; only after FM_OK is there
/// anything
///         to release
FM_CHECKED fm_status fm_etcd_access_init(const fm_etcd_settings *settings, fm_etcd_access *access,
                                         char *error);

/// Whether certificates of whom to trust can be read.
///
/// @param key    name of the setting, for the error
/// @param file   PEM, or "system"
/// @param error  receives a sentence; room for FM_ETCD_ERROR_SIZE
FM_CHECKED fm_status fm_etcd_ca_check(const char *key, const char *file, char *error);

/// A zeroed one is allowed.
void fm_etcd_access_fini(fm_etcd_access *access);
