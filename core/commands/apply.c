// core/commands/apply.c: see apply.h.
//
// A command is checked whole before anything is changed, so a refused one leaves no trace.
// Everything that can run out of memory is reserved during the check.

#include "core/commands/apply.h"

#include "core/commands/construction.h"
#include "core/commands/edits.h"
#include "core/commands/order_command.h"
#include "core/commands/planner_command.h"
#include "core/commands/spawning.h"
#include "core/commands/teams.h"
#include "core/world/world_state.h"

typedef void command_fn(fm_world *world, const fm_command *command, fm_command_result *result);

static command_fn *const commands[FM_COMMAND_KIND_LAST + 1] = {
    [FM_COMMAND_TEAM] = fm_teams_command,
    [FM_COMMAND_SPAWN] = fm_spawning_spawn,
    [FM_COMMAND_REMOVE] = fm_spawning_remove,
    [FM_COMMAND_ORDER] = fm_orders_command,
    [FM_COMMAND_TERRAIN] = fm_edits_command,
    [FM_COMMAND_BUILD] = fm_construction_build,
    [FM_COMMAND_DEMOLISH] = fm_construction_demolish,
    [FM_COMMAND_PLANNER] = fm_planner_command,
};

void fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
    *result = (fm_command_result){.status = FM_OK, .spawned = result->spawned};
    world->settled = false;
    fm_world_begin_interval(world);
    FM_ASSERT((uint32_t)command->kind <= FM_COMMAND_KIND_LAST);
    uint32_t refusals = fm_world_refusals(world);
    if (fm_world_left_to_do(world) > 0) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    commands[command->kind](world, command, result);
    // Also when it is refused: what could be looked up until then, such as labels, stays.
    world->allocations.starved |= fm_world_refusals(world) != refusals;
}
