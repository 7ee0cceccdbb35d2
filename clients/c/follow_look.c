// clients/c/follow_look.c: where a world is that is not on the node, while other views go on. See
// follow.h. When it is on the node after all, it is subscribed to again on the same connection, one
// view at a time: a keyframe may come before the answer, and names only its subscription.

#include "clients/c/follow.h"

#include "clients/c/connect.h"

#include <stdio.h>
#include <string.h>

void fm_look_begin(struct subscription *one, bool had_it)
{
    one->is_sought = true;
    one->had_it = had_it;
    one->node_number = 0;
    one->since_ms = one->next_ms = fm_now_ms();
    one->pause_ms = PAUSE_FIRST_MS;
    one->denied_since_ms = 0;
}

static bool is_to_ask(const struct fm_follow *follow, const struct subscription *one)
{
    return one->is_sought && !one->is_over && one->number != follow->continuing;
}

uint64_t fm_look_due_ms(const struct fm_follow *follow)
{
    uint64_t due_ms = UINT64_MAX;
    for (uint32_t i = 0; follow->looked_for == 0 && i < follow->subscription_count; i++) {
        const struct subscription *one = &follow->subscriptions[i];
        if (is_to_ask(follow, one) && one->next_ms < due_ms) {
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
// @param refusal  the node has it, but not now for this view: why; NULL
static void look_later(fm_client *client, struct subscription *one, const char *refusal)
{
    char text[96];
    uint64_t now_ms = fm_now_ms();
    bool is_denied = one->denied_since_ms != 0;
    one->next_ms = now_ms + one->pause_ms;
    one->pause_ms = 2 * one->pause_ms < PAUSE_LAST_MS ? 2 * one->pause_ms : PAUSE_LAST_MS;
    if (is_denied && (one->had_it || now_ms - one->denied_since_ms > GONE_MS)) {
        fm_views_end(client, one, FM_NOTIFY_WORLD_ENDED, NULL, NULL);
    } else if (now_ms - one->since_ms > client->options.follow_ms) {
        snprintf(text, sizeof text, "the node of world %llu was not found in %u s",
                 (unsigned long long)one->world, client->options.follow_ms / 1000);
        fm_views_end(client, one, FM_NOTIFY_MOVED, NULL, refusal == NULL ? text : refusal);
    }
}

void fm_look_on_subscribed(void *context, uint64_t id, const fm_client_error *error,
                           const msgpack_object *result)
{
    fm_client *client = context;
    struct fm_follow *follow = client->follow;
    if (follow->continuing == 0 || follow->continuing_id != id) {
        return; // its world has left before that
    }
    struct subscription *one = fm_views_of_program(follow, follow->continuing);
    follow->continuing = 0;
    if (one == NULL || client->broken || follow->is_moving) {
        return; // subscribe_all() comes
    }
    if (error == NULL) {
        one->node_number = fm_object_uint(result, "subscription", 0);
        one->stream = fm_object_uint(result, "stream", 0);
        one->is_sought = false;
        if (one->is_over) {
            fm_views_unsubscribe(client, one); // the program has ended it meanwhile
        }
    } else if (one->is_over) {
        return;
    } else if (fm_is_not_here(error->status) || fm_is_for_now(error->status)) {
        one->denied_since_ms = 0;
        look_later(client, one, error->message);
    } else {
        fm_views_end(client, one, FM_NOTIFY_MOVED, NULL, error->message);
    }
}

// Whether the program's own subscribe to this world is under way.
static bool is_subscribed_to(const fm_client *client, uint64_t world)
{
    bool is = false;
    for (uint32_t id = client->oldest_id; id != client->next_id && !is; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        is = request != NULL && request->world == world &&
             (request->method == FM_METHOD_SUBSCRIBE ||
              request->method == FM_METHOD_DEBUG_SUBSCRIBE);
    }
    return is;
}

// Subscribes again, unless another view is being subscribed to whose number would be taken for that
// of this one.
static bool subscribe(fm_client *client, struct subscription *one)
{
    struct fm_follow *follow = client->follow;
    if (follow->continuing != 0 || is_subscribed_to(client, one->world)) {
        return false;
    }
    fm_params params;
    fm_views_again(one, &params);
    one->node_number = 0;
    bool is_sent = fm_client_send(client, one->method, &params, fm_look_on_subscribed, client,
                                  &follow->continuing_id) == FM_OK;
    fm_params_fini(&params);
    if (is_sent) {
        follow->continuing = one->number;
        // Given up earlier, it could begin a subscription that nobody ends.
        fm_client_pending_of(client, (uint32_t)follow->continuing_id)->deadline_ms = UINT64_MAX;
    }
    return is_sent; // otherwise there is no room
}

void fm_look_stop(fm_client *client)
{
    fm_client_error error;
    fm_client_error_set(&error, FM_ERR_IO, "the connection was left");
    for (uint32_t id = client->oldest_id; id != client->next_id; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request != NULL && request->on_reply == fm_look_on_subscribed) {
            fm_client_answer(client, id, &error);
        }
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
                                                       : fm_now_ms();
    // A node that has just lost a world says for a moment that it is still there.
    bool comes = is_here && (!one->had_it || fm_now_ms() - one->since_ms > GONE_MS);
    if (comes && subscribe(client, one)) {
        return;
    }
    if (is_elsewhere && fm_views_may_go(follow, one->world)) {
        follow->wants = true;
        follow->wanted_world = one->world;
        fm_follow_note_place(follow, place);
    } else if (is_elsewhere && has_place(place)) {
        fm_views_end(client, one, FM_NOTIFY_MOVED, place, NULL);
        return;
    }
    look_later(client, one, NULL);
}

void fm_look(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    uint64_t now_ms = fm_now_ms();
    for (uint32_t i = 0; follow->looked_for == 0 && i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        if (!is_to_ask(follow, one) || one->next_ms > now_ms) {
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
