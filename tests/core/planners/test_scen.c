// test_scen.c: queries on the benchmark maps find paths of the lengths that the benchmark gives as
// optimal.
//
// On every map some of its problems, spread over the file, run as path queries, with step costs 70
// and 99, which are so near the true ratio that a path of least cost is within 0.005 % of the
// shortest one.
// Lengths are compared in true units, from the counts of straight and diagonal steps.
//
// Swamp is passable from ordinary ground in these files, so where there is some the units are of a
// class that wades. divideandconquer's problems were made for an earlier version of its map with
// fewer cliffs: some of their starts and goals now lie on one. There no path may be shorter than
// the file says, and at least half of them must be exactly as long. tests/core/map/test_classes.c
// tests all terrains on made-up maps.

#include "tests/support/support.h"

#include "core/map/class_map.h"
#include "core/map/map_file.h"
#include "core/planners/query.h"
#include "core/search/scratch.h"

#include <math.h>

#define PROBLEMS_PER_MAP 120u
#define TOLERANCE        1e-4 // relative
#define ROUNDING         5e-3 // of the lengths in the files

struct workshop {
    fm_slab slab;
    fm_scratch scratch;
};

static fm_grid *read_map(const char *path)
{
    size_t size;
    char *text = fm_test_read_file(path, &size);
    fm_grid *grid;
    fm_text_error error;
    if (fm_map_read(text, size, &fm_memory_libc, &grid, &error) != FM_OK) {
        fail_msg("%s:%u: %s", path, error.line, error.message);
    }
    free(text);
    return grid;
}

static fm_problem *read_problems(const char *path, uint32_t *count)
{
    size_t size;
    char *text = fm_test_read_file(path, &size);
    fm_problem *problems;
    fm_text_error error;
    if (fm_scen_read(text, size, &fm_memory_libc, &problems, count, &error) != FM_OK) {
        fail_msg("%s:%u: %s", path, error.line, error.message);
    }
    free(text);
    return problems;
}

// Length of the path found, in true units; INFINITY when there is none.
static double solve(struct workshop *shop, const fm_view *view, const fm_problem *problem)
{
    fm_query *query;
    fm_status status =
        fm_query_create(view, problem->start, problem->goal, UINT64_MAX, &fm_memory_libc, &query);
    if (status == FM_ERR_BLOCKED_CELL) {
        return INFINITY;
    }
    assert_int_equal(status, FM_OK);
    fm_work work = {.slab = &shop->slab, .expansions_max = UINT32_MAX, .scratch = &shop->scratch};
    fm_query_state state = fm_query_advance(query, &work);
    fm_query_answer answer = fm_query_result(query);
    double length = answer.straight_count + answer.diagonal_count * M_SQRT2;
    fm_query_destroy(query);
    return state == FM_QUERY_FOUND ? length : INFINITY;
}

static void say(const char *path, const fm_problem *problem, double length)
{
    fail_msg("%s: (%u, %u) to (%u, %u): length %.6f instead of %.6f", path,
             fm_cell_x(problem->start), fm_cell_y(problem->start), fm_cell_x(problem->goal),
             fm_cell_y(problem->goal), length, problem->optimal_length);
}

// Solves `wanted` problems, spread over the file.
//
// @param may_be_longer  the map has more obstacles than the one that the file was made for
// @return how many paths are as long as the file says
static uint32_t check_problems(struct workshop *shop, const fm_view *view,
                               const fm_problem *problems, uint32_t count, uint32_t wanted,
                               bool may_be_longer, const char *path)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        const fm_problem *problem = &problems[(uint64_t)i * (count - 1) / (wanted - 1)];
        double length = solve(shop, view, problem);
        double error = length - problem->optimal_length;
        // Some files give two decimals only.
        double allowed = TOLERANCE * problem->optimal_length + ROUNDING;
        if (error < -allowed || (error > allowed && !may_be_longer)) {
            say(path, problem, length);
        }
        right += error <= allowed;
    }
    return right;
}

static bool has_swamp(const fm_grid *grid)
{
    size_t cell_count = (size_t)grid->width * grid->height;
    return memchr(grid->terrain, FM_TERRAIN_SWAMP, cell_count) != NULL;
}

static void check_file(struct workshop *shop, const char *scen_path)
{
    char map_path[4096];
    size_t length = strlen(scen_path) - strlen(".scen");
    assert_true(length < sizeof map_path);
    memcpy(map_path, scen_path, length);
    map_path[length] = '\0';
    fm_grid *grid = read_map(map_path);
    bool wades = has_swamp(grid);
    fm_movement_class movement = fm_movement_class_ground();
    movement.cost[FM_TERRAIN_SWAMP] = wades;
    fm_class_map *map;
    assert_int_equal(
        fm_class_map_of_grid(&movement, grid, FM_CONNECT_8, FM_STEPS_70_99, &fm_memory_libc, &map),
        FM_OK);
    uint32_t count;
    fm_problem *problems = read_problems(scen_path, &count);
    assert_true(count >= 100);
    uint32_t wanted = count < PROBLEMS_PER_MAP ? count : PROBLEMS_PER_MAP;
    bool is_newer = strstr(scen_path, "divideandconquer") != NULL;
    uint32_t right = check_problems(shop, &map->view, problems, count, wanted, is_newer, scen_path);
    assert_true(right >= wanted / 2);
    fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);
    fm_class_map_destroy(map);
    fm_grid_destroy(grid);
}

static void lengths_are_optimal(void **state)
{
    (void)state;
    glob_t found = fm_test_find_maps("*.map.scen");
    struct workshop shop;
    fm_slab_init(&shop.slab, &fm_memory_libc);
    fm_scratch_init(&shop.scratch, &fm_memory_libc);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_file(&shop, found.gl_pathv[i]);
    }
    fm_scratch_fini(&shop.scratch);
    fm_slab_fini(&shop.slab);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_optimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
