// server/base/pacer.c: see pacer.h.

#include "server/base/pacer.h"

#include <math.h>

static const double smoothing = 0.1; // weight of the newest tick
static const double ns_per_expansion_first = 150.0;
static const double ns_per_expansion_least = 1.0;
static const double ns_per_expansion_most = 2e3; // expansions that seem costlier were disturbed
static const double expansions_least = 1000;     // ticks with fewer are too noisy to learn from
static const double expansions_telling = 32; // of each planner: then these are what took the time
static const double used_up_share = 0.8;     // of the grant, from which on it counts as used up
static const double cheapen_least = 0.5;     // by how much one tick may lower the estimate
static const double cheapen_most = 0.95;
static const double deviations = 2.0; // that the time after the search may be above its mean
static const double caution_share_most = 0.1;  // of the budget: a reserve for busy machines
static const double reserve_share = 0.05;      // of the budget, between deadline and its end
static const double reserve_least_ns = 100e3;  // a late look at the clock, waking the workers
static const double search_share_least = 0.05; // of the budget, whatever the other stages take
static const double degraded_share_least = 0.125;

void fm_pacer_init(fm_pacer *pacer, double tick_hz, double budget_ms, fm_overload overload,
                   uint64_t now_ns)
{
    FM_ASSERT(tick_hz > 0 && budget_ms > 0);
    *pacer = (fm_pacer){
        .overload = overload,
        .period_ns = 1e9 / tick_hz,
        .budget_ns = budget_ms * 1e6,
        .due_ns = (double)now_ns,
        .ns_per_expansion = ns_per_expansion_first,
    };
}

void fm_pacer_change(fm_pacer *pacer, double tick_hz, double budget_ms, uint64_t now_ns)
{
    FM_ASSERT(tick_hz > 0 && budget_ms > 0);
    pacer->period_ns = 1e9 / tick_hz;
    pacer->budget_ns = budget_ms * 1e6;
    pacer->due_ns = (double)now_ns + pacer->period_ns;
}

void fm_pacer_spend(fm_pacer *pacer, uint64_t ns)
{
    pacer->spent_ns += ns;
}

uint64_t fm_pacer_due_ns(const fm_pacer *pacer)
{
    return (uint64_t)pacer->due_ns;
}

// Time kept free for the case that what follows the search takes longer than on average.
static double caution_ns(const fm_pacer *pacer, double budget_ns)
{
    return fmin(deviations * pacer->after_deviation_ns, caution_share_most * budget_ns);
}

// Whatever was spent before, the search keeps its least share.
static fm_pace pace_for(fm_pacer *pacer, double budget_ns, uint64_t now_ns)
{
    uint64_t spent_ns = pacer->spent_ns;
    pacer->spent_ns = 0;
    double reserve_ns = budget_ns * reserve_share;
    if (reserve_ns < reserve_least_ns) {
        reserve_ns = reserve_least_ns;
    }
    double search_least_ns = budget_ns * search_share_least;
    double search_end_ns =
        budget_ns - (double)spent_ns - pacer->after_ns - caution_ns(pacer, budget_ns) - reserve_ns;
    double search_ns = search_end_ns - pacer->before_ns;
    if (search_ns < search_least_ns) {
        search_ns = search_least_ns;
        search_end_ns = pacer->before_ns + search_least_ns;
    }
    double expansions = search_ns / pacer->ns_per_expansion;
    return (fm_pace){
        .expansions = expansions < 1 ? 1 : (uint64_t)expansions,
        .start_ns = now_ns,
        .spent_ns = spent_ns,
        .deadline_ns = now_ns + (uint64_t)search_end_ns,
    };
}

// How many whole periods the tick is late.
static double periods_behind(const fm_pacer *pacer, uint64_t now_ns)
{
    double late_ns = (double)now_ns - pacer->due_ns;
    return late_ns < pacer->period_ns ? 0 : (double)(uint64_t)(late_ns / pacer->period_ns);
}

// The budget of a tick under `degrade`: halved for each tick that it is behind.
static double degrade(fm_pacer *pacer, double behind, uint64_t now_ns)
{
    if (behind > FM_PACER_BEHIND_MAX) {
        pacer->due_ns = (double)now_ns - FM_PACER_BEHIND_MAX * pacer->period_ns;
    }
    double share = 1;
    for (; behind >= 1 && share > degraded_share_least; behind--) {
        share /= 2;
    }
    if (share < 1) {
        pacer->degraded_ticks++;
    }
    return pacer->budget_ns * share;
}

fm_pace fm_pacer_begin(fm_pacer *pacer, uint64_t now_ns)
{
    double behind = periods_behind(pacer, now_ns);
    double budget_ns = pacer->budget_ns;
    if (behind >= 1) {
        pacer->late_ticks++;
    }
    switch (pacer->overload) {
    case FM_OVERLOAD_SLIP:
        if (behind >= 1) {
            pacer->due_ns = (double)now_ns;
        }
        break;
    case FM_OVERLOAD_SKIP:
        pacer->skipped_ticks += (uint64_t)behind;
        pacer->due_ns += behind * pacer->period_ns;
        break;
    case FM_OVERLOAD_DEGRADE:
        budget_ns = degrade(pacer, behind, now_ns);
        break;
    }
    pacer->due_ns += pacer->period_ns;
    return pace_for(pacer, budget_ns, now_ns);
}

fm_pace fm_pacer_begin_step(fm_pacer *pacer, uint64_t now_ns)
{
    return pace_for(pacer, pacer->budget_ns, now_ns);
}

static void smooth(double *average, double newest)
{
    *average += smoothing * (newest - *average);
}

// A search takes time for every planner that has a turn, whatever it expands. So the fewer
// expansions there were, the less the time per expansion means. Taken at face value, ticks that
// needed few would suggest that expansions are costly. A small grant would follow, agents would
// wait although there is time, no search would finish, and the next measurement would confirm the
// estimate: the 10,000 agents of scenario `classes` were held at one expansion each. Hence
//   - a search that ended before its deadline because the grant was used up lowers the estimate; -
//   one that the deadline ended is believed as it is;
//   - any other may raise the estimate only if expansions outweigh the planners' other costs by
//   far.
static void learn_cost(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                       double search_ns, double left_ns)
{
    double expansions = (double)(report->expansions - report->notify_expansions -
                                 report->joint_expansions); // these belong to what comes after
    double newest = search_ns / fmax(expansions, 1);
    bool used_up = expansions >= used_up_share * (double)pace->expansions;
    bool is_telling = expansions >= expansions_telling * report->planners_searched ||
                      newest < pacer->ns_per_expansion || left_ns <= 0;
    if (left_ns > 0 && used_up && report->planners_unfinished > 0) {
        double time_share = search_ns / (search_ns + left_ns);
        pacer->ns_per_expansion *= fmin(fmax(time_share, cheapen_least), cheapen_most);
    } else if (expansions >= expansions_least && is_telling) {
        smooth(&pacer->ns_per_expansion, newest);
    }
    pacer->ns_per_expansion =
        fmin(fmax(pacer->ns_per_expansion, ns_per_expansion_least), ns_per_expansion_most);
}

void fm_pacer_end(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                  uint64_t now_ns)
{
    double before_ns = 0;
    for (uint32_t stage = 0; stage < FM_STAGE_SEARCH; stage++) {
        before_ns += (double)report->stage_ns[stage];
    }
    // Notifying planners takes the same time whatever the grants are, and much of it when they are
    // many. Counted as searching, it would make expansions look costly, so fewer would be granted,
    // and these would look costlier still.
    before_ns += (double)(report->stage_ns[FM_STAGE_SEARCH] - report->rounds_ns);
    double search_ns = (double)report->rounds_ns;
    double search_end_ns = (double)pace->start_ns + before_ns + search_ns;
    double deadline_ns = (double)pace->deadline_ns;
    // The time that a cut search took beyond its deadline must be reserved like that of the later
    // stages.
    double after_begin_ns = search_end_ns < deadline_ns ? search_end_ns : deadline_ns;
    double after_ns = (double)now_ns - after_begin_ns;
    smooth(&pacer->before_ns, before_ns);
    smooth(&pacer->after_deviation_ns, fabs(after_ns - pacer->after_ns));
    smooth(&pacer->after_ns, after_ns);
    learn_cost(pacer, pace, report, search_ns, deadline_ns - search_end_ns);
}

uint64_t fm_pacer_overrun_ns(const fm_pacer *pacer, uint64_t tick_ns)
{
    uint64_t budget_ns = (uint64_t)pacer->budget_ns;
    return tick_ns > budget_ns ? tick_ns - budget_ns : 0;
}
