// server/cluster/world_log.h: the worlds' logs in etcd, and which node may write them.
//
// A world's log holds what its journal holds (server/journal/journal_schema.h): a keyframe and the
// rows behind it. A batch of rows is appended in one transaction:
//
//   if  owner/W is exactly what this node wrote  and  log/W/P does not exist, and log/W/P-1 does
//   then put log/W/P
//
// That is the fence. A node that was wrongly taken for dead may still compute, but nothing that it
// computes is sent, because answers, deltas and ends of orders wait for the commit. So what clients
// have seen is a prefix of one log, from any node.
//
//   CREATED ── append ──> OWNED ── another owner ──> LOST (the world is dropped here)
//   TAKEN ────────────────^  └── heir set, is_left ──> owner/W is the heir's
//   FOLLOWED ── owned ────┘
//
// Keys, below /fogmarch/CLUSTER/, numbers in 16 hexadecimal digits:
//
//   owner/W        "EPOCH NODE INCARNATION"
//   log/W/P        a record: rows of one or more batches, or a part of them
//   kf/W           the newest keyframe: its position, and all that a journal's head says
//   part/W/P/E/I   its bytes, in parts; P is the position of the record that holds its KEYFRAME row
//   names/NAME     number, and a nonce of the reservation. Until the world has an owner this key
//                  and the next end with the lease of the node that creates it
//   worlds/W       name
//   next           the number of the next world
//   scenes/W       which views of a moved world are watched (server/streams/scenes.h) move/W,
//   ready/W, drain/NODE, nodes/NODE  see node.h
//
// A keyframe's parts are written before the record that names them, while other worlds append. The
// record behind it removes all before the last but one keyframe.
//
// Threads: fm_world_log_reserve, fm_world_log_create, fm_world_log_take: threads of the pool, any
// number at once. The journals' writer appends. A lock guards the table of worlds and is never held
// during a call to etcd.

#pragma once

#include "server/cluster/etcd.h"
#include "server/cluster/token_log.h"
#include "server/journal/journal.h"

#include <stdatomic.h>

#define FM_CLUSTER_NAME_MAX     64u
#define FM_CLUSTER_OWNER_MAX    128u // bytes of the text of an owner
#define FM_WORLD_LOG_TIMEOUT_MS 1000u

typedef struct fm_world_log_store fm_world_log_store;

typedef struct fm_world_log_options {
    const fm_etcd_access *access; // to etcd; outlives the store
    const char *cluster;          // name
    const char *node;             // name of this node
    uint64_t incarnation;         // of this process
    /// A world belongs to another node now. On the thread that noticed.
    void (*lost)(void *context, uint64_t world);
    void *context;
} fm_world_log_options;

// For metrics.
typedef struct fm_world_log_numbers {
    uint64_t appends, unknown, fenced, taken, moved;
    uint64_t append_us_max, move_us_max;
    fm_distribution append_times;
    fm_distribution move_times; // from the last time that the owner was another
    fm_distribution take_times; // from the order on: the lease had ended before
} fm_world_log_numbers;

/// Makes it; nothing is sent yet.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_store_create(const fm_world_log_options *options,
                                               fm_world_log_store **out);

/// Where the same cluster keeps its tokens.
fm_token_log_place fm_world_log_token_place(const fm_world_log_store *store);

/// Call when it is no longer used. NULL is allowed.
void fm_world_log_store_destroy(fm_world_log_store *store);

/// The fence for fm_journal_options.
const fm_journal_fence *fm_world_log_store_fence(fm_world_log_store *store);

/// Takes a number and a name for a new world.
///
/// @param wanted  the number that it is to have; 0: the next one
/// @param error   receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_EXISTS: the name or number is taken, FM_ERR_NOT_READY: this node had no
/// lease for three seconds, or FM_ERR_IO
FM_CHECKED fm_status fm_world_log_reserve(fm_world_log_store *store, const char *name,
                                          uint64_t wanted, uint64_t *number, char *error);

/// Releases them, if this node has reserved them and the world could not begin.
void fm_world_log_release(fm_world_log_store *store, uint64_t number, const char *name);

/// Removes a reservation that etcd may have made although this node gave it up. The node's thread,
/// again and again, while etcd answers.
void fm_world_log_settle_names(fm_world_log_store *store);

/// Begins the log of a new world for another node, which takes it like one that was moved to it.
/// Slow.
///
/// @param owner  text of that node in epoch 1
/// @return FM_OK, FM_ERR_IO, FM_ERR_EXISTS or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_place(fm_world_log_store *store, const fm_journal_head *head,
                                        const fm_journal_world *world, const char *owner,
                                        char *error);

/// Becomes the owner of a world and writes what its log holds into a new journal.
///
/// @param owner   text of the present owner, who is dead or has handed the world over
/// @param folder  of the journals; a file of the world that is there gets another name
/// @param path    receives the journal's name, of `size` bytes
/// @return FM_OK; FM_ERR_EXISTS: another node was first; FM_ERR_BUSY: it is being dropped here
/// still; FM_ERR_IO: etcd or the disk, it may be
///         tried again; FM_ERR_BAD_FORMAT: the log is damaged; FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_take(fm_world_log_store *store, uint64_t number,
                                       const char *owner, const char *folder, char *path,
                                       size_t size, char *error);

// Another node's world that is about to be given to this one.
typedef struct fm_world_log_follower fm_world_log_follower;

typedef enum fm_follow_state {
    FM_FOLLOW_BEHIND, // there is more to read
    FM_FOLLOW_CLOSE,  // there was next to nothing to read
    FM_FOLLOW_OWNED,  // the world is this node's, and the log was read to its end
    FM_FOLLOW_AGAIN,  // a keyframe came: restart, with less to replay
    FM_FOLLOW_OVER,   // the move has failed
} fm_follow_state;

/// Reads a world's log as it is into a new journal.
///
/// @param owner   text of the owner that this node would be
/// @param folder, path, size, error  as in fm_world_log_take()
/// @return as fm_world_log_take(), but for FM_ERR_EXISTS
FM_CHECKED fm_status fm_world_log_follow(fm_world_log_store *store, uint64_t number,
                                         const char *owner, const char *folder, char *path,
                                         size_t size, fm_world_log_follower **out, char *error);

/// Adds new records to that journal, and reads the world's owner. @return as above
FM_CHECKED fm_status fm_world_log_follow_on(fm_world_log_follower *follower, fm_follow_state *state,
                                            char *error);

/// Notifies the owner that the world can come.
FM_CHECKED fm_status fm_world_log_follow_ready(fm_world_log_follower *follower, char *error);

/// The text that the previous owner has left. After FM_FOLLOW_OWNED. Empty: none
void fm_world_log_follow_scenes(fm_world_log_follower *follower, char *text, size_t size,
                                char *error);

/// Enters the world as this node's. After FM_FOLLOW_OWNED. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_log_follow_enter(fm_world_log_follower *follower);

/// Ends it. The journal stays. NULL is allowed.
void fm_world_log_follow_end(fm_world_log_follower *follower);

/// Sets the next owner of a world that ends here and continues elsewhere
/// (fm_journal_batch.is_left).
///
/// @param scenes  a text of the caller's for the next owner
/// @return false: this node does not own it, or is out of memory
bool fm_world_log_set_heir(fm_world_log_store *store, uint64_t number, const char *heir,
                           const char *scenes);

/// Forgets a world that this node has lost, or could not restore.
void fm_world_log_forget(fm_world_log_store *store, uint64_t number);

/// The directory says that a world belongs to another node: nothing of it is appended or sent any
/// more. Any thread.
void fm_world_log_note_lost(fm_world_log_store *store, uint64_t number);

/// The directory shows a world as this node's, in its epoch. The node's thread.
void fm_world_log_note_shown(fm_world_log_store *store, uint64_t number);

/// The worlds that must be in the directory, because it has shown them or they are lost, but for
/// those that end here. The node's thread.
///
/// @param after  the one before; 0: from the first @return 0: there are no more
uint64_t fm_world_log_next_shown(fm_world_log_store *store, uint64_t after);

/// Whether this node has a world, or has lost it and is dropping it. Any thread.
bool fm_world_log_knows(fm_world_log_store *store, uint64_t number);

/// Whether this node owns a world, and in which epoch. Any thread.
bool fm_world_log_owns(fm_world_log_store *store, uint64_t number, uint64_t *epoch);

/// Whether nobody else can have a world of this node, as far as its lease tells. Any thread.
bool fm_world_log_is_sure(fm_world_log_store *store, uint64_t number);

/// The text of an owner. @param text  room for FM_CLUSTER_OWNER_MAX
void fm_world_log_owner_text(char *text, uint64_t epoch, const char *node, uint64_t incarnation);

/// Reads one. @param node room for FM_CLUSTER_NAME_MAX + 1. @return false: not an owner
bool fm_world_log_owner_parse(const char *text, uint64_t *epoch, char *node, uint64_t *incarnation);

/// Counts a world that is here now: one that was followed, or else taken over.
void fm_world_log_note_come(fm_world_log_store *store, bool was_followed, uint64_t took_us);

/// Until when it is certain that no node has taken this node's worlds; 0: not certain. Any thread.
void fm_world_log_set_sure(fm_world_log_store *store, uint64_t until_ns);

/// The node's lease, with which reservations end whose worlds have not begun; 0: none. Any thread.
void fm_world_log_set_lease(fm_world_log_store *store, int64_t lease);

fm_world_log_numbers fm_world_log_numbers_get(fm_world_log_store *store);
