// tests/sim/pages.h: who asks the HTTP port for pages: one request or some, whole, half, slow or
// nonsense. What comes back is checked: its form, its length, its status and, of health and
// metrics, that it can be read.

#pragma once

#include "tests/sim/plan.h"

/// Visitors begin to come.
void sim_pages_begin(const sim_plan *plan);

/// They leave.
void sim_pages_calm(void);

/// From now on the server may disconnect anybody.
void sim_pages_expect_end(void);

/// Asks for every page, after sim_pages_calm() and while nothing fails, and waits for all of them.
void sim_pages_audit(void);

/// Answers that were whole and right.
uint64_t sim_pages_read(void);
