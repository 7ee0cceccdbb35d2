// clients/c/follow.c: a client of a cluster goes where its world is. See fm_client_options,
// follow_ms.
//
// A client is on one node at a time. It goes to another one when its connection ends, when a
// request is answered `moved`, and when a world that it views ends here but goes on elsewhere; but
// not away from the world of another view (clients/README.md, Views of several worlds). It asks the
// known nodes where the world is, repeatedly, with growing pauses. It uses separate connections for
// that, each a client without hooks; the right one is taken over, with the subscriptions that were
// made on it, and requests without an answer are sent again under their old ids. Commands have a
// command_id, so that each is carried out once.
//
// The program sees subscription numbers made here, which stay when nodes change.

#include "clients/c/follow.h"

#include "clients/c/connect.h"
#include "clients/c/repeats.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NAMED_MAX 100u  // bytes of the addresses that an error names
#define FIRST_MS  5000u // so long only the oldest view's world is looked for, then others as well

// ---- hooks: requests and what comes in ----------------------------------------------------------

// The parameters to send for a request: with a command_id, and the node's numbers.
static const fm_params *prepare(fm_client *client, fm_method method, const fm_params *params,
                                uint64_t *world)
{
    if (params != NULL && params->failed) {
        return params; // part of them is missing: they are not sent
    }
    struct fm_follow *follow = client->follow;
    bool needs_id = follow->is_on && fm_takes_command_id(method), changed = false;
    struct fm_entry entry;
    fm_params_clear(&follow->scratch);
    for (size_t at = 0; params != NULL && fm_entry_next(params, &at, &entry);) {
        if (fm_entry_is(&entry, FM_FIELD_WORLD)) {
            *world = entry.number;
        }
        needs_id = needs_id && !fm_entry_is(&entry, FM_FIELD_COMMAND_ID);
        if (!fm_entry_is(&entry, FM_FIELD_SUBSCRIPTION)) {
            fm_entry_append(&follow->scratch, &entry);
            continue;
        }
        // One that is over and forgotten may have the node's number of another one: 0 is none.
        struct subscription *one = fm_views_of_program(follow, entry.number);
        fm_params_uint(&follow->scratch, FM_FIELD_SUBSCRIPTION, one == NULL ? 0 : one->node_number);
        changed = true;
        if (one != NULL &&
            (method == FM_METHOD_UNSUBSCRIBE || method == FM_METHOD_DEBUG_UNSUBSCRIBE)) {
            one->is_over = true;
        }
    }
    if (needs_id) {
        fm_params_uint(&follow->scratch, FM_FIELD_COMMAND_ID, ++follow->command_id);
    }
    return needs_id || changed ? &follow->scratch : params;
}

static bool holds(fm_client *client, struct fm_client_pending *request,
                  const fm_client_error *error, msgpack_object *result)
{
    struct fm_follow *follow = client->follow;
    if (request->on_reply == fm_look_on_subscribed) {
        return false;
    }
    if (error != NULL) {
        request->refused = error->status == FM_ERR_MOVED && fm_views_may_go(follow, request->world);
        if (request->refused) {
            follow->wants = true;
            follow->wanted_world = request->world;
            fm_follow_note_place(follow, result);
            snprintf(follow->reason, sizeof follow->reason, "%s", error->message);
        }
        return request->refused;
    }
    if (request->method == FM_METHOD_SUBSCRIBE || request->method == FM_METHOD_DEBUG_SUBSCRIBE) {
        struct subscription *one =
            fm_views_answered(follow, fm_object_uint(result, "subscription", 0));
        if (one != NULL) {
            fm_views_note_request(one, request);
            one->stream = fm_object_uint(result, "stream", 0);
            fm_follow_put_number(result, "subscription", one->number);
        }
    }
    return false;
}

static void rename_entry(fm_client *client, msgpack_object *map)
{
    uint64_t node_number = fm_object_uint(map, "subscription", 0);
    const struct subscription *one =
        node_number == 0 ? NULL : fm_views_meet(client->follow, node_number, 0);
    if (one != NULL) {
        fm_follow_put_number(map, "subscription", one->number);
    }
}

static bool has_place(const msgpack_object *moved)
{
    char address[ADDRESS_SIZE];
    return fm_object_text(moved, "tcp", address, sizeof address) && address[0] != '\0';
}

static bool routes(fm_client *client, fm_notification notification, msgpack_object *params)
{
    struct fm_follow *follow = client->follow;
    uint64_t node_number = fm_object_uint(params, "subscription", 0);
    struct subscription *one =
        node_number == 0 ? NULL
                         : fm_views_meet(follow, node_number, fm_object_uint(params, "world", 0));
    if (one == NULL) {
        return true;
    }
    if (one->is_over) {
        return false; // it was under way when the program ended the view
    }
    bool is_moved = notification == FM_NOTIFY_MOVED;
    one->tick = fm_object_uint(params, "tick", one->tick);
    fm_views_note_rect(one, params);
    fm_follow_put_number(params, "subscription", one->number);
    if (!is_moved && notification != FM_NOTIFY_WORLD_ENDED) {
        one->is_over = notification == FM_NOTIFY_DEBUG && fm_object_get(params, "ended") != NULL;
        return true;
    }
    if (!follow->is_on || one->world == 0 ||
        (is_moved && has_place(params) && !fm_views_may_go(follow, one->world))) {
        one->is_over = true;
        return true;
    }
    if (follow->continuing == one->number) {
        follow->continuing = 0; // its world has left before the subscribe was answered
    }
    fm_look_begin(one, !is_moved);
    if (is_moved && fm_views_may_go(follow, one->world)) {
        follow->wants = true;
        follow->wanted_world = one->world;
        fm_follow_note_place(follow, params);
    }
    return false;
}

// ---- nodes --------------------------------------------------------------------------------------

// Puts an address at a place, unless it is before that; those behind move on.
static void put_node(struct fm_follow *follow, uint32_t place, const char *address)
{
    uint32_t at = 0;
    while (at < follow->node_count && strcmp(follow->nodes[at], address) != 0) {
        at++;
    }
    if (at < place || address[0] == '\0' || strlen(address) >= ADDRESS_SIZE) {
        return;
    }
    if (at == follow->node_count) {
        follow->node_count += follow->node_count < NODES_MAX;
        at = follow->node_count - 1;
    }
    char moved[ADDRESS_SIZE];
    bool refused = follow->refused[at] && strcmp(follow->nodes[at], address) == 0;
    snprintf(moved, sizeof moved, "%s", address);
    memmove(follow->nodes[place + 1], follow->nodes[place], (at - place) * sizeof *follow->nodes);
    memmove(&follow->refused[place + 1], &follow->refused[place],
            (at - place) * sizeof *follow->refused);
    memcpy(follow->nodes[place], moved, sizeof moved);
    follow->refused[place] = refused;
}

// hello was answered by the node at `address`, where the client stays.
static void settle(struct fm_follow *follow, const char *address, const msgpack_object *result)
{
    char text[ADDRESS_SIZE];
    follow->is_on = fm_object_text(result, "node", text, sizeof text) && text[0] != '\0';
    fm_object_text(result, "resume", follow->resume, sizeof follow->resume);
    put_node(follow, 0, address);
    const msgpack_object *seeds = fm_object_get(result, "seeds");
    for (uint32_t i = 0; i < fm_object_count(seeds) && i + 1 < NODES_MAX; i++) {
        if (fm_object_text(fm_object_at(seeds, i), "tcp", text, sizeof text)) {
            put_node(follow, follow->node_count < i + 1 ? follow->node_count : i + 1, text);
        }
    }
}

// Connects to the next of the addresses for the start.
static bool start_elsewhere(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    fm_client_options options = client->options;
    options.resume = NULL; // hello says it
    options.tls_ca_file = follow->ca_file[0] == '\0' ? NULL : follow->ca_file;
    while (follow->start_at < follow->node_count) {
        char address[ADDRESS_SIZE];
        snprintf(address, sizeof address, "%s", follow->nodes[follow->start_at++]);
        fm_client *next = NULL;
        if (fm_client_open(address, &options, &next, &client->error) == FM_OK) {
            fm_client_exchange(client, next);
            fm_client_destroy(next);
            put_node(follow, 0, address);
            return true;
        }
    }
    return false;
}

static void greeted(fm_client *client, const msgpack_object *result)
{
    client->follow->start_at = NODES_MAX; // it has started
    char here[ADDRESS_SIZE];
    snprintf(here, sizeof here, "%s", client->follow->nodes[0]);
    settle(client->follow, here, result);
    client->follow->silence = fm_silence_begin(client->traffic.bytes_in, fm_now_ms());
}

// ---- looking for a world ------------------------------------------------------------------------

// A node that is asked, and its answer.
struct probe {
    fm_client *owner; // who follows
    fm_client *client;
    char address[ADDRESS_SIZE];
    fm_client_error error;
};

static void on_probe_notification(void *context, fm_notification notification,
                                  const msgpack_object *params)
{
    fm_client *owner = context;
    if (routes(owner, notification, (msgpack_object *)params)) {
        fm_client_tell(owner, notification, params);
    }
}

// Whether a node is not to be asked yet: the others will soon say who has its worlds.
static bool is_silent(const struct fm_follow *follow, const char *address)
{
    return follow->node_count > 1 && strcmp(follow->silent, address) == 0 &&
           fm_now_ms() < follow->silent_until_ms;
}

static void note_refusal(struct fm_follow *follow, const char *address)
{
    for (uint32_t i = 0; i < follow->node_count; i++) {
        follow->refused[i] = follow->refused[i] || strcmp(follow->nodes[i], address) == 0;
    }
}

static bool was_refused(const struct fm_follow *follow, const char *address)
{
    bool refused = false;
    for (uint32_t i = 0; i < follow->node_count && !refused; i++) {
        refused = follow->refused[i] && strcmp(follow->nodes[i], address) == 0;
    }
    return refused;
}

// Connects and says hello. @return false with probe->error
static bool greet(struct probe *probe, const char *address)
{
    struct fm_follow *follow = probe->owner->follow;
    fm_client_options options = probe->owner->options;
    options.follow_ms = 0;
    options.token = follow->token[0] == '\0' ? NULL : follow->token;
    options.resume = follow->resume[0] == '\0' ? NULL : follow->resume;
    options.tls_ca_file = follow->ca_file[0] == '\0' ? NULL : follow->ca_file;
    options.timeout_ms = options.connect_timeout_ms = FM_NODE_PATIENCE_MS;
    snprintf(probe->address, sizeof probe->address, "%s", address);
    if (fm_client_open(address, &options, &probe->client, &probe->error) != FM_OK) {
        probe->client = NULL;
        return false;
    }
    snprintf(probe->client->ticket, sizeof probe->client->ticket, "%s", follow->ticket);
    fm_client_on_notification(probe->client, on_probe_notification, probe->owner);
    if (fm_client_hello(probe->client, NULL) != FM_OK) {
        probe->error = *fm_client_error_last(probe->client);
        if (probe->error.status == FM_ERR_DENIED || probe->error.status == FM_ERR_BAD_VALUE) {
            note_refusal(follow, address);
        }
        return false;
    }
    return true;
}

static void hang_up(struct probe *probe)
{
    fm_client_destroy(probe->client);
    probe->client = NULL;
}

// Goes to the node that `probe` names, if that is another one. @return false with probe->error
static bool locate(struct probe *probe, uint64_t world)
{
    char address[ADDRESS_SIZE] = "";
    const msgpack_object *result;
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, world);
    fm_status status = fm_client_call(probe->client, FM_METHOD_WORLD_LOCATE, &params, &result);
    fm_params_fini(&params);
    if (status != FM_OK) {
        probe->error = *fm_client_error_last(probe->client);
        return false;
    }
    if (fm_object_bool(result, "here", false)) {
        return true;
    }
    fm_object_text(result, "tcp", address, sizeof address);
    hang_up(probe);
    if (was_refused(probe->owner->follow, address)) {
        fm_client_error_set(&probe->error, FM_ERR_DENIED, "%.100s has the world and refused hello",
                            address);
        return false;
    }
    if (is_silent(probe->owner->follow, address)) {
        fm_client_error_set(&probe->error, FM_ERR_IO, "%.100s has the world and is silent",
                            address);
        return false;
    }
    return greet(probe, address);
}

static bool is_other(const struct subscription *one, uint64_t world)
{
    return !one->is_over && one->world != 0 && one->world != world;
}

// As locate(); where the world is not found, perhaps another one that is viewed.
// @param sought  receives the world that was found
static bool locate_any(struct probe *probe, uint64_t world, bool tries_others, uint64_t *sought)
{
    const struct fm_follow *follow = probe->owner->follow;
    *sought = world;
    if (world == 0 || locate(probe, world)) {
        return true;
    }
    fm_client_error first = probe->error;
    for (uint32_t i = 0; tries_others && i < follow->subscription_count; i++) {
        uint64_t other = follow->subscriptions[i].world;
        if (probe->client == NULL || !fm_is_not_here(probe->error.status)) {
            return false;
        }
        if (is_other(&follow->subscriptions[i], world) && locate(probe, other)) {
            *sought = other;
            return true;
        }
    }
    probe->error = first;
    return false;
}

static fm_status subscribe(struct probe *probe, struct subscription *one)
{
    fm_params params;
    fm_views_again(one, &params);
    uint64_t number = one->number;
    const msgpack_object *result;
    probe->owner->follow->continuing = number;
    fm_status status = fm_client_call(probe->client, one->method, &params, &result);
    probe->owner->follow->continuing = 0;
    fm_params_fini(&params);
    // A callback may have made the list longer.
    one = fm_views_of_program(probe->owner->follow, number);
    if (status != FM_OK) {
        probe->error = *fm_client_error_last(probe->client);
    } else if (one != NULL && !one->is_sought) { // its world has not left before the answer
        one->node_number = fm_object_uint(result, "subscription", 0);
        one->stream = fm_object_uint(result, "stream", 0);
    }
    return status;
}

// Makes the program's subscriptions again. What this node does not have, or not now, is looked for
// from there; what it refuses for another reason is over.
// @param sought  world that it must have
// @return false with probe->error
static bool subscribe_all(struct probe *probe, uint64_t sought)
{
    struct fm_follow *follow = probe->owner->follow;
    fm_views_forget_those_over(follow);
    follow->wants = false;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        one->node_number = 0;
        one->is_sought = false;
        one->is_over = !one->was_answered; // its request waits and will be sent again
    }
    for (uint32_t i = 0, count = follow->subscription_count; i < count; i++) {
        if (follow->subscriptions[i].is_over) {
            continue;
        }
        fm_status status = subscribe(probe, &follow->subscriptions[i]);
        struct subscription *one = &follow->subscriptions[i];
        if (status == FM_OK) {
            continue;
        }
        if (status == FM_ERR_IO || (one->world == sought && fm_is_not_here(status))) {
            return false;
        }
        if (fm_is_not_here(status) || fm_is_for_now(status)) {
            fm_look_begin(one, false);
        } else {
            fm_views_end(probe->owner, one, FM_NOTIFY_MOVED, NULL, probe->error.message);
        }
    }
    return true;
}

// Sends unanswered requests again. Those that may not be repeated end with an error.
static void repeat_requests(fm_client *client)
{
    for (uint32_t id = client->oldest_id, end = client->next_id; id != end; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request == NULL) {
            continue;
        }
        fm_client_error error;
        if (request->deadline_ms <= fm_now_ms()) {
            continue; // fm_client_expire() ends it
        }
        if (!request->refused && !fm_may_repeat(request->method)) {
            fm_client_error_set(&error, FM_ERR_IO,
                                "connection lost: %s may have been carried out, or not",
                                fm_method_name(request->method));
            fm_client_answer(client, id, &error);
        } else if (!fm_client_repeat(client, id)) {
            fm_client_error_set(&error, FM_ERR_NO_MEMORY, "%s", fm_status_text(FM_ERR_NO_MEMORY));
            fm_client_answer(client, id, &error);
        }
    }
}

// Ends on the new node what callbacks have ended while they were told of it.
static void end_those_over(fm_client *client)
{
    const struct fm_follow *follow = client->follow;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].is_over && follow->subscriptions[i].node_number != 0) {
            fm_views_unsubscribe(client, &follow->subscriptions[i]);
        }
    }
}

// Tries one node, or the one that it names. @return false with probe->error
static bool try_node(struct probe *probe, const char *address, uint64_t world, bool tries_others)
{
    fm_client *owner = probe->owner;
    uint64_t sought;
    char node[ADDRESS_SIZE];
    snprintf(node, sizeof node, "%s", address); // which may be a place in the list that changes
    if (!greet(probe, node) || !locate_any(probe, world, tries_others, &sought) ||
        !subscribe_all(probe, sought)) {
        return false;
    }
    put_node(owner->follow, 0, probe->address);
    owner->follow->ticket[0] = owner->follow->silent[0] = '\0';
    fm_client_exchange(owner, probe->client);
    owner->follow->silence = fm_silence_begin(owner->traffic.bytes_in, fm_now_ms());
    repeat_requests(owner);
    end_those_over(owner);
    (void)!fm_client_flush(owner); // a failure shows when reading
    return true;
}

static void pause_ms(uint64_t ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL); // a signal ends it early: then it asks again sooner
}

// Where the same node says `moved` again and again, and has the world as others say: so long to
// wait before the next search. Otherwise 0.
static uint64_t pause_before_ms(struct fm_follow *follow)
{
    uint64_t now_ms = fm_now_ms(), longer_ms = 2 * follow->left_pause_ms;
    bool again =
        strcmp(follow->left, follow->nodes[0]) == 0 && now_ms - follow->left_at_ms < GONE_MS;
    follow->left_pause_ms = !again                       ? 0
                            : longer_ms < PAUSE_FIRST_MS ? PAUSE_FIRST_MS
                            : longer_ms < PAUSE_LAST_MS  ? longer_ms
                                                         : PAUSE_LAST_MS;
    follow->left_at_ms = now_ms + follow->left_pause_ms;
    snprintf(follow->left, sizeof follow->left, "%s", follow->nodes[0]);
    return follow->left_pause_ms;
}

static bool has_others(const struct fm_follow *follow, uint64_t world)
{
    bool has = false;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        has = has || is_other(&follow->subscriptions[i], world);
    }
    return has;
}

// Searches for a world's node and connects to it. 0: any node.
static bool seek(fm_client *client, uint64_t world)
{
    struct fm_follow *follow = client->follow;
    struct probe probe = {.owner = client};
    uint64_t begin_ms = fm_now_ms(), gone_since_ms = 0, wait_ms = PAUSE_FIRST_MS;
    memset(follow->refused, 0, sizeof follow->refused);
    pause_ms(client->broken ? 0 : pause_before_ms(follow));
    put_node(follow, 0, follow->place);
    follow->place[0] = '\0';
    client->broken = false; // callbacks may send; it goes out when a node is found
    for (bool any = true; any && fm_now_ms() - begin_ms < client->options.follow_ms;) {
        any = false;
        for (uint32_t i = 0; i < follow->node_count; i++) {
            if (follow->refused[i]) {
                continue;
            }
            any = true;
            if (is_silent(follow, follow->nodes[i])) {
                continue;
            }
            bool is_old = gone_since_ms != 0 && fm_now_ms() - gone_since_ms > GONE_MS;
            bool tries_others = is_old || fm_now_ms() - begin_ms > FIRST_MS;
            bool found = try_node(&probe, follow->nodes[i], world, tries_others);
            hang_up(&probe);
            if (found) {
                return true;
            }
            snprintf(follow->reason, sizeof follow->reason, "%.60s: %.170s", probe.address,
                     probe.error.message);
            bool is_gone = probe.error.status == FM_ERR_NO_WORLD;
            gone_since_ms = !is_gone ? 0 : gone_since_ms != 0 ? gone_since_ms : fm_now_ms();
            if (is_gone && fm_now_ms() - gone_since_ms > GONE_MS && !has_others(follow, world)) {
                return false;
            }
        }
        pause_ms(wait_ms / 2 +
                 fm_now_ms() % (wait_ms / 2)); // clients of one node do not come at once
        wait_ms = 2 * wait_ms < PAUSE_LAST_MS ? 2 * wait_ms : PAUSE_LAST_MS;
    }
    return false;
}

// ---- hooks: going -------------------------------------------------------------------------------

// The world of the program's views; 0: none.
static uint64_t world_of(const fm_client *client)
{
    const struct fm_follow *follow = client->follow;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (!follow->subscriptions[i].is_over && follow->subscriptions[i].world != 0) {
            return follow->subscriptions[i].world;
        }
    }
    for (uint32_t id = client->oldest_id; id != client->next_id; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request != NULL && request->world != 0) {
            return request->world;
        }
    }
    return 0;
}

static void give_up(fm_client *client, uint64_t world)
{
    struct fm_follow *follow = client->follow;
    char text[FM_ERROR_TEXT_SIZE + 128];
    follow->is_lost = true;
    snprintf(text, sizeof text, "no node for world %llu found in %u s among %u; %.150s",
             (unsigned long long)world, client->options.follow_ms / 1000, follow->node_count,
             follow->reason);
    fm_client_break(client, text);
}

static bool has_one_over(const struct fm_follow *follow)
{
    bool has = false;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        has = has || follow->subscriptions[i].is_over;
    }
    return has;
}

static bool unsubscribes(const fm_client *client)
{
    for (uint32_t id = client->oldest_id; id != client->next_id; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request != NULL && (request->method == FM_METHOD_UNSUBSCRIBE ||
                                request->method == FM_METHOD_DEBUG_UNSUBSCRIBE)) {
            return true;
        }
    }
    return false;
}

// Whether a world is the one of a view that is looked for: not always that of the oldest view.
static bool is_sought(const struct fm_follow *follow, uint64_t world)
{
    bool is = false;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        const struct subscription *one = &follow->subscriptions[i];
        is = is || (one->is_sought && !one->is_over && one->world == world);
    }
    return is;
}

static void recover(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    if (has_one_over(follow) && follow->continuing == 0 && !unsubscribes(client)) {
        fm_views_forget_those_over(follow); // nothing of them is under way
    }
    if (!follow->is_on || follow->is_lost || follow->is_moving ||
        !(client->broken || follow->wants)) {
        return;
    }
    if (client->is_strange) {
        follow->is_lost = true;
        return;
    }
    bool goes = follow->wants && !client->broken && is_sought(follow, follow->wanted_world);
    uint64_t world =
        goes || (follow->wants && world_of(client) == 0) ? follow->wanted_world : world_of(client);
    if (client->broken) {
        snprintf(follow->reason, sizeof follow->reason, "%s", client->broken_error.message);
    }
    follow->is_moving = true;
    follow->wants = false;
    fm_look_stop(client);
    bool found = seek(client, world);
    follow->is_moving = false;
    if (!found) {
        give_up(client, world);
    }
}

// ---- hooks: a node that is silent ---------------------------------------------------------------

static uint64_t watch_ms(const fm_client *client)
{
    const struct fm_follow *follow = client->follow;
    bool watches = follow->is_on && !follow->is_lost && !follow->is_moving && !client->broken;
    uint64_t silence_ms = fm_silence_due_ms(&follow->silence), look_ms = fm_look_due_ms(follow);
    uint64_t due_ms = silence_ms < look_ms ? silence_ms : look_ms;
    return watches ? due_ms : UINT64_MAX;
}

// When the large requests that wait for an answer have been sent, on a slow line.
static uint64_t sent_by_ms(const fm_client *client)
{
    uint64_t by_ms = 0;
    for (uint32_t id = client->oldest_id; id != client->next_id; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request != NULL && request->size > FM_LARGE_REQUEST) {
            by_ms = (request->sent_ms > by_ms ? request->sent_ms : by_ms) +
                    request->size / FM_SLOW_LINE;
        }
    }
    return by_ms;
}

static void watch(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    fm_look(client);
    if (fm_now_ms() < sent_by_ms(client)) {
        follow->silence = fm_silence_begin(client->traffic.bytes_in, fm_now_ms());
        return;
    }
    switch (fm_silence_look(&follow->silence, client->traffic.bytes_in, fm_now_ms())) {
    case FM_SILENCE_WAIT:
        break;
    case FM_SILENCE_ASK:
        if (fm_client_send(client, FM_METHOD_PING, NULL, NULL, NULL, NULL) != FM_OK) {
            follow->silence = fm_silence_begin(client->traffic.bytes_in, fm_now_ms()); // no room
        }
        (void)!fm_client_flush(client);
        break;
    case FM_SILENCE_GONE:
        snprintf(follow->silent, sizeof follow->silent, "%s", follow->nodes[0]);
        follow->silent_until_ms = fm_now_ms() + FM_NODE_PATIENCE_MS;
        fm_client_break(client, "the node is silent");
        break;
    }
}

static void destroy(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        fm_params_fini(&follow->subscriptions[i].params);
    }
    fm_params_fini(&follow->scratch);
    free(follow->subscriptions);
    free(follow);
}

static const fm_client_hooks hooks = {
    .prepare = prepare,
    .holds = holds,
    .routes = routes,
    .rename = rename_entry,
    .start_elsewhere = start_elsewhere,
    .greeted = greeted,
    .recover = recover,
    .watch_ms = watch_ms,
    .watch = watch,
    .destroy = destroy,
};

// ---- connecting ---------------------------------------------------------------------------------

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from == NULL ? "" : from);
}

static struct fm_follow *make_follow(const fm_client_options *options)
{
    struct fm_follow *follow = calloc(1, sizeof *follow);
    if (follow == NULL) {
        return NULL;
    }
    copy_text(follow->token, sizeof follow->token, options->token);
    copy_text(follow->resume, sizeof follow->resume, options->resume);
    copy_text(follow->ca_file, sizeof follow->ca_file, options->tls_ca_file);
    fm_params_init(&follow->scratch);
    if (getrandom(&follow->command_id, sizeof follow->command_id, 0) < 0) {
        follow->command_id = fm_now_ms() * 0x9e3779b97f4a7c15u;
    }
    follow->command_id >>= 13; // below 2^51, and counts on from there
    return follow;
}

// Of several addresses the error would name the last one alone.
static void name_addresses(const char *addresses, fm_client_error *error)
{
    const fm_client_error last = *error;
    bool is_long = strlen(addresses) > NAMED_MAX;
    (void)!fm_client_error_set(error, last.status, "no server answers at %.*s%s; the last: %s",
                               (int)NAMED_MAX, addresses, is_long ? "..." : "", last.message);
    memcpy(error->name, last.name, sizeof error->name);
}

static uint32_t count_addresses(const char *addresses)
{
    uint32_t count = 1;
    for (const char *at = addresses; at != NULL && (at = strchr(at, ',')) != NULL; at++) {
        count += 1;
    }
    return count;
}

fm_status fm_client_connect(const char *addresses, const fm_client_options *options,
                            fm_client **out, fm_client_error *error)
{
    fm_client_error unwanted;
    error = error == NULL ? &unwanted : error;
    fm_client_options chosen = options == NULL ? fm_client_options_default() : *options;
    uint32_t count = count_addresses(addresses);
    if (count > NODES_MAX) {
        return fm_client_error_set(error, FM_ERR_BAD_VALUE, "%u addresses are more than %u", count,
                                   NODES_MAX);
    }
    struct fm_follow *follow = make_follow(&chosen);
    if (follow == NULL) {
        return fm_client_error_set(error, FM_ERR_NO_MEMORY, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    fm_status status = FM_ERR_BAD_VALUE;
    fm_client *client = NULL;
    for (const char *at = addresses; at != NULL;) {
        const char *comma = strchr(at, ',');
        char address[2 * ADDRESS_SIZE];
        snprintf(address, sizeof address, "%.*s",
                 comma == NULL ? (int)sizeof address - 1 : (int)(comma - at), at);
        at = comma == NULL ? NULL : comma + 1;
        put_node(follow, follow->node_count, address);
        if (client == NULL) {
            status = fm_client_open(address, &chosen, &client, error);
        }
        if (status == FM_OK && follow->used[0] == '\0') {
            snprintf(follow->used, sizeof follow->used, "%.255s", address);
            follow->start_at = follow->node_count;
        } else if (status != FM_OK && status != FM_ERR_IO) {
            break;
        }
    }
    put_node(follow, 0, follow->used);
    if (status == FM_ERR_IO && count > 1) {
        name_addresses(addresses, error);
    }
    if (status != FM_OK || chosen.follow_ms == 0) {
        free(follow);
    } else {
        client->follow = follow;
        client->hooks = &hooks;
    }
    if (status == FM_OK) {
        *out = client;
    }
    return status;
}

const char *fm_client_address(const fm_client *client)
{
    return client->follow == NULL ? "" : client->follow->nodes[0];
}
