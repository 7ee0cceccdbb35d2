// server/streams/shipping.c: see shipping.h.

#include "server/streams/shipping.h"

#include "proto/pack.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/streams/shipping_read.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define READ_SIZE    ((size_t)1 << 20)   // bytes of all journals in one read
#define SHIPPER_SIZE ((size_t)256 << 10) // of one
#define NEAR_TICKS   8u                  // ticks behind, of a standby in step
#define BEAT_NS      (1 * FM_NS_PER_S)   // between two shipments, at most
#define BROKEN_NS    (1 * FM_NS_PER_S)   // until a journal that could not be read is read again
#define PEER_SIZE    64u

struct fm_shipping {
    fm_hub *hub;
    uint64_t session;
    char peer[PEER_SIZE];
    fm_shipping_state state;
    uint64_t number;                 // of the last shipment
    size_t unsaid_size;              // bytes that were sent and not acknowledged
    fm_parcels unsaid;               // these shipments, without their bytes
    uint64_t sent_ns;                // when something was sent last
    uint64_t heard_ns;               // when it last answered, or nothing was unacknowledged
    fm_shipper *shippers;            // owned; by number of the world
    uint64_t ledger_sent;            // version
    uint64_t ledger_copied;          // the same, of what the standby has
    bool is_ledger_sent, has_ledger; // at all
    bool is_lost;                    // something that must be said was not: the session ends
    bool is_over;                    // its session is gone; released when the pool is done with it
    // ---- a look into the files, one at a time
    uv_work_t work; // work.data points back here
    bool is_reading;
    fm_shipper **read; // owned; of this look
    uint32_t read_count, read_capacity;
    uint32_t read_first; // with which it begins
    uint64_t read_from;  // world with which the next one begins
    fm_parcels parcels;  // that it has brought
};

// A callback that waits until the standby has the ledger, or a world, or knows that one is gone.
struct fm_copy_wait {
    struct fm_copy_wait *next;
    uint64_t world;   // 0: the ledger
    bool is_end;      // of the world
    uint64_t version; // of that
    void (*then)(void *context, bool is_safe);
    void *context;
};

const char *fm_shipping_state_name(fm_shipping_state state)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_SHIPPING_STATE_LIST(X)
#undef X
    };
    return names[state];
}

// ---- callbacks that wait for it -----------------------------------------------------------------

static bool is_wished_for(const fm_hub *hub)
{
    return hub->config->durability == FM_DURABILITY_REPLICA;
}

// Whether bytes to clients wait for the standby's disk.
static bool is_waited_for(const fm_hub *hub)
{
    bool in_step = hub->shipping != NULL && hub->shipping->state == FM_SHIPPING_IN_STEP;
    return is_wished_for(hub) && (in_step || hub->config->replica_missing == FM_REPLICA_BLOCK);
}

static fm_shipper *find_shipper(const fm_shipping *shipping, uint64_t world)
{
    fm_shipper *shipper = shipping->shippers;
    while (shipper != NULL && shipper->world < world) {
        shipper = shipper->next;
    }
    return shipper != NULL && shipper->world == world ? shipper : NULL;
}

// A world has a shipper until its end is on its way.
static bool is_end_copied(const fm_shipping *shipping, uint64_t world)
{
    if (shipping == NULL || shipping->is_lost || find_shipper(shipping, world) != NULL) {
        return false;
    }
    const fm_parcel *parcel = shipping->unsaid.first;
    while (parcel != NULL && !(parcel->is_end && parcel->world == world)) {
        parcel = parcel->next;
    }
    return parcel == NULL;
}

// A world that is gone again waits for nothing.
static bool is_copied(const fm_hub *hub, const struct fm_copy_wait *wait)
{
    const fm_shipping *shipping = hub->shipping;
    if (wait->is_end) {
        return is_end_copied(shipping, wait->world);
    }
    if (wait->world == 0) {
        return shipping != NULL && shipping->has_ledger && shipping->ledger_copied >= wait->version;
    }
    const fm_host *host = fm_hub_find_host(hub, wait->world);
    return host == NULL || (host->shipper != NULL && host->shipper->copied > 0);
}

// What is notified may send the next messages of its session on their way, which may come here
// again: so first all that are to be notified are taken out.
//
// @param all  whether or not they were copied
static void tell_waits(fm_hub *hub, bool all, bool is_safe)
{
    struct fm_copy_wait **link = &hub->copy_waits, *told = NULL, **last = &told;
    while (*link != NULL) {
        struct fm_copy_wait *wait = *link;
        if (!all && !is_copied(hub, wait)) {
            link = &wait->next;
            continue;
        }
        *link = wait->next;
        wait->next = NULL;
        *last = wait;
        last = &wait->next;
    }
    while (told != NULL) {
        struct fm_copy_wait *wait = told;
        told = wait->next;
        wait->then(wait->context, is_safe);
        free(wait);
    }
}

// After anything that changes it.
static void set_standby(fm_hub *hub)
{
    bool waits = is_waited_for(hub);
    bool in_step = hub->shipping != NULL && hub->shipping->state == FM_SHIPPING_IN_STEP;
    fm_conductor_set_standby(hub->conductor, hub->shipping != NULL, waits, in_step);
    tell_waits(hub, !waits, true);
}

static void tell_state(const fm_hub *hub, const char *peer, fm_shipping_state state)
{
    bool is_loss = state == FM_SHIPPING_NONE || state == FM_SHIPPING_LATE;
    const char *means = "nothing waits for it";
    if (is_waited_for(hub)) {
        means = is_loss ? "nothing is sent to clients until there is one again"
                        : "what clients are sent waits for it";
    } else if (is_wished_for(hub)) {
        means = "degraded: what clients are sent is on this disk only";
    }
    fm_log(is_loss && is_wished_for(hub) ? FM_LOG_WARNING : FM_LOG_INFO, "standby",
           fm_log_text("state", fm_shipping_state_name(state)), fm_log_text("peer", peer),
           fm_log_text("means", means));
}

static void set_state(fm_shipping *shipping, fm_shipping_state state)
{
    if (shipping->state != state) {
        shipping->state = state;
        set_standby(shipping->hub);
        tell_state(shipping->hub, shipping->peer, state);
    }
}

static void wait_for_copy(fm_hub *hub, const struct fm_copy_wait *what)
{
    if (is_waited_for(hub) && hub->shipping_is_over) {
        what->then(what->context, false); // nobody would be told any more
        return;
    }
    struct fm_copy_wait *wait = is_waited_for(hub) ? calloc(1, sizeof *wait) : NULL;
    if (wait == NULL) {
        what->then(what->context, true); // without memory it is as safe as with durability tick
        return;
    }
    *wait = *what;
    struct fm_copy_wait **link = &hub->copy_waits;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = wait;
}

void fm_shipping_note_ledger(fm_hub *hub, void (*then)(void *context, bool is_safe), void *context)
{
    hub->ledger_version++;
    wait_for_copy(hub, &(struct fm_copy_wait){
                           .version = hub->ledger_version, .then = then, .context = context});
    fm_shipping_feed(hub);
}

void fm_shipping_note_world(fm_hub *hub, const fm_host *host,
                            void (*then)(void *context, bool is_safe), void *context)
{
    wait_for_copy(hub,
                  &(struct fm_copy_wait){.world = host->number, .then = then, .context = context});
    fm_shipping_feed(hub);
}

void fm_shipping_note_end(fm_hub *hub, uint64_t world, void (*then)(void *context, bool is_safe),
                          void *context)
{
    fm_shipping_feed(hub);
    wait_for_copy(hub, &(struct fm_copy_wait){
                           .world = world, .is_end = true, .then = then, .context = context});
    tell_waits(hub, !is_waited_for(hub), true); // the standby may know already
}

// ---- shippers -----------------------------------------------------------------------------------

static fm_shipper *add_shipper(fm_shipping *shipping, uint64_t world)
{
    fm_shipper **link = &shipping->shippers;
    while (*link != NULL && (*link)->world < world) {
        link = &(*link)->next;
    }
    fm_shipper *shipper = calloc(1, sizeof *shipper);
    if (shipper != NULL) {
        shipper->world = world;
        shipper->next = *link;
        *link = shipper;
    }
    return shipper;
}

static bool take_places(fm_shipping *shipping, const void *places, size_t size)
{
    fm_reader reader = fm_reader_init(places, size, NULL);
    fm_shipment_place place;
    while (fm_shipment_take_place(&reader, &place)) {
        fm_shipper *shipper =
            find_shipper(shipping, place.world) == NULL ? add_shipper(shipping, place.world) : NULL;
        if (shipper == NULL) {
            return false;
        }
        shipper->is_claimed = true;
        shipper->claim = place;
    }
    return !reader.failed;
}

// ---- sending -----------------------------------------------------------------------------------

static bool send_parcel(fm_shipping *shipping, fm_session *session, const fm_parcel *parcel)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_notification(&packer, FM_NOTIFY_SHIPMENT);
    msgpack_pack_map(&packer, 2);
    fm_pack_key_uint(&packer, "number", shipping->number + 1);
    fm_pack_text(&packer, "data");
    uint8_t sum[sizeof(uint64_t)];
    fm_bytes_put_u64(sum, fm_shipment_sum(parcel->bytes.data, parcel->bytes.size));
    msgpack_pack_bin(&packer, parcel->bytes.size + sizeof sum);
    msgpack_pack_bin_body(&packer, parcel->bytes.data, parcel->bytes.size);
    msgpack_pack_bin_body(&packer, sum, sizeof sum);
    fm_frame *frame = fm_frame_take(&buffer);
    if (frame == NULL) {
        fm_session_disconnect(session, "out of memory");
        return false;
    }
    fm_session_send(session, &frame, 1);
    fm_frame_drop(frame);
    shipping->number++;
    shipping->sent_ns = fm_clock_now_ns();
    return true;
}

static void note_copied(fm_shipping *shipping, const fm_parcel *parcel)
{
    fm_host *host = fm_hub_find_host(shipping->hub, parcel->world);
    fm_shipper *shipper = host == NULL ? NULL : host->shipper;
    if (parcel->world == 0) {
        shipping->ledger_copied = parcel->version;
        shipping->has_ledger = true;
    }
    if (shipper == NULL || parcel->position == 0) {
        return;
    }
    bool has_all = parcel->position >= shipper->goal; // committed when it was read
    shipper->copied = parcel->position;
    shipper->copied_tick = has_all ? shipper->goal_tick : parcel->tick;
    shipper->copied_size = has_all ? shipper->goal_size : shipper->copied_size;
    atomic_store(&host->copies.copied, shipper->copied);
}

static bool keep_unsaid(fm_shipping *shipping, const fm_parcel *parcel)
{
    fm_writer nothing = fm_writer_init(&fm_memory_libc); // its bytes are on their way
    fm_parcel about = *parcel;
    about.number = shipping->number;
    about.size = parcel->bytes.size;
    if (shipping->unsaid.first == NULL) {
        shipping->heard_ns = fm_clock_now_ns();
    }
    shipping->unsaid_size += about.size;
    return fm_parcels_put(&shipping->unsaid, &nothing, &about);
}

// Sends a parcel; it stays in the list without its bytes.
static void send_parcels(fm_shipping *shipping, fm_parcels *parcels)
{
    fm_session *session = fm_hub_find_session(shipping->hub, shipping->session);
    while (session != NULL && parcels->first != NULL) {
        fm_parcel *parcel = parcels->first;
        if (parcel->bytes.size == 0) {
            note_copied(shipping, parcel);
        } else if (!send_parcel(shipping, session, parcel)) {
            break;
        } else if (!keep_unsaid(shipping, parcel)) {
            fm_session_disconnect(session, "out of memory");
            break;
        }
        parcels->first = parcel->next;
        fm_writer_fini(&parcel->bytes);
        free(parcel);
    }
    shipping->is_lost |= parcels->first != NULL || parcels->failed;
    fm_parcels_fini(parcels);
    *parcels = (fm_parcels){0};
}

// ---- the ledger --------------------------------------------------------------------------------

static void send_ledger(fm_shipping *shipping)
{
    const fm_hub *hub = shipping->hub;
    fm_shipment shipment = {
        .kind = FM_SHIPMENT_LEDGER,
        .epoch = hub->epoch,
        .world_last = hub->host_last,
        .token_last = hub->tokens.last,
        .grant_count = hub->tokens.created_count,
    };
    memcpy(shipment.key, hub->resume_key.bytes, sizeof shipment.key);
    fm_parcels parcels = {0};
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&bytes, &shipment);
    sodium_memzero(shipment.key, sizeof shipment.key);
    for (uint32_t i = 0; i < hub->tokens.created_count; i++) {
        fm_shipment_put_grant(&bytes, &hub->tokens.created[i]);
    }
    if (fm_parcels_put(&parcels, &bytes, &(fm_parcel){.version = hub->ledger_version})) {
        shipping->ledger_sent = hub->ledger_version;
        shipping->is_ledger_sent = true;
        send_parcels(shipping, &parcels);
    }
}

// ---- reading -----------------------------------------------------------------------------------

static void read_journals(uv_work_t *work)
{
    fm_shipping *shipping = work->data;
    uint32_t count = shipping->read_count;
    for (uint32_t i = 0; i < count && shipping->parcels.size < READ_SIZE; i++) {
        uint32_t k = (shipping->read_first + i) % count;
        fm_shipper_read(shipping->read[k], &shipping->parcels, SHIPPER_SIZE);
    }
}

static void release(fm_shipping *shipping)
{
    while (shipping->shippers != NULL) {
        fm_shipper *shipper = shipping->shippers;
        shipping->shippers = shipper->next;
        fm_shipper_destroy(shipper);
    }
    fm_parcels_fini(&shipping->parcels);
    fm_parcels_fini(&shipping->unsaid);
    free(shipping->read);
    free(shipping);
}

static void look_at_broken(const fm_shipping *shipping)
{
    for (uint32_t i = 0; i < shipping->read_count; i++) {
        fm_shipper *shipper = shipping->read[i];
        if (shipper->is_broken) {
            shipper->is_broken = false;
            shipper->retry_ns = fm_clock_now_ns() + BROKEN_NS;
            fm_log(FM_LOG_WARNING, "journal cannot be sent to the standby, it starts over",
                   fm_log_uint("world", shipper->world), fm_log_text("reason", shipper->error));
        }
    }
}

static void on_read(uv_work_t *work, int error)
{
    (void)error;
    fm_shipping *shipping = work->data;
    fm_hub_beat(shipping->hub);
    shipping->is_reading = false;
    if (shipping->is_over) {
        release(shipping);
        return;
    }
    look_at_broken(shipping);
    send_parcels(shipping, &shipping->parcels);
    fm_shipping_feed(shipping->hub);
}

// ---- which worlds have news --------------------------------------------------------------------

static void put_end(fm_shipping *shipping, uint64_t world)
{
    const fm_shipment shipment = {.kind = FM_SHIPMENT_END,
                                  .place.world = world,
                                  .is_kept = shipping->hub->config->journal_keep};
    fm_parcels parcels = {0};
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&bytes, &shipment);
    (void)fm_parcels_put(&parcels, &bytes, &(fm_parcel){.world = world, .is_end = true});
    send_parcels(shipping, &parcels);
}

// Notifies the standby of worlds that are gone. Both lists are in the order of numbers.
static void end_shippers(fm_shipping *shipping)
{
    const fm_hub *hub = shipping->hub;
    fm_shipper **link = &shipping->shippers;
    uint32_t i = 0;
    while (*link != NULL) {
        fm_shipper *shipper = *link;
        while (i < hub->host_count && hub->hosts[i]->number < shipper->world) {
            i++;
        }
        if (i < hub->host_count && hub->hosts[i]->number == shipper->world) {
            link = &shipper->next;
            continue;
        }
        put_end(shipping, shipper->world);
        *link = shipper->next;
        fm_shipper_destroy(shipper);
    }
}

static fm_shipper *shipper_of(fm_shipping *shipping, fm_host *host)
{
    fm_shipper *shipper = host->shipper;
    if (shipper == NULL) {
        shipper = find_shipper(shipping, host->number);
        shipper = shipper == NULL ? add_shipper(shipping, host->number) : shipper;
    }
    if (shipper != NULL && shipper->path[0] == '\0' &&
        !fm_journals_path(fm_conductor_journals(shipping->hub->conductor), host->number, host->name,
                          shipper->path, sizeof shipper->path)) {
        shipper->path[0] = '\0';
        return NULL;
    }
    host->shipper = shipper;
    return shipper;
}

static bool has_news(const fm_shipper *shipper, const fm_host *host, uint64_t now_ns)
{
    bool is_behind = shipper->bytes != NULL || !shipper->has_begun ||
                     shipper->position < atomic_load(&host->copies.position);
    return is_behind && shipper->retry_ns <= now_ns;
}

static void collect(fm_shipping *shipping)
{
    const fm_hub *hub = shipping->hub;
    uint64_t now_ns = fm_clock_now_ns();
    shipping->read_count = 0;
    if (!fm_reserve(&fm_memory_libc, (void **)&shipping->read, &shipping->read_capacity,
                    hub->host_count, sizeof(fm_shipper *))) {
        return;
    }
    shipping->read_first = 0;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        fm_host *host = hub->hosts[i];
        fm_shipper *shipper = shipper_of(shipping, host);
        if (shipper != NULL && has_news(shipper, host, now_ns)) {
            shipper->goal_size = atomic_load(&host->copies.size);
            shipper->goal_tick = atomic_load(&host->copies.tick);
            shipper->goal = atomic_load(&host->copies.position);
            shipping->read[shipping->read_count++] = shipper;
            shipping->read_first += shipper->world < shipping->read_from;
        }
    }
    if (shipping->read_count > 0) {
        shipping->read_first %= shipping->read_count;
        shipping->read_from = shipping->read[shipping->read_first]->world + 1;
    }
}

// ---- how far it is -----------------------------------------------------------------------------

uint64_t fm_shipping_lag(const fm_host *host)
{
    const fm_shipper *shipper = host->shipper;
    uint64_t tick = atomic_load(&host->copies.tick);
    if (shipper != NULL && shipper->copied >= atomic_load(&host->copies.position)) {
        return 0;
    }
    uint64_t copied = shipper == NULL ? 0 : shipper->copied_tick;
    return tick > copied ? tick - copied : 0;
}

static bool is_near(const fm_shipping *shipping)
{
    const fm_hub *hub = shipping->hub;
    bool near = shipping->has_ledger && shipping->ledger_copied == hub->ledger_version;
    for (uint32_t i = 0; i < hub->host_count && near; i++) {
        const fm_shipper *shipper = hub->hosts[i]->shipper;
        near =
            shipper != NULL && shipper->copied != 0 && fm_shipping_lag(hub->hosts[i]) <= NEAR_TICKS;
    }
    return near;
}

static void look_how_far(fm_shipping *shipping)
{
    if (shipping->state != FM_SHIPPING_IN_STEP && is_near(shipping)) {
        set_state(shipping, FM_SHIPPING_IN_STEP);
    }
}

// ---- for others --------------------------------------------------------------------------------

void fm_shipping_feed(fm_hub *hub)
{
    fm_shipping *shipping = hub->shipping;
    if (shipping == NULL || shipping->is_reading) {
        return;
    }
    end_shippers(shipping);
    if (!shipping->is_ledger_sent || shipping->ledger_sent != hub->ledger_version) {
        send_ledger(shipping);
    }
    look_how_far(shipping);
    if (shipping->unsaid_size > FM_SHIPPING_WINDOW || hub->host_count == 0) {
        return;
    }
    collect(shipping);
    shipping->is_reading = shipping->read_count > 0 &&
                           uv_queue_work(hub->loop, &shipping->work, read_journals, on_read) == 0;
}

void fm_shipping_have(fm_session *session, uint64_t number)
{
    fm_shipping *shipping = session->hub->shipping;
    if (shipping == NULL || shipping->session != session->number) {
        return;
    }
    while (shipping->unsaid.first != NULL && shipping->unsaid.first->number <= number) {
        fm_parcel *parcel = shipping->unsaid.first;
        shipping->unsaid.first = parcel->next;
        shipping->unsaid_size -= parcel->size;
        note_copied(shipping, parcel);
        free(parcel);
    }
    shipping->heard_ns = fm_clock_now_ns();
    if (shipping->state == FM_SHIPPING_LATE) {
        set_state(shipping, FM_SHIPPING_CATCHING_UP);
    }
    look_how_far(shipping);
    set_standby(session->hub);
    fm_shipping_feed(session->hub);
}

// Shows each side that the other is alive.
static void send_beat(fm_shipping *shipping)
{
    const fm_shipment shipment = {.kind = FM_SHIPMENT_BEAT};
    fm_parcels parcels = {0};
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&bytes, &shipment);
    (void)fm_parcels_put(&parcels, &bytes, &(fm_parcel){.world = UINT64_MAX});
    send_parcels(shipping, &parcels);
}

void fm_shipping_check_time(fm_hub *hub, uint64_t now_ns)
{
    fm_shipping *shipping = hub->shipping;
    if (shipping == NULL) {
        return;
    }
    uint64_t longest_ns = hub->config->replica_timeout_ms * FM_NS_PER_MS;
    if (shipping->unsaid.first != NULL && now_ns > shipping->heard_ns + longest_ns) {
        set_state(shipping, FM_SHIPPING_LATE);
    }
    fm_session *session = fm_hub_find_session(hub, shipping->session);
    if (shipping->unsaid.first != NULL && now_ns > shipping->heard_ns + 2 * longest_ns &&
        session != NULL) {
        fm_session_disconnect(session, "the standby does not say what it has"); // it comes again
        return;
    }
    if (now_ns > shipping->sent_ns + BEAT_NS) {
        send_beat(shipping);
    }
    fm_shipping_feed(hub); // what was broken is tried again
}

static void forget_copies(const fm_hub *hub)
{
    for (uint32_t i = 0; i < hub->host_count; i++) {
        atomic_store(&hub->hosts[i]->copies.copied, 0);
        hub->hosts[i]->shipper = NULL;
    }
}

static void end(fm_shipping *shipping)
{
    fm_hub *hub = shipping->hub;
    hub->shipping = NULL;
    forget_copies(hub);
    set_standby(hub);
    tell_state(hub, shipping->peer, FM_SHIPPING_NONE);
    shipping->is_over = true;
    if (!shipping->is_reading) {
        release(shipping);
    }
}

void fm_shipping_end_session(fm_session *session)
{
    fm_shipping *shipping = session->hub->shipping;
    if (shipping != NULL && shipping->session == session->number) {
        end(shipping);
    }
}

void fm_shipping_end(fm_hub *hub)
{
    if (hub->shipping != NULL) {
        end(hub->shipping);
    }
    hub->shipping_is_over = true;
    tell_waits(hub, true, false);
}

// A silent one, perhaps on a dead machine, is replaced by another.
static bool make_room(fm_hub *hub)
{
    if (hub->shipping != NULL && hub->shipping->state == FM_SHIPPING_LATE) {
        fm_session *session = fm_hub_find_session(hub, hub->shipping->session);
        end(hub->shipping);
        if (session != NULL) {
            fm_session_disconnect(session, "another standby follows");
        }
    }
    return hub->shipping == NULL;
}

fm_status fm_shipping_begin(fm_session *session, const void *places, size_t size, char *error)
{
    fm_hub *hub = session->hub;
    if (fm_conductor_journals(hub->conductor) == NULL || hub->standby != NULL ||
        hub->log_store != NULL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server %s",
                 hub->standby != NULL     ? "is a standby itself"
                 : hub->log_store != NULL ? "is a node of a cluster"
                                          : "keeps no journals: it has no journal_dir");
        return FM_ERR_NOT_READY;
    }
    if (!make_room(hub)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s follows this server already", hub->shipping->peer);
        return FM_ERR_BUSY;
    }
    fm_shipping *shipping = calloc(1, sizeof *shipping);
    if (shipping == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *shipping = (fm_shipping){.hub = hub,
                              .session = session->number,
                              .state = FM_SHIPPING_CATCHING_UP,
                              .heard_ns = fm_clock_now_ns()};
    shipping->work.data = shipping;
    snprintf(shipping->peer, sizeof shipping->peer, "%s", session->transport->peer);
    if (!take_places(shipping, places, size)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "journal.follow: 'data' is no list of places");
        release(shipping);
        return FM_ERR_BAD_VALUE;
    }
    forget_copies(hub);
    hub->shipping = shipping;
    set_standby(hub);
    tell_state(hub, shipping->peer, shipping->state);
    return FM_OK;
}

const char *fm_shipping_durability(const fm_hub *hub)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_DURABILITY_LIST(X)
#undef X
    };
    bool in_step = hub->shipping != NULL && hub->shipping->state == FM_SHIPPING_IN_STEP;
    if (!is_wished_for(hub) || in_step) {
        return names[hub->config->durability];
    }
    return is_waited_for(hub) ? "blocked" : "degraded";
}

fm_shipping_report fm_shipping_report_get(const fm_hub *hub)
{
    const fm_shipping *shipping = hub->shipping;
    fm_shipping_report report = {
        .state = shipping == NULL ? FM_SHIPPING_NONE : shipping->state,
        .peer = shipping == NULL ? "" : shipping->peer,
        .durability = fm_shipping_durability(hub),
    };
    for (uint32_t i = 0; shipping != NULL && i < hub->host_count; i++) {
        const fm_host *host = hub->hosts[i];
        const fm_shipper *shipper = host->shipper;
        uint64_t lag = fm_shipping_lag(host);
        uint64_t size = atomic_load(&host->copies.size);
        bool has_all = shipper != NULL && shipper->copied >= atomic_load(&host->copies.position);
        report.lag_ticks = lag > report.lag_ticks ? lag : report.lag_ticks;
        report.lag_size += has_all ? 0 : size - (shipper == NULL ? 0 : shipper->copied_size);
    }
    return report;
}
