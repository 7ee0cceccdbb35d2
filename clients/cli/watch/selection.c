// clients/cli/watch/selection.c: see selection.h.

#include "clients/cli/watch/selection.h"

#include "clients/cli/base/report.h"
#include "clients/cli/watch/screen.h"

#include <stdio.h>

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
    fm_report_inspected_planner(result, planner, sizeof planner);
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
        watch->asking = fm_watch_request(watch, FM_METHOD_DEBUG_INSPECT, on_inspected);
    }
}

// The agent with the next larger (or smaller) id than the selected one; round and round.
static uint64_t neighbour(const fm_watch *watch, bool larger)
{
    const fm_mirror *view = watch->view;
    uint64_t best = 0, outermost = 0; // of those on the far side: where the round starts over
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

void fm_watch_select_neighbour(fm_watch *watch, bool larger)
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

void fm_watch_toggle_following(fm_watch *watch)
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
