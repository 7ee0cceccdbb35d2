// loadtest/lab/crowd.c: `fogmarch-lab crowd`: the scenario `crowd` of the load generator in
// process, without a clock: the same in every run, so that two builds can be compared.
//
// Players with as many units each, one per cell, begin around their bases. Groups of 12 to 60 are
// sent to one cell 20 to 250 cells away, and get another order within five ticks after all of
// theirs have ended, or after 150 to 600 ticks.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"

#include <math.h>
#include <string.h>

#define UNITS_MAX   32768u
#define SIDE        512u // cells
#define SIDE_MIN    64u
#define SIDE_MAX    1024u
#define GROUP_MIN   12u
#define GROUP_MAX   60u
#define NEAR        20u // cells between where a group was sent before and its next goal
#define FAR         250u
#define DRAWS_MAX   1000u
#define AGAIN_TICKS 5u
#define ORDER_MIN   150u // ticks between two orders of a group
#define ORDER_MAX   600u
#define FIRST_TICKS 50u // in which all get their first order

static const fm_lab_option options[] = {
    {"agents", "N", "units of all players; 10000"},
    {"teams", "N", "players, 2 to 8; 4"},
    {"side", "N", "cells from side to side of the generated map; 512"},
    {"ticks", "N", "how long; 1000"},
    {"planner", "NAME", "of all units; auto"},
    {"spread", NULL, "each unit of a group gets a goal of its own"},
    {.name = NULL},
};

struct unit {
    fm_agent_id id;
    fm_cell cell;
    uint32_t group;
    bool is_under_way;
};

struct group {
    uint32_t first, count;
    uint32_t open; // units whose order has not ended
    fm_cell goal;  // of its last order; where it began, before that
    uint32_t due;  // tick of its next order
};

struct game {
    const fm_lab *lab;
    fm_world *world;
    const fm_grid *grid; // the world's
    fm_random random;
    bool spreads;
    uint32_t tick, count, group_count;
    struct unit units[UNITS_MAX];
    struct group groups[UNITS_MAX];
    uint32_t by_slot[UNITS_MAX]; // unit of an agent's slot
    uint64_t ended[FM_END_COUNT];
    uint64_t moved, under_way; // summed over ticks
    double tick_us, worst_us;
};

static struct game game;
static fm_agent_look looks[UNITS_MAX];

static uint32_t draw(uint32_t low, uint32_t high)
{
    return low + fm_random_below(&game.random, high - low + 1);
}

static void apply(const fm_command *command, fm_command_result *result)
{
    fm_world_apply(game.world, command, result);
    fm_lab_check(game.lab, result->status, "command");
}

// ---- orders -------------------------------------------------------------------------------------

static fm_cell draw_goal(fm_cell from)
{
    fm_cell goal = from;
    for (uint32_t i = 0; i < DRAWS_MAX; i++) {
        uint32_t y = draw(0, game.grid->height - 1); // first, with every compiler
        goal = fm_cell_at(draw(0, game.grid->width - 1), y);
        uint32_t dx = fm_cell_dx(from, goal), dy = fm_cell_dy(from, goal);
        uint32_t far = dx > dy ? dx : dy;
        if (!fm_grid_is_blocked(game.grid, goal) && far >= NEAR && far <= FAR) {
            break;
        }
    }
    return goal;
}

static void give_order(struct group *group)
{
    static fm_agent_id ids[GROUP_MAX];
    group->goal = draw_goal(group->goal);
    for (uint32_t i = 0; i < group->count; i++) {
        struct unit *unit = &game.units[group->first + i];
        ids[i] = unit->id;
        unit->is_under_way = true;
    }
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .order = FM_ORDER_MOVE,
                        .on_unreachable = FM_UNREACHABLE_NEAREST,
                        .spread = game.spreads && group->count > 1,
                        .agents = ids,
                        .agent_count = group->count,
                        .cells = &group->goal,
                        .cell_count = 1};
    fm_command_result result = {0};
    apply(&order, &result);
    group->open = group->count;
    group->due = game.tick + draw(ORDER_MIN, ORDER_MAX);
}

static void note_ends(void)
{
    fm_changes changes = fm_world_changes(game.world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        const fm_order_ended *ended = &changes.ended[i];
        struct unit *unit = &game.units[game.by_slot[ended->agent.index1 - 1]];
        struct group *group = &game.groups[unit->group];
        game.ended[ended->reason] += 1;
        if (ended->reason == FM_END_REPLACED || !unit->is_under_way) {
            continue;
        }
        unit->is_under_way = false;
        group->open -= 1;
        uint32_t again = game.tick + draw(0, AGAIN_TICKS);
        group->due = group->open == 0 && again < group->due ? again : group->due;
    }
}

// ---- the game -----------------------------------------------------------------------------------

// Divides a player's units, which are the last ones, into groups.
static void divide(uint32_t first, fm_cell base)
{
    for (uint32_t at = first; at < game.count;) {
        uint32_t count = draw(GROUP_MIN, GROUP_MAX), left = game.count - at;
        count = count < left ? count : left;
        for (uint32_t i = 0; i < count; i++) {
            game.units[at + i].group = game.group_count;
        }
        game.groups[game.group_count++] =
            (struct group){.first = at, .count = count, .goal = base, .due = draw(1, FIRST_TICKS)};
        at += count;
    }
}

static void add_player(uint32_t team, uint32_t count, fm_cell base)
{
    static fm_cell cells[UNITS_MAX];
    static fm_agent_id ids[UNITS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = base;
    }
    fm_command spawn = {.kind = FM_COMMAND_SPAWN,
                        .team = team,
                        .cells = cells,
                        .cell_count = count,
                        .placing = FM_PLACE_NEAREST};
    fm_command_result result = {.spawned = ids};
    apply(&spawn, &result);
    uint32_t first = game.count;
    for (uint32_t i = 0; i < count; i++) {
        game.units[game.count] = (struct unit){.id = ids[i], .cell = FM_CELL_NONE};
        game.by_slot[ids[i].index1 - 1] = game.count++;
    }
    divide(first, base);
}

static void set_up(const fm_lab *lab)
{
    game = (struct game){.lab = lab, .random = fm_random_seed(lab->seed)};
    game.spreads = fm_lab_value(lab, "spread") != NULL;
    uint32_t teams = (uint32_t)fm_lab_uint(lab, "teams", 2, FM_GENERATE_PLAYERS_MAX, 4);
    uint32_t count = (uint32_t)fm_lab_uint(lab, "agents", teams, UNITS_MAX, 10000);
    fm_generate_options generate = fm_generate_options_default();
    generate.generator = FM_GENERATOR_SKIRMISH;
    generate.width = generate.height = (uint32_t)fm_lab_uint(lab, "side", SIDE_MIN, SIDE_MAX, SIDE);
    generate.players = teams;
    generate.seed = lab->seed;
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    fm_grid *grid;
    fm_lab_check(lab, fm_generate(&generate, &fm_memory_libc, &grid, bases, NULL, 0), "map");
    game.grid = grid;
    const char *planner = fm_lab_value(lab, "planner");
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.sense.radius = 5;
    rules.planner = fm_lab_planner(lab, planner == NULL ? "auto" : planner);
    fm_lab_check(lab, fm_world_create(&rules, grid, &fm_memory_libc, &game.world), "world");
    fm_lab_check(lab, fm_world_watch(game.world, FM_ALL_TEAMS, true), "watch");
    for (uint32_t i = 0; i < teams; i++) {
        fm_command_result result = {0};
        apply(&(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        add_player(i + 1, count / teams + (i < count % teams), bases[i]);
    }
}

// Counts who has moved of those who were under way.
static void look(void)
{
    uint32_t count = fm_world_agents_in_view(game.world, FM_ALL_TEAMS, looks, UNITS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct unit *unit = &game.units[game.by_slot[looks[i].id.index1 - 1]];
        game.under_way += unit->is_under_way;
        game.moved += unit->is_under_way && unit->cell != looks[i].cell;
        unit->cell = looks[i].cell;
    }
}

static void play(fm_lab *lab, uint32_t ticks)
{
    look();
    for (game.tick = 1; game.tick <= ticks; game.tick++) {
        for (uint32_t i = 0; i < game.group_count; i++) {
            if (game.groups[i].due == game.tick) {
                give_order(&game.groups[i]);
            }
        }
        fm_tick_report report;
        uint64_t begin = fm_lab_clock_ns();
        fm_tick_run(game.world, NULL, UINT32_MAX, NULL, &report);
        double us = (double)(fm_lab_clock_ns() - begin) / 1e3;
        game.tick_us += us;
        game.worst_us = fmax(game.worst_us, us);
        look();
        note_ends();
        fm_lab_progress(lab, game.tick, ticks);
    }
}

static int run(fm_lab *lab)
{
    static const fm_column columns[] = {
        {"units", "units", FM_COLUMN_NUMBER, 0},
        {"ticks", "ticks", FM_COLUMN_NUMBER, 0},
        {"under_way_percent", "under way %", FM_COLUMN_NUMBER, 1},
        {"moved_percent", "of these move %", FM_COLUMN_NUMBER, 2},
        {"arrived", "arrived", FM_COLUMN_NUMBER, 0},
        {"crowded", "crowded", FM_COLUMN_NUMBER, 0},
        {"nearest_reached", "nearest", FM_COLUMN_NUMBER, 0},
        {"replaced", "replaced", FM_COLUMN_NUMBER, 0},
        {"tick_us", "tick us", FM_COLUMN_NUMBER, 0},
        {"worst_tick_us", "worst", FM_COLUMN_NUMBER, 0},
    };
    uint32_t ticks = (uint32_t)fm_lab_uint(lab, "ticks", 1, 1000000, 1000);
    set_up(lab);
    play(lab, ticks);
    double all = (double)game.count * ticks, under_way = (double)game.under_way;
    const double numbers[] = {game.count,
                              ticks,
                              100 * under_way / all,
                              100 * (double)game.moved / fmax(1, under_way),
                              (double)game.ended[FM_END_ARRIVED],
                              (double)game.ended[FM_END_CROWDED],
                              (double)game.ended[FM_END_NEAREST],
                              (double)game.ended[FM_END_REPLACED],
                              game.tick_us / ticks,
                              game.worst_us};
    fm_lab_report_numbers(lab, columns, numbers, FM_COUNT_OF(columns));
    fm_world_destroy(game.world);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_crowd = {
    .name = "crowd",
    .arguments = "",
    .summary = "four players' units, one per cell: how many move, how many orders end?",
    .details =
        "The scenario crowd of fogmarch-load without a server and a clock, so that it is the\n"
        "same in every run. Counts the units under way that move in a tick, and the orders\n"
        "that end. One thread.",
    .options = options,
    .run = run,
};
