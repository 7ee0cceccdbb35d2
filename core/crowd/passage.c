// core/crowd/passage.c: see passage.h.

#include "core/crowd/passage.h"

#include "core/crowd/jam.h"
#include "core/crowd/known.h"
#include "core/crowd/pibt.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#include <string.h>

#define PASSAGES_MAX  8u  // of a team at a time
#define FAILED_MAX    64u // that are remembered
#define STEPS_AHEAD   24u // that are kept free
#define MARGIN        8u  // steps out of the way, as far as is looked for a free place
#define TAKEN_LEVELS  8u  // a place that is taken counts as so many steps farther than a free one
#define BEGIN_PERIOD  8u  // ticks between two beginnings
#define WAITING_MAX   64u
#define HINDERED_MIN  256u // see patience.h: 2 for each tick
#define STALLED_TICKS 32u
#define TRAPPED_TICKS 4u // while one in the way finds no place
#define TICKS_MAX     384u
#define FAILED_TICKS  512u
#define AWAY          12u // cells
#define SIDE          96u // of the window around the unit, cells
#define CELLS         (SIDE * SIDE)
#define LEVEL_NONE    UINT16_MAX
#define KEY_LAST      0xffffu

struct passage {
    fm_agent_id agent;
    fm_cell goal, begun_at;
    uint64_t begun_tick, better_tick;
    uint32_t distance; // least to the goal
    uint32_t others;   // fewest in the way since that
    uint32_t trapped;  // that finds no way out, as slot + 1; 0
};

struct failure {
    fm_agent_id agent;
    uint64_t tick;
};

struct waiting {
    uint32_t slot;
    uint64_t rank;
};

struct fm_passages {
    uint32_t team, count;
    // Who waits for one: at the last look the first of those who were stuck, see list_waiting().
    uint32_t waiting_count;
    struct waiting waiting[WAITING_MAX];
    uint32_t failed_next;
    struct passage list[PASSAGES_MAX];
    struct failure failed[FAILED_MAX];
    // The world's, in this tick:
    const fm_occupancy *occupancy;
    fm_mover *movers;
    const struct fm_agent *agents;
    // Of the passage that is under work:
    fm_cell corner; // north-west, of the window
    uint32_t other_count;
    uint32_t others[CELLS]; // slots of those in the way
    bool closed[CELLS];
    uint16_t
        levels[CELLS]; // steps to a place out of the way, + 1; LEVEL_NONE: is reached, not known
    uint16_t reached[CELLS];
    uint8_t outside[CELLS]; // steps since it was closed
    uint32_t reached_count;
};

// ---- the window ---------------------------------------------------------------------------------

static bool is_inside(const struct fm_passages *p, fm_cell cell)
{
    return fm_cell_x(cell) - fm_cell_x(p->corner) < SIDE &&
           fm_cell_y(cell) - fm_cell_y(p->corner) < SIDE;
}

static uint32_t index_of(const struct fm_passages *p, fm_cell cell)
{
    return (fm_cell_y(cell) - fm_cell_y(p->corner)) * SIDE + fm_cell_x(cell) - fm_cell_x(p->corner);
}

static fm_cell cell_of(const struct fm_passages *p, uint32_t index)
{
    return p->corner + fm_cell_at(index % SIDE, index / SIDE);
}

static void place_window(struct fm_passages *p, fm_cell middle)
{
    uint32_t x = fm_cell_x(middle), y = fm_cell_y(middle);
    p->corner = fm_cell_at(x < SIDE / 2 ? 0 : x - SIDE / 2, y < SIDE / 2 ? 0 : y - SIDE / 2);
    memset(p->closed, 0, sizeof p->closed);
    p->other_count = 0;
}

static fm_cell part(fm_cell cell, uint32_t size, uint32_t i)
{
    return cell + fm_cell_at(i % size, i / size);
}

static bool overlaps_closed(const struct fm_passages *p, fm_cell cell, uint32_t size)
{
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell under = part(cell, size, i);
        if (is_inside(p, under) && p->closed[index_of(p, under)]) {
            return true;
        }
    }
    return false;
}

// ---- who is in the way --------------------------------------------------------------------------

static bool takes_part(const struct fm_passages *p, const fm_mover *mover)
{
    return mover->team == p->team && mover->pushable;
}

// Whether a unit that has to get out of the way can stand there. `is_free`: whether nobody stands
// there who is not in the way itself.
static bool is_place(const fm_world *world, const struct fm_passages *p, fm_cell cell,
                     uint32_t size, uint32_t owner, bool *is_free)
{
    *is_free = true;
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell under = part(cell, size, i);
        if (!is_inside(p, under) || !fm_world_contains(world, under)) {
            return false;
        }
        uint32_t unit = fm_crowd_known_unit_in(p->occupancy, p->movers, under, p->team);
        const fm_mover *mover = unit == 0 ? NULL : &p->movers[unit - 1];
        if (mover != NULL && (unit == owner || !takes_part(p, mover))) {
            return false;
        }
        *is_free = *is_free && (mover == NULL || mover->cleared);
    }
    return true;
}

// Closes the cells of the next steps of a unit and lists who else stands there. Returns whether it
// has a path.
static bool close_cells(const fm_world *world, struct fm_passages *p, const struct fm_agent *agent)
{
    fm_cell path[STEPS_AHEAD];
    if (agent->planner == FM_SLOT_NONE || agent->plan_state != FM_PLAN_FOUND) {
        return false;
    }
    const struct fm_planner *planner = &fm_world_planners(world)->slots[agent->planner];
    uint32_t count = planner->spec.ops->path(planner->self, agent->cell, path, STEPS_AHEAD);
    uint32_t size = fm_world_rules_get(world)->classes[agent->class_index].size;
    place_window(p, agent->cell);
    for (uint32_t i = 0; i < count && i < STEPS_AHEAD; i++) {
        for (uint32_t j = 0; j < size * size; j++) {
            fm_cell under = part(path[i], size, j);
            if (!is_inside(p, under) || !fm_world_contains(world, under)) {
                return i > 1;
            }
            p->closed[index_of(p, under)] = true;
        }
    }
    return count > 1;
}

// Whether nobody on the closed cells belongs to another passage.
static bool is_apart(const struct fm_passages *p)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        uint32_t unit = p->closed[i] ? fm_crowd_unit_in(p->occupancy, cell_of(p, i)) : 0;
        const fm_mover *mover = unit == 0 ? NULL : &p->movers[unit - 1];
        if (mover != NULL && mover->team == p->team && mover->cleared) {
            return false;
        }
    }
    return true;
}

// ---- out of the way -----------------------------------------------------------------------------

static void reach(struct fm_passages *p, fm_cell cell, uint32_t outside)
{
    uint32_t index = index_of(p, cell);
    p->levels[index] = LEVEL_NONE;
    p->outside[index] = (uint8_t)outside;
    p->reached[p->reached_count++] = (uint16_t)index;
}

// Finds all places of a class around those of its units that are in the way.
static void flood(const fm_world *world, struct fm_passages *p, uint32_t class_index,
                  uint32_t owner)
{
    const fm_view *view = fm_world_class_view(world, p->team, class_index);
    uint32_t size = fm_world_rules_get(world)->classes[class_index].size;
    bool is_free;
    p->reached_count = 0;
    for (uint32_t i = 0; i < p->other_count; i++) {
        const struct fm_agent *agent = &p->agents[p->others[i]];
        if (agent->class_index == class_index && p->levels[index_of(p, agent->cell)] == 0) {
            reach(p, agent->cell, 0);
        }
    }
    for (uint32_t i = 0; i < p->reached_count; i++) {
        fm_cell cell = cell_of(p, p->reached[i]);
        uint32_t outside = p->outside[p->reached[i]];
        for (uint32_t m = fm_view_moves(view, cell); m != 0 && outside < MARGIN; m &= m - 1) {
            fm_cell next = fm_cell_step(cell, (uint32_t)__builtin_ctz(m));
            if (is_inside(p, next) && p->levels[index_of(p, next)] == 0 &&
                is_place(world, p, next, size, owner, &is_free)) {
                reach(p, next, overlaps_closed(p, next, size) ? 0 : outside + 1);
            }
        }
    }
}

// Steps from each of these places to one out of the way.
static void measure(const fm_world *world, struct fm_passages *p, uint32_t class_index,
                    uint32_t owner)
{
    static const uint16_t none = LEVEL_NONE;
    uint16_t queue[CELLS];
    const fm_view *view = fm_world_class_view(world, p->team, class_index);
    uint32_t size = fm_world_rules_get(world)->classes[class_index].size, count = 0,
             taken_count = 0;
    uint16_t taken[CELLS];
    bool is_free;
    for (uint32_t i = 0; i < p->reached_count; i++) {
        fm_cell cell = cell_of(p, p->reached[i]);
        if (overlaps_closed(p, cell, size)) {
            continue;
        }
        if (is_place(world, p, cell, size, owner, &is_free) && is_free) {
            p->levels[p->reached[i]] = 1;
            queue[count++] = p->reached[i];
        } else {
            taken[taken_count++] = p->reached[i];
        }
    }
    for (uint32_t i = 0, begun = 0; i < count || begun < taken_count; i++) {
        if (begun < taken_count && (i == count || p->levels[queue[i]] > TAKEN_LEVELS)) {
            for (; begun < taken_count; begun++) {
                if (p->levels[taken[begun]] == none) {
                    p->levels[taken[begun]] = TAKEN_LEVELS + 1;
                    queue[count++] = taken[begun];
                }
            }
            if (i == count) {
                break;
            }
        }
        fm_cell cell = cell_of(p, queue[i]);
        uint16_t level = p->levels[queue[i]];
        for (uint32_t m = fm_view_moves(view, cell); m != 0; m &= m - 1) {
            fm_cell next = fm_cell_step(cell, (uint32_t)__builtin_ctz(m));
            if (is_inside(p, next) && p->levels[index_of(p, next)] == none) {
                p->levels[index_of(p, next)] = (uint16_t)(level + 1);
                queue[count++] = (uint16_t)index_of(p, next);
            }
        }
    }
}

// The list of a unit that has to get out of the way: nearer to a free place, then waiting.
static uint64_t list_out(const struct fm_passages *p, uint32_t slot)
{
    const fm_mover *mover = &p->movers[slot];
    uint32_t keys[FM_DIRECTION_COUNT + 1], count = 0;
    for (uint32_t d = 0; d <= FM_DIRECTION_COUNT; d++) {
        bool stays = d == FM_DIRECTION_COUNT;
        if (!stays && !(mover->moves >> d & 1)) {
            continue;
        }
        fm_cell cell = stays ? mover->cell : fm_cell_step(mover->cell, d);
        uint32_t level = is_inside(p, cell) ? p->levels[index_of(p, cell)] : 0;
        bool is_known = level != 0 && level != LEVEL_NONE;
        bool taken = !fm_occupancy_is_free(p->occupancy, cell, mover->size, slot + 1);
        uint32_t key = is_known ? level * 4 + (stays ? 0 : 1 + taken) : KEY_LAST - stays;
        keys[count++] = key << 4 | d;
    }
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = i; j > 0 && keys[j] < keys[j - 1]; j--) {
            uint32_t key = keys[j];
            keys[j] = keys[j - 1];
            keys[j - 1] = key;
        }
    }
    uint64_t list = FM_PREFERENCES_NONE;
    for (uint32_t i = count; i-- > 0;) {
        list = list << 4 | (keys[i] & 15);
    }
    return list;
}

// Returns one that finds no place out of the way, as slot + 1; 0: none.
static uint32_t send_out(fm_world *world, struct fm_passages *p, uint32_t owner)
{
    uint32_t trapped = 0;
    memset(p->levels, 0, sizeof p->levels);
    for (uint32_t class_index = 0; class_index < fm_world_rules_get(world)->class_count;
         class_index++) {
        flood(world, p, class_index, owner);
        if (p->reached_count == 0) {
            continue;
        }
        measure(world, p, class_index, owner);
        for (uint32_t i = 0; i < p->other_count; i++) {
            uint32_t slot = p->others[i];
            if (p->agents[slot].class_index == class_index) {
                fm_mover *mover = &p->movers[slot];
                uint32_t level = p->levels[index_of(p, mover->cell)];
                mover->preferences = list_out(p, slot);
                mover->aside = mover->yields = mover->gentle = mover->narrow = false;
                mover->bold = true;
                mover->age = (uint16_t)(UINT16_MAX - fm_min(level, UINT16_MAX - FM_MOVER_AGE_OUT));
                trapped = trapped == 0 && level == LEVEL_NONE ? slot + 1 : trapped;
            }
        }
        for (uint32_t i = 0; i < p->reached_count; i++) {
            p->levels[p->reached[i]] = 0;
        }
    }
    return trapped;
}

// Takes the steps into closed cells from a unit that stands beside them.
static void keep_out(const struct fm_passages *p, fm_mover *mover)
{
    uint64_t list = mover->preferences, kept = 0;
    uint32_t count = 0;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        if (mover->moves >> d & 1 &&
            overlaps_closed(p, fm_cell_step(mover->cell, d), mover->size)) {
            mover->moves &= (uint8_t) ~(1u << d);
        }
    }
    for (; (list & 15) != FM_PREFERENCE_NONE && count < 16; list >>= 4) {
        uint64_t d = list & 15;
        if (d == FM_PREFERENCE_STAY || mover->moves >> d & 1) {
            kept |= d << 4 * count++;
        }
    }
    mover->preferences = count == 16 ? kept : FM_PREFERENCES_NONE << 4 * count | kept;
    mover->narrow = false;
}

static void note_others(struct fm_passages *p, uint32_t owner)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        uint32_t unit = p->closed[i] ? fm_crowd_unit_in(p->occupancy, cell_of(p, i)) : 0;
        fm_mover *mover = unit == 0 || unit == owner ? NULL : &p->movers[unit - 1];
        if (mover != NULL && !mover->cleared && takes_part(p, mover) && is_inside(p, mover->cell)) {
            mover->cleared = true;
            p->others[p->other_count++] = unit - 1;
        }
    }
}

static void keep_others_out(fm_world *world, struct fm_passages *p)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        if (!p->closed[i]) {
            continue;
        }
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            fm_cell beside = fm_cell_step(cell_of(p, i), d);
            uint32_t unit =
                fm_world_contains(world, beside) ? fm_crowd_unit_in(p->occupancy, beside) : 0;
            fm_mover *mover = unit == 0 ? NULL : &p->movers[unit - 1];
            if (mover != NULL && !mover->cleared && mover->team == p->team) {
                keep_out(p, mover);
                mover->cleared = true;
            }
        }
    }
}

static void let_through(fm_mover *mover)
{
    uint64_t first = mover->preferences & 15;
    mover->preferences = (FM_PREFERENCES_NONE << 4 | FM_PREFERENCE_STAY) << 4 | first;
    mover->aside = mover->yields = mover->gentle = mover->narrow = false;
    mover->bold = true;
    mover->pushable = false;
    mover->age = FM_MOVER_AGE_OUT - 1;
}

// ---- one passage --------------------------------------------------------------------------------

static bool has_failed(const fm_world *world, const struct fm_passages *p, fm_agent_id agent)
{
    for (uint32_t i = 0; i < FAILED_MAX; i++) {
        const struct failure *failure = &p->failed[i];
        if (failure->agent.index1 == agent.index1 &&
            failure->agent.generation == agent.generation &&
            failure->tick + FAILED_TICKS > fm_world_tick(world)) {
            return true;
        }
    }
    return false;
}

static void note_failure(fm_world *world, struct fm_passages *p, fm_agent_id agent)
{
    p->failed[p->failed_next] = (struct failure){.agent = agent, .tick = fm_world_tick(world)};
    p->failed_next = (p->failed_next + 1) % FAILED_MAX;
}

static void start(fm_world *world, struct passage *passage, const struct fm_agent *agent)
{
    *passage = (struct passage){.agent = fm_agent_id_of(world, agent),
                                .goal = agent->order.goal,
                                .begun_at = agent->cell,
                                .begun_tick = fm_world_tick(world),
                                .better_tick = fm_world_tick(world),
                                .distance = UINT32_MAX,
                                .others = UINT32_MAX};
}

// The largest of those in the way, of these the one that was hindered most. NULL: there is none
// that could have a passage itself.
static const struct fm_agent *largest_other(const fm_world *world, struct fm_passages *p,
                                            const struct fm_agent *agent)
{
    const struct fm_agent *best = NULL;
    uint32_t best_rank = 0;
    for (uint32_t i = 0; close_cells(world, p, agent) && i < CELLS; i++) {
        uint32_t unit = p->closed[i] ? fm_crowd_unit_in(p->occupancy, cell_of(p, i)) : 0;
        const struct fm_agent *other = unit == 0 ? NULL : &p->agents[unit - 1];
        if (other == NULL || other == agent || other->order.id == 0 ||
            !takes_part(p, &p->movers[unit - 1]) ||
            has_failed(world, p, fm_agent_id_of(world, other))) {
            continue;
        }
        uint32_t rank = (uint32_t)p->movers[unit - 1].size << 16 | other->hindered;
        if (rank > best_rank) {
            best = other;
            best_rank = rank;
        }
    }
    return best;
}

// Gives a passage that got no clearer to a unit in the way that finds no place, else to another in
// the way: then the one that had it has to get out of its way. Returns whether there is one.
static bool hand_over(fm_world *world, struct fm_passages *p, struct passage *passage)
{
    const struct fm_agent *agent = fm_world_find(world, passage->agent), *next = NULL;
    note_failure(world, p, passage->agent);
    if (passage->trapped != 0) {
        next = &p->agents[passage->trapped - 1];
        bool can = next->alive && next->team == p->team && next->order.id != 0 &&
                   !has_failed(world, p, fm_agent_id_of(world, next));
        next = can ? next : NULL;
    } else {
        next = largest_other(world, p, agent);
    }
    if (next != NULL) {
        start(world, passage, next);
    }
    return next != NULL;
}

// Returns whether the passage goes on.
static bool attend(fm_world *world, struct fm_passages *p, struct passage *passage)
{
    struct fm_agent *agent = fm_world_find(world, passage->agent);
    if (agent == NULL || agent->order.id == 0 || agent->order.goal != passage->goal ||
        agent->team != p->team) {
        return false;
    }
    if (fm_world_tick(world) > passage->better_tick + STALLED_TICKS ||
        fm_world_tick(world) > passage->begun_tick + TICKS_MAX ||
        (passage->trapped != 0 && fm_world_tick(world) > passage->better_tick + TRAPPED_TICKS)) {
        return hand_over(world, p, passage);
    }
    uint32_t owner = passage->agent.index1;
    fm_mover *mover = &p->movers[owner - 1];
    bool waits = agent->is_ready && (mover->preferences & 15) >= FM_PREFERENCE_STAY;
    if (mover->cleared || waits || !close_cells(world, p, agent) || !is_apart(p)) {
        return true; // nothing in this tick
    }
    note_others(p, owner);
    bool is_nearer = agent->is_ready && mover->distance < passage->distance;
    if (is_nearer || p->other_count < passage->others) {
        passage->better_tick = fm_world_tick(world);
        passage->distance = is_nearer ? mover->distance : passage->distance;
        passage->others = p->other_count;
    }
    bool is_away = fm_cell_dx(agent->cell, passage->begun_at) > AWAY ||
                   fm_cell_dy(agent->cell, passage->begun_at) > AWAY;
    if (is_away && p->other_count == 0) {
        return false;
    }
    if (agent->is_ready) {
        let_through(mover);
    }
    mover->cleared = true;
    passage->trapped = send_out(world, p, owner);
    keep_others_out(world, p);
    return true;
}

// ---- who gets one -------------------------------------------------------------------------------

static bool is_candidate(const fm_world *world, const struct fm_passages *p,
                         const struct fm_agent *agent)
{
    const fm_mover *mover = &p->movers[agent - p->agents];
    return agent->jammed && agent->order.id != 0 && agent->hindered >= HINDERED_MIN &&
           (mover->preferences & 15) < FM_PREFERENCE_STAY && agent->anchor != FM_CELL_NONE &&
           fm_cell_dx(agent->cell, agent->anchor) <= FM_JAM_REACH &&
           fm_cell_dy(agent->cell, agent->anchor) <= FM_JAM_REACH &&
           !has_failed(world, p, fm_agent_id_of(world, agent));
}

// Lists the largest of those that are stuck, of these those that were hindered most, first.
static void list_waiting(const fm_world *world, struct fm_passages *p)
{
    const struct fm_team *team = fm_team_of(world, p->team);
    uint32_t count = 0;
    for (uint32_t i = 0; i < team->member_count; i++) {
        uint32_t slot = team->members[i];
        const struct fm_agent *agent = &p->agents[slot];
        if (p->movers[slot].team != p->team || agent->member != i ||
            !is_candidate(world, p, agent)) {
            continue;
        }
        uint64_t rank = (uint64_t)p->movers[slot].size << 48 | (uint64_t)agent->hindered << 32 |
                        (UINT32_MAX - i);
        uint32_t at = count < WAITING_MAX ? count++ : WAITING_MAX;
        for (; at > 0 && p->waiting[at - 1].rank < rank; at--) {
            if (at < WAITING_MAX) {
                p->waiting[at] = p->waiting[at - 1];
            }
        }
        if (at < WAITING_MAX) {
            p->waiting[at] = (struct waiting){.slot = slot, .rank = rank};
        }
    }
    p->waiting_count = count;
}

// Begins a passage for the first who waits and has none in its neighbourhood.
static void begin(fm_world *world, struct fm_passages *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->waiting_count; i++) {
        struct waiting waiting = p->waiting[i];
        const struct fm_agent *agent = &p->agents[waiting.slot];
        if (p->movers[waiting.slot].team != p->team || !is_candidate(world, p, agent)) {
            continue;
        }
        const fm_mover *mover = &p->movers[waiting.slot];
        bool begins = p->count < PASSAGES_MAX && !mover->cleared && close_cells(world, p, agent) &&
                      is_apart(p);
        if (begins) {
            start(world, &p->list[p->count++], agent);
            p->count -= !attend(world, p, &p->list[p->count - 1]);
        } else {
            p->waiting[kept++] = waiting;
        }
    }
    p->waiting_count = kept;
}

// Whether a unit of the team is stuck for so long that it may get a passage.
static bool is_any_stuck(const fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    for (uint32_t i = 0; i < team->member_count; i++) {
        const struct fm_agent *agent = &fm_world_agents(world)->slots[team->members[i]];
        if (agent->alive && agent->team == number && agent->member == i && agent->jammed &&
            agent->hindered >= HINDERED_MIN) {
            return true;
        }
    }
    return false;
}

// Makes room for passages where some are needed, and gives it back where none are.
static void make_room(fm_world *world, struct fm_team *team, uint32_t number)
{
    bool is_needed = team->large_count > 0 && is_any_stuck(world, number);
    if (is_needed && team->passages == NULL) {
        team->passages =
            fm_memory_allocate_zeroed(fm_world_memory(world), 1, sizeof *team->passages);
    } else if (!is_needed && team->passages != NULL && team->passages->count == 0) {
        fm_passages_drop(world, team);
    }
}

uint32_t fm_passages_attend(fm_world *world, uint32_t number, bool looks)
{
    struct fm_team *team = fm_team_of(world, number);
    if (looks) {
        make_room(world, team, number);
    }
    struct fm_passages *p = team->passages;
    if (p == NULL) {
        return 0;
    }
    p->team = number;
    p->occupancy = fm_world_occupancy(world);
    p->movers = fm_world_edit_crowd(world)->movers;
    p->agents = fm_world_agents(world)->slots;
    if (looks) {
        list_waiting(world, p);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (attend(world, p, &p->list[i])) {
            p->list[kept++] = p->list[i];
        }
    }
    p->count = kept;
    if (p->waiting_count > 0 && fm_world_tick(world) % BEGIN_PERIOD == 0) {
        begin(world, p);
    }
    return p->count + (p->waiting_count > 0);
}

void fm_passages_drop(fm_world *world, struct fm_team *team)
{
    fm_memory_release(fm_world_memory(world), team->passages, sizeof *team->passages);
    team->passages = NULL;
}
