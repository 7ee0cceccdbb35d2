// fogmarch/connection.h: a connection to a fogmarch server.
//
//   CONNECTED ── fm_client_destroy ──> gone
//       └── disconnect, bad bytes, queue full ──> BROKEN ── fm_client_destroy ──> gone
//
// Two ways to use it, which may be mixed on one connection:
//
// Blocking   fm_client_connect(), fm_client_hello(), then fm_client_call() per request. While a
//            call waits, notifications and answers to other requests are delivered.
// Polling    fm_client_send() queues a request with a callback; the owner of an event loop polls
//            fm_client_fd() for fm_client_events() and calls fm_client_on_readable(),
//            fm_client_flush() and, at the latest after fm_client_timeout_ms(), fm_client_expire().
//
// Many requests may be in flight; each is answered exactly once: by the server, by its time-out, or
// by the end of the connection. A BROKEN connection stays broken; every further call reports why.
//
// Ownership  the client owns its socket and buffers. What callbacks and replies point to lives
//            until the callback returns, or until the next call on the client, as each says.
// Threads one thread at a time per client; different clients are independent. Callbacks  run inside
// the functions that read (fm_client_call, _wait, _on_readable) or give up
//            (_expire, _destroy). They may send requests; they must not call, wait, read or
//            destroy.
// Errors     functions return a status; fm_client_error_last() has the text. For requests that the
//            server refused it has the server's code, name and message.

#pragma once

#include <fogmarch/object.h>
#include <fogmarch/params.h>
#include <fogmarch/words.h>

#define FM_CLIENT_ADDRESS     "127.0.0.1:7421" // where a server listens by default
#define FM_CLIENT_RESUME_SIZE 129u // of the resume token in hello's answer, NUL included

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fm_client fm_client;

// Why something failed.
typedef struct fm_client_error {
    fm_status status; // FM_OK: nothing failed; FM_ERR_IO: the connection
    uint64_t code;    // as the server sent it; may be newer than this list of statuses
    char name[32];    // on the wire, such as "off_grid"; "timeout" when no answer came in time
    char message[FM_ERROR_TEXT_SIZE]; // a sentence
} fm_client_error;

typedef struct fm_client_options {
    const char *name;        // of the program, in hello
    const char *token;       // in hello; NULL: none
    const char *resume;      // in hello, from the welcome of a connection that broke; NULL: none
    bool tls;                // over TLS, with a certificate that is checked
    const char *tls_ca_file; // PEM of trusted CAs; NULL: those of the system
    uint32_t connect_timeout_ms; // milliseconds per address of the host
    uint32_t timeout_ms;         // milliseconds for a request, with all its repeats in a cluster
    uint32_t follow_ms; // in a cluster: how long to look for a world's next node, see below; 0: no
    uint32_t requests_max; // requests in flight
    size_t unsent_max;     // bytes waiting for a server that does not read
    fm_scan_limits limits; // of each message received
} fm_client_options;

/// Name "fogmarch-client", no token, no TLS, 5 s to connect, 30 s per request, does not follow,
/// 65536 requests in flight, 64 MiB unsent; received: 256 MiB, depth 16, 40 Mi elements, enough for
/// the keyframe of the largest world.
fm_client_options fm_client_options_default(void);

// In a cluster, with follow_ms, a client goes where its world is: when its node dies, when a
// request is answered `moved`, or when a world that it subscribed to goes on elsewhere. It searches
// for the world at the nodes that hello named and at the addresses it was given, subscribes again
// (the numbers stay, a keyframe comes), and sends unanswered requests again; commands have a
// command_id, so that each is carried out once. However often a request is sent again, it ends
// after timeout_ms. If the search fails for follow_ms, it is BROKEN. Without a cluster follow_ms
// has no effect. Meanwhile the functions that read block, and afterwards fm_client_fd() is another
// socket; loops that must not block leave it off and ask world.locate.
//
// A client is on one node, and does not leave a world that it views for another one. When the world
// of one view goes elsewhere, the program is notified by FM_NOTIFY_MOVED, with the address (`tcp`;
// empty: none was found), and that view is over; the others go on. The same when a view cannot be
// subscribed to again; the notification then has `error`, which says why. When the node is gone,
// the client goes where its oldest view's world is. A program may end a view at any time; while the
// node does not have it, unsubscribe is answered FM_ERR_BAD_VALUE, and the view is over.

/// Connects, trying each address that the host's name has.
///
/// @param address  "ADDRESS:PORT", "[IPV6]:PORT" or "HOST:PORT"; several (64 at most), separated
///                 by commas, are tried in turn: the first that connects is taken, and with
///                 follow_ms the first that answers fm_client_hello()
/// @param options  copied; NULL: the defaults
/// @param out      receives the client, to be released with fm_client_destroy(); left alone on
/// failure
/// @param error    receives what failed; may be NULL
/// @return FM_OK, FM_ERR_BAD_VALUE (address), FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_client_connect(const char *address, const fm_client_options *options,
                                       fm_client **out, fm_client_error *error);

/// The address where a client that follows is now; empty for others. Good until the next call on
/// it.
const char *fm_client_address(const fm_client *client);

/// Makes a client of a connected stream socket, without TLS, which it then owns (also on failure:
/// it is closed).
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_client_adopt(int fd, const fm_client_options *options, fm_client **out);

/// Disconnects. Requests in flight are answered with FM_ERR_IO first. NULL is allowed.
void fm_client_destroy(fm_client *client);

// The server's answer to hello.
typedef struct fm_client_welcome {
    char server[96];                    // name and version
    char node[65];                      // its name in a cluster; empty: there is none
    uint64_t protocol;                  // number it speaks
    uint64_t session;                   // number of this session
    char role[32];                      // of this session
    char resume[FM_CLIENT_RESUME_SIZE]; // a secret, for the options of the next connection
    bool resumed;                       // whether `resume` of the options decided the role
    uint64_t message_size;              // bytes of the largest message it accepts
    uint64_t agents_max;                // of one request
    uint64_t cells_max;                 // of one request
} fm_client_welcome;

/// Sends hello and waits for the answer. Must come before any other request but ping.
/// @param welcome  may be NULL
/// @return FM_OK, or as fm_client_call()
FM_CHECKED fm_status fm_client_hello(fm_client *client, fm_client_welcome *welcome);

/// Sends a request and waits for its answer or time-out.
///
/// @param params  packed with fm_params_*(); NULL: none
/// @param result  receives the result, good until the next call on the client; may be NULL
/// @return FM_OK; FM_ERR_IO (broken connection, or no answer in time); else what the server said,
///         FM_ERR_BAD_MESSAGE for codes that this build does not know. fm_client_error_last() has
///         more.
FM_CHECKED fm_status fm_client_call(fm_client *client, fm_method method, const fm_params *params,
                                    const msgpack_object **result);

/// The answer to one request.
///
/// @param id      of the request, as fm_client_send() gave it
/// @param error   NULL: it was done; good until the callback returns
/// @param result  NULL with an error; good until the callback returns
typedef void fm_client_reply_fn(void *context, uint64_t id, const fm_client_error *error,
                                const msgpack_object *result);

/// Queues a request and sends what the socket accepts. Never blocks.
///
/// @param on_reply  called exactly once, later; NULL: the answer does not matter
/// @param id        receives the request's number; may be NULL
/// @return FM_OK, FM_ERR_BUSY (requests_max in flight or unsent_max bytes waiting: read first),
///         FM_ERR_NO_MEMORY, or FM_ERR_IO; on failure on_reply is not called
FM_CHECKED fm_status fm_client_send(fm_client *client, fm_method method, const fm_params *params,
                                    fm_client_reply_fn *on_reply, void *context, uint64_t *id);

/// A notification of the server; kinds that this build does not know are dropped.
///
/// @param params  a map; good until the callback returns
typedef void fm_client_notification_fn(void *context, fm_notification notification,
                                       const msgpack_object *params);

/// Sets the callback for notifications; may be NULL.
void fm_client_on_notification(fm_client *client, fm_client_notification_fn *on_notification,
                               void *context);

/// From now on notifications are counted but not unpacked or delivered. For clients that measure
/// what a view costs. `idle` is still answered.
void fm_client_skip_notifications(fm_client *client);

/// Time-out of requests sent from now on, in milliseconds.
void fm_client_set_timeout(fm_client *client, uint32_t timeout_ms);

/// The socket, for poll(). It is non-blocking.
int fm_client_fd(const fm_client *client);

/// What to poll the socket for: POLLIN, and POLLOUT while bytes are waiting.
short fm_client_events(const fm_client *client);

/// Milliseconds until fm_client_expire() may have something to do, rounded up; -1: nothing waits.
/// A client that follows its world (fm_client_options.follow_ms) waits all the time: whether its
/// node is silent.
int fm_client_timeout_ms(const fm_client *client);

/// Reads available bytes, up to a bound, and delivers messages. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_client_on_readable(fm_client *client);

/// Sends what the socket accepts. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_client_flush(fm_client *client);

/// Ends requests that have timed out. In a cluster it also asks a node whether it is there, after a
/// second without a byte from it, and follows the world elsewhere after two more; so it may read,
/// and deliver messages.
void fm_client_expire(fm_client *client);

/// Polls once, for at most timeout_ms (-1: no limit), and does all of the above.
/// A signal ends the wait early. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_client_wait(fm_client *client, int timeout_ms);

/// The error of the last function that failed on this client.
const fm_client_error *fm_client_error_last(const fm_client *client);

/// Requests that have no answer yet.
uint32_t fm_client_in_flight(const fm_client *client);

// Bytes on the wire since the connection was made.
typedef struct fm_client_traffic {
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t messages_in;
    uint64_t messages_out;
} fm_client_traffic;

fm_client_traffic fm_client_traffic_get(const fm_client *client);

/// As fm_client_call(), but retries while the server answers `busy`, for a minute at most.
FM_CHECKED fm_status fm_client_call_patiently(fm_client *client, fm_method method,
                                              const fm_params *params,
                                              const msgpack_object **result);

/// Sends a file in pieces that fit the server's limits (announced by hello) and waits.
///
/// @param upload  receives the number for world.create (a .map file) or world.load (a saved world)
/// @return as fm_client_call()
FM_CHECKED fm_status fm_client_upload(fm_client *client, const char *bytes, size_t size,
                                      uint64_t *upload);

/// Fetches the file of a world.save piece by piece and waits.
///
/// @param save         what world.save answered
/// @param total        the same
/// @param bytes        receives `total` bytes, to be released with free(); left alone on failure
/// @return as fm_client_call()
FM_CHECKED fm_status fm_client_download(fm_client *client, uint64_t save, size_t total,
                                        char **bytes);

#ifdef __cplusplus
}
#endif
