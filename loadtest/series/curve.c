// loadtest/series/curve.c: see curve.h.

#include "loadtest/series/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGENTS_MAX 262144u // of the key agents.count

// ---- the list of sizes --------------------------------------------------------------------------

static fm_status add_size(const char *item, uint32_t size, fm_curve_sizes *sizes, char *error)
{
    uint32_t place = sizes->count + 1;
    if (size == 0) {
        return fm_scenario_refuse(error, "number %u of the list is empty", place);
    }
    if (strspn(item, "0123456789") < size) {
        return fm_scenario_refuse(error, "'%.*s' is not a number of agents",
                                  (int)(size < 40 ? size : 40), item);
    }
    unsigned long agents = size > 9 ? AGENTS_MAX + 1 : strtoul(item, NULL, 10);
    if (agents < 1 || agents > AGENTS_MAX) {
        return fm_scenario_refuse(error, "%.*s agents are not in 1..%u",
                                  (int)(size < 40 ? size : 40), item, AGENTS_MAX);
    }
    if (sizes->count > 0 && agents <= sizes->agents[sizes->count - 1]) {
        return fm_scenario_refuse(error,
                                  "%lu comes after %u; each size is larger than the one before",
                                  agents, sizes->agents[sizes->count - 1]);
    }
    if (sizes->count == FM_CURVE_SIZES_MAX) {
        return fm_scenario_refuse(error, "more than %u sizes", FM_CURVE_SIZES_MAX);
    }
    sizes->agents[sizes->count++] = (uint32_t)agents;
    return FM_OK;
}

fm_status fm_curve_read_sizes(const char *text, fm_curve_sizes *sizes, char *error)
{
    *sizes = (fm_curve_sizes){0};
    fm_status status = FM_OK;
    for (bool more = true; more && status == FM_OK;) {
        size_t size = strcspn(text, ",");
        status = add_size(text, (uint32_t)size, sizes, error);
        more = text[size] == ',';
        text += size + more;
    }
    return status;
}

static fm_scenario scenario_of(const fm_scenario *scenario, uint32_t agents)
{
    fm_scenario sized = *scenario;
    sized.agents = agents;
    return sized;
}

fm_status fm_curve_check(const fm_scenario *scenario, const fm_curve_sizes *sizes, char *error)
{
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < sizes->count && status == FM_OK; i++) {
        fm_scenario sized = scenario_of(scenario, sizes->agents[i]);
        status = fm_scenario_check(&sized, error);
    }
    return status;
}

// ---- runs ---------------------------------------------------------------------------------------

fm_status fm_curve_run(const fm_scenario *scenario, const fm_run_options *options,
                       const fm_curve_sizes *sizes, fm_curve_point_fn *on_point, void *context,
                       fm_result *results, uint32_t *count, char *error)
{
    for (*count = 0; *count < sizes->count; *count += 1) {
        uint32_t agents = sizes->agents[*count];
        fm_scenario sized = scenario_of(scenario, agents);
        char why[FM_RUN_ERROR_SIZE];
        fm_status status = fm_run(&sized, options, &results[*count], why);
        if (status != FM_OK) {
            snprintf(error, FM_RUN_ERROR_SIZE, "%u agents: %.1500s", agents, why);
            return status;
        }
        if (on_point != NULL) {
            on_point(context, &results[*count]);
        }
    }
    return FM_OK;
}

// ---- the table ----------------------------------------------------------------------------------

// "64+": the server's histogram of first moves ends there. "-": no agent got an order.
static const char *first_move_text(double ticks, char text[16])
{
    snprintf(text, 16, isnan(ticks) ? "-" : ticks >= 64 ? "64+" : "%.0f", ticks);
    return text;
}

void fm_curve_print_head(const fm_scenario *scenario, FILE *out)
{
    fprintf(out, "%s: %g Hz, %s, %g s measured at each size\n", scenario->name, scenario->tick_hz,
            scenario->planner, scenario->duration_s);
    fprintf(out, "%8s %9s %9s %9s %13s %17s %8s\n", "", "budget", "moves", "waiting", "expansions",
            "first move ticks", "tick p99");
    fprintf(out, "%8s %9s %9s %9s %13s %8s %8s %8s\n", "agents", "ms", "a second", "%", "a second",
            "p50", "p99", "ms");
}

void fm_curve_print_point(const fm_result *result, FILE *out)
{
    char p50[16], p99[16];
    fprintf(out, "%8llu %9g %9.0f %9.1f %13.0f %8s %8s %8.1f\n", (unsigned long long)result->agents,
            result->budget_ms, result->moves_per_second, result->waiting_percent,
            result->expansions_per_second, first_move_text(fm_result_first_move_p50(result), p50),
            first_move_text(fm_result_first_move_p99(result), p99), result->tick_ms.p99);
}

// A column of the JSON and CSV forms: the table's first, then what explains them. NAN: no value.
struct column {
    const char *key;
    double (*value)(const fm_result *);
};

#define COLUMN(name, expression)                                                                   \
    static double name(const fm_result *result)                                                    \
    {                                                                                              \
        return (double)(expression);                                                               \
    }
COLUMN(agents, result->agents)
COLUMN(budget_ms, result->budget_ms)
COLUMN(moves_per_second, result->moves_per_second)
COLUMN(waiting_percent, result->waiting_percent)
COLUMN(expansions_per_second, result->expansions_per_second)
COLUMN(tick_p99_ms, result->tick_ms.p99)
COLUMN(tick_p50_ms, result->tick_ms.p50)
COLUMN(tick_max_ms, result->tick_ms.max)
COLUMN(search_ms, result->stage_search_ms)
COLUMN(ticks, result->ticks)
COLUMN(ticks_expected, result->ticks_expected)
COLUMN(search_bytes, result->search_bytes_per_agent)
COLUMN(server_cpus, result->server_cpus)
COLUMN(generator_cpus, result->generator_cpus)
COLUMN(errors, result->errors_total)
#undef COLUMN

static const struct column columns[] = {
    {"agents", agents},
    {"budget_ms", budget_ms},
    {"moves_per_second", moves_per_second},
    {"waiting_percent", waiting_percent},
    {"expansions_per_second", expansions_per_second},
    {"first_move_p50_ticks", fm_result_first_move_p50},
    {"first_move_p99_ticks", fm_result_first_move_p99},
    {"tick_p99_ms", tick_p99_ms},
    {"tick_p50_ms", tick_p50_ms},
    {"tick_max_ms", tick_max_ms},
    {"stage_search_ms", search_ms},
    {"ticks", ticks},
    {"ticks_expected", ticks_expected},
    {"search_bytes_per_agent", search_bytes},
    {"server_cpus", server_cpus},
    {"generator_cpus", generator_cpus},
    {"errors_total", errors},
};

static void put_value(const struct column *column, const fm_result *result, const char *none,
                      FILE *out)
{
    double value = column->value(result);
    if (isnan(value)) {
        fputs(none, out);
    } else {
        fprintf(out, "%.7g", value);
    }
}

void fm_curve_print_json(const fm_result *results, uint32_t count, FILE *out)
{
    fputs("{\"curve\": [", out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i == 0 ? "\n{" : ",\n{", out);
        for (size_t k = 0; k < FM_COUNT_OF(columns); k++) {
            fprintf(out, "\"%s\": ", columns[k].key);
            put_value(&columns[k], &results[i], "null", out);
            fputs(", ", out);
        }
        fputs("\"result\":\n", out);
        fm_result_print_json(&results[i], out);
        fputs("}", out);
    }
    fputs("\n]}\n", out);
}

void fm_curve_print_csv(const fm_result *results, uint32_t count, FILE *out)
{
    for (size_t k = 0; k < FM_COUNT_OF(columns); k++) {
        fprintf(out, "%s%s", k == 0 ? "" : ",", columns[k].key);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < FM_COUNT_OF(columns); k++) {
            fputs(k == 0 ? "\n" : ",", out);
            put_value(&columns[k], &results[i], "", out);
        }
    }
    fputc('\n', out);
}
