// core/crowd/busy.c: see busy.h.

#include "core/crowd/busy.h"

#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_parts.h"

static uint32_t words_for(uint32_t team_count)
{
    return (team_count + 63) / 64;
}

bool fm_busy_reserve(fm_world *world, uint32_t team_count)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    return crowd->occupancy == NULL ||
           fm_reserve_zeroed(fm_world_memory(world), (void **)&crowd->busy, &crowd->busy_capacity,
                             words_for(team_count), sizeof *crowd->busy);
}

void fm_busy_fini(fm_world *world)
{
    const struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    fm_memory_release(fm_world_memory(world), crowd->busy,
                      crowd->busy_capacity * sizeof *crowd->busy);
}

void fm_busy_note(fm_world *world, uint32_t team)
{
    fm_world_edit_crowd(world)->busy[(team - 1) / 64] |= UINT64_C(1) << (team - 1) % 64;
}

void fm_busy_check(fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    bool is_busy = team->jam_count > 0 || team->stuck_left > 0 || team->escort_count > 0 ||
                   team->escorts_wanted > 0 || team->lane_count > 0;
    if (!is_busy) {
        uint64_t bit = UINT64_C(1) << (number - 1) % 64;
        fm_world_edit_crowd(world)->busy[(number - 1) / 64] &= ~bit;
    }
}

uint32_t fm_busy_next(fm_world *world, uint32_t index)
{
    const uint64_t *busy = fm_world_edit_crowd(world)->busy;
    uint32_t count = fm_world_team_count(world);
    for (uint32_t word = index / 64; index < count; index = ++word * 64) {
        uint64_t bits = busy[word] >> index % 64;
        if (bits != 0) {
            return index + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return count;
}
