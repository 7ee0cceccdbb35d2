// tests/e2e/stall_loop.c: an event loop that stands still, when a test wants it to.
//
// Preloaded (LD_PRELOAD), it keeps the thread that accepts a connection turning in circles for
// good, as soon as the file FOGMARCH_STALL_FILE is there: what a library does that has lost its
// way.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int accept4(int fd, struct sockaddr *address, socklen_t *restrict size, int flags)
{
    const char *path = getenv("FOGMARCH_STALL_FILE");
    while (path != NULL && access(path, F_OK) == 0) {
        usleep(1000); // so as not to take the processor from others
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}
