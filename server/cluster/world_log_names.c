// server/cluster/world_log_names.c: names and numbers of worlds: reserved, released, and what
// becomes of those of which nobody knows whether they are; see world_log.h.
//
// A reservation writes the counter, and wants it to be as it was read, by its revision: so of a
// request that etcd gets twice only the first is carried out, also for a number below the counter.
//
// names/NAME holds the number and a nonce of the node that reserved it, for as long as the name is
// taken. Whatever releases or removes a reservation, or begins its world, wants exactly that text:
// so a request that comes late, or is repeated later, cannot touch a reservation or a world that
// has the same name and number since.
//
// A reservation whose answer was lost may stand in etcd: with the lease of this node, so for as
// long as the node lives, and nobody could use the name. Such doubts are kept, and settled when
// etcd answers again: the counter is written once more, so that the reservation fails when it comes
// late, and is removed if it is there.

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/cluster/world_log_state.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define RESERVE_TRIES 20u
#define SETTLE_MS     300u  // for a call; it is the thread that keeps the lease
#define LEASE_MS      3000u // that a reservation waits for a lease
#define LEASE_LOOK_MS 20u

// ---- reservations ------------------------------------------------------------------------------

// Under the lock. The link that leads to it, or the last one.
static struct log_reservation **find_link(fm_world_log_store *store, uint64_t number)
{
    struct log_reservation **link = &store->reservations;
    while (*link != NULL && (*link)->number != number) {
        link = &(*link)->next;
    }
    return link;
}

static void add_reservation(fm_world_log_store *store, struct log_reservation *reservation)
{
    uv_mutex_lock(&store->lock);
    reservation->next = store->reservations;
    store->reservations = reservation;
    uv_mutex_unlock(&store->lock);
}

bool fm_world_log_reservation_value(fm_world_log_store *store, uint64_t number,
                                    char value[FM_WORLD_LOG_RESERVED_SIZE])
{
    uv_mutex_lock(&store->lock);
    const struct log_reservation *found = *find_link(store, number);
    snprintf(value, FM_WORLD_LOG_RESERVED_SIZE, "%s", found == NULL ? "" : found->value);
    uv_mutex_unlock(&store->lock);
    return found != NULL;
}

void fm_world_log_reservation_forget(fm_world_log_store *store, uint64_t number)
{
    uv_mutex_lock(&store->lock);
    struct log_reservation **link = find_link(store, number), *found = *link;
    *link = found == NULL ? NULL : found->next;
    uv_mutex_unlock(&store->lock);
    free(found);
}

// ---- doubts ------------------------------------------------------------------------------------

// @param next      value of the counter; NULL: the reservation was made, and is to be released
// @param revision  of the counter that it wants; 0: that there is none yet
static void note_doubt(fm_world_log_store *store, uint64_t number, const char *name,
                       const char *value, const char *next, int64_t revision)
{
    uv_mutex_lock(&store->lock);
    bool has_room = store->doubt_count < FM_WORLD_LOG_DOUBTS_MAX;
    if (has_room) {
        struct log_doubt *doubt = &store->doubts[store->doubt_count++];
        *doubt =
            (struct log_doubt){.number = number, .was_made = next == NULL, .revision = revision};
        snprintf(doubt->name, sizeof doubt->name, "%s", name);
        snprintf(doubt->value, sizeof doubt->value, "%s", value);
        snprintf(doubt->next, sizeof doubt->next, "%s", next == NULL ? "" : next);
    }
    uv_mutex_unlock(&store->lock);
    if (!has_room) {
        fm_log(FM_LOG_WARNING, "a name may stay reserved until this node ends",
               fm_log_text("name", name));
    }
}

static bool first_doubt(fm_world_log_store *store, struct log_doubt *doubt)
{
    uv_mutex_lock(&store->lock);
    bool any = store->doubt_count > 0;
    if (any) {
        *doubt = store->doubts[0];
    }
    uv_mutex_unlock(&store->lock);
    return any;
}

static void end_first_doubt(fm_world_log_store *store)
{
    uv_mutex_lock(&store->lock);
    memmove(store->doubts, store->doubts + 1, --store->doubt_count * sizeof *store->doubts);
    uv_mutex_unlock(&store->lock);
}

// A transaction that removes a reservation, with the parts of a first keyframe.
//
// @param with_owner  an owner as well, of which nobody was told; else nothing happens if there is
// one
static void build_removal(const fm_world_log_store *store, uint64_t number, const char *name,
                          const char *value, bool with_owner, fm_writer *body)
{
    char name_key[FM_WORLD_LOG_KEY_SIZE], key[FM_WORLD_LOG_KEY_SIZE], to[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(store, name_key, "names/%s", name);
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_value(body, name_key, value);
    fm_world_log_key(store, key, FM_WORLD_LOG_OWNER_KEY, number);
    if (!with_owner) {
        fm_etcd_put(body, ",");
        fm_etcd_compare_absent(body, key);
    }
    fm_etcd_put(body, "],\"success\":[");
    fm_etcd_request_delete(body, name_key, NULL);
    if (with_owner) {
        fm_etcd_put(body, ",");
        fm_etcd_request_delete(body, key, NULL);
    }
    fm_world_log_key(store, key, FM_WORLD_LOG_WORLD_KEY, number);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, key, NULL);
    fm_world_log_key(store, key, "part/%016" PRIx64 "/", number);
    fm_world_log_key(store, to, "part/%016" PRIx64 "0", number);
    fm_etcd_put(body, ",");
    fm_etcd_request_delete(body, key, to);
    fm_etcd_put(body, "]}");
}

// So that a reservation that is not there yet fails.
static void build_step(const fm_world_log_store *store, const struct log_doubt *doubt,
                       fm_writer *body)
{
    char next_key[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(store, next_key, "next");
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_written(body, next_key, doubt->revision);
    fm_etcd_put(body, "],\"success\":["); // else it was written since
    fm_etcd_request_put(body, next_key, doubt->next, strlen(doubt->next));
    fm_etcd_put(body, "]}");
}

static bool is_done(fm_etcd *etcd, const fm_writer *body)
{
    char error[FM_ETCD_ERROR_SIZE];
    json_t *answer;
    bool done = fm_etcd_call(etcd, "kv/txn", body, SETTLE_MS, &answer, error) == FM_ETCD_DONE;
    if (done) {
        json_decref(answer);
    }
    return done;
}

// @return false: etcd does not answer
static bool settle(const fm_world_log_store *store, fm_etcd *etcd, const struct log_doubt *doubt)
{
    fm_writer body = fm_writer_init(&fm_memory_libc);
    bool done = true;
    if (!doubt->was_made) {
        build_step(store, doubt, &body);
        done = is_done(etcd, &body);
        fm_writer_clear(&body);
    }
    if (done) {
        build_removal(store, doubt->number, doubt->name, doubt->value, false, &body);
        done = is_done(etcd, &body);
    }
    fm_writer_fini(&body);
    return done;
}

void fm_world_log_settle_names(fm_world_log_store *store)
{
    struct log_doubt doubt;
    fm_etcd *etcd;
    if (!first_doubt(store, &doubt) || fm_etcd_create(store->options.access, &etcd) != FM_OK) {
        return;
    }
    if (settle(store, etcd, &doubt)) { // the next one in the next round
        end_first_doubt(store);
    }
    fm_etcd_destroy(etcd);
}

// ---- names and numbers -------------------------------------------------------------------------

// A name that is to be reserved.
struct wish {
    fm_world_log_store *store;
    fm_etcd *etcd;
    const char *name, *nonce;
    uint64_t given; // number; 0: the next that is free
    char *error;
};

// What etcd has when it is asked.
struct names_found {
    char *next;       // number; NULL: none was given out yet
    int64_t revision; // of that
    char *taken;      // who has the name; NULL: nobody
};

static void release_found(struct names_found *found)
{
    free(found->next);
    free(found->taken);
}

static fm_status find_names(const struct wish *wish, struct names_found *found)
{
    char name_key[FM_WORLD_LOG_KEY_SIZE], next_key[FM_WORLD_LOG_KEY_SIZE];
    fm_world_log_key(wish->store, name_key, "names/%s", wish->name);
    fm_world_log_key(wish->store, next_key, "next");
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"success\":[");
    fm_etcd_request_get(&body, next_key);
    fm_etcd_put(&body, ",");
    fm_etcd_request_get(&body, name_key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_etcd_outcome outcome = fm_world_log_call(wish->etcd, "kv/txn", &body, &answer, wish->error);
    fm_writer_fini(&body);
    if (outcome != FM_ETCD_DONE) {
        return FM_ERR_IO;
    }
    size_t size;
    found->next = fm_etcd_response_value(answer, 0, &size);
    found->revision = fm_etcd_response_revision(answer, 0);
    found->taken = fm_etcd_response_value(answer, 1, &size);
    json_decref(answer);
    bool has_memory = found->next != NULL || found->revision == 0 || found->taken != NULL;
    return has_memory ? FM_OK : FM_ERR_NO_MEMORY;
}

static void build_reservation(const struct wish *wish, const struct names_found *found,
                              int64_t lease, uint64_t number, const char *value, fm_writer *body)
{
    const fm_world_log_store *store = wish->store;
    char name_key[FM_WORLD_LOG_KEY_SIZE], next_key[FM_WORLD_LOG_KEY_SIZE],
        world_key[FM_WORLD_LOG_KEY_SIZE], owner_key[FM_WORLD_LOG_KEY_SIZE], after[24];
    uint64_t free_from = found->next == NULL ? 1 : strtoull(found->next, NULL, 10);
    snprintf(after, sizeof after, "%" PRIu64, number < free_from ? free_from : number + 1);
    fm_world_log_key(store, name_key, "names/%s", wish->name);
    fm_world_log_key(store, next_key, "next");
    fm_world_log_key(store, world_key, FM_WORLD_LOG_WORLD_KEY, number);
    fm_world_log_key(store, owner_key, FM_WORLD_LOG_OWNER_KEY, number);
    fm_etcd_put(body, "{\"compare\":[");
    fm_etcd_compare_written(body, next_key, found->revision);
    fm_etcd_put(body, ",");
    fm_etcd_compare_absent(body, name_key);
    fm_etcd_put(body, ",");
    fm_etcd_compare_absent(body, world_key); // as a given number may be taken
    fm_etcd_put(body, ",");
    fm_etcd_compare_absent(body, owner_key);
    fm_etcd_put(body, "],\"success\":[");
    fm_etcd_request_put(body, next_key, after, strlen(after));
    fm_etcd_put(body, ",");
    fm_etcd_request_put_leased(body, name_key, value, strlen(value), lease);
    fm_etcd_put(body, ",");
    fm_etcd_request_put_leased(body, world_key, wish->name, strlen(wish->name), lease);
    fm_etcd_put(body, "]}");
}

static fm_status write_reservation(const struct wish *wish, const struct names_found *found,
                                   int64_t lease, uint64_t number)
{
    char value[FM_WORLD_LOG_RESERVED_SIZE];
    snprintf(value, sizeof value, "%" PRIu64 " %s", number, wish->nonce);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    build_reservation(wish, found, lease, number, value, &body);
    json_t *answer;
    fm_etcd_outcome outcome = fm_world_log_call(wish->etcd, "kv/txn", &body, &answer, wish->error);
    fm_writer_fini(&body);
    if (outcome == FM_ETCD_REFUSED && strstr(wish->error, "lease not found") != NULL) {
        return FM_ERR_NOT_READY;
    }
    if (outcome != FM_ETCD_DONE) {
        note_doubt(wish->store, number, wish->name, value, found->next == NULL ? "1" : found->next,
                   found->revision);
        return FM_ERR_IO;
    }
    fm_status status = fm_etcd_succeeded(answer) ? FM_OK : FM_ERR_BUSY;
    json_decref(answer);
    return status;
}

// One try. FM_ERR_BUSY: another node was faster; FM_ERR_NOT_READY: the lease is over.
static fm_status try_to_reserve(const struct wish *wish, int64_t lease, uint64_t *number)
{
    struct names_found found = {0};
    fm_status status = find_names(wish, &found);
    if (status == FM_OK && found.taken != NULL) {
        const char *space = strchr(found.taken, ' ');
        *number = strtoull(found.taken, NULL, 10);
        status = space != NULL && strcmp(space + 1, wish->nonce) == 0 ? FM_OK : FM_ERR_EXISTS;
    } else if (status == FM_OK) {
        *number = wish->given != 0     ? wish->given
                  : found.next != NULL ? strtoull(found.next, NULL, 10)
                                       : 1;
        status = write_reservation(wish, &found, lease, *number);
    }
    release_found(&found);
    return status;
}

// The node's lease, other than one that is over. 0: it has none in time
static int64_t wait_for_lease(const fm_world_log_store *store, int64_t over, uint64_t until_ns)
{
    int64_t lease = atomic_load(&store->lease);
    while ((lease == 0 || lease == over) && fm_clock_now_ns() < until_ns) {
        uv_sleep(LEASE_LOOK_MS);
        lease = atomic_load(&store->lease);
    }
    return lease == over ? 0 : lease;
}

fm_status fm_world_log_reserve(fm_world_log_store *store, const char *name, uint64_t wanted,
                               uint64_t *number, char *error)
{
    fm_etcd *etcd;
    struct log_reservation *reservation = calloc(1, sizeof *reservation);
    if (reservation == NULL || fm_etcd_create(store->options.access, &etcd) != FM_OK) {
        free(reservation);
        return FM_ERR_NO_MEMORY;
    }
    char nonce[40];
    snprintf(nonce, sizeof nonce, "%016" PRIx64 "%08x", store->options.incarnation,
             randombytes_random());
    const struct wish wish = {store, etcd, name, nonce, wanted, error};
    uint64_t until_ns = fm_clock_now_ns() + LEASE_MS * FM_NS_PER_MS;
    int64_t lease = wait_for_lease(store, 0, until_ns);
    fm_status status = lease == 0 ? FM_ERR_NOT_READY : FM_ERR_BUSY;
    for (uint32_t i = 0; i < RESERVE_TRIES && lease != 0 && status != FM_OK; i++) {
        status = try_to_reserve(&wish, lease, number);
        if (status == FM_ERR_NOT_READY) { // the node was frozen, and does not know it yet
            lease = wait_for_lease(store, lease, until_ns);
        } else if (status != FM_ERR_BUSY) {
            break;
        }
    }
    fm_etcd_destroy(etcd);
    if (status == FM_OK) {
        reservation->number = *number;
        snprintf(reservation->value, sizeof reservation->value, "%" PRIu64 " %s", *number, nonce);
        add_reservation(store, reservation);
    } else {
        free(reservation);
    }
    if (status == FM_ERR_NOT_READY) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE,
                 "this node has no lease in the cluster: it joins again by itself, try again");
    }
    bool is_taken = status == FM_ERR_BUSY && wanted != 0;
    if (is_taken) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "number %" PRIu64 " is another world's", wanted);
    }
    return is_taken ? FM_ERR_EXISTS : status;
}

void fm_world_log_release(fm_world_log_store *store, uint64_t number, const char *name)
{
    char value[FM_WORLD_LOG_RESERVED_SIZE], error[FM_ETCD_ERROR_SIZE];
    fm_etcd *etcd;
    json_t *answer;
    if (!fm_world_log_reservation_value(store, number, value)) {
        return;
    }
    fm_world_log_reservation_forget(store, number);
    if (fm_etcd_create(store->options.access, &etcd) != FM_OK) {
        note_doubt(store, number, name, value, NULL, 0);
        return;
    }
    fm_writer body = fm_writer_init(&fm_memory_libc);
    build_removal(store, number, name, value, true, &body);
    if (fm_world_log_call(etcd, "kv/txn", &body, &answer, error) == FM_ETCD_DONE) {
        json_decref(answer);
    } else {
        note_doubt(store, number, name, value, NULL, 0);
    }
    fm_writer_fini(&body);
    fm_etcd_destroy(etcd);
}
