// clients/cli/views/views.c: see views.h.

#include "clients/cli/views/views.h"

#include <string.h>

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    fm_views *views = context;
    if (notification == FM_NOTIFY_GOING_DOWN) {
        views->going_down = true;
        fm_object_text(params, "reason", views->reason, sizeof views->reason);
        return;
    }
    for (uint32_t i = 0; i < views->count && views->status == FM_OK; i++) {
        if (fm_mirror_wants(&views->mirrors[i], notification, params)) {
            views->notifications++;
            views->status = fm_mirror_apply(&views->mirrors[i], notification, params);
            return;
        }
    }
}

void fm_views_init(fm_cli *cli, fm_views *views)
{
    *views = (fm_views){.count = 0};
    fm_client_on_notification(cli->client, on_notification, views);
}

void fm_views_fini(fm_cli *cli, fm_views *views)
{
    fm_client_on_notification(cli->client, NULL, NULL);
    for (uint32_t i = 0; i < views->count; i++) {
        fm_mirror_fini(&views->mirrors[i]);
    }
}

void fm_views_check(const fm_cli *cli, const fm_views *views)
{
    if (views->status != FM_OK) {
        fm_cli_die(cli, "what the server sends of the world does not make sense: %s",
                   fm_status_text(views->status));
    }
    if (views->going_down) {
        fm_cli_die(cli, "the server goes down: %s", views->reason);
    }
}

fm_status fm_views_try(fm_cli *cli, fm_views *views, uint64_t world, uint64_t team,
                       const fm_rect *rect, uint64_t every, const fm_mirror_ops *ops, void *context,
                       fm_mirror **out)
{
    FM_ASSERT(views->count < FM_VIEWS_MAX);
    fm_mirror *mirror = &views->mirrors[views->count++];
    fm_mirror_init(mirror, 0, ops, context);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    if (team != 0) {
        fm_params_uint(&cli->params, FM_FIELD_TEAM, team);
        fm_params_bool(&cli->params, FM_FIELD_SIGHT, views->sight);
    }
    if (rect != NULL) {
        uint64_t sides[4] = {rect->x, rect->y, rect->width, rect->height};
        fm_params_uints(&cli->params, FM_FIELD_RECT, sides, 4);
    }
    fm_params_uint(&cli->params, FM_FIELD_EVERY, every);
    fm_params_text(&cli->params, FM_FIELD_ENCODING, "dense");
    const msgpack_object *result;
    fm_status status = fm_client_call(cli->client, FM_METHOD_SUBSCRIBE, &cli->params, &result);
    fm_params_clear(&cli->params);
    if (status != FM_OK) {
        fm_mirror_fini(mirror);
        views->count--;
        return status;
    }
    mirror->subscription = fm_object_uint(result, "subscription", 0);
    while (mirror->keyframes == 0) {
        if (fm_client_wait(cli->client, -1) != FM_OK) {
            fm_cli_die_of_client(cli);
        }
        fm_views_check(cli, views);
    }
    *out = mirror;
    return FM_OK;
}

fm_mirror *fm_views_add(fm_cli *cli, fm_views *views, uint64_t world, uint64_t team,
                        const fm_rect *rect, uint64_t every, const fm_mirror_ops *ops,
                        void *context)
{
    fm_mirror *mirror;
    if (fm_views_try(cli, views, world, team, rect, every, ops, context, &mirror) != FM_OK) {
        fm_cli_die_of_client(cli);
    }
    return mirror;
}

void fm_views_drop(fm_cli *cli, fm_views *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_params_uint(&cli->params, FM_FIELD_SUBSCRIPTION, views->mirrors[i].subscription);
        (void)fm_cli_call(cli, FM_METHOD_UNSUBSCRIBE);
    }
    for (uint32_t i = 0; i < count; i++) {
        fm_mirror_fini(&views->mirrors[i]);
    }
    views->count -= count;
    memmove(views->mirrors, views->mirrors + count, views->count * sizeof *views->mirrors);
}
