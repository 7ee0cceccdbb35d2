// server/cluster/node_moves.c: worlds that move while all nodes live, and nodes that drain; see
// node.h. Which node gets a world, moved or taken over, is decided here too.

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/cluster/node_state.h"

#include <stdio.h>
#include <stdlib.h>

#define LOAD_STEP   100u // permille of load; smaller differences do not count
#define LOAD_OF_ONE 20u  // permille of load that a world under way counts as
#define LOAD_MARGIN 150u // permille of load less that another node must have to get a new world

// ---- which node --------------------------------------------------------------------------------

static uint64_t score(const char *node, uint64_t world)
{
    char text[FM_CLUSTER_NAME_MAX + 24];
    int size = snprintf(text, sizeof text, "%s %" PRIu64, node, world);
    uint64_t sum = fm_bytes_checksum(text, (size_t)size) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

// Worlds under way count already: there may be many before the node reports its new load.
static uint64_t load_now(const fm_node_entry *entry)
{
    return entry->load + (uint64_t)entry->arriving * LOAD_OF_ONE;
}

static uint64_t load_of(const fm_node_entry *entry)
{
    return load_now(entry) / LOAD_STEP;
}

bool fm_node_is_better(const fm_node_entry *one, const fm_node_entry *other, uint64_t world)
{
    if (one->is_draining != other->is_draining) {
        return other->is_draining;
    }
    uint64_t one_load = load_of(one), other_load = load_of(other);
    return one_load == other_load ? score(one->name, world) > score(other->name, world)
                                  : one_load < other_load;
}

// The best node other than the world's owner. NULL: none takes worlds.
static const fm_node_entry *choose(const fm_node_directory *directory, const char *but,
                                   uint64_t world)
{
    const fm_node_entry *best = NULL;
    for (uint32_t i = 0; i < directory->node_count; i++) {
        const fm_node_entry *entry = &directory->nodes[i];
        if (!entry->is_draining && strcmp(entry->name, but) != 0 &&
            (best == NULL || fm_node_is_better(entry, best, world))) {
            best = entry;
        }
    }
    return best;
}

static const fm_node_entry *find_node(const fm_node_directory *directory, const char *name)
{
    for (uint32_t i = 0; i < directory->node_count; i++) {
        if (strcmp(directory->nodes[i].name, name) == 0) {
            return &directory->nodes[i];
        }
    }
    return NULL;
}

// ---- the directory -----------------------------------------------------------------------------

static const char *last_part(const char *key)
{
    const char *slash = strrchr(key, '/');
    return slash == NULL ? key : slash + 1;
}

// Keys left from an earlier owner do not count.
void fm_node_moves_add(fm_node_directory *directory, const char *key, const char *value)
{
    fm_node_world *world = fm_node_find_world(directory, strtoull(last_part(key), NULL, 16));
    uint64_t epoch, incarnation;
    char to[FM_CLUSTER_NAME_MAX + 1];
    if (world != NULL && strlen(value) < sizeof world->heir &&
        fm_world_log_owner_parse(value, &epoch, to, &incarnation) && epoch == world->epoch + 1) {
        snprintf(world->heir, sizeof world->heir, "%s", value);
        snprintf(world->to, sizeof world->to, "%s", to);
    }
}

void fm_node_moves_add_ready(fm_node_directory *directory, const char *key, const char *value)
{
    fm_node_world *world = fm_node_find_world(directory, strtoull(last_part(key), NULL, 16));
    if (world != NULL) {
        world->is_ready = world->heir[0] != '\0' && strcmp(value, world->heir) == 0;
    }
}

void fm_node_moves_add_drain(fm_node_directory *directory, const char *key, const char *value)
{
    fm_node_entry *entry = (fm_node_entry *)find_node(directory, last_part(key));
    if (entry != NULL) {
        entry->is_draining = entry->incarnation == strtoull(value, NULL, 16);
    }
}

// ---- wishes ------------------------------------------------------------------------------------

// The lock is held.
static bool wish(fm_node *node, const struct node_wish *wanted)
{
    if (node->wish_count == FM_NODE_WISHES_MAX) {
        return false;
    }
    node->wishes[node->wish_count++] = *wanted;
    uv_cond_signal(&node->woken);
    return true;
}

static bool wish_move(fm_node *node, fm_node_world *world, const fm_node_entry *to)
{
    struct node_wish wanted = {.kind = NODE_WISH_MOVE, .world = world->number};
    snprintf(wanted.owner, sizeof wanted.owner, "%s", world->owner);
    fm_world_log_owner_text(wanted.heir, world->epoch + 1, to->name, to->incarnation);
    if (!wish(node, &wanted)) {
        return false;
    }
    // Counts it ahead of the directory.
    snprintf(world->heir, sizeof world->heir, "%s", wanted.heir);
    snprintf(world->to, sizeof world->to, "%s", to->name);
    fm_node_count_arriving(&node->directory, world->to, 1);
    world->moving_since_ns = fm_clock_now_ns();
    return true;
}

// Compares values, so that nothing is done twice, or after another change.
static void put_compared(const fm_node *node, fm_writer *body, const struct node_wish *wanted)
{
    char number[24], move_key[FM_NODE_KEY_SIZE], owner_key[FM_NODE_KEY_SIZE],
        ready_key[FM_NODE_KEY_SIZE];
    snprintf(number, sizeof number, "%016" PRIx64, wanted->world);
    fm_node_key(node, move_key, sizeof move_key, "move", number);
    fm_node_key(node, owner_key, sizeof owner_key, "owner", number);
    bool is_move = wanted->kind == NODE_WISH_MOVE;
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_value(body, is_move ? owner_key : move_key,
                          is_move ? wanted->owner : wanted->heir);
    fm_etcd_put(body, "],\"success\":[");
    if (is_move) {
        fm_etcd_request_put(body, move_key, wanted->heir, strlen(wanted->heir));
    } else {
        fm_node_key(node, ready_key, sizeof ready_key, "ready", number);
        fm_etcd_request_delete(body, move_key, NULL);
        fm_etcd_put(body, ",");
        fm_etcd_request_delete(body, ready_key, NULL);
    }
    fm_etcd_put(body, "]}");
}

static bool is_about_drain(const struct node_wish *wanted)
{
    return wanted->kind == NODE_WISH_DRAIN || wanted->kind == NODE_WISH_UNDRAIN;
}

// The revision at which drain/NODE was written last; what it says.
static fm_etcd_outcome read_drain(fm_node *node, const char *key, int64_t *revision,
                                  uint64_t *incarnation)
{
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_etcd_request_get(&body, key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_etcd_outcome outcome = fm_node_call(node, "kv/txn", &body, &answer);
    if (outcome == FM_ETCD_DONE) {
        size_t size;
        char *value = fm_etcd_response_value(answer, 0, &size);
        *revision = fm_etcd_response_revision(answer, 0);
        *incarnation = value == NULL ? 0 : strtoull(value, NULL, 16);
        bool is_known = value != NULL || !fm_etcd_response_has(answer, 0);
        outcome = is_known ? outcome : FM_ETCD_UNREACHABLE; // out of memory
        free(value);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return outcome;
}

// Writes only over what it has read, and always: a late copy of an earlier change then finds
// another revision. So the end of a drain is an entry, too. Of another process of that name nothing
// is taken back.
// @return false: etcd does not answer, or somebody has changed it meanwhile: to be tried again
static bool write_drain(fm_node *node, const struct node_wish *wanted)
{
    char key[FM_NODE_KEY_SIZE], value[24] = "0";
    int64_t revision;
    uint64_t incarnation;
    fm_node_key(node, key, sizeof key, "drain", wanted->node);
    fm_etcd_outcome outcome = read_drain(node, key, &revision, &incarnation);
    if (outcome != FM_ETCD_DONE) {
        return outcome == FM_ETCD_REFUSED;
    }
    if (wanted->kind == NODE_WISH_DRAIN) {
        snprintf(value, sizeof value, "%016" PRIx64, wanted->incarnation);
    } else if (incarnation != 0 && incarnation != wanted->incarnation) {
        return true;
    }
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"compare\":[");
    fm_etcd_compare_written(&body, key, revision);
    fm_etcd_put(&body, "],\"success\":[");
    fm_etcd_request_put(&body, key, value, strlen(value));
    fm_etcd_put(&body, "]}");
    json_t *answer;
    outcome = fm_node_call(node, "kv/txn", &body, &answer);
    bool is_over = outcome == FM_ETCD_REFUSED;
    if (outcome == FM_ETCD_DONE) {
        is_over = fm_etcd_succeeded(answer);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return is_over;
}

// Moves are not tried again: who asked for them sees that they do not begin.
static void write_move(fm_node *node, const struct node_wish *wanted)
{
    fm_writer body = fm_writer_init(&fm_memory_libc);
    put_compared(node, &body, wanted);
    json_t *answer;
    if (fm_node_call(node, "kv/txn", &body, &answer) == FM_ETCD_DONE) {
        json_decref(answer);
    }
    fm_writer_fini(&body);
}

// @return false: it is to be tried again
static bool carry_out(fm_node *node, const struct node_wish *wanted)
{
    if (is_about_drain(wanted)) {
        return write_drain(node, wanted);
    }
    write_move(node, wanted);
    return true;
}

// Unless there is a later one of the kind.
static void put_back(fm_node *node, const struct node_wish *wanted)
{
    bool is_outdated = false;
    uv_mutex_lock(&node->lock);
    for (uint32_t i = 0; i < node->wish_count; i++) {
        is_outdated |=
            is_about_drain(&node->wishes[i]) && strcmp(node->wishes[i].node, wanted->node) == 0;
    }
    if (!is_outdated && node->wish_count < FM_NODE_WISHES_MAX) {
        node->wishes[node->wish_count++] = *wanted;
    }
    uv_mutex_unlock(&node->lock);
}

void fm_node_moves_carry_out(fm_node *node)
{
    for (;;) {
        struct node_wish wanted;
        uv_mutex_lock(&node->lock);
        bool any = node->wish_count > 0;
        if (any) {
            wanted = node->wishes[0];
            memmove(node->wishes, node->wishes + 1, --node->wish_count * sizeof *node->wishes);
        }
        uv_mutex_unlock(&node->lock);
        if (!any) {
            return;
        }
        if (!carry_out(node, &wanted)) {
            put_back(node, &wanted);
            return;
        }
    }
}

// ---- moves under way ---------------------------------------------------------------------------

static bool is_over(const fm_node_world *world, const fm_node_entry *heir, uint64_t now_ns)
{
    return heir == NULL || now_ns - world->moving_since_ns > FM_NODE_MOVE_S * FM_NS_PER_S;
}

// The world is here and must leave.
static bool consider_leaving(fm_node *node, const fm_node_directory *fresh, fm_node_world *world,
                             const fm_node_entry *heir)
{
    if (is_over(world, heir, fresh->looked_ns)) {
        struct node_wish wanted = {.kind = NODE_WISH_FORGET, .world = world->number};
        snprintf(wanted.heir, sizeof wanted.heir, "%s", world->heir);
        (void)wish(node, &wanted); // without room: the next read finds it again
        fm_log(FM_LOG_WARNING, "world does not move", fm_log_uint("world", world->number),
               fm_log_text("to", world->to),
               fm_log_text("reason", heir == NULL ? "that node is gone" : "it takes too long"));
        return false;
    }
    bool other_version = strcmp(heir->version, node->options.version) != 0;
    if (!world->is_ready && !other_version) {
        return false;
    }
    world->is_asked_for =
        fm_node_give_order(node, FM_NODE_LEAVE, world->number, world->heir, other_version);
    return world->is_asked_for;
}

bool fm_node_moves_consider(fm_node *node, const fm_node_directory *fresh, fm_node_world *world,
                            const fm_node_world *before)
{
    if (world->heir[0] == '\0') {
        return false;
    }
    bool is_same = before != NULL && strcmp(before->heir, world->heir) == 0;
    world->moving_since_ns =
        is_same && before->moving_since_ns != 0 ? before->moving_since_ns : fresh->looked_ns;
    uint64_t epoch, incarnation;
    char to[FM_CLUSTER_NAME_MAX + 1];
    (void)fm_world_log_owner_parse(world->heir, &epoch, to, &incarnation); // it was parsed before
    const fm_node_entry *heir = fm_node_find_owner(fresh, to, incarnation);
    const fm_node_entry *owner = fm_node_find_owner(fresh, world->node, world->incarnation);
    bool to_here = fm_node_is_self(node, to, incarnation);
    node->is_moving |= world->is_here || to_here;
    if (world->is_asked_for || fresh->looked_ns < world->again_ns) {
        return false;
    }
    if (world->is_here) {
        return consider_leaving(node, fresh, world, heir);
    }
    if (!to_here || owner == NULL || strcmp(owner->version, node->options.version) != 0) {
        return false;
    }
    world->is_asked_for =
        fm_node_give_order(node, FM_NODE_FOLLOW, world->number, world->heir, false);
    return world->is_asked_for;
}

void fm_node_moves_plan(fm_node *node)
{
    fm_node_directory *directory = &node->directory;
    uint32_t moving = 0;
    for (uint32_t i = 0; i < directory->world_count; i++) {
        moving += directory->worlds[i].is_here && directory->worlds[i].heir[0] != '\0';
    }
    for (uint32_t i = 0; i < directory->world_count && moving < FM_NODE_MOVES_MAX; i++) {
        fm_node_world *world = &directory->worlds[i];
        if (world->is_here && world->heir[0] == '\0' && !world->is_asked_for) {
            const fm_node_entry *to = choose(directory, node->options.name, world->number);
            moving += to != NULL && wish_move(node, world, to);
        }
    }
}

// ---- requests from clients ----------------------------------------------------------------------

static fm_status move(fm_node *node, fm_node_world *world, const char *to, fm_node_entry *entry,
                      bool *is_there, char *error)
{
    const fm_node_directory *directory = &node->directory;
    const fm_node_entry *found =
        to[0] == '\0' ? choose(directory, world->node, world->number) : find_node(directory, to);
    if (found == NULL && to[0] == '\0') {
        snprintf(error, FM_ETCD_ERROR_SIZE, "no other node takes worlds");
        return FM_ERR_NOT_READY;
    }
    if (found == NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "there is no node '%.64s' now", to);
        return FM_ERR_BAD_VALUE;
    }
    *entry = *found;
    *is_there = world->heir[0] == '\0' && strcmp(found->name, world->node) == 0;
    if (strcmp(found->name, world->heir[0] == '\0' ? world->node : world->to) == 0) {
        return FM_OK; // it is there, or on its way there
    }
    if (world->heir[0] != '\0' || !world->has_owner || found->is_draining) {
        snprintf(error, FM_ETCD_ERROR_SIZE,
                 !world->has_owner    ? "the world is about to be taken over"
                 : found->is_draining ? "that node gives its worlds away"
                                      : "the world moves already");
        return FM_ERR_NOT_READY;
    }
    return wish_move(node, world, found) ? FM_OK : FM_ERR_BUSY;
}

fm_status fm_node_move(fm_node *node, uint64_t number, const char *to, fm_node_entry *entry,
                       bool *is_there, char *error)
{
    *is_there = false;
    uv_mutex_lock(&node->lock);
    fm_node_world *world = fm_node_find_world(&node->directory, number);
    fm_status status =
        world == NULL ? FM_ERR_NO_WORLD : move(node, world, to, entry, is_there, error);
    uv_mutex_unlock(&node->lock);
    return status;
}

// As of now, not as the node last reported.
uint64_t fm_node_count_worlds(const fm_node_directory *directory, const fm_node_entry *entry)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < directory->world_count; i++) {
        const fm_node_world *world = &directory->worlds[i];
        count += world->incarnation == entry->incarnation && strcmp(world->node, entry->name) == 0;
    }
    return count;
}

// The lock is held.
static fm_status wish_drain(fm_node *node, const fm_node_entry *found, bool drains)
{
    struct node_wish wanted = {.kind = drains ? NODE_WISH_DRAIN : NODE_WISH_UNDRAIN,
                               .incarnation = found->incarnation};
    snprintf(wanted.node, sizeof wanted.node, "%s", found->name);
    if (!wish(node, &wanted)) {
        return FM_ERR_BUSY;
    }
    if (fm_node_is_self(node, found->name, found->incarnation)) {
        node->is_draining = drains || node->is_ending;
        node->drain_noted_ns = fm_clock_now_ns();
    }
    return FM_OK;
}

fm_status fm_node_set_draining(fm_node *node, const char *name, bool drains, fm_node_entry *entry,
                               char *error)
{
    const char *wanted = name[0] == '\0' ? node->options.name : name;
    fm_status status = FM_ERR_BAD_VALUE;
    uv_mutex_lock(&node->lock);
    const fm_node_entry *found = find_node(&node->directory, wanted);
    if (found == NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "there is no node '%.64s' now", wanted);
    } else {
        *entry = *found;
        entry->worlds = fm_node_count_worlds(&node->directory, found);
        status = wish_drain(node, found, drains);
    }
    uv_mutex_unlock(&node->lock);
    return status;
}

void fm_node_begin_to_end(fm_node *node)
{
    uv_mutex_lock(&node->lock);
    node->is_ending = node->is_draining = true;
    const fm_node_entry *own = find_node(&node->directory, node->options.name);
    if (own != NULL && own->incarnation == node->options.incarnation) {
        (void)wish_drain(node, own, true); // else the next look finds that the others do not know
    }
    uv_mutex_unlock(&node->lock);
}

// What was noted here after the look began, or is not written yet, is newer than the look.
void fm_node_moves_note_drain(fm_node *node, const fm_node_directory *fresh)
{
    const fm_node_entry *own =
        fm_node_find_owner(fresh, node->options.name, node->options.incarnation);
    if (own == NULL || node->wish_count > 0 || node->drain_noted_ns > fresh->asked_ns) {
        return;
    }
    node->is_draining = own->is_draining || node->is_ending;
    if (node->is_ending && !own->is_draining) {
        (void)wish_drain(node, own, true); // somebody has taken it back
    }
}

bool fm_node_place(fm_node *node, fm_node_entry *entry)
{
    uv_mutex_lock(&node->lock);
    const fm_node_directory *directory = &node->directory;
    const fm_node_entry *best = choose(directory, node->options.name, 0);
    // As of now: the directory's entry of this node is up to two seconds old.
    bool elsewhere =
        best != NULL && (node->is_draining || load_now(best) + LOAD_MARGIN < node->load);
    if (elsewhere) {
        *entry = *best;
    }
    uv_mutex_unlock(&node->lock);
    return elsewhere;
}

static void note_new(fm_node *node, uint64_t number, const char *name, const char *owner,
                     bool is_here)
{
    fm_node_world world = {.number = number, .is_here = is_here, .noted_ns = fm_clock_now_ns()};
    snprintf(world.name, sizeof world.name, "%s", name);
    snprintf(world.owner, sizeof world.owner, "%s", owner);
    if (!fm_world_log_owner_parse(owner, &world.epoch, world.node, &world.incarnation)) {
        return;
    }
    uv_mutex_lock(&node->lock);
    world.has_owner =
        is_here || fm_node_find_owner(&node->directory, world.node, world.incarnation) != NULL;
    fm_node_note_world(node, &world);
    uv_mutex_unlock(&node->lock);
}

void fm_node_note_placed(fm_node *node, uint64_t number, const char *name, const char *owner)
{
    note_new(node, number, name, owner, false);
}

void fm_node_note_created(fm_node *node, uint64_t number, const char *name)
{
    char owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(owner, 1, node->options.name, node->options.incarnation);
    note_new(node, number, name, owner, true);
}

void fm_node_note_destroyed(fm_node *node, uint64_t number)
{
    uv_mutex_lock(&node->lock);
    fm_node_forget_world(&node->directory, number);
    node->destroyed[node->destroyed_next++ % FM_NODE_DESTROYED_MAX] =
        (struct node_destroyed){.world = number, .noted_ns = fm_clock_now_ns()};
    uv_mutex_unlock(&node->lock);
}

bool fm_node_has_heirs(fm_node *node)
{
    uv_mutex_lock(&node->lock);
    bool any = node->directory.is_member && choose(&node->directory, node->options.name, 0) != NULL;
    uv_mutex_unlock(&node->lock);
    return any;
}

static void note_owner(fm_node *node, uint64_t number, const char *owner, bool is_here)
{
    uv_mutex_lock(&node->lock);
    fm_node_world *world = fm_node_find_world(&node->directory, number);
    if (world != NULL &&
        fm_world_log_owner_parse(owner, &world->epoch, world->node, &world->incarnation)) {
        snprintf(world->owner, sizeof world->owner, "%s", owner);
        fm_node_count_arriving(&node->directory, world->to, -1);
        world->heir[0] = world->to[0] = '\0';
        world->is_here = is_here;
        world->is_ready = false;
        world->dead_since_ns = 0;
        world->noted_ns = fm_clock_now_ns();
        world->has_owner = is_here || fm_node_find_owner(&node->directory, world->node,
                                                         world->incarnation) != NULL;
    }
    uv_mutex_unlock(&node->lock);
}

void fm_node_note_left(fm_node *node, uint64_t number, const char *owner)
{
    note_owner(node, number, owner, false);
}

void fm_node_note_come(fm_node *node, uint64_t number, uint64_t epoch)
{
    char owner[FM_CLUSTER_OWNER_MAX];
    fm_world_log_owner_text(owner, epoch, node->options.name, node->options.incarnation);
    note_owner(node, number, owner, true);
}
