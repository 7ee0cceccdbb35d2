// server/process/http_answer.c: see http_answer.h.

#include "server/process/http_answer.h"

#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 1024u

// connect-src names ws and wss, because older browsers do not count them as 'self'.
static const char rules[] =
    "content-security-policy: default-src 'none'; img-src 'self' data:; script-src 'self'; "
    "font-src 'self'; style-src 'self'; connect-src 'self' ws: wss:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'\r\n"
    "x-content-type-options: nosniff\r\n"
    "x-frame-options: deny\r\n"
    "referrer-policy: no-referrer\r\n";

static const char *reason_of(uint32_t status)
{
    static const struct {
        uint32_t status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {417, "Expectation Failed"},
        {426, "Upgrade Required"},
        {431, "Request Header Fields Too Large"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(reasons); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    FM_UNREACHABLE();
}

fm_http_answer fm_http_answer_text(uint32_t status, const char *further, const char *text)
{
    return (fm_http_answer){
        .status = status,
        .type = "text/plain; charset=utf-8",
        .further = further,
        .body = fm_frame_copy(text, strlen(text)),
    };
}

static fm_frame *make_frame(const char *text, int size)
{
    FM_ASSERT(size > 0 && (size_t)size < HEAD_SIZE);
    return fm_frame_copy(text, (size_t)size);
}

fm_frame *fm_http_answer_head(const fm_http_answer *answer, bool closes)
{
    char head[HEAD_SIZE], body[160] = "", etag[64] = "cache-control: no-store\r\n";
    if (answer->body != NULL) {
        snprintf(body, sizeof body, "content-type: %s\r\ncontent-length: %zu\r\n", answer->type,
                 answer->body->size);
    }
    if (answer->etag[0] != '\0') {
        snprintf(etag, sizeof etag, "cache-control: no-cache\r\netag: %s\r\n", answer->etag);
    }
    int size = snprintf(head, sizeof head, "HTTP/1.1 %u %s\r\n%s%s%s%s%s\r\n", answer->status,
                        reason_of(answer->status), rules, body, etag,
                        answer->further == NULL ? "" : answer->further,
                        closes ? "connection: close\r\n" : "");
    return make_frame(head, size);
}

fm_frame *fm_http_answer_upgrade(const char *accept, const char *protocol)
{
    char head[HEAD_SIZE];
    int size = snprintf(head, sizeof head,
                        "HTTP/1.1 101 Switching Protocols\r\n"
                        "Upgrade: websocket\r\n"
                        "Connection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n"
                        "%s%s%s\r\n",
                        accept, protocol == NULL ? "" : "Sec-WebSocket-Protocol: ",
                        protocol == NULL ? "" : protocol, protocol == NULL ? "" : "\r\n");
    return make_frame(head, size);
}
