// loadtest/lab/maze.c: `fogmarch-lab maze` and `maze101`, missions in unknown mazes.
//
// maze is the published experiment on the open list of D* Lite. Mazes of 201 x 201 cells in which
// walls are cells: corridors on the odd lattice, carved by a randomized depth-first search; then
// 750 uniformly drawn blocked interior cells (pillars too, the border not) are opened. Start and
// goal are uniform over the free cells of the largest component. Four neighbours, unit cost; the
// agent sees the four cells beside it. Under this reading the published numbers of expansions come
// out; see the README beside this file.
//
// D* Lite makes the first of several equally good steps there, as in the published numbers. Its own
// choice, the step to the cell nearest to the goal (--step nearest), needs 7 % fewer moves and 3.5
// % fewer expansions.
//
// maze101 has mazes of 101 x 101 cells with 100 opened, for A* that plans from scratch, forward and
// backward and with ties to the larger and the smaller g, and Adaptive A*. The course that set the
// experiment took 50 mazes; their means are uncertain by nearly their own size.
//
// All variants run on a maze before the next maze begins, so that other load on the machine affects
// all of them alike.

#include "loadtest/lab/dstar_minimal.h"
#include "loadtest/lab/lab.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/statistics.h"
#include "loadtest/lab/stopwatch.h"
#include "loadtest/lab/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct setup {
    uint32_t side, walls_removed, runs;
    const char *variants; // where --variants is not given
    const char *title;
};

static const struct setup big_mazes = {
    .side = 201,
    .walls_removed = 750,
    .runs = 1000,
    .variants = "dstar-lite-bucket,dstar-lite-heap-larger-g,dstar-lite-heap-smaller-g,"
                "dstar-extra-lite,adaptive-astar,mpgaa-star,repeated-forward-astar",
    .title = "Mazes of 201 x 201 cells, 750 cells opened",
};

static const struct setup small_mazes = {
    .side = 101,
    .walls_removed = 100,
    .runs = 500,
    .variants = "repeated-forward-astar-larger-g,repeated-forward-astar-smaller-g,"
                "repeated-backward-astar-larger-g,repeated-backward-astar-smaller-g,adaptive-astar",
    .title = "Mazes of 101 x 101 cells, 100 cells opened",
};

// S. Koenig, M. Likhachev, X. Sun and others, on mazes of this kind: expansions and their 95 %
// intervals, microseconds of their machine.
static const struct published {
    const char *variant;
    double expansions, expansions_ci95, mission_us;
} published[] = {
    {"dstar-lite-bucket", 11632.5, 232.7, 4448.8},
    {"dstar-lite-heap-larger-g", 11416.4, 229.1, 10439.7},
};

struct variant {
    fm_lab_contender planner;
    fm_sample expansions, secondary, replans, moves, cost_ratio;
    fm_sample planning_us, sensing_us, bytes;
};

struct experiment {
    fm_lab *lab;
    const struct setup *setup;
    uint32_t runs, repeats;
    struct variant variants[FM_LAB_CONTENDERS_MAX];
    uint32_t variant_count;
    fm_lab_worker worker;
    fm_line_of_sight *sight;
};

static const fm_lab_option options[] = {
    {"runs", "N", "mazes; 1000 (maze101: 500)"},
    {"variants", "LIST", "planners, separated by commas"},
    {"step", "WHICH", "of equally good ones D* Lite makes: first or nearest; first"},
    {"repeats", "N", "play each mission N times and keep the fastest time; 1"},
    {"minimal", NULL, "also D* Lite as small as it gets, to compare with: dstar-minimal"},
    {.name = NULL},
};

static fm_step_choice read_step(const fm_lab *lab)
{
    const char *step = fm_lab_value(lab, "step");
    if (step == NULL || strcmp(step, "first") == 0) {
        return FM_STEP_FIRST;
    }
    if (strcmp(step, "nearest") != 0) {
        fm_lab_usage_error(lab, "--step: first or nearest, not '%s'", step);
    }
    return FM_STEP_NEAREST;
}

static void read_variants(struct experiment *experiment)
{
    fm_step_choice step = read_step(experiment->lab);
    fm_lab_contender planners[FM_LAB_CONTENDERS_MAX];
    experiment->variant_count =
        fm_lab_contenders(experiment->lab, "variants", experiment->setup->variants, planners);
    for (uint32_t i = 0; i < experiment->variant_count; i++) {
        experiment->variants[i].planner = planners[i];
        experiment->variants[i].planner.spec.options.step = step;
        if (planners[i].spec.ops->uniform_only) {
            fm_lab_usage_error(experiment->lab, "%s cannot search with 4 neighbours",
                               planners[i].name);
        }
    }
    if (fm_lab_value(experiment->lab, "minimal") != NULL &&
        experiment->variant_count < FM_LAB_CONTENDERS_MAX) {
        experiment->variants[experiment->variant_count++].planner =
            (fm_lab_contender){.name = "dstar-minimal", .spec = {.ops = &fm_lab_dstar_minimal}};
    }
}

// ---- one maze ----------------------------------------------------------------------------------

static void play(struct experiment *experiment, struct variant *variant,
                 const fm_lab_ground *ground, fm_cell start, fm_cell goal, uint32_t optimal)
{
    fm_lab_mission mission;
    fm_lab_check(experiment->lab,
                 fm_lab_mission_measure(ground, &variant->planner.spec, start, goal,
                                        experiment->repeats, &experiment->worker, &mission),
                 variant->planner.name);
    if (mission.outcome != FM_LAB_ARRIVED || mission.cost < optimal) {
        fm_lab_die(experiment->lab, "%s did not arrive from %u,%u at %u,%u, or too cheaply",
                   variant->planner.name, fm_cell_x(start), fm_cell_y(start), fm_cell_x(goal),
                   fm_cell_y(goal));
    }
    fm_sample_add(&variant->expansions, (double)mission.expansions);
    fm_sample_add(&variant->secondary, (double)mission.secondary);
    fm_sample_add(&variant->replans, (double)mission.replans);
    fm_sample_add(&variant->moves, (double)mission.moves);
    fm_sample_add(&variant->cost_ratio, (double)mission.cost / (optimal == 0 ? 1 : optimal));
    fm_sample_add(&variant->planning_us, fm_lab_ns(mission.planning_ticks) / 1e3);
    fm_sample_add(&variant->sensing_us, fm_lab_ns(mission.sensing_ticks) / 1e3);
    fm_sample_add(&variant->bytes, (double)mission.bytes_max);
}

static void play_maze(struct experiment *experiment, uint64_t seed)
{
    fm_grid *maze;
    fm_generate_options maze_options = fm_generate_options_default();
    maze_options.generator = FM_GENERATOR_MAZE;
    maze_options.width = maze_options.height = experiment->setup->side;
    maze_options.walls_removed = experiment->setup->walls_removed;
    maze_options.seed = seed;
    fm_lab_check(experiment->lab, fm_generate(&maze_options, &fm_memory_libc, &maze, NULL, NULL, 0),
                 "maze");
    uint32_t count;
    fm_cell *cells = fm_lab_need(experiment->lab, fm_lab_largest_component(maze, &count));
    fm_random random = fm_random_seed(fm_mix64(seed));
    fm_cell start = cells[fm_random_below(&random, count)];
    fm_cell goal = cells[fm_random_below(&random, count)];
    fm_lab_ground ground = {.truth = maze,
                            .sight = experiment->sight,
                            .connectivity = FM_CONNECT_4,
                            .steps = FM_STEPS_1};
    uint32_t optimal = fm_lab_optimal_cost(&ground, start, goal, &experiment->worker);
    // Each maze begins with another variant: the first one finds the caches cold.
    for (uint32_t i = 0; i < experiment->variant_count; i++) {
        uint32_t turn = (uint32_t)((i + seed) % experiment->variant_count);
        play(experiment, &experiment->variants[turn], &ground, start, goal, optimal);
    }
    free(cells);
    fm_grid_destroy(maze);
}

// ---- the results -------------------------------------------------------------------------------

static const fm_column columns[] = {
    {"variant", "variant", FM_COLUMN_TEXT, 0},
    {"expansions", "expansions", FM_COLUMN_MEAN, 1},
    {"published_expansions", "as published", FM_COLUMN_MEAN, 1},
    {"mission_us", "µs per mission", FM_COLUMN_MEAN, 1},
    {"published_mission_us", "µs as published", FM_COLUMN_NUMBER, 1},
    {"ns_per_expansion", "ns per expansion", FM_COLUMN_NUMBER, 1},
    {"time_ratio", "time, first row 1", FM_COLUMN_NUMBER, 2},
    {"sensing_us", "sensing µs", FM_COLUMN_MEAN, 1},
    {"moves", "moves", FM_COLUMN_MEAN, 1},
    {"replans", "replans", FM_COLUMN_MEAN, 1},
    {"secondary", NULL, FM_COLUMN_MEAN, 1},
    {"cost_ratio", NULL, FM_COLUMN_MEAN, 3},
    {"bytes", "bytes", FM_COLUMN_MEAN, 0},
};

static struct published published_of(const struct setup *setup, const char *name)
{
    for (size_t i = 0; i < FM_COUNT_OF(published) && setup == &big_mazes; i++) {
        if (strcmp(published[i].variant, name) == 0) {
            return published[i];
        }
    }
    return (struct published){name, (double)NAN, (double)NAN, (double)NAN};
}

static void add_row(fm_table *table, const struct setup *setup, const struct variant *variant,
                    const struct variant *first)
{
    struct published beside = published_of(setup, variant->planner.name);
    fm_table_row(table);
    fm_table_text(table, variant->planner.name);
    fm_table_mean(table, &variant->expansions);
    fm_table_interval(table, beside.expansions, beside.expansions_ci95);
    fm_table_mean(table, &variant->planning_us);
    fm_table_number(table, beside.mission_us);
    fm_table_number(table, variant->planning_us.mean * 1e3 / variant->expansions.mean);
    fm_table_number(table, variant->planning_us.mean / first->planning_us.mean);
    fm_table_mean(table, &variant->sensing_us);
    fm_table_mean(table, &variant->moves);
    fm_table_mean(table, &variant->replans);
    fm_table_mean(table, &variant->secondary);
    fm_table_mean(table, &variant->cost_ratio);
    fm_table_mean(table, &variant->bytes);
}

static void report(const struct experiment *experiment)
{
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    for (uint32_t i = 0; i < experiment->variant_count; i++) {
        add_row(&table, experiment->setup, &experiment->variants[i], &experiment->variants[0]);
    }
    const fm_report_fact facts[] = {{"runs", experiment->runs}, {"repeats", experiment->repeats}};
    fm_lab_report(experiment->lab, &table, facts, FM_COUNT_OF(facts));
    fm_plot_bars(experiment->lab, &table, experiment->setup->title, "variant", "mission_us",
                 "planning, µs per mission");
    fm_table_fini(&table);
}

static int run(fm_lab *lab, const struct setup *setup)
{
    struct experiment *experiment = fm_lab_need(lab, calloc(1, sizeof *experiment));
    experiment->lab = lab;
    experiment->setup = setup;
    experiment->runs = (uint32_t)fm_lab_uint(lab, "runs", 1, 1000000, setup->runs);
    experiment->repeats = (uint32_t)fm_lab_uint(lab, "repeats", 1, 1000, 1);
    read_variants(experiment);
    fm_lab_worker_init(&experiment->worker);
    fm_lab_check(lab,
                 fm_line_of_sight_create((fm_sense_rules){.radius = 1, .shape = FM_SENSE_DIAMOND},
                                         &fm_memory_libc, &experiment->sight),
                 "sight");
    for (uint32_t i = 0; i < experiment->runs; i++) {
        fm_lab_progress(lab, i, experiment->runs);
        play_maze(experiment, lab->seed + i);
    }
    fm_lab_progress(lab, 1, 1);
    report(experiment);
    fm_line_of_sight_destroy(experiment->sight);
    fm_lab_worker_fini(&experiment->worker);
    free(experiment);
    return FM_LAB_OK;
}

static int run_big(fm_lab *lab)
{
    return run(lab, &big_mazes);
}

static int run_small(fm_lab *lab)
{
    return run(lab, &small_mazes);
}

const fm_lab_command fm_lab_maze = {
    .name = "maze",
    .arguments = "",
    .summary = "D* Lite and others in unknown mazes, beside the published numbers",
    .details =
        "Plays missions in unknown mazes of 201 x 201 cells with 750 blocked interior cells\n"
        "opened: four neighbours, unit cost, the agent sees the four cells beside it. All\n"
        "variants play the same missions, one maze after the other. Prints expansions (over- and\n"
        "underconsistent ones of all searches; keys renewed are not counted), the time of\n"
        "planning and, apart from it, of sensing.",
    .options = options,
    .run = run_big,
};

const fm_lab_command fm_lab_maze101 = {
    .name = "maze101",
    .arguments = "",
    .summary = "A* from scratch, its ties and directions, and Adaptive A* in smaller mazes",
    .details =
        "Plays missions in unknown mazes of 101 x 101 cells with 100 blocked interior cells\n"
        "opened: four neighbours, unit cost, the agent sees the four cells beside it. Fewer\n"
        "than 500 mazes give means that say little.",
    .options = options,
    .run = run_small,
};
