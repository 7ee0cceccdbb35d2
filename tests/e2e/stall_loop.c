// tests/e2e/stall_loop.c: stalls an event loop when a test wants it to.
//
// Preloaded (LD_PRELOAD), it makes the thread that accepts a connection spin for ever once the
// file FOGMARCH_STALL_FILE exists, as a faulty library would.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int accept4(int fd, struct sockaddr *address, socklen_t *restrict size, int flags)
{
    const char *path = getenv("FOGMARCH_STALL_FILE");
    while (path != NULL && access(path, F_OK) == 0) {
        usleep(1000); // leaves the processor to others
    }
    return (int)syscall(SYS_accept4, fd, address, size, flags);
}
