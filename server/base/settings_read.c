// server/base/settings_read.c: see settings_read.h. Whatever it is, it is opened and read without
// blocking, and poll() waits. A named pipe without a writer reads as an empty file at once, so the
// first byte is waited for, too; poll() tells when a writer has come and gone.

#include "server/base/settings_read.h"

#include "server/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const nothing_comes = "it is a pipe or terminal from which no end comes";

// Whether there may be more: waits for it, until then.
static bool comes_more(int fd, uint64_t until_ns, bool *is_over)
{
    uint64_t now_ns = fm_clock_now_ns();
    if (now_ns >= until_ns) {
        return false;
    }
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    int count = poll(&wanted, 1, (int)((until_ns - now_ns) / FM_NS_PER_MS) + 1);
    *is_over = count > 0 && (wanted.revents & POLLIN) == 0;
    return count > 0 || (count < 0 && errno == EINTR);
}

static const char *read_all(int fd, bool is_pipe, char *bytes, size_t room, size_t *size)
{
    uint64_t until_ns = fm_clock_now_ns() + FM_SETTINGS_READ_MS * FM_NS_PER_MS;
    bool is_over = false;
    while (*size < room && !is_over) {
        ssize_t count = read(fd, bytes + *size, room - *size);
        bool waits = count < 0 ? errno == EAGAIN : count == 0 && *size == 0 && is_pipe;
        if (count < 0 && !waits && errno != EINTR) {
            return strerror(errno);
        }
        if (count == 0 && !waits) {
            return NULL;
        }
        *size += count > 0 ? (size_t)count : 0;
        if (waits && !comes_more(fd, until_ns, &is_over)) {
            return nothing_comes;
        }
    }
    return NULL;
}

const char *fm_settings_read(const char *path, void *bytes, size_t room, size_t *size)
{
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) {
        const char *wrong = strerror(errno);
        if (fd >= 0) {
            close(fd);
        }
        return wrong;
    }
    const char *wrong = read_all(fd, S_ISFIFO(about.st_mode), bytes, room, size);
    close(fd);
    return wrong;
}

const char *fm_settings_check_regular(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return strerror(errno);
    }
    return S_ISREG(about.st_mode) ? NULL : "it is not a regular file";
}
