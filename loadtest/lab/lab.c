// loadtest/lab/lab.c: see lab.h.

#include "loadtest/lab/lab.h"

#include "loadtest/lab/stopwatch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_CELLS       40u
#define PROGRESS_INTERVAL_NS 100000000u

// Names under which the literature knows a planner with options.
static const struct {
    const char *alias, *spec;
} aliases[] = {
    {"dstar-lite-bucket", "dstar-lite:queue=bucket"},
    {"dstar-lite-heap-larger-g", "dstar-lite:queue=heap,ties=larger-g"},
    {"dstar-lite-heap-smaller-g", "dstar-lite:queue=heap,ties=smaller-g"},
    {"repeated-forward-astar-larger-g", "repeated-forward-astar:ties=larger-g"},
    {"repeated-forward-astar-smaller-g", "repeated-forward-astar:ties=smaller-g"},
    {"repeated-backward-astar-larger-g", "repeated-backward-astar:ties=larger-g"},
    {"repeated-backward-astar-smaller-g", "repeated-backward-astar:ties=smaller-g"},
};

// ---- failing -----------------------------------------------------------------------------------

static void complain(const fm_lab *lab, const char *format, va_list arguments)
{
    fm_lab_progress((fm_lab *)(uintptr_t)lab, 1, 1);
    fprintf(stderr, "fogmarch-lab%s%s: ", lab->command == NULL ? "" : " ",
            lab->command == NULL ? "" : lab->command->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void fm_lab_usage_error(const fm_lab *lab, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(lab, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'fogmarch-lab%s%s --help'.\n", lab->command == NULL ? "" : " ",
            lab->command == NULL ? "" : lab->command->name);
    exit(FM_LAB_USAGE);
}

void fm_lab_die(const fm_lab *lab, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(lab, format, arguments);
    va_end(arguments);
    exit(FM_LAB_FAILED);
}

void *fm_lab_need(const fm_lab *lab, void *block)
{
    if (block == NULL) {
        fm_lab_die(lab, "out of memory");
    }
    return block;
}

void fm_lab_check(const fm_lab *lab, fm_status status, const char *what)
{
    if (status != FM_OK) {
        fm_lab_die(lab, "%s: %s", what, fm_status_text(status));
    }
}

// ---- options -----------------------------------------------------------------------------------

const char *fm_lab_value(const fm_lab *lab, const char *name)
{
    for (uint32_t i = lab->given_count; i > 0; i--) {
        if (strcmp(lab->given[i - 1].name, name) == 0) {
            return lab->given[i - 1].value;
        }
    }
    return NULL;
}

uint64_t fm_lab_uint(const fm_lab *lab, const char *name, uint64_t minimum, uint64_t maximum,
                     uint64_t fallback)
{
    const char *text = fm_lab_value(lab, name);
    if (text == NULL) {
        return fallback;
    }
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < minimum ||
        number > maximum) {
        fm_lab_usage_error(lab, "--%s: '%s' is not a number in %" PRIu64 "..%" PRIu64, name, text,
                           minimum, maximum);
    }
    return number;
}

const char *fm_lab_next_item(const char *list, char *item, size_t item_size)
{
    size_t length = strcspn(list, ",");
    snprintf(item, item_size, "%.*s", (int)length, list);
    return list[length] == '\0' ? NULL : list + length + 1;
}

uint32_t fm_lab_uints(const fm_lab *lab, const char *option, const char *fallback, uint32_t maximum,
                      uint32_t *numbers, uint32_t capacity)
{
    const char *list = fm_lab_value(lab, option);
    uint32_t count = 0;
    for (list = list == NULL ? fallback : list; list != NULL;) {
        char item[32], *end;
        list = fm_lab_next_item(list, item, sizeof item);
        unsigned long number = strtoul(item, &end, 10);
        if (count == capacity || number < 1 || number > maximum || *end != '\0') {
            fm_lab_usage_error(lab, "--%s: up to %u numbers in 1..%u, not '%s'", option, capacity,
                               maximum, item);
        }
        numbers[count++] = (uint32_t)number;
    }
    return count;
}

static const char *spec_of(const char *name)
{
    for (size_t i = 0; i < FM_COUNT_OF(aliases); i++) {
        if (strcmp(aliases[i].alias, name) == 0) {
            return aliases[i].spec;
        }
    }
    return name;
}

fm_planner_spec fm_lab_planner(const fm_lab *lab, const char *name)
{
    fm_planner_spec spec;
    char error[160];
    if (fm_planner_spec_parse(spec_of(name), &spec, error, sizeof error) != FM_OK) {
        char known[1024] = "";
        for (uint32_t i = 0; fm_planner_catalogue[i] != NULL; i++) {
            size_t length = strlen(known);
            snprintf(known + length, sizeof known - length, " %s", fm_planner_catalogue[i]->name);
        }
        fm_lab_usage_error(lab, "%s; planners:%s", error, known);
    }
    return spec;
}

// Whether the text begins with "key=", as the second option of a planner does.
static bool is_option(const char *text)
{
    return text[strcspn(text, ",:=")] == '=';
}

static const char *next_planner(const char *list, char *name, size_t name_size)
{
    size_t length = strcspn(list, ",");
    while (list[length] == ',' && is_option(list + length + 1)) {
        length += 1 + strcspn(list + length + 1, ",");
    }
    snprintf(name, name_size, "%.*s", (int)length, list);
    return list[length] == '\0' ? NULL : list + length + 1;
}

uint32_t fm_lab_contenders(const fm_lab *lab, const char *option, const char *fallback,
                           fm_lab_contender *contenders)
{
    const char *given = fm_lab_value(lab, option);
    uint32_t count = 0;
    for (const char *list = given == NULL ? fallback : given; list != NULL;) {
        fm_lab_contender contender;
        list = next_planner(list, contender.name, sizeof contender.name);
        if (given == NULL &&
            fm_planner_spec_parse(spec_of(contender.name), &contender.spec, NULL, 0) != FM_OK) {
            continue;
        }
        contender.spec = fm_lab_planner(lab, contender.name);
        if (count == FM_LAB_CONTENDERS_MAX) {
            fm_lab_usage_error(lab, "--%s: at most %u", option, FM_LAB_CONTENDERS_MAX);
        }
        contenders[count++] = contender;
    }
    return count;
}

void fm_lab_shuffle(fm_random *random, uint32_t *turns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = fm_random_below(random, i + 1);
        turns[i] = turns[j];
        turns[j] = i;
    }
}

// ---- progress ----------------------------------------------------------------------------------

void fm_lab_progress(fm_lab *lab, uint64_t done, uint64_t total)
{
    uint64_t now_ns = fm_lab_clock_ns();
    if (done >= total) {
        if (lab->progress_shown_ns != 0) {
            fputs("\r\033[K", stderr);
        }
        lab->progress_shown_ns = 0;
        lab->progress_begun_ns = 0;
        return;
    }
    if (lab->progress_begun_ns == 0) {
        lab->progress_begun_ns = now_ns;
    }
    if (now_ns - lab->progress_shown_ns < PROGRESS_INTERVAL_NS || !isatty(STDERR_FILENO)) {
        return;
    }
    lab->progress_shown_ns = now_ns;
    char bar[PROGRESS_CELLS + 1] = "";
    memset(bar, '.', PROGRESS_CELLS);
    memset(bar, '#', (size_t)(done * PROGRESS_CELLS / total));
    double elapsed_s = (double)(now_ns - lab->progress_begun_ns) / 1e9;
    fprintf(stderr, "\r[%s] %" PRIu64 " of %" PRIu64, bar, done, total);
    if (done > 0 && elapsed_s > 1) {
        fprintf(stderr, ", %.0f s left", elapsed_s / (double)done * (double)(total - done));
    }
    fputs("\033[K", stderr);
}
