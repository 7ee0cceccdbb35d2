// loadtest/cluster_kills.c: see cluster_kills.h. The script lies in share/fogmarch beside this
// program's folder, and the server that it starts in that folder itself.

#include "loadtest/cluster_kills.h"

#include "loadtest/options.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 1024u

bool fm_cluster_kills_is_meant(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cluster") == 0 || strncmp(argv[i], "--cluster=", 10) == 0) {
            return true;
        }
    }
    return false;
}

static int complain(const char *what)
{
    fprintf(stderr, "fogmarch-load: %s: %s\n", what, strerror(errno));
    return FM_EXIT_FAILURE;
}

int fm_cluster_kills_become(int argc, char **argv)
{
    char self[PATH_SIZE], build[PATH_SIZE], script[PATH_SIZE + 32];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0) {
        return complain("/proc/self/exe");
    }
    self[size] = '\0';
    snprintf(build, sizeof build, "%.900s/..", dirname(self));
    snprintf(script, sizeof script, "%s/share/fogmarch/kills.py", build);
    if (access(script, R_OK) != 0) {
        return complain(script);
    }
    const char **words = calloc((size_t)argc + 5, sizeof *words);
    if (words == NULL) {
        return complain("kills.py");
    }
    const char *const first[] = {"python3", "-B", script, "--build", build};
    memcpy(words, first, sizeof first);
    memcpy(words + 5, argv + 1, (size_t)argc * sizeof *words); // and the NULL behind them
    execvp(words[0], (char *const *)words);                    // which changes none of them
    free(words);
    return complain("python3");
}
