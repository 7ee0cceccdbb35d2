// core/crowd/jam.c: see jam.h.

#include "core/crowd/jam.h"

#include "core/crowd/busy.h"
#include "core/crowd/escort.h"
#include "core/crowd/jam_state.h"
#include "core/crowd/stuck.h"
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

#define JAMS_MAX     8u   // of a team at a time; of these one is searched for
#define BEGINS_MAX   4u   // in a tick
#define STILL_FACTOR 4u   // more work in a tick where the team stands still,
#define STILL_UNITS  64u  // and so few take part: a step of these costs less for each of them
#define STEPS_MAX    64u  // of a plan, while others wait,
#define LONG_PERIOD  4u   // but for each such number of looks around
#define SEARCHES_MAX 64u  // at a time, of all teams
#define TURN_LEAST   250u // work that must be left in a tick for another search to begin
#define MIXED_FACTOR 16u  // units that are asked for one in a configuration, see knot_step.c,
#define ASKED_FACTOR 2u   // and where all have one cell: corridors count
#define BEGIN_WORK   64u  // of an attempt, besides its ground

// ---- who takes part -----------------------------------------------------------------------------

static uint32_t unit_in(const fm_world *world, fm_cell cell)
{
    return fm_occupancy_at(world->crowd.occupancy, cell)->now;
}

// Whether a unit of the team stands beside the cell, and so sees the unit in it.
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

// The unit there, as far as the team knows: what it does not know must not change what it does.
static uint32_t known_unit_in(const fm_world *world, fm_cell cell, uint32_t team)
{
    uint32_t unit = unit_in(world, cell);
    bool is_known =
        unit != 0 && (world->crowd.movers[unit - 1].team == team || is_watched(world, cell, team));
    return is_known ? unit : 0;
}

static bool takes_part(const fm_world *world, uint32_t unit, const struct fm_jam *jam)
{
    const fm_mover *mover = &world->crowd.movers[unit - 1];
    bool stays = attempts[jam->attempt].is_alone && mover->parked;
    return mover->team == jam->team && mover->pushable && !mover->planned && !mover->escorted &&
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
    uint16_t *place = fm_jam_place(jam, cell);
    if (*place == 0) {
        jam->cells[jam->cell_count] = cell;
        *place = (uint16_t)++jam->cell_count;
    }
}

// A unit of a kind can stand on the cell, and all under it is ground.
static void reach(struct fm_jam *jam, uint32_t kind, fm_cell cell)
{
    jam->reached[kind][fm_jam_index(jam, cell)] = true;
    jam->anchors[jam->anchor_count++] = (struct fm_jam_anchor){.cell = cell, .kind = kind};
}

static void add_unit(fm_world *world, struct fm_jam *jam, uint32_t unit)
{
    const struct fm_agent *agent = &world->agents.slots[unit - 1];
    uint32_t kind = kind_of(world, jam, agent->class_index), size = jam->kinds[kind].size;
    for (uint32_t i = 0; i < size * size; i++) {
        add_cell(jam, fm_jam_part(agent->cell, size, i));
    }
    jam->agents[jam->unit_count] = fm_agent_id_of(world, agent);
    jam->aims[jam->unit_count] = fm_jam_aim_of(agent);
    jam->units[jam->unit_count] =
        (fm_knot_unit){.start = fm_jam_index(jam, agent->cell), .kind = (uint8_t)kind};
    jam->unit_count += 1;
    if (!jam->reached[kind][fm_jam_index(jam, agent->cell)]) {
        reach(jam, kind, agent->cell);
    }
}

// Adds the cells under a unit of some size, if there is room for them and for who stands there.
static bool add_cells(fm_world *world, struct fm_jam *jam, fm_cell cell, uint32_t size)
{
    uint32_t cells = 0, units = 0;
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell under = fm_jam_part(cell, size, i);
        if (fm_jam_index(jam, under) != FM_KNOT_NONE) {
            continue;
        }
        uint32_t unit = known_unit_in(world, under, jam->team);
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
        fm_cell under = fm_jam_part(cell, size, i);
        if (fm_jam_index(jam, under) == FM_KNOT_NONE) {
            uint32_t unit = known_unit_in(world, under, jam->team);
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
                moves >> d & 1 ? fm_jam_index(jam, fm_cell_step(jam->cells[i], d)) : FM_KNOT_NONE;
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
        struct fm_jam_anchor at = jam->anchors[i];
        const fm_view *view = fm_world_class_view(world, jam->team, jam->classes[at.kind]);
        for (uint32_t m = fm_view_moves(view, at.cell); m != 0; m &= m - 1) {
            fm_cell next = fm_cell_step(at.cell, (uint32_t)__builtin_ctz(m));
            uint16_t index = fm_jam_index(jam, next);
            if ((index == FM_KNOT_NONE || !jam->reached[at.kind][index]) &&
                add_cells(world, jam, next, jam->kinds[at.kind].size) &&
                !jam->reached[at.kind][fm_jam_index(jam, next)]) {
                reach(jam, at.kind, next);
            }
        }
    }
    for (uint32_t i = 0; i < jam->cell_count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            jam->beside[i].next[d] = fm_jam_index(jam, fm_cell_step(jam->cells[i], d));
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
        uint16_t index = fm_jam_index(jam, path[i]);
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
    uint16_t under[FM_JAM_UNDER_MAX];
    for (uint32_t i = 0; i < size * size; i++) {
        under[i] = fm_jam_index(jam, fm_jam_part(jam->cells[goal], size, i));
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
    uint16_t goal = fm_jam_index(jam, jam->aims[i]);
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

// Says of all units what is done for them. Those who get no help any more may have an escort.
static void note_help(fm_world *world, const struct fm_jam *jam, fm_agent_help help)
{
    struct fm_team *team = fm_team_of(world, jam->team);
    team->escorts_settled = team->escorts_settled && help != FM_HELP_NONE;
    for (uint32_t i = 0; i < jam->unit_count; i++) {
        struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        if (agent != NULL) {
            agent->help = (uint8_t)help;
        }
    }
}

// Searches for all teams in one tick.
struct search {
    struct fm_jam *jam;
    uint32_t configurations; // that may be made,
    uint64_t work, used;     // and the work that may be done, and was
    fm_knot_state state;
};

struct attendance {
    fm_world *world;
    uint64_t left, used; // work
    uint64_t promised;   // of what is left, to searches that have begun
    uint32_t asked;      // teams that were asked whether they have something to search for
    bool others_wait;    // there was too little work left to ask all
    uint32_t count;
    struct search searches[SEARCHES_MAX];
};

// Work was done for a team. What is more than was left is owed by the next ticks.
static void spend(struct attendance *a, uint32_t team, uint64_t work)
{
    fm_account_charge(&fm_team_of(a->world, team)->account, work);
    a->used += work;
    a->world->crowd.jam_debt += work > a->left ? work - a->left : 0;
    a->left -= work < a->left ? work : a->left;
}

// What it took to begin an attempt, in work: a distance to a goal counts as a 32nd of it.
static uint64_t beginning_of(const struct fm_jam *jam)
{
    uint64_t goals = 0;
    for (uint32_t i = 0; jam->knot != NULL && i < jam->unit_count; i++) {
        goals += jam->units[i].goal != FM_KNOT_NONE;
    }
    return BEGIN_WORK + jam->cell_count + jam->anchor_count + goals * jam->cell_count / 32;
}

static bool prepare(fm_world *world, struct fm_jam *jam, const struct fm_agent *first)
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

// Returns whether there is something to search for.
static bool begin_search(struct attendance *a, struct fm_jam *jam, const struct fm_agent *first)
{
    bool begins = prepare(a->world, jam, first);
    spend(a, jam->team, beginning_of(jam));
    return begins;
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
static struct fm_jam *begin(struct attendance *a, const struct fm_agent *first)
{
    fm_world *world = a->world;
    struct fm_jam *jam = fm_memory_allocate_zeroed(&world->memory, 1, sizeof *jam);
    if (jam == NULL) {
        return NULL;
    }
    struct fm_team *team = fm_team_of(world, first->team);
    jam->team = first->team;
    jam->next = team->jams;
    team->jams = jam;
    team->jam_count += 1;
    if (!begin_search(a, jam, first)) {
        drop(world, jam);
        return NULL;
    }
    return jam;
}

// What is left of all teams is counted again in the next tick.
void fm_jam_drop(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    team->stuck_left = team->stuck_next = 0;
    fm_escorts_drop(world, team);
    while (team->jams != NULL) {
        drop(world, team->jams);
    }
}

void fm_jam_drop_all(fm_world *world)
{
    world->crowd.jams_left = world->crowd.jam_team = 0;
    world->crowd.jam_debt = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_jam_drop(world, i + 1);
    }
}

// ---- what is searched for next ------------------------------------------------------------------

// Whether a unit of the team waits for help that does not take part.
static bool do_others_wait(fm_world *world, const struct fm_jam *jam)
{
    uint32_t waiting = fm_team_of(world, jam->team)->stuck_left;
    for (uint32_t i = 0; waiting > 0 && i < jam->unit_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, jam->agents[i]);
        waiting -= agent != NULL && agent->stuck;
    }
    return waiting > 0;
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
static bool begin_next(struct attendance *a, struct fm_jam *jam)
{
    const struct fm_agent *first = fm_world_find(a->world, jam->agents[0]);
    bool others_wait = do_others_wait(a->world, jam);
    while (++jam->attempt < FM_COUNT_OF(attempts) &&
           !(attempts[jam->attempt].is_long && others_wait)) {
        if (begin_search(a, jam, first)) {
            return true;
        }
    }
    return false;
}

static void follow(fm_world *world, struct fm_jam *jam)
{
    if (!fm_jam_follow(world, jam)) {
        drop(world, jam);
    }
}

// ---- turns --------------------------------------------------------------------------------------

// Lets a search have a part of the work that is left.
static void add_search(struct attendance *a, struct fm_jam *jam)
{
    a->searches[a->count++] = (struct search){.jam = jam};
}

// How many units of configurations a search may make in a tick.
static uint32_t wanted_by(fm_world *world, const struct fm_jam *jam)
{
    bool is_quick = jam->unit_count <= STILL_UNITS && fm_stuck_team_stands(world, jam->team);
    return is_quick ? STILL_FACTOR * FM_JAM_WORK : FM_JAM_WORK;
}

static bool is_mixed(const struct fm_jam *jam)
{
    uint32_t largest = 1;
    for (uint32_t kind = 0; kind < jam->kind_count; kind++) {
        largest = jam->kinds[kind].size > largest ? jam->kinds[kind].size : largest;
    }
    return largest > 1;
}

// Divides the work that is left among the listed searches.
static void deal(struct attendance *a)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        struct search *search = &a->searches[i];
        uint32_t wanted = wanted_by(a->world, search->jam);
        search->configurations = wanted / search->jam->unit_count + 1;
        search->work = (uint64_t)wanted * (is_mixed(search->jam) ? MIXED_FACTOR : ASKED_FACTOR);
        sum += search->work;
    }
    uint64_t left = a->left < UINT32_MAX ? a->left : UINT32_MAX;
    for (uint32_t i = 0; i < a->count && sum > left; i++) {
        a->searches[i].work = a->searches[i].work * left / sum + 1;
    }
}

static void run_searches(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    struct attendance *a = context;
    for (uint32_t i = begin; i < end; i++) {
        struct search *search = &a->searches[i];
        search->state =
            fm_knot_search(search->jam->knot, search->configurations, search->work, &search->used);
    }
}

// What follows from the work of a search in this tick.
static void close_search(struct attendance *a, const struct search *search)
{
    fm_world *world = a->world;
    struct fm_jam *jam = search->jam;
    if (search->state == FM_KNOT_RUNNING) {
        fm_jam_hold(world, jam);
        return;
    }
    if (search->state == FM_KNOT_FOUND && !is_too_long(world, jam)) {
        jam->is_found = true;
        note_help(world, jam, FM_HELP_PLAN);
        follow(world, jam);
        return;
    }
    fm_knot_destroy(jam->knot);
    jam->knot = NULL;
    if (a->others_wait) {
        jam->is_put_off = true;
        note_help(world, jam, FM_HELP_NONE);
    } else if (begin_next(a, jam)) {
        fm_jam_hold(world, jam);
    } else {
        drop(world, jam);
    }
}

// The jam of a team for which no plan was found yet. NULL: there is none.
static struct fm_jam *unsolved_of(const struct fm_team *team)
{
    struct fm_jam *jam = team->jams;
    while (jam != NULL && jam->is_found) {
        jam = jam->next;
    }
    return jam;
}

static bool wants_turn(const struct fm_team *team)
{
    const struct fm_jam *jam = unsolved_of(team);
    return jam == NULL ? team->stuck_left > 0 && team->jam_count < JAMS_MAX : jam->is_put_off;
}

// Continues with the next attempt, unless the first unit has got away meanwhile.
static bool take_up(struct attendance *a, struct fm_jam *jam)
{
    const struct fm_agent *first = fm_world_find(a->world, jam->agents[0]);
    jam->is_put_off = false;
    if (first != NULL && fm_stuck_yet(a->world, first) &&
        !fm_jam_mover(a->world, jam, 0)->planned && !fm_jam_mover(a->world, jam, 0)->escorted &&
        begin_next(a, jam)) {
        return true;
    }
    drop(a->world, jam);
    return false;
}

static void give_turn(struct attendance *a, uint32_t number)
{
    struct fm_team *team = fm_team_of(a->world, number);
    struct fm_jam *jam = unsolved_of(team);
    if (jam != NULL && !take_up(a, jam)) {
        jam = NULL;
    }
    for (uint32_t i = 0; jam == NULL && i < BEGINS_MAX && team->jam_count < JAMS_MAX; i++) {
        const struct fm_agent *first = fm_stuck_next(a->world, number);
        jam = first == NULL ? NULL : begin(a, first);
    }
    if (jam != NULL) {
        add_search(a, jam);
        a->promised += FM_JAM_WORK;
    }
}

// Teams without work here count as asked.
static void skip_idle(struct attendance *a)
{
    uint32_t count = a->world->teams.count, skipped = 1;
    while (a->asked < count && skipped > 0) {
        uint32_t i = (a->world->crowd.jam_team + a->asked) % count;
        skipped = fm_busy_next(a->world, i) - i; // after the last one the first has its turn
        a->asked += skipped;
    }
    a->asked = fm_min(a->asked, count);
}

// Asks further teams as long as there is work left; in the next tick the one after the last is
// asked first.
static void ask_others(struct attendance *a)
{
    fm_world *world = a->world;
    uint32_t count = world->teams.count;
    a->others_wait = false;
    for (skip_idle(a); a->asked < count; a->asked++, skip_idle(a)) {
        uint32_t i = (world->crowd.jam_team + a->asked) % count;
        if (wants_turn(&world->teams.list[i])) {
            a->others_wait = a->left < a->promised + TURN_LEAST || a->count == SEARCHES_MAX;
            if (a->others_wait) {
                return;
            }
            give_turn(a, i + 1);
        }
    }
}

// Follows the plans of a team's jams, and lists its search.
static void follow_plans(struct attendance *a, const struct fm_team *team)
{
    struct fm_jam *next;
    for (struct fm_jam *jam = team->jams; jam != NULL; jam = next) {
        next = jam->next;
        if (jam->is_put_off) {
            continue;
        }
        if (!fm_jam_is_valid(a->world, jam)) {
            drop(a->world, jam);
        } else if (jam->is_found) {
            follow(a->world, jam);
        } else if (a->count < SEARCHES_MAX) {
            add_search(a, jam);
        } else {
            fm_jam_hold(a->world, jam);
        }
    }
}

// Searches that are under way come first; what they leave is for others.
static void search_all(struct attendance *a, fm_workers *workers)
{
    if (a->count == 0) {
        ask_others(a);
    }
    while (a->count > 0) {
        uint32_t count = a->count;
        deal(a);
        fm_workers_run(workers, count, 1, run_searches, a);
        for (uint32_t i = 0; i < count; i++) {
            spend(a, a->searches[i].jam->team, a->searches[i].used);
        }
        a->promised = 0;
        ask_others(a);
        for (uint32_t i = 0; i < count; i++) {
            close_search(a, &a->searches[i]);
        }
        a->count -= count;
        memmove(a->searches, a->searches + count, a->count * sizeof *a->searches);
    }
}

uint64_t fm_jam_attend(fm_world *world, fm_workers *workers, uint64_t work)
{
    struct fm_world_crowd *crowd = &world->crowd;
    uint64_t owed = crowd->jam_debt < work ? crowd->jam_debt : work;
    crowd->jam_debt -= owed;
    fm_stuck_look_around(world);
    fm_escorts_look(world);
    if (crowd->jams_left == 0) {
        return 0;
    }
    struct attendance a = {.world = world, .left = work - owed};
    uint32_t count = world->teams.count;
    for (uint32_t i = 0; (i = fm_busy_next(world, i)) < count; i++) {
        follow_plans(&a, &world->teams.list[i]);
        fm_escorts_attend(world, i + 1);
    }
    search_all(&a, workers);
    crowd->jam_team = (crowd->jam_team + a.asked) % count;
    crowd->jams_left = 0;
    for (uint32_t i = 0; (i = fm_busy_next(world, i)) < count; i++) {
        const struct fm_team *team = &world->teams.list[i];
        crowd->jams_left +=
            team->jam_count + team->stuck_left + team->escort_count + fm_escorts_wanted(team);
        fm_busy_check(world, i + 1);
    }
    world->counts.expansions_by_kind[FM_SEARCH_JOINT] += a.used;
    return a.used;
}
