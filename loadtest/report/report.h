// loadtest/report/report.h: a result as a page for people: what was run, whether it kept its
// promises, and where the time and the memory went.

#pragma once

#include "loadtest/report/result.h"

/// Prints the page.
void fm_result_print(const fm_result *result, FILE *out);
