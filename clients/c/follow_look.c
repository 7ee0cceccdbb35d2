// clients/c/follow_look.c: where a world is that is not on the node, while other views go on. See
// follow.h.

#include "clients/c/follow.h"

#include <string.h>

void fm_look_begin(struct subscription *one, bool had_it)
{
    one->is_sought = true;
    one->had_it = had_it;
    one->node_number = 0;
    one->since_ms = one->next_ms = fm_follow_now_ms();
    one->pause_ms = PAUSE_FIRST_MS;
    one->denied_since_ms = 0;
}

uint64_t fm_look_due_ms(const struct fm_follow *follow)
{
    uint64_t due_ms = UINT64_MAX;
    for (uint32_t i = 0; follow->looked_for == 0 && i < follow->subscription_count; i++) {
        const struct subscription *one = &follow->subscriptions[i];
        if (one->is_sought && !one->is_over && one->next_ms < due_ms) {
            due_ms = one->next_ms;
        }
    }
    return due_ms;
}

static bool has_place(const msgpack_object *place)
{
    char node[ADDRESS_SIZE];
    return fm_object_text(place, "node", node, sizeof node) && node[0] != '\0';
}

// It is not known yet where the world is; perhaps it never will be.
static void look_later(fm_client *client, struct subscription *one)
{
    uint64_t now_ms = fm_follow_now_ms();
    bool is_denied = one->denied_since_ms != 0;
    one->next_ms = now_ms + one->pause_ms;
    one->pause_ms = 2 * one->pause_ms < PAUSE_LAST_MS ? 2 * one->pause_ms : PAUSE_LAST_MS;
    if (is_denied && (one->had_it || now_ms - one->denied_since_ms > GONE_MS)) {
        fm_views_end(client, one, FM_NOTIFY_WORLD_ENDED, NULL);
    } else if (now_ms - one->since_ms > client->options.follow_ms) {
        fm_views_end(client, one, FM_NOTIFY_MOVED, NULL);
    }
}

static void on_located(void *context, uint64_t id, const fm_client_error *error,
                       const msgpack_object *place)
{
    (void)id;
    fm_client *client = context;
    struct fm_follow *follow = client->follow;
    struct subscription *one = fm_views_of_program(follow, follow->looked_for);
    follow->looked_for = 0;
    if (one == NULL || !one->is_sought || one->is_over || client->broken) {
        return;
    }
    bool is_denied = error != NULL && error->status == FM_ERR_NO_WORLD;
    bool is_here = error == NULL && fm_object_bool(place, "here", false);
    bool is_elsewhere = error == NULL && !is_here;
    one->denied_since_ms = !is_denied                  ? 0
                           : one->denied_since_ms != 0 ? one->denied_since_ms
                                                       : fm_follow_now_ms();
    // A node that has just lost a world says for a moment that it is still there.
    bool comes = is_here && (!one->had_it || fm_follow_now_ms() - one->since_ms > GONE_MS);
    if (comes || (is_elsewhere && fm_views_may_go(follow, one->world))) {
        follow->wants = true;
        follow->wanted_world = one->world;
        fm_follow_note_place(follow, place);
    } else if (is_elsewhere && has_place(place)) {
        fm_views_end(client, one, FM_NOTIFY_MOVED, place);
        return;
    }
    look_later(client, one);
}

void fm_look(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    uint64_t now_ms = fm_follow_now_ms();
    for (uint32_t i = 0; follow->looked_for == 0 && i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        if (!one->is_sought || one->is_over || one->next_ms > now_ms) {
            continue;
        }
        fm_params params;
        fm_params_init(&params);
        fm_params_uint(&params, FM_FIELD_WORLD, one->world);
        uint64_t number = one->number;
        if (fm_client_send(client, FM_METHOD_WORLD_LOCATE, &params, on_located, client, NULL) ==
            FM_OK) {
            follow->looked_for = number;
        } else {
            one->next_ms = now_ms + one->pause_ms; // no room
        }
        fm_params_fini(&params);
    }
}
