// loadtest/lab/campaign.c: see campaign.h.

#include "loadtest/lab/campaign.h"

#include "loadtest/lab/plot.h"

void fm_lab_campaign_init(fm_lab_campaign *campaign, fm_lab *lab, const char *planners_default,
                          uint32_t missions_default)
{
    campaign->lab = lab;
    campaign->missions = (uint32_t)fm_lab_uint(lab, "missions", 1, 10000, missions_default);
    campaign->count = fm_lab_contenders(lab, "planners", planners_default, campaign->contenders);
    fm_lab_worker_init(&campaign->worker);
    fm_lab_check(lab,
                 fm_line_of_sight_create((fm_sense_rules){.radius = 1, .shape = FM_SENSE_SQUARE},
                                         &fm_memory_libc, &campaign->sight),
                 "sight");
}

void fm_lab_campaign_fini(fm_lab_campaign *campaign)
{
    fm_line_of_sight_destroy(campaign->sight);
    fm_lab_worker_fini(&campaign->worker);
}

fm_lab_ground fm_lab_campaign_ground(const fm_lab_campaign *campaign, const fm_grid *map,
                                     uint64_t intervals_max)
{
    return (fm_lab_ground){.truth = map,
                           .sight = campaign->sight,
                           .connectivity = FM_CONNECT_8,
                           .steps = FM_STEPS_10_14,
                           .intervals_max = intervals_max};
}

void fm_lab_campaign_play(fm_lab_campaign *campaign, uint32_t passes, fm_lab_on_map *play,
                          void *context)
{
    campaign->total =
        (uint64_t)fm_lab_map_count(campaign->lab, FM_LAB_TWELVE_MAPS) * campaign->missions * passes;
    fm_lab_each_map(campaign->lab, FM_LAB_TWELVE_MAPS, campaign->missions, play, context);
    fm_lab_progress(campaign->lab, 1, 1);
}

void fm_lab_campaign_next(fm_lab_campaign *campaign)
{
    fm_lab_progress(campaign->lab, campaign->done++, campaign->total);
}

void fm_lab_campaign_plot(const fm_lab_campaign *campaign, FILE *plot, const char *series,
                          uint32_t first)
{
    for (uint32_t p = 0; p < campaign->count; p++) {
        fputs(p == 0 ? "" : ", ", plot);
        fprintf(plot, series, first + p);
        fputs(" with linespoints lw 2 title ", plot);
        fm_plot_text(plot, campaign->contenders[p].name);
    }
    fputc('\n', plot);
    fm_plot_close(campaign->lab, plot);
}
