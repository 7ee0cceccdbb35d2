// core/crowd/knot_step.c: see knot_step.h.

#include "core/crowd/knot_step.h"

#include "core/crowd/crossing.h"

#include <string.h>

#define ASKED_EACH 16u // times that a unit may be asked on average, where some are large

static uint32_t size_of(const fm_knot_step *step, uint32_t unit)
{
    return step->ground.kinds[step->units[unit].kind].size;
}

static const uint16_t *ways(const fm_knot_step *step, uint32_t unit, uint16_t cell)
{
    return step->ground.kinds[step->units[unit].kind].steps[cell].next;
}

// ---- cells under units --------------------------------------------------------------------------

// The cell number i under a unit of `size` at `cell`.
static uint16_t part(const fm_knot_step *step, uint16_t cell, uint32_t size, uint32_t i)
{
    return size == 1 ? cell : step->under[cell][i / size * FM_KNOT_SIZE_MAX + i % size];
}

static void set_under(fm_knot_step *step, uint16_t cell)
{
    uint16_t row = cell;
    for (uint32_t y = 0; y < FM_KNOT_SIZE_MAX; y++) {
        uint16_t at = row;
        for (uint32_t x = 0; x < FM_KNOT_SIZE_MAX; x++) {
            step->under[cell][y * FM_KNOT_SIZE_MAX + x] = at;
            at = at == FM_KNOT_NONE ? at : step->ground.beside[at].next[FM_EAST];
        }
        row = row == FM_KNOT_NONE ? row : step->ground.beside[row].next[FM_SOUTH];
    }
}

void fm_knot_step_init(fm_knot_step *step)
{
    step->is_mixed = false;
    for (uint32_t i = 0; i < step->unit_count; i++) {
        step->is_mixed = step->is_mixed || size_of(step, i) > 1;
    }
    for (uint32_t i = 0; step->is_mixed && i < step->ground.cell_count; i++) {
        set_under(step, (uint16_t)i);
    }
}

static bool covers(const fm_knot_step *step, uint32_t unit, uint16_t at, uint16_t cell)
{
    uint32_t size = size_of(step, unit);
    for (uint32_t i = 0; i < size * size; i++) {
        if (part(step, at, size, i) == cell) {
            return true;
        }
    }
    return false;
}

// Whether a unit at `a` and another at `b` would share a cell.
static bool overlap(const fm_knot_step *step, uint32_t one, uint16_t a, uint32_t other, uint16_t b)
{
    uint32_t size = size_of(step, other);
    for (uint32_t i = 0; i < size * size; i++) {
        if (covers(step, one, a, part(step, b, size, i))) {
            return true;
        }
    }
    return false;
}

static bool is_claimed(const fm_knot_step *step, uint32_t unit, uint16_t cell)
{
    uint32_t size = size_of(step, unit);
    for (uint32_t i = 0; i < size * size; i++) {
        if (step->then[part(step, cell, size, i)] != 0) {
            return true;
        }
    }
    return false;
}

static void write(const fm_knot_step *step, uint16_t *row, uint32_t unit, uint16_t cell,
                  uint16_t value)
{
    uint32_t size = size_of(step, unit);
    for (uint32_t i = 0; i < size * size; i++) {
        row[part(step, cell, size, i)] = value;
    }
}

static void claim(fm_knot_step *step, uint32_t unit, uint16_t cell)
{
    write(step, step->then, unit, cell, (uint16_t)(unit + 1));
    step->to[unit] = cell;
    if (step->is_mixed) {
        step->trail[step->trail_count++] = (uint16_t)unit;
    }
}

// Takes back all decisions since the trail had `count` units.
static void take_back(fm_knot_step *step, uint32_t count)
{
    while (step->trail_count > count) {
        uint16_t unit = step->trail[--step->trail_count];
        write(step, step->then, unit, step->to[unit], 0);
        step->to[unit] = FM_KNOT_NONE;
    }
}

// ---- what two may not do ------------------------------------------------------------------------

static bool goes(const void *context, uint32_t from, uint32_t to)
{
    const fm_knot_step *step = context;
    if (from == FM_KNOT_NONE || to == FM_KNOT_NONE || step->now[from] == 0) {
        return false;
    }
    uint32_t unit = step->now[from] - 1u;
    return step->to[unit] == to && size_of(step, unit) == 1;
}

// Whether a unit crosses the other diagonal of the square.
static bool crosses(const fm_knot_step *step, uint16_t from, uint16_t to)
{
    const uint16_t *around = step->ground.beside[from].next;
    for (uint32_t d = 1; d < FM_DIRECTION_COUNT; d += 2) {
        if (around[d] == to) {
            uint16_t left = around[d - 1], right = around[(d + 1) % FM_DIRECTION_COUNT];
            return fm_is_crossed(goes, step, left, right);
        }
    }
    return false;
}

// Whether two who go from `from` to `to` and back, or over the diagonals of one square, would meet.
static bool meets(const fm_knot_step *step, uint32_t unit, uint16_t from, uint16_t to)
{
    uint32_t size = size_of(step, unit);
    for (uint32_t i = 0; i < size * size; i++) {
        uint16_t other = step->now[part(step, to, size, i)];
        if (other != 0 && other != unit + 1 && step->to[other - 1] != FM_KNOT_NONE &&
            overlap(step, unit, from, other - 1u, step->to[other - 1])) {
            return true;
        }
    }
    return size == 1 && crosses(step, from, to);
}

static bool can_go(const fm_knot_step *step, uint32_t unit, uint16_t from, uint16_t to)
{
    return !is_claimed(step, unit, to) && (from == to || !meets(step, unit, from, to));
}

// ---- swaps --------------------------------------------------------------------------------------

// Whether a unit that goes from `from` to `cell` comes into a corridor without a way out that is
// full of units that want to be there.
static bool is_held_end(fm_knot_step *step, uint32_t unit, uint16_t from, uint16_t cell)
{
    for (uint32_t i = 0; i < step->ground.cell_count; i++) {
        step->looked += 1;
        if (step->now[cell] == 0 || step->units[step->now[cell] - 1].goal != cell) {
            return false;
        }
        uint32_t count = 0;
        uint16_t next = FM_KNOT_NONE;
        const uint16_t *cells = ways(step, unit, cell);
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            if (cells[d] != FM_KNOT_NONE && cells[d] != from) {
                next = cells[d];
                count += 1;
            }
        }
        if (count != 1) {
            return count == 0;
        }
        from = cell;
        cell = next;
    }
    return false;
}

// Counts the cells that lead on from `at` for a unit that came from `from`, without dead ends in
// which units stand that want to be there. 2 stands for 2 and more; `next` receives the last one.
static uint32_t ways_on(fm_knot_step *step, uint32_t unit, uint16_t from, uint16_t at,
                        uint16_t *next)
{
    uint32_t count = 0;
    const uint16_t *cells = ways(step, unit, at);
    step->looked += 1;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT && count < 2; d++) {
        uint16_t cell = cells[d];
        if (cell != FM_KNOT_NONE && cell != from && !is_held_end(step, unit, at, cell)) {
            *next = cell;
            count += 1;
        }
    }
    return count;
}

// Whether `pusher`, from `behind`, drives `puller`, in `ahead`, to where that one has to come back
// from.
static bool is_required(fm_knot_step *step, uint32_t pusher, uint32_t puller, uint16_t behind,
                        uint16_t ahead)
{
    bool is_end = false;
    while (fm_knot_distance(step, pusher, ahead) < fm_knot_distance(step, pusher, behind)) {
        uint16_t next = FM_KNOT_NONE;
        uint32_t count = ways_on(step, pusher, behind, ahead, &next);
        if (count >= 2) {
            return false; // there they can pass
        }
        if (count == 0) {
            is_end = true;
            break;
        }
        behind = ahead;
        ahead = next;
    }
    // One without a goal has to leave the dead end that the pusher wants into.
    bool comes_back =
        step->units[puller].goal == FM_KNOT_NONE
            ? is_end
            : fm_knot_distance(step, puller, behind) < fm_knot_distance(step, puller, ahead);
    return comes_back &&
           (fm_knot_distance(step, pusher, behind) == 0 ||
            fm_knot_distance(step, pusher, ahead) < fm_knot_distance(step, pusher, behind));
}

// Whether a unit that backs out from `from` to `at` and further comes to a fork.
static bool is_possible(fm_knot_step *step, uint32_t unit, uint16_t from, uint16_t at)
{
    uint16_t first = from;
    for (uint32_t i = 0; i < step->ground.cell_count && at != first; i++) {
        uint16_t next = FM_KNOT_NONE;
        uint32_t count = ways_on(step, unit, from, at, &next);
        if (count != 1) {
            return count >= 2;
        }
        from = at;
        at = next;
    }
    return false;
}

// The unit that a unit on its way to `first` has to pull after it, as unit + 1; 0: none.
static uint32_t partner_of(fm_knot_step *step, uint32_t unit, uint16_t at, uint16_t first)
{
    uint32_t other = step->now[first];
    if (first == at || size_of(step, unit) > 1) {
        return 0;
    }
    if (other != 0 && step->to[other - 1] == FM_KNOT_NONE && size_of(step, other - 1) == 1 &&
        is_required(step, unit, other - 1, at, first) && is_possible(step, unit, first, at)) {
        return other;
    }
    // A unit that follows it into the corridor has to go farther than it.
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        uint16_t cell = ways(step, unit, at)[d];
        other = cell == FM_KNOT_NONE || cell == first ? 0 : step->now[cell];
        if (other != 0 && size_of(step, other - 1) == 1 &&
            is_required(step, other - 1, unit, at, first) && is_possible(step, unit, first, at)) {
            return other;
        }
    }
    return 0;
}

// The unit that leaves `left` has got its first preference: its partner takes its cell.
static void pull(fm_knot_step *step, uint32_t partner, uint16_t left)
{
    uint16_t at = step->places[partner];
    if (step->to[partner] == FM_KNOT_NONE && can_go(step, partner, at, left)) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            if (ways(step, partner, at)[d] == left) {
                claim(step, partner, left);
                return;
            }
        }
    }
}

// ---- the step -----------------------------------------------------------------------------------

uint32_t fm_knot_step_options(fm_knot_step *step, uint32_t unit, uint16_t at, uint16_t *cells)
{
    uint32_t keys[FM_KNOT_OPTIONS_MAX], count = 0;
    for (uint32_t d = 0; d < FM_KNOT_OPTIONS_MAX; d++) {
        uint16_t cell = d == FM_DIRECTION_COUNT ? at : ways(step, unit, at)[d];
        if (cell == FM_KNOT_NONE) {
            continue;
        }
        bool taken = cell != at && step->now[cell] != 0;
        uint32_t key = (uint32_t)fm_knot_distance(step, unit, cell) << 8 | (uint32_t)taken << 7 |
                       ((uint32_t)fm_random_next(&step->random) & 127);
        uint32_t j = count++;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            cells[j] = cells[j - 1];
        }
        keys[j] = key;
        cells[j] = cell;
    }
    return count;
}

static void reverse(uint16_t *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint16_t cell = cells[i];
        cells[i] = cells[count - 1 - i];
        cells[count - 1 - i] = cell;
    }
}

static bool decide(fm_knot_step *step, uint32_t unit);

// Every unit in a cell that was claimed for `unit` finds another place.
static bool clear(fm_knot_step *step, uint32_t unit, uint16_t cell)
{
    uint32_t size = size_of(step, unit);
    for (uint32_t i = 0; i < size * size; i++) {
        uint16_t other = step->now[part(step, cell, size, i)];
        if (other != 0 && other != unit + 1 && step->to[other - 1] == FM_KNOT_NONE &&
            !decide(step, other - 1u)) {
            return false;
        }
    }
    return true;
}

// Priority inheritance for one unit. Not deeper than there are units.
static bool decide(fm_knot_step *step, uint32_t unit)
{
    uint16_t at = step->places[unit], cells[FM_KNOT_OPTIONS_MAX];
    step->asked += 1;
    if (step->is_mixed && step->asked > ASKED_EACH * step->unit_count) {
        return false;
    }
    uint32_t count = fm_knot_step_options(step, unit, at, cells);
    uint32_t partner = partner_of(step, unit, at, cells[0]);
    if (partner != 0) {
        reverse(cells, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!can_go(step, unit, at, cells[i])) {
            continue;
        }
        uint32_t before = step->trail_count;
        claim(step, unit, cells[i]);
        if (clear(step, unit, cells[i])) {
            if (partner != 0 && i == 0 && cells[i] != at) {
                pull(step, partner - 1, at);
            }
            return true;
        }
        if (step->is_mixed) {
            take_back(step, before);
        } else {
            step->to[unit] = FM_KNOT_NONE; // the unit that refused stays, and has the cell
        }
    }
    if (!step->is_mixed) {
        claim(step, unit, at);
    }
    return false;
}

void fm_knot_step_begin(fm_knot_step *step, const uint16_t *places)
{
    step->places = places;
    step->trail_count = step->asked = step->looked = 0;
    memset(step->now, 0, sizeof step->now);
    memset(step->then, 0, sizeof step->then);
    for (uint32_t i = 0; i < step->unit_count; i++) {
        write(step, step->now, i, places[i], (uint16_t)(i + 1));
        step->to[i] = FM_KNOT_NONE;
    }
}

bool fm_knot_step_tell(fm_knot_step *step, uint32_t unit, uint16_t cell)
{
    bool can = can_go(step, unit, step->places[unit], cell);
    if (can) {
        claim(step, unit, cell);
    }
    return can;
}

bool fm_knot_step_complete(fm_knot_step *step, const uint16_t *order)
{
    for (uint32_t i = 0; i < step->unit_count; i++) {
        if (step->to[order[i]] == FM_KNOT_NONE && !decide(step, order[i])) {
            return false;
        }
    }
    return true;
}
