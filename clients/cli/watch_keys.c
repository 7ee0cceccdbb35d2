// clients/cli/watch_keys.c: what keys do in `watch`.
//
// Requests are sent without waiting, so that the picture goes on; what the server refuses is shown
// in words and changes nothing.

#include "clients/cli/watch.h"

#include "clients/cli/report.h"
#include "clients/cli/terminal.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>

#define KEY_ESCAPE 27
#define KEY_CTRL_L 12

void fm_watch_say(fm_watch *watch, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(watch->message, sizeof watch->message, format, arguments);
    va_end(arguments);
    watch->message_end_ms = fm_pulse_clock_ms() + FM_WATCH_MESSAGE_MS;
}

// Sends what is in cli->params, without waiting.
static bool request(fm_watch *watch, fm_method method, fm_client_reply_fn *on_reply)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    fm_status status =
        fm_client_send(watch->cli->client, method, &watch->cli->params, on_reply, watch, NULL);
    fm_params_clear(&watch->cli->params);
    if (status == FM_ERR_IO) {
        fm_cli_die_of_client(watch->cli);
    }
    if (status != FM_OK) { // too much is under way
        fm_watch_say(watch, "%s", fm_status_text(status));
    }
    return status == FM_OK;
}

// ---- the selected agent -------------------------------------------------------------------------

static fm_cell cell_of(const msgpack_object *map, const char *name)
{
    fm_numbers cell = fm_object_numbers(map, name);
    return cell.count < 2
               ? FM_CELL_NONE
               : fm_cell_at((uint32_t)fm_numbers_at(cell, 0), (uint32_t)fm_numbers_at(cell, 1));
}

static void take_order(fm_watch_agent *agent, const msgpack_object *result)
{
    char kind[32];
    uint64_t order = fm_object_uint(result, "order", 0);
    uint32_t waiting = fm_object_numbers(result, "queue").count;
    fm_object_text(result, "kind", kind, sizeof kind);
    if (order == 0) {
        snprintf(agent->order, sizeof agent->order, "none");
    } else if (waiting == 0) {
        snprintf(agent->order, sizeof agent->order, "%llu, %s", (unsigned long long)order, kind);
    } else {
        snprintf(agent->order, sizeof agent->order, "%llu, %s; %u more wait%s",
                 (unsigned long long)order, kind, waiting, waiting == 1 ? "s" : "");
    }
}

static void take_planner(fm_watch_agent *agent, const msgpack_object *result)
{
    char planner[128], plan[32];
    fm_object_text(result, "planner", planner, sizeof planner);
    fm_object_text(result, "plan", plan, sizeof plan);
    snprintf(agent->planner, sizeof agent->planner,
             "%s: %s, shared by %llu; %u cells to go, %s moves done", planner, plan,
             (unsigned long long)fm_object_uint(result, "sharers", 0), agent->path_count,
             fm_report_grouped(fm_object_uint(result, "moves", 0)));
    snprintf(agent->search, sizeof agent->search,
             "%s open, %s closed, %s expansions, %s replans, %s",
             fm_report_grouped(fm_object_uint(result, "open", 0)),
             fm_report_grouped(fm_object_uint(result, "closed", 0)),
             fm_report_grouped(fm_object_uint(result, "expansions", 0)),
             fm_report_grouped(fm_object_uint(result, "replans", 0)),
             fm_report_size(fm_object_uint(result, "bytes", 0)));
}

static void on_inspected(void *context, uint64_t id, const fm_client_error *error,
                         const msgpack_object *result)
{
    (void)id;
    fm_watch *watch = context;
    fm_watch_agent *agent = &watch->agent;
    watch->asking = false;
    if (error != NULL && error->status == FM_ERR_DENIED) {
        watch->may_inspect = false;
    }
    if (error != NULL) { // it died, or the answer is late: what the view shows is true
        agent->id = 0;
        return;
    }
    agent->id = fm_object_uint(result, "agent", 0);
    agent->goal = cell_of(result, "goal");
    fm_numbers path = fm_object_numbers(result, "path");
    agent->path_count = path.count / 2 > FM_WATCH_PATH_MAX ? FM_WATCH_PATH_MAX : path.count / 2;
    for (uint32_t i = 0; i < agent->path_count; i++) {
        agent->path[i] = fm_cell_at((uint32_t)fm_numbers_at(path, 2 * i),
                                    (uint32_t)fm_numbers_at(path, 2 * i + 1));
    }
    take_order(agent, result);
    take_planner(agent, result);
}

void fm_watch_ask_agent(fm_watch *watch)
{
    if (watch->selected != 0 && !watch->asking && watch->may_inspect) {
        fm_params_uint(&watch->cli->params, FM_FIELD_AGENT, watch->selected);
        watch->asking = request(watch, FM_METHOD_DEBUG_INSPECT, on_inspected);
    }
}

// The agent with the next larger (or smaller) id than the selected one; round and round.
static uint64_t neighbour(const fm_watch *watch, bool larger)
{
    const fm_mirror *view = watch->view;
    uint64_t best = 0, outermost = 0; // of those on the far side: where the round begins anew
    for (uint32_t i = 0; i < view->agent_count; i++) {
        uint64_t id = view->agents[i].id;
        bool beyond = larger ? id > watch->selected : id < watch->selected;
        if (beyond && (best == 0 || (larger ? id < best : id > best))) {
            best = id;
        }
        if (outermost == 0 || (larger ? id < outermost : id > outermost)) {
            outermost = id;
        }
    }
    return best != 0 ? best : outermost;
}

static void select_neighbour(fm_watch *watch, bool larger)
{
    uint64_t id = neighbour(watch, larger);
    if (id == 0) {
        fm_watch_say(watch, "there are no agents in this view");
        return;
    }
    watch->selected = id;
    uint32_t width, height, px, py;
    fm_watch_map_size(watch, &width, &height);
    fm_frame frame = fm_viewport_frame(&watch->viewport, &watch->view->rect, width, height);
    const fm_mirror_agent *agent = fm_mirror_find(watch->view, id);
    if (!fm_frame_find(&frame, agent->cell, &px, &py)) {
        fm_viewport_center(&watch->viewport, agent->cell);
    }
    fm_watch_ask_agent(watch);
}

static void toggle_following(fm_watch *watch)
{
    if (watch->selected == 0) {
        fm_watch_say(watch, "select an agent with Tab, then f follows it");
        return;
    }
    watch->following = !watch->following;
    if (watch->following && watch->viewport.whole) {
        fm_watch_say(watch, "the whole map is shown; + makes it larger");
    }
}

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
        select_neighbour(watch, true);
        break;
    case KEY_BTAB:
        select_neighbour(watch, false);
        break;
    case 'f':
        toggle_following(watch);
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
        request(watch, watch->paused ? FM_METHOD_WORLD_RESUME : FM_METHOD_WORLD_PAUSE,
                watch->paused ? on_resumed : on_paused);
        break;
    case 's':
        request(watch, FM_METHOD_WORLD_STEP, on_stepped);
        break;
    case 'c':
        watch->canvas.colours =
            watch->canvas.colours == FM_COLOURS_NONE ? watch->colours : FM_COLOURS_NONE;
        fm_canvas_resize(&watch->canvas, 0, 0); // draws everything anew
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
