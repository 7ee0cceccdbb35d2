// tests/sim/etcd/etcd.c: see etcd.h.

#include "tests/sim/etcd/etcd.h"

#include "server/cluster/etcd_link.h"
#include "server/cluster/world_log_state.h"
#include "tests/sim/bytes.h"
#include "tests/sim/etcd/etcd_log.h"
#include "tests/sim/etcd/etcd_past.h"
#include "tests/sim/memory.h"
#include "tests/sim/neighbour.h"
#include "tests/sim/rival.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX   256u
#define LINK_FIRST  8192 // number of the first one, above all descriptors
#define LATE_MAX_MS 2500u
#define HEAD_MAX    2048u

bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns);
void __wrap_fm_etcd_link_close(fm_etcd_link *link);
bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns);
size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns);
void __wrap_fm_etcd_link_wait(fm_etcd_link *const *links, uint32_t count, uint64_t until_ns,
                              bool *readable);
int __wrap_poll(struct pollfd *wanted, nfds_t count, int timeout_ms);

typedef enum fate {
    FATE_ANSWERED,
    FATE_REFUSED,       // not carried out
    FATE_DONE_REFUSED,  // carried out
    FATE_LOST,          // not carried out, no answer
    FATE_DONE_SILENTLY, // carried out, no answer
} fate;

// A connection and its request under way.
struct link {
    bool is_used, is_open; // a closed one stays while its request is under way
    bool is_broken;        // the server's end gets an error
    uint32_t member, node; // whom it connects
    sim_bytes request;
    sim_source source; // due: the request is carried out, or its answer arrives
    bool is_under_way, is_done;
    fate fate;
    char *answer; // owned
    size_t answer_size, given;
    uint64_t arrived_ns; // when the answer can be read; SIM_NEVER: not yet
};

static struct {
    sim_etcd_roughness rough;
    struct link links[LINKS_MAX];
    sim_source trouble, leases;
    uint64_t frozen_until_ns, full_until_ns;
    uint64_t cut_until_ns[SIM_NODES];
    uint64_t gone_until_ns[SIM_ETCD_MEMBERS];
    char waiter;    // what a task waits for that waits for several links
    int64_t looked; // revision at which a node looked last, for the bug old-look
} etcd;

static struct link *link_of(const fm_etcd_link *link)
{
    FM_ASSERT(link->fd >= LINK_FIRST && link->fd < LINK_FIRST + (int)LINKS_MAX);
    return &etcd.links[link->fd - LINK_FIRST];
}

static bool is_reached(const struct link *link)
{
    uint64_t now_ns = sim_now_ns();
    return now_ns >= etcd.cut_until_ns[link->node] && now_ns >= etcd.gone_until_ns[link->member];
}

static uint64_t draw_delay_ns(void)
{
    return (20 + sim_below(etcd.rough.delay_max_us + 1)) * SIM_NS_US;
}

// ---- requests ----------------------------------------------------------------------------------

static fate draw_fate(const struct link *link)
{
    const sim_etcd_roughness *rough = &etcd.rough;
    fate drawn = FATE_ANSWERED;
    if (!is_reached(link)) {
        drawn = FATE_LOST;
    } else if (sim_chance(rough->lost_permille)) {
        sim_note_fault(SIM_FAULT_REQUEST_LOST);
        drawn = FATE_LOST;
    } else if (sim_chance(rough->lost_answer_permille)) {
        sim_note_fault(SIM_FAULT_ANSWER_LOST);
        drawn = FATE_DONE_SILENTLY;
    } else if (sim_chance(rough->refused_permille)) {
        sim_note_fault(SIM_FAULT_UNAVAILABLE);
        drawn = sim_chance(500) ? FATE_REFUSED : FATE_DONE_REFUSED;
    }
    return drawn;
}

// Writes it as HTTP, with a length or in chunks.
static void set_answer(struct link *link, int code, const char *text)
{
    size_t size = strlen(text), half = size / 2;
    link->answer = sim_own_allocate(size + 256);
    if (sim_chance(300)) {
        link->answer_size =
            (size_t)sprintf(link->answer,
                            "HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n%.*s\r\n"
                            "%zx\r\n%s\r\n0\r\n\r\n",
                            code, half, (int)half, text, size - half, text + half);
    } else {
        link->answer_size = (size_t)sprintf(
            link->answer,
            "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n%s",
            code, size, sim_chance(10) ? "Connection: close\r\n" : "", text);
    }
    link->given = 0;
}

static void answer_with(struct link *link, int code, json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);
    FM_ASSERT(text != NULL);
    set_answer(link, code, text);
    free(text);
    json_decref(answer);
}

static void refuse(struct link *link)
{
    static const char *const reasons[] = {
        "{\"error\":\"etcdserver: leader changed\",\"message\":\"\",\"code\":14}",
        "{\"error\":\"etcdserver: request timed out\",\"message\":\"\",\"code\":2}",
        "{\"error\":\"context deadline exceeded\",\"message\":\"\",\"code\":4}",
        "upstream connect error",
    };
    set_answer(link, 503, reasons[sim_below(FM_COUNT_OF(reasons))]);
}

// Whether it is a look at the directory (server/cluster/node.c), which reads several ranges at
// once.
static bool is_look(const json_t *request)
{
    const json_t *first = json_array_get(json_object_get(request, "success"), 0);
    return json_object_get(json_object_get(first, "requestRange"), "range_end") != NULL;
}

// The bug: it names the revision of the look before.
static void make_old(json_t *request)
{
    size_t i;
    json_t *operation;
    json_array_foreach(json_object_get(request, "success"), i, operation)
    {
        json_object_set_new(json_object_get(operation, "requestRange"), "revision",
                            json_integer(etcd.looked));
    }
}

static void carry_out(struct link *link)
{
    char head[HEAD_MAX], path[64] = "";
    const char *bytes = (const char *)sim_bytes_front(&link->request);
    const char *body = memmem(bytes, sim_bytes_size(&link->request), "\r\n\r\n", 4);
    FM_ASSERT(body != NULL && (size_t)(body - bytes) < sizeof head);
    memcpy(head, bytes, (size_t)(body - bytes));
    head[body - bytes] = '\0';
    FM_ASSERT(sscanf(head, "POST /v3/%63s HTTP/1.1", path) == 1);
    size_t size = sim_bytes_size(&link->request) - (size_t)(body + 4 - bytes);
    json_t *request = json_loadb(body + 4, size, 0, NULL);
    FM_ASSERT(request != NULL);
    int code;
    bool shows_bug = sim_bug_planted == SIM_BUG_OLD_LOOK && is_look(request);
    if (shows_bug) {
        make_old(request);
    }
    (void)sim_etcd_end_leases(sim_now_ns());
    json_t *answer = sim_etcd_answer(path, request, sim_now_ns() < etcd.full_until_ns, &code);
    etcd.leases.due_ns = sim_etcd_end_leases(sim_now_ns());
    json_decref(request);
    if (shows_bug && code == 200) {
        etcd.looked = fm_etcd_number(json_object_get(answer, "header"), "revision");
    }
    if (link->fate == FATE_ANSWERED) {
        answer_with(link, code, answer);
    } else {
        json_decref(answer);
    }
}

static void end_link(struct link *link)
{
    sim_source_remove(&link->source);
    sim_bytes_fini(&link->request);
    sim_own_release(link->answer);
    *link = (struct link){.is_used = false};
}

// The answer, or the end of the connection, arrives.
static void arrive(struct link *link)
{
    link->source.due_ns = SIM_NEVER;
    link->is_under_way = false;
    sim_bytes_drop(&link->request, sim_bytes_size(&link->request));
    if (!link->is_open) {
        end_link(link);
        return;
    }
    bool comes = is_reached(link) && link->answer != NULL;
    if (comes) {
        link->arrived_ns = sim_now_ns();
    } else if (sim_chance(500)) {
        link->is_broken = true; // else it stays silent
    }
    sim_wake(link);
    sim_wake(&etcd.waiter);
}

static void on_due(void *owner)
{
    struct link *link = owner;
    bool is_done_now = link->fate != FATE_LOST && link->fate != FATE_REFUSED;
    if (link->is_done) {
        arrive(link);
        return;
    }
    if (is_done_now && sim_now_ns() < etcd.frozen_until_ns) {
        link->source.due_ns = etcd.frozen_until_ns + draw_delay_ns();
        return;
    }
    if (is_done_now) {
        carry_out(link);
    }
    if (link->fate == FATE_REFUSED || link->fate == FATE_DONE_REFUSED) {
        refuse(link);
    }
    link->is_done = true;
    link->source.due_ns = sim_now_ns() + draw_delay_ns();
}

static bool is_whole(const sim_bytes *request)
{
    const char *bytes = (const char *)sim_bytes_front(request);
    size_t size = sim_bytes_size(request);
    const char *end = memmem(bytes, size, "\r\n\r\n", 4);
    const char *length = end == NULL ? NULL : memmem(bytes, size, "Content-Length: ", 16);
    return length != NULL && size - (size_t)(end + 4 - bytes) >= strtoull(length + 16, NULL, 10);
}

static void begin_request(struct link *link)
{
    link->fate = draw_fate(link);
    link->is_under_way = true;
    link->is_done = false;
    link->arrived_ns = SIM_NEVER;
    sim_own_release(link->answer);
    link->answer = NULL;
    uint64_t delay_ns = draw_delay_ns();
    if (sim_chance(etcd.rough.late_permille)) {
        sim_note_fault(SIM_FAULT_REQUEST_LATE);
        delay_ns += sim_below(LATE_MAX_MS) * SIM_NS_MS;
    }
    link->source.due_ns = sim_now_ns() + delay_ns;
}

// ---- the server's end --------------------------------------------------------------------------

bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns)
{
    (void)access, (void)port;
    uint32_t i = 0;
    *link = (fm_etcd_link){.fd = -1};
    while (i < LINKS_MAX && etcd.links[i].is_used) {
        i++;
    }
    FM_ASSERT(sim_etcd != NULL && i < LINKS_MAX);
    struct link *opened = &etcd.links[i];
    *opened = (struct link){.is_used = true,
                            .is_open = true,
                            .node = sim_node(),
                            .member = (uint32_t)(host[strlen(host) - 1] - '1') % SIM_ETCD_MEMBERS,
                            .arrived_ns = SIM_NEVER};
    opened->source = (sim_source){.due_ns = SIM_NEVER, .happen = on_due, .owner = opened};
    sim_source_add(&opened->source);
    sim_wait(opened, sim_now_ns() + draw_delay_ns());
    if (!is_reached(opened)) {
        if (sim_chance(500)) {
            sim_wait(opened, deadline_ns);
        }
        end_link(opened);
        return false;
    }
    link->fd = LINK_FIRST + (int)i;
    return true;
}

void __wrap_fm_etcd_link_close(fm_etcd_link *link)
{
    if (link->fd >= 0) {
        struct link *closed = link_of(link);
        closed->is_open = false;
        if (!closed->is_under_way) {
            end_link(closed);
        }
        link->fd = -1;
    }
}

bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns)
{
    (void)deadline_ns;
    struct link *used = link_of(link);
    sim_preempt();
    if (used->is_broken) {
        return false;
    }
    FM_ASSERT(!used->is_under_way);
    sim_bytes_append(&used->request, bytes, size);
    if (is_whole(&used->request)) {
        begin_request(used);
    }
    return true;
}

size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns)
{
    struct link *used = link_of(link);
    while (used->arrived_ns > sim_now_ns() && !used->is_broken && sim_now_ns() < deadline_ns) {
        (void)sim_wait(used, deadline_ns);
    }
    size_t left = used->arrived_ns > sim_now_ns() ? 0 : used->answer_size - used->given;
    size_t count = left > 1 && sim_chance(200) ? 1 + sim_below((uint32_t)left - 1) : left;
    count = count < size ? count : size;
    if (count > 0) {
        memcpy(bytes, used->answer + used->given, count);
        used->given += count;
    }
    return count;
}

static bool find_readable(fm_etcd_link *const *links, uint32_t count, bool *readable)
{
    bool any = count == 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct link *used = links[i]->fd < 0 ? NULL : link_of(links[i]);
        readable[i] = used != NULL && (used->arrived_ns <= sim_now_ns() || used->is_broken);
        any |= readable[i];
    }
    return any;
}

void __wrap_fm_etcd_link_wait(fm_etcd_link *const *links, uint32_t count, uint64_t until_ns,
                              bool *readable)
{
    while (!find_readable(links, count, readable) && sim_now_ns() < until_ns) {
        (void)sim_wait(&etcd.waiter, until_ns);
    }
}

// Only to sleep.
int __wrap_poll(struct pollfd *wanted, nfds_t count, int timeout_ms)
{
    static const char sleeper;
    (void)wanted;
    FM_ASSERT(count == 0 && timeout_ms >= 0);
    sim_wait(&sleeper, sim_now_ns() + (uint64_t)timeout_ms * SIM_NS_MS);
    return 0;
}

// ---- troubles ----------------------------------------------------------------------------------

static void freeze(uint64_t now_ns)
{
    etcd.frozen_until_ns = now_ns + sim_between(20, etcd.rough.freeze_max_ms) * SIM_NS_MS;
    sim_etcd_extend_leases(etcd.frozen_until_ns);
    etcd.leases.due_ns = sim_etcd_end_leases(now_ns);
    sim_note_fault(SIM_FAULT_FROZEN);
    sim_trace("etcd is frozen until %" PRIu64, etcd.frozen_until_ns);
}

// One node, or both.
static void cut_off(uint64_t now_ns)
{
    uint64_t until_ns = now_ns + sim_between(20, etcd.rough.cut_max_ms) * SIM_NS_MS;
    uint32_t which = sim_neighbour_lives() ? sim_between(1, 3) : 1; // a set of nodes
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        etcd.cut_until_ns[i] = (which >> i & 1) != 0 ? until_ns : etcd.cut_until_ns[i];
    }
    sim_note_fault(SIM_FAULT_CUT_OFF);
    sim_trace("etcd is not reached until %" PRIu64, until_ns);
}

static bool is_cut_off(uint64_t now_ns)
{
    bool any = false;
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        any |= now_ns < etcd.cut_until_ns[i];
    }
    return any;
}

static void on_trouble(void *owner)
{
    (void)owner;
    uint64_t now_ns = sim_now_ns();
    if (etcd.rough.calm_max_ms == 0) {
        etcd.trouble.due_ns = SIM_NEVER;
        return;
    }
    etcd.trouble.due_ns = now_ns + sim_between(1, etcd.rough.calm_max_ms) * SIM_NS_MS;
    switch (sim_below(8)) {
    case 0:
    case 1:
        if (!is_cut_off(now_ns)) {
            freeze(now_ns);
        }
        break;
    case 2:
    case 3:
    case 4:
        if (now_ns >= etcd.frozen_until_ns) {
            cut_off(now_ns);
        }
        break;
    case 5:
    case 6:
        etcd.gone_until_ns[sim_below(SIM_ETCD_MEMBERS)] = now_ns + sim_between(1, 1500) * SIM_NS_MS;
        sim_note_fault(SIM_FAULT_MEMBER_GONE);
        break;
    default:
        etcd.full_until_ns = now_ns + sim_between(1, 1500) * SIM_NS_MS;
        sim_note_fault(SIM_FAULT_ETCD_FULL);
        break;
    }
}

static void on_lease(void *owner)
{
    (void)owner;
    etcd.leases.due_ns = sim_etcd_end_leases(sim_now_ns());
}

// ---- beginning and end -------------------------------------------------------------------------

void sim_etcd_begin(uint64_t seed)
{
    sim_etcd_past_begin(seed);
    json_object_seed(1);
    sim_etcd_on_put = sim_etcd_log_put;
    sim_etcd_on_remove = sim_etcd_log_removed;
    for (uint32_t i = 0; i < SIM_ETCD_LEASES_MAX; i++) {
        sim_etcd_lease *lease = &sim_etcd->leases[i];
        uint64_t left_ns =
            lease->ends_ns > sim_etcd->left_ns ? lease->ends_ns - sim_etcd->left_ns : 0;
        lease->ends_ns = sim_now_ns() + left_ns;
    }
    etcd.trouble = (sim_source){.due_ns = SIM_NEVER, .happen = on_trouble};
    etcd.leases = (sim_source){.due_ns = sim_now_ns(), .happen = on_lease};
    sim_source_add(&etcd.trouble);
    sim_source_add(&etcd.leases);
    etcd.rough = (sim_etcd_roughness){.delay_max_us = 500};
    sim_rival_begin();
}

void sim_etcd_leave(void)
{
    sim_etcd->left_ns = sim_now_ns();
}

void sim_etcd_set_rough(const sim_etcd_roughness *rough)
{
    uint64_t now_ns = sim_now_ns();
    etcd.rough = *rough;
    if (rough->calm_max_ms == 0) {
        etcd.frozen_until_ns = etcd.full_until_ns = now_ns;
        memset(etcd.cut_until_ns, 0, sizeof etcd.cut_until_ns);
        memset(etcd.gone_until_ns, 0, sizeof etcd.gone_until_ns);
    } else {
        etcd.trouble.due_ns = now_ns;
    }
    sim_rival_set(rough->has_rival, rough->has_moves);
}

bool sim_etcd_is_in_trouble(void)
{
    uint64_t now_ns = sim_now_ns();
    return now_ns < etcd.frozen_until_ns || is_cut_off(now_ns);
}

static bool is_below(uint32_t key, const char *prefix)
{
    return key < sim_etcd->key_count &&
           strncmp(sim_etcd->keys[key].name, prefix, strlen(prefix)) == 0;
}

uint32_t sim_etcd_world_count(void)
{
    static const char prefix[] = "/fogmarch/" SIM_ETCD_CLUSTER "/owner/";
    uint32_t first = sim_etcd_first(prefix), count = 0;
    while (is_below(first + count, prefix)) {
        count++;
    }
    return count;
}

uint32_t sim_etcd_reserved_count(void)
{
    static const char prefix[] = "/fogmarch/" SIM_ETCD_CLUSTER "/names/";
    uint32_t count = 0;
    for (uint32_t i = sim_etcd_first(prefix); is_below(i, prefix); i++) {
        uint64_t number = strtoull((const char *)sim_etcd->keys[i].value, NULL, 10);
        count += sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, number) == NULL;
    }
    return count;
}
