// server/process/http_answer.h: the answer of a page: body and head.
//
// Every answer has a length and the rules for browsers: only our own scripts, styles and
// connections, no frames, no content sniffing.
//
// Threads: the event loop.

#pragma once

#include "server/base/frame.h"

#define FM_HTTP_ETAG_SIZE 20u // of "16 digits", in quotes, with a NUL

typedef struct fm_http_answer {
    uint32_t status;
    const char *type;             // of the body, static
    const char *further;          // lines of the head besides, each with its end; NULL: none
    char etag[FM_HTTP_ETAG_SIZE]; // empty: none, and the answer is not to be kept
    fm_frame *body;               // one reference; NULL: none, as in 304
} fm_http_answer;

/// An answer that is a text.
///
/// @param further  static
/// @return its body is NULL when out of memory
fm_http_answer fm_http_answer_text(uint32_t status, const char *further, const char *text);

/// Makes the head of an answer.
///
/// @param closes  the connection ends with it
/// @return NULL when out of memory
fm_frame *fm_http_answer_head(const fm_http_answer *answer, bool closes);

/// Makes the answer to a WebSocket's handshake.
///
/// @param accept    what fm_websocket_accept() makes of its key
/// @param protocol  the subprotocol that was agreed on; NULL: none was asked for
fm_frame *fm_http_answer_upgrade(const char *accept, const char *protocol);
