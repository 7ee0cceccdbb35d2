// tests/sim/websocket.c: see websocket.h.

#include "tests/sim/websocket.h"

#include <string.h>

#define HEAD_MAX  14u // bytes of a frame's head, at most
#define FINAL     0x80u
#define MASKED    0x80u
#define CONTINUED 0x0u
#define TEXT      0x1u
#define BINARY    0x2u
#define CLOSE     0x8u
#define PING      0x9u
#define PONG      0xau

#define ANSWER_MAX 1024u // bytes of the answer to the handshake

// The example of RFC 6455, section 1.3.
static const char request[] = "GET /ws HTTP/1.1\r\n"
                              "Host: 127.0.0.1:7422\r\n"
                              "Upgrade: websocket\r\n"
                              "Connection: Upgrade\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                              "Sec-WebSocket-Protocol: fogmarch\r\n"
                              "Sec-WebSocket-Version: 13\r\n\r\n";
static const char accepted[] = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
static const char protocol[] = "Sec-WebSocket-Protocol: fogmarch\r\n";

void sim_websocket_open(sim_websocket *socket, sim_connection *connection, uint32_t index,
                        bool is_prompt)
{
    *socket = (sim_websocket){.index = index, .connection = connection, .is_prompt = is_prompt};
    sim_send(connection, request, sizeof request - 1);
}

void sim_websocket_fini(sim_websocket *socket)
{
    sim_bytes_fini(&socket->input);
    sim_bytes_fini(&socket->waiting);
}

// ---- sending -----------------------------------------------------------------------------------

static void send_frame(sim_websocket *socket, uint32_t first, const uint8_t *bytes, size_t size)
{
    uint8_t head[HEAD_MAX] = {(uint8_t)first};
    uint8_t mask[4], piece[256];
    size_t head_size = 2;
    if (size < 126) {
        head[1] = (uint8_t)(MASKED | size);
    } else {
        uint32_t length_size = size < 65536 ? 2 : 8;
        head[1] = MASKED | (length_size == 2 ? 126 : 127);
        for (uint32_t i = length_size; i > 0; i--) {
            head[head_size++] = (uint8_t)((uint64_t)size >> 8 * (i - 1));
        }
    }
    for (uint32_t i = 0; i < sizeof mask; i++) {
        head[head_size++] = mask[i] = (uint8_t)sim_below(256);
    }
    sim_send(socket->connection, head, head_size);
    for (size_t done = 0; done < size;) {
        size_t count = size - done < sizeof piece ? size - done : sizeof piece;
        for (size_t i = 0; i < count; i++) {
            piece[i] = bytes[done + i] ^ mask[(done + i) % sizeof mask];
        }
        sim_send(socket->connection, piece, count);
        done += count;
    }
}

static void send_ping(sim_websocket *socket)
{
    static const uint8_t text[] = "still there?";
    send_frame(socket, FINAL | PING, text, sizeof text);
    socket->pings++;
}

// Sends one message of the WebSocket, in one or more fragments.
static void send_message(sim_websocket *socket, const uint8_t *bytes, size_t size)
{
    uint32_t kind = BINARY;
    while (size > 1 && sim_chance(200)) {
        size_t part = 1 + sim_below((uint32_t)size - 1);
        send_frame(socket, kind, bytes, part);
        if (sim_chance(100)) {
            send_ping(socket);
        }
        kind = CONTINUED;
        bytes += part;
        size -= part;
    }
    send_frame(socket, FINAL | kind, bytes, size);
}

static void send_messages(sim_websocket *socket, const uint8_t *bytes, size_t size)
{
    while (size > 1 && sim_chance(100)) {
        size_t part = 1 + sim_below((uint32_t)size - 1);
        send_message(socket, bytes, part);
        bytes += part;
        size -= part;
    }
    send_message(socket, bytes, size);
    if (sim_chance(10)) {
        send_ping(socket);
    }
}

void sim_websocket_send(sim_websocket *socket, const void *bytes, size_t size)
{
    if (socket->state == SIM_WEBSOCKET_ASKED) {
        sim_bytes_append(&socket->waiting, bytes, size);
    } else if (socket->state == SIM_WEBSOCKET_OPEN && !socket->sends_close) {
        send_messages(socket, bytes, size);
    }
}

void sim_websocket_spoil(sim_websocket *socket)
{
    static const uint8_t wrong[][HEAD_MAX] = {
        {FINAL | TEXT, MASKED | 2, 1, 2, 3, 4, 'h', 'i'},
        {FINAL | BINARY, 3, 1, 2, 3},                           // not masked
        {FINAL | 0x3u, MASKED, 1, 2, 3, 4},                     // reserved kinds
        {FINAL | 0xbu, MASKED, 1, 2, 3, 4},                     //
        {FINAL | 0x70u | BINARY, MASKED, 1, 2, 3, 4},           // reserved bits
        {FINAL | CONTINUED, MASKED, 1, 2, 3, 4},                // continues no message
        {PING, MASKED, 1, 2, 3, 4},                             // fragmented control frame
        {FINAL | PING, MASKED | 126, 1, 0, 1, 2, 3, 4},         // control frame that is too long
        {FINAL | BINARY, MASKED | 127, 0xff, 0xff, 0xff, 0xff}, // impossible length
        {FINAL | CLOSE, MASKED | 1, 1, 2, 3, 4, 5},             // half a status code
    };
    uint8_t anything[HEAD_MAX];
    for (uint32_t i = 0; i < sizeof anything; i++) {
        anything[i] = (uint8_t)sim_below(256);
    }
    uint32_t which = sim_below(FM_COUNT_OF(wrong) + 1);
    sim_trace("client %u spoils its WebSocket: %u", socket->index, which);
    sim_note_fault(SIM_FAULT_SPOILT_FRAME);
    socket->spoilt = true;
    sim_send(socket->connection, which < FM_COUNT_OF(wrong) ? wrong[which] : anything,
             1 + sim_below(HEAD_MAX));
}

void sim_websocket_close(sim_websocket *socket)
{
    static const uint8_t going_away[] = {1001 >> 8, 1001 & 0xff};
    if (socket->state == SIM_WEBSOCKET_OPEN && !socket->sends_close) {
        socket->sends_close = true;
        send_frame(socket, FINAL | CLOSE, going_away, sizeof going_away);
    }
}

// ---- receiving ---------------------------------------------------------------------------------

void sim_websocket_feed(sim_websocket *socket, const void *bytes, size_t size)
{
    sim_bytes_append(&socket->input, bytes, size);
}

static void send_what_waited(sim_websocket *socket)
{
    size_t size = sim_bytes_size(&socket->waiting);
    if (size > 0) {
        send_messages(socket, sim_bytes_front(&socket->waiting), size);
        sim_bytes_drop(&socket->waiting, size);
    }
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void take_answer(sim_websocket *socket)
{
    char text[ANSWER_MAX + 1];
    size_t size = sim_bytes_size(&socket->input);
    size_t kept = size < ANSWER_MAX ? size : ANSWER_MAX;
    memcpy(text, sim_bytes_front(&socket->input), kept);
    text[kept] = '\0';
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL && size < ANSWER_MAX) {
        return;
    }
    if (end != NULL && !socket->is_prompt && strncmp(text, "HTTP/1.1 408 ", 13) == 0) {
        socket->state = SIM_WEBSOCKET_CLOSED; // the link was too slow for the server's time-out
        return;
    }
    if (end == NULL || strncmp(text, "HTTP/1.1 101 ", 13) != 0 || !has(text, accepted) ||
        !has(text, protocol)) {
        sim_fail("client %u: a WebSocket is answered with %s", socket->index, text);
    }
    sim_bytes_drop(&socket->input, (size_t)(end - text) + 4);
    socket->state = SIM_WEBSOCKET_OPEN;
    sim_trace("client %u has a WebSocket", socket->index);
    send_what_waited(socket);
}

// The size of the frame's head, and of its payload; 0: the head is not complete yet.
static size_t measure(const sim_websocket *socket, size_t *size)
{
    const uint8_t *bytes = sim_bytes_front(&socket->input);
    size_t there = sim_bytes_size(&socket->input);
    if (there < 2) {
        return 0;
    }
    size_t length_size = bytes[1] < 126 ? 0 : bytes[1] == 126 ? 2 : 8;
    if (there < 2 + length_size) {
        return 0;
    }
    *size = length_size == 0 ? bytes[1] : 0;
    for (size_t i = 0; i < length_size; i++) {
        *size = *size << 8 | bytes[2 + i];
    }
    return there - 2 - length_size < *size ? 0 : 2 + length_size;
}

static void check_head(const sim_websocket *socket, const uint8_t *head)
{
    uint32_t kind = head[0] & 0xfu;
    bool is_data = kind == CONTINUED || kind == BINARY;
    bool is_control = kind == CLOSE || kind == PING || kind == PONG;
    bool is_whole = (head[0] & FINAL) != 0 && head[1] < 126;
    if ((head[0] & 0x70u) != 0 || (head[1] & MASKED) != 0 || (!is_data && !is_control) ||
        (is_control && !is_whole) || (is_data && (kind == CONTINUED) != socket->in_message)) {
        sim_fail("client %u: a frame that begins with %02x %02x%s", socket->index, head[0], head[1],
                 socket->in_message ? " in a message" : "");
    }
}

static void take_control(sim_websocket *socket, uint32_t kind, const uint8_t *bytes, size_t size)
{
    if (kind == PING) {
        send_frame(socket, FINAL | PONG, bytes, size);
    } else if (kind == PONG) {
        if (socket->pings == 0 && !socket->spoilt) {
            sim_fail("client %u: a pong without a ping", socket->index);
        }
        socket->pings -= socket->pings > 0;
    } else {
        sim_websocket_close(socket);
        socket->state = SIM_WEBSOCKET_CLOSED;
        if (socket->in_message) {
            sim_fail("client %u: the server closes in the middle of a message", socket->index);
        }
    }
}

bool sim_websocket_next(sim_websocket *socket, sim_websocket_data *data)
{
    if (socket->state == SIM_WEBSOCKET_ASKED) {
        take_answer(socket);
    }
    size_t size, head_size = 0;
    if (socket->state != SIM_WEBSOCKET_OPEN || (head_size = measure(socket, &size)) == 0) {
        return false;
    }
    const uint8_t *head = sim_bytes_front(&socket->input);
    uint32_t kind = head[0] & 0xfu;
    bool is_last = (head[0] & FINAL) != 0;
    check_head(socket, head);
    sim_bytes_drop(&socket->input, head_size + size); // frees no memory: data stays valid
    *data = (sim_websocket_data){.bytes = head + head_size};
    if (kind == CONTINUED || kind == BINARY) {
        socket->in_message = !is_last;
        data->size = size;
        data->is_last = is_last;
    } else {
        take_control(socket, kind, head + head_size, size);
    }
    return true;
}
