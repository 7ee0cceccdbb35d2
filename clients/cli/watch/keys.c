// clients/cli/watch/keys.c: see keys.h.
//
// Requests are sent without waiting, so that the picture does not stop; refusals are shown as text.

#include "clients/cli/watch/keys.h"

#include "clients/cli/base/report.h"
#include "clients/cli/base/terminal.h"
#include "clients/cli/watch/screen.h"
#include "clients/cli/watch/selection.h"
#include "clients/cli/watch/teams.h"

#include <curses.h>

#define KEY_ESCAPE 27
#define KEY_CTRL_L 12

// ---- the world ----------------------------------------------------------------------------------

// The answer to pause, resume or step.
static void on_told(fm_watch *watch, const char *what, const fm_client_error *error,
                    const msgpack_object *result)
{
    if (error != NULL) {
        fm_watch_say(watch, "%s: %s (%s)", what, error->message, error->name);
        return;
    }
    fm_watch_say(watch, "%s: tick %s", what, fm_report_grouped(fm_object_uint(result, "tick", 0)));
    fm_watch_ask_info(watch);
}

static void on_paused(void *context, uint64_t id, const fm_client_error *error,
                      const msgpack_object *result)
{
    (void)id;
    on_told(context, "pause", error, result);
}

static void on_resumed(void *context, uint64_t id, const fm_client_error *error,
                       const msgpack_object *result)
{
    (void)id;
    on_told(context, "resume", error, result);
}

static void on_stepped(void *context, uint64_t id, const fm_client_error *error,
                       const msgpack_object *result)
{
    (void)id;
    on_told(context, "step", error, result);
}

// ---- keys ---------------------------------------------------------------------------------------

static void zoom(fm_watch *watch, int steps)
{
    uint32_t width, height;
    fm_watch_map_size(watch, &width, &height);
    const fm_mirror_agent *agent = fm_mirror_find(watch->view, watch->selected);
    bool was_whole = watch->viewport.whole;
    fm_viewport_zoom(&watch->viewport, steps, &watch->view->rect, width, height);
    if (was_whole && agent != NULL) {
        fm_viewport_center(&watch->viewport, agent->cell);
    }
}

static void pan(fm_watch *watch, int right, int down)
{
    uint32_t width, height;
    fm_watch_map_size(watch, &width, &height);
    watch->following = false;
    fm_viewport_pan(&watch->viewport, right, down, &watch->view->rect, width, height);
}

static void take_key(fm_watch *watch, int key)
{
    switch (key) {
    case KEY_LEFT:
    case 'h':
        pan(watch, -1, 0);
        break;
    case KEY_RIGHT:
    case 'l':
        pan(watch, 1, 0);
        break;
    case KEY_UP:
    case 'k':
        pan(watch, 0, -1);
        break;
    case KEY_DOWN:
    case 'j':
        pan(watch, 0, 1);
        break;
    case '+':
    case '=':
        zoom(watch, 1);
        break;
    case '-':
        zoom(watch, -1);
        break;
    case '0':
        watch->viewport.whole = true;
        break;
    case '\t':
        fm_watch_select_neighbour(watch, true);
        break;
    case KEY_BTAB:
        fm_watch_select_neighbour(watch, false);
        break;
    case 'f':
        fm_watch_toggle_following(watch);
        break;
    case KEY_ESCAPE:
        watch->selected = 0;
        watch->following = false;
        break;
    case 't':
        fm_watch_set_team(watch,
                          watch->view->team < watch->known_teams ? watch->view->team + 1 : 0);
        break;
    case 'p':
        fm_watch_request(watch, watch->paused ? FM_METHOD_WORLD_RESUME : FM_METHOD_WORLD_PAUSE,
                         watch->paused ? on_resumed : on_paused);
        break;
    case 's':
        fm_watch_request(watch, FM_METHOD_WORLD_STEP, on_stepped);
        break;
    case 'c':
        watch->canvas.colours =
            watch->canvas.colours == FM_COLOURS_NONE ? watch->colours : FM_COLOURS_NONE;
        fm_canvas_resize(&watch->canvas, 0, 0); // draws everything again
        break;
    case '?':
        watch->helping = !watch->helping;
        break;
    case KEY_RESIZE:
    case KEY_CTRL_L:
        fm_canvas_resize(&watch->canvas, 0, 0);
        break;
    case 'q':
    case 'Q':
        watch->finished = true;
        break;
    default:
        break;
    }
}

void fm_watch_take_keys(fm_watch *watch)
{
    for (int key = fm_terminal_key(); key != ERR && !watch->finished; key = fm_terminal_key()) {
        take_key(watch, key);
    }
}
