// server/relay/feed.c: see feed.h.

#include "server/relay/feed.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/relay/picture.h"
#include "server/streams/scenes.h"
#include "server/streams/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_FIRST_NS (FM_NS_PER_S / 5)
#define RETRY_LAST_NS  (2 * FM_NS_PER_S)
#define MORE_AGAIN_NS  (5 * FM_NS_PER_S)
#define ROOM_AGAIN_NS  (5 * FM_NS_PER_S) // after a view found no room for what is delayed

// A delayed message.
struct held {
    struct held *next;
    fm_notification notification;
    uint64_t tick;
    bool has_gap;          // as of the view
    msgpack_sbuffer bytes; // its map
};

struct view {
    struct view *next;
    uint32_t team;
    uint64_t serial;            // of the scene
    bool sight, motion;         // asked for
    bool had_sight, had_motion; // when it was subscribed to last
    uint64_t more_ns;           // more than that was refused: not asked for before this time
    fm_status more_status;      // why
    fm_job *job;                // that is not answered yet; owned; NULL: none
    bool wanted;                // to be subscribed to
    uint64_t request;           // subscribe that is not answered yet; UINT64_MAX: none
    uint64_t subscription;      // 0: none
    uint64_t stream;            // upstream's number of the stream that we have; 0: none
    bool follows;               // the messages so far lead to `tick`
    bool has_gap;               // subscribed to again: a keyframe, if one comes, lacks what ended
    bool is_shown;              // the scene has had a keyframe
    uint64_t tick;
    struct held *held, *last_held;
    size_t held_size;
};

struct fm_feed {
    fm_hub *hub;
    fm_host *host;
    fm_feed_counts *counts;
    fm_upstream *upstream;
    struct view *views;
    uint64_t tick; // newest that is known
    bool has_ended;
    char place[FM_UPSTREAM_ADDRESS_SIZE]; // where it has moved to; empty: nowhere
    char node[FM_UPSTREAM_ADDRESS_SIZE];  // where it was connected last
    bool has_moved;                       // the connection is no longer usable
    char reason[FM_ERROR_TEXT_SIZE];      // why it broke, or failed, last; empty: it is open
    uint64_t retry_ns, wait_ns;
    uint64_t room_ns; // no view begins before this time
    uint64_t out_ns;  // since when nothing more comes; 0: it goes on
    double out_hz;
};

#define NO_REQUEST UINT64_MAX

// ---- what is held back -------------------------------------------------------------------------

static size_t memory_of(const struct held *held)
{
    return sizeof *held + held->bytes.alloc;
}

static void drop_first_held(fm_feed *feed, struct view *view)
{
    struct held *held = view->held;
    view->held = held->next;
    view->held_size -= memory_of(held);
    feed->counts->held_size -= memory_of(held);
    msgpack_sbuffer_destroy(&held->bytes);
    free(held);
}

static void drop_held(fm_feed *feed, struct view *view)
{
    while (view->held != NULL) {
        drop_first_held(feed, view);
    }
}

// All views share the room. The last quarter is for those that do not have their equal share yet,
// so that a world with much to tell does not stop the others.
static bool has_room(const fm_feed *feed, const struct view *view, size_t size)
{
    uint64_t room = feed->hub->config->relay_delay_mib << 20;
    uint64_t all = feed->counts->held_size + size;
    return all <= room &&
           (all <= room - room / 4 || view->held_size + size <= room / feed->counts->views);
}

static bool has_room_to_begin(const fm_feed *feed, const struct view *view, uint64_t now_ns)
{
    uint64_t half = feed->hub->config->relay_delay_mib << 19;
    return now_ns >= feed->room_ns && (feed->counts->held_size <= half || view->held == NULL);
}

// A message waits for long, and its buffer has grown by doubling.
static void shrink(msgpack_sbuffer *bytes)
{
    char *data = bytes->size > 0 ? realloc(bytes->data, bytes->size) : NULL;
    if (data != NULL) {
        bytes->data = data;
        bytes->alloc = bytes->size;
    }
}

// @return FM_OK, FM_ERR_NO_MEMORY, or FM_ERR_LIMIT: there is no room
static fm_status hold(fm_feed *feed, struct view *view, fm_notification notification, uint64_t tick,
                      const msgpack_object *params)
{
    struct held *held = calloc(1, sizeof *held);
    if (held == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    msgpack_packer packer;
    msgpack_sbuffer_init(&held->bytes);
    msgpack_packer_init(&packer, &held->bytes, msgpack_sbuffer_write);
    fm_status status = msgpack_pack_object(&packer, *params) == 0 ? FM_OK : FM_ERR_NO_MEMORY;
    shrink(&held->bytes);
    if (status == FM_OK && !has_room(feed, view, memory_of(held))) {
        status = FM_ERR_LIMIT;
    }
    if (status != FM_OK) {
        msgpack_sbuffer_destroy(&held->bytes);
        free(held);
        return status;
    }
    held->notification = notification;
    held->tick = tick;
    held->has_gap = view->has_gap;
    *(view->held == NULL ? &view->held : &view->last_held->next) = held;
    view->last_held = held;
    view->held_size += memory_of(held);
    feed->counts->held_size += memory_of(held);
    return FM_OK;
}

// ---- views -------------------------------------------------------------------------------------

static void answer(fm_feed *feed, struct view *view, fm_status status)
{
    fm_job *job = view->job;
    if (job != NULL) {
        view->job = NULL;
        job->status = status;
        fm_stream_watched(feed->hub, job);
        fm_job_destroy(job);
    }
}

static struct view *find_view(const fm_feed *feed, uint32_t team)
{
    struct view *view = feed->views;
    while (view != NULL && view->team != team) {
        view = view->next;
    }
    return view;
}

// From the start: with a keyframe.
static void begin_again(fm_feed *feed, struct view *view)
{
    drop_held(feed, view);
    view->stream = 0;
    view->follows = false;
    view->wanted = true;
}

static void unsubscribe_from(fm_feed *feed, uint64_t subscription)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_SUBSCRIPTION, subscription);
    fm_status ignored =
        fm_upstream_send(feed->upstream, FM_METHOD_UNSUBSCRIBE, &params, NULL, NULL, NULL);
    (void)ignored; // a lost connection ends the subscription
    fm_params_fini(&params);
}

static void unsubscribe(fm_feed *feed, struct view *view)
{
    if (view->subscription != 0) {
        unsubscribe_from(feed, view->subscription);
        view->subscription = 0;
    }
}

// What is held back already is still shown. A view that has shown nothing yet is refused.
static void pause_for_room(fm_feed *feed, struct view *view, fm_status status)
{
    static fm_log_site no_room, no_memory;
    bool is_full = status == FM_ERR_LIMIT;
    fm_log_limited(is_full ? &no_room : &no_memory, FM_LOG_WARNING,
                   is_full ? "no room for what is held back (relay_delay_mib): a view stands still"
                           : "no memory for what is held back: a view stands still",
                   fm_log_text("world", feed->host->name), fm_log_uint("team", view->team));
    feed->counts->pauses++;
    feed->room_ns = fm_clock_now_ns() + ROOM_AGAIN_NS;
    unsubscribe(feed, view);
    view->request = NO_REQUEST; // an answer under way is dropped
    view->stream = 0;
    view->follows = false;
    view->wanted = true;
    if (!view->is_shown && view->held == NULL) {
        answer(feed, view, status);
    }
}

static void remove_view(fm_feed *feed, struct view *view)
{
    struct view **link = &feed->views;
    while (*link != view) {
        link = &(*link)->next;
    }
    *link = view->next;
    unsubscribe(feed, view);
    drop_held(feed, view);
    answer(feed, view, FM_OK); // no one waits for it
    feed->counts->views--;
    free(view);
}

// ---- what comes --------------------------------------------------------------------------------

static fm_status make_picture(const fm_scene *scene, fm_notification notification,
                              const msgpack_object *params, fm_publication **out)
{
    return notification == FM_NOTIFY_KEYFRAME ? fm_picture_of_keyframe(scene, params, out)
                                              : fm_picture_of_delta(scene, params, out);
}

// @param has_gap  before a keyframe, orders may have ended that nobody tells
static void show(fm_feed *feed, struct view *view, fm_notification notification, bool has_gap,
                 const msgpack_object *params)
{
    const fm_scene *scene = fm_scenes_find(feed->host, view->team);
    if (scene == NULL || scene->serial != view->serial) {
        return; // closed; on_closed follows
    }
    fm_publication *publication;
    fm_status status = make_picture(scene, notification, params, &publication);
    if (status != FM_OK) {
        static fm_log_site site;
        fm_log_limited(&site, FM_LOG_WARNING, "a view is out of step and begins again",
                       fm_log_text("world", feed->host->name), fm_log_uint("team", view->team),
                       fm_log_status("reason", status));
        begin_again(feed, view);
        return;
    }
    bool is_later = publication->is_snapshot && publication->tick > scene->tick;
    publication->ended_lost |= has_gap && is_later;
    fm_stream_publish(feed->hub, publication);
    view->is_shown = true;
    answer(feed, view, FM_OK);
}

uint64_t fm_feed_shown_tick(const fm_feed *feed)
{
    uint64_t delay = feed->hub->config->relay_delay_ticks;
    if (feed->out_ns != 0) {
        double since = (double)(fm_clock_now_ns() - feed->out_ns) / (double)FM_NS_PER_S;
        double ticks = since * feed->out_hz;
        delay -= ticks < (double)delay ? (uint64_t)ticks : delay;
    }
    return feed->tick > delay ? feed->tick - delay : 0;
}

void fm_feed_run_out(fm_feed *feed, double tick_hz, uint64_t now_ns)
{
    if (feed->out_ns == 0) {
        feed->out_ns = now_ns;
        feed->out_hz = tick_hz;
    }
}

void fm_feed_go_on(fm_feed *feed)
{
    feed->out_ns = 0;
}

bool fm_feed_has_run_out(const fm_feed *feed)
{
    return feed->out_ns != 0 && fm_feed_shown_tick(feed) == feed->tick;
}

static void show_held(fm_feed *feed, struct view *view)
{
    msgpack_unpacked message;
    msgpack_unpacked_init(&message);
    while (view->held != NULL && view->held->tick <= fm_feed_shown_tick(feed)) {
        size_t at = 0;
        const msgpack_sbuffer *bytes = &view->held->bytes;
        fm_notification notification = view->held->notification;
        bool has_gap = view->held->has_gap;
        if (msgpack_unpack_next(&message, bytes->data, bytes->size, &at) !=
            MSGPACK_UNPACK_SUCCESS) {
            begin_again(feed, view); // out of memory
            break;
        }
        show(feed, view, notification, has_gap, &message.data);
        if (view->held != NULL) { // else it starts over
            drop_first_held(feed, view);
        }
    }
    msgpack_unpacked_destroy(&message);
}

static struct view *view_of(const fm_feed *feed, fm_notification notification,
                            const msgpack_object *params)
{
    uint64_t subscription = fm_object_uint(params, "subscription", 0);
    for (struct view *view = feed->views; view != NULL; view = view->next) {
        bool may_begin = notification == FM_NOTIFY_KEYFRAME && view->request != NO_REQUEST &&
                         fm_object_uint(params, "team", 0) == view->team;
        if (may_begin) { // it came before the answer
            view->subscription = subscription;
        }
        if (subscription != 0 && view->subscription == subscription) {
            return view;
        }
    }
    return NULL;
}

static void take_picture(fm_feed *feed, fm_notification notification, const msgpack_object *params)
{
    struct view *view = view_of(feed, notification, params);
    bool is_keyframe = notification == FM_NOTIFY_KEYFRAME;
    if (view == NULL || view->wanted || (!is_keyframe && !view->follows)) {
        return; // of a subscription that has ended
    }
    *(is_keyframe ? &feed->counts->keyframes : &feed->counts->deltas) += 1;
    uint64_t tick = fm_object_uint(params, "tick", 0);
    if (!is_keyframe && tick < view->tick) { // one of the two is wrong: the next keyframe decides
        begin_again(feed, view);
        return;
    }
    if (is_keyframe && tick < view->tick) { // upstream has started over
        drop_held(feed, view);
        feed->tick = tick;
    }
    view->follows = true;
    view->tick = tick;
    fm_feed_note_tick(feed, tick);
    if (feed->hub->config->relay_delay_ticks == 0) {
        bool has_gap = view->has_gap;
        view->has_gap = false;
        show(feed, view, notification, has_gap, params);
        return;
    }
    fm_status status = hold(feed, view, notification, tick, params);
    view->has_gap = false;
    if (status != FM_OK) {
        pause_for_room(feed, view, status);
    }
}

static void take_move(fm_feed *feed, const msgpack_object *params)
{
    struct view *view = view_of(feed, FM_NOTIFY_MOVED, params);
    uint64_t tick = fm_object_uint(params, "tick", 0);
    if (view != NULL && tick > view->tick) {
        view->tick = tick; // nothing has changed since
    }
    feed->has_moved = true;
    fm_object_text(params, "tcp", feed->place, sizeof feed->place);
}

static void on_notified(void *context, fm_notification notification, const msgpack_object *params)
{
    fm_feed *feed = context;
    switch (notification) {
    case FM_NOTIFY_KEYFRAME:
    case FM_NOTIFY_DELTA:
        take_picture(feed, notification, params);
        break;
    case FM_NOTIFY_WORLD_ENDED:
        feed->has_ended |= view_of(feed, notification, params) != NULL;
        break;
    case FM_NOTIFY_MOVED:
        take_move(feed, params);
        break;
    case FM_NOTIFY_DEBUG:
    case FM_NOTIFY_IDLE:
    case FM_NOTIFY_GOING_DOWN: // the connection will break
    case FM_NOTIFY_SHIPMENT:   // not asked for
    case FM_NOTIFICATION_COUNT:
        break;
    }
}

// ---- subscribing -------------------------------------------------------------------------------

static struct view *view_that_asked(const fm_feed *feed, uint64_t request)
{
    struct view *view = feed->views;
    while (view != NULL && view->request != request) {
        view = view->next;
    }
    return view;
}

static void ask_again(fm_feed *feed, struct view *view, const char *reason)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "a view is not relayed now",
                   fm_log_text("world", feed->host->name), fm_log_uint("team", view->team),
                   fm_log_text("reason", reason));
    view->wanted = true;
    feed->retry_ns = fm_clock_now_ns() + RETRY_FIRST_NS;
}

// What a spectator wanted in addition was refused: the others have the view as it was.
static void ask_as_before(fm_feed *feed, struct view *view, const fm_client_error *error)
{
    if (view->is_shown) { // else the streams drop it
        view->sight = view->had_sight;
        view->motion = view->had_motion;
        view->more_ns = fm_clock_now_ns() + MORE_AGAIN_NS;
        view->more_status = error->status;
        ask_again(feed, view, error->message);
    }
}

// Nobody wants it any more. Upstream would send all of it, until the connection ends, and count it
// among the subscriptions of this relay.
static void end_unwanted(fm_feed *feed, const fm_client_error *error, const msgpack_object *result)
{
    uint64_t subscription = error == NULL ? fm_object_uint(result, "subscription", 0) : 0;
    if (subscription != 0) {
        unsubscribe_from(feed, subscription);
    }
}

static void on_subscribed(void *context, uint64_t id, const fm_client_error *error,
                          const msgpack_object *result)
{
    fm_feed *feed = context;
    struct view *view = view_that_asked(feed, id);
    if (view == NULL) {
        end_unwanted(feed, error, result);
        return;
    }
    view->request = NO_REQUEST;
    if (error == NULL) {
        view->subscription = fm_object_uint(result, "subscription", 0);
        view->stream = fm_object_uint(result, "stream", 0);
        view->had_sight = view->sight;
        view->had_motion = view->motion;
        return;
    }
    bool has_more = view->sight != view->had_sight || view->motion != view->had_motion;
    switch (error->status) {
    case FM_ERR_NO_TEAM:
    case FM_ERR_LIMIT:
        answer(feed, view, error->status);
        ask_as_before(feed, view, error);
        break;
    case FM_ERR_NO_MEMORY:
        if (has_more && view->is_shown) {
            answer(feed, view, error->status);
            ask_as_before(feed, view, error);
        } else {
            ask_again(feed, view, error->message);
        }
        break;
    case FM_ERR_NO_WORLD:
    case FM_ERR_MOVED:
        view->wanted = true;
        feed->has_moved = true;
        break;
    default: // the connection, or a temporary state
        ask_again(feed, view, error->message);
        break;
    }
}

static fm_status subscribe(fm_feed *feed, struct view *view)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, feed->host->number);
    fm_params_uint(&params, FM_FIELD_TEAM, view->team);
    fm_params_text(&params, FM_FIELD_ENCODING, "dense");
    if (view->sight) {
        fm_params_bool(&params, FM_FIELD_SIGHT, true);
    }
    if (view->motion) {
        fm_params_bool(&params, FM_FIELD_MOTION, true);
    }
    if (view->stream != 0 && view->follows) {
        fm_params_uint(&params, FM_FIELD_STREAM, view->stream);
        fm_params_uint(&params, FM_FIELD_SINCE, view->tick);
    }
    fm_status status = fm_upstream_send(feed->upstream, FM_METHOD_SUBSCRIBE, &params, on_subscribed,
                                        feed, &view->request);
    fm_params_fini(&params);
    view->has_gap = true;
    return status;
}

static void subscribe_to_wanted(fm_feed *feed, uint64_t now_ns)
{
    if (!fm_upstream_is_open(feed->upstream) || now_ns < feed->retry_ns || feed->has_ended) {
        return;
    }
    for (struct view *view = feed->views; view != NULL; view = view->next) {
        bool resumes = view->stream != 0 && view->follows;
        if (view->wanted && view->request == NO_REQUEST &&
            (resumes || has_room_to_begin(feed, view, now_ns))) {
            unsubscribe(feed, view);
            view->wanted = subscribe(feed, view) != FM_OK;
        }
    }
}

// Requests under way are lost; what was received stays.
static void forget_subscriptions(fm_feed *feed)
{
    for (struct view *view = feed->views; view != NULL; view = view->next) {
        view->subscription = 0;
        view->request = NO_REQUEST;
        view->wanted = true;
    }
}

static void on_opened(void *context)
{
    fm_feed *feed = context;
    feed->wait_ns = 0;
    feed->place[0] = feed->reason[0] = '\0';
    snprintf(feed->node, sizeof feed->node, "%s", fm_upstream_address(feed->upstream));
    fm_log(FM_LOG_INFO, "world is relayed", fm_log_text("world", feed->host->name),
           fm_log_text("from", fm_upstream_address(feed->upstream)));
    subscribe_to_wanted(feed, fm_clock_now_ns());
}

static void wait_before_retry(fm_feed *feed)
{
    feed->wait_ns = feed->wait_ns == 0                  ? RETRY_FIRST_NS
                    : feed->wait_ns * 2 > RETRY_LAST_NS ? RETRY_LAST_NS
                                                        : feed->wait_ns * 2;
    feed->retry_ns = fm_clock_now_ns() + feed->wait_ns;
    feed->place[0] = '\0'; // that was invalid
}

static void on_closed(void *context, const char *reason)
{
    fm_feed *feed = context;
    static fm_log_site site;
    fm_log_limited(
        &site, FM_LOG_WARNING, "world is not relayed now", fm_log_text("world", feed->host->name),
        fm_log_text("from", fm_upstream_address(feed->upstream)), fm_log_text("reason", reason));
    snprintf(feed->reason, sizeof feed->reason, "%s", reason);
    feed->counts->breaks++;
    forget_subscriptions(feed);
    wait_before_retry(feed);
}

static const fm_upstream_events events = {
    .opened = on_opened,
    .notified = on_notified,
    .closed = on_closed,
};

// ---- what others call --------------------------------------------------------------------------

fm_feed *fm_feed_create(fm_hub *hub, fm_host *host, const fm_upstream_access *access,
                        fm_feed_counts *counts)
{
    fm_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        return NULL;
    }
    *feed = (fm_feed){.hub = hub, .host = host, .counts = counts};
    feed->upstream = fm_upstream_create(hub->loop, access, &events, feed);
    if (feed->upstream == NULL) {
        free(feed);
        return NULL;
    }
    return feed;
}

void fm_feed_destroy(fm_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    while (feed->views != NULL) {
        remove_view(feed, feed->views);
    }
    fm_upstream_destroy(feed->upstream);
    free(feed);
}

// NULL: out of memory
static struct view *view_for(fm_feed *feed, const fm_job *job)
{
    struct view *view = find_view(feed, job->watch.team);
    if (view != NULL && view->serial != job->watch.serial) {
        remove_view(feed, view); // of a scene that was closed
        view = NULL;
    }
    if (view == NULL && (view = calloc(1, sizeof *view)) != NULL) {
        *view = (struct view){.next = feed->views,
                              .team = job->watch.team,
                              .serial = job->watch.serial,
                              .wanted = true,
                              .request = NO_REQUEST};
        feed->views = view;
        feed->counts->views++;
    }
    return view;
}

// With a delay all parts of a view are requested from the start: resubscribing later for more would
// freeze the view for all watchers for the length of the delay.
static void watch(fm_feed *feed, fm_job *job)
{
    bool is_delayed = feed->hub->config->relay_delay_ticks > 0;
    bool sight = job->watch.sight || is_delayed, motion = job->watch.motion || is_delayed;
    struct view *view = view_for(feed, job);
    if (view == NULL) {
        job->status = FM_ERR_NO_MEMORY;
        fm_stream_watched(feed->hub, job);
        fm_job_destroy(job);
        return;
    }
    bool is_more = (sight && !view->sight) || (motion && !view->motion);
    if (is_more && fm_clock_now_ns() < view->more_ns) { // or the view would never go on as it was
        job->status = view->more_status;
        fm_stream_watched(feed->hub, job);
        fm_job_destroy(job);
        return;
    }
    answer(feed, view, FM_OK); // an earlier job waits for the same
    view->job = job;
    if (is_more) {
        view->sight |= sight;
        view->motion |= motion;
        view->request = NO_REQUEST; // an answer under way is dropped
        begin_again(feed, view);
    } else if (view->is_shown) {
        answer(feed, view, FM_OK);
    }
}

void fm_feed_take(fm_feed *feed, fm_job *job)
{
    if (job->kind == FM_JOB_WATCH) {
        watch(feed, job);
        return;
    }
    struct view *view = find_view(feed, job->watch.team);
    if (view != NULL && view->serial == job->watch.serial) {
        remove_view(feed, view);
    }
    fm_job_destroy(job);
}

static void connect_where_there_is_need(fm_feed *feed, const char *address, uint64_t now_ns)
{
    const char *place = feed->place[0] != '\0' ? feed->place : address;
    if (feed->views != NULL && !feed->has_ended && place != NULL && now_ns >= feed->retry_ns &&
        fm_upstream_is_closed(feed->upstream) &&
        fm_upstream_connect(feed->upstream, place) != FM_OK) {
        wait_before_retry(feed);
    }
}

void fm_feed_check(fm_feed *feed, const char *address, uint64_t now_ns)
{
    fm_upstream_check(feed->upstream, now_ns);
    bool is_of_use = feed->views != NULL && !feed->has_moved;
    if (fm_upstream_is_open(feed->upstream) && !is_of_use) {
        fm_upstream_close(feed->upstream);
        forget_subscriptions(feed);
        feed->retry_ns = feed->has_moved && feed->place[0] == '\0' ? now_ns + RETRY_FIRST_NS : 0;
    }
    feed->has_moved = false;
    connect_where_there_is_need(feed, address, now_ns);
    subscribe_to_wanted(feed, now_ns);
    for (struct view *view = feed->views; view != NULL; view = view->next) {
        show_held(feed, view);
        if (feed->has_ended && view->held == NULL) {
            answer(feed, view, FM_ERR_NO_WORLD); // nothing will come
        }
    }
}

void fm_feed_note_tick(fm_feed *feed, uint64_t tick)
{
    feed->tick = tick > feed->tick ? tick : feed->tick;
}

void fm_feed_go_back(fm_feed *feed, uint64_t tick)
{
    feed->tick = tick;
}

const char *fm_feed_node(const fm_feed *feed)
{
    return feed->node;
}

bool fm_feed_has_ended(const fm_feed *feed)
{
    return feed->has_ended;
}

const char *fm_feed_reason(const fm_feed *feed)
{
    return feed->views == NULL ? "" : feed->reason;
}

bool fm_feed_is_well(const fm_feed *feed)
{
    return feed->views == NULL || fm_upstream_is_open(feed->upstream);
}

uint32_t fm_feed_view_count(const fm_feed *feed)
{
    uint32_t count = 0;
    for (const struct view *view = feed->views; view != NULL; view = view->next) {
        count++;
    }
    return count;
}

uint64_t fm_feed_bytes_in(const fm_feed *feed)
{
    return fm_upstream_bytes_in(feed->upstream);
}
