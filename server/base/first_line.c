// server/base/first_line.c: see first_line.h.

#include "server/base/first_line.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

fm_status fm_first_line_read(const char *key, const char *path, char *line, size_t size,
                             char *error, size_t room)
{
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL || (fgets(line, (int)size, file) == NULL && ferror(file) != 0)) {
        snprintf(error, room, "%s: '%.120s': %.60s", key, path, strerror(errno));
        if (file != NULL) {
            (void)fclose(file);
        }
        return FM_ERR_IO;
    }
    (void)fclose(file);
    size_t length = strcspn(line, "\r\n");
    if (length == 0 || (line[length] == '\0' && length == size - 1)) {
        sodium_memzero(line, size);
        snprintf(error, room, "%s: '%.120s' has no first line of 1 to %zu bytes", key, path,
                 size - 2);
        return FM_ERR_BAD_VALUE;
    }
    line[length] = '\0';
    return FM_OK;
}
