// tests/e2e/stall_loop.c: stalls an event loop when a test wants it to.
//
// Preloaded (LD_PRELOAD), it makes the thread that accepts a connection spin for ever once the
// file FOGMARCH_STALL_FILE exists, as a faulty library would. It writes to that file when it
// begins.

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
