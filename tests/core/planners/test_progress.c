// test_progress.c: searches come to an end under the smallest grants, however much changes
// before.
//
// A planner that searches from scratch may start over whenever a cell changes that its search has
// looked at. Each new start needs a change. So once a map is at rest, a search is over after as
// many units as one search takes, whatever happened before; and while the map changes in every
// tick, there is an answer in every tick whose grant is enough for one search.

#include "tests/support/support.h"

#include "tests/support/fog.h"
#include "tests/support/reference.h"

#define WORLDS       12u
#define STORMY_TICKS 150u

static void change_something(fog *world, const fog_planner *planner)
{
    fm_cell cell = fog_free_cell(world);
    if (fm_random_below(&world->random, 3) == 0) {
        cell = fm_cell_at(fm_random_below(&world->random, world->width),
                          fm_random_below(&world->random, world->height));
    }
    if (cell != planner->starts[0] && cell != planner->goal) {
        fog_toggle(world, cell);
    }
    fog_settle_changes(world);
}

// The most units that one search takes: each cell is expanded a few times, and visited again for
// the nearest cell when there is no path.
static uint32_t units_max(const fog *world)
{
    return 30 * world->width * world->height + 100;
}

static void weather_the_storm(const fm_planner_ops *ops, uint64_t seed)
{
    fog world;
    fog_planner planner;
    fog_init(&world, seed, 10, 30, ops->uniform_only);
    fog_planner_init(&planner, &world, ops, &(fm_planner_options){.lookahead = 0});
    for (uint32_t tick = 0; tick < STORMY_TICKS; tick++) {
        change_something(&world, &planner);
        fog_planner_tell(&planner);
        world.change_count = 0;
        fog_planner_advance(&planner, 1 + tick % 3, 0);
    }
    fm_plan_state state = FM_PLAN_RUNNING;
    uint32_t units = 0;
    fog_planner_tell(&planner);
    while (state == FM_PLAN_RUNNING && units < units_max(&world)) {
        state = fog_planner_advance(&planner, 1, 0);
        units += 1;
    }
    if (state == FM_PLAN_RUNNING) {
        fail_msg("%s, world %llu: still searching after %u units", ops->name,
                 (unsigned long long)seed, units);
    }
    fog_planner_fini(&planner);
    fog_fini(&world);
}

static void test_rest_brings_an_answer(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        for (uint32_t i = 0; i < WORLDS; i++) {
            weather_the_storm(fm_planner_catalogue[p],
                              fm_mix64(fm_mix64(fm_test_seed()) + 1000 * p + i));
        }
    }
}

static void answer_every_tick(const fm_planner_ops *ops, uint64_t seed)
{
    fog world;
    fog_planner planner;
    fog_init(&world, seed, 10, 30, ops->uniform_only);
    fog_planner_init(&planner, &world, ops, &(fm_planner_options){.lookahead = 0});
    for (uint32_t tick = 0; tick < STORMY_TICKS; tick++) {
        change_something(&world, &planner);
        fog_planner_tell(&planner);
        world.change_count = 0;
        fm_plan_state state = fog_planner_advance(&planner, units_max(&world), 0);
        if (state == FM_PLAN_RUNNING) {
            fail_msg("%s, world %llu, tick %u: no answer", ops->name, (unsigned long long)seed,
                     tick);
        }
        fm_cell next = planner.ops->next_step(planner.self, planner.starts[0]);
        if (next != FM_CELL_NONE && next != planner.goal) {
            planner.starts[0] = next;
        }
    }
    fog_planner_fini(&planner);
    fog_fini(&world);
}

static void test_grants_of_one_search_are_enough(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        for (uint32_t i = 0; i < WORLDS / 3; i++) {
            answer_every_tick(fm_planner_catalogue[p],
                              fm_mix64(fm_mix64(fm_test_seed()) + 90000 + 1000 * p + i));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_brings_an_answer),
        cmocka_unit_test(test_grants_of_one_search_are_enough),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
