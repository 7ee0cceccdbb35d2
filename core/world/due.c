// core/world/due.c: see due.h.

#include "core/world/due.h"

#include "core/world/world_state.h"

#include <string.h>

#define BEGIN_COST  16u   // expansions: few searches take less
#define COST_LEAST  4u    // of a search that is touched at all
#define COST_WEIGHT 8u    // ticks that the cost of searches is smoothed over
#define COST_TELLS  16u   // searches, below which a tick says too little
#define BEGUN_LEAST 64u   // searches of a team that are never put off
#define AGES        64u   // ticks of waiting that are distinguished
#define STRIDE      7919u // how far the order of equals rotates from tick to tick

static uint32_t words_of(uint32_t slots)
{
    return slots / 64 + (slots % 64 != 0);
}

static bool reserve_words(fm_world *world, uint64_t **words, uint32_t *capacity, uint32_t wanted)
{
    return fm_reserve_zeroed(&world->memory, (void **)words, capacity, wanted, sizeof **words);
}

bool fm_due_reserve(fm_world *world, uint32_t planner_slots)
{
    struct fm_world_planners *planners = &world->planners;
    uint32_t words = words_of(planner_slots);
    return reserve_words(world, &planners->due, &planners->due_capacity, words) &&
           reserve_words(world, &planners->walking, &planners->walking_capacity, words) &&
           reserve_words(world, &planners->eager, &planners->eager_capacity, words * FM_LOG_TICKS);
}

// The word of fm_world.planners.eager for a planner, of those of its 64 slots: one for each of
// FM_LOG_TICKS turns. The turn follows from the goal, not from the slot: slots of other teams'
// planners must not decide when a team's agents see that their paths are blocked.
static uint64_t *eager_word(const fm_world *world, uint32_t slot)
{
    uint64_t turn = fm_mix64(world->planners.slots[slot].goal) % FM_LOG_TICKS;
    return &world->planners.eager[(size_t)(slot / 64) * FM_LOG_TICKS + turn];
}

static void strike_eager(fm_world *world, uint32_t slot)
{
    uint64_t *turns = &world->planners.eager[(size_t)(slot / 64) * FM_LOG_TICKS];
    for (uint32_t i = 0; i < FM_LOG_TICKS; i++) {
        turns[i] &= ~((uint64_t)1 << slot % 64);
    }
}

void fm_planner_set_walking(fm_world *world, uint32_t slot, bool walks)
{
    strike_eager(world, slot);
    uint64_t bit = (uint64_t)1 << slot % 64;
    uint64_t *word = &world->planners.walking[slot / 64];
    *word = walks ? *word | bit : *word & ~bit;
    if (!walks) {
        *eager_word(world, slot) |= (uint64_t)1 << slot % 64;
    }
}

void fm_due_strike(fm_world *world, uint32_t slot)
{
    world->planners.due[slot / 64] &= ~((uint64_t)1 << slot % 64);
    world->planners.walking[slot / 64] &= ~((uint64_t)1 << slot % 64);
    strike_eager(world, slot);
}

void fm_due_wake_stale(fm_world *world)
{
    uint32_t turn = (uint32_t)(world->tick % FM_LOG_TICKS);
    for (uint32_t i = 0; i < words_of(world->planners.slot_count); i++) {
        world->planners.due[i] |= world->planners.eager[(size_t)i * FM_LOG_TICKS + turn];
    }
}

bool fm_due_take(fm_world *world)
{
    uint32_t words = words_of(world->planners.slot_count), count = 0;
    for (uint32_t i = 0; i < words; i++) {
        count += (uint32_t)__builtin_popcountll(world->planners.due[i]);
    }
    world->lists.notified_count = 0;
    if (!FM_RESERVE(world, world->lists.notified, world->lists.notified_capacity, count)) {
        return false;
    }
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t bits = world->planners.due[i]; bits != 0; bits &= bits - 1) {
            world->lists.notified[world->lists.notified_count++] =
                i * 64 + (uint32_t)__builtin_ctzll(bits);
        }
        world->planners.due[i] = 0;
    }
    return true;
}

// Whether a planner may be postponed: its agents gain nothing from it now.
static bool can_wait(const struct fm_planner *planner)
{
    return planner->state == FM_PLAN_RUNNING ||
           (planner->state == FM_PLAN_PARTIAL && planner->spec.ops->walk != NULL);
}

// 0: has an answer; else the longest waiting first.
static uint32_t rank_of(const fm_world *world, const struct fm_planner *planner)
{
    if (!can_wait(planner)) {
        return 0;
    }
    uint64_t age = world->tick - planner->asked_tick;
    return age < AGES ? AGES - (uint32_t)age : 1;
}

// The same for its team.
static uint32_t team_rank_of(const fm_world *world, const struct fm_planner *planner)
{
    uint64_t turn_tick = fm_team_of(world, planner->team)->account.turn_tick;
    uint64_t since = turn_tick > planner->asked_tick ? turn_tick : planner->asked_tick;
    uint64_t age = world->tick - since;
    return !can_wait(planner) ? 0 : age < AGES ? AGES - (uint32_t)age : 1;
}

// The first that was taken whose slot is not below a number.
static uint32_t find_taken(const fm_world *world, uint32_t slot)
{
    uint32_t begin = 0, end = world->lists.notified_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (world->lists.notified[middle] < slot) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Sorts `from`, beginning at `first`, into `to`; equals keep their order.
typedef uint32_t rank_fn(const fm_world *world, const struct fm_planner *planner);

static inline void sort(const fm_world *world, rank_fn *rank_of_slot, const uint32_t *from,
                        uint32_t first, uint32_t *to)
{
    uint32_t counts[AGES + 2] = {0}, count = world->lists.notified_count;
    for (uint32_t i = 0; i < count; i++) {
        counts[rank_of_slot(world, &world->planners.slots[from[i]]) + 1] += 1;
    }
    for (uint32_t rank = 1; rank <= AGES; rank++) {
        counts[rank] += counts[rank - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = from[first + i < count ? first + i : first + i - count];
        to[counts[rank_of_slot(world, &world->planners.slots[slot])]++] = slot;
    }
}

// Lists in `aged` those that were taken. Among equals the order is that of slots, but it begins
// somewhere else in every tick.
static void sort_by_age(fm_world *world)
{
    uint32_t first =
        find_taken(world, (uint32_t)(world->tick * STRIDE % world->planners.slot_count));
    sort(world, rank_of, world->lists.notified, first, world->lists.aged);
    if (world->lists.teams_in_turns) {
        memcpy(world->lists.notified, world->lists.aged,
               world->lists.notified_count * sizeof *world->lists.notified);
        sort(world, team_rank_of, world->lists.notified, 0, world->lists.aged);
    }
}

// How many searches a team may begin: by its account, or by an equal part of the tick's budget. At
// least one where teams take turns.
static void open_doors(fm_world *world, uint64_t budget)
{
    uint64_t asking = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].account.asking = 0;
    }
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        fm_account *account =
            &fm_team_of(world, world->planners.slots[world->lists.notified[i]].team)->account;
        asking += account->asking == 0;
        account->asking = 1;
    }
    uint64_t part = asking == 0 ? 0 : budget / asking;
    world->lists.teams_in_turns = asking > BEGUN_LEAST && part < FM_FIRST_GRANT;
    uint64_t least = world->lists.teams_in_turns ? 1 : BEGUN_LEAST;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_account *account = &world->teams.list[i].account;
        uint64_t begun = (account->left > part ? account->left : part) / BEGIN_COST;
        begun = begun > least ? begun : least;
        account->asking = begun < UINT32_MAX ? (uint32_t)begun : UINT32_MAX;
    }
}

// Beginning too few leaves budget unused while others wait; beginning too many notifies planners in
// vain.
static uint64_t begin_cost(const fm_world *world)
{
    uint64_t cost = world->planners.search_cost / 16;
    return cost < COST_LEAST ? COST_LEAST : cost;
}

void fm_due_learn_cost(fm_world *world, uint32_t finished, uint64_t expansions)
{
    if (finished < COST_TELLS) {
        return;
    }
    uint64_t cost = expansions * 16 / finished, known = world->planners.search_cost;
    cost = cost < FM_FIRST_GRANT * 16 ? cost : FM_FIRST_GRANT * 16;
    known = known == 0 ? cost : known;
    world->planners.search_cost = (uint32_t)((known * (COST_WEIGHT - 1) + cost) / COST_WEIGHT);
}

bool fm_due_admit(fm_world *world, uint64_t budget)
{
    if (!FM_RESERVE(world, world->lists.aged, world->lists.aged_capacity,
                    world->lists.notified_count)) {
        return false;
    }
    if (world->lists.notified_count == 0) {
        return true;
    }
    open_doors(world, budget);
    sort_by_age(world);
    uint64_t most = world->lists.teams_in_turns ? budget / begin_cost(world) : UINT64_MAX;
    most = most > BEGUN_LEAST ? most : BEGUN_LEAST;
    uint32_t admitted = 0;
    for (uint32_t i = 0; i < world->lists.notified_count; i++) {
        uint32_t slot = world->lists.aged[i];
        const struct fm_planner *planner = &world->planners.slots[slot];
        fm_account *account = &fm_team_of(world, planner->team)->account;
        if ((account->asking > 0 && most > 0) || !can_wait(planner)) {
            account->asking -= can_wait(planner);
            most -= can_wait(planner);
            world->lists.notified[admitted++] = slot;
        } else {
            fm_planner_wake(world, slot);
        }
    }
    world->lists.notified_count = admitted;
    return true;
}

void fm_due_reset(fm_world *world)
{
    world->planners.search_cost = 0;
    for (uint32_t i = 0; i < world->planners.due_capacity; i++) {
        world->planners.due[i] = 0;
    }
    for (uint32_t i = 0; i < world->planners.walking_capacity; i++) {
        world->planners.walking[i] = 0;
    }
    for (uint32_t i = 0; i < world->planners.eager_capacity; i++) {
        world->planners.eager[i] = 0;
    }
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        if (world->planners.slots[slot].in_use) {
            fm_planner_set_walking(world, slot, false);
            fm_planner_wake(world, slot);
        }
    }
}

void fm_due_fini(fm_world *world)
{
    fm_memory_release(&world->memory, world->planners.due,
                      world->planners.due_capacity * sizeof *world->planners.due);
    fm_memory_release(&world->memory, world->planners.walking,
                      world->planners.walking_capacity * sizeof *world->planners.walking);
    fm_memory_release(&world->memory, world->planners.eager,
                      world->planners.eager_capacity * sizeof *world->planners.eager);
    fm_memory_release(&world->memory, world->lists.aged,
                      world->lists.aged_capacity * sizeof *world->lists.aged);
    fm_memory_release(&world->memory, world->lists.notified,
                      world->lists.notified_capacity * sizeof *world->lists.notified);
}
