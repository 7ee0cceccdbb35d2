// tests/test_scen.c: queries on the benchmark maps find the lengths that the benchmark says are
// optimal.
//
// On every map a spread of its problems is asked as path queries, with step costs 70 and 99, which
// are so near the true ratio that a path of least cost is within 0.005 % of the shortest one.
// Lengths are compared in true units, from the counts of straight and diagonal steps.
//
// Files of maps with swamps or water were made by rules of their own for these; they are named and
// left out.

#include "tests/support.h"

#include "core/map_file.h"
#include "core/query.h"
#include "core/scratch.h"

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

static void check_problem(struct workshop *shop, const fm_view *view, const fm_problem *problem,
                          const char *path)
{
    fm_query *query;
    assert_int_equal(
        fm_query_create(view, problem->start, problem->goal, UINT64_MAX, &fm_memory_libc, &query),
        FM_OK);
    fm_work work = {.slab = &shop->slab, .expansions_max = UINT32_MAX, .scratch = &shop->scratch};
    fm_query_state state = fm_query_advance(query, &work);
    fm_query_answer answer = fm_query_result(query);
    double length = answer.straight_count + answer.diagonal_count * M_SQRT2;
    double error = length - problem->optimal_length;
    // Some files give two decimals only.
    bool wrong = fabs(error) > TOLERANCE * problem->optimal_length + ROUNDING;
    if (state != FM_QUERY_FOUND || wrong) {
        fail_msg("%s: (%u, %u) to (%u, %u): length %.6f instead of %.6f", path,
                 fm_cell_x(problem->start), fm_cell_y(problem->start), fm_cell_x(problem->goal),
                 fm_cell_y(problem->goal), length, problem->optimal_length);
    }
    fm_query_destroy(query);
}

static bool has_swamp_or_water(const fm_grid *grid)
{
    size_t cell_count = (size_t)grid->width * grid->height;
    return memchr(grid->terrain, FM_TERRAIN_SWAMP, cell_count) != NULL ||
           memchr(grid->terrain, FM_TERRAIN_WATER, cell_count) != NULL;
}

static void check_file(struct workshop *shop, const char *scen_path)
{
    char map_path[4096];
    size_t length = strlen(scen_path) - strlen(".scen");
    assert_true(length < sizeof map_path);
    memcpy(map_path, scen_path, length);
    map_path[length] = '\0';
    fm_grid *grid = read_map(map_path);
    if (has_swamp_or_water(grid)) {
        print_message("[ LEFT OUT ] %s: the map has swamps or water\n", scen_path);
        fm_grid_destroy(grid);
        return;
    }
    fm_view view = fm_view_of_grid(grid, FM_CONNECT_8, FM_STEPS_70_99);
    uint32_t count;
    fm_problem *problems = read_problems(scen_path, &count);
    assert_true(count >= 100);
    uint32_t wanted = count < PROBLEMS_PER_MAP ? count : PROBLEMS_PER_MAP;
    for (uint32_t i = 0; i < wanted; i++) {
        check_problem(shop, &view, &problems[(uint64_t)i * (count - 1) / (wanted - 1)], scen_path);
    }
    fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);
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
