// core/pibt.c: see pibt.h.
//
// Why claims never contradict each other: a cell is claimed only while nobody else claims it. The
// unit that stands there, if there is one, is then decided, about to leave (TRYING), or asked
// before the claim counts. A unit that finds nothing stays and takes the claims on its own cells
// back; who had them notices, gives up that try and looks for another. Only units of one cell are
// followed while they are still TRYING. Such a unit waits for one other unit, so that its try
// succeeds as soon as the end of the chain has been found, and a place that was promised to a
// follower is never needed again.

#include "core/pibt.h"

struct round {
    fm_occupancy *occupancy;
    fm_mover *movers;
    fm_pibt_frame *stack;
    uint32_t depth;
    uint64_t swaps; // tries that would have been one
};

// Where a unit without a way of its own steps when it is pushed in a direction: out of the way to
// the right, to the left, ahead at an angle, back at an angle, straight on.
static const uint8_t aside_turns[] = {2, 6, 1, 7, 3, 5, 0};

// The fm_place of each cell under a unit, row by row.
#define FOR_EACH_PLACE(occupancy, cell, size, place)                                               \
    for (uint32_t y_ = 0; y_ < (size); y_++)                                                       \
        for (fm_place *place = fm_occupancy_at(occupancy, (cell) + fm_cell_at(0, y_)),             \
                      *end_ = place + (size);                                                      \
             place < end_; place++)

static bool overlap(fm_cell a, uint32_t a_size, fm_cell b, uint32_t b_size)
{
    return fm_cell_x(a) < fm_cell_x(b) + b_size && fm_cell_x(b) < fm_cell_x(a) + a_size &&
           fm_cell_y(a) < fm_cell_y(b) + b_size && fm_cell_y(b) < fm_cell_y(a) + a_size;
}

// Whether `mover` may count on the cells of `other`, where nobody has claimed them.
static bool lets_in(struct round *r, const fm_mover *mover, const fm_mover *other)
{
    switch ((fm_mover_progress)other->progress) {
    case FM_MOVER_UNDECIDED:
        return other->pushable && other->team == mover->team && other->size <= mover->size &&
               !(other->settled && other->aim == mover->aim);
    case FM_MOVER_TRYING:
        if (other->size > 1) {
            return false;
        }
        break;
    case FM_MOVER_DECIDED:
        break;
    }
    bool swap = overlap(other->next, other->size, mover->cell, mover->size);
    r->swaps += swap;
    return !swap;
}

// Whether somebody who stands in `from` is on the way to `to`.
static bool goes(const struct round *r, fm_cell from, fm_cell to)
{
    uint32_t unit = fm_occupancy_at(r->occupancy, from)->now;
    if (unit == 0) {
        return false;
    }
    const fm_mover *mover = &r->movers[unit - 1];
    return mover->size == 1 && mover->progress != FM_MOVER_UNDECIDED && mover->next == to;
}

// Larger units cannot cross: what one leaves free at its corners is wider apart than a step.
static bool crosses(const struct round *r, const fm_mover *mover, uint32_t d)
{
    if ((d & 1) == 0 || mover->size > 1) {
        return false;
    }
    fm_cell left = fm_cell_step(mover->cell, d - 1);
    fm_cell right = fm_cell_step(mover->cell, (d + 1) % FM_DIRECTION_COUNT);
    return goes(r, left, right) || goes(r, right, left);
}

static bool can_try(struct round *r, uint32_t slot, uint32_t d, fm_cell target)
{
    const fm_mover *mover = &r->movers[slot];
    FOR_EACH_PLACE(r->occupancy, target, mover->size, place)
    {
        if (place->claim != 0 || (place->now != 0 && place->now != slot + 1 &&
                                  !lets_in(r, mover, &r->movers[place->now - 1]))) {
            return false;
        }
    }
    bool cross = crosses(r, mover, d);
    r->swaps += cross;
    return !cross;
}

static void claim(struct round *r, uint32_t slot, fm_cell cell)
{
    FOR_EACH_PLACE(r->occupancy, cell, r->movers[slot].size, place)
    {
        place->claim = slot + 1;
    }
}

static void withdraw(struct round *r, uint32_t slot, fm_cell cell)
{
    FOR_EACH_PLACE(r->occupancy, cell, r->movers[slot].size, place)
    {
        place->claim = place->claim == slot + 1 ? 0 : place->claim;
    }
}

static bool is_claimed(const struct round *r, const fm_mover *mover)
{
    FOR_EACH_PLACE(r->occupancy, mover->cell, mover->size, place)
    {
        if (place->claim != 0) {
            return true;
        }
    }
    return false;
}

static void stay(struct round *r, uint32_t slot)
{
    fm_mover *mover = &r->movers[slot];
    claim(r, slot, mover->cell);
    mover->next = mover->cell;
    mover->progress = FM_MOVER_DECIDED;
}

// A list for one who steps aside: free cells before those where somebody stands.
static uint64_t wishes_aside(const struct round *r, const fm_mover *mover, uint32_t direction)
{
    uint64_t lists[2] = {FM_WISHES_NONE, FM_WISHES_NONE};
    for (uint32_t i = sizeof aside_turns; i-- > 0;) {
        uint32_t d = (direction + aside_turns[i]) % FM_DIRECTION_COUNT;
        if (mover->moves >> d & 1) {
            bool taken = fm_occupancy_at(r->occupancy, fm_cell_step(mover->cell, d))->now != 0;
            lists[taken] = lists[taken] << 4 | d;
        }
    }
    uint32_t shift = 0;
    while ((lists[0] >> shift & 15) != FM_WISH_NONE) {
        shift += 4;
    }
    return lists[1] << shift | (lists[0] & (((uint64_t)1 << shift) - 1));
}

static void ask(struct round *r, uint32_t slot, uint32_t direction)
{
    const fm_mover *mover = &r->movers[slot];
    bool aside = mover->aside && direction != FM_DIRECTION_COUNT;
    r->stack[r->depth++] = (fm_pibt_frame){
        .slot = slot, .wishes = aside ? wishes_aside(r, mover, direction) : mover->wishes};
}

// Somebody who is still to be asked about the cells that were claimed. `lost` is set when one of
// the claims was taken back. FM_CELL_NONE when nobody is left.
static uint32_t next_in_the_way(const struct round *r, uint32_t slot, bool *lost)
{
    const fm_mover *mover = &r->movers[slot];
    uint32_t found = FM_CELL_NONE;
    FOR_EACH_PLACE(r->occupancy, mover->next, mover->size, place)
    {
        *lost = *lost || place->claim != slot + 1;
        if (found == FM_CELL_NONE && place->now != 0 &&
            r->movers[place->now - 1].progress == FM_MOVER_UNDECIDED) {
            found = place->now - 1;
        }
    }
    return found;
}

// Tries the next wish of the unit on top of the stack.
static void try_next(struct round *r, fm_pibt_frame *frame)
{
    fm_mover *mover = &r->movers[frame->slot];
    uint32_t d = frame->wishes & 15;
    frame->wishes = frame->wishes >> 4 | FM_WISH_NONE << 60;
    if (d == FM_WISH_NONE || (d == FM_WISH_STAY && !is_claimed(r, mover))) {
        stay(r, frame->slot);
        return;
    }
    fm_cell target = fm_cell_step(mover->cell, d % FM_DIRECTION_COUNT);
    if (d != FM_WISH_STAY && can_try(r, frame->slot, d, target)) {
        claim(r, frame->slot, target);
        frame->direction = d;
        mover->next = target;
        mover->progress = FM_MOVER_TRYING;
    }
}

// One unit, and all whom it has to push.
static void resolve_one(struct round *r, uint32_t root)
{
    ask(r, root, FM_DIRECTION_COUNT);
    while (r->depth > 0) {
        fm_pibt_frame *frame = &r->stack[r->depth - 1];
        fm_mover *mover = &r->movers[frame->slot];
        if (mover->progress == FM_MOVER_TRYING) {
            bool lost = false;
            uint32_t other = next_in_the_way(r, frame->slot, &lost);
            if (lost) {
                withdraw(r, frame->slot, mover->next);
                mover->progress = FM_MOVER_UNDECIDED;
            } else if (other != FM_CELL_NONE) {
                ask(r, other, frame->direction);
                continue;
            } else {
                mover->progress = FM_MOVER_DECIDED;
            }
        } else {
            try_next(r, frame);
        }
        r->depth -= mover->progress == FM_MOVER_DECIDED;
    }
}

uint64_t fm_pibt_resolve(fm_occupancy *occupancy, fm_mover *movers, uint32_t slot_count,
                         const uint32_t *turns, uint32_t turn_count, fm_pibt_frame *stack)
{
    struct round r = {.occupancy = occupancy, .movers = movers, .stack = stack};
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        if (movers[slot].team != 0 && movers[slot].progress == FM_MOVER_DECIDED) {
            stay(&r, slot);
        }
    }
    for (uint32_t i = 0; i < turn_count; i++) {
        if (movers[turns[i]].progress == FM_MOVER_UNDECIDED) {
            resolve_one(&r, turns[i]);
        }
    }
    return r.swaps;
}

void fm_pibt_apply(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_count)
{
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        const fm_mover *mover = &movers[slot];
        if (mover->team != 0 && mover->progress == FM_MOVER_DECIDED && mover->next != mover->cell) {
            fm_occupancy_leave(occupancy, mover->cell, mover->size, slot + 1);
        }
    }
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        const fm_mover *mover = &movers[slot];
        if (mover->team == 0 || mover->progress != FM_MOVER_DECIDED) {
            continue;
        }
        if (mover->next != mover->cell) {
            fm_occupancy_enter(occupancy, mover->next, mover->size, slot + 1);
        }
        FOR_EACH_PLACE(occupancy, mover->next, mover->size, place)
        {
            FM_ASSERT(place->claim == slot + 1);
            place->claim = 0;
        }
    }
}
