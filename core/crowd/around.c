// core/crowd/around.c: see around.h.

#include "core/crowd/around.h"

#include "core/crowd/around_search.h"
#include "core/crowd/patience.h"
#include "core/crowd/standing.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define WAYS_MAX    128u
#define LOOK_BEFORE 12u // ticks: with so many more its looks are at powers of two
#define LOOK_FIRST  4u
#define LOOK_AGAIN  1024u
#define WORK_MAX    4000u // expansions: with more no other look begins in a tick
#define LONG_AFTER  16u   // ticks
#define CHECKS      16u   // members of a team that are looked at for one expansion
#define BACK_MAX    6u    // cells to its way, of who was pushed off it
#define STEP_TICKS  4u    // for each step of a way, with LEFT_TICKS more: then it is forgotten
#define LEFT_TICKS  64u

_Static_assert(WAYS_MAX <= UINT8_MAX, "fm_mover.around holds it");

struct way {
    uint64_t order; // whose it is; 0: nobody's
    uint32_t slot;
    fm_cell goal; // that the order had
    uint32_t count;
    uint64_t until; // tick
    fm_around_memory seen;
    fm_cell cells[FM_AROUND_CELLS_MAX];
};

struct fm_around {
    fm_around_search *search;
    uint64_t owed; // expansions that no tick has paid yet
    uint32_t next; // word of marks that is looked at first
    uint32_t count;
    struct way ways[WAYS_MAX];
};

// ---- the choose stage ---------------------------------------------------------------------------

static uint32_t steps_between(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx > dy ? dx : dy;
}

// Where a step leads that comes nearer to a cell.
static fm_cell step_towards(fm_cell from, fm_cell to)
{
    uint32_t x = fm_cell_x(from), y = fm_cell_y(from);
    x += (uint32_t)(fm_cell_x(to) > x) - (uint32_t)(fm_cell_x(to) < x);
    y += (uint32_t)(fm_cell_y(to) > y) - (uint32_t)(fm_cell_y(to) < y);
    return fm_cell_at(x, y);
}

// The next cell of a way. Who was pushed off it comes back to the nearest cell of it, of equals to
// the last one. FM_CELL_NONE: too far away.
static fm_cell next_on(const struct way *way, fm_cell from)
{
    uint32_t least = BACK_MAX + 1, best = 0;
    for (uint32_t i = way->count; i-- > 0 && least > 0;) {
        uint32_t steps = steps_between(from, way->cells[i]);
        if (steps < least) {
            least = steps;
            best = i;
        }
    }
    if (least > BACK_MAX) {
        return FM_CELL_NONE;
    }
    return least == 0 ? way->cells[best + 1] : step_towards(from, way->cells[best]);
}

// Whether it goes on along a way, at whose end it is not.
static bool goes_on(const fm_world *world, struct fm_agent *agent, const struct way *way)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    fm_cell next = next_on(way, agent->cell);
    uint32_t d = next == FM_CELL_NONE ? FM_DIRECTION_COUNT : fm_cell_direction(agent->cell, next);
    if (d >= FM_DIRECTION_COUNT || !(fm_view_moves(view, agent->cell) >> d & 1) ||
        fm_standing_at(world, agent, next) != 0) {
        return false;
    }
    agent->next = next;
    return true;
}

static bool is_over(const struct fm_agent *agent, const struct way *way)
{
    return way->order != agent->order.id || way->goal != fm_order_aim(&agent->order) ||
           way->cells[way->count - 1] == agent->cell || agent->planner == FM_SLOT_NONE ||
           agent->order.resting || agent->order.is_alerted || agent->frozen;
}

bool fm_around_follow(fm_world *world, struct fm_agent *agent, fm_mover *mover)
{
    if (mover->around == 0) {
        return false;
    }
    const struct way *way = &fm_world_edit_crowd(world)->around->ways[mover->around - 1];
    bool over = is_over(agent, way);
    if (!over && goes_on(world, agent, way)) {
        return true;
    }
    if (!over) { // it was pushed far away, or there are more who stand
        fm_agent_mark_set(world, agent, FM_MARK_HELD);
    }
    mover->around = 0;
    return false;
}

void fm_around_note(fm_world *world, const struct fm_agent *agent)
{
    uint32_t blocked = agent->hindered / 2u, ticks = blocked + LOOK_BEFORE;
    bool is_due = blocked >= LOOK_FIRST && (ticks & (ticks - 1)) == 0;
    if (blocked >= FM_PATIENCE_TICKS) { // it waits for ever, and the count stands still
        uint32_t lot = fm_agent_id_of(world, agent).index1;
        is_due = (fm_world_tick(world) + lot) % LOOK_AGAIN == 0;
    }
    if (is_due && agent->is_ready && agent->order.id != 0 && agent->next != agent->cell &&
        (blocked >= LONG_AFTER || fm_standing_at(world, agent, agent->next) != 0)) {
        fm_agent_mark_set(world, agent, FM_MARK_HELD);
    }
}

// ---- looks --------------------------------------------------------------------------------------

static struct fm_around *around_of(fm_world *world)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    const fm_memory *memory = fm_world_memory(world);
    if (crowd->around == NULL) {
        struct fm_around *around = fm_memory_allocate_zeroed(memory, 1, sizeof *around);
        fm_around_search *search = around == NULL ? NULL : fm_around_search_create(memory);
        if (search == NULL) {
            fm_memory_release(memory, around, sizeof *around);
            return NULL;
        }
        around->search = search;
        crowd->around = around;
    }
    return crowd->around;
}

// Nobody follows it any more.
static void drop(fm_world *world, struct fm_around *around, uint32_t i)
{
    struct way *way = &around->ways[i];
    fm_mover *mover = &fm_world_edit_crowd(world)->movers[way->slot];
    mover->around = mover->around == i + 1 ? 0 : mover->around;
    way->order = 0;
    around->count -= 1;
}

// Forgets the ways of orders that have ended, and old ones. Until then the unit remembers whom it
// has seen.
static void forget(fm_world *world, struct fm_around *around)
{
    for (uint32_t i = 0; around->count > 0 && i < WAYS_MAX; i++) {
        struct way *way = &around->ways[i];
        if (way->order == 0) {
            continue;
        }
        const struct fm_agent *agent = &fm_world_agents(world)->slots[way->slot];
        bool is_under_way = agent->alive && agent->order.id == way->order;
        if (!is_under_way || fm_world_tick(world) >= way->until) {
            drop(world, around, i);
        }
    }
}

// The way that an agent had under its order, or a free one, or one that nobody follows.
static struct way *way_for(fm_world *world, struct fm_around *around, uint32_t slot)
{
    const struct fm_agent *agent = &fm_world_agents(world)->slots[slot];
    const fm_mover *movers = fm_world_edit_crowd(world)->movers;
    uint32_t best = WAYS_MAX, best_rank = 3;
    for (uint32_t i = 0; i < WAYS_MAX; i++) {
        const struct way *way = &around->ways[i];
        bool is_own = way->order != 0 && way->order == agent->order.id && way->slot == slot;
        uint32_t rank = is_own                               ? 0
                        : way->order == 0                    ? 1
                        : movers[way->slot].around != i + 1u ? 2
                                                             : 3;
        if (rank < best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    if (best == WAYS_MAX) {
        return NULL;
    }
    struct way *way = &around->ways[best];
    if (best_rank > 0) {
        around->count += way->order == 0;
        *way = (struct way){.order = agent->order.id, .slot = slot};
    }
    way->until = fm_world_tick(world) + LEFT_TICKS;
    return way;
}

// Whether it still waits, under the same order or another one.
static bool may_look(const struct fm_agent *agent, const fm_mover *mover)
{
    return agent->order.id != 0 && agent->planner != FM_SLOT_NONE && agent->next != FM_CELL_NONE &&
           agent->hindered >= 2 * LOOK_FIRST && !mover->planned && mover->around == 0 &&
           !mover->shut;
}

// Its look is put off until its planner has an answer.
static bool waits_for_answer(const struct fm_agent *agent)
{
    return agent->order.id != 0 && agent->planner != FM_SLOT_NONE && agent->next == FM_CELL_NONE &&
           agent->plan_state == FM_PLAN_RUNNING && agent->hindered >= 2 * LOOK_FIRST;
}

static bool has_waited(const struct fm_agent *agent)
{
    return agent->hindered >= 2 * FM_AROUND_SHUT_TICKS;
}

// What was proved of one holds of those of its team who wait with it, or for the same place. They
// give up with it, though not all have waited for as long.
static void shut_others(fm_world *world, struct fm_around *around, const struct fm_agent *agent)
{
    fm_mover *movers = fm_world_edit_crowd(world)->movers;
    uint32_t count = fm_team_of(world, agent->team)->member_count;
    around->owed += count / CHECKS;
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_agent *other = fm_team_member(world, agent->team, i);
        if (other == NULL || other->class_index != agent->class_index ||
            other->hindered < 2 * LONG_AFTER) {
            continue;
        }
        fm_mover *mover = &movers[other - fm_world_agents(world)->slots];
        if (may_look(other, mover) && fm_around_search_proves(around->search, other)) {
            mover->shut = true;
        }
    }
}

static void look(fm_world *world, struct fm_around *around, uint32_t slot)
{
    const struct fm_agent *agent = &fm_world_agents(world)->slots[slot];
    fm_mover *mover = &fm_world_edit_crowd(world)->movers[slot];
    if (waits_for_answer(agent)) {
        fm_agent_mark_set(world, agent, FM_MARK_HELD);
    }
    struct way *way = may_look(agent, mover) ? way_for(world, around, slot) : NULL;
    if (way == NULL) {
        return;
    }
    way->goal = fm_order_aim(&agent->order);
    bool gives_up = has_waited(agent);
    uint32_t most = agent->hindered < 2 * LONG_AFTER ? FM_AROUND_BRIEF : FM_AROUND_LONG;
    switch (fm_around_search_run(around->search, world, agent, &way->seen, most, gives_up,
                                 way->cells, &way->count, &around->owed)) {
    case FM_AROUND_UNKNOWN:
        break;
    case FM_AROUND_FOUND:
        way->until = fm_world_tick(world) + LEFT_TICKS + STEP_TICKS * way->count;
        mover->around = (uint8_t)(way - around->ways + 1);
        break;
    case FM_AROUND_SHUT:
        mover->shut = gives_up;
        if (gives_up && fm_world_rules_get(world)->omniscient) {
            shut_others(world, around, agent);
        }
        break;
    }
}

// In turns; those that are marked and do not get to theirs have it in the next tick.
static void look_all(fm_world *world, struct fm_around *around, uint64_t most)
{
    uint32_t words = fm_mark_words(world);
    for (uint32_t i = 0; i < words && around->owed < most; i++) {
        uint32_t word = (around->next + i) % words;
        uint64_t *bits = &fm_world_edit_agents(world)->marks[word].of[FM_MARK_HELD];
        uint64_t left = *bits; // a look may be put off
        while (left != 0 && around->owed < most) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left);
            left &= left - 1;
            *bits &= ~((uint64_t)1 << bit);
            look(world, around, word * 64 + bit);
            around->next = word + (left == 0);
        }
    }
}

static bool any_marked(const fm_world *world)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        if (fm_world_agents(world)->marks[i].of[FM_MARK_HELD] != 0) {
            return true;
        }
    }
    return false;
}

uint64_t fm_around_attend(fm_world *world, uint64_t most)
{
    struct fm_around *around = fm_world_edit_crowd(world)->around;
    if (around != NULL) {
        forget(world, around);
    }
    if (any_marked(world)) {
        around = around_of(world);
    }
    if (around == NULL) {
        return 0;
    }
    look_all(world, around, fm_min(most, WORK_MAX));
    uint64_t paid = around->owed < most ? around->owed : most;
    around->owed -= paid;
    return paid;
}

fm_cell fm_around_via(const struct fm_around *around, const fm_mover *mover)
{
    if (mover->around == 0 || around->ways[mover->around - 1].order == 0) {
        return FM_CELL_NONE;
    }
    const struct way *way = &around->ways[mover->around - 1];
    return way->cells[way->count - 1];
}

void fm_around_drop_all(fm_world *world)
{
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (crowd->occupancy == NULL) {
        return;
    }
    struct fm_world_agents *agents = fm_world_edit_agents(world);
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        agents->marks[i].of[FM_MARK_HELD] = 0;
    }
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        crowd->movers[slot].around = 0;
    }
    if (crowd->around != NULL) {
        fm_around_search *search = crowd->around->search;
        *crowd->around = (struct fm_around){.search = search};
    }
}

void fm_around_fini(fm_world *world)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (crowd->around != NULL) {
        fm_around_search_destroy(crowd->around->search, fm_world_memory(world));
        fm_memory_release(fm_world_memory(world), crowd->around, sizeof *crowd->around);
        crowd->around = NULL;
    }
}
