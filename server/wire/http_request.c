// server/wire/http_request.c: see http_request.h.

#include "server/wire/http_request.h"

#include <string.h>
#include <strings.h>

size_t fm_http_head_size(const uint8_t *bytes, size_t size, size_t *looked)
{
    for (; *looked < size; (*looked)++) {
        size_t at = *looked;
        if (bytes[at] == '\n' && at >= 3 && memcmp(bytes + at - 3, "\r\n\r\n", 4) == 0) {
            return at + 1;
        }
    }
    return 0;
}

// ---- texts -------------------------------------------------------------------------------------

bool fm_http_text_is(fm_http_text text, const char *other)
{
    return text.size == strlen(other) && memcmp(text.bytes, other, text.size) == 0;
}

static bool is_word(fm_http_text text, const char *other, bool any_case)
{
    return any_case ? text.size == strlen(other) && strncasecmp(text.bytes, other, text.size) == 0
                    : fm_http_text_is(text, other);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static fm_http_text trim(fm_http_text text)
{
    while (text.size > 0 && is_blank(text.bytes[0])) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && is_blank(text.bytes[text.size - 1])) {
        text.size--;
    }
    return text;
}

// Takes the bytes before the first `end`, which is dropped, or all bytes.
static fm_http_text take_until(fm_http_text *rest, char end)
{
    fm_http_text taken = *rest;
    const char *found = rest->size == 0 ? NULL : memchr(rest->bytes, end, rest->size);
    if (found == NULL) {
        rest->bytes += rest->size;
        rest->size = 0;
        return taken;
    }
    taken.size = (size_t)(found - rest->bytes);
    rest->bytes += taken.size + 1;
    rest->size -= taken.size + 1;
    return taken;
}

bool fm_http_list_has(fm_http_text list, const char *word, bool any_case)
{
    while (list.size > 0) {
        if (is_word(trim(take_until(&list, ',')), word, any_case)) {
            return true;
        }
    }
    return false;
}

// What names of methods and headers consist of.
static bool is_token(fm_http_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool is_digit = byte >= '0' && byte <= '9';
        if (!is_letter && !is_digit && (byte == '\0' || strchr("!#$%&'*+-.^_`|~", byte) == NULL)) {
            return false;
        }
    }
    return text.size > 0;
}

// Visible bytes of ASCII.
static bool is_target(fm_http_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] <= ' ' || text.bytes[i] > '~' || text.bytes[i] == '#') {
            return false;
        }
    }
    return text.size > 0 && text.bytes[0] == '/';
}

static bool is_value(fm_http_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return false;
        }
    }
    return true;
}

// ---- lines -------------------------------------------------------------------------------------

// Facts gathered from the lines that are not in the request.
struct reading {
    fm_http_request *request;
    fm_http_refusal *refusal;
    bool is_old; // HTTP/1.0
    uint32_t host_count, key_count;
    bool closes, keeps_alive, wants_upgrade, names_websocket;
};

static bool refuse(struct reading *reading, uint32_t status, const char *reason)
{
    *reading->refusal = (fm_http_refusal){.status = status, .reason = reason};
    return false;
}

static bool take_version(struct reading *reading, fm_http_text version)
{
    reading->is_old = fm_http_text_is(version, "HTTP/1.0");
    if (reading->is_old || fm_http_text_is(version, "HTTP/1.1")) {
        return true;
    }
    bool is_http = version.size > 5 && memcmp(version.bytes, "HTTP/", 5) == 0;
    return is_http ? refuse(reading, 505, "this port speaks HTTP/1.1\n")
                   : refuse(reading, 400, "this is no request of HTTP/1.1\n");
}

static bool take_request_line(struct reading *reading, fm_http_text line)
{
    fm_http_text method = take_until(&line, ' ');
    fm_http_text target = take_until(&line, ' ');
    if (!is_token(method)) {
        return refuse(reading, 400, "this is no request of HTTP/1.1\n");
    }
    if (!take_version(reading, line)) {
        return false;
    }
    reading->request->is_head = fm_http_text_is(method, "HEAD");
    if (!reading->request->is_head && !fm_http_text_is(method, "GET")) {
        return refuse(reading, 405, "only GET and HEAD are served\n");
    }
    if (!is_target(target)) {
        return refuse(reading, 400, "the target of the request is no path\n");
    }
    reading->request->path = take_until(&target, '?');
    return true;
}

static bool is_zero(fm_http_text number)
{
    for (size_t i = 0; i < number.size; i++) {
        if (number.bytes[i] != '0') {
            return false;
        }
    }
    return number.size > 0;
}

static bool take_field(struct reading *reading, fm_http_text name, fm_http_text value)
{
    fm_http_request *request = reading->request;
    if (is_word(name, "host", true)) {
        request->host = value;
        reading->host_count++;
    } else if (is_word(name, "origin", true)) {
        request->origin = value;
    } else if (is_word(name, "connection", true)) {
        reading->closes |= fm_http_list_has(value, "close", true);
        reading->keeps_alive |= fm_http_list_has(value, "keep-alive", true);
        reading->wants_upgrade |= fm_http_list_has(value, "upgrade", true);
    } else if (is_word(name, "upgrade", true)) {
        request->upgrades = true;
        reading->names_websocket |= is_word(value, "websocket", true);
    } else if (is_word(name, "sec-websocket-key", true)) {
        request->socket_key = value;
        reading->key_count++;
    } else if (is_word(name, "sec-websocket-version", true)) {
        request->socket_version = value;
    } else if (is_word(name, "sec-websocket-protocol", true)) {
        request->socket_protocols = value;
    } else if (is_word(name, "if-none-match", true)) {
        request->if_none_match = value;
    } else if (is_word(name, "transfer-encoding", true) ||
               (is_word(name, "content-length", true) && !is_zero(value))) {
        return refuse(reading, 400, "a request has no body here\n");
    } else if (is_word(name, "expect", true)) {
        return refuse(reading, 417, "nothing is expected here\n");
    }
    return true;
}

static bool take_field_line(struct reading *reading, fm_http_text line)
{
    fm_http_text name = take_until(&line, ':');
    fm_http_text value = trim(line);
    if (!is_token(name) || line.bytes == name.bytes + name.size || !is_value(value)) {
        return refuse(reading, 400, "a line of the request's head is malformed\n");
    }
    return take_field(reading, name, value);
}

// Checks that need several lines.
static bool conclude(struct reading *reading)
{
    fm_http_request *request = reading->request;
    if (reading->host_count > 1 || (reading->host_count == 0 && !reading->is_old)) {
        return refuse(reading, 400, "a request names one Host\n");
    }
    request->keeps_alive = reading->is_old ? reading->keeps_alive : !reading->closes;
    request->is_websocket = reading->names_websocket && reading->wants_upgrade &&
                            reading->key_count == 1 && !reading->is_old && !request->is_head;
    if (request->upgrades && !reading->names_websocket) {
        return refuse(reading, 400, "the only upgrade is to websocket\n");
    }
    return true;
}

bool fm_http_request_read(const uint8_t *head, size_t size, fm_http_request *request,
                          fm_http_refusal *refusal)
{
    struct reading reading = {.request = request, .refusal = refusal};
    fm_http_text rest = {.bytes = (const char *)head, .size = size};
    *request = (fm_http_request){0};
    for (bool is_first = true; rest.size > 0; is_first = false) {
        fm_http_text line = take_until(&rest, '\n');
        if (line.size == 0 || line.bytes[line.size - 1] != '\r') {
            return refuse(&reading, 400, "a line does not end with CR LF\n");
        }
        line.size--;
        if (line.size == 0 && !is_first) {
            break; // the end of the head
        }
        if (is_first ? !take_request_line(&reading, line) : !take_field_line(&reading, line)) {
            return false;
        }
    }
    return conclude(&reading);
}
