// loadtest/report/result.c: see result.h. The list in result.def is walked once for each form.

#include "loadtest/report/result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

fm_quantiles fm_quantiles_of(const fm_histogram *histogram, double unit)
{
    return (fm_quantiles){
        .count = histogram->count,
        .p50 = (double)fm_histogram_quantile(histogram, 0.5) / unit,
        .p99 = (double)fm_histogram_quantile(histogram, 0.99) / unit,
        .p999 = (double)fm_histogram_quantile(histogram, 0.999) / unit,
        .max = (double)histogram->max / unit,
    };
}

double fm_result_first_move_p50(const fm_result *result)
{
    const fm_quantiles *ticks = &result->order_to_first_move_ticks;
    return ticks->count == 0 ? (double)NAN : ticks->p50;
}

double fm_result_first_move_p99(const fm_result *result)
{
    const fm_quantiles *ticks = &result->order_to_first_move_ticks;
    return ticks->count == 0 ? (double)NAN : ticks->p99;
}

void fm_result_count_error(fm_result *result, const char *what, const char *why)
{
    char kind[sizeof result->errors[0].kind];
    snprintf(kind, sizeof kind, "%s: %s", what, why);
    result->errors_total++;
    uint32_t i = 0;
    while (i < result->error_count && strcmp(result->errors[i].kind, kind) != 0) {
        i++;
    }
    if (i == result->error_count && i < FM_RESULT_ERRORS_MAX) {
        result->error_count++;
        snprintf(result->errors[i].kind, sizeof kind, "%s",
                 i == FM_RESULT_ERRORS_MAX - 1 ? "others" : kind);
    }
    result->errors[i < FM_RESULT_ERRORS_MAX ? i : FM_RESULT_ERRORS_MAX - 1].count++;
}

// ---- JSON ---------------------------------------------------------------------------------------

void fm_result_print_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

// Where in the object we are: the part before the dot of the last key, and whether it was the
// first.
struct json {
    FILE *out;
    char object[32];
    bool has_entries;
};

static void json_key(struct json *json, const char *key)
{
    const char *dot = strchr(key, '.');
    size_t size = dot == NULL ? 0 : (size_t)(dot - key);
    FM_ASSERT(size < sizeof json->object);
    bool same = strlen(json->object) == size && memcmp(json->object, key, size) == 0;
    if (!same && json->object[0] != '\0') {
        fputs("\n  }", json->out);
        json->has_entries = true;
    }
    fputs(json->has_entries ? ",\n" : "\n", json->out);
    if (!same && dot != NULL) {
        fprintf(json->out, "  \"%.*s\": {\n", (int)size, key);
    }
    memcpy(json->object, key, size);
    json->object[size] = '\0';
    json->has_entries = true;
    fprintf(json->out, dot == NULL ? "  \"%s\": " : "    \"%s\": ", dot == NULL ? key : dot + 1);
}

static void put_json_quantiles(const fm_quantiles *quantiles, FILE *out)
{
    fprintf(out, "{\"count\": %llu, \"p50\": %.6g, \"p99\": %.6g, ",
            (unsigned long long)quantiles->count, quantiles->p50, quantiles->p99);
    if (quantiles->count >= FM_P999_COUNT_MIN) {
        fprintf(out, "\"p999\": %.6g, ", quantiles->p999);
    }
    fprintf(out, "\"max\": %.6g}", quantiles->max);
}

void fm_result_print_json(const fm_result *result, FILE *out)
{
    struct json json = {.out = out};
    fputc('{', out);
#define FM_RESULT_TEXT(member, key, size, text)                                                    \
    json_key(&json, key);                                                                          \
    fm_result_print_text(result->member, out);
#define FM_RESULT_UINT(member, key, text)                                                          \
    json_key(&json, key);                                                                          \
    fprintf(out, "%llu", (unsigned long long)result->member);
#define FM_RESULT_REAL(member, key, text)                                                          \
    json_key(&json, key);                                                                          \
    fprintf(out, "%.9g", result->member);
#define FM_RESULT_QUANTILES(member, key, text)                                                     \
    json_key(&json, key);                                                                          \
    put_json_quantiles(&result->member, out);
#include "loadtest/report/result.def"
    json_key(&json, "errors");
    fputc('{', out);
    for (uint32_t i = 0; i < result->error_count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        fm_result_print_text(result->errors[i].kind, out);
        fprintf(out, ": %llu", (unsigned long long)result->errors[i].count);
    }
    fputs("}\n}\n", out);
}

// ---- CSV ----------------------------------------------------------------------------------------

static void put_column(const char *key, const char *suffix, FILE *out)
{
    for (const char *c = key; *c != '\0'; c++) {
        fputc(*c == '.' ? '_' : *c, out);
    }
    fputs(suffix, out);
}

// Doubled quotes where the text needs them.
static void put_csv_text(const char *text, FILE *out)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    fputs(quoted ? "\"" : "", out);
    for (const char *c = text; *c != '\0'; c++) {
        fputs(*c == '"' ? "\"" : "", out);
        fputc(*c, out);
    }
    fputs(quoted ? "\"" : "", out);
}

// The column p999 stays empty where there are too few values for it.
static void put_csv_quantiles(const fm_quantiles *quantiles, FILE *out)
{
    fprintf(out, "%llu,%.6g,%.6g,", (unsigned long long)quantiles->count, quantiles->p50,
            quantiles->p99);
    if (quantiles->count >= FM_P999_COUNT_MIN) {
        fprintf(out, "%.6g", quantiles->p999);
    }
    fprintf(out, ",%.6g", quantiles->max);
}

void fm_result_print_csv_header(FILE *out)
{
    const char *comma = "";
#define COLUMN(key, suffix)                                                                        \
    fputs(comma, out);                                                                             \
    comma = ",";                                                                                   \
    put_column(key, suffix, out);
#define FM_RESULT_TEXT(member, key, size, text) COLUMN(key, "")
#define FM_RESULT_UINT(member, key, text)       COLUMN(key, "")
#define FM_RESULT_REAL(member, key, text)       COLUMN(key, "")
#define FM_RESULT_QUANTILES(member, key, text)                                                     \
    COLUMN(key, "_count")                                                                          \
    COLUMN(key, "_p50")                                                                            \
    COLUMN(key, "_p99")                                                                            \
    COLUMN(key, "_p999")                                                                           \
    COLUMN(key, "_max")
#include "loadtest/report/result.def"
#undef COLUMN
    fputc('\n', out);
}

void fm_result_print_csv(const fm_result *result, FILE *out)
{
    const char *comma = "";
#define FM_RESULT_TEXT(member, key, size, text)                                                    \
    fputs(comma, out);                                                                             \
    comma = ",";                                                                                   \
    put_csv_text(result->member, out);
#define FM_RESULT_UINT(member, key, text)                                                          \
    fprintf(out, "%s%llu", comma, (unsigned long long)result->member);                             \
    comma = ",";
#define FM_RESULT_REAL(member, key, text)                                                          \
    fprintf(out, "%s%.9g", comma, result->member);                                                 \
    comma = ",";
#define FM_RESULT_QUANTILES(member, key, text)                                                     \
    fputs(comma, out);                                                                             \
    put_csv_quantiles(&result->member, out);                                                       \
    comma = ",";
#include "loadtest/report/result.def"
    (void)comma;
    fputc('\n', out);
}

// ---- files --------------------------------------------------------------------------------------

// Closes the file. Says whether all of it was written.
static bool close_whole(FILE *file)
{
    bool failed = ferror(file) != 0;
    return fclose(file) == 0 && !failed;
}

fm_status fm_result_write(const fm_result *result, const char *folder, const char *name,
                          char *error)
{
    char path[512];
    snprintf(path, sizeof path, "%.400s/%.60s.json", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        goto fail;
    }
    fm_result_print_json(result, file);
    if (!close_whole(file)) {
        goto fail;
    }
    snprintf(path, sizeof path, "%.400s/%.60s.csv", folder, name);
    file = fopen(path, "w");
    if (file == NULL) {
        goto fail;
    }
    fm_result_print_csv_header(file);
    fm_result_print_csv(result, file);
    if (!close_whole(file)) {
        goto fail;
    }
    return FM_OK;

fail:
    snprintf(error, 512, "%.400s: %s", path, strerror(errno));
    return FM_ERR_IO;
}
