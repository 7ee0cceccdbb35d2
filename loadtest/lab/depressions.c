// loadtest/lab/depressions.c: `fogmarch-lab depressions`, how real-time planners get out of dead
// ends: moves until arrival against the time of one planning episode.
//
// A planner that looks k expansions ahead learns its way out of a depression of the estimate by
// walking back and forth in it. The forms that avoid depressions (a-, da-) walk less. Unknown game
// maps, eight neighbours, the agent sees the eight cells beside it; one episode before each move.
// Missions that take too long are given up, so their means are lower bounds, and the number given
// up is printed.

#include "loadtest/lab/campaign.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/stopwatch.h"

#include <stdlib.h>
#include <string.h>

#define LOOKAHEADS_MAX 8u

#define LOOKAHEADS_DEFAULT "4,16,64,256"
#define PLANNERS_DEFAULT                                                                           \
    "rtaa-star,artaa-star,dartaa-star,lss-lrta-star,alss-lrta-star,dalss-lrta-star"

struct score {
    fm_sample moves, cost_ratio;
    double planning_us;
    uint64_t episodes;
    uint32_t given_up;
};

struct experiment {
    fm_lab_campaign campaign;
    uint64_t moves_max;
    uint32_t lookaheads[LOOKAHEADS_MAX];
    uint32_t lookahead_count;
    struct score scores[LOOKAHEADS_MAX][FM_LAB_CONTENDERS_MAX];
};

static const fm_lab_option options[] = {
    {"planners", "LIST", "real-time planners, separated by commas"},
    {"lookahead", "LIST", "expansions in an episode; " LOOKAHEADS_DEFAULT},
    {"map", "LIST", "maps, separated by commas; the twelve of the literature"},
    {"missions", "N", "on each map; 2"},
    {"moves", "N", "after so many a mission is given up; 50000"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

static void read_options(struct experiment *experiment)
{
    fm_lab *lab = experiment->campaign.lab;
    experiment->lookahead_count =
        fm_lab_uints(lab, "lookahead", LOOKAHEADS_DEFAULT, FM_LOOKAHEAD_MAX, experiment->lookaheads,
                     LOOKAHEADS_MAX);
    experiment->moves_max = fm_lab_uint(lab, "moves", 1, 1000000000, 50000);
    for (uint32_t p = 0; p < experiment->campaign.count; p++) {
        if (!experiment->campaign.contenders[p].spec.ops->real_time) {
            fm_lab_usage_error(lab, "%s has no look-ahead",
                               experiment->campaign.contenders[p].name);
        }
    }
}

// ---- missions ----------------------------------------------------------------------------------

static void play(struct experiment *experiment, uint32_t l, uint32_t p, const fm_lab_ground *ground,
                 const fm_lab_errand *errand, uint32_t optimal)
{
    struct score *score = &experiment->scores[l][p];
    fm_planner_spec spec = experiment->campaign.contenders[p].spec;
    fm_lab_mission mission;
    spec.options.lookahead = experiment->lookaheads[l];
    fm_lab_check(experiment->campaign.lab,
                 fm_lab_mission_play(ground, &spec, errand->start, errand->goal,
                                     &experiment->campaign.worker, &mission),
                 experiment->campaign.contenders[p].name);
    if (mission.outcome == FM_LAB_UNREACHABLE || mission.outcome == FM_LAB_EXHAUSTED) {
        fm_lab_die(experiment->campaign.lab, "%s found no path, though there is one",
                   experiment->campaign.contenders[p].name);
    }
    score->given_up += mission.outcome == FM_LAB_GIVEN_UP;
    score->planning_us += fm_lab_ns(mission.planning_ticks) / 1e3;
    score->episodes += mission.intervals;
    fm_sample_add(&score->moves, (double)mission.moves);
    fm_sample_add(&score->cost_ratio, (double)mission.cost / optimal);
}

static void play_map(void *context, const fm_grid *map, const fm_lab_errand *errands)
{
    struct experiment *experiment = context;
    const fm_lab_ground ground =
        fm_lab_campaign_ground(&experiment->campaign, map, experiment->moves_max);
    for (uint32_t m = 0; m < experiment->campaign.missions; m++) {
        uint32_t optimal = fm_lab_optimal_cost(&ground, errands[m].start, errands[m].goal,
                                               &experiment->campaign.worker);
        fm_lab_campaign_next(&experiment->campaign);
        for (uint32_t l = 0; l < experiment->lookahead_count; l++) {
            for (uint32_t p = 0; p < experiment->campaign.count; p++) {
                play(experiment, l, p, &ground, &errands[m], optimal);
            }
        }
    }
}

// ---- the results -------------------------------------------------------------------------------

static const fm_column columns[] = {
    {"lookahead", "look-ahead", FM_COLUMN_NUMBER, 0},
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"moves", "moves", FM_COLUMN_MEAN, 0},
    {"us_per_episode", "µs per episode", FM_COLUMN_NUMBER, 2},
    {"cost_ratio", "cost / optimal", FM_COLUMN_MEAN, 2},
    {"given_up", "given up", FM_COLUMN_NUMBER, 0},
};

static double us_per_episode(const struct score *score)
{
    return score->planning_us / (double)score->episodes;
}

static void plot(const struct experiment *experiment)
{
    FILE *plot = fm_plot_open(experiment->campaign.lab);
    if (plot == NULL) {
        return;
    }
    for (uint32_t p = 0; p < experiment->campaign.count; p++) {
        fprintf(plot, "$planner%u << END\n", p);
        for (uint32_t l = 0; l < experiment->lookahead_count; l++) {
            const struct score *score = &experiment->scores[l][p];
            fprintf(plot, "%g %g\n", us_per_episode(score), score->moves.mean);
        }
        fputs("END\n", plot);
    }
    fputs("set title 'Depressions of the estimate, unknown game maps'\nset logscale xy\n"
          "set xlabel 'planning, µs per episode'\nset ylabel 'moves until arrival'\n"
          "set key outside right top\nplot ",
          plot);
    fm_lab_campaign_plot(&experiment->campaign, plot, "$planner%u", 0);
}

static void report(const struct experiment *experiment)
{
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    for (uint32_t l = 0; l < experiment->lookahead_count; l++) {
        for (uint32_t p = 0; p < experiment->campaign.count; p++) {
            const struct score *score = &experiment->scores[l][p];
            fm_table_row(&table);
            fm_table_number(&table, experiment->lookaheads[l]);
            fm_table_text(&table, experiment->campaign.contenders[p].name);
            fm_table_mean(&table, &score->moves);
            fm_table_number(&table, us_per_episode(score));
            fm_table_mean(&table, &score->cost_ratio);
            fm_table_number(&table, score->given_up);
        }
    }
    const fm_report_fact facts[] = {{"missions_per_map", experiment->campaign.missions},
                                    {"moves_max", (double)experiment->moves_max}};
    fm_lab_report(experiment->campaign.lab, &table, facts, FM_COUNT_OF(facts));
    plot(experiment);
    fm_table_fini(&table);
}

static int run(fm_lab *lab)
{
    struct experiment *experiment = fm_lab_need(lab, calloc(1, sizeof *experiment));
    fm_lab_campaign_init(&experiment->campaign, lab, PLANNERS_DEFAULT, 2);
    read_options(experiment);
    fm_lab_campaign_play(&experiment->campaign, 1, play_map, experiment);
    report(experiment);
    fm_lab_campaign_fini(&experiment->campaign);
    free(experiment);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_depressions = {
    .name = "depressions",
    .arguments = "",
    .summary = "moves against time per planning episode for the real-time planners",
    .details = "Plays missions on unknown game maps with planners that look so many expansions\n"
               "ahead before each move, and with their forms that avoid depressions of the\n"
               "estimate. Prints moves until arrival and the time of one episode.",
    .options = options,
    .run = run,
};
