// core/views/jams.c: see jams.h.

#include "core/views/jams.h"

#include "core/world/agent_marks.h"
#include "core/world/world_classes.h"

static fm_jammed describe(const fm_world *world, const struct fm_agent *agent)
{
    fm_explanation explanation;
    fm_agent_id id = fm_agent_id_of(world, agent);
    FM_ASSERT(fm_world_explain_now(world, id, &explanation) == FM_OK);
    const struct fm_agent *blocker = fm_world_find(world, explanation.blocker);
    const struct fm_order *order = &agent->order;
    return (fm_jammed){
        .agent = id,
        .team = agent->team,
        .size = fm_world_class_size(world, agent->class_index),
        .cell = agent->cell,
        .goal = order->id == 0 ? agent->home : fm_order_aim(order),
        .why = explanation.why,
        .blocker = explanation.blocker,
        .blocker_cell = blocker == NULL ? FM_CELL_NONE : blocker->cell,
        .waits_ticks = explanation.waits_ticks,
        .kept_ticks = explanation.kept_ticks,
        .help = explanation.help,
    };
}

static uint32_t root_of(const uint32_t *parents, uint32_t i)
{
    while (parents[i] != i) {
        i = parents[i];
    }
    return i;
}

// Puts those together who wait for each other. The first of each group gives it its number.
static void group(fm_jams *jams)
{
    uint32_t parents[FM_JAMMED_MAX];
    for (uint32_t i = 0; i < jams->count; i++) {
        parents[i] = i;
    }
    for (uint32_t i = 0; i < jams->count; i++) {
        for (uint32_t j = 0; jams->units[i].blocker.index1 != 0 && j < jams->count; j++) {
            if (jams->units[j].agent.index1 == jams->units[i].blocker.index1) {
                uint32_t a = root_of(parents, i), b = root_of(parents, j);
                parents[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
    for (uint32_t i = 0; i < jams->count; i++) {
        uint32_t root = root_of(parents, i);
        jams->units[i].group = root == i ? jams->group_count++ : jams->units[root].group;
    }
}

void fm_world_list_jams(const fm_world *world, fm_jams *jams)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    jams->stuck = jams->count = jams->group_count = 0;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        if (!agent->alive || !agent->jammed) {
            continue;
        }
        jams->stuck += 1;
        if (jams->count < FM_JAMMED_MAX) {
            jams->units[jams->count++] = describe(world, agent);
        }
    }
    group(jams);
    jams->escort_count = fm_world_list_escorts(world, jams->escorts);
}
