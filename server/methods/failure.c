// server/methods/failure.c: see failure.h.

#include "server/methods/failure.h"

#include "core/commands/permit.h"

static bool is_about_an_entry(fm_status status)
{
    return status == FM_ERR_NO_AGENT || status == FM_ERR_OFF_GRID ||
           status == FM_ERR_BLOCKED_CELL || status == FM_ERR_OCCUPIED_CELL ||
           status == FM_ERR_BUILDING || status == FM_ERR_NO_ORDER || status == FM_ERR_CARRIED ||
           status == FM_ERR_NOT_CARRIED || status == FM_ERR_TOO_FAR;
}

// What stands on the site of a building.
static void describe_site(const fm_job *job, char *error)
{
    const fm_command_result *result = &job->command.result;
    if (job->status == FM_ERR_BUILDING) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "building %u stands there", result->building);
    } else if (job->status == FM_ERR_OCCUPIED_CELL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent %llu stands there",
                 (unsigned long long)fm_agent_id_pack(result->in_the_way));
    } else if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "a building has %u cells at most, a world %u of them",
                 FM_BUILDING_CELLS_MAX, FM_BUILDINGS_MAX);
    }
}

// The same for a player, who is told only what its team sees or knows.
static void describe_permit(const fm_job *job, char *error)
{
    if (job->status == FM_ERR_DENIED) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "players do not build in this world");
    } else if (job->status == FM_ERR_BLOCKED_CELL) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "all of it must be free ground that your team sees now");
    } else if (job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "your team does not see all of it now");
    } else if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "a player's building has %u cells at most, and a team %u of them",
                 FM_PERMIT_CELLS_MAX, job->host->rules.players_build);
    }
}

static void describe_cost(const fm_job *job, char *error)
{
    if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "a team's costs change by %u cells a tick at most: wait for the next",
                 FM_COST_CELLS_MAX);
    } else if (job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "the team, or one of its agents, has a planner that needs equal costs: "
                 "agent.planner changes an agent's");
    }
}

// Which cell, and which agent does not fit.
static int describe_cell(const fm_job *job, fm_cell cell, uint32_t class_index, char *error,
                         size_t size)
{
    const fm_movement_class *movement = &job->host->rules.classes[class_index];
    return snprintf(error, size,
                    "cell %u,%u cannot be entered: no place for class '%s' (%u x %u "
                    "cells)",
                    fm_cell_x(cell), fm_cell_y(cell), movement->name, movement->size,
                    movement->size);
}

static void describe_spawn(const fm_job *job, char *error)
{
    const fm_command *command = &job->command.command;
    uint32_t index = job->command.result.failed_index;
    int length = snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: ", index);
    describe_cell(job, command->cells[index], command->class_index, error + length,
                  FM_ERROR_TEXT_SIZE - (size_t)length);
}

// It is always where a path, or a field, begins. Reveals nothing that the team does not know.
static void describe_query(const fm_job *job, char *error)
{
    const fm_job_query *query = &job->query;
    int length =
        query->many ? snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: ", query->failed_index) : 0;
    length +=
        describe_cell(job, query->cells[query->many ? 2 * query->failed_index : 0],
                      query->class_index, error + length, FM_ERROR_TEXT_SIZE - (size_t)length);
    if (query->team != FM_ALL_TEAMS) {
        snprintf(error + length, FM_ERROR_TEXT_SIZE - (size_t)length, ", as the team knows it");
    }
}

static void describe_boarding(const fm_job *job, char *error)
{
    uint32_t index = job->command.result.failed_index;
    if (job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "entry %u: this agent is named twice, or is the carrier", index);
    } else if (job->status == FM_ERR_NO_TARGET) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "there is no such carrier, or entry %u is of another team", index);
    } else if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: an agent carries at most %u", index,
                 FM_PASSENGERS_MAX);
    } else if (job->status == FM_ERR_OCCUPIED_CELL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: no free cell within the radius", index);
    } else if (is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", index, fm_status_text(job->status));
    }
}

// Says which part of a command was refused.
void fm_failure_describe(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    if (job->kind == FM_JOB_COMMAND && command->id_is_taken) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "command_id: another command had this one");
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_SPAWN &&
               job->status == FM_ERR_BLOCKED_CELL) {
        describe_spawn(job, error);
    } else if (job->kind == FM_JOB_QUERY && job->status == FM_ERR_BLOCKED_CELL) {
        describe_query(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_ORDER &&
               job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %u orders are waiting already",
                 command->result.failed_index, FM_ORDER_QUEUE_MAX);
    } else if (job->kind == FM_JOB_COMMAND && command->by_name &&
               (command->command.kind == FM_COMMAND_BUILD ||
                command->command.kind == FM_COMMAND_DEMOLISH)) {
        describe_permit(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_PLANNER &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "entry %u: this planner cannot work by the rules of the world",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_COST) {
        describe_cost(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_SET &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "entry %u: its planner cannot work for this class, or this team",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_PLACE &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: this agent is named twice",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && (command->command.kind == FM_COMMAND_BOARD ||
                                               command->command.kind == FM_COMMAND_UNBOARD)) {
        describe_boarding(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_BUILD) {
        describe_site(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.order_count > 0 &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: this order is named twice",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_ORDER &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: the agents of a group are of one team",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->command.result.failed_index,
                 fm_status_text(job->status));
    } else if (job->kind == FM_JOB_QUERY && job->query.many && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->query.failed_index,
                 fm_status_text(job->status));
    } else if (job->kind == FM_JOB_SEEK) {
        memcpy(error, job->seek.error, FM_ERROR_TEXT_SIZE);
    } else if (job->status == FM_ERR_IO && fm_host_is_replay(job->host)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the journal cannot be read here: seek another tick");
    } else if (job->status == FM_ERR_IO) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world's journal cannot be written now");
    } else if (job->kind == FM_JOB_QUERY && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the agent has no goal: name one");
    } else if (job->kind == FM_JOB_STEP && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world is not paused");
    }
}
