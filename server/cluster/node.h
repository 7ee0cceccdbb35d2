// server/cluster/node.h: this node in the cluster: its lease, the directory, and which node takes
// over which world.
//
//   JOINING ── lease granted, nodes/ME put ──> MEMBER ── lease over ──> JOINING
//
// A thread of its own renews the lease, reads nodes and owners a few times a second, and finds
// worlds whose owner is dead: its node's lease is over, or another process has its name. Living
// nodes rank by a hash of node and world; the first one tries at once, each next one a little
// later. One transaction decides (fm_world_log_take()), so it does no harm that several try.
//
// A world moves in three steps, each of them one key (node_moves.c):
//
//   move/W    "EPOCH NODE INCARNATION", as the owner will be: the move was requested. That node
//             reads the log and replays it, and continues reading (FOLLOW)
//   ready/W   the same text: it is where the log ends
//   owner/W   the same text: the source has stopped the world, and its last batch is in the log
//             (LEAVE). Written by the source in one transaction, which removes the other two
//
//   source:  ticks ────────────────────────────── stops, last batch ── owner/W ── clients: moved
//   target:      reads keyframe, replays ── ready/W ── reads on ─────────────── last batch ── ticks
//
// Until the last step nothing has changed, whichever node dies; after it the target is the owner,
// and if it dies its worlds are taken over like any others. A node of another version does not
// replay: the source makes a keyframe where it stops, and does not wait for ready/W.
//
//   drain/NODE  incarnation: that process gives its worlds away and takes no more, as long as the
//               key says so
//
// The lease is counted from the moment at which its last successful renewal was sent, by the
// monotonic clock.
//
//   nodes/NAME   lease; JSON: incarnation, tcp, http, version, worlds, agents, load, tokens
//
// Threads: its own; the functions here are called by the event loop.

#pragma once

#include "server/cluster/world_log.h"

#define FM_NODES_MAX           64u
#define FM_CLUSTER_WORLDS_MAX  65536u
#define FM_CLUSTER_ADDRESS_MAX 255u

#define FM_NODE_LEASE_S    2u
#define FM_NODE_RENEW_MS   500u
#define FM_NODE_LOOK_MS    200u // between two reads of the directory
#define FM_NODE_STAGGER_MS 300u // delay between two nodes that try to take one world
#define FM_NODE_MOVES_MAX  2u   // worlds that leave a node at once, while it drains
#define FM_NODE_MOVE_S     20u  // after which a move is given up

typedef struct fm_node fm_node;

typedef struct fm_node_options {
    const fm_etcd_access *access; // outlives the node, like these two
    const char *cluster, *name;
    uint64_t incarnation;
    const char *tcp, *http; // where clients reach it; http may be empty
    const char *version;
    fm_world_log_store *store; // outlives the node
    /// There are orders to take. Any thread: uv_async_send() or the like.
    void (*on_order)(void *context);
    void *context;
} fm_node_options;

typedef enum fm_node_order_kind {
    FM_NODE_TAKE,   // a world has no living owner, or was given to this node
    FM_NODE_DROP,   // a world belongs to another node
    FM_NODE_FOLLOW, // a world is about to be given to this node
    FM_NODE_LEAVE,  // give it to another node
} fm_node_order_kind;

typedef struct fm_node_order {
    fm_node_order_kind kind;
    uint64_t world;
    char owner[FM_CLUSTER_OWNER_MAX]; // TAKE: its text as it is; FOLLOW, LEAVE: as it will be
    bool with_keyframe;               // LEAVE: the next owner does not replay
} fm_node_order;

// A node in the directory.
typedef struct fm_node_entry {
    char name[FM_CLUSTER_NAME_MAX + 1];
    char tcp[FM_CLUSTER_ADDRESS_MAX + 1], http[FM_CLUSTER_ADDRESS_MAX + 1];
    char version[32];
    uint64_t incarnation;
    uint64_t worlds, agents;
    uint64_t load;     // permille of its time that ticks take
    uint64_t tokens;   // revision of the tokens that it knows (token_log.h)
    uint32_t arriving; // worlds on their way to it
    bool is_draining;  // it gives its worlds away
} fm_node_entry;

// A world in the directory.
typedef struct fm_node_world {
    uint64_t number, epoch, incarnation; // the latter of the owner
    char name[FM_JOURNAL_NAME_MAX + 1];
    char node[FM_CLUSTER_NAME_MAX + 1];
    char version[32];  // of the program that has it, or had it last; empty: not known
    bool is_here;      // this node has it
    bool has_owner;    // its owner lives; else it is about to be taken over
    bool is_damaged;   // this node could not bring it back, or etcd names no owner that is one
    bool is_asked_for; // an order is under way
    uint64_t dead_since_ns, again_ns;
    uint64_t noted_ns; // when this node entered its owner, before a look said so; 0: that says so
    char owner[FM_CLUSTER_OWNER_MAX];
    char heir[FM_CLUSTER_OWNER_MAX];  // the owner that it is to get; empty: it does not move
    char to[FM_CLUSTER_NAME_MAX + 1]; // name of that node
    bool is_ready;                    // that node is where the log ends
    uint64_t moving_since_ns;
} fm_node_world;

// The cluster's state as this node sees it. X(enumerator, name on the wire, what to do)
#define FM_CLUSTER_STATE_LIST(X)                                                                   \
    X(FM_CLUSTER_GOOD, "good", "")                                                                 \
    X(FM_CLUSTER_NO_MAJORITY, "no_majority",                                                       \
      "etcd does not answer, or has no leader: bring a majority of its members back. Until then "  \
      "worlds stand still after 64 ticks, and nothing is answered; they continue by themselves")   \
    X(FM_CLUSTER_REFUSED, "refused",                                                               \
      "etcd refuses what this node asks, `error` has its words: look at cluster_user, its "        \
      "password and its role in etcd, which needs /fogmarch/NAME/. Until then worlds stand still") \
    X(FM_CLUSTER_QUOTA_FULL, "quota_full",                                                         \
      "etcd's database is full: compact and defragment it, or raise its quota, then disarm its "   \
      "alarm (etcdctl compact, defrag, alarm disarm). Worlds stand still until then")              \
    X(FM_CLUSTER_LEASE_OVER, "lease_over",                                                         \
      "this node was stopped or cut off for longer than its lease, and others may have its "       \
      "worlds: it joins again by itself; look at the machine and its network")

typedef enum fm_cluster_state {
#define X(enumerator, name, advice) enumerator,
    FM_CLUSTER_STATE_LIST(X)
#undef X
} fm_cluster_state;

#define FM_CLUSTER_STATE_COUNT (FM_CLUSTER_LEASE_OVER + 1u)

/// Static storage.
const char *fm_cluster_state_name(fm_cluster_state state);
const char *fm_cluster_state_advice(fm_cluster_state state);

// The directory, as last read.
typedef struct fm_node_directory {
    fm_node_entry nodes[FM_NODES_MAX];
    uint32_t node_count;
    fm_node_world *worlds; // by number; owned
    uint32_t world_count;
    bool is_whole;                  // all owners could be read: there was memory for them
    bool is_member;                 // this node's lease holds
    uint64_t asked_ns, looked_ns;   // when the read began and ended; 0: never
    char error[FM_ETCD_ERROR_SIZE]; // why etcd did not answer, or what it refuses; empty: it did
    fm_cluster_state state;
    uint64_t tokens;   // revision of their last change
    uint64_t term;     // of etcd's leader: grows with each new one
    uint64_t lease_ms; // for which the lease holds, unless it is renewed
    uint64_t leases_lost;
} fm_node_directory;

/// Starts the thread. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_node_create(const fm_node_options *options, fm_node **out);

/// Gives back the lease, so that others take over at once, and ends the thread. NULL is allowed.
void fm_node_destroy(fm_node *node);

/// Name of this node.
const char *fm_node_name(const fm_node *node);

/// The next order. @return false: there is none
bool fm_node_next_order(fm_node *node, fm_node_order *order);

/// A world belongs to another node: queues an order. Any thread.
void fm_node_note_lost(fm_node *node, uint64_t world);

/// The result of an order TAKE. FM_ERR_BAD_FORMAT: it is not tried again.
void fm_node_end_order(fm_node *node, uint64_t world, fm_status status);

/// Sets what other nodes read of this node. @param load  permille of its time that ticks take
void fm_node_set_load(fm_node *node, uint64_t worlds, uint64_t agents, uint64_t load);

/// A world has come to this node, moved or taken over: the directory need not look to know.
void fm_node_note_come(fm_node *node, uint64_t world, uint64_t epoch);

/// A world has left this node: updates the directory at once. @param owner  text of the next one
void fm_node_note_left(fm_node *node, uint64_t world, const char *owner);

/// Moves a world.
///
/// @param to     name of a node; empty: the one with the most capacity left
/// @param entry  receives the node that it goes to
/// @param is_there  receives whether the world is on that node already, and nothing happens
/// @param error  receives a sentence; room for FM_ETCD_ERROR_SIZE
/// @return FM_OK: it will begin to, or is there; FM_ERR_NO_WORLD; FM_ERR_BAD_VALUE: no such node;
///         FM_ERR_NOT_READY: it has no owner, moves already, or no node can take it; FM_ERR_BUSY
FM_CHECKED fm_status fm_node_move(fm_node *node, uint64_t world, const char *to,
                                  fm_node_entry *entry, bool *is_there, char *error);

/// Lets a node give its worlds away and take no more; or take worlds again, in which case those
/// that are on their way still go.
///
/// @param name   empty: this one
/// @param entry  receives it @return FM_OK, FM_ERR_BAD_VALUE: no such node, or FM_ERR_BUSY
FM_CHECKED fm_status fm_node_set_draining(fm_node *node, const char *name, bool drains,
                                          fm_node_entry *entry, char *error);

/// This node gives its worlds away and ends: nobody can take that back.
void fm_node_begin_to_end(fm_node *node);

/// Which node a new world shall begin on.
/// @param entry  receives it @return false: on this one, which has as much capacity left as any
bool fm_node_place(fm_node *node, fm_node_entry *entry);

/// A new world was given to another node: updates the directory at once. @param owner  its text
void fm_node_note_placed(fm_node *node, uint64_t world, const char *name, const char *owner);

/// The same for one that begins here: if it were lost before the next read, this node would report
/// that there is no such world.
void fm_node_note_created(fm_node *node, uint64_t world, const char *name);

/// A world of this node was destroyed, and etcd has nothing of it: until the next look this node
/// would report that it has moved.
void fm_node_note_destroyed(fm_node *node, uint64_t world);

/// The cluster's tokens, if they have changed since they were taken last.
/// @param list receives them, for free() @return false: they have not
bool fm_node_take_tokens(fm_node *node, fm_token_list *list);

/// Waits until they were read for the first time. @return false: etcd did not answer in time
bool fm_node_wait_for_tokens(fm_node *node, uint32_t timeout_ms);

/// Whether all living nodes know the tokens of this revision.
bool fm_node_tokens_are_known(fm_node *node, uint64_t revision);

/// Whether another node would take this one's worlds.
bool fm_node_has_heirs(fm_node *node);

/// Where a world is. @param name  used when `number` is 0
/// @param entry  receives its node, unless it has none now
/// @return false: there is no such world, as far as this node knows
bool fm_node_locate(fm_node *node, uint64_t number, const char *name, fm_node_world *world,
                    fm_node_entry *entry);

/// The living nodes, as last read. @return how many
uint32_t fm_node_list(fm_node *node, fm_node_entry entries[FM_NODES_MAX]);

/// The cluster's state as this node sees it now.
fm_cluster_state fm_node_state(fm_node *node);

/// A copy of the directory, whose `worlds` are for free(). @return false when out of memory
bool fm_node_copy(fm_node *node, fm_node_directory *directory);

/// The worlds that a node has, as the directory says; what a node says of itself may be two seconds
/// old. Any thread; the directory is the caller's.
uint64_t fm_node_count_worlds(const fm_node_directory *directory, const fm_node_entry *entry);
