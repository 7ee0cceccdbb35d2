// loadtest/series/capacity.c: see capacity.h. Three parts, one after the other: the searches, the
// long runs, the budgets.

#include "loadtest/series/capacity.h"

#include "loadtest/drive/run_state.h"
#include "loadtest/series/bracket.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WAITING_MAX_PERCENT  3.0
#define FIRST_MOVE_MAX_TICKS 2.0
#define TICKS_MIN_SHARE      0.98
#define HELD_TICKS           1010.0 // p99.9 wants 1,000
#define LONG_S               300.0  // a shorter report has no runs of 1,000 ticks
#define SEARCH_SHARE         0.45   // of all the time
#define SEARCH_SHARE_SHORT   0.86
#define BUDGETS_SHARE        0.12
#define TRIES_WANTED         5.0 // in the time of a search
#define WARM_UP_MIN_S        1.5 // for the first orders, which all come at once
#define TRY_MIN_S            1.5
#define TRY_TICKS_MIN        12.0
#define HELD_LESS            0.92 // of the agents, where the number itself does not hold
#define HELD_TRIES           3u
#define OVERHEAD_S           0.8 // of a try: to make the world, to take it down
#define NEXT_WORKERS_GAIN    1.5 // agents that twice the workers may carry: where to begin

static const double rates[FM_CAPACITY_RATES] = {30, 20, 10, 5};
static const double rate_shares[FM_CAPACITY_RATES] = {0.22, 0.22, 0.24, 0.32}; // of a server's time

// Processor time in seconds since the machine began (`busy`, `all`), and of this program and the
// servers that it has stopped (`own`).
struct cpu_times {
    double busy, all, own;
};

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static struct cpu_times cpu_times_now(void)
{
    struct cpu_times times = {0};
    unsigned long long ticks[8] = {0}; // user, nice, system, idle, iowait, irq, softirq, steal
    double per_second = (double)sysconf(_SC_CLK_TCK);
    FILE *file = fopen("/proc/stat", "r");
    if (file != NULL) {
        int count =
            fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1],
                   &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
        for (int i = 0; i < count; i++) {
            times.all += (double)ticks[i] / per_second;
            times.busy += i == 3 || i == 4 ? 0 : (double)ticks[i] / per_second;
        }
        fclose(file);
    }
    struct rusage usage;
    static const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (size_t i = 0; i < FM_COUNT_OF(who); i++) {
        getrusage(who[i], &usage);
        times.own += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    return times;
}

static double others_share(const struct cpu_times *begin, const struct cpu_times *end)
{
    double all = end->all - begin->all;
    double others = (end->busy - begin->busy) - (end->own - begin->own);
    return all > 0 && others > 0 ? others / all : 0;
}

struct report {
    const fm_scenario *scenario;
    const fm_run_options *options;
    fm_capacity *capacity;
    fm_server_process server;
    uint64_t began_ns;
    double seconds; // in all
    char *error;
};

void fm_capacity_judge(const fm_result *result, bool exclusive, char *reason)
{
    reason[0] = '\0';
    if (result->tick_ms.p99 > result->budget_ms) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "p99 tick %.1f ms", result->tick_ms.p99);
    } else if ((double)result->ticks < TICKS_MIN_SHARE * result->ticks_expected - 1) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "%llu of %.0f ticks",
                 (unsigned long long)result->ticks, result->ticks_expected);
    } else if (result->waiting_percent > WAITING_MAX_PERCENT) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "%.1f %% of the agents wait",
                 result->waiting_percent);
    } else if (!exclusive && result->order_to_first_move_ticks.p99 > FIRST_MOVE_MAX_TICKS) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "first move after %.0f ticks (p99)",
                 result->order_to_first_move_ticks.p99);
    } else if (result->errors_total > 0) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "%llu requests failed, first: %.60s",
                 (unsigned long long)result->errors_total, result->errors[0].kind);
    }
}

static double seconds_so_far(const struct report *report)
{
    return (double)(fm_run_now_ns() - report->began_ns) * 1e-9;
}

static void tell_progress(const struct report *report, const fm_capacity_try *tried,
                          const char *what)
{
    double gone = seconds_so_far(report);
    double left = report->seconds > gone ? report->seconds - gone : 0;
    if (report->options->progress != FM_RUN_PROGRESS_NONE) {
        fprintf(
            stderr,
            "%3.0f %%, %d:%02d left: %s, %u worker%s, %g Hz, %u agents: p99 %.1f of %.1f ms%s%s\n",
            100 * gone / (gone + left), (int)left / 60, (int)left % 60, what, tried->workers,
            tried->workers == 1 ? "" : "s", tried->tick_hz, tried->agents, tried->p99_ms,
            tried->budget_ms, tried->reason[0] == '\0' ? ", carried" : ", not: ", tried->reason);
    }
}

// ---- one run ------------------------------------------------------------------------------------

// Plays agents in the warm server. More than the map has room for is a reason, not a failure.
static fm_status play(struct report *report, const fm_scenario *scenario, bool detours,
                      const char *what, fm_result *result, char *reason)
{
    fm_run_options options = *report->options;
    options.connect = report->server.address;
    options.progress = FM_RUN_PROGRESS_NONE;
    options.measures_detours = detours;
    fm_scenario played = *scenario;
    played.teams = fm_min((uint32_t)played.teams, (uint32_t)played.agents);
    fm_status status = fm_run(&played, &options, result, report->error);
    if (status == FM_ERR_BAD_VALUE) {
        snprintf(reason, FM_CAPACITY_REASON_SIZE, "%.120s", report->error);
    } else if (status == FM_OK) {
        fm_capacity_judge(result, report->capacity->exclusive, reason);
    } else {
        return status;
    }
    fm_capacity_try tried = {.workers = (uint32_t)scenario->workers,
                             .agents = (uint32_t)scenario->agents,
                             .tick_hz = scenario->tick_hz,
                             .budget_ms = scenario->budget_ms,
                             .ticks = result->ticks,
                             .p99_ms = result->tick_ms.p99};
    memcpy(tried.reason, reason, sizeof tried.reason);
    if (report->capacity->map[0] == '\0') {
        memcpy(report->capacity->map, result->map, sizeof result->map);
    }
    if (report->capacity->try_count < FM_CAPACITY_TRIES_MAX) {
        report->capacity->tries[report->capacity->try_count++] = tried;
    }
    tell_progress(report, &tried, what);
    return FM_OK;
}

static fm_status start_server(struct report *report, uint32_t workers)
{
    const fm_scenario *scenario = report->scenario;
    const fm_server_options server = {
        .path = report->options->server,
        .workers = workers,
        .sessions_max =
            (uint32_t)(scenario->team_views + scenario->world_views + scenario->silent_views) + 16};
    return fm_server_process_start(&server, &report->server, report->error);
}

static fm_status stop_server(struct report *report)
{
    char error[FM_SERVER_PROCESS_ERROR_SIZE];
    fm_status status = fm_server_process_stop(&report->server, error);
    report->server = (fm_server_process){0};
    if (status != FM_OK) {
        snprintf(report->error, FM_RUN_ERROR_SIZE, "%s", error);
    }
    return status;
}

// ---- searches -----------------------------------------------------------------------------------

static fm_scenario at_rate(const struct report *report, uint32_t workers, double tick_hz)
{
    fm_scenario scenario = *report->scenario;
    scenario.workers = workers;
    scenario.tick_hz = tick_hz;
    scenario.budget_ms = report->capacity->budget_share * 1000 / tick_hz;
    return scenario;
}

// Where to begin: by the rate before, or by fewer workers, or as the mix says.
static uint32_t first_guess(const struct report *report, uint32_t workers, double tick_hz)
{
    const fm_capacity *capacity = report->capacity;
    uint32_t guess = 0;
    for (uint32_t i = 0; i < capacity->cell_count; i++) {
        const fm_capacity_cell *cell = &capacity->cells[i];
        if (cell->tick_hz == tick_hz && cell->workers < workers) {
            guess = (uint32_t)(cell->agents * NEXT_WORKERS_GAIN);
        } else if (cell->workers == workers && guess == 0) {
            guess = (uint32_t)(cell->agents * cell->tick_hz / tick_hz);
        }
    }
    double mix = (double)report->scenario->agents / (double)report->scenario->workers *
                 report->scenario->tick_hz / tick_hz;
    return guess > 0 ? guess : (uint32_t)mix;
}

static fm_status search(struct report *report, uint32_t workers, double tick_hz, double seconds)
{
    fm_capacity_cell *cell = &report->capacity->cells[report->capacity->cell_count];
    fm_scenario scenario = at_rate(report, workers, tick_hz);
    double try_s = seconds / TRIES_WANTED - OVERHEAD_S;
    scenario.warm_up_s = fmax(WARM_UP_MIN_S, try_s * 0.4);
    scenario.duration_s = fmax(fmax(TRY_MIN_S, TRY_TICKS_MIN / tick_hz), try_s * 0.6);
    fm_bracket bracket = {.begin = first_guess(report, workers, tick_hz)};
    *cell =
        (fm_capacity_cell){.workers = workers, .tick_hz = tick_hz, .budget_ms = scenario.budget_ms};
    double end = seconds_so_far(report) + seconds;
    double cost = scenario.warm_up_s + scenario.duration_s + OVERHEAD_S;
    uint32_t agents;
    while ((agents = fm_bracket_next(&bracket)) != 0) {
        static fm_result result;
        char reason[FM_CAPACITY_REASON_SIZE] = "";
        scenario.agents = agents;
        fm_status status = play(report, &scenario, false, "search", &result, reason);
        if (status != FM_OK) {
            return status;
        }
        bool carried = reason[0] == '\0';
        fm_bracket_note(&bracket, agents, result.tick_ms.p99 / scenario.budget_ms, carried);
        if (carried) {
            cell->result = result;
        } else {
            memcpy(cell->reason, reason, sizeof reason);
        }
        cell->agents = bracket.carried;
        cell->agents_over = bracket.over;
        if (seconds_so_far(report) + cost / 2 > end) {
            break;
        }
    }
    report->capacity->cell_count++;
    return FM_OK;
}

// 1, 2, 3, 4; beyond that each time about half as many more, and the last one always.
static uint32_t list_workers(uint32_t most, uint32_t list[FM_CAPACITY_WORKERS_MAX])
{
    uint32_t count = 0;
    for (uint32_t workers = 1; workers < most && count + 1 < FM_CAPACITY_WORKERS_MAX;) {
        list[count++] = workers;
        workers += workers < 4 ? 1 : workers / 2;
    }
    list[count++] = most;
    return count;
}

// ---- long runs and budgets ----------------------------------------------------------------------

// What a short try carried may not hold in a long run: then a little less is played. The number
// that holds is the cell's answer.
static fm_status hold_cell(struct report *report, fm_capacity_cell *cell, double until)
{
    fm_scenario scenario = at_rate(report, cell->workers, cell->tick_hz);
    scenario.warm_up_s = 2;
    scenario.duration_s = HELD_TICKS / TICKS_MIN_SHARE / cell->tick_hz;
    scenario.agents = cell->agents;
    double cost = scenario.warm_up_s + scenario.duration_s + OVERHEAD_S;
    for (uint32_t i = 0; i < HELD_TRIES && seconds_so_far(report) + cost <= until; i++) {
        fm_status status =
            play(report, &scenario, false, "1,000 ticks", &cell->held, cell->held_reason);
        if (status != FM_OK) {
            return status;
        }
        cell->was_held = cell->held.ticks >= FM_P999_COUNT_MIN;
        if (cell->held_reason[0] == '\0') {
            cell->agents = (uint32_t)scenario.agents;
            cell->result = cell->held;
            break;
        }
        cell->agents_over = (uint32_t)scenario.agents;
        memcpy(cell->reason, cell->held_reason, sizeof cell->reason);
        scenario.agents = (uint64_t)((double)scenario.agents * HELD_LESS);
    }
    return FM_OK;
}

// The largest number of workers is the last one that was searched for. Its server is still there.
static fm_status hold(struct report *report, double until)
{
    fm_capacity *capacity = report->capacity;
    fm_status status = FM_OK;
    uint32_t first = capacity->cell_count - FM_CAPACITY_RATES;
    for (uint32_t i = first; i < capacity->cell_count && status == FM_OK; i++) {
        if (capacity->cells[i].agents > 0) {
            status = hold_cell(report, &capacity->cells[i], until);
        }
    }
    return status;
}

// At 10 Hz, with the agents that were carried there: from an eighth of the budget to all of it.
static fm_status play_budgets(struct report *report, double seconds)
{
    static const double parts[FM_CAPACITY_BUDGETS_MAX] = {0.125, 0.25, 0.5, 0.75, 1};
    fm_capacity *capacity = report->capacity;
    const fm_capacity_cell *cell = NULL;
    for (uint32_t i = capacity->cell_count - FM_CAPACITY_RATES; i < capacity->cell_count; i++) {
        cell = capacity->cells[i].tick_hz == 10 ? &capacity->cells[i] : cell;
    }
    if (cell == NULL || cell->agents == 0) {
        return FM_OK;
    }
    fm_scenario scenario = at_rate(report, cell->workers, cell->tick_hz);
    scenario.agents = cell->agents;
    uint32_t step = report->seconds < LONG_S ? 2 : 1; // fewer, but longer ones
    double try_s = seconds * step / FM_CAPACITY_BUDGETS_MAX - OVERHEAD_S;
    scenario.duration_s = fmax(1, try_s * 0.6);
    scenario.warm_up_s = fmax(1, try_s * 0.4);
    double budget_ms = scenario.budget_ms;
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < FM_CAPACITY_BUDGETS_MAX && status == FM_OK; i += step) {
        char reason[FM_CAPACITY_REASON_SIZE] = "";
        scenario.budget_ms = budget_ms * parts[i];
        status = play(report, &scenario, true, "budget", &capacity->budgets[capacity->budget_count],
                      reason);
        capacity->budget_count += status == FM_OK;
    }
    return status;
}

// The time of the next search: its part of what is left for searches. `servers` are still to come,
// this one included, and of this one the rates from `rate` on.
static double share_of_rest(const struct report *report, double share, uint32_t servers,
                            uint32_t rate)
{
    double left = report->seconds * share - seconds_so_far(report), parts = servers - 1;
    for (uint32_t i = rate; i < FM_CAPACITY_RATES; i++) {
        parts += rate_shares[i];
    }
    return left <= 0 ? 0 : left * rate_shares[rate] / parts;
}

static fm_status measure(struct report *report)
{
    uint32_t list[FM_CAPACITY_WORKERS_MAX];
    uint32_t count = list_workers((uint32_t)report->scenario->workers, list);
    double share = report->seconds < LONG_S ? SEARCH_SHARE_SHORT : SEARCH_SHARE;
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK; i++) {
        if (i > 0) {
            status = stop_server(report);
        }
        status = status == FM_OK ? start_server(report, list[i]) : status;
        for (uint32_t j = 0; j < FM_CAPACITY_RATES && status == FM_OK; j++) {
            status = search(report, list[i], rates[j], share_of_rest(report, share, count - i, j));
        }
    }
    double budgets_s = report->seconds * BUDGETS_SHARE;
    if (status == FM_OK && report->seconds >= LONG_S) {
        status = hold(report, report->seconds - budgets_s);
    }
    return status == FM_OK ? play_budgets(report, budgets_s) : status;
}

fm_status fm_capacity_measure(const fm_scenario *scenario, const fm_run_options *options,
                              double seconds, fm_capacity *capacity, char *error)
{
    struct report report = {.scenario = scenario,
                            .options = options,
                            .capacity = capacity,
                            .began_ns = fm_run_now_ns(),
                            .seconds = seconds,
                            .error = error};
    *capacity = (fm_capacity){.budget_share = scenario->budget_ms * scenario->tick_hz / 1000,
                              .exclusive = strcmp(scenario->occupancy, "exclusive") == 0};
    snprintf(capacity->mix, sizeof capacity->mix, "%s", scenario->name);
    struct cpu_times begin = cpu_times_now();
    fm_status status = measure(&report);
    capacity->seconds = seconds_so_far(&report);
    if (report.server.pid != 0) {
        fm_status stopped = stop_server(&report);
        status = status == FM_OK ? stopped : status;
    }
    struct cpu_times end = cpu_times_now();
    capacity->others_share = others_share(&begin, &end);
    return status;
}
