// tests/sim/audit.c: see audit.h.

#include "tests/sim/audit.h"

#include "tests/sim/actions.h"
#include "tests/sim/actors.h"
#include "tests/sim/etcd/etcd.h"
#include "tests/sim/ledger.h"
#include "tests/sim/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CALL_LIMIT_NS   (20 * SIM_NS_S)
#define TRIES_MAX       200u // of a call that is refused as busy
#define RETURN_LIMIT_NS (30 * SIM_NS_S)
#define QUIET_LIMIT_NS  (60 * SIM_NS_S)
#define SETTLE_NS       (1500 * SIM_NS_MS) // for deltas that are still under way
#define SAVED_MAX       (SIM_ACTORS_MAX * SIM_VIEWS_MAX)

sim_audit_sums sim_audit_counts;

// A view as its client's mirror showed it.
struct saved {
    sim_actor *actor;
    fm_mirror mirror; // taken over
    bool is_first;    // the auditor's, from the beginning
};

static struct {
    bool is_broken; // the auditor was disconnected: its subscription has a gap
    uint64_t world; // that stays
    uint64_t subscription;
    struct saved saved[SAVED_MAX];
    uint32_t saved_count;
    uint64_t ended[SIM_ENDED_MAX]; // as the auditor was notified
    uint32_t ended_count;
} audit;

static sim_client *auditor(void)
{
    return &sim_actors[0].client;
}

// ---- waiting -----------------------------------------------------------------------------------

static bool is_past(void *context)
{
    return sim_now_ns() >= *(const uint64_t *)context;
}

static void settle(uint64_t ns)
{
    uint64_t end_ns = sim_now_ns() + ns;
    sim_run(is_past, &end_ns, end_ns + SIM_NS_S, "settling");
}

static bool is_answered(void *context)
{
    sim_client *client = context;
    return client->connection == NULL || client->request_count == 0;
}

static bool all_are_quiet(void *context)
{
    (void)context;
    return sim_actors_are_quiet();
}

// Sends a request with the parameters that are set and waits for its answer. The client must have
// no other open request. @return the answer's status; FM_ERR_IO: the connection is gone
static fm_status call(sim_client *client, fm_method method, uint64_t world, uint64_t number)
{
    sim_client_ask(client, method, world, number, false);
    sim_run(is_answered, client, sim_now_ns() + CALL_LIMIT_NS, fm_method_name(method));
    return client->connection == NULL ? FM_ERR_IO : sim_auditor_heard.status;
}

// Whether to try again: the server is busy, or the disk has just failed.
static bool is_passing(fm_status status)
{
    bool may_be_away = status == FM_ERR_MOVED || status == FM_ERR_NO_WORLD ||
                       status == FM_ERR_NOT_READY || status == FM_ERR_GOING_DOWN;
    return status == FM_ERR_BUSY || (sim_etcd != NULL && may_be_away) ||
           (status == FM_ERR_IO && auditor()->connection != NULL);
}

// Calls as the auditor, about a world, and again while the answer is busy.
static fm_status ask_world(fm_method method, uint64_t world)
{
    fm_status status = FM_ERR_BUSY;
    for (uint32_t i = 0; i < TRIES_MAX && is_passing(status); i++) {
        if (world != 0) {
            fm_params_uint(&auditor()->params, FM_FIELD_WORLD, world);
        }
        status = call(auditor(), method, world, 0);
        if (is_passing(status) && auditor()->connection != NULL) {
            settle(50 * SIM_NS_MS);
        }
    }
    return status;
}

static void must(fm_status status, const char *what)
{
    if (status != FM_OK) {
        sim_fail("the auditor: %s: %s", what, fm_status_text(status));
    }
}

// ---- the beginning -----------------------------------------------------------------------------

static void spawn(uint32_t team)
{
    const sim_world *world = sim_book_world(audit.world);
    uint64_t cells[16];
    for (uint32_t i = 0; i < FM_COUNT_OF(cells); i += 2) {
        cells[i] = sim_below(world->width);
        cells[i + 1] = sim_below(world->height);
    }
    fm_params_uint(&auditor()->params, FM_FIELD_WORLD, audit.world);
    fm_params_uint(&auditor()->params, FM_FIELD_TEAM, team);
    fm_params_uints(&auditor()->params, FM_FIELD_CELLS, cells, FM_COUNT_OF(cells));
    fm_params_text(&auditor()->params, FM_FIELD_PLACE, "nearest");
    (void)call(auditor(), FM_METHOD_AGENT_SPAWN, audit.world, team); // there may be no room
}

// Puts the worlds that came back after a crash into the book; their old orders are not audited.
static void remember_worlds(void)
{
    must(ask_world(FM_METHOD_WORLD_LIST, 0), "world.list");
    for (uint32_t i = 0; i < sim_told->book.world_count; i++) {
        const sim_world *world = &sim_told->book.worlds[i];
        for (uint32_t k = 0; k < sim_auditor_heard.world_count; k++) {
            if (sim_auditor_heard.worlds[k] == world->number) {
                sim_world *known = &sim_known.worlds[sim_known.world_count++];
                memcpy(known, world, sizeof *known);
                known->given_count = 0;
            }
        }
    }
}

static void make_kept_world(void)
{
    sim_act_create(auditor(), "kept", true);
    sim_run(is_answered, auditor(), sim_now_ns() + CALL_LIMIT_NS, "the auditor's world");
    must(sim_auditor_heard.status, "world.create");
    sim_world *made = &sim_known.worlds[sim_known.world_count - 1];
    made->is_kept = true;
    sim_told->kept_world = made->number;
}

void sim_audit_begin(const sim_plan *plan)
{
    (void)plan;
    sim_actor_open(&sim_actors[0], true);
    sim_run(is_answered, auditor(), sim_now_ns() + CALL_LIMIT_NS, "the auditor's hello");
    if (sim_told->life > 0) {
        remember_worlds();
    }
    if (sim_book_world(sim_told->kept_world) == NULL) {
        make_kept_world();
    }
    audit.world = sim_told->kept_world;
    must(ask_world(FM_METHOD_SUBSCRIBE, audit.world), "subscribe");
    audit.subscription = auditor()->views[0]->number;
    must(ask_world(FM_METHOD_TEAM_CREATE, audit.world), "team.create");
    must(ask_world(FM_METHOD_TEAM_CREATE, audit.world), "team.create");
    spawn(1);
    spawn(2);
}

// ---- saving ------------------------------------------------------------------------------------

static void save_view(sim_actor *actor, sim_view *view)
{
    if (view->mirror.keyframes == 0) {
        if (sim_memory_failures() == 0) {
            sim_fail("client %u: subscription %" PRIu64 " never got a keyframe",
                     actor->client.index, view->number);
        }
        return;
    }
    FM_ASSERT(audit.saved_count < SAVED_MAX);
    bool is_first = actor == &sim_actors[0] && view->number == audit.subscription;
    audit.saved[audit.saved_count++] =
        (struct saved){.actor = actor, .mirror = view->mirror, .is_first = is_first};
    if (is_first) {
        memcpy(audit.ended, view->ended, view->ended_count * sizeof *view->ended);
        audit.ended_count = view->ended_count;
    }
    fm_mirror_init(&view->mirror, view->number, view->mirror.ops, view);
}

// Saves and ends all views, so that the server forgets what they showed.
static void save_views(void)
{
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        sim_actor *actor = &sim_actors[i];
        for (uint32_t k = 0; actor->is_open && k < actor->client.view_count; k++) {
            save_view(actor, actor->client.views[k]);
        }
    }
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        sim_client *client = &sim_actors[i].client;
        while (sim_actors[i].is_open && client->view_count > 0) {
            uint32_t before = client->view_count;
            fm_params_uint(&client->params, FM_FIELD_SUBSCRIPTION, client->views[0]->number);
            call(client, FM_METHOD_UNSUBSCRIBE, 0, client->views[0]->number);
            if (client->view_count == before) {
                settle(50 * SIM_NS_MS); // busy
            }
        }
    }
    settle(SIM_NS_S / 2);
}

// ---- comparing ---------------------------------------------------------------------------------

static bool has_keyframe(void *context)
{
    const sim_view *view = context;
    return view->mirror.keyframes > 0;
}

static void put_rect(sim_client *client, const fm_rect *rect)
{
    uint64_t numbers[4] = {rect->x, rect->y, rect->width, rect->height};
    fm_params_uints(&client->params, FM_FIELD_RECT, numbers, 4);
}

// @return NULL when the client is gone
static sim_view *subscribe_again(const struct saved *saved)
{
    sim_client *client = &saved->actor->client;
    for (uint32_t i = 0; i < TRIES_MAX && client->connection != NULL; i++) {
        fm_params_uint(&client->params, FM_FIELD_WORLD, saved->mirror.world);
        fm_params_uint(&client->params, FM_FIELD_TEAM, saved->mirror.team);
        put_rect(client, &saved->mirror.rect);
        call(client, FM_METHOD_SUBSCRIBE, saved->mirror.world, 0);
        if (client->view_count > 0) {
            sim_view *view = client->views[client->view_count - 1];
            sim_run(has_keyframe, view, sim_now_ns() + CALL_LIMIT_NS, "a keyframe");
            return view;
        }
        settle(50 * SIM_NS_MS); // busy
    }
    if (client->connection != NULL) {
        sim_fail("client %u cannot subscribe again to team %" PRIu64 " of world %" PRIu64,
                 client->index, saved->mirror.team, saved->mirror.world);
    }
    return NULL;
}

// Aliases of other teams' agents belong to one view, so such agents are compared without their ids.
static bool has_same_agent(const fm_mirror *mirror, const fm_mirror_agent *wanted, bool by_id)
{
    for (uint32_t i = 0; i < mirror->agent_count; i++) {
        const fm_mirror_agent *agent = &mirror->agents[i];
        if ((agent->id == wanted->id || !by_id) && agent->team == wanted->team &&
            agent->cell == wanted->cell && agent->state == wanted->state &&
            agent->class_index == wanted->class_index) {
            return true;
        }
    }
    return false;
}

static bool has_same_building(const fm_mirror *mirror, const fm_building_look *wanted)
{
    for (uint32_t i = 0; i < mirror->building_count; i++) {
        if (memcmp(&mirror->buildings[i].rect, &wanted->rect, sizeof wanted->rect) == 0) {
            return true;
        }
    }
    return false;
}

static void differ(const struct saved *saved, const char *what, uint64_t which)
{
    sim_fail("client %u: what it was told of team %" PRIu64 " of world %" PRIu64
             " as of tick %" PRIu64 ", %u agents, is not so: %s %" PRIu64,
             saved->actor->client.index, saved->mirror.team, saved->mirror.world,
             saved->mirror.tick, saved->mirror.agent_count, what, which);
}

static void compare(const struct saved *saved, const fm_mirror *now)
{
    const fm_mirror *then = &saved->mirror;
    bool veiled = saved->actor->client.role == FM_ROLE_PLAYER;
    if (then->agent_count != now->agent_count) {
        differ(saved, "agents, now", now->agent_count);
    }
    for (uint32_t i = 0; i < then->agent_count; i++) {
        bool by_id = !veiled || then->agents[i].team == saved->actor->client.seat_team;
        if (!has_same_agent(now, &then->agents[i], by_id)) {
            differ(saved, "agent", then->agents[i].id);
        }
    }
    uint32_t cell_count = then->rect.width * then->rect.height;
    for (uint32_t i = 0; i < cell_count; i++) {
        if (then->looks[i] != now->looks[i]) {
            differ(saved, "cell", i);
        }
    }
    if (then->building_count != now->building_count) {
        differ(saved, "buildings, now", now->building_count);
    }
    for (uint32_t i = 0; i < then->building_count; i++) {
        if (!has_same_building(now, &then->buildings[i])) {
            differ(saved, "building", then->buildings[i].id);
        }
    }
    sim_audit_counts.views++;
}

static void compare_views(void)
{
    for (uint32_t i = 0; i < audit.saved_count; i++) {
        struct saved *saved = &audit.saved[i];
        sim_client *client = &saved->actor->client;
        sim_view *view = client->connection == NULL ? NULL : subscribe_again(saved);
        if (view != NULL) {
            compare(saved, &view->mirror);
        }
        if (view != NULL && !saved->is_first) {
            while (client->connection != NULL && client->view_count > (client == auditor())) {
                fm_params_uint(&client->params, FM_FIELD_SUBSCRIPTION, view->number);
                call(client, FM_METHOD_UNSUBSCRIBE, 0, view->number);
            }
        }
    }
    for (uint32_t i = 0; i < audit.saved_count; i++) {
        fm_mirror_fini(&audit.saved[i].mirror);
    }
}

// ---- orders ------------------------------------------------------------------------------------

static void remove_agents(const fm_mirror *mirror)
{
    uint64_t agents[100]; // fit into the smallest message_size_max
    uint32_t count = 0;
    for (uint32_t i = 0; i < mirror->agent_count && count < FM_COUNT_OF(agents); i++) {
        agents[count++] = mirror->agents[i].id;
    }
    if (count > 0) {
        fm_params_uint(&auditor()->params, FM_FIELD_WORLD, audit.world);
        fm_params_uints(&auditor()->params, FM_FIELD_AGENTS, agents, count);
        fm_status status = call(auditor(), FM_METHOD_AGENT_REMOVE, audit.world, 0);
        must(is_passing(status) ? FM_OK : status, "agent.remove");
    }
}

static void must_have_ended(uint64_t order)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < audit.ended_count; i++) {
        times += audit.ended[i] == order;
    }
    if (times != 1) {
        sim_fail("order %" PRIu64 " of world %" PRIu64 " ended %u times", order, audit.world,
                 times);
    }
    sim_audit_counts.orders++;
}

static void audit_orders(void)
{
    sim_view *view = auditor()->view_count > 0 ? auditor()->views[0] : NULL;
    if (view == NULL || audit.is_broken) {
        return;
    }
    while (view->mirror.agent_count > 0) {
        remove_agents(&view->mirror);
        must(ask_world(FM_METHOD_WORLD_STEP, audit.world), "world.step");
        settle(SIM_NS_S / 2);
    }
    for (uint32_t i = 0; i < view->ended_count; i++) {
        FM_ASSERT(audit.ended_count < SIM_ENDED_MAX);
        audit.ended[audit.ended_count++] = view->ended[i];
    }
    const sim_world *world = sim_book_world(audit.world);
    for (uint32_t i = 0; i < world->given_count; i++) {
        for (uint32_t k = 0; k < world->given[i].count; k++) {
            must_have_ended(world->given[i].first + k);
        }
    }
}

// ---- the end -----------------------------------------------------------------------------------

// Waits until this node has all worlds of the cluster.
static void gather_worlds(void)
{
    uint64_t limit_ns = sim_now_ns() + RETURN_LIMIT_NS;
    while (sim_etcd != NULL) {
        must(ask_world(FM_METHOD_WORLD_LIST, 0), "world.list");
        if (sim_auditor_heard.world_count >= sim_etcd_world_count() &&
            sim_etcd_reserved_count() == 0) {
            return;
        }
        if (sim_now_ns() > limit_ns) {
            sim_fail("etcd has %u worlds and %u names without one, and the node %u",
                     sim_etcd_world_count(), sim_etcd_reserved_count(),
                     sim_auditor_heard.world_count);
        }
        settle(100 * SIM_NS_MS);
    }
}

static void stop_worlds(void)
{
    must(ask_world(FM_METHOD_WORLD_LIST, 0), "world.list");
    for (uint32_t i = 0; i < sim_auditor_heard.world_count; i++) {
        must(ask_world(FM_METHOD_WORLD_PAUSE, sim_auditor_heard.worlds[i]), "world.pause");
    }
    for (uint32_t i = 0; i < sim_auditor_heard.world_count; i++) {
        must(ask_world(FM_METHOD_WORLD_STEP, sim_auditor_heard.worlds[i]), "world.step");
    }
    settle(SETTLE_NS);
}

// The server may have had no memory for the auditor. Others may have all places then, and some of
// them have vanished: the server gives these up after a time.
static void come_back(void)
{
    uint64_t limit_ns = sim_now_ns() + RETURN_LIMIT_NS;
    while (!sim_actors[0].is_open) {
        if (sim_now_ns() > limit_ns) {
            sim_fail("the server has no place for the auditor");
        }
        audit.is_broken = true;
        sim_actor_open(&sim_actors[0], true);
        sim_run(is_answered, auditor(), sim_now_ns() + CALL_LIMIT_NS, "the auditor's hello");
        if (!sim_actors[0].is_open) {
            settle(1000 * SIM_NS_MS);
        }
    }
}

void sim_audit_end(void)
{
    sim_run(all_are_quiet, NULL, sim_now_ns() + QUIET_LIMIT_NS, "all answers");
    settle(SETTLE_NS); // the server still handles what disconnected clients sent
    come_back();
    if (sim_client_view(auditor(), audit.subscription) == NULL) { // its world was elsewhere
        audit.is_broken = true;
    }
    gather_worlds();
    stop_worlds();
    save_views();
    compare_views();
    audit_orders();
}
