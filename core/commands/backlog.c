// core/commands/backlog.c: see backlog.h.

#include "core/commands/backlog.h"

#include "core/world/agent_marks.h"
#include "core/world/interval.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

// What was noted since the last tick, and how many agents may have been there.
struct backlog {
    uint64_t noted, edited, places;
    uint64_t bases; // how often FM_BACKLOG_BASE is allowed
};

static struct backlog backlog_of(const fm_world *world, uint32_t team)
{
    const struct fm_world_interval *interval = fm_world_interval(world);
    if (interval->streamed) {
        return (struct backlog){0};
    }
    if (team == FM_ALL_TEAMS || !fm_world_has_team(world, team)) {
        return (struct backlog){.noted = (uint64_t)interval->ended_count + interval->removed_count,
                                .edited = interval->edited_count - interval->edited_by_teams,
                                .places = fm_world_agents(world)->slot_count,
                                .bases = fm_world_team_count(world) + 1};
    }
    const struct fm_team *own = fm_team_of(world, team);
    return (struct backlog){.noted = own->noted_count,
                            .edited = own->edited_count,
                            .places = own->member_count,
                            .bases = 1};
}

static uint64_t cells_of(const fm_command *command)
{
    // A building that goes edits no more cells than it did when it came.
    bool edits = command->kind == FM_COMMAND_TERRAIN || command->kind == FM_COMMAND_BUILD;
    uint64_t cells = edits ? command->cell_count : 0;
    for (uint32_t i = 0; edits && i < command->rect_count; i++) {
        cells += (uint64_t)command->rects[i].width * command->rects[i].height;
    }
    return cells;
}

// A player names a unit once; of others each name counts, since one named twice gets two orders.
static uint32_t units_with_orders(const fm_world *world, const fm_command *command)
{
    if (command->team == FM_ALL_TEAMS) {
        return command->agent_count;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        count += agent != NULL && (agent->order.id != 0 || agent->queue_count > 0);
    }
    return count;
}

// Units whose orders it may end, or that it takes out of the world.
static uint32_t units_to_tell_of(const fm_world *world, const fm_command *command)
{
    switch (command->kind) {
    case FM_COMMAND_ORDER:
        return !command->queue                    ? units_with_orders(world, command)
               : command->turn == FM_TURN_INSTEAD ? command->agent_count
                                                  : 0;
    case FM_COMMAND_REMOVE:
    case FM_COMMAND_CANCEL:
    case FM_COMMAND_BOARD:
        return command->agent_count;
    case FM_COMMAND_SET:
        return (command->set & FM_SET_TEAM) != 0 ? command->agent_count : 0;
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_BUILD:
    case FM_COMMAND_DEMOLISH:
    case FM_COMMAND_PLANNER:
    case FM_COMMAND_PLACE:
    case FM_COMMAND_RESUME:
    case FM_COMMAND_COST:
    case FM_COMMAND_UNBOARD:
        return 0;
    }
    FM_UNREACHABLE();
}

bool fm_backlog_admits(const fm_world *world, const fm_command *command)
{
    struct backlog backlog = backlog_of(world, command->team);
    uint64_t noted_max = FM_BACKLOG_BASE * backlog.bases + FM_BACKLOG_PER_AGENT * backlog.places;
    uint64_t cells = cells_of(command);
    bool agents_fit = backlog.noted == 0 || backlog.noted + command->agent_count <= noted_max;
    if (!agents_fit) {
        uint32_t units = units_to_tell_of(world, command);
        agents_fit = units == 0 || backlog.noted + units <= noted_max;
    }
    bool cells_fit =
        backlog.edited == 0 || cells == 0 || backlog.edited + cells <= FM_BACKLOG_EDITS;
    return agents_fit && cells_fit;
}

void fm_backlog_charge(fm_world *world, const fm_command *command, uint32_t edited_before)
{
    if (command->team != FM_ALL_TEAMS && fm_world_has_team(world, command->team)) {
        struct fm_world_interval *interval = fm_world_edit_interval(world);
        uint32_t edited = interval->edited_count - edited_before;
        fm_team_of(world, command->team)->edited_count += edited;
        interval->edited_by_teams += edited;
    }
}
