// core/world/due.c: see due.h.

#include "core/world/due.h"

#include <string.h>

static uint32_t words_of(uint32_t slots)
{
    return slots / 64 + (slots % 64 != 0);
}

bool fm_due_reserve(fm_world *world, uint32_t planner_slots)
{
    uint32_t words = words_of(planner_slots);
    uint32_t due_before = world->due_capacity, eager_before = world->eager_capacity;
    if (!FM_RESERVE(world, world->due, world->due_capacity, words)) {
        return false;
    }
    if (world->due_capacity > due_before) {
        memset(world->due + due_before, 0, (world->due_capacity - due_before) * sizeof *world->due);
    }
    if (!FM_RESERVE(world, world->eager, world->eager_capacity, words)) {
        return false;
    }
    if (world->eager_capacity > eager_before) {
        memset(world->eager + eager_before, 0,
               (world->eager_capacity - eager_before) * sizeof *world->eager);
    }
    return true;
}

void fm_due_strike(fm_world *world, uint32_t slot)
{
    uint64_t others = ~((uint64_t)1 << slot % 64);
    world->due[slot / 64] &= others;
    world->eager[slot / 64] &= others;
}

void fm_due_wake_stale(fm_world *world)
{
    uint64_t turn = 0;
    for (uint32_t bit = (uint32_t)(world->tick % FM_LOG_TICKS); bit < 64; bit += FM_LOG_TICKS) {
        turn |= (uint64_t)1 << bit;
    }
    for (uint32_t i = 0; i < words_of(world->planner_slots); i++) {
        world->due[i] |= world->eager[i] & turn;
    }
}

bool fm_due_take(fm_world *world)
{
    uint32_t words = words_of(world->planner_slots), count = 0;
    for (uint32_t i = 0; i < words; i++) {
        count += (uint32_t)__builtin_popcountll(world->due[i]);
    }
    world->told_count = 0;
    if (!FM_RESERVE(world, world->told, world->told_capacity, count)) {
        return false;
    }
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t bits = world->due[i]; bits != 0; bits &= bits - 1) {
            world->told[world->told_count++] = i * 64 + (uint32_t)__builtin_ctzll(bits);
        }
        world->due[i] = 0;
    }
    return true;
}

void fm_due_reset(fm_world *world)
{
    for (uint32_t i = 0; i < world->due_capacity; i++) {
        world->due[i] = 0;
        world->eager[i] = 0;
    }
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        if (world->planners[slot].in_use) {
            fm_planner_set_walking(world, slot, false);
            fm_planner_wake(world, slot);
        }
    }
}

void fm_due_fini(fm_world *world)
{
    fm_memory_release(&world->memory, world->due, world->due_capacity * sizeof *world->due);
    fm_memory_release(&world->memory, world->eager, world->eager_capacity * sizeof *world->eager);
    fm_memory_release(&world->memory, world->told, world->told_capacity * sizeof *world->told);
}
