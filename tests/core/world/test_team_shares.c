// test_team_shares.c: what one team asks for leaves the others their part of what all share.
//
// Goal fields: a team whose agents take thousands of them changes no search of another. Labels:
// teams that could use up all units of every tick, and ask first, do not keep the last one waiting.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/planners/auto.h"
#include "core/planners/goal_field.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"
#include "tests/support/support.h"

static fm_world *make_world(uint32_t side, uint32_t teams)
{
    fm_world_rules rules = fm_world_rules_default();
    fm_grid *grid;
    fm_world *world;
    rules.omniscient = true;
    rules.planner = (fm_planner_spec){.ops = &fm_auto};
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    for (uint32_t i = 0; i < teams; i++) {
        fm_command_result result = {0};
        fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
        assert_int_equal(fm_world_prepare_class(world, result.team, 0), FM_OK);
    }
    return world;
}

static void tick(fm_world *world)
{
    fm_tick_report report;
    fm_tick_run(world, NULL, 1000000, NULL, &report);
}

// ---- goal fields --------------------------------------------------------------------------------

#define FIELD_SIDE 128u
#define FIELDS     4000u
#define GROUP      100u

// Spawns agents in rows from the top, and orders each to its own goal or all to one.
static void send(fm_world *world, uint32_t team, uint32_t count, const fm_planner_ops *ops,
                 bool own_goals)
{
    static fm_cell cells[FIELDS], goals[FIELDS];
    static fm_agent_id agents[FIELDS];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = fm_cell_at(i % FIELD_SIDE, i / FIELD_SIDE);
        goals[i] = fm_cell_at(i % FIELD_SIDE, FIELD_SIDE - 1 - i / FIELD_SIDE);
    }
    fm_command_result result = {.spawned = agents};
    fm_world_apply(world,
                   &(fm_command){.kind = FM_COMMAND_SPAWN,
                                 .team = team,
                                 .planner = {.ops = ops},
                                 .cells = cells,
                                 .cell_count = count},
                   &result);
    assert_int_equal(result.status, FM_OK);
    result = (fm_command_result){0};
    fm_world_apply(world,
                   &(fm_command){.kind = FM_COMMAND_ORDER,
                                 .order = FM_ORDER_MOVE,
                                 .agents = agents,
                                 .agent_count = count,
                                 .cells = goals,
                                 .cell_count = own_goals ? count : 1},
                   &result);
    assert_int_equal(result.status, FM_OK);
}

// The planners of a group of the second team.
static uint32_t planners_of_group(bool others_take_fields)
{
    fm_world *world = make_world(FIELD_SIDE, 2);
    fm_world_counts before, after;
    if (others_take_fields) {
        send(world, 1, FIELDS, &fm_goal_field, true);
    }
    tick(world);
    fm_world_counts_get(world, &before);
    assert_int_equal(before.planners, others_take_fields ? FIELDS : 0);
    send(world, 2, GROUP, NULL, false);
    tick(world);
    fm_world_counts_get(world, &after);
    fm_world_destroy(world);
    return after.planners - before.planners;
}

static void fields_of_one_team_change_no_other(void **state)
{
    (void)state;
    uint32_t alone = planners_of_group(false), beside = planners_of_group(true);
    print_message("planners of a group: %u alone, %u beside another team's fields\n", alone,
                  beside);
    assert_true(alone < GROUP);
    assert_int_equal(beside, alone);
}

// ---- labels -------------------------------------------------------------------------------------

#define LABEL_SIDE  1024u
#define LABEL_TEAMS 12u
#define GREEDY      11u // teams, the first ones: they ask for more than there is
#define TICKS_MAX   200u

static void labels_come_to_the_last_team(void **state)
{
    (void)state;
    fm_world *world = make_world(LABEL_SIDE, LABEL_TEAMS);
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    bool served = false;
    uint32_t ticks = 0;
    for (; ticks < TICKS_MAX && !served; ticks++) {
        tick(world);
        teams->label_units_max = FM_TEAM_LABELS_UNITS_MAX;
        teams->label_units = 0;
        uint64_t units = 0;
        for (uint32_t i = 0; i < teams->count; i++) {
            teams->list[i].labels.units = 0;
        }
        for (uint32_t team = 1; team <= GREEDY; team++) {
            if (fm_team_labels_for_orders(world, team, 0) != NULL) {
                fm_labels_touch_all(fm_team_of(world, team)->labels.maps[0].orders.labels);
            }
        }
        served = fm_team_labels_for_orders(world, LABEL_TEAMS, 0) != NULL;
        for (uint32_t i = 0; i < teams->count; i++) {
            units += teams->list[i].labels.units;
        }
        assert_true(units < FM_TEAM_LABELS_UNITS_MAX * 5 / 4);
        teams->label_units_max = 0;
    }
    print_message("the last team had its labels after %u ticks\n", ticks);
    assert_true(served);
    fm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_one_team_change_no_other),
        cmocka_unit_test(labels_come_to_the_last_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
