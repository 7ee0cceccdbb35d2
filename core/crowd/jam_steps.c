// core/crowd/jam_steps.c: see jam_state.h.

#include "core/crowd/jam_state.h"
#include "core/world/world_state.h"

#include <string.h>

#define DELAY_MAX 2u // ticks

fm_mover *fm_jam_mover(fm_world *world, const struct fm_jam *jam, uint32_t i)
{
    return &world->crowd.movers[jam->agents[i].index1 - 1];
}

bool fm_jam_is_valid(fm_world *world, const struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        if (agent == NULL || agent->cell != jam->cells[places[i]] ||
            fm_jam_aim_of(agent) != jam->aims[i] || !fm_jam_mover(world, jam, i)->pushable) {
            return false;
        }
    }
    return true;
}

void fm_jam_hold(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        fm_mover *mover = fm_jam_mover(world, jam, i);
        mover->progress = FM_MOVER_DECIDED;
        mover->planned = true;
    }
}

static bool are_all_ready(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        if (fm_jam_mover(world, jam, i)->progress != FM_MOVER_UNDECIDED) {
            return false;
        }
    }
    return true;
}

static void write_holders(fm_world *world, struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    memset(jam->holders, 0, sizeof jam->holders);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        uint32_t size = fm_jam_mover(world, jam, i)->size;
        for (uint32_t j = 0; j < size * size; j++) {
            jam->holders[fm_jam_index(jam, fm_jam_part(jam->cells[places[i]], size, j))] =
                (uint16_t)(i + 1);
        }
    }
}

// Whether a unit that does not take part stands where a unit goes, or goes there by another plan.
static bool is_in_the_way(fm_world *world, struct fm_jam *jam, fm_cell cell, uint32_t size)
{
    for (uint32_t j = 0; j < size * size; j++) {
        fm_cell under = fm_jam_part(cell, size, j);
        const fm_place *place = fm_occupancy_at(world->crowd.occupancy, under);
        bool is_other = place->now != 0 && jam->holders[fm_jam_index(jam, under)] == 0;
        if (is_other || place->claim != 0) {
            return true;
        }
    }
    return false;
}

// Whether the next step of the plan is legal on the map as it is, and no other unit is in the way.
static bool is_open(fm_world *world, struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step + 1);
    write_holders(world, jam);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const fm_mover *mover = fm_jam_mover(world, jam, i);
        fm_cell next = jam->cells[places[i]];
        uint32_t d = fm_cell_direction(mover->cell, next);
        if (next != mover->cell &&
            (!(mover->moves >> d & 1) ||
             fm_pibt_crosses(world->crowd.occupancy, world->crowd.movers, mover, d) ||
             is_in_the_way(world, jam, next, mover->size))) {
            return false;
        }
    }
    return true;
}

bool fm_jam_follow(fm_world *world, struct fm_jam *jam)
{
    if (jam->step == fm_knot_steps(jam->knot)) {
        return false;
    }
    if (!are_all_ready(world, jam) || !is_open(world, jam)) {
        jam->delay += 1;
        if (jam->delay > DELAY_MAX) {
            return false;
        }
        fm_jam_hold(world, jam);
        return true;
    }
    jam->delay = 0;
    jam->step += 1;
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        fm_mover *mover = fm_jam_mover(world, jam, i);
        mover->next = jam->cells[places[i]];
        mover->progress = FM_MOVER_DECIDED;
        mover->planned = true;
        for (uint32_t j = 0; j < (uint32_t)mover->size * mover->size; j++) {
            fm_cell under = fm_jam_part(mover->next, mover->size, j);
            fm_occupancy_at(world->crowd.occupancy, under)->claim = jam->agents[i].index1;
        }
    }
    return true;
}
