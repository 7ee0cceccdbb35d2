// loadtest/series/find_max.c: see find_max.h.

#include "loadtest/series/find_max.h"

#include <string.h>

#define TICKS_MIN_SHARE     0.98
#define WAITING_MAX_PERCENT 5.0
#define CLOSE_ENOUGH        1.05
#define TRIES               2u
#define AGENTS_MIN          16u
#define AGENTS_MAX          262144u
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
        fprintf(stderr, "%u workers, %u agents: %s\n", (uint32_t)scenario->workers, agents,
                attempt->reason[0] == '\0' ? "carried" : attempt->reason);
    }
    return status;
}

// Narrows *max down by one number of agents. It is given up only when it fails twice: other
// programs on the machine can spoil a try.
static fm_status try_agents(const fm_scenario *scenario, uint32_t agents,
                            const fm_run_options *options, fm_max *max, char *error)
{
    struct attempt attempt;
    bool carried = false;
    for (uint32_t i = 0; i < TRIES && !carried; i++) {
        if (i > 0 && options->progress != FM_RUN_PROGRESS_NONE) {
            fprintf(stderr, "the same once more\n");
        }
        fm_status status = try_once(scenario, agents, options, &attempt, error);
        if (status != FM_OK) {
            return status;
        }
        carried = attempt.reason[0] == '\0';
    }
    if (carried) {
        max->agents = agents;
        max->result = attempt.result;
    } else {
        max->agents_over = agents;
        memcpy(max->reason, attempt.reason, sizeof max->reason);
    }
    return FM_OK;
}

// The next number to try; 0 when the search is over.
static uint32_t next_agents(const fm_max *max, uint32_t begin)
{
    if (max->agents == 0 && max->agents_over == 0) {
        return begin;
    }
    if (max->agents_over == 0) {
        return max->agents >= AGENTS_MAX ? 0 : max->agents * 2;
    }
    if (max->agents == 0) {
        return max->agents_over <= AGENTS_MIN ? 0 : max->agents_over / 2;
    }
    return (double)max->agents_over <= (double)max->agents * CLOSE_ENOUGH
               ? 0
               : max->agents + (max->agents_over - max->agents) / 2;
}

fm_status fm_find_max(const fm_scenario *scenario, const fm_run_options *options,
                      double seconds_per_try, fm_max *max, char *error)
{
    fm_scenario tried = *scenario;
    tried.duration_s = seconds_per_try;
    tried.warm_up_s = seconds_per_try / 2;
    uint32_t worker_count = (uint32_t)scenario->workers;
    for (uint32_t i = 0; i < worker_count; i++) {
        max[i] = (fm_max){.workers = i + 1};
        tried.workers = i + 1;
        uint64_t begin = i > 0 && max[i - 1].agents > 0 ? (uint64_t)max[i - 1].agents * (i + 1) / i
                                                        : scenario->agents / worker_count;
        begin = begin < AGENTS_MIN ? AGENTS_MIN : begin > AGENTS_MAX ? AGENTS_MAX : begin;
        uint32_t agents;
        while ((agents = next_agents(&max[i], (uint32_t)begin)) != 0) {
            fm_status status = try_agents(&tried, agents, options, &max[i], error);
            if (status != FM_OK) {
                return status;
            }
        }
    }
    return FM_OK;
}

// ---- telling ------------------------------------------------------------------------------------

static double per_core(const fm_max *max)
{
    return (double)max->agents / max->workers;
}

void fm_find_max_print(const fm_max *max, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out,
                "%u workers: %u agents, %.0f per core; p99 %.2f ms, waiting %.1f %%, %.3g "
                "expansions/s; not %u: %s\n",
                max[i].workers, max[i].agents, per_core(&max[i]), max[i].result.tick_ms.p99,
                max[i].result.waiting_percent, max[i].result.expansions_per_second,
                max[i].agents_over, max[i].reason[0] == '\0' ? "not tried" : max[i].reason);
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
