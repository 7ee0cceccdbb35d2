// server/streams/stream.c: see stream.h.

#include "server/streams/stream.h"

#include "proto/pack.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/streams/follow_rect.h"
#include "server/streams/scenes.h"
#include "server/streams/subscription.h"
#include "server/streams/subscription_quota.h"
#include "server/worlds/publish.h"

#include <stdlib.h>
#include <string.h>

#define BEHIND_SHARE    4u     // deltas wait when this part of session_unsent_max is unsent ...
#define SHIFT_CELLS_MAX 65536u // of a view that moves; of a larger one a keyframe is sent
#define CAUGHT_UP_SHARE 16u    // ... and continue when no more than this part is

// Limits on the work for subscriptions in one turn of the loop. The time is what matters; the count
// is for a clock that stands still, as in the simulation.
#define TURN_COUNT_MAX 256u
#define TURN_NS_MAX    (2 * FM_NS_PER_MS)

static void set_behind(fm_subscription *subscription, bool behind)
{
    subscription->session->behind_count += (uint32_t)behind - subscription->behind;
    subscription->behind = behind;
}

// ---- sending -----------------------------------------------------------------------------------

// The client has got all orders that ended, and alerts, up to here.
static uint64_t known_ends(const fm_subscription *subscription)
{
    return subscription->tick - subscription->lacks_ends;
}

// Whether ends and alerts came that the client is never told: it must know. Its tick is that of its
// last keyframe or delta, also where it is to begin with a keyframe again.
static bool has_missed_ends(const fm_subscription *subscription)
{
    bool was_shown = subscription->has_keyframe || subscription->tick > 0;
    return was_shown && fm_scene_has_lost_ends(subscription->scene, known_ends(subscription));
}

// Whether it was to continue an earlier session's view, which is not there any more, and ticks have
// passed since: nobody knows what ended in these.
static bool has_gap(const fm_subscription *subscription)
{
    return subscription->wanted_stream != 0 &&
           subscription->wanted_since < subscription->scene->tick;
}

static void log_untold(const fm_subscription *subscription)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "more orders ended than are kept for a view",
                   fm_log_uint("session", subscription->session->number),
                   fm_log_uint("world", subscription->scene->host->number));
}

static bool send_keyframe_body(fm_subscription *subscription)
{
    bool has_missed = has_missed_ends(subscription);
    fm_body untold = has_missed || has_gap(subscription) ? fm_scene_untold() : (fm_body){0};
    if (untold.entries > 0 && untold.frame == NULL) {
        return false;
    }
    fm_body body = fm_scene_keyframe(subscription->scene, &subscription->rect,
                                     fm_subscription_form(subscription));
    bool sent = fm_subscription_send(subscription, FM_NOTIFY_KEYFRAME, body, untold);
    if (sent && has_missed) {
        log_untold(subscription);
    }
    fm_frame_drop(untold.frame);
    return sent;
}

// Ends and alerts that the client lacks, up to a tick.
static void send_ends(fm_subscription *subscription, uint64_t until)
{
    fm_form form = fm_subscription_form(subscription);
    fm_body ended = fm_scene_ended(subscription->scene, known_ends(subscription), until, form);
    bool sent = ended.entries == 0 ||
                fm_subscription_send(subscription, FM_NOTIFY_DELTA, ended, (fm_body){0});
    fm_frame_drop(ended.frame);
    subscription->lacks_ends = false;
    if (!sent) {
        fm_session_disconnect(subscription->session, "out of memory");
    }
}

// A keyframe replaces all that the client has, but orders end only once, so ended orders that it
// was not sent follow, as far as they are kept. A client whose orders somebody else floods keeps
// its stream.
static void send_keyframe(fm_subscription *subscription)
{
    fm_scene *scene = subscription->scene;
    if (!send_keyframe_body(subscription)) {
        set_behind(subscription, true); // out of memory: again when the client has read
        return;
    }
    if (subscription->has_keyframe) {
        subscription->session->hub->counts.keyframes_forced++;
        send_ends(subscription, scene->tick);
    }
    subscription->has_keyframe = true;
    subscription->lacks_ends = false;
    subscription->wanted_stream = 0;
    subscription->sent_rect = subscription->rect;
    subscription->tick = scene->tick;
}

static bool has_moved(const fm_subscription *subscription)
{
    return memcmp(&subscription->rect, &subscription->sent_rect, sizeof subscription->rect) != 0;
}

// What moving uncovers is sent cell by cell; a large jump is shorter as a keyframe.
static bool is_jump(const fm_subscription *subscription)
{
    const fm_rect *rect = &subscription->rect;
    return has_moved(subscription) && (uint64_t)rect->width * rect->height > SHIFT_CELLS_MAX;
}

static void send_delta(fm_subscription *subscription)
{
    fm_scene *scene = subscription->scene;
    bool moved = has_moved(subscription);
    fm_form form = fm_subscription_form(subscription);
    fm_body body = moved ? fm_scene_shift(scene, &subscription->sent_rect, &subscription->rect,
                                          subscription->tick, form)
                         : fm_scene_delta(scene, &subscription->rect, subscription->tick, form);
    fm_session *session = subscription->session;
    bool sees_load = session->role >= FM_ROLE_OBSERVER;
    fm_body load = sees_load && body.frame != NULL ? fm_scene_load(scene) : (fm_body){0};
    bool nothing_to_say = body.frame == NULL && body.entries == 0;
    bool sent = !nothing_to_say && fm_subscription_send(subscription, FM_NOTIFY_DELTA, body, load);
    if (sent) {
        fm_tally_add(&session->hub->counts.delta_ticks, fm_hub_tick_edges,
                     scene->tick - subscription->tick);
    }
    if (sent || nothing_to_say) {
        subscription->tick = scene->tick;
        subscription->sent_rect = subscription->rect;
    } else {
        set_behind(subscription, true);
    }
    if (moved) {
        fm_frame_drop(body.frame); // the scene keeps the others
    }
}

// The view follows once its agent has left the inner half of it, and stays when the agent has left
// the view.
static void follow(fm_subscription *subscription)
{
    const fm_scene *scene = subscription->scene;
    const fm_scene_agent *agent =
        subscription->follow == 0
            ? NULL
            : fm_scene_find(scene, subscription->follow, fm_subscription_is_veiled(subscription));
    if (agent == NULL) {
        return;
    }
    fm_rect *rect = &subscription->rect;
    uint32_t x = fm_cell_x(agent->cell), y = fm_cell_y(agent->cell);
    if (!subscription->has_keyframe || !fm_follow_is_near_middle(x, rect->x, rect->width)) {
        rect->x = fm_follow_centered(x, rect->width, scene->host->width);
    }
    if (!subscription->has_keyframe || !fm_follow_is_near_middle(y, rect->y, rect->height)) {
        rect->y = fm_follow_centered(y, rect->height, scene->host->height);
    }
}

// Whether all that it wants is known.
static bool is_ready(const fm_subscription *subscription)
{
    const fm_scene *scene = subscription->scene;
    return scene->live && (!subscription->sight || scene->visible != NULL);
}

// Brings a client up to date, unless it is too far behind reading.
static void bring_up_to_date(fm_subscription *subscription)
{
    fm_session *session = subscription->session;
    fm_scene *scene = subscription->scene;
    if (!is_ready(subscription) || !fm_session_is_open(session)) {
        return;
    }
    if (fm_session_unsent_size(session) > session->hub->config->session_unsent_max / BEHIND_SHARE) {
        set_behind(subscription, true);
        session->hub->counts.deltas_merged++;
        return;
    }
    set_behind(subscription, false);
    follow(subscription);
    if (!subscription->has_keyframe || !fm_scene_reaches(scene, subscription->tick) ||
        is_jump(subscription)) {
        send_keyframe(subscription);
        return;
    }
    if (subscription->lacks_ends) {
        send_ends(subscription, subscription->tick);
    }
    if (scene->tick - subscription->tick >= subscription->every || has_moved(subscription)) {
        send_delta(subscription);
    }
}

static bool has_read(const fm_session *session)
{
    return fm_session_unsent_size(session) <=
           session->hub->config->session_unsent_max / CAUGHT_UP_SHARE;
}

// ---- subscribing -------------------------------------------------------------------------------

// Players and others see different numbers of agents, and some see visible cells, so their
// histories differ.
static uint64_t stream_of(const fm_subscription *subscription)
{
    return subscription->scene->stream | fm_subscription_is_veiled(subscription) |
           (subscription->sight ? 2u : 0u);
}

// Continues where another session was, if all that has changed since is remembered.
static void try_to_resume(fm_subscription *subscription)
{
    const fm_scene *scene = subscription->scene;
    if (is_ready(subscription) && subscription->wanted_stream == stream_of(subscription) &&
        subscription->wanted_since <= scene->tick &&
        fm_scene_reaches(scene, subscription->wanted_since)) {
        subscription->has_keyframe = subscription->resumed = true;
        subscription->sent_rect = subscription->rect;
        subscription->tick = subscription->wanted_since;
        subscription->wanted_stream = 0;
        subscription->session->hub->counts.streams_resumed++;
    }
}

static void answer_opened(fm_subscription *subscription)
{
    try_to_resume(subscription);
    subscription->opening = false;
    if (subscription->is_notification) {
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, subscription->request);
    msgpack_pack_map(&reply.packer, 3);
    fm_pack_key_uint(&reply.packer, "subscription", subscription->number);
    fm_pack_key_uint(&reply.packer, "stream", stream_of(subscription));
    fm_pack_key_bool(&reply.packer, "resumed", subscription->resumed);
    fm_reply_send(subscription->session, &reply);
}

// ---- turns --------------------------------------------------------------------------------------

static void make_due(fm_subscription *subscription)
{
    fm_session *session = subscription->session;
    fm_hub *hub = session->hub;
    if (subscription->due) {
        return;
    }
    if (session->due_first == NULL) { // it is not in the line yet
        *(hub->due_first == NULL ? &hub->due_first : &hub->due_last->next_due) = session;
        session->before_due = hub->due_last;
        session->next_due = NULL;
        hub->due_last = session;
    }
    *(session->due_first == NULL ? &session->due_first : &session->due_last->next_due) =
        subscription;
    session->due_last = subscription;
    subscription->next_due = NULL;
    subscription->due = true;
}

static void leave_line(fm_session *session)
{
    fm_hub *hub = session->hub;
    fm_session *before = session->before_due, *next = session->next_due;
    *(before == NULL ? &hub->due_first : &before->next_due) = next;
    *(next == NULL ? &hub->due_last : &next->before_due) = before;
}

// It is due no more, and its session leaves the line when that was its last one.
static void drop_due(fm_subscription *subscription)
{
    fm_session *session = subscription->session;
    fm_subscription *before = NULL;
    for (fm_subscription *other = session->due_first; other != subscription;
         other = other->next_due) {
        before = other;
    }
    *(before == NULL ? &session->due_first : &before->next_due) = subscription->next_due;
    session->due_last = session->due_last == subscription ? before : session->due_last;
    subscription->due = false;
    if (session->due_first == NULL) {
        leave_line(session);
    }
}

// Sending never ends a subscription: a session that breaks on the way is closed later.
static void take_due(fm_subscription *subscription)
{
    bool owes = subscription->owes;
    drop_due(subscription);
    subscription->owes = false;
    if (subscription->opening && is_ready(subscription)) {
        answer_opened(subscription);
    }
    bring_up_to_date(subscription);
    if (owes && subscription->has_keyframe && subscription->tick < subscription->scene->tick &&
        !subscription->behind && fm_session_is_open(subscription->session)) {
        send_delta(subscription);
    }
}

static void go_to_the_end(fm_session *session)
{
    fm_hub *hub = session->hub;
    if (hub->due_last != session) {
        leave_line(session);
        session->before_due = hub->due_last;
        session->next_due = NULL;
        hub->due_last->next_due = session;
        hub->due_last = session;
    }
}

static bool turn_is_over(const fm_hub *hub)
{
    return hub->on_yield != NULL &&
           (hub->due_taken >= TURN_COUNT_MAX || fm_clock_now_ns() - hub->due_ns > TURN_NS_MAX);
}

// The first session in the line sends one subscription and goes to the end of the line.
static void take_dues(fm_hub *hub)
{
    while (hub->due_first != NULL && !turn_is_over(hub)) {
        fm_session *session = hub->due_first;
        hub->due_taken++;
        take_due(session->due_first);
        if (session->due_first != NULL) {
            go_to_the_end(session);
        }
    }
    if (hub->due_first != NULL) {
        hub->on_yield(hub);
    }
}

void fm_stream_take_turn(fm_hub *hub)
{
    hub->due_taken = 0;
    hub->due_ns = fm_clock_now_ns();
    take_dues(hub);
}

void fm_stream_catch_up(fm_session *session)
{
    while (session->due_first != NULL) {
        session->hub->due_taken++;
        take_due(session->due_first);
    }
}

void fm_stream_drained(fm_session *session)
{
    if (session->behind_count == 0 || !has_read(session)) {
        return; // this is called for each message
    }
    for (fm_subscription *subscription = session->subscriptions; subscription != NULL;
         subscription = subscription->next_of_session) {
        if (subscription->behind) {
            make_due(subscription);
        }
    }
    take_dues(session->hub);
}

// ---- beginnings and ends ------------------------------------------------------------------------

static void link_to_scene(fm_subscription *subscription)
{
    fm_subscription **first = &subscription->scene->subscriptions;
    subscription->next_of_scene = *first;
    subscription->link_of_scene = first;
    if (*first != NULL) {
        (*first)->link_of_scene = &subscription->next_of_scene;
    }
    *first = subscription;
}

// A scene has thousands of them, which may all end at once.
static void unlink_from_scene(fm_subscription *subscription)
{
    fm_subscription *next = subscription->next_of_scene;
    *subscription->link_of_scene = next;
    if (next != NULL) {
        next->link_of_scene = subscription->link_of_scene;
    }
}

static void unlink_from_session(fm_subscription *subscription)
{
    fm_subscription **link = &subscription->session->subscriptions;
    while (*link != subscription) {
        link = &(*link)->next_of_session;
    }
    *link = subscription->next_of_session;
    set_behind(subscription, false);
    fm_subscription_quota_count(subscription->session, -1);
}

// Returns whether that was the last one of its scene.
static bool leave(fm_subscription *subscription)
{
    bool is_last =
        subscription->scene->subscriptions == subscription && subscription->next_of_scene == NULL;
    if (subscription->due) {
        drop_due(subscription);
    }
    unlink_from_scene(subscription);
    unlink_from_session(subscription);
    free(subscription);
    return is_last;
}

// The last one to leave closes the scene.
static void end(fm_subscription *subscription)
{
    fm_scene *scene = subscription->scene;
    fm_hub *hub = subscription->session->hub;
    if (leave(subscription) && !scene->is_kept) {
        fm_scenes_close(hub, scene);
    }
}

// After the last lost subscriber it stays for a while.
static void lose(fm_subscription *subscription)
{
    fm_scene *scene = subscription->scene;
    fm_hub *hub = subscription->session->hub;
    bool may_come_back = scene->live && hub->config->resume_s > 0 && !hub->going_down;
    if (leave(subscription)) {
        scene->idle_ns = fm_clock_now_ns();
        if (!may_come_back && (!scene->is_kept || hub->going_down)) {
            fm_scenes_close(hub, scene);
        }
    }
}

fm_status fm_stream_subscribe(fm_session *session, const fm_stream_request *request)
{
    if (!fm_subscription_quota_hold(session)) {
        return FM_ERR_NO_MEMORY;
    }
    if (fm_subscription_quota_is_full(session)) {
        return FM_ERR_LIMIT;
    }
    fm_subscription *subscription = calloc(1, sizeof *subscription);
    if (subscription == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_scene *scene = fm_scenes_find(request->host, request->team);
    fm_status status = FM_OK;
    if (scene == NULL) {
        status = fm_scenes_open(session->hub, session, request->host, request->team, request->sight,
                                &scene);
    } else if (request->sight) {
        status = fm_scenes_ask_for_sight(session, scene);
    }
    if (status == FM_OK && request->motion) {
        status = fm_scenes_ask_for_motion(session->hub, session, scene);
    }
    if (status != FM_OK) {
        free(subscription);
        return status;
    }
    *subscription = (fm_subscription){
        .next_of_session = session->subscriptions,
        .session = session,
        .scene = scene,
        .number = ++session->subscription_last,
        .rect = request->rect,
        .every = request->every,
        .dense = request->dense,
        .sight = request->sight,
        .motion = request->motion,
        .follow = request->follow,
        .opening = true,
        .is_notification = request->is_notification,
        .wanted_stream = request->stream,
        .wanted_since = request->since,
        .request = request->number,
    };
    link_to_scene(subscription);
    scene->idle_ns = 0;
    session->subscriptions = subscription;
    fm_subscription_quota_count(session, 1);
    if (is_ready(subscription)) {
        answer_opened(subscription);
        bring_up_to_date(subscription);
    }
    return FM_OK;
}

static fm_subscription *find_subscription(const fm_session *session, uint64_t number)
{
    fm_subscription *subscription = session->subscriptions;
    while (subscription != NULL && subscription->number != number) {
        subscription = subscription->next_of_session;
    }
    return subscription;
}

fm_status fm_stream_move(fm_session *session, uint64_t number, const fm_rect *rect)
{
    fm_subscription *subscription = find_subscription(session, number);
    if (subscription == NULL) {
        return FM_ERR_BAD_VALUE;
    }
    const fm_host *host = subscription->scene->host;
    if (rect->x >= host->width || rect->y >= host->height || rect->width < 1 || rect->height < 1 ||
        rect->width > host->width - rect->x || rect->height > host->height - rect->y) {
        return FM_ERR_OFF_GRID;
    }
    subscription->rect = *rect;
    subscription->follow = 0;
    if (subscription->has_keyframe) {
        bring_up_to_date(subscription);
    }
    return FM_OK;
}

bool fm_stream_unsubscribe(fm_session *session, uint64_t number)
{
    fm_subscription *subscription = find_subscription(session, number);
    if (subscription == NULL) {
        return false;
    }
    if (subscription->opening) {
        answer_opened(subscription); // or it would never be closed
    }
    end(subscription);
    return true;
}

void fm_stream_end_session(fm_session *session)
{
    while (session->subscriptions != NULL) {
        lose(session->subscriptions);
    }
}

// ---- what comes from the conductor -------------------------------------------------------------

static void make_all_due(fm_scene *scene)
{
    for (fm_subscription *subscription = scene->subscriptions; subscription != NULL;
         subscription = subscription->next_of_scene) {
        make_due(subscription);
    }
}

// A world in which nothing happens publishes nothing, so clients that wait a few ticks, or that ran
// out of memory, are served here.
static void flush_scene(fm_hub *hub, fm_scene *scene, const fm_host_summary *summary)
{
    if (scene->live && scene->keeps_motion && !scene->motion_asked) {
        fm_status ignored = fm_scenes_ask_for_motion(hub, NULL, scene);
        (void)ignored; // again a little later
    }
    for (fm_subscription *subscription = scene->subscriptions; subscription != NULL;
         subscription = subscription->next_of_scene) {
        if (subscription->behind && has_read(subscription->session)) {
            make_due(subscription);
            continue;
        }
        bool owes = subscription->has_keyframe && subscription->tick < scene->tick;
        bool waited = summary->paused || summary->tick - subscription->tick >= subscription->every;
        if (owes && waited && !subscription->behind && fm_session_is_open(subscription->session)) {
            subscription->owes = true;
            make_due(subscription);
        }
    }
}

// Closes scenes without readers for `longest_ns`; with 0 those that are kept as well.
static void close_idle(fm_hub *hub, fm_host *host, uint64_t now_ns, double longest_ns)
{
    fm_scene *next;
    for (fm_scene *scene = host->scenes; scene != NULL; scene = next) {
        next = scene->next;
        bool is_wanted = scene->subscriptions != NULL || (scene->is_kept && longest_ns > 0);
        if (!is_wanted && (double)(now_ns - scene->idle_ns) >= longest_ns) {
            fm_scenes_close(hub, scene);
        }
    }
}

void fm_stream_forget(fm_hub *hub)
{
    uint64_t now_ns = fm_clock_now_ns();
    for (uint32_t i = 0; i < hub->host_count; i++) {
        close_idle(hub, hub->hosts[i], now_ns, 0);
    }
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        close_idle(hub, hub->replays[i], now_ns, 0);
    }
}

static void flush_host(fm_hub *hub, fm_host *host, uint64_t now_ns)
{
    close_idle(hub, host, now_ns, hub->config->resume_s * (double)FM_NS_PER_S);
    if (host->scenes == NULL) {
        return;
    }
    fm_host_summary summary = fm_conductor_summary(fm_hub_conductor(hub, host), host);
    for (fm_scene *scene = host->scenes; scene != NULL; scene = scene->next) {
        flush_scene(hub, scene, &summary);
    }
}

void fm_stream_flush(fm_hub *hub)
{
    uint64_t now_ns = fm_clock_now_ns();
    for (uint32_t i = 0; i < hub->host_count; i++) {
        flush_host(hub, hub->hosts[i], now_ns);
    }
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        flush_host(hub, hub->replays[i], now_ns);
    }
    take_dues(hub);
}

size_t fm_stream_session_bytes(const fm_hub *hub, size_t *unsent)
{
    size_t size = 0;
    *unsent = 0;
    for (uint32_t i = 0; i < hub->session_count; i++) {
        const fm_session *session = hub->sessions[i];
        size += fm_session_bytes(session) + session->subscription_count * sizeof(fm_subscription);
        *unsent += fm_session_unsent_size(session);
    }
    return size;
}

uint64_t fm_stream_lag_max(const fm_hub *hub)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < hub->session_count; i++) {
        for (const fm_subscription *subscription = hub->sessions[i]->subscriptions;
             subscription != NULL; subscription = subscription->next_of_session) {
            uint64_t lag =
                subscription->has_keyframe ? subscription->scene->tick - subscription->tick : 0;
            most = lag > most ? lag : most;
        }
    }
    return most;
}

static void refuse(const fm_subscription *subscription, fm_status status)
{
    char error[FM_ERROR_TEXT_SIZE] = "";
    if (status == FM_ERR_NO_TEAM) {
        snprintf(error, sizeof error, "team %u: %s", subscription->scene->team,
                 fm_status_text(status));
    } else if (status == FM_ERR_LIMIT && subscription->session->hub->relay != NULL) {
        snprintf(error, sizeof error, "this relay may not have more of its server now");
    } else if (status == FM_ERR_LIMIT) {
        snprintf(error, sizeof error, "a world shows %u views at most", FM_WATCHES_MAX);
    }
    fm_reply_error(subscription->session, subscription->request, status,
                   error[0] == '\0' ? NULL : error);
}

// The view cannot be shown: answers those who wait for it with the reason.
static void end_scene(fm_hub *hub, fm_scene *scene, fm_status status)
{
    bool is_last = scene->subscriptions == NULL;
    scene->is_kept = false;
    if (is_last) {
        fm_scenes_close(hub, scene);
    }
    while (!is_last) {
        fm_subscription *subscription = scene->subscriptions;
        is_last = subscription->next_of_scene == NULL;
        if (!subscription->opening) {
            fm_session_disconnect(subscription->session, fm_status_text(status));
        } else if (!subscription->is_notification && status == FM_ERR_MOVED) {
            fm_reply_moved(subscription->session, subscription->request, scene->host->number);
        } else if (!subscription->is_notification) {
            refuse(subscription, status);
        }
        end(subscription); // the last one takes the scene along
    }
}

// The view continues as it was: answers those who wait for visible cells with the reason. How
// agents move is asked for again later.
static void refuse_more(fm_scene *scene, fm_status status)
{
    scene->sight_asked = scene->motion_asked = false;
    fm_subscription *next;
    for (fm_subscription *subscription = scene->subscriptions; subscription != NULL;
         subscription = next) {
        next = subscription->next_of_scene;
        if (subscription->opening && subscription->sight) {
            if (!subscription->is_notification) {
                refuse(subscription, status);
            }
            end(subscription);
        }
    }
}

// A replay went to another tick: all readers, also those that come back, start with a keyframe.
static void forget_keyframes(fm_scene *scene)
{
    scene->stream = fm_scenes_make_stream();
    for (fm_subscription *subscription = scene->subscriptions; subscription != NULL;
         subscription = subscription->next_of_scene) {
        subscription->has_keyframe = false;
    }
}

// Orders that ended by the time of a keyframe that a relay got come after it: clients that it was
// sent to on lack them.
static void note_late_ends(fm_scene *scene)
{
    for (fm_subscription *subscription = scene->subscriptions; subscription != NULL;
         subscription = subscription->next_of_scene) {
        subscription->lacks_ends |= subscription->has_keyframe && subscription->tick == scene->tick;
    }
}

static bool has_late_ends(const fm_scene *scene, const fm_publication *publication)
{
    const fm_changes *changes = &publication->changes;
    return !publication->is_snapshot && publication->tick == scene->tick &&
           (changes->ended_count > 0 || changes->alert_count > 0 || changes->left_count > 0);
}

void fm_stream_publish(fm_hub *hub, fm_publication *publication)
{
    fm_host *host = publication->host;
    fm_scene *scene = fm_scenes_find(host, publication->team);
    if (scene != NULL && scene->serial == publication->serial &&
        (scene->live || publication->is_snapshot)) {
        bool is_late = has_late_ends(scene, publication);
        fm_status status = fm_scene_apply(scene, publication);
        if (is_late) {
            note_late_ends(scene);
        }
        if (publication->is_cut) {
            forget_keyframes(scene);
        }
        if (status == FM_OK) {
            make_all_due(scene);
            take_dues(hub);
        } else {
            end_scene(hub, scene, status);
        }
    }
    fm_publication_destroy(publication);
}

void fm_stream_watched(fm_hub *hub, const fm_job *job)
{
    fm_scene *scene = fm_scenes_find(job->host, job->watch.team);
    bool is_its = scene != NULL && scene->serial == job->watch.serial;
    if (job->status != FM_OK && is_its && scene->live) {
        refuse_more(scene, job->status);
    } else if (job->status != FM_OK && is_its) {
        end_scene(hub, scene, job->status);
    }
    fm_session *session = job->session == 0 ? NULL : fm_hub_find_session(hub, job->session);
    if (session != NULL) {
        fm_session_jobs_done(session, FM_SESSION_WATCH_JOBS);
    }
}

// Sends what `every` has delayed; a client that is behind gets it from the next node.
static void send_last_delta(fm_subscription *subscription)
{
    if (subscription->has_keyframe && subscription->tick < subscription->scene->tick &&
        !subscription->behind && fm_session_is_open(subscription->session)) {
        send_delta(subscription);
    }
}

void fm_stream_end_host(fm_hub *hub, fm_host *host, const fm_node_entry *place, uint64_t tick)
{
    close_idle(hub, host, fm_clock_now_ns(), 0);
    while (host->scenes != NULL) {
        fm_subscription *subscription = host->scenes->subscriptions;
        host->scenes->is_kept = false;
        if (subscription->due) {
            take_due(subscription);
        }
        if (subscription->opening) {
            answer_opened(subscription);
        }
        if (place == NULL) {
            fm_subscription_send_world_ended(subscription);
        } else {
            send_last_delta(subscription);
            fm_subscription_send_moved(subscription, place, tick);
        }
        end(subscription); // the last one takes the scene along
    }
}
