// server/wire/websocket.c: see websocket.h.

#include "server/wire/websocket.h"

#include <openssl/evp.h>
#include <string.h>

#define FINAL     0x80u
#define RESERVED  0x70u
#define KIND      0x0fu
#define IS_CTRL   0x08u
#define MASKED    0x80u
#define SHORT_MAX 125u // larger sizes stand behind the second byte: 126, 2 bytes; 127, 8 bytes
#define MASK_SIZE 4u
#define KEY_SIZE  24u // of 16 bytes in base64

static void refuse(fm_websocket_heard *heard, uint32_t code, const char *error)
{
    heard->error_code = code;
    heard->error = error;
}

// ---- heads -------------------------------------------------------------------------------------

static size_t length_size(const uint8_t *head)
{
    uint32_t size = head[1] & ~MASKED & 0xff;
    return size <= SHORT_MAX ? 0 : size == 126 ? 2 : 8;
}

static size_t head_size_needed(const fm_websocket_decoder *decoder)
{
    return decoder->head_size < 2 ? 2 : 2 + length_size(decoder->head) + MASK_SIZE;
}

static uint64_t payload_size(const uint8_t *head)
{
    size_t count = length_size(head);
    uint64_t size = count == 0 ? head[1] & ~MASKED & 0xff : 0;
    for (size_t i = 0; i < count; i++) {
        size = size << 8 | head[2 + i];
    }
    return size;
}

static bool is_control(const fm_websocket_decoder *decoder)
{
    return (decoder->head[0] & IS_CTRL) != 0;
}

// Parses the first two bytes. If these are wrong, later ones are not awaited.
static void check_beginning(const fm_websocket_decoder *decoder, fm_websocket_heard *heard)
{
    uint32_t kind = decoder->head[0] & KIND;
    bool is_final = (decoder->head[0] & FINAL) != 0;
    bool is_known =
        kind <= FM_WEBSOCKET_BINARY || (kind >= FM_WEBSOCKET_CLOSE && kind <= FM_WEBSOCKET_PONG);
    if ((decoder->head[0] & RESERVED) != 0 || !is_known) {
        refuse(heard, FM_WEBSOCKET_MALFORMED, "a frame of an unknown kind");
    } else if ((decoder->head[1] & MASKED) == 0) {
        refuse(heard, FM_WEBSOCKET_MALFORMED, "a client masks its frames");
    } else if (is_control(decoder)) {
        if (!is_final || length_size(decoder->head) > 0) {
            refuse(heard, FM_WEBSOCKET_MALFORMED, "a control frame that is long or in fragments");
        }
    } else if ((kind == FM_WEBSOCKET_CONTINUED) != decoder->in_message) {
        refuse(heard, FM_WEBSOCKET_MALFORMED, "fragments of messages are mixed up");
    } else if (kind == FM_WEBSOCKET_TEXT) {
        refuse(heard, FM_WEBSOCKET_NOT_BINARY,
               "messages are MessagePack in binary frames, not text");
    }
}

static void begin_payload(fm_websocket_decoder *decoder, fm_websocket_heard *heard)
{
    uint64_t size = payload_size(decoder->head);
    size_t count = length_size(decoder->head);
    bool is_shortest = count == 0 || (count == 2 ? size > SHORT_MAX : size > UINT16_MAX);
    if (!is_shortest || size > INT64_MAX) {
        refuse(heard, FM_WEBSOCKET_MALFORMED, "a frame's length is malformed");
    } else if (size > decoder->frame_size_max) {
        refuse(heard, FM_WEBSOCKET_TOO_LARGE, "a frame is longer than a message may be");
    }
    if (!is_control(decoder)) {
        decoder->in_message = (decoder->head[0] & FINAL) == 0;
    }
    decoder->payload_left = size;
    decoder->in_payload = true;
    decoder->control_size = 0;
    decoder->mask_at = 0;
}

// ---- payloads ----------------------------------------------------------------------------------

static bool is_close_code(uint32_t code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static void take_close(const fm_websocket_decoder *decoder, fm_websocket_heard *heard)
{
    uint32_t code = decoder->control_size < 2
                        ? FM_WEBSOCKET_NO_CODE
                        : (uint32_t)decoder->control[0] << 8 | decoder->control[1];
    if (decoder->control_size == 1 || (decoder->control_size > 1 && !is_close_code(code))) {
        refuse(heard, FM_WEBSOCKET_MALFORMED, "a close frame without a sound code");
    } else {
        heard->close_code = code;
    }
}

static void end_frame(fm_websocket_decoder *decoder, fm_websocket_heard *heard)
{
    uint32_t kind = decoder->head[0] & KIND;
    if (kind == FM_WEBSOCKET_PING) {
        heard->has_pinged = true;
        heard->pinged_size = decoder->control_size;
        memcpy(heard->pinged, decoder->control, decoder->control_size);
    } else if (kind == FM_WEBSOCKET_CLOSE) {
        take_close(decoder, heard);
    }
    decoder->in_payload = false;
    decoder->head_size = 0;
}

static void unmask(fm_websocket_decoder *decoder, const uint8_t *bytes, size_t size, uint8_t *out)
{
    const uint8_t *mask = decoder->head + decoder->head_size - MASK_SIZE;
    uint8_t turned[MASK_SIZE]; // so that its first byte is the next one's
    for (size_t i = 0; i < MASK_SIZE; i++) {
        turned[i] = mask[(decoder->mask_at + i) % MASK_SIZE];
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = bytes[i] ^ turned[i % MASK_SIZE];
    }
    decoder->mask_at = (uint8_t)((decoder->mask_at + size) % MASK_SIZE);
}

// @return bytes taken
static size_t take_payload(fm_websocket_decoder *decoder, const uint8_t *bytes, size_t size,
                           uint8_t *out, fm_websocket_heard *heard)
{
    size = size < decoder->payload_left ? size : (size_t)decoder->payload_left;
    if (is_control(decoder)) {
        unmask(decoder, bytes, size, decoder->control + decoder->control_size);
        decoder->control_size = (uint8_t)(decoder->control_size + size);
    } else {
        unmask(decoder, bytes, size, out + heard->size);
        heard->size += size;
    }
    decoder->payload_left -= size;
    return size;
}

// @return bytes taken
static size_t take_head(fm_websocket_decoder *decoder, const uint8_t *bytes, size_t size,
                        fm_websocket_heard *heard)
{
    size_t taken = 0;
    while (taken < size && decoder->head_size < head_size_needed(decoder)) {
        decoder->head[decoder->head_size++] = bytes[taken++];
        if (decoder->head_size == 2) {
            check_beginning(decoder, heard);
            if (heard->error_code != 0) {
                return taken;
            }
        }
    }
    if (decoder->head_size == head_size_needed(decoder) && decoder->head_size > 2) {
        begin_payload(decoder, heard);
    }
    return taken;
}

void fm_websocket_decode(fm_websocket_decoder *decoder, const uint8_t *bytes, size_t size,
                         uint8_t *out, fm_websocket_heard *heard)
{
    heard->size = heard->pinged_size = 0;
    heard->has_pinged = false;
    heard->close_code = heard->error_code = 0;
    heard->error = NULL;
    for (size_t at = 0; at < size && heard->error_code == 0 && heard->close_code == 0;) {
        at += decoder->in_payload ? take_payload(decoder, bytes + at, size - at, out, heard)
                                  : take_head(decoder, bytes + at, size - at, heard);
        if (decoder->in_payload && decoder->payload_left == 0 && heard->error_code == 0) {
            end_frame(decoder, heard);
        }
    }
}

// ---- ours --------------------------------------------------------------------------------------

size_t fm_websocket_head(fm_websocket_kind kind, uint64_t size, uint8_t *head)
{
    head[0] = (uint8_t)(FINAL | (uint32_t)kind);
    if (size <= SHORT_MAX) {
        head[1] = (uint8_t)size;
        return 2;
    }
    size_t count = size <= UINT16_MAX ? 2 : 8;
    head[1] = count == 2 ? 126 : 127;
    for (size_t i = 0; i < count; i++) {
        head[2 + i] = (uint8_t)(size >> 8 * (count - 1 - i));
    }
    return 2 + count;
}

bool fm_websocket_accept(const char *key, size_t size, char *text)
{
    static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, section 1.3
    char joined[KEY_SIZE + sizeof suffix];
    uint8_t bytes[KEY_SIZE], digest[EVP_MAX_MD_SIZE];
    unsigned int digest_size;
    if (size != KEY_SIZE || memcmp(key + KEY_SIZE - 2, "==", 2) != 0) {
        return false;
    }
    memcpy(joined, key, KEY_SIZE);
    memcpy(joined + KEY_SIZE, suffix, sizeof suffix);
    if (EVP_DecodeBlock(bytes, (const uint8_t *)joined, KEY_SIZE) < 0 ||
        EVP_Digest(joined, sizeof joined - 1, digest, &digest_size, EVP_sha1(), NULL) != 1) {
        return false;
    }
    EVP_EncodeBlock((uint8_t *)text, digest, (int)digest_size);
    return true;
}
