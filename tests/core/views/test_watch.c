// test_watch.c: watched views when memory runs out in some ticks.
//
// Method: small worlds in fog, born again and again, in which agents are spawned, removed and moved
// and cells edited at random. In one tick in three there is no memory. A client that gets all
// changes, and the whole view after incomplete ones, must always agree with the world. The ends of
// orders, which are sent once, are sent in those ticks, too, or reported as lost.
//
// An entry of somebody else's agent says something new in every case: what only its owner may know
// sends none.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/interval.h"
#include "core/world/team.h"
#include "core/world/terrain_block.h"
#include "core/world/watched_view.h"
#include "core/world/world.h"
#include "tests/support/support.h"

#define SIDE        24u
#define TEAMS       2u
#define AGENTS_MAX  1024u
#define ROUNDS      200u
#define TICKS       16u
#define SPAWNED_MAX 20u

// What a client knows that was notified of all changes of a view.
struct mirror {
    fm_agent_look agents[AGENTS_MAX];
    uint32_t count;
    uint32_t terrains[SIDE * SIDE];
    uint64_t visible[SIDE]; // a word for each row
    bool incomplete;
    uint32_t caught_up_count;
    uint64_t ended_count, ended_incomplete_count; // orders, in all and in incomplete ticks
};

struct scene {
    fm_test_memory memory;
    fm_random random;
    fm_world *world;
    fm_agent_id agents[AGENTS_MAX];
    uint32_t agent_count;
    struct mirror mirrors[TEAMS + 1];
};

// ---- mirrors ------------------------------------------------------------------------------------

static uint32_t find(const struct mirror *mirror, fm_agent_id name)
{
    for (uint32_t i = 0; i < mirror->count; i++) {
        if (fm_agent_id_pack(mirror->agents[i].name) == fm_agent_id_pack(name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static uint32_t terrain_at(const fm_world *world, uint32_t team, uint32_t i)
{
    return fm_world_look_up(world, team, fm_cell_at(i % SIDE, i / SIDE)).terrain;
}

// Looks at a block of cells agree with looks at each cell.
static void compare_looks(const fm_world *world, uint32_t team)
{
    for (uint32_t y = 0; y < SIDE; y++) {
        fm_terrain_block looks;
        assert_int_equal(fm_world_look_up_block(world, team, 0, y, &looks), SIDE);
        for (uint32_t x = 0; x < FM_TERRAIN_BLOCK_CELLS; x++) {
            fm_learned look = {.terrain = FM_TERRAIN_UNKNOWN};
            if (x < SIDE) {
                look = fm_world_look_up(world, team, fm_cell_at(x, y));
            }
            assert_int_equal(looks.terrain[x], look.terrain);
            assert_true(look.terrain == FM_TERRAIN_UNKNOWN || looks.cost[x] == look.cost);
        }
    }
}

static void show_whole(struct mirror *mirror, const fm_world *world, uint32_t team)
{
    compare_looks(world, team);
    fm_world_sight(world, team, mirror->visible);
    mirror->count = fm_world_agents_in_view(world, team, mirror->agents, AGENTS_MAX);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        mirror->terrains[i] = terrain_at(world, team, i);
    }
}

static bool is_same_to_others(const fm_agent_look *a, const fm_agent_look *b)
{
    return a->cell == b->cell && a->team == b->team && a->class_index == b->class_index;
}

static void tell_changes(struct mirror *mirror, const fm_changes *changes, uint32_t team)
{
    for (uint32_t i = 0; i < changes->left_count; i++) {
        if (changes->left[i].reason == FM_LEAVE_DIED) {
            continue; // it was carried, and so out of the view
        }
        uint32_t at = find(mirror, changes->left[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        mirror->agents[at] = mirror->agents[--mirror->count];
    }
    for (uint32_t i = 0; i < changes->entered_count; i++) {
        assert_int_equal(find(mirror, changes->entered[i].name), UINT32_MAX);
        assert_true(mirror->count < AGENTS_MAX);
        mirror->agents[mirror->count++] = changes->entered[i];
    }
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        uint32_t at = find(mirror, changes->changed[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        assert_true(team == FM_ALL_TEAMS || changes->changed[i].team == team ||
                    !is_same_to_others(&mirror->agents[at], &changes->changed[i]));
        mirror->agents[at] = changes->changed[i];
    }
    for (uint32_t i = 0; i < changes->cell_count; i++) {
        fm_cell cell = changes->cells[i].cell;
        mirror->terrains[fm_cell_y(cell) * SIDE + fm_cell_x(cell)] = changes->cells[i].terrain;
    }
    for (uint32_t i = 0; i < changes->sight_count; i++) {
        assert_int_equal(changes->sight[i].word, 0);
        assert_true(changes->sight[i].cells != 0);
        mirror->visible[changes->sight[i].y] ^= changes->sight[i].cells;
    }
}

static void check(const struct mirror *mirror, const fm_world *world, uint32_t team)
{
    static fm_agent_look agents[AGENTS_MAX];
    uint32_t count = fm_world_agents_in_view(world, team, agents, AGENTS_MAX);
    assert_int_equal(count, mirror->count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find(mirror, agents[i].name);
        assert_int_not_equal(at, UINT32_MAX);
        assert_int_equal(mirror->agents[at].cell, agents[i].cell);
        fm_agent_report report;
        assert_int_equal(fm_world_inspect(world, agents[i].id, &report), FM_OK);
        assert_int_equal(mirror->agents[at].cell, report.cell);
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        assert_int_equal(mirror->terrains[i], terrain_at(world, team, i));
    }
    uint64_t visible[SIDE];
    fm_world_sight(world, team, visible);
    assert_memory_equal(visible, mirror->visible, sizeof visible);
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    assert_true(team != FM_ALL_TEAMS || count == counts.agents);
}

static void tell_endings(struct mirror *mirror, const fm_changes *changes)
{
    mirror->ended_count += changes->ended_count;
    mirror->ended_incomplete_count += changes->incomplete ? changes->ended_count : 0;
}

// Checks that the view of everything got the ends of all orders, and each team those of its own,
// also of ticks in which memory was out.
static void check_endings(const struct scene *scene)
{
    fm_world_counts counts;
    uint64_t ended = 0, told = 0;
    fm_world_counts_get(scene->world, &counts);
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        ended += counts.orders_ended[i];
    }
    for (uint32_t team = 1; team <= TEAMS; team++) {
        told += scene->mirrors[team].ended_count;
    }
    assert_int_equal(scene->mirrors[0].ended_count, ended);
    assert_int_equal(told, ended);
}

static void tell(struct mirror *mirror, const fm_world *world, uint32_t team)
{
    fm_changes changes = fm_world_changes(world, team);
    tell_endings(mirror, &changes);
    if (changes.incomplete) {
        mirror->incomplete = true;
        return;
    }
    if (mirror->incomplete) {
        mirror->incomplete = false;
        mirror->caught_up_count++;
        show_whole(mirror, world, team);
    } else {
        tell_changes(mirror, &changes, team);
    }
    check(mirror, world, team);
}

// ---- the world ----------------------------------------------------------------------------------

// In the half of the map that has no walls.
static fm_cell random_cell(struct scene *scene)
{
    return fm_cell_at(fm_random_below(&scene->random, SIDE / 2),
                      fm_random_below(&scene->random, SIDE));
}

static void spawn(struct scene *scene)
{
    fm_cell cells[SPAWNED_MAX];
    uint32_t count = 1 + fm_random_below(&scene->random, SPAWNED_MAX);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = random_cell(scene);
    }
    assert_true(scene->agent_count + count <= AGENTS_MAX);
    fm_command command = {.kind = FM_COMMAND_SPAWN,
                          .team = 1 + fm_random_below(&scene->random, TEAMS),
                          .cells = cells,
                          .cell_count = count};
    fm_command_result result = {.spawned = &scene->agents[scene->agent_count]};
    fm_world_apply(scene->world, &command, &result);
    scene->agent_count += result.status == FM_OK ? count : 0;
}

static void order_or_remove(struct scene *scene, bool removes)
{
    fm_agent_id agents[8];
    uint32_t count = 0;
    while (count < FM_COUNT_OF(agents) && scene->agent_count > 0) {
        uint32_t at = fm_random_below(&scene->random, scene->agent_count);
        agents[count++] = scene->agents[at];
        scene->agents[at] = scene->agents[--scene->agent_count];
    }
    fm_cell goal = random_cell(scene);
    fm_command command = {.kind = removes ? FM_COMMAND_REMOVE : FM_COMMAND_ORDER,
                          .agents = agents,
                          .agent_count = count,
                          .cells = removes ? NULL : &goal,
                          .cell_count = removes ? 0 : 1,
                          .order = FM_ORDER_MOVE};
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
    for (uint32_t i = 0; !removes && i < count; i++) {
        scene->agents[scene->agent_count++] = agents[i];
    }
}

static void edit(struct scene *scene)
{
    fm_cell cell = random_cell(scene) + SIDE / 2;
    fm_command command = {.kind = FM_COMMAND_TERRAIN,
                          .cells = &cell,
                          .cell_count = 1,
                          .terrain = fm_random_below(&scene->random, 2) == 0 ? FM_TERRAIN_WALL
                                                                             : FM_TERRAIN_GROUND};
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
}

static void do_something(struct scene *scene)
{
    for (uint32_t i = fm_random_below(&scene->random, 4); i > 0; i--) {
        switch (fm_random_below(&scene->random, 4)) {
        case 0:
            spawn(scene);
            break;
        case 1:
            edit(scene);
            break;
        case 2:
            order_or_remove(scene, true);
            break;
        default:
            order_or_remove(scene, false);
            break;
        }
    }
}

static void make_world(struct scene *scene)
{
    fm_grid *grid;
    fm_test_memory_init(&scene->memory, UINT64_MAX);
    assert_int_equal(fm_grid_create(SIDE, SIDE, &scene->memory.memory, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = 3;
    assert_int_equal(fm_world_create(&rules, grid, &scene->memory.memory, &scene->world), FM_OK);
    scene->agent_count = 0;
    for (uint32_t team = 0; team <= TEAMS; team++) {
        fm_command command = {.kind = FM_COMMAND_TEAM};
        fm_command_result result = {0};
        if (team > 0) {
            fm_world_apply(scene->world, &command, &result);
        }
        assert_int_equal(fm_world_watch(scene->world, team, true), FM_OK);
        assert_int_equal(fm_world_watch_sight(scene->world, team), FM_OK);
        show_whole(&scene->mirrors[team], scene->world, team);
        scene->mirrors[team].incomplete = false;
        scene->mirrors[team].ended_count = 0;
    }
}

static void views_catch_up_after_memory_was_out(void **state)
{
    (void)state;
    static struct scene scene;
    scene.random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make_world(&scene);
        for (uint32_t i = 0; i < TICKS; i++) {
            do_something(&scene);
            scene.memory.left = fm_random_below(&scene.random, 3) == 0 ? 0 : UINT64_MAX;
            fm_tick_report report;
            fm_tick_run(scene.world, NULL, 1000, NULL, &report);
            scene.memory.left = UINT64_MAX;
            for (uint32_t team = 0; team <= TEAMS; team++) {
                tell(&scene.mirrors[team], scene.world, team);
            }
        }
        check_endings(&scene);
        fm_world_destroy(scene.world);
        assert_int_equal(scene.memory.held, 0);
    }
    for (uint32_t team = 0; team <= TEAMS; team++) {
        assert_true(scene.mirrors[team].caught_up_count > ROUNDS / 10);
        assert_true(scene.mirrors[team].ended_incomplete_count > 0);
    }
}

// An enemy that dies is gone; a team that saw it learns why only while it sees the enemy's cell.
static fm_leave_reason reason_of_death(bool observer_dies_too)
{
    static struct scene scene;
    scene.random = fm_random_seed(1);
    make_world(&scene);
    fm_agent_id agents[2];
    for (uint32_t team = 1; team <= 2; team++) {
        fm_cell cell = fm_cell_at(3, 2 + team);
        fm_command command = {
            .kind = FM_COMMAND_SPAWN, .team = team, .cells = &cell, .cell_count = 1};
        fm_command_result result = {.spawned = &agents[team - 1]};
        fm_world_apply(scene.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
    }
    fm_tick_report report;
    fm_tick_run(scene.world, NULL, 1000, NULL, &report);
    assert_int_equal(fm_world_changes(scene.world, 1).entered_count, 2);
    fm_command command = {.kind = FM_COMMAND_REMOVE,
                          .agents = observer_dies_too ? agents : agents + 1,
                          .agent_count = observer_dies_too ? 2 : 1};
    fm_command_result result = {0};
    fm_world_apply(scene.world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    fm_tick_run(scene.world, NULL, 1000, NULL, &report);
    fm_changes changes = fm_world_changes(scene.world, 1);
    fm_leave_reason reason = FM_LEAVE_FOG;
    uint32_t enemies = 0;
    for (uint32_t i = 0; i < changes.left_count; i++) {
        if (changes.left[i].team == 2) {
            reason = changes.left[i].reason;
            enemies += 1;
        }
    }
    assert_int_equal(enemies, 1);
    fm_world_destroy(scene.world);
    assert_int_equal(scene.memory.held, 0);
    return reason;
}

// Applies a command to the agent of team 2, runs a tick and returns the entries that team 1 gets.
static uint32_t entries_after(struct scene *scene, fm_command command, bool *tells_tag)
{
    command.agents = &scene->agents[1];
    command.agent_count = 1;
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    fm_tick_report report;
    fm_tick_run(scene->world, NULL, 1000, NULL, &report);
    assert_true(fm_world_changes(scene->world, 2).changed_count <= 1);
    fm_changes changes = fm_world_changes(scene->world, 1);
    assert_int_equal(changes.entered_count + changes.left_count, 0);
    *tells_tag = changes.changed_count > 0 && changes.changed[0].tells_tag;
    return changes.changed_count;
}

// Team 1 watches an agent of team 2 that stands.
static void what_only_the_owner_knows_sends_nothing(void **state)
{
    (void)state;
    static struct scene scene;
    static const uint8_t tags[] = "axe";
    scene.random = fm_random_seed(1);
    make_world(&scene);
    for (uint32_t team = 1; team <= 2; team++) {
        fm_cell cell = fm_cell_at(3, 2 + team);
        fm_command command = {
            .kind = FM_COMMAND_SPAWN, .team = team, .cells = &cell, .cell_count = 1};
        fm_command_result result = {.spawned = &scene.agents[team - 1]};
        fm_world_apply(scene.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
    }
    fm_tick_report report;
    fm_tick_run(scene.world, NULL, 1000, NULL, &report);
    fm_cell here = fm_cell_at(3, 4), wall = fm_cell_at(20, 20), there = fm_cell_at(3, 5);
    const struct {
        fm_command command;
        uint32_t entries;
        bool tells_tag;
    } steps[] = {
        {{.kind = FM_COMMAND_ORDER, .order = FM_ORDER_HOLD}, 0, false},
        {{.kind = FM_COMMAND_ORDER, .order = FM_ORDER_STOP}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_FROZEN, .frozen = true}, 0, false},
        {{.kind = FM_COMMAND_ORDER, .order = FM_ORDER_MOVE, .cells = &wall, .cell_count = 1},
         0,
         false},
        {{.kind = FM_COMMAND_ORDER, .order = FM_ORDER_STOP}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_SPEED, .speed = 1000}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG, .tag = tags, .tag_size = 1}, 0, false},
        {{.kind = FM_COMMAND_PLACE, .cells = &here, .cell_count = 1}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG_SHOWN, .tag_shown = true}, 1, true},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG_SHOWN, .tag_shown = true}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG, .tag = tags, .tag_size = 1}, 0, false},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG, .tag = tags, .tag_size = 2}, 1, true},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG_SHOWN, .tag_shown = false}, 1, true},
        {{.kind = FM_COMMAND_SET, .set = FM_SET_TAG, .tag = tags, .tag_size = 3}, 0, false},
        {{.kind = FM_COMMAND_PLACE, .cells = &there, .cell_count = 1}, 1, false},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(steps); i++) {
        bool tells_tag;
        assert_int_equal(entries_after(&scene, steps[i].command, &tells_tag), steps[i].entries);
        assert_int_equal(tells_tag, steps[i].tells_tag);
    }
    fm_world_destroy(scene.world);
    assert_int_equal(scene.memory.held, 0);
}

static void a_death_is_told_to_those_who_see_it(void **state)
{
    (void)state;
    assert_int_equal(reason_of_death(false), FM_LEAVE_REMOVED);
    assert_int_equal(reason_of_death(true), FM_LEAVE_FOG);
}

// A tick in which very many cells change leaves no room behind that later ones do not need.
static void room_for_many_cells_is_given_back(void **state)
{
    (void)state;
    const uint32_t side = 512;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.omniscient = true;
    fm_world *world;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_command_result result = {0};
    fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    assert_int_equal(fm_world_watch(world, result.team, true), FM_OK);
    const fm_rect all = {.x = 0, .y = 0, .width = side, .height = side};
    fm_command edit = {.kind = FM_COMMAND_TERRAIN,
                       .rects = &all,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_WALL,
                       .cost = FM_COST_FLOOR};
    fm_world_apply(world, &edit, &result);
    assert_int_equal(result.status, FM_OK);
    fm_tick_report report;
    fm_tick_run(world, NULL, 1000, NULL, &report);
    const uint32_t *cells = &fm_world_interval(world)->delta_all->cell_capacity;
    const uint32_t *learned = &fm_team_of(world, 1)->knowledge->learned_capacity;
    assert_true(*cells >= side * side && *learned >= side * side);
    fm_tick_run(world, NULL, 1000, NULL, &report);
    fm_tick_run(world, NULL, 1000, NULL, &report);
    assert_true(*cells < side * side / 4 && *learned < side * side / 4);
    fm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_is_told_to_those_who_see_it),
        cmocka_unit_test(room_for_many_cells_is_given_back),
        cmocka_unit_test(what_only_the_owner_knows_sends_nothing),
        cmocka_unit_test(views_catch_up_after_memory_was_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
