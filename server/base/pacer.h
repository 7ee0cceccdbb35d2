// server/base/pacer.h: when a world ticks, and how much work fits into a tick.
//
// The one place where the clock meets the simulation. core/ is given how many expansions it may
// spend and is given a deadline; this file decides both from what earlier ticks took.
//
// Schedule  tick k is due at origin + k * period. What happens when ticks come late is the policy:
//             slip     the schedule moves back by the delay: the game runs slower
//             skip     the schedule stays; ticks whose time has passed are left out
//             degrade  the schedule stays; late ticks follow at once with a smaller budget, until
//                      they are in time again; beyond FM_PACER_BEHIND_MAX ticks it slips
// Budget    the search may take budget - spent - before - after: `spent` is the time used for the
//           world between the last tick and this one (commands, keyframes); `before` and `after`
//           are recent times of the other stages, and of notifying planners of changes. What is
//           left, divided by the recent time per expansion, is the grant; its end, minus a small
//           reserve, is the deadline that cuts a search short when the estimate was wrong. A grant
//           that is used up before the deadline was too small: the estimate is lowered.
//
// No clock is read here: `now` is an argument, so a test or a simulation needs no waiting.
//
// Threads: the one that ticks the world.

#pragma once

#include "core/tick/tick.h"
#include "server/base/config.h"

#define FM_PACER_BEHIND_MAX 10u // ticks that `degrade` may be behind its schedule

// What the next tick gets.
typedef struct fm_pace {
    uint64_t expansions;  // to be shared by all planners
    uint64_t start_ns;    // the tick's start
    uint64_t spent_ns;    // of its budget before that
    uint64_t deadline_ns; // of the search stage
} fm_pace;

typedef struct fm_pacer {
    fm_overload overload;
    double period_ns;
    double budget_ns;
    double due_ns;             // when the next tick is due
    uint64_t spent_ns;         // of the next tick's budget so far
    double ns_per_expansion;   // wall time of the search stage; smoothed, like the next two
    double before_ns;          // the stages before the search, and notifying the planners
    double after_ns;           // from its deadline, or end if that came first, to the tick's end
    double after_deviation_ns; // mean deviation of that
    uint64_t late_ticks;       // ticks that began a period or more after they were due
    uint64_t skipped_ticks;    // ticks left out
    uint64_t degraded_ticks;   // ticks that ran with a smaller budget
} fm_pacer;

/// Sets up a schedule whose first tick is due at `now_ns`.
///
/// @param tick_hz, budget_ms  above 0 (asserted)
void fm_pacer_init(fm_pacer *pacer, double tick_hz, double budget_ms, fm_overload overload,
                   uint64_t now_ns);

/// Another rate or budget; keeps what was measured. The next tick is due one period from now.
void fm_pacer_change(fm_pacer *pacer, double tick_hz, double budget_ms, uint64_t now_ns);

/// Notes time spent on the world outside its ticks. The next tick pays for it.
void fm_pacer_spend(fm_pacer *pacer, uint64_t ns);

/// When the next tick is due.
uint64_t fm_pacer_due_ns(const fm_pacer *pacer);

/// Begins a tick that is due: applies the overload policy, advances the schedule, and returns what
/// the tick may spend.
fm_pace fm_pacer_begin(fm_pacer *pacer, uint64_t now_ns);

/// What a tick outside the schedule may spend (world.step). The schedule stays as it is.
fm_pace fm_pacer_begin_step(fm_pacer *pacer, uint64_t now_ns);

/// Learns from a tick that is over.
void fm_pacer_end(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                  uint64_t now_ns);

/// By how much a tick of this length, with what was spent before it, exceeded the budget.
uint64_t fm_pacer_overrun_ns(const fm_pacer *pacer, uint64_t tick_ns);
