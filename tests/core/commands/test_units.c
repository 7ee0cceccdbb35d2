// test_units.c: commands that change living agents: freeze them, change their speed, class, sight,
// team or tag, or place them elsewhere.
//
// Method: small worlds drawn as text; a command, some ticks, and checks of where agents stand. A
// refused command must leave no trace: the digest stays. Random games have these commands too
// (tests/support/script.c), for replays, saves and any number of workers.

#include "core/tick/digest.h"
#include "core/views/explain.h"
#include "core/views/view_delta.h"
#include "core/world/names.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

static fm_command_result set(struct order_scene *scene, fm_agent_id agent, fm_command command)
{
    fm_command_result result = {.status = FM_OK};
    command.kind = FM_COMMAND_SET;
    command.agents = &agent;
    command.agent_count = 1;
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static fm_command_result place(struct order_scene *scene, const fm_agent_id *agents,
                               const fm_cell *cells, uint32_t count, fm_placing placing)
{
    fm_command_result result = {.status = FM_OK};
    fm_command command = {.kind = FM_COMMAND_PLACE,
                          .agents = agents,
                          .agent_count = count,
                          .cells = cells,
                          .cell_count = count,
                          .placing = placing};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

static struct order_scene make_exclusive(const char *classes, uint32_t side)
{
    fm_world_rules rules = fm_world_rules_default();
    struct order_scene scene = {.budget = SCENE_BUDGET};
    fm_grid *grid;
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    char error[128];
    assert_int_equal(
        fm_movement_classes_parse(classes, rules.classes, &rules.class_count, error, sizeof error),
        FM_OK);
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    for (uint32_t i = 0; i < 2; i++) {
        fm_command_result result;
        result.spawned = NULL;
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
    }
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    return scene;
}

// ---- set ----------------------------------------------------------------------------------------

static void the_frozen_stay_and_their_orders_wait(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    uint64_t order = scene_move_to(&scene, agent, 12, 2, false);
    scene_run(&scene, 3);
    fm_cell cell = scene_look(&scene, agent).cell;
    fm_command freeze = {.set = FM_SET_FROZEN, .frozen = true};
    assert_int_equal(set(&scene, agent, freeze).status, FM_OK);
    scene_run(&scene, 20);
    assert_int_equal(scene_look(&scene, agent).cell, cell);
    assert_int_equal(scene.ended_count, 0);
    fm_explanation why;
    assert_int_equal(fm_world_explain(scene.world, agent, &why), FM_OK);
    assert_int_equal(why.why, FM_WHY_FROZEN);
    freeze.frozen = false;
    assert_int_equal(set(&scene, agent, freeze).status, FM_OK);
    scene_run(&scene, 10);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_ARRIVED);
    fm_world_destroy(scene.world);
}

static void nobody_pushes_the_frozen(void **state)
{
    (void)state;
    // One line: a unit that wants to pass has to push.
    for (uint32_t frozen = 0; frozen < 2; frozen++) {
        struct order_scene scene = make_exclusive("ground", 12);
        scene_wall(&scene, (fm_rect){0, 1, 12, 1});
        fm_agent_id idle = scene_spawn(&scene, 1, 5, 0), walker = scene_spawn(&scene, 1, 2, 0);
        if (frozen) {
            fm_command freeze = {.set = FM_SET_FROZEN, .frozen = true};
            assert_int_equal(set(&scene, idle, freeze).status, FM_OK);
        }
        scene_move_to(&scene, walker, 9, 0, false);
        scene_run(&scene, 40);
        assert_true((scene_look(&scene, idle).cell == fm_cell_at(5, 0)) == (frozen == 1));
        fm_world_destroy(scene.world);
    }
}

static void speeds_change_under_way(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 8, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    scene_move_to(&scene, agent, 60, 2, false);
    scene_run(&scene, 10);
    uint32_t x = fm_cell_x(scene_look(&scene, agent).cell);
    // Ten ticks a second: 2 cells a second are a step in five ticks.
    assert_int_equal(set(&scene, agent, (fm_command){.set = FM_SET_SPEED, .speed = 2000}).status,
                     FM_OK);
    scene_run(&scene, 20);
    uint32_t slow = fm_cell_x(scene_look(&scene, agent).cell) - x;
    assert_in_range(slow, 4, 5);
    assert_int_equal(set(&scene, agent, (fm_command){.set = FM_SET_SPEED}).status, FM_OK);
    scene_run(&scene, 20);
    assert_int_equal(fm_cell_x(scene_look(&scene, agent).cell), x + slow + 20);
    fm_command too_fast = {.set = FM_SET_SPEED, .speed = 14150};
    assert_int_equal(set(&scene, agent, too_fast).status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

static void a_class_must_fit_where_the_unit_stands(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive("ground;tank:size=2;boat:water=1", 16);
    fm_agent_id agents[2] = {scene_spawn(&scene, 1, 4, 4), scene_spawn(&scene, 1, 5, 4)};
    fm_command tank = {.set = FM_SET_CLASS, .class_index = 1};
    fm_command boat = {.set = FM_SET_CLASS, .class_index = 2};
    uint64_t digest = fm_world_digest(scene.world);
    assert_int_equal(set(&scene, agents[0], tank).status, FM_ERR_OCCUPIED_CELL);
    assert_int_equal(set(&scene, agents[0], boat).status, FM_ERR_BLOCKED_CELL);
    fm_command both = {.kind = FM_COMMAND_SET,
                       .agents = agents + 1,
                       .agent_count = 1,
                       .set = FM_SET_CLASS,
                       .class_index = 3};
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(scene.world, &both, &result);
    assert_int_equal(result.status, FM_ERR_NO_CLASS);
    // The second can grow, the first cannot: none does.
    fm_agent_id backwards[2] = {agents[1], agents[0]};
    both.agents = backwards;
    both.agent_count = 2;
    both.class_index = 1;
    fm_world_apply(scene.world, &both, &result);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL);
    assert_int_equal(result.failed_index, 1);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(set(&scene, agents[1], tank).status, FM_OK);
    // It now takes more room, and goes where a tank fits.
    assert_int_equal(scene_look(&scene, agents[1]).class_index, 1);
    fm_cell under = fm_cell_at(6, 5);
    assert_int_equal(place(&scene, &agents[0], &under, 1, FM_PLACE_EXACT).status,
                     FM_ERR_OCCUPIED_CELL);
    scene_wall(&scene, (fm_rect){10, 0, 1, 8});
    scene_wall(&scene, (fm_rect){10, 9, 1, 7}); // a gap of one cell
    uint64_t order = scene_order(&scene, agents[1],
                                 (fm_command){.order = FM_ORDER_MOVE,
                                              .on_unreachable = FM_UNREACHABLE_FAIL,
                                              .cells = (fm_cell[]){fm_cell_at(13, 8)},
                                              .cell_count = 1});
    scene_run(&scene, 5);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_UNREACHABLE);
    // As a unit of one cell it gets through, with the order that it waits for.
    order = scene_order(&scene, agents[1],
                        (fm_command){.order = FM_ORDER_MOVE,
                                     .on_unreachable = FM_UNREACHABLE_WAIT,
                                     .cells = (fm_cell[]){fm_cell_at(13, 8)},
                                     .cell_count = 1});
    scene_run(&scene, 5);
    assert_int_equal(scene_look(&scene, agents[1]).state, FM_AGENT_BLOCKED);
    assert_int_equal(set(&scene, agents[1], (fm_command){.set = FM_SET_CLASS}).status, FM_OK);
    scene_run(&scene, 20);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_ARRIVED);
    fm_world_destroy(scene.world);
}

static void what_set_does_not_know_is_refused(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 8, 8, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    assert_int_equal(set(&scene, agent, (fm_command){.frozen = true}).status, FM_ERR_BAD_VALUE);
    assert_int_equal(set(&scene, agent, (fm_command){.set = FM_SET_ALL + 1}).status,
                     FM_ERR_BAD_VALUE);
    fm_command freeze = {.set = FM_SET_FROZEN, .frozen = true, .team = 2};
    assert_int_equal(set(&scene, agent, freeze).status, FM_ERR_NO_AGENT);
    scene_remove(&scene, agent);
    freeze.team = FM_ALL_TEAMS;
    assert_int_equal(set(&scene, agent, freeze).status, FM_ERR_NO_AGENT);
    fm_world_destroy(scene.world);
}

// ---- tags ---------------------------------------------------------------------------------------

// What a view says of an agent's tag in the last tick: "-": nothing, else the tag.
static const char *told_tag(const struct order_scene *scene, uint32_t team, fm_agent_id agent)
{
    static char text[FM_TAG_SIZE_MAX + 1];
    fm_changes changes = fm_world_changes(scene->world, team);
    bool told = false;
    for (uint32_t i = 0; i < changes.entered_count; i++) {
        told |= changes.entered[i].tells_tag && changes.entered[i].id.index1 == agent.index1;
    }
    for (uint32_t i = 0; i < changes.changed_count; i++) {
        told |= changes.changed[i].tells_tag && changes.changed[i].id.index1 == agent.index1;
    }
    uint32_t size;
    const uint8_t *bytes = fm_world_tag(scene->world, team, agent, &size);
    memset(text, 0, sizeof text);
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    return told ? text : "-";
}

static void write_tag(struct order_scene *scene, fm_agent_id agent, const char *tag)
{
    fm_command command = {
        .set = FM_SET_TAG, .tag = (const uint8_t *)tag, .tag_size = (uint8_t)strlen(tag)};
    assert_int_equal(set(scene, agent, command).status, FM_OK);
}

static void show_tag(struct order_scene *scene, fm_agent_id agent, bool shown)
{
    fm_command command = {.set = FM_SET_TAG_SHOWN, .tag_shown = shown};
    assert_int_equal(set(scene, agent, command).status, FM_OK);
}

static void tags_are_told_to_those_who_may_know_them(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 40, 16, false);
    fm_agent_id agent = scene_spawn(&scene, 1, 4, 4), enemy = scene_spawn(&scene, 2, 7, 4);
    for (uint32_t team = 0; team <= 2; team++) {
        assert_int_equal(fm_world_watch(scene.world, team, true), FM_OK);
    }
    scene_run(&scene, 1);
    write_tag(&scene, agent, "hero");
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, FM_ALL_TEAMS, agent), "hero");
    assert_string_equal(told_tag(&scene, 1, agent), "hero");
    assert_string_equal(told_tag(&scene, 2, agent), "-");
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 1, agent), "-"); // once
    show_tag(&scene, agent, true);
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 2, agent), "hero");
    write_tag(&scene, agent, "");
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 2, agent), "");
    write_tag(&scene, agent, "king");
    show_tag(&scene, agent, false);
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 2, agent), ""); // removed
    show_tag(&scene, agent, true);
    // It leaves and enters the sight: it enters with its tag.
    fm_cell far = fm_cell_at(30, 4), back = fm_cell_at(8, 4);
    assert_int_equal(place(&scene, &agent, &far, 1, FM_PLACE_EXACT).status, FM_OK);
    scene_run(&scene, 1);
    write_tag(&scene, agent, "queen");
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 2, agent), "-");
    assert_int_equal(place(&scene, &agent, &back, 1, FM_PLACE_EXACT).status, FM_OK);
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 2, agent), "queen");
    fm_command too_long = {.set = FM_SET_TAG, .tag_size = FM_TAG_SIZE_MAX + 1};
    assert_int_equal(set(&scene, enemy, too_long).status, FM_ERR_BAD_VALUE);
    // The next agent in its slot has none.
    scene_remove(&scene, agent);
    agent = scene_spawn(&scene, 1, 4, 4);
    scene_run(&scene, 1);
    assert_string_equal(told_tag(&scene, 1, agent), "-");
    assert_true(fm_world_has_tags(scene.world) == false);
    fm_world_destroy(scene.world);
}

// ---- sight --------------------------------------------------------------------------------------

static uint32_t count_visible(const struct order_scene *scene, uint32_t team)
{
    uint64_t words[64];
    uint32_t count = 0;
    fm_world_sight(scene->world, team, words);
    for (uint32_t y = 0; y < 40; y++) {
        count += (uint32_t)__builtin_popcountll(words[y]);
    }
    return count;
}

static void units_see_as_far_as_they_are_told(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 40, 40, false); // radius 5, square
    scene_spawn(&scene, 1, 20, 20);                             // in the same cell, and sees less
    fm_agent_id scout = scene_spawn(&scene, 1, 20, 20), enemy = scene_spawn(&scene, 2, 32, 20);
    assert_int_equal(fm_world_watch(scene.world, 1, true), FM_OK);
    assert_int_equal(fm_world_watch_sight(scene.world, 1), FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(count_visible(&scene, 1), 11 * 11);
    assert_int_equal(fm_world_changes(scene.world, 1).entered_count, 0);
    fm_command far = {.set = FM_SET_SIGHT, .sight = 12};
    assert_int_equal(set(&scene, scout, far).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(count_visible(&scene, 1), 25 * 25);
    assert_int_equal(fm_world_changes(scene.world, 1).entered_count, 1);
    assert_int_equal(fm_world_look_up(scene.world, 1, fm_cell_at(32, 32)).terrain,
                     FM_TERRAIN_GROUND);
    // What the team sees decides what can be followed.
    scene_order(&scene, scout, (fm_command){.order = FM_ORDER_FOLLOW, .target = enemy});
    scene_run(&scene, 30);
    assert_in_range(fm_cell_x(scene_look(&scene, scout).cell), 29, 31);
    // A unit with a short sight learns only what is near.
    fm_command near = {.set = FM_SET_SIGHT, .sight = 1};
    fm_agent_id blind = scene_spawn(&scene, 1, 2, 2);
    assert_int_equal(set(&scene, blind, near).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(fm_world_look_up(scene.world, 1, fm_cell_at(3, 3)).terrain, FM_TERRAIN_GROUND);
    assert_int_equal(fm_world_look_up(scene.world, 1, fm_cell_at(4, 2)).terrain,
                     FM_TERRAIN_UNKNOWN);
    far.sight = FM_SENSE_RADIUS_MAX + 1;
    assert_int_equal(set(&scene, scout, far).status, FM_ERR_BAD_VALUE);
    fm_world_destroy(scene.world);
}

// ---- another team -------------------------------------------------------------------------------

static const fm_agent_left *find_left(const fm_changes *changes, fm_agent_id name)
{
    for (uint32_t i = 0; i < changes->left_count; i++) {
        if (fm_agent_id_pack(changes->left[i].name) == fm_agent_id_pack(name)) {
            return &changes->left[i];
        }
    }
    return NULL;
}

static void a_unit_changes_sides_with_its_id_and_without_its_orders(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 60, 16, false);
    fm_agent_id agent = scene_spawn(&scene, 1, 4, 4), friend = scene_spawn(&scene, 1, 6, 4);
    fm_agent_id enemy = scene_spawn(&scene, 2, 40, 4);
    (void)friend;
    for (uint32_t team = 0; team <= 2; team++) {
        assert_int_equal(fm_world_watch(scene.world, team, true), FM_OK);
    }
    scene_run(&scene, 1);
    uint64_t order = scene_move_to(&scene, agent, 50, 4, false);
    uint64_t queued = scene_move_to(&scene, agent, 4, 4, true);
    scene_run(&scene, 1);
    fm_agent_id old_name = fm_world_own_name(scene.world, agent);
    fm_command turn = {.set = FM_SET_TEAM, .new_team = 2};
    assert_int_equal(set(&scene, agent, turn).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_CANCELLED);
    assert_int_equal(scene_ending(&scene, queued).team, 1);
    assert_int_equal(scene_look(&scene, agent).team, 2);
    // Its old team sees it leave and, as the friend is near, enter as another's.
    fm_changes changes = fm_world_changes(scene.world, 1);
    assert_non_null(find_left(&changes, old_name));
    assert_int_equal(find_left(&changes, old_name)->reason, FM_LEAVE_TURNED);
    assert_int_equal(changes.entered_count, 1);
    assert_int_equal(changes.entered[0].team, 2);
    assert_int_equal(changes.entered[0].name.index1 % 2, 0);
    assert_int_equal(changes.ended_count, 2);
    // Its new team has it, has an alias for it, and learns what it sees from its cell, but no more.
    changes = fm_world_changes(scene.world, 2);
    assert_int_equal(changes.ended_count, 0);
    fm_agent_id new_name = fm_world_own_name(scene.world, agent);
    assert_int_equal(fm_agent_id_pack(fm_world_agent_named(scene.world, 2, new_name)),
                     fm_agent_id_pack(agent));
    assert_int_equal(fm_agent_id_pack(fm_world_agent_named(scene.world, 1, old_name)), 0);
    assert_int_equal(fm_world_look_up(scene.world, 2, fm_cell_at(5, 4)).terrain, FM_TERRAIN_GROUND);
    assert_int_equal(fm_world_look_up(scene.world, 2, fm_cell_at(20, 4)).terrain,
                     FM_TERRAIN_UNKNOWN);
    // The view of everything sees it change.
    changes = fm_world_changes(scene.world, FM_ALL_TEAMS);
    assert_int_equal(changes.left_count + changes.entered_count, 0);
    // Its new team can order it; the old team's next unit takes its place.
    fm_command move = {.kind = FM_COMMAND_ORDER,
                       .team = 2,
                       .agents = &agent,
                       .agent_count = 1,
                       .cells = (fm_cell[]){fm_cell_at(8, 8)},
                       .cell_count = 1};
    assert_int_equal(scene_give(&scene, move).status, FM_OK);
    move.team = 1;
    assert_int_equal(scene_give(&scene, move).status, FM_ERR_NO_AGENT);
    fm_agent_id next = fm_world_own_name(scene.world, scene_spawn(&scene, 1, 9, 9));
    assert_int_equal(next.index1, old_name.index1);
    assert_int_equal(next.generation, old_name.generation + 1);
    scene_run(&scene, 2);
    turn.new_team = 3;
    assert_int_equal(set(&scene, enemy, turn).status, FM_ERR_NO_TEAM);
    turn.new_team = FM_ALL_TEAMS;
    assert_int_equal(set(&scene, enemy, turn).status, FM_ERR_NO_TEAM);
    fm_world_destroy(scene.world);
}

// Aliases do not tell a team how many units the other had, and slots do not run out.
static void names_of_those_who_changed_sides_depend_on_their_new_team(void **state)
{
    (void)state;
    fm_agent_id names[2];
    for (uint32_t deaths = 0; deaths < 2; deaths++) {
        struct order_scene scene = scene_make(NULL, 16, 16, true);
        for (uint32_t i = 0; i < 5 * deaths; i++) {
            scene_remove(&scene, scene_spawn(&scene, 2, 12, 12));
        }
        fm_agent_id agent = scene_spawn(&scene, 2, 12, 12);
        scene_spawn(&scene, 1, 2, 2);
        scene_remove(&scene, scene_spawn(&scene, 1, 2, 2));
        fm_command turn = {.set = FM_SET_TEAM, .new_team = 1};
        assert_int_equal(set(&scene, agent, turn).status, FM_OK);
        names[deaths] = fm_world_own_name(scene.world, agent);
        for (uint32_t i = 0; i < 100; i++) {
            turn.new_team = 1 + i % 2;
            assert_int_equal(set(&scene, agent, turn).status, FM_OK);
            scene_run(&scene, i % 3);
        }
        fm_agent_id last = scene_spawn(&scene, 1, 3, 3);
        assert_in_range(last.index1, 1, 5);
        fm_world_destroy(scene.world);
    }
    assert_int_equal(fm_agent_id_pack(names[0]), fm_agent_id_pack(names[1]));
}

// ---- place --------------------------------------------------------------------------------------

static void orders_go_on_from_where_one_is_put(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "..........#.....",
        "..........#.....",
        "..........#.....",
        NULL,
    };
    struct order_scene scene = scene_make(rows, 16, 3, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 1, 1);
    uint64_t order = scene_order(&scene, agent,
                                 (fm_command){.order = FM_ORDER_MOVE,
                                              .on_unreachable = FM_UNREACHABLE_WAIT,
                                              .cells = (fm_cell[]){fm_cell_at(14, 1)},
                                              .cell_count = 1});
    uint64_t next = scene_move_to(&scene, agent, 14, 2, true);
    scene_run(&scene, 4);
    assert_int_equal(scene_look(&scene, agent).state, FM_AGENT_BLOCKED);
    fm_cell beyond = fm_cell_at(12, 1);
    assert_int_equal(place(&scene, &agent, &beyond, 1, FM_PLACE_EXACT).status, FM_OK);
    assert_int_equal(scene_look(&scene, agent).cell, beyond);
    scene_run(&scene, 6);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_ARRIVED);
    assert_int_equal(scene_ending(&scene, next).reason, FM_END_ARRIVED);
    fm_world_destroy(scene.world);
}

static void units_may_change_places(void **state)
{
    (void)state;
    struct order_scene scene = make_exclusive("ground", 8);
    fm_agent_id agents[3] = {scene_spawn(&scene, 1, 1, 1), scene_spawn(&scene, 2, 2, 1),
                             scene_spawn(&scene, 2, 5, 5)};
    const fm_cell swapped[] = {fm_cell_at(2, 1), fm_cell_at(1, 1)};
    assert_int_equal(place(&scene, agents, swapped, 2, FM_PLACE_EXACT).status, FM_OK);
    scene_run(&scene, 1); // validates the units' cells
    assert_int_equal(scene_look(&scene, agents[0]).cell, swapped[0]);
    assert_int_equal(scene_look(&scene, agents[1]).cell, swapped[1]);
    // Onto a unit that stays: none moves.
    const fm_cell taken[] = {fm_cell_at(1, 1), fm_cell_at(5, 5)};
    uint64_t digest = fm_world_digest(scene.world);
    fm_command_result result = place(&scene, agents, taken, 2, FM_PLACE_EXACT);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL);
    assert_int_equal(result.failed_index, 1);
    fm_agent_id twice[2] = {agents[0], agents[0]};
    assert_int_equal(place(&scene, twice, swapped, 2, FM_PLACE_EXACT).status, FM_ERR_BAD_VALUE);
    const fm_cell outside[] = {fm_cell_at(8, 0)};
    assert_int_equal(place(&scene, agents, outside, 1, FM_PLACE_EXACT).status, FM_ERR_OFF_GRID);
    assert_int_equal(fm_world_digest(scene.world), digest);
    assert_int_equal(place(&scene, agents, taken, 2, FM_PLACE_NEAREST).status, FM_OK);
    assert_int_not_equal(scene_look(&scene, agents[1]).cell, taken[1]);
    assert_int_equal(cells_apart(scene_look(&scene, agents[1]).cell, taken[1]), 1);
    scene_run(&scene, 1);
    fm_world_destroy(scene.world);
}

static void who_is_put_somewhere_looks_around(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 64, false);
    fm_agent_id agent = scene_spawn(&scene, 1, 2, 2);
    scene_run(&scene, 1);
    fm_cell far = fm_cell_at(50, 50);
    assert_int_equal(fm_world_look_up(scene.world, 1, far).terrain, FM_TERRAIN_UNKNOWN);
    assert_int_equal(place(&scene, &agent, &far, 1, FM_PLACE_EXACT).status, FM_OK);
    scene_run(&scene, 1);
    assert_int_equal(fm_world_look_up(scene.world, 1, far).terrain, FM_TERRAIN_GROUND);
    fm_world_destroy(scene.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frozen_stay_and_their_orders_wait),
        cmocka_unit_test(nobody_pushes_the_frozen),
        cmocka_unit_test(speeds_change_under_way),
        cmocka_unit_test(a_class_must_fit_where_the_unit_stands),
        cmocka_unit_test(what_set_does_not_know_is_refused),
        cmocka_unit_test(tags_are_told_to_those_who_may_know_them),
        cmocka_unit_test(units_see_as_far_as_they_are_told),
        cmocka_unit_test(a_unit_changes_sides_with_its_id_and_without_its_orders),
        cmocka_unit_test(names_of_those_who_changed_sides_depend_on_their_new_team),
        cmocka_unit_test(orders_go_on_from_where_one_is_put),
        cmocka_unit_test(units_may_change_places),
        cmocka_unit_test(who_is_put_somewhere_looks_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
