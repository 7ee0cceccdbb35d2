// clients/cli/commands/healthcheck.c: `healthcheck`, for containers and service managers: one line,
// one exit code, no token.
//
// Over TCP it sends the one request that may come before hello, a ping, so that a check never
// counts as a wrong token. Over HTTP it expects the status 200.

#include "clients/cli/commands/commands.h"

#include "clients/c/connect.h"
#include "clients/c/link.h"
#include "clients/cli/base/json.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DEFAULT_TIMEOUT_MS 3000u
#define DEFAULT_PATH       "/readyz"
#define STATUS_LINE_MAX    64u // "HTTP/1.1 200 " and a little more

// A URL in its parts.
struct url {
    bool tls;
    char address[256]; // HOST:PORT
    const char *path;
};

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int report(const fm_cli *cli, const char *target, uint64_t begin_us,
                  const fm_client_error *error)
{
    double took_ms = (double)(now_us() - begin_us) / 1000;
    if (cli->json) {
        printf("{\"healthy\":%s,\"target\":", error == NULL ? "true" : "false");
        fm_json_print_text(target, strlen(target));
        printf(",\"milliseconds\":%.3f", took_ms);
        if (error != NULL) {
            printf(",\"reason\":");
            fm_json_print_text(error->message, strlen(error->message));
        }
        puts("}");
    } else if (error == NULL) {
        printf("healthy: %s answered in %.1f ms\n", target, took_ms);
    } else {
        printf("unhealthy: %s: %s\n", target, error->message);
    }
    return error == NULL ? 0 : FM_EXIT_FAILED;
}

// ---- TCP ----------------------------------------------------------------------------------------

static int check_tcp(fm_cli *cli, const char *address)
{
    fm_client_options options = fm_client_options_default();
    fm_client_error error;
    uint64_t begin_us = now_us();
    options.connect_timeout_ms = options.timeout_ms = cli->timeout_ms;
    options.tls = cli->tls;
    options.tls_ca_file = cli->tls_ca_file;
    fm_status status = fm_client_connect(address, &options, &cli->client, &error);
    if (status == FM_ERR_BAD_VALUE) {
        fm_cli_usage_error(cli, "%s", error.message);
    }
    if (status != FM_OK) {
        return report(cli, address, begin_us, &error);
    }
    if (fm_client_call(cli->client, FM_METHOD_PING, NULL, NULL) != FM_OK) {
        return report(cli, address, begin_us, fm_client_error_last(cli->client));
    }
    return report(cli, address, begin_us, NULL);
}

// ---- HTTP ---------------------------------------------------------------------------------------

// http://HOST[:PORT][/PATH], or https. @return false when it is no such URL
static bool parse_url(const char *text, struct url *url)
{
    const char *rest = NULL;
    if (strncmp(text, "http://", 7) == 0) {
        rest = text + 7;
    } else if (strncmp(text, "https://", 8) == 0) {
        rest = text + 8;
    }
    if (rest == NULL) {
        return false;
    }
    url->tls = text[4] == 's';
    size_t size = strcspn(rest, "/");
    const char *after_bracket = memchr(rest, ']', size);
    const char *host_end = after_bracket == NULL ? rest : after_bracket;
    bool has_port = memchr(host_end, ':', size - (size_t)(host_end - rest)) != NULL;
    url->path = strcmp(rest + size, "/") == 0 || rest[size] == '\0' ? DEFAULT_PATH : rest + size;
    int written = snprintf(url->address, sizeof url->address, "%.*s%s", (int)size, rest,
                           has_port   ? ""
                           : url->tls ? ":443"
                                      : ":80");
    return size > 0 && written > 0 && (size_t)written < sizeof url->address;
}

// Waits until the link can be read from or written to. @return false on time-out
static bool wait_for(const fm_link *link, short events, uint64_t end_us)
{
    uint64_t now = now_us();
    struct pollfd poller = {.fd = link->fd, .events = events};
    return now < end_us && poll(&poller, 1, (int)((end_us - now) / 1000 + 1)) > 0;
}

static fm_status send_request(fm_link *link, const struct url *url, uint64_t end_us,
                              fm_client_error *error)
{
    char request[1024];
    int size = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: fogmarch/" FOGMARCH_VERSION
                        "\r\nConnection: close\r\n\r\n",
                        url->path, url->address);
    if (size < 0 || (size_t)size >= sizeof request) {
        return fm_client_error_set(error, FM_ERR_BAD_VALUE, "the URL is too long");
    }
    for (size_t sent = 0; sent < (size_t)size;) {
        ssize_t written = fm_link_write(link, request + sent, (size_t)size - sent);
        if (written > 0) {
            sent += (size_t)written;
        } else if (errno != EAGAIN || !wait_for(link, POLLOUT, end_us)) {
            return fm_client_error_set(error, FM_ERR_IO, "cannot send a request: %s",
                                       strerror(errno));
        }
    }
    return FM_OK;
}

// Reads the first line of the answer, and checks that its status is 200.
static fm_status read_status(fm_link *link, uint64_t end_us, fm_client_error *error)
{
    char line[STATUS_LINE_MAX + 1] = "";
    size_t size = 0;
    while (size < STATUS_LINE_MAX && strpbrk(line, "\r\n") == NULL) {
        ssize_t count = fm_link_read(link, line + size, STATUS_LINE_MAX - size);
        if (count > 0) {
            size += (size_t)count;
            line[size] = '\0';
        } else if (count == 0) {
            return fm_client_error_set(error, FM_ERR_IO, "it disconnected without an answer");
        } else if (errno != EAGAIN) {
            return fm_client_error_set(error, FM_ERR_IO, "no answer: %s", strerror(errno));
        } else if (!wait_for(link, POLLIN, end_us)) {
            return fm_client_error_set(error, FM_ERR_IO, "it did not answer in time");
        }
    }
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, "HTTP/1.", 7) != 0) {
        return fm_client_error_set(error, FM_ERR_IO, "it does not speak HTTP");
    }
    if (strncmp(line + 8, " 200", 4) != 0) {
        return fm_client_error_set(error, FM_ERR_IO, "it answered %s", line + 9);
    }
    return FM_OK;
}

static fm_status get(fm_cli *cli, const struct url *url, uint64_t end_us, fm_client_error *error)
{
    fm_link link = {.fd = -1};
    char host[256];
    fm_status status = fm_connect(url->address, cli->timeout_ms, &link.fd, error);
    if (status != FM_OK) {
        return status;
    }
    if (url->tls) {
        status = fm_connect_host(url->address, host, sizeof host)
                     ? fm_link_secure(&link, host, cli->tls_ca_file, cli->timeout_ms, error)
                     : fm_client_error_set(error, FM_ERR_BAD_VALUE, "it names no host");
    }
    if (status == FM_OK) {
        status = send_request(&link, url, end_us, error);
    }
    if (status == FM_OK) {
        status = read_status(&link, end_us, error);
    }
    fm_link_close(&link);
    return status;
}

static int check_http(fm_cli *cli, const char *text)
{
    struct url url;
    fm_client_error error;
    if (!parse_url(text, &url)) {
        fm_cli_usage_error(cli, "--http: '%s' is not of the form http://HOST:PORT/PATH", text);
    }
    uint64_t begin_us = now_us();
    fm_status status = get(cli, &url, begin_us + (uint64_t)cli->timeout_ms * 1000, &error);
    if (status == FM_ERR_BAD_VALUE) {
        fm_cli_usage_error(cli, "--http: %s", error.message);
    }
    return report(cli, text, begin_us, status == FM_OK ? NULL : &error);
}

static int run_healthcheck(fm_cli *cli)
{
    const char *tcp = fm_cli_value(cli, "tcp"), *http = fm_cli_value(cli, "http");
    if (tcp != NULL && http != NULL) {
        fm_cli_usage_error(cli, "--tcp or --http, not both");
    }
    if (fm_cli_value(cli, "timeout") == NULL) {
        cli->timeout_ms = DEFAULT_TIMEOUT_MS;
    }
    return http != NULL ? check_http(cli, http) : check_tcp(cli, tcp == NULL ? cli->address : tcp);
}

static const fm_cli_option healthcheck_options[] = {
    {"tcp", 0, FM_CLI_TEXT, "ADDRESS:PORT", "ping there; as --connect", 0},
    {"http", 0, FM_CLI_TEXT, "URL", "GET this instead; without a path: " DEFAULT_PATH, 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_healthcheck = {
    .name = "healthcheck",
    .arguments = "",
    .summary = "say by the exit code whether the server is well",
    .details =
        "Asks the server for a sign of life, without a token, and prints one line. The exit\n"
        "code is 0 when it answers and 1 when it does not, for containers and scripts.\n"
        "Over TCP the answer means that the event loop turns; over HTTP, at /readyz, that\n"
        "clients are taken as well: not while worlds load or the server goes down. It waits\n"
        "3 seconds unless --timeout says otherwise.",
    .examples = "fogmarch healthcheck\n"
                "fogmarch healthcheck --tcp 127.0.0.1:7421 --tls-ca ca.pem\n"
                "fogmarch healthcheck --http http://127.0.0.1:7422 --timeout 1",
    .options = healthcheck_options,
    .run = run_healthcheck,
};
