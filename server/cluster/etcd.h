// server/cluster/etcd.h: a client of etcd, over its JSON gateway (HTTP/1.1, /v3/...).
//
// Calls block, with a deadline each. A caller is a thread that has nothing else
// to do meanwhile: the journals' writer, a thread of the pool that makes or takes over a world, the
// node's thread. So there are no callbacks and no queue between threads; several transactions are
// on their way at once over several clients (begin ... begin, finish ... finish).
//
//   a member does not answer ──> the next one is asked, until the deadline
//   it cannot be connected to ──> no client of this process connects to it for a while, unless all
//                                 members are like that
//
// When an answer is lost, the request may have been done and is sent again. All transactions of
// this room are made so that the second time changes nothing and the answer says so.
//
// With TLS, and as a user with a password, where etcd_access.h says so. A token that etcd no longer
// knows is replaced, and the request sent again. All clients of a process share the last token. A
// login may take etcd longer than a call has time: the call fails, and the next one continues to
// wait for the same login. One that has no answer for FM_ETCD_TRY_MS is begun again at the next
// member and waited for twice as long, and so on up to FM_ETCD_LOGIN_MS.
//
// Threads: one at a time for each client.

#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "server/cluster/etcd_access.h"

#include <jansson.h>

#define FM_ETCD_VALUE_MAX  ((size_t)1 << 20) // bytes of one value; etcd takes requests of 1.5 MiB
#define FM_ETCD_TRY_MS     1000u             // for one member
#define FM_ETCD_CONNECT_MS 400u              // of it, to connect
#define FM_ETCD_LOGIN_MS   32000u            // for one login at most
#define FM_ETCD_SILENT_MS  3000u // for which one that could not be connected to is not tried

typedef struct fm_etcd fm_etcd;

// X(enumerator)
typedef enum fm_etcd_outcome {
    FM_ETCD_DONE,        // there is an answer
    FM_ETCD_REFUSED,     // etcd refused: nothing was done
    FM_ETCD_UNREACHABLE, // no answer in time: it may have been done
} fm_etcd_outcome;

/// Whether a text is a list of members, ADDRESS:PORT separated by commas.
bool fm_etcd_members_check(const char *members, char *error);

/// @param access  outlives the client; its members are good (asserted)
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_etcd_create(const fm_etcd_access *access, fm_etcd **out);

/// NULL is allowed.
void fm_etcd_destroy(fm_etcd *etcd);

/// Sends a request and waits for the answer.
///
/// @param path        such as "kv/range"
/// @param body        JSON, see fm_etcd_body
/// @param timeout_ms  for all tries together
/// @param answer      receives the answer, for json_decref(); only with FM_ETCD_DONE
/// @param error       receives a sentence otherwise; room for FM_ETCD_ERROR_SIZE
fm_etcd_outcome fm_etcd_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                             uint32_t timeout_ms, json_t **answer, char *error);

/// Sends a request. fm_etcd_finish() returns the result; `body` must stay until then.
/// Blocks for up to FM_ETCD_TRY_MS where it has to connect or log in, as all calls here: never the
/// event loop's thread.
void fm_etcd_begin(fm_etcd *etcd, const char *path, const fm_writer *body);

/// Waits until the result of one of several begun requests can be had without waiting for an
/// answer, or until then.
///
/// @param answered  receives which: it has come, or does not come; count entries
void fm_etcd_wait(fm_etcd *const *clients, uint32_t count, uint64_t until_ns, bool *answered);

/// Waits for the answer to what was begun; tries again where there is none, as fm_etcd_call().
/// @param timeout_ms  from fm_etcd_begin() on
fm_etcd_outcome fm_etcd_finish(fm_etcd *etcd, uint32_t timeout_ms, json_t **answer, char *error);

// ---- requests and answers --------------------------------------------------------

/// Appends plain text to a body.
void fm_etcd_put(fm_writer *body, const char *text);

/// Appends `"NAME":"bytes in base64"`.
void fm_etcd_put_bytes(fm_writer *body, const char *name, const void *bytes, size_t size);

/// The same for a text.
void fm_etcd_put_text(fm_writer *body, const char *name, const char *text);

/// Appends `"key":...,"range_end":...`: all keys that begin with `prefix`.
void fm_etcd_put_prefix(fm_writer *body, const char *prefix);

/// A member of an object that is a number, which etcd writes as a text. 0 when it is not there.
int64_t fm_etcd_number(const json_t *object, const char *name);

/// A member that is bytes in base64, decoded and with a NUL behind them, for free().
/// @return NULL when it is not there or out of memory; an absent value of a key counts as empty
char *fm_etcd_bytes(const json_t *object, const char *name, size_t *size);

// ---- transactions: parts of their JSON ---------------------------------------------------------

/// Appends a condition: a key has this value, does not exist, or exists.
void fm_etcd_compare_value(fm_writer *body, const char *key, const char *value);
void fm_etcd_compare_absent(fm_writer *body, const char *key);
void fm_etcd_compare_present(fm_writer *body, const char *key);

/// The same: it was created at this revision and not replaced since. 0: it does not exist
void fm_etcd_compare_created(fm_writer *body, const char *key, int64_t revision);

/// The same: it was written last at this revision. 0: it does not exist
void fm_etcd_compare_written(fm_writer *body, const char *key, int64_t revision);

/// Appends what is done. @param to  delete: all keys from `key` up to here; NULL: that key alone
///
/// @param lease  with which the key ends; 0: it stays
void fm_etcd_request_put(fm_writer *body, const char *key, const void *value, size_t size);
void fm_etcd_request_put_leased(fm_writer *body, const char *key, const void *value, size_t size,
                                int64_t lease);
void fm_etcd_request_get(fm_writer *body, const char *key);
void fm_etcd_request_delete(fm_writer *body, const char *key, const char *to);

bool fm_etcd_succeeded(const json_t *answer);

/// Value of the only key of a range among a transaction's responses, for free(). NULL: none
char *fm_etcd_response_value(const json_t *answer, size_t index, size_t *size);

/// The revision at which that key was written last. 0: none
int64_t fm_etcd_response_revision(const json_t *answer, size_t index);

/// Whether there is one. Use it where the absence of a key decides something:
/// fm_etcd_response_value() returns NULL as well when out of memory
bool fm_etcd_response_has(const json_t *answer, size_t index);

/// The same for this response.
bool fm_etcd_response_is(const json_t *answer, size_t index, const void *wanted, size_t size);
