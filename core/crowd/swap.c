// core/crowd/swap.c: see swap.h.

#include "core/crowd/swap.h"

struct corridor {
    const fm_pibt_ground *ground;
    const fm_occupancy *occupancy;
    const fm_mover *movers;
    uint32_t slot; // of the unit whose steps are asked for
};

// Only a unit of the same team: it may not know where others stand.
static const fm_mover *unit_at(const struct corridor *c, fm_cell cell)
{
    uint32_t unit = fm_occupancy_at(c->occupancy, cell)->now;
    bool is_own = unit != 0 && c->movers[unit - 1].team == c->movers[c->slot].team;
    return is_own ? &c->movers[unit - 1] : NULL;
}

// The unit's final goal.
static fm_cell place_of(const fm_mover *mover)
{
    return mover->parked ? mover->cell : mover->aim;
}

static uint32_t moves_from(const struct corridor *c, fm_cell cell)
{
    return c->ground->moves(c->ground->context, c->slot, cell);
}

// Whether a unit that goes from `from` to `cell` comes into a corridor without a way out that is
// full of units that want to be there.
static bool is_held_end(const struct corridor *c, fm_cell from, fm_cell cell)
{
    for (uint32_t i = 0; i < FM_SWAP_STEPS_MAX; i++) {
        const fm_mover *mover = unit_at(c, cell);
        if (mover == NULL || place_of(mover) != cell) {
            return false;
        }
        uint32_t moves = moves_from(c, cell) & ~(1u << fm_cell_direction(cell, from));
        if (moves == 0 || (moves & (moves - 1)) != 0) {
            return moves == 0;
        }
        from = cell;
        cell = fm_cell_step(cell, (uint32_t)__builtin_ctz(moves));
    }
    return false;
}

// Counts the steps that lead on from `at` for a unit that came from `from`. 2 stands for 2 and
// more; `next` receives the last one.
static uint32_t exits_of(const struct corridor *c, fm_cell from, fm_cell at, fm_cell *next)
{
    uint32_t count = 0;
    for (uint32_t moves = moves_from(c, at); moves != 0 && count < 2; moves &= moves - 1) {
        fm_cell cell = fm_cell_step(at, (uint32_t)__builtin_ctz(moves));
        if (cell != from && !is_held_end(c, at, cell)) {
            *next = cell;
            count += 1;
        }
    }
    return count;
}

static bool wants(const fm_mover *mover, fm_cell cell)
{
    uint32_t d = (uint32_t)(mover->preferences & 15);
    return d < FM_PREFERENCE_STAY && fm_cell_step(mover->cell, d) == cell;
}

// Whether `pusher`, in `behind`, would drive `puller`, in `ahead`, to where it has to come back
// from.
static bool is_required(const struct corridor *c, const fm_mover *pusher, const fm_mover *puller,
                        fm_cell behind, fm_cell ahead, bool comes_back)
{
    for (uint32_t i = 0; i < FM_SWAP_STEPS_MAX && behind != pusher->aim; i++) {
        fm_cell next = FM_CELL_NONE;
        uint32_t exits = exits_of(c, behind, ahead, &next);
        if (exits >= 2) {
            return false; // there they can pass
        }
        if (exits == 0) {
            return comes_back;
        }
        comes_back = comes_back || ahead == place_of(puller);
        behind = ahead;
        ahead = next;
    }
    return comes_back && behind == pusher->aim;
}

// Whether a unit that goes from `from` to `at` and further comes to a fork.
static bool is_possible(const struct corridor *c, fm_cell from, fm_cell at)
{
    fm_cell first = from;
    for (uint32_t i = 0; i < FM_SWAP_STEPS_MAX && at != first; i++) {
        fm_cell next = FM_CELL_NONE;
        uint32_t exits = exits_of(c, from, at, &next);
        if (exits != 1) {
            return exits >= 2;
        }
        from = at;
        at = next;
    }
    return false;
}

static bool may_pull(const fm_mover *mover, const fm_mover *other)
{
    return other->size == 1 && other->team == mover->team && other->pushable;
}

uint32_t fm_swap_partner(const fm_pibt_ground *ground, const fm_occupancy *occupancy,
                         const fm_mover *movers, uint32_t slot)
{
    struct corridor c = {.ground = ground, .occupancy = occupancy, .movers = movers, .slot = slot};
    const fm_mover *mover = &movers[slot];
    uint32_t d = (uint32_t)(mover->preferences & 15);
    fm_cell target = fm_cell_step(mover->cell, d), next;
    if (mover->cell != mover->aim && exits_of(&c, mover->cell, target, &next) >= 2) {
        return 0; // as is_required() would find out in all that follows: there they can pass
    }
    const fm_mover *other = unit_at(&c, target);
    if (other != NULL && other->progress == FM_MOVER_UNDECIDED && may_pull(mover, other) &&
        is_required(&c, mover, other, mover->cell, target, wants(other, mover->cell)) &&
        is_possible(&c, target, mover->cell)) {
        return (uint32_t)(other - movers) + 1;
    }
    // A unit that follows it into the corridor has to go farther than it.
    for (uint32_t moves = mover->moves & ~(1u << d); moves != 0; moves &= moves - 1) {
        other = unit_at(&c, fm_cell_step(mover->cell, (uint32_t)__builtin_ctz(moves)));
        if (other == NULL || !may_pull(mover, other) || !wants(other, mover->cell)) {
            continue;
        }
        uint32_t other_slot = (uint32_t)(other - movers);
        if (is_required(&c, other, mover, mover->cell, target, false) &&
            ground->ahead(ground->context, other_slot, mover->cell, 1u << d) != 0 &&
            is_possible(&c, target, mover->cell)) {
            return other_slot + 1;
        }
    }
    return 0;
}
