// core/crowd/laned.c: see laned.h.

#include "core/crowd/laned.h"

#include "core/crowd/crowd.h"
#include "core/crowd/lanes.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

static fm_laned describe(uint32_t team, const fm_lanes *lanes)
{
    const fm_passage *passage = &lanes->passage;
    return (fm_laned){
        .team = team,
        .passage = {.x = fm_cell_x(passage->origin),
                    .y = fm_cell_y(passage->origin),
                    .width = passage->is_vertical ? passage->width : passage->length,
                    .height = passage->is_vertical ? passage->length : passage->width},
        .is_vertical = passage->is_vertical,
        .is_open = lanes->is_open,
        .width = passage->width,
        .back = fm_passage_lanes(passage, 1, true),
        .counts = {lanes->counts[0], lanes->counts[1]},
    };
}

// Which lanes an agent kept to in the last tick, as lanes.h numbers them; 0: none. Lanes that ended
// in that tick have left their number to others, perhaps far away.
static uint32_t number_of(const fm_world *world, fm_agent_id id)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL || agent->order.id == 0 || agent->order.given_tick >= fm_world_tick(world)) {
        return 0;
    }
    const struct fm_team *team = fm_team_of(world, agent->team);
    if (team->lane_count == 0) {
        return 0;
    }
    const fm_mover *mover = fm_crowd_mover(world, id.index1 - 1);
    if (mover->team != agent->team || !mover->bold || mover->lane == 0 ||
        mover->lane > 2 * team->lane_count) {
        return 0;
    }
    const fm_lanes *lanes = &team->lanes[(mover->lane - 1) / 2];
    bool is_near = fm_rect_contains(&lanes->passage.box, mover->cell);
    return lanes->is_open && is_near ? mover->lane : 0;
}

bool fm_world_lanes_of(const fm_world *world, fm_agent_id id, fm_laned *laned, uint32_t *heading)
{
    uint32_t number = number_of(world, id);
    if (number == 0) {
        return false;
    }
    uint32_t team = fm_world_find(world, id)->team;
    *laned = describe(team, &fm_team_of(world, team)->lanes[(number - 1) / 2]);
    uint32_t ahead = laned->is_vertical ? FM_SOUTH : FM_EAST;
    *heading = (number - 1) % 2 == 0 ? ahead : ahead + FM_DIRECTION_COUNT / 2;
    return true;
}

uint32_t fm_world_list_lanes(const fm_world *world, fm_laned *list)
{
    const struct fm_world_teams *teams = fm_world_teams(world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < teams->count; i++) {
        for (uint32_t j = 0; j < teams->list[i].lane_count && count < FM_LANED_MAX; j++) {
            list[count++] = describe(i + 1, &teams->list[i].lanes[j]);
        }
    }
    return count;
}
