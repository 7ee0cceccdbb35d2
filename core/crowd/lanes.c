// core/crowd/lanes.c: see lanes.h.

#include "core/crowd/lanes.h"

#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define FIND_PERIOD    4u  // ticks
#define LOOK_AHEAD     12u // cells
#define MEASURE_PERIOD 32u
#define ALONE_TICKS    64u // without units of one direction
#define OPEN_LEAST     6u  // units of each direction
#define SHUT_LEAST     2u

static const uint32_t straight = 1u << FM_NORTH | 1u << FM_EAST | 1u << FM_SOUTH | 1u << FM_WEST;

static uint32_t number_of(uint32_t index, uint32_t direction)
{
    return 1 + 2 * index + direction;
}

// ---- who passes ---------------------------------------------------------------------------------

static uint32_t distance_from(const fm_world *world, const struct fm_agent *agent,
                              const struct fm_planner *planner, fm_cell cell)
{
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    fm_planner_distances(planner->spec.ops, planner->self,
                         fm_world_truth(world, agent->class_index), planner->goal, cell, 0,
                         distances);
    return distances[FM_DIRECTION_COUNT];
}

// Whether a unit's way to its goal leads over the cells across a passage at a place along it.
static bool leads_over(const fm_world *world, const struct fm_agent *agent,
                       const struct fm_planner *planner, const fm_passage *passage, int32_t along)
{
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    uint32_t left = distance_from(world, agent, planner, agent->cell);
    for (uint32_t i = 0; i < passage->width; i++) {
        fm_cell cell = fm_passage_cell(passage, along, (int32_t)i);
        uint32_t least = fm_view_distance(view, agent->cell, cell);
        if (left >= least && distance_from(world, agent, planner, cell) <= left - least) {
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

uint32_t fm_lanes_of(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    for (uint32_t i = 0; i < team->lane_count; i++) {
        const fm_lanes *lanes = &team->lanes[i];
        if (lanes->class_index != agent->class_index ||
            !fm_rect_contains(&lanes->passage.box, agent->cell)) {
            continue;
        }
        for (uint32_t direction = 0; direction < 2; direction++) {
            if (passes(world, agent, planner, &lanes->passage, direction)) {
                return number_of(i, direction);
            }
        }
    }
    return 0;
}

const fm_passage *fm_lanes_open(const fm_world *world, uint32_t team, uint32_t number)
{
    const fm_lanes *lanes = number == 0 ? NULL : &fm_team_of(world, team)->lanes[(number - 1) / 2];
    return lanes != NULL && lanes->is_open ? &lanes->passage : NULL;
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

static const fm_mover *mover_at(const struct fm_world_crowd *crowd, fm_cell cell)
{
    uint32_t unit = fm_occupancy_at(crowd->occupancy, cell)->now;
    return unit == 0 ? NULL : &crowd->movers[unit - 1];
}

// Whether a unit wants along the wall beside it, and a friend comes towards it there.
static bool is_met(const struct fm_world_crowd *crowd, const fm_view *view, const fm_mover *mover)
{
    uint32_t walls = straight & ~(uint32_t)mover->moves;
    if (walls == 0 || (walls & (walls - 1)) != 0) {
        return false;
    }
    bool is_vertical = (walls & (1u << FM_EAST | 1u << FM_WEST)) != 0;
    uint32_t direction = direction_of(mover, is_vertical), steps = 0;
    uint32_t forth = is_vertical ? FM_SOUTH : FM_EAST, back = is_vertical ? FM_NORTH : FM_WEST;
    uint32_t d = direction == 0 ? forth : back;
    fm_cell cell = mover->cell;
    for (; direction < 2 && steps < LOOK_AHEAD && fm_view_moves(view, cell) >> d & 1; steps++) {
        cell = fm_cell_step(cell, d);
        const fm_mover *other = mover_at(crowd, cell);
        if (other != NULL && other->team == mover->team && other->size == 1 &&
            direction_of(other, is_vertical) == 1 - direction) {
            return true;
        }
    }
    return false;
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
    if (team->lanes == NULL) {
        team->lanes = fm_memory_allocate(memory, FM_LANES_MAX * sizeof *team->lanes);
    }
    passage.distances =
        team->lanes == NULL ? NULL : fm_memory_allocate(memory, fm_passage_bytes(&passage));
    if (passage.distances == NULL) {
        return;
    }
    fm_passage_share(&passage, 0);
    fm_passage_measure(&passage, view);
    uint64_t tick = fm_world_tick(world);
    team->lanes[team->lane_count++] = (fm_lanes){.passage = passage,
                                                 .class_index = agent->class_index,
                                                 .measured_tick = tick,
                                                 .met_tick = tick};
    fm_world_edit_crowd(world)->lane_count += 1;
}

// One in four units looks in each tick.
static void find(fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    uint32_t first = (uint32_t)(fm_world_tick(world) % FIND_PERIOD);
    for (uint32_t slot = first; slot < agents->slot_count; slot += FIND_PERIOD) {
        const fm_mover *mover = &crowd->movers[slot];
        const struct fm_agent *agent = &agents->slots[slot];
        if (mover->team == 0 || mover->size > 1 || mover->lane != 0 || agent->order.id == 0) {
            continue;
        }
        struct fm_team *team = fm_team_of(world, mover->team);
        if (team->large_count == 0 && team->lane_count < FM_LANES_MAX &&
            is_met(crowd, fm_world_class_view(world, mover->team, agent->class_index), mover)) {
            add(world, team, agent);
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

static void measure(fm_world *world, uint32_t team, fm_lanes *lanes)
{
    fm_passage_measure(&lanes->passage, fm_world_class_view(world, team, lanes->class_index));
    lanes->measured_tick = fm_world_tick(world);
}

// Whether the passage is there still. Measures it again.
static bool is_as_found(fm_world *world, uint32_t team, fm_lanes *lanes)
{
    const fm_view *view = fm_world_class_view(world, team, lanes->class_index);
    fm_passage now, *passage = &lanes->passage;
    if (!fm_passage_find(view, passage->origin, &now) || now.origin != passage->origin ||
        now.is_vertical != passage->is_vertical || now.length != passage->length ||
        now.width != passage->width) {
        return false;
    }
    measure(world, team, lanes);
    return true;
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

// Opens and shuts lanes, and says which belong to whom. Returns whether that is another now.
static bool decide(fm_lanes *lanes)
{
    fm_passage *passage = &lanes->passage;
    const uint32_t *counts = lanes->counts;
    uint32_t least = counts[0] < counts[1] ? counts[0] : counts[1];
    bool was_open = lanes->is_open;
    lanes->is_open = least >= (was_open ? SHUT_LEAST : OPEN_LEAST);
    if (!lanes->is_open) {
        return false;
    }
    if (!was_open) {
        fm_passage_share(passage, counts[1] > counts[0]);
        return true;
    }
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
    for (uint32_t i = 0; i < teams->count; i++) {
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
        counts->lanes -= lanes->is_open;
        if (decide(lanes)) {
            measure(world, number, lanes);
        }
        counts->lanes += lanes->is_open;
        lanes->met_tick = lanes->counts[0] > 0 && lanes->counts[1] > 0 ? tick : lanes->met_tick;
        bool is_due = tick - lanes->measured_tick >= MEASURE_PERIOD;
        if (team->large_count > 0 || tick - lanes->met_tick > ALONE_TICKS ||
            (is_due && !is_as_found(world, number, lanes))) {
            drop(world, team, i);
        }
    }
}

void fm_lanes_attend(fm_world *world)
{
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    bool has_lanes = fm_world_edit_crowd(world)->lane_count > 0;
    if (has_lanes) {
        count(world);
    }
    for (uint32_t i = 0; has_lanes && i < teams->count; i++) {
        keep(world, &teams->list[i], i + 1);
    }
    find(world);
}
