// tests/sim/pages.h: visitors of the HTTP port. They send one or several requests: whole, half,
// slow or nonsense. They check the form, length and status of each answer and parse the contents
// of health and metrics.

#pragma once

#include "tests/sim/plan.h"

/// Visitors begin to connect.
void sim_pages_begin(const sim_plan *plan);

/// Visitors leave, except those that wait for a disconnect.
void sim_pages_calm(void);

/// From now on the server may disconnect any visitor.
void sim_pages_expect_end(void);

/// Asks for every page and waits for the answers. Call it after sim_pages_calm(), without faults.
void sim_pages_audit(void);

/// Number of complete and right answers.
uint64_t sim_pages_read(void);
