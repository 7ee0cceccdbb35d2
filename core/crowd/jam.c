// core/crowd/jam.c: see jam.h.

#include "core/crowd/jam.h"

#include "core/crowd/knot.h"
#include "core/crowd/pibt.h"
#include "core/world/world_classes.h"

#include <string.h>

// What is tried: a small piece of ground first, since most knots are small and a search among fewer
// units finds more.
static const struct attempt {
    uint32_t cells_max;
    bool is_relaxed; // it is enough that the first unit gets through
} attempts[] = {{40, false}, {120, false}, {FM_KNOT_CELLS_MAX, false}, {120, true}};

#define PLACES 2048u // of the table of cells, a power of two

struct fm_jam {
    uint32_t team;
    fm_knot *knot;
    uint32_t attempt; // index in attempts
    uint32_t step;    // of the plan
    uint32_t cell_count, unit_count;
    fm_cell cells[FM_KNOT_CELLS_MAX];
    uint16_t table[PLACES]; // index + 1 by hash of the cell
    fm_knot_cell ground[FM_KNOT_CELLS_MAX];
    fm_knot_unit units[FM_KNOT_UNITS_MAX];
    fm_agent_id agents[FM_KNOT_UNITS_MAX];
    fm_cell aims[FM_KNOT_UNITS_MAX]; // where each wanted to be when the work began
};

// ---- cells by index -----------------------------------------------------------------------------

static uint16_t *find_place(struct fm_jam *jam, fm_cell cell)
{
    uint32_t place = (cell * 2654435761u) >> 21;
    while (jam->table[place] != 0 && jam->cells[jam->table[place] - 1] != cell) {
        place = (place + 1) % PLACES;
    }
    return &jam->table[place];
}

static uint16_t index_of(struct fm_jam *jam, fm_cell cell)
{
    uint16_t entry = *find_place(jam, cell);
    return entry == 0 ? FM_KNOT_NONE : (uint16_t)(entry - 1);
}

// ---- who takes part -----------------------------------------------------------------------------

// Where a unit wants to be; where it stands, if it has nowhere to go.
static fm_cell aim_of(const struct fm_agent *agent)
{
    if (agent->order.id == 0) {
        return agent->home == FM_CELL_NONE ? agent->cell : agent->home;
    }
    fm_cell aim =
        agent->order.substitute != FM_CELL_NONE ? agent->order.substitute : agent->order.goal;
    return aim == FM_CELL_NONE ? agent->cell : aim;
}

static bool takes_part(const fm_world *world, uint32_t unit, const struct fm_agent *first)
{
    const struct fm_agent *agent = &world->agents.slots[unit - 1];
    const fm_mover *mover = &world->crowd.movers[unit - 1];
    return agent->class_index == first->class_index && agent->team == first->team &&
           mover->size == 1 && mover->pushable;
}

static uint32_t unit_in(const fm_world *world, fm_cell cell)
{
    return fm_occupancy_at(world->crowd.occupancy, cell)->now;
}

static void add_unit(fm_world *world, struct fm_jam *jam, uint32_t unit)
{
    const struct fm_agent *agent = &world->agents.slots[unit - 1];
    jam->agents[jam->unit_count] = fm_agent_id_of(world, agent);
    jam->aims[jam->unit_count] = aim_of(agent);
    jam->units[jam->unit_count].start = index_of(jam, agent->cell);
    jam->unit_count += 1;
}

// Whether one of the team stands beside the cell, and so sees who is in it.
static bool is_watched(const fm_world *world, fm_cell cell, uint32_t team)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        fm_cell beside = fm_cell_step(cell, d);
        uint32_t unit = fm_world_contains(world, beside) ? unit_in(world, beside) : 0;
        if (unit != 0 && world->crowd.movers[unit - 1].team == team) {
            return true;
        }
    }
    return false;
}

// Who is there as far as the team knows.
static uint32_t known_unit_in(const fm_world *world, fm_cell cell, uint32_t team)
{
    uint32_t unit = unit_in(world, cell);
    bool is_known =
        unit != 0 && (world->crowd.movers[unit - 1].team == team || is_watched(world, cell, team));
    return is_known ? unit : 0;
}

// Adds a cell if there is room for it and for who stands there.
static bool add_cell(fm_world *world, struct fm_jam *jam, fm_cell cell,
                     const struct fm_agent *first)
{
    uint32_t unit = known_unit_in(world, cell, first->team);
    if (jam->cell_count == attempts[jam->attempt].cells_max ||
        (unit != 0 && (jam->unit_count == FM_KNOT_UNITS_MAX || !takes_part(world, unit, first)))) {
        return false;
    }
    *find_place(jam, cell) = (uint16_t)(jam->cell_count + 1);
    jam->cells[jam->cell_count++] = cell;
    if (unit != 0) {
        add_unit(world, jam, unit);
    }
    return true;
}

// The cells around the first unit, the nearest first, and who stands there.
static void gather(fm_world *world, struct fm_jam *jam, const struct fm_agent *first)
{
    const fm_view *view = fm_world_class_view(world, first->team, first->class_index);
    add_cell(world, jam, first->cell, first);
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        uint32_t moves = fm_view_moves(view, jam->cells[i]);
        for (uint32_t m = moves; m != 0; m &= m - 1) {
            fm_cell next = fm_cell_step(jam->cells[i], (uint32_t)__builtin_ctz(m));
            if (index_of(jam, next) == FM_KNOT_NONE) {
                add_cell(world, jam, next, first);
            }
        }
    }
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        uint32_t moves = fm_view_moves(view, jam->cells[i]);
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            jam->ground[i].next[d] =
                moves >> d & 1 ? index_of(jam, fm_cell_step(jam->cells[i], d)) : FM_KNOT_NONE;
        }
    }
}

// Of the way to a goal outside: the last cell that lies within.
static uint16_t way_out(fm_world *world, struct fm_jam *jam, const struct fm_agent *agent)
{
    fm_cell path[FM_KNOT_CELLS_MAX];
    if (agent->planner == FM_SLOT_NONE || agent->plan_state != FM_PLAN_FOUND) {
        return FM_KNOT_NONE;
    }
    const struct fm_planner *planner = &world->planners.slots[agent->planner];
    uint32_t count = planner->spec.ops->path(planner->self, agent->cell, path, FM_KNOT_CELLS_MAX);
    uint16_t last = FM_KNOT_NONE;
    for (uint32_t i = 1; i < count && i < FM_KNOT_CELLS_MAX; i++) {
        uint16_t index = index_of(jam, path[i]);
        if (index == FM_KNOT_NONE) {
            break;
        }
        last = index;
    }
    return last;
}

// Every unit whose place is within goes there, but for those that come too late to it. The first
// one has a goal in any case.
static void set_goals(fm_world *world, struct fm_jam *jam)
{
    bool given[FM_KNOT_CELLS_MAX] = {false};
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        uint16_t goal = index_of(jam, jam->aims[i]);
        if (i == 0 && goal == FM_KNOT_NONE) {
            goal = way_out(world, jam, fm_world_find(world, jam->agents[0]));
        }
        bool wanted =
            goal != FM_KNOT_NONE && !given[goal] && (i == 0 || !attempts[jam->attempt].is_relaxed);
        jam->units[i].goal = wanted ? goal : FM_KNOT_NONE;
        if (wanted) {
            given[goal] = true;
        }
    }
}

// Whether the first unit only goes back to where somebody else belongs by now.
static bool is_taken(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 1; i < jam->unit_count; i++) {
        if (jam->aims[i] == jam->aims[0]) {
            return fm_world_find(world, jam->agents[0])->order.id == 0;
        }
    }
    return false;
}

// Returns whether there is something to search for.
static bool begin_search(fm_world *world, struct fm_jam *jam, const struct fm_agent *first)
{
    jam->cell_count = jam->unit_count = 0;
    memset(jam->table, 0, sizeof jam->table);
    gather(world, jam, first);
    set_goals(world, jam);
    return jam->units[0].goal != FM_KNOT_NONE && !is_taken(world, jam) &&
           fm_knot_create(jam->ground, jam->cell_count, jam->units, jam->unit_count, world->tick,
                          &world->memory, &jam->knot) == FM_OK;
}

static void drop(fm_world *world, struct fm_jam *jam)
{
    fm_team_of(world, jam->team)->jam = NULL;
    world->crowd.jam_count -= 1;
    fm_knot_destroy(jam->knot);
    fm_memory_release(&world->memory, jam, sizeof *jam);
}

static void begin(fm_world *world, const struct fm_agent *first)
{
    struct fm_jam *jam = fm_memory_allocate_zeroed(&world->memory, 1, sizeof *jam);
    if (jam == NULL) {
        return;
    }
    jam->team = first->team;
    fm_team_of(world, jam->team)->jam = jam;
    world->crowd.jam_count += 1;
    if (!begin_search(world, jam, first)) {
        drop(world, jam);
    }
}

void fm_jam_drop_all(fm_world *world)
{
    for (uint32_t i = 0; world->crowd.jam_count > 0 && i < world->teams.count; i++) {
        if (world->teams.list[i].jam != NULL) {
            drop(world, world->teams.list[i].jam);
        }
    }
}

// ---- who is stuck -------------------------------------------------------------------------------

static const fm_mover *mover_at(const fm_world *world, const struct fm_agent *agent)
{
    return &world->crowd.movers[agent - world->agents.slots];
}

static bool is_stuck(const struct fm_agent *agent, const fm_mover *mover)
{
    return (mover->preferences & 15) < FM_PREFERENCE_STAY && agent->anchor != FM_CELL_NONE &&
           fm_cell_dx(agent->cell, agent->anchor) <= FM_JAM_REACH &&
           fm_cell_dy(agent->cell, agent->anchor) <= FM_JAM_REACH;
}

// The unit that is a team's member number `i`; NULL when it is dead.
static struct fm_agent *member_of(fm_world *world, uint32_t team, uint32_t i)
{
    uint32_t slot = fm_team_of(world, team)->members[i];
    struct fm_agent *agent = &world->agents.slots[slot];
    return world->crowd.movers[slot].team == team && agent->member == i ? agent : NULL;
}

// Drops the anchor of each of the team where it is. One of the stuck, in turns, is helped if it is
// of one cell. A team's units come by their names: other teams must not decide who is the first.
static uint32_t look_around(fm_world *world, uint32_t team)
{
    uint32_t count = 0, member_count = fm_team_of(world, team)->member_count;
    for (uint32_t i = 0; i < member_count; i++) {
        const struct fm_agent *agent = member_of(world, team, i);
        count += agent != NULL && is_stuck(agent, mover_at(world, agent));
    }
    if (fm_team_of(world, team)->jam != NULL) {
        return count;
    }
    uint32_t turn = count == 0 ? 0 : (uint32_t)(world->tick / FM_JAM_TICKS % count);
    const struct fm_agent *first = NULL;
    for (uint32_t i = 0; i < member_count; i++) {
        struct fm_agent *agent = member_of(world, team, i);
        if (agent == NULL) {
            continue;
        }
        const fm_mover *mover = mover_at(world, agent);
        if (count > 0 && is_stuck(agent, mover) && turn-- == 0) {
            first = mover->size == 1 ? agent : NULL;
        }
        // Who goes home again and again, and is pushed away again, is home at times.
        bool is_pushed = mover->parked && agent->pushed_tick + FM_JAM_TICKS > world->tick;
        bool wants = (mover->preferences & 15) < FM_PREFERENCE_STAY || is_pushed || mover->returns;
        agent->anchor = wants ? agent->cell : FM_CELL_NONE;
    }
    if (first != NULL) {
        begin(world, first);
    }
    return count;
}

// ---- following the plan -------------------------------------------------------------------------

// Whether everybody is where the plan says, and wants what it wanted.
static bool is_valid(fm_world *world, const struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        if (agent == NULL || agent->cell != jam->cells[places[i]] ||
            aim_of(agent) != jam->aims[i]) {
            return false;
        }
    }
    return true;
}

static fm_mover *mover_of(fm_world *world, const struct fm_jam *jam, uint32_t i)
{
    return &world->crowd.movers[jam->agents[i].index1 - 1];
}

static void hold(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        mover_of(world, jam, i)->progress = FM_MOVER_DECIDED;
    }
}

static bool are_all_ready(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        if (mover_of(world, jam, i)->progress != FM_MOVER_UNDECIDED) {
            return false;
        }
    }
    return true;
}

static bool is_member(const fm_world *world, struct fm_jam *jam, uint32_t unit)
{
    uint16_t index = index_of(jam, world->agents.slots[unit - 1].cell);
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; index != FM_KNOT_NONE && i < jam->unit_count; i++) {
        if (places[i] == index) {
            return jam->agents[i].index1 == unit;
        }
    }
    return false;
}

// Whether the next step of the plan is legal on the map as it is, and nobody else is in the way.
static bool is_open(fm_world *world, struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step + 1);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const fm_mover *mover = mover_of(world, jam, i);
        fm_cell next = jam->cells[places[i]];
        uint32_t d = fm_cell_direction(mover->cell, next);
        uint32_t unit = unit_in(world, next);
        if (next != mover->cell &&
            (!(mover->moves >> d & 1) || (unit != 0 && !is_member(world, jam, unit)))) {
            return false;
        }
    }
    return true;
}

static void follow(fm_world *world, struct fm_jam *jam)
{
    if (jam->step == fm_knot_steps(jam->knot) || !is_open(world, jam)) {
        drop(world, jam);
        return;
    }
    if (!are_all_ready(world, jam)) {
        hold(world, jam);
        return;
    }
    jam->step += 1;
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        fm_mover *mover = mover_of(world, jam, i);
        mover->next = jam->cells[places[i]];
        mover->progress = FM_MOVER_DECIDED;
    }
}

static void search(fm_world *world, struct fm_jam *jam)
{
    switch (fm_knot_search(jam->knot, FM_JAM_WORK / jam->unit_count + 1)) {
    case FM_KNOT_RUNNING:
        hold(world, jam);
        return;
    case FM_KNOT_FOUND:
        follow(world, jam);
        return;
    case FM_KNOT_FAILED:
        break;
    }
    fm_knot_destroy(jam->knot);
    jam->knot = NULL;
    jam->attempt += 1;
    if (jam->attempt == FM_COUNT_OF(attempts) ||
        !begin_search(world, jam, fm_world_find(world, jam->agents[0]))) {
        drop(world, jam);
    }
}

void fm_jam_attend(fm_world *world)
{
    if (world->tick % FM_JAM_TICKS == 0) {
        world->counts.stuck = 0;
        for (uint32_t team = 1; team <= world->teams.count; team++) {
            world->counts.stuck += look_around(world, team);
        }
    }
    for (uint32_t i = 0; world->crowd.jam_count > 0 && i < world->teams.count; i++) {
        struct fm_jam *jam = world->teams.list[i].jam;
        if (jam != NULL && !is_valid(world, jam)) {
            drop(world, jam);
        } else if (jam != NULL) {
            search(world, jam);
        }
    }
}
