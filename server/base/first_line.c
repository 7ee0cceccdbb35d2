// server/base/first_line.c: see first_line.h.

#include "server/base/first_line.h"

#include "server/base/settings_read.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

fm_status fm_first_line_read(const char *key, const char *path, char *line, size_t size,
                             char *error, size_t room)
{
    size_t read_size;
    const char *wrong = fm_settings_read(path, line, size - 1, &read_size);
    if (wrong != NULL) {
        sodium_memzero(line, size);
        snprintf(error, room, "%s: '%.120s': %.60s", key, path, wrong);
        return FM_ERR_IO;
    }
    line[read_size] = '\0';
    size_t length = strcspn(line, "\r\n");
    if (length == 0 || (line[length] == '\0' && length == size - 1)) {
        sodium_memzero(line, size);
        snprintf(error, room, "%s: '%.120s' has no first line of 1 to %zu bytes", key, path,
                 size - 2);
        return FM_ERR_BAD_VALUE;
    }
    sodium_memzero(line + length, size - length);
    return FM_OK;
}
