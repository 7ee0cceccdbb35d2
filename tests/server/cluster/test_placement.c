// test_placement.c: which node gets a world.
//
// Goal: worlds go to nodes that have capacity left, never to one that drains while another lives,
// and all nodes that see the same directory agree.
//
// Method: random directories; of any two nodes exactly one is better, and no node is better than
// the best. A move that was meant for an earlier owner has no effect.

#include "server/cluster/node_state.h"

#include "core/base/random.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>

#define NODES  9u
#define WORLDS 40u

static void make_directory(fm_random *random, fm_node_directory *directory)
{
    *directory = (fm_node_directory){.node_count = NODES, .world_count = WORLDS};
    directory->worlds = calloc(WORLDS, sizeof *directory->worlds);
    assert_non_null(directory->worlds);
    for (uint32_t i = 0; i < NODES; i++) {
        fm_node_entry *entry = &directory->nodes[i];
        snprintf(entry->name, sizeof entry->name, "node%u", i);
        entry->load = fm_random_below(random, 1000);
        entry->is_draining = fm_random_below(random, 4) == 0;
    }
    for (uint32_t i = 0; i < WORLDS; i++) {
        fm_node_world *world = &directory->worlds[i];
        world->number = i + 1;
        world->epoch = 1 + fm_random_below(random, 5);
        if (fm_random_below(random, 3) == 0) {
            snprintf(world->to, sizeof world->to, "node%u", fm_random_below(random, NODES));
            fm_node_count_arriving(directory, world->to, 1);
        }
    }
}

static void test_nodes_agree_on_the_best(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 50; run++) {
        static fm_node_directory directory;
        make_directory(&random, &directory);
        uint64_t world = fm_random_below(&random, 1000);
        const fm_node_entry *nodes = directory.nodes, *best = &nodes[0];
        for (uint32_t i = 0; i < NODES; i++) {
            best = fm_node_is_better(&nodes[i], best, world) ? &nodes[i] : best;
            for (uint32_t k = 0; k < NODES; k++) {
                bool one = fm_node_is_better(&nodes[i], &nodes[k], world);
                bool other = fm_node_is_better(&nodes[k], &nodes[i], world);
                assert_true(i == k ? !one : one != other);
            }
        }
        for (uint32_t i = 0; i < NODES; i++) {
            assert_false(fm_node_is_better(&nodes[i], best, world));
            assert_true(best->is_draining ? nodes[i].is_draining : true);
        }
        free(directory.worlds);
    }
}

static void test_load_decides(void **state)
{
    (void)state;
    static fm_node_directory directory;
    fm_random random = fm_random_seed(1);
    make_directory(&random, &directory);
    for (uint32_t i = 0; i < WORLDS; i++) {
        fm_node_count_arriving(&directory, directory.worlds[i].to, -1);
    }
    fm_node_entry *one = &directory.nodes[0], *other = &directory.nodes[1];
    one->is_draining = other->is_draining = false;
    one->load = 150;
    other->load = 450;
    assert_true(fm_node_is_better(one, other, 7));
    // Worlds on their way to a node count before the node reports its load with them.
    for (uint32_t i = 0; i < 30; i++) {
        fm_node_count_arriving(&directory, one->name, 1);
    }
    assert_true(fm_node_is_better(other, one, 7));
    other->is_draining = true;
    assert_true(fm_node_is_better(one, other, 7));
    free(directory.worlds);
}

static void test_moves_of_earlier_owners_are_none(void **state)
{
    (void)state;
    static fm_node_directory directory;
    fm_random random = fm_random_seed(2);
    make_directory(&random, &directory);
    fm_node_world *world = &directory.worlds[3];
    world->to[0] = '\0';
    world->epoch = 5;
    static const char *const stale[] = {"5 node1 00000000000000aa", "7 node1 00000000000000aa", "",
                                        "6 node1"};
    for (uint32_t i = 0; i < FM_COUNT_OF(stale); i++) {
        fm_node_moves_add(&directory, "/fogmarch/c/move/0000000000000004", stale[i]);
        assert_string_equal(world->heir, "");
        fm_node_moves_add_ready(&directory, "/fogmarch/c/ready/0000000000000004", stale[i]);
        assert_false(world->is_ready);
    }
    fm_node_moves_add(&directory, "/fogmarch/c/move/0000000000000004", "6 node1 00000000000000aa");
    assert_string_equal(world->to, "node1");
    fm_node_moves_add_ready(&directory, "/fogmarch/c/ready/0000000000000004",
                            "6 node1 00000000000000ab");
    assert_false(world->is_ready); // another process of that name
    fm_node_moves_add_ready(&directory, "/fogmarch/c/ready/0000000000000004",
                            "6 node1 00000000000000aa");
    assert_true(world->is_ready);
    fm_node_moves_add_drain(&directory, "/fogmarch/c/drain/node2", "0000000000000001");
    assert_false(directory.nodes[2].is_draining); // an earlier process
    fm_node_moves_add_drain(&directory, "/fogmarch/c/drain/node2", "0000000000000000");
    assert_true(directory.nodes[2].is_draining);
    free(directory.worlds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_agree_on_the_best),
        cmocka_unit_test(test_load_decides),
        cmocka_unit_test(test_moves_of_earlier_owners_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
