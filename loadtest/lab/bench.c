// loadtest/lab/bench.c: `fogmarch-lab bench`, the speed of every planner on a fixed set of
// generated maps, as CSV to be kept in git, so that a change of speed is a diff.
//
// Times of different runs on a shared machine are not comparable; times of two programs that take
// turns are. --against runs this program and another build of it in turn, each several times on
// every map with every planner, and prints the ratio of their times per move.

#include "loadtest/lab/child.h"
#include "loadtest/lab/lab.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAP 200000u // intervals

// Searches that keep something between replans, or plan with less than the map.
#define PLANNERS_UNKNOWN                                                                           \
    "dstar-lite-bucket,dstar-lite-heap-larger-g,dstar-lite-heap-smaller-g,dstar-extra-lite,"       \
    "repeated-forward-astar,repeated-backward-astar,adaptive-astar,mpgaa-star,repeated-jps,"       \
    "rtba-star,tbaa-star,auto,rtaa-star:lookahead=256,artaa-star:lookahead=256,"                   \
    "dartaa-star:lookahead=256,lss-lrta-star:lookahead=256,alss-lrta-star:lookahead=256,"          \
    "dalss-lrta-star:lookahead=256"

// Searches that are asked once, on a map that is known from the start.
#define PLANNERS_KNOWN                                                                             \
    "astar,dijkstra,breadth-first,depth-first,greedy-best-first,repeated-forward-astar,"           \
    "repeated-backward-astar,repeated-jps,dstar-lite-bucket,tba-star"

// The fixed set. Changing a row makes old results incomparable: add rows instead.
static const struct place {
    const char *name;
    fm_generator generator;
    uint32_t side;
    fm_connectivity connectivity;
    fm_step_costs steps;
    fm_sense_rules sense;
    bool known; // from the start
} places[] = {
    {"maze201",
     FM_GENERATOR_MAZE,
     201,
     FM_CONNECT_4,
     FM_STEPS_1,
     {.radius = 1, .shape = FM_SENSE_DIAMOND},
     false},
    {"open256",
     FM_GENERATOR_OPEN,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     false},
    {"random256",
     FM_GENERATOR_RANDOM,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     false},
    {"rooms256",
     FM_GENERATOR_ROOMS,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     false},
    {"skirmish256",
     FM_GENERATOR_SKIRMISH,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     false},
    {"rooms256-known",
     FM_GENERATOR_ROOMS,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     true},
    {"skirmish256-known",
     FM_GENERATOR_SKIRMISH,
     256,
     FM_CONNECT_8,
     FM_STEPS_10_14,
     {.radius = 5, .shape = FM_SENSE_SQUARE},
     true},
};

// The planners of a place.
struct contenders {
    fm_lab_contender list[FM_LAB_CONTENDERS_MAX];
    uint32_t count;
};

struct bench {
    fm_lab *lab;
    uint32_t missions, repeats, rounds;
    const char *against;
    struct contenders contenders[2]; // on unknown maps, on known ones
    fm_lab_worker worker;
    fm_table table;
};

static const fm_lab_option options[] = {
    {"planners", "LIST", "separated by commas; all there are that fit the map"},
    {"map", "LIST",
     "of maze201, open256, random256, rooms256, skirmish256,\n"
     "rooms256-known, skirmish256-known; all"},
    {"missions", "N", "on each map; 20"},
    {"repeats", "N", "play each mission N times and keep the fastest time; 3"},
    {"against", "PROGRAM", "another build of fogmarch-lab: run both in turn"},
    {"rounds", "N", "with --against: how often each; 5"},
    {.name = NULL},
};

static bool is_wanted(const struct bench *bench, const struct place *place)
{
    char name[32];
    const char *list = fm_lab_value(bench->lab, "map");
    bool wanted = list == NULL;
    while (list != NULL) {
        list = fm_lab_next_item(list, name, sizeof name);
        wanted |= strcmp(name, place->name) == 0;
    }
    return wanted;
}

static void check_maps(const struct bench *bench)
{
    char name[32];
    for (const char *list = fm_lab_value(bench->lab, "map"); list != NULL;) {
        size_t i = 0;
        list = fm_lab_next_item(list, name, sizeof name);
        while (i < FM_COUNT_OF(places) && strcmp(places[i].name, name) != 0) {
            i++;
        }
        if (i == FM_COUNT_OF(places)) {
            fm_lab_usage_error(bench->lab, "--map: there is no map '%s'", name);
        }
    }
}

// ---- measuring ---------------------------------------------------------------------------------

static const fm_column columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"missions", "missions", FM_COLUMN_NUMBER, 0},
    {"moves", "moves", FM_COLUMN_NUMBER, 0},
    {"expansions", "expansions", FM_COLUMN_NUMBER, 0},
    {"secondary", "secondary", FM_COLUMN_NUMBER, 0},
    {"ns_per_expansion", "ns per expansion", FM_COLUMN_NUMBER, 1},
    {"us_per_move", "µs per move", FM_COLUMN_NUMBER, 3},
    {"us_per_mission", "µs per mission", FM_COLUMN_NUMBER, 1},
    {"bytes", "bytes", FM_COLUMN_NUMBER, 0}, // the largest planner
};

#define COLUMN_EXPANSIONS  4u
#define COLUMN_US_PER_MOVE 7u

struct total {
    uint32_t missions;
    uint64_t moves, expansions, secondary, planning_ticks;
    size_t bytes;
};

static void add_row(fm_table *table, const char *map, const char *planner,
                    const struct total *total)
{
    double us = fm_lab_ns(total->planning_ticks) / 1e3;
    fm_table_row(table);
    fm_table_text(table, map);
    fm_table_text(table, planner);
    fm_table_number(table, total->missions);
    fm_table_number(table, (double)total->moves);
    fm_table_number(table, (double)total->expansions);
    fm_table_number(table, (double)total->secondary);
    fm_table_number(table, us * 1e3 / (double)total->expansions);
    fm_table_number(table, us / (double)total->moves);
    fm_table_number(table, us / total->missions);
    fm_table_number(table, (double)total->bytes);
}

static void play(struct bench *bench, const fm_lab_ground *ground,
                 const fm_lab_contender *contender, fm_cell start, fm_cell goal,
                 struct total *total)
{
    fm_lab_mission mission;
    fm_lab_check(bench->lab,
                 fm_lab_mission_measure(ground, &contender->spec, start, goal, bench->repeats,
                                        &bench->worker, &mission),
                 contender->name);
    total->missions += 1;
    total->moves += mission.moves;
    total->expansions += mission.expansions;
    total->secondary += mission.secondary;
    total->planning_ticks += mission.planning_ticks;
    total->bytes = mission.bytes_max > total->bytes ? mission.bytes_max : total->bytes;
}

// Every cell of the map.
static void know_all(const struct bench *bench, const fm_grid *map, fm_bitmap *known)
{
    fm_lab_check(bench->lab, fm_bitmap_init(known, map->width, map->height, false, &fm_memory_libc),
                 "bitmap");
    for (uint32_t y = 0; y < map->height; y++) {
        for (uint32_t x = 0; x < map->width; x++) {
            fm_bitmap_set(known, fm_cell_at(x, y));
        }
    }
}

static void play_place(struct bench *bench, const struct place *place)
{
    const struct contenders *contenders = &bench->contenders[place->known];
    struct total totals[FM_LAB_CONTENDERS_MAX] = {0};
    fm_generate_options generate = fm_generate_options_default();
    fm_grid *map;
    fm_line_of_sight *sight;
    uint32_t cell_count;
    generate.generator = place->generator;
    generate.width = generate.height = place->side;
    generate.seed = bench->lab->seed;
    fm_lab_check(bench->lab, fm_generate(&generate, &fm_memory_libc, &map, NULL, NULL, 0),
                 place->name);
    fm_lab_check(bench->lab, fm_line_of_sight_create(place->sense, &fm_memory_libc, &sight),
                 "sight");
    fm_cell *cells = fm_lab_need(bench->lab, fm_lab_largest_component(map, &cell_count));
    fm_bitmap known = {0};
    if (place->known) {
        know_all(bench, map, &known);
    }
    fm_random random = fm_random_seed(bench->lab->seed);
    const fm_lab_ground ground = {.truth = map,
                                  .sight = sight,
                                  .connectivity = place->connectivity,
                                  .steps = place->steps,
                                  .remembered = place->known ? &known : NULL,
                                  .intervals_max = CAP};
    for (uint32_t m = 0; m < bench->missions; m++) {
        fm_cell start = cells[fm_random_below(&random, cell_count)];
        fm_cell goal = cells[fm_random_below(&random, cell_count)];
        fm_lab_progress(bench->lab, m, bench->missions);
        for (uint32_t p = 0; p < contenders->count; p++) {
            uint32_t turn = (p + m) % contenders->count;
            if (fm_lab_planner_fits(&ground, contenders->list[turn].spec.ops)) {
                play(bench, &ground, &contenders->list[turn], start, goal, &totals[turn]);
            }
        }
    }
    fm_lab_progress(bench->lab, 1, 1);
    for (uint32_t p = 0; p < contenders->count; p++) {
        if (totals[p].missions > 0) {
            add_row(&bench->table, place->name, contenders->list[p].name, &totals[p]);
        }
    }
    fm_bitmap_fini(&known, &fm_memory_libc);
    free(cells);
    fm_line_of_sight_destroy(sight);
    fm_grid_destroy(map);
}

static int measure(struct bench *bench)
{
    fm_table_init(&bench->table, columns, FM_COUNT_OF(columns));
    for (size_t i = 0; i < FM_COUNT_OF(places); i++) {
        if (is_wanted(bench, &places[i])) {
            play_place(bench, &places[i]);
        }
    }
    if (bench->lab->json || bench->lab->table != NULL) {
        const fm_report_fact facts[] = {{"repeats", bench->repeats}};
        fm_lab_report(bench->lab, &bench->table, facts, FM_COUNT_OF(facts));
    } else {
        fm_table_print_csv(&bench->table, stdout);
    }
    fm_table_fini(&bench->table);
    return FM_LAB_OK;
}

// ---- two builds --------------------------------------------------------------------------------

static const fm_column comparison_columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"us_per_move", "µs per move", FM_COLUMN_MEAN, 3},
    {"other_us_per_move", "other's", FM_COLUMN_MEAN, 3},
    {"ratio", "this / other", FM_COLUMN_MEAN, 3},
    {"expansions", "expansions", FM_COLUMN_NUMBER, 0},
    {"other_expansions", "other's", FM_COLUMN_NUMBER, 0},
};

struct figures {
    double us_per_move, expansions;
};

// Field number `index` of a line of CSV whose first two fields may be quoted.
static double number_in(const char *line, uint32_t index)
{
    bool quoted = false;
    for (; *line != '\0' && index > 0; line++) {
        quoted ^= *line == '"';
        index -= *line == ',' && !quoted;
    }
    return *line == '\0' ? (double)NAN : strtod(line, NULL);
}

// Runs one program on one map with one planner. False when it has no such planner.
static bool ask(struct bench *bench, const char *program, const char *map, const char *planner,
                struct figures *figures)
{
    char missions[16], repeats[16], seed[24], output[4096];
    snprintf(missions, sizeof missions, "%u", bench->missions);
    snprintf(repeats, sizeof repeats, "%u", bench->repeats);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)bench->lab->seed);
    const char *const arguments[] = {program,     "bench",  "--map", map,          "--planners",
                                     planner,     "--seed", seed,    "--missions", missions,
                                     "--repeats", repeats,  NULL};
    if (!fm_lab_child_run(bench->lab, program, arguments, output, sizeof output)) {
        return false;
    }
    const char *line = strchr(output, '\n'); // after the headings
    if (line == NULL || line[1] == '\0') {
        return false;
    }
    figures->us_per_move = number_in(line + 1, COLUMN_US_PER_MOVE);
    figures->expansions = number_in(line + 1, COLUMN_EXPANSIONS);
    return true;
}

static void compare(struct bench *bench, const char *self, const char *map,
                    const fm_lab_contender *contender, fm_table *table)
{
    fm_sample ours = {0}, theirs = {0}, ratio = {0};
    struct figures mine, other;
    for (uint32_t round = 0; round < bench->rounds; round++) {
        // The program that is first in one round is second in the next.
        bool first = round % 2 == 0;
        if (!ask(bench, first ? self : bench->against, map, contender->name,
                 first ? &mine : &other) ||
            !ask(bench, first ? bench->against : self, map, contender->name,
                 first ? &other : &mine)) {
            return;
        }
        fm_sample_add(&ours, mine.us_per_move);
        fm_sample_add(&theirs, other.us_per_move);
        fm_sample_add(&ratio, mine.us_per_move / other.us_per_move);
    }
    fm_table_row(table);
    fm_table_text(table, map);
    fm_table_text(table, contender->name);
    fm_table_mean(table, &ours);
    fm_table_mean(table, &theirs);
    fm_table_mean(table, &ratio);
    fm_table_number(table, mine.expansions);
    fm_table_number(table, other.expansions);
}

static int compare_all(struct bench *bench)
{
    char self[4096];
    fm_table table;
    fm_lab_child_self(bench->lab, self, sizeof self);
    fm_table_init(&table, comparison_columns, FM_COUNT_OF(comparison_columns));
    for (size_t i = 0; i < FM_COUNT_OF(places); i++) {
        const struct contenders *contenders = &bench->contenders[places[i].known];
        for (uint32_t p = 0; p < contenders->count && is_wanted(bench, &places[i]); p++) {
            fm_lab_progress(bench->lab, i * contenders->count + p,
                            FM_COUNT_OF(places) * contenders->count);
            compare(bench, self, places[i].name, &contenders->list[p], &table);
        }
    }
    fm_lab_progress(bench->lab, 1, 1);
    const fm_report_fact facts[] = {{"rounds", bench->rounds}, {"missions", bench->missions}};
    fm_lab_report(bench->lab, &table, facts, FM_COUNT_OF(facts));
    uint32_t row_count = table.row_count;
    fm_table_fini(&table);
    if (row_count == 0) {
        fm_lab_die(bench->lab, "%s: answered nothing that can be compared", bench->against);
    }
    return FM_LAB_OK;
}

static int run(fm_lab *lab)
{
    struct bench bench = {.lab = lab};
    bench.missions = (uint32_t)fm_lab_uint(lab, "missions", 1, 100000, 20);
    bench.repeats = (uint32_t)fm_lab_uint(lab, "repeats", 1, 1000, 3);
    bench.rounds = (uint32_t)fm_lab_uint(lab, "rounds", 2, 1000, 5);
    bench.against = fm_lab_value(lab, "against");
    static const char *const fallbacks[2] = {PLANNERS_UNKNOWN, PLANNERS_KNOWN};
    for (uint32_t known = 0; known < 2; known++) {
        struct contenders *contenders = &bench.contenders[known];
        contenders->count = fm_lab_contenders(lab, "planners", fallbacks[known], contenders->list);
    }
    check_maps(&bench);
    if (bench.against != NULL) {
        return compare_all(&bench);
    }
    fm_lab_worker_init(&bench.worker);
    int exit_code = measure(&bench);
    fm_lab_worker_fini(&bench.worker);
    return exit_code;
}

const fm_lab_command fm_lab_bench = {
    .name = "bench",
    .arguments = "",
    .summary = "the speed of every planner on generated maps, as CSV; or of two builds",
    .details =
        "Plays missions in generated maps, unknown ones and known ones, always the same, and\n"
        "prints a line of CSV for each map and planner: expansions, nanoseconds per expansion, "
        "microseconds\n"
        "per move, bytes. With --against the same for another build of this program, both\n"
        "in turn, and the ratio of their times.",
    .options = options,
    .run = run,
};
