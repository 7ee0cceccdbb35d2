// clients/cli/terminal.c: see terminal.h.

#include "clients/cli/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static bool entered;

static void on_stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

void fm_terminal_catch_stops(void)
{
    // SA_RESTART, for a picture that is being written; poll() ends all the same.
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool fm_terminal_is_stopped(void)
{
    return stopped != 0;
}

static bool has_value(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

bool fm_terminal_is_screen(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && has_value("TERM") && strcmp(term, "dumb") != 0;
}

fm_canvas_colours fm_terminal_colours(void)
{
    const char *depth = getenv("COLORTERM");
    if (has_value("NO_COLOR")) {
        return FM_COLOURS_NONE;
    }
    return depth != NULL && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0)
               ? FM_COLOURS_TRUE
               : FM_COLOURS_256;
}

void fm_terminal_leave(void)
{
    if (entered) {
        entered = false;
        fputs("\033[0m\033[?25h\033[?1049l", stdout); // colours, cursor, the screen of before
        fflush(stdout);
    }
}

void fm_terminal_enter(void)
{
    static char buffer[1 << 16]; // a picture goes out in few writes, so that it does not tear
    if (!entered) {
        entered = true;
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
        atexit(fm_terminal_leave);
        fputs("\033[?1049h\033[?25l\033[2J", stdout);
    }
}

void fm_terminal_size(uint32_t *columns, uint32_t *rows)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    *columns = known ? size.ws_col : 80;
    *rows = known ? size.ws_row : 24;
}
