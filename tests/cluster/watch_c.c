// tests/cluster/watch_c.c: watches worlds, with the C library, see cluster_views.py.
//
//   watch_c ADDRESS WORLDS OPTION

#include <fogmarch/fogmarch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VIEWS_MAX 4u

struct view {
    fm_mirror mirror;
    uint64_t world;
    fm_client *client;
    bool is_over;
    struct timespec changed; // when it changed last
};

struct watcher {
    fm_client *client;
    struct view views[VIEWS_MAX];
    uint32_t count;
    bool has_tidied;
};

static void fail(const fm_client_error *error)
{
    printf("{\"closed\": \"%s\"}\n", error->message);
    fflush(stdout);
    exit(0);
}

static void tell(const struct watcher *watcher, const struct view *view)
{
    printf("{\"view\": %llu, \"tick\": %llu, \"node\": \"%s\", \"agents\": [",
           (unsigned long long)view->world, (unsigned long long)view->mirror.tick,
           fm_client_address(watcher->client));
    for (uint32_t i = 0; i < view->mirror.agent_count; i++) {
        printf("%s%llu", i == 0 ? "" : ", ", (unsigned long long)view->mirror.agents[i].id);
    }
    puts("]}");
}

static void on_untold(void *context)
{
    const struct view *view = context;
    printf("{\"untold\": %llu}\n", (unsigned long long)view->world);
}

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    struct watcher *watcher = context;
    const uint64_t world = fm_object_uint(params, "world", 0);
    for (uint32_t i = 0; i < watcher->count; i++) {
        struct view *view = &watcher->views[i];
        char place[256] = "";
        const uint64_t known =
            view->mirror.subscription; // 0: its keyframe may come before the answer
        if (view->world != world ||
            (known != 0 && fm_object_uint(params, "subscription", 0) != known)) {
            continue;
        }
        if (notification == FM_NOTIFY_MOVED || notification == FM_NOTIFY_WORLD_ENDED) {
            view->is_over = true;
            char why[FM_ERROR_TEXT_SIZE] = "it is at";
            fm_object_text(params, "tcp", place, sizeof place);
            fm_object_text(params, "error", why, sizeof why);
            printf("{\"view\": %llu, \"ended\": \"%s %s\", \"at\": \"%s\"}\n",
                   (unsigned long long)world,
                   notification == FM_NOTIFY_MOVED ? why : "the world has ended", place, place);
            continue;
        }
        if (fm_mirror_apply(&view->mirror, notification, params) == FM_OK) {
            clock_gettime(CLOCK_MONOTONIC, &view->changed);
            tell(watcher, view);
        } else if (!view->is_over) {
            view->is_over = true;
            printf("{\"view\": %llu, \"ended\": \"the mirror cannot hold it\", \"at\": \"\"}\n",
                   (unsigned long long)world);
        }
    }
    fflush(stdout);
}

static void on_subscribed(void *context, uint64_t id, const fm_client_error *error,
                          const msgpack_object *result)
{
    (void)id;
    struct view *view = context;
    if (error != NULL) {
        fail(error);
    }
    fm_mirror_resume(&view->mirror, fm_object_uint(result, "subscription", 0));
}

static void subscribe(struct watcher *watcher, uint64_t world, const char *option)
{
    static const uint64_t rect[] = {4, 4, 8, 8};
    static const fm_mirror_ops ops = {.untold = on_untold};
    struct view *view = &watcher->views[watcher->count++];
    fm_params params;
    view->world = world;
    fm_mirror_init(&view->mirror, 0, &ops, view);
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, world);
    if (strcmp(option, "rect") == 0) {
        fm_params_uints(&params, FM_FIELD_RECT, rect, 4);
    }
    if (fm_client_send(watcher->client, FM_METHOD_SUBSCRIBE, &params, on_subscribed, view, NULL) !=
        FM_OK) {
        fail(fm_client_error_last(watcher->client));
    }
    fm_params_fini(&params);
    while (view->mirror.agent_count == 0 && !view->is_over) {
        if (fm_client_wait(watcher->client, 100) != FM_OK) {
            fail(fm_client_error_last(watcher->client));
        }
    }
}

static fm_status unsubscribe(struct watcher *watcher, const struct view *view)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_SUBSCRIPTION, view->mirror.subscription);
    fm_status status = fm_client_call(watcher->client, FM_METHOD_UNSUBSCRIBE, &params, NULL);
    fm_params_fini(&params);
    return status;
}

// Ends views that have not changed for a second. That may be refused: the node does not have them.
static void drop_lost(struct watcher *watcher)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < watcher->count; i++) {
        struct view *view = &watcher->views[i];
        if (!view->is_over && now.tv_sec - view->changed.tv_sec > 1) {
            view->is_over = true;
            (void)!unsubscribe(watcher, view);
            puts("{\"dropped\": true}");
            fflush(stdout);
        }
    }
}

static void explain(struct watcher *watcher, uint64_t agent)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, watcher->views[0].world);
    fm_params_uint(&params, FM_FIELD_AGENT, agent);
    if (fm_client_call(watcher->client, FM_METHOD_DEBUG_SUBSCRIBE, &params, NULL) != FM_OK) {
        fail(fm_client_error_last(watcher->client));
    }
    fm_params_fini(&params);
}

static void on_called(void *context, uint64_t id, const fm_client_error *error,
                      const msgpack_object *result)
{
    (void)context;
    (void)id;
    (void)result;
    if (error == NULL) {
        puts("{\"called\": true}");
    } else {
        printf("{\"late\": \"%s\"}\n", error->message);
    }
    fflush(stdout);
}

static void call(struct watcher *watcher)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, watcher->views[0].world);
    if (fm_client_send(watcher->client, FM_METHOD_WORLD_INFO, &params, on_called, NULL, NULL) !=
        FM_OK) {
        fail(fm_client_error_last(watcher->client));
    }
    fm_params_fini(&params);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    struct watcher watcher = {.client = NULL};
    fm_client_options options = fm_client_options_default();
    fm_client_error error;
    bool is_brief = strcmp(argv[3], "brief") == 0 || strcmp(argv[3], "never") == 0;
    options.follow_ms = is_brief ? 4000 : 30000;
    options.timeout_ms = is_brief ? 1500 : options.timeout_ms;
    if (fm_client_connect(argv[1], &options, &watcher.client, &error) != FM_OK) {
        fail(&error);
    }
    fm_client_on_notification(watcher.client, on_notification, &watcher);
    if (fm_client_hello(watcher.client, NULL) != FM_OK) {
        fail(fm_client_error_last(watcher.client));
    }
    for (char *at = argv[2]; *at != '\0' && watcher.count < VIEWS_MAX; at += *at == ',') {
        subscribe(&watcher, strtoull(at, &at, 10), argv[3]);
    }
    if (strcmp(argv[3], "drop") == 0) {
        if (unsubscribe(&watcher, &watcher.views[0]) != FM_OK) {
            fail(fm_client_error_last(watcher.client));
        }
        puts("{\"dropped\": true}");
        fflush(stdout);
    }
    if (strcmp(argv[3], "debug") == 0) {
        explain(&watcher, 1);
        explain(&watcher, 2);
    }
    if (strcmp(argv[3], "call") == 0 || strcmp(argv[3], "brief") == 0) {
        call(&watcher);
    }
    while (fm_client_wait(watcher.client, 100) == FM_OK) {
        if (strcmp(argv[3], "lost") == 0) {
            drop_lost(&watcher);
        }
        // The program tidies up late: the view is over, and the client is on another node.
        if (strcmp(argv[3], "late") == 0 && watcher.views[0].is_over && !watcher.has_tidied &&
            strcmp(fm_client_address(watcher.client), argv[1]) != 0) {
            watcher.has_tidied = true;
            printf("{\"tidied\": %s}\n",
                   unsubscribe(&watcher, &watcher.views[0]) == FM_OK ? "true" : "false");
            fflush(stdout);
        }
    }
    fail(fm_client_error_last(watcher.client));
}
