// core/commands/permit.c: see permit.h.

#include "core/commands/permit.h"

#include "core/commands/command_agents.h"
#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

static const fm_knowledge *knowledge_of(const fm_world *world, uint32_t team)
{
    FM_ASSERT(fm_world_has_team(world, team) && team != FM_ALL_TEAMS);
    return fm_team_of(world, team)->knowledge;
}

// Whether an agent stands near enough to see a part of the rectangle.
static bool is_near(const fm_world *world, const struct fm_agent *agent, const fm_rect *rect)
{
    uint32_t reach = fm_world_map(world)->sight_reach + FM_CLASS_SIZE_MAX;
    uint32_t x = fm_cell_x(agent->cell), y = fm_cell_y(agent->cell);
    return x + reach >= rect->x && x < rect->x + rect->width + reach && y + reach >= rect->y &&
           y < rect->y + rect->height + reach;
}

static void look_around(const fm_world *world, uint32_t team, const fm_rect *rect,
                        fm_bitmap *visible)
{
    const struct fm_team *owner = fm_team_of(world, team);
    for (uint32_t i = 0; i < owner->member_count; i++) {
        const struct fm_agent *agent = fm_agent_at(world, owner->members[i]);
        if (!agent->alive || agent->team != team || !is_near(world, agent, rect)) {
            continue;
        }
        fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
        uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
        for (uint32_t eye = 0; eye < eye_count; eye++) {
            fm_knowledge_look(owner->knowledge, fm_agent_sight(world, agent), eyes[eye], visible);
        }
    }
}

// Whether all cells have a bit; with `free` they are also known, and known to be free.
static bool covers(const fm_bitmap *visible, const fm_rect *rect, const fm_knowledge *free)
{
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (!fm_bitmap_get(visible, cell) ||
                (free != NULL &&
                 (!fm_bitmap_get(&free->known, cell) || fm_bitmap_get(&free->blocked, cell)))) {
                return false;
            }
        }
    }
    return true;
}

static fm_status check_sight(const fm_world *world, uint32_t team, const fm_rect *rect,
                             bool must_be_free, fm_status refusal)
{
    fm_bitmap visible;
    fm_status status = fm_bitmap_init(&visible, fm_world_grid(world)->width,
                                      fm_world_grid(world)->height, false, fm_world_memory(world));
    if (status != FM_OK) {
        return status;
    }
    look_around(world, team, rect, &visible);
    const fm_knowledge *knowledge = knowledge_of(world, team);
    bool fine = covers(&visible, rect, must_be_free ? knowledge : NULL);
    fm_bitmap_fini(&visible, fm_world_memory(world));
    return fine ? FM_OK : refusal;
}

static uint32_t count_own(const fm_world *world, uint32_t team)
{
    uint32_t count = 0;
    const fm_buildings *buildings = &fm_world_map(world)->buildings;
    for (uint32_t i = 0; i < buildings->count; i++) {
        count += buildings->list[i].team == team;
    }
    return count;
}

fm_status fm_permit_build(const fm_world *world, uint32_t team, const fm_rect *rect)
{
    if (fm_world_rules_get(world)->players_build == 0) {
        return FM_ERR_DENIED;
    }
    if (rect->width == 0 || rect->height == 0) {
        return FM_ERR_BAD_VALUE;
    }
    if (!fm_grid_contains(fm_world_grid(world), (int64_t)rect->x + rect->width - 1,
                          (int64_t)rect->y + rect->height - 1)) {
        return FM_ERR_OFF_GRID;
    }
    if ((uint64_t)rect->width * rect->height > FM_PERMIT_CELLS_MAX ||
        count_own(world, team) >= fm_world_rules_get(world)->players_build) {
        return FM_ERR_LIMIT;
    }
    return check_sight(world, team, rect, true, FM_ERR_BLOCKED_CELL);
}

fm_status fm_permit_demolish(const fm_world *world, uint32_t team, uint32_t name, uint32_t *id)
{
    if (fm_world_rules_get(world)->players_build == 0) {
        return FM_ERR_DENIED;
    }
    const fm_buildings_seen *seen = &knowledge_of(world, team)->buildings_seen;
    for (uint32_t i = 0; i < seen->count; i++) {
        const fm_building_look *look = &seen->list[i];
        if (look->name == name && look->team == team) {
            *id = look->id;
            return check_sight(world, team, &look->rect, false, FM_ERR_NOT_READY);
        }
    }
    return FM_ERR_NO_BUILDING;
}

fm_status fm_permit_order(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    return command->order_count > 0 ? FM_OK
                                    : fm_command_check_named_once(world, command, failed_index);
}

uint32_t fm_permit_name(const fm_world *world, uint32_t team, uint32_t id)
{
    const fm_buildings_seen *seen = &knowledge_of(world, team)->buildings_seen;
    for (uint32_t i = 0; i < seen->count; i++) {
        if (seen->list[i].id == id) {
            return seen->list[i].name;
        }
    }
    return 0;
}
