// loadtest/drive/run_walls.h: checks that no unit walks through a wall that its team has seen.

#pragma once

#include "loadtest/drive/run_state.h"

/// Holds every step that a team's view shows against the walls that it has shown before. Takes over
/// the notifications of the listener's client.
/// @return false when the run failed
bool fm_run_watch_walls(fm_run_state *run, fm_listener *listener);

/// NULL is allowed.
void fm_wall_watch_destroy(struct fm_wall_watch *watch);
