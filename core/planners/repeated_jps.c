// core/planners/repeated_jps.c: searches again from scratch, by jump points, whenever its path may
// no longer be a shortest one; in between it keeps only the path.
//
// A jump-point search takes some microseconds, less than an incremental search often needs to
// repair what it keeps. The path is stored as its turning points, so an agent costs a few hundred
// bytes. The memory of the search belongs to the worker (core/search/scratch.h); only a search that
// the grant cuts short stays with its planner until it is over.
//
// When is a path no longer a shortest one? When it is blocked, and when a freed cell lies so near
// that a path through it might be shorter: no path through cell b costs less than the distances to
// b and from b to the goal. What is blocked elsewhere only makes other paths longer.
//
// A search under way begins again when a cell changes that it may have looked at. It still ends:
// each restart needs such a change, so after n changes at most n + 1 searches were made. Where
// grants are smaller than a search and the map is edited within its reach in every tick, the answer
// is delayed as long as that continues; planner auto then moves by tbaa-star
// (tests/core/planners/test_progress.c).
//
//   SEARCH ── path found ──> FOUND ── walk() sees a wall some steps ahead ──> PARTIAL
//      │                       ^                                               │
//      │                       └────────────────── path found ─────────────────┘
//      └───── no path ─────> NEAREST ── nearest reachable cell known ──> UNREACHABLE
//
// In a world the planner is not notified of what changed off its path (fm_planner_ops.walk): it
// looks at the steps ahead of its agent. A wall farther ahead makes it search again only when its
// agent has made REPLAN_STEPS steps since the last search, because an explorer learns of another
// wall with every step. The agent continues along the old path until there is another, or until it
// is at the wall.

#include "core/planners/repeated_jps.h"

#include "core/search/planner.h"

#include "core/search/bend.h"
#include "core/search/line.h"
#include "core/search/nearest.h"
#include "core/search/scratch.h"

#include <string.h>

#define LOOKS_PER_UNIT 64u // pairs of a change and a line of the path charged as one jump point
#define TURNS_SPARE    4u  // before a path, for paths back to it
#define TURNS_BACK     2u  // of a path back, at most
#define REJOIN_AHEAD   8u // steps along its path, to the cell where a pushed agent comes back to it
#define PUSHED_MAX     4u // steps from where its search began: it continues
#define REJOIN_STEPS   8u // of the path back, at most
#define REJOINED_MAX   16u // then the next push makes it search
#define REPLAN_STEPS   4u  // between two searches for walls that are farther than NEAR_STEPS
#define NEAR_STEPS     3u
#define VIA_STEPS      4u // before the cell of go_via() a path counts as broken farther ahead
// How steps off the path are ranked, see jps_distances().
#define LINES_NEAR   4u  // of the path, on which a cell is looked for
#define CORNER_STEPS 8u  // to a turn, from where a cell
#define PAST_STEPS   16u // past it counts,
#define SIGHT_STEPS  24u // if it is seen within so many

struct jps {
    const fm_view *view;
    const fm_memory *memory;
    fm_cell start, goal;
    fm_cell pushed_to; // where the agent is by now, while a search from `start` continues; or NONE
    fm_plan_state state;
    bool begun; // `search` is under way, for the goal or for `nearest_search`

    fm_jump_search *search;     // kept from one grant to the next
    fm_nearest *nearest_search; // not NULL: there is no path, and the nearest cell is wanted
    fm_cell nearest;            // of an unreachable goal

    fm_cell *turns; // some spare ones, from where the path was planned, to the goal
    uint32_t turn_count, turn_capacity;
    uint32_t ahead;    // the first turn that the agent has not reached yet
    bool rejoin;       // fm_planner_options.rejoin
    fm_cell via;       // where the path leads first, see jps_go_via(); FM_CELL_NONE: to the goal
    uint32_t rejoined; // times since the path was planned
    uint32_t walked;   // steps since then, by walk()
    uint32_t broken;   // steps from `start` to one that is known to be illegal; 0: none is
};

// Whether the agent has a path to go by, though it may be broken farther ahead.
static bool has_path(const struct jps *p)
{
    return p->state == FM_PLAN_FOUND || p->state == FM_PLAN_PARTIAL;
}

// ---- the path -----------------------------------------------------------------------------------

// The cell where line i of the path begins, counted from `ahead`: where the agent stands, or a
// turn.
static fm_cell line_begin(const struct jps *p, uint32_t i)
{
    return i == p->ahead ? p->start : p->turns[i - 1];
}

static bool path_is_blocked(const struct jps *p, const fm_change *changes, uint32_t count,
                            fm_work *work)
{
    fm_line_bounds bounds = fm_line_bounds_of_blocked(changes, count);
    uint32_t looks = count;
    bool blocked = false;
    for (uint32_t i = p->ahead; !blocked && i < p->turn_count; i++) {
        fm_line line = fm_line_of(line_begin(p, i), p->turns[i]);
        if (!fm_line_touches(&line, &bounds)) {
            continue;
        }
        looks += count;
        for (uint32_t j = 0; !blocked && j < count; j++) {
            blocked = changes[j].blocked && fm_line_needs(&line, changes[j].cell);
        }
    }
    fm_work_charge(work, looks / LOOKS_PER_UNIT);
    return blocked;
}

static uint32_t path_cost(const struct jps *p)
{
    uint32_t cost = 0;
    for (uint32_t i = p->ahead; i < p->turn_count; i++) {
        fm_cell from = line_begin(p, i);
        cost += p->view->step[fm_turn_direction(from, p->turns[i]) & 1] *
                fm_turn_steps(from, p->turns[i]);
    }
    return cost;
}

// A freed cell also frees the diagonals past its corners, which begin and end one straight step
// from it.
static bool path_may_shorten(const struct jps *p, const fm_change *changes, uint32_t count)
{
    uint32_t cost = FM_COST_INFINITE, slack = 2 * p->view->step[0];
    for (uint32_t i = 0; i < count; i++) {
        if (!changes[i].cheaper) {
            continue;
        }
        cost = cost == FM_COST_INFINITE ? path_cost(p) : cost;
        if (fm_view_distance(p->view, p->start, changes[i].cell) +
                fm_view_distance(p->view, changes[i].cell, p->goal) <
            cost + slack) {
            return true;
        }
    }
    return false;
}

// Whether `cell` is on what is left of the path; then it continues from there.
static bool follow(struct jps *p, fm_cell cell)
{
    for (uint32_t i = p->ahead; i < p->turn_count; i++) {
        fm_line line = fm_line_of(line_begin(p, i), p->turns[i]);
        if (fm_line_contains(&line, cell)) {
            p->start = cell;
            p->ahead = cell == p->turns[i] ? i + 1 : i;
            return true;
        }
    }
    return false;
}

// The cell of the path some steps on from a cell on the line to turn number `*i`, or the goal.
// Receives in `*i` the number of the turn that ends its line.
static fm_cell cell_along(const struct jps *p, fm_cell cell, uint32_t steps, uint32_t *i)
{
    for (;; *i += 1) {
        fm_line line = fm_line_of(cell, p->turns[*i]);
        int32_t part = line.steps < (int32_t)steps ? line.steps : (int32_t)steps;
        cell = fm_cell_at((uint32_t)(line.x + part * line.dx), (uint32_t)(line.y + part * line.dy));
        steps -= (uint32_t)part;
        if (steps == 0 || *i + 1 == p->turn_count) {
            return cell;
        }
    }
}

// Makes room for a path back before what is left of the path. A unit in a crowd is pushed more
// often than its path turns. False when out of memory.
static bool make_room(struct jps *p)
{
    if (p->ahead > TURNS_BACK) {
        return true;
    }
    uint32_t left = p->turn_count - p->ahead, capacity = TURNS_SPARE + 1 + left;
    fm_cell *turns = fm_memory_allocate(p->memory, capacity * sizeof *turns);
    if (turns == NULL) {
        return false;
    }
    memcpy(turns + TURNS_SPARE + 1, p->turns + p->ahead, left * sizeof *turns);
    fm_memory_release(p->memory, p->turns, p->turn_capacity * sizeof *p->turns);
    p->turns = turns;
    p->turn_count = p->turn_capacity = capacity;
    p->ahead = TURNS_SPARE + 1;
    return true;
}

// An agent that was pushed off its path goes back to it a little farther on, where nothing is in
// between: the farther, the fewer steps go to waste. The path back takes the place of what it cuts
// off.
static bool go_back(struct jps *p, fm_cell cell)
{
    if (!p->rejoin || p->rejoined == REJOINED_MAX || p->ahead == p->turn_count) {
        return false;
    }
    fm_cell meeting = FM_CELL_NONE, bend;
    uint32_t i = p->ahead;
    bool found = false;
    for (uint32_t steps = REJOIN_AHEAD; !found && steps >= 2; steps -= 2) {
        i = p->ahead;
        meeting = cell_along(p, p->start, steps, &i);
        found = meeting != cell && fm_bend_find(p->view, cell, meeting, REJOIN_STEPS, &bend);
    }
    if (!found) {
        return false;
    }
    p->ahead = i;
    if (!make_room(p)) {
        return false;
    }
    if (meeting != p->turns[p->ahead]) {
        p->turns[--p->ahead] = meeting;
    }
    if (bend != meeting && bend != cell) {
        p->turns[--p->ahead] = bend;
    }
    p->start = cell;
    p->rejoined += 1;
    return true;
}

// The first of so many steps ahead that is illegal, counted from 1. 0: none.
static uint32_t find_break(const struct jps *p, uint32_t steps)
{
    uint32_t step = 0;
    fm_cell cell = p->start;
    for (uint32_t i = p->ahead; i < p->turn_count; i++) {
        uint32_t d = fm_turn_direction(cell, p->turns[i]);
        for (; cell != p->turns[i]; cell = fm_cell_step(cell, d)) {
            if (step == steps) {
                return 0;
            }
            step += 1;
            if (!(fm_view_moves(p->view, cell) >> d & 1)) {
                return step;
            }
        }
    }
    return 0;
}

// ---- searching ----------------------------------------------------------------------------------

// A search under way counts no more; the path stays.
static void drop_search(struct jps *p)
{
    fm_nearest_destroy(p->nearest_search);
    p->nearest_search = NULL;
    p->begun = false;
}

// What was found or tried no longer counts. Memory held stays for the next search.
static void restart(struct jps *p)
{
    drop_search(p);
    p->broken = 0;
    p->pushed_to = FM_CELL_NONE;
    p->nearest = FM_CELL_NONE;
    p->turn_count = 0;
    p->ahead = 0;
    p->state = FM_PLAN_RUNNING;
}

static void give_search_back(struct jps *p, fm_scratch *scratch)
{
    if (scratch != NULL) {
        fm_scratch_give(scratch, p->search);
    } else {
        fm_jump_search_destroy(p->search);
    }
    p->search = NULL;
    drop_search(p);
}

static bool begin(struct jps *p, fm_scratch *scratch)
{
    if (p->search == NULL && scratch != NULL) {
        p->search = fm_scratch_take(scratch);
    } else if (p->search == NULL && fm_jump_search_create(p->memory, &p->search) != FM_OK) {
        p->search = NULL;
    }
    if (p->search == NULL) {
        return false;
    }
    fm_cell to = p->via != FM_CELL_NONE ? p->via : p->goal;
    fm_jump_search_begin(p->search, p->view, p->start, to, FM_COST_INFINITE);
    p->begun = true;
    return true;
}

// Room for a new path; what is left of the old one is lost. False when out of memory: it stays.
static bool reserve_turns(struct jps *p, uint32_t count)
{
    if (count <= p->turn_capacity) {
        return true;
    }
    fm_cell *turns = fm_memory_allocate(p->memory, count * sizeof *turns);
    if (turns == NULL) {
        return false;
    }
    fm_memory_release(p->memory, p->turns, p->turn_capacity * sizeof *p->turns);
    p->turns = turns;
    p->turn_capacity = count;
    return true;
}

static void begin_path(struct jps *p, uint32_t spare, uint32_t count)
{
    p->turn_count = count;
    p->ahead = spare + 1;
    p->rejoined = p->walked = p->broken = 0;
}

static fm_plan_state take_path(struct jps *p)
{
    uint32_t spare = p->rejoin ? TURNS_SPARE : 0;
    uint32_t room = p->turn_capacity > spare ? p->turn_capacity - spare : 0;
    uint32_t count =
        fm_jump_search_turns(p->search, room > 0 ? p->turns + spare : NULL, room) + spare;
    if (count > p->turn_capacity) {
        if (!reserve_turns(p, count)) {
            return FM_PLAN_EXHAUSTED;
        }
        fm_jump_search_turns(p->search, p->turns + spare, count - spare);
    }
    begin_path(p, spare, count);
    return FM_PLAN_FOUND;
}

static fm_plan_state search_nearest(struct jps *p, fm_work *work)
{
    switch (fm_nearest_advance(p->nearest_search, p->search, work, &p->nearest)) {
    case FM_JUMP_RUNNING:
        return FM_PLAN_RUNNING;
    case FM_JUMP_FOUND:
        return FM_PLAN_UNREACHABLE;
    case FM_JUMP_UNREACHABLE:
    case FM_JUMP_EXHAUSTED:
        return FM_PLAN_EXHAUSTED;
    }
    FM_UNREACHABLE();
}

static fm_plan_state search_goal(struct jps *p, fm_work *work)
{
    uint32_t expansions_at_start = work->expansions;
    switch (fm_jump_search_advance(p->search, work)) {
    case FM_JUMP_RUNNING:
        return FM_PLAN_RUNNING;
    case FM_JUMP_FOUND:
        return take_path(p);
    case FM_JUMP_UNREACHABLE:
        if (p->via != FM_CELL_NONE) { // a wall was seen on the way
            p->via = FM_CELL_NONE;
            fm_jump_search_begin(p->search, p->view, p->start, p->goal, FM_COST_INFINITE);
            return FM_PLAN_RUNNING;
        }
        break;
    case FM_JUMP_EXHAUSTED:
        return FM_PLAN_EXHAUSTED;
    }
    if (fm_nearest_create(p->view, p->start, p->goal, p->memory, &p->nearest_search) != FM_OK) {
        return FM_PLAN_EXHAUSTED;
    }
    // What is left of the grant goes to the second search.
    uint32_t expansions_max = work->expansions_max;
    work->expansions_max -= work->expansions - expansions_at_start;
    fm_plan_state state = search_nearest(p, work);
    work->expansions_max = expansions_max;
    return state;
}

// ---- planner interface --------------------------------------------------------------------------

static fm_status jps_init(void *self, const fm_view *view, const fm_planner_options *options,
                          const fm_memory *memory, fm_cell goal)
{
    struct jps *p = self;
    *p = (struct jps){.view = view,
                      .memory = memory,
                      .start = FM_CELL_NONE,
                      .pushed_to = FM_CELL_NONE,
                      .goal = goal,
                      .via = FM_CELL_NONE,
                      .rejoin = options->rejoin,
                      .nearest = FM_CELL_NONE,
                      .state = FM_PLAN_RUNNING};
    return FM_OK;
}

static void jps_fini(void *self, fm_slab *slab)
{
    (void)slab;
    struct jps *p = self;
    give_search_back(p, NULL);
    fm_memory_release(p->memory, p->turns, p->turn_capacity * sizeof *p->turns);
}

static void jps_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    (void)slab;
    struct jps *p = self;
    p->goal = goal;
    p->via = FM_CELL_NONE;
    restart(p);
}

static void jps_forget(void *self, fm_slab *slab)
{
    (void)slab;
    struct jps *p = self;
    p->via = FM_CELL_NONE;
    restart(p);
}

static void jps_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct jps *p = self;
    FM_ASSERT(count == 1);
    if (p->state == FM_PLAN_RUNNING && p->begun && p->rejoin && p->nearest_search == NULL &&
        fm_turn_steps(p->start, cells[0]) <= PUSHED_MAX) {
        p->pushed_to = cells[0]; // it will be near enough to the path to go back to it
        return;
    }
    if (cells[0] == p->start) {
        return;
    }
    if (has_path(p) && (follow(p, cells[0]) || go_back(p, cells[0]))) {
        drop_search(p); // it began where the agent is no more
        return;
    }
    p->start = cells[0];
    restart(p);
}

static void jps_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                  fm_work *work)
{
    struct jps *p = self;
    bool keep = count == 0;
    switch (p->state) {
    case FM_PLAN_RUNNING:
        keep =
            keep || !p->begun ||
            (p->nearest_search == NULL && !fm_jump_search_may_have_seen(p->search, changes, count));
        break;
    case FM_PLAN_FOUND:
        keep = keep ||
               (!path_is_blocked(p, changes, count, work) && !path_may_shorten(p, changes, count));
        break;
    case FM_PLAN_PARTIAL: // the path is known to be broken
        if (p->begun && (p->nearest_search != NULL ||
                         fm_jump_search_may_have_seen(p->search, changes, count))) {
            drop_search(p);
        }
        keep = true;
        break;
    case FM_PLAN_UNREACHABLE: // there may be a path now, or the nearest cell be another
    case FM_PLAN_EXHAUSTED:
        break;
    }
    if (!keep) {
        restart(p);
    }
}

// The agent was pushed while the search continued from where it had been.
static void catch_up(struct jps *p)
{
    fm_cell cell = p->pushed_to;
    p->pushed_to = FM_CELL_NONE;
    if (cell == FM_CELL_NONE || cell == p->start) {
        return;
    }
    fm_cell bend;
    if (p->state == FM_PLAN_UNREACHABLE &&
        fm_bend_find(p->view, p->start, cell, REJOIN_STEPS, &bend)) {
        p->start = cell; // nothing in between: what can be reached from there is the same
    } else if (p->state != FM_PLAN_FOUND || !(follow(p, cell) || go_back(p, cell))) {
        p->start = cell;
        restart(p);
    }
}

static fm_plan_state jps_advance(void *self, fm_work *work)
{
    struct jps *p = self;
    if (p->state != FM_PLAN_RUNNING && p->state != FM_PLAN_PARTIAL) {
        return p->state;
    }
    if (!p->begun && !begin(p, work->scratch)) {
        p->state = FM_PLAN_EXHAUSTED;
        return p->state;
    }
    fm_plan_state state =
        p->nearest_search != NULL ? search_nearest(p, work) : search_goal(p, work);
    if (state != FM_PLAN_RUNNING) {
        p->state = state;
        give_search_back(p, work->scratch);
        catch_up(p);
    }
    return p->state;
}

static bool jps_is_done(const void *self)
{
    const struct jps *p = self;
    return p->state != FM_PLAN_RUNNING && p->state != FM_PLAN_PARTIAL;
}

static fm_plan_state jps_state_at(const void *self, fm_cell start)
{
    const struct jps *p = self;
    if (start == p->goal) {
        return FM_PLAN_FOUND;
    }
    return start == p->start ? p->state : FM_PLAN_RUNNING;
}

static fm_cell jps_next_step(const void *self, fm_cell start)
{
    const struct jps *p = self;
    if (start == p->goal) {
        return start;
    }
    if (start != p->start || !has_path(p) || p->ahead == p->turn_count) {
        return FM_CELL_NONE;
    }
    return fm_cell_step(start, fm_turn_direction(start, p->turns[p->ahead]));
}

// The first turn of the path after a cell near where the agent stands: as the agent's own, unless
// the cell lies farther on along the path. May be turn_count.
static uint32_t turn_after(const struct jps *p, fm_cell from)
{
    uint32_t end = fm_min(p->turn_count, p->ahead + LINES_NEAR);
    for (uint32_t i = p->ahead; from != p->start && i < end; i++) {
        fm_line line = fm_line_of(line_begin(p, i), p->turns[i]);
        if (fm_line_contains(&line, from)) {
            return i + (from == p->turns[i]);
        }
    }
    return p->ahead;
}

// The last turn, from number i on, to which the path leads by steps of two neighbouring directions:
// in whatever order these steps are made, it is as far. Walls may lie between: along a rough one a
// path turns at each jag, and a crowd should not queue for each of these turns.
static uint32_t turn_in_reach(const struct jps *p, fm_cell from, uint32_t i)
{
    uint32_t cost = fm_view_distance(p->view, from, p->turns[i]);
    for (; i + 1 < p->turn_count; i++) {
        cost += fm_view_distance(p->view, p->turns[i], p->turns[i + 1]);
        if (fm_view_distance(p->view, from, p->turns[i + 1]) != cost) {
            break;
        }
    }
    return i;
}

// How far it is from a cell near the path to a turn and on to a cell past it, which is `past` steps
// from there; straight there, where nothing is in between.
static uint32_t distance_past(fm_sight *sight, fm_cell from, fm_cell turn, uint32_t past)
{
    uint32_t straight = fm_view_distance(sight->view, from, sight->to);
    uint32_t by_turn = fm_view_distance(sight->view, from, turn) + past;
    return straight < by_turn && fm_sight_reaches(sight, from) ? straight : by_turn;
}

// The path keeps no distances. Near the agent it leads straight to a turn, so the distance to that
// shows which neighbour is a step on the path and which one leads off it. Near a corner the
// distance to a cell past it says which cells lead round the corner as well, so that a crowd does
// not queue for the one at the corner.
static void jps_distances(const void *self, fm_cell start, uint32_t moves,
                          uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const struct jps *p = self;
    uint32_t i = has_path(p) ? turn_after(p, start) : p->turn_count;
    fm_cell turn = p->goal, past = p->goal;
    if (i < p->turn_count) {
        i = turn_in_reach(p, start, i);
        turn = past = p->turns[i];
        if (i + 1 < p->turn_count && fm_turn_steps(start, turn) <= CORNER_STEPS) {
            i += 1;
            past = cell_along(p, turn, PAST_STEPS, &i);
        }
    }
    fm_sight sight = fm_sight_of(p->view, past, SIGHT_STEPS);
    uint32_t between = fm_view_distance(p->view, turn, past);
    distances[FM_DIRECTION_COUNT] = distance_past(&sight, start, turn, between);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        distances[d] = distance_past(&sight, fm_cell_step(start, d), turn, between);
    }
}

static uint32_t jps_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct jps *p = self;
    if (start != p->start || p->state != FM_PLAN_FOUND) {
        return 0;
    }
    // From the agent to the turn ahead of it, and on from there.
    const fm_cell first[2] = {start, p->turns[p->ahead < p->turn_count ? p->ahead : 0]};
    if (p->ahead == p->turn_count) {
        return fm_turns_expand(first, 1, cells, capacity);
    }
    uint32_t length = fm_turns_expand(first, 2, cells, capacity) - 1;
    uint32_t used = length < capacity ? length : capacity;
    return length + fm_turns_expand(&p->turns[p->ahead], p->turn_count - p->ahead,
                                    used < capacity ? cells + used : NULL, capacity - used);
}

static fm_cell jps_nearest(const void *self, fm_cell start)
{
    const struct jps *p = self;
    return start == p->start && p->state == FM_PLAN_UNREACHABLE ? p->nearest : FM_CELL_NONE;
}

// While a search is under way, its jump points; afterwards the turns that are left.
static void jps_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct jps *p = self;
    if (p->begun && p->nearest_search == NULL) {
        fm_jump_search_inspect(p->search, visit, context);
        return;
    }
    uint32_t g = 0;
    for (uint32_t i = p->ahead; i < p->turn_count; i++) {
        fm_cell from = line_begin(p, i), cell = p->turns[i];
        uint32_t d = fm_turn_direction(from, cell);
        g += p->view->step[d & 1] * fm_turn_steps(from, cell);
        uint32_t h = fm_view_distance(p->view, cell, p->goal);
        fm_inspection turn = {.cell = cell,
                              .closed = true,
                              .g = g,
                              .h = h,
                              .rhs = FM_COST_INFINITE,
                              .key = g + h,
                              .parent = fm_cell_step(cell, d ^ 4)};
        visit(&turn, context);
    }
}

static size_t jps_bytes(const void *self)
{
    const struct jps *p = self;
    return sizeof *p + p->turn_capacity * sizeof *p->turns +
           (p->search == NULL ? 0 : fm_jump_search_bytes(p->search)) +
           (p->nearest_search == NULL ? 0 : fm_nearest_bytes(p->nearest_search));
}

// ---- walking ------------------------------------------------------------------------------------

static bool jps_is_walking(const void *self)
{
    const struct jps *p = self;
    return p->state == FM_PLAN_FOUND && !p->begun;
}

static bool jps_go_via(void *self, fm_cell start, const fm_cell *turns, uint32_t count)
{
    struct jps *p = self;
    uint32_t spare = p->rejoin ? TURNS_SPARE : 0;
    if (start != p->start || !jps_is_walking(p) || !reserve_turns(p, count + spare)) {
        return false;
    }
    memcpy(p->turns + spare, turns, count * sizeof *turns);
    begin_path(p, spare, count + spare);
    p->via = turns[count - 1];
    return true;
}

static fm_cell jps_via(const void *self)
{
    const struct jps *p = self;
    return p->via;
}

static void jps_fetch(const void *self, uint32_t depth)
{
    const struct jps *p = self;
    if (depth == 0 && p->turns != NULL) {
        __builtin_prefetch(&p->turns[p->ahead]);
    }
}

static fm_plan_state jps_walk(void *self, fm_cell start, uint32_t steps)
{
    struct jps *p = self;
    if (start != p->start) {
        jps_set_starts(p, &start, 1);
        p->walked += 1;
        p->broken -= p->broken > 1;
    }
    if (start == p->goal) {
        return FM_PLAN_FOUND;
    }
    if (!has_path(p)) {
        return p->state;
    }
    if (p->via != FM_CELL_NONE && fm_turn_steps(start, p->via) <= VIA_STEPS) {
        p->via = FM_CELL_NONE;
        p->state = FM_PLAN_PARTIAL;
    }
    uint32_t distance = find_break(p, steps);
    p->broken = distance != 0 ? distance : p->broken;
    if (distance == 1) {
        restart(p);
    } else if (p->broken != 0 &&
               (p->broken <= NEAR_STEPS || p->walked >= REPLAN_STEPS || steps == FM_STEPS_ALL)) {
        p->state = FM_PLAN_PARTIAL;
    }
    return p->state;
}

// ---- saved worlds -------------------------------------------------------------------------------

// A path is small, and is all that there is between two searches.
static bool jps_settle(void *self, fm_slab *slab)
{
    (void)slab;
    struct jps *p = self;
    p->walked = 0;
    return p->state == FM_PLAN_FOUND && p->via == FM_CELL_NONE && !p->begun && p->broken == 0 &&
           p->ahead < p->turn_count;
}

// The room before the path that may still be used: each path back takes two turns at most.
static uint32_t room_of(const struct jps *p)
{
    uint32_t most = p->rejoin ? 2 * (REJOINED_MAX - p->rejoined) + 3 : 1;
    return p->ahead < most ? p->ahead : most;
}

static void jps_save(const void *self, fm_writer *writer)
{
    const struct jps *p = self;
    fm_writer_put_varint(writer, p->start);
    fm_writer_put_varint(writer, p->rejoined);
    fm_writer_put_varint(writer, room_of(p));
    fm_writer_put_varint(writer, p->turn_count - p->ahead);
    for (uint32_t i = p->ahead; i < p->turn_count; i++) {
        fm_cell from = line_begin(p, i);
        fm_writer_put_varint(writer, (uint64_t)fm_turn_steps(from, p->turns[i]) << 3 |
                                         fm_turn_direction(from, p->turns[i]));
    }
}

static bool is_on_map(const struct jps *p, int64_t x, int64_t y)
{
    return x >= 0 && y >= 0 && x < p->view->width && y < p->view->height;
}

// The turn at the end of one line, which stays on the map.
static fm_cell take_turn(const struct jps *p, fm_cell from, fm_reader *reader)
{
    uint64_t line = fm_reader_take_bounded(reader, FM_SIDE_MAX << 3 | 7, "line of a path");
    int64_t d = line & 7, steps = (int64_t)(line >> 3);
    int64_t x = fm_cell_x(from) + fm_direction_dx[d] * steps;
    int64_t y = fm_cell_y(from) + fm_direction_dy[d] * steps;
    if (!is_on_map(p, x, y) || steps == 0) {
        fm_reader_fail(reader, "A path leads off the map, or turns twice in one place.");
        return from;
    }
    return fm_cell_at((uint32_t)x, (uint32_t)y);
}

static fm_status jps_load(void *self, fm_reader *reader)
{
    struct jps *p = self;
    fm_cell start = (fm_cell)fm_reader_take_bounded(reader, FM_CELL_NONE - 1, "start of a path");
    if (!is_on_map(p, fm_cell_x(start), fm_cell_y(start))) {
        fm_reader_fail(reader, "A path begins off the map.");
    }
    uint32_t rejoined = (uint32_t)fm_reader_take_bounded(reader, REJOINED_MAX, "paths back");
    uint32_t ahead =
        (uint32_t)fm_reader_take_bounded(reader, 2 * REJOINED_MAX + 3, "room before a path");
    uint32_t left = fm_reader_take_count(reader, UINT32_MAX / 2, 1, "turns ahead");
    if (ahead == 0 || left == 0) {
        fm_reader_fail(reader, "A path has no turns.");
    }
    if (reader->failed) {
        return FM_ERR_BAD_FORMAT;
    }
    p->turns = fm_memory_allocate_zeroed(p->memory, ahead + left, sizeof *p->turns);
    if (p->turns == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    p->turn_count = p->turn_capacity = ahead + left;
    p->ahead = ahead;
    p->rejoined = rejoined;
    p->start = start;
    p->state = FM_PLAN_FOUND;
    for (uint32_t i = ahead; i < ahead + left; i++) {
        p->turns[i] = take_turn(p, line_begin(p, i), reader);
    }
    if (p->turns[ahead + left - 1] != p->goal) {
        fm_reader_fail(reader, "A path does not end at the goal.");
    }
    return reader->failed ? FM_ERR_BAD_FORMAT : FM_OK;
}

const fm_planner_ops fm_repeated_jps = {
    .name = "repeated-jps",
    .summary = "jump-point search from scratch whenever the path breaks; equal costs, 8 neighbours",
    .size = sizeof(struct jps),
    .uniform_only = true,
    .init = jps_init,
    .fini = jps_fini,
    .set_goal = jps_set_goal,
    .set_starts = jps_set_starts,
    .knowledge_changed = jps_knowledge_changed,
    .forget = jps_forget,
    .advance = jps_advance,
    .is_done = jps_is_done,
    .state_at = jps_state_at,
    .next_step = jps_next_step,
    .distances = jps_distances,
    .path = jps_path,
    .nearest = jps_nearest,
    .inspect = jps_inspect,
    .bytes = jps_bytes,
    .is_walking = jps_is_walking,
    .walk = jps_walk,
    .go_via = jps_go_via,
    .via = jps_via,
    .fetch = jps_fetch,
    .settle = jps_settle,
    .save = jps_save,
    .load = jps_load,
};
