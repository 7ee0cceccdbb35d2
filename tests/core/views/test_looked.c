// test_looked.c: what a watched team sees is kept up from tick to tick.
//
// Method: worlds of several presence tiles in which most agents stand. At random some walk, are
// placed elsewhere, change their team or sight, are born or die; cells are edited. In many ticks
// nothing happens, so that everything is kept. After every tick the visible cells and the agents in
// view must be those that all of the team's agents see when they look again.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/watched_view.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"
#include "tests/support/support.h"

#define WIDTH      200u
#define HEIGHT     100u
#define TEAMS      3u // the second one is told what is visible as well
#define AGENTS_MAX 512u
#define BORN_MAX   40u
#define ROUNDS     12u
#define TICKS      120u

struct scene {
    fm_random random;
    fm_world *world;
    fm_agent_id agents[AGENTS_MAX];
    uint32_t agent_count;
};

static uint32_t below(struct scene *scene, uint32_t end)
{
    return fm_random_below(&scene->random, end);
}

// Near the middle of the map, where teams meet, or anywhere.
static fm_cell random_cell(struct scene *scene)
{
    return below(scene, 2) == 0 ? fm_cell_at(below(scene, WIDTH), below(scene, HEIGHT))
                                : fm_cell_at(80 + below(scene, 50), 30 + below(scene, 40));
}

static void apply(struct scene *scene, fm_command command, fm_agent_id *spawned)
{
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(scene->world, &command, &result);
    scene->agent_count += spawned != NULL && result.status == FM_OK ? command.cell_count : 0;
}

static void spawn(struct scene *scene, uint32_t team, uint32_t count)
{
    fm_cell cells[BORN_MAX];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = random_cell(scene);
    }
    if (scene->agent_count + count <= AGENTS_MAX) {
        apply(scene,
              (fm_command){.kind = FM_COMMAND_SPAWN,
                           .team = team,
                           .cells = cells,
                           .cell_count = count,
                           .class_index = below(scene, 4) == 0},
              &scene->agents[scene->agent_count]);
    }
}

static void do_with_one(struct scene *scene)
{
    fm_cell cell = random_cell(scene);
    fm_command command = {.agents = &scene->agents[below(scene, scene->agent_count)],
                          .agent_count = 1};
    switch (below(scene, 8)) {
    case 0:
        command.kind = FM_COMMAND_REMOVE;
        break;
    case 1:
        command.kind = FM_COMMAND_PLACE;
        command.cells = &cell;
        command.cell_count = 1;
        break;
    case 2:
        command.kind = FM_COMMAND_SET;
        command.set = FM_SET_SIGHT;
        command.sight = (uint8_t)below(scene, 9);
        break;
    case 3:
        command.kind = FM_COMMAND_SET;
        command.set = FM_SET_TEAM;
        command.new_team = 1 + below(scene, TEAMS);
        break;
    default:
        command.kind = FM_COMMAND_ORDER;
        command.order = FM_ORDER_MOVE;
        command.cells = &cell;
        command.cell_count = 1;
        break;
    }
    apply(scene, command, NULL);
}

static void do_something(struct scene *scene)
{
    for (uint32_t i = below(scene, 3); i > 0; i--) {
        fm_cell cell = random_cell(scene);
        switch (below(scene, 8)) {
        case 0:
            spawn(scene, 1 + below(scene, TEAMS), 1 + below(scene, 4));
            break;
        case 1:
            apply(
                scene,
                (fm_command){.kind = FM_COMMAND_TERRAIN,
                             .cells = &cell,
                             .cell_count = 1,
                             .terrain = below(scene, 2) == 0 ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND},
                NULL);
            break;
        default:
            do_with_one(scene);
            break;
        }
    }
}

static void make_world(struct scene *scene, bool line_of_sight)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(WIDTH, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = 3 + below(scene, 4);
    rules.sense.line_of_sight = line_of_sight;
    assert_int_equal(fm_movement_classes_parse("ground;tank:size=3,ground=1", rules.classes,
                                               &rules.class_count, NULL, 0),
                     FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene->world), FM_OK);
    scene->agent_count = 0;
    for (uint32_t team = 1; team <= TEAMS; team++) {
        apply(scene, (fm_command){.kind = FM_COMMAND_TEAM}, NULL);
        spawn(scene, team, BORN_MAX);
        spawn(scene, team, BORN_MAX);
    }
    for (uint32_t team = 0; team <= TEAMS; team++) {
        assert_int_equal(fm_world_watch(scene->world, team, true), FM_OK);
    }
    assert_int_equal(fm_world_watch_sight(scene->world, 2), FM_OK);
}

// Computes what all living agents of a team see.
static void look_anew(const fm_world *world, uint32_t team, fm_bitmap *visible)
{
    const struct fm_team *own = fm_team_of(world, team);
    fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
    fm_bitmap_clear(visible);
    for (uint32_t i = 0; i < own->member_count; i++) {
        const struct fm_agent *agent = fm_agent_at(world, own->members[i]);
        uint32_t eye_count = agent->alive ? fm_agent_eyes(world, agent, eyes) : 0;
        for (uint32_t eye = 0; eye < eye_count; eye++) {
            fm_knowledge_look(own->knowledge, fm_agent_sight(world, agent), eyes[eye], visible);
        }
    }
}

static void check_agents(const struct scene *scene, uint32_t team, const fm_bitmap *visible)
{
    static fm_agent_look looks[AGENTS_MAX];
    static bool shown[2 * AGENTS_MAX + 1];
    uint32_t count = fm_world_agents_in_view(scene->world, team, looks, AGENTS_MAX);
    memset(shown, 0, sizeof shown);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(looks[i].id.index1 <= 2 * AGENTS_MAX && !shown[looks[i].id.index1]);
        shown[looks[i].id.index1] = true;
    }
    uint32_t expected = 0;
    for (uint32_t i = 0; i < fm_world_agents(scene->world)->slot_count; i++) {
        const struct fm_agent *agent = fm_agent_at(scene->world, i);
        bool is_seen =
            agent->alive && (agent->team == team || fm_agent_touches(scene->world, agent, visible));
        assert_int_equal(shown[i + 1], is_seen);
        expected += is_seen;
    }
    assert_int_equal(count, expected);
}

static void check_sight(const struct scene *scene, uint32_t team, const fm_bitmap *visible)
{
    static uint64_t words[HEIGHT * (WIDTH / 64 + 1)];
    fm_world_sight(scene->world, team, words);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        assert_memory_equal(&words[y * (WIDTH / 64 + 1)], fm_bitmap_row(visible, (int32_t)y),
                            (WIDTH / 64 + 1) * sizeof *words);
    }
}

static void what_is_kept_is_what_all_see(void **state)
{
    (void)state;
    static struct scene scene;
    scene.random = fm_random_seed(fm_test_seed());
    fm_bitmap visible;
    assert_int_equal(fm_bitmap_init(&visible, WIDTH, HEIGHT, false, &fm_memory_libc), FM_OK);
    uint32_t kept = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make_world(&scene, round % 2 == 1);
        for (uint32_t i = 0; i < TICKS; i++) {
            do_something(&scene);
            fm_tick_report report;
            fm_tick_run(scene.world, NULL, 100000, NULL, &report);
            for (uint32_t team = 1; team <= TEAMS; team++) {
                look_anew(scene.world, team, &visible);
                check_agents(&scene, team, &visible);
                kept += !fm_team_of(scene.world, team)->delta->sees_other;
            }
            look_anew(scene.world, 2, &visible);
            check_sight(&scene, 2, &visible);
        }
        fm_world_destroy(scene.world);
    }
    print_message("%u of %u views were kept as they were\n", kept, ROUNDS * TICKS * TEAMS);
    assert_true(kept > 0 && kept < ROUNDS * TICKS * TEAMS);
    fm_bitmap_fini(&visible, &fm_memory_libc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_what_all_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
