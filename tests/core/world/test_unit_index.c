// test_unit_index.c: who is near a cell.
//
// Units of four teams, few or thousands, many on one cell, are asked for in the way that takes a
// short time, and by going through all of them. Both must name the same ones in the same order.

#include "core/world/agent_marks.h"
#include "core/world/enemies.h"
#include "core/world/enemy_near.h"
#include "core/world/given_orders.h"
#include "core/world/lookouts.h"
#include "core/world/true_map.h"
#include "core/world/unit_index.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

#define SIDE      128u
#define TEAMS     4u
#define NEAR_MOST 16u

static struct order_scene make_scene(fm_random *random, uint32_t count)
{
    struct order_scene scene = scene_make(NULL, SIDE, SIDE, true);
    for (uint32_t team = 3; team <= TEAMS; team++) {
        fm_command_result result = {.spawned = NULL};
        fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        assert_int_equal(result.status, FM_OK);
    }
    uint32_t x_most = 1 + fm_random_below(random, SIDE), y_most = 1 + fm_random_below(random, SIDE);
    for (uint32_t i = 0; i < count; i++) {
        scene_spawn(&scene, 1 + fm_random_below(random, TEAMS), fm_random_below(random, x_most),
                    fm_random_below(random, y_most));
        if (fm_random_below(random, 100) == 0) {
            scene_run(&scene, 1); // those that follow are born later
        }
    }
    scene_run(&scene, 1);
    fm_unit_index_refresh(scene.world);
    fm_lookouts_refresh(scene.world);
    return scene;
}

static uint32_t distance_of(const fm_world *world, fm_cell a, fm_cell b)
{
    return fm_view_distance(&fm_world_map(world)->truth, a, b);
}

// By going through the whole list.
static uint32_t list_near(const fm_world *world, const fm_enemies *enemies, fm_cell cell,
                          uint32_t radius, fm_cell *cells)
{
    uint32_t reach = radius * fm_world_map(world)->truth.step[0], count = 0;
    bool *is_listed = calloc(enemies->count + 1, sizeof *is_listed);
    while (count < NEAR_MOST) {
        uint32_t best = UINT32_MAX, distance = reach + 1;
        for (uint32_t i = 0; i < enemies->count; i++) {
            uint32_t its = distance_of(world, enemies->cells[i], cell);
            if (!is_listed[i] && its < distance) {
                best = i;
                distance = its;
            }
        }
        if (best == UINT32_MAX) {
            break;
        }
        is_listed[best] = true;
        cells[count++] = enemies->cells[best];
    }
    free(is_listed);
    return count;
}

// By distance, cell, team, birth and slot.
static bool is_nearer(const fm_world *world, fm_cell cell, const struct fm_agent *a,
                      const struct fm_agent *b)
{
    uint32_t to_a = distance_of(world, a->cell, cell), to_b = distance_of(world, b->cell, cell);
    if (to_a != to_b || a->cell != b->cell) {
        return to_a < to_b || (to_a == to_b && a->cell < b->cell);
    }
    return a->team < b->team || (a->team == b->team && a->born < b->born);
}

static const struct fm_agent *nearest_of_all(const fm_world *world, uint32_t team, fm_cell cell,
                                             uint32_t radius)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t reach = radius * fm_world_map(world)->truth.step[0];
    const struct fm_agent *best = NULL;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        if (agent->team != team && distance_of(world, agent->cell, cell) <= reach &&
            (best == NULL || is_nearer(world, cell, agent, best)) &&
            fm_lookouts_see(world, team, agent->cell)) {
            best = agent;
        }
    }
    return best;
}

static void ask(struct order_scene *scene, fm_random *random, const fm_enemies *enemies,
                uint32_t team)
{
    fm_cell got[NEAR_MOST], expected[NEAR_MOST];
    fm_cell cell = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
    uint32_t radius = 1 + fm_random_below(random, 128);
    uint32_t count = fm_enemies_near(scene->world, enemies, cell, radius, got, NEAR_MOST);
    assert_int_equal(count, list_near(scene->world, enemies, cell, radius, expected));
    assert_memory_equal(got, expected, count * sizeof *got);
    assert_ptr_equal(fm_enemy_near(scene->world, team, cell, radius),
                     nearest_of_all(scene->world, team, cell, radius));
}

static void the_near_ones_are_those_of_a_plain_search(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 20, 300, 2000};
    fm_random random = fm_random_seed(20261126);
    for (uint32_t i = 0; i < 2 * FM_COUNT_OF(counts); i++) {
        struct order_scene scene = make_scene(&random, counts[i / 2]);
        for (uint32_t team = 1; team <= TEAMS; team++) {
            fm_enemies enemies = {.cells = NULL};
            assert_int_equal(fm_enemies_refresh(scene.world, team, &enemies), FM_OK);
            for (uint32_t k = 0; k < 32; k++) {
                ask(&scene, &random, &enemies, team);
            }
            fm_enemies_fini(&enemies, &fm_memory_libc);
        }
        fm_world_destroy(scene.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_near_ones_are_those_of_a_plain_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
