// loadtest/drive/mapf_score.c: see mapf_score.h.

#include "loadtest/drive/mapf_score.h"

fm_mapf_score fm_mapf_score_of(const uint32_t *arrivals, uint32_t count, uint32_t ticks)
{
    fm_mapf_score score = {0};
    for (uint32_t i = 0; i < count; i++) {
        bool is_stuck = arrivals[i] == FM_MAPF_OFF_GOAL;
        uint32_t cost = is_stuck ? ticks : arrivals[i];
        score.stuck += is_stuck;
        score.on_goal_at_end += !is_stuck;
        score.makespan = cost > score.makespan ? cost : score.makespan;
        score.sum_of_costs += cost;
    }
    return score;
}
