// clients/c/client.h: the inside of a client, for the library's other files only.

#pragma once

#include "clients/c/link.h"

#include <fogmarch/connection.h>

typedef struct fm_client_hooks fm_client_hooks;

struct fm_client_pending {
    bool waits; // false: answered, or never made
    fm_method method;
    fm_client_reply_fn *on_reply;
    void *context;
    uint64_t sent_ms;     // for the last time
    uint64_t deadline_ms; // of the call with all its repeats
    uint32_t timeout_ms;
    // For clients that follow (follow.c):
    char *bytes; // the request, to be sent again; owned
    size_t size;
    uint64_t world; // world that it names; 0: none
    bool refused;   // it was answered `moved`, so nothing was done
};

// Hooks of a client that goes from node to node of a cluster (follow.c).
struct fm_client_hooks {
    /// What to send in place of `params`, good until the next call. @param world receives the world
    /// that they name, if any
    const fm_params *(*prepare)(fm_client *client, fm_method method, const fm_params *params,
                                uint64_t *world);
    /// An answer came. @param error  NULL: it was done @param result  or all of the error
    /// @return whether the request keeps waiting, to be sent to another node
    bool (*holds)(fm_client *client, struct fm_client_pending *request,
                  const fm_client_error *error, msgpack_object *result);
    /// A notification came. @return whether to notify the program now
    bool (*routes)(fm_client *client, fm_notification notification, msgpack_object *params);
    /// Replaces the node's number of a subscription by the program's.
    void (*rename)(fm_client *client, msgpack_object *map);
    /// hello was not answered. @return whether another address for the start is connected now
    bool (*start_elsewhere)(fm_client *client);
    /// hello was answered.
    void (*greeted)(fm_client *client, const msgpack_object *result);
    /// Outside of callbacks, after reading: goes to another node if needed.
    void (*recover)(fm_client *client);
    /// When watch() is due, by CLOCK_MONOTONIC; UINT64_MAX: never.
    uint64_t (*watch_ms)(const fm_client *client);
    /// Outside of callbacks, after reading: asks a node that is quiet whether it is there, and ends
    /// the connection to one that is silent.
    void (*watch)(fm_client *client);
    void (*destroy)(fm_client *client);
};

struct fm_client {
    fm_link link;
    fm_client_options options;
    char name[65], token[257]; // what options.name and options.token point to
    char resume[FM_CLIENT_RESUME_SIZE];
    char ticket[256];      // in hello, see fm_follow; empty: none
    fm_client_error error; // of the last failure
    bool broken;           // for good; `broken_error` says why
    bool is_strange;       // the server has sent what is no message: another node would as well
    fm_client_error broken_error;
    int write_errno; // sending failed; received bytes are read first
    bool delivering; // inside a callback
    bool skips_notifications;
    fm_client_notification_fn *on_notification;
    void *notification_context;

    struct fm_client_pending *ring;
    uint32_t capacity;  // a power of two
    uint32_t oldest_id; // no request before it waits
    uint32_t next_id;
    uint32_t in_flight;
    uint64_t earliest_ms; // no deadline is earlier

    msgpack_sbuffer out;
    msgpack_packer packer; // into `out`
    size_t sent_size;      // bytes of `out` that are gone already

    uint8_t *in;
    size_t in_capacity;
    size_t in_begin;   // where the message being received begins
    size_t in_scanned; // bytes that the scanner has seen
    size_t in_end;
    fm_scanner scanner;
    msgpack_zone zone; // of the message being delivered

    const uint8_t *message; // being delivered
    size_t message_size;
    msgpack_sbuffer reply_bytes; // of the last fm_client_call(): its result points here
    msgpack_zone reply_zone;

    const fm_client_hooks *hooks; // NULL: it does not follow
    struct fm_follow *follow;     // of the hooks
    uint64_t message_size_max;    // that the server accepts, from hello
    fm_client_traffic traffic;
};

/// Connects to one address, without following.
FM_CHECKED fm_status fm_client_open(const char *address, const fm_client_options *options,
                                    fm_client **out, fm_client_error *error);

/// The error that fm_client_error_last() returns.
fm_client_error *fm_client_error_of(fm_client *client);

/// Bytes of the largest message that the server takes.
size_t fm_client_message_size_max(const fm_client *client);

/// Notifies the program.
void fm_client_tell(fm_client *client, fm_notification notification, const msgpack_object *params);

/// Gives the client the connection of another one, with the bytes that it has received. Its own
/// requests keep waiting and are not sent.
void fm_client_exchange(fm_client *client, fm_client *other);

/// @return NULL: no request with this id waits
struct fm_client_pending *fm_client_pending_of(const fm_client *client, uint32_t id);

/// Queues a waiting request again; its deadline stays. @return false when out of memory
bool fm_client_repeat(fm_client *client, uint32_t id);

/// Ends a request that waits.
void fm_client_answer(fm_client *client, uint32_t id, const fm_client_error *error);

/// Ends the connection for good.
void fm_client_break(fm_client *client, const char *reason);
