// server/methods/failure.c: see failure.h.

#include "server/methods/failure.h"

#include "core/commands/permit.h"

#include <stdarg.h>

static bool is_about_an_entry(fm_status status)
{
    return status == FM_ERR_NO_AGENT || status == FM_ERR_OFF_GRID ||
           status == FM_ERR_BLOCKED_CELL || status == FM_ERR_OCCUPIED_CELL ||
           status == FM_ERR_BUILDING || status == FM_ERR_NO_ORDER || status == FM_ERR_CARRIED ||
           status == FM_ERR_NOT_CARRIED || status == FM_ERR_TOO_FAR;
}

// "entry 2, agent 17: ..."; of a player's agents, which have been translated, only the entry.
__attribute__((format(printf, 3, 4))) static void
complain_entry(const fm_job_command *command, char *error, const char *format, ...)
{
    uint32_t index = command->result.failed_index;
    int length = snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u", index);
    if (!command->by_name && index < command->command.agent_count) {
        length += snprintf(error + length, FM_ERROR_TEXT_SIZE - (size_t)length, ", agent %llu",
                           (unsigned long long)fm_agent_id_pack(command->command.agents[index]));
    }
    length += snprintf(error + length, FM_ERROR_TEXT_SIZE - (size_t)length, ": ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + length, FM_ERROR_TEXT_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
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

static void describe_carrier(const fm_job *job, char *error)
{
    const fm_command *command = &job->command.command;
    int length = snprintf(error, FM_ERROR_TEXT_SIZE,
                          "carrier %llu: ", (unsigned long long)fm_agent_id_pack(command->target));
    char *rest = error + length;
    size_t size = FM_ERROR_TEXT_SIZE - (size_t)length;
    if (job->status == FM_ERR_OCCUPIED_CELL) {
        snprintf(rest, size, "no free cell within the radius for passenger %u",
                 job->command.result.failed_index);
    } else if (job->status == FM_ERR_NO_TARGET && command->agent_count > 0) {
        snprintf(rest, size, "there is no such agent, or entry %u is of another team",
                 job->command.result.failed_index);
    } else {
        snprintf(rest, size, "%s",
                 fm_status_text(job->status == FM_ERR_NO_TARGET ? FM_ERR_NO_AGENT : job->status));
    }
}

static void describe_boarding(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    if (job->status == FM_ERR_NO_TARGET || command->command.agent_count == 0) {
        describe_carrier(job, error);
    } else if (job->status == FM_ERR_BAD_VALUE) {
        complain_entry(command, error, "this agent is named twice, or is the carrier");
    } else if (job->status == FM_ERR_LIMIT) {
        complain_entry(command, error, "an agent carries at most %u", FM_PASSENGERS_MAX);
    } else if (job->status == FM_ERR_OCCUPIED_CELL) {
        complain_entry(command, error, "no free cell within the radius");
    } else if (is_about_an_entry(job->status)) {
        complain_entry(command, error, "%s", fm_status_text(job->status));
    }
}

// Bounds that only one kind of command can reach.
static void describe_limit(const fm_job *job, char *error)
{
    const fm_command *command = &job->command.command;
    if (command->kind == FM_COMMAND_TEAM) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu has %u teams at most",
                 (unsigned long long)job->host->number, job->host->rules.teams_max);
    } else if (command->kind == FM_COMMAND_SPAWN || command->kind == FM_COMMAND_SET) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu has %u agents at most",
                 (unsigned long long)job->host->number, job->host->rules.agents_max);
    } else if (command->kind == FM_COMMAND_TERRAIN) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "a command edits %u cells at most",
                 FM_COMMAND_CELLS_MAX);
    } else if (command->kind == FM_COMMAND_ORDER) {
        complain_entry(&job->command, error, "%u orders are waiting already", FM_ORDER_QUEUE_MAX);
    }
}

static void describe_target(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    if (!command->by_name && fm_agent_id_pack(command->command.target) != 0) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "target %llu: it is not there, or is not seen by the team of entry %u",
                 (unsigned long long)fm_agent_id_pack(command->command.target),
                 command->result.failed_index);
    }
}

// All zero: the job is not about one agent.
static fm_agent_id agent_of(const fm_job *job)
{
    return job->kind == FM_JOB_INSPECT   ? job->inspect.agent
           : job->kind == FM_JOB_TRACE   ? job->inspect.agent
           : job->kind == FM_JOB_EXPLAIN ? job->explain.agent
           : job->kind == FM_JOB_QUERY   ? job->query.agent
                                         : (fm_agent_id){.index1 = 0};
}

// FM_ALL_TEAMS: it is not about one team.
static uint32_t team_of(const fm_job *job)
{
    const fm_command *command = &job->command.command;
    return job->kind == FM_JOB_QUERY         ? job->query.team
           : job->kind != FM_JOB_COMMAND     ? FM_ALL_TEAMS
           : command->kind == FM_COMMAND_SET ? command->new_team
                                             : command->team;
}

// What BAD_VALUE means for a kind of command. NULL: the request was checked before, or it says so.
static const char *bad_value_of(const fm_job_command *job)
{
    const fm_command *command = &job->command;
    switch (command->kind) {
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_PLANNER:
        return "this planner cannot work by the rules of the world";
    case FM_COMMAND_SET:
        return "its planner cannot work for this class, or this team";
    case FM_COMMAND_PLACE:
        return "this agent is named twice";
    case FM_COMMAND_ORDER:
        return command->order_count > 0 ? "this order is named twice"
               : job->by_name           ? "this agent is named twice"
                                        : "the agents of a group are of one team";
    case FM_COMMAND_CANCEL:
        return "this order is named twice";
    case FM_COMMAND_REMOVE:
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_BUILD:
    case FM_COMMAND_DEMOLISH:
    case FM_COMMAND_RESUME:
    case FM_COMMAND_COST:
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        return NULL;
    }
    FM_UNREACHABLE();
}

static void describe_bad_value(const fm_job_command *command, char *error)
{
    const char *text = bad_value_of(command);
    if (text != NULL && command->command.agent_count > 0) {
        complain_entry(command, error, "%s", text);
    } else if (text != NULL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s", text);
    }
}

static void describe_any_command(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    if (job->status == FM_ERR_NO_BUILDING) {
        fm_failure_name(error, "building", command->command.building, job->status);
    } else if (job->status == FM_ERR_LIMIT) {
        describe_limit(job, error);
    } else if (job->status == FM_ERR_NO_TARGET) {
        describe_target(job, error);
    } else if (job->status == FM_ERR_BAD_VALUE) {
        describe_bad_value(command, error);
    } else if (is_about_an_entry(job->status)) {
        complain_entry(command, error, "%s", fm_status_text(job->status));
    }
}

static void describe_command(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    fm_command_kind kind = command->command.kind;
    if (command->id_is_taken) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "command_id %llu: another command had this one",
                 (unsigned long long)command->id.id);
    } else if (command->waits_for_tick) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "world %llu: too much has happened since the last tick: let the world tick first",
                 (unsigned long long)job->host->number);
    } else if (kind == FM_COMMAND_SPAWN && job->status == FM_ERR_BLOCKED_CELL) {
        describe_spawn(job, error);
    } else if (command->by_name && (kind == FM_COMMAND_BUILD || kind == FM_COMMAND_DEMOLISH)) {
        describe_permit(job, error);
    } else if (kind == FM_COMMAND_COST) {
        describe_cost(job, error);
    } else if (kind == FM_COMMAND_BOARD || kind == FM_COMMAND_UNBOARD) {
        describe_boarding(job, error);
    } else if (kind == FM_COMMAND_BUILD) {
        describe_site(job, error);
    } else {
        describe_any_command(job, error);
    }
}

static void describe_question(const fm_job *job, char *error)
{
    if (job->status == FM_ERR_BLOCKED_CELL) {
        describe_query(job, error);
    } else if (job->query.many && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->query.failed_index,
                 fm_status_text(job->status));
    } else if (job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent %llu has no goal: name one",
                 (unsigned long long)fm_agent_id_pack(job->query.agent));
    }
}

// What a job of any kind can be refused for.
static void describe_any(const fm_job *job, char *error)
{
    unsigned long long number = job->host->number;
    bool is_about_agent = job->status == FM_ERR_NO_AGENT || job->status == FM_ERR_CARRIED;
    if (is_about_agent && agent_of(job).index1 != 0) {
        fm_failure_name(error, "agent", fm_agent_id_pack(agent_of(job)), job->status);
    } else if (job->status == FM_ERR_NO_TEAM && team_of(job) != FM_ALL_TEAMS) {
        fm_failure_name(error, "team", team_of(job), job->status);
    } else if (job->status == FM_ERR_NO_WORLD) {
        fm_failure_name(error, "world", number, job->status);
    } else if (job->status == FM_ERR_IO && fm_host_is_replay(job->host)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the journal cannot be read here: seek another tick");
    } else if (job->status == FM_ERR_IO) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu: its journal cannot be written now",
                 number);
    } else if (job->kind == FM_JOB_STEP && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu is not paused", number);
    }
}

void fm_failure_describe(const fm_job *job, char *error)
{
    if (job->is_in_doubt) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "world %llu went to another node meanwhile: some of it may have been done",
                 (unsigned long long)job->host->number);
    } else if (job->status == FM_ERR_NOT_READY && job->host->state == FM_HOST_DESTROYING) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu is ending",
                 (unsigned long long)job->host->number);
    } else if (job->kind == FM_JOB_COMMAND) {
        describe_command(job, error);
    } else if (job->kind == FM_JOB_QUERY) {
        describe_question(job, error);
    } else if (job->kind == FM_JOB_SEEK) {
        memcpy(error, job->seek.error, FM_ERROR_TEXT_SIZE);
    }
    if (error[0] == '\0') {
        describe_any(job, error);
    }
}

void fm_failure_name(char *error, const char *what, uint64_t number, fm_status status)
{
    snprintf(error, FM_ERROR_TEXT_SIZE, "%s %llu: %s", what, (unsigned long long)number,
             fm_status_text(status));
}
