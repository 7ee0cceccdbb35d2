// core/crowd/test_passing.c: units of two teams that meet in the open (core/crowd/passing.h).
//
// Method: two teams face to face, each of which wants to where the other began and farther, in a
// field, and through a gate whose walls are not straight, so that no passage is found there; with
// the checks of crowd.h after every tick.

#include "tests/support/crowd.h"

#include "core/commands/create.h"
#include "core/crowd/crowd.h"
#include "core/crowd/meeting.h"
#include "core/crowd/passing.h"
#include "core/saves/settle.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/world_parts.h"

static crowd stage;

#define BANK      40u // columns on either side of the wall
#define WALL      6u  // columns
#define GATE      14u // cells
#define ACROSS    40u
#define ROWS      20u // units in a column
#define EACH      200u
#define TICKS_MAX 2000u

// The gate leads aslant: no two of its columns have the same walls.
static bool is_wall(uint32_t x, uint32_t y)
{
    uint32_t first = 10 + (x - BANK);
    return x >= BANK && x < BANK + WALL && (y < first || y >= first + GATE);
}

static fm_cell start_of(uint32_t i)
{
    uint32_t column = 20 + i / 2 / ROWS, y = 10 + i / 2 % ROWS;
    return fm_cell_at(i % 2 == 0 ? column : 2 * BANK + WALL - 1 - column, y);
}

// On the other side, behind those of the other team.
static fm_cell goal_of(uint32_t i)
{
    uint32_t column = i / 2 / ROWS, y = 10 + i / 2 % ROWS;
    return fm_cell_at(i % 2 == 0 ? 2 * BANK + WALL - 1 - column : column, y);
}

static void begin(const char *planner, bool has_wall, uint32_t team_count, uint32_t sight)
{
    fm_world_rules rules = crowd_rules();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    rules.omniscient = sight == 0;
    rules.sense.radius = sight == 0 ? rules.sense.radius : sight;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(2 * BANK + WALL, ACROSS, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; has_wall && i < WALL * ACROSS; i++) {
        uint32_t x = BANK + i / ACROSS, y = i % ACROSS;
        if (is_wall(x, y)) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t teams[2] = {crowd_team(&stage)};
    teams[1] = team_count > 1 ? crowd_team(&stage) : teams[0];
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        uint32_t unit = crowd_spawn_at(&stage, teams[i % 2], start_of(i));
        crowd_order(&stage, unit, goal_of(i), FM_UNREACHABLE_FAIL);
    }
}

static void all_get_there(const char *planner, bool has_wall, uint32_t sight, uint32_t ticks_max)
{
    begin(planner, has_wall, 2, sight);
    uint32_t ticks = crowd_run(&stage, 2 * EACH, TICKS_MAX);
    print_message("%s: two teams of %u units %s%s: %u ticks, %u arrive\n", planner, EACH,
                  has_wall ? "in a gate" : "in a field", sight == 0 ? "" : ", seeing few cells",
                  ticks, stage.ended[FM_END_ARRIVED]);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    assert_true(ticks <= ticks_max);
    crowd_fini(&stage);
}

static void teams_pass_in_a_gate(void **state)
{
    (void)state;
    all_get_there("auto", true, 0, 200);
    all_get_there("auto", true, 5, 165);
    all_get_there("auto", true, 1, 200);
    all_get_there("dstar-lite", true, 0, 200);
}

// They would without the rule, too; it must not keep them from it.
static void teams_pass_in_a_field(void **state)
{
    (void)state;
    all_get_there("auto", false, 0, 150);
    all_get_there("dstar-lite", false, 5, 150);
}

static uint32_t count_passing(void)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < 2 * EACH; slot++) {
        count += fm_crowd_mover(stage.world, slot)->passing > 0;
    }
    return count;
}

// What those who ask are told agrees with what units do.
static void who_passes_is_told(void **state)
{
    (void)state;
    static fm_meetings met;
    begin("auto", true, 2, 0);
    uint32_t most = 0;
    for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < 2 * EACH; tick++) {
        crowd_tick(&stage, NULL);
        fm_world_list_meetings(stage.world, &met);
        uint32_t told = 0;
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            fm_meeting meeting = fm_world_meeting_of(stage.world, stage.units[i]);
            bool is_told = meeting.passes_until != 0;
            uint32_t own = fm_world_find(stage.world, stage.units[i])->team;
            told += is_told;
            assert_int_equal(meeting.passes_team, is_told ? 3 - own : 0);
            assert_true(meeting.passes_until <= fm_world_tick(stage.world) + FM_PASSING_TICKS);
        }
        assert_int_equal(met.passing_count, fm_min(told, FM_MEETINGS_MAX));
        uint32_t counted = fm_world_counted(stage.world)->passing;
        assert_true(told <= counted); // those whose orders end in this tick count
        most = counted > most ? counted : most;
    }
    print_message("at most %u pass at a time\n", most);
    assert_true(most > 40);
    assert_int_equal(fm_world_counted(stage.world)->passing, 0);
    crowd_fini(&stage);
}

// Friends push each other, and nobody has to keep to the right.
static void friends_do_not_pass(void **state)
{
    (void)state;
    begin("auto", true, 1, 0);
    for (uint32_t tick = 0; tick < 60; tick++) {
        crowd_tick(&stage, NULL);
        assert_int_equal(count_passing(), 0);
    }
    crowd_fini(&stage);
}

// A step to the right that brings a unit no nearer is no progress for its patience, so that every
// order ends.
static void patience_counts_on(void **state)
{
    (void)state;
    static uint32_t hindered[2 * EACH], nearest[2 * EACH];
    uint32_t steps = 0;
    begin("auto", true, 2, 0);
    for (uint32_t tick = 0; tick < 100; tick++) {
        const struct fm_agent *agents = fm_world_agents(stage.world)->slots;
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            hindered[i] = agents[i].hindered;
            nearest[i] = agents[i].nearest;
        }
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            const fm_mover *mover = fm_crowd_mover(stage.world, i);
            if (mover->passing == 0 || agents[i].order.id == 0) {
                continue;
            }
            if (agents[i].nearest == nearest[i]) {
                assert_true(agents[i].hindered > hindered[i]);
                steps += mover->next != mover->cell;
            }
        }
    }
    assert_true(steps > 100);
    crowd_fini(&stage);
}

// Who keeps to the right looks for no partner to swap with: its first choice may be to stay.
static void who_passes_does_not_swap(void **state)
{
    (void)state;
    static const char *const rows[] = {"............"};
    fm_world_rules rules = crowd_rules();
    uint32_t passing = 0;
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t unit = crowd_spawn_at(&stage, crowd_team(&stage), fm_cell_at(i == 0 ? 3 : 8, 0));
        crowd_order(&stage, unit, fm_cell_at(i == 0 ? 11 : 0, 0), FM_UNREACHABLE_FAIL);
    }
    for (uint32_t tick = 0; tick < 40; tick++) {
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 2; i++) {
            const fm_mover *mover = fm_crowd_mover(stage.world, i);
            passing += mover->passing > 0;
            assert_true(mover->passing == 0 || !mover->narrow);
        }
    }
    assert_true(passing > 20);
    crowd_fini(&stage);
}

static void begin_in_a_gate(void)
{
    begin("auto", true, 2, 5);
}

static void workers_decide_the_same(void **state)
{
    (void)state;
    uint32_t arrived = crowd_play_on_workers(&stage, begin_in_a_gate, 2 * EACH, TICKS_MAX);
    assert_int_equal(arrived, 2 * EACH);
}

// Settling ends it: a world that goes on and one that was loaded from its file decide alike.
static void a_saved_world_goes_on_alike(void **state)
{
    (void)state;
    begin("auto", true, 2, 0);
    for (uint32_t tick = 0; tick < 40; tick++) {
        crowd_tick(&stage, NULL);
    }
    assert_true(count_passing() > 20 && fm_world_counted(stage.world)->passing > 20);
    fm_world_settle(stage.world);
    assert_int_equal(fm_world_counted(stage.world)->passing, 0);
    fm_world *copy = crowd_copy(&stage);
    for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < 2 * EACH; tick++) {
        crowd_tick_both(&stage, copy);
        assert_int_equal(fm_world_counted(stage.world)->passing, fm_world_counted(copy)->passing);
    }
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_pass_in_a_gate),        cmocka_unit_test(teams_pass_in_a_field),
        cmocka_unit_test(friends_do_not_pass),         cmocka_unit_test(patience_counts_on),
        cmocka_unit_test(who_passes_does_not_swap),    cmocka_unit_test(workers_decide_the_same),
        cmocka_unit_test(a_saved_world_goes_on_alike), cmocka_unit_test(who_passes_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
