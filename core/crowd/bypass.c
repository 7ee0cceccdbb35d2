// core/crowd/bypass.c: see bypass.h.

#include "core/crowd/bypass.h"

#include "core/base/random.h"
#include "core/crowd/press.h"
#include "core/search/jump_search.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/due.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define TOLD_MAX   64u  // units at a time
#define PATH_MAX   256u // cells of a path to the end of a press, or of a way round it
#define FREE_AFTER 12u  // cells without a toll: there a press is over
#define END_AFTER  6u   // cells behind it
#define END_NEAR   3u   // cells between a path and the end, for units that go there
#define GAIN_MIN   100u // ten steps
#define SHARE_MAX  70u  // per cent of what its own path costs
#define PATH_CELLS 8u   // of a path that are listed for one expansion

static const struct fm_planner *planner_of(const fm_world *world, const struct fm_agent *agent)
{
    return &fm_world_planners(world)->slots[agent->planner];
}

// Whether its way is its own to choose.
static bool may_be_told(const fm_world *world, const struct fm_agent *agent)
{
    return agent->order.id != 0 && agent->planner != FM_SLOT_NONE &&
           fm_order_max_detour(&agent->order) == 0 &&
           planner_of(world, agent)->spec.ops->go_via != NULL &&
           fm_planner_walks(world, agent->planner);
}

static uint32_t path_of(const fm_world *world, const struct fm_agent *agent,
                        fm_cell cells[PATH_MAX])
{
    const struct fm_planner *planner = planner_of(world, agent);
    return fm_min(planner->spec.ops->path(planner->self, agent->cell, cells, PATH_MAX), PATH_MAX);
}

// The cell of a path some steps behind the press that it leads through. FM_CELL_NONE: it leads
// through none, or ends before that.
static fm_cell end_of_press(const fm_press *press, const fm_cell *path, uint32_t count)
{
    uint32_t last = 0, free = 0;
    for (uint32_t i = 1; i < count && free < FREE_AFTER; i++) {
        bool is_inside = fm_press_toll(press, path[i]) > 0;
        last = is_inside ? i : last;
        free = is_inside ? 0 : free + 1;
    }
    return last > 0 && last + END_AFTER < count ? path[last + END_AFTER] : FM_CELL_NONE;
}

// What a path costs up to the end of a press. FM_PRESS_FAR: it does not lead there.
static uint32_t cost_to(const fm_press *press, const fm_view *view, const fm_cell *path,
                        uint32_t count, fm_cell end)
{
    uint32_t cost = 0;
    for (uint32_t i = 1; i < count; i++) {
        cost += view->step[fm_cell_direction(path[i - 1], path[i]) & 1];
        cost += fm_press_toll(press, path[i]);
        if (fm_turn_steps(path[i], end) <= END_NEAR) {
            return cost;
        }
    }
    return FM_PRESS_FAR;
}

// The turning points of a way, which may be its own cells.
static uint32_t keep_turns(fm_cell *cells, uint32_t count)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        bool turns = i + 1 == count || fm_cell_direction(cells[i - 1], cells[i]) !=
                                           fm_cell_direction(cells[i], cells[i + 1]);
        if (turns) {
            fm_cell turn = cells[i];
            cells[kept++] = turn;
        }
    }
    return kept;
}

static bool leads_by(const fm_cell *path, uint32_t count, fm_cell cell)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fm_turn_steps(path[i], cell) <= END_NEAR) {
            return true;
        }
    }
    return false;
}

// Tells a unit to go round the press, if it would go through it and that is sooner. A way that
// comes back to its own path leads through the same gap. `listed` counts cells of paths.
static bool tell(const fm_world *world, fm_press *press, const fm_view *view, fm_cell end,
                 struct fm_agent *agent, uint32_t *listed)
{
    fm_cell path[PATH_MAX], way[PATH_MAX];
    uint64_t least = fm_press_distance(press, agent->cell);
    if (least == FM_PRESS_FAR || !may_be_told(world, agent)) {
        return false;
    }
    uint32_t length = path_of(world, agent, path);
    *listed += length;
    uint64_t own = cost_to(press, view, path, length, end);
    if (own == FM_PRESS_FAR || own < least + GAIN_MIN || least * 100 > own * SHARE_MAX) {
        return false;
    }
    uint32_t count = fm_press_way(press, view, agent->cell, way, PATH_MAX);
    if (count < 2 || leads_by(path, length, way[count - 1])) {
        return false;
    }
    const struct fm_planner *planner = planner_of(world, agent);
    return planner->spec.ops->go_via(planner->self, agent->cell, way, keep_turns(way, count));
}

// The member who says which press is looked at: in turns of those who stand in one.
static struct fm_agent *find_leader(const fm_world *world, const fm_press *press, uint32_t team,
                                    uint32_t turn)
{
    for (uint32_t i = 0; i < fm_team_of(world, team)->member_count; i++) {
        struct fm_agent *agent = fm_team_member(world, team, i);
        if (agent != NULL && agent->order.id != 0 && fm_press_toll(press, agent->cell) > 0 &&
            turn-- == 0) {
            return agent;
        }
    }
    return NULL;
}

// Tells those of a team that go through the press that its leader stands in. Returns the work that
// paths took, in expansions.
static uint32_t tell_all(fm_world *world, fm_press *press, const struct fm_agent *leader,
                         uint64_t lot)
{
    fm_cell path[PATH_MAX];
    uint32_t listed = path_of(world, leader, path);
    fm_cell end = end_of_press(press, path, listed);
    if (end == FM_CELL_NONE) {
        return listed / PATH_CELLS;
    }
    const fm_view *view = fm_world_class_view(world, leader->team, leader->class_index);
    fm_press_measure(press, view, end, leader->cell);
    uint32_t members = fm_team_of(world, leader->team)->member_count, left = TOLD_MAX;
    for (uint32_t i = 0; left > 0 && i < members && listed < FM_BYPASS_PATHS; i++) {
        struct fm_agent *agent =
            fm_team_member(world, leader->team, (uint32_t)((lot + i) % members));
        left -= agent != NULL && agent->class_index == leader->class_index &&
                tell(world, press, view, end, agent, &listed);
    }
    fm_world_edit_counts(world)->bypasses += TOLD_MAX - left;
    return listed / PATH_CELLS;
}

// Returns whether the team has a press.
static bool look(fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (team->large_count > 0 || team->member_count < FM_PRESSED_LEAST) {
        return false;
    }
    if (crowd->press == NULL) {
        const fm_occupancy *map = crowd->occupancy;
        crowd->press = fm_press_create(fm_world_memory(world), map->width, map->height);
    }
    uint32_t pressed = crowd->press == NULL ? 0 : fm_press_sample(crowd->press, world, number);
    if (pressed < FM_PRESSED_LEAST) {
        return false;
    }
    uint64_t lot = fm_mix64(fm_world_tick(world));
    const struct fm_agent *leader =
        find_leader(world, crowd->press, number, (uint32_t)(lot % pressed));
    if (leader != NULL && may_be_told(world, leader)) {
        crowd->bypass.owed += tell_all(world, crowd->press, leader, lot);
        crowd->bypass.owed += fm_press_take_work(crowd->press);
    }
    return true;
}

// In a tick a FM_BYPASS_PERIOD-th of the teams have their turns, up to the first that has a press.
// Those that do not get to theirs have it in the next tick.
static void take_turns(fm_world *world)
{
    struct fm_bypass_turns *turns = &fm_world_edit_crowd(world)->bypass;
    uint32_t count = fm_world_teams(world)->count, period = FM_BYPASS_PERIOD;
    uint32_t more = (count + period - 1 - (uint32_t)(fm_world_tick(world) % period)) / period;
    bool has_looked = turns->owed > 0;
    turns->due = fm_min(turns->due + more, count);
    while (turns->due > 0 && !has_looked) {
        turns->due -= 1;
        turns->next = turns->next % count + 1;
        has_looked = look(world, turns->next);
    }
}

uint64_t fm_bypass_attend(fm_world *world, uint64_t most)
{
    struct fm_bypass_turns *turns = &fm_world_edit_crowd(world)->bypass;
    take_turns(world);
    uint64_t paid = turns->owed < most ? turns->owed : most;
    turns->owed -= paid;
    return paid;
}

void fm_bypass_drop(fm_world *world)
{
    fm_world_edit_crowd(world)->bypass = (struct fm_bypass_turns){0};
}

void fm_bypass_fini(fm_world *world)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    fm_press_destroy(crowd->press, fm_world_memory(world));
    crowd->press = NULL;
}
