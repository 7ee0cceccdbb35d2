// clients/cli/base/report.c: see report.h.

#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 34
#define TEXT_SIZE  48

static char *next_text(void)
{
    static char texts[FM_REPORT_TEXTS][TEXT_SIZE];
    static unsigned turn;
    return texts[turn++ % FM_REPORT_TEXTS];
}

const char *fm_report_grouped(uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *text = next_text(), *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *fm_report_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 1024 && unit + 1 < FM_COUNT_OF(units)) {
        size /= 1024;
        unit++;
    }
    char *text = next_text();
    snprintf(text, TEXT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
    return text;
}

static bool ends_in(const char *name, const char *end)
{
    size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

static void report_number(const char *name, uint64_t number)
{
    if (ends_in(name, "bytes") && number >= 1024) {
        printf("%s (%s)\n", fm_report_grouped(number), fm_report_size(number));
    } else {
        printf("%s\n", fm_report_grouped(number));
    }
}

static void report_list(const msgpack_object_array *list)
{
    for (uint32_t i = 0; i < list->size; i++) {
        fputs(i == 0 ? "" : " ", stdout);
        msgpack_object_print(stdout, list->ptr[i]);
    }
    fputs(list->size == 0 ? "-\n" : "\n", stdout);
}

static void report_value(const char *name, const msgpack_object *value)
{
    printf("%-*s ", NAME_WIDTH, name);
    switch ((int)value->type) {
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        report_number(name, value->via.u64);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        printf("%.6g\n", value->via.f64);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        puts(value->via.boolean ? "yes" : "no");
        break;
    case MSGPACK_OBJECT_STR:
        printf("%.*s\n", (int)value->via.str.size, value->via.str.ptr);
        break;
    case MSGPACK_OBJECT_ARRAY:
        report_list(&value->via.array);
        break;
    default:
        puts("-");
        break;
    }
}

// count, p50, p99, p999, max of the same thing read best on one line.
static bool is_distribution(const msgpack_object *value)
{
    return fm_object_get(value, "p50") != NULL && fm_object_get(value, "p99") != NULL;
}

static void report_distribution(const char *name, const msgpack_object *value)
{
    printf("%-*s p50 %.4g   p99 %.4g   p99.9 %.4g   max %.4g   of %s\n", NAME_WIDTH, name,
           fm_object_real(value, "p50", 0), fm_object_real(value, "p99", 0),
           fm_object_real(value, "p999", 0), fm_object_real(value, "max", 0),
           fm_report_grouped(fm_object_uint(value, "count", 0)));
}

static bool is_nothing(const msgpack_object *value)
{
    return value->type == MSGPACK_OBJECT_POSITIVE_INTEGER ? value->via.u64 == 0
           : value->type == MSGPACK_OBJECT_FLOAT64        ? value->via.f64 == 0
           : value->type == MSGPACK_OBJECT_STR            ? value->via.str.size == 0
           : is_distribution(value)                       ? fm_object_real(value, "max", 0) == 0
                                                          : false;
}

static void report_map(const char *prefix, const msgpack_object *map, bool leaves_out)
{
    if (map == NULL || map->type != MSGPACK_OBJECT_MAP) {
        return;
    }
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object_kv *entry = &map->via.map.ptr[i];
        if (entry->key.type != MSGPACK_OBJECT_STR) {
            continue;
        }
        char name[160];
        snprintf(name, sizeof name, "%s%s%.*s", prefix, prefix[0] == '\0' ? "" : ".",
                 (int)entry->key.via.str.size, entry->key.via.str.ptr);
        if (leaves_out && is_nothing(&entry->val)) {
            continue;
        }
        if (is_distribution(&entry->val)) {
            report_distribution(name, &entry->val);
        } else if (entry->val.type == MSGPACK_OBJECT_MAP) {
            report_map(name, &entry->val, leaves_out);
        } else {
            report_value(name, &entry->val);
        }
    }
}

void fm_report_map(const char *prefix, const msgpack_object *map)
{
    report_map(prefix, map, false);
}

void fm_report_counters(const char *prefix, const msgpack_object *map)
{
    report_map(prefix, map, true);
}

void fm_report_planner(const char *planner, const char *runs, char *text, size_t size)
{
    size_t length = strcspn(planner, ":");
    bool is_it = strlen(runs) == length && memcmp(planner, runs, length) == 0;
    snprintf(text, size, is_it || runs[0] == '\0' ? "%s" : "%s (%s)", planner, runs);
}

void fm_report_inspected_planner(const msgpack_object *result, char *text, size_t size)
{
    char planner[128], runs[64];
    fm_object_text(result, "planner", planner, sizeof planner);
    fm_object_text(result, "runs", runs, sizeof runs);
    fm_report_planner(planner, runs, text, size);
}

const char *fm_report_meaning_of(const fm_report_meaning *known, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i].word, word) == 0) {
            return known[i].text;
        }
    }
    return "";
}
