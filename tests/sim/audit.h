// tests/sim/audit.h: the world that stays, and the comparison of everything at the end.

#pragma once

#include "tests/sim/plan.h"

typedef struct sim_audit_sums {
    uint64_t views;  // compared with a new subscription
    uint64_t orders; // that were answered and have ended once
} sim_audit_sums;

extern sim_audit_sums sim_audit_counts;

/// The auditor connects, makes the world that stays and subscribes to it.
void sim_audit_begin(const sim_plan *plan);

/// After sim_actors_calm(): stops all worlds, compares all views, and ends all orders.
void sim_audit_end(void);
