// server/wire/http_request.h: parses the head of an HTTP/1.1 request.
//
// Strict, because clients are browsers and known tools: lines end with CR LF, names are tokens,
// values have no control characters, no line is continued, the target is a path. A request is
// refused whole, with a status and a sentence. The only state between calls is a count of scanned
// bytes, so a head that comes byte by byte is scanned once.
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

/// Searches for the end of a head.
///
/// @param looked  bytes that were scanned before; 0 at the beginning; updated
/// @return size of the head with its empty line, or 0: it is not whole yet
size_t fm_http_head_size(const uint8_t *bytes, size_t size, size_t *looked);

/// Reads a whole head; `request` points into it.
///
/// @param refusal  receives the reason on failure
/// @return false: refuse it and end the connection, because the rest cannot be parsed
bool fm_http_request_read(const uint8_t *head, size_t size, fm_http_request *request,
                          fm_http_refusal *refusal);

/// Whether a comma-separated list has this word.
///
/// @param any_case  upper and lower case are the same
bool fm_http_list_has(fm_http_text list, const char *word, bool any_case);

/// Whether a text equals this one, byte by byte.
bool fm_http_text_is(fm_http_text text, const char *other);
