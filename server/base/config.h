// server/base/config.h: the settings of the server, as one plain value.
//
// The list of settings is server/base/config.def: a member of fm_config is called like its key,
// holds a value that was checked against the range given there, and never changes while the server
// runs. server/process/options.h fills it from flags, environment and file; nothing else reads
// those.
//
// Types of members: TEXT is a char array, empty for "none"; BOOL a bool; UINT a uint64_t; REAL a
// double; CHOICE the enum that the list names. Bytes, counts, hertz, milliseconds (_ms) and
// seconds (_s) are distinguished by the value_name in the list.

#pragma once

#include "core/base/workers.h"
#include "core/planners/catalogue.h"
#include "proto/scanner.h"
#include "server/base/log.h"
#include "server/base/tokens.h"

#include <stdio.h>

#define FM_CONFIG_TEXT_MAX        255u // bytes of a text, NUL not counted
#define FM_CONFIG_JOURNAL_DIR_MAX 200u // bytes: a file of it must have a name that fits
#define FM_CONFIG_ERROR_SIZE      512u // bytes of an error text, NUL included

// What a world does when its ticks are late.
// X(enumerator, name)
#define FM_OVERLOAD_LIST(X)                                                                        \
    X(FM_OVERLOAD_SLIP, "slip")       /* the next tick starts late; time runs slower */            \
    X(FM_OVERLOAD_SKIP, "skip")       /* missed ticks are skipped and counted */                   \
    X(FM_OVERLOAD_DEGRADE, "degrade") /* less search per tick until ticks are in time again */

typedef enum fm_overload {
#define X(enumerator, name) enumerator,
    FM_OVERLOAD_LIST(X)
#undef X
} fm_overload;

// When a commit of a journal counts as written.
// X(enumerator, name)
#define FM_DURABILITY_LIST(X)                                                                      \
    X(FM_DURABILITY_TICK, "tick")         /* synced before clients are notified of the tick */     \
    X(FM_DURABILITY_INTERVAL, "interval") /* synced at intervals */                                \
    X(FM_DURABILITY_NONE, "none")       /* written now and then; the system syncs when it likes */ \
    X(FM_DURABILITY_REPLICA, "replica") /* as tick, and a standby has it as well */

typedef enum fm_durability {
#define X(enumerator, name) enumerator,
    FM_DURABILITY_LIST(X)
#undef X
} fm_durability;

// What durability replica means while no standby has everything.
// X(enumerator, name)
#define FM_REPLICA_MISSING_LIST(X)                                                                 \
    X(FM_REPLICA_BLOCK, "block")     /* nothing is sent until one has */                           \
    X(FM_REPLICA_DEGRADE, "degrade") /* as durability tick */

typedef enum fm_replica_missing {
#define X(enumerator, name) enumerator,
    FM_REPLICA_MISSING_LIST(X)
#undef X
} fm_replica_missing;

// What a world does while its journal cannot be written; see server/worlds/recording.h.
// X(enumerator, name)
#define FM_JOURNAL_ON_ERROR_LIST(X)                                                                \
    X(FM_JOURNAL_PAUSE, "pause")                                                                   \
    X(FM_JOURNAL_READ_ONLY, "read_only")

typedef enum fm_journal_on_error {
#define X(enumerator, name) enumerator,
    FM_JOURNAL_ON_ERROR_LIST(X)
#undef X
} fm_journal_on_error;

// What happens on system calls that the server does not need; see server/process/syscall_filter.h.
// X(enumerator, name)
#define FM_SYSCALL_FILTER_LIST(X)                                                                  \
    X(FM_SYSCALL_FILTER_NONE, "none")                                                              \
    X(FM_SYSCALL_FILTER_REFUSE, "refuse")                                                          \
    X(FM_SYSCALL_FILTER_KILL, "kill")

typedef enum fm_syscall_filter {
#define X(enumerator, name) enumerator,
    FM_SYSCALL_FILTER_LIST(X)
#undef X
} fm_syscall_filter;

typedef struct fm_config {
#define FM_CONFIG_TEXT(member, default_text, size_max, check, value_name, text)                    \
    char member[(size_max) + 1];
#define FM_CONFIG_BOOL(member, default_text, text)                               bool member;
#define FM_CONFIG_UINT(member, default_text, minimum, maximum, value_name, text) uint64_t member;
#define FM_CONFIG_REAL(member, default_text, minimum, maximum, value_name, text) double member;
#define FM_CONFIG_CHOICE(member, default_text, type, names, value_name, text)    type member;
#include "server/base/config.def"
    fm_grants grants;      // the configured tokens, as hashes. Never printed.
    bool grants_from_file; // token_file, which a reload reads again
} fm_config;

typedef enum fm_config_kind {
    FM_CONFIG_KIND_TEXT,
    FM_CONFIG_KIND_BOOL,
    FM_CONFIG_KIND_UINT,
    FM_CONFIG_KIND_REAL,
    FM_CONFIG_KIND_CHOICE,
} fm_config_kind;

enum {
    FM_CONFIG_KEY_COUNT = 0
#define FM_CONFIG_TEXT(member, ...)   +1
#define FM_CONFIG_BOOL(member, ...)   +1
#define FM_CONFIG_UINT(member, ...)   +1
#define FM_CONFIG_REAL(member, ...)   +1
#define FM_CONFIG_CHOICE(member, ...) +1
#include "server/base/config.def"
};

// One entry of the list.
typedef struct fm_config_key {
    const char *name; // as in the file, such as "tick_hz"
    fm_config_kind kind;
    size_t offset;            // of the member in fm_config
    const char *default_text; // as a user would write it
    double minimum, maximum;  // UINT and REAL: value; TEXT: bytes
    const char *const *names; // CHOICE: by value, NULL at the end
    /// TEXT: further check. @return true, or false with a sentence in `error`
    bool (*check)(const char *text, char *error);
    const char *value_name; // in help; BOOL: NULL
    const char *text;       // one or two sentences
} fm_config_key;

/// All keys, in the order of the list.
extern const fm_config_key fm_config_keys[FM_CONFIG_KEY_COUNT];

/// Title of the group that a key is the first of; NULL for the others.
const char *fm_config_group_title(const fm_config_key *key);

/// Finds a key by its name. @return NULL when there is none
const fm_config_key *fm_config_key_find(const char *name);

/// Every key at its default, no tokens.
fm_config fm_config_default(void);

/// Sets one key from text, as it stands in a file, a flag or a variable.
///
/// @param error  receives, on failure, what is wrong with the text, such as
///               "'fast' is not a number"; room for FM_CONFIG_ERROR_SIZE
/// @return FM_OK, or FM_ERR_BAD_VALUE: *config is left alone
FM_CHECKED fm_status fm_config_set(fm_config *config, const fm_config_key *key, const char *text,
                                   char *error);

/// Writes one key's value so that fm_config_set() reads it back. Always NUL-terminated.
///
/// @param size  at least FM_CONFIG_TEXT_MAX + 1 (asserted)
void fm_config_format(const fm_config *config, const fm_config_key *key, char *text, size_t size);

/// Splits "127.0.0.1:80" or "[::1]:80". Only numeric addresses are taken, so that starting a
/// server never waits for a name server.
///
/// @param address      receives the address without brackets; room for FM_CONFIG_TEXT_MAX + 1
/// @param port         receives 0..65535
/// @param is_loopback  receives whether only this machine can connect
/// @return FM_OK or FM_ERR_BAD_VALUE: out-parameters are left alone
FM_CHECKED fm_status fm_listen_parse(const char *listen, char *address, uint16_t *port,
                                     bool *is_loopback);

/// Name of a policy, as in the file and on the wire.
const char *fm_overload_name(fm_overload overload);

/// Finds a policy by name (not NUL-terminated). @return true when there is one
bool fm_overload_by_name(const char *name, size_t size, fm_overload *overload);
