// core/views/endings.c: see endings.h.

#include "core/views/endings.h"

#include "core/world/interval.h"
#include "core/world/team.h"

#include <stdlib.h>

void fm_endings_divide(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    for (uint32_t i = 0; i < interval->ended_by_team_count; i++) {
        struct fm_team *team = fm_team_of(world, interval->ended_by_team[i].team);
        team->ended_count = team->ended_end = 0;
    }
    interval->ended_by_team_count = interval->ended_count;
    FM_ASSERT(interval->ended_by_team_count <= interval->ended_by_team_capacity);
    for (uint32_t i = 0; i < interval->ended_count; i++) {
        fm_team_of(world, interval->ended[i].team)->ended_count++;
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < interval->ended_count; i++) {
        struct fm_team *team = fm_team_of(world, interval->ended[i].team);
        if (team->ended_end == 0) { // the team's first: all of its own come here
            team->ended_end = begin;
            begin += team->ended_count;
        }
        interval->ended_by_team[team->ended_end++] = interval->ended[i];
    }
}

static int compare(const void *a, const void *b)
{
    const fm_order_ended *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

const fm_order_ended *fm_endings_of(const fm_world *world, uint32_t team, uint32_t *count)
{
    if (team == FM_ALL_TEAMS) {
        *count = fm_world_interval(world)->ended_count;
        return fm_world_interval(world)->ended;
    }
    const struct fm_team *own = fm_team_of(world, team);
    *count = own->ended_count;
    if (*count == 0) {
        return NULL;
    }
    fm_order_ended *first =
        &fm_world_interval(world)->ended_by_team[own->ended_end - own->ended_count];
    if (*count > 1) {
        qsort(first, *count, sizeof *first, compare);
    }
    return first;
}
