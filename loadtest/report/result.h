// loadtest/report/result.h: what a run measured, and the forms in which it is printed.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"
#include "server/base/histogram.h"

#include <stdio.h>

#define FM_RESULT_ERRORS_MAX 32u   // kinds of errors that are distinguished
#define FM_P999_COUNT_MIN    1000u // of fewer values p99.9 is the largest, under another name

typedef struct fm_quantiles {
    uint64_t count;
    double p50, p99;
    double p999; // printed only where count is FM_P999_COUNT_MIN or more
    double max;
} fm_quantiles;

// Requests that failed for the same reason.
typedef struct fm_result_error {
    char kind[64]; // "agent.order: blocked_cell"
    uint64_t count;
} fm_result_error;

typedef struct fm_result {
#define FM_RESULT_TEXT(member, key, size, text) char member[size];
#define FM_RESULT_UINT(member, key, text)       uint64_t member;
#define FM_RESULT_REAL(member, key, text)       double member;
#define FM_RESULT_QUANTILES(member, key, text)  fm_quantiles member;
#include "loadtest/report/result.def"
    fm_result_error errors[FM_RESULT_ERRORS_MAX]; // the last kind counts all that found no room
    uint32_t error_count;
} fm_result;

/// Quantiles of a histogram, each value divided by `unit`.
fm_quantiles fm_quantiles_of(const fm_histogram *histogram, double unit);

/// Ticks from order to first move; NAN when no order fell into the measurement.
double fm_result_first_move_p50(const fm_result *result);
double fm_result_first_move_p99(const fm_result *result);

/// Counts a failed request.
void fm_result_count_error(fm_result *result, const char *what, const char *why);

/// A text as a JSON string.
void fm_result_print_text(const char *text, FILE *out);

/// One JSON object, indented, and a line end.
void fm_result_print_json(const fm_result *result, FILE *out);

/// The names of the columns as one line of CSV, then the values as another.
void fm_result_print_csv_header(FILE *out);
void fm_result_print_csv(const fm_result *result, FILE *out);

/// Writes FOLDER/NAME.json and FOLDER/NAME.csv.
///
/// @param error  receives which file failed and why; room for 512 bytes
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_result_write(const fm_result *result, const char *folder, const char *name,
                                     char *error);
