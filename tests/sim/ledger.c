// tests/sim/ledger.c: see ledger.h.

#include "tests/sim/ledger.h"

#include "tests/sim/etcd/etcd_store.h"

#include <inttypes.h>
#include <string.h>

sim_ledger *sim_told;

static sim_ledger_world *world_of(uint64_t number)
{
    return number < SIM_LEDGER_WORLDS_MAX ? &sim_told->worlds[number] : NULL;
}

void sim_ledger_tick(uint64_t number, uint64_t tick, uint64_t digest)
{
    sim_ledger_world *world = world_of(number);
    if (world != NULL && world->is_ended && sim_node() == 0) {
        sim_fail("world %" PRIu64 " runs tick %" PRIu64 ", and a client was told that it has ended",
                 number, tick);
    }
    if (world != NULL) {
        world->ticks[sim_node()][tick % SIM_LEDGER_TICKS_MAX] = tick;
        world->digests[sim_node()][tick % SIM_LEDGER_TICKS_MAX] = digest;
    }
}

// As any node has computed it, if one has.
static bool is_digest(const sim_ledger_world *world, uint64_t tick, uint64_t digest)
{
    uint64_t at = tick % SIM_LEDGER_TICKS_MAX;
    bool is_known = false;
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        if (world->ticks[i][at] == tick && world->digests[i][at] == digest) {
            return true;
        }
        is_known |= world->ticks[i][at] == tick;
    }
    return !is_known;
}

bool sim_ledger_is_digest(uint64_t number, uint64_t tick, uint64_t digest)
{
    const sim_ledger_world *world = world_of(number);
    return world == NULL || is_digest(world, tick, digest);
}

void sim_ledger_hear(uint64_t number, uint64_t tick)
{
    sim_ledger_world *world = world_of(number);
    if (world != NULL && tick > world->tick_told) {
        world->tick_told = tick;
    }
}

// Nobody else ends a world, so that it must be gone from etcd the moment that anybody hears of it.
void sim_ledger_hear_end(uint64_t number)
{
    sim_ledger_world *world = world_of(number);
    if (world == NULL || sim_etcd == NULL) {
        return;
    }
    if (sim_etcd_find("owner/%016" PRIx64, number) != NULL) {
        sim_fail("world %" PRIu64 " has ended, a client hears, and it is in etcd", number);
    }
    world->is_ended = true;
}

void sim_ledger_ask(const sim_request *request)
{
    sim_ledger_world *world = world_of(request->world);
    if (world != NULL && request->method == FM_METHOD_WORLD_DESTROY) {
        world->is_ending = true;
    }
}

// Answers to different clients overtake each other, so ids are only compared with those that were
// given before the world came back, and only if they were asked for afterwards.
static bool is_asked_since(const sim_ledger_world *world, const sim_request *request)
{
    return request->asked_ns >= world->back_ns;
}

static void learn_orders(uint64_t number, sim_ledger_world *world, const sim_request *request,
                         const msgpack_object *result)
{
    uint64_t first = fm_object_uint(result, "order", 0);
    uint64_t count = fm_object_uint(result, "count", 0);
    if (first == 0 || count == 0) {
        return;
    }
    if (first <= world->order_before && is_asked_since(world, request)) {
        sim_fail("world %" PRIu64 ": order %" PRIu64 " is given a second time, up to %" PRIu64
                 " were told",
                 number, first, world->order_before);
    }
    uint64_t last = first + count - 1;
    world->order_told = last > world->order_told ? last : world->order_told;
}

static void learn_agents(uint64_t number, sim_ledger_world *world, const sim_request *request,
                         const msgpack_object *result)
{
    fm_numbers ids = fm_object_numbers(result, "agents");
    for (uint32_t i = 0; i < ids.count; i++) {
        uint64_t id = fm_numbers_at(ids, i);
        uint32_t before = is_asked_since(world, request) ? world->agent_before : 0;
        for (uint32_t k = 0; k < before; k++) {
            if (world->agents[k] == id) {
                sim_fail("world %" PRIu64 ": agent %" PRIu64 " is given a second time", number, id);
            }
        }
        if (world->agent_count < SIM_LEDGER_AGENTS_MAX) {
            world->agents[world->agent_count++] = id;
        }
    }
}

static void learn_team(uint64_t number, sim_ledger_world *world, const sim_request *request,
                       const msgpack_object *result)
{
    uint64_t team = fm_object_uint(result, "team", 0);
    if (team != 0 && team <= world->team_before && is_asked_since(world, request)) {
        sim_fail("world %" PRIu64 ": team %" PRIu64 " is made a second time", number, team);
    }
    world->team_told = team > world->team_told ? team : world->team_told;
}

void sim_ledger_answer(const sim_request *request, const msgpack_object *result)
{
    if (request->method == FM_METHOD_WORLD_CREATE) {
        sim_ledger_world *made = world_of(fm_object_uint(result, "world", 0));
        if (made != NULL) {
            memset(made, 0, sizeof *made);
            made->is_told = true;
        }
        return;
    }
    sim_ledger_world *world = world_of(request->world);
    if (world == NULL) {
        return;
    }
    if (request->method == FM_METHOD_AGENT_ORDER && request->number == 0) {
        learn_orders(request->world, world, request, result);
    } else if (request->method == FM_METHOD_AGENT_SPAWN) {
        learn_agents(request->world, world, request, result);
    } else if (request->method == FM_METHOD_TEAM_CREATE) {
        learn_team(request->world, world, request, result);
    }
}

// What was told up to now must not be given again.
static void note_before(sim_ledger_world *world)
{
    world->order_before = world->order_told;
    world->team_before = world->team_told;
    world->agent_before = world->agent_count;
}

void sim_ledger_close(bool keeps_promises)
{
    sim_told->life++;
    sim_told->keeps_promises = keeps_promises;
    sim_told->book = sim_known;
    for (uint32_t i = 0; i < SIM_LEDGER_WORLDS_MAX; i++) {
        sim_ledger_world *world = &sim_told->worlds[i];
        world->is_back = false;
        world->back_ns = 0;
        note_before(world);
    }
}

void sim_ledger_compare(uint64_t number, uint64_t tick, uint64_t digest)
{
    sim_ledger_world *world = world_of(number);
    if (world == NULL) {
        return;
    }
    if (sim_etcd != NULL) { // perhaps it was elsewhere meanwhile
        world->back_ns = sim_now_ns();
        note_before(world);
    }
    world->is_back = true;
    if (world->is_ended) {
        sim_fail("world %" PRIu64 " is back, and a client was told that it has ended", number);
    }
    if (sim_told->keeps_promises && !world->is_ending && tick < world->tick_told) {
        sim_fail("world %" PRIu64 " is back at tick %" PRIu64 ", but clients heard of %" PRIu64,
                 number, tick, world->tick_told);
    }
    if (tick > 0 && !is_digest(world, tick, digest)) {
        sim_fail("world %" PRIu64 " is back at tick %" PRIu64 " with digest %016" PRIx64
                 ", but had another",
                 number, tick, digest);
    }
    if (!sim_told->keeps_promises || world->is_ending) { // lost numbers may be given again
        world->tick_told = tick;
        world->order_before = world->team_before = world->agent_before = 0;
    }
}

static bool is_missing(const sim_ledger_world *world)
{
    return world->is_told && !world->is_back && !world->is_ending && sim_told->keeps_promises;
}

bool sim_ledger_are_all_back(void)
{
    for (uint32_t i = 0; i < SIM_LEDGER_WORLDS_MAX; i++) {
        if (is_missing(&sim_told->worlds[i])) {
            return false;
        }
    }
    return true;
}

void sim_ledger_complete(void)
{
    for (uint32_t i = 0; i < SIM_LEDGER_WORLDS_MAX; i++) {
        sim_ledger_world *world = &sim_told->worlds[i];
        if (is_missing(world)) {
            sim_fail("world %u has not come back", i);
        }
        if (!world->is_back) {               // another world may get its number
            bool is_ended = world->is_ended; // there, in a cluster, none does
            memset(world, 0, sizeof *world);
            world->is_ended = is_ended;
        }
    }
}
