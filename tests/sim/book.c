// tests/sim/book.c: see book.h.

#include "tests/sim/book.h"

#include <string.h>

sim_book sim_known;

sim_world *sim_book_world(uint64_t number)
{
    for (uint32_t i = 0; i < sim_known.world_count; i++) {
        if (sim_known.worlds[i].number == number) {
            return &sim_known.worlds[i];
        }
    }
    return NULL;
}

sim_world *sim_book_draw_world(void)
{
    return sim_known.world_count == 0 ? NULL : &sim_known.worlds[sim_below(sim_known.world_count)];
}

static void learn_world(const msgpack_object *result)
{
    if (sim_known.world_count < SIM_BOOK_WORLDS_MAX) {
        sim_world *world = &sim_known.worlds[sim_known.world_count++];
        memset(world, 0, sizeof *world);
        world->number = fm_object_uint(result, "world", 0);
        world->width = (uint32_t)fm_object_uint(result, "width", 0);
        world->height = (uint32_t)fm_object_uint(result, "height", 0);
    }
}

static void forget_world(uint64_t number)
{
    sim_world *world = sim_book_world(number);
    if (world != NULL) {
        sim_world *last = &sim_known.worlds[--sim_known.world_count];
        if (world != last) {
            memcpy(world, last, sizeof *world);
        }
    }
}

static void learn_agents(sim_world *world, const msgpack_object *result)
{
    fm_numbers ids = fm_object_numbers(result, "agents");
    for (uint32_t i = 0; i < ids.count; i++) {
        uint32_t at = world->agent_count < SIM_BOOK_AGENTS_MAX ? world->agent_count++
                                                               : sim_below(SIM_BOOK_AGENTS_MAX);
        world->agents[at] = fm_numbers_at(ids, i);
    }
}

static void learn_orders(sim_world *world, const msgpack_object *result)
{
    uint64_t first = fm_object_uint(result, "order", 0);
    if (first != 0 && world->given_count < SIM_BOOK_GIVEN_MAX) {
        world->given[world->given_count++] =
            (sim_given){first, (uint32_t)fm_object_uint(result, "count", 0)};
    }
}

static void learn_token(const msgpack_object *result)
{
    uint32_t at = sim_known.token_count < SIM_BOOK_TOKENS_MAX
                      ? sim_known.token_count++
                      : 1 + sim_below(SIM_BOOK_TOKENS_MAX - 1);
    sim_token *token = &sim_known.tokens[at];
    token->number = fm_object_uint(result, "number", 0);
    fm_object_text(result, "token", token->secret, sizeof token->secret);
}

void sim_book_learn(const sim_request *request, const msgpack_object *result)
{
    sim_world *world = sim_book_world(request->world);
    if (request->method == FM_METHOD_WORLD_CREATE) {
        learn_world(result);
    } else if (request->method == FM_METHOD_WORLD_DESTROY) {
        forget_world(request->world);
    } else if (request->method == FM_METHOD_TOKEN_CREATE) {
        learn_token(result);
    } else if (world == NULL) {
        return;
    } else if (request->method == FM_METHOD_TEAM_CREATE) {
        world->team_count++;
    } else if (request->method == FM_METHOD_AGENT_SPAWN) {
        learn_agents(world, result);
    } else if (request->method == FM_METHOD_AGENT_ORDER && request->number == 0) {
        learn_orders(world, result);
    } else if (request->method == FM_METHOD_BUILDING_PLACE) {
        world->building_last = (uint32_t)fm_object_uint(result, "building", 0);
    }
}
