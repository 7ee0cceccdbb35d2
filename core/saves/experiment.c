// core/saves/experiment.c: see experiment.h.

#include "core/saves/experiment.h"

#include "core/saves/settle.h"
#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

fm_status fm_world_use_planner(fm_world *world, const fm_planner_spec *spec, uint32_t *kept)
{
    if (!fm_world_some_class_fits(world, spec)) {
        return FM_ERR_BAD_VALUE;
    }
    fm_world_edit_rules(world)->planner = *spec;
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        fm_team_of(world, team)->spec = *spec;
    }
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < agents->slot_count; i++) {
        struct fm_agent *agent = &agents->slots[i];
        bool is_there = agent->alive || agent->carrier != 0;
        bool fits = is_there && fm_world_planner_fits(world, spec, agent->team, agent->class_index);
        count += is_there && !fits;
        if (fits) {
            fm_planner_release(world, agent);
            if (agent->alive) {
                fm_agent_mark_set(world, agent, FM_MARK_ATTEND); // also agents that had none
            }
            agent->plan_state = FM_PLAN_RUNNING;
            agent->spec = *spec;
        }
    }
    fm_world_disturb(world);
    fm_world_settle(world); // earlier searches must not help
    if (kept != NULL) {
        *kept = count;
    }
    return FM_OK;
}
