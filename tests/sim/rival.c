// tests/sim/rival.c: see rival.h.

#include "tests/sim/rival.h"

#include "server/cluster/world_log_state.h"
#include "tests/sim/neighbour.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME        "rival"
#define PREFIX      "/fogmarch/" SIM_ETCD_CLUSTER "/"
#define LOOK_MAX_MS 200u
#define LIFE_MAX_MS 2500u

#define OTHER_VERSION "0"

void __real_fm_world_log_set_sure(fm_world_log_store *store, uint64_t until_ns);
void __wrap_fm_world_log_set_sure(fm_world_log_store *store, uint64_t until_ns);
fm_fence_verdict __real_fm_world_log_end(void *context, uint64_t world, bool is_left, char *error);
fm_fence_verdict __wrap_fm_world_log_end(void *context, uint64_t world, bool is_left, char *error);

static struct {
    sim_source source;
    bool takes, moves, lives;
    bool is_writing; // itself, not the server
    bool has_other_version;
    uint64_t dies_ns;
    uint64_t incarnation;
    fm_world_log_store *store; // the server's node; NULL: it has no lease yet
    uint64_t sure_until_ns;
} rival;

// ---- the server's node -------------------------------------------------------------------------

// Whether a world was given away, and the answer to that is under way: the server has stopped it,
// even if it was given back since.
static bool is_given_away(fm_world_log_store *store, uint64_t world, uint64_t owner_epoch)
{
    char node[FM_CLUSTER_NAME_MAX + 1];
    uint64_t epoch, incarnation;
    const struct log_world *entry = fm_world_log_find(store, world);
    return entry != NULL && fm_world_log_owner_parse(entry->heir, &epoch, node, &incarnation) &&
           epoch <= owner_epoch;
}

// Whether another node has a world of which the server would speak.
static void check_owners(fm_world_log_store *store)
{
    for (uint64_t world = 1; world < SIM_ETCD_WORLDS_MAX; world++) {
        uint64_t epoch, owner_epoch = 0, incarnation;
        char node[FM_CLUSTER_NAME_MAX + 1];
        const sim_etcd_key *key =
            sim_etcd->logs[world].is_there ? sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, world) : NULL;
        if (key != NULL &&
            fm_world_log_owner_parse((const char *)key->value, &owner_epoch, node, &incarnation) &&
            fm_world_log_owns(store, world, &epoch) && epoch < owner_epoch &&
            !is_given_away(store, world, owner_epoch)) {
            sim_fail("the node has a new lease, and thinks that world %" PRIu64
                     " is its own, which belongs to %s",
                     world, node);
        }
    }
}

void __wrap_fm_world_log_set_sure(fm_world_log_store *store, uint64_t until_ns)
{
    if (sim_bug_planted == SIM_BUG_LONG_LEASE && until_ns != 0) {
        until_ns += 3 * SIM_NS_S;
    }
    if (until_ns > sim_now_ns()) {
        check_owners(store);
    }
    if (sim_node() == 0) {
        rival.store = store;
        rival.sure_until_ns = until_ns;
    }
    sim_neighbour_note_sure(store, until_ns);
    __real_fm_world_log_set_sure(store, until_ns);
}

fm_fence_verdict __wrap_fm_world_log_end(void *context, uint64_t world, bool is_left, char *error)
{
    fm_fence_verdict verdict = __real_fm_world_log_end(context, world, is_left, error);
    if (verdict == FM_FENCE_WAITING && sim_bug_planted == SIM_BUG_EARLY_END) {
        fm_world_log_forget(context, world);
        return FM_FENCE_COMMITTED;
    }
    return verdict;
}

// ---- what it writes ----------------------------------------------------------------------------

static void put_text(const char *kind, uint64_t world, const char *text)
{
    char name[SIM_ETCD_KEY_SIZE];
    snprintf(name, sizeof name, PREFIX "%s/%016" PRIx64, kind, world);
    rival.is_writing = true;
    sim_etcd_put(name, text, strlen(text), 0);
    rival.is_writing = false;
}

static void remove_key(const char *kind, uint64_t world)
{
    char name[SIM_ETCD_KEY_SIZE];
    snprintf(name, sizeof name, PREFIX "%s/%016" PRIx64, kind, world);
    sim_etcd_remove(name);
}

static void join(void)
{
    char text[240];
    rival.incarnation = (uint64_t)sim_below(UINT32_MAX) << 32 | sim_below(UINT32_MAX);
    rival.lives = true;
    rival.has_other_version = !rival.moves || sim_chance(300);
    rival.dies_ns = sim_now_ns() + sim_between(1, LIFE_MAX_MS) * SIM_NS_MS;
    int size =
        snprintf(text, sizeof text,
                 "{\"incarnation\":\"%016" PRIx64 "\",\"tcp\":\"10.0.0.9:7421\","
                 "\"http\":\"\",\"version\":\"%s\",\"worlds\":0,\"agents\":0,\"load\":9000}",
                 rival.incarnation, rival.has_other_version ? OTHER_VERSION : FOGMARCH_VERSION);
    sim_etcd_put(PREFIX "nodes/" NAME, text, (size_t)size, 0);
    if (!rival.moves) { // it takes no world that is offered
        size = snprintf(text, sizeof text, "%016" PRIx64, rival.incarnation);
        sim_etcd_put(PREFIX "drain/" NAME, text, (size_t)size, 0);
    }
}

static void die(void)
{
    if (rival.lives) {
        sim_trace("the rival dies");
        rival.lives = false;
        sim_etcd_remove(PREFIX "nodes/" NAME);
    }
}

// ---- taking ------------------------------------------------------------------------------------

// A part of a record whose end never comes.
static void begin_record(uint64_t world, uint64_t epoch)
{
    char name[SIM_ETCD_KEY_SIZE];
    uint8_t bytes[40];
    size_t size = sim_between(1, sizeof bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_below(256);
    }
    fm_writer value = fm_writer_init(&fm_memory_libc);
    fm_writer_put_u8(&value, FM_WORLD_LOG_VERSION);
    fm_writer_put_u8(&value, 1);
    fm_writer_put_u64(&value, epoch);
    fm_writer_put_u64(&value, fm_bytes_checksum(bytes, size));
    fm_writer_put_bytes(&value, bytes, size);
    snprintf(name, sizeof name, PREFIX FM_WORLD_LOG_RECORD_KEY, world,
             sim_etcd->logs[world].position);
    sim_etcd_put(name, value.data, value.size, 0);
    fm_writer_fini(&value);
}

// If its owner is dead.
static void take(uint64_t world, const char *owner)
{
    uint64_t epoch, incarnation;
    char node[FM_CLUSTER_NAME_MAX + 1], text[FM_CLUSTER_OWNER_MAX];
    FM_ASSERT(fm_world_log_owner_parse(owner, &epoch, node, &incarnation));
    if (strcmp(node, NAME) == 0 || sim_etcd_find("nodes/%s", node) != NULL ||
        world >= SIM_ETCD_WORLDS_MAX || sim_chance(300)) {
        return;
    }
    bool is_its = rival.store != NULL && rival.store->options.incarnation == incarnation;
    if (is_its && rival.sure_until_ns > sim_now_ns()) {
        sim_fail("another node takes world %" PRIu64 ", and this one is sure of it for %" PRIu64
                 " ms more",
                 world, (rival.sure_until_ns - sim_now_ns()) / SIM_NS_MS);
    }
    if (!rival.lives) {
        join();
    }
    sim_note_fault(SIM_FAULT_TAKEN);
    sim_trace("the rival takes world %" PRIu64 " in epoch %" PRIu64, world, epoch + 1);
    fm_world_log_owner_text(text, epoch + 1, NAME, rival.incarnation);
    put_text("owner", world, text);
    if (sim_chance(400)) {
        begin_record(world, epoch + 1);
    }
}

// ---- moving ------------------------------------------------------------------------------------

static bool is_text(const sim_etcd_key *key, const char *text)
{
    return key != NULL && strcmp((const char *)key->value, text) == 0;
}

// Whether the server's node is in the directory.
static bool server_lives(void)
{
    char text[24];
    if (rival.store == NULL) {
        return false;
    }
    const sim_etcd_key *key = sim_etcd_find("nodes/%s", rival.store->options.node);
    snprintf(text, sizeof text, "%016" PRIx64, rival.store->options.incarnation);
    return key != NULL && strstr((const char *)key->value, text) != NULL;
}

// It owns a world: offers it to the server's node, or hands it over.
static void give(uint64_t world, uint64_t epoch)
{
    char text[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(text, epoch + 1, rival.store->options.node,
                            rival.store->options.incarnation);
    if (!is_text(sim_etcd_find(FM_WORLD_LOG_MOVE_KEY, world), text)) {
        if (sim_chance(700)) {
            sim_trace("the rival offers world %" PRIu64, world);
            put_text("move", world, text);
        }
        return;
    }
    bool is_ready = is_text(sim_etcd_find(FM_WORLD_LOG_READY_KEY, world), text);
    if (is_ready || rival.has_other_version || sim_chance(50)) {
        sim_note_fault(SIM_FAULT_GIVEN);
        sim_trace("the rival gives world %" PRIu64 " away, %s", world,
                  is_ready ? "which is ready" : "unasked");
        put_text("owner", world, text);
        put_text("scenes", world, "");
        remove_key("move", world);
        remove_key("ready", world);
    }
}

// The server's node owns a world: asks for it, or is where its log ends.
static void ask_for(uint64_t world, uint64_t epoch)
{
    char text[FM_CLUSTER_OWNER_MAX];
    const sim_etcd_key *moves = sim_etcd_find(FM_WORLD_LOG_MOVE_KEY, world);
    if (moves == NULL && sim_chance(100)) {
        if (!rival.lives) {
            join();
        }
        fm_world_log_owner_text(text, epoch + 1, NAME, rival.incarnation);
        sim_trace("the rival asks for world %" PRIu64, world);
        put_text("move", world, text);
        return;
    }
    fm_world_log_owner_text(text, epoch + 1, NAME, rival.incarnation);
    if (rival.lives && is_text(moves, text) && !rival.has_other_version && sim_chance(500)) {
        put_text("ready", world, text);
    }
}

static void move(uint64_t world, const char *owner)
{
    uint64_t epoch, incarnation;
    char node[FM_CLUSTER_NAME_MAX + 1];
    FM_ASSERT(fm_world_log_owner_parse(owner, &epoch, node, &incarnation));
    if (!server_lives()) {
        return;
    }
    if (rival.lives && strcmp(node, NAME) == 0 && incarnation == rival.incarnation) {
        give(world, epoch);
    } else if (incarnation == rival.store->options.incarnation) {
        ask_for(world, epoch);
    }
}

void sim_rival_check_gift(uint64_t world, const sim_etcd_key *owner, bool keyframe_is_last)
{
    uint64_t epoch, incarnation;
    char node[FM_CLUSTER_NAME_MAX + 1];
    const char *text = (const char *)owner->value;
    bool is_new = owner->created == owner->modified; // placed where there was more room
    if (rival.is_writing || is_new || !fm_world_log_owner_parse(text, &epoch, node, &incarnation) ||
        strcmp(node, NAME) != 0) {
        return;
    }
    sim_note_fault(SIM_FAULT_MOVED);
    if (!is_text(sim_etcd_find(FM_WORLD_LOG_MOVE_KEY, world), text)) {
        sim_fail("world %" PRIu64 " is given away to %s, and nobody has asked for that", world,
                 text);
    }
    if (incarnation != rival.incarnation) {
        return; // its version is forgotten
    }
    if (rival.has_other_version && !keyframe_is_last) {
        sim_fail("world %" PRIu64 " is given to a node of another version, without a keyframe",
                 world);
    }
    if (!rival.has_other_version && !is_text(sim_etcd_find(FM_WORLD_LOG_READY_KEY, world), text)) {
        sim_fail("world %" PRIu64 " is given to a node that is not ready", world);
    }
}

// ---- its turn ----------------------------------------------------------------------------------

static void go_through_worlds(void)
{
    for (uint64_t world = 1; world < SIM_ETCD_WORLDS_MAX; world++) {
        char owner[FM_CLUSTER_OWNER_MAX];
        const sim_etcd_key *key =
            sim_etcd->logs[world].is_there ? sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, world) : NULL;
        if (key != NULL) {
            snprintf(owner, sizeof owner, "%s", (const char *)key->value);
            take(world, owner);
        }
        if (key != NULL && rival.moves) {
            key = sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, world);
            snprintf(owner, sizeof owner, "%s", (const char *)key->value);
            move(world, owner);
        }
    }
}

static void look(void *owner)
{
    (void)owner;
    rival.source.due_ns = sim_now_ns() + sim_between(1, LOOK_MAX_MS) * SIM_NS_MS;
    if (rival.lives && sim_now_ns() >= rival.dies_ns) {
        die();
    } else if (rival.takes) {
        go_through_worlds();
    }
}

// ---- beginning and end -------------------------------------------------------------------------

void sim_rival_begin(void)
{
    memset(&rival, 0, sizeof rival);
    rival.lives = sim_etcd_find("nodes/" NAME) != NULL;
    rival.dies_ns = sim_now_ns() + sim_between(1, LIFE_MAX_MS) * SIM_NS_MS;
    rival.source = (sim_source){.due_ns = sim_now_ns(), .happen = look};
    sim_source_add(&rival.source);
}

void sim_rival_set(bool takes, bool moves)
{
    rival.takes = takes;
    rival.moves = takes && moves;
    if (!takes) {
        die();
    }
}
