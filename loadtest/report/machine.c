// loadtest/report/machine.c: see machine.h.

#include "loadtest/report/machine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void read_cpu(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", strlen("model name")) == 0) {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(name, size, "%.*s", (int)strcspn(colon, "\n"), colon);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static uint32_t count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set)
                                                       : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

void fm_result_describe_machine(fm_result *result)
{
    struct utsname system;
    snprintf(result->cpu, sizeof result->cpu, "unknown");
    read_cpu(result->cpu, sizeof result->cpu);
    result->cores = count_cores();
    result->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (uname(&system) == 0) {
        snprintf(result->system, sizeof result->system, "%.30s %.40s %.20s", system.sysname,
                 system.release, system.machine);
    }
    snprintf(result->compiler, sizeof result->compiler, "%s", COMPILER);
    snprintf(result->flags, sizeof result->flags, "%s", FOGMARCH_COMPILER_FLAGS);
    snprintf(result->version, sizeof result->version, "%s", FOGMARCH_VERSION);
    snprintf(result->commit, sizeof result->commit, "%s", FOGMARCH_COMMIT);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(result->time, sizeof result->time, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
