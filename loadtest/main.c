// loadtest/main.c: fogmarch-load, from the command line to the exit code.

#include "loadtest/cluster_kills.h"
#include "loadtest/options.h"
#include "loadtest/report/report.h"
#include "loadtest/series/capacity.h"
#include "loadtest/series/curve_chart.h"
#include "loadtest/series/find_max.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int complain(const char *error)
{
    fprintf(stderr, "fogmarch-load: %s\n", error);
    return FM_EXIT_FAILURE;
}

static int exit_code_of(fm_status status, const char *error)
{
    complain(error);
    bool is_usage =
        status == FM_ERR_BAD_VALUE || status == FM_ERR_BAD_FORMAT || status == FM_ERR_BAD_SIZE;
    return is_usage ? FM_EXIT_USAGE : FM_EXIT_FAILURE;
}

static int play(const fm_load_options *options)
{
    static fm_result result;
    char error[FM_RUN_ERROR_SIZE] = "";
    fm_run_options run = options->run;
    run.tick_times = options->tick_times == NULL ? NULL : fopen(options->tick_times, "w");
    if (options->tick_times != NULL && run.tick_times == NULL) {
        snprintf(error, sizeof error, "%.400s: %s", options->tick_times, strerror(errno));
        return complain(error);
    }
    fm_status status = fm_run(&options->scenario, &run, &result, error);
    if (run.tick_times != NULL && fclose(run.tick_times) != 0 && status == FM_OK) {
        snprintf(error, sizeof error, "%.400s: %s", options->tick_times, strerror(errno));
        return complain(error);
    }
    if (status != FM_OK) {
        return exit_code_of(status, error);
    }
    if (options->json) {
        fm_result_print_json(&result, stdout);
    } else {
        fm_result_print(&result, stdout);
    }
    if (options->output != NULL &&
        fm_result_write(&result, options->output, options->scenario.name, error) != FM_OK) {
        return complain(error);
    }
    return FM_EXIT_OK;
}

static int play_mapf(const fm_load_options *options)
{
    fm_mapf_result result;
    char error[FM_RUN_ERROR_SIZE] = "";
    fm_status status = fm_mapf_run(&options->mapf, &options->run, &result, error);
    if (status != FM_OK) {
        return exit_code_of(status, error);
    }
    (options->json ? fm_mapf_print_json : fm_mapf_print)(&result, stdout);
    return FM_EXIT_OK;
}

static int play_crash(const fm_load_options *options)
{
    fm_crash_result result;
    char error[FM_RUN_ERROR_SIZE] = "";
    if (fm_crash_run(&options->crash, &options->run, &result, error) != FM_OK) {
        return complain(error);
    }
    (options->json ? fm_crash_print_json : fm_crash_print)(&result, stdout);
    return fm_crash_is_good(&result) ? FM_EXIT_OK : FM_EXIT_FAILURE;
}

// Writes FOLDER/NAME-max.json and .csv.
static int write_max(const fm_load_options *options, const fm_max *max, uint32_t count)
{
    static const struct {
        const char *ending;
        void (*print)(const fm_max *, uint32_t, FILE *);
    } forms[] = {{"json", fm_find_max_print_json}, {"csv", fm_find_max_print_csv}};
    for (size_t i = 0; i < FM_COUNT_OF(forms); i++) {
        char path[512], error[FM_RUN_ERROR_SIZE];
        snprintf(path, sizeof path, "%.400s/%s-max.%s", options->output, options->scenario.name,
                 forms[i].ending);
        FILE *file = fopen(path, "w");
        if (file != NULL) {
            forms[i].print(max, count, file);
        }
        if (file == NULL || fclose(file) != 0) {
            snprintf(error, sizeof error, "%s: %s", path, strerror(errno));
            return complain(error);
        }
    }
    return FM_EXIT_OK;
}

static int find_max(const fm_load_options *options)
{
    uint32_t count = (uint32_t)options->scenario.workers;
    char error[FM_RUN_ERROR_SIZE] = "out of memory";
    fm_max *max = calloc(count, sizeof *max);
    fm_status status = max == NULL
                           ? FM_ERR_NO_MEMORY
                           : fm_find_max(&options->scenario, &options->run,
                                         options->seconds_per_try, options->seconds, max, error);
    int exit_code = FM_EXIT_OK;
    if (status != FM_OK) {
        exit_code = exit_code_of(status, error);
    } else {
        (options->json ? fm_find_max_print_json : fm_find_max_print)(max, count, stdout);
        exit_code = options->output == NULL ? FM_EXIT_OK : write_max(options, max, count);
    }
    free(max);
    return exit_code;
}

static void on_curve_point(void *context, const fm_result *result)
{
    fm_curve_print_point(result, context);
    fflush(context);
}

// Writes FOLDER/curve.json, .csv and .svg.
static int write_curve(const char *folder, const fm_result *results, uint32_t count)
{
    static const struct {
        const char *name;
        void (*print)(const fm_result *, uint32_t, FILE *);
    } forms[] = {{"curve.json", fm_curve_print_json},
                 {"curve.csv", fm_curve_print_csv},
                 {"curve.svg", fm_curve_print_svg}};
    for (size_t i = 0; i < FM_COUNT_OF(forms); i++) {
        char path[512], error[FM_RUN_ERROR_SIZE];
        snprintf(path, sizeof path, "%.480s/%s", folder, forms[i].name);
        FILE *file = fopen(path, "w");
        if (file != NULL) {
            forms[i].print(results, count, file);
        }
        if (file == NULL || fclose(file) != 0) {
            snprintf(error, sizeof error, "%s: %s", path, strerror(errno));
            return complain(error);
        }
    }
    return FM_EXIT_OK;
}

// When a size fails, the results before it are kept.
static int play_curve(const fm_load_options *options)
{
    char error[FM_RUN_ERROR_SIZE] = "";
    uint32_t count = 0;
    fm_result *results = calloc(options->curve.count, sizeof *results);
    if (results == NULL) {
        return complain("out of memory");
    }
    if (!options->json) {
        fm_curve_print_head(&options->scenario, stdout);
        fflush(stdout);
    }
    fm_status status =
        fm_curve_run(&options->scenario, &options->run, &options->curve,
                     options->json ? NULL : on_curve_point, stdout, results, &count, error);
    if (options->json) {
        fm_curve_print_json(results, count, stdout);
    }
    int exit_code = FM_EXIT_OK;
    if (options->output != NULL && count > 0) {
        exit_code = write_curve(options->output, results, count);
    }
    free(results);
    return status == FM_OK ? exit_code : exit_code_of(status, error);
}

static fm_status print_report_json(const fm_capacity *capacity, FILE *out, char *error)
{
    (void)error;
    fm_capacity_print_json(capacity, out);
    return FM_OK;
}

static fm_status print_report_csv(const fm_capacity *capacity, FILE *out, char *error)
{
    (void)error;
    fm_capacity_print_csv(capacity, out);
    return FM_OK;
}

// Writes FOLDER/report.json, .csv and .html.
static int write_report(const fm_load_options *options, const fm_capacity *capacity)
{
    static const struct {
        const char *name;
        fm_status (*print)(const fm_capacity *, FILE *, char *);
    } forms[] = {{"report.json", print_report_json},
                 {"report.csv", print_report_csv},
                 {"report.html", fm_capacity_print_page}};
    for (size_t i = 0; i < FM_COUNT_OF(forms); i++) {
        char path[512], error[FM_RUN_ERROR_SIZE];
        snprintf(path, sizeof path, "%.480s/%s", options->output == NULL ? "." : options->output,
                 forms[i].name);
        FILE *file = fopen(path, "w");
        fm_status status = file == NULL ? FM_ERR_IO : forms[i].print(capacity, file, error);
        if (file == NULL || (fclose(file) != 0 && status == FM_OK)) {
            snprintf(error, sizeof error, "%s: %s", path, strerror(errno));
            return complain(error);
        }
        if (status != FM_OK) {
            return complain(error);
        }
    }
    return FM_EXIT_OK;
}

// Results from before a failure are still written.
static int make_report(const fm_load_options *options)
{
    static fm_capacity capacity;
    char error[FM_RUN_ERROR_SIZE] = "";
    fm_status status =
        fm_capacity_measure(&options->scenario, &options->run, options->seconds, &capacity, error);
    if (capacity.cell_count == 0) {
        return status == FM_OK ? complain("nothing was measured") : exit_code_of(status, error);
    }
    (options->json ? fm_capacity_print_json : fm_capacity_print)(&capacity, stdout);
    int exit_code = write_report(options, &capacity);
    return status == FM_OK ? exit_code : exit_code_of(status, error);
}

static void on_signal(int number)
{
    (void)number;
    fm_run_interrupt();
}

int main(int argc, char **argv)
{
    fm_load_options options;
    int exit_code;
    if (fm_cluster_kills_is_meant(argc, argv)) {
        return fm_cluster_kills_become(argc, argv);
    }
    if (!fm_load_options_read(argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    // Without SA_RESTART: a poll that is under way ends at once.
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (options.output != NULL && mkdir(options.output, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "fogmarch-load: %s: %s\n", options.output, strerror(errno));
        return FM_EXIT_FAILURE;
    }
    exit_code = options.report             ? make_report(&options)
                : options.mapf.map != NULL ? play_mapf(&options)
                : options.crash.rounds > 0 ? play_crash(&options)
                : options.find_max         ? find_max(&options)
                : options.curve.count > 0  ? play_curve(&options)
                                           : play(&options);
    if (fflush(stdout) != 0) {
        return complain("standard output cannot be written");
    }
    return exit_code;
}
