// core/orders/goal_search.c: see goal_search.h.

#include "core/orders/goal_search.h"

#include "core/orders/leg.h"
#include "core/orders/order_end.h"
#include "core/orders/retreat.h"
#include "core/world/agent.h"
#include "core/world/given_orders.h"
#include "core/world/lookouts.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

#define BUDGET_SHARE 4u   // 1 / so much of the tick's budget is for these searches
#define CELLS_MIN    64u  // cells that a team may examine in a tick, whatever the budget
#define FLEE_CELLS   192u // cells that a fleeing agent examines
#define FLEE_CELLS_LATE                                                                            \
    (1u + FM_DIRECTION_COUNT) // the same, when the share is used up; also of
                              // one that keeps its distance
#define RETREAT_CELLS_MIN 81u // of a wave, where little of the share is left
#define FLEE_RADIUS       8u  // cells, when the order names none
#define FLEE_TICKS        4u  // ticks between its searches

static const fm_view *view_of(const fm_world *world, const struct fm_agent *agent)
{
    return fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
}

// ---- who looks ----------------------------------------------------------------------------------

static void list(fm_world *world, struct fm_agent *agent)
{
    fm_seekers *seekers = &fm_team_of(world, agent->team)->seekers;
    if (FM_RESERVE(world, seekers->slots, seekers->capacity, seekers->count + 1)) {
        seekers->slots[seekers->count++] = fm_agent_id_of(world, agent).index1 - 1;
        agent->order.search.state = FM_GOAL_SEARCH_LISTED;
    }
}

static bool explorer_needs_a_leg(fm_world *world, struct fm_agent *agent)
{
    struct fm_team *team = fm_team_of(world, agent->team);
    const fm_view *view = view_of(world, agent);
    fm_cell goal = agent->order.goal;
    if (goal == FM_CELL_NONE || !fm_frontier_is(team->knowledge, view, goal)) {
        return true;
    }
    fm_frontier_claim(&team->seekers.frontier, view, goal, fm_world_memory(world));
    return false;
}

// Agents that go away from something search every few ticks, spread by their index in the team: the
// slot would depend on how many agents of others were born.
static bool fleer_needs_a_look(const fm_world *world, const struct fm_agent *agent)
{
    uint64_t tick = fm_world_tick(world);
    bool stands = agent->order.goal == FM_CELL_NONE || agent->order.resting;
    return (stands && tick >= agent->order.pause_end) || (tick + agent->member) % FLEE_TICKS == 0;
}

void fm_goal_search_begin(fm_world *world, struct fm_agent *agent)
{
    (void)world;
    agent->order.radius = agent->order.radius == 0 ? FLEE_RADIUS : agent->order.radius;
}

void fm_goal_search_progress(fm_world *world, struct fm_agent *agent)
{
    fm_world_edit_orders(world)->seeks = true;
    if (agent->order.search.tick == fm_world_tick(world) + 1 || fm_order_is_listed(&agent->order)) {
        return; // has just searched, or is about to
    }
    bool wanted = agent->order.kind == FM_ORDER_EXPLORE ? explorer_needs_a_leg(world, agent)
                                                        : fleer_needs_a_look(world, agent);
    if (wanted) {
        list(world, agent);
    }
    if (wanted && agent->order.kind != FM_ORDER_EXPLORE) {
        fm_unit_index_refresh(world);
        fm_lookouts_refresh(world);
    }
}

// ---- explore ------------------------------------------------------------------------------------

static void explore(const fm_world *world, fm_seekers *seekers, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    const fm_view *view = view_of(world, agent);
    fm_frontier *frontier = &seekers->frontier;
    uint32_t left = seekers->cells_max - seekers->cells_used;
    fm_cell cell = FM_CELL_NONE;
    switch (fm_frontier_search(frontier, fm_team_of(world, agent->team)->knowledge, view, order->id,
                               agent->cell, left, &seekers->cells_used, &cell,
                               fm_world_memory(world))) {
    case FM_FRONTIER_FOUND:
        fm_frontier_claim(frontier, view, cell, fm_world_memory(world));
        order->search.state = FM_GOAL_SEARCH_FOUND;
        order->search.found = cell;
        return;
    case FM_FRONTIER_EXPLORED:
        order->search.state = FM_GOAL_SEARCH_NOWHERE;
        return;
    case FM_FRONTIER_EXHAUSTED:
        order->search.state = FM_GOAL_SEARCH_EXHAUSTED;
        return;
    case FM_FRONTIER_RUNNING:
        return;
    }
    FM_UNREACHABLE();
}

// ---- flee ---------------------------------------------------------------------------------------

struct dangers {
    const fm_view *view;
    fm_cell cells[2 * FM_DANGERS_MAX];
    uint32_t count;
};

static uint32_t nearest_danger(const struct dangers *dangers, fm_cell cell)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < dangers->count; i++) {
        uint32_t distance = fm_view_distance(dangers->view, dangers->cells[i], cell);
        least = distance < least ? distance : least;
    }
    return least;
}

static struct dangers find_dangers(const fm_world *world, const fm_enemies *enemies,
                                   const struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    struct dangers dangers = {.view = view_of(world, agent)};
    uint32_t reach = order->radius * dangers.view->step[0];
    for (uint32_t i = 0; order->route != NULL && i < order->route->count; i++) {
        fm_cell cell = order->route->cells[i];
        if (dangers.count < FM_DANGERS_MAX &&
            fm_view_distance(dangers.view, cell, agent->cell) <= reach) {
            dangers.cells[dangers.count++] = cell;
        }
    }
    dangers.count += fm_enemies_near(world, enemies, agent->cell, order->radius,
                                     dangers.cells + dangers.count, FM_DANGERS_MAX);
    return dangers;
}

static void flee(const fm_world *world, fm_seekers *seekers, struct fm_agent *agent,
                 uint32_t cells_max)
{
    struct fm_order *order = &agent->order;
    if (fm_enemies_refresh(world, agent->team, &seekers->enemies) != FM_OK) {
        order->search.state = FM_GOAL_SEARCH_EXHAUSTED;
        return;
    }
    struct dangers dangers = find_dangers(world, &seekers->enemies, agent);
    fm_wave *wave = &seekers->nearby;
    if (dangers.count == 0) {
        order->search.state = FM_GOAL_SEARCH_SAFE;
        return;
    }
    if (fm_wave_begin(wave, dangers.view, agent->cell, fm_world_memory(world)) != FM_OK) {
        order->search.state = FM_GOAL_SEARCH_EXHAUSTED;
        return;
    }
    // Distance beyond the radius counts for nothing.
    uint32_t step = dangers.view->step[0], enough = (order->radius + 1) * step;
    uint32_t here = nearest_danger(&dangers, agent->cell);
    int64_t best = 2 * (int64_t)here;
    order->search.found = FM_CELL_NONE;
    for (uint32_t i = 0; i < cells_max; i++) {
        fm_cell cell = fm_wave_take(wave);
        if (cell == FM_CELL_NONE) {
            break;
        }
        seekers->cells_used += 1;
        uint32_t distance = nearest_danger(&dangers, cell);
        if (distance < here) {
            continue;
        }
        int64_t score =
            2 * (int64_t)(distance < enough ? distance : enough) - (int64_t)wave->depth * step;
        if (score > best) {
            best = score;
            order->search.found = cell;
        }
        fm_wave_spread(wave, cell, fm_world_memory(world));
    }
    order->search.state =
        order->search.found == FM_CELL_NONE ? FM_GOAL_SEARCH_NOWHERE : FM_GOAL_SEARCH_FOUND;
}

// ---- keep_distance ------------------------------------------------------------------------------

// What a unit keeps away from: its target, or the enemies that its team sees around it and where it
// saw the nearest one last. FM_OK or FM_ERR_NO_MEMORY.
static fm_status find_what_is_near(const fm_world *world, fm_seekers *seekers,
                                   const struct fm_agent *agent, struct dangers *dangers)
{
    const struct fm_order *order = &agent->order;
    *dangers =
        (struct dangers){.view = view_of(world, agent), .cells = {order->follow.post}, .count = 1};
    if (order->follow.has_target) {
        return FM_OK;
    }
    fm_status status = fm_enemies_refresh(world, agent->team, &seekers->enemies);
    if (status == FM_OK) {
        dangers->count += fm_enemies_near(world, &seekers->enemies, agent->cell, 2 * order->radius,
                                          dangers->cells + 1, FM_DANGERS_MAX);
    }
    return status;
}

// A search may take more than is left, but not by much.
static uint32_t retreat_cells(uint32_t left)
{
    return left < RETREAT_CELLS_MIN  ? RETREAT_CELLS_MIN
           : left < FM_RETREAT_CELLS ? left
                                     : FM_RETREAT_CELLS;
}

static void retreat(const fm_world *world, fm_seekers *seekers, struct fm_agent *agent,
                    uint32_t cells_max)
{
    struct fm_order *order = &agent->order;
    struct dangers dangers;
    fm_status status = find_what_is_near(world, seekers, agent, &dangers);
    if (status == FM_OK) {
        fm_retreat search = {.view = dangers.view,
                             .dangers = dangers.cells,
                             .danger_count = dangers.count,
                             .enough = order->radius * dangers.view->step[0],
                             .cells_max = cells_max,
                             .own = &seekers->nearby,
                             .threat = &seekers->threat};
        status = fm_retreat_search(&search, agent->cell, &seekers->cells_used, &order->search.found,
                                   fm_world_memory(world));
    }
    order->search.state = status != FM_OK                       ? FM_GOAL_SEARCH_EXHAUSTED
                          : order->search.found == FM_CELL_NONE ? FM_GOAL_SEARCH_NOWHERE
                                                                : FM_GOAL_SEARCH_FOUND;
}

// ---- first moves --------------------------------------------------------------------------------

// An agent that has not moved under its order does not wait for its turn: an explorer sets out for
// where the team's wave is now, others for the best of the cells beside it.
static void set_out(const fm_world *world, fm_seekers *seekers, struct fm_agent *agent)
{
    const fm_wave *wave = &seekers->frontier.wave;
    struct fm_order *order = &agent->order;
    if (order->has_moved || order->goal != FM_CELL_NONE) {
        return;
    }
    if (order->kind == FM_ORDER_FLEE) {
        flee(world, seekers, agent, FLEE_CELLS_LATE);
    } else if (order->kind == FM_ORDER_KEEP_DISTANCE) {
        retreat(world, seekers, agent, FLEE_CELLS_LATE);
    } else if (seekers->frontier.job != 0 && wave->head > 1) {
        order->search.state = FM_GOAL_SEARCH_FOUND;
        order->search.found = wave->queue[wave->head - 1];
    }
}

// ---- the teams' turns ---------------------------------------------------------------------------

static void seek_for_team(const fm_world *world, struct fm_team *team)
{
    fm_seekers *seekers = &team->seekers;
    // The agent whose search is under way continues; the order of the others rotates, so that none
    // is always last.
    uint32_t first = seekers->count == 0 ? 0 : (uint32_t)(fm_world_tick(world) % seekers->count);
    for (uint32_t i = 0; i < seekers->count; i++) {
        if (fm_agent_at(world, seekers->slots[i])->order.id == seekers->frontier.job) {
            first = i;
        }
    }
    for (uint32_t i = 0; i < seekers->count; i++) {
        uint32_t at = first + i < seekers->count ? first + i : first + i - seekers->count;
        struct fm_agent *agent = fm_agent_at(world, seekers->slots[at]);
        bool may = seekers->cells_used < seekers->cells_max;
        agent->order.search.state = FM_GOAL_SEARCH_NOT_YET;
        if (may && agent->order.kind == FM_ORDER_EXPLORE) {
            explore(world, seekers, agent);
        } else if (may && agent->order.kind == FM_ORDER_FLEE) {
            flee(world, seekers, agent, FLEE_CELLS);
        } else if (may) {
            retreat(world, seekers, agent, retreat_cells(seekers->cells_max - seekers->cells_used));
        }
        if (agent->order.search.state == FM_GOAL_SEARCH_NOT_YET) {
            set_out(world, seekers, agent);
        }
    }
}

static void seek_for_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_team *team = fm_team_of(world, i + 1);
        if (team->seekers.count > 0) {
            seek_for_team(world, team);
        }
    }
}

static uint64_t look_around(fm_world *world, fm_workers *workers, uint64_t budget)
{
    // What a team may examine does not depend on the searches of other teams.
    uint32_t team_count = fm_world_team_count(world);
    uint64_t share = budget / BUDGET_SHARE / team_count;
    share = share < CELLS_MIN ? CELLS_MIN : share;
    for (uint32_t team = 1; team <= team_count; team++) {
        fm_team_of(world, team)->seekers.cells_max =
            share < UINT32_MAX ? (uint32_t)share : UINT32_MAX;
    }
    fm_workers_run(workers, team_count, team_count > 64 ? 16 : 1, seek_for_teams, world);
    uint64_t used = 0;
    for (uint32_t team = 1; team <= team_count; team++) {
        used += fm_team_of(world, team)->seekers.cells_used;
    }
    fm_world_edit_counts(world)->expansions_by_kind[FM_SEARCH_SEEK] += used;
    return used;
}

uint64_t fm_goal_search_run(fm_world *world, fm_workers *workers, uint64_t budget)
{
    if (!fm_world_orders(world)->seeks) {
        return 0;
    }
    fm_world_edit_orders(world)->seeks = false;
    uint64_t used = look_around(world, workers, budget);
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        fm_frontier_forget_claims(
            &fm_team_of(world, team)->seekers.frontier); // made again in every tick
    }
    return used;
}

// ---- what comes of it ---------------------------------------------------------------------------

// No cell is farther away from the dangers than where it stands. To keep a distance it has to stay
// there until there is one.
static void face_corner(fm_world *world, struct fm_agent *agent)
{
    switch ((fm_on_unreachable)agent->order.on_unreachable) {
    case FM_UNREACHABLE_FAIL:
        fm_agent_end_order(world, agent, FM_END_UNREACHABLE);
        return;
    case FM_UNREACHABLE_NEAREST:
        if (agent->order.kind == FM_ORDER_FLEE) {
            fm_agent_end_order(world, agent, FM_END_NEAREST);
            return;
        }
        // fall through
    case FM_UNREACHABLE_WAIT:
        fm_order_set_goal(world, agent, FM_CELL_NONE);
        fm_agent_set_state(world, agent, FM_AGENT_HOLDING);
        agent->order.pause_end = fm_world_tick(world) + FLEE_TICKS;
        return;
    }
    FM_UNREACHABLE();
}

void fm_goal_search_take(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    bool explores = order->kind == FM_ORDER_EXPLORE;
    fm_goal_search_state state = order->search.state;
    order->search.state = FM_GOAL_SEARCH_IDLE;
    order->search.tick = fm_world_tick(world) + 1;
    switch (state) {
    case FM_GOAL_SEARCH_FOUND:
        if (order->resting) {
            fm_agent_set_state(world, agent, FM_AGENT_WAITING);
        }
        // Who is hunted keeps its age: a group in a corridor backs away in the order of its ages.
        if (order->goal == FM_CELL_NONE && explores) {
            fm_order_set_out(world, agent, order->search.found);
        } else {
            fm_order_set_goal(world, agent, order->search.found);
        }
        return;
    case FM_GOAL_SEARCH_SAFE:
        fm_agent_end_order(world, agent, FM_END_ARRIVED);
        return;
    case FM_GOAL_SEARCH_NOWHERE:
        if (explores) {
            fm_agent_end_order(world, agent, FM_END_EXPLORED);
        } else {
            face_corner(world, agent);
        }
        return;
    case FM_GOAL_SEARCH_EXHAUSTED:
        fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
        return;
    case FM_GOAL_SEARCH_NOT_YET:
        if (order->goal == FM_CELL_NONE) {
            fm_agent_set_state(world, agent, FM_AGENT_WAITING);
        }
        return;
    case FM_GOAL_SEARCH_IDLE:
    case FM_GOAL_SEARCH_LISTED:
        break;
    }
    FM_UNREACHABLE();
}

void fm_goal_search_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    if (how == FM_END_EXHAUSTED) {
        fm_agent_end_order(world, agent, how);
        return;
    }
    fm_order_set_goal(world, agent, FM_CELL_NONE); // the next tick searches for another
}
