// core/tick/digest.c: see digest.h.

#include "core/tick/digest.h"

#include "core/base/random.h"
#include "core/commands/order_command.h"
#include "core/orders/orders.h"
#include "core/tick/tick.h"
#include "core/world/world_state.h"

#define WORDS_A_TURN 4u // of marks, that a worker takes at a time

// ---- one agent, one planner ---------------------------------------------------------------------

// Members that few agents use.
static uint64_t hash_additions(const struct fm_agent *agent, uint64_t hash)
{
    if (agent->sight != 0 || agent->tag_shown || agent->name_generation != agent->generation) {
        hash = fm_digest_mix(hash, (uint64_t)agent->name_generation << 16 |
                                       (uint64_t)agent->tag_shown << 8 | agent->sight);
    }
    if (agent->carrier != 0 || agent->passenger_count != 0) {
        hash = fm_digest_mix(hash, (uint64_t)agent->carrier << 32 | agent->passenger_count);
    }
    for (uint32_t i = 0; i < agent->tag_size; i++) {
        hash = fm_digest_mix(hash, (uint64_t)agent->tag_size << 8 | agent->tag->bytes[i]);
    }
    return hash;
}

// What changes with the orders of an agent, or never.
static uint64_t hash_orders(const struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    uint64_t who = (uint64_t)agent->class_index << 56 | (uint64_t)agent->frozen << 55 |
                   (uint64_t)agent->generation << 32;
    uint64_t hash = fm_digest_mix(order->id, who | order->substitute);
    hash = hash_additions(agent, hash);
    hash = fm_agent_mix_orders(agent, hash);
    return fm_digest_mix(hash, order->retry.due_tick << 8 | order->retry.wait);
}

static uint64_t hash_among_others(uint64_t hash, const struct fm_agent *agent)
{
    hash = fm_digest_mix(hash, agent->asking_since << 8 | agent->heading);
    hash = fm_digest_mix(hash, agent->pushed_tick << 16 | agent->stalled_ticks);
    hash = fm_digest_mix(hash, (uint64_t)agent->anchor << 32 | agent->home);
    hash = fm_digest_mix(hash, (uint64_t)agent->nearest << 16 | agent->hindered);
    return agent->settled ? fm_digest_mix(hash, agent->settled_aim) : hash;
}

// Never 0.
static uint64_t hash_agent(const fm_world *world, const struct fm_agent *agent, uint64_t orders)
{
    uint64_t slot = (uint64_t)(agent - world->agents.slots);
    uint64_t hash = fm_digest_mix(orders, (uint64_t)agent->state << 56 | slot << 32 | agent->cell);
    if (agent->speed != 0 || fm_order_speed(&agent->order) != 0) {
        hash = fm_digest_mix(hash, (uint32_t)agent->credit);
    }
    hash = world->crowd.occupancy == NULL ? hash : hash_among_others(hash, agent);
    return hash | 1;
}

// Never 0.
static uint64_t hash_planner(const fm_world *world, const struct fm_planner *planner)
{
    uint64_t slot = (uint64_t)(planner - world->planners.slots);
    uint64_t hash = fm_mix64(slot << 32 | planner->goal);
    return fm_digest_mix(hash, planner->expansions << 3 | planner->state) | 1;
}

// ---- what there is once -------------------------------------------------------------------------

static uint64_t mix_all(const fm_world *world, uint64_t tick, uint64_t agents, uint64_t planners)
{
    uint64_t digest = fm_digest_mix(world->digest, tick);
    digest = fm_digest_mix(digest, agents);
    digest = fm_digest_mix(digest, planners);
    for (uint32_t i = 0; i < world->teams.count; i++) {
        digest = fm_digest_mix(digest, world->teams.list[i].knowledge->digest);
        digest = fm_digest_mix(digest, world->teams.list[i].account.saved);
    }
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        digest = fm_digest_mix(digest, fm_heuristic_survey_digest(world->surveys.list[i].survey));
    }
    return fm_orders_mix_rest(world, digest);
}

static uint64_t digest_from_scratch(const fm_world *world, uint64_t tick)
{
    uint64_t agents = 0, planners = 0;
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        const struct fm_agent *agent = &world->agents.slots[slot];
        bool counts = agent->alive || agent->carrier != 0;
        agents += counts ? hash_agent(world, agent, hash_orders(agent)) : 0;
    }
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        const struct fm_planner *planner = &world->planners.slots[slot];
        planners += planner->in_use ? hash_planner(world, planner) : 0;
    }
    return mix_all(world, tick, agents, planners);
}

uint64_t fm_world_digest(const fm_world *world)
{
    return digest_from_scratch(world, world->tick);
}

// ---- following ----------------------------------------------------------------------------------

static void rehash_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    uint64_t grown = 0, visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_agent_marks *marks = &world->agents.marks[i];
        uint64_t whole = marks->of[FM_MARK_REHASH];
        uint64_t ahead =
            i + 1 < end ? marks[1].of[FM_MARK_REHASH] | marks[1].of[FM_MARK_STEPPED] : 0;
        for (uint64_t bits = whole | marks->of[FM_MARK_STEPPED]; bits != 0; bits &= bits - 1) {
            if (ahead != 0) {
                fm_agent_fetch(world, (i + 1) * 64 + (uint32_t)__builtin_ctzll(ahead));
                ahead &= ahead - 1;
            }
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct fm_agent *agent = &world->agents.slots[slot];
            struct fm_agent_hash *hash = &world->agents.hashes[slot];
            if (whole & bits & -bits) {
                hash->orders = hash_orders(agent);
            }
            grown -= hash->whole;
            hash->whole = hash_agent(world, agent, hash->orders);
            grown += hash->whole;
            visits += 1;
        }
        marks->of[FM_MARK_REHASH] = 0;
    }
    __atomic_fetch_add(&world->agents.hash_sum, grown, __ATOMIC_RELAXED);
    fm_agents_note_visits(world, visits);
}

static void rehash_planner(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners.slots[slot];
    if (planner->in_use) {
        world->planners.hash_sum -= planner->hash;
        planner->hash = hash_planner(world, planner);
        world->planners.hash_sum += planner->hash;
    }
}

uint64_t fm_digest_follow(fm_world *world, fm_workers *workers)
{
    fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN, rehash_agents, world);
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        rehash_planner(world, world->lists.notified[i]);
    }
    for (uint32_t i = 0; i < fm_mark_words_for(world->planners.slot_count); i++) {
        for (uint64_t bits = world->planners.due[i]; bits != 0; bits &= bits - 1) {
            rehash_planner(world, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
    return fm_digest_still(world);
}

uint64_t fm_digest_still(const fm_world *world)
{
    uint64_t tick = world->tick + 1; // it is over with this stage
    uint64_t digest = mix_all(world, tick, world->agents.hash_sum, world->planners.hash_sum);
    FM_VALIDATE(digest == digest_from_scratch(world, tick));
    return digest;
}
