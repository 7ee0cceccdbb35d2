// clients/cli/watch/teams.h: the team whose view `watch` shows, and its subscriptions.
//
// Over the view of everything lies the fog of the first teams, whose views are subscribed to as
// well.

#pragma once

#include "clients/cli/watch/state.h"

/// Subscribes by --team, --rect and --every, or dies.
void fm_watch_subscribe(fm_watch *watch);

/// Shows the world as another team sees it (0: everything), or shows why not.
void fm_watch_set_team(fm_watch *watch, uint64_t team);
