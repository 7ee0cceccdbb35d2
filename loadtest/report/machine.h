// loadtest/report/machine.h: on what machine, and with what build, a result was measured. Without
// that, a number of milliseconds says nothing.

#pragma once

#include "loadtest/report/result.h"

/// Fills in the entries of `machine`, but for `server`.
void fm_result_describe_machine(fm_result *result);
