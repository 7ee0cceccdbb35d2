// loadtest/lab/child.h: another program, run to its end, and what it printed.

#pragma once

#include "loadtest/lab/lab.h"

/// Runs a program without a shell and reads its standard output, cut to output_size - 1 bytes and
/// NUL-terminated. What it writes to standard error is lost. Ends the process when the program
/// cannot be started.
///
/// @param arguments  argv, the program's name first, NULL last
/// @return whether it ended with exit status 0
bool fm_lab_child_run(const fm_lab *lab, const char *program, const char *const *arguments,
                      char *output, size_t output_size);

/// The path of the program that is running. Ends the process when the system does not say.
void fm_lab_child_self(const fm_lab *lab, char *path, size_t path_size);
