// test_boarding.c: agents that carry others: who boards is out of the world, keeps what it is, and
// comes out beside its carrier.
//
// Method: small worlds; a command, some ticks, and checks of where agents stand and what views are
// told. A refused command must leave no trace: the digest stays. Random games have these commands
// too (tests/support/script.c), for replays, saves and any number of workers.

#include "core/tick/digest.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/views/unit_report.h"
#include "core/views/view_delta.h"
#include "core/world/names.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

static fm_command_result apply(struct order_scene *scene, fm_command command)
{
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static fm_command_result board(struct order_scene *scene, const fm_agent_id *agents, uint32_t count,
                               fm_agent_id carrier, uint32_t radius)
{
    return apply(scene, (fm_command){.kind = FM_COMMAND_BOARD,
                                     .agents = agents,
                                     .agent_count = count,
                                     .target = carrier,
                                     .radius = radius});
}

static fm_command_result unboard_all(struct order_scene *scene, fm_agent_id carrier,
                                     uint32_t radius)
{
    return apply(scene,
                 (fm_command){.kind = FM_COMMAND_UNBOARD, .target = carrier, .radius = radius});
}

static fm_command_result unboard(struct order_scene *scene, const fm_agent_id *agents,
                                 uint32_t count)
{
    return apply(scene,
                 (fm_command){.kind = FM_COMMAND_UNBOARD, .agents = agents, .agent_count = count});
}

static fm_command_result set(struct order_scene *scene, fm_agent_id agent, fm_command command)
{
    command.kind = FM_COMMAND_SET;
    command.agents = &agent;
    command.agent_count = 1;
    return apply(scene, command);
}

static fm_unit_report report_of(const struct order_scene *scene, fm_agent_id agent)
{
    fm_unit_report report;
    fm_cell cells[4];
    assert_int_equal(fm_world_report_unit(scene->world, agent, &report, cells, 4), FM_OK);
    return report;
}

// A cell holds one unit; classes ground and tank (2 x 2), everything known; teams 1 and 2.
static struct order_scene make_exclusive(uint32_t side)
{
    fm_world_rules rules = fm_world_rules_default();
    struct order_scene scene = {.budget = SCENE_BUDGET};
    fm_grid *grid;
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    char error[128];
    assert_int_equal(fm_movement_classes_parse("ground;tank:size=2", rules.classes,
                                               &rules.class_count, error, sizeof error),
                     FM_OK);
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(apply(&scene, (fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
    }
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    return scene;
}

static const fm_agent_left *find_left(const fm_changes *changes, fm_agent_id name)
{
    for (uint32_t i = 0; i < changes->left_count; i++) {
        if (fm_agent_id_pack(changes->left[i].name) == fm_agent_id_pack(name)) {
            return &changes->left[i];
        }
    }
    return NULL;
}

static bool is_carried(const struct order_scene *scene, fm_agent_id agent)
{
    return fm_agent_id_pack(report_of(scene, agent).carrier) != 0;
}

// ---- in and out ---------------------------------------------------------------------------------

static void who_is_carried_is_out_of_the_world_and_comes_back_as_it_was(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(32);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4), agent = scene_spawn(&scene, 1, 5, 5);
    fm_agent_id name = fm_world_own_name(scene.world, agent);
    fm_command tag = {.set = FM_SET_TAG | FM_SET_SPEED,
                      .tag = (const uint8_t *)"hero",
                      .tag_size = 4,
                      .speed = 9000};
    assert_int_equal(set(&scene, agent, tag).status, FM_OK);
    uint64_t order = scene_move_to(&scene, agent, 5, 20, false);
    uint64_t queued = scene_move_to(&scene, agent, 4, 4, true);
    assert_int_equal(board(&scene, &agent, 1, carrier, 0).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_BOARDED);
    assert_int_equal(scene_ending(&scene, order).cell, fm_cell_at(5, 5));
    assert_int_equal(scene_ending(&scene, queued).reason, FM_END_BOARDED);
    fm_agent_look looks[4];
    assert_int_equal(fm_world_agents_in_view(scene.world, FM_ALL_TEAMS, looks, 4), 1);
    // Another unit goes where it stood; the carrier goes on.
    fm_agent_id other = scene_spawn(&scene, 1, 5, 5);
    scene_move_to(&scene, carrier, 20, 4, false);
    scene_run(&scene, 30);
    fm_unit_report report = report_of(&scene, agent);
    assert_int_equal(report.cell, fm_cell_at(20, 4));
    assert_int_equal(fm_agent_id_pack(report.carrier), fm_agent_id_pack(carrier));
    assert_int_equal(report.state, FM_AGENT_CARRIED);
    assert_int_equal(report.why, FM_WHY_CARRIED);
    report = report_of(&scene, carrier);
    assert_int_equal(report.passenger_count, 1);
    assert_int_equal(fm_agent_id_pack(report.passenger_names[0]), fm_agent_id_pack(name));
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.agents, 3);
    assert_int_equal(counts.agents_by_state[FM_AGENT_CARRIED], 1);
    assert_int_equal(counts.orders_ended[FM_END_BOARDED], 2);
    // It comes out beside it, with name, tag and speed, and can be ordered.
    assert_int_equal(unboard(&scene, &agent, 1).changed_count, 1);
    scene_run(&scene, 1);
    assert_int_equal(cells_apart(scene_look(&scene, agent).cell, fm_cell_at(20, 4)), 1);
    assert_int_equal(fm_agent_id_pack(fm_world_own_name(scene.world, agent)),
                     fm_agent_id_pack(name));
    uint32_t size;
    assert_memory_equal(fm_world_tag(scene.world, 1, agent, &size), "hero", 4);
    assert_int_equal(report_of(&scene, agent).speed, 9000);
    assert_int_equal(report_of(&scene, carrier).passenger_count, 0);
    order = scene_move_to(&scene, agent, 10, 20, false);
    scene_run(&scene, 60);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_ARRIVED);
    assert_int_equal(scene_look(&scene, other).cell, fm_cell_at(5, 5));
    fm_world_destroy(scene.world);
}

static void they_come_out_in_the_order_in_which_they_went_in(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(16);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4), agents[3];
    for (uint32_t i = 0; i < 3; i++) {
        agents[i] = scene_spawn(&scene, 1, 5, 3 + i);
    }
    assert_int_equal(board(&scene, (fm_agent_id[]){agents[2], agents[0]}, 2, carrier, 1).status,
                     FM_OK);
    assert_int_equal(board(&scene, agents + 1, 1, carrier, 1).status, FM_OK);
    scene_run(&scene, 1);
    fm_unit_report report = report_of(&scene, carrier);
    static const uint32_t order[] = {2, 0, 1};
    assert_int_equal(report.passenger_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(report.passengers[i].index1, agents[order[i]].index1);
    }
    assert_int_equal(unboard(&scene, agents, 1).status, FM_OK); // the one in the middle
    assert_int_equal(report_of(&scene, carrier).passenger_count, 2);
    assert_int_equal(unboard_all(&scene, carrier, 0).changed_count, 2);
    scene_run(&scene, 1);
    // Row by row around it, from the north-west.
    assert_int_equal(scene_look(&scene, agents[0]).cell, fm_cell_at(3, 3));
    assert_int_equal(scene_look(&scene, agents[2]).cell, fm_cell_at(4, 3));
    assert_int_equal(scene_look(&scene, agents[1]).cell, fm_cell_at(5, 3));
    assert_int_equal(unboard_all(&scene, carrier, 0).changed_count, 0);
    fm_world_destroy(scene.world);
}

// ---- what is refused ----------------------------------------------------------------------------

static void what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(32);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4), agent = scene_spawn(&scene, 1, 5, 4);
    fm_agent_id far = scene_spawn(&scene, 1, 4, 7), enemy = scene_spawn(&scene, 2, 3, 4);
    fm_agent_id aboard = scene_spawn(&scene, 1, 4, 5);
    fm_agent_id both[] = {agent, agent};
    assert_int_equal(board(&scene, &aboard, 1, carrier, 0).status, FM_OK);
    scene_run(&scene, 1);
    uint64_t digest = fm_world_digest(scene.world);
    assert_int_equal(board(&scene, &far, 1, carrier, 2).status, FM_ERR_TOO_FAR);
    assert_int_equal(board(&scene, &enemy, 1, carrier, 1).status, FM_ERR_NO_TARGET);
    assert_int_equal(board(&scene, &carrier, 1, carrier, 1).status, FM_ERR_BAD_VALUE);
    assert_int_equal(board(&scene, both, 2, carrier, 1).status, FM_ERR_BAD_VALUE);
    assert_int_equal(board(&scene, &agent, 1, carrier, 9).status, FM_ERR_BAD_VALUE);
    assert_int_equal(board(&scene, &agent, 1, (fm_agent_id){99, 0}, 1).status, FM_ERR_NO_TARGET);
    assert_int_equal(board(&scene, &carrier, 1, agent, 1).status, FM_ERR_CARRIED);
    assert_int_equal(board(&scene, &agent, 1, aboard, 1).status, FM_ERR_CARRIED);
    assert_int_equal(board(&scene, &aboard, 1, carrier, 1).status, FM_ERR_CARRIED);
    fm_agent_id some[] = {agent, far};
    fm_command_result result = board(&scene, some, 2, carrier, 1);
    assert_int_equal(result.status, FM_ERR_TOO_FAR); // and then nobody boards
    assert_int_equal(result.failed_index, 1);
    assert_int_equal(unboard(&scene, some, 1).status, FM_ERR_NOT_CARRIED);
    assert_int_equal(unboard_all(&scene, aboard, 1).status, FM_ERR_CARRIED);
    assert_int_equal(unboard(&scene, NULL, 0).status, FM_ERR_BAD_VALUE);
    // Other commands say why they do not find it.
    fm_cell cell = fm_cell_at(9, 9);
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .agents = &aboard,
                        .agent_count = 1,
                        .cells = &cell,
                        .cell_count = 1};
    assert_int_equal(apply(&scene, order).status, FM_ERR_CARRIED);
    order.kind = FM_COMMAND_PLACE;
    assert_int_equal(apply(&scene, (fm_command){.kind = FM_COMMAND_PLACE,
                                                .agents = &aboard,
                                                .agent_count = 1,
                                                .cells = &cell,
                                                .cell_count = 1})
                         .status,
                     FM_ERR_CARRIED);
    assert_int_equal(set(&scene, aboard, (fm_command){.set = FM_SET_FROZEN}).status,
                     FM_ERR_CARRIED);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(board(&scene, &far, 1, carrier, 3).status, FM_OK);
    fm_world_destroy(scene.world);
}

static void nobody_comes_out_where_there_is_no_room(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(16);
    scene_wall(&scene, (fm_rect){0, 1, 16, 15}); // one line
    fm_agent_id carrier = scene_spawn(&scene, 1, 8, 0), agents[3];
    for (uint32_t i = 0; i < 3; i++) {
        agents[i] = scene_spawn(&scene, 1, 9 + i, 0);
    }
    assert_int_equal(board(&scene, agents, 3, carrier, 3).status, FM_OK);
    scene_run(&scene, 1);
    uint64_t digest = fm_world_digest(scene.world);
    fm_command_result result = unboard_all(&scene, carrier, 1);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL);
    assert_int_equal(result.failed_index, 2);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(unboard_all(&scene, carrier, 2).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(scene_look(&scene, agents[0]).cell, fm_cell_at(7, 0));
    assert_int_equal(scene_look(&scene, agents[1]).cell, fm_cell_at(9, 0));
    assert_int_equal(scene_look(&scene, agents[2]).cell, fm_cell_at(6, 0));
    fm_world_destroy(scene.world);
}

static void a_carrier_takes_so_many(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(32);
    fm_agent_id carrier = scene_spawn(&scene, 1, 16, 16), agents[FM_PASSENGERS_MAX + 1];
    for (uint32_t i = 0; i <= FM_PASSENGERS_MAX; i++) {
        agents[i] = scene_spawn(&scene, 1, 12 + i % 8, i < 32 ? 12 + i / 8 : 13 + i / 8);
    }
    uint32_t one_more = FM_PASSENGERS_MAX + 1;
    assert_int_equal(board(&scene, agents, one_more, carrier, 8).status, FM_ERR_LIMIT);
    assert_int_equal(board(&scene, agents, FM_PASSENGERS_MAX, carrier, 8).status, FM_OK);
    assert_int_equal(board(&scene, agents + FM_PASSENGERS_MAX, 1, carrier, 8).status, FM_ERR_LIMIT);
    assert_int_equal(unboard_all(&scene, carrier, 8).changed_count, FM_PASSENGERS_MAX);
    scene_run(&scene, 1);
    // All stand in cells of their own: the tick would have found two in one.
    for (uint32_t i = 0; i < FM_PASSENGERS_MAX; i++) {
        assert_in_range(cells_apart(scene_look(&scene, agents[i]).cell, fm_cell_at(16, 16)), 1, 8);
        for (uint32_t j = 0; j < i; j++) {
            assert_int_not_equal(scene_look(&scene, agents[i]).cell,
                                 scene_look(&scene, agents[j]).cell);
        }
    }
    fm_world_destroy(scene.world);
}

// ---- a carrier's fate ---------------------------------------------------------------------------

// The agents that died while they were carried, as a view is told: `count` of `first` and `second`.
static void assert_deaths(const fm_world *world, uint32_t team, uint32_t count, fm_agent_id first,
                          fm_agent_id second)
{
    fm_changes changes = fm_world_changes(world, team);
    uint32_t found = 0;
    for (uint32_t i = 0; i < changes.left_count; i++) {
        if (changes.left[i].reason == FM_LEAVE_DIED) {
            fm_agent_id expected = found++ == 0 ? first : second;
            assert_int_equal(fm_agent_id_pack(changes.left[i].name), fm_agent_id_pack(expected));
        }
    }
    assert_int_equal(found, count);
}

static void a_carrier_that_dies_takes_its_passengers_along(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(16);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4);
    fm_agent_id agents[2] = {scene_spawn(&scene, 1, 5, 4), scene_spawn(&scene, 1, 4, 5)};
    scene_spawn(&scene, 2, 6, 6); // sees it all
    fm_agent_id first_name = fm_world_own_name(scene.world, agents[0]);
    fm_agent_id name = fm_world_own_name(scene.world, agents[1]);
    for (uint32_t team = 1; team <= 2; team++) {
        assert_int_equal(fm_world_watch(scene.world, team, true), FM_OK);
    }
    assert_int_equal(board(&scene, agents, 2, carrier, 0).status, FM_OK);
    scene_run(&scene, 1);
    // A passenger can be removed by itself; the other dies with the carrier, named or not. The
    // commands are of one tick.
    assert_int_equal(
        apply(&scene, (fm_command){.kind = FM_COMMAND_REMOVE, .agents = agents, .agent_count = 1})
            .changed_count,
        1);
    assert_int_equal(report_of(&scene, carrier).passenger_count, 1);
    fm_agent_id all[] = {carrier, agents[1]};
    assert_int_equal(
        apply(&scene, (fm_command){.kind = FM_COMMAND_REMOVE, .agents = all, .agent_count = 2})
            .changed_count,
        2);
    scene_run(&scene, 1);
    // Its own team is told of each death, and the view of everything; the others only that the
    // carrier has gone.
    assert_deaths(scene.world, FM_ALL_TEAMS, 2, agents[0], agents[1]);
    assert_deaths(scene.world, 1, 2, first_name, name);
    assert_deaths(scene.world, 2, 0, carrier, carrier);
    assert_int_equal(fm_world_changes(scene.world, 2).left_count, 1);
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.agents, 1);
    fm_unit_report report;
    assert_int_equal(fm_world_report_unit(scene.world, agents[1], &report, NULL, 0),
                     FM_ERR_NO_AGENT);
    assert_int_equal(fm_agent_id_pack(fm_world_agent_named(scene.world, 1, name)), 0);
    assert_int_equal(unboard(&scene, agents + 1, 1).status, FM_ERR_NO_AGENT);
    fm_world_destroy(scene.world);
}

static void passengers_change_sides_with_their_carrier(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(16);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4);
    fm_agent_id agents[2] = {scene_spawn(&scene, 1, 5, 4), scene_spawn(&scene, 1, 4, 5)};
    assert_int_equal(board(&scene, agents, 2, carrier, 0).status, FM_OK);
    fm_command turn = {.set = FM_SET_TEAM, .new_team = 2};
    assert_int_equal(set(&scene, carrier, turn).status, FM_OK);
    scene_run(&scene, 1);
    fm_team_counts teams[2];
    assert_int_equal(fm_world_team_counts(scene.world, teams, 2), 2);
    assert_int_equal(teams[0].agents, 0);
    assert_int_equal(teams[1].agents, 3);
    assert_int_equal(unboard_all(&scene, carrier, 1).changed_count, 2);
    scene_run(&scene, 1);
    assert_int_equal(scene_look(&scene, agents[1]).team, 2);
    fm_agent_id name = fm_world_own_name(scene.world, agents[1]);
    assert_int_equal(fm_agent_id_pack(fm_world_agent_named(scene.world, 2, name)),
                     fm_agent_id_pack(agents[1]));
    scene_move_to(&scene, agents[1], 12, 12, false);
    scene_run(&scene, 20);
    assert_int_equal(scene_look(&scene, agents[1]).cell, fm_cell_at(12, 12));
    fm_world_destroy(scene.world);
}

// ---- what others see ----------------------------------------------------------------------------

static void others_see_it_board_where_they_look(void **state)
{
    (void)state;
    for (uint32_t in_sight = 0; in_sight < 2; in_sight++) {
        struct order_scene scene = scene_make(NULL, 60, 16, false); // radius 5
        fm_agent_id carrier = scene_spawn(&scene, 1, 20, 8), agent = scene_spawn(&scene, 1, 20, 9);
        scene_spawn(&scene, 2, in_sight ? 17 : 40, 8);
        for (uint32_t team = 0; team <= 2; team++) {
            assert_int_equal(fm_world_watch(scene.world, team, true), FM_OK);
        }
        scene_run(&scene, 1);
        fm_agent_id own_name = fm_world_own_name(scene.world, agent);
        assert_int_equal(board(&scene, &agent, 1, carrier, 0).status, FM_OK);
        scene_run(&scene, 1);
        fm_changes changes = fm_world_changes(scene.world, 1);
        assert_non_null(find_left(&changes, own_name));
        assert_int_equal(find_left(&changes, own_name)->reason, FM_LEAVE_BOARDED);
        changes = fm_world_changes(scene.world, 2);
        assert_int_equal(changes.left_count, in_sight);
        assert_true(in_sight == 0 || changes.left[0].reason == FM_LEAVE_BOARDED);
        fm_agent_id seen_name = in_sight ? changes.left[0].name : (fm_agent_id){0};
        assert_int_equal(unboard_all(&scene, carrier, 0).changed_count, 1);
        scene_run(&scene, 1);
        changes = fm_world_changes(scene.world, 1);
        assert_int_equal(changes.entered_count, 1);
        assert_int_equal(fm_agent_id_pack(changes.entered[0].name), fm_agent_id_pack(own_name));
        changes = fm_world_changes(scene.world, 2);
        assert_int_equal(changes.entered_count, in_sight); // as an unknown: it was out of sight
        assert_true(in_sight == 0 ||
                    fm_agent_id_pack(changes.entered[0].name) != fm_agent_id_pack(seen_name));
        fm_world_destroy(scene.world);
    }
}

static void who_is_carried_sees_nothing(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 60, 16, false); // radius 5
    fm_agent_id carrier = scene_spawn(&scene, 1, 20, 8), agent = scene_spawn(&scene, 1, 20, 9);
    fm_agent_id enemy = scene_spawn(&scene, 2, 24, 8);
    fm_command blind = {.set = FM_SET_SIGHT, .sight = 1};
    assert_int_equal(set(&scene, carrier, blind).status, FM_OK);
    assert_int_equal(fm_world_watch(scene.world, 1, true), FM_OK);
    scene_run(&scene, 1);
    fm_agent_look looks[4];
    assert_int_equal(fm_world_agents_in_view(scene.world, 1, looks, 4), 3);
    assert_int_equal(board(&scene, &agent, 1, carrier, 0).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(fm_world_agents_in_view(scene.world, 1, looks, 4), 1);
    assert_int_equal(fm_world_changes(scene.world, 1).left_count, 2);
    (void)enemy;
    scene_move_to(&scene, carrier, 20, 2, false);
    scene_run(&scene, 10);
    assert_int_equal(fm_world_look_up(scene.world, 1, fm_cell_at(22, 2)).terrain,
                     FM_TERRAIN_UNKNOWN);
    assert_int_equal(unboard_all(&scene, carrier, 0).changed_count, 1);
    scene_run(&scene, 1);
    assert_int_equal(fm_world_look_up(scene.world, 1, fm_cell_at(22, 2)).terrain,
                     FM_TERRAIN_GROUND);
    fm_world_destroy(scene.world);
}

static void who_follows_or_guards_it_has_lost_it(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(32);
    fm_agent_id carrier = scene_spawn(&scene, 1, 20, 8), agent = scene_spawn(&scene, 1, 20, 9);
    fm_agent_id friend = scene_spawn(&scene, 1, 18, 9), guard = scene_spawn(&scene, 1, 16, 9);
    uint64_t follows =
        scene_order(&scene, friend, (fm_command){.order = FM_ORDER_FOLLOW, .target = agent});
    uint64_t guards =
        scene_order(&scene, guard, (fm_command){.order = FM_ORDER_GUARD, .target = agent});
    scene_run(&scene, 2);
    assert_int_equal(board(&scene, &agent, 1, carrier, 0).status, FM_OK);
    scene_run(&scene, 20);
    assert_int_equal(scene_ending(&scene, follows).reason, FM_END_TARGET_LOST);
    assert_int_equal(scene_ending(&scene, follows).cell, fm_cell_at(20, 9));
    assert_int_equal(scene_ending(&scene, guards).reason, FM_END_TARGET_LOST);
    fm_command follow = {
        .order = FM_ORDER_FOLLOW, .agents = &friend, .agent_count = 1, .target = agent};
    assert_int_equal(scene_give(&scene, follow).status, FM_ERR_NO_TARGET);
    fm_world_destroy(scene.world);
}

// ---- saved worlds -------------------------------------------------------------------------------

static void passengers_are_saved_in_their_order(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive(16);
    fm_agent_id carrier = scene_spawn(&scene, 1, 4, 4), agents[3];
    for (uint32_t i = 0; i < 3; i++) {
        agents[i] = scene_spawn(&scene, 1, 5, 3 + i);
    }
    fm_agent_id order[] = {agents[1], agents[2], agents[0]};
    assert_int_equal(board(&scene, order, 3, carrier, 1).status, FM_OK);
    fm_world_settle(scene.world); // in the same interval: the file knows no boarded from before
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    assert_int_equal(fm_world_save(scene.world, &writer), FM_OK);
    fm_world *copy;
    fm_bytes_error error;
    assert_int_equal(fm_world_load(writer.data, writer.size, &fm_memory_libc, &copy, &error),
                     FM_OK);
    struct order_scene other = {.budget = SCENE_BUDGET, .world = copy};
    struct order_scene *scenes[] = {&scene, &other};
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(report_of(scenes[i], carrier).passenger_count, 3);
        assert_true(is_carried(scenes[i], agents[0]));
        assert_int_equal(unboard_all(scenes[i], carrier, 1).changed_count, 3);
        assert_int_equal(scene_look(scenes[i], agents[1]).cell, fm_cell_at(3, 3));
        assert_int_equal(scene_look(scenes[i], agents[0]).cell, fm_cell_at(5, 3));
    }
    assert_int_equal(fm_world_digest(scene.world), fm_world_digest(copy));
    fm_writer_fini(&writer);
    fm_world_destroy(copy);
    fm_world_destroy(scene.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_carried_is_out_of_the_world_and_comes_back_as_it_was),
        cmocka_unit_test(they_come_out_in_the_order_in_which_they_went_in),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(nobody_comes_out_where_there_is_no_room),
        cmocka_unit_test(a_carrier_takes_so_many),
        cmocka_unit_test(a_carrier_that_dies_takes_its_passengers_along),
        cmocka_unit_test(passengers_change_sides_with_their_carrier),
        cmocka_unit_test(others_see_it_board_where_they_look),
        cmocka_unit_test(who_is_carried_sees_nothing),
        cmocka_unit_test(who_follows_or_guards_it_has_lost_it),
        cmocka_unit_test(passengers_are_saved_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
