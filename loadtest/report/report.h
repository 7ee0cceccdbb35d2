// loadtest/report/report.h: a result as a readable page: what was run, whether it kept its
// promises, and where time and memory went.

#pragma once

#include "loadtest/report/result.h"

/// Prints the page.
void fm_result_print(const fm_result *result, FILE *out);
