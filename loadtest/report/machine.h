// loadtest/report/machine.h: the machine and the build that a result was measured with. Without
// these, milliseconds mean nothing.

#pragma once

#include "loadtest/report/result.h"

/// Fills in the entries of `machine`, but for `server`.
void fm_result_describe_machine(fm_result *result);
