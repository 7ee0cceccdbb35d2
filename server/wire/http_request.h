// server/wire/http_request.h: the head of an HTTP/1.1 request, from bytes to what was asked for.
//
// Strict, because a client that sends something odd is no browser of ours: lines end with CR LF,
// names are tokens, values have no control characters, no line is continued, the target is a path.
// What is refused is refused whole, with a status and a sentence. Nothing here is kept from one
// call to the next but a count of bytes that were looked at, so a head that comes byte by byte is
// read once.
//
// Format: RFC 9110 and 9112. A request has no body here.
//
// Threads: any; pure functions.

#pragma once

#include "core/base/base.h"

#define FM_HTTP_HEAD_MAX ((size_t)4096) // bytes of a request's head

// A piece of the head; not ended by NUL.
typedef struct fm_http_text {
    const char *bytes;
    size_t size;
} fm_http_text;

typedef struct fm_http_request {
    bool is_head;        // HEAD, and otherwise GET
    bool keeps_alive;    // another request may follow
    fm_http_text path;   // of the target, without the query; begins with '/', not decoded
    fm_http_text host;   // size 0: none
    fm_http_text origin; // the same; so for all that follow
    fm_http_text if_none_match;
    bool upgrades;     // it has an Upgrade
    bool is_websocket; // which is for a WebSocket, with the Connection that belongs to it
    fm_http_text socket_key, socket_version, socket_protocols;
} fm_http_request;

// Why a request is refused.
typedef struct fm_http_refusal {
    uint32_t status;    // 4xx or 5xx
    const char *reason; // static, ends with a line end
} fm_http_refusal;

/// Looks for the end of a head.
///
/// @param looked  bytes that were looked at before; 0 at the beginning; moved on
/// @return size of the head with its empty line, or 0: it is not whole yet
size_t fm_http_head_size(const uint8_t *bytes, size_t size, size_t *looked);

/// Reads a whole head; `request` points into it.
///
/// @param refusal  receives the reason on failure
/// @return false: to be refused, and the connection ended, for nobody knows what follows
bool fm_http_request_read(const uint8_t *head, size_t size, fm_http_request *request,
                          fm_http_refusal *refusal);

/// Whether one of the words of a comma-separated list is this one.
///
/// @param any_case  upper and lower case are the same
bool fm_http_list_has(fm_http_text list, const char *word, bool any_case);

/// Whether a text is this one, byte by byte.
bool fm_http_text_is(fm_http_text text, const char *other);
