// server/base/config_print.h: the list of settings as text.
//
// Threads: any; nothing is shared.

#pragma once

#include "server/base/config.h"

#include <stdio.h>

/// Writes all keys as a YAML file with a comment for each. Tokens are left out.
void fm_config_print(const fm_config *config, FILE *out);

/// Writes the help text of every key's flag.
void fm_config_print_flags(FILE *out);
