// loadtest/lab/child.c: see child.h.

#include "loadtest/lab/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Reads to the end, keeping what there is room for.
static void read_all(int pipe_end, char *output, size_t output_size)
{
    size_t size = 0;
    char rest[512];
    for (;;) {
        bool room = size + 1 < output_size;
        ssize_t got = read(pipe_end, room ? output + size : rest,
                           room ? output_size - 1 - size : sizeof rest);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            break;
        }
        size += room && got > 0 ? (size_t)got : 0;
    }
    output[size] = '\0';
}

bool fm_lab_child_run(const fm_lab *lab, const char *program, const char *const *arguments,
                      char *output, size_t output_size)
{
    int ends[2], status = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0) {
        fm_lab_die(lab, "pipe: %s", strerror(errno));
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error =
        posix_spawn(&child, program, &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        fm_lab_die(lab, "%s: %s", program, strerror(error));
    }
    read_all(ends[0], output, output_size);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void fm_lab_child_self(const fm_lab *lab, char *path, size_t path_size)
{
    ssize_t length = readlink("/proc/self/exe", path, path_size - 1);
    if (length < 0) {
        fm_lab_die(lab, "/proc/self/exe: %s", strerror(errno));
    }
    path[length] = '\0';
}
