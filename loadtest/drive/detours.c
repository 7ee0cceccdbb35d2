// loadtest/drive/detours.c: see detours.h.

#include "loadtest/drive/detours.h"

#include "core/planners/query.h"
#include "core/search/scratch.h"

#include <stdlib.h>

#define TRIP_CELLS_MIN 8u // a shorter one says nothing about paths

static uint64_t distance(fm_step_costs steps, fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    uint32_t least = fm_min(dx, dy), most = dx + dy - least;
    return steps == FM_STEPS_1 ? dx + dy : 14ull * least + 10ull * (most - least);
}

static void on_moved(void *context, const fm_mirror_agent *agent, fm_cell from)
{
    fm_detours *detours = context;
    uint32_t slot = (uint32_t)(agent->id % FM_DETOURS_AGENTS);
    if (detours->followed[slot].agent == 0) {
        detours->followed[slot].agent = agent->id;
        detours->followed[slot].from = detours->followed[slot].at = from;
    }
    if (detours->followed[slot].agent == agent->id) {
        detours->followed[slot].cost +=
            distance(detours->steps, detours->followed[slot].at, agent->cell);
        detours->followed[slot].at = agent->cell;
    }
}

static void note_trip(fm_detours *detours, fm_cell from, fm_cell to, uint64_t cost)
{
    if (fm_cell_dx(from, to) + fm_cell_dy(from, to) >= TRIP_CELLS_MIN &&
        detours->trip_count < FM_DETOURS_TRIPS) {
        uint32_t trip = detours->trip_count++;
        detours->trips[trip].from = from;
        detours->trips[trip].to = to;
        detours->trips[trip].cost = cost;
    }
}

// The end may come before the step that led to it.
static void on_ended(void *context, const fm_mirror_ended *ended)
{
    fm_detours *detours = context;
    uint32_t slot = (uint32_t)(ended->agent % FM_DETOURS_AGENTS);
    if (detours->followed[slot].agent == ended->agent) {
        uint64_t rest = distance(detours->steps, detours->followed[slot].at, ended->cell);
        note_trip(detours, detours->followed[slot].from, ended->cell,
                  detours->followed[slot].cost + rest);
        detours->followed[slot].from = detours->followed[slot].at = ended->cell;
        detours->followed[slot].cost = 0;
    }
}

static const fm_mirror_ops mirror_ops = {.moved = on_moved, .ended = on_ended};

fm_detours *fm_detours_create(const fm_scenario *scenario)
{
    fm_detours *detours = calloc(1, sizeof *detours);
    if (detours != NULL) {
        fm_mirror_init(&detours->mirror, 0, &mirror_ops, detours);
        detours->steps = scenario->neighbours == 4 ? FM_STEPS_1 : FM_STEPS_10_14;
    }
    return detours;
}

void fm_detours_destroy(fm_detours *detours)
{
    if (detours != NULL) {
        fm_mirror_fini(&detours->mirror);
        free(detours);
    }
}

void fm_detours_take(fm_detours *detours, fm_notification notification,
                     const msgpack_object *params)
{
    detours->failed =
        detours->failed || fm_mirror_apply(&detours->mirror, notification, params) != FM_OK;
}

// 0 when there is no path, or no memory to find it.
static uint64_t shortest(const fm_view *view, fm_cell from, fm_cell to, fm_work *work)
{
    fm_query *query = NULL;
    uint64_t cost = 0;
    if (fm_query_create(view, from, to, UINT64_MAX, &fm_memory_libc, &query) != FM_OK) {
        return 0;
    }
    work->expansions_max = UINT32_MAX;
    work->expansions = 0;
    while (fm_query_advance(query, work) == FM_QUERY_RUNNING) {
    }
    fm_query_answer answer = fm_query_result(query);
    cost = answer.state == FM_QUERY_FOUND ? answer.cost : 0;
    fm_query_destroy(query);
    return cost;
}

double fm_detours_ratio(fm_detours *detours, const fm_ground *ground, const fm_scenario *scenario,
                        uint32_t *trips)
{
    fm_slab slab;
    fm_scratch scratch;
    uint64_t taken = 0, least = 0;
    *trips = 0;
    if (detours->failed || scenario->walls_per_second > 0 || scenario->classes[0] != '\0' ||
        fm_ground_grid(ground)->weighted) {
        return 0;
    }
    for (uint32_t i = 0; i < FM_DETOURS_AGENTS; i++) { // who is still under way
        note_trip(detours, detours->followed[i].from, detours->followed[i].at,
                  detours->followed[i].cost);
    }
    fm_view view = fm_ground_view(ground, scenario);
    fm_slab_init(&slab, &fm_memory_libc);
    fm_scratch_init(&scratch, &fm_memory_libc);
    fm_work work = {.slab = &slab, .scratch = &scratch};
    for (uint32_t i = 0; i < detours->trip_count; i++) {
        uint64_t cost = shortest(&view, detours->trips[i].from, detours->trips[i].to, &work);
        if (cost > 0) {
            least += cost;
            taken += detours->trips[i].cost;
            *trips += 1;
        }
    }
    fm_scratch_fini(&scratch);
    fm_slab_fini(&slab);
    return least == 0 ? 0 : (double)taken / (double)least;
}
