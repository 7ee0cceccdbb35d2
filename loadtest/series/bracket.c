// loadtest/series/bracket.c: see bracket.h.

#include "loadtest/series/bracket.h"

#define CLOSE_ENOUGH 1.05
#define AIM          0.95 // of the budget: aims a little below it
#define GROWTH_LEAST 1.25
#define GROWTH_MOST  4.0
#define SHRINK_LEAST 0.75
#define SHRINK_MOST  0.125
#define MARGIN       0.25 // of the gap: the next number is not nearer to either end

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static uint32_t limit(double agents)
{
    return (uint32_t)clamp(agents, FM_BRACKET_MIN, FM_BRACKET_MAX);
}

static uint32_t between(const fm_bracket *bracket)
{
    double gap = (double)bracket->over - bracket->carried, share = 0.5;
    if (bracket->over <= bracket->carried * CLOSE_ENOUGH || gap <= 1) {
        return 0;
    }
    if (bracket->load_over > 1 && bracket->load_carried < 1) {
        share = (AIM - bracket->load_carried) / (bracket->load_over - bracket->load_carried);
    }
    uint32_t agents = bracket->carried + (uint32_t)(gap * clamp(share, MARGIN, 1 - MARGIN));
    return agents == bracket->carried ? agents + 1 : agents;
}

uint32_t fm_bracket_next(const fm_bracket *bracket)
{
    if (bracket->carried == 0 && bracket->over == 0) {
        return limit(bracket->begin);
    }
    if (bracket->over == 0) {
        double growth = bracket->load_carried > 0 ? AIM / bracket->load_carried : GROWTH_MOST;
        return bracket->carried >= FM_BRACKET_MAX
                   ? 0
                   : limit(bracket->carried * clamp(growth, GROWTH_LEAST, GROWTH_MOST));
    }
    if (bracket->carried == 0) {
        double shrink = bracket->load_over > 1 ? AIM / bracket->load_over : 0.5;
        return bracket->over <= FM_BRACKET_MIN
                   ? 0
                   : limit(bracket->over * clamp(shrink, SHRINK_MOST, SHRINK_LEAST));
    }
    return between(bracket);
}

void fm_bracket_note(fm_bracket *bracket, uint32_t agents, double load, bool carried)
{
    if (carried) {
        bracket->carried = agents;
        bracket->load_carried = load;
    } else {
        bracket->over = agents;
        bracket->load_over = load;
    }
}
