// tests/e2e/set_clock.c: a time of day for one process, which can be set while it runs.
//
// Preloaded (LD_PRELOAD), it adds an offset to every time of day that the process reads: a native
// int64_t of seconds in the file FOGMARCH_CLOCK_FILE. A write to the file sets the clock. The
// monotonic clock stays the system's, as when an operator or ntpd sets a real one. (libfaketime
// does not work: jemalloc asks for the time before libfaketime is initialized, and that hangs.)

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t none;
static _Atomic int64_t *offset_s = &none; // points into the mapped file, once there is one

__attribute__((constructor)) static void map_file(void)
{
    const char *path = getenv("FOGMARCH_CLOCK_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void *bytes = mmap(NULL, sizeof *offset_s, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (bytes != MAP_FAILED) {
        offset_s = bytes;
    }
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long status = syscall(SYS_clock_gettime, clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += *offset_s;
    }
    return (int)status;
}

int gettimeofday(struct timeval *now, void *zone)
{
    (void)zone; // obsolete in POSIX
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) {
        *result = now.tv_sec;
    }
    return now.tv_sec;
}
