// clients/cli/base/json.h: msgpack values as JSON on standard output, for --json.

#pragma once

#include "clients/cli/base/cli.h"

/// With --json prints the result as one line of JSON. @return whether it did
bool fm_cli_print_json(const fm_cli *cli, const msgpack_object *result);

/// A text as a JSON string.
void fm_json_print_text(const char *text, size_t size);

/// A member of an object: a comma, `name`, and a text as its value.
void fm_json_print_member(const char *name, const char *text);
