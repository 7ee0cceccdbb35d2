// clients/cli/watch/state.c: see state.h.

#include "clients/cli/watch/state.h"

#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_MS 6000u // how long an answer to a key is shown

static void take_info(fm_watch *watch, const msgpack_object *info)
{
    fm_object_text(info, "name", watch->name, sizeof watch->name);
    watch->budget_ms = fm_object_real(info, "budget_ms", 0);
    watch->tick_hz = fm_object_real(info, "tick_hz", 0);
    watch->paused = fm_object_bool(info, "paused", false);
    watch->info_tick = fm_object_uint(info, "tick", 0);
    watch->known_teams = (uint32_t)fm_object_uint(info, "teams", 0);
}

void fm_watch_read_info(fm_watch *watch)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    take_info(watch, fm_cli_call(watch->cli, FM_METHOD_WORLD_INFO));
}

static void on_info(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    if (error == NULL) { // else the world is gone, which its view says too
        take_info(context, result);
    }
}

// A view gets no deltas while nothing changes in it; world.info shows that ticks proceed.
void fm_watch_ask_info(fm_watch *watch)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    fm_status status = fm_client_send(watch->cli->client, FM_METHOD_WORLD_INFO, &watch->cli->params,
                                      on_info, watch, NULL);
    fm_params_clear(&watch->cli->params);
    if (status != FM_OK) {
        fm_cli_die_of_client(watch->cli);
    }
}

uint64_t fm_watch_newest_tick(const fm_watch *watch)
{
    return watch->view->tick > watch->info_tick ? watch->view->tick : watch->info_tick;
}

double fm_watch_known_percent(const fm_mirror *view)
{
    return 100.0 * (double)view->known_count / ((double)view->rect.width * view->rect.height);
}

void fm_watch_say(fm_watch *watch, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(watch->message, sizeof watch->message, format, arguments);
    va_end(arguments);
    watch->message_end_ms = fm_pulse_clock_ms() + MESSAGE_MS;
}

bool fm_watch_request(fm_watch *watch, fm_method method, fm_client_reply_fn *on_reply)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    fm_status status =
        fm_client_send(watch->cli->client, method, &watch->cli->params, on_reply, watch, NULL);
    fm_params_clear(&watch->cli->params);
    if (status == FM_ERR_IO) {
        fm_cli_die_of_client(watch->cli);
    }
    if (status != FM_OK) { // too much is under way
        fm_watch_say(watch, "%s", fm_status_text(status));
    }
    return status == FM_OK;
}
