// tests/sim/actors.c: see actors.h.

#include "tests/sim/actors.h"

#include "tests/sim/actions.h"
#include "tests/sim/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IDLERS_MAX      64u // connections of a flood
#define BURST_MAX       30u // commands of one turn
#define IN_FLIGHT_MAX   300u
#define DESCRIBED_MAX   5u // requests of a client that a failure message lists
#define AUDITOR_ADDRESS 9u // its own, from which no wrong tokens come

sim_actor sim_actors[SIM_ACTORS_MAX];
uint32_t sim_actor_count;
sim_last_answer sim_auditor_heard;
uint64_t sim_answers_count;

static struct {
    const sim_plan *plan;
    bool calm, end_expected;
    sim_client idlers[IDLERS_MAX];
    bool idler_open[IDLERS_MAX];
} all;

static sim_actor *actor_of(sim_client *client)
{
    return (sim_actor *)client; // its first member
}

static bool is_auditor(const sim_actor *actor)
{
    return actor == &sim_actors[0];
}

// ---- what clients are sent ---------------------------------------------------------------------

static void keep_list(const msgpack_object *result)
{
    const msgpack_object *worlds = fm_object_get(result, "worlds");
    sim_auditor_heard.world_count = 0;
    for (uint32_t i = 0;
         worlds != NULL && i < worlds->via.array.size && i < FM_COUNT_OF(sim_auditor_heard.worlds);
         i++) {
        sim_auditor_heard.worlds[sim_auditor_heard.world_count++] =
            fm_object_uint(&worlds->via.array.ptr[i], "world", 0);
    }
}

static void on_answered(sim_client *client, const sim_request *request, fm_status status,
                        const msgpack_object *result)
{
    sim_answers_count++;
    if (status == FM_OK) {
        sim_book_learn(request, result);
    }
    if (is_auditor(actor_of(client))) {
        sim_auditor_heard.id = request->id;
        sim_auditor_heard.status = status;
        if (status == FM_OK && request->method == FM_METHOD_WORLD_LIST) {
            keep_list(result);
        }
    }
}

static void on_gone(sim_client *client)
{
    sim_actor *actor = actor_of(client);
    actor->is_open = false;
    if (is_auditor(actor) && !all.end_expected && sim_memory_failures() == 0) {
        sim_fail("the server disconnected a client that did nothing wrong");
    }
}

static const sim_client_events events = {.answered = on_answered, .gone = on_gone};

// ---- connecting --------------------------------------------------------------------------------

static const char *draw_token(bool is_first)
{
    if (is_first) { // an admin
        return sim_known.admin_token;
    }
    if (sim_known.token_count == 0 || sim_chance(50)) {
        return sim_chance(100) ? "a-token-that-nobody-made" : NULL;
    }
    return sim_known.tokens[sim_chance(600) ? 0 : sim_below(sim_known.token_count)].secret;
}

static void say_hello(sim_client *client, bool is_first)
{
    const char *token = draw_token(is_first);
    fm_params_uint(&client->params, FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    fm_params_text(&client->params, FM_FIELD_CLIENT, "sim");
    if (token != NULL) {
        fm_params_text(&client->params, FM_FIELD_TOKEN, token);
    }
    sim_client_ask(client, FM_METHOD_HELLO, 0, 0, false);
}

void sim_actor_open(sim_actor *actor, bool is_first)
{
    bool prompt = actor->is_prompt || is_first;
    sim_link link = prompt ? sim_plan_prompt_link() : sim_plan_any_link();
    link.address = is_first ? AUDITOR_ADDRESS : 0;
    link.port = sim_plan_port(all.plan, is_first);
    if (actor->is_used) {
        sim_client_fini(&actor->client);
    }
    sim_client_open(&actor->client, (uint32_t)(actor - sim_actors), &link, prompt, &events);
    actor->is_open = actor->is_used = true;
    if (is_first || prompt || sim_chance(950)) {
        say_hello(&actor->client, is_first);
    }
}

// ---- floods ------------------------------------------------------------------------------------

static void on_idler_gone(sim_client *client)
{
    all.idler_open[client - all.idlers] = false;
}

static void on_idler_answered(sim_client *client, const sim_request *request, fm_status status,
                              const msgpack_object *result)
{
    (void)client, (void)request, (void)status, (void)result;
}

static void open_idler(uint32_t i)
{
    static const sim_client_events idler_events = {.answered = on_idler_answered,
                                                   .gone = on_idler_gone};
    sim_link link = sim_plan_any_link();
    link.port = sim_plan_port(all.plan, false);
    sim_client_open(&all.idlers[i], 100 + i, &link, false, &idler_events);
    all.idler_open[i] = true;
    if (sim_chance(500)) {
        sim_client_spoil(&all.idlers[i], "\x94\x00\x01\xa5he",
                         sim_between(1, 6)); // a hello, sent slowly
    }
}

static void close_idler(uint32_t i)
{
    sim_client_close(&all.idlers[i], sim_below(3));
    all.idler_open[i] = false;
}

static void flood(void)
{
    uint32_t count = sim_between(1, IDLERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (all.idler_open[i]) {
            close_idler(i);
        } else {
            sim_client_fini(&all.idlers[i]);
            open_idler(i);
        }
    }
}

// ---- turns -------------------------------------------------------------------------------------

// What goes wrong with a client or its connection.
static void suffer(sim_actor *actor)
{
    sim_client *client = &actor->client;
    sim_link link = sim_plan_any_link();
    switch (sim_below(6)) {
    case 0:
    case 1:
    case 2:
        sim_client_close(client, sim_below(3));
        actor->is_open = false;
        break;
    case 3:
    case 4:
        sim_trace("client %u stops reading", client->index);
        sim_note_fault(SIM_FAULT_STOPPED_READING);
        sim_set_reading(client->connection, false);
        break;
    default:
        sim_set_link(client->connection, &link);
        break;
    }
}

static void act(sim_actor *actor)
{
    uint32_t count = sim_chance(50) ? sim_between(2, BURST_MAX) : 1;
    for (uint32_t i = 0; i < count && actor->client.connection != NULL; i++) {
        if (actor->client.request_count < IN_FLIGHT_MAX) {
            sim_act(&actor->client, actor->is_hostile);
        }
    }
}

static void take_turn_open(sim_actor *actor)
{
    sim_client *client = &actor->client;
    sim_client_check_time(client);
    if (!client->connection->reading && sim_chance(80)) {
        sim_trace("client %u reads again", client->index);
        sim_set_reading(client->connection, true);
    } else if (!actor->is_prompt && sim_chance(all.plan->fault_permille)) {
        suffer(actor);
    } else if (actor->is_hostile && sim_chance(all.plan->flood_permille)) {
        flood();
    } else if (client->ready || sim_chance(100)) {
        act(actor);
    } else if (actor->is_prompt && !is_auditor(actor) && client->ready && sim_chance(5)) {
        sim_client_close(client, SIM_CLIENT_HANGS_UP);
        actor->is_open = false;
    }
}

static void take_turn(void *owner)
{
    sim_actor *actor = owner;
    actor->turn.due_ns =
        all.calm ? SIM_NEVER : sim_now_ns() + sim_between(1, all.plan->turn_max_us) * SIM_NS_US;
    if (all.calm) {
        return;
    }
    if (actor->is_open) {
        take_turn_open(actor);
    } else if (!is_auditor(actor) && sim_chance(300)) {
        sim_actor_open(actor, false);
    }
}

void sim_actors_prepare(const sim_plan *plan)
{
    all.plan = plan;
}

void sim_actors_begin(void)
{
    const sim_plan *plan = all.plan;
    sim_actor_count = 1 + plan->actor_count;
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        sim_actor *actor = &sim_actors[i];
        actor->is_prompt = i <= plan->prompt_count;
        actor->is_hostile = !actor->is_prompt && sim_chance(plan->hostile_permille);
        actor->turn = (sim_source){.due_ns = sim_now_ns(), .happen = take_turn, .owner = actor};
        sim_source_add(&actor->turn);
    }
}

// ---- the end -----------------------------------------------------------------------------------

static void calm_down(sim_actor *actor)
{
    sim_client *client = &actor->client;
    if (client->spoilt || (!is_auditor(actor) && (!client->ready || sim_chance(300)))) {
        sim_client_close(client, sim_below(3));
        actor->is_open = false;
        return;
    }
    sim_set_reading(client->connection, true);
}

void sim_actors_calm(void)
{
    sim_trace("everybody calms down");
    all.calm = true;
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        if (sim_actors[i].is_open) {
            calm_down(&sim_actors[i]);
        }
    }
    for (uint32_t i = 0; i < IDLERS_MAX; i++) {
        if (all.idler_open[i]) {
            close_idler(i);
        }
    }
    sim_link link = sim_plan_prompt_link();
    sim_net_calm(&link);
}

void sim_actors_expect_end(void)
{
    all.end_expected = true;
    sim_answers_have_bounds = false;
}

void sim_actors_describe(void)
{
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        const sim_client *client = &sim_actors[i].client;
        uint32_t count = sim_actors[i].is_open ? client->request_count : 0;
        for (uint32_t k = 0; k < count && k < DESCRIBED_MAX; k++) {
            fprintf(stderr, "client %u, connection %u waits for %s %" PRIu64 "\n", i,
                    client->connection->number, fm_method_name(client->requests[k].method),
                    client->requests[k].id);
        }
    }
}

bool sim_actors_are_quiet(void)
{
    for (uint32_t i = 0; i < sim_actor_count; i++) {
        if (sim_actors[i].is_open && sim_actors[i].client.request_count > 0) {
            return false;
        }
    }
    return true;
}
