// core/saves/settle.c: brings a living world to where loading its file puts it (world_file.h).
//
// Three kinds of things are not in a file. What follows from the rest (views of classes, labels) is
// brought to the state that it has when rebuilt. What searches hold is dropped. And what belongs to
// a tick under way is empty between ticks anyway. An order that is given in parts goes to all
// agents that are left.

#include "core/saves/settle.h"

#include "core/crowd/around.h"
#include "core/crowd/bypass.h"
#include "core/crowd/flow.h"
#include "core/crowd/jam.h"
#include "core/crowd/lanes.h"
#include "core/crowd/passing.h"
#include "core/world/view_surveys.h"

#include "core/commands/order_command.h"
#include "core/world/planner_table.h"
#include "core/world/world_state.h"

bool fm_world_is_settled(const fm_world *world)
{
    return world->settled;
}

bool fm_world_is_starved(const fm_world *world)
{
    return world->allocations.starved;
}

void fm_world_note_saved(fm_world *world)
{
    FM_ASSERT(world->settled);
    world->allocations.starved = false;
}

// When out of memory for a team's labels, they are rebuilt and count their changes from 0: an older
// number means nothing now, and a saved order does not hold it.
static void forget_lost_labels(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        struct fm_agent *agent = &world->agents.slots[slot];
        if (!agent->alive || agent->order.retry.change == 0) {
            continue;
        }
        const struct fm_team *team = fm_team_of(world, agent->team);
        uint32_t map = fm_team_labels_map(team, agent->class_index);
        if (team->labels.maps[map].orders.labels == NULL) {
            agent->order.retry.change = UINT64_MAX;
        }
    }
}

static void note_followed(fm_world *world, const struct fm_order *order)
{
    if (order->id != 0 && fm_order_follows(order) && order->follow.target.index1 != 0) {
        fm_agent_left *left = fm_interval_find_removed(world, order->follow.target);
        if (left != NULL) {
            left->is_followed = true;
        }
    }
}

// Of the agents that were removed since the last tick, of which there may be any number, only those
// that somebody follows matter to the next.
static void note_all_followed(fm_world *world)
{
    if (world->interval.streamed || world->interval.removed_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < world->interval.removed_count; i++) {
        world->interval.removed[i].is_followed = false;
    }
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        const struct fm_agent *agent = &world->agents.slots[slot];
        if (agent->alive || agent->carrier != 0) {
            note_followed(world, &agent->order);
            for (uint32_t i = 0; i < agent->queue_count; i++) {
                note_followed(world, &agent->queue[i]);
            }
        }
    }
}

void fm_world_settle(fm_world *world)
{
    if (world->settled) {
        return;
    }
    world->still_ticks = 0;
    uint32_t refusals = fm_world_refusals(world);
    if (fm_world_left_to_do(world) > 0) {
        fm_world_begin_interval(world);
        fm_orders_finish(world);
    }
    fm_jam_drop_all(world);
    fm_bypass_drop(world);
    fm_around_drop_all(world);
    fm_lanes_drop_all(world);
    fm_passing_drop_all(world);
    fm_flow_drop_all(world);
    fm_planners_settle(world);
    fm_view_surveys_settle(world); // after the planners that read their tables
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        fm_team_labels_settle(team);
        fm_knowledge_settle_logs(team->knowledge); // after all who read them
        team->cost_cells = 0;                      // a file does not say how many they were
        team->account.turn_tick = 0;               // waiting counts from the next question
        team->seekers.frontier.job = 0;            // the wave for the nearest frontier restarts
    }
    forget_lost_labels(world);
    note_all_followed(world);
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        world->agents.slots[slot].must_sense = fm_agent_is_marked(world, slot, FM_MARK_LOOK);
        world->agents.slots[slot].rest_ticks = 0;
        world->agents.slots[slot].was_escorted = false;
    }
    world->allocations.starved |= fm_world_refusals(world) != refusals;
    world->settled = true;
}
