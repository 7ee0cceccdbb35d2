// loadtest/drive/run_setup.h: the beginning and the end of a running load test.

#pragma once

#include "loadtest/drive/run_state.h"

/// Connects control, makes the world (paused), its teams and agents, then the audience, and lets
/// the world run.
/// @return false when the run failed
bool fm_run_setup(fm_run_state *run);

/// Destroys the world, notes how much memory is left, and disconnects all clients.
void fm_run_teardown(fm_run_state *run);
