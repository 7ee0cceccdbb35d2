// clients/c/follow.c: a client of a cluster goes where its world is. See fm_client_options,
// follow_ms.
//
// A client is on one node at a time. It goes to another one when its connection ends, when a
// request is answered `moved`, and when a world that it views ends here but goes on elsewhere. It
// asks the known nodes where the world is, repeatedly, with growing pauses. It uses separate
// connections for that, each a client without hooks; the right one is taken over, with the
// subscriptions that were made on it, and requests without an answer are sent again under their old
// ids. Commands have a command_id, so that each is carried out once.
//
// The program sees subscription numbers made here, which stay when nodes change.

#include "clients/c/client.h"

#include "clients/c/connect.h"
#include "clients/c/repeats.h"
#include "clients/c/silence.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NODES_MAX      64u
#define ADDRESS_SIZE   256u
#define GONE_MS        3000u // so long all must know no such world: a new node knows of none yet
#define PAUSE_FIRST_MS 50u
#define PAUSE_LAST_MS  1000u

// What the program subscribed to.
struct subscription {
    uint64_t number, node_number; // the program's; the node's, 0: none yet
    fm_method method;
    fm_params params; // as it subscribed, without rect, stream and since
    uint64_t world, stream, tick;
    uint64_t rect[4]; // that it showed last
    bool has_rect, was_answered, is_over;
    bool asks; // its world has ended on this node and may continue elsewhere
};

struct fm_follow {
    char nodes[NODES_MAX][ADDRESS_SIZE]; // the best guess first
    bool refused[NODES_MAX];             // it refused hello in this search
    uint32_t node_count;
    bool is_on;     // the server is a node of a cluster
    bool is_lost;   // permanently
    bool is_moving; // a search is under way
    bool wants;     // a request was answered `moved`
    uint64_t wanted_world;
    uint64_t command_id;     // the last
    char used[ADDRESS_SIZE]; // where it connected first
    char token[257], resume[FM_CLIENT_RESUME_SIZE], ca_file[4096];
    char place[ADDRESS_SIZE], ticket[256]; // where `moved` says that the world is
    struct subscription *subscriptions;
    uint32_t subscription_count, subscription_capacity;
    uint64_t last_number;
    uint64_t continuing;       // number of the subscription that is being repeated; 0: none
    fm_params scratch;         // of the request that is being sent
    fm_silence silence;        // of the node that it is on
    char silent[ADDRESS_SIZE]; // the node that it has left because it was silent; empty: none
    uint64_t silent_until_ms;  // when to ask it as well
    char reason[FM_ERROR_TEXT_SIZE];
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// ---- parameters ---------------------------------------------------------------------------------

// One entry of packed parameters.
struct entry {
    char name[32];
    uint64_t number; // 0 where it is none
    const char *bytes;
    size_t size;
};

// @return false at the end
static bool next_entry(const fm_params *params, size_t *at, struct entry *entry)
{
    size_t begin = *at;
    msgpack_unpacked key, value;
    msgpack_unpacked_init(&key);
    msgpack_unpacked_init(&value);
    bool good =
        begin < params->size &&
        msgpack_unpack_next(&key, params->bytes, params->size, at) == MSGPACK_UNPACK_SUCCESS &&
        msgpack_unpack_next(&value, params->bytes, params->size, at) == MSGPACK_UNPACK_SUCCESS &&
        key.data.type == MSGPACK_OBJECT_STR;
    if (good) {
        bool is_number = value.data.type == MSGPACK_OBJECT_POSITIVE_INTEGER;
        *entry = (struct entry){.number = is_number ? value.data.via.u64 : 0,
                                .bytes = params->bytes + begin,
                                .size = *at - begin};
        snprintf(entry->name, sizeof entry->name, "%.*s", (int)key.data.via.str.size,
                 key.data.via.str.ptr);
    }
    msgpack_unpacked_destroy(&key);
    msgpack_unpacked_destroy(&value);
    return good;
}

static bool is_field(const struct entry *entry, fm_field field)
{
    return strcmp(entry->name, fm_field_name(field)) == 0;
}

static void append_entry(fm_params *params, const struct entry *entry)
{
    size_t size = params->size + entry->size;
    char *grown = size > params->capacity ? realloc(params->bytes, 2 * size) : params->bytes;
    if (grown == NULL) {
        params->failed = true;
        return;
    }
    params->capacity = size > params->capacity ? 2 * size : params->capacity;
    params->bytes = grown;
    memcpy(params->bytes + params->size, entry->bytes, entry->size);
    params->size = size;
    params->count++;
}

// ---- subscriptions ------------------------------------------------------------------------------

static struct subscription *find(const struct fm_follow *follow, uint64_t node_number)
{
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        if (node_number != 0 && one->node_number == node_number && !one->is_over) {
            return one;
        }
    }
    return NULL;
}

static struct subscription *find_of_program(const struct fm_follow *follow, uint64_t number)
{
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].number == number) {
            return &follow->subscriptions[i];
        }
    }
    return NULL;
}

static void forget_those_over(struct fm_follow *follow)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].is_over) {
            fm_params_fini(&follow->subscriptions[i].params);
        } else {
            follow->subscriptions[kept++] = follow->subscriptions[i];
        }
    }
    follow->subscription_count = kept;
}

// The subscription by the node's number, for which notifications may come before the answer to
// subscribe.
// @return NULL when out of memory
static struct subscription *meet(struct fm_follow *follow, uint64_t node_number)
{
    struct subscription *one = find(follow, node_number);
    if (one != NULL) {
        return one;
    }
    one = follow->continuing == 0 ? NULL : find_of_program(follow, follow->continuing);
    if (one != NULL && one->node_number == 0) {
        one->node_number = node_number;
        return one;
    }
    if (follow->subscription_count == follow->subscription_capacity) {
        uint32_t capacity = 2 * follow->subscription_capacity + 4;
        struct subscription *grown = realloc(follow->subscriptions, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        follow->subscriptions = grown;
        follow->subscription_capacity = capacity;
    }
    one = &follow->subscriptions[follow->subscription_count++];
    *one = (struct subscription){.number = ++follow->last_number, .node_number = node_number};
    fm_params_init(&one->params);
    return one;
}

// The request, as it was sent: [0, id, method, [{...}]].
static void note_request(struct subscription *one, const struct fm_client_pending *request)
{
    msgpack_unpacked whole;
    msgpack_unpacked_init(&whole);
    size_t at = 0;
    if (msgpack_unpack_next(&whole, request->bytes, request->size, &at) != MSGPACK_UNPACK_SUCCESS) {
        msgpack_unpacked_destroy(&whole);
        return;
    }
    const msgpack_object *map = &whole.data.via.array.ptr[3].via.array.ptr[0];
    msgpack_sbuffer packed;
    msgpack_sbuffer_init(&packed);
    msgpack_packer packer;
    msgpack_packer_init(&packer, &packed, msgpack_sbuffer_write);
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        (void)!msgpack_pack_object(&packer, map->via.map.ptr[i].key);
        (void)!msgpack_pack_object(&packer, map->via.map.ptr[i].val);
    }
    const fm_params given = {.bytes = packed.data, .size = packed.size};
    struct entry entry;
    fm_params_clear(&one->params);
    for (at = 0; next_entry(&given, &at, &entry);) {
        if (!is_field(&entry, FM_FIELD_STREAM) && !is_field(&entry, FM_FIELD_SINCE)) {
            append_entry(&one->params, &entry);
        }
    }
    msgpack_sbuffer_destroy(&packed);
    msgpack_unpacked_destroy(&whole);
    one->method = request->method;
    one->world = request->world;
    one->was_answered = true;
}

static void note_rect(struct subscription *one, const msgpack_object *params)
{
    fm_numbers rect = fm_object_numbers(params, "rect");
    for (uint32_t i = 0; rect.count == 4 && i < 4; i++) {
        one->rect[i] = fm_numbers_at(rect, i);
        one->has_rect = true;
    }
}

// Writes a number into an entry of a map.
static void put_number(msgpack_object *map, const char *name, uint64_t number)
{
    msgpack_object *value = (msgpack_object *)fm_object_get(map, name);
    if (value != NULL && value->type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
        value->via.u64 = number;
    }
}

// ---- hooks: requests and what comes in ----------------------------------------------------------

// The parameters to send for a request: with a command_id, and the node's numbers.
static const fm_params *prepare(fm_client *client, fm_method method, const fm_params *params,
                                uint64_t *world)
{
    struct fm_follow *follow = client->follow;
    bool needs_id = follow->is_on && fm_takes_command_id(method), changed = false;
    struct entry entry;
    fm_params_clear(&follow->scratch);
    for (size_t at = 0; params != NULL && next_entry(params, &at, &entry);) {
        if (is_field(&entry, FM_FIELD_WORLD)) {
            *world = entry.number;
        }
        needs_id = needs_id && !is_field(&entry, FM_FIELD_COMMAND_ID);
        const struct subscription *one =
            is_field(&entry, FM_FIELD_SUBSCRIPTION) ? find_of_program(follow, entry.number) : NULL;
        if (one != NULL) {
            fm_params_uint(&follow->scratch, FM_FIELD_SUBSCRIPTION, one->node_number);
            changed = true;
        } else {
            append_entry(&follow->scratch, &entry);
        }
    }
    if (needs_id) {
        fm_params_uint(&follow->scratch, FM_FIELD_COMMAND_ID, ++follow->command_id);
    }
    return needs_id || changed ? &follow->scratch : params;
}

// Whether to go to a world's node: not away from the world of the program's views.
static bool may_go(const struct fm_follow *follow, uint64_t world)
{
    bool may = follow->is_on && world != 0;
    for (uint32_t i = 0; may && i < follow->subscription_count; i++) {
        const struct subscription *one = &follow->subscriptions[i];
        may = one->is_over || !one->was_answered || one->world == world;
    }
    return may;
}

static void note_place(struct fm_follow *follow, const msgpack_object *moved)
{
    follow->place[0] = follow->ticket[0] = '\0';
    fm_object_text(moved, "tcp", follow->place, sizeof follow->place);
    fm_object_text(moved, "ticket", follow->ticket, sizeof follow->ticket);
}

static bool holds(fm_client *client, struct fm_client_pending *request,
                  const fm_client_error *error, msgpack_object *result)
{
    struct fm_follow *follow = client->follow;
    if (error != NULL) {
        request->refused = error->status == FM_ERR_MOVED && may_go(follow, request->world);
        if (request->refused) {
            follow->wants = true;
            follow->wanted_world = request->world;
            note_place(follow, result);
            snprintf(follow->reason, sizeof follow->reason, "%s", error->message);
        }
        return request->refused;
    }
    if (request->method == FM_METHOD_SUBSCRIBE || request->method == FM_METHOD_DEBUG_SUBSCRIBE) {
        struct subscription *one = meet(follow, fm_object_uint(result, "subscription", 0));
        if (one != NULL) {
            note_request(one, request);
            one->stream = fm_object_uint(result, "stream", 0);
            put_number(result, "subscription", one->number);
        }
    }
    return false;
}

static void rename_entry(fm_client *client, msgpack_object *map)
{
    const struct subscription *one = find(client->follow, fm_object_uint(map, "subscription", 0));
    if (one != NULL) {
        put_number(map, "subscription", one->number);
    }
}

static bool routes(fm_client *client, fm_notification notification, msgpack_object *params)
{
    struct fm_follow *follow = client->follow;
    uint64_t node_number = fm_object_uint(params, "subscription", 0);
    struct subscription *one = node_number == 0 ? NULL : meet(follow, node_number);
    if (one == NULL) {
        return true;
    }
    one->tick = fm_object_uint(params, "tick", one->tick);
    note_rect(one, params);
    if (notification == FM_NOTIFY_MOVED && follow->is_on && one->world != 0) {
        follow->wants = true;
        follow->wanted_world = one->world;
        note_place(follow, params);
        return false;
    }
    one->asks = notification == FM_NOTIFY_WORLD_ENDED && follow->is_on && one->world != 0;
    put_number(params, "subscription", one->number);
    return !one->asks;
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

static void greeted(fm_client *client, const msgpack_object *result)
{
    char here[ADDRESS_SIZE];
    snprintf(here, sizeof here, "%s", client->follow->nodes[0]);
    settle(client->follow, here, result);
    client->follow->silence = fm_silence_begin(client->traffic.bytes_in, now_ms());
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
           now_ms() < follow->silent_until_ms;
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
        if (probe->error.status != FM_ERR_IO) {
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

static bool subscribe(struct probe *probe, struct subscription *one)
{
    fm_params params;
    fm_params_init(&params);
    struct entry entry;
    for (size_t at = 0; next_entry(&one->params, &at, &entry);) {
        if (!one->has_rect || !is_field(&entry, FM_FIELD_RECT)) {
            append_entry(&params, &entry);
        }
    }
    if (one->method == FM_METHOD_SUBSCRIBE && one->has_rect && one->stream != 0) {
        fm_params_uints(&params, FM_FIELD_RECT, one->rect, 4);
        fm_params_uint(&params, FM_FIELD_STREAM, one->stream);
        fm_params_uint(&params, FM_FIELD_SINCE, one->tick);
    }
    uint64_t number = one->number;
    const msgpack_object *result;
    probe->owner->follow->continuing = number;
    fm_status status = fm_client_call(probe->client, one->method, &params, &result);
    probe->owner->follow->continuing = 0;
    fm_params_fini(&params);
    // A callback may have made the list longer.
    one = find_of_program(probe->owner->follow, number);
    if (status != FM_OK) {
        probe->error = *fm_client_error_last(probe->client);
        return false;
    }
    if (one != NULL) {
        one->node_number = fm_object_uint(result, "subscription", 0);
        one->stream = fm_object_uint(result, "stream", 0);
    }
    return true;
}

// Makes the program's subscriptions again. Those of other worlds, which this node does not have,
// end.
static bool subscribe_all(struct probe *probe)
{
    struct fm_follow *follow = probe->owner->follow;
    forget_those_over(follow);
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        follow->subscriptions[i].node_number = 0;
    }
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        one->is_over = !one->was_answered; // its request waits and will be sent again
        if (!one->is_over && !subscribe(probe, one)) {
            return false;
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

// Tries one node, or the one that it names. @return false with probe->error
static bool try_node(struct probe *probe, const char *address, uint64_t world)
{
    fm_client *owner = probe->owner;
    char node[ADDRESS_SIZE];
    snprintf(node, sizeof node, "%s", address); // which may be a place in the list that changes
    if (!greet(probe, node) || (world != 0 && !locate(probe, world)) || !subscribe_all(probe)) {
        return false;
    }
    put_node(owner->follow, 0, probe->address);
    owner->follow->ticket[0] = owner->follow->silent[0] = '\0';
    fm_client_exchange(owner, probe->client);
    owner->follow->silence = fm_silence_begin(owner->traffic.bytes_in, now_ms());
    repeat_requests(owner);
    (void)!fm_client_flush(owner); // a failure shows when reading
    return true;
}

static void pause_ms(uint64_t ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL); // a signal ends it early: then it asks again sooner
}

typedef enum finding {
    FOUND,
    GONE, // there is no such world
    LOST, // no node had it in time
} finding;

// Searches for a world's node and connects to it. 0: any node.
static finding seek(fm_client *client, uint64_t world)
{
    struct fm_follow *follow = client->follow;
    struct probe probe = {.owner = client};
    uint64_t begin_ms = now_ms(), gone_since_ms = 0, wait_ms = PAUSE_FIRST_MS;
    memset(follow->refused, 0, sizeof follow->refused);
    put_node(follow, 0, follow->place);
    follow->place[0] = '\0';
    client->broken = false; // callbacks may send; it goes out when a node is found
    for (bool any = true; any && now_ms() - begin_ms < client->options.follow_ms;) {
        any = false;
        for (uint32_t i = 0; i < follow->node_count; i++) {
            if (follow->refused[i]) {
                continue;
            }
            any = true;
            if (is_silent(follow, follow->nodes[i])) {
                continue;
            }
            bool found = try_node(&probe, follow->nodes[i], world);
            hang_up(&probe);
            if (found) {
                return FOUND;
            }
            snprintf(follow->reason, sizeof follow->reason, "%.60s: %.170s", probe.address,
                     probe.error.message);
            bool is_gone = probe.error.status == FM_ERR_NO_WORLD;
            gone_since_ms = !is_gone ? 0 : gone_since_ms != 0 ? gone_since_ms : now_ms();
            if (is_gone && now_ms() - gone_since_ms > GONE_MS) {
                return GONE;
            }
        }
        pause_ms(wait_ms / 2 + now_ms() % (wait_ms / 2)); // clients of one node do not come at once
        wait_ms = 2 * wait_ms < PAUSE_LAST_MS ? 2 * wait_ms : PAUSE_LAST_MS;
    }
    return LOST;
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

static bool asks(const struct fm_follow *follow)
{
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        if (follow->subscriptions[i].asks) {
            return true;
        }
    }
    return false;
}

// Notifies the program of worlds that have ended.
static void tell_ends(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    for (uint32_t i = 0; i < follow->subscription_count; i++) {
        struct subscription *one = &follow->subscriptions[i];
        if (!one->asks) {
            continue;
        }
        one->asks = false;
        one->is_over = true;
        msgpack_object_kv entries[2];
        const char *const names[] = {"subscription", "world"};
        const uint64_t values[] = {one->number, one->world};
        for (uint32_t j = 0; j < 2; j++) {
            entries[j].key.type = MSGPACK_OBJECT_STR;
            entries[j].key.via.str.ptr = names[j];
            entries[j].key.via.str.size = (uint32_t)strlen(names[j]);
            entries[j].val.type = MSGPACK_OBJECT_POSITIVE_INTEGER;
            entries[j].val.via.u64 = values[j];
        }
        msgpack_object map = {.type = MSGPACK_OBJECT_MAP};
        map.via.map.size = 2;
        map.via.map.ptr = entries;
        fm_client_tell(client, FM_NOTIFY_WORLD_ENDED, &map);
    }
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

static void recover(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    bool is_asked = asks(follow);
    if (!follow->is_on || follow->is_lost || follow->is_moving ||
        !(client->broken || follow->wants || is_asked)) {
        return;
    }
    bool was_broken = client->broken;
    uint64_t world =
        follow->wants && world_of(client) == 0 ? follow->wanted_world : world_of(client);
    if (was_broken) {
        snprintf(follow->reason, sizeof follow->reason, "%s", client->broken_error.message);
    }
    follow->is_moving = true;
    finding found = seek(client, world);
    follow->is_moving = follow->wants = false;
    if (found == FOUND) {
        for (uint32_t i = 0; i < follow->subscription_count; i++) {
            follow->subscriptions[i].asks = false;
        }
    } else if (found == GONE && !was_broken && is_asked) {
        tell_ends(client);
    } else {
        give_up(client, world);
    }
}

// ---- hooks: a node that is silent ---------------------------------------------------------------

static uint64_t watch_ms(const fm_client *client)
{
    const struct fm_follow *follow = client->follow;
    bool watches = follow->is_on && !follow->is_lost && !follow->is_moving && !client->broken;
    return watches ? fm_silence_due_ms(&follow->silence) : UINT64_MAX;
}

// When the large requests that wait for an answer have been sent, on a slow line.
static uint64_t sent_by_ms(const fm_client *client)
{
    uint64_t by_ms = 0;
    for (uint32_t id = client->oldest_id; id != client->next_id; id++) {
        const struct fm_client_pending *request = fm_client_pending_of(client, id);
        if (request != NULL && request->size > FM_LARGE_REQUEST) {
            uint64_t begun_ms = request->deadline_ms - request->timeout_ms;
            by_ms = (begun_ms > by_ms ? begun_ms : by_ms) + request->size / FM_SLOW_LINE;
        }
    }
    return by_ms;
}

static void watch(fm_client *client)
{
    struct fm_follow *follow = client->follow;
    if (now_ms() < sent_by_ms(client)) {
        follow->silence = fm_silence_begin(client->traffic.bytes_in, now_ms());
        return;
    }
    switch (fm_silence_look(&follow->silence, client->traffic.bytes_in, now_ms())) {
    case FM_SILENCE_WAIT:
        break;
    case FM_SILENCE_ASK:
        if (fm_client_send(client, FM_METHOD_PING, NULL, NULL, NULL, NULL) != FM_OK) {
            follow->silence = fm_silence_begin(client->traffic.bytes_in, now_ms()); // no room
        }
        (void)!fm_client_flush(client);
        break;
    case FM_SILENCE_GONE:
        snprintf(follow->silent, sizeof follow->silent, "%s", follow->nodes[0]);
        follow->silent_until_ms = now_ms() + FM_NODE_PATIENCE_MS;
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
        follow->command_id = now_ms() * 0x9e3779b97f4a7c15u;
    }
    follow->command_id >>= 13; // below 2^51, and counts on from there
    return follow;
}

fm_status fm_client_connect(const char *addresses, const fm_client_options *options,
                            fm_client **out, fm_client_error *error)
{
    fm_client_error unwanted;
    error = error == NULL ? &unwanted : error;
    fm_client_options chosen = options == NULL ? fm_client_options_default() : *options;
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
        } else if (status != FM_OK && status != FM_ERR_IO) {
            break;
        }
    }
    put_node(follow, 0, follow->used);
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
