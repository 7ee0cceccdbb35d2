// loadtest/lab/gametime.c: `fogmarch-lab gametime`, planners in the game time model: how many
// intervals until the agent has arrived?
//
// Time is a row of equal intervals. In each the agent may search for the given length and then
// makes one move or passes. The length is a number of expansions, which gives the same table
// everywhere, or (--clock) a time: as long as repeated-forward-astar takes on this machine, now,
// for that many expansions. So the same five rows can be read either way.
//
// Twelve game maps, eight neighbours, the agent sees the eight cells beside it. Terrain:
//   unknown  nothing is known at the start
//   hidden   each blocked cell is known, but for 62 % of them, drawn uniformly
//   tiles    the map is known, but for 62 % of its tiles of 16 x 16 cells
//   known    the map is known; for tba-star
// The published table on partially known terrain does not say what was known; hidden and tiles are
// two readings of it.

#include "loadtest/lab/campaign.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/stopwatch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVALS_MAX      8u
#define FORGOTTEN_PERMILLE 620u
#define TILE_SIDE          16u
#define CAP                200000u // intervals

#define INTERVALS_DEFAULT "550,1100,1650,2200,2750"
#define PLANNERS_DEFAULT                                                                           \
    "rtaa-star,dartaa-star,rtba-star,tbaa-star,repeated-forward-astar,adaptive-astar,dstar-lite,"  \
    "dstar-extra-lite,mpgaa-star,repeated-jps,auto"

enum terrain {
    TERRAIN_UNKNOWN,
    TERRAIN_HIDDEN,
    TERRAIN_TILES,
    TERRAIN_KNOWN,
    TERRAIN_COUNT,
};

static const char *const terrain_names[] = {"unknown", "hidden", "tiles", "known"};

// Mean intervals as published, in columns PLANNERS_DEFAULT begins with; rows by length of the
// interval on the machine of then. Of the table on partially known terrain two columns are at hand.
static const double published_ms[] = {0.3, 0.6, 0.9, 1.2, 1.5};
static const struct published {
    enum terrain terrain;
    const char *planner;
    double intervals[5];
} published[] = {
    {TERRAIN_UNKNOWN, "rtaa-star", {3245, 2598, 2451, 2310, 2281}},
    {TERRAIN_UNKNOWN, "dartaa-star", {2879, 2472, 2418, 2305, 2272}},
    {TERRAIN_UNKNOWN, "rtba-star", {4613, 3368, 2918, 2695, 2560}},
    {TERRAIN_UNKNOWN, "tbaa-star", {2290, 2147, 2101, 2086, 2070}},
    {TERRAIN_UNKNOWN, "repeated-forward-astar", {7155, 4487, 3611, 3178, 2920}},
    {TERRAIN_UNKNOWN, "adaptive-astar", {3230, 2572, 2361, 2260, 2202}},
    {TERRAIN_UNKNOWN, "dstar-lite", {2203, 2090, 2062, 2051, 2045}},
    {TERRAIN_HIDDEN, "tbaa-star", {1505, (double)NAN, (double)NAN, (double)NAN, 1415}},
    {TERRAIN_HIDDEN, "dstar-lite", {1659, (double)NAN, (double)NAN, (double)NAN, 1458}},
};

struct score {
    fm_sample intervals, moves;
    uint32_t capped;
};

struct experiment {
    fm_lab_campaign campaign;
    bool clock;
    bool terrains[TERRAIN_COUNT];
    uint32_t interval_expansions[INTERVALS_MAX];
    uint64_t interval_ticks[INTERVALS_MAX];
    uint32_t interval_count;
    struct score scores[TERRAIN_COUNT][INTERVALS_MAX][FM_LAB_CONTENDERS_MAX];
};

static const fm_lab_option options[] = {
    {"planners", "LIST", "separated by commas; those of the published tables and ours"},
    {"intervals", "LIST", "expansions in an interval; " INTERVALS_DEFAULT},
    {"clock", NULL,
     "intervals in time: as long as repeated-forward-astar takes for so\n"
     "many expansions"},
    {"terrain", "LIST", "of unknown, hidden, tiles, known; unknown,hidden"},
    {"map", "LIST", "maps, separated by commas; the twelve of the literature"},
    {"missions", "N", "on each map; 4"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

static void read_options(struct experiment *experiment)
{
    fm_lab *lab = experiment->campaign.lab;
    char item[32];
    experiment->interval_count = fm_lab_uints(lab, "intervals", INTERVALS_DEFAULT, 1000000,
                                              experiment->interval_expansions, INTERVALS_MAX);
    const char *list = fm_lab_value(lab, "terrain");
    for (list = list == NULL ? "unknown,hidden" : list; list != NULL;) {
        list = fm_lab_next_item(list, item, sizeof item);
        uint32_t found = 0;
        while (found < TERRAIN_COUNT && strcmp(terrain_names[found], item) != 0) {
            found++;
        }
        if (found == TERRAIN_COUNT) {
            fm_lab_usage_error(lab, "--terrain: unknown, hidden, tiles or known, not '%s'", item);
        }
        experiment->terrains[found] = true;
    }
    experiment->clock = fm_lab_value(lab, "clock") != NULL;
}

// ---- what is known -----------------------------------------------------------------------------

static void remember_cell(const fm_grid *map, enum terrain terrain, fm_random *random,
                          const fm_bitmap *tiles, fm_cell cell, fm_bitmap *remembered)
{
    bool known = true;
    if (terrain == TERRAIN_HIDDEN) {
        known =
            !fm_grid_is_blocked(map, cell) || fm_random_below(random, 1000) >= FORGOTTEN_PERMILLE;
    } else if (terrain == TERRAIN_TILES) {
        known = fm_bitmap_get(tiles,
                              fm_cell_at(fm_cell_x(cell) / TILE_SIDE, fm_cell_y(cell) / TILE_SIDE));
    }
    if (known) {
        fm_bitmap_set(remembered, cell);
    }
}

static void remember(const struct experiment *experiment, const fm_grid *map, enum terrain terrain,
                     fm_bitmap *remembered)
{
    fm_random random = fm_random_seed(fm_mix64(experiment->campaign.lab->seed) + (uint64_t)terrain);
    uint32_t columns = (map->width + TILE_SIDE - 1) / TILE_SIDE;
    uint32_t rows = (map->height + TILE_SIDE - 1) / TILE_SIDE;
    fm_bitmap tiles;
    fm_lab_check(experiment->campaign.lab,
                 fm_bitmap_init(&tiles, columns, rows, false, &fm_memory_libc), "tiles");
    fm_lab_check(experiment->campaign.lab,
                 fm_bitmap_init(remembered, map->width, map->height, false, &fm_memory_libc),
                 "remembered cells");
    for (uint32_t i = 0; i < columns * rows; i++) {
        if (fm_random_below(&random, 1000) >= FORGOTTEN_PERMILLE) {
            fm_bitmap_set(&tiles, fm_cell_at(i % columns, i / columns));
        }
    }
    for (uint32_t y = 0; y < map->height; y++) {
        for (uint32_t x = 0; x < map->width; x++) {
            remember_cell(map, terrain, &random, &tiles, fm_cell_at(x, y), remembered);
        }
    }
    fm_bitmap_fini(&tiles, &fm_memory_libc);
}

// ---- missions ----------------------------------------------------------------------------------

static void play(struct experiment *experiment, struct score *score,
                 const fm_lab_contender *contender, const fm_lab_ground *ground,
                 const fm_lab_errand *errand)
{
    fm_lab_mission mission;
    fm_lab_check(experiment->campaign.lab,
                 fm_lab_mission_play(ground, &contender->spec, errand->start, errand->goal,
                                     &experiment->campaign.worker, &mission),
                 contender->name);
    if (mission.outcome == FM_LAB_UNREACHABLE || mission.outcome == FM_LAB_EXHAUSTED) {
        fm_lab_die(experiment->campaign.lab,
                   "%s found no path from %u,%u to %u,%u, though there is one", contender->name,
                   fm_cell_x(errand->start), fm_cell_y(errand->start), fm_cell_x(errand->goal),
                   fm_cell_y(errand->goal));
    }
    score->capped += mission.outcome == FM_LAB_GIVEN_UP;
    fm_sample_add(&score->intervals, (double)mission.intervals);
    fm_sample_add(&score->moves, (double)mission.moves);
}

static void play_terrain(struct experiment *experiment, const fm_grid *map, enum terrain terrain,
                         const fm_lab_errand *errands)
{
    fm_bitmap remembered = {0};
    fm_lab_ground ground = fm_lab_campaign_ground(&experiment->campaign, map, CAP);
    if (terrain != TERRAIN_UNKNOWN) {
        remember(experiment, map, terrain, &remembered);
        ground.remembered = &remembered;
    }
    for (uint32_t m = 0; m < experiment->campaign.missions; m++) {
        fm_lab_campaign_next(&experiment->campaign);
        for (uint32_t i = 0; i < experiment->interval_count; i++) {
            ground.interval_expansions = experiment->clock ? 0 : experiment->interval_expansions[i];
            ground.interval_ticks = experiment->clock ? experiment->interval_ticks[i] : 0;
            for (uint32_t p = 0; p < experiment->campaign.count; p++) {
                play(experiment, &experiment->scores[terrain][i][p],
                     &experiment->campaign.contenders[p], &ground, &errands[m]);
            }
        }
    }
    fm_bitmap_fini(&remembered, &fm_memory_libc);
}

// How long the intervals are in time, from what an expansion of plain A* takes here and now.
static void set_clock(struct experiment *experiment, const fm_grid *map,
                      const fm_lab_errand *errands)
{
    const fm_planner_spec spec = {.ops = &fm_repeated_forward_astar};
    const fm_lab_ground ground = fm_lab_campaign_ground(&experiment->campaign, map, 0);
    uint64_t expansions = 0, ticks = 0;
    for (uint32_t m = 0; m < experiment->campaign.missions && m < 4; m++) {
        fm_lab_mission mission;
        fm_lab_check(experiment->campaign.lab,
                     fm_lab_mission_measure(&ground, &spec, errands[m].start, errands[m].goal, 1,
                                            &experiment->campaign.worker, &mission),
                     "repeated-forward-astar");
        expansions += mission.expansions;
        ticks += mission.planning_ticks;
    }
    for (uint32_t i = 0; i < experiment->interval_count; i++) {
        experiment->interval_ticks[i] =
            1 + experiment->interval_expansions[i] * ticks / (expansions + 1);
    }
}

static void play_map(void *context, const fm_grid *map, const fm_lab_errand *errands)
{
    struct experiment *experiment = context;
    if (experiment->clock && experiment->interval_ticks[0] == 0) {
        set_clock(experiment, map, errands);
    }
    for (uint32_t t = 0; t < TERRAIN_COUNT; t++) {
        if (experiment->terrains[t]) {
            play_terrain(experiment, map, (enum terrain)t, errands);
        }
    }
}

// ---- the results -------------------------------------------------------------------------------

static const fm_column long_columns[] = {
    {"terrain", NULL, FM_COLUMN_TEXT, 0},       {"interval_expansions", NULL, FM_COLUMN_NUMBER, 0},
    {"interval_us", NULL, FM_COLUMN_NUMBER, 1}, // null unless --clock
    {"planner", NULL, FM_COLUMN_TEXT, 0},       {"intervals", NULL, FM_COLUMN_MEAN, 1},
    {"moves", NULL, FM_COLUMN_MEAN, 1},         {"capped", NULL, FM_COLUMN_NUMBER, 0},
};

static double interval_us(const struct experiment *experiment, uint32_t i)
{
    return experiment->clock ? fm_lab_ns(experiment->interval_ticks[i]) / 1e3 : (double)NAN;
}

// A row for each terrain, interval and planner.
static void fill_long(const struct experiment *experiment, fm_table *table)
{
    for (uint32_t t = 0; t < TERRAIN_COUNT; t++) {
        for (uint32_t i = 0; i < experiment->interval_count && experiment->terrains[t]; i++) {
            for (uint32_t p = 0; p < experiment->campaign.count; p++) {
                const struct score *score = &experiment->scores[t][i][p];
                fm_table_row(table);
                fm_table_text(table, terrain_names[t]);
                fm_table_number(table, experiment->interval_expansions[i]);
                fm_table_number(table, interval_us(experiment, i));
                fm_table_text(table, experiment->campaign.contenders[p].name);
                fm_table_mean(table, &score->intervals);
                fm_table_mean(table, &score->moves);
                fm_table_number(table, score->capped);
            }
        }
    }
}

static void add_wide_row(const struct experiment *experiment, fm_table *table, uint32_t t,
                         uint32_t i, bool moves)
{
    char text[64];
    fm_table_row(table);
    fm_table_text(table, terrain_names[t]);
    if (experiment->clock) {
        snprintf(text, sizeof text, "%.0f µs", interval_us(experiment, i));
    } else {
        snprintf(text, sizeof text, "%" PRIu32, experiment->interval_expansions[i]);
    }
    fm_table_text(table, text);
    fm_table_text(table, moves ? "moves" : "intervals");
    for (uint32_t p = 0; p < experiment->campaign.count; p++) {
        const struct score *score = &experiment->scores[t][i][p];
        fm_table_mean(table, moves ? &score->moves : &score->intervals);
    }
}

static double published_intervals(enum terrain terrain, const char *planner, size_t row)
{
    for (size_t i = 0; i < FM_COUNT_OF(published); i++) {
        if (published[i].terrain == terrain && strcmp(published[i].planner, planner) == 0) {
            return published[i].intervals[row];
        }
    }
    return (double)NAN;
}

static void add_published_row(const struct experiment *experiment, fm_table *table, uint32_t t,
                              size_t row)
{
    char text[64];
    fm_table_row(table);
    fm_table_text(table, terrain_names[t]);
    snprintf(text, sizeof text, "%.1f ms", published_ms[row]);
    fm_table_text(table, text);
    fm_table_text(table, "published");
    for (uint32_t p = 0; p < experiment->campaign.count; p++) {
        fm_table_interval(
            table,
            published_intervals((enum terrain)t, experiment->campaign.contenders[p].name, row),
            (double)NAN);
    }
}

// As it was published: a column for each planner.
static void fill_wide(const struct experiment *experiment, fm_table *table)
{
    for (uint32_t t = 0; t < TERRAIN_COUNT; t++) {
        for (uint32_t i = 0; i < experiment->interval_count && experiment->terrains[t]; i++) {
            add_wide_row(experiment, table, t, i, false);
        }
        for (uint32_t i = 0; i < experiment->interval_count && experiment->terrains[t]; i++) {
            add_wide_row(experiment, table, t, i, true);
        }
        for (size_t row = 0;
             row < FM_COUNT_OF(published_ms) && experiment->terrains[t] && t <= TERRAIN_HIDDEN;
             row++) {
            add_published_row(experiment, table, t, row);
        }
    }
}

static void plot(const struct experiment *experiment)
{
    FILE *plot = fm_plot_open(experiment->campaign.lab);
    if (plot == NULL) {
        return;
    }
    uint32_t shown = 0;
    while (!experiment->terrains[shown]) {
        shown++;
    }
    fputs("$intervals << END\n", plot);
    for (uint32_t i = 0; i < experiment->interval_count; i++) {
        fprintf(plot, "%g",
                experiment->clock ? interval_us(experiment, i)
                                  : experiment->interval_expansions[i]);
        for (uint32_t p = 0; p < experiment->campaign.count; p++) {
            fprintf(plot, " %g", experiment->scores[shown][i][p].intervals.mean);
        }
        fputc('\n', plot);
    }
    fprintf(plot,
            "END\nset title 'Game maps, %s terrain'\nset xlabel '%s in an interval'\n"
            "set ylabel 'intervals until arrival'\nset key outside right top\nplot ",
            terrain_names[shown], experiment->clock ? "µs" : "expansions");
    fm_lab_campaign_plot(&experiment->campaign, plot, "$intervals using 1:%u", 2);
}

static void report(const struct experiment *experiment)
{
    fm_table rows, shown;
    fm_column wide_columns[3 + FM_LAB_CONTENDERS_MAX] = {
        {"terrain", "terrain", FM_COLUMN_TEXT, 0},
        {"interval", "interval", FM_COLUMN_TEXT, 0},
        {"counted", "counted", FM_COLUMN_TEXT, 0},
    };
    for (uint32_t p = 0; p < experiment->campaign.count; p++) {
        const char *name = experiment->campaign.contenders[p].name;
        wide_columns[3 + p] = (fm_column){name, name, FM_COLUMN_MEAN, 0};
    }
    fm_table_init(&rows, long_columns, FM_COUNT_OF(long_columns));
    fm_table_init(&shown, wide_columns, 3 + experiment->campaign.count);
    fill_long(experiment, &rows);
    fill_wide(experiment, &shown);
    const fm_report_fact facts[] = {{"missions_per_map", experiment->campaign.missions}};
    fm_lab_report_both(experiment->campaign.lab, &rows, &shown, facts, FM_COUNT_OF(facts));
    plot(experiment);
    fm_table_fini(&rows);
    fm_table_fini(&shown);
}

static int run(fm_lab *lab)
{
    struct experiment *experiment = fm_lab_need(lab, calloc(1, sizeof *experiment));
    fm_lab_campaign_init(&experiment->campaign, lab, PLANNERS_DEFAULT, 4);
    read_options(experiment);
    uint32_t terrain_count = 0;
    for (uint32_t t = 0; t < TERRAIN_COUNT; t++) {
        terrain_count += experiment->terrains[t];
    }
    fm_lab_campaign_play(&experiment->campaign, terrain_count, play_map, experiment);
    report(experiment);
    fm_lab_campaign_fini(&experiment->campaign);
    free(experiment);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_gametime = {
    .name = "gametime",
    .arguments = "",
    .summary = "intervals until arrival in the game time model, beside the published tables",
    .details =
        "Plays missions on game maps in the game time model: in each interval the agent searches\n"
        "for a given length and then makes one move or passes. Prints the mean number of\n"
        "intervals and of moves for each planner and length, beside the published means. A\n"
        "mission ends after 200000 intervals at the latest.",
    .options = options,
    .run = run,
};
