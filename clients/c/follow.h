// clients/c/follow.h: what the parts of a client that follows share: follow.c goes from node to
// node, follow_views.c keeps what the program has subscribed to, follow_look.c asks where a world
// is that is not on the node, while other views go on.

#pragma once

#include "clients/c/client.h"

#include "clients/c/now.h"
#include "clients/c/silence.h"

#define NODES_MAX      64u
#define ADDRESS_SIZE   256u
#define GONE_MS        3000u // so long all must know no such world: a new node knows of none yet
#define PAUSE_FIRST_MS 50u
#define PAUSE_LAST_MS  1000u

// What the program subscribed to.
//
//   on the node ── moved, world_ended, not on the next node ──> looked for ──> over
//        ^                                                             │
//        └─────────────── its world is here, or was followed ──────────┘
//
// Refused for another reason (fm_is_not_here, fm_is_for_now) it is over at once.
struct subscription {
    uint64_t number, node_number; // the program's; the node's, 0: none
    fm_method method;
    fm_params params; // as it subscribed, without rect, stream and since
    uint64_t world, stream, tick;
    uint64_t rect[4]; // that it showed last
    bool has_rect, was_answered;
    bool is_over; // no more comes, but perhaps what was under way when the program ended it
    // Where its world is not on the node:
    bool is_sought;
    bool had_it;                // the node has had it: if it knows no such world, there is none
    uint64_t since_ms, next_ms; // looked for since; when to ask
    uint64_t pause_ms, denied_since_ms; // 0: it is not
};

struct fm_follow {
    char nodes[NODES_MAX][ADDRESS_SIZE]; // the best guess first
    bool refused[NODES_MAX];             // for good, it refused hello in this search
    uint32_t node_count;
    bool is_on;     // the server is a node of a cluster
    bool is_lost;   // permanently
    bool is_moving; // a search is under way
    bool wants;     // a request was answered `moved`
    uint64_t wanted_world;
    uint64_t looked_for;     // number of the subscription whose world.locate is under way; 0: none
    uint64_t command_id;     // the last
    char used[ADDRESS_SIZE]; // where it connected first
    uint32_t start_at;       // of `nodes`: the next to ask for the first hello
    char token[257], resume[FM_CLIENT_RESUME_SIZE], ca_file[4096];
    char place[ADDRESS_SIZE], ticket[256]; // where `moved` says that the world is
    struct subscription *subscriptions;
    uint32_t subscription_count, subscription_capacity;
    uint64_t last_number;
    uint64_t continuing;     // number of the subscription that is being repeated; 0: none
    uint64_t continuing_id;  // of the request for it, on the live connection
    char left[ADDRESS_SIZE]; // the node that it left last because of a `moved`
    uint64_t left_at_ms, left_pause_ms; // when; after which pause
    fm_params scratch;                  // of the request that is being sent
    fm_silence silence;                 // of the node that it is on
    char silent[ADDRESS_SIZE]; // the node that it has left because it was silent; empty: none
    uint64_t silent_until_ms;  // when to ask it as well
    char reason[FM_ERROR_TEXT_SIZE];
};

// ---- follow_views.c -----------------------------------------------------------------------------

// One entry of packed parameters.
struct fm_entry {
    char name[32];
    uint64_t number; // 0 where it is none
    const char *bytes;
    size_t size;
};

/// Reads the next one. @param at  where; 0 at first @return false at the end
bool fm_entry_next(const fm_params *params, size_t *at, struct fm_entry *entry);

bool fm_entry_is(const struct fm_entry *entry, fm_field field);

void fm_entry_append(fm_params *params, const struct fm_entry *entry);

/// Writes a number into an entry of a map that has it already.
void fm_follow_put_number(msgpack_object *map, const char *name, uint64_t number);

/// By the program's number. @return NULL: none
struct subscription *fm_views_of_program(const struct fm_follow *follow, uint64_t number);

/// By the node's number, in the answer to a subscribe of the program.
/// @return NULL when out of memory
struct subscription *fm_views_answered(struct fm_follow *follow, uint64_t node_number);

/// By the node's number, for which notifications may come before the answer to subscribe.
/// @param world  that the notification names; 0: none
/// @return NULL when out of memory
struct subscription *fm_views_meet(struct fm_follow *follow, uint64_t node_number, uint64_t world);

/// The parameters with which to subscribe again. @param params  to be cleaned up by the caller
void fm_views_again(const struct subscription *one, fm_params *params);

/// Keeps the parameters of a subscribe that was answered.
void fm_views_note_request(struct subscription *one, const struct fm_client_pending *request);

/// Keeps the rectangle that a view shows now.
void fm_views_note_rect(struct subscription *one, const msgpack_object *params);

void fm_views_forget_those_over(struct fm_follow *follow);

/// Ends on the node what the program has ended.
void fm_views_unsubscribe(fm_client *client, const struct subscription *one);

/// Whether to go to a world's node: not away from the world of another view.
bool fm_views_may_go(const struct fm_follow *follow, uint64_t world);

/// Ends a subscription and notifies the program.
/// @param notification  FM_NOTIFY_WORLD_ENDED or FM_NOTIFY_MOVED
/// @param place         of that: where the world is, as in world.locate; NULL: it is not known
/// @param why           of that, where it ends for another reason; NULL: it does not
void fm_views_end(fm_client *client, struct subscription *one, fm_notification notification,
                  const msgpack_object *place, const char *why);

/// Whether a world may still come to a node that refused a view so.
static inline bool fm_is_not_here(fm_status status)
{
    return status == FM_ERR_MOVED || status == FM_ERR_NO_WORLD || status == FM_ERR_NOT_READY;
}

/// Whether a node that refused so may be asked the same again.
static inline bool fm_is_for_now(fm_status status)
{
    return status == FM_ERR_BUSY || status == FM_ERR_GOING_DOWN;
}

/// Notes where `moved` says that a world is.
void fm_follow_note_place(struct fm_follow *follow, const msgpack_object *moved);

// ---- follow_look.c ------------------------------------------------------------------------------

/// The world of a view is not on the node. @param had_it  whether the node has had it
void fm_look_begin(struct subscription *one, bool had_it);

/// When fm_look() has something to do; UINT64_MAX: never.
uint64_t fm_look_due_ms(const struct fm_follow *follow);

/// Outside of callbacks: asks the node where a world is, if that is due. The answer ends the view,
/// or says where to go (fm_follow, wants); where the world is here, it is subscribed to again.
void fm_look(fm_client *client);

/// Outside of callbacks: the connection is left, and with it a subscribe that is under way.
void fm_look_stop(fm_client *client);

/// Takes the answer to a subscribe of fm_look(). For follow.c only to be compared with.
void fm_look_on_subscribed(void *context, uint64_t id, const fm_client_error *error,
                           const msgpack_object *result);
