// core/commands/apply.c: see apply.h.
//
// A command is checked whole before anything is changed, so a refused one leaves no trace.
// Everything that can run out of memory is reserved during the check.

#include "core/commands/apply.h"

#include "core/commands/backlog.h"
#include "core/commands/boarding.h"
#include "core/commands/construction.h"
#include "core/commands/costs.h"
#include "core/commands/edits.h"
#include "core/commands/order_command.h"
#include "core/commands/permit.h"
#include "core/commands/planner_command.h"
#include "core/commands/spawning.h"
#include "core/commands/teams.h"
#include "core/commands/unit_commands.h"
#include "core/world/interval.h"
#include "core/orders/alert.h"
#include "core/world/names.h"
#include "core/world/receipts.h"
#include "core/world/unit_index.h"
#include "core/world/world_parts.h"

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
    [FM_COMMAND_SET] = fm_units_set,
    [FM_COMMAND_PLACE] = fm_units_place,
    [FM_COMMAND_CANCEL] = fm_orders_cancel,
    [FM_COMMAND_RESUME] = fm_alert_resume,
    [FM_COMMAND_COST] = fm_costs_command,
    [FM_COMMAND_BOARD] = fm_boarding_board,
    [FM_COMMAND_UNBOARD] = fm_boarding_unboard,
};

// Whether a command may change where agents stand or what they see: not what they are told to do,
// which comes by the thousand.
static bool changes_sight(fm_command_kind kind)
{
    return kind != FM_COMMAND_ORDER && kind != FM_COMMAND_CANCEL && kind != FM_COMMAND_RESUME;
}

// ---- receipts ----------------------------------------------------------------------------------

static fm_status reserve_receipt(fm_world *world, const fm_command *command, fm_receipt *receipt)
{
    const fm_command_id *id = command->id;
    bool spawns = command->kind == FM_COMMAND_SPAWN;
    *receipt = (fm_receipt){.id = id->id, .request = id->request, .kind = command->kind};
    receipt->agent_count = spawns ? command->cell_count : 0;
    return fm_receipts_reserve(fm_world_edit_receipts(world), fm_world_memory(world), id->seat,
                               receipt->agent_count, &receipt->agents);
}

static void keep_receipt(fm_world *world, const fm_command *command,
                         const fm_command_result *result, fm_receipt *receipt)
{
    receipt->first_order = result->first_order;
    receipt->first_number = result->first_number;
    receipt->changed_count = result->changed_count;
    receipt->made = command->kind == FM_COMMAND_TEAM ? result->team : result->building;
    if (command->kind == FM_COMMAND_BUILD && command->team != FM_ALL_TEAMS) {
        receipt->made_name = fm_permit_name(world, command->team, result->building);
    }
    for (uint32_t i = 0; i < receipt->agent_count; i++) {
        fm_agent_id name = fm_world_own_name(world, result->spawned[i]);
        receipt->agents[i] =
            (fm_receipt_agent){.id = result->spawned[i], .name_index1 = name.index1};
    }
    fm_receipts_add(fm_world_edit_receipts(world), fm_world_memory(world), command->id->seat,
                    receipt);
}

// A replay does not ask for the ids of new agents, but the receipt names them.
static fm_status reserve_spawned(fm_world *world, const fm_receipt *receipt,
                                 fm_command_result *result)
{
    if (receipt->agent_count > 0 && result->spawned == NULL) {
        result->spawned = fm_memory_allocate_zeroed(fm_world_memory(world), receipt->agent_count,
                                                    sizeof *result->spawned);
    }
    return receipt->agent_count > 0 && result->spawned == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

static void apply_with_receipt(fm_world *world, const fm_command *command,
                               fm_command_result *result)
{
    fm_receipt receipt;
    fm_agent_id *wanted = result->spawned;
    result->status = reserve_receipt(world, command, &receipt);
    if (result->status != FM_OK) {
        return;
    }
    result->status = reserve_spawned(world, &receipt, result);
    if (result->status == FM_OK) {
        commands[command->kind](world, command, result);
    }
    if (result->status == FM_OK) {
        keep_receipt(world, command, result, &receipt);
    } else {
        fm_memory_release(fm_world_memory(world), receipt.agents,
                          receipt.agent_count * sizeof *receipt.agents);
    }
    if (wanted == NULL) {
        fm_memory_release(fm_world_memory(world), result->spawned,
                          receipt.agent_count * sizeof *result->spawned);
        result->spawned = NULL;
    }
}

// ---- commands ----------------------------------------------------------------------------------

void fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
    *result = (fm_command_result){.status = FM_OK, .spawned = result->spawned};
    fm_world_disturb(world);
    fm_world_begin_interval(world);
    FM_ASSERT((uint32_t)command->kind <= FM_COMMAND_KIND_LAST);
    uint32_t refusals = fm_world_refusals(world);
    if (fm_world_left_to_do(world) > 0) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    uint32_t edited_before = fm_world_interval(world)->edited_count;
    if (command->id != NULL) {
        apply_with_receipt(world, command, result);
    } else {
        commands[command->kind](world, command, result);
    }
    fm_backlog_charge(world, command, edited_before);
    if (changes_sight(command->kind)) {
        fm_unit_index_forget(world);
    }
    // Also when it is refused: what was computed until then, such as labels, stays.
    fm_world_note_refusals(world, refusals);
}

const fm_receipt *fm_world_receipt(const fm_world *world, uint32_t seat, uint64_t id)
{
    return fm_receipts_find(fm_world_receipts(world), seat, id);
}
