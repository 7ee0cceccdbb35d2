// core/crowd/pibt.c: see pibt.h.
//
// Why claims never contradict each other: a cell is claimed only while nobody else claims it. The
// unit that stands there, if there is one, is then decided, about to leave (TRYING), or asked
// before the claim counts. A unit that finds nothing stays and takes the claims on its own cells
// back; who had them notices, gives up that try and looks for another. Only units of one cell are
// followed while they are still TRYING, and only by those whom they have asked through units of one
// cell. Each of these waits for one other unit, so that all their tries succeed as soon as the end
// of the chain has been found, and a place that was promised to a follower is never needed again. A
// larger unit may have several in its way: the first can find a place and the second refuse.

#include "core/crowd/pibt.h"

#include "core/crowd/crossing.h"
#include "core/crowd/swap.h"

struct round {
    const fm_pibt_ground *ground;
    fm_occupancy *occupancy;
    fm_mover *movers;
    fm_pibt_frame *stack;
    uint32_t depth;
    uint32_t large; // units on the stack that are larger than one cell
    uint32_t free;  // those above others that decide for themselves, see decides_first()
    uint64_t swaps; // tries that would have been one
};

// Where a unit that is not under way steps when it is pushed in a direction: out of the way to
// the right, to the left, ahead at an angle, back at an angle, straight on. One that has to go
// farther to the right than to the left begins with the left.
static const uint8_t aside_turns[] = {2, 6, 1, 7, 3, 5, 0};
#define TURNS_SIDEWAYS 2u
#define SIDE_CLOSED    64u // more steps than any way out takes
#define ASIDE_RANKS    4u  // free or taken, beside or on the pusher's way

#define REFUSALS_MAX 2u // who was pushed in vain so often is not pushed again in this tick

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

// Whether the unit on top of the stack may ask `other`, which has not been asked yet, to leave.
static bool may_push(const struct round *r, const fm_mover *mover, const fm_mover *other)
{
    bool is_at_aim =
        mover->returns ? other->parked && overlap(other->cell, other->size, mover->aim, mover->size)
                       : other->settled && other->aim == mover->aim;
    bool is_too_large = other->size > mover->size && !other->aside && !mover->bold;
    bool is_open = other->team == mover->team || other->concedes;
    return other->pushable && other->refusals < REFUSALS_MAX && is_open && !is_too_large &&
           !is_at_aim && !(mover->gentle && r->depth == 1);
}

// Whether `other`, who is on the stack, leaves for certain if the unit on top of it finds a place.
static bool can_be_followed(const struct round *r, const fm_mover *other)
{
    if (other->size > 1) {
        return false;
    }
    for (uint32_t i = r->depth; r->large + r->free > 0 && i-- > 0;) {
        const fm_pibt_frame *frame = &r->stack[i];
        const fm_mover *between = &r->movers[frame->slot];
        bool is_free = i > 0 && !frame->pushed; // it may stay where it is
        bool is_uncertain = frame->slides || is_free || (between->size > 1 && i + 1 < r->depth);
        if (between == other || is_uncertain) {
            return between == other; // a unit that slides leaves its pusher where that is
        }
    }
    return true;
}

// Whether the unit on top of the stack may count on the cells of `other`, where nobody has claimed
// them.
static bool lets_in(struct round *r, const fm_mover *mover, const fm_mover *other)
{
    switch ((fm_mover_progress)other->progress) {
    case FM_MOVER_UNDECIDED:
        return may_push(r, mover, other);
    case FM_MOVER_TRYING:
        if (!can_be_followed(r, other)) {
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

struct movers {
    const fm_occupancy *occupancy;
    const fm_mover *list; // by agent slot
};

static bool goes(const void *context, fm_cell from, fm_cell to)
{
    const struct movers *movers = context;
    uint32_t unit = fm_occupancy_at(movers->occupancy, from)->now;
    if (unit == 0) {
        return false;
    }
    const fm_mover *mover = &movers->list[unit - 1];
    return mover->size == 1 && mover->progress != FM_MOVER_UNDECIDED && mover->next == to;
}

bool fm_pibt_crosses(const fm_occupancy *occupancy, const fm_mover *movers, const fm_mover *mover,
                     uint32_t d)
{
    if ((d & 1) == 0 || mover->size > 1) {
        return false;
    }
    fm_cell left = fm_cell_step(mover->cell, d - 1);
    fm_cell right = fm_cell_step(mover->cell, (d + 1) % FM_DIRECTION_COUNT);
    return fm_is_crossed(goes, &(struct movers){occupancy, movers}, left, right);
}

// A unit of another team that does not concede cannot be pushed. But if it is under way and has not
// been asked yet, it may be about to leave: it decides before the unit that wants its place does.
static bool decides_first(const fm_mover *mover, const fm_mover *other)
{
    return other->progress == FM_MOVER_UNDECIDED && other->team != mover->team && !other->aside &&
           !other->gentle && (other->preferences & 15) < FM_PREFERENCE_STAY && !other->concedes;
}

// Whether a unit may claim a place. `first`: slot of one that has to decide before that is known;
// FM_CELL_NONE: none.
static bool can_try(struct round *r, uint32_t slot, uint32_t d, fm_cell target, uint32_t *first)
{
    const fm_mover *mover = &r->movers[slot];
    *first = FM_CELL_NONE;
    FOR_EACH_PLACE(r->occupancy, target, mover->size, place)
    {
        if (place->claim != 0) {
            return false;
        }
        if (place->now != 0 && place->now != slot + 1) {
            const fm_mover *other = &r->movers[place->now - 1];
            if (decides_first(mover, other)) {
                *first = place->now - 1;
            } else if (!lets_in(r, mover, other)) {
                return false;
            }
        }
    }
    bool cross = fm_pibt_crosses(r->occupancy, r->movers, mover, d);
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

// Whether a unit pushed by `pusher` steps out of its way instead of following its own preferences.
static bool steps_aside(const fm_mover *mover, const fm_mover *pusher)
{
    return mover->aside || (mover->returns && pusher->size > 1);
}

// Whether stepping to the left makes room for `pusher`, which goes in a direction, sooner.
// Always false among units of one size that stand in line.
static bool is_left_of(const fm_mover *mover, const fm_mover *pusher, uint32_t direction)
{
    // From the middle of the one to the middle of the other, in half cells.
    int32_t dx = 2 * ((int32_t)fm_cell_x(mover->cell) - (int32_t)fm_cell_x(pusher->cell)) +
                 mover->size - pusher->size;
    int32_t dy = 2 * ((int32_t)fm_cell_y(mover->cell) - (int32_t)fm_cell_y(pusher->cell)) +
                 mover->size - pusher->size;
    return fm_direction_dx[direction] * dy - fm_direction_dy[direction] * dx < 0;
}

// A list for a unit that steps aside: places that are free before those where somebody stands, and
// both before those where the pusher goes next.
static uint64_t preferences_aside(const struct round *r, uint32_t slot, const fm_mover *pusher,
                                  uint32_t direction)
{
    const fm_mover *mover = &r->movers[slot];
    bool left = is_left_of(mover, pusher, direction);
    uint32_t ahead = mover->size > 1 || pusher->size > 1
                         ? 0
                         : r->ground->ahead(r->ground->context, (uint32_t)(pusher - r->movers),
                                            mover->cell, mover->moves);
    uint64_t lists[ASIDE_RANKS] = {0}, list = FM_PREFERENCES_NONE;
    uint32_t counts[ASIDE_RANKS] = {0};
    for (uint32_t i = FM_COUNT_OF(aside_turns); i-- > 0;) {
        uint32_t turn = left ? FM_DIRECTION_COUNT - aside_turns[i] : aside_turns[i];
        uint32_t d = (direction + turn) % FM_DIRECTION_COUNT;
        if (mover->moves >> d & 1) {
            bool taken = !fm_occupancy_is_free(r->occupancy, fm_cell_step(mover->cell, d),
                                               mover->size, slot + 1);
            uint32_t rank = (ahead >> d & 1) << 1 | taken;
            lists[rank] = lists[rank] << 4 | d;
            counts[rank] += 1;
        }
    }
    for (uint32_t rank = ASIDE_RANKS; rank-- > 0;) {
        list = list << 4 * counts[rank] | lists[rank];
    }
    return list;
}

// How many steps in a direction bring a unit out of the place that `pusher` wants. SIDE_CLOSED:
// there is no way.
static uint32_t steps_out(const struct round *r, uint32_t slot, const fm_mover *pusher,
                          uint32_t direction, uint32_t d)
{
    const fm_mover *mover = &r->movers[slot];
    fm_cell target = fm_cell_step(pusher->cell, direction), cell = mover->cell;
    uint32_t moves = mover->moves, steps = 0;
    while (overlap(cell, mover->size, target, pusher->size)) {
        if (!(moves >> d & 1)) {
            return SIDE_CLOSED;
        }
        cell = fm_cell_step(cell, d);
        moves = r->ground->moves(r->ground->context, slot, cell);
        steps += 1;
    }
    return steps;
}

// A list for a unit that moves sideways: to the side where fewer steps lead out of the way, even if
// somebody stands there; between equal sides, to the free one. By who stands there alone it would
// go to and fro.
static uint64_t preferences_sideways(const struct round *r, uint32_t slot, const fm_mover *pusher,
                                     uint32_t direction)
{
    const fm_mover *mover = &r->movers[slot];
    bool left = is_left_of(mover, pusher, direction);
    uint32_t keys[TURNS_SIDEWAYS];
    uint64_t sides[TURNS_SIDEWAYS];
    for (uint32_t i = 0; i < TURNS_SIDEWAYS; i++) {
        uint32_t turn = left ? FM_DIRECTION_COUNT - aside_turns[i] : aside_turns[i];
        uint32_t d = (direction + turn) % FM_DIRECTION_COUNT;
        bool can = mover->moves >> d & 1;
        bool taken = !can || !fm_occupancy_is_free(r->occupancy, fm_cell_step(mover->cell, d),
                                                   mover->size, slot + 1);
        keys[i] = steps_out(r, slot, pusher, direction, d) << 1 | taken;
        sides[i] = can ? d : FM_PREFERENCE_NONE;
    }
    uint32_t first =
        sides[0] == FM_PREFERENCE_NONE || (sides[1] != FM_PREFERENCE_NONE && keys[1] < keys[0]);
    return (FM_PREFERENCES_NONE << 4 | sides[1 - first]) << 4 | sides[first];
}

// `pusher` asks a unit to leave in a direction; NULL: its own turn has come, or another waits for
// it.
static void ask(struct round *r, uint32_t slot, const fm_mover *pusher, uint32_t direction)
{
    const fm_mover *mover = &r->movers[slot];
    uint64_t preferences = mover->preferences;
    bool aside = pusher != NULL && steps_aside(mover, pusher);
    if (aside) {
        preferences = preferences_aside(r, slot, pusher, direction);
    }
    uint32_t partner = 0;
    if (mover->narrow && mover->size == 1 && !aside) {
        partner = fm_swap_partner(r->ground, r->occupancy, r->movers, slot);
        preferences = partner == 0 ? preferences : r->ground->retreat(r->ground->context, slot);
    }
    r->stack[r->depth++] = (fm_pibt_frame){
        .slot = slot, .preferences = preferences, .partner = partner, .pushed = pusher != NULL};
    r->large += mover->size > 1;
    r->free += pusher == NULL && r->depth > 1;
}

// The cell of a unit that is still to be asked about the claimed cells. `lost` is set when one of
// the claims was taken back. FM_CELL_NONE when none is left.
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

// A unit was pushed and has found no place outside of the pusher's. Moves it sideways, if one of
// them is large: it may take several ticks to leave the way of somebody before the middle of its
// side. Two large ones that meet in the open would stand still for ever otherwise: each prefers its
// place to a step that leads nowhere nearer. Returns whether there is something to try.
static bool slide(struct round *r, fm_pibt_frame *frame)
{
    const fm_mover *mover = &r->movers[frame->slot];
    if (!frame->pushed || frame->slides ||
        (mover->size == 1 && r->movers[frame[-1].slot].size == 1)) {
        return false;
    }
    const fm_pibt_frame *below = &frame[-1];
    withdraw(r, below->slot, r->movers[below->slot].next);
    frame->slides = true;
    frame->preferences =
        preferences_sideways(r, frame->slot, &r->movers[below->slot], below->direction);
    return true;
}

// The list of the unit on top of the stack is at its end. Where all are of one cell it stays: there
// is no place for it, no matter who asks. Under the claims of a large unit, which are lost now, it
// may be another matter. So it may be asked again, and has its own turn in any case: else two large
// units, the one in the other's only way, could stand still for ever.
static void give_up(struct round *r, fm_pibt_frame *frame)
{
    fm_mover *mover = &r->movers[frame->slot];
    if (!frame->pushed || r->large == 0) {
        stay(r, frame->slot);
        return;
    }
    withdraw(r, frame[-1].slot, r->movers[frame[-1].slot].next);
    mover->next = mover->cell;
    mover->refusals += 1;
}

// The unit on top of the stack tries the same place when another has decided. Meanwhile nobody may
// count on its own place.
static void wait_for(struct round *r, fm_pibt_frame *frame, uint32_t other, fm_cell target)
{
    fm_mover *mover = &r->movers[frame->slot];
    frame->waits = true;
    mover->next = target;
    mover->progress = FM_MOVER_TRYING;
    ask(r, other, NULL, 0);
}

static void stop_waiting(struct round *r, fm_pibt_frame *frame)
{
    fm_mover *mover = &r->movers[frame->slot];
    frame->waits = false;
    mover->next = mover->cell;
    mover->progress = FM_MOVER_UNDECIDED;
}

// Tries the next preference of the unit on top of the stack. Returns whether it is done with it.
static bool try_next(struct round *r, fm_pibt_frame *frame)
{
    fm_mover *mover = &r->movers[frame->slot];
    uint32_t d = frame->preferences & 15;
    fm_cell target = fm_cell_step(mover->cell, d % FM_DIRECTION_COUNT);
    uint32_t first = FM_CELL_NONE;
    bool can = d < FM_PREFERENCE_STAY && can_try(r, frame->slot, d, target, &first);
    if (can && first != FM_CELL_NONE) {
        wait_for(r, frame, first, target);
        return false;
    }
    frame->preferences = frame->preferences >> 4 | FM_PREFERENCE_NONE << 60;
    frame->tries += frame->tries < UINT8_MAX;
    if (d == FM_PREFERENCE_STAY && !is_claimed(r, mover)) {
        stay(r, frame->slot);
        return true;
    }
    if (d == FM_PREFERENCE_NONE) {
        if (slide(r, frame)) {
            return false;
        }
        give_up(r, frame);
        return true;
    }
    if (can) {
        claim(r, frame->slot, target);
        frame->direction = (uint8_t)d;
        mover->next = target;
        mover->progress = FM_MOVER_TRYING;
    }
    return false;
}

// The unit on top of the stack has got the first cell of its list. Its partner takes its place,
// unless it has one already or somebody else has claimed it.
static void pull(struct round *r, const fm_pibt_frame *frame)
{
    if (frame->partner == 0 || frame->tries != 1) {
        return;
    }
    const fm_mover *mover = &r->movers[frame->slot];
    fm_mover *partner = &r->movers[frame->partner - 1];
    uint32_t d = fm_cell_direction(partner->cell, mover->cell);
    if (partner->progress == FM_MOVER_UNDECIDED && partner->moves >> d & 1 &&
        fm_occupancy_at(r->occupancy, mover->cell)->claim == 0 &&
        !fm_pibt_crosses(r->occupancy, r->movers, partner, d)) {
        claim(r, frame->partner - 1, mover->cell);
        partner->next = mover->cell;
        partner->progress = FM_MOVER_DECIDED;
    }
}

// Checks whether the try of the unit on top of the stack has succeeded, or which unit must be asked
// next. Returns whether the unit is done with it.
static bool go_on_trying(struct round *r, fm_pibt_frame *frame)
{
    fm_mover *mover = &r->movers[frame->slot];
    bool lost = false;
    uint32_t other = next_in_the_way(r, frame->slot, &lost);
    if (lost) {
        withdraw(r, frame->slot, mover->next);
        mover->progress = FM_MOVER_UNDECIDED;
    } else if (other != FM_CELL_NONE) {
        ask(r, other, mover, frame->direction);
    } else {
        mover->progress = FM_MOVER_DECIDED;
        pull(r, frame);
    }
    return mover->progress == FM_MOVER_DECIDED;
}

// Decides for one unit, and for all that it has to push.
static void resolve_one(struct round *r, uint32_t root)
{
    ask(r, root, NULL, 0);
    while (r->depth > 0) {
        fm_pibt_frame *frame = &r->stack[r->depth - 1];
        const fm_mover *mover = &r->movers[frame->slot];
        if (frame->waits) {
            stop_waiting(r, frame);
        }
        bool done =
            mover->progress == FM_MOVER_TRYING ? go_on_trying(r, frame) : try_next(r, frame);
        if (done) {
            r->free -= !frame->pushed && r->depth > 1;
            r->depth -= 1;
            r->large -= mover->size > 1;
        }
    }
}

uint64_t fm_pibt_resolve(const fm_pibt_ground *ground, fm_occupancy *occupancy, fm_mover *movers,
                         const uint32_t *turns, uint32_t turn_count, fm_pibt_frame *stack)
{
    struct round r = {.ground = ground, .occupancy = occupancy, .movers = movers, .stack = stack};
    for (uint32_t i = 0; i < turn_count; i++) {
        if (movers[turns[i]].progress == FM_MOVER_UNDECIDED) {
            resolve_one(&r, turns[i]);
        }
    }
    return r.swaps;
}

// ---- before and after ---------------------------------------------------------------------------

static bool is_decided(const fm_mover *mover)
{
    return mover->team != 0 && mover->progress == FM_MOVER_DECIDED;
}

void fm_pibt_claim_decided(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                           uint32_t slot_end)
{
    for (uint32_t slot = slot_begin; slot < slot_end; slot++) {
        if (is_decided(&movers[slot])) {
            FOR_EACH_PLACE(occupancy, movers[slot].next, movers[slot].size, place)
            {
                place->claim = slot + 1;
            }
        }
    }
}

void fm_pibt_leave(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                   uint32_t slot_end)
{
    for (uint32_t slot = slot_begin; slot < slot_end; slot++) {
        const fm_mover *mover = &movers[slot];
        if (is_decided(mover) && mover->next != mover->cell) {
            fm_occupancy_leave(occupancy, mover->cell, mover->size, slot + 1);
        }
    }
}

void fm_pibt_enter(fm_occupancy *occupancy, const fm_mover *movers, uint32_t slot_begin,
                   uint32_t slot_end)
{
    for (uint32_t slot = slot_begin; slot < slot_end; slot++) {
        const fm_mover *mover = &movers[slot];
        if (!is_decided(mover)) {
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
