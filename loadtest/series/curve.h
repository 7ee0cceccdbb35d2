// loadtest/series/curve.h: one scenario at several sizes: what a server carries, and how it behaves
// beyond that.
//
// Each size has a server of its own, unless the run names one that is running: that one then plays
// all sizes.

#pragma once

#include "loadtest/drive/run.h"

#define FM_CURVE_SIZES_MAX 64u // sizes of a curve

typedef struct fm_curve_sizes {
    uint32_t agents[FM_CURVE_SIZES_MAX]; // growing
    uint32_t count;
} fm_curve_sizes;

/// Reads "5000,10000,20000": numbers of agents, each larger than the one before.
///
/// @param error  receives which part is wrong and why; room for FM_SCENARIO_ERROR_SIZE
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_curve_read_sizes(const char *text, fm_curve_sizes *sizes, char *error);

/// Whether the scenario makes sense at every size, as fm_scenario_check() says.
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_curve_check(const fm_scenario *scenario, const fm_curve_sizes *sizes,
                                    char *error);

// Called with each size when it was played. May be NULL.
typedef void fm_curve_point_fn(void *context, const fm_result *result);

/// Plays all sizes, the smallest first.
///
/// @param results  receives a result for each size; room for sizes->count
/// @param count    receives how many were played, also on failure
/// @param error    receives which size failed and why; room for FM_RUN_ERROR_SIZE
/// @return as fm_run()
FM_CHECKED fm_status fm_curve_run(const fm_scenario *scenario, const fm_run_options *options,
                                  const fm_curve_sizes *sizes, fm_curve_point_fn *on_point,
                                  void *context, fm_result *results, uint32_t *count, char *error);

/// The table for people: its head, and a line for one size.
void fm_curve_print_head(const fm_scenario *scenario, FILE *out);
void fm_curve_print_point(const fm_result *result, FILE *out);

/// {"curve": [...]}: for each size the columns of the table, and the whole result.
void fm_curve_print_json(const fm_result *results, uint32_t count, FILE *out);

/// A line of column names, and a line for each size.
void fm_curve_print_csv(const fm_result *results, uint32_t count, FILE *out);
