// loadtest/drive/run.c: see run.h. The poll loop: events that are due, then input of the sockets.

#include "loadtest/drive/run.h"

#include "loadtest/drive/detours.h"
#include "loadtest/drive/run_orders.h"
#include "loadtest/drive/run_setup.h"
#include "loadtest/drive/run_watch.h"
#include "loadtest/report/machine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_LINE_NS  250000000u
#define PROGRESS_LINES_NS 10000000000u

static volatile sig_atomic_t interrupted;

void fm_run_interrupt(void)
{
    interrupted = 1;
}

bool fm_run_is_interrupted(void)
{
    return interrupted != 0;
}

// ---- progress -----------------------------------------------------------------------------------

static void show_progress(fm_run_state *run, uint64_t now_ns)
{
    bool one_line = run->options->progress == FM_RUN_PROGRESS_LINE;
    uint64_t pause_ns = one_line ? PROGRESS_LINE_NS : PROGRESS_LINES_NS;
    if (run->options->progress == FM_RUN_PROGRESS_NONE || now_ns - run->progress_ns < pause_ns) {
        return;
    }
    run->progress_ns = now_ns;
    uint64_t since_ns = run->measuring ? run->measure_ns : run->began_ns;
    const fm_counters *last = &run->last;
    double agents = last->agents > 0 ? (double)last->agents : 1;
    fprintf(stderr,
            "%s%s: %s %.1f/%g s, tick %llu, p99 %.2f ms, moving %.0f %%, waiting %.0f %%, "
            "RSS %.0f MiB, errors %llu%s",
            one_line ? "\r" : "", run->scenario->name, run->measuring ? "measuring" : "warm-up",
            (double)(now_ns - since_ns) * 1e-9,
            run->measuring ? run->scenario->duration_s : run->scenario->warm_up_s,
            (unsigned long long)last->ticks, last->tick_ms.p99, 100 * (double)last->moving / agents,
            100 * (double)last->waiting / agents, (double)last->rss_bytes / 1048576,
            (unsigned long long)run->result->errors_total, one_line ? "\033[K" : "\n");
}

static void end_progress(const fm_run_state *run)
{
    if (run->options->progress == FM_RUN_PROGRESS_LINE) {
        fputs("\r\033[K", stderr);
    }
}

// ---- the loop -----------------------------------------------------------------------------------

static void do_due_events(fm_run_state *run)
{
    fm_event event;
    uint64_t now_ns = fm_run_now_ns();
    while (!run->failed && !run->over && fm_schedule_pop(&run->schedule, now_ns, &event)) {
        if (event.kind == FM_EVENT_MEASURE || event.kind == FM_EVENT_SAMPLE ||
            event.kind == FM_EVENT_END) {
            fm_run_sample(run, event.kind, event.due_ns);
        } else {
            fm_run_on_order_event(run, &event);
        }
    }
    fm_run_send_due_groups(run);
}

// Reads and writes what the socket is ready for. @return false when the connection is lost
static bool serve(fm_client *client, short ready)
{
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0 && fm_client_on_readable(client) != FM_OK) {
        return false;
    }
    return (ready & POLLOUT) == 0 || fm_client_flush(client) == FM_OK;
}

static void serve_own(fm_run_state *run, fm_client *client, short ready)
{
    if (ready != 0 && !serve(client, ready)) {
        fm_run_fail(run, "connection lost: %s", fm_client_error_last(client)->message);
    }
}

static void serve_listener(fm_run_state *run, fm_listener *listener, short ready)
{
    if (ready != 0 && !serve(listener->client, ready)) {
        fm_result_count_error(run->result, "subscriber", "connection lost");
        fm_client_destroy(listener->client);
        listener->client = NULL;
    }
}

static struct pollfd poll_entry(fm_client *client)
{
    return (struct pollfd){.fd = fm_client_fd(client), .events = fm_client_events(client)};
}

// Waits for sockets until the next event is due.
static int wait_for_any(fm_run_state *run, struct pollfd *polls, uint32_t count)
{
    uint64_t now_ns = fm_run_now_ns();
    uint64_t next_ns = fm_schedule_next_ns(&run->schedule);
    uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    wait_ns = wait_ns < PROGRESS_LINE_NS ? wait_ns : PROGRESS_LINE_NS;
    struct timespec timeout = {.tv_nsec = (long)wait_ns};
    return ppoll(polls, count, &timeout, NULL);
}

static void turn(fm_run_state *run, struct pollfd *polls)
{
    do_due_events(run);
    uint32_t count = 0;
    polls[count++] = poll_entry(run->control);
    polls[count++] = poll_entry(run->watch);
    for (uint32_t i = 0; i < run->audience_count; i++) {
        if (run->audience[i].client != NULL && !run->audience[i].silent) {
            polls[count++] = poll_entry(run->audience[i].client);
        }
    }
    if (!run->failed && !run->over && wait_for_any(run, polls, count) > 0) {
        serve_own(run, run->control, polls[0].revents);
        serve_own(run, run->watch, polls[1].revents);
        count = 2;
        for (uint32_t i = 0; i < run->audience_count; i++) {
            if (run->audience[i].client != NULL && !run->audience[i].silent) {
                serve_listener(run, &run->audience[i], polls[count++].revents);
            }
        }
    }
    fm_client_expire(run->control);
    show_progress(run, fm_run_now_ns());
    if (interrupted) {
        fm_run_fail(run, "interrupted");
    }
}

static void drive(fm_run_state *run)
{
    struct pollfd *polls = calloc(run->audience_count + 2, sizeof *polls);
    if (polls == NULL) {
        fm_run_fail(run, "out of memory");
        return;
    }
    run->began_ns = fm_run_now_ns();
    run->progress_ns = run->began_ns;
    fm_run_begin_orders(run, run->began_ns);
    fm_run_push(run, run->began_ns, FM_EVENT_SAMPLE, 0);
    fm_run_push(run, run->began_ns + (uint64_t)(run->scenario->warm_up_s * 1e9), FM_EVENT_MEASURE,
                0);
    while (!run->failed && !run->over) {
        turn(run, polls);
    }
    end_progress(run);
    free(polls);
}

// ---- a run --------------------------------------------------------------------------------------

static void describe(const fm_scenario *scenario, const fm_grid *grid, fm_result *result)
{
    snprintf(result->scenario, sizeof result->scenario, "%s", scenario->name);
    snprintf(result->planner, sizeof result->planner, "%s", scenario->planner);
    const char *file = scenario->map_file;
    const char *name = strrchr(file, '/') == NULL ? file : strrchr(file, '/') + 1;
    snprintf(result->map, sizeof result->map, "%.90s %ux%u",
             name[0] == '\0' ? scenario->map_generator : name, grid->width, grid->height);
    result->agents = scenario->agents;
    result->teams = fm_scenario_team_count(scenario);
    result->seed = scenario->seed;
    result->tick_hz = scenario->tick_hz;
    result->budget_ms = scenario->budget_ms;
    fm_result_describe_machine(result);
}

// Everything that needs no server.
static fm_status prepare(fm_run_state *run)
{
    uint64_t agents = run->scenario->agents;
    fm_status status = fm_ground_create(run->scenario, &run->ground, run->error);
    if (status != FM_OK) {
        return status;
    }
    snprintf(run->error, FM_RUN_ERROR_SIZE, "out of memory");
    run->starts = malloc(agents * sizeof(fm_cell));
    run->numbers = malloc(3 * agents * sizeof(uint64_t));
    run->due_groups = malloc(agents * sizeof(uint32_t));
    run->teams = calloc(fm_scenario_team_count(run->scenario), sizeof(uint32_t));
    run->detours = run->options->measures_detours ? fm_detours_create(run->scenario) : NULL;
    if (run->starts == NULL || run->numbers == NULL || run->due_groups == NULL ||
        run->teams == NULL || (run->options->measures_detours && run->detours == NULL)) {
        return FM_ERR_NO_MEMORY;
    }
    status = fm_ground_draw_starts(run->ground, run->scenario, run->starts);
    if (status == FM_OK) {
        status = fm_groups_init(&run->groups, run->scenario, run->ground, run->starts);
    }
    return status;
}

static void start_server(fm_run_state *run)
{
    const fm_scenario *scenario = run->scenario;
    uint32_t sessions =
        (uint32_t)(scenario->team_views + scenario->world_views + scenario->silent_views) + 16;
    const fm_server_options server = {.path = run->options->server,
                                      .workers = (uint32_t)scenario->workers,
                                      .sessions_max = sessions};
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    if (run->options->connect == NULL &&
        fm_server_process_start(&server, &run->server, error) != FM_OK) {
        fm_run_fail(run, "%s", error);
    }
}

static void release(fm_run_state *run)
{
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    if (fm_server_process_stop(&run->server, error) != FM_OK) {
        fm_run_fail(run, "%s", error);
    }
    fm_detours_destroy(run->detours);
    fm_groups_fini(&run->groups);
    fm_schedule_fini(&run->schedule);
    fm_ground_destroy(run->ground);
    fm_params_fini(&run->params);
    free(run->starts);
    free(run->numbers);
    free(run->due_groups);
    free(run->teams);
    free(run->audience);
    free(run->walls);
    free(run->free_walls);
}

fm_status fm_run(const fm_scenario *scenario, const fm_run_options *options, fm_result *result,
                 char *error)
{
    fm_run_state *run = calloc(1, sizeof *run);
    if (run == NULL) {
        snprintf(error, FM_RUN_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    *result = (fm_result){0};
    run->scenario = scenario;
    run->options = options;
    run->result = result;
    run->error = error;
    fm_params_init(&run->params);
    fm_status status = prepare(run);
    if (status == FM_OK) {
        describe(scenario, fm_ground_grid(run->ground), result);
        start_server(run);
        if (!run->failed && fm_run_setup(run)) {
            drive(run);
        }
        if (run->detours != NULL && !run->failed) {
            uint32_t trips = 0;
            result->detour = fm_detours_ratio(run->detours, run->ground, scenario, &trips);
            result->detour_trips = trips;
        }
        fm_run_teardown(run);
    }
    release(run);
    status = status == FM_OK && run->failed ? FM_ERR_IO : status;
    free(run);
    return status;
}
