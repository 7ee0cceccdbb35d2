// loadtest/lab/travel.c: `fogmarch-lab travel`: how far does a group walk through fog to its goal?
//
// A group starts on the cells nearest to one cell and is ordered to one goal, on a map that its
// team does not know. Every contender plays the same groups, each in a world of its own, without a
// deadline, so that the figures depend on the seed alone. A ratio is the sum of all steps of a
// group over the sum of the same group with the first contender; straight steps count 1, diagonal
// ones the square root of 2.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/report.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"

#include <math.h>
#include <stdlib.h>

#define UNITS_MAX          256u
#define CONTENDERS_DEFAULT "dstar-lite,goal-field,goal-field:weight=1,period=1,auto"
#define MAPS_DEFAULT                                                                               \
    "arena2,den520d,brc202d,ost100d,orz900d,Inferno,Ramparts,AR0307SR,32room_000,maze512-8-0"
#define TICKS_PER_CELL 60u // until a group is given up, of the map's longer side

static const fm_lab_option options[] = {
    {"map", "LIST", "maps, separated by commas; some of each kind"},
    {"planners", "LIST", "the first is what the others are compared with;\n" CONTENDERS_DEFAULT},
    {"groups", "N", "of each map, start and goal drawn from the seed; 6"},
    {"units", "N", "of a group; 16"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

struct score {
    fm_sample ratio, ticks; // of groups that arrived, as did the same with the first contender
    double worst;
    uint32_t lost; // groups of which some agent did not arrive
};

struct trial {
    fm_lab *lab;
    fm_lab_contender contenders[FM_LAB_CONTENDERS_MAX];
    struct score scores[FM_LAB_CONTENDERS_MAX];
    uint32_t contender_count, groups, units;
    uint64_t done, total; // runs
};

struct walk {
    double length; // of all units together; NAN: not all arrived
    uint32_t ticks;
};

static fm_grid *copy_map(const fm_lab *lab, const fm_grid *map)
{
    fm_grid *copy;
    fm_lab_check(lab, fm_grid_create(map->width, map->height, &fm_memory_libc, &copy), "map");
    for (uint32_t y = 0; y < map->height; y++) {
        for (uint32_t x = 0; x < map->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            size_t at = fm_grid_index(map, cell);
            fm_grid_set(copy, cell, map->terrain[at], map->cost[at]);
        }
    }
    return copy;
}

static fm_world *make_world(const struct trial *trial, const fm_grid *map,
                            const fm_planner_spec *planner)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.planner = *planner;
    fm_world *world;
    fm_lab_check(trial->lab,
                 fm_world_create(&rules, copy_map(trial->lab, map), &fm_memory_libc, &world),
                 "world");
    fm_lab_check(trial->lab, fm_world_watch(world, FM_ALL_TEAMS, true), "watch");
    return world;
}

static void apply(const struct trial *trial, fm_world *world, const fm_command *command,
                  fm_command_result *result)
{
    fm_world_apply(world, command, result);
    fm_lab_check(trial->lab, result->status, "command");
}

static void send_group(const struct trial *trial, fm_world *world, fm_lab_errand errand)
{
    fm_cell starts[UNITS_MAX];
    fm_agent_id ids[UNITS_MAX];
    for (uint32_t i = 0; i < trial->units; i++) {
        starts[i] = errand.start;
    }
    fm_command_result result = {.spawned = ids};
    apply(trial, world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    result = (fm_command_result){.spawned = ids};
    apply(trial, world,
          &(fm_command){.kind = FM_COMMAND_SPAWN,
                        .team = 1,
                        .cells = starts,
                        .cell_count = trial->units,
                        .placing = FM_PLACE_NEAREST},
          &result);
    apply(trial, world,
          &(fm_command){.kind = FM_COMMAND_ORDER,
                        .order = FM_ORDER_MOVE,
                        .agents = ids,
                        .agent_count = trial->units,
                        .cells = &errand.goal,
                        .cell_count = 1},
          &result);
}

static struct walk follow(const struct trial *trial, fm_world *world, uint32_t ticks_max)
{
    static fm_agent_look before[UNITS_MAX], now[UNITS_MAX];
    struct walk walk = {.length = 0};
    uint32_t arrived = 0;
    fm_world_agents_in_view(world, FM_ALL_TEAMS, before, UNITS_MAX);
    while (arrived < trial->units && walk.ticks < ticks_max) {
        fm_tick_report report;
        fm_tick_run(world, NULL, UINT32_MAX, NULL, &report);
        walk.ticks += 1;
        fm_world_agents_in_view(world, FM_ALL_TEAMS, now, UNITS_MAX);
        for (uint32_t i = 0; i < trial->units; i++) { // in the order of their ids
            walk.length += hypot(fm_cell_dx(before[i].cell, now[i].cell),
                                 fm_cell_dy(before[i].cell, now[i].cell));
            before[i] = now[i];
        }
        fm_changes changes = fm_world_changes(world, FM_ALL_TEAMS);
        for (uint32_t i = 0; i < changes.ended_count; i++) {
            arrived += changes.ended[i].reason == FM_END_ARRIVED;
        }
    }
    walk.length = arrived == trial->units ? walk.length : (double)NAN;
    return walk;
}

static void play_map(void *context, const fm_grid *map, const fm_lab_errand *errands)
{
    struct trial *trial = context;
    uint32_t side = map->width > map->height ? map->width : map->height;
    for (uint32_t i = 0; i < trial->groups; i++) {
        double first = NAN;
        for (uint32_t j = 0; j < trial->contender_count; j++) {
            fm_world *world = make_world(trial, map, &trial->contenders[j].spec);
            send_group(trial, world, errands[i]);
            struct walk walk = follow(trial, world, side * TICKS_PER_CELL);
            fm_world_destroy(world);
            struct score *score = &trial->scores[j];
            first = j == 0 ? walk.length : first;
            score->lost += isnan(walk.length);
            if (!isnan(walk.length / first) && first > 0) {
                double ratio = walk.length / first;
                fm_sample_add(&score->ratio, ratio);
                fm_sample_add(&score->ticks, walk.ticks);
                score->worst = fmax(score->worst, ratio);
            }
            fm_lab_progress(trial->lab, ++trial->done, trial->total);
        }
    }
}

static int run(fm_lab *lab)
{
    static const fm_column columns[] = {
        {"planner", "planner", FM_COLUMN_TEXT, 0},
        {"travel_ratio", "travel, ratio", FM_COLUMN_MEAN, 4},
        {"worst_ratio", "worst group", FM_COLUMN_NUMBER, 3},
        {"ticks", "ticks", FM_COLUMN_MEAN, 0},
        {"lost", "groups not home", FM_COLUMN_NUMBER, 0},
    };
    static struct trial trial;
    trial.lab = lab;
    trial.groups = (uint32_t)fm_lab_uint(lab, "groups", 1, 1000, 6);
    trial.units = (uint32_t)fm_lab_uint(lab, "units", 1, UNITS_MAX, 16);
    trial.contender_count =
        fm_lab_contenders(lab, "planners", CONTENDERS_DEFAULT, trial.contenders);
    trial.total =
        (uint64_t)fm_lab_map_count(lab, MAPS_DEFAULT) * trial.groups * trial.contender_count;
    fm_lab_each_map(lab, MAPS_DEFAULT, trial.groups, play_map, &trial);
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    uint32_t lost = 0;
    for (uint32_t j = 0; j < trial.contender_count; j++) {
        const struct score *score = &trial.scores[j];
        fm_table_row(&table);
        fm_table_text(&table, trial.contenders[j].name);
        fm_table_mean(&table, &score->ratio);
        fm_table_number(&table, score->worst);
        fm_table_mean(&table, &score->ticks);
        fm_table_number(&table, score->lost);
        lost += score->lost;
    }
    fm_lab_report(lab, &table, NULL, 0);
    fm_table_fini(&table);
    return lost == 0 ? FM_LAB_OK : FM_LAB_FAILED;
}

const fm_lab_command fm_lab_travel = {
    .name = "travel",
    .arguments = "",
    .summary = "how far does a group walk through fog to its goal?",
    .details =
        "Plays the same groups with every planner, each on a map that it does not know, and\n"
        "prints how much further they walked than with the first one.",
    .options = options,
    .run = run,
};
