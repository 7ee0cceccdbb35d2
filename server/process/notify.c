// server/process/notify.c: see notify.h. The protocol is a few lines of text, so no library is
// needed.

#include "server/process/notify.h"

#include "server/base/clock.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATUS_SIZE (128 + FM_TROUBLE_SIZE) // bytes, NUL included

// A path, or an abstract socket name of Linux, which begins with '@' here and with NUL for bind(2).
static int open_socket(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || size >= sizeof address.sun_path) {
        return -1;
    }
    memcpy(address.sun_path, name, size);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, address_size) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static uint64_t watchdog_ns_of_environment(void)
{
    const char *microseconds = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    if (microseconds == NULL ||
        (process != NULL && strtoll(process, NULL, 10) != (long long)getpid())) {
        return 0;
    }
    return strtoull(microseconds, NULL, 10) * 1000;
}

void fm_notify_init(fm_notify *notify)
{
    const char *name = getenv("NOTIFY_SOCKET");
    *notify = (fm_notify){.socket = name == NULL ? -1 : open_socket(name)};
    if (notify->socket >= 0) {
        notify->watchdog_ns = watchdog_ns_of_environment();
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void fm_notify_fini(fm_notify *notify)
{
    if (notify->socket >= 0) {
        close(notify->socket);
        notify->socket = -1;
    }
}

// Never blocks: drops what systemd does not take.
__attribute__((format(printf, 2, 3))) static void say(const fm_notify *notify, const char *format,
                                                      ...)
{
    char text[STATUS_SIZE + 64];
    if (notify->socket < 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    FM_ASSERT(size > 0 && (size_t)size < sizeof text);
    (void)!send(notify->socket, text, (size_t)size, MSG_NOSIGNAL);
}

// What `systemctl status` shows. A line is a variable, so a reason must be one line.
static void describe(uint32_t worlds, uint32_t clients, const fm_trouble *trouble,
                     char text[STATUS_SIZE])
{
    bool is_well = strcmp(trouble->word, "ok") == 0, has_reason = trouble->reason[0] != '\0';
    snprintf(text, STATUS_SIZE, "STATUS=%u worlds, %u clients%s%s%s%s", worlds, clients,
             is_well ? "" : "; ", is_well ? "" : trouble->word, has_reason ? ": " : "",
             trouble->reason);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
}

void fm_notify_ready(const fm_notify *notify, uint32_t worlds, uint32_t clients,
                     const fm_trouble *trouble)
{
    char status[STATUS_SIZE];
    describe(worlds, clients, trouble, status);
    say(notify, "READY=1\nMAINPID=%d\n%s\n", (int)getpid(), status);
}

void fm_notify_reloading(const fm_notify *notify)
{
    say(notify, "RELOADING=1\nMONOTONIC_USEC=%llu\n",
        (unsigned long long)(fm_clock_now_ns() / 1000));
}

void fm_notify_stopping(const fm_notify *notify)
{
    say(notify, "STOPPING=1\nSTATUS=going down\n");
}

void fm_notify_alive(const fm_notify *notify, uint32_t worlds, uint32_t clients,
                     const fm_trouble *trouble)
{
    char status[STATUS_SIZE];
    describe(worlds, clients, trouble, status);
    say(notify, "WATCHDOG=1\n%s\n", status);
}
