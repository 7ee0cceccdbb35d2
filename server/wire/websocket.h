// server/wire/websocket.h: encodes and decodes WebSocket frames (RFC 6455).
//
//   HEAD ── its 2 to 14 bytes are there ──> PAYLOAD ── all of it ──> HEAD
//     └── what must not be ──> refused, with a close code
//
// Input is decoded as it comes: the payload of data frames is unmasked into one piece, and nothing
// of it is kept, so even a frame at the limit costs no memory. Payloads of control frames, 125
// bytes at most, are kept until they are whole. An idle connection takes 160 bytes here; a frame
// context of wslay has 4.2 KiB.
//
// There are no extensions, so nothing is compressed.
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/base.h"

#define FM_WEBSOCKET_HEAD_MAX    14u  // bytes of a frame's head
#define FM_WEBSOCKET_CONTROL_MAX 125u // bytes of a control frame's payload
#define FM_WEBSOCKET_ACCEPT_SIZE 29u  // of the text that accepts a key, with its NUL

// Close codes of ours.
#define FM_WEBSOCKET_GOING_AWAY 1001u
#define FM_WEBSOCKET_MALFORMED  1002u
#define FM_WEBSOCKET_NOT_BINARY 1003u
#define FM_WEBSOCKET_NO_CODE    1005u // stands for a close frame without one; is never sent
#define FM_WEBSOCKET_TOO_LARGE  1009u

typedef enum fm_websocket_kind {
    FM_WEBSOCKET_CONTINUED = 0x0,
    FM_WEBSOCKET_TEXT = 0x1,
    FM_WEBSOCKET_BINARY = 0x2,
    FM_WEBSOCKET_CLOSE = 0x8,
    FM_WEBSOCKET_PING = 0x9,
    FM_WEBSOCKET_PONG = 0xa,
} fm_websocket_kind;

// How far a client's frames have been read. Zeroed but for the limit: at the beginning.
typedef struct fm_websocket_decoder {
    uint64_t frame_size_max; // bytes of one frame's payload
    uint64_t payload_left;   // of the frame that has begun
    bool in_payload;
    bool in_message; // between the fragments of a message
    uint8_t head_size, mask_at, control_size;
    uint8_t head[FM_WEBSOCKET_HEAD_MAX];
    uint8_t control[FM_WEBSOCKET_CONTROL_MAX];
} fm_websocket_decoder;

// The result of decoding some bytes.
typedef struct fm_websocket_heard {
    size_t size;     // bytes of messages that were written to `out`
    bool has_pinged; // of several pings the last one, which must be answered
    uint8_t pinged[FM_WEBSOCKET_CONTROL_MAX];
    size_t pinged_size;
    uint32_t close_code; // of the client; 0: it has not closed
    uint32_t error_code; // to close with; 0: all is well
    const char *error;   // static
} fm_websocket_heard;

/// Reads what a client sent. Nothing after a close frame or an error is read; the decoder is
/// finished then.
///
/// @param out    receives the bytes of messages, in one piece; has room for `size`
/// @param heard  receives the result
void fm_websocket_decode(fm_websocket_decoder *decoder, const uint8_t *bytes, size_t size,
                         uint8_t *out, fm_websocket_heard *heard);

/// Writes the head of an unfragmented frame of ours, which is not masked.
///
/// @param head  has room for FM_WEBSOCKET_HEAD_MAX
/// @return its size
size_t fm_websocket_head(fm_websocket_kind kind, uint64_t payload_size, uint8_t *head);

/// The answer to a Sec-WebSocket-Key.
///
/// @param text  receives it; has room for FM_WEBSOCKET_ACCEPT_SIZE
/// @return false: it is no key, which is 16 bytes in base64
bool fm_websocket_accept(const char *key, size_t size, char *text);
