// tests/e2e/stall_loop.c: stalls an event loop when a test wants it to.
//
// Preloaded (LD_PRELOAD), it makes the thread that accepts a connection spin for ever once the
// file FOGMARCH_STALL_FILE exists, as a faulty library would. It writes to that file when it
// begins. Work in libuv's thread pool takes FOGMARCH_POOL_MS longer.

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

int accept4(int fd, struct sockaddr *address, socklen_t *restrict size, int flags)
{
    const char *path = getenv("FOGMARCH_STALL_FILE");
    int stall = path == NULL ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    bool stalls = stall >= 0 && write(stall, ".", 1) == 1;
    while (stalls) {
        usleep(1000); // leaves the processor to others
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}

// The server's functions for what is under way; the loop's thread writes a place before a thread of
// the pool reads it.
static struct {
    uv_work_t *work;
    uv_work_cb does;
} asked[16];
static unsigned asked_count;

static void work_longer(uv_work_t *work)
{
    usleep((useconds_t)atoi(getenv("FOGMARCH_POOL_MS")) * 1000u);
    unsigned i = 0;
    while (asked[i].work != work) {
        i++;
    }
    asked[i].does(work);
}

int uv_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb does, uv_after_work_cb after)
{
    int (*real)(uv_loop_t *, uv_work_t *, uv_work_cb, uv_after_work_cb);
    *(void **)&real = dlsym(RTLD_NEXT, "uv_queue_work");
    if (getenv("FOGMARCH_POOL_MS") == NULL) {
        return real(loop, work, does, after);
    }
    assert(asked_count < sizeof asked / sizeof *asked);
    asked[asked_count].work = work;
    asked[asked_count++].does = does;
    return real(loop, work, work_longer, after);
}
