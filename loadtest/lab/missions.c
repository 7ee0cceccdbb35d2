// loadtest/lab/missions.c: `fogmarch-lab missions`, every planner on unknown game maps.
//
// Eight neighbours, steps of 10 and 14; the agent sees every cell within the sight radius (a
// square). Missions are problems of the map's .scen file, spread evenly over it, so short and long
// ones take part alike. All planners play a mission before the next one begins, in an order drawn
// from the seed: a planner that plays after one that has touched a lot of memory finds the caches
// cold.
//
// Microseconds per move are what a server pays: all planning of all missions over all moves, the
// making and unmaking of planners included; sensing apart.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_DEFAULT "arena2,den520d,brc202d,orz900d,32room_000"
#define PLANNERS_DEFAULT                                                                           \
    "auto,repeated-jps,dstar-lite,dstar-extra-lite,mpgaa-star,adaptive-astar,"                     \
    "repeated-forward-astar"

// Best public code on a machine like ours, sight radius 5, microseconds of planning per move:
// jump-point search from scratch, and D* Lite.
static const struct published {
    const char *map;
    double jps_us, dstar_us;
} published[] = {
    {"arena2", 1.90, 20.8},  {"den520d", 2.32, 24.1},    {"brc202d", 3.72, 46.4},
    {"orz900d", 8.99, 57.6}, {"32room_000", 2.58, 36.7},
};

// What a planner did on this map.
struct entry {
    fm_sample mission_ms, us_per_move, replans, expansions, secondary, moves, bytes, cost_ratio;
    double planning_us_total, sensing_us_total, longest_us;
    uint64_t moves_total;
    uint32_t unreached;
};

struct experiment {
    fm_lab *lab;
    uint32_t missions, repeats, radius;
    fm_lab_contender contenders[FM_LAB_CONTENDERS_MAX];
    struct entry entries[FM_LAB_CONTENDERS_MAX];
    uint32_t count; // of both
    fm_random random;
    fm_lab_worker worker;
    fm_line_of_sight *sight;
    fm_table table;
};

static const fm_lab_option options[] = {
    {"planners", "LIST", "separated by commas; those that are not bound to a look-ahead"},
    {"map", "LIST", "maps, separated by commas; " MAPS_DEFAULT},
    {"missions", "N", "on each map; 40"},
    {"radius", "CELLS", "how far the agent sees; 5"},
    {"line-of-sight", NULL, "blocked cells hide what lies behind them"},
    {"repeats", "N", "play each mission N times and keep the fastest time; 1"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

// ---- one map -----------------------------------------------------------------------------------

static void play(struct experiment *experiment, uint32_t turn, const fm_lab_ground *ground,
                 const fm_lab_errand *errand, uint32_t optimal)
{
    fm_lab_contender *contender = &experiment->contenders[turn];
    struct entry *entry = &experiment->entries[turn];
    fm_lab_mission mission;
    fm_lab_check(experiment->lab,
                 fm_lab_mission_measure(ground, &contender->spec, errand->start, errand->goal,
                                        experiment->repeats, &experiment->worker, &mission),
                 contender->name);
    if ((mission.outcome == FM_LAB_ARRIVED) != (optimal < FM_COST_INFINITE) ||
        (mission.outcome == FM_LAB_ARRIVED && mission.cost < optimal)) {
        fm_lab_die(experiment->lab, "%s: wrong end of the path from %u,%u to %u,%u",
                   contender->name, fm_cell_x(errand->start), fm_cell_y(errand->start),
                   fm_cell_x(errand->goal), fm_cell_y(errand->goal));
    }
    if (mission.outcome != FM_LAB_ARRIVED) {
        entry->unreached += 1;
        return;
    }
    double planning_us = fm_lab_ns(mission.planning_ticks) / 1e3;
    double longest_us = fm_lab_ns(mission.interval_longest_ticks) / 1e3;
    fm_sample_add(&entry->mission_ms, planning_us / 1e3);
    fm_sample_add(&entry->us_per_move, planning_us / (double)mission.moves);
    fm_sample_add(&entry->replans, (double)mission.replans);
    fm_sample_add(&entry->expansions, (double)mission.expansions);
    fm_sample_add(&entry->secondary, (double)mission.secondary);
    fm_sample_add(&entry->moves, (double)mission.moves);
    fm_sample_add(&entry->bytes, (double)mission.bytes_max);
    fm_sample_add(&entry->cost_ratio, (double)mission.cost / optimal);
    entry->planning_us_total += planning_us;
    entry->sensing_us_total += fm_lab_ns(mission.sensing_ticks) / 1e3;
    entry->longest_us = longest_us > entry->longest_us ? longest_us : entry->longest_us;
    entry->moves_total += mission.moves;
}

static const fm_column columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"planning_us_per_move", "planning µs/move", FM_COLUMN_NUMBER, 2},
    {"public_jps_us_per_move", "public JPS", FM_COLUMN_NUMBER, 2},
    {"public_dstar_lite_us_per_move", "public D* Lite", FM_COLUMN_NUMBER, 1},
    {"sensing_us_per_move", "sensing µs/move", FM_COLUMN_NUMBER, 2},
    {"mission_ms", "ms per mission", FM_COLUMN_MEAN, 3},
    {"longest_us", "longest µs", FM_COLUMN_NUMBER, 0},
    {"moves", "moves", FM_COLUMN_MEAN, 0},
    {"replans", "replans", FM_COLUMN_MEAN, 1},
    {"expansions", "expansions", FM_COLUMN_MEAN, 0},
    {"ns_per_expansion", "ns per expansion", FM_COLUMN_NUMBER, 1},
    {"bytes", "bytes", FM_COLUMN_MEAN, 0},
    {"cost_ratio", "cost / optimal", FM_COLUMN_MEAN, 3},
    {"missions", NULL, FM_COLUMN_NUMBER, 0},
    {"unreached", NULL, FM_COLUMN_NUMBER, 0},
    {"us_per_move", NULL, FM_COLUMN_MEAN, 3}, // the mean over missions, not over moves
    {"secondary", NULL, FM_COLUMN_MEAN, 0},
};

static void add_row(struct experiment *experiment, const char *map, uint32_t turn)
{
    const struct entry *entry = &experiment->entries[turn];
    fm_table *table = &experiment->table;
    double moves = (double)entry->moves_total, jps_us = (double)NAN, dstar_us = (double)NAN;
    for (size_t i = 0; i < FM_COUNT_OF(published) && experiment->radius == 5; i++) {
        if (strcmp(published[i].map, map) == 0) {
            jps_us = published[i].jps_us;
            dstar_us = published[i].dstar_us;
        }
    }
    fm_table_row(table);
    fm_table_text(table, map);
    fm_table_text(table, experiment->contenders[turn].name);
    fm_table_number(table, entry->planning_us_total / moves);
    fm_table_number(table, jps_us);
    fm_table_number(table, dstar_us);
    fm_table_number(table, entry->sensing_us_total / moves);
    fm_table_mean(table, &entry->mission_ms);
    fm_table_number(table, entry->longest_us);
    fm_table_mean(table, &entry->moves);
    fm_table_mean(table, &entry->replans);
    fm_table_mean(table, &entry->expansions);
    fm_table_number(table, entry->mission_ms.mean * 1e6 / entry->expansions.mean);
    fm_table_mean(table, &entry->bytes);
    fm_table_mean(table, &entry->cost_ratio);
    fm_table_number(table, (double)entry->mission_ms.count);
    fm_table_number(table, entry->unreached);
    fm_table_mean(table, &entry->us_per_move);
    fm_table_mean(table, &entry->secondary);
}

static void play_map(struct experiment *experiment, const char *name, uint64_t done, uint64_t total)
{
    char path[FM_LAB_PATH_SIZE];
    uint32_t count = experiment->missions;
    fm_lab_find_or_die(experiment->lab, name, ".map", path);
    fm_grid *map = fm_lab_read_map(experiment->lab, path);
    fm_lab_errand *errands = fm_lab_errands(experiment->lab, path, map, &count);
    fm_lab_ground ground = {.truth = map,
                            .sight = experiment->sight,
                            .connectivity = FM_CONNECT_8,
                            .steps = FM_STEPS_10_14};
    memset(experiment->entries, 0, sizeof experiment->entries);
    for (uint32_t i = 0; i < count; i++) {
        fm_lab_progress(experiment->lab, done + i, total);
        uint32_t optimal =
            fm_lab_optimal_cost(&ground, errands[i].start, errands[i].goal, &experiment->worker);
        uint32_t turns[FM_LAB_CONTENDERS_MAX];
        fm_lab_shuffle(&experiment->random, turns, experiment->count);
        for (uint32_t e = 0; e < experiment->count; e++) {
            play(experiment, turns[e], &ground, &errands[i], optimal);
        }
    }
    for (uint32_t e = 0; e < experiment->count; e++) {
        add_row(experiment, name, e);
    }
    free(errands);
    fm_grid_destroy(map);
}

// ---- all maps ----------------------------------------------------------------------------------

static void plot(const struct experiment *experiment)
{
    FILE *plot = fm_plot_open(experiment->lab);
    if (plot == NULL) {
        return;
    }
    const fm_table *table = &experiment->table;
    uint32_t count = experiment->count;
    fputs("$moves << END\n", plot);
    for (uint32_t first = 0; first < table->row_count; first += count) {
        const fm_table_cell *map = &table->cells[(size_t)first * table->column_count];
        fprintf(plot, "\"%s\"", map[0].text);
        for (uint32_t e = 0; e < count; e++) {
            const fm_table_cell *row = &table->cells[(size_t)(first + e) * table->column_count];
            fprintf(plot, " %g", row[2].number);
        }
        fputc('\n', plot);
    }
    fputs("END\nset title 'Unknown game maps'\nset ylabel 'planning, µs per move'\n"
          "set logscale y\nset style data histograms\nset style fill solid 0.8\n"
          "set key outside right top\nplot ",
          plot);
    for (uint32_t e = 0; e < count; e++) {
        fprintf(plot, "%s$moves using %u%s title ", e == 0 ? "" : ", ", e + 2,
                e == 0 ? ":xtic(1)" : "");
        fm_plot_text(plot, experiment->contenders[e].name);
    }
    fputc('\n', plot);
    fm_plot_close(experiment->lab, plot);
}

static int run(fm_lab *lab)
{
    struct experiment *experiment = fm_lab_need(lab, calloc(1, sizeof *experiment));
    experiment->lab = lab;
    experiment->missions = (uint32_t)fm_lab_uint(lab, "missions", 1, 100000, 40);
    experiment->repeats = (uint32_t)fm_lab_uint(lab, "repeats", 1, 1000, 1);
    experiment->radius = (uint32_t)fm_lab_uint(lab, "radius", 1, FM_SENSE_RADIUS_MAX, 5);
    experiment->random = fm_random_seed(lab->seed);
    experiment->count =
        fm_lab_contenders(lab, "planners", PLANNERS_DEFAULT, experiment->contenders);
    fm_lab_worker_init(&experiment->worker);
    fm_table_init(&experiment->table, columns, FM_COUNT_OF(columns));
    const fm_sense_rules rules = {.radius = experiment->radius,
                                  .shape = FM_SENSE_SQUARE,
                                  .line_of_sight = fm_lab_value(lab, "line-of-sight") != NULL};
    fm_lab_check(lab, fm_line_of_sight_create(rules, &fm_memory_libc, &experiment->sight), "sight");

    const char *maps = fm_lab_value(lab, "map");
    char name[FM_LAB_PATH_SIZE];
    maps = maps == NULL ? MAPS_DEFAULT : maps;
    uint64_t done = 0, total = (uint64_t)fm_lab_map_count(lab, MAPS_DEFAULT) * experiment->missions;
    for (const char *list = maps; list != NULL; done += experiment->missions) {
        list = fm_lab_next_item(list, name, sizeof name);
        play_map(experiment, name, done, total);
    }
    fm_lab_progress(lab, 1, 1);
    const fm_report_fact facts[] = {{"radius", experiment->radius},
                                    {"repeats", experiment->repeats}};
    fm_lab_report(lab, &experiment->table, facts, FM_COUNT_OF(facts));
    plot(experiment);
    fm_table_fini(&experiment->table);
    fm_line_of_sight_destroy(experiment->sight);
    fm_lab_worker_fini(&experiment->worker);
    free(experiment);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_missions = {
    .name = "missions",
    .arguments = "",
    .summary = "every planner on unknown game maps, beside the best public figures",
    .details = "Plays missions on game maps that the agent does not know: eight neighbours, sight\n"
               "radius 5. For each map and planner: time per move (planning and sensing apart),\n"
               "time per mission, the longest single interval, replans, expansions, memory, and\n"
               "the cost travelled over that of a shortest path by one who knows the map.",
    .options = options,
    .run = run,
};
