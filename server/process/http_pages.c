// server/process/http_pages.c: see http_pages.h.

#include "server/process/http_pages.h"

#include "server/process/http_files.h"
#include "server/process/http_origin.h"
#include "server/process/trouble.h"
#include "server/relay/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_OK        200u
#define STATUS_FORBIDDEN 403u
#define STATUS_NOT_FOUND 404u
#define STATUS_NOT_NOW   503u

struct fm_http_pages {
    const fm_hub *hub;
    bool for_operators;
    fm_metrics *metrics;
    fm_http_files *files; // NULL: there are none
};

// ---- health ------------------------------------------------------------------------------------

static bool is_ready(const fm_hub *hub)
{
    return !hub->going_down && hub->creation_count == 0 &&
           (hub->relay == NULL || fm_relay_is_ready(hub->relay));
}

static fm_http_answer answer_readiness(const fm_hub *hub)
{
    return is_ready(hub) ? fm_http_answer_text(STATUS_OK, NULL, "ok\n")
                         : fm_http_answer_text(STATUS_NOT_NOW, NULL, "not ready\n");
}

// Another server's words may be in it: what JSON would have to escape becomes a question mark.
static void make_plain(char *text)
{
    for (; *text != '\0'; text++) {
        bool is_plain = *text >= ' ' && *text <= '~' && *text != '"' && *text != '\\';
        *text = is_plain ? *text : *text == '"' ? '\'' : '?';
    }
}

// A server with trouble stays ready: a restart would not help, and clients continue by themselves.
static fm_trouble status_of(const fm_hub *hub)
{
    if (hub->going_down) {
        return (fm_trouble){.word = "going down"};
    }
    fm_trouble trouble =
        hub->creation_count > 0 ? (fm_trouble){.word = "loading"} : fm_trouble_find(hub);
    make_plain(trouble.reason);
    return trouble;
}

static fm_http_answer answer_health(const fm_hub *hub)
{
    uint64_t agents = 0;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        agents += fm_conductor_summary(hub->conductor, hub->hosts[i]).agents;
    }
    char body[512 + FM_TROUBLE_SIZE];
    const fm_trouble trouble = status_of(hub);
    snprintf(body, sizeof body,
             "{\"status\":\"%s\",\"reason\":\"%s\",\"version\":\"%s\",\"uptime_seconds\":%.3f,"
             "\"worlds\":%u,\"worlds_loading\":%u,\"agents\":%llu,\"clients\":%u}\n",
             trouble.word, trouble.reason, FOGMARCH_VERSION,
             (double)(uv_hrtime() - hub->start_ns) / 1e9, hub->host_count, hub->creation_count,
             (unsigned long long)agents, hub->session_count);
    fm_http_answer answer =
        fm_http_answer_text(is_ready(hub) ? STATUS_OK : STATUS_NOT_NOW, NULL, body);
    answer.type = "application/json";
    return answer;
}

// ---- metrics -----------------------------------------------------------------------------------

void fm_http_pages_answer_metrics(const fm_http_pages *pages, fm_http_answer *answer)
{
    size_t size;
    const char *text = fm_metrics_text(pages->metrics, &size);
    if (text == NULL) {
        *answer = fm_http_answer_text(STATUS_NOT_NOW, NULL, "out of memory\n");
        return;
    }
    *answer = (fm_http_answer){
        .status = STATUS_OK,
        .type = "text/plain; version=0.0.4; charset=utf-8",
        .body = fm_frame_copy(text, size),
    };
}

void fm_http_pages_make_do(fm_http_pages *pages)
{
    fm_metrics_make_do(pages->metrics);
}

void fm_http_pages_take_scrape(fm_http_pages *pages, fm_job *job)
{
    fm_metrics_take(pages->metrics, job);
}

// ---- files -------------------------------------------------------------------------------------

// web_root, or the folder beside the program that the build puts the web client into.
static bool find_folder(const fm_config *config, char *folder, size_t room)
{
    if (config->web_root[0] != '\0') {
        snprintf(folder, room, "%s", config->web_root);
        return true;
    }
    char program[FM_CONFIG_TEXT_MAX + 1];
    size_t size = sizeof program;
    char *slash = uv_exepath(program, &size) < 0 ? NULL : strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    int wanted = snprintf(folder, room, "%s/../share/fogmarch/web", program);
    return wanted > 0 && (size_t)wanted < room;
}

void fm_http_pages_read_files(fm_http_pages *pages)
{
    char folder[FM_CONFIG_TEXT_MAX + 1];
    if (pages->for_operators) {
        return;
    }
    fm_http_files_destroy(pages->files);
    pages->files =
        find_folder(pages->hub->config, folder, sizeof folder) ? fm_http_files_read(folder) : NULL;
}

static bool is_page(fm_http_text path)
{
    return fm_http_text_is(path, "/") || fm_http_text_is(path, "/index.html") ||
           fm_http_text_is(path, "/play.html");
}

static fm_http_answer answer_nothing(const fm_http_pages *pages, const fm_http_request *request)
{
    return fm_http_answer_text(
        STATUS_NOT_FOUND, NULL,
        pages->files == NULL && !pages->for_operators && is_page(request->path)
            ? "The web client was not built with this server. With npm (apt install npm), run\n"
              "    cmake --build --preset release --target web\n"
              "in the source folder, or name the folder of a built one with --web-root.\n"
            : "there is no such page\n");
}

// ---- all of them -------------------------------------------------------------------------------

static bool shows_worlds(const fm_http_request *request)
{
    return fm_http_text_is(request->path, "/healthz") || fm_http_text_is(request->path, "/metrics");
}

// Fog hides how many agents there are, and what they do: metrics are for the operators. Without a
// listener of their own, operators are clients on this machine, but not browsers that reached it
// through another page's name.
static bool may_know(const fm_http_pages *pages, const fm_http_request *request, bool is_local)
{
    return pages->for_operators || (pages->hub->config->metrics_listen[0] == '\0' && is_local &&
                                    fm_http_host_is_fixed(request));
}

static fm_http_answer answer_stranger(const fm_http_pages *pages, const fm_http_request *request)
{
    return pages->hub->config->metrics_listen[0] != '\0'
               ? answer_nothing(pages, request)
               : fm_http_answer_text(STATUS_FORBIDDEN, NULL,
                                     "this page is for clients on the server's machine, and for "
                                     "those of metrics_listen\n");
}

bool fm_http_pages_answer(fm_http_pages *pages, const fm_http_request *request, bool is_local,
                          fm_http_answer *answer)
{
    if (fm_http_text_is(request->path, "/livez")) {
        *answer = fm_http_answer_text(STATUS_OK, NULL, "ok\n");
    } else if (fm_http_text_is(request->path, "/readyz")) {
        *answer = answer_readiness(pages->hub);
    } else if (shows_worlds(request) && !may_know(pages, request, is_local)) {
        *answer = answer_stranger(pages, request);
    } else if (fm_http_text_is(request->path, "/healthz")) {
        *answer = answer_health(pages->hub);
    } else if (fm_http_text_is(request->path, "/metrics")) {
        if (!fm_metrics_request(pages->metrics)) {
            return false;
        }
        fm_http_pages_answer_metrics(pages, answer);
    } else if (!fm_http_files_answer(pages->files, request, answer)) {
        *answer = answer_nothing(pages, request);
    }
    return true;
}

fm_http_pages *fm_http_pages_create(fm_hub *hub, bool for_operators,
                                    void (*on_metrics)(void *context), void *context)
{
    fm_http_pages *pages = calloc(1, sizeof *pages);
    if (pages == NULL) {
        return NULL;
    }
    pages->hub = hub;
    pages->for_operators = for_operators;
    pages->metrics = fm_metrics_create(hub, on_metrics, context);
    if (pages->metrics == NULL) {
        free(pages);
        return NULL;
    }
    fm_http_pages_read_files(pages);
    return pages;
}

void fm_http_pages_destroy(fm_http_pages *pages)
{
    if (pages != NULL) {
        fm_metrics_destroy(pages->metrics);
        fm_http_files_destroy(pages->files);
        free(pages);
    }
}
