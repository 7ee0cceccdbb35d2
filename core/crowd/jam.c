// core/crowd/jam.c: see jam.h.

#include "core/crowd/jam.h"

#include "core/base/random.h"
#include "core/crowd/known.h"
#include "core/crowd/knot.h"
#include "core/crowd/passage.h"
#include "core/crowd/pibt.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#include <string.h>

// What is tried: a small piece of ground first, since most knots are small and a search among fewer
// units finds more. Units that take part stand still meanwhile, and so do others behind them: where
// more are stuck, long attempts would delay more than they help. The last few of a crowd often get
// home where nobody moves who is at home: few take part, and far from their goals too.
static const struct attempt {
    uint32_t cells_max; // for a first unit of one cell
    uint32_t nodes_max;
    bool is_relaxed; // it is enough that the first unit gets through
    bool is_long;    // not while others of the team wait for help
    bool is_alone;   // who is at home stays there
} attempts[] = {{40, 1000, false, false, false},
                {12, 2000, false, true, false},
                {20, 2000, false, true, false},
                {120, 2000, false, true, true},
                {FM_KNOT_CELLS_MAX, 5000, false, true, true},
                {120, 2000, false, true, false},
                {40, 1000, true, false, false},
                {120, 2000, true, false, false},
                {40, 10000, false, true, false},
                {FM_KNOT_CELLS_MAX, 5000, false, true, false},
                {FM_KNOT_CELLS_MAX, FM_KNOT_NODES_MAX, false, true, false}};

#define JAMS_MAX     8u    // of a team at a time; of these one is searched for
#define BEGINS_MAX   4u    // in a tick
#define DELAY_MAX    2u    // ticks
#define YIELDERS_MAX 8u    // around a unit: where more make way, searches would hold them up
#define SQUARE_SIDE  32u   // cells
#define SQUARES      1024u // counters
#define HINDERED_MIN (FM_JAM_TICKS / 2) // see patience.c: 2 for each tick, of who is stuck
#define PLACES       2048u              // of the table of cells, a power of two
#define STILL_FACTOR 4u                 // more work in a tick where the team stands still,
#define STILL_UNITS  64u // and so few take part: a step of these costs less for each of them
#define QUEUE_MAX    3u  // units that wait for each other, as far as is looked
#define STEPS_MAX    64u // of a plan, while others wait,
#define LONG_PERIOD  4u  // but for each such number of looks around
#define ANCHORS_MAX  (FM_KNOT_KINDS_MAX * FM_KNOT_CELLS_MAX)
#define UNDER_MAX    (FM_KNOT_SIZE_MAX * FM_KNOT_SIZE_MAX)

_Static_assert(FM_KNOT_KINDS_MAX >= FM_CLASSES_MAX && FM_KNOT_SIZE_MAX >= FM_CLASS_SIZE_MAX,
               "all classes may meet in a jam");

// Where a unit of a kind can stand.
struct anchor {
    fm_cell cell;
    uint32_t kind;
};

struct fm_jam {
    struct fm_jam *next; // of the team
    uint32_t team;
    bool is_found; // there is a plan, and it is followed
    fm_knot *knot;
    uint32_t attempt; // index in attempts
    uint32_t step;    // of the plan
    uint32_t delay;   // ticks that another unit has been in the way
    uint32_t cell_count, unit_count, kind_count, anchor_count;
    uint32_t cells_max;
    fm_cell cells[FM_KNOT_CELLS_MAX];
    uint16_t table[PLACES];              // index + 1 by hash of the cell
    uint16_t holders[FM_KNOT_CELLS_MAX]; // while a plan is followed: unit + 1
    uint8_t classes[FM_KNOT_KINDS_MAX];  // of kinds
    fm_knot_kind kinds[FM_KNOT_KINDS_MAX];
    fm_knot_cell beside[FM_KNOT_CELLS_MAX];
    fm_knot_cell steps[FM_KNOT_KINDS_MAX][FM_KNOT_CELLS_MAX];
    bool reached[FM_KNOT_KINDS_MAX][FM_KNOT_CELLS_MAX];
    struct anchor anchors[ANCHORS_MAX]; // reached ones
    fm_knot_unit units[FM_KNOT_UNITS_MAX];
    fm_agent_id agents[FM_KNOT_UNITS_MAX];
    fm_cell aims[FM_KNOT_UNITS_MAX]; // goal of each unit when the work began
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

// The cell number i under a unit.
static fm_cell part(fm_cell cell, uint32_t size, uint32_t i)
{
    return cell + fm_cell_at(i % size, i / size);
}

// ---- who takes part -----------------------------------------------------------------------------

// Where a unit wants to be; its own cell, if it has no goal.
static fm_cell aim_of(const struct fm_agent *agent)
{
    if (agent->order.id == 0) {
        return agent->home == FM_CELL_NONE ? agent->cell : agent->home;
    }
    fm_cell aim =
        agent->order.substitute != FM_CELL_NONE ? agent->order.substitute : agent->order.goal;
    return aim == FM_CELL_NONE ? agent->cell : aim;
}

static bool takes_part(const fm_world *world, uint32_t unit, const struct fm_jam *jam)
{
    const fm_mover *mover = &world->crowd.movers[unit - 1];
    bool stays = attempts[jam->attempt].is_alone && mover->parked;
    return mover->team == jam->team && mover->pushable && !mover->planned && !mover->cleared &&
           !stays;
}

static uint32_t kind_of(const fm_world *world, struct fm_jam *jam, uint8_t class_index)
{
    uint32_t kind = 0;
    while (kind < jam->kind_count && jam->classes[kind] != class_index) {
        kind += 1;
    }
    if (kind == jam->kind_count) {
        jam->kind_count += 1;
        jam->classes[kind] = class_index;
        jam->kinds[kind] = (fm_knot_kind){.size = world->rules.classes[class_index].size,
                                          .steps = jam->steps[kind]};
    }
    return kind;
}

static void add_cell(struct fm_jam *jam, fm_cell cell)
{
    uint16_t *place = find_place(jam, cell);
    if (*place == 0) {
        jam->cells[jam->cell_count] = cell;
        *place = (uint16_t)++jam->cell_count;
    }
}

// A unit of a kind can stand on the cell, and all under it is ground.
static void reach(struct fm_jam *jam, uint32_t kind, fm_cell cell)
{
    jam->reached[kind][index_of(jam, cell)] = true;
    jam->anchors[jam->anchor_count++] = (struct anchor){.cell = cell, .kind = kind};
}

static void add_unit(fm_world *world, struct fm_jam *jam, uint32_t unit)
{
    const struct fm_agent *agent = &world->agents.slots[unit - 1];
    uint32_t kind = kind_of(world, jam, agent->class_index), size = jam->kinds[kind].size;
    for (uint32_t i = 0; i < size * size; i++) {
        add_cell(jam, part(agent->cell, size, i));
    }
    jam->agents[jam->unit_count] = fm_agent_id_of(world, agent);
    jam->aims[jam->unit_count] = aim_of(agent);
    jam->units[jam->unit_count] =
        (fm_knot_unit){.start = index_of(jam, agent->cell), .kind = (uint8_t)kind};
    jam->unit_count += 1;
    if (!jam->reached[kind][index_of(jam, agent->cell)]) {
        reach(jam, kind, agent->cell);
    }
}

// Adds the cells under a unit of some size, if there is room for them and for who stands there.
static bool add_cells(fm_world *world, struct fm_jam *jam, fm_cell cell, uint32_t size)
{
    uint32_t cells = 0, units = 0;
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell under = part(cell, size, i);
        if (index_of(jam, under) != FM_KNOT_NONE) {
            continue;
        }
        uint32_t unit =
            fm_crowd_known_unit_in(world->crowd.occupancy, world->crowd.movers, under, jam->team);
        if (unit != 0 && !takes_part(world, unit, jam)) {
            return false;
        }
        uint32_t other_size = unit == 0 ? 1 : world->crowd.movers[unit - 1].size;
        cells += other_size * other_size; // too many where several cells of one lie under it
        units += unit != 0;
    }
    if (jam->cell_count + cells > jam->cells_max || jam->unit_count + units > FM_KNOT_UNITS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell under = part(cell, size, i);
        if (index_of(jam, under) == FM_KNOT_NONE) {
            uint32_t unit = fm_crowd_known_unit_in(world->crowd.occupancy, world->crowd.movers,
                                                   under, jam->team);
            add_cell(jam, under);
            if (unit != 0) {
                add_unit(world, jam, unit);
            }
        }
    }
    return true;
}

// Where the steps of a kind lead.
static void set_steps(const fm_world *world, struct fm_jam *jam, uint32_t kind)
{
    const fm_view *view = fm_world_class_view(world, jam->team, jam->classes[kind]);
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        uint32_t moves = jam->reached[kind][i] ? fm_view_moves(view, jam->cells[i]) : 0;
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            uint16_t next =
                moves >> d & 1 ? index_of(jam, fm_cell_step(jam->cells[i], d)) : FM_KNOT_NONE;
            bool leads = next != FM_KNOT_NONE && jam->reached[kind][next];
            jam->steps[kind][i].next[d] = leads ? next : FM_KNOT_NONE;
        }
    }
}

// The cells around the first unit, the nearest first, and who stands there.
static void gather(fm_world *world, struct fm_jam *jam, const struct fm_agent *first)
{
    add_unit(world, jam, fm_agent_id_of(world, first).index1);
    for (uint32_t i = 0; i < jam->anchor_count; i++) {
        struct anchor at = jam->anchors[i];
        const fm_view *view = fm_world_class_view(world, jam->team, jam->classes[at.kind]);
        for (uint32_t m = fm_view_moves(view, at.cell); m != 0; m &= m - 1) {
            fm_cell next = fm_cell_step(at.cell, (uint32_t)__builtin_ctz(m));
            uint16_t index = index_of(jam, next);
            if ((index == FM_KNOT_NONE || !jam->reached[at.kind][index]) &&
                add_cells(world, jam, next, jam->kinds[at.kind].size) &&
                !jam->reached[at.kind][index_of(jam, next)]) {
                reach(jam, at.kind, next);
            }
        }
    }
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            jam->beside[i].next[d] = index_of(jam, fm_cell_step(jam->cells[i], d));
        }
    }
    for (uint32_t kind = 0; kind < jam->kind_count; kind++) {
        set_steps(world, jam, kind);
    }
}

static bool leads(const fm_view *view, fm_cell cell, uint32_t first, uint32_t second)
{
    return fm_view_moves(view, cell) >> first & 1 &&
           fm_view_moves(view, fm_cell_step(cell, first)) >> second & 1;
}

// Whether the two cells of a step are on a common circle: of three where it is diagonal, else of
// four, to its left or right.
static bool is_on_circle(const fm_view *view, fm_cell cell, uint32_t d)
{
    bool is_diagonal = d & 1;
    uint32_t turn = is_diagonal ? 1 : 2;
    uint32_t right = (d + turn) % FM_DIRECTION_COUNT, left = (d - turn) % FM_DIRECTION_COUNT;
    if (is_diagonal) {
        return leads(view, cell, left, right) || leads(view, cell, right, left);
    }
    return (leads(view, cell, left, d) && leads(view, cell, d, left)) ||
           (leads(view, cell, right, d) && leads(view, cell, d, right));
}

// Whether all units are of one cell, and all steps from their ground are on circles: there the
// oldest unit gets through without help (pibt.h), and a plan would only hold up those who pass.
static bool is_open_ground(const fm_world *world, const struct fm_jam *jam)
{
    const fm_view *view = fm_world_class_view(world, jam->team, jam->classes[0]);
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        for (uint32_t moves = fm_view_moves(view, jam->cells[i]); moves != 0; moves &= moves - 1) {
            if (!is_on_circle(view, jam->cells[i], (uint32_t)__builtin_ctz(moves))) {
                return false;
            }
        }
    }
    return jam->kind_count == 1 && jam->kinds[0].size == 1;
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
        if (index == FM_KNOT_NONE || !jam->reached[jam->units[0].kind][index]) {
            break;
        }
        last = index;
    }
    return last;
}

// Reserves the cells under a unit on its goal, if none of them is reserved.
static bool give(struct fm_jam *jam, bool *given, const fm_knot_unit *unit, uint16_t goal)
{
    uint32_t size = jam->kinds[unit->kind].size;
    uint16_t under[UNDER_MAX];
    for (uint32_t i = 0; i < size * size; i++) {
        under[i] = index_of(jam, part(jam->cells[goal], size, i));
        if (given[under[i]]) {
            return false;
        }
    }
    for (uint32_t i = 0; i < size * size; i++) {
        given[under[i]] = true;
    }
    return true;
}

static void set_goal(fm_world *world, struct fm_jam *jam, bool *given, uint32_t i)
{
    fm_knot_unit *unit = &jam->units[i];
    uint16_t goal = index_of(jam, jam->aims[i]);
    goal = goal != FM_KNOT_NONE && jam->reached[unit->kind][goal] ? goal : FM_KNOT_NONE;
    if (i == 0 && goal == FM_KNOT_NONE) {
        goal = way_out(world, jam, fm_world_find(world, jam->agents[0]));
    }
    bool wanted = goal != FM_KNOT_NONE && (i == 0 || !attempts[jam->attempt].is_relaxed) &&
                  give(jam, given, unit, goal);
    unit->goal = wanted ? goal : FM_KNOT_NONE;
}

// Every unit whose goal is inside goes there, unless another has reserved it first; units that only
// go back come last. The first one has a goal in any case.
static void set_goals(fm_world *world, struct fm_jam *jam)
{
    bool given[FM_KNOT_CELLS_MAX] = {false};
    set_goal(world, jam, given, 0);
    for (uint32_t returning = 0; returning < 2; returning++) {
        for (uint32_t i = 1; i < jam->unit_count; i++) {
            const fm_mover *mover = &world->crowd.movers[jam->agents[i].index1 - 1];
            if (mover->returns == returning) {
                set_goal(world, jam, given, i);
            }
        }
    }
}

// Whether the first unit only goes back to a cell that is another's home by now.
static bool is_taken(fm_world *world, const struct fm_jam *jam)
{
    const struct fm_agent *first = fm_world_find(world, jam->agents[0]);
    int32_t size = world->rules.classes[first->class_index].size;
    for (uint32_t i = 1; first->order.id == 0 && i < jam->unit_count; i++) {
        int32_t other_size = (int32_t)jam->kinds[jam->units[i].kind].size;
        int32_t dx = (int32_t)fm_cell_x(jam->aims[i]) - (int32_t)fm_cell_x(jam->aims[0]);
        int32_t dy = (int32_t)fm_cell_y(jam->aims[i]) - (int32_t)fm_cell_y(jam->aims[0]);
        if (dx < size && dy < size && -dx < other_size && -dy < other_size) {
            return true;
        }
    }
    return false;
}

// Says of all units what is done for them.
static void note_help(fm_world *world, const struct fm_jam *jam, fm_agent_help help)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        if (agent != NULL) {
            agent->help = (uint8_t)help;
        }
    }
}

// Returns whether there is something to search for.
static bool begin_search(fm_world *world, struct fm_jam *jam, const struct fm_agent *first)
{
    uint32_t size = world->rules.classes[first->class_index].size;
    uint32_t cells_max = attempts[jam->attempt].cells_max * size * size;
    note_help(world, jam, FM_HELP_NONE); // those of the attempt before
    jam->cell_count = jam->unit_count = jam->kind_count = jam->anchor_count = 0;
    jam->cells_max = cells_max < FM_KNOT_CELLS_MAX ? cells_max : FM_KNOT_CELLS_MAX;
    memset(jam->table, 0, sizeof jam->table);
    memset(jam->reached, 0, sizeof jam->reached);
    gather(world, jam, first);
    if (is_open_ground(world, jam)) {
        return false;
    }
    set_goals(world, jam);
    const fm_knot_ground ground = {.cell_count = jam->cell_count,
                                   .kind_count = jam->kind_count,
                                   .beside = jam->beside,
                                   .kinds = jam->kinds};
    note_help(world, jam, FM_HELP_SEARCH);
    return jam->units[0].goal != FM_KNOT_NONE && !is_taken(world, jam) &&
           fm_knot_create(&ground, jam->units, jam->unit_count, attempts[jam->attempt].nodes_max,
                          world->tick, &world->memory, &jam->knot) == FM_OK;
}

static void drop(fm_world *world, struct fm_jam *jam)
{
    note_help(world, jam, FM_HELP_NONE);
    struct fm_team *team = fm_team_of(world, jam->team);
    struct fm_jam **link = &team->jams;
    while (*link != jam) {
        link = &(*link)->next;
    }
    *link = jam->next;
    team->jam_count -= 1;
    fm_knot_destroy(jam->knot);
    fm_memory_release(&world->memory, jam, sizeof *jam);
}

// NULL: there is nothing to search for.
static struct fm_jam *begin(fm_world *world, const struct fm_agent *first)
{
    struct fm_jam *jam = fm_memory_allocate_zeroed(&world->memory, 1, sizeof *jam);
    if (jam == NULL) {
        return NULL;
    }
    struct fm_team *team = fm_team_of(world, first->team);
    jam->team = first->team;
    jam->next = team->jams;
    team->jams = jam;
    team->jam_count += 1;
    if (!begin_search(world, jam, first)) {
        drop(world, jam);
        return NULL;
    }
    return jam;
}

void fm_jam_drop_all(fm_world *world)
{
    world->crowd.jams_left = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        team->stuck_left = team->stuck_next = 0;
        fm_passages_drop(world, team);
        while (team->jams != NULL) {
            drop(world, team->jams);
        }
    }
}

// ---- who is stuck -------------------------------------------------------------------------------

static const fm_mover *mover_at(const fm_world *world, const struct fm_agent *agent)
{
    return &world->crowd.movers[agent - world->agents.slots];
}

// A unit in a queue that moves gets nearer, if slowly.
static bool is_stuck(const struct fm_agent *agent, const fm_mover *mover)
{
    bool gets_nearer = agent->order.id != 0 && agent->hindered < HINDERED_MIN;
    return !gets_nearer && (mover->preferences & 15) < FM_PREFERENCE_STAY &&
           agent->anchor != FM_CELL_NONE &&
           fm_cell_dx(agent->cell, agent->anchor) <= FM_JAM_REACH &&
           fm_cell_dy(agent->cell, agent->anchor) <= FM_JAM_REACH;
}

// The first other unit on the cells that a unit covers after the step that it wants; 0: none.
static uint32_t unit_ahead(const fm_world *world, const fm_mover *mover)
{
    uint32_t self = (uint32_t)(mover - world->crowd.movers) + 1;
    uint32_t size = world->rules.classes[world->agents.slots[self - 1].class_index].size;
    fm_cell corner = fm_cell_step(mover->cell, (uint32_t)(mover->preferences & 15));
    for (uint32_t y = 0; y < size; y++) {
        for (uint32_t x = 0; x < size; x++) {
            uint32_t unit = fm_crowd_unit_in(
                world->crowd.occupancy, fm_cell_at(fm_cell_x(corner) + x, fm_cell_y(corner) + y));
            if (unit != 0 && unit != self) {
                return unit;
            }
        }
    }
    return 0;
}

// Whether it waits in a queue that moves: who stands where it wants to go, or one that this one
// waits for, gets nearer to its goal. A search would hold the queue up.
static bool is_served(const fm_world *world, const fm_mover *mover)
{
    for (uint32_t i = 0; i < QUEUE_MAX; i++) {
        uint32_t unit = unit_ahead(world, mover);
        const fm_mover *other = unit == 0 ? NULL : &world->crowd.movers[unit - 1];
        if (other == NULL || other->team != mover->team ||
            (other->preferences & 15) >= FM_PREFERENCE_STAY) {
            return false;
        }
        const struct fm_agent *agent = &world->agents.slots[unit - 1];
        if (agent->order.id != 0 && agent->hindered < HINDERED_MIN) {
            return true;
        }
        mover = other;
    }
    return false;
}

// The unit that is a team's member number `i`; NULL when it is dead.
static struct fm_agent *member_of(fm_world *world, uint32_t team, uint32_t i)
{
    uint32_t slot = fm_team_of(world, team)->members[i];
    struct fm_agent *agent = &world->agents.slots[slot];
    return world->crowd.movers[slot].team == team && agent->member == i ? agent : NULL;
}

// How many units of a team make way for others in this tick (see preferences.c), by squares of the
// map. Squares far from each other may share a counter: then units there get no help for a while.
struct yielders {
    uint32_t counts[SQUARES];
};

static uint32_t square_at(uint32_t x, uint32_t y)
{
    return (uint32_t)(fm_mix64((uint64_t)y << 32 | x) % SQUARES);
}

static void count_yielders(fm_world *world, uint32_t number, struct yielders *yielders)
{
    const struct fm_team *team = fm_team_of(world, number);
    memset(yielders, 0, sizeof *yielders);
    for (uint32_t i = 0; team->large_count > 0 && i < team->member_count; i++) {
        const struct fm_agent *agent = member_of(world, number, i);
        if (agent != NULL && mover_at(world, agent)->yields) {
            yielders->counts[square_at(fm_cell_x(agent->cell) / SQUARE_SIDE,
                                       fm_cell_y(agent->cell) / SQUARE_SIDE)] += 1;
        }
    }
}

// Whether so many make way around a cell that a search would hold them up.
static bool is_pressed(const struct yielders *yielders, fm_cell cell)
{
    uint32_t count = 0, x = fm_cell_x(cell) / SQUARE_SIDE, y = fm_cell_y(cell) / SQUARE_SIDE;
    for (uint32_t i = 0; i < 9; i++) {
        count += yielders->counts[square_at(x + i % 3 - 1, y + i / 3 - 1)];
    }
    return count > YIELDERS_MAX;
}

// Sets the anchor of each unit of the team to its cell, and notes which are stuck. Returns how
// many.
static uint32_t look_around(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    struct yielders yielders;
    count_yielders(world, number, &yielders);
    team->stuck_left = 0;
    for (uint32_t i = 0; i < team->member_count; i++) {
        struct fm_agent *agent = member_of(world, number, i);
        if (agent == NULL) {
            continue;
        }
        const fm_mover *mover = mover_at(world, agent);
        agent->jammed = is_stuck(agent, mover) && !is_served(world, mover);
        agent->stuck = agent->jammed && !is_pressed(&yielders, agent->cell);
        team->stuck_left += agent->stuck;
        // A unit that goes home again and again, and is pushed away again, is at home at times.
        bool is_pushed = mover->parked && agent->pushed_tick + FM_JAM_TICKS > world->tick;
        bool wants = (mover->preferences & 15) < FM_PREFERENCE_STAY || is_pushed || mover->returns;
        agent->anchor = wants ? agent->cell : FM_CELL_NONE;
    }
    return team->stuck_left;
}

// The next stuck unit that is where it was and that no jam includes. NULL: there is none. In turns,
// by their aliases: other teams must not decide which is the first.
static const struct fm_agent *next_stuck(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    for (uint32_t i = 0; team->stuck_left > 0 && i < team->member_count; i++) {
        team->stuck_next = (team->stuck_next + 1) % team->member_count;
        struct fm_agent *agent = member_of(world, number, team->stuck_next);
        if (agent == NULL || !agent->stuck) {
            continue;
        }
        const fm_mover *mover = mover_at(world, agent);
        agent->stuck = false;
        team->stuck_left -= 1;
        if (is_stuck(agent, mover) && !mover->planned && !mover->cleared) {
            return agent;
        }
    }
    team->stuck_left = 0;
    return NULL;
}

// ---- following the plan -------------------------------------------------------------------------

static fm_mover *mover_of(fm_world *world, const struct fm_jam *jam, uint32_t i)
{
    return &world->crowd.movers[jam->agents[i].index1 - 1];
}

// Whether everybody is where the plan says, wants what it wanted, and may still be moved: who holds
// its ground by now, or is frozen, may not.
static bool is_valid(fm_world *world, const struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        if (agent == NULL || agent->cell != jam->cells[places[i]] ||
            aim_of(agent) != jam->aims[i] || !mover_of(world, jam, i)->pushable) {
            return false;
        }
    }
    return true;
}

static void hold(fm_world *world, const struct fm_jam *jam)
{
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        fm_mover *mover = mover_of(world, jam, i);
        mover->progress = FM_MOVER_DECIDED;
        mover->planned = true;
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

static void write_holders(fm_world *world, struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    memset(jam->holders, 0, sizeof jam->holders);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        uint32_t size = mover_of(world, jam, i)->size;
        for (uint32_t j = 0; j < size * size; j++) {
            jam->holders[index_of(jam, part(jam->cells[places[i]], size, j))] = (uint16_t)(i + 1);
        }
    }
}

// Whether a unit that does not take part stands where a unit goes, or goes there by another plan.
static bool is_in_the_way(fm_world *world, struct fm_jam *jam, fm_cell cell, uint32_t size)
{
    for (uint32_t j = 0; j < size * size; j++) {
        fm_cell under = part(cell, size, j);
        const fm_place *place = fm_occupancy_at(world->crowd.occupancy, under);
        bool is_other = place->now != 0 && jam->holders[index_of(jam, under)] == 0;
        if (is_other || place->claim != 0) {
            return true;
        }
    }
    return false;
}

// Whether a unit of another plan goes from one cell to the other.
static bool goes(const fm_world *world, fm_cell from, fm_cell to)
{
    uint32_t unit = fm_crowd_unit_in(world->crowd.occupancy, from);
    const fm_mover *mover = unit == 0 ? NULL : &world->crowd.movers[unit - 1];
    return mover != NULL && mover->size == 1 && mover->planned && mover->next == to;
}

// Whether a step would cross that of a unit of another plan.
static bool crosses(const fm_world *world, const fm_mover *mover, uint32_t d)
{
    if ((d & 1) == 0 || mover->size > 1) {
        return false;
    }
    fm_cell left = fm_cell_step(mover->cell, d - 1);
    fm_cell right = fm_cell_step(mover->cell, (d + 1) % FM_DIRECTION_COUNT);
    return goes(world, left, right) || goes(world, right, left);
}

// Whether the next step of the plan is legal on the map as it is, and no other unit is in the way.
static bool is_open(fm_world *world, struct fm_jam *jam)
{
    const uint16_t *places = fm_knot_at(jam->knot, jam->step + 1);
    write_holders(world, jam);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        const fm_mover *mover = mover_of(world, jam, i);
        fm_cell next = jam->cells[places[i]];
        uint32_t d = fm_cell_direction(mover->cell, next);
        if (next != mover->cell && (!(mover->moves >> d & 1) || crosses(world, mover, d) ||
                                    is_in_the_way(world, jam, next, mover->size))) {
            return false;
        }
    }
    return true;
}

static void follow(fm_world *world, struct fm_jam *jam)
{
    if (jam->step == fm_knot_steps(jam->knot)) {
        drop(world, jam);
        return;
    }
    if (!are_all_ready(world, jam) || !is_open(world, jam)) {
        jam->delay += 1;
        if (jam->delay > DELAY_MAX) {
            drop(world, jam);
        } else {
            hold(world, jam);
        }
        return;
    }
    jam->delay = 0;
    jam->step += 1;
    const uint16_t *places = fm_knot_at(jam->knot, jam->step);
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        fm_mover *mover = mover_of(world, jam, i);
        mover->next = jam->cells[places[i]];
        mover->progress = FM_MOVER_DECIDED;
        mover->planned = true;
        for (uint32_t j = 0; j < (uint32_t)mover->size * mover->size; j++) {
            fm_occupancy_at(world->crowd.occupancy, part(mover->next, mover->size, j))->claim =
                jam->agents[i].index1;
        }
    }
}

// Whether a unit of the team waits for help that does not take part.
static bool do_others_wait(fm_world *world, const struct fm_jam *jam)
{
    uint32_t waiting = fm_team_of(world, jam->team)->stuck_left;
    for (uint32_t i = 0; waiting > 0 && i < jam->unit_count; i++) {
        waiting -= fm_world_find(world, jam->agents[i])->stuck;
    }
    return waiting > 0;
}

// Whether no unit of the team made a step in the last tick: then nothing is lost when all wait for
// the search, and the tick has little else to do.
static bool is_still(fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    for (uint32_t i = 0; i < team->member_count; i++) {
        const struct fm_agent *agent = member_of(world, number, i);
        if (agent != NULL && agent->stepped_tick == world->tick && agent->moves > 0) {
            return false;
        }
    }
    return true;
}

// Whether a plan would hold up others who wait for too long. Now and then that is right: it may be
// the only one that gets them out of each other's way.
static bool is_too_long(fm_world *world, const struct fm_jam *jam)
{
    return fm_knot_steps(jam->knot) > STEPS_MAX && do_others_wait(world, jam) &&
           world->tick / FM_JAM_TICKS % LONG_PERIOD != 0;
}

// Begins the next attempt that may be made and has something to search for: on a small piece of
// ground the first unit's goal may be out of reach that is within it on a larger one.
static bool begin_next(fm_world *world, struct fm_jam *jam)
{
    const struct fm_agent *first = fm_world_find(world, jam->agents[0]);
    bool others_wait = do_others_wait(world, jam);
    while (++jam->attempt < FM_COUNT_OF(attempts) &&
           !(attempts[jam->attempt].is_long && others_wait)) {
        if (begin_search(world, jam, first)) {
            return true;
        }
    }
    return false;
}

static void search(fm_world *world, struct fm_jam *jam)
{
    bool is_quick = jam->unit_count <= STILL_UNITS && is_still(world, jam->team);
    uint32_t work = is_quick ? STILL_FACTOR * FM_JAM_WORK : FM_JAM_WORK;
    switch (fm_knot_search(jam->knot, work / jam->unit_count + 1)) {
    case FM_KNOT_RUNNING:
        hold(world, jam);
        return;
    case FM_KNOT_FOUND:
        if (is_too_long(world, jam)) {
            break;
        }
        jam->is_found = true;
        note_help(world, jam, FM_HELP_PLAN);
        follow(world, jam);
        return;
    case FM_KNOT_FAILED:
        break;
    }
    fm_knot_destroy(jam->knot);
    jam->knot = NULL;
    if (begin_next(world, jam)) {
        hold(world, jam);
    } else {
        drop(world, jam);
    }
}

// Jams whose plan is followed come first: their units are not searched for again.
static void attend_team(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    struct fm_jam *searching = NULL, *next;
    for (struct fm_jam *jam = team->jams; jam != NULL; jam = next) {
        next = jam->next;
        if (!is_valid(world, jam)) {
            drop(world, jam);
        } else if (jam->is_found) {
            follow(world, jam);
        } else {
            searching = jam;
        }
    }
    for (uint32_t i = 0; searching == NULL && i < BEGINS_MAX && team->jam_count < JAMS_MAX; i++) {
        const struct fm_agent *first = next_stuck(world, number);
        searching = first == NULL ? NULL : begin(world, first);
    }
    if (searching != NULL) {
        search(world, searching);
    }
}

void fm_jam_attend(fm_world *world)
{
    bool looks = world->tick % FM_JAM_TICKS == 0;
    if (!looks && world->crowd.jams_left == 0) {
        return;
    }
    world->counts.stuck = looks ? 0 : world->counts.stuck;
    world->crowd.jams_left = 0;
    for (uint32_t number = 1; number <= world->teams.count; number++) {
        world->counts.stuck += looks ? look_around(world, number) : 0;
        world->crowd.jams_left += fm_passages_attend(world, number, looks);
        attend_team(world, number);
        const struct fm_team *team = fm_team_of(world, number);
        world->crowd.jams_left += team->jam_count + team->stuck_left;
    }
}
