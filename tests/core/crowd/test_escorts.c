// core/crowd/test_escorts.c: a large unit that a press holds gets out (core/crowd/escort.h).
//
// Method: a large unit at the closed end of a pass, and many small ones that want past it; without
// an escort nobody arrives. The checks of crowd.h after every tick.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/escort.h"
#include "core/crowd/pibt.h"
#include "core/crowd/turns.h"
#include "core/saves/settle.h"
#include "core/world/agent.h"
#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_state.h"

static crowd stage;

#define PRESS_WIDTH  14u
#define PRESS_SMALL  42u
#define PRESS_TICKS  1000u
#define WALKERS      600u
#define WALKER_SPACE 8u

static const char *const press_rows[] = {"..............", //
                                         "..............", //
                                         "..............", //
                                         "..............", //
                                         "..............", //
                                         "@@@@@...@@@@@@", //
                                         "@@@@@...@@@@@@", //
                                         "@@@@@...@@@@@@", //
                                         "@@@@@...@@@@@@", //
                                         "@@@@@...@@@@@@", //
                                         "@@@@@@.@@@@@@@", //
                                         "..............", //
                                         "..............", //
                                         "..............", //
                                         ".............."};
#define PRESS_HEIGHT FM_COUNT_OF(press_rows)

// A map that is all wall but for the press, whose left end, where its rows begin, is at `left`.
// They are written from their `begin` on and go round.
static fm_grid *press_grid(uint32_t width, uint32_t left, uint32_t begin)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, PRESS_HEIGHT, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < width * PRESS_HEIGHT; i++) {
        uint32_t x = i % width, y = i / width;
        bool is_free = x >= left && x < left + PRESS_WIDTH &&
                       press_rows[y][(x - left + begin) % PRESS_WIDTH] == '.';
        if (!is_free) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    return grid;
}

// The large one last: of units as old as each other those before it have priority.
static void spawn_press(uint32_t team, uint32_t left, uint32_t size, uint32_t large_x,
                        uint32_t large_to)
{
    for (uint32_t i = 0; i < PRESS_SMALL; i++) {
        uint32_t x = i % PRESS_WIDTH, y = i / PRESS_WIDTH;
        crowd_spawn_to(&stage, team, 1, left + x, 4 - y, left + PRESS_WIDTH - 1 - x, 11 + y);
    }
    crowd_spawn_to(&stage, team, size, large_x, 6, large_to, 0);
}

static const fm_mover *mover_of(uint32_t unit)
{
    return &fm_world_edit_crowd(stage.world)->movers[stage.units[unit].index1 - 1];
}

// Rows of small units that go to and fro, far enough from each other not to meet: those of
// different islands (islands.h) are decided on several workers.
static void spawn_walkers(uint32_t team, uint32_t left, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_cell from = fm_cell_at(left + i / 2 * WALKER_SPACE, i % 2 == 0 ? 3 : 11);
        fm_cell to = from + fm_cell_at(3, 0);
        uint32_t unit = crowd_spawn_at(&stage, team, from);
        fm_command command = {.kind = FM_COMMAND_ORDER,
                              .agents = &stage.units[unit],
                              .agent_count = 1,
                              .cells = &to,
                              .cell_count = 1,
                              .order = FM_ORDER_PATROL};
        fm_command_result result = {0};
        fm_world_apply(stage.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
    }
}

// A large unit stands in a corridor that is too narrow for it at its other end, and all others, in
// the room before it, want through it. Nobody gets anywhere before they have let it out. Without an
// escort (escort.h) nobody has arrived after 2,000 ticks. Others walk about, so many that the
// decisions are divided among workers: any number of these decides alike.
static void press_out(uint32_t worker_count)
{
    static uint64_t digests[PRESS_TICKS];
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid = press_grid(PRESS_WIDTH + 1 + WALKERS / 2 * WALKER_SPACE, 0, 0);
    for (uint32_t y = 0; y < PRESS_HEIGHT; y++) {
        for (uint32_t x = PRESS_WIDTH + 1; x < grid->width; x++) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_GROUND, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), divided_ticks = 0;
    spawn_press(team, 0, 3, 5, 0);
    spawn_walkers(team, PRESS_WIDTH + 1, WALKERS);
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    for (uint32_t tick = 0; tick < PRESS_TICKS && stage.ended_count < 1 + PRESS_SMALL; tick++) {
        crowd_tick(&stage, workers);
        uint64_t digest = fm_world_digest(stage.world);
        assert_true(worker_count == 1 || digest == digests[tick]);
        digests[tick] = digest;
        bool is_divided = fm_world_edit_crowd(stage.world)->turn_parts[0].end < WALKERS / 2;
        divided_ticks += is_divided && fm_team_of(stage.world, team)->escort_count > 0;
    }
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1 + PRESS_SMALL);
    assert_true(worker_count == 1 || divided_ticks > 0);
    fm_workers_destroy(workers);
    crowd_fini(&stage);
}

static void a_press_lets_a_large_unit_out(void **state)
{
    (void)state;
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
        press_out(worker_counts[i]);
    }
}

// The large unit stands at the east end of the widest map. Units at the west end have nothing to do
// with that.
static void an_escort_ends_with_the_map(void **state)
{
    (void)state;
    enum {
        WEST = 4
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid = press_grid(FM_SIDE_MAX, FM_SIDE_MAX - PRESS_WIDTH, 8);
    for (uint32_t i = 0; i < WEST * PRESS_HEIGHT; i++) {
        fm_grid_set(grid, fm_cell_at(i % WEST, i / WEST), FM_TERRAIN_GROUND, FM_COST_FLOOR);
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), escorted_ticks = 0;
    spawn_press(team, FM_SIDE_MAX - PRESS_WIDTH, 3, FM_SIDE_MAX - 3, FM_SIDE_MAX - PRESS_WIDTH);
    for (uint32_t i = 0; i < WEST * PRESS_HEIGHT; i++) {
        crowd_spawn_at(&stage, team, fm_cell_at(i % WEST, i / WEST));
    }
    for (uint32_t tick = 0; tick < PRESS_TICKS && stage.ended_count < 1 + PRESS_SMALL; tick++) {
        crowd_tick(&stage, NULL);
        escorted_ticks += mover_of(PRESS_SMALL)->escorted &&
                          crowd_cell(&stage, PRESS_SMALL) == fm_cell_at(FM_SIDE_MAX - 3, 6);
        for (uint32_t i = 1 + PRESS_SMALL; i < stage.unit_count; i++) {
            assert_false(mover_of(i)->escorted);
        }
    }
    assert_true(escorted_ticks > 0);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1 + PRESS_SMALL);
    crowd_fini(&stage);
}

// Settling ends an escort: a world that goes on and one that was loaded from its file decide alike.
static void a_saved_world_has_no_escort(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init(&stage, &rules, press_grid(PRESS_WIDTH, 0, 0));
    uint32_t team = crowd_team(&stage);
    spawn_press(team, 0, 3, 5, 0);
    const struct fm_team *own = fm_team_of(stage.world, team);
    for (uint32_t tick = 0; tick < PRESS_TICKS && own->escort_count == 0; tick++) {
        crowd_tick(&stage, NULL);
    }
    assert_int_equal(own->escort_count, 1);
    assert_int_equal(stage.world->counts.escorts, 1);
    fm_world_settle(stage.world);
    assert_int_equal(own->escort_count, 0);
    assert_int_equal(stage.world->counts.escorts, 0);
    assert_int_equal(stage.world->counts.escorts_ended[FM_ESCORT_DROPPED], 1);
    fm_world *copy = crowd_copy(&stage);
    uint32_t escorted_ticks = 0;
    for (uint32_t tick = 0; tick < 2 * PRESS_TICKS && stage.ended_count < stage.unit_count;
         tick++) {
        crowd_tick_both(&stage, copy);
        escorted_ticks += own->escort_count > 0;
        assert_int_equal(own->escort_count, fm_team_of(copy, team)->escort_count);
    }
    assert_true(escorted_ticks > 0); // it gets another one
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

static bool is_refused;

static void *allocate(void *context, size_t size)
{
    return is_refused ? NULL : fm_memory_libc.allocate(context, size);
}

// Without memory there is no escort; when there is some again, the unit gets it.
static void an_escort_waits_for_memory(void **state)
{
    (void)state;
    enum {
        REFUSED_TICKS = 64
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init(&stage, &rules, press_grid(PRESS_WIDTH, 0, 0));
    uint32_t team = crowd_team(&stage), refused_ticks = 0, escorted_ticks = 0;
    spawn_press(team, 0, 3, 5, 0);
    const struct fm_team *own = fm_team_of(stage.world, team);
    stage.world->memory.allocate = allocate;
    for (uint32_t tick = 0; tick < PRESS_TICKS && stage.ended_count < stage.unit_count; tick++) {
        is_refused = own->escorts_wanted > 0 && refused_ticks < REFUSED_TICKS;
        refused_ticks += is_refused;
        crowd_tick(&stage, NULL);
        assert_true(own->escort_count == 0 || !is_refused);
        escorted_ticks += own->escort_count > 0;
    }
    is_refused = false;
    assert_int_equal(refused_ticks, REFUSED_TICKS);
    assert_true(escorted_ticks > 0);
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
    crowd_fini(&stage);
}

static bool is_near(fm_cell a, fm_cell b, uint32_t cells)
{
    return fm_cell_dx(a, b) <= cells && fm_cell_dy(a, b) <= cells;
}

// The large unit wants far away. When it is out of the press nobody stands for it any more, but it
// still decides first, until it is so far away that nothing pushes it back.
static void who_is_out_goes_on_first(void **state)
{
    (void)state;
    enum {
        EAST = 30,
        OUT = 5,
        REACH = 4
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid = press_grid(PRESS_WIDTH + EAST, 0, 0);
    for (uint32_t i = 0; i < EAST * 5; i++) {
        fm_cell cell = fm_cell_at(PRESS_WIDTH + i % EAST, i / EAST);
        fm_grid_set(grid, cell, FM_TERRAIN_GROUND, FM_COST_FLOOR);
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), ticks_out = 0;
    spawn_press(team, 0, 3, 5, PRESS_WIDTH + EAST - 3);
    fm_cell begun_at = FM_CELL_NONE;
    for (uint32_t tick = 0; tick < PRESS_TICKS && stage.ended_count < stage.unit_count; tick++) {
        fm_cell cell = crowd_cell(&stage, PRESS_SMALL);
        crowd_tick(&stage, NULL);
        const fm_mover *large = mover_of(PRESS_SMALL);
        bool is_first = large->escorted && large->age == UINT16_MAX; // others may have one later
        begun_at = begun_at == FM_CELL_NONE && is_first ? cell : begun_at;
        bool is_out = is_first && !is_near(cell, begun_at, OUT);
        ticks_out += is_out;
        for (uint32_t i = 0; is_out && i < PRESS_SMALL; i++) {
            assert_false(mover_of(i)->escorted && is_near(mover_of(i)->cell, cell, REACH));
        }
    }
    assert_true(ticks_out >= 4);
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
    crowd_fini(&stage);
}

// In several presses units have been held for as long. All get their escorts soon, the largest
// first. One that nothing has helped for longer comes before these, whatever its size.
static void many_get_escorts_soon(void **state)
{
    (void)state;
    enum {
        PRESSES = 6,
        APART = PRESS_WIDTH + 1,
        SMALLER = PRESSES - 1, // its size is 2
        PERIOD = 2,
        BEFORE = 264, // the tick in which they are looked at,
        LONGER = 160  // ticks
    };
    for (uint32_t waits_longer = 0; waits_longer < 2; waits_longer++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid = press_grid(PRESSES * APART, 0, 0);
        for (uint32_t i = 0; i < PRESSES * APART * PRESS_HEIGHT; i++) {
            uint32_t x = i % (PRESSES * APART), y = i / (PRESSES * APART);
            if (x % APART < PRESS_WIDTH && press_rows[y][x % APART] == '.') {
                fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_GROUND, FM_COST_FLOOR);
            }
        }
        for (uint32_t y = 5; y < 10; y++) {
            fm_grid_set(grid, fm_cell_at(SMALLER * APART + 5, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage), begun[PRESSES] = {0}, first = 0, last = 0;
        for (uint32_t i = 0; i < PRESSES; i++) {
            bool is_smaller = i == SMALLER;
            spawn_press(team, i * APART, is_smaller ? 2 : 3, i * APART + 5 + is_smaller, i * APART);
        }
        struct fm_agent *smaller =
            fm_world_find(stage.world, stage.units[(SMALLER + 1) * (PRESS_SMALL + 1) - 1]);
        for (uint32_t tick = 1; tick < PRESS_TICKS && last == 0; tick++) {
            crowd_tick(&stage, NULL);
            smaller->rest_ticks += waits_longer && tick == BEFORE ? LONGER : 0;
            uint32_t count = 0;
            for (uint32_t i = 0; i < PRESSES; i++) {
                uint32_t unit = (i + 1) * (PRESS_SMALL + 1) - 1;
                begun[i] = begun[i] == 0 && mover_of(unit)->escorted ? tick : begun[i];
                count += begun[i] > 0;
            }
            first = first == 0 && count > 0 ? tick : first;
            last = count == PRESSES ? tick : 0;
        }
        assert_true(last > 0 && last - first <= PERIOD * (PRESSES - 1));
        assert_int_equal(begun[SMALLER], waits_longer ? first : last);
        crowd_fini(&stage);
    }
}

// What a unit does that a press pushes to and fro: it goes from one end of a passage to the other
// and back. How long it has been there counts from when it came, wherever it is looked at.
static void to_and_fro_is_one_place(void **state)
{
    (void)state;
    enum {
        REACH = 4,
        TICKS = 500
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init(&stage, &rules, press_grid(PRESS_WIDTH, 0, 0));
    crowd_spawn_to(&stage, crowd_team(&stage), 1, 5, 2, 13, 14);
    struct fm_agent *agent = fm_world_find(stage.world, stage.units[0]);
    fm_mover mover = {.cell = agent->cell};
    agent->asking_since = 0; // it has set out long ago
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        uint32_t phase = (tick + REACH) % (4 * REACH);
        agent->cell = fm_cell_at(1 + (phase < 2 * REACH ? phase : 4 * REACH - phase), 2);
        fm_escort_count(stage.world, agent, &mover);
        mover.cell = agent->cell;
        assert_int_equal(agent->rest_ticks, tick + 1);
    }
    agent->cell = fm_cell_at(5 + REACH + 1, 2);
    fm_escort_count(stage.world, agent, &mover);
    assert_int_equal(agent->rest_ticks, 1); // it has got away
    assert_int_equal(agent->rest, agent->cell);
    for (uint32_t tick = 0; tick <= UINT16_MAX; tick++) {
        fm_escort_count(stage.world, agent, &mover);
    }
    assert_int_equal(agent->rest_ticks, UINT16_MAX); // and not 0
    agent->asking_since = fm_world_tick(stage.world) + 1;
    fm_escort_count(stage.world, agent, &mover);
    assert_int_equal(agent->rest_ticks, 1); // it has set out
    crowd_fini(&stage);
}

static void apply_to(uint32_t unit, fm_command command)
{
    fm_command_result result = {.status = FM_OK};
    command.agents = &stage.units[unit];
    command.agent_count = 1;
    fm_world_apply(stage.world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

// Who was put elsewhere, or is another class's or team's, has not been held up there by anybody.
// How long it has been in its place counts from then on, also where that is near the one before.
static void a_command_ends_the_time_in_one_place(void **state)
{
    (void)state;
    enum {
        UNITS = 4,
        TICKS = 100
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init(&stage, &rules, press_grid(PRESS_WIDTH, 0, 0));
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    const struct fm_agent *agents[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        crowd_spawn_to(&stage, team, 1, 3 * i, 2, 13, 14);
        agents[i] = fm_world_find(stage.world, stage.units[i]);
        apply_to(i, (fm_command){.kind = FM_COMMAND_SET, .set = FM_SET_FROZEN, .frozen = true});
    }
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        crowd_tick(&stage, NULL);
    }
    fm_cell near = fm_cell_at(1, 2);
    apply_to(0, (fm_command){.kind = FM_COMMAND_PLACE, .cells = &near, .cell_count = 1});
    apply_to(1, (fm_command){.kind = FM_COMMAND_SET, .set = FM_SET_CLASS, .class_index = 1});
    apply_to(2, (fm_command){.kind = FM_COMMAND_SET, .set = FM_SET_TEAM, .new_team = other});
    for (uint32_t i = 0; i < UNITS; i++) {
        assert_int_equal(agents[i]->rest_ticks, i < UNITS - 1 ? 0 : TICKS);
    }
    crowd_tick(&stage, NULL);
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t has_order = i != 2;
        assert_int_equal(agents[i]->rest_ticks, i < UNITS - 1 ? has_order : TICKS + 1);
    }
    crowd_fini(&stage);
}

// Three units of 2 x 2 cells want into a hollow, out of which a fourth, which came last, wants.
// Those three are in their places for longer, so they have the first escorts, in which the fourth
// stands for them and cannot get out. When the first of these has come to nothing it is the
// fourth's turn; it was 434 ticks after it had its order, when the others had had theirs twice.
static void who_stands_in_the_way_is_next(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "@@.@@@@@@@@......@@@@@@@@", //
        "@.....@@@@@......@@@@@@@@", //
        "@.......@@@....@@@@@@@@@@", //
        "@.......@@@....@@@@@@@@@@", //
        "@......@@@@@@@@@@@@@@@@@@", //
        "@..@@@@@@@@@@@@@@@@@@@@@@", //
        "@....@@@@@@@@@@@@@@@@@@@@", //
        "@@.....@@@@@@@@@@@@@@@@@@", //
        "@@......@@@@@@@@@........", //
        "@@@@.....@@@@@@@@........", //
        "@@@@@.....@@@@@@@........", //
        "@@@@@@......@............", //
        "@@@@@@...................", //
        "@@@@@@@@.................", //
    };
    enum {
        LARGE = 3,
        BEFORE = 200, // ticks
        OUT = 10      // column
    };
    static const uint32_t from[LARGE][2] = {{4, 7}, {6, 8}, {7, 10}};
    static const uint32_t to[LARGE][2] = {{1, 3}, {5, 4}, {5, 10}};
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < LARGE; i++) {
        crowd_spawn_to(&stage, team, 2, from[i][0], from[i][1], to[i][0], to[i][1]);
    }
    uint32_t late = crowd_spawn_at(&stage, team, fm_cell_at(2, 7));
    apply_to(late, (fm_command){.kind = FM_COMMAND_SET, .set = FM_SET_CLASS, .class_index = 1});
    const struct fm_agent *agent = fm_world_find(stage.world, stage.units[late]);
    uint32_t ticks = 0;
    for (; ticks < PRESS_TICKS && fm_cell_x(agent->cell) < OUT; ticks++) {
        if (ticks == BEFORE) {
            crowd_order(&stage, late, fm_cell_at(15, 11), FM_UNREACHABLE_FAIL);
        }
        crowd_tick(&stage, NULL);
    }
    print_message("out after %u ticks\n", ticks - BEFORE);
    assert_in_range(ticks, BEFORE, BEFORE + 200);
    crowd_fini(&stage);
}

// A unit gets its escort when it has been in one place for 256 ticks, whichever team it belongs to.
static void an_escort_begins_on_time(void **state)
{
    (void)state;
    enum {
        TEAMS = 100, // each is looked at in a tick of its own
        REST = 256,
        LOOK = 16,
        PERIOD = 2
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init(&stage, &rules, press_grid(PRESS_WIDTH, 0, 0));
    uint32_t team = 0, begun = 0;
    for (uint32_t i = 0; i < TEAMS; i++) {
        team = crowd_team(&stage);
    }
    spawn_press(team, 0, 3, 5, 0);
    for (uint32_t tick = 1; tick < PRESS_TICKS && begun == 0; tick++) {
        crowd_tick(&stage, NULL);
        begun = mover_of(PRESS_SMALL)->escorted ? tick : 0;
    }
    assert_in_range(begun, REST, REST + LOOK + 2 * PERIOD);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_press_lets_a_large_unit_out),
        cmocka_unit_test(an_escort_ends_with_the_map),
        cmocka_unit_test(a_saved_world_has_no_escort),
        cmocka_unit_test(an_escort_waits_for_memory),
        cmocka_unit_test(who_is_out_goes_on_first),
        cmocka_unit_test(many_get_escorts_soon),
        cmocka_unit_test(to_and_fro_is_one_place),
        cmocka_unit_test(a_command_ends_the_time_in_one_place),
        cmocka_unit_test(who_stands_in_the_way_is_next),
        cmocka_unit_test(an_escort_begins_on_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
