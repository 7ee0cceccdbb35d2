// core/crowd/preferences.c: see preferences.h.

#include "core/crowd/preferences.h"

#include "core/base/random.h"
#include "core/crowd/crowd.h"
#include "core/crowd/flow.h"
#include "core/crowd/lanes.h"
#include "core/crowd/passing.h"
#include "core/orders/homecoming.h"
#include "core/orders/orders.h"
#include "core/world/names.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#define NARROW_EXITS_MAX 4
#define SWAP_TICKS       512u
#define BOLD_TICKS       256u
#define YIELD_AFTER      10u
#define ASIDE_AFTER      8u   // ticks
#define CONCEDE_AFTER    4u   // ticks, of one cell
#define CONCEDE_LARGE    20u  // of more
#define CONCEDE_BY_LANES 128u // around open lanes
#define RIGHT_AFTER      16u
#define RIGHT_TICKS      64u
#define YIELD_TICKS      16u
#define YIELD_SPELLS     5u

#define LANES_RETURN_TICKS 16u // see homecoming.h for other places

// A cell that could be next, so that smaller is better: distance to the goal, then what breaks
// ties, then the direction. Bits from the lowest: 8 direction, 1 to the left, 3 turn, 1 taken.
typedef uint64_t option;

static option make_option(uint32_t distance, uint32_t ties, uint32_t d)
{
    return (uint64_t)distance << 16 | ties << 8 | d;
}

// By direction, clockwise from where the unit heads: the turn, then whether it is to the left.
static const uint8_t turns[FM_DIRECTION_COUNT] = {0, 2, 4, 6, 8, 7, 5, 3};

static bool is_taken(const fm_world *world, const struct fm_agent *agent, uint32_t size, fm_cell at)
{
    // A step that is legal leads to a cell of the map, and not to the unit's own.
    return size == 1 ? fm_occupancy_at(world->crowd.occupancy, at)->now != 0
                     : !fm_occupancy_is_free(world->crowd.occupancy, at, size,
                                             fm_agent_id_of(world, agent).index1);
}

static uint32_t ties_of(uint32_t ahead, uint32_t d, bool taken)
{
    return 16u + ((uint32_t)taken << 4 | turns[(d - ahead) % FM_DIRECTION_COUNT]); // 0: staying
}

// Which of two options is better can hardly be predicted, so there is no branch: the place of each
// in the list is the number of those that are better. No two are equal.
static uint64_t list_of(const option *options, uint32_t count)
{
    uint32_t places[FM_DIRECTION_COUNT + 1] = {0};
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            uint32_t is_better = options[i] < options[j];
            places[j] += is_better;
            places[i] += 1 - is_better;
        }
    }
    uint64_t list = FM_PREFERENCES_NONE;
    for (uint32_t i = 0; i < count; i++) {
        list ^= (FM_PREFERENCE_NONE ^ (options[i] & 15)) << 4 * places[i];
    }
    return list;
}

// `next` (FM_DIRECTION_COUNT: none), then staying and all other moves by their distances to the
// goal, each of which counts as `least_gain` more: with 1 one that brings the unit nearer by less
// comes after staying.
static uint64_t list_by_distance(const fm_world *world, const struct fm_agent *agent,
                                 const uint32_t distances[FM_DIRECTION_COUNT + 1], uint32_t moves,
                                 uint32_t next, uint32_t least_gain)
{
    uint32_t ahead = agent->heading < FM_DIRECTION_COUNT ? agent->heading : next;
    option options[FM_DIRECTION_COUNT + 1];
    uint32_t count = 0, size = world->rules.classes[agent->class_index].size;
    options[count++] = make_option(distances[FM_DIRECTION_COUNT], 0, (uint32_t)FM_PREFERENCE_STAY);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        bool taken = is_taken(world, agent, size, fm_cell_step(agent->cell, d));
        option other = make_option(distances[d] + least_gain, ties_of(ahead, d, taken), d);
        options[count++] = d == next ? make_option(0, 0, d) : other;
    }
    return list_of(options, count);
}

// Of a unit that keeps to the right of its way, see passing.h: all cells by their distances, those
// to the right of it nearer, those to the left farther.
static uint64_t list_to_the_right(const fm_world *world, const struct fm_agent *agent,
                                  const uint32_t distances[FM_DIRECTION_COUNT + 1], uint32_t moves,
                                  uint32_t next)
{
    static const uint8_t biases[FM_DIRECTION_COUNT] = {
        // clockwise from its way
        FM_PASSING_BIAS,    0, 0, 0, FM_PASSING_BIAS, 2 * FM_PASSING_BIAS, 2 * FM_PASSING_BIAS,
        2 * FM_PASSING_BIAS};
    uint32_t left = distances[FM_DIRECTION_COUNT], count = 0;
    option options[FM_DIRECTION_COUNT + 1];
    options[count++] = make_option(left + FM_PASSING_BIAS, 0, (uint32_t)FM_PREFERENCE_STAY);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        bool taken = is_taken(world, agent, 1, fm_cell_step(agent->cell, d));
        // Estimates may say of the planner's next step that it leads away.
        uint32_t distance = d == next && distances[d] > left ? left : distances[d];
        options[count++] = make_option(distance + 1 + biases[(d - next) % FM_DIRECTION_COUNT],
                                       ties_of(next, d, taken), d);
    }
    return list_of(options, count);
}

// Whether a unit of another team is where the planner's next step leads; `ordered`: one with an
// order.
static bool meets_others(const fm_world *world, const struct fm_agent *agent, uint32_t size,
                         bool ordered)
{
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell part = agent->next + fm_cell_at(i % size, i / size);
        uint32_t unit = fm_occupancy_at(world->crowd.occupancy, part)->now;
        const struct fm_agent *other = unit == 0 ? NULL : &world->agents.slots[unit - 1];
        if (other != NULL && other->team != agent->team && (!ordered || other->order.id != 0)) {
            return true;
        }
    }
    return false;
}

// Whether a unit has been blocked for so long that it concedes to who of another team is in its
// way. Not where a rule says that armies that block each other give up.
static bool may_concede(const fm_world *world, const struct fm_agent *agent)
{
    uint32_t size = world->rules.classes[agent->class_index].size;
    uint32_t ticks = size == 1 ? CONCEDE_AFTER : CONCEDE_LARGE;
    return agent->order.id != 0 && agent->hindered >= 2 * ticks &&
           world->rules.blocked_ticks == 0 &&
           (agent->hindered >= 2 * CONCEDE_BY_LANES || !fm_lanes_are_near(world, agent));
}

// The planner's next step, then everything else by distance. A step that brings the unit nearer by
// one, as all do with 4 neighbours, comes only after staying: among friends those in the way leave,
// and on a way beside it the unit would meet others (warehouse, 1,000 units: sum of costs 3 %
// more). Units of other teams do not leave for its sake, so it goes past them. A large one needs
// several steps to the side for that, which bring it no nearer; so after a while it rather makes
// these than stay, until one of the two can push the other: both would go to the same side.
static uint64_t preferences_under_way(const fm_world *world, const struct fm_agent *agent,
                                      const struct fm_planner *planner, uint32_t moves, bool passes,
                                      uint32_t *left)
{
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    fm_planner_distances(planner->spec.ops, planner->self,
                         fm_world_truth(world, agent->class_index), planner->goal, agent->cell,
                         moves, distances);
    *left = distances[FM_DIRECTION_COUNT];
    uint32_t next = fm_cell_direction(agent->cell, agent->next);
    if (passes) {
        return list_to_the_right(world, agent, distances, moves, next);
    }
    uint32_t size = world->rules.classes[agent->class_index].size;
    bool are_met = meets_others(world, agent, size, false);
    uint32_t least_gain = are_met ? 0 : 1;
    if (are_met && size > 1 && agent->hindered >= 2 * ASIDE_AFTER &&
        !(may_concede(world, agent) && meets_others(world, agent, size, true))) {
        distances[FM_DIRECTION_COUNT] += fm_world_truth(world, agent->class_index)->step[0] - 1;
    }
    if (fm_flow_bias(world, agent, moves, next, distances)) {
        next = FM_DIRECTION_COUNT;
    }
    return list_by_distance(world, agent, distances, moves, next, least_gain);
}

// Whether one that passes keeps to the right. Of those that have been blocked for long half do, in
// turns: others wait in pockets of the right-hand wall until nobody comes any more.
static bool keeps_right(const fm_world *world, const struct fm_agent *agent)
{
    uint64_t lot = fm_mix64(fm_agent_own_name(agent).index1);
    return agent->hindered < 2 * RIGHT_AFTER || (world->tick / RIGHT_TICKS + lot) % 2 != 0;
}

// Whether a unit that passes must not step into a cell: who stands on a lane of the others may step
// off it, but from before it nobody gets in, and where teams meet nobody goes on along it.
static bool keeps_out(const fm_passage *passage, uint32_t direction, uint32_t lanes, fm_cell from,
                      fm_cell to)
{
    if (!fm_rect_contains(&passage->box, to)) {
        return true;
    }
    if (!fm_passage_is_closed(passage, direction, lanes, to)) {
        return false;
    }
    int32_t steps = fm_passage_along(passage, to) - fm_passage_along(passage, from);
    return !fm_passage_is_closed(passage, direction, lanes, from) ||
           (fm_passage_contains(passage, to) && !fm_passage_contains(passage, from)) ||
           (passage->teams_meet && (direction == 0 ? steps > 0 : steps < 0));
}

// By the distances of a passage whose lanes are open, see lanes.h.
static uint64_t preferences_in_lanes(const fm_world *world, const struct fm_agent *agent,
                                     const struct fm_planner *planner, const fm_passage *passage,
                                     uint32_t direction, uint32_t moves)
{
    bool leaves = fm_passage_is_left(passage, direction, agent->cell);
    uint32_t lanes = fm_passage_lanes(passage, direction, leaves);
    uint32_t least = FM_COST_INFINITE, square = 0, next = FM_DIRECTION_COUNT;
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    distances[FM_DIRECTION_COUNT] = fm_passage_distance(passage, direction, leaves, agent->cell);
    if (passage->teams_meet && fm_passage_is_closed(passage, direction, lanes, agent->cell)) {
        distances[FM_DIRECTION_COUNT] = FM_PASSAGE_FAR; // the others cannot push it: rather back
    }
    for (uint32_t left = moves; left != 0; left &= left - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(left);
        fm_cell cell = fm_cell_step(agent->cell, d);
        if (keeps_out(passage, direction, lanes, agent->cell, cell)) {
            moves &= ~(1u << d);
            continue;
        }
        distances[d] = fm_passage_distance(passage, direction, leaves, cell);
        uint32_t cost = distances[d] + ((d & 1) != 0 ? 14 : 10);
        uint32_t dx = fm_cell_dx(cell, planner->goal), dy = fm_cell_dy(cell, planner->goal);
        if (cost < least || (cost == least && dx * dx + dy * dy < square)) {
            least = cost;
            square = dx * dx + dy * dy;
            next = d;
        }
    }
    return list_by_distance(world, agent, distances, moves, next, 1);
}

// Round those who wait before a passage whose lanes are open, by way of the cell `first`, see
// lanes.h. The ground up to there is open.
static uint64_t preferences_beside_lanes(const fm_world *world, const struct fm_agent *agent,
                                         const fm_passage *passage, fm_cell first, uint32_t moves)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    uint32_t least = FM_COST_INFINITE, next = FM_DIRECTION_COUNT;
    distances[FM_DIRECTION_COUNT] = fm_view_distance(view, agent->cell, first);
    for (uint32_t left = moves; left != 0; left &= left - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(left);
        fm_cell cell = fm_cell_step(agent->cell, d);
        distances[d] = fm_view_distance(view, cell, first) +
                       (fm_passage_is_way_in(passage, cell) ? FM_PASSAGE_WRONG : 0);
        uint32_t cost = distances[d] + view->step[d & 1];
        if (cost < least) {
            least = cost;
            next = d;
        }
    }
    return list_by_distance(world, agent, distances, moves, next, 1);
}

uint64_t fm_crowd_retreat(const fm_world *world, const struct fm_agent *agent,
                          const struct fm_planner *planner)
{
    const fm_view *truth = fm_world_truth(world, agent->class_index);
    uint32_t distances[FM_DIRECTION_COUNT + 1], count = 0;
    uint32_t moves = fm_view_moves(truth, agent->cell);
    fm_planner_distances(planner->spec.ops, planner->self, truth, planner->goal, agent->cell, moves,
                         distances);
    uint64_t lots = fm_mix64(world->tick << 32 | fm_agent_own_name(agent).index1);
    option options[FM_DIRECTION_COUNT + 1];
    for (moves |= 1u << FM_DIRECTION_COUNT; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        options[count++] =
            make_option(FM_COST_INFINITE - distances[d], (uint32_t)(lots >> 6 * d & 63), d);
    }
    return list_of(options, count);
}

// 0: it is not under way.
static uint64_t ticks_under_way(const fm_world *world, const struct fm_agent *agent)
{
    return agent->asking_since == 0 ? 0 : world->tick + 2 - agent->asking_since;
}

// Units with an order come before those that only go back home; then those under way for longer,
// as if it were for `more` ticks more.
static uint16_t age_of(const fm_world *world, const struct fm_agent *agent, uint32_t more)
{
    uint16_t band = agent->order.id == 0 ? 0 : FM_MOVER_AGE_MAX + 1;
    return band + fm_mover_age(ticks_under_way(world, agent) + more);
}

static fm_cell aim_of(const struct fm_agent *agent)
{
    if (agent->order.id == 0) {
        return fm_agent_is_away(agent) ? agent->home : agent->settled_aim;
    }
    return fm_order_aim(&agent->order);
}

// Where any two neighbours lie on a common circle no swap is needed, and the oldest unit certainly
// gets through without one. So units that have been under way for long do not swap in some ticks.
static bool may_swap(const fm_world *world, const struct fm_agent *agent)
{
    return (ticks_under_way(world, agent) / SWAP_TICKS & 1) == 0;
}

// In a crowd of all sizes small units must be able to push large ones, or both wait for ever in a
// pass. But then they may push each other to and fro where there is little room, and none stands
// still for a joint search. So units that have been under way for long do not push large ones in
// some ticks.
static bool is_bold(const fm_world *world, const struct fm_agent *agent)
{
    return (ticks_under_way(world, agent) / BOLD_TICKS & 3) != 3;
}

// Where large units are, several others may have to leave for one to make a step, and where all
// push at once the free cells of a jam are never together. So of those that have been blocked for
// some time most yield, in turns: they stand, and friends of any size may push them aside. Units of
// one cell among themselves have no need of that, and move less with it: a team without large units
// does not yield. Those of other teams do not count, it may not know of them.
static bool yields(const fm_world *world, const struct fm_agent *agent)
{
    if (agent->order.id == 0 || agent->hindered <= 2 * YIELD_AFTER ||
        fm_team_of(world, agent->team)->large_count == 0) {
        return false;
    }
    uint64_t lot = fm_mix64(fm_agent_own_name(agent).index1) % YIELD_SPELLS;
    return (world->tick / YIELD_TICKS + lot) % YIELD_SPELLS != 0 &&
           !fm_occupancy_is_free(world->crowd.occupancy, agent->next,
                                 world->rules.classes[agent->class_index].size,
                                 fm_agent_id_of(world, agent).index1);
}

// Whose lanes it passes; see lanes.h. Units that have been under way for long do not keep to lanes
// in some ticks.
static uint32_t lanes_of(const fm_world *world, const struct fm_agent *agent,
                         const struct fm_planner *planner, uint32_t before)
{
    bool has_lanes = fm_team_of(world, agent->team)->lane_count > 0;
    return has_lanes && agent->order.id != 0 ? fm_lanes_of(world, agent, planner, before) : 0;
}

// Who is inside decides first: what gets out makes room.
static uint16_t age_in_lanes(const fm_world *world, const struct fm_agent *agent,
                             const fm_passage *passage, uint32_t direction, const fm_mover *mover)
{
    if (fm_passage_contains(passage, agent->cell)) {
        return UINT16_MAX;
    }
    uint32_t more = fm_lanes_precedence(world, agent, passage, direction, mover->aim);
    return age_of(world, agent, more);
}

// Whether a unit on its way back home waits since it would soon be pushed off again.
static bool waits_for_lanes(const fm_world *world, const struct fm_agent *agent)
{
    return agent->order.id == 0 && world->tick < agent->pushed_tick + LANES_RETURN_TICKS &&
           fm_lanes_are_near(world, agent);
}

// Whether few steps lead on from the next cell, as far as the team knows; see swap.h.
static bool is_narrow(const fm_world *world, const struct fm_agent *agent)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    return __builtin_popcount(fm_view_moves(view, agent->next)) <= NARROW_EXITS_MAX;
}

void fm_crowd_prefer(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, fm_mover *mover)
{
    bool ready = agent->is_ready;
    const fm_view *truth = fm_world_truth(world, agent->class_index);
    uint32_t moves = fm_view_moves(truth, agent->cell);
    bool under_way = planner != NULL && agent->next != FM_CELL_NONE && agent->next != agent->cell &&
                     !waits_for_lanes(world, agent);
    uint8_t size = world->rules.classes[agent->class_index].size;
    bool is_idle = agent->order.id == 0, is_away = fm_agent_is_away(agent);
    bool makes_way = under_way && yields(world, agent);
    bool is_around = mover->around != 0;
    bool passes = mover->passes_on > 0 && !is_around && keeps_right(world, agent);
    uint8_t passing = passes ? mover->passes_on : 0;
    uint32_t lane = under_way ? lanes_of(world, agent, planner, mover->lane) : 0;
    // Who has been under way for long does not keep to lanes in some ticks.
    bool keeps = under_way && !is_idle && ready && !is_around && is_bold(world, agent);
    fm_cell first = FM_CELL_NONE;
    const fm_passage *passage = keeps ? fm_lanes_open(world, agent->team, lane) : NULL;
    const fm_passage *beside =
        keeps && lane == 0 ? fm_lanes_beside(world, agent, planner, &first) : NULL;
    *mover = (fm_mover){
        .cell = agent->cell,
        .next = agent->cell,
        .aim = aim_of(agent),
        .age = age_of(world, agent, 0),
        .team = agent->team,
        .size = size,
        .progress = ready ? FM_MOVER_UNDECIDED : FM_MOVER_DECIDED,
        .moves = (uint8_t)moves,
        .aside = !under_way || makes_way || (is_idle && size > 1),
        .parked = is_idle && !is_away,
        .returns = is_idle && is_away,
        .gentle = is_away && size > 1 && world->tick < agent->pushed_tick + FM_PEACE_TICKS,
        .bold = is_bold(world, agent),
        .lane = (uint8_t)lane,
        .passing = passing,
        .around = mover->around,
        .narrow = under_way && passage == NULL && passing == 0 && !is_around &&
                  may_swap(world, agent) && is_narrow(world, agent),
        .settled = agent->settled && is_idle && !is_away,
        .yields = makes_way,
        .alert = under_way && !makes_way && size == 1 &&
                 (passing > 0 || agent->hindered >= FM_PASSING_HINDERED),
        .concedes = under_way && ready && passage == NULL && may_concede(world, agent) &&
                    meets_others(world, agent, size, false),
        .pushable = !fm_agent_holds_ground(agent),
        .to_right =
            under_way && ready && !makes_way && passage == NULL && beside == NULL && passing > 0,
    };
    uint32_t way = under_way ? fm_cell_direction(agent->cell, agent->next) : FM_DIRECTION_COUNT;
    fm_flow_note(world, agent, is_idle ? FM_DIRECTION_COUNT : way);
    if (!ready || !under_way) {
        mover->preferences =
            ready ? FM_PREFERENCES_NONE << 4 | FM_PREFERENCE_STAY : FM_PREFERENCES_NONE;
    } else if (passage == NULL && beside == NULL) {
        mover->preferences =
            preferences_under_way(world, agent, planner, moves, passing > 0, &mover->distance);
        mover->strays = (mover->preferences & 15) != way;
        mover->narrow = mover->narrow && !mover->strays;
    } else {
        mover->distance = fm_planner_distance(world, agent, planner, agent->cell);
        mover->preferences =
            passage != NULL
                ? preferences_in_lanes(world, agent, planner, passage, (lane - 1) % 2, moves)
                : preferences_beside_lanes(world, agent, beside, first, moves);
        if (passage != NULL) {
            mover->age = age_in_lanes(world, agent, passage, (lane - 1) % 2, mover);
        }
    }
}
