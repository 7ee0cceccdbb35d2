// server/streams/subscription.c: see subscription.h.

#include "server/streams/subscription.h"

#include "proto/pack.h"

// [2, name, [{"subscription": number -- with room for `entries` more.
static fm_frame *make_head(const fm_subscription *subscription, fm_notification notification,
                           uint32_t entries)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_notification(&packer, notification);
    msgpack_pack_map(&packer, entries + 1);
    fm_pack_text(&packer, "subscription");
    msgpack_pack_uint64(&packer, subscription->number);
    return fm_frame_take(&buffer);
}

static void count_message(fm_hub *hub, fm_notification notification, size_t size)
{
    if (notification == FM_NOTIFY_KEYFRAME) {
        fm_tally_add(&hub->counts.keyframe_sizes, fm_hub_size_edges, size);
    } else if (notification == FM_NOTIFY_DELTA) {
        fm_tally_add(&hub->counts.delta_sizes, fm_hub_size_edges, size);
    }
}

bool fm_subscription_send(const fm_subscription *subscription, fm_notification notification,
                          fm_body body, fm_body tail)
{
    if (body.frame == NULL) {
        return false;
    }
    uint32_t entries = body.entries + (tail.frame != NULL ? tail.entries : 0);
    fm_frame *head = make_head(subscription, notification, entries);
    if (head == NULL) {
        return false;
    }
    fm_frame *frames[FM_SEND_FRAMES_MAX] = {head, body.frame, tail.frame};
    fm_session_send(subscription->session, frames, tail.frame != NULL ? 3 : 2);
    subscription->session->hub->counts.sight_size += body.sight_size;
    count_message(subscription->session->hub, notification,
                  head->size + body.frame->size + (tail.frame != NULL ? tail.frame->size : 0));
    fm_frame_drop(head);
    return true;
}

bool fm_subscription_is_veiled(const fm_subscription *subscription)
{
    return subscription->session->role == FM_ROLE_PLAYER;
}

fm_form fm_subscription_form(const fm_subscription *subscription)
{
    return (fm_form){.veiled = fm_subscription_is_veiled(subscription),
                     .dense = subscription->dense,
                     .sight = subscription->sight,
                     .motion = subscription->motion};
}

// Quiet ticks are not published: a client that was sent everything is up to date with them, too.
static uint64_t known_tick(const fm_subscription *subscription, uint64_t tick)
{
    const fm_scene *scene = subscription->scene;
    bool knows_all = scene->live && subscription->tick == scene->tick && tick > scene->tick;
    return !subscription->has_keyframe ? 0 : knows_all ? tick : subscription->tick;
}

void fm_subscription_send_moved(const fm_subscription *subscription, const fm_node_entry *place,
                                uint64_t tick)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    char ticket[FM_TICKET_TEXT_SIZE];
    fm_session_ticket(subscription->session, ticket);
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_key_uint(&packer, "world", subscription->scene->host->number);
    fm_pack_key_text(&packer, "node", place->name);
    fm_pack_key_text(&packer, "tcp", place->tcp);
    fm_pack_key_text(&packer, "http", place->http);
    fm_pack_key_text(&packer, "ticket", ticket);
    fm_pack_key_uint(&packer, "tick", known_tick(subscription, tick));
    fm_body body = {.frame = fm_frame_take(&buffer), .entries = 6};
    if (!fm_subscription_send(subscription, FM_NOTIFY_MOVED, body, (fm_body){0})) {
        fm_session_disconnect(subscription->session, "out of memory");
    }
    fm_frame_drop(body.frame);
}

void fm_subscription_send_world_ended(const fm_subscription *subscription)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_text(&packer, "world");
    msgpack_pack_uint64(&packer, subscription->scene->host->number);
    fm_body body = {.frame = fm_frame_take(&buffer), .entries = 1};
    if (!fm_subscription_send(subscription, FM_NOTIFY_WORLD_ENDED, body, (fm_body){0})) {
        fm_session_disconnect(subscription->session, "out of memory");
    }
    fm_frame_drop(body.frame);
}
