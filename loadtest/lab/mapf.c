// loadtest/lab/mapf.c: `fogmarch-lab mapf`, multi-agent path finding in process: one unit per cell,
// known terrain, all set out at once and have to stand on their goals at the same time.
//
// Problems come from a map and its .scen file, or are small ones drawn from the seed. The goals of
// a drawn one are where its units stand after a long random walk, one unit and one step at a time.
// So each of them can be solved: by that walk. Those that are not solved are named by their seeds.
//
// Source: R. Stern et al., "Multi-Agent Pathfinding: Definitions, Variants, and Benchmarks", SoCS
// 2019, for the files and what is counted.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/map/map_file.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX    8192u
#define SIDE_MIN     8u
#define SIDE_MAX     24u
#define WALLS_MAX    40u // per cent
#define DENSITY_MAX  70u // per cent of the cells of a drawn map
#define STEPS_EACH   64u // of a random walk, for each cell
#define TICKS_EACH   10u // that a drawn problem may take: for each of its cells
#define TRACED_TICKS 12u
#define OFF_GOAL     UINT32_MAX

struct problem {
    fm_grid *grid; // the world's own once it plays
    uint32_t unit_count;
    fm_cell starts[UNITS_MAX], goals[UNITS_MAX];
    uint32_t ticks_max;
};

struct outcome {
    uint32_t arrived; // orders that ended on their goals
    uint32_t on_goal; // at the end
    uint32_t ticks;
    uint32_t makespan;
    uint64_t sum_of_costs;   // until the last arrival of each; all ticks for those off their goals
    uint64_t first_arrivals; // until the first
    uint32_t collisions;
    double tick_us, worst_us;
    double choose_ns, move_ns; // of these stages, per unit and tick
};

static struct problem problem;
static fm_agent_look looks[UNITS_MAX];
static fm_cell cells[UNITS_MAX], cells_before[UNITS_MAX];
static uint32_t arrivals[UNITS_MAX], firsts[UNITS_MAX];

static const fm_lab_option options[] = {
    {"map", "NAME", "map; random-64-64-20"},
    {"scen", "FILE", "problem file; the map's name and -random-1.scen"},
    {"agents", "LIST",
     "units, the first lines of the file, and further ones\ndrawn from the seed; 400"},
    {"neighbours", "LIST", "4, 8 or both; 4,8"},
    {"planner", "NAME", "of all units; dstar-lite"},
    {"workers", "N", "threads that a tick uses; 1"},
    {"ticks", "N", "after which a run is broken off"},
    {"drawn", "N", "so many small problems, drawn from the seed, in place of a file"},
    {"density", "N", "per cent of the cells of drawn maps that hold a unit, at most; 70"},
    {"walls", "N", "per cent of drawn maps that are walls, at most; 40"},
    {"trace", "N", "draw some ticks from tick N on"},
    {"show", NULL, "draw what is left of each problem that was not solved"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

// ---- playing ------------------------------------------------------------------------------------

static void apply(const fm_lab *lab, fm_world *world, const fm_command *command,
                  fm_command_result *result)
{
    fm_world_apply(world, command, result);
    fm_lab_check(lab, result->status, "command");
}

static fm_world *set_up(const fm_lab *lab, uint32_t neighbours)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    rules.connectivity = neighbours == 4 ? FM_CONNECT_4 : FM_CONNECT_8;
    rules.steps = neighbours == 4 ? FM_STEPS_1 : FM_STEPS_10_14;
    const char *planner = fm_lab_value(lab, "planner");
    rules.planner = fm_lab_planner(lab, planner == NULL ? "dstar-lite" : planner);
    fm_world *world;
    fm_lab_check(lab, fm_world_create(&rules, problem.grid, &fm_memory_libc, &world), "world");
    fm_lab_check(lab, fm_world_watch(world, FM_ALL_TEAMS, true), "watch");
    static fm_agent_id ids[UNITS_MAX];
    fm_command_result result = {.spawned = ids};
    apply(lab, world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    fm_command spawn = {.kind = FM_COMMAND_SPAWN,
                        .team = result.team,
                        .cells = problem.starts,
                        .cell_count = problem.unit_count};
    apply(lab, world, &spawn, &result);
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .order = FM_ORDER_MOVE,
                        .on_unreachable = FM_UNREACHABLE_NEAREST,
                        .agents = ids,
                        .agent_count = problem.unit_count,
                        .cells = problem.goals,
                        .cell_count = problem.unit_count};
    apply(lab, world, &order, &result);
    return world;
}

// Agents are in slot order, which is that of the problem's units. Checks that no unit moved two
// cells, shares a cell, or has exchanged places.
static void look(const fm_world *world, struct outcome *outcome, uint32_t tick)
{
    static uint32_t holders[FM_SIDE_MAX * FM_SIDE_MAX];
    uint32_t count = problem.unit_count;
    fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, UNITS_MAX);
    for (uint32_t i = 0; tick == 0 && i < problem.unit_count; i++) {
        looks[i].cell = problem.starts[i]; // nothing is in view before the first tick
    }
    outcome->on_goal = 0;
    memcpy(cells_before, cells, sizeof cells);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = looks[i].cell;
        outcome->collisions += holders[cells[i]] != 0;
        holders[cells[i]] = i + 1;
        bool on_goal = cells[i] == problem.goals[i];
        outcome->on_goal += on_goal;
        arrivals[i] = !on_goal ? OFF_GOAL : arrivals[i] == OFF_GOAL ? tick : arrivals[i];
        firsts[i] = on_goal && firsts[i] == OFF_GOAL ? tick : firsts[i];
    }
    for (uint32_t i = 0; tick > 0 && i < count; i++) {
        uint32_t other = holders[cells_before[i]];
        bool swap = other != 0 && other < i + 1 && cells_before[other - 1] == cells[i];
        outcome->collisions += swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        holders[cells[i]] = 0;
    }
}

// Walls, units on their goals as digits, the others as letters.
static void draw(void)
{
    for (uint32_t y = 0; y < problem.grid->height && problem.grid->width < 170; y++) {
        for (uint32_t x = 0; x < problem.grid->width; x++) {
            char letter = fm_grid_is_blocked(problem.grid, fm_cell_at(x, y)) ? '@' : '.';
            for (uint32_t i = 0; i < problem.unit_count; i++) {
                bool here = cells[i] == fm_cell_at(x, y);
                letter = !here                     ? letter
                         : arrivals[i] == OFF_GOAL ? (char)('a' + i % 26)
                                                   : (char)('0' + i % 10);
            }
            putchar(letter);
        }
        putchar('\n');
    }
}

static uint64_t now_ns(void *context)
{
    (void)context;
    return fm_lab_clock_ns();
}

static fm_workers *start_workers(const fm_lab *lab)
{
    fm_workers *workers;
    uint32_t count = (uint32_t)fm_lab_uint(lab, "workers", 1, FM_WORKERS_MAX, 1);
    fm_lab_check(lab, fm_workers_create(count, &workers), "workers");
    return workers;
}

static struct outcome play(const fm_lab *lab, uint32_t neighbours)
{
    fm_world *world = set_up(lab, neighbours);
    fm_workers *workers = start_workers(lab);
    struct outcome outcome = {0};
    memset(arrivals, 0xff, sizeof arrivals);
    memset(firsts, 0xff, sizeof firsts);
    look(world, &outcome, 0);
    const fm_tick_clock clock = {.now_ns = now_ns};
    uint64_t trace = fm_lab_uint(lab, "trace", 0, UINT32_MAX, UINT32_MAX);
    for (; outcome.on_goal < problem.unit_count && outcome.ticks < problem.ticks_max;
         outcome.ticks++) {
        fm_tick_report report;
        uint64_t begin = fm_lab_clock_ns();
        fm_tick_run(world, workers, UINT32_MAX, &clock, &report);
        double us = (double)(fm_lab_clock_ns() - begin) / 1e3;
        outcome.tick_us += us;
        outcome.choose_ns += (double)report.stage_ns[FM_STAGE_CHOOSE];
        outcome.move_ns += (double)report.stage_ns[FM_STAGE_MOVE];
        outcome.worst_us = fmax(outcome.worst_us, outcome.ticks == 0 ? 0 : us);
        look(world, &outcome, outcome.ticks + 1);
        if (outcome.ticks >= trace && outcome.ticks < trace + TRACED_TICKS) {
            printf("tick %u\n", outcome.ticks + 1);
            draw();
        }
        fm_changes changes = fm_world_changes(world, FM_ALL_TEAMS);
        for (uint32_t i = 0; i < changes.ended_count; i++) {
            outcome.arrived += changes.ended[i].reason == FM_END_ARRIVED;
        }
    }
    for (uint32_t i = 0; i < problem.unit_count; i++) {
        uint32_t cost = arrivals[i] == OFF_GOAL ? outcome.ticks : arrivals[i];
        outcome.makespan = cost > outcome.makespan ? cost : outcome.makespan;
        outcome.sum_of_costs += cost;
        outcome.first_arrivals += firsts[i] == OFF_GOAL ? outcome.ticks : firsts[i];
    }
    double ticks = fmax(1, outcome.ticks);
    outcome.tick_us /= ticks;
    outcome.choose_ns /= ticks * problem.unit_count;
    outcome.move_ns /= ticks * problem.unit_count;
    if (fm_lab_value(lab, "show") != NULL && outcome.on_goal < problem.unit_count) {
        for (uint32_t i = 0; i < problem.unit_count; i++) {
            if (arrivals[i] == OFF_GOAL) {
                printf("unit %u (%c) at %u,%u wants %u,%u\n", i, (char)('a' + i % 26),
                       fm_cell_x(cells[i]), fm_cell_y(cells[i]), fm_cell_x(problem.goals[i]),
                       fm_cell_y(problem.goals[i]));
            }
        }
        draw();
    }
    fm_world_destroy(world);
    fm_workers_destroy(workers);
    return outcome;
}

// ---- problems of files --------------------------------------------------------------------------

static const fm_column columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"neighbours", "neighbours", FM_COLUMN_NUMBER, 0},
    {"units", "units", FM_COLUMN_NUMBER, 0},
    {"arrived", "arrived", FM_COLUMN_NUMBER, 0},
    {"on_goal_at_end", "on goal", FM_COLUMN_NUMBER, 0},
    {"collisions", "collisions", FM_COLUMN_NUMBER, 0},
    {"makespan", "makespan", FM_COLUMN_NUMBER, 0},
    {"sum_of_costs", "sum of costs", FM_COLUMN_NUMBER, 0},
    {"sum_of_first_arrivals", "first arrivals", FM_COLUMN_NUMBER, 0},
    {"tick_us", "tick us", FM_COLUMN_NUMBER, 0},
    {"worst_tick_us", "worst", FM_COLUMN_NUMBER, 0},
    {"choose_ns", "choose ns", FM_COLUMN_NUMBER, 0}, // per unit and tick, as the next
    {"move_ns", "move ns", FM_COLUMN_NUMBER, 0},
};

// The free cells that hang together with a first one, by straight steps. `list` has room for all.
static uint32_t list_reachable(fm_cell first, bool *seen, fm_cell *list)
{
    const fm_grid *grid = problem.grid;
    uint32_t count = 0;
    list[count++] = first;
    seen[(size_t)fm_cell_y(first) * grid->width + fm_cell_x(first)] = true;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t x = (int64_t)fm_cell_x(list[i]) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(list[i]) + fm_direction_dy[d];
            if (fm_grid_contains(grid, x, y) && !seen[y * grid->width + x] &&
                !fm_grid_is_blocked(grid, fm_cell_at((uint32_t)x, (uint32_t)y))) {
                seen[y * grid->width + x] = true;
                list[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
            }
        }
    }
    return count;
}

// `wanted` cells more, drawn from a list of those that are not in `cells` yet.
static void draw_cells(const fm_lab *lab, fm_random *random, const fm_cell *list, uint32_t count,
                       fm_cell *cells_of, uint32_t have, uint32_t wanted)
{
    fm_cell *left = fm_lab_need(lab, malloc(count * sizeof *left));
    uint32_t left_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_taken = false;
        for (uint32_t j = 0; j < have; j++) {
            is_taken = is_taken || cells_of[j] == list[i];
        }
        left[left_count] = list[i];
        left_count += !is_taken;
    }
    for (uint32_t i = have; i < wanted && left_count > 0; i++) {
        uint32_t j = fm_random_below(random, left_count);
        cells_of[i] = left[j];
        left[j] = left[--left_count];
    }
    free(left);
}

// Files have 1,000 lines. Units beyond them start and end on cells drawn from the seed, of those
// that hang together with the first start; no two on one.
static void draw_more(const fm_lab *lab, uint32_t have)
{
    const fm_grid *grid = problem.grid;
    size_t size = (size_t)grid->width * grid->height;
    bool *seen = fm_lab_need(lab, calloc(size, sizeof *seen));
    fm_cell *list = fm_lab_need(lab, malloc(size * sizeof *list));
    uint32_t count = list_reachable(problem.starts[0], seen, list);
    if (problem.unit_count > count) {
        fm_lab_die(lab, "there are %u cells for %u units", count, problem.unit_count);
    }
    fm_random random = fm_random_seed(lab->seed);
    draw_cells(lab, &random, list, count, problem.starts, have, problem.unit_count);
    draw_cells(lab, &random, list, count, problem.goals, have, problem.unit_count);
    free(list);
    free(seen);
}

static void read_problem(const fm_lab *lab, const char *map, uint32_t units)
{
    char path[FM_LAB_PATH_SIZE], scen[FM_LAB_PATH_SIZE];
    fm_lab_find_or_die(lab, map, ".map", path);
    problem.grid = fm_lab_read_map(lab, path);
    const char *given = fm_lab_value(lab, "scen");
    if (given == NULL) {
        snprintf(scen, sizeof scen, "%s-random-1", map);
    } else {
        snprintf(scen, sizeof scen, "%s", given);
    }
    fm_lab_find_or_die(lab, scen, ".scen", path);
    uint32_t count;
    fm_problem *problems = fm_lab_read_problems(lab, path, problem.grid, &count);
    problem.unit_count = units;
    double longest = 0;
    for (uint32_t i = 0; i < units && i < count; i++) {
        problem.starts[i] = problems[i].start;
        problem.goals[i] = problems[i].goal;
        longest = fmax(longest, problems[i].optimal_length);
    }
    problem.ticks_max = (uint32_t)fm_lab_uint(lab, "ticks", 1, UINT32_MAX, 8 * (uint64_t)longest);
    free(problems);
    if (units > count) {
        draw_more(lab, count);
    }
}

static int run_files(fm_lab *lab, const uint32_t *neighbours, uint32_t neighbour_count)
{
    const char *map = fm_lab_value(lab, "map");
    map = map == NULL ? "random-64-64-20" : map;
    uint32_t units[16];
    uint32_t count = fm_lab_uints(lab, "agents", "400", UNITS_MAX, units, FM_COUNT_OF(units));
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    bool complete = true;
    for (uint32_t i = 0; i < neighbour_count * count; i++) {
        read_problem(lab, map, units[i % count]);
        struct outcome outcome = play(lab, neighbours[i / count]);
        complete = complete && outcome.on_goal == problem.unit_count && outcome.collisions == 0;
        const double numbers[] = {neighbours[i / count],
                                  problem.unit_count,
                                  outcome.arrived,
                                  outcome.on_goal,
                                  outcome.collisions,
                                  outcome.makespan,
                                  (double)outcome.sum_of_costs,
                                  (double)outcome.first_arrivals,
                                  outcome.tick_us,
                                  outcome.worst_us,
                                  outcome.choose_ns,
                                  outcome.move_ns};
        fm_table_row(&table);
        fm_table_text(&table, map);
        for (uint32_t j = 0; j < FM_COUNT_OF(numbers); j++) {
            fm_table_number(&table, numbers[j]);
        }
    }
    fm_lab_report(lab, &table, NULL, 0);
    fm_table_fini(&table);
    return complete ? FM_LAB_OK : FM_LAB_FAILED;
}

// ---- drawn problems -----------------------------------------------------------------------------

// The free cells that hang together with the first one drawn, by straight steps.
static uint32_t list_component(fm_random *random, fm_cell *list)
{
    static bool seen[SIDE_MAX][SIDE_MAX];
    const fm_grid *grid = problem.grid;
    memset(seen, 0, sizeof seen);
    uint32_t x, y, count = 0;
    do {
        x = fm_random_below(random, grid->width);
        y = fm_random_below(random, grid->height);
    } while (fm_grid_is_blocked(grid, fm_cell_at(x, y)));
    seen[y][x] = true;
    list[count++] = fm_cell_at(x, y);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t to_x = (int64_t)fm_cell_x(list[i]) + fm_direction_dx[d];
            int64_t to_y = (int64_t)fm_cell_y(list[i]) + fm_direction_dy[d];
            fm_cell to = fm_cell_at((uint32_t)to_x, (uint32_t)to_y);
            if (fm_grid_contains(grid, to_x, to_y) && !seen[to_y][to_x] &&
                !fm_grid_is_blocked(grid, to)) {
                seen[to_y][to_x] = true;
                list[count++] = to;
            }
        }
    }
    return count;
}

// Lets the units walk at random, one straight step of one unit at a time.
static void walk(fm_random *random, uint32_t cell_count)
{
    static bool taken[FM_SIDE_MAX * FM_SIDE_MAX];
    memcpy(problem.goals, problem.starts, sizeof problem.goals);
    for (uint32_t i = 0; i < problem.unit_count; i++) {
        taken[problem.goals[i]] = true;
    }
    for (uint32_t i = 0; i < STEPS_EACH * cell_count; i++) {
        fm_cell *cell = &problem.goals[fm_random_below(random, problem.unit_count)];
        // A few steps in one direction: it mixes sooner.
        uint32_t d = 2 * fm_random_below(random, FM_DIRECTION_COUNT / 2);
        for (uint32_t steps = 1 + fm_random_below(random, 6); steps > 0; steps--) {
            int64_t x = (int64_t)fm_cell_x(*cell) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(*cell) + fm_direction_dy[d];
            fm_cell to = fm_cell_at((uint32_t)x, (uint32_t)y);
            if (!fm_grid_contains(problem.grid, x, y) || taken[to] ||
                fm_grid_is_blocked(problem.grid, to)) {
                break;
            }
            taken[*cell] = false;
            taken[to] = true;
            *cell = to;
        }
    }
    for (uint32_t i = 0; i < problem.unit_count; i++) {
        taken[problem.goals[i]] = false;
    }
}

static void draw_problem(const fm_lab *lab, uint64_t seed)
{
    fm_random random = fm_random_seed(seed);
    uint32_t side = SIDE_MIN + fm_random_below(&random, SIDE_MAX - SIDE_MIN + 1);
    uint32_t walls =
        fm_random_below(&random, 1 + (uint32_t)fm_lab_uint(lab, "walls", 0, 60, WALLS_MAX));
    uint32_t density =
        1 + fm_random_below(&random, (uint32_t)fm_lab_uint(lab, "density", 1, 95, DENSITY_MAX));
    static fm_cell list[SIDE_MAX * SIDE_MAX];
    uint32_t count;
    problem.grid = NULL;
    do {
        fm_grid_destroy(problem.grid);
        fm_lab_check(lab, fm_grid_create(side, side, &fm_memory_libc, &problem.grid), "map");
        for (uint32_t i = 0; i < side * side; i++) {
            bool wall = fm_random_below(&random, 100) < walls;
            fm_grid_set(problem.grid, fm_cell_at(i % side, i / side),
                        wall ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND, FM_COST_FLOOR);
        }
        count = list_component(&random, list);
    } while (count < side);
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = fm_random_below(&random, i);
        fm_cell cell = list[i - 1];
        list[i - 1] = list[j];
        list[j] = cell;
    }
    problem.unit_count = 1 + (count - 2) * density / 100;
    memcpy(problem.starts, list, problem.unit_count * sizeof *list);
    walk(&random, count);
    problem.ticks_max =
        (uint32_t)fm_lab_uint(lab, "ticks", 1, UINT32_MAX, TICKS_EACH * (uint64_t)count + 200);
}

// A list of any length.
struct seeds {
    FILE *file;
    char *text; // once it is closed
    size_t size;
};

static void open_seeds(const fm_lab *lab, struct seeds *seeds)
{
    seeds->file = open_memstream(&seeds->text, &seeds->size);
    fm_lab_need(lab, seeds->file);
}

static void close_seeds(const fm_lab *lab, struct seeds *seeds)
{
    fm_lab_need(lab, fclose(seeds->file) == 0 ? seeds->text : NULL);
}

static int run_drawn(fm_lab *lab, const uint32_t *neighbours, uint32_t neighbour_count,
                     uint32_t drawn)
{
    static const fm_column drawn_columns[] = {
        {"neighbours", "neighbours", FM_COLUMN_NUMBER, 0},
        {"problems", "problems", FM_COLUMN_NUMBER, 0},
        {"units", "units", FM_COLUMN_NUMBER, 0},
        {"solved", "solved", FM_COLUMN_NUMBER, 0},
        {"collisions", "collisions", FM_COLUMN_NUMBER, 0},
        {"sum_of_costs", "sum of costs", FM_COLUMN_NUMBER, 0},
        {"worst_tick_us", "worst tick us", FM_COLUMN_NUMBER, 0},
        {"unsolved", "seeds not solved", FM_COLUMN_TEXT, 0},
    };
    fm_table table;
    fm_table_init(&table, drawn_columns, FM_COUNT_OF(drawn_columns));
    uint32_t unsolved = 0;
    uint32_t collisions = 0;
    for (uint32_t k = 0; k < neighbour_count; k++) {
        struct seeds seeds;
        open_seeds(lab, &seeds);
        uint32_t solved = 0;
        uint64_t units = 0, costs = 0;
        double worst_us = 0;
        for (uint32_t i = 0; i < drawn; i++) {
            draw_problem(lab, lab->seed + i);
            struct outcome outcome = play(lab, neighbours[k]);
            bool is_solved = outcome.on_goal == problem.unit_count;
            solved += is_solved;
            units += problem.unit_count;
            costs += outcome.sum_of_costs;
            collisions += outcome.collisions;
            worst_us = fmax(worst_us, outcome.worst_us);
            if (outcome.collisions > 0) {
                fprintf(stderr, "seed %llu: %u collisions\n", (unsigned long long)(lab->seed + i),
                        outcome.collisions);
            }
            if (!is_solved) {
                fprintf(stderr, "seed %llu, %u neighbours: %u of %u units on their goals\n",
                        (unsigned long long)(lab->seed + i), neighbours[k], outcome.on_goal,
                        problem.unit_count);
                fprintf(seeds.file, "%s%llu", solved == i ? "" : " ",
                        (unsigned long long)(lab->seed + i));
            }
            fm_lab_progress(lab, k * drawn + i + 1, (uint64_t)neighbour_count * drawn);
        }
        unsolved += drawn - solved;
        fm_table_row(&table);
        fm_table_number(&table, neighbours[k]);
        fm_table_number(&table, drawn);
        fm_table_number(&table, (double)units);
        fm_table_number(&table, solved);
        fm_table_number(&table, collisions);
        fm_table_number(&table, (double)costs);
        fm_table_number(&table, worst_us);
        close_seeds(lab, &seeds);
        fm_table_text(&table, seeds.text);
        free(seeds.text);
    }
    fm_lab_report(lab, &table, NULL, 0);
    fm_table_fini(&table);
    return unsolved == 0 && collisions == 0 ? FM_LAB_OK : FM_LAB_FAILED;
}

static int run(fm_lab *lab)
{
    uint32_t neighbours[2];
    uint32_t count = fm_lab_uints(lab, "neighbours", "4,8", 8, neighbours, FM_COUNT_OF(neighbours));
    uint32_t drawn = (uint32_t)fm_lab_uint(lab, "drawn", 0, 10000000, 0);
    return drawn == 0 ? run_files(lab, neighbours, count)
                      : run_drawn(lab, neighbours, count, drawn);
}

const fm_lab_command fm_lab_mapf = {
    .name = "mapf",
    .arguments = "",
    .summary = "many units at once, one per cell: problems of files, or small drawn ones",
    .details =
        "Plays multi-agent path finding problems: all units set out at once, and each has to\n"
        "stand on its goal at the end, all at the same time.",
    .options = options,
    .run = run,
};
