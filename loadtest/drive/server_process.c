// loadtest/drive/server_process.c: see server_process.h.

#include "loadtest/drive/server_process.h"

#include "loadtest/drive/beside.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_TIMEOUT_MS 20000
#define STOP_TIMEOUT_MS  20000
#define POLL_MS          5
#define FLAGS_MAX        16

__attribute__((format(printf, 2, 3))) static fm_status refuse(char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, FM_SERVER_PROCESS_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return FM_ERR_IO;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

// Settings in the environment are not for the server under test.
static void forget_settings(void)
{
    static const char prefix[] = "FOGMARCH_";
    for (char **entry = environ; *entry != NULL;) {
        char name[128];
        size_t size = strcspn(*entry, "=");
        if (strncmp(*entry, prefix, sizeof prefix - 1) == 0 && size < sizeof name) {
            memcpy(name, *entry, size);
            name[size] = '\0';
            unsetenv(name); // moves the later ones up
        } else {
            entry++;
        }
    }
}

_Noreturn static void become_server(const fm_server_options *options, const char *path,
                                    const char *port_file, pid_t parent)
{
    char workers[16], sessions[16];
    snprintf(workers, sizeof workers, "%u", options->workers);
    snprintf(sessions, sizeof sessions, "%u", options->sessions_max);
    const char *arguments[FLAGS_MAX + 12] = {
        "fogmarchd", "--listen",       "127.0.0.1:0", "--port-file", port_file, "--workers",
        workers,     "--sessions-max", sessions,      "--log-level", "warning",
    };
    for (size_t i = 0; options->flags != NULL && options->flags[i] != NULL; i++) {
        FM_ASSERT(i < FLAGS_MAX);
        arguments[11 + i] = options->flags[i];
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    forget_settings();
    // Ctrl-C goes to the generator alone, which ends the server in good order.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) {
        execv(path, (char *const *)arguments);
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    _exit(127);
}

static bool read_port(const char *port_file, unsigned *port)
{
    FILE *file = fopen(port_file, "r");
    if (file == NULL) {
        return false;
    }
    char line[16];
    bool whole = fgets(line, sizeof line, file) != NULL && sscanf(line, "%u", port) == 1;
    fclose(file);
    return whole && *port > 0;
}

static void remove_folder(fm_server_process *process)
{
    char port_file[sizeof process->folder + 8];
    snprintf(port_file, sizeof port_file, "%s/port", process->folder);
    unlink(port_file);
    rmdir(process->folder);
    process->folder[0] = '\0';
}

fm_status fm_server_process_launch(const fm_server_options *options, fm_server_process *process,
                                   char *error)
{
    char beside[PATH_MAX];
    const char *path = options->path;
    if (path == NULL) {
        path = fm_beside_program("fogmarchd", beside, sizeof beside) ? beside : "fogmarchd";
    }
    if (access(path, X_OK) != 0) {
        return refuse(error, "%.400s: %s (--server names another one)", path, strerror(errno));
    }
    fm_server_process launched = {.folder = "/tmp/fogmarch-load-XXXXXX"};
    if (mkdtemp(launched.folder) == NULL) {
        return refuse(error, "%s: %s", launched.folder, strerror(errno));
    }
    char port_file[sizeof launched.folder + 8];
    snprintf(port_file, sizeof port_file, "%s/port", launched.folder);
    pid_t parent = getpid();
    fflush(NULL);
    launched.pid = fork();
    if (launched.pid == 0) {
        become_server(options, path, port_file, parent);
    }
    if (launched.pid < 0) {
        fm_status status = refuse(error, "fork: %s", strerror(errno));
        remove_folder(&launched);
        return status;
    }
    *process = launched;
    return FM_OK;
}

void fm_server_process_kill(fm_server_process *process)
{
    if (process->pid == 0) {
        return;
    }
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    process->pid = 0;
    if (process->folder[0] != '\0') {
        remove_folder(process);
    }
}

fm_status fm_server_process_await(fm_server_process *process, char *error)
{
    char port_file[sizeof process->folder + 8];
    snprintf(port_file, sizeof port_file, "%s/port", process->folder);
    unsigned port = 0;
    for (int waited_ms = 0; waited_ms < START_TIMEOUT_MS; waited_ms += POLL_MS) {
        if (read_port(port_file, &port)) {
            remove_folder(process);
            snprintf(process->address, sizeof process->address, "127.0.0.1:%u", port);
            return FM_OK;
        }
        if (waitpid(process->pid, NULL, WNOHANG) == process->pid) {
            process->pid = 0;
            remove_folder(process);
            return refuse(error, "the server ended before it listened");
        }
        sleep_ms(POLL_MS);
    }
    fm_server_process_kill(process);
    return refuse(error, "the server did not listen within %d s", START_TIMEOUT_MS / 1000);
}

fm_status fm_server_process_start(const fm_server_options *options, fm_server_process *process,
                                  char *error)
{
    fm_server_process launched;
    fm_status status = fm_server_process_launch(options, &launched, error);
    if (status == FM_OK) {
        status = fm_server_process_await(&launched, error);
    }
    if (status == FM_OK) {
        *process = launched;
    }
    return status;
}

fm_status fm_server_process_stop(fm_server_process *process, char *error)
{
    if (process->pid == 0) {
        return FM_OK;
    }
    kill(process->pid, SIGTERM);
    int outcome = 0;
    struct rusage usage = {0};
    pid_t ended = 0;
    for (int waited_ms = 0; waited_ms < STOP_TIMEOUT_MS && ended == 0; waited_ms += POLL_MS) {
        ended = wait4(process->pid, &outcome, WNOHANG, &usage);
        if (ended == 0) {
            sleep_ms(POLL_MS);
        }
    }
    bool killed = ended == 0;
    if (killed) {
        kill(process->pid, SIGKILL);
        wait4(process->pid, &outcome, 0, &usage);
    }
    process->pid = 0;
    process->rss_peak = (uint64_t)usage.ru_maxrss * 1024;
    if (killed) {
        return refuse(error, "the server did not end within %d s of SIGTERM and was killed",
                      STOP_TIMEOUT_MS / 1000);
    }
    if (WIFSIGNALED(outcome)) {
        return refuse(error, "the server was ended by signal %d", WTERMSIG(outcome));
    }
    if (WEXITSTATUS(outcome) != 0) {
        return refuse(error, "the server ended with exit code %d", WEXITSTATUS(outcome));
    }
    return FM_OK;
}

double fm_server_process_cpu_s(const fm_server_process *process)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process->pid);
    FILE *file = process->pid == 0 ? NULL : fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    // The name in parentheses may hold anything; the numbers follow the last parenthesis.
    char *numbers = got == NULL ? NULL : strrchr(line, ')');
    unsigned long user, system;
    if (numbers == NULL ||
        sscanf(numbers + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2) {
        return 0;
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}
