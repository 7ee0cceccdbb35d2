// core/world/world.c: see world.h. Functions that only read.

#define FM_WORLD_INLINE // the functions that world_state.h has inline elsewhere are in here

#include "core/world/world.h"

#include "core/base/random.h"
#include "core/world/world_state.h"

fm_world_rules fm_world_rules_default(void)
{
    return (fm_world_rules){
        .connectivity = FM_CONNECT_8,
        .steps = FM_STEPS_10_14,
        .sense = {.radius = 5, .shape = FM_SENSE_SQUARE},
        .planner = {.ops = &fm_dstar_lite},
        .agents_max = 65536,
        .teams_max = 4096,
        .saved_ticks = 8,
        .tick_millihertz = 10000,
        .landmarks = {.count = 8},
    };
}

bool fm_world_has_team(const fm_world *world, uint32_t team)
{
    return team <= world->teams.count;
}

const fm_view *fm_world_view(const fm_world *world, uint32_t team)
{
    if (!fm_world_has_team(world, team)) {
        return NULL;
    }
    return team == FM_ALL_TEAMS ? &world->map.truth : &fm_team_of(world, team)->knowledge->view;
}

bool fm_world_contains(const fm_world *world, fm_cell cell)
{
    return fm_grid_contains(world->map.grid, fm_cell_x(cell), fm_cell_y(cell));
}

void fm_world_mix_digest(fm_world *world, uint64_t event)
{
    world->digest = fm_mix64(world->digest ^ event);
}
