// loadtest/lab/scen.c: `fogmarch-lab scen`, one planner, or the server's path queries, on the
// problems of a MovingAI .scen file, whose optimal lengths were computed by others.
//
// The map is known from the start. A path found is checked step by step, measured in true units
// (straight 1, diagonal the square root of 2), and wrong when it is longer than the file's optimum
// by more than one part in 10,000, or shorter. That needs step costs fine enough: 70/99 are within
// 0.005 %, 10/14 are not. Problems for units that swim or wade need their movement class
// (core/map/movement.h).

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"
#include "loadtest/lab/surveying.h"

#include "core/planners/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-4 // relative; and the last decimal that a file gives is rounded, or cut off

#define QUERY "query" // in place of a planner's name

struct trial {
    fm_lab *lab;
    char name[FM_PLANNER_SPEC_SIZE];
    fm_planner_spec spec; // no ops: path queries
    fm_view view;
    fm_lab_worker worker;
    fm_cell *cells; // of the path found
    uint32_t cell_capacity;
    fm_sample expansions, us, bytes;
    uint32_t wrong_count;
    uint64_t expansions_total;
    double us_total;
};

struct answer {
    double length; // NAN when there is no path
    uint64_t expansions;
    double us;
    size_t bytes;
};

static const fm_lab_option options[] = {
    {"planner", "NAME",
     "planner with its options, or query for the path queries of\n"
     "core/planners/query.h; repeated-forward-astar"},
    {"heuristic", "NAME",
     "of the planner: zero, manhattan, octile, chebyshev, euclidean,\n"
     "cluster or landmarks; the tables of the last two are made before"},
    {"landmarks", "N", "how many, 1 to 16; 8"},
    {"placement", "HOW", "of landmarks: farthest, random, avoid or past-the-goal; farthest"},
    {"limit", "N", "only N problems, spread evenly over the file"},
    {"class", "CLASS",
     "movement class of the unit, such as legs:ground=1,swamp=1;\n"
     "goes on ground"},
    {"steps", "S/D", "costs of straight and diagonal steps: 70/99 or 10/14; 70/99"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

static bool is_legal(const struct trial *trial, uint32_t length, fm_cell start, fm_cell goal)
{
    const fm_cell *cells = trial->cells;
    if (cells[0] != start || cells[length - 1] != goal) {
        return false;
    }
    for (uint32_t i = 1; i < length; i++) {
        uint32_t d = fm_cell_direction(cells[i - 1], cells[i]);
        if (d == FM_DIRECTION_COUNT || !(fm_view_moves(&trial->view, cells[i - 1]) >> d & 1)) {
            return false;
        }
    }
    return true;
}

// Makes room for a path.
static void make_room(struct trial *trial, uint32_t length)
{
    if (length > trial->cell_capacity) {
        free(trial->cells);
        trial->cells = fm_lab_need(trial->lab, calloc(length, sizeof *trial->cells));
        trial->cell_capacity = length;
    }
}

// What was found, without judging it: the path is in trial->cells.
struct found {
    uint32_t length; // cells; 0 when there is no path
    uint64_t expansions;
    size_t bytes;
};

static struct found ask_planner(struct trial *trial, fm_cell start, fm_cell goal, fm_work *work)
{
    const fm_planner_ops *ops = trial->spec.ops;
    void *planner =
        fm_lab_need(trial->lab, fm_memory_allocate_zeroed(&fm_memory_libc, 1, ops->size));
    fm_lab_check(trial->lab,
                 ops->init(planner, &trial->view, &trial->spec.options, &fm_memory_libc, goal),
                 ops->name);
    ops->set_starts(planner, &start, 1);
    fm_plan_state state;
    do {
        state = ops->advance(planner, work);
    } while (state == FM_PLAN_RUNNING);
    struct found found = {.bytes = ops->bytes(planner)};
    if (state == FM_PLAN_FOUND) {
        found.length = ops->path(planner, start, trial->cells, trial->cell_capacity);
        if (found.length > trial->cell_capacity) {
            make_room(trial, found.length);
            ops->path(planner, start, trial->cells, found.length);
        }
    }
    found.expansions = work->expansions - work->secondary;
    ops->fini(planner, &trial->worker.slab);
    fm_memory_release(&fm_memory_libc, planner, ops->size);
    return found;
}

static struct found ask_query(struct trial *trial, fm_cell start, fm_cell goal, fm_work *work)
{
    fm_query *query;
    fm_status status =
        fm_query_create(&trial->view, start, goal, UINT64_MAX, &fm_memory_libc, &query);
    if (status == FM_ERR_BLOCKED_CELL) {
        return (struct found){.length = 0};
    }
    fm_lab_check(trial->lab, status, QUERY);
    while (fm_query_advance(query, work) == FM_QUERY_RUNNING) {
    }
    fm_query_answer answer = fm_query_result(query);
    struct found found = {.expansions = answer.expansions};
    if (answer.state == FM_QUERY_FOUND) {
        make_room(trial, answer.cell_count);
        memcpy(trial->cells, answer.cells, answer.cell_count * sizeof *trial->cells);
        found.length = answer.cell_count;
    }
    fm_query_destroy(query);
    return found;
}

// Searches once. Making and unmaking the planner and reading the path are part of the time.
static struct answer ask(struct trial *trial, fm_cell start, fm_cell goal)
{
    fm_work work = {.slab = &trial->worker.slab,
                    .scratch = &trial->worker.scratch,
                    .expansions_max = UINT32_MAX};
    uint64_t begun = fm_lab_ticks();
    struct found found =
        (trial->spec.ops == NULL ? ask_query : ask_planner)(trial, start, goal, &work);
    uint64_t ended = fm_lab_ticks();
    bool legal = found.length > 0 && is_legal(trial, found.length, start, goal);
    return (struct answer){
        .length = legal ? fm_view_length(&trial->view, trial->cells, found.length) : (double)NAN,
        .expansions = found.expansions,
        .us = fm_lab_ns(ended - begun) / 1e3,
        .bytes = found.bytes,
    };
}

// ---- the results -------------------------------------------------------------------------------

static void print_problem(const struct trial *trial, uint32_t number, const fm_problem *problem,
                          const struct answer *answer, bool right)
{
    if (trial->lab->json) {
        printf("{\"problem\":%u,\"start\":[%u,%u],\"goal\":[%u,%u],\"cost\":", number,
               fm_cell_x(problem->start), fm_cell_y(problem->start), fm_cell_x(problem->goal),
               fm_cell_y(problem->goal));
        if (isnan(answer->length)) {
            fputs("null", stdout);
        } else {
            printf("%.8f", answer->length);
        }
        printf(",\"optimal_cost\":%.8f,\"expansions\":%llu,\"microseconds\":%.3f,\"right\":%s}\n",
               problem->optimal_length, (unsigned long long)answer->expansions, answer->us,
               right ? "true" : "false");
    } else if (!right) {
        printf("problem %u, from %u,%u to %u,%u: found %.8f, optimum %.8f\n", number,
               fm_cell_x(problem->start), fm_cell_y(problem->start), fm_cell_x(problem->goal),
               fm_cell_y(problem->goal), answer->length, problem->optimal_length);
    }
}

static void solve(struct trial *trial, uint32_t number, const fm_problem *problem)
{
    struct answer answer = ask(trial, problem->start, problem->goal);
    double tolerance = fmax(TOLERANCE * fmax(1, problem->optimal_length), problem->length_unit);
    bool right = fabs(answer.length - problem->optimal_length) <= tolerance;
    trial->wrong_count += !right;
    trial->expansions_total += answer.expansions;
    trial->us_total += answer.us;
    fm_sample_add(&trial->expansions, (double)answer.expansions);
    fm_sample_add(&trial->us, answer.us);
    fm_sample_add(&trial->bytes, (double)answer.bytes);
    print_problem(trial, number, problem, &answer, right);
}

static const fm_column columns[] = {
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"problems", "problems", FM_COLUMN_NUMBER, 0},
    {"wrong", "wrong", FM_COLUMN_NUMBER, 0},
    {"expansions", "expansions", FM_COLUMN_MEAN, 1},
    {"microseconds", "µs per problem", FM_COLUMN_MEAN, 1},
    {"ns_per_expansion", "ns per expansion", FM_COLUMN_NUMBER, 1},
    {"bytes", "bytes", FM_COLUMN_MEAN, 0},
};

static void summarize(const struct trial *trial, uint32_t count)
{
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    fm_table_row(&table);
    fm_table_text(&table, trial->name);
    fm_table_number(&table, count);
    fm_table_number(&table, trial->wrong_count);
    fm_table_mean(&table, &trial->expansions);
    fm_table_mean(&table, &trial->us);
    fm_table_number(&table, trial->us_total * 1e3 / (double)trial->expansions_total);
    fm_table_mean(&table, &trial->bytes);
    const fm_report_fact facts[] = {{"problems", count}, {"wrong", trial->wrong_count}};
    fm_lab_report(trial->lab, &table, facts, FM_COUNT_OF(facts));
    fm_table_fini(&table);
}

static fm_step_costs read_steps(const fm_lab *lab)
{
    const char *steps = fm_lab_value(lab, "steps");
    if (steps == NULL || strcmp(steps, "70/99") == 0) {
        return FM_STEPS_70_99;
    }
    if (strcmp(steps, "10/14") != 0) {
        fm_lab_usage_error(lab, "--steps: 70/99 or 10/14, not '%s'", steps);
    }
    return FM_STEPS_10_14;
}

// The map as the unit of --class sees it.
static fm_class_map *make_class_map(const fm_lab *lab, const fm_grid *map, fm_step_costs steps,
                                    fm_movement_class *movement)
{
    const char *text = fm_lab_value(lab, "class");
    char error[200];
    *movement = fm_movement_class_ground();
    if (text != NULL && fm_movement_class_parse(text, movement, error, sizeof error) != FM_OK) {
        fm_lab_usage_error(lab, "--class: %s", error);
    }
    fm_class_map *class_map;
    fm_lab_check(
        lab, fm_class_map_of_grid(movement, map, FM_CONNECT_8, steps, &fm_memory_libc, &class_map),
        "--class");
    return class_map;
}

// The planner of --planner, guided by --heuristic.
static void read_planner(struct trial *trial, const char *planner)
{
    const char *heuristic = fm_lab_value(trial->lab, "heuristic");
    bool has_options = strchr(planner, ':') != NULL;
    bool is_query = strcmp(planner, QUERY) == 0;
    if (is_query && heuristic != NULL) {
        fm_lab_usage_error(trial->lab, "--heuristic: path queries take none; name a planner");
    }
    int length = snprintf(trial->name, sizeof trial->name, "%s%s%s", planner,
                          heuristic == NULL ? ""
                          : has_options     ? ",heuristic="
                                            : ":heuristic=",
                          heuristic == NULL ? "" : heuristic);
    if (length < 0 || (size_t)length >= sizeof trial->name) {
        fm_lab_usage_error(trial->lab, "--planner: '%s' is too long", planner);
    }
    if (!is_query) {
        trial->spec = fm_lab_planner(trial->lab, trial->name);
    }
}

static fm_landmark_rules read_landmarks(const fm_lab *lab)
{
    fm_landmark_rules rules = {.count =
                                   (uint32_t)fm_lab_uint(lab, "landmarks", 1, FM_LANDMARKS_MAX, 8)};
    const char *placement = fm_lab_value(lab, "placement");
    if (placement != NULL && !fm_placement_by_name(placement, &rules.placement)) {
        fm_lab_usage_error(lab, "--placement: there is none called '%s'", placement);
    }
    return rules;
}

static int run(fm_lab *lab)
{
    const char *planner = fm_lab_value(lab, "planner");
    struct trial trial = {.lab = lab};
    planner = planner == NULL ? "repeated-forward-astar" : planner;
    char map_path[FM_LAB_PATH_SIZE], scen_path[FM_LAB_PATH_SIZE];
    read_planner(&trial, planner);
    fm_landmark_rules rules = read_landmarks(lab);
    fm_step_costs steps = read_steps(lab);
    uint64_t limit = fm_lab_uint(lab, "limit", 1, UINT32_MAX, UINT32_MAX);
    fm_lab_find_or_die(lab, lab->arguments[0], ".map", map_path);
    fm_lab_find_or_die(lab, lab->arguments[1], ".scen", scen_path);
    fm_grid *map = fm_lab_read_map(lab, map_path);
    uint32_t total;
    fm_problem *problems = fm_lab_read_problems(lab, scen_path, map, &total);
    uint32_t count = limit < total ? (uint32_t)limit : total;
    fm_movement_class movement;
    fm_class_map *class_map = make_class_map(lab, map, steps, &movement);
    trial.view = class_map->view;
    if (trial.spec.ops != NULL &&
        !fm_planner_spec_fits(&trial.spec, FM_CONNECT_8, trial.view.weights != NULL)) {
        fm_lab_usage_error(lab, "%s does not work with 8 neighbours on this map", trial.name);
    }
    fm_lab_worker_init(&trial.worker);
    fm_lab_survey survey = fm_lab_survey_begin(lab, &trial.view, rules, &trial.worker);
    const fm_lab_errand errand = {problems[0].start, problems[0].goal};
    fm_lab_survey_make(&survey, trial.spec.options.heuristic, &errand, total == 0 ? 0 : 1);
    for (uint32_t i = 0; i < count; i++) {
        // The last of each of `count` equal parts: the longest problem is always among them.
        uint32_t number = (uint32_t)(((uint64_t)i + 1) * total / count) - 1;
        fm_lab_progress(lab, i, count);
        solve(&trial, number, &problems[number]);
    }
    fm_lab_progress(lab, 1, 1);
    summarize(&trial, count);
    fm_lab_survey_end(&survey);
    fm_lab_worker_fini(&trial.worker);
    free(trial.cells);
    free(problems);
    fm_class_map_destroy(class_map);
    fm_grid_destroy(map);
    return trial.wrong_count == 0 ? FM_LAB_OK : FM_LAB_FAILED;
}

const fm_lab_command fm_lab_scen = {
    .name = "scen",
    .arguments = "MAP SCEN",
    .summary = "one planner on the problems of a .scen file, checked against its optima",
    .details = "Solves problems of a MovingAI .scen file on its map, known from the start, and\n"
               "checks each path against the optimal length that the file gives. MAP and SCEN are\n"
               "paths, or names of files in the folder of maps (brc202d brc202d.map.scen). With\n"
               "--json one line per problem and then a summary. Exit status 1 when any is wrong.",
    .options = options,
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run,
};
