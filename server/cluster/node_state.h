// server/cluster/node_state.h: the inside of server/cluster/node.h, for node.c, which keeps the
// lease and the directory, and node_moves.c, which moves worlds. No other file includes it.

#pragma once

#include "server/cluster/node.h"

#include <inttypes.h>
#include <uv.h>

#define FM_NODE_ORDERS_MAX 256u
#define FM_NODE_WISHES_MAX 64u
#define FM_NODE_KEY_SIZE   256u

#define FM_NODE_DESTROYED_MAX 64u // that are remembered until a look has begun behind them

// What the node's thread is to write into etcd.
typedef enum node_wish_kind {
    NODE_WISH_MOVE,    // move/W
    NODE_WISH_FORGET,  // the same, and ready/W, away
    NODE_WISH_DRAIN,   // drain/NODE
    NODE_WISH_UNDRAIN, // the same: 0
} node_wish_kind;

struct node_wish {
    node_wish_kind kind;
    uint64_t world;
    char owner[FM_CLUSTER_OWNER_MAX];   // MOVE: as it is
    char heir[FM_CLUSTER_OWNER_MAX];    // MOVE, FORGET: as it will be
    char node[FM_CLUSTER_NAME_MAX + 1]; // DRAIN, UNDRAIN
    uint64_t incarnation;               // the same
};

// A world that was destroyed here.
struct node_destroyed {
    uint64_t world, noted_ns;
};

struct fm_node {
    fm_node_options options;
    fm_etcd *etcd;
    uv_thread_t thread;
    uv_mutex_t lock; // guards what follows
    uv_cond_t woken;
    bool stop;
    fm_node_directory directory;
    fm_node_order orders[FM_NODE_ORDERS_MAX];
    uint32_t order_first, order_count;
    struct node_wish wishes[FM_NODE_WISHES_MAX];
    uint32_t wish_count;
    struct node_destroyed destroyed[FM_NODE_DESTROYED_MAX]; // the last ones, in a ring
    uint32_t destroyed_next;
    bool is_draining;                 // since before the directory says so
    bool is_ending;                   // it drains for good
    uint64_t drain_noted_ns;          // when is_draining was set here; 0: the directory said so
    bool is_moving;                   // worlds come or go: the directory is read more often
    uint64_t worlds, agents, load;    // of this node
    uint64_t answered_ns;             // when etcd answered last
    uint64_t full_ns;                 // when it last reported that it is full; 0: never
    uint64_t refused_ns;              // when it last refused anything else; 0: never
    char refusal[FM_ETCD_ERROR_SIZE]; // its words
    uint64_t term;                    // of its leader
    uint64_t sure_until_ns;           // that the lease holds
    uint64_t leases_lost;
    uint64_t lost_ns; // when the last one was; 0: never
    fm_cluster_state state;
    fm_token_list tokens;  // as they were read last
    bool tokens_known;     // they were read
    bool tokens_fresh;     // and not taken by the event loop since
    uint64_t tokens_taken; // revision that the event loop has
    uv_cond_t known;       // tokens_known
    // ---- the thread's
    int64_t lease;                     // 0: none
    bool is_unread;                    // the directory was not read since this lease began
    uint64_t tokens_seen, tokens_told; // revisions: of the last look, in nodes/ME
    uint64_t renewed_ns, told_ns;
    fm_node_directory fresh; // as it is read, before it is taken in
};

void fm_node_key(const fm_node *node, char *key, size_t size, const char *what, const char *name);

/// Calls etcd, and notes its errors.
fm_etcd_outcome fm_node_call(fm_node *node, const char *path, const fm_writer *body,
                             json_t **answer);

/// NULL: there is no such world.
fm_node_world *fm_node_find_world(const fm_node_directory *directory, uint64_t number);

/// Takes a world out, if it is there.
void fm_node_forget_world(fm_node_directory *directory, uint64_t number);

/// A world is on its way to a node (`change` 1), or not any longer (-1). @param to  may be empty
void fm_node_count_arriving(fm_node_directory *directory, const char *to, int change);

/// A living node. NULL: dead, or another process has its name.
const fm_node_entry *fm_node_find_owner(const fm_node_directory *directory, const char *name,
                                        uint64_t incarnation);

/// Whether this is the present process.
bool fm_node_is_self(const fm_node *node, const char *name, uint64_t incarnation);

/// Enters a world ahead of the directory. The lock is held.
void fm_node_note_world(fm_node *node, const fm_node_world *world);

/// The lock is held. @return whether there was room
bool fm_node_give_order(fm_node *node, fm_node_order_kind kind, uint64_t world, const char *owner,
                        bool with_keyframe);

/// Reads the tokens if they have changed. The thread.
void fm_node_read_tokens(fm_node *node);

// ---- node_moves.c ------------------------------------------------------------------------------

/// Takes in whether this node drains. The lock is held. @param fresh  as it was read
void fm_node_moves_note_drain(fm_node *node, const fm_node_directory *fresh);

/// Takes in move/W and ready/W.
void fm_node_moves_add(fm_node_directory *directory, const char *key, const char *value);
void fm_node_moves_add_ready(fm_node_directory *directory, const char *key, const char *value);

/// Takes in drain/NODE.
void fm_node_moves_add_drain(fm_node_directory *directory, const char *key, const char *value);

/// Checks a world that has an owner. The lock is held. @return whether there is a new order
bool fm_node_moves_consider(fm_node *node, const fm_node_directory *fresh, fm_node_world *world,
                            const fm_node_world *before);

/// Begins the next moves of a node that drains. The lock is held.
void fm_node_moves_plan(fm_node *node);

/// Carries out the queued requests. The thread.
void fm_node_moves_carry_out(fm_node *node);

/// Whether `one` is the better node for a world: it takes worlds, has more capacity left.
bool fm_node_is_better(const fm_node_entry *one, const fm_node_entry *other, uint64_t world);
