// clients/cli/base/terminal.c: see terminal.h.

#include "clients/cli/base/terminal.h"

#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#undef columns // term.h has short names for all that terminals can
#undef lines

#define ESCAPE_MS 25 // an escape character alone for so long is the Escape key

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t continued; // the process was stopped (Ctrl-Z) and continues
static bool entered;
static WINDOW *key_window; // a pad, because reading keys from a window would draw it first

static void on_stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static void on_continue(int signal_number)
{
    (void)signal_number;
    continued = 1;
}

void fm_terminal_catch_stops(void)
{
    // SA_RESTART, for a picture that is being written; poll() is interrupted anyway.
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
    int error;
    return isatty(STDOUT_FILENO) && has_value("TERM") &&
           setupterm(NULL, STDOUT_FILENO, &error) == OK && cursor_address != NULL;
}

fm_canvas_colours fm_terminal_colours(void)
{
    const char *depth = getenv("COLORTERM");
    if (has_value("NO_COLOR") || max_colors < 8) {
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
        fflush(stdout);
        endwin();
    }
}

bool fm_terminal_enter(void)
{
    static char buffer[1 << 16]; // a picture goes out in few writes, so that it does not flicker
    if (entered) {
        return true;
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    setlocale(LC_CTYPE, "");
    if (newterm(NULL, stdout, stdin) == NULL) {
        return false;
    }
    entered = true;
    atexit(fm_terminal_leave);
    set_escdelay(ESCAPE_MS);
    cbreak();
    noecho();
    curs_set(0);
    key_window = newpad(1, 1);
    keypad(key_window, TRUE);
    nodelay(key_window, TRUE);
    refresh(); // clears the screen, once
    struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &action, NULL);
    return true;
}

void fm_terminal_size(uint32_t *columns, uint32_t *rows)
{
    *columns = COLS > 0 ? (uint32_t)COLS : 1;
    *rows = LINES > 0 ? (uint32_t)LINES : 1;
}

int fm_terminal_key(void)
{
    if (continued) {
        continued = 0;
        return KEY_RESIZE;
    }
    return key_window == NULL ? ERR : wgetch(key_window);
}
