// loadtest/series/find_max.c: see find_max.h.

#include "loadtest/series/find_max.h"

#include "loadtest/drive/run_state.h"
#include "loadtest/series/bracket.h"

#include <string.h>

#define TICKS_MIN_SHARE     0.98
#define WAITING_MAX_PERCENT 5.0
#define OVERHEAD_S          0.8 // of a try: to make the world, to take it down
#define TRIES               2u
#define FAR_OFF             1.2 // of the budget: p99 of a number that no second try would carry
#define REASON_SIZE         128u

void fm_find_max_judge(const fm_result *result, char *reason)
{
    reason[0] = '\0';
    if (result->tick_ms.p99 > result->budget_ms) {
        snprintf(reason, REASON_SIZE, "p99 tick %.1f ms", result->tick_ms.p99);
    } else if ((double)result->ticks < TICKS_MIN_SHARE * result->ticks_expected - 1) {
        snprintf(reason, REASON_SIZE, "%llu of %.0f ticks", (unsigned long long)result->ticks,
                 result->ticks_expected);
    } else if (result->waiting_percent > WAITING_MAX_PERCENT) {
        snprintf(reason, REASON_SIZE, "%.1f %% of the agents wait for their search",
                 result->waiting_percent);
    } else if (result->errors_total > 0) {
        snprintf(reason, REASON_SIZE, "%llu requests failed, first: %.60s",
                 (unsigned long long)result->errors_total, result->errors[0].kind);
    }
}

// One try: its result, and why it does not count (an empty text when it does).
struct attempt {
    fm_result result;
    char reason[REASON_SIZE];
};

static fm_status try_once(const fm_scenario *scenario, uint32_t agents,
                          const fm_run_options *options, struct attempt *attempt, char *error)
{
    fm_scenario tried = *scenario;
    tried.agents = agents;
    tried.teams = tried.teams > agents ? agents : tried.teams;
    fm_status status = fm_run(&tried, options, &attempt->result, error);
    if (status == FM_OK) {
        fm_find_max_judge(&attempt->result, attempt->reason);
    } else if (status == FM_ERR_BAD_VALUE) {
        // More agents than the map has room for: a bound like any other.
        snprintf(attempt->reason, sizeof attempt->reason, "%.120s", error);
        status = FM_OK;
    }
    if (status == FM_OK && options->progress != FM_RUN_PROGRESS_NONE) {
        fprintf(stderr, "%u worker%s, %u agents: %s\n", (uint32_t)scenario->workers,
                scenario->workers == 1 ? "" : "s", agents,
                attempt->reason[0] == '\0' ? "carried" : attempt->reason);
    }
    return status;
}

// One number of agents. It is dropped at once when it is far off, else only when it fails twice:
// other programs on the machine can disturb a try.
static fm_status try_agents(const fm_scenario *scenario, uint32_t agents,
                            const fm_run_options *options, fm_bracket *bracket, fm_max *max,
                            char *error)
{
    struct attempt attempt;
    bool carried = false;
    double load = 0;
    for (uint32_t i = 0; i < TRIES && !carried && load < FAR_OFF; i++) {
        fm_status status = try_once(scenario, agents, options, &attempt, error);
        if (status != FM_OK) {
            return status;
        }
        carried = attempt.reason[0] == '\0';
        load = attempt.result.tick_ms.p99 / scenario->budget_ms;
    }
    fm_bracket_note(bracket, agents, load, carried);
    max->agents = bracket->carried;
    max->agents_over = bracket->over;
    if (carried) {
        max->result = attempt.result;
    } else {
        memcpy(max->reason, attempt.reason, sizeof max->reason);
    }
    return FM_OK;
}

static fm_status search(const fm_scenario *scenario, const fm_run_options *options, uint32_t begin,
                        uint64_t end_ns, fm_max *max, char *error)
{
    fm_bracket bracket = {.begin = begin};
    uint64_t try_ns = (uint64_t)((scenario->warm_up_s + scenario->duration_s + OVERHEAD_S) * 1e9);
    uint32_t agents;
    while ((agents = fm_bracket_next(&bracket)) != 0) {
        if (max->agents > 0 && fm_run_now_ns() + try_ns > end_ns) {
            break;
        }
        fm_status status = try_agents(scenario, agents, options, &bracket, max, error);
        if (status != FM_OK) {
            return status;
        }
    }
    return FM_OK;
}

// All tries with so many workers, in one server.
static fm_status search_with(const fm_scenario *scenario, const fm_run_options *options,
                             uint32_t begin, uint64_t end_ns, fm_max *max, char *error)
{
    fm_server_process process = {0};
    char stop_error[FM_SERVER_PROCESS_ERROR_SIZE];
    const fm_server_options server = {
        .path = options->server,
        .workers = max->workers,
        .sessions_max =
            (uint32_t)(scenario->team_views + scenario->world_views + scenario->silent_views) + 16};
    fm_status status = fm_server_process_start(&server, &process, error);
    if (status != FM_OK) {
        return status;
    }
    fm_run_options warm = *options;
    warm.connect = process.address;
    status = search(scenario, &warm, begin, end_ns, max, error);
    fm_status stopped = fm_server_process_stop(&process, stop_error);
    if (status == FM_OK && stopped != FM_OK) {
        snprintf(error, FM_RUN_ERROR_SIZE, "%s", stop_error);
        return stopped;
    }
    return status;
}

fm_status fm_find_max(const fm_scenario *scenario, const fm_run_options *options,
                      double seconds_per_try, double seconds, fm_max *max, char *error)
{
    fm_scenario tried = *scenario;
    tried.duration_s = seconds_per_try;
    tried.warm_up_s = seconds_per_try / 2;
    uint32_t worker_count = (uint32_t)scenario->workers;
    uint64_t began_ns = fm_run_now_ns();
    for (uint32_t i = 0; i < worker_count; i++) {
        max[i] = (fm_max){.workers = i + 1};
        tried.workers = i + 1;
        uint64_t begin = i > 0 && max[i - 1].agents > 0 ? (uint64_t)max[i - 1].agents * (i + 1) / i
                                                        : scenario->agents / worker_count;
        uint64_t end_ns = began_ns + (uint64_t)(seconds * 1e9 * (i + 1) / worker_count);
        fm_status status =
            search_with(&tried, options, begin < FM_BRACKET_MAX ? (uint32_t)begin : FM_BRACKET_MAX,
                        end_ns, &max[i], error);
        if (status != FM_OK) {
            return status;
        }
    }
    return FM_OK;
}

// ---- printing -----------------------------------------------------------------------------------

static double per_core(const fm_max *max)
{
    return (double)max->agents / max->workers;
}

void fm_find_max_print(const fm_max *max, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out,
                "%u worker%s: %u agents, %.0f per core; p99 %.2f ms, waiting %.1f %%, %.3g "
                "expansions/s; not %u: %s\n",
                max[i].workers, max[i].workers == 1 ? "" : "s", max[i].agents, per_core(&max[i]),
                max[i].result.tick_ms.p99, max[i].result.waiting_percent,
                max[i].result.expansions_per_second, max[i].agents_over,
                max[i].reason[0] == '\0' ? "not tried" : max[i].reason);
    }
}

void fm_find_max_print_json(const fm_max *max, uint32_t count, FILE *out)
{
    fputs("{\"find_max\": [", out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out,
                "%s\n{\"workers\": %u, \"agents\": %u, \"agents_per_core\": %.1f, "
                "\"agents_over\": %u, \"result\":\n",
                i == 0 ? "" : ",", max[i].workers, max[i].agents, per_core(&max[i]),
                max[i].agents_over);
        fm_result_print_json(&max[i].result, out);
        fputs("}", out);
    }
    fputs("\n]}\n", out);
}

void fm_find_max_print_csv(const fm_max *max, uint32_t count, FILE *out)
{
    fputs("agents_per_core,agents_over,", out);
    fm_result_print_csv_header(out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%.1f,%u,", per_core(&max[i]), max[i].agents_over);
        fm_result_print_csv(&max[i].result, out);
    }
}
