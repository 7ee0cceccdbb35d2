// server/process/standby_link.h: a standby's connection to the server that it follows: an admin's
// session of PROTOCOL.md, from the client's side. Blocks.
//
// Threads: one at a time, but for fm_standby_link_interrupt().

#pragma once

#include "proto/scanner.h"
#include "server/base/tokens.h"
#include "server/cluster/etcd_link.h"
#include "server/journal/shipment.h"

#include <uv.h>

typedef struct fm_standby_link {
    fm_etcd_link link;
    uv_mutex_t lock; // guards the next two
    int fd;          // of the open link; -1
    bool is_interrupted;
    fm_scanner scanner;
    uint8_t *input; // owned; bytes of messages, not parsed from `begin` on
    size_t begin, scanned, size, capacity;
    uint64_t request; // number of the last one
} fm_standby_link;

// What a message is.
typedef struct fm_standby_message {
    bool is_shipment;    // else to be ignored
    uint64_t number;     // of the shipment
    const uint8_t *data; // good until the next receive
    size_t size;
} fm_standby_message;

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_standby_link_init(fm_standby_link *link);
void fm_standby_link_fini(fm_standby_link *link);

/// Makes blocking calls return soon, from now on. Any thread.
void fm_standby_link_interrupt(fm_standby_link *link);

/// It may block again, when no thread uses it.
void fm_standby_link_renew(fm_standby_link *link);

/// Connects, says hello and journal.follow.
///
/// @param access   certificates to trust
/// @param host     name or address; `port` digits
/// @param token    empty: none is shown
/// @param places   what the standby has
/// @param epoch    of the standby; receives that of the server
/// @param replica  receives whether clients wait for this standby
/// @param error    receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK; FM_ERR_IO: not reachable; FM_ERR_DENIED: one side refuses
FM_CHECKED fm_status fm_standby_link_open(fm_standby_link *link, const fm_etcd_access *access,
                                          const char *host, const char *port, const char *token,
                                          const fm_writer *places, uint64_t *epoch, bool *replica,
                                          char *error);

/// One that is closed is allowed.
void fm_standby_link_close(fm_standby_link *link);

/// Takes the next whole message. @return false: there is none, or the bytes are invalid (`is_bad`)
bool fm_standby_link_take(fm_standby_link *link, fm_standby_message *message, bool *is_bad);

/// Waits for bytes. @return false: closed, or silent for too long
bool fm_standby_link_wait(fm_standby_link *link);

/// Acknowledges all shipments up to this one. @return false: it is closed
bool fm_standby_link_say(fm_standby_link *link, uint64_t number);
