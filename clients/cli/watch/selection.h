// clients/cli/watch/selection.h: the selected agent of `watch`, and the server's report of it.

#pragma once

#include "clients/cli/watch/state.h"

/// Selects the agent with the next larger or smaller id, and brings it onto the screen.
void fm_watch_select_neighbour(fm_watch *watch, bool larger);

/// Starts or stops keeping the selected agent in the middle.
void fm_watch_toggle_following(fm_watch *watch);

/// Asks about the selected agent, unless an answer is under way or the role may not.
void fm_watch_ask_agent(fm_watch *watch);
