// proto/quoted.h: quoted texts for JSON and YAML.

#pragma once

#include <stdio.h>

/// Prints a text in double quotes. It has no control characters.
static inline void fm_print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}
