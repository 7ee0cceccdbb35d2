// clients/cli/watch/state.h: the state of `watch`, shared by its parts.

#pragma once

#include "clients/cli/base/canvas.h"
#include "clients/cli/views/pulse.h"
#include "clients/cli/views/views.h"
#include "clients/cli/watch/viewport.h"

#define FM_WATCH_PATH_MAX  4096u // cells of the selected agent's path that are drawn
#define FM_WATCH_LINE_SIZE 256u

// The server's last report of the selected agent.
typedef struct fm_watch_agent {
    uint64_t id;       // 0: nothing yet
    char order[128];   // kind, id, how many wait; "none"
    char planner[256]; // planner, plan, who shares it
    char search[256];  // open, closed, expansions, bytes
    fm_cell goal;      // FM_CELL_NONE: none
    fm_cell path[FM_WATCH_PATH_MAX];
    uint32_t path_count;
} fm_watch_agent;

typedef struct fm_watch {
    fm_cli *cli;
    uint64_t world;
    char name[65];
    double budget_ms, tick_hz;
    bool paused;
    uint64_t info_tick;   // ticks completed, as world.info said last
    uint32_t known_teams; // teams of the world, as it said last; 0 for players
    fm_rect part;         // of the map that is watched; width 0: all of it
    uint64_t every;       // at most one picture in so many ticks
    bool fog;             // over the view of everything
    fm_views views;
    const fm_mirror *view; // the first of views.mirrors
    fm_pulse pulse;
    fm_mirror_load load; // of the last tick that had one
    uint64_t end_ms;     // 0: never

    // Of the full screen only.
    fm_canvas canvas;
    fm_canvas_colours colours; // that the terminal has; canvas.colours are those in use
    fm_viewport viewport;
    bool helping;      // the keys are shown
    bool finished;     // asked to end
    uint64_t selected; // id of an agent; 0: none
    bool following;    // the selected agent stays in the middle
    bool asking;       // debug.inspect is under way
    bool may_inspect;  // until the server says otherwise
    fm_watch_agent agent;
    char message[FM_WATCH_LINE_SIZE]; // about the last key
    uint64_t message_end_ms;
} fm_watch;

/// Requests the world's name, pace and tick, or dies.
void fm_watch_read_info(fm_watch *watch);

/// Requests the same without waiting for the answer.
void fm_watch_ask_info(fm_watch *watch);

/// Ticks completed, as far as is known.
uint64_t fm_watch_newest_tick(const fm_watch *watch);

/// Percent of the map that a view knows.
double fm_watch_known_percent(const fm_mirror *view);

/// A line for the user, shown for a while.
void fm_watch_say(fm_watch *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Sends a request about the world, with what is in cli->params besides, and does not wait. The
/// reply's context is `watch`.
///
/// @return false, with a line for the user, when too many requests are under way
bool fm_watch_request(fm_watch *watch, fm_method method, fm_client_reply_fn *on_reply);
