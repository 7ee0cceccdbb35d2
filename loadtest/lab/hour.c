// loadtest/lab/hour.c: `fogmarch-lab hour`: a long game in process, one unit per cell, units of one
// to four cells a side. A unit whose order ends gets another, to a cell drawn from the seed.
//
// It searches for units that get nowhere: with one order all the time and never more than four
// cells from one place for 600 ticks. Orders that end without arriving are counted by their reason.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"
#include "core/views/explain.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX   8192u
#define REACH       4u     // cells
#define STILL_TICKS 600u   // without leaving them
#define TRIES_MAX   65536u // draws of a place for a unit
#define SIDE_MIN    32u
#define SIDE_MAX    1024u
#define SIDE        256u // cells, of the generated map
#define SHOWN       72u  // cells a side that are drawn

static const fm_lab_option options[] = {
    {"map", "NAME", "map; a generated one"},
    {"side", "N", "cells from side to side of the generated map; 256"},
    {"agents", "N", "units; 2000"},
    {"teams", "N", "to which they belong in turn; 1"},
    {"ticks", "N", "how long; 36000"},
    {"neighbours", "N", "4 or 8; 8"},
    {"planner", "NAME", "of all units; dstar-lite"},
    {"sizes", NULL, "units of 1 to 4 cells a side: 70, 20, 7 and 3 of 100; else all of 1"},
    {"show", NULL, "at the end: who gets nowhere, and where the most of them stand"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

struct unit {
    fm_agent_id id;
    fm_cell cell, anchor;
    uint32_t anchored; // tick
    uint32_t size;     // cells a side
    bool is_still;     // longer than STILL_TICKS, and counted
};

// Where units of one size may begin.
struct ground {
    uint32_t largest; // number of the piece with the most places
    uint32_t *pieces; // of each place of a unit's north-west cell, its number; 0: none fits there
};

struct game {
    const fm_lab *lab;
    fm_world *world;
    const fm_grid *grid; // the world's
    fm_random random;
    uint32_t tick, count;
    struct unit units[UNITS_MAX];
    uint32_t by_slot[UNITS_MAX]; // unit of an agent's slot
    uint64_t ended[FM_END_COUNT];
    uint64_t moved, under_way; // summed over ticks
    uint32_t still, longest;   // units that got nowhere; ticks of the one that did so longest
    double tick_us, worst_us;
};

static struct game game;
static fm_agent_look looks[UNITS_MAX];

static fm_cell draw_cell(void)
{
    for (;;) {
        uint32_t y = fm_random_below(&game.random, game.grid->height); // first, with every compiler
        fm_cell cell = fm_cell_at(fm_random_below(&game.random, game.grid->width), y);
        if (!fm_grid_is_blocked(game.grid, cell)) {
            return cell;
        }
    }
}

static void apply(const fm_command *command, fm_command_result *result)
{
    fm_world_apply(game.world, command, result);
    fm_lab_check(game.lab, result->status, "command");
}

static void give_order(struct unit *unit)
{
    fm_cell goal = draw_cell();
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .order = FM_ORDER_MOVE,
                        .on_unreachable = FM_UNREACHABLE_NEAREST,
                        .agents = &unit->id,
                        .agent_count = 1,
                        .cells = &goal,
                        .cell_count = 1};
    fm_command_result result = {0};
    apply(&order, &result);
    unit->anchor = unit->cell;
    unit->anchored = game.tick;
    unit->is_still = false;
}

// ---- where units begin --------------------------------------------------------------------------

static uint32_t index_of(fm_cell cell)
{
    return fm_cell_y(cell) * game.grid->width + fm_cell_x(cell);
}

static bool fits(fm_cell cell, uint32_t size)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    if (x + size > game.grid->width || y + size > game.grid->height) {
        return false;
    }
    for (uint32_t i = 0; i < size * size; i++) {
        if (fm_grid_is_blocked(game.grid, fm_cell_at(x + i % size, y + i / size))) {
            return false;
        }
    }
    return true;
}

// Gives all places a number that straight steps lead to from one. Returns how many there are.
static uint32_t flood(struct ground *ground, fm_cell *queue, fm_cell from, uint32_t size,
                      uint32_t number)
{
    uint32_t count = 0;
    ground->pieces[index_of(from)] = number;
    queue[count++] = from;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            fm_cell next = fm_cell_step(queue[i], d);
            bool is_inside =
                fm_cell_x(next) < game.grid->width && fm_cell_y(next) < game.grid->height;
            if (is_inside && ground->pieces[index_of(next)] == 0 && fits(next, size)) {
                ground->pieces[index_of(next)] = number;
                queue[count++] = next;
            }
        }
    }
    return count;
}

static void survey(struct ground *ground, uint32_t size)
{
    uint32_t cell_count = game.grid->width * game.grid->height, number = 0, most = 0;
    fm_cell *queue = calloc(cell_count, sizeof *queue);
    ground->pieces = calloc(cell_count, sizeof *ground->pieces);
    if (queue == NULL || ground->pieces == NULL) {
        fm_lab_check(game.lab, FM_ERR_NO_MEMORY, "ground");
    }
    for (uint32_t i = 0; i < cell_count; i++) {
        fm_cell cell = fm_cell_at(i % game.grid->width, i / game.grid->width);
        if (ground->pieces[i] != 0 || !fits(cell, size)) {
            continue;
        }
        uint32_t count = flood(ground, queue, cell, size, ++number);
        if (count > most) {
            most = count;
            ground->largest = number;
        }
    }
    free(queue);
}

static fm_cell draw_place(struct ground *ground, uint32_t size)
{
    if (ground->pieces == NULL) {
        survey(ground, size);
    }
    fm_cell cell = draw_cell();
    for (uint32_t i = 0; i < TRIES_MAX && ground->pieces[index_of(cell)] != ground->largest; i++) {
        cell = draw_cell();
    }
    return cell;
}

static fm_grid *make_map(const fm_lab *lab)
{
    const char *map = fm_lab_value(lab, "map");
    fm_grid *grid;
    if (map != NULL) {
        char path[FM_LAB_PATH_SIZE];
        fm_lab_find_or_die(lab, map, ".map", path);
        return fm_lab_read_map(lab, path);
    }
    fm_generate_options generate = fm_generate_options_default();
    generate.generator = FM_GENERATOR_SKIRMISH;
    generate.width = generate.height = (uint32_t)fm_lab_uint(lab, "side", SIDE_MIN, SIDE_MAX, SIDE);
    generate.seed = lab->seed;
    fm_lab_check(lab, fm_generate(&generate, &fm_memory_libc, &grid, NULL, NULL, 0), "map");
    return grid;
}

static fm_world_rules make_rules(const fm_lab *lab)
{
    static const char *const classes[] = {"one", "two:size=2,ground=1", "three:size=3,ground=1",
                                          "four:size=4,ground=1"};
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    bool is_four = fm_lab_uint(lab, "neighbours", 4, 8, 8) == 4;
    rules.connectivity = is_four ? FM_CONNECT_4 : FM_CONNECT_8;
    rules.steps = is_four ? FM_STEPS_1 : FM_STEPS_10_14;
    const char *planner = fm_lab_value(lab, "planner");
    rules.planner = fm_lab_planner(lab, planner == NULL ? "dstar-lite" : planner);
    for (uint32_t i = 0; i < FM_COUNT_OF(classes); i++) {
        fm_lab_check(lab, fm_movement_class_parse(classes[i], &rules.classes[i], NULL, 0), "class");
    }
    rules.class_count = FM_COUNT_OF(classes);
    return rules;
}

static uint32_t draw_class(const fm_lab *lab)
{
    uint32_t lot = fm_lab_value(lab, "sizes") == NULL ? 0 : fm_random_below(&game.random, 100);
    return lot < 70 ? 0 : lot < 90 ? 1 : lot < 97 ? 2 : 3;
}

// A place that is taken is drawn again.
static void spawn(struct unit *unit, struct ground *ground, uint32_t team, uint32_t class_index)
{
    fm_command command = {.kind = FM_COMMAND_SPAWN,
                          .team = team,
                          .cells = &unit->cell,
                          .cell_count = 1,
                          .class_index = class_index};
    fm_command_result result = {0};
    for (uint32_t i = 0; i < TRIES_MAX && unit->id.index1 == 0; i++) {
        unit->cell = draw_place(ground, unit->size);
        result = (fm_command_result){.spawned = &unit->id};
        fm_world_apply(game.world, &command, &result);
    }
    fm_lab_check(game.lab, result.status, "no place for a unit");
}

static void set_up(const fm_lab *lab)
{
    game = (struct game){.lab = lab, .random = fm_random_seed(lab->seed)};
    game.count = (uint32_t)fm_lab_uint(lab, "agents", 1, UNITS_MAX, 2000);
    fm_world_rules rules = make_rules(lab);
    fm_grid *grid = make_map(lab);
    game.grid = grid;
    fm_lab_check(lab, fm_world_create(&rules, grid, &fm_memory_libc, &game.world), "world");
    fm_lab_check(lab, fm_world_watch(game.world, FM_ALL_TEAMS, true), "watch");
    uint32_t teams = (uint32_t)fm_lab_uint(lab, "teams", 1, 64, 1);
    fm_command_result result = {0};
    for (uint32_t i = 0; i < teams; i++) {
        apply(&(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    }
    struct ground grounds[FM_CLASS_SIZE_MAX] = {0};
    for (uint32_t i = 0; i < game.count; i++) {
        struct unit *unit = &game.units[i];
        uint32_t class_index = draw_class(lab);
        unit->size = rules.classes[class_index].size;
        spawn(unit, &grounds[unit->size - 1], i % teams + 1, class_index);
        game.by_slot[unit->id.index1 - 1] = i;
        give_order(unit);
    }
    for (uint32_t i = 0; i < FM_CLASS_SIZE_MAX; i++) {
        free(grounds[i].pieces);
    }
}

static bool is_near(fm_cell a, fm_cell b)
{
    return fm_cell_dx(a, b) <= REACH && fm_cell_dy(a, b) <= REACH;
}

// Notes where units are now, and which get nowhere.
static void look(void)
{
    uint32_t count = fm_world_agents_in_view(game.world, FM_ALL_TEAMS, looks, UNITS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct unit *unit = &game.units[game.by_slot[looks[i].id.index1 - 1]];
        game.moved += game.tick > 1 && unit->cell != looks[i].cell;
        game.under_way += game.tick > 1;
        unit->cell = looks[i].cell;
        if (!is_near(unit->cell, unit->anchor)) {
            unit->anchor = unit->cell;
            unit->anchored = game.tick;
            unit->is_still = false;
        }
        uint32_t still = game.tick - unit->anchored;
        game.longest = still > game.longest ? still : game.longest;
        if (still > STILL_TICKS && !unit->is_still) {
            unit->is_still = true;
            game.still += 1;
        }
    }
}

static void play(fm_lab *lab, uint32_t ticks)
{
    for (game.tick = 1; game.tick <= ticks; game.tick++) {
        fm_tick_report report;
        uint64_t begin = fm_lab_clock_ns();
        fm_tick_run(game.world, NULL, UINT32_MAX, NULL, &report);
        double us = (double)(fm_lab_clock_ns() - begin) / 1e3;
        game.tick_us += us;
        game.worst_us = fmax(game.worst_us, game.tick == 1 ? 0 : us);
        look();
        fm_changes changes = fm_world_changes(game.world, FM_ALL_TEAMS);
        uint32_t ended_count = changes.ended_count;
        static uint32_t ended[UNITS_MAX];
        for (uint32_t i = 0; i < ended_count; i++) {
            game.ended[changes.ended[i].reason] += 1;
            ended[i] = game.by_slot[changes.ended[i].agent.index1 - 1];
        }
        for (uint32_t i = 0; i < ended_count; i++) {
            give_order(&game.units[ended[i]]);
        }
        fm_lab_progress(lab, game.tick, ticks);
    }
}

// ---- showing ------------------------------------------------------------------------------------

static const char *const why_names[] = {
#define X(enumerator, name) name,
    FM_WHY_LIST(X)
#undef X
};

// Who gets nowhere, where it wants to go next, and who stands there.
static void show_still(void)
{
    for (uint32_t i = 0; i < game.count; i++) {
        const struct unit *unit = &game.units[i];
        if (!unit->is_still) {
            continue;
        }
        static fm_explanation explanation;
        fm_agent_report report;
        fm_lab_check(game.lab, fm_world_explain(game.world, unit->id, &explanation), "explain");
        fm_lab_check(game.lab, fm_world_describe(game.world, unit->id, &report), "describe");
        uint32_t x = fm_cell_x(unit->cell), y = fm_cell_y(unit->cell);
        printf("%u: size %u at %u,%u to %u,%u for %u ticks: %s", unit->id.index1, unit->size, x, y,
               fm_cell_x(report.goal), fm_cell_y(report.goal), game.tick - unit->anchored,
               why_names[explanation.why]);
        for (uint32_t j = 0; j < explanation.chain_count; j++) {
            printf("%s %u", j == 0 ? ", by" : ",", explanation.chain[j].index1);
        }
        printf("\n");
    }
}

static bool covers(const struct unit *unit, uint32_t x, uint32_t y)
{
    uint32_t left = fm_cell_x(unit->cell), top = fm_cell_y(unit->cell);
    return left <= x && x < left + unit->size && top <= y && y < top + unit->size;
}

// The part of the map around one cell. Units by letters, those that get nowhere by large ones.
static void draw_around(fm_cell middle)
{
    const struct unit *unit_of[SHOWN][SHOWN] = {0};
    uint32_t left = fm_cell_x(middle) < SHOWN / 2 ? 0 : fm_cell_x(middle) - SHOWN / 2;
    uint32_t top = fm_cell_y(middle) < SHOWN / 2 ? 0 : fm_cell_y(middle) - SHOWN / 2;
    for (uint32_t i = 0; i < game.count; i++) {
        for (uint32_t j = 0; j < SHOWN * SHOWN; j++) {
            if (covers(&game.units[i], left + j % SHOWN, top + j / SHOWN)) {
                unit_of[j / SHOWN][j % SHOWN] = &game.units[i];
            }
        }
    }
    for (uint32_t y = top; y < top + SHOWN && y < game.grid->height; y++) {
        for (uint32_t x = left; x < left + SHOWN && x < game.grid->width; x++) {
            const struct unit *unit = unit_of[y - top][x - left];
            bool is_wall = fm_grid_is_blocked(game.grid, fm_cell_at(x, y));
            putchar(unit != NULL ? (unit->is_still ? 'A' : 'a') + (int)(unit->id.index1 % 26)
                    : is_wall    ? '@'
                                 : '.');
        }
        putchar('\n');
    }
}

// Where most of them stand.
static void show(void)
{
    uint32_t most = 0;
    fm_cell middle = FM_CELL_NONE;
    for (uint32_t i = 0; i < game.count; i++) {
        uint32_t count = 0;
        for (uint32_t j = 0; game.units[i].is_still && j < game.count; j++) {
            fm_cell a = game.units[i].cell, b = game.units[j].cell;
            count += game.units[j].is_still && fm_cell_dx(a, b) < SHOWN / 2 &&
                     fm_cell_dy(a, b) < SHOWN / 2;
        }
        if (count > most) {
            most = count;
            middle = game.units[i].cell;
        }
    }
    show_still();
    if (middle != FM_CELL_NONE) {
        printf("around %u,%u\n", fm_cell_x(middle), fm_cell_y(middle));
        draw_around(middle);
    }
}

static int run(fm_lab *lab)
{
    static const fm_column columns[] = {
        {"units", "units", FM_COLUMN_NUMBER, 0},
        {"ticks", "ticks", FM_COLUMN_NUMBER, 0},
        {"arrived", "arrived", FM_COLUMN_NUMBER, 0},
        {"crowded", "crowded", FM_COLUMN_NUMBER, 0},
        {"nearest_reached", "nearest", FM_COLUMN_NUMBER, 0},
        {"moved_percent", "moved %", FM_COLUMN_NUMBER, 1},
        {"still_600", "600 ticks in one place", FM_COLUMN_NUMBER, 0},
        {"longest", "longest", FM_COLUMN_NUMBER, 0},
        {"tick_us", "tick us", FM_COLUMN_NUMBER, 0},
        {"worst_tick_us", "worst", FM_COLUMN_NUMBER, 0},
    };
    uint32_t ticks = (uint32_t)fm_lab_uint(lab, "ticks", 1, 10000000, 36000);
    set_up(lab);
    play(lab, ticks);
    const double numbers[] = {game.count,
                              ticks,
                              (double)game.ended[FM_END_ARRIVED],
                              (double)game.ended[FM_END_CROWDED],
                              (double)game.ended[FM_END_NEAREST],
                              100 * (double)game.moved /
                                  (double)(game.under_way == 0 ? 1 : game.under_way),
                              game.still,
                              game.longest,
                              game.tick_us / ticks,
                              game.worst_us};
    fm_lab_report_numbers(lab, columns, numbers, FM_COUNT_OF(columns));
    if (fm_lab_value(lab, "show") != NULL) {
        show();
    }
    fm_world_destroy(game.world);
    return game.still == 0 ? FM_LAB_OK : FM_LAB_FAILED;
}

const fm_lab_command fm_lab_hour = {
    .name = "hour",
    .arguments = "",
    .summary = "a long game, one unit per cell: does anybody get nowhere?",
    .details = "Plays 36,000 ticks, an hour at 10 Hz, as fast as it can. Every unit always has an\n"
               "order. A unit that stays within four cells of one place for 600 ticks under one\n"
               "order is a fault.",
    .options = options,
    .run = run,
};
