// clients/cli/views/views.h: the subscriptions of a command, each with its mirror.
//
// Notifications find their mirror by subscription number. Errors on the way (an inconsistent
// server, going down, the end of the world) are kept here for the command's loop.

#pragma once

#include <fogmarch/mirror.h>
#include "clients/cli/base/cli.h"

#define FM_VIEWS_MAX 10u // everything, eight teams, and one to change to

typedef struct fm_views {
    fm_mirror mirrors[FM_VIEWS_MAX];
    uint32_t count;
    bool sight;             // teams' views are subscribed to with `sight`
    fm_status status;       // FM_OK, or why a notification could not be applied
    bool going_down;        // the server said so
    char reason[96];        // what it said
    uint64_t notifications; // that were for one of the mirrors
} fm_views;

/// From here on the client's notifications go to `views`, which must stay where it is.
void fm_views_init(fm_cli *cli, fm_views *views);

/// The client's notifications are dropped again.
void fm_views_fini(fm_cli *cli, fm_views *views);

/// Subscribes to a view and waits for its keyframe, or dies.
///
/// @param team   whose; 0: everything
/// @param rect   part of the map; NULL: all of it
/// @param every  at most one delta in so many ticks
/// @param ops    may be NULL, like `context`
/// @return the view's mirror
fm_mirror *fm_views_add(fm_cli *cli, fm_views *views, uint64_t world, uint64_t team,
                        const fm_rect *rect, uint64_t every, const fm_mirror_ops *ops,
                        void *context);

/// As fm_views_add(), but does not die when the server refuses the view, which changes nothing.
///
/// @param mirror  receives the view's mirror
/// @return FM_OK, or what the server said; fm_client_error_last() has the text
FM_CHECKED fm_status fm_views_try(fm_cli *cli, fm_views *views, uint64_t world, uint64_t team,
                                  const fm_rect *rect, uint64_t every, const fm_mirror_ops *ops,
                                  void *context, fm_mirror **mirror);

/// Unsubscribes from the first `count` views, or dies; those behind them move up, and with them
/// their mirrors.
void fm_views_drop(fm_cli *cli, fm_views *views, uint32_t count);

/// Dies if a view has failed.
void fm_views_check(const fm_cli *cli, const fm_views *views);
