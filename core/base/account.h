// core/base/account.h: what a team may search in a tick: a token bucket, in expansions.
//
// A tick's budget is shared by weight among the teams that have agents. What a team leaves of its
// share it saves, up to so many ticks' worth; what it has, saved or not, it may claim:
//
//   budget of the tick ── by weight ──> share ──┐
//                                               ├──> left ── search ──> used
//   saved in earlier ticks ─────────────────────┘      │
//              ^                                       │ at most saved_ticks x share
//              └───────────────────────────────────────┘
//
// In each round of the search stage the claims of all teams that still want to search are added up.
// If there is enough for all of them, the rest goes to the same teams by weight, whatever they have
// left. If not, each gets the same part of its claim. So a team that always wants more lives on its
// share and on what nobody claims; a team that wants little now and then gets it at once, whatever
// the others do; and nothing is wasted.
//
// Threads: serial stages only.

#pragma once

#include "core/base/base.h"

#define FM_TEAM_WEIGHT_MAX 1000u
#define FM_SAVED_TICKS_MAX 64u
#define FM_BUDGET_MAX      ((uint64_t)1 << 40) // expansions of one tick that are shared

typedef struct fm_account {
    uint32_t weight;     // 1..FM_TEAM_WEIGHT_MAX
    uint32_t agents;     // alive
    uint32_t asking;     // searches that may still be begun in this tick
    uint32_t searching;  // planners that want to search in this round
    uint32_t served;     // agents for which they do; at least 1 each
    uint64_t share;      // of this tick's budget
    uint64_t saved;      // from earlier ticks
    uint64_t left;       // of share and saved
    uint64_t used;       // in this tick
    uint64_t used_total; // since the team began
    uint32_t grant;      // in this round: for each planner at first, then for each agent served
    bool moves_only;     // in this round the grant is for real-time planners only
    bool in_turns;       // in this round planners get their first grant, one after the other
    uint64_t credit;     // shared by them while in_turns: expansions not granted yet
    uint64_t turn_tick;  // tick in which it last had its turn, where teams take turns
} fm_account;

// Sums over all accounts in a round.
typedef struct fm_claims {
    uint64_t budget; // expansions left in the tick
    uint64_t left;   // of all accounts that search
    uint64_t weight; // the same
} fm_claims;

/// A tick begins. `weight_sum` is over the teams that have agents.
static inline void fm_account_open(fm_account *account, uint64_t budget, uint64_t weight_sum)
{
    bool present = account->agents > 0 && weight_sum > 0;
    account->share = present ? budget / weight_sum * account->weight +
                                   budget % weight_sum * account->weight / weight_sum
                             : 0;
    account->left = account->saved + account->share;
    account->used = 0;
}

/// Work was done for the team.
static inline void fm_account_spend(fm_account *account, uint64_t expansions)
{
    account->left = expansions < account->left ? account->left - expansions : 0;
    account->used += expansions;
    account->used_total += expansions;
}

/// Adds what an account claims in the round that begins.
static inline void fm_account_claim(const fm_account *account, fm_claims *claims)
{
    if (account->searching > 0) {
        claims->left += account->left;
        claims->weight += account->weight;
    }
}

/// What the account may use in the round.
static inline uint64_t fm_account_allowance(const fm_account *account, const fm_claims *claims)
{
    if (claims->left <= claims->budget) {
        uint64_t rest = claims->budget - claims->left;
        return account->left + rest / claims->weight * account->weight +
               rest % claims->weight * account->weight / claims->weight;
    }
    // The ratio in 1/65536: left is below 2^47 and budget below 2^41, so nothing overflows.
    uint64_t ratio = (claims->budget << 16) / claims->left;
    return account->left * ratio >> 16;
}

/// Work was done for the team after its account was closed.
static inline void fm_account_charge(fm_account *account, uint64_t expansions)
{
    account->saved = expansions < account->saved ? account->saved - expansions : 0;
    account->used += expansions;
    account->used_total += expansions;
}

/// The tick ends.
static inline void fm_account_close(fm_account *account, uint32_t saved_ticks)
{
    uint64_t most = account->share * saved_ticks;
    account->saved = account->left < most ? account->left : most;
}
