// server/process/http_origin.c: see http_origin.h.

#include "server/process/http_origin.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool origin_is_listed(const char *origins, const char *origin)
{
    size_t size = strlen(origin);
    for (const char *entry = origins; *entry != '\0';) {
        size_t entry_size = strcspn(entry, ", ");
        if (entry_size == size && strncasecmp(entry, origin, size) == 0) {
            return true;
        }
        entry += entry_size;
        entry += strspn(entry, ", ");
    }
    return false;
}

// Whether a Host header names a machine by itself: a number, or localhost.
static bool host_is_fixed(const char *host)
{
    struct in6_addr address;
    char name[256];
    bool in_brackets = host[0] == '[';
    size_t size = in_brackets ? strcspn(host + 1, "]") : strcspn(host, ":");
    snprintf(name, sizeof name, "%.*s", (int)size, host + in_brackets);
    return strcasecmp(name, "localhost") == 0 ||
           inet_pton(in_brackets ? AF_INET6 : AF_INET, name, &address) == 1;
}

// @return false: it is longer than any allowed one
static bool copy(fm_http_text text, char *out, size_t room)
{
    if (text.size >= room) {
        return false;
    }
    memcpy(out, text.bytes, text.size);
    out[text.size] = '\0';
    return true;
}

bool fm_http_host_is_fixed(const fm_http_request *request)
{
    char host[256];
    return request->host.size == 0 ||
           (copy(request->host, host, sizeof host) && host_is_fixed(host));
}

bool fm_http_origin_is_welcome(const fm_http_request *request, const char *origins,
                               bool needs_token)
{
    char origin[300], host[256];
    if (request->origin.size == 0) {
        return true;
    }
    if (request->host.size == 0 || !copy(request->origin, origin, sizeof origin) ||
        !copy(request->host, host, sizeof host)) {
        return false;
    }
    const char *authority = strstr(origin, "://");
    bool is_own = authority != NULL && strcasecmp(authority + 3, host) == 0 &&
                  (needs_token || host_is_fixed(host));
    return is_own || origin_is_listed(origins, origin);
}
