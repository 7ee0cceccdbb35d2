// core/crowd/test_lanes.c: passages (core/crowd/passage.h), and the lanes that two streams get in
// them (core/crowd/lanes.h).
//
// Method: passages drawn as rows of letters; two crowds change sides over a bridge. The checks of
// crowd.h after every tick.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/lanes.h"
#include "core/saves/settle.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"

static crowd stage;

#define EACH      60u // units on either side
#define BANK      12u // cells before a bridge
#define ACROSS    13u // cells along a bank
#define LENGTH    14u
#define TICKS_MAX 400u

#define HEIGHT 9u

static const char *const rows[HEIGHT] = {
    "..........@...@....", //
    "..@@@@@@..@...@....", //
    "..............@....", //
    "..........@...@....", //
    "..@@@@@@..@@@.@@@@@", //
    "..............@....", //
    "..@@@@@@..@@@.@....", //
    "...................", //
    "..@@@@@@...........", //
};

static const fm_view *begin_rows(void)
{
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, rows, HEIGHT);
    return fm_world_truth(stage.world, 0);
}

static void passages_are_found(void **state)
{
    (void)state;
    const fm_view *view = begin_rows();
    fm_passage passage;
    assert_true(fm_passage_find(view, fm_cell_at(4, 3), &passage));
    assert_int_equal(passage.origin, fm_cell_at(2, 2));
    assert_int_equal(passage.length, 6);
    assert_int_equal(passage.width, 2);
    assert_false(passage.is_vertical);
    assert_true(fm_passage_find(view, fm_cell_at(7, 2), &passage));
    assert_int_equal(passage.origin, fm_cell_at(2, 2));
    assert_false(fm_passage_find(view, fm_cell_at(4, 5), &passage));  // one cell wide
    assert_false(fm_passage_find(view, fm_cell_at(11, 0), &passage)); // a dead end
    assert_false(fm_passage_find(view, fm_cell_at(1, 2), &passage));  // no wall beside it
    assert_false(fm_passage_find(view, fm_cell_at(18, 2), &passage)); // nothing leads out of it
    crowd_fini(&stage);
}

static void lanes_lead_through(void **state)
{
    (void)state;
    const fm_view *view = begin_rows();
    fm_passage passage;
    assert_true(fm_passage_find(view, fm_cell_at(4, 3), &passage));
    uint16_t *distances = malloc(fm_passage_bytes(&passage));
    assert_non_null(distances);
    passage.distances = distances;
    fm_passage_measure(&passage, view);
    // To the east on the southern lane, to the west on the northern one.
    for (uint32_t x = 2; x < 8; x++) {
        assert_int_equal(fm_passage_distance(&passage, 0, fm_cell_at(x, 3)), 10 * (9 - x));
        assert_int_equal(fm_passage_distance(&passage, 1, fm_cell_at(x, 2)), 10 * x);
        assert_true(fm_passage_is_closed(&passage, 0, fm_cell_at(x, 2)));
        assert_false(fm_passage_is_closed(&passage, 0, fm_cell_at(x, 3)));
        assert_true(fm_passage_is_closed(&passage, 1, fm_cell_at(x, 3)));
    }
    // From before the wrong lane past it.
    assert_int_equal(fm_passage_distance(&passage, 0, fm_cell_at(1, 2)), 84);
    assert_int_equal(fm_passage_distance(&passage, 0, fm_cell_at(0, 0)),
                     FM_PASSAGE_WRONG + 108); // over the way of the others
    assert_true(fm_passage_is_closed(&passage, 0, fm_cell_at(1, 2)));
    assert_false(fm_passage_is_closed(&passage, 0, fm_cell_at(0, 2)));
    assert_false(fm_passage_is_closed(&passage, 0, fm_cell_at(8, 2)));
    free(distances);
    crowd_fini(&stage);
}

// Two crowds and a bridge between them, from west to east or from north to south. Returns the team.
static uint32_t begin_bridge(uint32_t width, bool is_vertical)
{
    uint32_t along = 2 * BANK + LENGTH, first = (ACROSS - width) / 2;
    fm_world_rules rules = crowd_rules();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(is_vertical ? ACROSS : along, is_vertical ? along : ACROSS,
                                    &fm_memory_libc, &grid),
                     FM_OK);
    for (uint32_t i = 0; i < LENGTH * ACROSS; i++) {
        uint32_t a = BANK + i / ACROSS, b = i % ACROSS;
        if (b < first || b >= first + width) {
            fm_grid_set(grid, is_vertical ? fm_cell_at(b, a) : fm_cell_at(a, b), FM_TERRAIN_WATER,
                        FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        uint32_t a = i / 2 / ACROSS, b = i / 2 % ACROSS;
        uint32_t near = BANK - 1 - a, far = along - BANK + a;
        fm_cell ends[2] = {is_vertical ? fm_cell_at(b, near) : fm_cell_at(near, b),
                           is_vertical ? fm_cell_at(b, far) : fm_cell_at(far, b)};
        uint32_t unit = crowd_spawn_at(&stage, team, ends[i % 2]);
        crowd_order(&stage, unit, ends[1 - i % 2], FM_UNREACHABLE_FAIL);
    }
    return team;
}

static bool are_open(uint32_t team)
{
    const struct fm_team *own = fm_team_of(stage.world, team);
    return own->lane_count == 1 && own->lanes[0].is_open;
}

// Runs until the lanes are open.
static void run_until_open(uint32_t team)
{
    for (uint32_t tick = 0; tick < TICKS_MAX && !are_open(team); tick++) {
        crowd_tick(&stage, NULL);
    }
    assert_true(are_open(team));
}

// Without lanes it takes 126 and 124 ticks.
static void streams_pass_each_other(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t team = begin_bridge(2, i != 0);
        run_until_open(team);
        uint32_t ticks = (uint32_t)fm_world_tick(stage.world);
        ticks += crowd_run(&stage, 2 * EACH, TICKS_MAX);
        print_message("%u units each way over 2 x %u cells: %u ticks, at least %u\n", EACH, LENGTH,
                      ticks, EACH + LENGTH);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        assert_true(ticks <= 110);
        for (uint32_t tick = 0; tick < 80; tick++) {
            crowd_tick(&stage, NULL);
        }
        assert_int_equal(fm_team_of(stage.world, team)->lane_count, 0); // nobody passes any more
        crowd_fini(&stage);
    }
}

// Any number of workers decides alike.
static void workers_keep_to_lanes(void **state)
{
    (void)state;
    static uint64_t digests[TICKS_MAX];
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
        begin_bridge(3, false);
        fm_workers *workers;
        assert_int_equal(fm_workers_create(worker_counts[i], &workers), FM_OK);
        for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < 2 * EACH; tick++) {
            crowd_tick(&stage, workers);
            uint64_t digest = fm_world_digest(stage.world);
            assert_true(i == 0 || digest == digests[tick]);
            digests[tick] = digest;
        }
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        fm_workers_destroy(workers);
        crowd_fini(&stage);
    }
}

// Settling ends lanes: a world that goes on and one that was loaded from its file decide alike.
static void a_saved_world_has_no_lanes(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(2, false);
    run_until_open(team);
    fm_world_settle(stage.world);
    assert_int_equal(fm_team_of(stage.world, team)->lane_count, 0);
    fm_world *copy = crowd_copy(&stage);
    uint32_t open_ticks = 0;
    for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < 2 * EACH; tick++) {
        fm_tick_report report;
        crowd_tick(&stage, NULL);
        fm_tick_run(copy, NULL, 1u << 30, NULL, &report);
        assert_int_equal(fm_world_digest(stage.world), report.record.digest);
        open_ticks += are_open(team);
    }
    assert_true(open_ticks > 0); // they are found again
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

// A bridge gets narrower while units are on it.
static void lanes_end_with_the_passage(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(3, false);
    run_until_open(team);
    fm_cell walls[LENGTH];
    uint32_t count = 0;
    for (uint32_t tick = 0; tick < TICKS_MAX && count == 0; tick++) {
        crowd_tick(&stage, NULL);
        fm_cell cell = fm_cell_at(BANK + LENGTH / 2, (ACROSS - 3) / 2);
        if (stage.holders[cell] == 0) {
            walls[count++] = cell;
        }
    }
    assert_int_equal(count, 1);
    fm_command edit = {.kind = FM_COMMAND_TERRAIN,
                       .cells = walls,
                       .cell_count = count,
                       .terrain = FM_TERRAIN_WATER,
                       .cost = FM_COST_FLOOR};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &edit, &result);
    assert_int_equal(result.status, FM_OK);
    uint32_t ticks = 0;
    while (fm_team_of(stage.world, team)->lane_count > 0 &&
           fm_team_of(stage.world, team)->lanes[0].passage.length == LENGTH) {
        crowd_tick(&stage, NULL);
        assert_true(ticks++ < 40);
    }
    crowd_run(&stage, 2 * EACH, 2 * TICKS_MAX);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passages_are_found),         cmocka_unit_test(lanes_lead_through),
        cmocka_unit_test(streams_pass_each_other),    cmocka_unit_test(workers_keep_to_lanes),
        cmocka_unit_test(a_saved_world_has_no_lanes), cmocka_unit_test(lanes_end_with_the_passage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
