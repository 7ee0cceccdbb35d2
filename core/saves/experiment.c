// core/saves/experiment.c: see experiment.h.

#include "core/saves/experiment.h"

#include "core/saves/settle.h"
#include "core/world/planner_table.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

fm_status fm_world_use_planner(fm_world *world, const fm_planner_spec *spec, uint32_t *kept)
{
    if (!fm_world_some_class_fits(world, spec)) {
        return FM_ERR_BAD_VALUE;
    }
    world->rules.planner = *spec;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].spec = *spec;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->agents.slot_count; i++) {
        struct fm_agent *agent = &world->agents.slots[i];
        bool fits = fm_world_planner_fits(world, spec, agent->class_index);
        count += agent->alive && !fits;
        if (agent->alive && fits) {
            fm_planner_release(world, agent);
            fm_agent_mark_set(world, agent, FM_MARK_ATTEND); // also who had none
            agent->plan_state = FM_PLAN_RUNNING;
            agent->spec = *spec;
        }
    }
    world->settled = false;
    fm_world_settle(world); // no search of before shall help
    if (kept != NULL) {
        *kept = count;
    }
    return FM_OK;
}
