// loadtest/lab/landmarks.c: `fogmarch-lab landmarks`: how many landmarks, and where?
//
// A* on known game maps, guided by octile distance and by landmarks in growing numbers, placed by
// each of the rules of core/search/landmarks.h, and by `farthest` with the rule that moves the
// least used one. Rules that use recent orders get other errands than those that are measured,
// drawn from the same map. Every path must cost the same, or the experiment ends.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"
#include "loadtest/lab/surveying.h"

#include <stdlib.h>
#include <string.h>

#define MAPS_DEFAULT   "arena2,den520d,brc202d,ost100d"
#define COUNTS_DEFAULT "1,2,4,8,16"
#define COUNTS_MAX     8u
#define SHOWN_ERRANDS  64u // to the rules that use recent orders

// A way to place landmarks; the first is to have none.
struct variant {
    const char *name;
    bool has_landmarks;
    fm_placement placement;
    bool adaptive;
};

static const struct variant variants[] = {
    {"octile", false, FM_PLACE_FARTHEST, false},
    {"random", true, FM_PLACE_RANDOM, false},
    {"farthest", true, FM_PLACE_FARTHEST, false},
    {"avoid", true, FM_PLACE_AVOID, false},
    {"past-the-goal", true, FM_PLACE_PAST_THE_GOAL, false},
    {"farthest, moving", true, FM_PLACE_FARTHEST, true},
};

struct score {
    fm_sample expansions, us, expansions_ratio;
    double us_ratio;
    double build_ms;
    uint64_t build_expansions;
};

struct trial {
    fm_lab *lab;
    fm_view view;
    fm_lab_worker worker;
    fm_lab_errand *errands; // measured
    uint32_t errand_count;
    fm_lab_errand *shown; // to rules that look at recent orders
    uint32_t *costs;      // of the errands, by octile distance
    double *expansions;   // the same
};

static const fm_lab_option options[] = {
    {"map", "LIST", "maps, separated by commas; " MAPS_DEFAULT},
    {"problems", "N", "of each map's .scen file, spread evenly; 40"},
    {"counts", "LIST", "numbers of landmarks, 1 to 16; " COUNTS_DEFAULT},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

// Searches once; the cost of the path, FM_COST_INFINITE when there is none.
static uint32_t search(struct trial *trial, fm_heuristic_kind heuristic,
                       const fm_lab_errand *errand, uint32_t *expansions, double *us)
{
    const fm_planner_ops *ops = &fm_astar;
    const fm_planner_options planner_options = {.heuristic = heuristic};
    fm_work work = {.slab = &trial->worker.slab,
                    .scratch = &trial->worker.scratch,
                    .expansions_max = UINT32_MAX};
    uint64_t begun = fm_lab_ticks();
    void *planner =
        fm_lab_need(trial->lab, fm_memory_allocate_zeroed(&fm_memory_libc, 1, ops->size));
    fm_lab_check(trial->lab,
                 ops->init(planner, &trial->view, &planner_options, &fm_memory_libc, errand->goal),
                 ops->name);
    ops->set_starts(planner, &errand->start, 1);
    fm_plan_state state = ops->advance(planner, &work);
    *us = fm_lab_ns(fm_lab_ticks() - begun) / 1e3;
    *expansions = work.expansions;
    uint32_t cost = state == FM_PLAN_FOUND ? 0 : FM_COST_INFINITE;
    if (state == FM_PLAN_FOUND) {
        uint32_t length = ops->path(planner, errand->start, NULL, 0);
        fm_cell *cells = fm_lab_need(trial->lab, calloc(length, sizeof *cells));
        ops->path(planner, errand->start, cells, length);
        for (uint32_t i = 1; i < length; i++) {
            uint32_t d = fm_cell_direction(cells[i - 1], cells[i]);
            cost += fm_view_cost(&trial->view, cells[i - 1], d, cells[i]);
        }
        free(cells);
    }
    ops->fini(planner, &trial->worker.slab);
    fm_memory_release(&fm_memory_libc, planner, ops->size);
    return cost;
}

static void measure(struct trial *trial, const struct variant *variant, struct score *score)
{
    for (uint32_t i = 0; i < trial->errand_count; i++) {
        uint32_t expansions;
        double us;
        uint32_t cost =
            search(trial, variant->has_landmarks ? FM_HEURISTIC_LANDMARKS : FM_HEURISTIC_DEFAULT,
                   &trial->errands[i], &expansions, &us);
        if (!variant->has_landmarks) {
            trial->costs[i] = cost;
            trial->expansions[i] = expansions;
        } else if (cost != trial->costs[i]) {
            fm_lab_die(trial->lab, "%s: a path of cost %u where %u is best", variant->name, cost,
                       trial->costs[i]);
        }
        fm_sample_add(&score->expansions, expansions);
        fm_sample_add(&score->us, us);
        if (trial->expansions[i] > 0) {
            fm_sample_add(&score->expansions_ratio, expansions / trial->expansions[i]);
        }
    }
}

static void try_variant(struct trial *trial, const struct variant *variant, uint32_t count,
                        struct score *score)
{
    fm_landmark_rules rules = {
        .count = count, .placement = variant->placement, .adaptive = variant->adaptive};
    fm_lab_survey survey = fm_lab_survey_begin(trial->lab, &trial->view, rules, &trial->worker);
    if (variant->has_landmarks) {
        fm_lab_survey_make(&survey, FM_HEURISTIC_LANDMARKS, trial->shown, SHOWN_ERRANDS);
        score->build_ms = survey.ms;
        score->build_expansions = survey.expansions;
    }
    measure(trial, variant, score);
    fm_lab_survey_end(&survey);
}

static void add_row(fm_table *table, const char *map, const struct variant *variant, uint32_t count,
                    const struct score *score)
{
    fm_table_row(table);
    fm_table_text(table, map);
    fm_table_text(table, variant->name);
    fm_table_number(table, count);
    fm_table_mean(table, &score->expansions);
    fm_table_mean(table, &score->us);
    fm_table_mean(table, &score->expansions_ratio);
    fm_table_number(table, score->us_ratio);
    fm_table_number(table, (double)score->build_expansions);
    fm_table_number(table, score->build_ms);
}

static void play_map(fm_lab *lab, const char *name, uint32_t problems, const uint32_t *counts,
                     uint32_t count_count, fm_table *table)
{
    char path[FM_LAB_PATH_SIZE];
    fm_lab_find_or_die(lab, name, ".map", path);
    fm_grid *map = fm_lab_read_map(lab, path);
    struct trial trial = {.lab = lab,
                          .view = fm_view_of_grid(map, FM_CONNECT_8, FM_STEPS_10_14),
                          .errand_count = problems};
    trial.errands = fm_lab_errands(lab, path, map, &trial.errand_count);
    trial.shown = fm_lab_random_errands(lab, map, lab->seed + 1, SHOWN_ERRANDS);
    trial.costs = fm_lab_need(lab, calloc(trial.errand_count, sizeof *trial.costs));
    trial.expansions = fm_lab_need(lab, calloc(trial.errand_count, sizeof *trial.expansions));
    fm_lab_worker_init(&trial.worker);
    double plain_us = 0;
    uint32_t done = 0, total = 1 + (FM_COUNT_OF(variants) - 1) * count_count;
    for (uint32_t i = 0; i < FM_COUNT_OF(variants); i++) {
        uint32_t rounds = variants[i].has_landmarks ? count_count : 1;
        for (uint32_t j = 0; j < rounds; j++) {
            struct score score = {0};
            uint32_t count = variants[i].has_landmarks ? counts[j] : 0;
            fm_lab_progress(lab, done++, total);
            try_variant(&trial, &variants[i], count, &score);
            plain_us = i == 0 ? score.us.mean : plain_us;
            score.us_ratio = score.us.mean / plain_us;
            add_row(table, name, &variants[i], count, &score);
        }
    }
    fm_lab_progress(lab, 1, 1);
    fm_lab_worker_fini(&trial.worker);
    free(trial.expansions);
    free(trial.costs);
    free(trial.shown);
    free(trial.errands);
    fm_grid_destroy(map);
}

static const fm_column columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"placement", "placement", FM_COLUMN_TEXT, 0},
    {"landmarks", "landmarks", FM_COLUMN_NUMBER, 0},
    {"expansions", "expansions", FM_COLUMN_MEAN, 0},
    {"search_us", "µs per search", FM_COLUMN_MEAN, 1},
    {"expansions_ratio", "expansions / octile", FM_COLUMN_MEAN, 3},
    {"time_ratio", "time / octile", FM_COLUMN_NUMBER, 2},
    {"build_expansions", "expansions to make", FM_COLUMN_NUMBER, 0},
    {"build_ms", "ms to make", FM_COLUMN_NUMBER, 1},
};

// Mean of a placement's expansions over all maps, as a share of octile distance's.
static double mean_ratio(const fm_table *table, const char *placement, uint32_t count)
{
    double sum = 0;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const fm_table_cell *row = &table->cells[(size_t)i * table->column_count];
        if (strcmp(row[1].text, placement) == 0 && (uint32_t)row[2].number == count) {
            sum += row[5].number;
            rows += 1;
        }
    }
    return rows == 0 ? 0 : sum / rows;
}

static void plot(const fm_lab *lab, const fm_table *table, const uint32_t *counts,
                 uint32_t count_count)
{
    FILE *plot = fm_plot_open(lab);
    if (plot == NULL) {
        return;
    }
    fputs("$shares << END\n", plot);
    for (uint32_t j = 0; j < count_count; j++) {
        fprintf(plot, "%u", counts[j]);
        for (uint32_t i = 1; i < FM_COUNT_OF(variants); i++) {
            fprintf(plot, " %g", mean_ratio(table, variants[i].name, counts[j]));
        }
        fputc('\n', plot);
    }
    fputs("END\nset title 'A* guided by landmarks'\nset xlabel 'landmarks'\n"
          "set ylabel 'expansions, as a share of those by octile distance'\n"
          "set logscale x 2\nset yrange [0:1]\nset key outside right top\nplot ",
          plot);
    for (uint32_t i = 1; i < FM_COUNT_OF(variants); i++) {
        fprintf(plot, "%s$shares using 1:%u with linespoints title ", i == 1 ? "" : ", ", i + 1);
        fm_plot_text(plot, variants[i].name);
    }
    fputc('\n', plot);
    fm_plot_close(lab, plot);
}

static int run(fm_lab *lab)
{
    fm_table table;
    uint32_t counts[COUNTS_MAX];
    uint32_t count_count =
        fm_lab_uints(lab, "counts", COUNTS_DEFAULT, FM_LANDMARKS_MAX, counts, COUNTS_MAX);
    const char *maps = fm_lab_value(lab, "map");
    char name[FM_LAB_PATH_SIZE];
    uint32_t problems = (uint32_t)fm_lab_uint(lab, "problems", 1, 100000, 40);
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    for (const char *list = maps == NULL ? MAPS_DEFAULT : maps; list != NULL;) {
        list = fm_lab_next_item(list, name, sizeof name);
        play_map(lab, name, problems, counts, count_count, &table);
    }
    const fm_report_fact facts[] = {{"problems_per_map", problems}};
    fm_lab_report(lab, &table, facts, FM_COUNT_OF(facts));
    plot(lab, &table, counts, count_count);
    fm_table_fini(&table);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_landmarks = {
    .name = "landmarks",
    .arguments = "",
    .summary = "A* guided by landmarks: how many, and where?",
    .details =
        "Solves problems of game maps by A*, guided by octile distance and by landmarks in\n"
        "growing numbers, placed by each of the rules there are. Says how much is expanded,\n"
        "how long it takes, and what it takes to make the tables. The picture shows the\n"
        "share of expansions that is left, over all maps.",
    .options = options,
    .arguments_min = 0,
    .arguments_max = 0,
    .run = run,
};
