// core/crowd/passing.c: see passing.h.

#include "core/crowd/passing.h"

#include "core/crowd/flow.h"
#include "core/crowd/pibt.h"
#include "core/crowd/sight.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define WORDS_A_TURN 16u // of marks, 64 agents each, that a worker takes at a time
#define LOOK_AHEAD   2u  // cells

// For how many ticks a unit keeps to the right, and which team's units it passes then. Friends look
// at what was so in the tick before.
struct cause {
    uint32_t ticks, team;
};

// Because of who stands on its way.
static struct cause cause_for(fm_world *world, const struct fm_agent *agent, uint32_t way)
{
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    const fm_view *view = fm_world_class_view(world, agent->team, agent->class_index);
    fm_cell cell = agent->cell;
    uint32_t sight = fm_min(fm_crowd_sight(world, agent, LOOK_AHEAD), LOOK_AHEAD);
    struct cause cause = {0};
    for (uint32_t i = 0; i < sight && fm_view_moves(view, cell) >> way & 1; i++) {
        cell = fm_cell_step(cell, way);
        uint32_t unit = fm_occupancy_at(crowd->occupancy, cell)->now;
        const fm_mover *other = unit == 0 ? NULL : &crowd->movers[unit - 1];
        bool is_friend = other != NULL && other->team == agent->team;
        if (other == NULL || (is_friend && (i > 0 || other->passing == 0))) {
            continue;
        }
        uint32_t others_way = fm_flow_way(world, unit - 1, fm_world_tick(world));
        int32_t alike = others_way < FM_DIRECTION_COUNT ? fm_direction_product(way, others_way) : 0;
        if (!is_friend && alike < 0) {
            return (struct cause){FM_PASSING_TICKS, other->team};
        }
        if (is_friend && alike > 0) {
            cause = (struct cause){
                other->passing - 1u,
                crowd->passed_teams[fm_crowd_turn(unit - 1, fm_world_tick(world) - 1)]};
        }
    }
    return cause;
}

static void count(fm_world *world, uint32_t slot)
{
    const struct fm_agent *agent = &fm_world_agents(world)->slots[slot];
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    fm_mover *mover = &crowd->movers[slot];
    uint64_t tick = fm_world_tick(world);
    uint32_t way = fm_flow_way(world, slot, tick);
    struct cause before = {0};
    if (mover->passing > 0) {
        before =
            (struct cause){mover->passing - 1u, crowd->passed_teams[fm_crowd_turn(slot, tick - 1)]};
    }
    struct cause now = way < FM_DIRECTION_COUNT ? cause_for(world, agent, way) : before;
    if (now.ticks < before.ticks) {
        now = before;
    }
    mover->passes_on = (uint8_t)now.ticks;
    crowd->passed_teams[fm_crowd_turn(slot, tick)] = now.team;
}

static void count_some(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    const fm_mover *movers = fm_world_edit_crowd(world)->movers;
    uint32_t slot_end = fm_min(end * 64, fm_world_agents(world)->slot_count);
    for (uint32_t slot = begin * 64; slot < slot_end; slot++) {
        if (movers[slot].team != 0 && movers[slot].alert) {
            count(world, slot);
        }
    }
}

void fm_passing_attend(fm_world *world, fm_workers *workers)
{
    if (fm_world_teams(world)->count > 1) {
        fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN, count_some, world);
    }
}

void fm_passing_drop_all(fm_world *world)
{
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    uint32_t count = crowd->occupancy == NULL ? 0 : fm_world_agents(world)->slot_count;
    for (uint32_t slot = 0; slot < count; slot++) {
        crowd->movers[slot].passing = crowd->movers[slot].passes_on = 0;
        crowd->movers[slot].to_right = false;
    }
    fm_world_edit_counts(world)->passing = 0;
}
