// core/crowd/lanes.c: see lanes.h.

#include "core/crowd/lanes.h"

#include "core/crowd/busy.h"
#include "core/crowd/sight.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define NOWHERE        2u
#define PATH_MAX_CELLS 160u // over a passage and its box

#define FIND_PERIOD  4u  // ticks
#define LOOK_AHEAD   12u // cells
#define CHECK_PERIOD 32u
#define HINDERED_MIN 16u // see patience.h: 2 for each tick
#define OTHERS_LEAST 6u  // units of another team that come the other way,
#define OTHERS_STAY  3u  // and while there are lanes
#define OTHERS_TICKS 16u // after so many were seen last
#define ALONE_TICKS  64u // without units of one direction
#define OPEN_LEAST   6u  // units of each direction
#define SHUT_LEAST   2u

#define PRECEDENCE_MAX 32u // steps

// Wider passages gain nothing by lanes for one team.
#define OWN_WIDTH_MAX 4u
#define SHORT_LENGTH  2u
#define SHORT_WIDTH   3u // in passages of up to SHORT_LENGTH cells

// In wider ones units of one cell that meet another team's do better without, see passing.h.
#define MEET_WIDTH_MAX 6u

static const uint32_t straight = 1u << FM_NORTH | 1u << FM_EAST | 1u << FM_SOUTH | 1u << FM_WEST;

static uint32_t number_of(uint32_t index, uint32_t direction)
{
    return 1 + 2 * index + direction;
}

// ---- who passes ---------------------------------------------------------------------------------

// Whether a unit's way to its goal leads over the cells across a passage at a place along it.
static bool leads_over(const fm_world *world, const struct fm_agent *agent,
                       const struct fm_planner *planner, const fm_passage *passage, int32_t along)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    uint32_t left = fm_planner_distance(world, agent, planner, agent->cell);
    for (uint32_t i = 0; i < passage->width; i++) {
        fm_cell cell = fm_passage_cell(passage, along, (int32_t)i);
        uint32_t least = fm_view_distance(view, agent->cell, cell);
        if (left >= least && fm_planner_distance(world, agent, planner, cell) <= left - least) {
            return true;
        }
    }
    return false;
}

// Who has just come out keeps to its lane for one more step.
static bool comes_out(const struct fm_agent *agent, const fm_passage *passage, uint32_t direction,
                      int32_t across)
{
    uint32_t ahead = passage->is_vertical ? FM_SOUTH : FM_EAST;
    uint32_t heading = direction == 0 ? ahead : ahead + FM_DIRECTION_COUNT / 2;
    return agent->heading == heading && fm_passage_has_lane(passage, across) &&
           fm_passage_lanes(passage, direction, true) >> across & 1;
}

static bool passes(const fm_world *world, const struct fm_agent *agent,
                   const struct fm_planner *planner, const fm_passage *passage, uint32_t direction)
{
    int32_t along = fm_passage_along(passage, agent->cell);
    int32_t across = fm_passage_across(passage, agent->cell), length = (int32_t)passage->length;
    int32_t end = direction == 0 ? length : -1, steps = direction == 0 ? end - along : along - end;
    if (steps < 0 || (steps <= length && !fm_passage_has_lane(passage, across))) {
        return false;
    }
    if (steps > 0) {
        return leads_over(world, agent, planner, passage, end);
    }
    fm_cell behind = fm_passage_cell(passage, direction == 0 ? end + 1 : end - 1, across);
    return comes_out(agent, passage, direction, across) &&
           fm_rect_contains(&passage->box, behind) &&
           leads_over(world, agent, planner, passage, direction == 0 ? end + 1 : end - 1);
}

// In which direction a path leads through a passage, or out of it from where it begins. NOWHERE: in
// none, or that is not known.
static uint32_t direction_of_path(const fm_passage *passage, const fm_cell *cells, uint32_t count)
{
    int32_t came_from = 0;
    bool was_inside = false;
    for (uint32_t i = 0; i < count; i++) {
        int32_t along = fm_passage_along(passage, cells[i]);
        bool is_inside = fm_passage_contains(passage, cells[i]);
        if (is_inside && !was_inside) {
            came_from = i == 0 ? 0 : fm_passage_along(passage, cells[i - 1]) < 0 ? -1 : 1;
        }
        if (was_inside && !is_inside) {
            bool is_back = along < 0;
            return came_from == (is_back ? -1 : 1) ? NOWHERE : is_back;
        }
        was_inside = is_inside;
    }
    return NOWHERE;
}

// Where a unit's next step leads in a passage. NOWHERE: to a side of it, or the unit is outside.
static uint32_t direction_of_step(const fm_passage *passage, const struct fm_agent *agent)
{
    int32_t steps = fm_passage_along(passage, agent->next) - fm_passage_along(passage, agent->cell);
    return steps == 0 || !fm_passage_contains(passage, agent->cell) ? NOWHERE : steps < 0;
}

// In which direction a unit passes by its search's distances.
static uint32_t direction_by_distances(const fm_world *world, const struct fm_agent *agent,
                                       const struct fm_planner *planner, const fm_passage *passage)
{
    for (uint32_t direction = 0; direction < 2; direction++) {
        if (passes(world, agent, planner, passage, direction)) {
            return direction;
        }
    }
    return NOWHERE;
}

// Whether a unit goes by estimates that its search learns step by step, as real-time planners do:
// it has no path before its goal comes into view.
static bool goes_by_estimates(const struct fm_agent *agent, const struct fm_planner *planner)
{
    const fm_planner_ops *ops = planner->spec.ops;
    return ops->real_time && !ops->waits_for_grant && agent->plan_state == FM_PLAN_PARTIAL;
}

// Where distances are estimates the path says whether a unit passes. Without a path its next step
// does, and outside it does what it did before; one that never had a path goes by its estimates.
static uint32_t lane_by_path(const fm_world *world, const struct fm_agent *agent,
                             const struct fm_planner *planner, uint32_t before)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    fm_cell cells[PATH_MAX_CELLS];
    uint32_t count = 0;
    bool is_asked = false;
    for (uint32_t i = 0; i < team->lane_count; i++) {
        const fm_lanes *lanes = &team->lanes[i];
        const fm_passage *passage = &lanes->passage;
        if (lanes->class_index != agent->class_index ||
            !fm_rect_contains(&passage->box, agent->cell)) {
            continue;
        }
        if (!is_asked) {
            count = planner->spec.ops->path(planner->self, agent->cell, cells, PATH_MAX_CELLS);
            count = count < PATH_MAX_CELLS ? count : PATH_MAX_CELLS;
            is_asked = true;
        }
        uint32_t direction = count > 0 ? direction_of_path(passage, cells, count)
                                       : direction_of_step(passage, agent);
        if (direction != NOWHERE) {
            return number_of(i, direction);
        }
        if (count == 0 && before != 0 && (before - 1) / 2 == i) {
            return before;
        }
        direction = count == 0 && goes_by_estimates(agent, planner)
                        ? direction_by_distances(world, agent, planner, passage)
                        : NOWHERE;
        if (direction != NOWHERE) {
            return number_of(i, direction);
        }
    }
    return 0;
}

uint32_t fm_lanes_of(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, uint32_t before)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    if (!planner->spec.ops->exact_distances) {
        return lane_by_path(world, agent, planner, before);
    }
    for (uint32_t i = 0; i < team->lane_count; i++) {
        const fm_lanes *lanes = &team->lanes[i];
        if (lanes->class_index != agent->class_index ||
            !fm_rect_contains(&lanes->passage.box, agent->cell)) {
            continue;
        }
        uint32_t direction = direction_by_distances(world, agent, planner, &lanes->passage);
        if (direction != NOWHERE) {
            return number_of(i, direction);
        }
    }
    return 0;
}

const fm_passage *fm_lanes_open(const fm_world *world, uint32_t team, uint32_t number)
{
    const fm_lanes *lanes = number == 0 ? NULL : &fm_team_of(world, team)->lanes[(number - 1) / 2];
    return lanes != NULL && lanes->is_open ? &lanes->passage : NULL;
}

uint32_t fm_lanes_precedence(const fm_world *world, const struct fm_agent *agent,
                             const fm_passage *passage, uint32_t direction, fm_cell goal)
{
    if (passage->teams_meet) {
        return 0;
    }
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    int32_t end = direction == 0 ? (int32_t)passage->length - 1 : 0;
    fm_cell last = fm_passage_cell(passage, end, (int32_t)passage->width / 2);
    uint32_t steps = fm_view_distance(view, last, goal) / view->step[0];
    return steps < PRECEDENCE_MAX ? steps : PRECEDENCE_MAX;
}

bool fm_lanes_are_near(const fm_world *world, const struct fm_agent *agent)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    for (uint32_t i = 0; i < team->lane_count; i++) {
        if (team->lanes[i].is_open && fm_rect_contains(&team->lanes[i].passage.box, agent->cell)) {
            return true;
        }
    }
    return false;
}

const fm_passage *fm_lanes_beside(const fm_world *world, const struct fm_agent *agent,
                                  const struct fm_planner *planner, fm_cell *first)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    for (uint32_t i = 0; i < team->lane_count; i++) {
        const fm_lanes *lanes = &team->lanes[i];
        if (lanes->class_index == agent->class_index && lanes->is_open &&
            fm_rect_contains(&lanes->passage.box, agent->cell)) {
            *first = fm_passage_way_round(&lanes->passage, agent->cell, planner->goal);
            if (*first != FM_CELL_NONE) {
                return &lanes->passage;
            }
        }
    }
    return NULL;
}

// ---- finding ------------------------------------------------------------------------------------

// Where a unit wants to go in a passage that leads so; 2: neither to and fro.
static uint32_t direction_of(const fm_mover *mover, bool is_vertical)
{
    uint32_t d = (uint32_t)(mover->preferences & 15);
    int32_t along = d >= FM_DIRECTION_COUNT ? 0
                    : is_vertical           ? fm_direction_dy[d]
                                            : fm_direction_dx[d];
    return along > 0 ? 0 : along < 0 ? 1 : 2;
}

// Who stands in a cell and wants the other way: one of the same team, or of another if that is
// seen.
static const fm_mover *find_other(const struct fm_world_crowd *crowd, const fm_mover *mover,
                                  fm_cell cell, bool is_vertical, uint32_t direction, bool is_seen)
{
    uint32_t unit = fm_occupancy_at(crowd->occupancy, cell)->now;
    const fm_mover *other = unit == 0 ? NULL : &crowd->movers[unit - 1];
    bool counts = other != NULL && (is_seen || other->team == mover->team) &&
                  direction_of(other, is_vertical) == 1 - direction;
    return counts ? other : NULL;
}

// Whether a unit wants along the wall beside it, and another comes towards it there.
static bool is_met(const struct fm_world_crowd *crowd, const fm_view *view, const fm_mover *mover,
                   uint32_t sight, bool are_friends_met)
{
    uint32_t walls = straight & ~(uint32_t)mover->moves;
    if (walls == 0 || (walls & (walls - 1)) != 0) {
        return false;
    }
    bool is_vertical = (walls & (1u << FM_EAST | 1u << FM_WEST)) != 0;
    uint32_t direction = direction_of(mover, is_vertical);
    uint32_t forth = is_vertical ? FM_SOUTH : FM_EAST, back = is_vertical ? FM_NORTH : FM_WEST;
    uint32_t d = direction == 0 ? forth : back;
    fm_cell cell = mover->cell;
    for (uint32_t steps = 1; direction < 2 && steps <= LOOK_AHEAD; steps++) {
        if (!(fm_view_moves(view, cell) >> d & 1)) {
            return false;
        }
        cell = fm_cell_step(cell, d);
        const fm_mover *other =
            find_other(crowd, mover, cell, is_vertical, direction, steps <= sight);
        if (other != NULL && (are_friends_met || other->team != mover->team)) {
            return true;
        }
    }
    return false;
}

// How many units of other teams one inside a passage sees in it and before its far end that come
// the other way, on whatever lanes. It sees at least as far as its steps straight on and aside
// together.
static uint32_t count_others(const struct fm_world_crowd *crowd, const fm_passage *passage,
                             uint32_t direction, const fm_mover *mover, uint32_t sight)
{
    int32_t along = fm_passage_along(passage, mover->cell);
    int32_t across = fm_passage_across(passage, mover->cell), sign = direction == 0 ? 1 : -1;
    int32_t first = -(int32_t)FM_PASSAGE_CLEAR, end = (int32_t)passage->length - first;
    uint32_t count = 0;
    for (int32_t i = 0; i < (int32_t)(passage->width + passage->gap); i++) {
        int32_t steps = (int32_t)sight - (i < across ? across - i : i - across);
        for (int32_t at = along; steps >= 0 && at >= first && at < end; at += sign, steps--) {
            fm_cell cell = fm_passage_cell(passage, at, i);
            const fm_mover *other =
                fm_rect_contains(&passage->box, cell)
                    ? find_other(crowd, mover, cell, passage->is_vertical, direction, true)
                    : NULL;
            count += other != NULL && other->team != mover->team && other->cell == cell;
        }
    }
    return count;
}

static bool has_lanes(const struct fm_team *team, uint32_t class_index, const fm_passage *passage)
{
    for (uint32_t i = 0; i < team->lane_count; i++) {
        const fm_lanes *lanes = &team->lanes[i];
        if (lanes->class_index == class_index && lanes->passage.origin == passage->origin &&
            lanes->passage.is_vertical == passage->is_vertical) {
            return true;
        }
    }
    return false;
}

static void add(fm_world *world, struct fm_team *team, const struct fm_agent *agent)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    const fm_memory *memory = fm_world_memory(world);
    fm_passage passage;
    if (!fm_passage_find(view, agent->cell, &passage) ||
        has_lanes(team, agent->class_index, &passage)) {
        return;
    }
    passage.gap = fm_world_class_size(world, agent->class_index) - 1;
    if (team->lanes == NULL) {
        team->lanes = fm_memory_allocate(memory, FM_LANES_MAX * sizeof *team->lanes);
    }
    passage.distances =
        team->lanes == NULL ? NULL : fm_memory_allocate(memory, fm_passage_bytes(&passage));
    if (passage.distances == NULL) {
        return;
    }
    uint64_t tick = fm_world_tick(world);
    team->lanes[team->lane_count++] = (fm_lanes){.passage = passage,
                                                 .class_index = agent->class_index,
                                                 .checked_tick = tick,
                                                 .met_tick = tick};
    fm_world_edit_crowd(world)->lane_count += 1;
    fm_busy_note(world, agent->team);
}

// One that passes looks whether many of another team come the other way. Lanes begin only where it
// has been blocked: a few get past each other without, and sooner.
static void look_for_others(fm_world *world, fm_lanes *lanes, uint32_t direction,
                            const struct fm_agent *agent, const fm_mover *mover)
{
    const fm_passage *passage = &lanes->passage;
    uint64_t tick = fm_world_tick(world);
    if (lanes->others_tick == tick || !fm_passage_contains(passage, mover->cell) ||
        (!passage->teams_meet && agent->hindered < HINDERED_MIN)) {
        return;
    }
    uint32_t count = count_others(fm_world_edit_crowd(world), passage, direction, mover,
                                  fm_crowd_sight(world, agent, LOOK_AHEAD));
    if (count >= (passage->teams_meet ? OTHERS_STAY : OTHERS_LEAST)) {
        lanes->others_tick = tick;
    }
}

// One looks ahead along the wall beside it.
static void look_ahead(fm_world *world, struct fm_team *team, const struct fm_agent *agent,
                       const fm_mover *mover)
{
    const fm_view *view = fm_world_class_view(world, mover->team, agent->class_index);
    if (team->lane_count < FM_LANES_MAX &&
        is_met(fm_world_edit_crowd(world), view, mover, fm_crowd_sight(world, agent, LOOK_AHEAD),
               team->large_count == 0)) {
        add(world, team, agent);
    }
}

// One in four units looks in each tick.
static void find(fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    const fm_mover *movers = fm_world_edit_crowd(world)->movers;
    uint32_t first = (uint32_t)(fm_world_tick(world) % FIND_PERIOD);
    for (uint32_t slot = first; slot < agents->slot_count; slot += FIND_PERIOD) {
        const fm_mover *mover = &movers[slot];
        const struct fm_agent *agent = &agents->slots[slot];
        struct fm_team *team = mover->team == 0 ? NULL : fm_team_of(world, mover->team);
        if (team == NULL || agent->order.id == 0) {
            continue;
        }
        if (mover->lane != 0) {
            uint32_t lane = mover->lane - 1u;
            look_for_others(world, &team->lanes[lane / 2], lane % 2, agent, mover);
        } else {
            look_ahead(world, team, agent, mover);
        }
    }
}

// ---- keeping ------------------------------------------------------------------------------------

static void drop(fm_world *world, struct fm_team *team, uint32_t i)
{
    fm_world_edit_counts(world)->lanes -= team->lanes[i].is_open;
    fm_passage *passage = &team->lanes[i].passage;
    fm_memory_release(fm_world_memory(world), passage->distances, fm_passage_bytes(passage));
    team->lanes[i] = team->lanes[--team->lane_count];
    fm_world_edit_crowd(world)->lane_count -= 1;
}

void fm_lanes_drop_all(fm_world *world)
{
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    for (uint32_t i = 0; i < teams->count; i++) {
        struct fm_team *team = &teams->list[i];
        while (team->lane_count > 0) {
            drop(world, team, team->lane_count - 1);
        }
        fm_memory_release(fm_world_memory(world), team->lanes,
                          team->lanes == NULL ? 0 : FM_LANES_MAX * sizeof *team->lanes);
        team->lanes = NULL;
    }
}

// Whether the passage is there still.
static bool is_as_found(fm_world *world, uint32_t team, const fm_lanes *lanes)
{
    const fm_view *view = fm_world_class_view(world, team, lanes->class_index);
    const fm_passage *passage = &lanes->passage;
    fm_passage now;
    return fm_passage_find(view, passage->origin, &now) && now.origin == passage->origin &&
           now.is_vertical == passage->is_vertical && now.length == passage->length &&
           now.width == passage->width;
}

// Whether a direction gets a lane of the other: it would be over later, although it would get that
// lane only when those in it have left, and then all its own would not be over yet.
static bool wants_lane(const fm_lanes *lanes, uint32_t direction)
{
    const fm_passage *passage = &lanes->passage;
    uint32_t own = (uint32_t)__builtin_popcount(fm_passage_lanes(passage, direction, true));
    uint32_t others = passage->width - own, length = passage->length;
    uint32_t waiting = lanes->waiting[direction];
    return others > 1 && waiting > own * length &&
           (waiting + length) * (others - 1) >= lanes->waiting[1 - direction] * (own + 1);
}

// Whether units of one team gain by lanes.
static bool suits_one_team(const fm_passage *passage)
{
    return passage->width <= (passage->length <= SHORT_LENGTH ? SHORT_WIDTH : OWN_WIDTH_MAX);
}

// Hands lanes over where one team has them. Returns whether others belong to somebody else now, or
// close.
static bool hand_over(fm_lanes *lanes)
{
    fm_passage *passage = &lanes->passage;
    if (passage->closing != 0) {
        bool is_empty = lanes->leaving == 0;
        if (is_empty) {
            fm_passage_hand_over(passage);
        }
        return is_empty;
    }
    for (uint32_t direction = 0; direction < 2; direction++) {
        if (wants_lane(lanes, direction)) {
            fm_passage_close_for(passage, direction);
            return true;
        }
    }
    return false;
}

// Opens and shuts lanes, and says which belong to whom. Returns whether that is another now.
static bool decide(fm_lanes *lanes, uint64_t tick, bool has_large)
{
    fm_passage *passage = &lanes->passage;
    const uint32_t *counts = lanes->counts;
    uint32_t least = counts[0] < counts[1] ? counts[0] : counts[1];
    bool was_open = lanes->is_open, did_meet = passage->teams_meet;
    passage->teams_meet = (has_large || passage->width <= MEET_WIDTH_MAX) &&
                          lanes->others_tick != 0 && tick - lanes->others_tick < OTHERS_TICKS &&
                          fm_passage_has_halves(passage);
    lanes->is_open = passage->teams_meet || (!has_large && suits_one_team(passage) &&
                                             least >= (was_open ? SHUT_LEAST : OPEN_LEAST));
    if (!lanes->is_open) {
        return false;
    }
    if (was_open && did_meet == passage->teams_meet) {
        return !did_meet && hand_over(lanes);
    }
    if (passage->teams_meet) {
        fm_passage_halve(passage);
    } else {
        fm_passage_divide(passage, counts[1] > counts[0]);
    }
    return true;
}

static void count_one(fm_lanes *lanes, uint32_t direction, fm_cell cell)
{
    const fm_passage *passage = &lanes->passage;
    int32_t along = fm_passage_along(passage, cell);
    lanes->counts[direction] += 1;
    lanes->waiting[direction] += direction == 0 ? along < 0 : along >= (int32_t)passage->length;
    lanes->leaving += fm_passage_is_left(passage, direction, cell);
}

static void count(fm_world *world)
{
    const struct fm_world_teams *teams = fm_world_teams(world);
    for (uint32_t i = 0; (i = fm_busy_next(world, i)) < teams->count; i++) {
        for (uint32_t j = 0; j < teams->list[i].lane_count; j++) {
            fm_lanes *lanes = &teams->list[i].lanes[j];
            lanes->counts[0] = lanes->counts[1] = 0;
            lanes->waiting[0] = lanes->waiting[1] = lanes->leaving = 0;
        }
    }
    const fm_mover *movers = fm_world_edit_crowd(world)->movers;
    for (uint32_t slot = 0; slot < fm_world_agents(world)->slot_count; slot++) {
        if (movers[slot].team != 0 && movers[slot].lane != 0) {
            uint32_t lane = movers[slot].lane - 1u;
            count_one(&fm_team_of(world, movers[slot].team)->lanes[lane / 2], lane % 2,
                      movers[slot].cell);
        }
    }
}

static void keep(fm_world *world, struct fm_team *team, uint32_t number)
{
    uint64_t tick = fm_world_tick(world);
    fm_world_counts *counts = fm_world_edit_counts(world);
    for (uint32_t i = team->lane_count; i-- > 0;) {
        fm_lanes *lanes = &team->lanes[i];
        bool is_due = tick - lanes->checked_tick >= CHECK_PERIOD;
        lanes->checked_tick = is_due ? tick : lanes->checked_tick;
        counts->lanes -= lanes->is_open;
        bool has_changed = decide(lanes, tick, team->large_count > 0);
        counts->lanes += lanes->is_open;
        bool are_met = (lanes->counts[0] > 0 && lanes->counts[1] > 0) || lanes->passage.teams_meet;
        lanes->met_tick = are_met ? tick : lanes->met_tick;
        if (tick - lanes->met_tick > ALONE_TICKS ||
            (is_due && !is_as_found(world, number, lanes))) {
            drop(world, team, i);
        } else if (has_changed || (is_due && lanes->is_open)) {
            fm_passage_measure(&lanes->passage,
                               fm_world_class_view(world, number, lanes->class_index));
        }
    }
}

static void keep_all(fm_world *world)
{
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    for (uint32_t i = 0; (i = fm_busy_next(world, i)) < teams->count; i++) {
        keep(world, &teams->list[i], i + 1);
        fm_busy_check(world, i + 1);
    }
}

void fm_lanes_attend(fm_world *world)
{
    if (fm_world_edit_crowd(world)->lane_count > 0) {
        count(world);
        keep_all(world);
    }
    find(world);
}
