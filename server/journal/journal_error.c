// server/journal/journal_error.c: see journal_error.h.

#include "server/journal/journal_error.h"

#include <stdarg.h>
#include <stdio.h>

fm_status fm_journal_complain(const char *path, char *error, fm_status status, const char *format,
                              ...)
{
    int size = snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: ", path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + size, FM_JOURNAL_ERROR_SIZE - (size_t)size, format, arguments);
    va_end(arguments);
    return status;
}
