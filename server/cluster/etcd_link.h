// server/cluster/etcd_link.h: a connection to one member of etcd, plain or TLS, with deadlines by
// the monotonic clock. Blocks.
//
// Threads: one at a time.

#pragma once

#include "server/cluster/etcd_access.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FM_ETCD_LINKS_MAX 64u // that are waited for at once

struct ssl_st;

typedef struct fm_etcd_link {
    int fd; // -1: closed
    struct ssl_st *tls;
} fm_etcd_link;

/// Connects; with TLS the member's certificate must be good for `host`, a name or an address.
/// @return whether it did, and in time
bool fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                       const char *port, uint64_t deadline_ns);

/// One that is closed is allowed.
void fm_etcd_link_close(fm_etcd_link *link);

bool fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size, uint64_t deadline_ns);

/// @return bytes, 1..size; 0: closed by the member, failed, or silent until the deadline
size_t fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size, uint64_t deadline_ns);

/// Waits until one of several connections can be read, was closed or has failed, or until then.
/// @param readable  receives which; count entries
void fm_etcd_link_wait(fm_etcd_link *const *links, uint32_t count, uint64_t until_ns,
                       bool *readable);
