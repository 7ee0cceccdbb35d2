// core/commands/boarding.c: see boarding.h.

#include "core/commands/boarding.h"

#include "core/base/random.h"
#include "core/commands/command_agents.h"
#include "core/commands/placing.h"
#include "core/map/occupancy.h"
#include "core/orders/homecoming.h"
#include "core/orders/order_end.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/interval.h"
#include "core/world/names.h"
#include "core/world/planner_table.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define UNIT_TO_COME UINT32_MAX // in cells that an agent of the command under way will get

// The cells under a unit: the first and the last of each axis.
struct footprint {
    int32_t left, top, right, bottom;
};

static struct footprint footprint_of(const fm_world *world, const struct fm_agent *agent)
{
    int32_t size = (int32_t)fm_world_class_size(world, agent->class_index);
    int32_t x = (int32_t)fm_cell_x(agent->cell), y = (int32_t)fm_cell_y(agent->cell);
    return (struct footprint){x, y, x + size - 1, y + size - 1};
}

// Cells from one to the other along an axis; 1: side by side.
static int32_t gap(int32_t first, int32_t last, int32_t other_first, int32_t other_last)
{
    return other_first > last ? other_first - last : first > other_last ? first - other_last : 0;
}

static bool is_near(const fm_world *world, const struct fm_agent *agent,
                    const struct fm_agent *carrier, uint32_t radius)
{
    struct footprint a = footprint_of(world, agent), b = footprint_of(world, carrier);
    return gap(a.left, a.right, b.left, b.right) <= (int32_t)radius &&
           gap(a.top, a.bottom, b.top, b.bottom) <= (int32_t)radius;
}

static uint32_t radius_of(const fm_command *command)
{
    return command->radius == 0 ? 1 : command->radius;
}

static fm_status find_carrier(const fm_world *world, const fm_command *command,
                              struct fm_agent **carrier)
{
    struct fm_agent *agent = fm_world_find_any(world, command->target);
    if (command->radius > FM_BOARD_RADIUS_MAX) {
        return FM_ERR_BAD_VALUE;
    }
    if (agent == NULL || (command->team != FM_ALL_TEAMS && agent->team != command->team)) {
        return FM_ERR_NO_TARGET;
    }
    *carrier = agent;
    return agent->carrier != 0 ? FM_ERR_CARRIED : FM_OK;
}

static void note_digest(fm_world *world, const struct fm_agent *agent, uint32_t kind)
{
    uint64_t who = fm_agent_id_pack(fm_agent_id_of(world, agent));
    fm_world_mix_digest(world, fm_mix64(who * 2 + kind));
}

// ---- board --------------------------------------------------------------------------------------

static fm_status check_passenger(const fm_world *world, const fm_command *command,
                                 const struct fm_agent *agent, const struct fm_agent *carrier)
{
    if (agent->team != carrier->team) {
        return FM_ERR_NO_TARGET;
    }
    if (agent == carrier) {
        return FM_ERR_BAD_VALUE;
    }
    if (agent->passenger_count > 0) {
        return FM_ERR_CARRIED;
    }
    return is_near(world, agent, carrier, radius_of(command)) ? FM_OK : FM_ERR_TOO_FAR;
}

static fm_status check_board(fm_world *world, const fm_command *command, struct fm_agent **carrier,
                             uint32_t *failed_index)
{
    fm_status status = find_carrier(world, command, carrier);
    if (status == FM_OK) {
        status = fm_command_check_agents(world, command, failed_index);
    }
    if (status == FM_OK) {
        status = fm_command_check_named_once(world, command, failed_index);
    }
    for (uint32_t i = 0; status == FM_OK && i < command->agent_count; i++) {
        *failed_index = i;
        status =
            check_passenger(world, command, fm_world_find(world, command->agents[i]), *carrier);
    }
    if (status == FM_OK && (*carrier)->passenger_count + command->agent_count > FM_PASSENGERS_MAX) {
        *failed_index = FM_PASSENGERS_MAX - (*carrier)->passenger_count;
        return FM_ERR_LIMIT;
    }
    return status;
}

static void board(fm_world *world, struct fm_agent *agent, struct fm_agent *carrier)
{
    fm_home_forget(world, agent);
    fm_agent_end_all_orders(world, agent, FM_END_BOARDED);
    fm_agent_release_queue(world, agent);
    fm_planner_release(world, agent);
    fm_interval_note_removed(world, &(fm_agent_left){.id = fm_agent_id_of(world, agent),
                                                     .name = fm_agent_own_name(agent),
                                                     .team = agent->team,
                                                     .cell = agent->cell,
                                                     .reason = FM_LEAVE_BOARDED});
    fm_agent_leave(world, agent);
    fm_agent_be_gone(world, agent);
    agent->alive = false;
    agent->state = FM_AGENT_CARRIED;
    agent->cell = agent->next = agent->anchor = FM_CELL_NONE;
    agent->plan_state = FM_PLAN_RUNNING;
    agent->must_sense = agent->settled = agent->jammed = agent->stuck = false;
    agent->help = FM_HELP_NONE;
    agent->stalled_ticks = agent->hindered = agent->rest_ticks = 0;
    agent->nearest = 0;
    agent->asking_since = 0;
    fm_agent_take_aboard(world, carrier, agent);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    note_digest(world, agent, 0);
}

void fm_boarding_board(fm_world *world, const fm_command *command, fm_command_result *result)
{
    struct fm_agent *carrier;
    result->status = check_board(world, command, &carrier, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    result->failed_index = 0;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        board(world, fm_world_find(world, command->agents[i]), carrier);
    }
    fm_agent_mark_set(world, carrier, FM_MARK_REHASH);
    result->changed_count = command->agent_count;
}

// ---- unboard ------------------------------------------------------------------------------------

// The places around a carrier for units of one size, ring by ring.
struct around {
    const struct fm_agent *carrier;
    uint32_t class_index, size;
    int32_t ring;  // cells between carrier and unit, and one
    uint32_t next; // place in the ring: row by row, of the square that it encloses, too
    bool found;    // some place that is free
};

static fm_cell corner(const fm_world *world, int32_t x, int32_t y)
{
    return fm_grid_contains(fm_world_grid(world), x, y) ? fm_cell_at((uint32_t)x, (uint32_t)y)
                                                        : FM_CELL_NONE;
}

// The next place of the ring; FM_CELL_NONE when it lies off the map. False: the ring is over.
static bool next_in_ring(const fm_world *world, struct around *around, fm_cell *cell)
{
    struct footprint of = footprint_of(world, around->carrier);
    int32_t left = of.left - (int32_t)around->size - around->ring + 1;
    int32_t top = of.top - (int32_t)around->size - around->ring + 1;
    int32_t width = of.right + around->ring - left + 1;
    int32_t x = (int32_t)around->next % width, y = (int32_t)around->next / width;
    if (y >= width) {
        return false;
    }
    // From the left side of a row between the first and the last straight to its right side.
    bool leaps = x == 0 && y > 0 && y < width - 1;
    around->next += leaps ? (uint32_t)width - 1 : 1;
    *cell = corner(world, left + x, top + y);
    return true;
}

static bool is_free(const fm_world *world, const struct around *around, fm_cell cell)
{
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    return cell != FM_CELL_NONE &&
           !fm_view_is_blocked(fm_world_truth(world, around->class_index), cell) &&
           (occupancy == NULL || fm_occupancy_is_free(occupancy, cell, around->size, 0));
}

static fm_cell search_around(const fm_world *world, struct around *around, uint32_t radius)
{
    fm_cell cell;
    for (; around->ring <= (int32_t)radius; around->ring++, around->next = 0) {
        while (next_in_ring(world, around, &cell)) {
            if (is_free(world, around, cell)) {
                around->found = true;
                return cell;
            }
        }
    }
    return FM_CELL_NONE;
}

// Where a cell holds any number of units, those who find all places taken begin again.
static fm_cell place_beside(const fm_world *world, const struct fm_agent *agent,
                            struct around *around, uint32_t radius)
{
    const struct fm_agent *carrier = fm_agent_at(world, agent->carrier - 1);
    if (around->carrier != carrier || around->class_index != agent->class_index) {
        *around = (struct around){.carrier = carrier,
                                  .class_index = agent->class_index,
                                  .size = fm_world_class_size(world, agent->class_index),
                                  .ring = 1};
    }
    fm_cell cell = search_around(world, around, radius);
    if (cell == FM_CELL_NONE && around->found && fm_world_occupancy(world) == NULL) {
        around->ring = 1;
        around->next = 0;
        cell = search_around(world, around, radius);
    }
    return cell;
}

// Who comes out: an id for each, from the command or of all passengers.
struct leaving {
    const fm_agent_id *agents;
    uint32_t count;
    fm_agent_id all[FM_PASSENGERS_MAX];
};

static fm_status list_passengers(const fm_world *world, const fm_command *command,
                                 struct leaving *leaving)
{
    struct fm_agent *carrier;
    fm_status status = find_carrier(world, command, &carrier);
    if (status != FM_OK) {
        return status;
    }
    leaving->agents = leaving->all;
    leaving->count = 0;
    for (uint32_t next = carrier->passengers; next != 0;) {
        const struct fm_agent *agent = fm_agent_at(world, next - 1);
        leaving->all[leaving->count++] = fm_agent_id_of(world, agent);
        next = agent->next_passenger;
    }
    return FM_OK;
}

static fm_status list_leaving(fm_world *world, const fm_command *command, struct leaving *leaving,
                              uint32_t *failed_index)
{
    bool has_target = fm_agent_id_pack(command->target) != 0;
    if (has_target == (command->agent_count > 0) || command->radius > FM_BOARD_RADIUS_MAX) {
        return FM_ERR_BAD_VALUE;
    }
    if (has_target) {
        return list_passengers(world, command, leaving);
    }
    leaving->agents = command->agents;
    leaving->count = command->agent_count;
    fm_status status = fm_command_check_owners(world, command, failed_index);
    for (uint32_t i = 0; status == FM_OK && i < command->agent_count; i++) {
        if (fm_world_find(world, command->agents[i]) != NULL) {
            *failed_index = i;
            return FM_ERR_NOT_CARRIED;
        }
    }
    return status == FM_OK ? fm_command_check_named_once(world, command, failed_index) : status;
}

// Chooses a cell for each, into `placed`.
static fm_status choose(fm_world *world, const struct leaving *leaving, uint32_t radius,
                        uint32_t *failed_index)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (!FM_RESERVE(world, crowd->placed, crowd->placed_capacity, leaving->count)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = FM_OK;
    struct around around = {.carrier = NULL};
    uint32_t count = 0;
    for (; count < leaving->count; count++) {
        const struct fm_agent *agent = fm_world_find_any(world, leaving->agents[count]);
        status = fm_world_prepare_class(world, agent->team, agent->class_index);
        fm_cell cell = status == FM_OK ? place_beside(world, agent, &around, radius) : FM_CELL_NONE;
        if (cell == FM_CELL_NONE) {
            status = status == FM_OK ? FM_ERR_OCCUPIED_CELL : status;
            *failed_index = count;
            break;
        }
        crowd->placed[count] = cell;
        if (crowd->occupancy != NULL) {
            fm_occupancy_enter(crowd->occupancy, cell, around.size, UNIT_TO_COME);
        }
    }
    for (uint32_t i = 0; crowd->occupancy != NULL && i < count; i++) {
        const struct fm_agent *agent = fm_world_find_any(world, leaving->agents[i]);
        fm_occupancy_leave(crowd->occupancy, crowd->placed[i],
                           fm_world_class_size(world, agent->class_index), UNIT_TO_COME);
    }
    return status;
}

static void unboard(fm_world *world, struct fm_agent *agent, fm_cell cell)
{
    struct fm_agent *carrier = fm_agent_at(world, agent->carrier - 1);
    fm_agent_put_ashore(world, agent);
    fm_agent_mark_set(world, carrier, FM_MARK_REHASH);
    agent->alive = true;
    agent->state = FM_AGENT_IDLE;
    agent->cell = cell;
    fm_agent_be_born(world, agent);
    fm_agent_enter(world, agent);
    note_digest(world, agent, 1);
}

void fm_boarding_unboard(fm_world *world, const fm_command *command, fm_command_result *result)
{
    struct leaving leaving;
    result->status = list_leaving(world, command, &leaving, &result->failed_index);
    if (result->status == FM_OK) {
        result->status = choose(world, &leaving, radius_of(command), &result->failed_index);
    }
    if (result->status != FM_OK) {
        return;
    }
    const fm_cell *placed = fm_world_edit_crowd(world)->placed;
    for (uint32_t i = 0; i < leaving.count; i++) {
        unboard(world, fm_world_find_any(world, leaving.agents[i]), placed[i]);
    }
    result->changed_count = leaving.count;
}
