// test_keep_distance.c: orders that keep an agent away from a target, or from every enemy in sight.
//
// Method: scenes on open ground, in dead ends and pockets, checked tick by tick; and the search for
// a way out on random maps, against breadth-first searches from the dangers and from the unit.

#include "core/generate/generate.h"
#include "core/orders/retreat.h"
#include "core/planners/auto.h"
#include "core/views/view_delta.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

#include <string.h>

static void set_agent(struct order_scene *scene, fm_agent_id agent, uint32_t sight, uint32_t speed)
{
    fm_command_result result = {0};
    fm_world_apply(scene->world,
                   &(fm_command){.kind = FM_COMMAND_SET,
                                 .agents = &agent,
                                 .agent_count = 1,
                                 .set = FM_SET_SIGHT | FM_SET_SPEED,
                                 .sight = (uint8_t)sight,
                                 .speed = speed},
                   &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_command keep_away(fm_agent_id target, uint32_t radius)
{
    return (fm_command){.order = FM_ORDER_KEEP_DISTANCE, .target = target, .radius = radius};
}

// As fm_view_distance() in these worlds, in tenths of a cell.
static uint32_t distance(const struct order_scene *scene, fm_agent_id a, fm_agent_id b)
{
    return fm_view_distance(fm_world_view(scene->world, FM_ALL_TEAMS), scene_look(scene, a).cell,
                            scene_look(scene, b).cell);
}

static uint32_t half_speed(const struct order_scene *scene)
{
    return fm_world_rules_get(scene->world)->tick_millihertz / 2;
}

// ---- open ground --------------------------------------------------------------------------------

// With a target, and without one. The hunter never gets nearer than it was when it was seen too
// near, but for the step that it makes after the unit's.
static void holds_and_retreats(void **state)
{
    (void)state;
    for (uint32_t named = 0; named < 2; named++) {
        struct order_scene scene = scene_make(NULL, 128, 64, true);
        fm_agent_id hunter = scene_spawn(&scene, 2, 10, 30), unit = scene_spawn(&scene, 1, 30, 30);
        set_agent(&scene, unit, 24, 0);
        set_agent(&scene, hunter, 5, half_speed(&scene));
        uint64_t id = scene_order(&scene, unit, keep_away(named ? hunter : (fm_agent_id){0}, 8));
        scene_run(&scene, 5);
        assert_int_equal(scene_look(&scene, unit).moves, 0); // far enough
        assert_int_equal(scene_look(&scene, unit).state, FM_AGENT_HOLDING);
        scene_move_to(&scene, hunter, 80, 30, false);
        for (uint32_t tick = 0; tick < 145; tick++) {
            scene_run(&scene, 1);
            assert_true(distance(&scene, unit, hunter) >= 70);
        }
        uint64_t moves = scene_look(&scene, unit).moves;
        assert_true(moves > 20 && moves < 80); // it goes no farther than it has to
        assert_true(distance(&scene, unit, hunter) < 100);
        scene_run(&scene, 20);
        assert_true(scene_look(&scene, unit).moves <= moves + 1);
        assert_int_equal(scene_look(&scene, unit).state, FM_AGENT_HOLDING);
        assert_int_equal(scene.ended_count, 1); // the hunter's move
        scene_remove(&scene, hunter);
        scene_run(&scene, 2);
        assert_int_equal(scene.ended_count, 1 + named);
        if (named) {
            assert_int_equal(scene_ending(&scene, id).reason, FM_END_TARGET_DIED);
        }
        fm_world_destroy(scene.world);
    }
}

// From between two enemies it goes to where both are far.
static void keeps_away_from_all_that_it_sees(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 64, true);
    fm_agent_id unit = scene_spawn(&scene, 1, 30, 30);
    fm_agent_id west = scene_spawn(&scene, 2, 27, 30), east = scene_spawn(&scene, 2, 33, 30);
    set_agent(&scene, unit, 16, 0);
    scene_order(&scene, unit, keep_away((fm_agent_id){0}, 7));
    scene_run(&scene, 40);
    assert_true(distance(&scene, unit, west) >= 70 && distance(&scene, unit, east) >= 70);
    fm_world_destroy(scene.world);
}

static void once_ends_when_far_enough(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 64, true);
    fm_agent_id unit = scene_spawn(&scene, 1, 30, 30), enemy = scene_spawn(&scene, 2, 32, 30);
    fm_command command = keep_away(enemy, 5);
    command.once = true;
    uint64_t id = scene_order(&scene, unit, command);
    uint64_t next = scene_move_to(&scene, unit, 30, 60, true);
    scene_run(&scene, 10);
    assert_int_equal(scene_ending(&scene, id).reason, FM_END_ARRIVED);
    scene_run(&scene, 60);
    assert_int_equal(scene_ending(&scene, next).reason, FM_END_ARRIVED);
    fm_world_destroy(scene.world);
}

// ---- what the team knows ------------------------------------------------------------------------

// The enemy is lost from sight while the unit goes away from it. It goes on until it is far from
// where the enemy was seen last.
static void a_lost_target_ends_it_when_far(void **state)
{
    (void)state;
    for (uint32_t named = 0; named < 2; named++) {
        struct order_scene scene = scene_make(NULL, 64, 32, false);
        fm_agent_id unit = scene_spawn(&scene, 1, 30, 16), enemy = scene_spawn(&scene, 2, 25, 16);
        uint64_t id = scene_order(&scene, unit, keep_away(named ? enemy : (fm_agent_id){0}, 9));
        scene_run(&scene, 1);
        fm_cell last_seen = scene_look(&scene, enemy).cell;
        scene_run(&scene, 12);
        assert_true(cells_apart(scene_look(&scene, unit).cell, last_seen) >= 7);
        assert_true(distance(&scene, unit, enemy) >= 90);
        assert_int_equal(scene.ended_count, named);
        if (named) {
            assert_int_equal(scene_ending(&scene, id).reason, FM_END_TARGET_LOST);
        }
        fm_world_destroy(scene.world);
    }
}

static void an_unseen_target_is_refused(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 32, false);
    fm_agent_id unit = scene_spawn(&scene, 1, 30, 16), enemy = scene_spawn(&scene, 2, 50, 16);
    fm_command command = keep_away(enemy, 5);
    command.agents = &unit;
    command.agent_count = 1;
    assert_int_equal(scene_give(&scene, command).status, FM_ERR_NO_TARGET);
    command.target = unit; // of its own team
    command.radius = FM_ORDER_RADIUS_MAX + 1;
    assert_int_equal(scene_give(&scene, command).status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

// ---- ways out -----------------------------------------------------------------------------------

// The unit stands where a dead end begins. Straight away from the hunter is the dead end; the way
// out leads round a corner. To flee (which looks at distances alone) goes into the dead end.
static const char *const dead_end[] = {
    "##################################", //
    "#................................#", //
    "#................................#", //
    "#................................#", //
    "##############.###################", //
    "##############.###################", //
    "##############.###################", //
    "#........................#########", //
    "##################################", //
};

static void a_dead_end_is_avoided(void **state)
{
    (void)state;
    for (uint32_t flees = 0; flees < 2; flees++) {
        struct order_scene scene = scene_make(dead_end, 34, 9, true);
        fm_agent_id hunter = scene_spawn(&scene, 2, 7, 7), unit = scene_spawn(&scene, 1, 13, 7);
        set_agent(&scene, unit, 16, 0);
        set_agent(&scene, hunter, 16, 0);
        scene_order(&scene, unit,
                    flees ? (fm_command){.order = FM_ORDER_FLEE,
                                         .radius = 8,
                                         .on_unreachable = FM_UNREACHABLE_WAIT}
                          : keep_away(hunter, 8));
        scene_order(&scene, hunter,
                    (fm_command){.order = FM_ORDER_FOLLOW, .target = unit, .radius = 1});
        uint32_t least = UINT32_MAX;
        for (uint32_t tick = 0; tick < 22; tick++) {
            scene_run(&scene, 1);
            uint32_t now = distance(&scene, unit, hunter);
            least = now < least ? now : least;
        }
        assert_true(flees ? least <= 10 : least >= 20);
        fm_world_destroy(scene.world);
    }
}

// The hunter stands still in front of a pocket too small to be far from it. There is a way out that
// comes nearer to it first.
static const char *const pocket[] = {
    "####################", //
    "#..................#", //
    "#..................#", //
    "#..................#", //
    "#..................#", //
    "#..................#", //
    "#.......############", //
    "#.......############", //
    "#.......############", //
    "####################", //
};

static void goes_past_one_that_stands_still(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(pocket, 20, 10, true);
    fm_agent_id hunter = scene_spawn(&scene, 2, 6, 5), unit = scene_spawn(&scene, 1, 1, 8);
    set_agent(&scene, unit, 20, 0);
    scene_order(&scene, unit, keep_away(hunter, 9));
    uint32_t least = UINT32_MAX;
    for (uint32_t tick = 0; tick < 40; tick++) {
        scene_run(&scene, 1);
        uint32_t now = distance(&scene, unit, hunter);
        least = now < least ? now : least;
    }
    assert_true(distance(&scene, unit, hunter) >= 90);
    assert_true(least >= 20);
    assert_int_equal(scene_look(&scene, unit).state, FM_AGENT_HOLDING);
    fm_world_destroy(scene.world);
}

static void cornered_ones_stay_unless_told_to_fail(void **state)
{
    (void)state;
    static const char *const rows[] = {"########", "#......#", "########"};
    for (uint32_t rule = 0; rule < 3; rule++) {
        struct order_scene scene = scene_make(rows, 8, 3, true);
        fm_agent_id unit = scene_spawn(&scene, 1, 3, 1), enemy = scene_spawn(&scene, 2, 6, 1);
        fm_command command = keep_away(enemy, 6);
        command.on_unreachable = (fm_on_unreachable)rule;
        uint64_t id = scene_order(&scene, unit, command);
        scene_run(&scene, 12);
        assert_int_equal(scene_look(&scene, unit).cell, fm_cell_at(1, 1));
        if (rule == FM_UNREACHABLE_FAIL) {
            assert_int_equal(scene_ending(&scene, id).reason, FM_END_UNREACHABLE);
        } else {
            assert_int_equal(scene.ended_count, 0);
            assert_int_equal(scene_look(&scene, unit).state, FM_AGENT_HOLDING);
        }
        fm_world_destroy(scene.world);
    }
}

// Where a cell holds one unit: a group in a corridor backs away without passing through each other,
// and nobody is caught.
static void a_group_backs_away(void **state)
{
    (void)state;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(80, 7, &fm_memory_libc, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = &fm_auto;
    rules.omniscient = true;
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    struct order_scene scene = {.budget = SCENE_BUDGET};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    }
    fm_agent_id hunter = scene_spawn(&scene, 2, 2, 3), units[12];
    set_agent(&scene, hunter, 5, half_speed(&scene));
    for (uint32_t i = 0; i < 12; i++) {
        units[i] = scene_spawn(&scene, 1, 10 + i % 3, 1 + i / 3);
        set_agent(&scene, units[i], 12, 0);
    }
    fm_command command = keep_away((fm_agent_id){0}, 7);
    command.agents = units;
    command.agent_count = 12;
    assert_int_equal(scene_give(&scene, command).status, FM_OK);
    scene_move_to(&scene, hunter, 55, 3, false);
    for (uint32_t tick = 0; tick < 120; tick++) {
        scene_run(&scene, 1);
        for (uint32_t i = 0; i < 12; i++) {
            assert_true(distance(&scene, units[i], hunter) >= 30);
        }
    }
    fm_world_destroy(scene.world);
}

// ---- the search ---------------------------------------------------------------------------------

#define SIDE       63u // of the arrays, and of the larger maps
#define SMALL_SIDE 21u // here all ways end within the search's reach

// Steps from the nearest of some cells to each cell, by y * SIDE + x; UINT32_MAX: no way. With
// `before`, only over cells that are nearer than that.
static void measure(const fm_view *view, const fm_cell *from, uint32_t count,
                    const uint32_t *before, uint32_t *steps)
{
    static fm_cell queue[SIDE * SIDE];
    uint32_t head = 0, tail = 0;
    memset(steps, 0xff, SIDE * SIDE * sizeof *steps);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *at = &steps[fm_cell_y(from[i]) * SIDE + fm_cell_x(from[i])];
        if (*at != 0) {
            *at = 0;
            queue[tail++] = from[i];
        }
    }
    while (head < tail) {
        fm_cell cell = queue[head++];
        uint32_t moves = fm_view_moves(view, cell);
        uint32_t next_steps = steps[fm_cell_y(cell) * SIDE + fm_cell_x(cell)] + 1;
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            if (!(moves >> d & 1)) {
                continue;
            }
            fm_cell next = fm_cell_step(cell, d);
            uint32_t at = fm_cell_y(next) * SIDE + fm_cell_x(next);
            if (steps[at] == UINT32_MAX && (before == NULL || next_steps < before[at])) {
                steps[at] = next_steps;
                queue[tail++] = next;
            }
        }
    }
}

static fm_cell random_free_cell(const fm_view *view, fm_random *random)
{
    for (;;) {
        fm_cell cell =
            fm_cell_at(fm_random_below(random, view->width), fm_random_below(random, view->height));
        if (!fm_view_is_blocked(view, cell)) {
            return cell;
        }
    }
}

// From the cell that was found on, a way within the cover must lead to a cell that dangers come to
// last (`last` steps) or, if the unit might pass them by, to one that is far enough.
static void check_way(const fm_view *view, const uint32_t *theirs, uint32_t last, fm_cell found,
                      uint32_t steps, const fm_retreat *retreat, bool may_pass)
{
    static uint32_t shifted[SIDE * SIDE], rest[SIDE * SIDE];
    bool leads = false;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        shifted[i] = theirs[i] > steps && theirs[i] != UINT32_MAX ? theirs[i] - steps
                     : theirs[i] == UINT32_MAX                    ? UINT32_MAX
                                                                  : 0;
    }
    measure(view, &found, 1, shifted, rest);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        leads |= rest[i] != UINT32_MAX && theirs[i] == last;
    }
    if (!leads && may_pass) {
        measure(view, &found, 1, NULL, rest);
        for (uint32_t i = 0; i < SIDE * SIDE; i++) {
            leads |=
                rest[i] != UINT32_MAX &&
                fm_retreat_distance(retreat, fm_cell_at(i % SIDE, i / SIDE)) >= retreat->enough;
        }
    }
    assert_true(leads);
}

struct ends {
    uint32_t leads_on, last, past, nowhere;
};

// Where the unit's whole cover lies within the search's reach, following what it finds must lead to
// a cell that dangers come to last, or to one that is far enough from them where they stand.
static void check_search(const fm_view *view, fm_random *random, fm_retreat *retreat,
                         struct ends *ends)
{
    static uint32_t theirs[SIDE * SIDE], cover[SIDE * SIDE];
    fm_cell dangers[3], from = random_free_cell(view, random), found;
    retreat->dangers = dangers;
    retreat->danger_count = 1 + fm_random_below(random, 3);
    retreat->enough = (4 + fm_random_below(random, 8)) * view->step[0];
    for (uint32_t i = 0; i < retreat->danger_count; i++) {
        do {
            dangers[i] = random_free_cell(view, random);
        } while (dangers[i] == from || cells_apart(dangers[i], from) > 12);
    }
    // Nobody asks where it is far enough.
    uint32_t here = fm_retreat_distance(retreat, from);
    retreat->enough = here < retreat->enough ? retreat->enough : here + 1;
    uint32_t used = 0;
    assert_int_equal(fm_retreat_search(retreat, from, &used, &found, &fm_memory_libc), FM_OK);
    assert_true(used > 0 && used <= FM_RETREAT_CELLS_MAX);
    assert_true(found != from);
    measure(view, dangers, retreat->danger_count, NULL, theirs);
    measure(view, &from, 1, theirs, cover);
    uint32_t last = 0, far = 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        if (cover[i] != UINT32_MAX) {
            fm_cell cell = fm_cell_at(i % SIDE, i / SIDE);
            last = theirs[i] > last ? theirs[i] : last;
            far += fm_retreat_distance(retreat, cell) >= retreat->enough;
        }
    }
    fm_cell best = found == FM_CELL_NONE ? from : found;
    uint32_t at = fm_cell_y(best) * SIDE + fm_cell_x(best);
    if (view->width == SIDE) {
        ends->leads_on += 1;
    } else if (cover[at] == UINT32_MAX) {
        assert_int_equal(far, 0); // past dangers that stay, as nowhere else is far enough
        ends->past += 1;
    } else if (found == FM_CELL_NONE) {
        assert_int_equal(theirs[at], last);
        ends->nowhere += 1;
    } else {
        check_way(view, theirs, last, found, cover[at], retreat, far == 0);
        ends->last += 1;
    }
}

static void the_search_finds_the_last_cell(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct ends ends = {0};
    for (uint32_t i = 0; i < 60; i++) {
        fm_generator generator = i % 3 == 0 ? FM_GENERATOR_MAZE : FM_GENERATOR_RANDOM;
        uint32_t side = i % 4 == 0 ? SIDE : SMALL_SIDE;
        struct order_scene scene = scene_make_fog(&random, generator, side, false);
        const fm_view *view = fm_world_view(scene.world, FM_ALL_TEAMS);
        fm_wave own = {0}, threat = {0};
        fm_retreat retreat = {
            .view = view, .cells_max = FM_RETREAT_CELLS, .own = &own, .threat = &threat};
        for (uint32_t j = 0; j < 40; j++) {
            check_search(view, &random, &retreat, &ends);
        }
        fm_wave_fini(&own, &fm_memory_libc);
        fm_wave_fini(&threat, &fm_memory_libc);
        fm_world_destroy(scene.world);
    }
    print_message("leads on %u, last %u, past %u, nowhere %u\n", ends.leads_on, ends.last,
                  ends.past, ends.nowhere);
    // Each case came up.
    assert_true(ends.leads_on > 20 && ends.last > 20 && ends.past > 3 && ends.nowhere > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_and_retreats),
        cmocka_unit_test(keeps_away_from_all_that_it_sees),
        cmocka_unit_test(once_ends_when_far_enough),
        cmocka_unit_test(a_lost_target_ends_it_when_far),
        cmocka_unit_test(an_unseen_target_is_refused),
        cmocka_unit_test(a_dead_end_is_avoided),
        cmocka_unit_test(goes_past_one_that_stands_still),
        cmocka_unit_test(cornered_ones_stay_unless_told_to_fail),
        cmocka_unit_test(a_group_backs_away),
        cmocka_unit_test(the_search_finds_the_last_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
