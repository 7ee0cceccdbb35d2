// clients/cli/replay/findings.h: what differs between two worlds that should be alike, as `replay
// verify` and `replay diff` print it.

#pragma once

#include "clients/cli/base/cli.h"
#include "clients/cli/replay/world_diff.h"

#define FM_FINDINGS_SHOWN 20u

typedef struct fm_findings {
    fm_difference list[FM_FINDINGS_SHOWN]; // the first ones
    uint64_t total;
    uint64_t tick; // ticks completed in both worlds
    bool looked;   // whether two worlds were compared at all
} fm_findings;

/// Compares two worlds after a tick, or dies (out of memory).
void fm_findings_find(const fm_cli *cli, fm_world *a, fm_world *b, uint64_t tick,
                      fm_findings *findings);

/// Prints them in sentences.
///
/// @param names  of the two sides, such as "in the first"
void fm_findings_print(const fm_findings *findings, const char *const names[2]);

/// Prints them as members of a JSON object, with a comma in front.
///
/// @param names  of the two sides, as names of members
void fm_findings_print_json(const fm_findings *findings, const char *const names[2]);
