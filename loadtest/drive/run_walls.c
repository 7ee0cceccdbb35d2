// loadtest/drive/run_walls.c: checks that no unit walks through a wall that its team has seen, only
// from what a subscriber is sent.
//
// A mirror keeps a team's view. Each step in a delta is held against the cells as the view shows
// them after it, because a team learns what it learns in a tick before any unit moves: neither the
// cell stepped onto nor, in a diagonal step, the two beside it may be known as blocked. Left out
// are deltas that stand for several ticks, and units that were pushed out of a cell on which a wall
// came down: their cell is known as blocked by then.

#include "loadtest/drive/run_walls.h"

#include <fogmarch/mirror.h>

#include <stdlib.h>

struct step {
    fm_cell from, to;
};

struct fm_wall_watch {
    fm_run_state *run;
    fm_mirror mirror;
    uint64_t tick; // of the mirror before the delta that is being applied
    struct step *steps;
    uint32_t step_count, step_capacity;
};

static void on_moved(void *context, const fm_mirror_agent *agent, fm_cell from)
{
    struct fm_wall_watch *watch = context;
    if (agent->team != watch->mirror.team || agent->cell == from) {
        return;
    }
    if (!FM_RESERVE_FROM(&fm_memory_libc, watch->steps, watch->step_capacity,
                         watch->step_count + 1)) {
        fm_run_fail(watch->run, "out of memory");
        return;
    }
    watch->steps[watch->step_count++] = (struct step){from, agent->cell};
}

static bool is_wall(const fm_mirror *mirror, uint32_t x, uint32_t y)
{
    uint32_t look = fm_mirror_look(mirror, x, y);
    return look != 0 && !fm_look_is_free(look);
}

static bool goes_through_wall(const fm_mirror *mirror, struct step step)
{
    uint32_t x = fm_cell_x(step.to), y = fm_cell_y(step.to);
    uint32_t from_x = fm_cell_x(step.from), from_y = fm_cell_y(step.from);
    return is_wall(mirror, x, y) || is_wall(mirror, x, from_y) || is_wall(mirror, from_x, y);
}

static void on_updated(void *context, const fm_mirror *mirror, fm_notification notification)
{
    struct fm_wall_watch *watch = context;
    fm_result *result = watch->run->result;
    bool one_tick = notification == FM_NOTIFY_DELTA && mirror->tick == watch->tick + 1;
    for (uint32_t i = 0; one_tick && i < watch->step_count; i++) {
        struct step step = watch->steps[i];
        bool pushed = is_wall(mirror, fm_cell_x(step.from), fm_cell_y(step.from)) ||
                      fm_cell_direction(step.from, step.to) == FM_DIRECTION_COUNT;
        if (!pushed) {
            result->steps_checked++;
            result->steps_through_walls += goes_through_wall(mirror, step);
        }
    }
    watch->step_count = 0;
    watch->tick = mirror->tick;
}

static void on_view(void *context, fm_notification notification, const msgpack_object *params)
{
    struct fm_wall_watch *watch = context;
    if (fm_mirror_wants(&watch->mirror, notification, params) &&
        fm_mirror_apply(&watch->mirror, notification, params) != FM_OK) {
        fm_run_fail(watch->run, "a team's view does not fit what it showed before");
    }
}

bool fm_run_watch_walls(fm_run_state *run, fm_listener *listener)
{
    static const fm_mirror_ops ops = {.moved = on_moved, .updated = on_updated};
    struct fm_wall_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        fm_run_fail(run, "out of memory");
        return false;
    }
    watch->run = run;
    fm_mirror_init(&watch->mirror, 0, &ops, watch);
    listener->walls = watch;
    fm_client_on_notification(listener->client, on_view, watch);
    return true;
}

void fm_wall_watch_destroy(struct fm_wall_watch *watch)
{
    if (watch != NULL) {
        fm_mirror_fini(&watch->mirror);
        free(watch->steps);
        free(watch);
    }
}
