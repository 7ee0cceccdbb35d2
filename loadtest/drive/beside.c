// loadtest/drive/beside.c: see beside.h.

#include "loadtest/drive/beside.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool fm_beside_program(const char *relative, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        return false;
    }
    self[length] = '\0';
    int wanted = snprintf(path, size, "%s/%s", dirname(self), relative);
    return wanted >= 0 && (size_t)wanted < size;
}
