// core/world/terrain_block.c: see terrain_block.h.

#include "core/world/terrain_block.h"

#include "core/world/team.h"

#include <string.h>

static uint64_t cells_of(uint32_t count)
{
    return count == FM_TERRAIN_BLOCK_CELLS ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

// What a team believes of the cells that it knows, which are those in `known`.
static void look_as_team(const fm_knowledge *knowledge, uint64_t known, uint32_t x, uint32_t y,
                         uint32_t count, fm_terrain_block *block)
{
    const fm_grid *truth = knowledge->truth;
    size_t first = fm_grid_index(truth, fm_cell_at(x, y));
    if (known == 0) {
        return;
    }
    uint64_t stale = fm_stale_word(&knowledge->stale, y, x / FM_TERRAIN_BLOCK_CELLS);
    if (knowledge->weights != NULL) {
        memcpy(block->cost, knowledge->weights + first, count);
    } else {
        memset(block->cost, FM_COST_FLOOR, count);
    }
    if (known == cells_of(count) && stale == 0) {
        memcpy(block->terrain, truth->terrain + first, count);
        return;
    }
    for (uint64_t bits = known; bits != 0; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        block->terrain[i] = stale >> i & 1
                                ? fm_stale_terrain(&knowledge->stale, fm_cell_at(x + i, y))
                                : truth->terrain[first + i];
    }
}

uint32_t fm_world_look_up_block(const fm_world *world, uint32_t team, uint32_t x, uint32_t y,
                                fm_terrain_block *block)
{
    const fm_grid *grid = fm_world_grid(world);
    FM_ASSERT(x % FM_TERRAIN_BLOCK_CELLS == 0 && x < grid->width && y < grid->height);
    size_t first = fm_grid_index(grid, fm_cell_at(x, y));
    uint32_t left = grid->width - x;
    uint32_t count = left < FM_TERRAIN_BLOCK_CELLS ? left : FM_TERRAIN_BLOCK_CELLS;
    *block = (fm_terrain_block){0};
    if (team == FM_ALL_TEAMS) {
        memcpy(block->terrain, grid->terrain + first, count);
        memcpy(block->cost, grid->cost + first, count);
        return count;
    }
    FM_ASSERT(team >= 1 && team <= fm_world_team_count(world));
    const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    uint64_t known = fm_bitmap_row(&knowledge->known, (int32_t)y)[x / FM_TERRAIN_BLOCK_CELLS];
    look_as_team(knowledge, known & cells_of(count), x, y, count, block);
    return count;
}
