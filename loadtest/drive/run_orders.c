// loadtest/drive/run_orders.c: sends what the schedule says is due: orders to groups, volleys,
// walls.
//
// Every request remembers when it was due; its answer is timed from then. Groups of one that are
// due in the same turn of the loop share a request, as a client would batch them; larger groups
// have a request each, with one goal.

#include "loadtest/drive/run_orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ORDERS_MAX_S 5.0 // by then every group has had its first order
#define RETRY_S            1.0 // a group whose order was refused is ordered again

// A request that has no answer yet.
struct request {
    fm_run_state *run;
    uint64_t due_ns;
    const char *name;
    uint32_t group_count;
    struct {
        uint32_t group, turn;
    } groups[];
};

static uint64_t after_ns(uint64_t from_ns, double seconds)
{
    return from_ns + (uint64_t)(seconds * 1e9);
}

// ---- answers ------------------------------------------------------------------------------------

static void take_orders(struct request *request, uint64_t first_order, uint64_t now_ns)
{
    fm_run_state *run = request->run;
    for (uint32_t i = 0; i < request->group_count; i++) {
        uint32_t group = request->groups[i].group;
        if (fm_groups_answered(&run->groups, group, request->groups[i].turn, first_order)) {
            fm_run_group_rests(run, group, now_ns);
        }
        first_order += run->groups.groups[group].count;
    }
}

static void try_again(struct request *request, uint64_t now_ns)
{
    for (uint32_t i = 0; i < request->group_count; i++) {
        uint32_t group = request->groups[i].group;
        uint64_t due_ns = after_ns(now_ns, RETRY_S);
        request->run->groups.groups[group].due_ns = due_ns;
        fm_run_push(request->run, due_ns, FM_EVENT_ORDER, group);
    }
}

static void on_reply(void *context, uint64_t id, const fm_client_error *error,
                     const msgpack_object *result)
{
    (void)id;
    struct request *request = context;
    fm_run_state *run = request->run;
    uint64_t now_ns = fm_run_now_ns();
    fm_histogram_add(&run->reply_us, (now_ns - request->due_ns) / 1000);
    if (run->over || run->failed) {
        // Too late to matter.
    } else if (error == NULL) {
        take_orders(request, fm_object_uint(result, "order", 0), now_ns);
    } else {
        fm_result_count_error(run->result, request->name, error->name);
        try_again(request, now_ns);
    }
    free(request);
}

// Sends run->params. Takes over the request.
static void send_request(struct request *request, fm_method method)
{
    fm_run_state *run = request->run;
    uint64_t now_ns = fm_run_now_ns();
    uint64_t late_ns = now_ns > request->due_ns ? now_ns - request->due_ns : 0;
    fm_histogram_add(&run->late_us, late_ns / 1000);
    request->name = fm_method_name(method);
    fm_status status = fm_client_send(run->control, method, &run->params, on_reply, request, NULL);
    if (status == FM_ERR_BUSY) {
        fm_result_count_error(run->result, request->name, "not_sent");
        try_again(request, now_ns);
        free(request);
    } else if (status != FM_OK) {
        fm_run_fail(run, "%s: %s", request->name, fm_client_error_last(run->control)->message);
        free(request);
    }
}

static struct request *make_request(fm_run_state *run, uint64_t due_ns, uint32_t group_max)
{
    struct request *request = calloc(1, sizeof *request + group_max * sizeof request->groups[0]);
    if (request == NULL) {
        fm_run_fail(run, "out of memory");
        return NULL;
    }
    request->run = run;
    request->due_ns = due_ns;
    fm_params_clear(&run->params);
    fm_params_uint(&run->params, FM_FIELD_WORLD, run->world);
    return request;
}

// ---- orders -------------------------------------------------------------------------------------

static fm_cell draw_goal(fm_run_state *run, const fm_group *group)
{
    const fm_scenario *scenario = run->scenario;
    fm_cell goal = run->common_goal;
    if (goal != FM_CELL_NONE) {
        return goal;
    }
    if (fm_ground_draw(run->ground, (fm_range){0, 100}) < scenario->unreachable_percent) {
        goal = fm_ground_draw_unreachable(run->ground);
    }
    return goal != FM_CELL_NONE
               ? goal
               : fm_ground_draw_goal(run->ground, group->goal, scenario->goal_distance);
}

// The group gets a goal, enters the request, and knows when its next order is due.
static void add_group(struct request *request, uint32_t index, uint64_t due_ns)
{
    fm_run_state *run = request->run;
    fm_group *group = &run->groups.groups[index];
    fm_groups_begin(&run->groups, index, draw_goal(run, group));
    request->groups[request->group_count].group = index;
    request->groups[request->group_count].turn = group->turn;
    request->group_count++;
    group->due_ns = UINT64_MAX;
    if (run->scenario->every_s.high > 0) {
        group->due_ns = after_ns(due_ns, fm_ground_draw(run->ground, run->scenario->every_s));
        fm_run_push(run, group->due_ns, FM_EVENT_ORDER, index);
    }
}

static uint64_t *list_agents(const fm_run_state *run, const fm_group *group, uint64_t *ids)
{
    for (uint32_t i = 0; i < group->count; i++) {
        *ids++ = run->groups.members[group->first + i].id;
    }
    return ids;
}

static void send_move(struct request *request)
{
    fm_params_text(&request->run->params, FM_FIELD_KIND, "move");
    fm_params_text(&request->run->params, FM_FIELD_ON_UNREACHABLE,
                   request->run->scenario->on_unreachable);
    send_request(request, FM_METHOD_AGENT_ORDER);
}

// One goal for all of the group, or a place for each around it.
static void order_group(fm_run_state *run, uint32_t index, uint64_t due_ns)
{
    struct request *request = make_request(run, due_ns, 1);
    if (request == NULL) {
        return;
    }
    add_group(request, index, due_ns);
    const fm_group *group = &run->groups.groups[index];
    list_agents(run, group, run->numbers);
    fm_params_uints(&run->params, FM_FIELD_AGENTS, run->numbers, group->count);
    fm_params_cells(&run->params, FM_FIELD_GOAL, &group->goal, 1);
    if (run->scenario->spread) {
        fm_params_bool(&run->params, FM_FIELD_SPREAD, true);
    }
    send_move(request);
}

// A goal for each agent, so that groups can share a request. Takes as many groups as fit.
static uint32_t order_groups(fm_run_state *run, const uint32_t *indexes, uint32_t count,
                             uint64_t due_ns)
{
    struct request *request = make_request(run, due_ns, count);
    if (request == NULL) {
        return count;
    }
    uint32_t taken = 0, agent_count = 0;
    uint64_t *ids = run->numbers, *goals = run->numbers + run->groups.member_count;
    while (taken < count) {
        const fm_group *group = &run->groups.groups[indexes[taken]];
        if (taken > 0 && agent_count + group->count > run->batch_max) {
            break;
        }
        add_group(request, indexes[taken++], due_ns);
        ids = list_agents(run, group, ids);
        agent_count += group->count;
        for (uint32_t i = 0; i < group->count; i++) {
            *goals++ = fm_cell_x(group->goal);
            *goals++ = fm_cell_y(group->goal);
        }
    }
    fm_params_uints(&run->params, FM_FIELD_AGENTS, run->numbers, agent_count);
    fm_params_uints(&run->params, FM_FIELD_GOALS, run->numbers + run->groups.member_count,
                    2 * agent_count);
    send_move(request);
    return taken;
}

void fm_run_send_due_groups(fm_run_state *run)
{
    for (uint32_t at = 0; at < run->due_group_count && !run->failed;) {
        at += order_groups(run, run->due_groups + at, run->due_group_count - at, run->due_ns);
    }
    run->due_group_count = 0;
}

static void collect(fm_run_state *run, uint32_t index, uint64_t due_ns)
{
    if (run->due_group_count == 0 || due_ns < run->due_ns) {
        run->due_ns = due_ns;
    }
    run->groups.groups[index].due_ns = UINT64_MAX;
    run->due_groups[run->due_group_count++] = index;
}

static void on_order(fm_run_state *run, uint32_t index, uint64_t due_ns)
{
    const fm_group *group = &run->groups.groups[index];
    if (group->due_ns != due_ns) {
        return; // it got another order in the meantime
    }
    if (group->count == 1) {
        collect(run, index, due_ns);
    } else {
        order_group(run, index, due_ns);
    }
}

// Orders all groups at once. Orders collected in this turn are dropped, so that nobody is listed
// twice.
static void on_volley(fm_run_state *run, uint64_t due_ns)
{
    run->due_group_count = 0;
    for (uint32_t i = 0; i < run->groups.group_count; i++) {
        if (run->scenario->spread && run->groups.groups[i].count > 1) {
            order_group(run, i, due_ns);
        } else {
            collect(run, i, due_ns);
        }
    }
    fm_run_push(run, after_ns(due_ns, run->scenario->volley_s), FM_EVENT_VOLLEY, 0);
}

void fm_run_group_rests(fm_run_state *run, uint32_t index, uint64_t now_ns)
{
    fm_group *group = &run->groups.groups[index];
    uint64_t due_ns = after_ns(now_ns, fm_ground_draw(run->ground, run->scenario->again_s));
    if (due_ns < group->due_ns) {
        group->due_ns = due_ns;
        fm_run_push(run, due_ns, FM_EVENT_ORDER, index);
    }
}

// ---- walls --------------------------------------------------------------------------------------

// A slot for a wall; UINT32_MAX when out of memory.
static uint32_t take_wall(fm_run_state *run)
{
    if (run->free_wall_count > 0) {
        return run->free_walls[--run->free_wall_count];
    }
    uint32_t wanted = run->wall_count + 1;
    if (!FM_RESERVE_FROM(&fm_memory_libc, run->walls, run->wall_capacity, wanted) ||
        !FM_RESERVE_FROM(&fm_memory_libc, run->free_walls, run->free_wall_capacity, wanted)) {
        fm_run_fail(run, "out of memory");
        return UINT32_MAX;
    }
    return run->wall_count++;
}

static void send_wall(fm_run_state *run, const fm_wall *wall, const char *set, uint64_t due_ns)
{
    struct request *request = make_request(run, due_ns, 0);
    if (request != NULL) {
        fm_params_text(&run->params, FM_FIELD_SET, set);
        fm_params_cells(&run->params, FM_FIELD_CELLS, wall->cells, wall->count);
        send_request(request, FM_METHOD_TERRAIN_SET);
    }
}

static void on_wall_up(fm_run_state *run, uint64_t due_ns)
{
    fm_run_push(run, after_ns(due_ns, 1 / run->scenario->walls_per_second), FM_EVENT_WALL_UP, 0);
    uint32_t slot = take_wall(run);
    if (slot == UINT32_MAX) {
        return;
    }
    fm_wall *wall = &run->walls[slot];
    bool crater = strcmp(run->scenario->wall_shape, "crater") == 0;
    wall->count = crater
                      ? fm_ground_raise_crater(run->ground, run->scenario->wall_length, wall->cells)
                      : fm_ground_raise_wall(run->ground, run->scenario->wall_length, wall->cells);
    if (wall->count == 0) {
        run->free_walls[run->free_wall_count++] = slot;
        return;
    }
    send_wall(run, wall, "blocked", due_ns);
    fm_run_push(run, after_ns(due_ns, fm_ground_draw(run->ground, run->scenario->wall_stands_s)),
                FM_EVENT_WALL_DOWN, slot);
}

static void on_wall_down(fm_run_state *run, uint32_t slot, uint64_t due_ns)
{
    const fm_wall *wall = &run->walls[slot];
    send_wall(run, wall, "free", due_ns);
    fm_ground_lower_wall(run->ground, wall->cells, wall->count);
    run->free_walls[run->free_wall_count++] = slot;
}

// ---- events -------------------------------------------------------------------------------------

void fm_run_begin_orders(fm_run_state *run, uint64_t now_ns)
{
    const fm_scenario *scenario = run->scenario;
    double spread_s = fmin(scenario->warm_up_s / 2, FIRST_ORDERS_MAX_S);
    if (scenario->volley_s > 0) {
        fm_run_push(run, now_ns, FM_EVENT_VOLLEY, 0);
    } else {
        for (uint32_t i = 0; i < run->groups.group_count; i++) {
            uint64_t due_ns =
                after_ns(now_ns, fm_ground_draw(run->ground, (fm_range){0, spread_s}));
            run->groups.groups[i].due_ns = due_ns;
            fm_run_push(run, due_ns, FM_EVENT_ORDER, i);
        }
    }
    if (scenario->walls_per_second > 0) {
        fm_run_push(run, now_ns, FM_EVENT_WALL_UP, 0);
    }
}

void fm_run_on_order_event(fm_run_state *run, const fm_event *event)
{
    switch (event->kind) {
    case FM_EVENT_ORDER:
        on_order(run, event->index, event->due_ns);
        return;
    case FM_EVENT_VOLLEY:
        on_volley(run, event->due_ns);
        return;
    case FM_EVENT_WALL_UP:
        on_wall_up(run, event->due_ns);
        return;
    case FM_EVENT_WALL_DOWN:
        on_wall_down(run, event->index, event->due_ns);
        return;
    case FM_EVENT_MEASURE:
    case FM_EVENT_SAMPLE:
    case FM_EVENT_END:
        break;
    }
    FM_UNREACHABLE();
}
