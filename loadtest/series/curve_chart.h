// loadtest/series/curve_chart.h: a curve as a picture.

#pragma once

#include "loadtest/report/result.h"

/// Draws four panels over the number of agents as one SVG image: moves a second, agents that wait,
/// ticks until the first move, and tick times against the budget.
///
/// @param results  one for each size, the smallest first
/// @param count    1 or more
void fm_curve_print_svg(const fm_result *results, uint32_t count, FILE *out);
